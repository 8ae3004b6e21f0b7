"""Whose page it is: host, registrable domain, and site, the unit of independent authorship.

A site is the registrable domain (by the public suffix list with its private part, so `alice.github.io` is one), except on
platforms, where `platforms.toml` says which leading part of an address is one author's: `github.com/alice/project`.
A site is always the beginning of its pages' canonical addresses, or a domain, so its pages are ranges of keys.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import publicsuffixlist

from cocite.errors import BadParameter

_HOST_END = re.compile(r"[/?#]|:\d+(?=[/?#]|$)")
_BARE_ADDRESS = re.compile(r"((?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62})(?:[/?#][!-~]*)?")


class HostRule(NamedTuple):
    """How the pages of one host fall into sites, for whoever walks a host's pages in a loop."""

    site: str  # of every page that fits no pattern
    host: str  # what stands before the parts that fit a pattern
    patterns: tuple[Pattern, ...]  # tried in this order; usually none
    own: frozenset[str]  # first parts of paths that belong to `site` whatever the patterns say


class Pattern(NamedTuple):
    """Leading parts of a path that make a site; a part that ends in `*` fits any longer text that begins like it."""

    parts: tuple[str, ...]
    parameter: str  # the query's first parameter that belongs to the site too, or empty


def guess(name: str) -> str:
    """What a bare name in an edge list is: an address, a host (with a path), or just a name; `address.parse` reads it."""
    if "://" in name:
        return name
    found = _BARE_ADDRESS.fullmatch(name)
    if found and _under_icann_suffix(found[1]):
        return "host:" + name
    return "name:" + name


def version() -> str:
    """The version of the public suffix list in use; it ends with the list's date."""
    return str(publicsuffixlist.__version__)


class Sites:
    """The domains and sites of pages, by the public suffix list, the platform table and, if given, the user's own table."""

    def __init__(self, extra: Path | None = None) -> None:
        self._platforms = dict(_own_platforms())
        if extra is not None:
            self._platforms.update(_read_platforms(extra))
        self.rule_for_host = lru_cache(maxsize=1 << 16)(self._rule_for_host)

    def version(self) -> str:
        """The version of the public suffix list in use."""
        return version()

    def host(self, canonical: str) -> str:
        """The host of a canonical address; an opaque name is its own."""
        return host(canonical)

    def domain(self, host: str) -> str:
        """The registrable domain of a host; suffixes, IP addresses and opaque names are their own."""
        return domain(host)

    def site(self, canonical: str) -> str:
        """The site of a canonical address."""
        rule = self.rule_for_host(host(canonical))
        if not rule.patterns or len(canonical) == len(rule.host):
            return rule.site
        return _fit(canonical, rule)

    def _rule_for_host(self, host: str) -> HostRule:
        """How a host's pages fall into sites."""
        if host.startswith("name:"):
            return HostRule(host, host, (), frozenset())
        patterns, own = self._platforms.get("*", _NOTHING)
        site = domain(host)
        found = self._platforms.get(host)
        if found is None:
            labels = host.split(".")
            for i in range(1, len(labels) - 1):
                rest = ".".join(labels[i:])
                found = self._platforms.get("*." + rest)
                if found:
                    if any(not pattern.parts for pattern in found[0]):
                        site = f"{labels[i - 1]}.{rest}"
                    break
        if found:
            patterns, own = (*(pattern for pattern in found[0] if pattern.parts), *patterns), found[1]
        return HostRule(site, host, patterns, own)


def host(canonical: str) -> str:
    """The host of a canonical address; an opaque name is its own."""
    if canonical.startswith("name:"):
        return canonical
    if canonical.startswith("["):
        return canonical[: canonical.index("]") + 1]
    end = _HOST_END.search(canonical)
    return canonical[: end.start()] if end else canonical


@lru_cache(maxsize=1 << 16)
def domain(host: str) -> str:
    """The registrable domain of a host; suffixes, IP addresses and opaque names are their own."""
    if host.startswith(("name:", "[")) or host[-1:].isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> Any:
    return publicsuffixlist.PublicSuffixList()


@cache
def _icann_suffixes() -> Any:
    return publicsuffixlist.PublicSuffixList(accept_unknown=False, only_icann=True)


@lru_cache(maxsize=1 << 16)
def _under_icann_suffix(host: str) -> bool:
    return bool(_icann_suffixes().is_private(host))


def _fit(canonical: str, rule: HostRule) -> str:
    """The site of a page on a host that has patterns."""
    place, mark, query = canonical.partition("?")
    parts = place.split("/")[1:]
    if not parts or parts[0] in rule.own:
        return rule.site
    for pattern in rule.patterns:
        if len(parts) < len(pattern.parts) or not _parts_fit(parts, pattern.parts):
            continue
        site = "/".join((rule.host, *parts[: len(pattern.parts)]))
        if not pattern.parameter:
            return site
        first = query.split("&", 1)[0]
        if mark and len(parts) == len(pattern.parts) and first.startswith(pattern.parameter):
            return f"{site}?{first}"
    return rule.site


def _parts_fit(parts: list[str], pattern: tuple[str, ...]) -> bool:
    for part, wanted in zip(parts, pattern, strict=False):
        if wanted[-1:] == "*":
            if len(part) < len(wanted) or not part.startswith(wanted[:-1]):
                return False
        elif part != wanted:
            return False
    return True


_Platform = tuple[tuple[Pattern, ...], frozenset[str]]
_NOTHING: _Platform = ((), frozenset())
_HOST_NAME = re.compile(r"\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")


@cache
def _own_platforms() -> dict[str, _Platform]:
    return _read_platforms(Path(__file__).with_name("platforms.toml"))


def _read_platforms(path: Path) -> dict[str, _Platform]:
    """A table of platforms by host. Raises BadParameter, with the line, for what is not one."""
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        raise BadParameter(f"{path}: cannot be read as a table of platforms: {problem}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise BadParameter(f"{path}: not TOML: {problem}") from problem
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[platform]]")]
    entries = table.pop("platform", [])
    if table or not isinstance(entries, list) or len(entries) != len(lines):
        raise BadParameter(f"{path}: only [[platform]] entries belong here, see pages/platforms.toml")
    platforms: dict[str, _Platform] = {}
    for line, entry in zip(lines, entries, strict=True):
        try:
            hosts, platform = _platform(entry)
        except ValueError as problem:
            raise BadParameter(f"{path}, line {line}: {problem}") from None
        platforms.update(dict.fromkeys(hosts, platform))
    return platforms


def _platform(entry: dict[str, Any]) -> tuple[list[str], _Platform]:
    unknown = entry.keys() - {"host", "sites", "own"}
    if unknown:
        raise ValueError(f"{min(unknown)!r} is no field of a platform: use host, sites and own")
    hosts, sites, own = _texts(entry, "host"), _texts(entry, "sites"), _texts(entry, "own", required=False)
    for name in hosts:
        if not _HOST_NAME.fullmatch(name) or name.startswith("www."):
            raise ValueError(f"{name!r} is no host: write it as in example.org, *.example.org or *, without www.")
    return hosts, (tuple(_pattern(site) for site in sites), frozenset(own))


def _pattern(site: str) -> Pattern:
    if not site.startswith("/"):
        raise ValueError(f"{site!r} is no pattern: begin it with /")
    place, mark, parameter = site.partition("?")
    if mark and not (parameter.endswith("=*") and parameter.count("*") == 1):
        raise ValueError(f"{site!r} is no pattern: end it as in ?id=*")
    parts = tuple(place[1:].split("/")) if place != "/" else ()
    if any("*" in part[:-1] for part in parts):
        raise ValueError(f"{site!r} is no pattern: * may only end a part")
    return Pattern(parts, parameter[:-1])


def _texts(entry: dict[str, Any], field: str, required: bool = True) -> list[str]:
    value = entry.get(field, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values) or (required and not values):
        raise ValueError(f"{field} must be a text or a list of texts")
    return values
