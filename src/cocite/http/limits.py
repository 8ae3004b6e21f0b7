"""What strangers may ask of a method: parameters within bounds, and no files.

On the command line a method does what its owner tells it. Here nobody may keep a thread busy for minutes, nor have a
file of the server read as a list of stop pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cocite.errors import BadAddress, BadParameter
from cocite.graph.store import Graph
from cocite.http.settings import LONGEST_ADDRESS, MOST_PAGES
from cocite.parameters import Parameter, parameters_of, parse
from cocite.related import methods
from cocite.related.methods import Method
from cocite.related.neighbourhood.view import StopList

MOST_COMPARED = 20
"""Methods of one comparison."""
TIMES, ENOUGH = 4, 200
"""A whole number may be so many times its default, and this much in any case."""
ANY = frozenset({"seed", "stop_degree"})
"""Numbers that cost nothing however large."""


def most(parameter: Parameter) -> float:
    """The largest value of a parameter that is taken."""
    own = float("inf") if parameter.maximum is None else parameter.maximum
    if parameter.type is not int or parameter.name in ANY:
        return own
    return min(own, float(max(TIMES * parameter.default, ENOUGH)))


@lru_cache(maxsize=512)
def method_of(call: str) -> tuple[Method, frozenset[str], str]:
    """A method as a stranger spells it, the parameters that were given, and how it is spelled properly.

    Raises UnknownMethod, BadParameter.
    """
    method, given = methods.method(call), frozenset(parse(call)[1])
    for parameter in parameters_of(type(method.params)):
        value = getattr(method.params, parameter.name)
        if isinstance(value, int | float) and value > most(parameter):
            raise BadParameter(f"{parameter.name} is at most {most(parameter):,.10g} here, not {value:,}")
        if isinstance(value, tuple) and len(value) > MOST_PAGES:
            raise BadParameter(f"{parameter.name} has at most {MOST_PAGES} addresses here, not {len(value):,}")
    return method, given, str(method)


def methods_of(calls: Sequence[str]) -> list[Method]:
    """The methods of a comparison; raises UnknownMethod, BadParameter."""
    if len(calls) > MOST_COMPARED:
        raise BadParameter(f"more than {MOST_COMPARED} methods: compare fewer at once")
    return [method_of(call)[0] for call in calls]


def confined(graph: Graph, method: Method) -> Method:
    """A method whose lists of pages were found in the store: they are addresses here, never the names of files."""
    lists = {
        parameter.name: _pages(graph, getattr(method.params, parameter.name))
        for parameter in parameters_of(type(method.params))
        if parameter.many and getattr(method.params, parameter.name)
    }
    return replace(method, params=replace(method.params, **lists)) if lists else method


def _pages(graph: Graph, texts: Sequence[str]) -> StopList:
    found: set[int] = set()
    for text in texts:
        try:
            page = graph.get(text[:LONGEST_ADDRESS])
        except BadAddress:
            page = None
        if page is not None:
            found.add(page)
    listed = StopList(texts)
    listed.pages = np.array(sorted(found), np.uint32)
    return listed


def check_addresses(urls: Sequence[str], unwanted: Sequence[str] = ()) -> None:
    """Not too many addresses, nor too long ones."""
    if len(urls) + len(unwanted) > MOST_PAGES:
        raise BadParameter(f"more than {MOST_PAGES} addresses: ask about fewer at once")
    for url in (*urls, *unwanted):
        if len(url) > LONGEST_ADDRESS:
            raise BadAddress(f"address longer than {LONGEST_ADDRESS:,} characters: give a shorter one")


def fitted(method: Method, given: frozenset[str], factor: float, needed: int) -> Method:
    """A method whose limit of parents follows the load: Dean & Henzinger (1999, §4.3), fewer when busy.

    What was asked for by name is kept. `needed` are the parents that there are: a limit above them changes nothing, so
    that most pages are answered alike whatever the load.
    """
    parents: Any = getattr(method.params, "parents", None)
    if not isinstance(parents, int) or "parents" in given or factor == 1:
        return method
    limit = max(1, int(parents * factor))
    if min(limit, needed) == min(parents, needed):
        return method
    return replace(method, params=replace(method.params, parents=limit))
