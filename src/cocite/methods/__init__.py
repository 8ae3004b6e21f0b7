"""The methods: one file is one published method, and the folder is the registry.

A method file has, in this order: a docstring (paper, formula, departures), `Params`, a frozen dataclass of parameters,
and `relate(web, seeds, params) -> Scores`. Adding such a file adds the method everywhere.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from cocite.errors import UnknownMethod
from cocite.neighbourhood.scores import Scores
from cocite.parameters import Parameter, changed, make, parameters_of, parse, spell
from cocite.web import Web


@dataclass(frozen=True)
class Method:
    """A method with its parameters set."""

    name: str
    params: Any
    _relate: Callable[[Web, Sequence[int], Any], Scores]

    def __str__(self) -> str:
        return spell(self.name, changed(self.params))

    def relate(self, web: Web, seeds: Sequence[int]) -> Scores:
        """Scores of pages related to the seeds."""
        return self._relate(web, seeds, self.params)


@dataclass(frozen=True)
class About:
    """What a method file says of itself."""

    name: str
    summary: str
    description: str
    parameters: list[Parameter]


def names() -> list[str]:
    """The names of all methods."""
    return sorted(each.name for each in pkgutil.iter_modules(__path__) if not each.name.startswith("_"))


def method(call: str, given: Mapping[str, Any] | None = None) -> Method:
    """A method by its name, which may hold parameters: `companion(parents=500)`; `given` are more of them."""
    name, written = parse(call)
    module = _module(name)
    return Method(name, make(module.Params, name, {**written, **(given or {})}), module.relate)


def about(name: str) -> About:
    """What a method is and takes."""
    module = _module(name)
    summary, _, rest = (module.__doc__ or "").strip().partition("\n\n")
    return About(name, " ".join(summary.split()), rest.strip(), parameters_of(module.Params))


def _module(name: str) -> Any:
    known = names()
    if name not in known:
        close = get_close_matches(name, known, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UnknownMethod(f"there is no method {name!r}{hint}; there are {', '.join(known)}")
    return import_module(f"{__name__}.{name}")
