"""What is fuzzed: a function of bytes for each reader of strangers' input. It may raise what is promised, nothing else.

Every target checks more than that nothing crashes: addresses are canonical, blocks have headings, records survive their
own form.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from cocite.errors import BadAddress, BadSource, BadStore, CociteError
from cocite.graph.check import check
from cocite.graph.generation import read_current
from cocite.graph.store import Graph
from cocite.pages.address import canonical
from cocite.sources.html import read_html
from cocite.sources.open_source import open_source
from cocite.sources.records import Report
from tests.graph.damage import read_all, reseal, rich_web
from tests.graph.webs import make

Target = Callable[[bytes], None]
MEMORY = Path("/dev/shm")
BASE = "https://base.example/"
PROPERTIES = "version=0\nnodes={nodes}\narcs={arcs}\nwindowsize=7\nmaxrefcount=3\nminintervallength=4\nzetak=3\n"


def url(data: bytes) -> None:
    """An address has one canonical spelling, and that is its own."""
    text = data.decode("utf-8", "surrogateescape")
    with suppress(BadAddress):
        once = canonical(text)
        assert canonical(once) == once, "the canonical spelling has another one"


def html(data: bytes) -> None:
    """Every link has a block that exists, or none."""
    page = read_html(data, BASE)
    for link in page.links:
        assert link.block is None or 0 <= link.block < 1 << 24


def file_of(kind: str, name: str) -> Target:
    """A target that reads a file as a source of this kind."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            consume(path, kind)

    return read


def bvgraph(data: bytes) -> None:
    """The first two bytes say how many nodes and arcs are promised; the others are the bits."""
    if len(data) < 3:
        return
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "web.graph"
        path.write_bytes(data[2:])
        promised = PROPERTIES.format(nodes=data[0], arcs=data[1] * 4)
        path.with_suffix(".properties").write_text(promised, encoding="ascii")
        consume(path, "webgraph")


def consume(path: Path, kind: str) -> None:
    """Read a source to its end."""
    with suppress(BadSource, BadAddress):
        for records in open_source(str(path), Report(), base=BASE, kind=kind).records():
            records.validate(full=True)


@cache
def whole() -> Path:
    """A store to damage copies of."""
    folder = Path(tempfile.mkdtemp(prefix="cocite-fuzz-"))
    make(folder / "web.cocite", rich_web())
    return folder / "web.cocite"


def store(data: bytes) -> None:
    """Bytes of arrays are changed: four say file and place, one the new value. With checksums that fit, too."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        copy = Path(shutil.copytree(whole(), Path(folder) / "web.cocite"))
        arrays = sorted(read_current(copy)[0].glob("*.bin"))
        for at in range(0, min(len(data) - 4, 40), 5):
            file = arrays[data[at] % len(arrays)]
            values = bytearray(file.read_bytes())
            if values:
                values[int.from_bytes(data[at + 1 : at + 4], "little") % len(values)] = data[at + 4]
                file.write_bytes(values)
        for sealed in (False, True):
            if sealed:
                reseal(copy)
            with suppress(BadStore):
                check(copy)
            with suppress(CociteError):
                list(read_all(Graph(copy)))


TARGETS: dict[str, Target] = {
    "url": url,
    "html": html,
    "warc": file_of("warc", "web.warc"),
    "wat": file_of("wat", "web.warc.wat"),
    "opml": file_of("opml", "feeds.opml"),
    "bookmarks": file_of("bookmarks", "bookmarks.html"),
    "markdown": file_of("markdown", "list.md"),
    "records": file_of("records", "pages.jsonl"),
    "parquet": file_of("records", "pages.parquet"),
    "edges": file_of("edges", "links.tsv"),
    "bvgraph": bvgraph,
    "store": store,
}
