"""The spider: turns responses into pages, and their links into further fetches."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, exceptions, signals
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.http.request import NO_CALLBACK

from cocite.sources.crawl.frontier import Fetch, Frontier, Scoped, fetch_of, page_key
from cocite.sources.crawl.guard import Refused
from cocite.sources.crawl.hints import MAX_BYTES, Hint, feeds_of, read_hints
from cocite.sources.crawl.robots import MAX_SITEMAPS, RobotsRules, slow_down
from cocite.sources.crawl.start import MAX_FOLLOWED_LINKS, CrawlJob
from cocite.sources.html.page import GONE_STATUSES, HTML_TYPES, REDIRECT_STATUSES, media_type, read_response
from cocite.sources.html.page import recognises as looks_like_html
from cocite.sources.records import Page, ReadReport

if TYPE_CHECKING:
    from cocite.sources.crawl.process import MessagePipe

PERMANENT_REDIRECTS = frozenset([301, 308])
OVERLOAD_STATUSES = frozenset([429, 503])
TRANSIENT_STATUSES = OVERLOAD_STATUSES | {500, 502, 504}  # worth a second attempt
MAX_REDIRECTS = 10
NOT_MODIFIED = 304
MAX_VALIDATOR = 500  # characters of an ETag
MAX_HEAD = 64 << 10  # bytes of a page that are searched for feeds
TRUSTED_DAYS = 30  # sitemaps forget to change their dates
PAUSE_SECONDS = 0.05  # between two looks whether a slow reader has caught up


class PageSpider(Spider):
    """Turns responses into pages, and their links into further fetches."""

    name = "cocite"
    robots: RobotsRules

    def __init__(self, job: CrawlJob, out: "MessagePipe") -> None:
        super().__init__()
        self.job, self.out = job, out
        self.frontier = Frontier(job.max_pages, job.concurrency, out.full)
        self.scope = Scoped(job.scope)
        self.aliases: dict[str, str] = {}  # aliases sent, canonical to canonical: they must not form a loop
        self.frontier.skip(job.fetched)
        for seed in job.seeds:
            fetch = fetch_of(seed)
            if fetch is None:
                out.skip("seed that is not a web address", seed)
            else:
                self.scope.include(fetch.key)
                if not job.fetched:  # else the seed was the first page
                    self.frontier.offer(fetch)
        if not job.hints:
            self._offer_waiting()

    def _offer_waiting(self) -> None:
        for address, depth in self.job.waiting:
            if (fetch := fetch_of(address, depth)) is not None:
                self.frontier.offer(fetch)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "PageSpider":
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.robots = RobotsRules(crawler)
        crawler.signals.connect(spider.stop_unless_html, signal=signals.headers_received)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Fetch what the frontier gives out, and yield nothing: Scrapy's own scheduler has no work."""
        running: set[asyncio.Task[None]] = set()
        if self.job.hints:
            await self.read_hints()
            self._offer_waiting()
        while True:
            while len(running) < self.job.concurrency and (fetch := self.frontier.take()) is not None:
                running.add(asyncio.create_task(self.fetch(fetch)))
            if running:
                _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            elif self.frontier.waiting and not self.frontier.spent:
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                break
        self.out.send({"left": self.frontier.waiting + self.frontier.unfollowed})  # addresses beyond the limits
        for nothing in list[Any]():
            yield nothing

    async def read_hints(self) -> None:
        """Offer what sitemaps and feeds name. What they say is older than its last fetch isn't fetched again."""
        lists: dict[str, None] = {}
        for seed in self.job.seeds:
            lists.update(dict.fromkeys(await self.robots.sitemaps(seed)))
        lists.update(dict.fromkeys(self.job.feeds))
        waiting, count = list(lists), 0
        while waiting and count < MAX_SITEMAPS:
            url, count = waiting.pop(0), count + 1
            where = fetch_of(url)
            if where is None or not self.scope.contains(where.key):
                continue
            try:
                response = await self.robots.fetch(url, MAX_BYTES)
            except Exception as error:
                self.out.skip("sitemap or feed that can't be fetched", f"{url} ({explain(error)[0]})")
                continue
            for hint in read_hints(response.body, url) if response.status == 200 else ():
                if hint.is_list:
                    waiting.append(hint.url)
                else:
                    self._offer_hint(hint)

    def _offer_hint(self, hint: Hint) -> None:
        fetch = fetch_of(hint.url, min(1, self.job.depth))
        if fetch is None or not self.scope.contains(fetch.key) or self.frontier.spent:
            return
        _, _, fetched = self.job.known.get(fetch.key, ("", "", ""))
        if hint.changed and hint.changed < fetched[: len(hint.changed)] and fetched > now(-TRUSTED_DAYS):
            if self.frontier.skip_new(fetch.key):
                self.out.send({"unchanged": fetch.key})
        else:
            self.frontier.offer(fetch)

    def stop_unless_html(self, headers: Headers, request: Request) -> None:
        """End a download that isn't HTML by its header: films and archives are not worth their traffic."""
        kind = media_type(by_name(headers).get("content-type", ""))
        if not request.meta.get("robots") and kind not in HTML_TYPES | {""}:
            raise exceptions.StopDownload(fail=False)

    async def fetch(self, fetch: Fetch) -> None:
        """Fetch one address, and read the response."""
        try:
            etag, modified, _ = self.job.known.get(fetch.key, ("", "", ""))
            conditions = {"If-None-Match": etag, "If-Modified-Since": modified}
            headers = {name: value for name, value in conditions.items() if value}
            request = Request(fetch.url, callback=NO_CALLBACK, headers=headers)
        except ValueError as error:
            self.out.skip("address that can't be requested", f"{fetch.url} ({error})")
            self.frontier.finish(fetch)
            return
        try:
            if self.job.obey_robots:
                await self.robots.check(fetch.url)
            response = await self.crawler.engine.download_async(request)
        except Exception as error:
            reason, detail, permanent = explain(error)
            if permanent or not self._retry(fetch):
                self.out.skip(reason, f"{fetch.url} ({detail})" if detail else fetch.url)
        else:
            try:
                self._read(response, fetch)
            except Exception as error:
                logging.exception("reading %s", fetch.url)
                self.out.skip("page that can't be read", f"{fetch.url} ({error!r})")
        self.frontier.finish(fetch)

    def _read(self, response: Response, fetch: Fetch) -> None:
        status = response.status
        location = response.headers.get("Location")
        if status in REDIRECT_STATUSES and location:
            self._redirected(fetch, status, location.decode("utf-8", "replace"))
        elif status == NOT_MODIFIED and fetch.key in self.job.known:
            self._send_aliases(fetch)
            self.frontier.pages += 1
            self.out.send({"unchanged": fetch.key})
        elif status in GONE_STATUSES:
            self._deliver(fetch, Page(fetch.url, status=status, captured=now()))
        elif status in TRANSIENT_STATUSES and self._retry(fetch):
            if status in OVERLOAD_STATUSES:
                slow_down(self.crawler, response.meta["download_slot"])
        elif not 200 <= status < 300:
            self.out.skip(f"HTTP status {status}", fetch.url)
        else:
            self._read_page(response, fetch)

    def _read_page(self, response: Response, fetch: Fetch) -> None:
        headers = by_name(response.headers)
        kind = media_type(headers.get("content-type", ""))
        if kind not in HTML_TYPES and (kind or not looks_like_html(fetch.url, response.body[:4096])):
            self.out.skip("not HTML", f"{fetch.url} ({kind or 'no content type'})")
            return
        skipped, job = ReadReport(), self.job
        page = read_response(response.body, fetch.url, headers, job.text, skipped, job.user_agent)
        for reason, count in skipped.skipped.items():
            self.out.skip(reason, skipped.example[reason], count)
        if page.redirect:  # by <meta http-equiv=refresh>
            self._redirected(fetch, response.status, page.redirect)
            return
        page.status, page.captured = response.status, now()
        known = [*(headers.get(name, "")[:MAX_VALIDATOR] for name in ("etag", "last-modified")), page.captured]
        self._deliver(fetch, page, {fetch.key: known}, feeds_of(response.body[:MAX_HEAD], fetch.url))
        all_nofollow = all("nofollow" in link.rel.split() for link in page.links)  # header and <meta> mark each link
        if fetch.depth < self.job.depth and not (self.job.obey_robots and all_nofollow):
            for link in page.links[:MAX_FOLLOWED_LINKS]:
                if self.frontier.spent:
                    break
                onward = fetch_of(link.url, fetch.depth + 1)
                if onward is not None and self.scope.contains(onward.key):
                    self.frontier.offer(onward)

    def _deliver(
        self, fetch: Fetch, page: Page, validators: dict[str, list[str]] | None = None, feeds: Sequence[str] = ()
    ) -> None:
        self._send_aliases(fetch)
        self.frontier.pages += 1
        self.out.page(page, validators, feeds)

    def _redirected(self, fetch: Fetch, status: int, location: str) -> None:
        onward = fetch_of(location, fetch.depth, fetch.url)
        if onward is None:
            self.out.skip("redirect to an invalid address", f"{fetch.url} to {location}")
            return
        earlier = [fetch.url, *(hop.url for hop in fetch.hops)]
        onward.hops = (*fetch.hops, Page(fetch.url, redirect=onward.url, status=status, captured=now()))
        if onward.url in earlier:
            self.out.skip("redirect loop", onward.hops[0].url)
        elif len(onward.hops) > MAX_REDIRECTS:
            self.out.skip(f"more than {MAX_REDIRECTS} redirects", onward.hops[0].url)
        elif onward.key == fetch.key:  # another spelling of the same page, such as https for http
            self.frontier.add_again(onward)
        else:
            if fetch.depth == 0 and status in PERMANENT_REDIRECTS:
                self.scope.include(onward.key)  # a seed that has moved
            inside = self.scope.contains(onward.key)
            if not inside or not self.frontier.offer(onward):
                self._send_aliases(onward)  # outside the scope, or already fetched
            if not inside and fetch.depth == 0:
                self.out.skip("seed that redirects out of the scope", f"{fetch.url} to {onward.url}")

    def _send_aliases(self, fetch: Fetch) -> None:
        """Send the redirects on the way to a page, except to other spellings of the same page."""
        for hop in fetch.hops:
            source, target = page_key(hop.url), page_key(hop.redirect)
            if source is None or target is None or source == target:
                continue
            end = target
            while end in self.aliases:
                end = self.aliases[end]
            if end == source:
                self.out.skip("redirect loop", hop.url)
            elif source not in self.aliases:
                self.aliases[source] = target
                self.out.page(hop)

    def _retry(self, fetch: Fetch) -> bool:
        """Try once more, after the others of its depth. Return False if this was the second attempt."""
        if fetch.attempt:
            return False
        self.frontier.add_again(replace(fetch, attempt=1))
        return True


def now(days: int = 0) -> str:
    """The time, some days from now."""
    return (datetime.now(UTC) + timedelta(days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def by_name(headers: Headers) -> dict[str, str]:
    """Return headers by lower-case name. Several of one name are joined."""
    return {name.decode("latin-1").lower(): b", ".join(given).decode("latin-1") for name, given in headers.items()}


def explain(error: BaseException) -> tuple[str, str, bool]:
    """Return why a fetch failed: the reason to count, a detail, and whether another attempt is useless."""
    match error:
        case Refused():
            return error.reason, error.detail, True
        case exceptions.IgnoreRequest() | exceptions.DownloadCancelledError():
            return "page larger than the limit", "", True  # the first is raised while decompressing
        case exceptions.DownloadTimeoutError():
            return "no response in time", "", True
        case exceptions.CannotResolveHostError():
            return "host not found", "", True
        case exceptions.DownloadConnectionRefusedError():
            return "connection refused", "", True
    inner = getattr(error.__cause__, "reasons", None)  # of a broken connection, wrapped twice
    return "page that can't be fetched", inner[-1].getErrorMessage() if inner else repr(error), False
