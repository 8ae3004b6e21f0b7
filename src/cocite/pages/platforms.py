"""The table of platforms: `platforms.toml`, and users' files of the same form."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadParameter


class Pattern(NamedTuple):
    """Leading parts of a path that make a site; one that ends in `*` stands for any longer text that begins like it."""

    parts: tuple[str, ...]
    parameter: str  # `id=` if the query's first parameter, so named, belongs to the site too; or empty


class Platform(NamedTuple):
    """What makes a site on a host."""

    patterns: tuple[Pattern, ...]
    own: frozenset[str]
    whole_host: bool  # the host itself is a site


@cache
def built_in_platforms() -> dict[str, Platform]:
    """The platforms that cocite knows, by host."""
    return read_platforms(Path(__file__).with_name("platforms.toml"))


def read_platforms(path: Path) -> dict[str, Platform]:
    """A table of platforms, by host. Raises BadParameter, with the line, for what is not one."""
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        raise BadParameter(f"{path}: cannot be read as a table of platforms: {problem}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise BadParameter(f"{path}: not TOML: {problem}") from problem
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _ENTRY.match(line)]
    entries = table.pop("platform", [])
    if table or not isinstance(entries, list) or len(entries) != len(lines):
        raise BadParameter(f"{path}: it should hold entries that begin with [[platform]], and nothing else")
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
        raise ValueError(f"{min(unknown)!r} is no field of a platform: use host, sites and own")
    hosts = _texts(entry, "host")
    for host in hosts:
        if not _HOST.fullmatch(host) or host.startswith("www."):
            raise ValueError(f"{host!r} is no host: write example.org, *.example.org or *, without www.")
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
        raise ValueError(f"{field} should be a text or a list of texts")
    return values


def _pattern(site: str) -> Pattern:
    path, mark, parameter = site.partition("?")
    if not re.match(r"/[^/]", path):
        raise ValueError(f"{site!r} is no pattern: begin it with / and a part")
    if mark and not re.fullmatch(r"[^&=*?#]+=\*", parameter):
        raise ValueError(f"{site!r} is no pattern: end it as in ?id=*")
    parts = tuple(path[1:].split("/"))
    if any("*" in part[:-1] or "#" in part for part in parts):
        raise ValueError(f"{site!r} is no pattern: * may only end a part, and # not be in it")
    return Pattern(parts, parameter[:-1])


def _check_order(one: Pattern, other: Pattern) -> None:
    """Refuse tables whose sites would not be ranges of pages, or whose patterns are never reached."""
    common = min(len(one.parts), len(other.parts))
    if not all(_overlap(a, b) for a, b in zip(one.parts, other.parts, strict=False)):
        return
    names = f"{_text(one)} and {_text(other)}"
    covers = all(_covers(a, b) for a, b in zip(one.parts, other.parts, strict=False))
    if len(one.parts) <= len(other.parts) and covers and not one.parameter:
        raise ValueError(f"of {names}, the second is never reached: put it first")
    if one.parts[common:] + other.parts[common:] not in ((), ("*",)):
        raise ValueError(
            f"{names} would split a site's pages: give the longer one * more, or put its first part in own"
        )


def _overlap(one: str, other: str) -> bool:
    """Whether some text fits both parts of patterns."""
    if one.endswith("*") and other.endswith("*"):
        return one.startswith(other[:-1]) or other.startswith(one[:-1])
    return _covers(one, other) or _covers(other, one)


def _covers(one: str, other: str) -> bool:
    """Whether every text that fits the other part fits this one."""
    return one == other or (one.endswith("*") and other.startswith(one[:-1]) and len(other) >= len(one))


def _text(pattern: Pattern) -> str:
    return "/" + "/".join(pattern.parts) + (f"?{pattern.parameter}*" if pattern.parameter else "")
