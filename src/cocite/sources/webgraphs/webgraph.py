"""Read web graphs: BVGraph files, and the host and domain graphs that Common Crawl publishes.

A release has vertices (`number<TAB>com.example`, host names reversed) and edges (`number<TAB>number`) as text in one or
more files, or a BVGraph with the same vertices. Every vertex becomes a page: `com.example.blog` is
`https://blog.example.com/`. The pages of a graph without names are `name:0`, `name:1` …

Records come as Arrow batches whose addresses are numbers into one dictionary, which is the same for all batches (it can
be recognised by the addresses of its buffers). A record has all links of its vertex, unless edges are not sorted by
their first number, as between the parts of a split release. Then records are `partial`.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadSource
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import ReadReport, link_batch
from cocite.sources.webgraphs.bvgraph import CHUNK_LINKS, GRAPH_SUFFIXES, BVGraph, Integers, basename, beside
from cocite.sources.webgraphs.files import PART, Release, find_release
from cocite.sources.webgraphs.vertex_names import example, number_names, read_names, text_blocks

ISOLATED = "vertex without links, skipped"
_NO_EDGES = np.empty((2, 0), np.int64)
_UNKNOWN = "link from or to a vertex without a name"
_EDGE = re.compile(rb"(#[^\n]*\n)*\d+[\t ]+\d+\s")
_VERTEX = re.compile(rb"(#[^\n]*\n)*\d+\t\S")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a path is a complete web graph, or a part of one. `head` is the beginning of its content."""
    if path.suffix == ".properties" and b"BVGraph" in head:
        return True
    if path.suffix in GRAPH_SUFFIXES or not path.exists():
        base = basename(path)
        return beside(base, ".graph").is_file() and beside(base, ".properties").is_file()
    if ".paths" in path.suffixes:
        return _is_complete(path)
    kind = PART.fullmatch(path.name) or PART.fullmatch(path.parent.name)
    shape = _VERTEX if kind and kind["kind"] == "vertices" else _EDGE
    return kind is not None and shape.match(head) is not None and _is_complete(path)


def _is_complete(path: Path) -> bool:
    try:
        release = find_release(path)
    except BadSource as error:
        if isinstance(error.__cause__, OSError):
            raise  # nobody knows what is there
        return False
    return bool(release.base or release.vertices)


def read_webgraph_release(
    path: Path, report: ReadReport, _options: ReadOptions = DEFAULT_OPTIONS
) -> Iterator[pa.RecordBatch]:
    """Yield the page records of a release, given its folder or one of its files."""
    release = find_release(path)
    return _graph_records(release.base, release, report) if release.base else _text_records(release, report)


def _graph_records(base: Path, release: Release, report: ReadReport) -> Iterator[pa.RecordBatch]:
    graph, vertices = BVGraph(base), release.vertices
    records = _Records(read_names(vertices, report) if vertices else number_names(graph.nodes), report)
    if records.count != graph.nodes:
        which = f"{vertices[0]} has {records.count:,} names for the {graph.nodes:,} vertices of {base.name}"
        raise BadSource(f"{which}: give all parts of the vertices of this graph")
    size = beside(base, ".graph").stat().st_size
    for first, degrees, successors in graph.batches():
        report.read["bytes"] += size * len(degrees) // graph.nodes
        if records.all_named:
            rows = np.flatnonzero(degrees)
            pages, ends, targets = first + rows, np.cumsum(degrees[rows]), successors
        else:
            pages = np.repeat(first + np.arange(len(degrees)), degrees)
            sources, targets = records.known(np.stack([pages, successors.astype(np.int64)]))
            ends = np.append(_run_starts(sources)[1:], len(sources))
            pages = sources[ends - 1] if len(sources) else sources
        if len(pages):
            yield records.batch(pages, ends, targets, np.zeros(len(pages), np.bool_))
    records.finish()


def _text_records(release: Release, report: ReadReport) -> Iterator[pa.RecordBatch]:
    """Yield records of consecutive edges with one source. The last run of a block waits for the next block."""
    records = _Records(read_names(release.vertices, report), report)
    partial = len(release.edges) > 1
    rest = _NO_EDGES
    cut = -1  # the source of a run that was too long to wait
    for edges in chain(_edges(release.edges, records), [_NO_EDGES]):
        last = not edges.shape[1]
        edges = np.concatenate([rest, edges], axis=1)
        partial = partial or bool((np.diff(edges[0]) < 0).any())
        starts = _run_starts(edges[0])
        too_long = edges.shape[1] - starts[-1] > CHUNK_LINKS
        end = edges.shape[1] if last or too_long else int(starts[-1])
        rest = edges[:, end:]
        if end:
            starts = starts[starts < end]
            pages = edges[0, starts]
            pieces = np.full(len(pages), partial)
            pieces[0] |= pages[0] == cut
            pieces[-1] |= too_long
            cut = int(pages[-1]) if too_long else -1
            yield records.batch(pages, np.append(starts[1:], end), edges[1, :end], pieces)
    records.finish()


def _run_starts(numbers: Integers) -> Integers:
    return np.append(0, np.flatnonzero(np.diff(numbers)) + 1)


def _edges(paths: list[Path], records: "_Records") -> Iterator[Integers]:
    """Yield blocks of edges between vertices with names: sources in the first row, targets in the second."""
    from cocite.kernels.addresses.webgraph_text import parse_edges

    found = False
    for path in paths:
        for block in text_blocks(path, records.report):
            edges = np.empty((2, len(block) // 4 + 1), np.int64)  # at least four bytes per edge
            count, bad, where = parse_edges(block, edges[0], edges[1])
            if bad:
                records.report.skip("line that is not an edge", example(block, where), bad)
            edges = records.known(edges[:, :count])
            found = found or count > 0
            if edges.shape[1]:
                yield edges
    if not found:
        raise BadSource(f"{paths[0]} has no edges: its lines must be number<TAB>number")


class _Records:
    """Makes record batches over one dictionary of addresses, and notes which vertices have links."""

    def __init__(self, names: pa.Array, report: ReadReport) -> None:
        self.names, self.report, self.count = names, report, len(names)
        self._index = np.int32 if self.count < 1 << 31 else np.int64
        self._linked = np.zeros(self.count, np.bool_)
        ends = np.frombuffer(names.buffers()[1], np.int64 if pa.types.is_large_string(names.type) else np.int32)
        named = np.diff(ends[: self.count + 1]) > 0
        self._vertices = int(np.count_nonzero(named))
        self.all_named = self._vertices == self.count
        self._named = named[:0].copy() if self.all_named else named

    def known(self, edges: Integers) -> Integers:
        """Return the edges between vertices with names. Others are counted."""
        valid = np.logical_and(edges[0] < self.count, edges[1] < self.count)
        if not self.all_named:
            valid[valid] = self._named[edges[0, valid]] & self._named[edges[1, valid]]
        if valid.all():
            return edges
        invalid = edges[:, ~valid]
        self.report.skip(_UNKNOWN, f"{invalid[0, 0]} → {invalid[1, 0]}", invalid.shape[1])
        return edges[:, valid]

    def batch(
        self, pages: Integers, ends: Integers, targets: NDArray[Any], partial: NDArray[np.bool_]
    ) -> pa.RecordBatch:
        """Return a record for each page, whose links are the targets up to `ends[i]`."""
        self._linked[pages] = self._linked[targets] = True
        self.report.read["links"] += len(targets)
        return link_batch(self._addresses(pages), np.append(0, ends), self._addresses(targets), partial)

    def _addresses(self, numbers: NDArray[Any]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(self._index)), self.names)

    def finish(self) -> None:
        """Count the vertices that no batch has mentioned."""
        self.report.read[ISOLATED] += self._vertices - int(np.count_nonzero(self._linked))


SOURCE = SourceKind(
    "webgraph",
    "web graph (BVGraph, Common Crawl's releases)",
    recognises,
    read_webgraph_release,
    reads_folders=True,
    unit=lambda file, folder: (file, (find_release(file).base, *find_release(file).edges)),
    order=10,
)
