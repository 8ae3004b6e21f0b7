"""The methods: one file is one published method, and the folder is the registry.

A method file has, in this order: a docstring (paper, formula, departures), `Params`, a frozen dataclass of parameters,
and `relate(web, seeds, params) -> Scores`. Adding such a file adds the method everywhere. It may also have
`similarity_of(web, page, other, params)`, which compares two pages without looking for others, and
`best_of_each(web, pages, params, k)`, a quicker way to the same results for many pages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from cocite.errors import UnknownMethod
from cocite.parameters import changed, make, parse, spell
from cocite.registry import Registry
from cocite.related.evidence import Evidence, Path
from cocite.related.neighbourhood.scores import Best, Scores, links_around
from cocite.related.neighbourhood.view import Pages, Switches
from cocite.web import Web


@dataclass(frozen=True)
class Method:
    """A method with its parameters set."""

    name: str
    params: Any
    _relate: Callable[[Web, Sequence[int], Any], Scores]
    _similarity_of: Callable[[Web, int, int, Any], tuple[float, float]] | None = None
    _best_of_each: Callable[[Web, Pages, Any, int], Best | None] | None = None

    def __str__(self) -> str:
        return self._call

    @cached_property
    def _call(self) -> str:
        """The name with the parameters that differ from their defaults."""
        return spell(self.name, changed(self.params))

    @property
    def chop(self) -> str:
        """How the method chops addresses."""
        return str(getattr(self.params, "chop", "site"))

    def trusting(self, seeds: tuple[str, ...]) -> "Method":
        """The method with trusted pages; itself if there are none, or if it doesn't read links of a neighbourhood."""
        if not seeds or not isinstance(self.params, Switches):
            return self
        return replace(self, params=replace(self.params, trust=(*self.params.trust, *seeds)))

    def relate(self, web: Web, seeds: Sequence[int]) -> Scores:
        """Scores of pages related to the seeds."""
        return self._relate(web, seeds, self.params)

    def explain(self, web: Web, scores: Scores, pages: Pages) -> list[list[Evidence]]:
        """The evidence for results, strongest first: what the method kept, else links, else a path to the result."""
        found = scores.evidence(pages) if scores.evidence is not None else [[] for _ in pages]
        missing = [i for i, each in enumerate(found) if not each]
        if missing:
            by_links = links_around(web, scores.used, self.params)(pages[missing])
            for i, each in zip(missing, by_links, strict=True):
                way = scores.path(int(pages[i])) if scores.path is not None and not each else ()
                found[i] = [Path(pages=tuple(map(int, way)))] if way else each
        return found

    def best_of_each(self, web: Web, pages: Pages, k: int) -> Best | None:
        """The k best results for each of many pages by itself, without chopping; None: the method has no shortcut."""
        return None if self._best_of_each is None else self._best_of_each(web, pages, self.params, k)

    def compare(self, web: Web, page: int, other: int) -> tuple[float, float] | None:
        """How similar two pages are, and the maximum error; None if the method relates pages only."""
        return None if self._similarity_of is None else self._similarity_of(web, page, other, self.params)


CACHED_METHODS = 256
"""By the text of their call. Reading it twice took 7 % of a small question."""
_registry = Registry(__name__, __path__, "method", UnknownMethod)
names, own_names, about = _registry.names, _registry.own_names, _registry.about


def method(call: str, given: Mapping[str, Any] | None = None) -> Method:
    """A method by its name, perhaps with parameters, `companion(parents=500)`; `given` are more parameters."""
    if not given:
        return _method(call)
    name, written = parse(call)
    return _made(name, {**written, **given})


@lru_cache(CACHED_METHODS)
def _method(call: str) -> Method:
    return _made(*parse(call))


def _made(name: str, parameters: Mapping[str, Any]) -> Method:
    module = _registry.module(name)
    others = (getattr(module, function, None) for function in ("similarity_of", "best_of_each"))
    return Method(name, make(module.Params, name, parameters), module.relate, *others)
