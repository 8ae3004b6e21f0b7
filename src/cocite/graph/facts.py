"""What pages are like: whose they are, their texts, and what was noted when they were captured."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.finding import Finding
from cocite.kernels.codec.look_up import find_position
from cocite.pages.site import Sites

FETCHED, NOINDEX = 128, 8
"""Kinds of a page: has a record of its own; asks not to be indexed."""


class Facts(Finding):
    """What a store knows of its pages, beside their links."""

    @property
    def site_of(self) -> NDArray[np.uint32]:
        """The site of each page, as a number."""
        return self.array("page.site")

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The unit of independence of each page, as a number: host, domain or site."""
        if unit == "site":
            return self.site_of
        if unit == "host":
            return self.array("page.host")
        if unit == "domain":
            return self._domain_of
        raise BadParameter(f"unit is host, domain or site, not {unit!r}")

    @cached_property
    def _domain_of(self) -> NDArray[np.uint32]:
        """The domain of each page: kept, since it takes memory and time in proportion to the pages."""
        hosts, domains = self.array("page.host"), self.array("host.domain")
        if len(hosts) and int(hosts.max()) >= len(domains):
            raise self.damaged()
        found: NDArray[np.uint32] = domains[hosts]
        found.flags.writeable = False  # as all arrays of a store
        return found

    def site(self, page: int) -> str:
        """The name of a page's site."""
        try:
            return Sites().site(self.canonical(page))
        except ValueError as error:
            raise self.damaged() from error

    @property
    def has_texts(self) -> bool:
        """Whether there is any text beside addresses."""
        return any(len(self.array(f"{name}.pages")) for name in ("title", "text", "headings", "anchors", "contexts"))

    def title(self, page: int) -> str:
        """The title of a page, or the empty text."""
        return self._texts("title")[self._page(page)]

    def headings(self, page: int) -> list[str]:
        """The headings of a page's blocks, by block number."""
        return self._texts("headings").lines(self._page(page))

    def text(self, page: int) -> str:
        """The main text of a page."""
        return self._texts("text")[self._page(page)]

    def anchors(self, page: int) -> list[str]:
        """The texts of the links out of a page, in their order."""
        return self._link_texts("anchors", page)

    def anchor(self, page: int, place: int) -> str:
        """The text of one link out of a page, by its place; the others are not decoded."""
        lines = self._texts("anchors").raw(self._page(page)).split(b"\n", place + 1)
        return lines[place].decode("utf-8", "replace") if 0 <= place < len(lines) else ""

    def contexts(self, page: int) -> list[str]:
        """The words around the links out of a page, in their order."""
        return self._link_texts("contexts", page)

    def _link_texts(self, name: str, page: int) -> list[str]:
        lines, degree = self._texts(name).lines(self._page(page)), self._degree(self.out, page)
        return lines[:degree] + [""] * (degree - len(lines))

    def fetched(self, page: int) -> bool:
        """Whether the page has a record of its own; others are known from links only."""
        return bool(self.array("page.kind")[self._page(page)] & FETCHED)

    def noindex(self, page: int) -> bool:
        """Whether the page asks not to be indexed."""
        return bool(self.array("page.kind")[self._page(page)] & NOINDEX)

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
        page, values = self._page(page), self.array(name)
        return int(values[page]) if len(values) else 0

    def representative(self, page: int) -> int:
        """The page that stands for a page and its near-duplicates: itself if it has none."""
        at = int(find_position(self.array("near.page"), page))
        return page if at < 0 else self._stored_page("near.representative", at)

    def near_duplicates(self, page: int) -> NDArray[np.uint32]:
        """The near-duplicates for which a page stands, without itself, ascending."""
        if find_position(self.array("near.page"), self._page(page)) < 0:
            return np.zeros(0, np.uint32)
        representatives, pages = self._near_by_representative
        low, high = (int(np.searchsorted(representatives, np.uint32(page), side)) for side in ("left", "right"))
        same = pages[low:high]
        others: NDArray[np.uint32] = same[same != page]
        return others

    @cached_property
    def near(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """All near-duplicates, ascending, and what stands for each: pages that there are, which loops trust."""
        pages, representatives = self.array("near.page"), self.array("near.representative")
        if max(representatives.max(initial=0), pages.max(initial=0)) >= max(1, self.pages):
            raise self.damaged()
        return pages, representatives

    @cached_property
    def _near_by_representative(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The same in the order of what stands for them: sorted once, not looked through for each answer."""
        pages, representatives = self.near
        order = np.argsort(representatives, kind="stable")
        return representatives[order], pages[order]
