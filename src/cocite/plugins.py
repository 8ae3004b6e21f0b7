"""Plugins: sources, methods, ranks and operations of other packages, by entry points.

A package names what it adds in its pyproject.toml, as plugins of pytest do:

    [project.entry-points."cocite.methods"]
    jaccard = "cocite_jaccard.method"

Entry points are read when a name isn't one of cocite's own, or when a list is asked for: reading them takes 50 ms,
which commands without plugins don't need. cocite's own names go first. A plugin that can't be loaded is skipped, with
one line in the log, which the command line prints.
"""

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS = ("sources", "methods", "ranks", "operations")
_log = logging.getLogger("cocite.plugins")


class Plugin(NamedTuple):
    """What a package adds."""

    kind: str
    name: str
    package: str
    version: str
    target: str  # the module, or module:name
    failure: str = ""  # why it can't be loaded


@cache
def entries(kind: str) -> "dict[str, EntryPoint]":
    """The entry points of one kind, by name; of two with the same name, the first."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for each in entry_points(group=f"cocite.{kind}"):
        found.setdefault(each.name, each)
    return dict(sorted(found.items()))


@cache
def loaded(kind: str, name: str) -> Any:
    """What an entry point names, or None if there is none, or if it can't be loaded."""
    entry = entries(kind).get(name)
    if entry is None:
        return None
    found, failure = try_to_load(kind, entry)
    if failure:
        package = entry.dist.name if entry.dist else "another package"
        _log.warning("Skipped the plugin %s of %s (%s): update or remove the package", name, package, failure)
    return found


def all_loaded(kind: str) -> dict[str, Any]:
    """All plugins of a kind that can be loaded, by name."""
    return {name: found for name in entries(kind) if (found := loaded(kind, name)) is not None}


def try_to_load(kind: str, entry: "EntryPoint") -> tuple[Any, str]:
    """What an entry point names, or why it can't be used. Whatever a stranger's package raises is a reason."""
    try:
        found = entry.load()
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # SystemExit, too
        return None, f"{type(error).__name__}: {error}".partition("\n")[0][:300].rstrip(": ")
    missing = [name for name in _needed(kind) if not hasattr(found, name)]
    return (None, f"{entry.value} has no {missing[0]}") if missing else (found, "")


def _needed(kind: str) -> tuple[str, ...]:
    """What a plugin of a kind must have."""
    return {
        "sources": ("name", "recognises", "read", "order"),
        "methods": ("Params", "relate"),
        "ranks": ("Params", "compute"),
        "operations": ("about", "run"),
    }[kind]


def installed() -> list[Plugin]:
    """Every plugin, with why it can't be loaded if so; by kind and name."""
    found = []
    for kind in KINDS:
        for name, entry in entries(kind).items():
            package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
            found.append(Plugin(kind, name, package, version, entry.value, try_to_load(kind, entry)[1]))
    return found
