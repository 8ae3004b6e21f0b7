"""What is fuzzed: a function of bytes for each reader of strangers' input. It may raise what is promised, nothing else.

Every target checks more than that nothing crashes: canonical addresses stay as they are, blocks of HTML have headings,
records of any source survive their own form, and `check` finds what is damaged (`store.py`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa

from cocite.errors import BadAddress, BadParameter, BadSource
from cocite.pages.address import canonical
from cocite.results.visits import read_history, weights_of
from cocite.sources.clicks import read_clicks
from cocite.sources.crawl.hints import MAX_HINTS, feeds_of, read_hints
from cocite.sources.html.page import read_html
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.fuzz.kernels import kernels, layers
from tests.fuzz.requests import request
from tests.fuzz.seeds import FILES
from tests.fuzz.store import MEMORY, captures, store

Target = Callable[[bytes], None]
MAX_SURVIVED = 1000
_survived: set[str] = set()
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
        assert link.block is None or 0 <= link.block < len(page.headings), "a block without a heading"


def file_of(kind: str, name: str) -> Target:
    """A target that reads a file as a source of this kind."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            consume(path, kind)

    return read


def vault(data: bytes) -> None:
    """A note of a vault, beside another one that links to it."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        notes = Path(folder) / "notes"
        (notes / ".obsidian").mkdir(parents=True)
        (notes / "a b.md").write_bytes(data)
        (notes / "c.md").write_text("---\naliases: [d]\n---\n[[a b]]", encoding="utf-8")
        consume(notes, "markdown")


def bvgraph(data: bytes) -> None:
    """The first two bytes say how many nodes and arcs are promised; the others are the bits."""
    if len(data) < 3:
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "web.graph"
        path.write_bytes(data[2:])
        promised = PROPERTIES.format(nodes=data[0], arcs=data[1] * 4)
        path.with_suffix(".properties").write_text(promised, encoding="ascii")
        consume(path, "webgraph")


def clicks(data: bytes) -> None:
    """Every step of a trail is between two of its pages."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, suppress(BadSource):
        path = Path(folder) / "clicks.tsv"
        path.write_bytes(data)
        for trail in read_clicks(path, ReadReport()):
            assert all(0 <= page < len(trail.pages) for step in trail.steps for page in step), "a step to no page"


def visits(data: bytes) -> None:
    """Every visit of a history can be weighed."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, suppress(BadParameter):
        path = Path(folder) / "history"
        path.write_bytes(data)
        found = read_history(path)
        assert found and all(each.url and each.weight > 0 for each in found), "a visit without address or weight"
        assert all(isfinite(weight) and weight >= 0 for _, weight in weights_of(found, 30.0, 0.5)), "no weight"


def hints(data: bytes) -> None:
    """Every address of a sitemap or feed is a text, and there are only so many."""
    assert all(hint.url.encode("utf-8", "replace") for hint in read_hints(data, BASE)[:MAX_HINTS])
    feeds_of(data, BASE)


def consume(path: Path, kind: str) -> int:
    """Read a source to its end; how many links it has."""
    links = 0
    with suppress(BadSource, BadAddress):
        for records in open_source(str(path), ReadReport(), base=BASE, kind=kind).records():
            records.validate(full=True)
            survives(records, path.with_name("again.jsonl"))
            links += sum(len(each or ()) for each in records["links"].to_pylist())  # there may be no list at all
    return links


def survives(records: pa.RecordBatch, path: Path) -> None:
    """Records that are written as JSON Lines and read again are the same. Many inputs give the same records: half of
    the time goes into writing and reading, so the latest ones aren't tried again."""
    rows = records.to_pylist()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if lines in _survived:
        return
    if len(_survived) >= MAX_SURVIVED:
        _survived.clear()
    path.write_text(lines, encoding="utf-8")
    again = open_source(str(path), ReadReport(), kind="records").records()
    read = [without_defaults(row) for each in again for row in each.to_pylist()]
    assert read == [without_defaults(row) for row in rows], "records are not what was written"
    _survived.add(lines)


def without_defaults(row: dict[str, Any]) -> dict[str, Any]:
    """A record or a link without what a reader would suppose anyway."""
    given = {name: value for name, value in row.items() if value not in (None, "", [], False)}
    if "links" in given:
        given["links"] = [without_defaults(link) for link in given["links"]]
    return {name: value for name, value in given.items() if (name, value) != ("weight", 1.0)}


TARGETS: dict[str, Target] = {
    "url": url,
    "html": html,
    "clicks": clicks,
    "visits": visits,
    "hints": hints,
    **{name: file_of(file.kind, file.name) for name, file in FILES.items()},
    "vault": vault,
    "bvgraph": bvgraph,
    "request": request,
    "kernels": kernels,
    "layers": layers,
    "store": store,
    "captures": captures,
}
