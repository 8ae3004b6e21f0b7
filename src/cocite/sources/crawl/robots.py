"""robots.txt, read as RFC 9309 asks: the rules, and the delay a host wishes for.

Scrapy's own middleware takes a server error or a time-out for "everything is allowed" and does not know Crawl-delay;
here a host whose robots.txt cannot be had is left alone, and one that has none (a 4xx answer) is open.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from cocite.sources.crawl.guard import Refused, web_address

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

REDIRECTS = frozenset([301, 302, 303, 307, 308])
LONGEST_DELAY = 60.0  # seconds; some hosts ask for hours, which no crawl can keep to
_LARGEST = 512 << 10  # bytes; RFC 9309 asks for at least 500 KiB
_MOST_RULES = 1_000_000  # agents × rules: the parser copies each rule for each agent of its group
_KEPT = 16 << 20  # bytes of robots.txt whose rules are kept at a time
_HOPS = 5  # redirects, as many as RFC 9309 asks for


class Disallowed(IgnoreRequest):
    """robots.txt forbids the address, or cannot be had; `reason` is what the report counts."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def slow_down(crawler: Crawler, host: str, seconds: float | None = None) -> None:
    """Let at least so much time pass between two requests to a host from now on; twice as much as now if not given."""
    downloader = crawler.engine.downloader
    slot = downloader.slots.get(host)
    delay = slot.delay if slot else downloader.settings.getfloat("DOWNLOAD_DELAY")
    wanted = max(1.0, 2 * delay) if seconds is None else seconds
    delay = max(delay, min(wanted, LONGEST_DELAY))
    if slot:
        slot.delay = delay
    downloader.per_slot_settings[host] = {"delay": delay}  # for when the idle slot was dropped and is made again


class RobotsRules:
    """Downloader middleware that lets a request through only if the host's robots.txt does."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.agent: str = crawler.settings["USER_AGENT"]
        self._rules: OrderedDict[str, asyncio.Task[Protego | Exception]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsRules:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("robots"):
            return
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            self._forget_oldest()
            self._rules[origin] = asyncio.ensure_future(self._fetch_rules(origin))
        rules = await self._rules[origin]
        if isinstance(rules, Exception):
            raise rules
        if not rules.can_fetch(request.url, self.agent):
            raise Disallowed("disallowed by robots.txt")

    async def _fetch_rules(self, origin: str) -> Protego | Exception:
        """The rules of a host, or why there are none; a failure is tried twice."""
        failure: Exception = Disallowed("robots.txt cannot be had")
        for _ in range(2):
            try:
                response = await self._fetch(f"{origin}/robots.txt")
                if response.status < 500 and response.status != 429:
                    return self._read(origin, response)
                failure = Disallowed("robots.txt cannot be had", f"HTTP status {response.status}")
            except (Refused, CannotResolveHostError) as error:
                return error  # will not change
            except Exception as error:
                failure = error
        return failure

    async def _fetch(self, url: str) -> Response:
        for _ in range(_HOPS + 1):
            meta = {"robots": True, "download_maxsize": _LARGEST}
            response = await self.crawler.engine.download_async(Request(url, callback=NO_CALLBACK, meta=meta))
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                break
            target = web_address(location.decode("utf-8", "replace"), url)
            if target is None:
                break
            url = target
        return response

    def _read(self, origin: str, response: Response) -> Protego | Exception:
        if not 200 <= response.status < 300:
            return Protego.parse("")
        text = response.body.decode("utf-8-sig", "replace")
        lines = text.lower().splitlines()
        agents = sum(line.lstrip().startswith("user") for line in lines)
        if agents * (len(lines) - agents) > _MOST_RULES:
            return Disallowed("robots.txt cannot be read", "too many rules")
        rules = Protego.parse(text)
        self._sizes[origin] = len(text)
        delay = rules.crawl_delay(self.agent)
        if delay:
            slow_down(self.crawler, urlsplit(origin).hostname or "", delay)
        return rules

    def _forget_oldest(self) -> None:
        while sum(self._sizes.values()) > _KEPT:
            origin, _ = self._rules.popitem(last=False)
            self._sizes.pop(origin, None)
