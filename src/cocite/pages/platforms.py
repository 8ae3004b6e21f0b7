"""Read the table of platforms, `platforms.toml`, and files of users in the same form."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadParameter


class Pattern(NamedTuple):
    """The leading parts of a path that make a site. A part that ends in `*` matches any longer text that begins like
    it."""

    parts: tuple[str, ...]
    parameter: str  # `id=` if the first parameter of the query, with this name, belongs to the site; or empty


class Platform(NamedTuple):
    """How the pages of a host are divided into sites."""

    patterns: tuple[Pattern, ...]
    own: frozenset[str]  # first parts of paths that are the platform's own pages
    whole_host: bool  # the host itself is a site


@cache
def built_in_platforms() -> dict[str, Platform]:
    """Return the built-in platforms by host."""
    return read_platforms(Path(__file__).with_name("platforms.toml"))


def read_platforms(path: Path) -> dict[str, Platform]:
    """Return a table of platforms by host. Raise BadParameter, with the line, if it is invalid."""
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        raise BadParameter(f"Cannot read platforms from {path}: {problem}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise BadParameter(f"{path} is not valid TOML: {problem}") from problem
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _ENTRY.match(line)]
    entries = table.pop("platform", [])
    if table or not isinstance(entries, list) or len(entries) != len(lines):
        raise BadParameter(f"{path} must consist of entries that begin with [[platform]]")
    platforms: dict[str, Platform] = {}
    for line, entry in zip(lines, entries, strict=True):
        try:
            hosts, platform = _platform(entry)
        except ValueError as problem:
            raise BadParameter(f"{path}, line {line}: {problem}") from None
        platforms.update(dict.fromkeys(hosts, platform))
    return platforms


_ENTRY = re.compile(r"\s*\[\[\s*platform\s*\]\]")
_HOST = re.compile(r"\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")


def _platform(entry: dict[str, Any]) -> tuple[list[str], Platform]:
    unknown = entry.keys() - {"host", "sites", "own"}
    if unknown:
        raise ValueError(f"unknown field {min(unknown)!r}: use host, sites and own")
    hosts = _texts(entry, "host")
    for host in hosts:
        if not _HOST.fullmatch(host) or host.startswith("www."):
            raise ValueError(f"invalid host {host!r}: write example.org, *.example.org or *, without www.")
    sites = _texts(entry, "sites")
    patterns = tuple(_pattern(site) for site in sites if site != "/")
    own = frozenset(_texts(entry, "own", needed=False))
    for one, other in combinations(patterns, 2):
        if not ({one.parts[0], other.parts[0]} & own and "*" in (one.parts[0], other.parts[0])):
            _check_order(one, other)
    return hosts, Platform(patterns, own, "/" in sites)


def _texts(entry: dict[str, Any], field: str, needed: bool = True) -> list[str]:
    value = entry.get(field, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values) or (needed and not values):
        raise ValueError(f"{field} must be a text or a list of texts")
    return values


def _pattern(site: str) -> Pattern:
    path, mark, parameter = site.partition("?")
    if not re.match(r"/[^/]", path):
        raise ValueError(f"invalid pattern {site!r}: begin it with / and a part")
    if mark and not re.fullmatch(r"[^&=*?#]+=\*", parameter):
        raise ValueError(f"invalid pattern {site!r}: end it as in ?id=*")
    parts = tuple(path[1:].split("/"))
    if any("*" in part[:-1] or "#" in part for part in parts):
        raise ValueError(f"invalid pattern {site!r}: only the end of a part can be *, and # is not allowed")
    return Pattern(parts, parameter[:-1])


def _check_order(one: Pattern, other: Pattern) -> None:
    """Raise ValueError if sites would not be ranges of pages, or a pattern would never match."""
    common = min(len(one.parts), len(other.parts))
    if not all(_overlap(a, b) for a, b in zip(one.parts, other.parts, strict=False)):
        return
    names = f"{_text(one)} and {_text(other)}"
    covers = all(_covers(a, b) for a, b in zip(one.parts, other.parts, strict=False))
    if len(one.parts) <= len(other.parts) and covers and not one.parameter:
        raise ValueError(f"of {names}, the second never matches: put it first")
    if one.parts[common:] + other.parts[common:] not in ((), ("*",)):
        raise ValueError(
            f"{names} would split the pages of a site: add * to the longer one, or put its first part in own"
        )


def _overlap(one: str, other: str) -> bool:
    """Return whether some text matches both parts."""
    if one.endswith("*") and other.endswith("*"):
        return one.startswith(other[:-1]) or other.startswith(one[:-1])
    return _covers(one, other) or _covers(other, one)


def _covers(one: str, other: str) -> bool:
    """Return whether every text that matches the other part matches this one."""
    return one == other or (one.endswith("*") and other.startswith(one[:-1]) and len(other) >= len(one))


def _text(pattern: Pattern) -> str:
    return "/" + "/".join(pattern.parts) + (f"?{pattern.parameter}*" if pattern.parameter else "")
