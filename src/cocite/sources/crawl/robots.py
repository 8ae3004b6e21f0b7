"""Obey robots.txt as in RFC 9309: its rules, and the delay that a host asks for.

Our own code, because Scrapy's middleware treats a server error or a time-out as "all allowed" and ignores Crawl-delay.
Here a host whose robots.txt can't be fetched is not crawled, and a host without one (a 4xx response) is open.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from cocite.sources.crawl.guard import Refused, web_address
from cocite.sources.html.page import REDIRECT_STATUSES

MAX_DELAY = 60.0  # seconds; some hosts ask for hours
MAX_SITEMAPS = 50  # of one host
_MAX_BYTES = 512 << 10  # RFC 9309 asks for at least 500 KiB
_MAX_RULES = 1_000_000  # agents × rules: the parser copies each rule for each agent of its group
_MAX_KEPT_BYTES = 16 << 20  # of robots.txt files whose rules are kept
_MAX_REDIRECTS = 5  # as in RFC 9309


def slow_down(crawler: Crawler, host: str, seconds: float | None = None) -> None:
    """Set the minimum time between two requests to a host. Without `seconds`, double it."""
    downloader = crawler.engine.downloader
    slot = downloader.slots.get(host)
    delay = slot.delay if slot else downloader.settings.getfloat("DOWNLOAD_DELAY")
    wanted = max(1.0, 2 * delay) if seconds is None else seconds
    delay = max(delay, min(wanted, MAX_DELAY))
    if slot:
        slot.delay = delay
    downloader.per_slot_settings[host] = {"delay": delay}  # for the case that Scrapy drops the idle slot


class RobotsRules:
    """The rules of the hosts that a crawl visits, each fetched once."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.agent: str = crawler.settings["USER_AGENT"]
        self._rules: OrderedDict[str, asyncio.Task[Protego | Exception]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    async def check(self, url: str) -> None:
        """Raise an error unless robots.txt allows an address."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            while sum(self._sizes.values()) > _MAX_KEPT_BYTES:
                oldest, _ = self._rules.popitem(last=False)
                self._sizes.pop(oldest, None)
            self._rules[origin] = asyncio.ensure_future(self._fetch_rules(origin))
        rules = await self._rules[origin]
        if isinstance(rules, Exception):
            raise rules
        if not rules.can_fetch(url, self.agent):
            raise Refused("disallowed by robots.txt")

    async def sitemaps(self, url: str) -> list[str]:
        """The sitemaps of the host of an address: those that robots.txt names, or else the usual one."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with suppress(Exception):  # fetching the sitemap says why
            await self.check(f"{origin}/sitemap.xml")
        rules = await self._rules[origin] if origin in self._rules else None
        named = list(rules.sitemaps)[:MAX_SITEMAPS] if isinstance(rules, Protego) else []
        return named or [f"{origin}/sitemap.xml"]

    async def fetch(self, url: str, max_bytes: int) -> Response:
        """Fetch something that isn't a page, if robots.txt allows it."""
        await self.check(url)
        return await self._fetch(url, max_bytes)

    async def _fetch_rules(self, origin: str) -> Protego | Exception:
        """Return the rules of a host, or the error after two attempts."""
        failure: Exception = Refused("robots.txt can't be fetched")
        for _ in range(2):
            try:
                response = await self._fetch(f"{origin}/robots.txt")
                if response.status < 500 and response.status != 429:
                    return self._read(origin, response)
                failure = Refused("robots.txt can't be fetched", f"HTTP status {response.status}")
            except (Refused, CannotResolveHostError) as error:
                return error  # will not change
            except Exception as error:
                failure = error
        return failure

    async def _fetch(self, url: str, max_bytes: int = _MAX_BYTES) -> Response:
        for _ in range(_MAX_REDIRECTS + 1):
            meta = {"robots": True, "download_maxsize": max_bytes}
            response = await self.crawler.engine.download_async(Request(url, callback=NO_CALLBACK, meta=meta))
            location = response.headers.get("Location")
            if response.status not in REDIRECT_STATUSES or not location:
                break
            url = web_address(location.decode("utf-8", "replace"), url) or ""
            if not url:
                break
        return response

    def _read(self, origin: str, response: Response) -> Protego | Exception:
        if not 200 <= response.status < 300:
            return Protego.parse("")
        text = response.body.decode("utf-8-sig", "replace")
        lines = text.lower().splitlines()
        agents = sum(line.lstrip().startswith("user") for line in lines)
        if agents * (len(lines) - agents) > _MAX_RULES:
            return Refused("robots.txt can't be read", "too many rules")
        rules = Protego.parse(text)
        self._sizes[origin] = len(text)
        delay = rules.crawl_delay(self.agent)
        if delay:
            slow_down(self.crawler, urlsplit(origin).hostname or "", delay)
        return rules
