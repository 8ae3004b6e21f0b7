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

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.evidence import Evidence, SimilarSites
from cocite.related.neighbourhood.scores import Scores, SeedScores, combine_seeds
from cocite.related.neighbourhood.small_web import (
    Adjacency,
    Matrix,
    SmallWeb,
    connect,
    simrank_matrix,
    solve_around,
)
from cocite.related.neighbourhood.view import Pages
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params:
    """C, and the size of the web."""

    decay: float = parameter(0.8, "C: decay per step", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "Maximum number of steps", minimum=1, maximum=100)
    pages: int = parameter(1000, "Pages around the query page in a larger store", minimum=2, maximum=5000)


class Blocks(NamedTuple):
    """Similarities inside and between blocks."""

    of: NDArray[np.intp]  # the block of each page
    inside: Matrix  # similarities of pages, 0 for those of different blocks
    inside_links: Adjacency
    between: Matrix  # similarities of blocks
    between_links: Adjacency
    external: NDArray[np.float64]  # e: the share of in-links from other blocks


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by BlockSimRank."""
    around, blocks = solve_around(web, seeds, params, lambda part: solve(part, params))

    def find(seed: int) -> SeedScores:
        node = around.node(seed)
        across = blocks.external[node] * blocks.external * blocks.between[blocks.of[node]][blocks.of]
        values = np.where(blocks.of == blocks.of[node], blocks.inside[node], across)
        links = [blocks.inside_links]
        path = lambda page: around.pages_of(connect(blocks.inside, links, node, around.node(page)))  # noqa: E731
        return SeedScores(around.pages, values, path)

    def evidence(pages: Pages) -> list[list[Evidence]]:
        return [similar_sites(page) for page in pages.tolist()]

    def similar_sites(page: int) -> list[Evidence]:
        """The sites through which the site of a page is similar to that of a query page."""
        other = blocks.of[around.node(page)]
        for seed in seeds:
            own = blocks.of[around.node(seed)]
            if own == other:
                return []
            chain = connect(blocks.between, [blocks.between_links], int(own), int(other))
            if chain:
                names = tuple(web.graph.site(int(around.pages[np.argmax(blocks.of == block)])) for block in chain)
                return [SimilarSites(sites=names, query=seed if len(seeds) > 1 else None)]
        return []

    return replace(combine_seeds(seeds, find, facts=around.facts), evidence=evidence)


def solve(around: SmallWeb, params: Params) -> Blocks:
    """SimRank in all blocks, and between them."""
    _, of = np.unique(around.graph.units("site")[around.pages], return_inverse=True)
    links, owners = around.into.links, around.into.owners
    own = of[owners] == of[links]
    inside_links = Adjacency.from_owners(owners[own], links[own], len(around))
    shares = inside_links.shares(np.diff(inside_links.starts).astype(np.float64))
    inside = simrank_matrix(inside_links, shares, params.decay, params.rounds)
    between_links, weights = _links_between(of[owners[~own]], of[links[~own]], int(of.max()) + 1)
    between = simrank_matrix(between_links, weights, params.decay, params.rounds)
    degree = np.maximum(1, np.diff(around.into.starts))
    external = np.bincount(owners[~own], minlength=len(around)) / degree
    return Blocks(of, inside, inside_links, between, between_links, external)


def _links_between(
    targets: NDArray[np.intp], sources: NDArray[np.intp], count: int
) -> tuple[Adjacency, NDArray[np.float64]]:
    """In-links of all blocks from others, and the probability of each."""
    pairs, times = np.unique(targets * count + sources, return_counts=True)
    owners = pairs // count
    links = Adjacency.from_owners(owners, pairs % count, count)
    return links, times / np.bincount(owners, times, count)[owners]
