"""The crawling process: `python -m cocite.sources.crawl.spider PIPE`, started by `crawl` and by nothing else.

It reads a `Job` as one line of JSON from its standard input and writes one message a line to the pipe: a page,
something left out, or the end. Of Scrapy it uses the downloader (HTTP, time-outs, delays, decompression) and nothing
else: what to fetch next is the frontier's affair, and every extension, cache and console is off.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from twisted.python.failure import Failure

from cocite.sources.crawl.frontier import Bounds, Fetch, Frontier, page_key
from cocite.sources.crawl.guard import guarded, web_address
from cocite.sources.crawl.output import Output
from cocite.sources.crawl.responses import HTML, asks_nofollow, charset, content_type, explain, is_html, robots_tags
from cocite.sources.crawl.robots import REDIRECTS, RobotsRules, slow_down
from cocite.sources.crawl.start import Job
from cocite.sources.html.page import read_html
from cocite.sources.records import Page, ReadReport

GONE = frozenset([404, 410])
PERMANENT = frozenset([301, 308])
OVERLOADED = frozenset([429, 503])
TRANSIENT = OVERLOADED | {500, 502, 504}  # worth a second attempt
MOST_HOPS = 10  # redirects in a row
MOST_LINKS = 10_000  # of one page that are looked at for following; its record keeps them all

_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
_MIDDLEWARES = "scrapy.downloadermiddlewares"


class PageSpider(Spider):
    """Turns answers into pages, and their links into further fetches."""

    name = "cocite"

    def __init__(self, job: Job, out: Output) -> None:
        super().__init__()
        self.job = job
        self.out = out
        self.frontier = Frontier(job.max_pages, job.concurrency, out.full)
        self.bounds = Bounds(job.scope)
        self.leads: dict[str, str] = {}  # aliases sent, canonical to canonical: they must not form a circle
        for seed in job.seeds:
            self._offer_seed(seed)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PageSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop_unless_html, signal=signals.headers_received)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: the frontier has the seeds."""
        for nothing in list[Any]():
            yield nothing

    def closed(self, reason: str) -> None:
        if reason == "finished":
            self.out.end(self.frontier.waiting + self.frontier.unfollowed)

    def stop_unless_html(self, headers: Headers, request: Request) -> None:
        """End a download whose header says that it is no page; films and archives are not worth their traffic."""
        if not request.meta.get("robots") and content_type(headers) not in HTML | {""}:
            raise StopDownload(fail=False)

    def next_request(self) -> Request | None:
        while (fetch := self.frontier.take()) is not None:
            try:
                return Request(fetch.url, self.answered, errback=self.failed, meta={"fetch": fetch})
            except ValueError as error:
                self.out.skip("address cannot be asked for", f"{fetch.url} ({error})")
                self.frontier.finish(fetch)
        return None

    def answered(self, response: Response) -> None:
        fetch: Fetch = response.meta["fetch"]
        try:
            self._read(response, fetch)
        except Exception as error:
            logging.exception("reading %s", fetch.url)
            self.out.skip("page cannot be read", f"{fetch.url} ({error!r})")
        finally:
            self.frontier.finish(fetch)

    def failed(self, failure: Failure) -> None:
        fetch: Fetch = failure.request.meta["fetch"]  # type: ignore[attr-defined]
        assert failure.value is not None
        reason, detail, lasting = explain(failure.value)
        if lasting or not self._retry(fetch):
            self.out.skip(reason, f"{fetch.url} ({detail})" if detail else fetch.url)
        self.frontier.finish(fetch)

    def _read(self, response: Response, fetch: Fetch) -> None:
        status = response.status
        location = response.headers.get("Location")
        if status in REDIRECTS and location:
            self._redirected(fetch, status, location.decode("utf-8", "replace"))
        elif status in GONE:
            self._deliver(fetch, Page(fetch.url, status=status, captured=now()))
        elif status in TRANSIENT and self._retry(fetch):
            if status in OVERLOADED:
                slow_down(self.crawler, response.meta["download_slot"])
        elif not 200 <= status < 300:
            self.out.skip(f"HTTP status {status}", fetch.url)
        elif not is_html(response):
            self.out.skip("not HTML", f"{fetch.url} ({content_type(response.headers) or 'no content type'})")
        else:
            self._read_page(response, fetch)

    def _read_page(self, response: Response, fetch: Fetch) -> None:
        hint = charset(response.headers)
        unread = ReadReport()
        page = read_html(response.body, fetch.url, encoding_hint=hint, text=self.job.text, report=unread)
        for reason, count in unread.skipped.items():
            self.out.skip(reason, unread.example[reason], count)
        if page.redirect:  # by <meta http-equiv=refresh>
            self._redirected(fetch, response.status, page.redirect)
            return
        page.status, page.captured = response.status, now()
        tags = robots_tags(response.headers, self.job.user_agent)
        page.noindex |= "noindex" in tags
        self._deliver(fetch, page, len(response.body))
        if fetch.depth < self.job.depth and not (self.job.obey_robots and ("nofollow" in tags or asks_nofollow(page))):
            for link in page.links[:MOST_LINKS]:
                if self.frontier.spent:
                    break
                self._offer(link.url, fetch.depth + 1)

    def _deliver(self, fetch: Fetch, page: Page, size: int = 0) -> None:
        self._send_aliases(fetch)
        self.frontier.pages += 1
        self.out.page(page, size + 1_000)

    def _redirected(self, fetch: Fetch, status: int, location: str) -> None:
        target = web_address(location, fetch.url)
        key = page_key(target) if target else None
        if target is None or key is None:
            self.out.skip("redirect to an invalid address", f"{fetch.url} to {location}")
            return
        hop = Page(fetch.url, redirect=target, status=status, captured=now())
        onward = Fetch(target, key, fetch.depth, (*fetch.hops, hop))
        if target == fetch.url or any(target == earlier.url for earlier in fetch.hops):
            self.out.skip("redirects in a circle", onward.hops[0].url)
        elif len(onward.hops) > MOST_HOPS:
            self.out.skip(f"more than {MOST_HOPS} redirects", onward.hops[0].url)
        elif key == fetch.key:  # another spelling of the same page, such as https for http
            self.frontier.again(onward)
        else:
            if fetch.depth == 0 and status in PERMANENT:
                self.bounds.include(key)  # a seed that has moved: its new home is meant
            inside = self.bounds.hold(key)
            if not inside or not self.frontier.offer(onward):
                self._send_aliases(onward)  # not ours to fetch, or fetched by another way
            if not inside and fetch.depth == 0:
                self.out.skip("seed redirects out of the scope", f"{fetch.url} to {target}")

    def _send_aliases(self, fetch: Fetch) -> None:
        """Tell the reader of the redirects on the way to a page, unless they merely correct its spelling."""
        for hop in fetch.hops:
            source, target = page_key(hop.url), page_key(hop.redirect)
            if source is None or target is None or source == target:
                continue
            end = target
            while end in self.leads:
                end = self.leads[end]
            if end == source:
                self.out.skip("redirects in a circle", hop.url)
            elif source not in self.leads:
                self.leads[source] = target
                self.out.page(hop)

    def _retry(self, fetch: Fetch) -> bool:
        """Try once more, after the others of its depth; false if that was done already."""
        if fetch.attempt:
            return False
        self.frontier.again(replace(fetch, attempt=1))
        return True

    def _offer_seed(self, address: str) -> None:
        key = page_key(address)
        if key is None:
            self.out.skip("seed is not a web address", address)
        else:
            self.bounds.include(key)
            self.frontier.offer(Fetch(address, key, 0))

    def _offer(self, link: str, depth: int) -> None:
        address = web_address(link)
        key = page_key(address) if address else None
        if address is not None and key is not None and self.bounds.hold(key):
            self.frontier.offer(Fetch(address, key, depth))


class Handler(HTTP11DownloadHandler):
    """Scrapy's, but idle connections are kept for seconds, not minutes: a crawl of many hosts would run out of them."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.cachedConnectionTimeout = 15


class Scheduler:
    """Scrapy's view of the frontier."""

    def __init__(self, spider: PageSpider) -> None:
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Scheduler:
        assert isinstance(crawler.spider, PageSpider)
        return cls(crawler.spider)

    def has_pending_requests(self) -> bool:
        return self.spider.frontier.waiting > 0 and not self.spider.frontier.spent

    def next_request(self) -> Request | None:
        return self.spider.next_request()

    def enqueue_request(self, request: Request) -> bool:
        return False  # every request comes from the frontier


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def settings(job: Job) -> dict[str, Any]:
    """Only what is needed is on. A proxy looks up names itself, unchecked, so it needs private addresses allowed."""
    middlewares: dict[Any, int] = {
        f"{_MIDDLEWARES}.downloadtimeout.DownloadTimeoutMiddleware": 350,
        f"{_MIDDLEWARES}.defaultheaders.DefaultHeadersMiddleware": 400,
        f"{_MIDDLEWARES}.useragent.UserAgentMiddleware": 500,
        f"{_MIDDLEWARES}.httpcompression.HttpCompressionMiddleware": 590,
    }
    if job.obey_robots:
        middlewares[RobotsRules] = 100
    if job.allow_private:
        middlewares[f"{_MIDDLEWARES}.httpproxy.HttpProxyMiddleware"] = 750
    return {
        "TWISTED_REACTOR": _REACTOR,
        "DOWNLOAD_HANDLERS_BASE": {"http": Handler, "https": Handler},
        "DOWNLOADER_MIDDLEWARES_BASE": middlewares,
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
        "SCHEDULER": Scheduler,
        "USER_AGENT": job.user_agent,
        "DEFAULT_REQUEST_HEADERS": {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"},
        "CONCURRENT_REQUESTS": job.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": job.concurrency,
        "DOWNLOAD_DELAY": job.delay,
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": job.timeout,
        "DOWNLOAD_MAXSIZE": job.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_FAIL_ON_DATALOSS": False,  # a page cut in the middle is read as far as it came
        "LOG_LEVEL": "ERROR",
        "LOG_FORMAT": "%(name)s: %(message)s",
    }


def end_with_parent() -> None:
    """Wait for the end of the standard input, which is the end of the process that reads the pages."""
    while os.read(0, 1024):
        pass
    os._exit(0)


def main() -> None:
    out = Output(int(sys.argv[1]))
    job = Job(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=end_with_parent, daemon=True).start()
    options = settings(job)
    configure_logging(options)
    install_reactor(_REACTOR)
    reactor: Any = import_module("twisted.internet.reactor")  # only now: the one just installed
    reactor.connectTCP = guarded(reactor.connectTCP, job.allow_private)
    reactor.suggestThreadPoolSize(min(job.concurrency + 2, 64))  # for looking up names
    done: Any = CrawlerRunner(options).crawl(PageSpider, job=job, out=out)
    done.addErrback(lambda failure: failure.printTraceback())
    done.addBoth(lambda _: reactor.stop())
    reactor.run()
    out.close()


if __name__ == "__main__":
    main()
