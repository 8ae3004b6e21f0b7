"""A folder as a registry: every file in it is one method, or one rank, and adding a file adds it everywhere.

A file has a docstring, whose first paragraph sums it up, and `Params`, a dataclass of parameters. Names that begin with
an underscore are no entries. A file is imported when it is asked for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from cocite.errors import CociteError
from cocite.parameters import Parameter, parameters_of


@dataclass(frozen=True)
class About:
    """What a file says of itself."""

    name: str
    summary: str
    description: str
    parameters: list[Parameter]


class Registry:
    """The entries of one folder."""

    def __init__(self, package: str, path: Iterable[str], what: str, unknown: type[CociteError]) -> None:
        """`what` an entry is called, and the error of a name that is none."""
        self._package, self._path, self._what, self._unknown = package, path, what, unknown

    def names(self) -> list[str]:
        """The names of all entries."""
        return sorted(each.name for each in pkgutil.iter_modules(self._path) if not each.name.startswith("_"))

    def module(self, name: str) -> Any:
        """An entry's file, imported."""
        known = self.names()
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise self._unknown(f"there is no {self._what} {name!r}{hint}; there are {', '.join(known)}")
        return import_module(f"{self._package}.{name}")

    def about(self, name: str) -> About:
        """What an entry is and takes."""
        module = self.module(name)
        summary, _, rest = (module.__doc__ or "").strip().partition("\n\n")
        return About(name, " ".join(summary.split()), rest.strip("\n"), parameters_of(module.Params))
