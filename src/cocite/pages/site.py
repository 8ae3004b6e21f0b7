"""Who publishes a page: its host, its registrable domain, and its site, the unit of independent authorship.

A site is a registrable domain, by the public suffix list with its private part, so `alice.github.io` is one. On
platforms `platforms.toml` says which leading part of an address belongs to one author: `github.com/alice/project`. The
canonical addresses of its pages begin with that part, so they follow each other in the order of keys.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cocite.pages import suffixes
from cocite.pages.platforms import Pattern, Platform, built_in_platforms, read_platforms

__all__ = ["HostRule", "Pattern", "Sites", "domain", "guess", "host", "version"]

version = suffixes.version
_HOST_END = re.compile(r"[/?#:]")


class HostRule(NamedTuple):
    """How the pages of a host are divided into sites, for loops over the pages of a host."""

    site: str  # of every page that matches no pattern
    host: str
    patterns: tuple[Pattern, ...]  # of sites, tried in this order
    own: frozenset[str]  # first parts of paths that `*` doesn't match: the platform's own pages
    fits: re.Pattern[str] | None = None  # all patterns; its group ends where the site ends


def host(canonical: str) -> str:
    """Return the host of a canonical address. An opaque name is its own host."""
    if canonical.startswith("name:"):
        return canonical
    end = _HOST_END.search(canonical, canonical.find("]") + 1 if canonical.startswith("[") else 0)
    return canonical[: end.start()] if end else canonical


def domain(host: str) -> str:
    """Return the registrable domain of a host. Suffixes, IP addresses and opaque names are their own."""
    if host.startswith(("name:", "[")) or host.rpartition(".")[2].isdigit():
        return host
    return suffixes.registrable(host)


class Sites:
    """Domains and sites, by the public suffix list, the table of platforms and, if given, a table of the user."""

    version = staticmethod(version)
    host = staticmethod(host)
    domain = staticmethod(domain)

    def __init__(self, extra: Path | None = None) -> None:
        self._platforms = dict(built_in_platforms())
        if extra is not None:
            self._platforms.update(read_platforms(extra))
        self._everywhere = self._platforms.get("*", _NO_PLATFORM).patterns
        self._expressions: dict[str, re.Pattern[str] | None] = {}
        self.rule_for_host = lru_cache(maxsize=1 << 16)(self._rule_for_host)

    def site(self, canonical: str) -> str:
        """Return the site of a canonical address."""
        place = host(canonical)
        rule = self.rule_for_host(place)
        if rule.fits is None or len(place) == len(canonical):
            return rule.site
        found = rule.fits.match(canonical, len(place))
        return canonical[: found.end()] if found and found.lastindex else rule.site

    def _rule_for_host(self, host: str) -> HostRule:
        """Return how the pages of a host are divided into sites."""
        if host.startswith("name:"):
            return HostRule(host, host, (), frozenset())
        name, area = self._platform_name(host)
        platform = self._platforms.get(name, _NO_PLATFORM)
        patterns = platform.patterns + self._everywhere
        if name not in self._expressions:
            self._expressions[name] = _one_expression(patterns, platform.own) if patterns else None
        site = area if platform.whole_host else domain(host)
        return HostRule(site, host, patterns, platform.own, self._expressions[name])

    def _platform_name(self, host: str) -> tuple[str, str]:
        """Return the name under which the table has a host, or "", and the host or the part of it that matches."""
        if host in self._platforms:
            return host, host
        area = host
        dot = host.find(".")
        while dot >= 0:
            name = "*" + host[dot:]
            if name in self._platforms:
                return name, area
            area = host[dot + 1 :]
            dot = host.find(".", dot + 1)
        return "", host


_NO_PLATFORM = Platform((), frozenset(), False)
_ANY = "[^/?#]+"
_VALUE = "[^!-&]+(?=[&#]|$)"  # characters that sort before & would split the pages of a site


def _one_expression(patterns: tuple[Pattern, ...], own: frozenset[str]) -> re.Pattern[str]:
    """Return one regular expression for all patterns, ten times as fast as a loop over them.

    The first pattern whose path matches decides. If it needs a parameter that is missing, nothing is captured.
    """
    not_own = f"(?!/(?:{'|'.join(map(re.escape, sorted(own)))})(?:[/?#]|$))" if own else ""
    choices = []
    for parts, parameter in patterns:
        path = "".join("/" + re.escape(part.rstrip("*")) + (_ANY if part.endswith("*") else "") for part in parts)
        if parts[0] == "*":
            path = not_own + path
        if parameter:
            choices.append(f"({path}\\?{re.escape(parameter)}{_VALUE})")
            choices.append(f"{path}(?=[?#]|$)")
        else:
            choices.append(f"({path})(?=[/?#]|$)")
    return re.compile(f"(?::\\d+)?(?:{'|'.join(choices)})")


_BARE_ADDRESS = re.compile(r"((?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62})(?:[/?#][!-~]*)?")


def guess(name: str) -> str:
    """Return a name of an edge list as `address.parse` expects it: an address, `host:…` or `name:…`."""
    if "://" in name:
        return name
    found = _BARE_ADDRESS.fullmatch(name)
    return ("host:" if found and suffixes.is_under_icann(found[1]) else "name:") + name
