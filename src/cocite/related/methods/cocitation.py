"""Cocitation: pages that are linked beside the query page (Dean & Henzinger 1999, §2.2).

Up to B parents of the page are chosen. The links of each within BF/2 before and BF/2 after its link to the page are the
siblings S. The score of a sibling is the number of chosen parents that link to it, from anywhere on the page. If fewer
than 15 siblings are cocited at least twice, the address is chopped.

With a `unit` other than none, parents on one unit count as one; near-duplicate parents and siblings always do, unless
`merge` is off. The paper merges nothing (`merge=published`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import cocitation as kernels
from cocite.kernels.related.cocitation import BestSiblings, CocitationQuery
from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import MIN_SCORE, Best, FirstPlaces, LinkEvidence, Scores, begin
from cocite.related.neighbourhood.view import (
    AUTO_UNIT,
    NO_PAGES,
    UNITS,
    GraphView,
    Pages,
    Switches,
    number_siblings,
)
from cocite.text import rounded
from cocite.web import Web

MIN_SIBLINGS, MIN_CITATIONS = 15, 2
"""An address with fewer siblings that are cocited at least twice is chopped."""
MIN_ROUNDED_SCORE = 1e6
"""Greater scores have more than the six digits that are shown."""

FIRST_RANKED = 16
"""Siblings that are ordered by the kernel that counts: ten, and the query page, which may be one of them."""


class Siblings(NamedTuple):
    """Siblings of all query pages; for each query page (row) how many of its parents link to each; its parents."""

    pages: Pages
    degrees: NDArray[np.int32]
    parents: list[Parents]
    first: FirstPlaces | None = None


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """B and BF of the paper, and what counts."""

    parents: int = parameter(2000, "B: maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(8, "BF: links of a parent around its link to the page (0: all)", minimum=0)
    unit: str = parameter("none", "Parents on one unit count as one", choices=UNITS)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings by the number of chosen parents that they share with the query pages."""
    start, (pages, degrees, parents, first) = begin(web, seeds, params, lambda view, some: gather(view, some, params))
    values = degrees.sum(axis=0, dtype=np.float64) if first is None else first.values
    facts = {"siblings": len(values), "cocited": int(np.count_nonzero(values >= MIN_CITATIONS))}
    evidence = LinkEvidence(start.view, parents)
    return start.scores(pages, values, degrees, facts=facts, evidence=evidence, first=first)


def best_of_each(web: Web, pages: Pages, params: Params, k: int) -> Best | None:
    """The k best results for each of many pages by themselves, without chopping; None if some link does not count.

    These are the results of `relate`, without most of its overhead, which for most pages is greater than the work.
    """
    graph, view = web.graph, GraphView(web.graph, [], params)
    if params.stop or params.stop_degree or not view.plain or params.unit == AUTO_UNIT:
        return None
    pools = [view.candidate_parents(page, params.parents) for page in pages.tolist()]
    starts = np.append(0, np.cumsum([len(pool) for pool in pools], dtype=np.int64))
    found, scores = np.empty(len(pages) * k, np.uint32), np.empty(len(pages) * k)
    counts, cocited = np.empty(len(pages), np.int32), np.empty(len(pages), np.int32)
    best, candidates = BestSiblings(found, scores, counts, cocited), np.concatenate([NO_PAGES, *pools])
    query = _query(view, params)
    total = kernels.best_cocited(query, pages, starts, candidates, graph.in_degree, MIN_SCORE, k, best)
    graph.links.return_counters(query.counters)
    view.check(total)
    scores = scores[:total]
    if scores.max(initial=0.0) >= MIN_ROUNDED_SCORE:
        scores = np.array([rounded(score) for score in scores.tolist()])
    return Best(counts, found[:total], scores, cocited >= (MIN_SIBLINGS if params.chop != "none" else 0))


def gather(view: GraphView, pages: Sequence[int], params: Params) -> tuple[Siblings, bool]:
    """The siblings of pages and their cocitation degrees, and whether enough are cocited."""
    # Else all parents have to be known first, or somebody else has chosen them.
    alone = len(pages) == 1 and params.unit != AUTO_UNIT and view.graph.pool(pages[0]) is None
    siblings = _of_one(view, pages[0], params) if alone else _of_several(view, pages, params)
    enough = siblings.degrees >= MIN_CITATIONS
    often = enough[0] if len(enough) == 1 else np.asarray(enough.all(axis=0))
    cited = np.count_nonzero(often)
    if MIN_SIBLINGS <= cited < MIN_SIBLINGS + len(pages):  # query pages may be among them
        cited -= np.count_nonzero(often & view.are_seeds(siblings.pages, pages))
    return siblings, bool(cited >= MIN_SIBLINGS)


def _query(view: GraphView, params: Params) -> CocitationQuery:
    near, counters = view.near_duplicates, view.graph.links.borrow_counters()
    limits = params.parents, params.window
    return CocitationQuery(view.out, view.into, view.choice, *limits, view.refused, near, view.units, counters)


def _of_one(view: GraphView, page: int, params: Params) -> Siblings:
    """All in one kernel: for most pages separate steps take longer than the work."""
    query = _query(view, params)
    chosen, one = kernels.first_cocited(query, page, MIN_SCORE, FIRST_RANKED)
    view.graph.links.return_counters(query.counters)
    view.check(chosen)
    first = FirstPlaces(one.values, view.refused.in_degree, one.first, FIRST_RANKED)
    return Siblings(one.siblings, one.degrees[None, :], [Parents(page, 0, one.parents)], first)


def _of_several(view: GraphView, pages: Sequence[int], params: Params) -> Siblings:
    parents = [view.parents_of(page, params.parents, params.window) for page in pages]
    view.choose_unit(pages, [each.pages for each in parents])
    siblings = number_siblings(parents)
    merged = view.merge(siblings.pages)
    degrees = np.zeros((len(pages), len(merged.pages)), np.int32)
    for row, each in zip(degrees, parents, strict=True):
        groups, count = view.group(each.pages)
        order = np.arange(len(groups)) if count == len(groups) else np.argsort(groups, kind="stable")
        done = kernels.count_cocited(view.out, each, view.refused, order, groups, siblings.pages, merged.number, row)
        view.check(done)
    return Siblings(merged.pages, degrees, parents)
