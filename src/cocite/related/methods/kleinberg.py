"""Kleinberg's hubs and authorities, started from a page and its parents.

Companion improves on it (Dean & Henzinger 1999, §5).

The start set is the page and up to 200 of its parents. All pages that these link to, and up to d = 50 that link to
each, join it. Links inside a unit are dropped; plain HITS, every edge counting 1; the highest authorities are the
answers. Near-duplicates stay apart, unless `merge` is on: putting them together is one of Companion's improvements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.neighbourhood.gather import Numbered, children_of, chosen_parents
from cocite.related.neighbourhood.hits import Vicinity, rank_authorities
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import Switches, View
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """The limits of the base set, and of the iteration."""

    parents: int = parameter(200, "so many parents at most in the start set, chosen by hash", minimum=0)
    in_links: int = parameter(50, "d: so many pages that link to each page of the start set, chosen by hash", minimum=0)
    rounds: int = parameter(200, "rounds of the iteration at most", minimum=1)
    merge: bool = parameter(False, "near-duplicates count as one page")


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """The authorities of the base set of the query pages."""
    return rank_authorities(
        web, seeds, params, lambda view, page: gather(view, page, params), weighted=False, rounds=params.rounds
    )


def gather(view: View, page: int, params: Params) -> Vicinity:
    """The page, its parents, and all that they link to or are linked by."""
    start = [page, *chosen_parents(view, page, params.parents).tolist()]
    found = [np.array(start, np.uint32)]
    for member in start:
        found += [children_of(view, member), chosen_parents(view, member, params.in_links)]
    nodes = Numbered(sum(map(len, found)))
    for pages in found:
        nodes.add(pages)
    return Vicinity(nodes.pages, None)
