"""A reading history as a query: pages with weights, and what is related to all of them.

A page's score is the weighted mean of its scores for every page of the history, 0 where it is not related. This works
with every method.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.related.evidence import BecauseRead, Evidence, MergedDuplicates
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.results.known import find_page, find_pages
from cocite.text import count
from cocite.web import Web

MAX_HISTORY_PAGES = 1000
NAMED_PAGES = 2
"""Pages of a history that are named as the reason for a result: those that gave most of its score."""
NAMED_SHARE = 0.25
"""A page that gave less than this part of what another gave isn't named."""
EXPLAINED_PAGES = 5
"""Pages of a history, the heaviest, whose evidence is kept; that of up to as many others is found again."""
KEPT_SCORES = 5000
"""Scores of each page that are kept, the highest, to tell which pages of a history a result is for."""
CHUNK_PAGES = 16
"""Pages whose scores are in memory before they are added up."""


class History(NamedTuple):
    """Pages of a store with weights, heaviest first."""

    pages: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    others: tuple[int, ...] = ()  # pages that count nothing, or too little to be asked about; they are no results
    unknown: tuple[str, ...] = ()  # addresses that are not in the store, nor any shorter one
    note: str = ""  # where shorter addresses are used
    was_read: bool = False  # whether reasons say that somebody has read these pages


NO_HISTORY = History()


def find_history(graph: Graph, entries: Sequence[tuple[str, float]], chop: str = "site") -> History:
    """Find the pages of a history, or their nearest known shorter addresses; raises UnknownPage if none is known.

    Weights of one page are added up. Of more than `MAX_HISTORY_PAGES`, those that count most are used: a browser keeps
    tens of thousands. Of those that count the same, the last ones.
    """
    weights, texts, unknown, notes = dict[int, float](), dict[int, str](), list[str](), list[str]()
    pages = find_pages(graph, [address for address, _ in entries], chop)
    for (address, weight), found in zip(entries, pages, strict=True):
        if found is None:
            unknown.append(address)
        else:
            weights[found.page] = weights.get(found.page, 0.0) + weight
            texts.setdefault(found.page, address)
            notes += [found.note] if found.note else []
    counting = [page for page, weight in weights.items() if weight > 0]
    if entries and not counting:
        first = next((address for address, weight in entries if weight > 0), "")
        if not first:
            raise BadParameter("No page of the history counts: give other dwell times")
        find_page(graph, first, chop)  # raises UnknownPage with suggestions
    latest_first = counting[::-1] if len(counting) > MAX_HISTORY_PAGES else counting
    order = tuple(sorted(latest_first, key=lambda page: -weights[page]))[:MAX_HISTORY_PAGES]
    values, names = tuple(map(weights.__getitem__, order)), tuple(map(texts.__getitem__, order))
    note = notes[0] if notes else ""
    if len(notes) > 1:
        note = f"Shorter addresses are used for {len(notes):,} pages that aren't in this store, e.g. {note}"
    if dropped := len(counting) - len(order):
        most = f"The {MAX_HISTORY_PAGES:,} pages of the history that count most are used, not {count(dropped, 'other')}"
        note = ". ".join(filter(None, (most, note)))
    others = tuple(weights.keys() - {*order})
    return History(order, values, names, others, tuple(unknown), note)


def relate_history(web: Web, history: History, method: Method) -> Scores:
    """The weighted mean of the scores for each page of a history."""
    total = sum(history.weights)
    sums: list[tuple[Any, Any]] = [(NO_PAGES, np.zeros(0))]
    excluded, used, parts = [np.array(history.pages, np.uint32)], dict[int, None](), dict[int, Scores]()
    best: list[tuple[Any, Any]] = []
    for page, weight in zip(history.pages, history.weights, strict=True):
        scores = method.relate(web, [page])
        sums.append((scores.pages, scores.values * (weight / total)))
        best.append(_highest(*sums[-1]))
        excluded.append(scores.excluded)
        used |= dict.fromkeys(map(int, scores.used))
        if len(parts) < EXPLAINED_PAGES:
            parts[page] = scores
        if len(sums) > CHUNK_PAGES:
            sums = [_add(sums)]
    pages, values = _add(sums)
    facts = {"history": len(history.pages)} | ({"not in this store": len(history.unknown)} if history.unknown else {})
    never = np.unique(np.concatenate(excluded)).astype(np.uint32)
    notes = tuple(dict.fromkeys(note for each in parts.values() for note in each.notes))
    evidence = HistoryEvidence(web, history, method, parts, best)
    return Scores(pages, values, tuple(used), never, facts=facts, notes=notes, evidence=evidence)


@dataclass(frozen=True)
class HistoryEvidence:
    """Finds the evidence for results: which pages of the history gave most of the score, and what relates them."""

    web: Web
    history: History
    method: Method
    parts: dict[int, Scores]  # of the heaviest pages
    best: Sequence[tuple[Any, Any]]  # the highest scores of each page, by page number

    def __call__(self, results: Pages) -> list[list[Evidence]]:
        """Evidence about the pages that gave most of each score, in turn; each names the page that it is about."""
        given, several = self._given(results), len(self.history.pages) > 1
        named = [np.argsort(-column, kind="stable")[:NAMED_PAGES].tolist() for column in given.T]
        named = [[at for at in some if column[at] > NAMED_SHARE * column.max()]
                 for some, column in zip(named, given.T, strict=True)]  # fmt: skip
        found: list[list[list[Evidence]]] = [[] for _ in results]
        for at in self._explained(named):
            page = self.history.pages[at]
            scores = self.parts.get(page) or self.method.relate(self.web, [page])
            own = [place for place, some in enumerate(named) if at in some]
            why = self.method.explain(self.web, scores, results[own])
            for place, each, about in zip(own, why, _about(scores.used, why), strict=True):
                is_named = self.history.was_read and len(named[place]) == 1  # by the first reason
                found[place].append(about if several and not is_named else each)
        turns = [[one for turn in zip_longest(*about) for one in turn if one is not None] for about in found]
        if self.history.was_read:
            read = [tuple(self.history.pages[at] for at in some) for some in named]
            turns = [[*([BecauseRead(pages=some)] if some else []), *each]
                     for some, each in zip(read, turns, strict=True)]  # fmt: skip
        return [list(dict.fromkeys(each)) for each in turns]

    def _given(self, results: Pages) -> Any:
        """The score that each page of the history gave each result; 0 where it isn't one of its highest."""
        given = np.zeros((len(self.best), len(results)))
        for row, (pages, values) in zip(given, self.best, strict=True):
            if len(pages):
                places = np.minimum(np.searchsorted(pages, results), len(pages) - 1)
                row[:] = np.where(pages[places] == results, values[places], 0.0)
        return given

    def _explained(self, named: Sequence[Sequence[int]]) -> list[int]:
        """Pages of the history whose evidence is given: those of most results, and no more than can be found soon."""
        wanted = Counter(at for some in named for at in some)
        others = (at for at, _ in wanted.most_common() if self.history.pages[at] not in self.parts)
        kept = {at for at in wanted if self.history.pages[at] in self.parts}
        return sorted(kept.union(islice(others, EXPLAINED_PAGES)))


def _highest(pages: Any, values: Any) -> tuple[Any, Any]:
    """The highest values, by page number."""
    if len(values) > KEPT_SCORES:
        kept = np.argpartition(-values, KEPT_SCORES)[:KEPT_SCORES]
        pages, values = pages[kept], values[kept]
    order = np.argsort(pages)
    return pages[order], values[order]


def _about(used: Sequence[int], found: list[list[Evidence]]) -> list[list[Evidence]]:
    """Evidence for results, with the query page that it is about."""

    def lacks_page(one: Evidence) -> bool:
        return one.query is None and not isinstance(one, MergedDuplicates) and len(used) > 0

    return [[replace(one, query=used[0]) if lacks_page(one) else one for one in each] for each in found]


def _add(sums: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Add up values by page."""
    pages, index = np.unique(np.concatenate([some for some, _ in sums]), return_inverse=True)
    return pages, np.bincount(index, np.concatenate([values for _, values in sums]), len(pages))
