"""BlockSimRank: SimRank inside blocks of pages, and between the blocks (Li, Cai, Liu, He & Du 2009).

The web is divided into blocks. A walk against the links stays in its block, or moves between blocks. Two pages a, b of
one block have the SimRank of that block alone. Pages of different blocks A, B have

    s(a, b) = e(a) · e(b) · S(A, B)

where S is SimRank of the web of blocks, in which a step from B goes to A as often as pages of A link to pages of B, and
e(a) is the share of a's in-links that come from other blocks. C = 0.8, ten rounds.

Departures: the paper finds blocks by clustering, here they are sites, or the user's own (`blocks`); links within a
block are ignored in the web of blocks; e(a), which weighs pages of one block differently, is our addition.

Computed exactly in a store of up to `pages` pages; in a larger one for as many pages around the query page
(`neighbourhood/small_web.py`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.evidence import Evidence, SimilarSites
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.small_web import Adjacency, Matrix, SmallWeb, SmallWebParams, connect, simrank_matrix
from cocite.related.neighbourhood.view import Pages
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(SmallWebParams):
    """C, the size of the web, and blocks."""

    blocks: tuple[str, ...] = parameter(
        (), "Blocks of your own, page<TAB>block each (command line: or a file of such lines); others are sites"
    )


class GivenBlocks(NamedTuple):
    """Pages with the blocks that the user gives them."""

    pages: Pages  # ascending
    blocks: NDArray[np.int64]  # of each page, as index of the names
    names: list[str]


class SolvedBlocks(NamedTuple):
    """Similarities inside and between blocks."""

    of: NDArray[np.intp]  # the block of each page
    names: Sequence[str | None]  # of the blocks; None: a site
    inside: Matrix  # similarities of pages, 0 for those of different blocks
    inside_links: Adjacency
    between: Matrix  # similarities of blocks
    between_links: Adjacency
    external: Values  # e: the share of in-links from other blocks


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by BlockSimRank."""
    given = web.cached("blocks", params.blocks, lambda: find_blocks(web.graph, params.blocks))
    around, blocks = small_web.solve_around(web, seeds, params, partial(solve, given=given))

    def values(node: int) -> Values:
        across = blocks.external[node] * blocks.external * blocks.between[blocks.of[node]][blocks.of]
        return np.asarray(np.where(blocks.of == blocks.of[node], blocks.inside[node], across))

    def name(block: int) -> str:
        first = int(around.pages[np.argmax(blocks.of == block)])
        return blocks.names[block] or web.graph.site(first).removeprefix("name:")

    def similar_blocks(page: int) -> list[Evidence]:
        """The blocks through which the block of a page is similar to that of a query page."""
        node, other = around.node(page), blocks.of[around.node(page)]
        for seed in seeds:
            own = blocks.of[around.node(seed)]
            if own == other:
                if blocks.inside[around.node(seed), node] > 0:
                    return []
                continue
            chain = connect(blocks.between, [blocks.between_links], int(own), int(other))
            if chain:
                what, query = "blocks" if params.blocks else "sites", seed if len(seeds) > 1 else None
                return [SimilarSites(sites=tuple(map(name, chain)), what=what, query=query)]
        return []

    def path(a: int, b: int) -> list[int]:
        return connect(blocks.inside, [blocks.inside_links], a, b)

    evidence = lambda pages: [similar_blocks(page) for page in pages.tolist()]  # noqa: E731
    return small_web.scores_around(around, seeds, values, path, evidence=evidence)


def find_blocks(graph: Graph, entries: Sequence[str]) -> GivenBlocks:
    """Find the pages of `page<TAB>block` entries, the last of a page counts; raises BadParameter if none is known."""
    numbers, found = dict[str, int](), dict[int, int]()
    for entry in entries:
        address, _, block = (part.strip() for part in entry.rpartition("\t"))
        if not address or not block:
            raise BadParameter(f"blocks must be page<TAB>block for each page, not {entry!r:.200}")
        with suppress(BadAddress):
            page = graph.get(address)
            if page is not None:
                found[page] = numbers.setdefault(block, len(numbers))
    if entries and not found:
        raise BadParameter(f"None of the {len(entries):,} pages of blocks is in this store, e.g. {entries[0]!r:.200}")
    pages = sorted(found)
    return GivenBlocks(np.array(pages, np.uint32), np.array([found[page] for page in pages], np.int64), list(numbers))


def solve(around: SmallWeb, params: Params, given: GivenBlocks) -> SolvedBlocks:
    """SimRank in all blocks, and between them."""
    sites = around.graph.units("site")[around.pages].astype(np.int64) + len(given.names)
    _, here, there = np.intersect1d(around.pages, given.pages, assume_unique=True, return_indices=True)
    sites[here] = given.blocks[there]  # blocks are numbered before sites
    numbers, of = np.unique(sites, return_inverse=True)
    names = [given.names[number] if number < len(given.names) else None for number in numbers.tolist()]
    links, owners, count = around.into.links, around.into.owners, int(of.max()) + 1
    own = of[owners] == of[links]
    inside_links = Adjacency.from_owners(owners[own], links[own], len(around))
    inside = simrank_matrix(inside_links, inside_links.shares(), params.decay, params.rounds)
    pairs, times = np.unique(of[owners[~own]] * count + of[links[~own]], return_counts=True)
    targets = pairs // count
    between_links = Adjacency.from_owners(targets, pairs % count, count)
    weights = times / np.bincount(targets, times, count)[targets]
    between = simrank_matrix(between_links, weights, params.decay, params.rounds)
    external = np.bincount(owners[~own], minlength=len(around)) / np.maximum(1, np.diff(around.into.starts))
    return SolvedBlocks(of, names, inside, inside_links, between, between_links, external)
