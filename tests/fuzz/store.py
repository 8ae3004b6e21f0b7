"""A store whose bytes are changed: `check` finds it, and whoever reads it is refused or not, but nothing crashes.

One store has layers and everything that is kept beside it, another keeps all captures. They lie in memory, are damaged
in place and restored, so that thousands of changes can be tried.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cocite.errors import BadStore, CociteError
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.generation import LAYER_HEADER_BYTES, digest
from cocite.graph.store import Graph
from cocite.related.ranks import rank
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport
from cocite.words.keywords import KEYWORDS
from cocite.words.search import SEARCH
from cocite.words.vectors import VECTORS
from tests.graph.damage import layered_web, read_all, read_history, reseal, rich_history
from tests.graph.trails import add_clicks
from tests.graph.webs import ADDRESSES, make
from tests.words.read import most_similar, shared_terms

MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
CHANGE_BYTES, MAX_CHANGES = 5, 8
"""Bytes that describe one change, and the maximum number of changes."""
Changed = dict[Path, bytes]


class Whole(NamedTuple):
    """A store to damage, with everything that is kept beside it."""

    path: Path
    files: list[Path]  # that have any bytes: the pointer, the manifest, arrays, and what is kept beside them
    bytes: Changed


@cache
def whole(history: bool = False) -> Whole:
    """Made once, and removed at the end: a store with layers, or one that keeps all captures."""
    folder = Path(tempfile.mkdtemp(prefix="cocite-fuzz-", dir=MEMORY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "web.cocite"
    if history:
        make(path, rich_history(), history=True)
        assert check(path) == []
        return Whole(path, *files_of(path))
    layered_web(path)
    graph = Graph(path)
    rank("pagerank").keep(graph, rank("pagerank").compute(graph))
    add_clicks(graph, [Trail(ADDRESSES[:7], [(0, 1), (1, 2), (2, 6)])], ReadReport())
    SEARCH.build(graph)
    VECTORS.ready(graph)
    KEYWORDS.build(graph)
    assert check(path) == []
    return Whole(path, *files_of(path))


def files_of(path: Path) -> tuple[list[Path], Changed]:
    """The files of a store, and what they hold."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.stat().st_size]
    return files, {file: file.read_bytes() for file in files}


def store(data: bytes) -> None:
    """Change bytes of a store with layers."""
    change(whole(), data)


def captures(data: bytes) -> None:
    """Change bytes of a store that keeps all captures."""
    change(whole(history=True), data)


def change(of: Whole, data: bytes) -> None:
    """Change bytes: four choose a file and a place, one is the new value.

    Changed arrays are read with checksums that fit, too. The search index isn't, because its library trusts whatever
    passes them, and neither are descriptions of arrays.
    """
    path, files, original = of
    values = {file: bytearray(original[file]) for file in files}
    for at in range(0, min(len(data) - CHANGE_BYTES + 1, CHANGE_BYTES * MAX_CHANGES), CHANGE_BYTES):
        own = values[files[data[at] % len(files)]]
        own[int.from_bytes(data[at + 1 : at + 4], "little") % len(own)] = data[at + 4]
    changed = {file: bytes(own) for file, own in values.items() if meaning(file, own) != meaning(file, original[file])}
    arrays = [file for file in changed if file.suffix == ".bin" or only_arrays(file, original[file], changed[file])]
    with damaged(of, changed):
        assert is_found(path) == bool(changed), f"check, with {sorted(file.name for file in changed)} changed"
        if len(arrays) < len(changed) or not changed:  # arrays are read as they are, whatever their checksums: below
            refuse_or_read(path, read_beside)
    if not arrays and changed:
        return
    with damaged(of, {file: changed[file] for file in arrays}):
        seal(path, arrays)
        with suppress(BadStore):
            check(path)
        refuse_or_read(path, read_beside)
        if not changed or any("side" not in file.relative_to(path).parts for file in arrays):
            refuse_or_read(path, read_all)
            refuse_or_read(path, read_captures)


def only_arrays(file: Path, before: bytes, after: bytes) -> bool:
    """Whether a file is a layer, and nothing in it was changed but arrays."""
    header = LAYER_HEADER_BYTES + int.from_bytes(before[8:LAYER_HEADER_BYTES], "little")
    return file.suffix == ".layer" and before[:header] == after[:header]


def meaning(file: Path, data: bytes) -> Any:
    """What describes something kept beside a store may have other blanks, and a layer has zeros between its arrays.

    Of everything else each byte counts.
    """
    if file.suffix == ".layer":
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            start = LAYER_HEADER_BYTES + int.from_bytes(data[8:LAYER_HEADER_BYTES], "little")
            entries = json.loads(data[LAYER_HEADER_BYTES:start])["arrays"].values()
            spans = [(each["offset"], each["length"] * np.dtype(each["type"]).itemsize) for each in entries]
            return [bytes(data[:start]), *(bytes(data[at : at + size]) for at, size in spans)]
    if file.parent.name == "side":
        with suppress(ValueError):
            return json.loads(data)
    return bytes(data)


@contextmanager
def damaged(of: Whole, changed: Changed) -> Iterator[None]:
    """Files hold something else, for a while; so may those with their checksums."""
    _, files, original = of
    for file, own in changed.items():
        overwrite(file, own)
    try:
        yield
    finally:
        for file in files:
            if file in changed or file.suffix in (".json", ".layer") or file.name == "CURRENT":
                overwrite(file, original[file])


def overwrite(file: Path, data: bytes) -> None:
    """Other bytes in a file. Those that are mapped get as many, and are never shorter meanwhile."""
    with file.open("r+b") as own:
        own.write(data)
        own.truncate()


def is_found(path: Path) -> bool:
    """Whether a store is known to be damaged."""
    try:
        return bool(check(path))
    except BadStore:
        return True


def refuse_or_read(path: Path, read: Callable[[Graph], Iterator[str]]) -> None:
    """Read everything of a kind, unless it is refused; nothing may raise an error that isn't for users."""
    with suppress(CociteError):
        unexpected = list(read(Graph(path)))
        assert not unexpected, unexpected[0]


def read_beside(graph: Graph) -> Iterator[str]:
    """What is kept beside a store, for every page; yields what raised anything but a CociteError."""
    pages = range(graph.pages)

    def clicks() -> Any:
        opened = open_clicks(graph)
        return [(opened.after(page), opened.before(page)) for page in pages]

    def vectors() -> Any:
        opened = VECTORS.open(graph)
        other = np.zeros(1, np.uint32)
        found = [(most_similar(opened, page, 3), shared_terms(opened, page, other)) for page in pages]
        return found, [opened.of(page) for page in pages]

    def keywords() -> Any:
        opened = KEYWORDS.open(graph)
        return [opened.words[word] for page in pages for word, _ in opened.ordered(page)]

    def search() -> Any:
        return SEARCH.open(graph).search("text title", 9).hits

    for read in (clicks, vectors, keywords, search, lambda: rank("pagerank").kept(graph)):
        try:
            read()
        except CociteError:
            pass
        except Exception:
            yield traceback.format_exc(limit=-3)


def read_captures(graph: Graph) -> Iterator[str]:
    """All captures, if the store keeps them; yields what raised anything but a CociteError."""
    try:
        read_history(graph)
    except CociteError:
        pass
    except Exception:
        yield traceback.format_exc(limit=-3)


def seal(path: Path, arrays: list[Path]) -> None:
    """Make the checksums of changed arrays fit."""
    for file in arrays:
        if "side" in file.relative_to(path).parts:
            note = path / "side" / f"{file.parent.name.rpartition('-')[0]}.json"
            about = json.loads(json.loads(note.read_bytes())["body"])
            about["arrays"][file.stem]["digest"] = digest(file.read_bytes())
            body = json.dumps(about)
            overwrite(note, json.dumps({"digest": digest(body.encode()), "body": body}).encode())
    reseal(path)
