"""What the owner of a site wants otherwise: by a small file, or by <meta> in the pages themselves.

    exclude = ["tags/*", "404.html"]            # pages that get no list, and are in none

    [pages."/guide/install.html"]               # or a pattern: [pages."/blog/2019/*"]
    pin = ["/guide/upgrade.html"]               # these first, in this order
    never = ["/changelog.html"]                 # these not
    none = true                                 # no list for this page
    hidden = true                               # in nobody's list

The same in a page: <meta name="cocite:pin" content="upgrade.html, /faq.html">, `cocite:never` likewise, and
<meta name="cocite:none" content="true">, `cocite:hidden` likewise.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter

if TYPE_CHECKING:
    from cocite.site.reading import Read

LISTS, SWITCHES = ("pin", "never"), ("none", "hidden")


@dataclass
class Wish:
    """What is wanted for one page; paths."""

    pin: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    none: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Overrides:
    """A file of wishes."""

    exclude: tuple[str, ...] = ()
    pages: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def read_overrides(path: Path | None) -> Overrides:
    """The wishes of a file; raises BadParameter, which says what is wrong with it."""
    if path is None:
        return Overrides()
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadParameter(f"--overrides {path} cannot be read ({error}): give a file in TOML") from error
    strange = [name for name in found if name not in ("exclude", "pages")]
    if strange:
        raise BadParameter(f"{path} has {strange[0]!r:.100}: there are exclude and pages")
    pages = found.get("pages", {})
    if not isinstance(pages, dict):
        raise BadParameter(f'{path}: pages are tables such as [pages."/guide/install.html"]')
    for pattern, wish in pages.items():
        _check(path, pattern, wish)
    return Overrides(_texts(path, "exclude", found.get("exclude", [])), tuple(pages.items()))


def _check(path: Path, pattern: str, wish: object) -> None:
    if not isinstance(wish, dict):
        raise BadParameter(f'{path}: {pattern!r:.100} is a table: [pages."{pattern[:100]}"]')
    for name, value in wish.items():
        if name in LISTS:
            _texts(path, name, value)
        elif name not in SWITCHES:
            raise BadParameter(f"{path}: {pattern!r:.100} has {name!r:.100}: there are {', '.join(LISTS + SWITCHES)}")
        elif not isinstance(value, bool):
            raise BadParameter(f"{path}: {name} of {pattern!r:.100} is true or false")


def _texts(path: Path, name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadParameter(f'{path}: {name} is a list of texts, such as ["/guide/install.html"]')
    return tuple(value)


def wishes_of(overrides: Overrides, address: str, path: str, read: Read) -> Wish:
    """What is wanted for a page: the file's wishes first, then its own. References are resolved from its address."""
    wish = Wish()
    for pattern, said in overrides.pages:
        if pattern == path or fnmatchcase(path, pattern):
            wish.pin += _paths(said.get("pin", ()), address)
            wish.never += _paths(said.get("never", ()), address)
            wish.none, wish.hidden = wish.none or said.get("none", False), wish.hidden or said.get("hidden", False)
    wish.pin += _paths(read.said.get("pin", "").split(","), address)
    wish.never += _paths(read.said.get("never", "").split(","), address)
    wish.none, wish.hidden = wish.none or _yes(read, "none"), wish.hidden or _yes(read, "hidden")
    return wish


def _yes(read: Read, name: str) -> bool:
    return read.said.get(name, "false").strip().lower() not in ("false", "no", "0")


def _paths(references: Sequence[str], address: str) -> list[str]:
    """Paths; what leads to another host is kept as it is, to be told as unknown."""
    from cocite.site.reading import path_of

    return [path_of(each, address) or each.strip() for each in references if each.strip()]
