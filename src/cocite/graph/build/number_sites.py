"""The host, domain and site of each page, found while names pass in order: a part of a build's second pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.graph.generation import Writer
from cocite.kernels.addresses.names import mark_hosts
from cocite.pages.key import from_key
from cocite.pages.site import HostRule, Sites

MAX_SITES = 1 << 20
"""Sites of one host that are remembered; they take some 100 MB."""


@dataclass(slots=True)
class Area:
    """A domain, or a part of one that is a site of its own."""

    mark: bytes  # its name reversed, as keys begin
    domain: int
    site: int = -1  # the site of its pages, once there is one


class SiteWriter:
    """Writes the numbers of each page's host and site, and of each host's domain."""

    def __init__(self, writer: Writer, sites: Sites) -> None:
        self._writer = writer
        self._sites = sites
        self._pages = 0
        self._hosts = 0
        self._domains = 0
        self._site_count = 0
        self._last_host = b""
        self._rule = HostRule("", "", (), frozenset())
        # Areas whose hosts may still follow; one can lie in another: amazonaws.com resumes after *.s3.amazonaws.com.
        self._open: list[Area] = []
        self._area = Area(b"", 0)
        self._own_sites: dict[str, int] = {}  # of this host: a site's pages on another port come after other sites
        self._home_patterns = sites.rule_for_host("localhost").patterns  # those that hold for any host
        initials = "".join(pattern.parts[0][0] for pattern in self._home_patterns)
        self._home_initials = np.frombuffer(initials.encode(), np.uint8)

    def append(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Go on with the next keys."""
        count = len(offsets) - 1
        first, lengths, initials = np.empty(count, np.bool_), np.empty(count, np.int64), np.empty(count, np.uint8)
        mark_hosts(data, offsets, first, lengths, initials)
        begins = np.flatnonzero(first)
        ends = np.append(begins[1:], count)
        # Nearly all hosts have no pattern but that of users' homes, and no such page: they cost one look-up each.
        homes = np.append(0, np.cumsum(np.isin(initials, self._home_initials)))
        with_homes = (homes[ends] > homes[begins]).tolist()
        numbers, area_sites = np.empty(len(begins), np.uint32), np.empty(len(begins), np.uint32)
        host_domains: list[int] = []
        host_pages: list[int] = []
        site_pages: list[int] = []
        own_sites: list[tuple[NDArray[np.int64], list[int]]] = []
        at, size = offsets[begins].tolist(), lengths[begins].tolist()
        raw = data.tobytes()
        for i, begin in enumerate(begins.tolist()):
            host = raw[at[i] : at[i] + size[i]]
            if host != self._last_host:
                self._last_host = host
                self._enter_host(host)
                host_domains.append(self._area.domain)
                host_pages.append(self._pages + begin)
                self._hosts += 1
            numbers[i] = self._hosts - 1
            if self._area.site < 0:
                self._area.site = self._new_site(begin, site_pages)
            area_sites[i] = self._area.site
            if self._rule.patterns and (with_homes[i] or self._rule.patterns is not self._home_patterns):
                end = int(ends[i])
                rows = begin + self._candidates(initials[begin:end])
                names = [from_key(raw[offsets[row] : offsets[row + 1]].decode("utf-8", "replace")) for row in rows]
                own_sites.append((rows, self._split(rows.tolist(), names, site_pages)))
        page_sites = np.repeat(area_sites, ends - begins)
        for rows, values in own_sites:
            found = np.array(values, np.int64)
            page_sites[rows[found >= 0]] = found[found >= 0]
        self._writer.append("page.host", np.repeat(numbers, ends - begins))
        self._writer.append("page.site", page_sites)
        self._writer.append("host.page", np.array(host_pages, np.uint32))
        self._writer.append("host.domain", np.array(host_domains, np.uint32))
        self._writer.append("site.page", np.array(site_pages, np.uint32))
        self._pages += count

    def _enter_host(self, host_key: bytes) -> None:
        """Find or open the domain of a new host, and its own site if that is a part of the domain."""
        if host_key[0] < 32 or b"," not in host_key:
            host = self._sites.host(from_key(host_key.decode("utf-8", "replace")))
        else:
            host = ".".join(reversed(host_key[:-1].decode().split(",")))
        self._rule = self._sites.rule_for_host(host)
        self._own_sites = {}
        while self._open and not covers(self._open[-1].mark, host_key):
            self._open.pop()
        domain = self._sites.domain(host)
        self._area = self._area_of(domain, host_key, self._domains)
        self._domains = max(self._domains, self._area.domain + 1)
        if self._rule.site != domain:
            self._area = self._area_of(self._rule.site, host_key, self._area.domain)

    def _area_of(self, name: str, host_key: bytes, domain: int) -> Area:
        mark = ",".join(reversed(name.split("."))).encode() if b"," in host_key else host_key
        for area in self._open:
            if area.mark == mark:
                return area
        self._open.append(Area(mark, domain))
        return self._open[-1]

    def _new_site(self, at: int, site_pages: list[int]) -> int:
        site_pages.append(self._pages + at)
        self._site_count += 1
        return self._site_count - 1

    def _candidates(self, initials: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Pages of this host whose path begins as some pattern does."""
        wanted = {pattern.parts[0][0] for pattern in self._rule.patterns}
        if "*" in wanted:
            return np.flatnonzero(initials)
        return np.flatnonzero(np.isin(initials, np.frombuffer("".join(wanted).encode(), np.uint8)))

    def _split(self, rows: list[int], names: list[str], site_pages: list[int]) -> list[int]:
        """Sites of a platform's pages, -1 for the platform's own; pages of one site mostly follow each other."""
        numbers = []
        for row, name in zip(rows, names, strict=True):
            site = self._sites.site(name)
            if site == self._rule.site:
                numbers.append(-1)
                continue
            if site not in self._own_sites:
                if len(self._own_sites) >= MAX_SITES:
                    self._own_sites.clear()
                self._own_sites[site] = self._new_site(row, site_pages)
            numbers.append(self._own_sites[site])
        return numbers


def covers(domain: bytes, host_key: bytes) -> bool:
    """Whether a reversed domain holds a host's key."""
    return host_key.startswith(domain) and host_key[len(domain) : len(domain) + 1] in (b",", b")", b"")
