"""A part of the web as a Graph in memory, made of the rows that Spark brought together.

It has the query pages, their chosen parents, and whatever else a method reads, with complete lists of links. Its page
numbers are its own, in the order of the web's. Degrees, units and near-duplicates are those of the web. So methods run
on it as on a store, and give the same results.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.arrays import TYPE_OF, Arrays
from cocite.graph.build.derive import BEST_PARENTS, MANY_PARENTS, entry_points
from cocite.graph.build.sort_links import DirectionWriter
from cocite.graph.encode import NO_ATTRIBUTES, count_symbols, encode
from cocite.graph.generation import MemoryWriter, empty_array
from cocite.graph.huffman import Code
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import Lists
from cocite.spark.arrays import Integers, list_starts, numbers, run_starts, unpack_lists
from cocite.web import Web

ROW_KINDS = QUERY_ROW, LIST_ROW, POOL_ROW, NEAR_ROW, CHILD_ROW, POPULAR_ROW = tuple(range(6))
"""A query page; a list of links; the chosen parents of a page; a near-duplicate with its representative; a child with
its parents, all or the best; of a page's links those to pages of many parents."""
ROW_TYPES = {"part": "int", "what": "int", "page": "long", "fingerprint": "long", "unit": "long", "degree": "long"}
ROW_TYPES |= {"other": "long", "x": "binary", "y": "binary", "z": "binary"}
"""The columns of rows: x has targets or parents, y attributes, z the degrees of targets."""
CODE_SAMPLE_LINKS = 100_000
Pages = NDArray[np.uint32]


class SubWeb(Web):
    """A Web of a part."""

    def __init__(self, graph: "SubGraph", stop: NDArray[np.uint32]) -> None:
        """`stop` are the pages of the stop list that this part has: a part has no addresses to look up."""
        super().__init__(graph)
        self.graph: SubGraph = graph
        self._stop = stop

    def known_pages(self, addresses: Sequence[str]) -> NDArray[np.uint32]:
        """The stop pages of this part; empty without a stop list."""
        return self._stop if addresses else self._stop[:0]


class SubGraph(Graph):
    """A Graph of a part. What it lacks, no method that runs on it reads."""

    def __init__(self, numbers: Integers, arrays: dict[str, NDArray[Any]], pools: "Pools") -> None:
        links = int(arrays["out.degree"].sum(dtype=np.int64))
        super().__init__(Arrays(arrays, {"id": "", "pages": len(numbers), "links": links}))
        self.numbers, self._pools = numbers, pools  # `numbers` of its pages, in the web

    def pool(self, page: int) -> Pages:
        """The parents to choose from, in the order of choice if there are more than can be chosen."""
        return self._pools.of(page)


class Pools(NamedTuple):
    """Chosen parents: those of pages[i] are parents[starts[i]:starts[i + 1]]."""

    pages: Pages
    starts: Integers
    parents: Pages

    def of(self, page: int) -> Pages:
        """The chosen parents of a page."""
        at = int(np.searchsorted(self.pages, page))
        known = at < len(self.pages) and self.pages[at] == page
        return self.parents[self.starts[at] : self.starts[at + 1]] if known else self.parents[:0]


def make_subgraph(rows: pa.Table, kind: str) -> tuple[SubGraph, Pages]:
    """The graph of a part's rows, and its query pages."""
    what = numbers(rows["what"])
    tables = [rows.filter(pa.array(what == each)) for each in ROW_KINDS]
    own = [numbers(table["page"]) for table in tables]
    targets, starts = unpack_lists(tables[LIST_ROW]["x"], kind)
    pools, pool_starts = unpack_lists(tables[POOL_ROW]["x"], kind)
    parents, parent_starts = unpack_lists(tables[CHILD_ROW]["x"], kind)
    others = numbers(tables[NEAR_ROW]["other"])
    # Of links to popular pages, only those to children are read.
    popular, popular_starts = unpack_lists(tables[POPULAR_ROW]["x"], kind)
    kept = np.isin(popular, own[CHILD_ROW])
    popular, popular_starts = popular[kept], list_starts(kept)[popular_starts]
    linked = (np.unique(each).astype(np.int64) for each in (targets, parents, popular))
    known = np.unique(np.concatenate([*own, others, *linked]))

    def local(values: NDArray[Any]) -> Pages:
        return np.searchsorted(known.astype(values.dtype), values).astype(np.uint32)

    targets, parents, popular, others = local(targets), local(parents), local(popular), local(others)
    pages = [local(each) for each in own]
    degree, unit = np.zeros(len(known), np.uint32), np.zeros(len(known), np.int64)
    fingerprint = np.zeros(len(known), np.uint64)
    degree[targets] = unpack_lists(tables[LIST_ROW]["z"], kind)[0]
    degree[popular] = unpack_lists(tables[POPULAR_ROW]["z"], kind)[0][kept]
    degree[others] = numbers(tables[NEAR_ROW]["degree"])
    for each in (QUERY_ROW, LIST_ROW, CHILD_ROW, POPULAR_ROW):
        degree[pages[each]], unit[pages[each]] = numbers(tables[each]["degree"]), numbers(tables[each]["unit"])
        fingerprint[pages[each]] = numbers(tables[each]["fingerprint"], np.uint64)
    attributes = unpack_lists(tables[LIST_ROW]["y"], np.uint32)[0]
    attributes = attributes if len(attributes) else np.zeros(len(targets), np.uint32)
    # A child of few parents came with all of them. Links to other children came with the pages that have them.
    child = np.repeat(pages[CHILD_ROW], np.diff(parent_starts))
    few = degree[child] <= MANY_PARENTS
    owners = np.append(parents[few], np.repeat(pages[POPULAR_ROW], np.diff(popular_starts)))
    more = ~np.isin(owners, pages[LIST_ROW])
    owners = np.append(np.repeat(pages[LIST_ROW], np.diff(starts)), owners[more])
    targets = np.append(targets, np.append(child[few], popular)[more])
    attributes = np.append(attributes, np.zeros(len(owners) - len(attributes), np.uint32))
    order = np.argsort(owners, kind="stable")  # the links of a page stay in their order
    writer = MemoryWriter()
    degrees = np.bincount(owners, minlength=len(known)).astype(np.uint32)
    writer.append_all(entry_points("out", _write_lists(writer, "out", degrees, targets[order], attributes[order])))
    _write_in(writer, pages[CHILD_ROW], parent_starts, parents, degree)
    order = np.argsort(pages[NEAR_ROW])
    writer.append("near.page", pages[NEAR_ROW][order])
    writer.append("near.representative", others[order])
    writer.append("fingerprint", fingerprint)
    arrays = {name: values if len(values) else empty_array(TYPE_OF[name]) for name, values in writer.all().items()}
    # The rows have the unit of the question, so every kind of unit is that one.
    units = np.unique(unit, return_inverse=True)[1].astype(np.uint32)
    arrays |= {"page.site": units, "page.host": units, "host.domain": np.arange(len(known), dtype=np.uint32)}
    return SubGraph(known, arrays, _make_pools(pages[POOL_ROW], pool_starts, local(pools))), np.sort(pages[QUERY_ROW])


def _make_pools(pages: Pages, starts: Integers, parents: Pages) -> Pools:
    """Pools in the order of pages. If the parents of a page came in two rows, both ascending, they are one pool."""
    order = np.lexsort((parents[starts[:-1]], pages))
    places, sizes = _reordered(starts, order)
    runs = run_starts(pages[order])
    return Pools(pages[order][runs[:-1]], list_starts(sizes)[runs], parents[places])


def _reordered(starts: Integers, order: NDArray[np.intp]) -> tuple[Integers, Integers]:
    """The places of items after their lists are put into another order, and the sizes of the lists."""
    sizes = np.diff(starts)[order]
    return np.arange(sizes.sum()) + np.repeat(starts[:-1][order] - list_starts(sizes)[:-1], sizes), sizes


def _write_in(writer: MemoryWriter, children: Pages, starts: Integers, parents: Pages, degree: Pages) -> None:
    """Write links into children, all or the best, as a store keeps them. Pages have their degree in the web."""
    order = np.argsort(children)
    places, sizes = _reordered(starts, order)
    children, parents = children[order], parents[places]
    many = degree[children] > MANY_PARENTS
    if (sizes[many] != BEST_PARENTS).any() or (sizes[~many] != degree[children[~many]]).any():
        raise AssertionError("parents of children are missing")
    of_many = np.repeat(many, sizes)
    writer.append("best.page", children[many])
    writer.append("best.parent", parents[of_many])
    shorter = np.zeros(len(degree), np.uint32)
    shorter[children[~many]] = sizes[~many]
    lists = MemoryWriter()
    _write_lists(lists, "in", shorter, parents[~of_many], NO_ATTRIBUTES)
    for name, values in lists.all().items():
        writer.append(name, degree if name == "in.degree" else values)


def _write_lists(writer: MemoryWriter, name: str, degrees: Pages, targets: Pages, attributes: Pages) -> Lists:
    """Encode lists with a code made of a sample of their links."""
    starts = list_starts(degrees)
    some = int(np.searchsorted(starts, CODE_SAMPLE_LINKS, "right"))
    code = Code.from_counts(count_symbols(targets, attributes, starts[:some], np.arange(some - 1, dtype=np.uint32)))
    lists = DirectionWriter(writer, name, code)
    lists.append(encode(targets, attributes, starts, np.arange(len(starts) - 1, dtype=np.uint32), code))
    return lists.finish()
