"""The addresses a crawl has yet to fetch: breadth first, fair among hosts, bounded, each page once."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from cocite.errors import BadAddress
from cocite.pages.address import canonical
from cocite.pages.site import Sites
from cocite.sources.crawl.guard import host_of

if TYPE_CHECKING:
    from cocite.sources.crawl.start import Scope
    from cocite.sources.records import Page


def page_key(address: str) -> str | None:
    """The canonical spelling of an address: what is fetched once; None if it names no page."""
    try:
        return canonical(address)
    except BadAddress:
        return None


@dataclass(slots=True)
class Fetch:
    """One address to fetch."""

    url: str  # as it will be asked for
    key: str  # the page's canonical spelling: what is fetched once
    depth: int  # links away from a seed
    hops: tuple[Page, ...] = ()  # the redirects that led here, first to last
    attempt: int = 0
    host: str = field(init=False)

    def __post_init__(self) -> None:
        self.host = host_of(self.url)


class Bounds:
    """The part of the web a crawl keeps to: the sites or hosts of its seeds, or no part in particular."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._sites = Sites()
        self._included: set[str] = set()

    def include(self, key: str) -> None:
        self._included.add(self._unit(key))

    def hold(self, key: str) -> bool:
        return self._unit(key) in self._included

    def _unit(self, key: str) -> str:
        if self.scope == "any":
            return ""
        if self.scope == "host":
            return re.split("[/?#]", key, maxsplit=1)[0]
        return self._sites.site(key)


class Frontier:
    """Hands out fetches, lowest depth first, and never more than can still become pages.

    A fetch that is out counts as a page until it is finished, so the page limit is exact and nothing is fetched in
    vain. A host gets an equal share of the `concurrency` seats, so one slow host does not take them all. Redirects,
    failures and files that are not pages use up `fetches`, which is limited too: a site that answers every link with
    a redirect must not keep the crawl going for ever.
    """

    def __init__(self, max_pages: int, concurrency: int, hold: Callable[[], bool]) -> None:
        self.max_pages = max_pages
        self.max_fetches = 10 * max_pages + 1_000
        self.concurrency = concurrency
        self.hold = hold  # true while the reader of the pages is behind
        self.pages = 0
        self.fetches = 0
        self.waiting = 0
        self.unfollowed = 0  # addresses left out because the limit of fetches would not reach them
        self._seen: set[str] = set()
        self._queues: dict[str, list[tuple[int, int, Fetch]]] = {}  # one heap per host
        self._heads: list[tuple[int, int, str]] = []  # a heap of queues by their first fetch; may hold stale entries
        self._active: Counter[str] = Counter()
        self._number = count()

    def offer(self, fetch: Fetch) -> bool:
        """Take in a fetch unless its page was taken in before; false if it was."""
        if fetch.key in self._seen:
            return False
        if self.waiting + self.fetches >= self.max_fetches:
            self.unfollowed += 1
            return True
        self._seen.add(fetch.key)
        self.again(fetch)
        return True

    def again(self, fetch: Fetch) -> None:
        """Take in a fetch of a page already taken in: a second attempt, or another spelling it redirected to."""
        queue = self._queues.setdefault(fetch.host, [])
        heapq.heappush(queue, (fetch.depth, next(self._number), fetch))
        self.waiting += 1
        if queue[0][2] is fetch:
            self._announce(fetch.host)

    def take(self) -> Fetch | None:
        """The next fetch, or None while there is none to be handed out."""
        if self.spent or self.pages + self._active.total() >= self.max_pages or self.hold():
            return None
        share = max(1, self.concurrency // max(1, len(self._queues), len(self._active)))
        while self._heads:
            depth, number, host = heapq.heappop(self._heads)
            queue = self._queues.get(host)
            if not queue or queue[0][:2] != (depth, number) or self._active[host] >= share:
                continue  # stale, or announced again when one of the host's fetches is finished
            fetch = heapq.heappop(queue)[2]
            self._active[host] += 1
            self.waiting -= 1
            self.fetches += 1
            self._announce(host)
            return fetch
        return None

    def finish(self, fetch: Fetch) -> None:
        """A fetch that was handed out has come to its end, whatever that was."""
        self._active[fetch.host] -= 1
        if self._active[fetch.host] <= 0:
            del self._active[fetch.host]
        self._announce(fetch.host)

    @property
    def spent(self) -> bool:
        """Whether the limit of pages or of fetches is reached, so that nothing more will be handed out."""
        return self.pages >= self.max_pages or self.fetches >= self.max_fetches

    def _announce(self, host: str) -> None:
        queue = self._queues.get(host)
        if queue:
            heapq.heappush(self._heads, (queue[0][0], queue[0][1], host))
        else:
            self._queues.pop(host, None)
