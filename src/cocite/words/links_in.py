"""What links say of the pages they lead to, gathered by page: most pages of a link graph were never fetched.

Links and their texts are stored by source. One pass over them deals (target, texts) out to files by ranges of targets;
a range then fits into memory, where equal texts are counted. Memory is bounded whatever the store: a page with very
many links in is told by a sample of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import rows_of
from cocite.graph.generation import Progress
from cocite.graph.store import Graph

COLUMNS = ("anchors", "contexts", "headings")
STAGE = "reading what links say"
STEP = 1 << 12
"""Pages of which links are decoded at once."""
ROWS = 1 << 17
"""Links that are dealt out at once."""
GRAIN = 256
"""Ranges of targets begin at multiples of it."""
PART = GRAIN << 12
"""Pages whose links in are counted at once."""
SAMPLE = 10_000
"""Links in, about, that are read of one page."""
LONGEST = 300
"""Characters of one text."""
MOST = {"anchors": 64, "contexts": 16, "headings": 16}
"""Different texts that are kept of a page, the most frequent."""
MOST_FILES = 256


@dataclass(frozen=True)
class Said:
    """What the links into one page say: texts and how often each is used, the most frequent first."""

    anchors: list[tuple[str, int]]  # the texts of the links
    contexts: list[tuple[str, int]]  # the words around them
    headings: list[tuple[str, int]]  # the headings under which they stand


NOTHING = Said([], [], [])


def has_link_texts(graph: Graph) -> bool:
    """Whether links say anything in this store."""
    return any(len(graph.array(f"{name}.pages")) for name in COLUMNS)


def said_of_pages(graph: Graph, folder: Path, memory: int, progress: Progress) -> Iterator[tuple[int, Said]]:
    """(page, what links to it say) in page order, of pages of which anything is said. `folder` is for passing use."""
    if not has_link_texts(graph):
        return
    stored = sum(len(graph.array(f"{name}.data")) for name in COLUMNS)
    borders = cut_targets(graph, min(MOST_FILES, 1 + stored * 20 // memory))  # texts shrink to a fifth when stored
    files = [folder / f"{number}.arrow" for number in range(len(borders) - 1)]
    deal_out(graph, borders, files, progress)
    for file in files:
        with pa.OSFile(str(file)) as source:
            table = pa.ipc.open_stream(source).read_all()
        file.unlink()
        yield from gathered(table)


def cut_targets(graph: Graph, ranges: int) -> NDArray[np.int64]:
    """Borders of ranges of pages with about as many links in each."""
    parts = [graph.in_degree[first : first + PART] for first in range(0, graph.pages, PART)]
    sums = [np.add.reduceat(np.minimum(part, SAMPLE), np.arange(0, len(part), GRAIN), dtype=np.int64) for part in parts]
    totals = np.cumsum(np.concatenate(sums))
    inner = GRAIN * np.searchsorted(totals, totals[-1] * np.arange(1, ranges) // ranges)
    return np.unique(np.concatenate([[0], inner, [graph.pages]]))


def deal_out(graph: Graph, borders: NDArray[np.int64], files: list[Path], progress: Progress) -> None:
    """Every link that says anything, to the file of its target's range."""
    schema = pa.schema([("target", pa.uint32()), *((name, pa.string()) for name in COLUMNS)])
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    writers = [pa.ipc.new_stream(str(file), schema, options=options) for file in files]
    try:
        for targets, texts in rows(graph, progress):
            of_range = np.searchsorted(borders, targets, side="right") - 1
            batch = pa.record_batch(
                [pa.array(targets), *(pa.array(texts[name], pa.string()) for name in COLUMNS)], schema
            )
            for number in np.unique(of_range).tolist():
                chosen = np.flatnonzero(of_range == number)
                writers[number].write_batch(batch if len(chosen) == len(targets) else batch.take(pa.array(chosen)))
    finally:
        for writer in writers:
            writer.close()


def rows(graph: Graph, progress: Progress) -> Iterator[tuple[NDArray[np.uint32], dict[str, list[str]]]]:
    """Targets of links and their texts, some ROWS at a time."""
    targets: list[NDArray[np.uint32]] = []
    texts: dict[str, list[str]] = {name: [] for name in COLUMNS}
    cursors = {name: Cursor(graph, name) for name in COLUMNS}
    for first, starts, links in graph.iter_links(STEP):
        for page in sorted({page for cursor in cursors.values() for page in cursor.pages(first, len(starts) - 1)}):
            low, high = int(starts[page - first]), int(starts[page - first + 1])
            lines = {name: cursor.take(page) for name, cursor in cursors.items()}
            taken = np.flatnonzero(sampled(graph, page, links.targets[low:high]))
            blocks = links.blocks[low:high][taken].tolist()
            headings = lines["headings"]
            texts["headings"] += [headings[b] if 0 <= b < len(headings) else "" for b in blocks]
            for name in ("anchors", "contexts"):
                own = lines[name]
                texts[name] += [own[i] if i < len(own) else "" for i in taken.tolist()]
            targets.append(links.targets[low:high][taken])
            if len(texts["anchors"]) >= ROWS:
                yield np.concatenate(targets), texts
                targets, texts = [], {name: [] for name in COLUMNS}
        progress(STAGE, int(starts[-1]), graph.links)
    if targets:
        yield np.concatenate(targets), texts


def sampled(graph: Graph, page: int, targets: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which links of a page are read: all, but of targets with very many links in, a share, the same every time."""
    if int(targets.max(initial=0)) >= graph.pages:
        raise graph.damaged()
    every = graph.in_degree[targets] // SAMPLE + 1
    taken: NDArray[np.bool_] = np.uint32((page * 0x9E3779B1 & 0xFFFFFFFF) >> 8) % every == 0
    return taken


class Cursor:
    """Reads a column of lines once, in page order."""

    def __init__(self, graph: Graph, name: str) -> None:
        self._having = graph.array(f"{name}.pages")
        self._items = graph.texts.column(name).items() if len(self._having) else iter(())
        self._next = next(self._items, None)

    def pages(self, first: int, count: int) -> list[int]:
        """Which of pages [first, first + count) have lines."""
        low, high = rows_of(self._having, first, count)
        return list(self._having[low:high].tolist())

    def take(self, page: int) -> list[str]:
        """The lines of a page; pages are asked in ascending order."""
        while self._next is not None and self._next[0] < page:
            self._next = next(self._items, None)
        if self._next is None or self._next[0] != page:
            return []
        return [line[:LONGEST] for line in self._next[1].decode("utf-8", "replace").split("\n")]


def gathered(table: pa.Table) -> Iterator[tuple[int, Said]]:
    """(page, what is said of it) of one range of targets, in page order."""
    told: dict[int, Said] = {}
    for name in COLUMNS:
        pages, texts, counts = counted(table["target"], table[name], MOST[name])
        for page, text, count in zip(pages, texts, counts, strict=True):
            said = told.get(page)
            if said is None:
                said = told[page] = Said([], [], [])
            getattr(said, name).append((text, count))
    for page in sorted(told):
        yield page, told[page]


def counted(targets: pa.ChunkedArray, texts: pa.ChunkedArray, most: int) -> tuple[list[int], list[str], list[int]]:
    """Pages, texts and how often each text is used, the `most` frequent of each page; in the order of pages."""
    texts = pc.utf8_trim_whitespace(pc.utf8_lower(texts))
    table = pa.table({"target": targets, "text": texts}).filter(pc.not_equal(texts, ""))
    found = table.group_by(["target", "text"], use_threads=False).aggregate([([], "count_all")])
    found = found.sort_by([("target", "ascending"), ("count_all", "descending"), ("text", "ascending")])
    pages = found["target"].to_numpy()
    first = np.searchsorted(pages, pages)
    found = found.filter(pa.array(np.arange(len(pages)) - first < most))
    return found["target"].to_pylist(), found["text"].to_pylist(), found["count_all"].to_pylist()
