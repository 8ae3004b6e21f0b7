"""BlockSimRank: SimRank inside blocks of pages, and between the blocks (Li, Cai, Liu, He & Du 2009).

The web is divided into blocks. A walk against the links stays in its block, or moves between blocks. Two pages a, b of
one block have the SimRank of that block alone. Pages of different blocks A, B have

    s(a, b) = e(a) · e(b) · S(A, B)

where S is SimRank of the web of blocks, in which a step from B goes to A as often as pages of A link to pages of B, and
e(a) is the share of a's in-links that come from other blocks. C = 0.8, ten rounds.

Departures: the paper finds blocks by clustering, here they are sites; links within a site are ignored in the web of
blocks; e(a), which weighs pages of one block differently, is our addition.

Computed exactly in a store of up to `pages` pages; in a larger one for as many pages around the query page
(`neighbourhood/small_web.py`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.related.evidence import Evidence, SimilarSites
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.small_web import Adjacency, Matrix, SmallWeb, SmallWebParams, connect, simrank_matrix
from cocite.web import Web


class Params(SmallWebParams):
    """C, and the size of the web."""


class SiteBlocks(NamedTuple):
    """Similarities inside and between blocks."""

    of: NDArray[np.intp]  # the block of each page
    inside: Matrix  # similarities of pages, 0 for those of different blocks
    inside_links: Adjacency
    between: Matrix  # similarities of blocks
    between_links: Adjacency
    external: Values  # e: the share of in-links from other blocks


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by BlockSimRank."""
    around, blocks = small_web.solve_around(web, seeds, params, solve)

    def values(node: int) -> Values:
        across = blocks.external[node] * blocks.external * blocks.between[blocks.of[node]][blocks.of]
        return np.asarray(np.where(blocks.of == blocks.of[node], blocks.inside[node], across))

    def similar_sites(page: int) -> list[Evidence]:
        """The sites through which the site of a page is similar to that of a query page."""
        node, other = around.node(page), blocks.of[around.node(page)]
        for seed in seeds:
            own = blocks.of[around.node(seed)]
            if own == other:
                if blocks.inside[around.node(seed), node] > 0:
                    return []
                continue
            chain = connect(blocks.between, [blocks.between_links], int(own), int(other))
            if chain:
                names = tuple(web.graph.site(int(around.pages[np.argmax(blocks.of == block)])) for block in chain)
                return [SimilarSites(sites=names, query=seed if len(seeds) > 1 else None)]
        return []

    def path(a: int, b: int) -> list[int]:
        return connect(blocks.inside, [blocks.inside_links], a, b)

    evidence = lambda pages: [similar_sites(page) for page in pages.tolist()]  # noqa: E731
    return small_web.scores_around(around, seeds, values, path, evidence=evidence)


def solve(around: SmallWeb, params: Params) -> SiteBlocks:
    """SimRank in all blocks, and between them."""
    _, of = np.unique(around.graph.units("site")[around.pages], return_inverse=True)
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
    return SiteBlocks(of, inside, inside_links, between, between_links, external)
