"""A reading history as a query: pages with weights, and what is related to all of them.

A page's score is the weighted mean of its scores for every page of the history, 0 where it is not related. This works
with every method.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.related.evidence import Evidence, MergedDuplicates
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import Scores, take_turns
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.results.known import find_page, find_pages
from cocite.web import Web

MAX_HISTORY_PAGES = 1000
EXPLAINED_PAGES = 5
"""Reasons are given for this many pages of a history, the heaviest."""
CHUNK_PAGES = 16
"""Pages whose scores are in memory before they are added up."""


class History(NamedTuple):
    """Pages of a store with weights, heaviest first."""

    pages: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # addresses that are not in the store, nor any shorter one
    note: str = ""  # where shorter addresses are used


NO_HISTORY = History()


def read_history(path: Path) -> list[tuple[str, float]]:
    """Read a file of `address` or `address<TAB>weight` lines; lines that begin with # are comments."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"cannot read the history {path} ({error}): give a file of address<TAB>weight") from error
    entries = []
    for number, line in enumerate(lines, 1):
        address, _, weight = line.strip().partition("\t")
        if address and not address.startswith("#"):
            entries.append((address.strip(), check_weight(weight.strip() or 1.0, f"line {number} of {path}")))
    if not entries:
        raise BadParameter(f"{path} contains no address: give one address<TAB>weight per line")
    return entries


def check_weight(given: object, where: str) -> float:
    """The weight as a number; raises BadParameter unless it is above 0 and at most 1e9."""
    try:
        weight = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        weight = float("nan")
    if not isfinite(weight) or not 0 < weight <= 1e9 or isinstance(given, bool):
        raise BadParameter(f"{where}: a weight must be a number above 0, not {str(given)[:100]!r}")
    return weight


def find_history(graph: Graph, entries: Sequence[tuple[str, float]], chop: str = "site") -> History:
    """Find the pages of a history, or their nearest known shorter addresses; raises UnknownPage if none is known.

    Weights of one page are added up.
    """
    if len(entries) > MAX_HISTORY_PAGES:
        raise BadParameter(f"the history has more than {MAX_HISTORY_PAGES:,} pages: give the latest")
    weights, texts, unknown, notes = dict[int, float](), dict[int, str](), list[str](), list[str]()
    pages = find_pages(graph, [address for address, _ in entries], chop)
    for (address, weight), found in zip(entries, pages, strict=True):
        if found is None:
            unknown.append(address)
        else:
            weights[found.page] = weights.get(found.page, 0.0) + weight
            texts.setdefault(found.page, address)
            notes += [found.note] if found.note else []
    if entries and not weights:
        find_page(graph, entries[0][0], chop)  # raises UnknownPage with suggestions
    order = tuple(sorted(weights, key=lambda page: -weights[page]))
    values, names = tuple(map(weights.__getitem__, order)), tuple(map(texts.__getitem__, order))
    note = notes[0] if notes else ""
    if len(notes) > 1:
        note = f"Shorter addresses are used for {len(notes):,} pages that aren't in this store, e.g. {note}"
    return History(order, values, names, tuple(unknown), note)


def relate_history(web: Web, history: History, method: Method) -> Scores:
    """The weighted mean of the scores for each page of a history."""
    total = sum(history.weights)
    sums: list[tuple[Any, Any]] = [(NO_PAGES, np.zeros(0))]
    excluded, used, parts = [np.array(history.pages, np.uint32)], dict[int, None](), list[Scores]()
    for page, weight in zip(history.pages, history.weights, strict=True):
        scores = method.relate(web, [page])
        sums.append((scores.pages, scores.values * (weight / total)))
        excluded.append(scores.excluded)
        used |= dict.fromkeys(map(int, scores.used))
        if len(parts) < EXPLAINED_PAGES:
            parts.append(scores)
        if len(sums) > CHUNK_PAGES:
            sums = [_add(sums)]
    pages, values = _add(sums)
    facts = {"history": len(history.pages)} | ({"not in this store": len(history.unknown)} if history.unknown else {})

    def evidence(results: Pages) -> list[list[Evidence]]:
        """About the heaviest pages, in turn; each names the page that it is about."""
        found = [method.explain(web, each, results) for each in parts]
        if len(parts) > 1:
            found = [_about(each.used, some) for each, some in zip(parts, found, strict=True)]
        return [list(dict.fromkeys(each)) for each in take_turns(found)]

    never = np.unique(np.concatenate(excluded)).astype(np.uint32)
    notes = tuple(dict.fromkeys(note for each in parts for note in each.notes))
    return Scores(pages, values, tuple(used), never, facts=facts, notes=notes, evidence=evidence)


def _about(used: Sequence[int], found: list[list[Evidence]]) -> list[list[Evidence]]:
    """Evidence for results, with the query page that it is about."""

    def lacks_page(one: Evidence) -> bool:
        return one.query is None and not isinstance(one, MergedDuplicates) and len(used) > 0

    return [[replace(one, query=used[0]) if lacks_page(one) else one for one in each] for each in found]


def _add(sums: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Add up values by page."""
    pages, index = np.unique(np.concatenate([some for some, _ in sums]), return_inverse=True)
    return pages, np.bincount(index, np.concatenate([values for _, values in sums]), len(pages))
