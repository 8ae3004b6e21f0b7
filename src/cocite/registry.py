"""A folder as a registry: every file in it is one method, or one rank. Adding a file adds it everywhere.

A file has a docstring, whose first paragraph is the summary, and `Params`, a dataclass of parameters. Files whose names
begin with an underscore are not entries. A file is imported at its first use. Plugins (plugins.py) add entries of other
packages.
"""

import pkgutil
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from cocite import plugins
from cocite.errors import CociteError
from cocite.parameters import Parameter, parameters_of


class About(NamedTuple):
    """An entry, described."""

    name: str
    summary: str
    description: str
    parameters: list[Parameter]


class Registry:
    """The entries of one folder."""

    def __init__(self, package: str, path: Iterable[str], what: str, unknown: type[CociteError]) -> None:
        """`what` an entry is called; `unknown` is the error for a name that is not an entry."""
        self._package, self._path, self._what, self._unknown = package, path, what, unknown
        self._names: list[str] = []

    def own_names(self) -> list[str]:
        """The names of cocite's own entries, read from the folder once."""
        files = (each.name for each in pkgutil.iter_modules(self._path))
        self._names = self._names or sorted(name for name in files if not name.startswith("_"))
        return self._names

    def names(self) -> list[str]:
        """The names of all entries; those of plugins follow."""
        return list(dict.fromkeys((*self.own_names(), *plugins.all_loaded(f"{self._what}s"))))

    def module(self, name: str) -> Any:
        """The module of an entry."""
        if name in self.own_names():
            return import_module(f"{self._package}.{name}")
        if (plugin := plugins.loaded(f"{self._what}s", name)) is not None:
            return plugin
        close = get_close_matches(name, self.names(), 1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise self._unknown(f"Unknown {self._what} {name!r}{hint} Available: {', '.join(self.names())}")

    def about(self, name: str) -> About:
        """Summary, description and parameters of an entry."""
        module = self.module(name)
        summary, _, rest = (module.__doc__ or "").strip().partition("\n\n")
        return About(name, " ".join(summary.split()), rest.strip("\n"), parameters_of(module.Params))
