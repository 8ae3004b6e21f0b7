"""A reading history: pages that count more or less, and what is related to all of them.

The score of a page is the weighted mean of its scores for every page of the history, 0 where it is not related to one.
That works with every method; how the scores of two pages compare is the method's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cocite.errors import BadAddress, BadParameter
from cocite.graph.store import Graph
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import NO_PAGES
from cocite.web import Web

MOST_PAGES = 1000
EXPLAINED = 5
"""Reasons are given for so many pages of a history, the heaviest."""
TOGETHER = 16
"""Answers to so many pages are held before they are added up."""


class History(NamedTuple):
    """Pages of a store with weights, heaviest first."""

    pages: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # addresses that the store does not have


NO_HISTORY = History()


def read_history(path: Path) -> list[tuple[str, float]]:
    """A file of `address` or `address<TAB>weight` lines; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"the history {path} cannot be read ({error}): give a file of address<TAB>weight") from error
    found = []
    for number, line in enumerate(lines, 1):
        address, _, weight = line.strip().partition("\t")
        if address and not address.startswith("#"):
            found.append((address.strip(), check_weight(weight.strip() or 1.0, f"line {number} of {path}")))
    if not found:
        raise BadParameter(f"{path} has no address: give a file of address<TAB>weight, one a line")
    return found


def check_weight(given: object, where: str) -> float:
    """A weight, if it can be one."""
    try:
        weight = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        weight = float("nan")
    if not isfinite(weight) or not 0 < weight <= 1e9 or isinstance(given, bool):
        raise BadParameter(f"{where}: a weight is a number above 0, not {str(given)[:100]!r}")
    return weight


def entries_of(given: Mapping[str, float] | Iterable[str | tuple[str, float]]) -> list[tuple[str, float]]:
    """A history as it is given in Python: a mapping of weights, or addresses, or pairs."""
    pairs = given.items() if isinstance(given, Mapping) else given
    found = []
    for each in pairs if isinstance(pairs, Iterable) and not isinstance(pairs, str) else [pairs]:
        address, weight = (each, 1.0) if isinstance(each, str) else each if isinstance(each, tuple) else (None, None)
        if not isinstance(address, str):
            raise BadParameter(
                f"a history is a mapping of addresses to weights, or a list of addresses, not {each!r:.100}"
            )
        found.append((address, check_weight(weight, f"the weight of {address!r:.200}")))
    return found


def find_history(graph: Graph, entries: Sequence[tuple[str, float]]) -> History:
    """The pages of a history; raises UnknownPage if the store has none of them. A page named twice weighs both."""
    if len(entries) > MOST_PAGES:
        raise BadParameter(f"a history of more than {MOST_PAGES:,} pages: give the latest")
    weights: dict[int, float] = {}
    texts: dict[int, str] = {}
    unknown = []
    for address, weight in entries:
        try:
            page = graph.get(address)
        except BadAddress:
            page = None
        if page is None:
            unknown.append(address)
        else:
            weights[page] = weights.get(page, 0.0) + weight
            texts.setdefault(page, address)
    if entries and not weights:
        graph.find(entries[0][0])  # says which pages there are instead
    order = sorted(weights, key=lambda page: -weights[page])
    return History(
        tuple(order), tuple(weights[page] for page in order), tuple(texts[page] for page in order), tuple(unknown)
    )


def relate_history(web: Web, history: History, method: Method) -> Scores:
    """The weighted mean of the scores for each page of a history."""
    total = sum(history.weights)
    sums: list[tuple[Any, Any]] = [(NO_PAGES, np.zeros(0))]
    nevers, useds = [], []
    told: list[Callable[[int], Sequence[Mapping[str, Any]]]] = []
    for page, weight in zip(history.pages, history.weights, strict=True):
        scores = method.relate(web, [page])
        sums.append((scores.pages, scores.values * (weight / total)))
        nevers.append(scores.never)
        useds.append(scores.used)
        if scores.evidence is not None and len(told) < EXPLAINED:
            told.append(scores.evidence)
        if len(sums) > TOGETHER:
            sums = [added(sums)]
    pages, values = added(sums)
    used = tuple(dict.fromkeys(int(page) for some in useds for page in some))
    never = np.unique(np.concatenate([np.array(history.pages, np.uint32), *nevers]))
    evidence = (lambda page: [each for tell in told for each in tell(page)]) if told else None
    facts = {"history": len(history.pages)} | ({"not in this store": len(history.unknown)} if history.unknown else {})
    return Scores(pages, values, used, never.astype(np.uint32), facts=facts, evidence=evidence)


def added(sums: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Values added up by page."""
    pages, place = np.unique(np.concatenate([some for some, _ in sums]), return_inverse=True)
    return pages, np.bincount(place, np.concatenate([values for _, values in sums]), len(pages))
