"""Hosts, sites and domains of the pages that a commit adds: those that the store has keep their numbers."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.graph.names import PageRange
from cocite.graph.store import Graph
from cocite.pages.site import Sites

MAX_SEARCHED_PAGES = 1 << 14
"""Pages of a domain that are searched for one of the same site, or host of the same domain. Nearly always the first one
decides. In a domain with more pages that are sites of their own, a site may get a second number until compaction."""


CACHED_NAMES = 4


class Units:
    """Numbers of hosts, sites and domains, old and new."""

    def __init__(self, old: Graph, sites: Sites) -> None:
        self._old, self._sites = old, sites
        self._numbers: dict[tuple[str, str], int] = {}
        self._known: dict[str, tuple[NDArray[np.uint32], NDArray[np.uint32]]] = {}
        # A new page's domain, host and site mostly have one name.
        self._below = lru_cache(CACHED_NAMES)(lambda name: _first(old.names.pages_below(name)))

    def fill(
        self,
        graph: Graph,
        number: NDArray[np.int64],
        fresh: NDArray[np.bool_],
        rows: NDArray[np.int64],
        facts: dict[str, NDArray[Any]],
        more: dict[str, list[int]],
    ) -> None:
        """Set host and site of new pages in `facts`, at their rows; `more` receives rows of new hosts and sites."""
        old = self._old
        counts = {name: len(old.array(f"{name}.page")) for name in ("host", "site")}
        counts["domain"] = int(old.array("host.domain").max(initial=0)) + 1
        for local in np.flatnonzero(fresh).tolist():
            page, name = int(number[local]), graph.canonical(local)
            host = self._sites.host(name)
            names = {"host": host, "domain": self._sites.domain(host), "site": self._sites.site(name)}
            found = dict[str, int]()
            for unit in ("domain", "host", "site"):
                key = (unit, names[unit])
                if key not in self._numbers:
                    known = self._find(unit, names[unit], host)
                    if known < 0:
                        known, counts[unit] = counts[unit], counts[unit] + 1
                        if unit == "host":
                            more["host.page"].append(page)
                            more["host.domain"].append(found["domain"])
                        elif unit == "site":
                            more["site.page"].append(page)
                    self._numbers[key] = known
                found[unit] = self._numbers[key]
            facts["page.host"][rows[local]], facts["page.site"][rows[local]] = found["host"], found["site"]

    def _units_of(self, name: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The numbers of units of the base's pages, which never change, and of newer pages."""
        arrays = self._old.arrays
        if name not in self._known:
            new = np.arange(arrays.base.pages, arrays.pages)
            self._known[name] = arrays.base[name], arrays.of_pages(name, new)
        return self._known[name]

    def _find(self, unit: str, name: str, host: str) -> int:
        """The number of a unit that the store has, or -1."""
        old, sites, first = self._old, self._sites, self._old.arrays.base.pages
        if name.startswith("name:"):
            return -1  # each is its own
        checked: set[int] = set()
        own, more = self._units_of("page.site" if unit == "site" else "page.host")
        domains = old.array("host.domain")
        for below in dict.fromkeys((name, host)):
            for page in self._below(below):
                value = int(own[page] if page < first else more[page - first])
                if value in checked:
                    continue
                checked.add(value)
                canonical = old.canonical(page)
                its_host = sites.host(canonical)
                if unit == "site" and sites.site(canonical) == name:
                    return value
                if unit == "host" and its_host == name:
                    return value
                if unit == "domain" and sites.domain(its_host) == name:
                    return int(domains[value])
        return -1


def _first(pages: PageRange) -> Iterable[int]:
    """The first pages of a range, and those of layers; also pages that are gone: they keep their units."""
    if isinstance(pages, range):
        return pages[:MAX_SEARCHED_PAGES]
    return [*pages.base[:MAX_SEARCHED_PAGES], *pages.new]
