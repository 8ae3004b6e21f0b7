"""BlockSimRank: SimRank inside blocks of pages, and between the blocks (Li, Cai, Liu, He & Du 2009).

The web is cut into blocks, here: sites. A walk against the links stays in its block, or moves between blocks. Two pages
a, b of one block have the SimRank of that block alone: other links do not count. Pages of different blocks A, B have

    s(a, b) = e(a) · e(b) · S(A, B)

where S is SimRank of the web of blocks, a step from B going to block A as often as A's pages link to B's pages, and
e(a) is the share of a's links in that come from other blocks. C = 0.8, ten rounds.

Decided, since the paper finds blocks by clustering and speaks of their pages alike: blocks are sites; links of a site
to itself are none in the web of blocks; e says how much a page has to do with that web.

Of a store of up to `pages` pages everything is worked out exactly; of a larger one as many pages around the query page
(`neighbourhood/subweb.py`) are the web.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.neighbourhood.pairs import Matrix, Rounds, connect, shares
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Links, Subweb, solved
from cocite.web import Web

SITES_ALIKE = "sites cited alike"


@dataclass(frozen=True, kw_only=True)
class Params:
    """C, and how much of the web."""

    decay: float = parameter(0.8, "C: what one step away still counts", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "so many steps away at most", minimum=1, maximum=100)
    pages: int = parameter(1000, "so many pages around the query page in a larger store", minimum=2, maximum=5000)


class Blocks(NamedTuple):
    """Both layers."""

    of: NDArray[np.intp]  # the block of each page
    inside: Matrix  # similarities of pages, 0 for those of different blocks
    inside_links: Links
    between: Matrix  # similarities of blocks
    between_links: Links
    outward: NDArray[np.float64]  # e


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by BlockSimRank."""
    around, blocks = solved(web.graph, seeds, params.pages, params, lambda part: solve(part, params))

    def find(seed: int) -> Found:
        place = around.place(seed)
        across = blocks.outward[place] * blocks.outward * blocks.between[blocks.of[place]][blocks.of]
        values = np.where(blocks.of == blocks.of[place], blocks.inside[place], across)
        path = lambda page: around.connected(connect, blocks.inside, [blocks.inside_links], seed, page)  # noqa: E731
        return Found(around.pages, values, path)

    def evidence(page: int) -> Sequence[Mapping[str, Any]]:
        """Of a page of another site: the sites through which its site is like that of a query page."""
        other = blocks.of[around.place(page)]
        for seed in seeds:
            own = blocks.of[around.place(seed)]
            if own == other:
                return ()
            way = connect(blocks.between, [blocks.between_links], int(own), int(other))
            if way:
                names = tuple(web.graph.site(int(around.pages[np.argmax(blocks.of == block)])) for block in way)
                return ({"kind": SITES_ALIKE, "pages": names, "page": seed},)
        return ()

    return replace(join(seeds, find, around.facts), evidence=evidence)


def solve(around: Subweb, params: Params) -> Blocks:
    """SimRank in all blocks, and between them."""
    _, of = np.unique(around.graph.units("site")[around.pages], return_inverse=True)
    links, own = around.into, of[around.into.owners] == of[around.into.links]
    inside_links = _chosen(links, own)
    inside = _rounds(inside_links, shares(inside_links, np.diff(inside_links.starts).astype(np.float64)), params)
    between_links, weights = _between(links, of, ~own)
    degree = np.maximum(1, np.diff(links.starts))
    outward = np.bincount(links.owners[~own], minlength=len(around)) / degree
    return Blocks(of, inside, inside_links, _rounds(between_links, weights, params), between_links, outward)


def _chosen(links: Links, some: NDArray[np.bool_]) -> Links:
    starts = np.zeros_like(links.starts)
    np.cumsum(np.bincount(links.owners[some], minlength=len(starts) - 1), out=starts[1:])
    return Links(starts, links.links[some])


def _between(links: Links, of: NDArray[np.intp], across: NDArray[np.bool_]) -> tuple[Links, NDArray[np.float64]]:
    """Links in of all blocks from others, and how often each is taken."""
    count = int(of.max()) + 1
    pairs, times = np.unique(of[links.owners[across]] * count + of[links.links[across]], return_counts=True)
    owners = pairs // count
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=starts[1:])
    return Links(starts, pairs % count), times / np.bincount(owners, times, count)[owners]


def _rounds(links: Links, weights: NDArray[np.float64], params: Params) -> Matrix:
    count = len(links.starts) - 1
    found, work = np.eye(count), Rounds(count)
    for _ in range(params.rounds):
        np.multiply(work.spread(links.starts, links.links, weights, found), params.decay, out=found)
        np.fill_diagonal(found, 1.0)
    return found
