"""Who publishes a page: its host, its registrable domain, and its site, the unit of independent authorship.

A site is a registrable domain, by the public suffix list with its private part, so `alice.github.io` is one. On
platforms `platforms.toml` says which leading part of an address belongs to one author: `github.com/alice/project`. The
canonical addresses of its pages begin with that part, so they follow each other in the order of keys.

The look-up of suffixes is our own: `publicsuffixlist` takes 11 µs a host and 150 ms to load, this one 2 µs and 50 ms. A
test compares their results.
"""

import re
import tomllib
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import publicsuffixlist

from cocite.errors import BadParameter
from cocite.pages.key import host

_EXACT, _WILDCARD, _EXCEPTION, _ICANN = 1, 2, 4, 8
_ENTRY = re.compile(r"\s*\[\[\s*platform\s*\]\]")
_HOST = re.compile(r"\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_ANY = "[^/?#]+"
_VALUE = "[^!-&]+(?=[&#]|$)"  # characters that sort before & would split the pages of a site


def version() -> str:
    """Return the version of the public suffix list, which ends with its date."""
    return str(publicsuffixlist.__version__)


@cache
def _suffix_rules() -> dict[str, int]:
    """Return the rules by suffix: `co.uk` is exact, `ck` has the wildcard `*.ck`, `www.ck` is an exception to it."""
    rules: dict[str, int] = {}
    icann = 0
    for line in Path(publicsuffixlist.PSLFILE).read_text("utf-8").splitlines():
        if line.startswith("//"):
            if "ICANN DOMAINS===" in line:
                icann = _ICANN if "BEGIN" in line else 0
            continue
        rule = line.split(" ", 1)[0].lower()
        kind = _EXCEPTION if rule.startswith("!") else _WILDCARD if rule.startswith("*.") else _EXACT
        if suffix := rule.lstrip("!*."):
            suffix = suffix if suffix.isascii() else publicsuffixlist.encode_idn(suffix)
            rules[suffix] = rules.get(suffix, 0) | kind | icann
    return rules


@lru_cache(maxsize=1 << 16)
def is_under_icann(host: str) -> bool:
    """Return whether a host is below a suffix of the public domain name system."""
    labels = host.split(".")
    return any(_suffix_rules().get(".".join(labels[start:]), 0) & _ICANN for start in range(1, len(labels)))


@lru_cache(maxsize=1 << 16)
def domain(host: str) -> str:
    """Return the registrable domain of a host. Suffixes, IP addresses and opaque names are their own."""
    if host.startswith(("name:", "[")) or host.rpartition(".")[2].isdigit():
        return host
    rules = _suffix_rules()
    suffix = longer = longest = host  # the suffix with one more label, and with two
    while True:
        kind = rules.get(suffix, 0)
        if kind & _EXCEPTION:
            return suffix
        if kind & _WILDCARD:
            return longest
        dot = suffix.find(".")
        if kind & _EXACT or dot < 0:  # without a dot: an unknown top-level domain
            return longer
        longest, longer, suffix = longer, suffix, suffix[dot + 1 :]


class Pattern(NamedTuple):
    """The leading parts of a path that make a site. A part that ends in `*` matches any longer text."""

    parts: tuple[str, ...]
    parameter: str  # `id=` if the first parameter of the query, with this name, belongs to the site; or empty


class Platform(NamedTuple):
    """How the pages of a host are divided into sites."""

    patterns: tuple[Pattern, ...]
    own: frozenset[str]  # first parts of paths that are the platform's own pages
    whole_host: bool  # the host itself is a site


_NO_PLATFORM = Platform((), frozenset(), False)


class HostRule(NamedTuple):
    """How the pages of a host are divided into sites, for loops over the pages of a host."""

    site: str  # of every page that matches no pattern
    patterns: tuple[Pattern, ...] = ()  # of sites, tried in this order
    fits: re.Pattern[str] | None = None  # all patterns; its group ends where the site ends


class Sites:
    """Domains and sites, by the public suffix list, the table of platforms and, if given, a table of the user."""

    version = staticmethod(version)
    host = staticmethod(host)
    domain = staticmethod(domain)

    def __init__(self, extra: Path | None = None) -> None:
        self._platforms = built_in_platforms() | (read_platforms(extra) if extra is not None else {})
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
            return HostRule(host)
        name, area = self._platform_name(host)
        platform = self._platforms.get(name, _NO_PLATFORM)
        patterns = platform.patterns + self._everywhere
        if name not in self._expressions:
            self._expressions[name] = _one_expression(patterns, platform.own) if patterns else None
        return HostRule(area if platform.whole_host else domain(host), patterns, self._expressions[name])

    def _platform_name(self, host: str) -> tuple[str, str]:
        """Return the name under which the table has a host, or "", and the host or the part of it that matches."""
        if host in self._platforms:
            return host, host
        labels = host.split(".")
        for start in range(1, len(labels)):
            name = ".".join(["*", *labels[start:]])
            if name in self._platforms:
                return name, ".".join(labels[start - 1 :])
        return "", host


def _one_expression(patterns: tuple[Pattern, ...], own: frozenset[str]) -> re.Pattern[str]:
    """Return one regular expression for all patterns, ten times as fast as a loop over them.

    The first pattern whose path matches decides. If it needs a parameter that is missing, nothing is captured.
    """
    not_own = f"(?!/(?:{'|'.join(map(re.escape, sorted(own)))})(?:[/?#]|$))" if own else ""
    choices = []
    for parts, parameter in patterns:
        path = "".join("/" + re.escape(part.rstrip("*")) + (_ANY if part.endswith("*") else "") for part in parts)
        path = not_own + path if parts[0] == "*" else path
        if parameter:
            choices += [f"({path}\\?{re.escape(parameter)}{_VALUE})", f"{path}(?=[?#]|$)"]
        else:
            choices.append(f"({path})(?=[/?#]|$)")
    return re.compile(f"(?::\\d+)?(?:{'|'.join(choices)})")


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
        platforms |= dict.fromkeys(hosts, platform)
    return platforms


def _platform(entry: dict[str, Any]) -> tuple[list[str], Platform]:
    if unknown := entry.keys() - {"host", "sites", "own"}:
        raise ValueError(f"unknown field {min(unknown)!r}: use host, sites and own")
    hosts, sites, own = _texts(entry, "host"), _texts(entry, "sites"), frozenset(_texts(entry, "own", needed=False))
    for name in hosts:
        if not _HOST.fullmatch(name) or name.startswith("www."):
            raise ValueError(f"invalid host {name!r}: write example.org, *.example.org or *, without www.")
    patterns = tuple(_pattern(site) for site in sites if site != "/")
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
    pairs = list(zip(one.parts, other.parts, strict=False))
    if not all(_overlap(*pair) for pair in pairs):
        return
    names = " and ".join("/" + "/".join(p.parts) + f"?{p.parameter}*" * bool(p.parameter) for p in (one, other))
    if len(one.parts) <= len(other.parts) and all(_covers(*pair) for pair in pairs) and not one.parameter:
        raise ValueError(f"of {names}, the second never matches: put it first")
    if one.parts[common:] + other.parts[common:] not in ((), ("*",)):
        raise ValueError(f"{names} would split the pages of a site: add * to the longer, or its first part to own")


def _overlap(one: str, other: str) -> bool:
    """Return whether some text matches both parts."""
    if one.endswith("*") and other.endswith("*"):
        return one.startswith(other[:-1]) or other.startswith(one[:-1])
    return _covers(one, other) or _covers(other, one)


def _covers(one: str, other: str) -> bool:
    """Return whether every text that matches the other part matches this one."""
    return one == other or (one.endswith("*") and other.startswith(one[:-1]) and len(other) >= len(one))
