"""A part of the web that is all there is to some questions: a Graph in memory, of rows that Spark brought together.

It has the pages that are asked about, their chosen parents, and whatever else a method looks at, with whole lists of
links; page numbers are its own, in the order of the web's. Degrees, units and near-duplicates are those of the web. So
methods run on it as on a store, and give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.arrays import TYPE_OF, Arrays
from cocite.graph.build.derive import BEST_PARENTS, MANY_PARENTS, entry_points
from cocite.graph.build.sort_links import NO_ATTRIBUTES, ListWriter, count_symbols, encode
from cocite.graph.generation import MemoryWriter, empty_array
from cocite.graph.huffman import Code
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import Lists
from cocite.spark.arrays import numbers, unpack_lists
from cocite.web import Web

QUERY, LIST, POOL, NEAR, CHILD, POPULAR = range(6)
"""What a row is: a page that is asked about; a list of links; chosen parents of a page; a near-duplicate; a child with
its parents, all or the best; of a page's links those to pages of many parents."""
ROWS = (
    "part int, what int, page long, fingerprint long, unit long, degree long, other long, x binary, y binary, z binary"
)
SAMPLE = 100_000
"""Links from which the code of links is made."""
Numbers = NDArray[np.int64]


class SubWeb(Web):
    """A Web of a part."""

    def __init__(self, graph: SubGraph, stop: NDArray[np.uint32]) -> None:
        """`stop` are the pages of the stop list that this part has: a part has no addresses to look up."""
        super().__init__(graph)
        self.graph: SubGraph = graph
        self._stop = stop

    def known_pages(self, addresses: Sequence[str]) -> NDArray[np.uint32]:
        """The stop pages of this part; none if there is no stop list."""
        return self._stop if addresses else self._stop[:0]


class SubGraph(Graph):
    """A Graph of a part: what it lacks, no question to it needs."""

    def __init__(self, numbers: Numbers, arrays: dict[str, NDArray[Any]], pools: Pools) -> None:
        links = int(arrays["out.degree"].sum(dtype=np.int64))
        super().__init__(Arrays(arrays, {"id": "", "pages": len(numbers), "links": links}))
        self.numbers = numbers  # of its pages in the web
        # The parents to choose from, in the order of choice where there are more than can be chosen.
        self.links_to = pools.of


class Pools(NamedTuple):
    """Chosen parents: those of pages[i] are parents[starts[i]:starts[i + 1]]."""

    pages: NDArray[np.uint32]
    starts: Numbers
    parents: NDArray[np.uint32]

    def of(self, page: int) -> NDArray[np.uint32]:
        """Those of a page."""
        at = int(np.searchsorted(self.pages, page))
        if at == len(self.pages) or self.pages[at] != page:
            return self.parents[:0]
        return self.parents[self.starts[at] : self.starts[at + 1]]


def make_subweb(rows: pa.Table, kind: str) -> tuple[SubGraph, NDArray[np.uint32]]:
    """The part of the web that rows of `ROWS` describe, and the pages asked about, by its own numbers."""
    what = numbers(rows["what"], np.int32)
    queries, lists, pools, near, children, popular = (rows.filter(pa.array(what == each)) for each in range(6))
    targets, starts = unpack_lists(lists["x"], kind)
    parents, pool_starts = unpack_lists(pools["x"], kind)
    best, best_starts = unpack_lists(children["x"], kind)
    own = [numbers(table["page"]) for table in (queries, lists, pools, near, children, popular)]
    few, few_degrees, few_starts = _to_children(popular, own[CHILD], kind)
    others = [np.unique(each).astype(np.int64) for each in (targets, best, few)]
    known = np.unique(np.concatenate([*own, numbers(near["other"]), *others]))

    def local(values: NDArray[Any]) -> NDArray[np.uint32]:
        return np.searchsorted(known.astype(values.dtype), values).astype(np.uint32)

    degree, unit = np.zeros(len(known), np.uint32), np.zeros(len(known), np.int64)
    fingerprint = np.zeros(len(known), np.uint64)
    targets, best, few = local(targets), local(best), local(few)
    degree[targets], degree[few] = unpack_lists(lists["z"], kind)[0], few_degrees
    degree[local(numbers(near["other"]))] = numbers(near["degree"])
    for table, at in zip(
        (queries, lists, children, popular), (own[QUERY], own[LIST], own[CHILD], own[POPULAR]), strict=True
    ):
        at = local(at)
        degree[at], unit[at] = numbers(table["degree"]), numbers(table["unit"])
        fingerprint[at] = numbers(table["fingerprint"], np.uint64)
    writer = MemoryWriter()
    child = local(own[CHILD])
    attributes = unpack_lists(lists["y"], np.uint32)[0]
    attributes = attributes if len(attributes) else np.zeros(len(targets), np.uint32)
    whole = Rows(np.repeat(local(own[LIST]), np.diff(starts)), targets, attributes)
    part = _links_of_spouses(child, best, best_starts, np.repeat(local(own[POPULAR]), np.diff(few_starts)), few, degree)
    _write_out(writer, whole, without(part, np.sort(local(own[LIST]))), len(known))
    _write_in(writer, child, best_starts, best, degree)
    order = np.argsort(own[NEAR])
    writer.append("near.page", local(own[NEAR][order]))
    writer.append("near.representative", local(numbers(near["other"])[order]))
    writer.append("fingerprint", fingerprint)
    arrays = {name: values if len(values) else empty_array(TYPE_OF[name]) for name, values in writer.all().items()}
    # The rows were made with one unit: whichever is asked for, it is that one.
    units = np.unique(unit, return_inverse=True)[1].astype(np.uint32)
    arrays |= {"page.site": units, "page.host": units, "host.domain": np.arange(len(known), dtype=np.uint32)}
    graph = SubGraph(known, arrays, _pools(local(own[POOL]), pool_starts, local(parents)))
    return graph, np.sort(local(own[QUERY]))


def _to_children(
    popular: pa.Table, children: NDArray[np.int64], kind: str
) -> tuple[NDArray[Any], NDArray[Any], Numbers]:
    """Of links to pages of many parents those to children, with degrees and starts: nobody asks for others."""
    targets, starts = unpack_lists(popular["x"], kind)
    degrees, _ = unpack_lists(popular["z"], kind)
    children = np.sort(children).astype(targets.dtype)
    at = np.minimum(np.searchsorted(children, targets), max(0, len(children) - 1))
    kept = children[at] == targets if len(children) else np.zeros(len(targets), np.bool_)
    return targets[kept], degrees[kept], np.append(0, np.cumsum(kept))[starts]


class Rows(NamedTuple):
    """Links: from owners to targets."""

    owners: NDArray[np.uint32]
    targets: NDArray[np.uint32]
    attributes: NDArray[np.uint32]


def without(rows: Rows, owners: NDArray[np.uint32]) -> Rows:
    """The links of other pages than these, which ascend."""
    if not len(owners) or not len(rows.owners):
        return rows
    at = np.minimum(np.searchsorted(owners, rows.owners), len(owners) - 1)
    others = owners[at] != rows.owners
    return Rows(rows.owners[others], rows.targets[others], rows.attributes[others])


def _links_of_spouses(
    children: NDArray[np.uint32],
    parents: NDArray[np.uint32],
    starts: Numbers,
    owners: NDArray[np.uint32],
    popular: NDArray[np.uint32],
    degree: NDArray[np.uint32],
) -> Rows:
    """The links of pages that are here for their links to children only.

    A child of few parents came with all of them; links to children of many came with the pages that have them.
    """
    to = np.repeat(children, np.diff(starts))
    few = degree[to] <= MANY_PARENTS
    owners, targets = np.append(parents[few], owners), np.append(to[few], popular)
    return Rows(owners, targets, np.zeros(len(owners), np.uint32))


def _pools(pages: NDArray[np.uint32], starts: Numbers, parents: NDArray[np.uint32]) -> Pools:
    """Pools in the order of pages; a page whose parents came in two rows, both ascending, has them in one."""
    order = (
        np.lexsort((parents[np.minimum(starts[:-1], len(parents) - 1)], pages)) if len(pages) else np.zeros(0, np.int64)
    )
    index, sizes = _reordered(starts, order)
    pages = pages[order]
    first = np.append(True, pages[1:] != pages[:-1]) if len(pages) else np.zeros(0, np.bool_)
    ends = np.append(0, np.cumsum(sizes))
    return Pools(pages[first], np.append(ends[:-1][first], ends[-1]), parents[index])


def _reordered(starts: Numbers, order: NDArray[np.intp]) -> tuple[Numbers, Numbers]:
    """Where the items of lists are once the lists are in another order, and the lists' sizes."""
    sizes = np.diff(starts)[order]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts[:-1][order] - (ends - sizes), sizes), sizes


def _write_out(writer: MemoryWriter, whole: Rows, part: Rows, pages: int) -> None:
    """Links out, encoded, with entry points into long lists; those of one owner come in their order."""
    owners, targets, attributes = (np.append(one, other) for one, other in zip(whole, part, strict=True))
    order = np.argsort(owners, kind="stable")
    degrees = np.bincount(owners, minlength=pages).astype(np.uint32)
    lists = _write_lists(writer, "out", degrees, targets[order], attributes[order])
    for name, values in entry_points("out", lists):
        writer.append(name, values)


def _write_in(
    writer: MemoryWriter,
    children: NDArray[np.uint32],
    starts: Numbers,
    parents: NDArray[np.uint32],
    degree: NDArray[np.uint32],
) -> None:
    """Links in of children, all of them or the best: as a store keeps them ready. All pages have their true degree."""
    order = np.argsort(children)
    index, sizes = _reordered(starts, order)
    children, parents = children[order], parents[index]
    many = degree[children] > MANY_PARENTS
    of_many = np.repeat(many, sizes)
    writer.append("best.page", children[many])
    writer.append("best.parent", parents[of_many])
    if (sizes[many] != BEST_PARENTS).any() or (sizes[~many] != degree[children[~many]]).any():
        raise AssertionError("parents of children are missing")
    shorter = np.zeros(len(degree), np.uint32)
    shorter[children[~many]] = sizes[~many]
    lists = MemoryWriter()
    _write_lists(lists, "in", shorter, parents[~of_many], NO_ATTRIBUTES)
    for name, values in lists.all().items():
        writer.append(name, degree if name == "in.degree" else values)


def _write_lists(
    writer: MemoryWriter,
    name: str,
    degrees: NDArray[np.uint32],
    targets: NDArray[np.uint32],
    attributes: NDArray[np.uint32],
) -> Lists:
    starts = np.append(0, np.cumsum(degrees, dtype=np.int64))
    some = int(np.searchsorted(starts, SAMPLE, "right"))
    code = Code.from_counts(count_symbols(targets, attributes, starts[:some], np.arange(some - 1, dtype=np.uint32)))
    lists = ListWriter(writer, name, code)
    lists.append(encode(targets, attributes, starts, 0, code))
    return lists.close()
