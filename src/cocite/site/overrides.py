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

import tomllib
from collections.abc import Mapping
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
    text: str = ""


def read_overrides(path: str) -> Overrides:
    """The wishes of a file, if one is named; raises BadParameter if it is invalid."""
    if not path:
        return Overrides()
    try:
        text = Path(path).read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadParameter(f"--overrides {path} can't be read ({error}): give a file in TOML") from error
    if unknown := [name for name in found if name not in ("exclude", "pages")]:
        raise BadParameter(f"{path} has the unknown key {unknown[0]!r:.100}; use exclude and pages")
    pages = found.get("pages", {})
    if not isinstance(pages, dict):
        raise BadParameter(f'{path}: pages must be tables such as [pages."/guide/install.html"]')
    exclude = found.get("exclude", [])
    _check_texts(path, "exclude", exclude)
    for pattern, wish in pages.items():
        if not isinstance(wish, dict):
            raise BadParameter(f'{path}: {pattern!r:.100} must be a table: [pages."{pattern[:100]}"]')
        for name, value in wish.items():
            if name in LISTS:
                _check_texts(path, name, value)
            elif name not in SWITCHES:
                known = ", ".join(LISTS + SWITCHES)
                raise BadParameter(f"{path}: {pattern!r:.100} has the unknown key {name!r:.100}; use {known}")
            elif not isinstance(value, bool):
                raise BadParameter(f"{path}: {name} of {pattern!r:.100} must be true or false")
    return Overrides(tuple(exclude), tuple(pages.items()), text)


def _check_texts(path: str, name: str, value: object) -> None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadParameter(f'{path}: {name} must be a list of texts, such as ["/guide/install.html"]')


def wishes_for(overrides: Overrides, address: str, path: str, own: Mapping[str, str]) -> Wishes:
    """What the owner wants for a page: the file's wishes, then the page's own. References start from its address.

    References to other hosts stay as they are, and are reported as unknown.
    """
    from cocite.site.read import path_of

    given = [wish for pattern, wish in overrides.pages if pattern == path or fnmatchcase(path, pattern)]
    lists = {name: own.get(name, "").split(",") for name in LISTS}
    switches = {name: own.get(name, "false").strip().lower() not in ("false", "no", "0") for name in SWITCHES}
    found = Wishes()
    for wish in [*given, {**lists, **switches}]:
        for name in LISTS:
            texts = (each.strip() for each in wish.get(name, ()))
            getattr(found, name).extend(path_of(text, address) or text for text in texts if text)
        found.none, found.hidden = found.none or wish.get("none", False), found.hidden or wish.get("hidden", False)
    return found
