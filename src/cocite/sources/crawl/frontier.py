"""The addresses that a crawl has yet to fetch: breadth first, fair among hosts, bounded, each page once."""

import heapq
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import can_ada

from cocite.errors import BadAddress
from cocite.pages.address import canonical
from cocite.pages.site import Sites
from cocite.sources.crawl.guard import web_address
from cocite.sources.crawl.start import Scope
from cocite.sources.records import Page


def page_key(address: str) -> str | None:
    """Return the canonical spelling of an address, or None if it is invalid. Each page is fetched once."""
    try:
        return canonical(address)
    except BadAddress:
        return None


@dataclass(slots=True)
class Fetch:
    """One address to fetch."""

    url: str  # as it is requested
    key: str  # the canonical spelling
    depth: int  # links away from a seed
    hops: tuple[Page, ...] = ()  # the redirects that led here, first to last
    attempt: int = 0

    @property
    def host(self) -> str:
        """The host, and its port unless it is the default."""
        return str(can_ada.parse(self.url).host)


def fetch_of(address: str, depth: int = 0, base: str = "") -> Fetch | None:
    """Return the fetch of an address, relative to `base` if given, or None if it isn't a valid web address."""
    url = web_address(address, base)
    key = page_key(url) if url else None
    return Fetch(url, key, depth) if url and key is not None else None


class Scoped:
    """The part of the web that a crawl stays in: the sites or hosts of its seeds, or all of it."""

    def __init__(self, scope: Scope) -> None:
        self._unit: Callable[[str], str] = {
            "site": Sites().site,
            "host": lambda key: re.split("[/?#]", key, maxsplit=1)[0],
            "any": lambda key: "",
        }[scope]
        self._included: set[str] = set()

    def include(self, key: str) -> None:
        self._included.add(self._unit(key))

    def contains(self, key: str) -> bool:
        return self._unit(key) in self._included


class Frontier:
    """Gives out fetches, lowest depth first, and never more than can still become pages.

    A fetch counts as a page until it is finished, so the page limit is exact and no fetch is wasted. Hosts get equal
    shares of the `concurrency`, so that one slow host doesn't take it all. Redirects, failures and other files count as
    `fetches`, which are limited too: a site that redirects every link must not keep a crawl running forever.
    """

    def __init__(self, max_pages: int, concurrency: int, is_full: Callable[[], bool]) -> None:
        self.max_pages, self.max_fetches = max_pages, 10 * max_pages + 1_000
        self.concurrency = concurrency
        self.is_full = is_full  # whether the reader of the pages is behind
        self.pages = self.fetches = self.waiting = 0
        self.unfollowed = 0  # addresses beyond the limit of fetches
        self._seen: set[str] = set()
        self._queues: dict[str, list[tuple[int, int, Fetch]]] = {}  # one heap per host
        self._heads: list[tuple[int, int, str]] = []  # a heap of queues by their first fetch; some entries are stale
        self._active: Counter[str] = Counter()
        self._number = count()

    def skip(self, fetched: list[str]) -> None:
        """Count pages that an earlier crawl fetched, by their keys."""
        self._seen.update(fetched)
        self.pages += len(fetched)

    def skip_new(self, key: str) -> bool:
        """Count a page as fetched that needs no fetch. Return False if it was added before."""
        if key in self._seen:
            return False
        self.skip([key])
        return True

    def offer(self, fetch: Fetch) -> bool:
        """Add a fetch. Return False if its page was added before."""
        if fetch.key in self._seen:
            return False
        if self.waiting + self.fetches >= self.max_fetches:
            self.unfollowed += 1
            return True
        self._seen.add(fetch.key)
        self.add_again(fetch)
        return True

    def add_again(self, fetch: Fetch) -> None:
        """Add a fetch of a known page: a second attempt, or a redirect to another spelling."""
        queue = self._queues.setdefault(fetch.host, [])
        heapq.heappush(queue, (fetch.depth, next(self._number), fetch))
        self.waiting += 1
        if queue[0][2] is fetch:
            self._announce(fetch.host)

    def take(self) -> Fetch | None:
        """Return the next fetch, or None if there is none now."""
        if self.spent or self.pages + self._active.total() >= self.max_pages or self.is_full():
            return None
        share = max(1, self.concurrency // max(1, len(self._queues), len(self._active)))
        while self._heads:
            depth, number, host = heapq.heappop(self._heads)
            queue = self._queues.get(host)
            if not queue or queue[0][:2] != (depth, number) or self._active[host] >= share:
                continue  # stale, or announced again when a fetch of this host is finished
            fetch = heapq.heappop(queue)[2]
            self._active[host] += 1
            self.waiting -= 1
            self.fetches += 1
            self._announce(host)
            return fetch
        return None

    def finish(self, fetch: Fetch) -> None:
        """Mark a fetch as finished, whatever its result."""
        self._active[fetch.host] -= 1
        if self._active[fetch.host] <= 0:
            del self._active[fetch.host]
        self._announce(fetch.host)

    @property
    def spent(self) -> bool:
        """Return whether the limit of pages or of fetches is reached."""
        return self.pages >= self.max_pages or self.fetches >= self.max_fetches

    def _announce(self, host: str) -> None:
        queue = self._queues.get(host)
        if queue:
            heapq.heappush(self._heads, (queue[0][0], queue[0][1], host))
        else:
            self._queues.pop(host, None)
