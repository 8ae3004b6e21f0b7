"""Facts of each page beside its name, texts and links: its unit, its capture, its near-duplicates."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.arrays import Arrays
from cocite.kernels.codec.look_up import find_position

FETCHED, NOINDEX = 128, 8
"""Kinds of a page: has a record of its own; asks not to be indexed."""


class PageFacts:
    """Units, captures and near-duplicates of all pages."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The unit of independence of each page, as a number: host, domain or site."""
        if unit == "site":
            return self._arrays["page.site"]
        if unit == "host":
            return self._arrays["page.host"]
        if unit == "domain":
            return self._domain_of
        raise BadParameter(f"unit is host, domain or site, not {unit!r}")

    @cached_property
    def _domain_of(self) -> NDArray[np.uint32]:
        """The domain of each page: kept, since it takes memory and time in proportion to the pages."""
        hosts, domains = self._arrays["page.host"], self._arrays["host.domain"]
        if len(hosts) and int(hosts.max()) >= len(domains):
            raise self._arrays.damaged()
        found: NDArray[np.uint32] = domains[hosts]
        found.flags.writeable = False  # as all arrays of a store
        return found

    def fetched(self, page: int) -> bool:
        """Whether the page has a record of its own; others are known from links only."""
        return bool(self._number("page.kind", page) & FETCHED)

    def noindex(self, page: int) -> bool:
        """Whether the page asks not to be indexed."""
        return bool(self._number("page.kind", page) & NOINDEX)

    def status(self, page: int) -> int:
        """The HTTP status of the capture, 0 if unknown."""
        return self._number("page.status", page)

    def captured(self, page: int) -> int:
        """Seconds since 1970 of the capture, 0 if unknown."""
        return self._number("page.captured", page)

    def language(self, page: int) -> str:
        """The language code of the page, empty if unknown."""
        return self._number("page.language", page).to_bytes(4, "little").rstrip(b"\0").decode("ascii", "replace")

    def _number(self, name: str, page: int) -> int:
        page, values = self._arrays.page(page), self._arrays[name]
        return int(values[page]) if len(values) else 0

    def representative(self, page: int) -> int:
        """The representative of a page's near-duplicate group; the page itself if it has no near-duplicates."""
        at = int(find_position(self._arrays["near.page"], page))
        return page if at < 0 else self._arrays.page_at("near.representative", at)

    def near_duplicates(self, page: int) -> NDArray[np.uint32]:
        """The other pages of the group that a page represents, ascending; none for other pages."""
        if find_position(self._arrays["near.page"], self._arrays.page(page)) < 0:
            return np.zeros(0, np.uint32)
        representatives, pages = self._near_by_representative
        low, high = (int(np.searchsorted(representatives, np.uint32(page), side)) for side in ("left", "right"))
        same = pages[low:high]
        others: NDArray[np.uint32] = same[same != page]
        return others

    @cached_property
    def near(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """All pages with near-duplicates, ascending, and their representatives; checked, since kernels trust them."""
        pages, representatives = self._arrays["near.page"], self._arrays["near.representative"]
        if max(representatives.max(initial=0), pages.max(initial=0)) >= max(1, self._arrays.pages):
            raise self._arrays.damaged()
        return pages, representatives

    @cached_property
    def _near_by_representative(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The same by representative: sorted once, not searched through for each result."""
        pages, representatives = self.near
        order = np.argsort(representatives, kind="stable")
        return representatives[order], pages[order]
