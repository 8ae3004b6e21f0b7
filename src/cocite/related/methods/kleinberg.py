"""Kleinberg's hubs and authorities (Kleinberg 1999), started from a page and its parents.

This is the algorithm that Companion improves on (Dean & Henzinger 1999, §5).

The start set is the page and up to 200 of its parents. All pages that these link to, and up to d = 50 that link to
each, join it. Links inside a unit are dropped; in plain HITS every edge counts 1, and the highest authorities are the
results. Near-duplicates stay apart, unless `merge` is on: merging them is one of Companion's improvements.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related.methods.hubfinder import Gamma
from cocite.related.neighbourhood.hits import Vicinity, rank_authorities
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import HASH_SEED, GraphView, Numbered, Switches, merge_parameter
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """The limits of the base set, and of the iteration."""

    parents: int = parameter(200, "Maximum number of parents in the start set, chosen by hash", minimum=0)
    in_links: int = parameter(50, "d: maximum number of parents of each start page, chosen by hash", minimum=0)
    rounds: int = parameter(200, "Maximum number of rounds of the iteration", minimum=1)
    merge: bool | str = merge_parameter(False)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """The authorities of the base set of the query pages."""
    return rank_authorities(web, seeds, params, gather, weighted=False)


def gather(view: GraphView, page: int, params: Params) -> Vicinity:
    """The page, its parents, and all pages that they link to or that link to them."""
    parents = view.chosen_parents(page, params.parents)
    found = [np.array([page, *parents.tolist()], np.uint32)]
    if view.plain and params.seed == HASH_SEED:
        found += [Gamma(view.graph, found[0].tolist()).extended(params.in_links)[0]]
    else:
        for member in found[0].tolist():
            found += [view.children_of(member), view.chosen_parents(member, params.in_links)]
    return Vicinity(Numbered(sum(map(len, found)), *found).pages, Parents(page, 0, parents), False)
