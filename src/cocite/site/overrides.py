"""What the owner of a site wants changed: a small file, or <meta> in the pages themselves.

    exclude = ["tags/*", "404.html"]            # pages without a list, and in no list

    [pages."/guide/install.html"]               # or a pattern: [pages."/blog/2019/*"]
    pin = ["/guide/upgrade.html"]               # these first, in this order
    never = ["/changelog.html"]                 # never these
    none = true                                 # no list for this page
    hidden = true                               # in no list

The same in a page: <meta name="cocite:pin" content="upgrade.html, /faq.html">, `cocite:never` likewise, and
<meta name="cocite:none" content="true">, `cocite:hidden` likewise.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cocite.errors import BadParameter

LISTS, SWITCHES = ("pin", "never"), ("none", "hidden")


@dataclass
class Wishes:
    """What the owner wants for one page; references are paths."""

    pin: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    none: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Overrides:
    """The wishes of a file."""

    exclude: tuple[str, ...] = ()
    pages: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def read_overrides(path: Path | None) -> Overrides:
    """The wishes of a file; raises BadParameter if it is invalid."""
    if path is None:
        return Overrides()
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadParameter(f"--overrides {path} can't be read ({error}): give a file in TOML") from error
    unknown = [name for name in found if name not in ("exclude", "pages")]
    if unknown:
        raise BadParameter(f"{path} has the unknown key {unknown[0]!r:.100}; use exclude and pages")
    pages = found.get("pages", {})
    if not isinstance(pages, dict):
        raise BadParameter(f'{path}: pages must be tables such as [pages."/guide/install.html"]')
    for pattern, wish in pages.items():
        _check(path, pattern, wish)
    return Overrides(_texts(path, "exclude", found.get("exclude", [])), tuple(pages.items()))


def _check(path: Path, pattern: str, wish: object) -> None:
    if not isinstance(wish, dict):
        raise BadParameter(f'{path}: {pattern!r:.100} must be a table: [pages."{pattern[:100]}"]')
    for name, value in wish.items():
        if name in LISTS:
            _texts(path, name, value)
        elif name not in SWITCHES:
            raise BadParameter(
                f"{path}: {pattern!r:.100} has the unknown key {name!r:.100}; use {', '.join(LISTS + SWITCHES)}"
            )
        elif not isinstance(value, bool):
            raise BadParameter(f"{path}: {name} of {pattern!r:.100} must be true or false")


def _texts(path: Path, name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadParameter(f'{path}: {name} must be a list of texts, such as ["/guide/install.html"]')
    return tuple(value)


def wishes_for(overrides: Overrides, address: str, path: str, own: Mapping[str, str]) -> Wishes:
    """What the owner wants for a page: the file's wishes, then the page's own. References start from its address."""
    wish = Wishes()
    for pattern, given in overrides.pages:
        if pattern == path or fnmatchcase(path, pattern):
            wish.pin += _paths(given.get("pin", ()), address)
            wish.never += _paths(given.get("never", ()), address)
            wish.none, wish.hidden = wish.none or given.get("none", False), wish.hidden or given.get("hidden", False)
    wish.pin += _paths(own.get("pin", "").split(","), address)
    wish.never += _paths(own.get("never", "").split(","), address)
    wish.none, wish.hidden = wish.none or _is_true(own, "none"), wish.hidden or _is_true(own, "hidden")
    return wish


def _is_true(own: Mapping[str, str], name: str) -> bool:
    return own.get(name, "false").strip().lower() not in ("false", "no", "0")


def _paths(references: Sequence[str], address: str) -> list[str]:
    """Paths; references to other hosts stay as they are, and are reported as unknown."""
    from cocite.site.read import path_of

    return [path_of(each, address) or each.strip() for each in references if each.strip()]
