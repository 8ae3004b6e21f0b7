"""The crawling process: `python -m cocite.sources.crawl.process PIPE`. Only `crawl` starts it.

It reads a `CrawlJob` as one line of JSON from standard input, and writes one message per line to the pipe: a page,
something skipped, or the end. It uses Scrapy's downloader (HTTP, time-outs, delays, decompression). The frontier says
what to fetch next; Scrapy's extensions, caches and console are off.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from importlib import import_module
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from cocite.sources.crawl.guard import guarded
from cocite.sources.crawl.robots import RobotsRules
from cocite.sources.crawl.spider import PageSpider
from cocite.sources.crawl.start import CrawlJob
from cocite.sources.page_records import page_to_json
from cocite.sources.records import Page

MAX_BACKLOG = 64 << 20  # bytes of pages waiting for the reader before fetching pauses
IDLE_CONNECTION_SECONDS = 15  # Scrapy's minutes would exhaust the connections in a crawl of many hosts

_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
_MIDDLEWARES = "scrapy.downloadermiddlewares"


class MessagePipe:
    """Messages to the reader, written by a thread of its own so that a slow reader doesn't stop the network."""

    def __init__(self, descriptor: int) -> None:
        self._queue: queue.SimpleQueue[tuple[dict[str, Any], int] | None] = queue.SimpleQueue()
        self._queued = 0  # bytes, counted by the network's thread
        self._written = 0  # bytes, counted by the writing thread: two counters need no lock
        self._stream = os.fdopen(descriptor, "wb")
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def full(self) -> bool:
        """Return whether the reader is behind."""
        return self._queued - self._written > MAX_BACKLOG

    def page(self, page: Page, size: int = 1_000) -> None:
        """Send a page whose source has `size` bytes."""
        self.send({"page": page_to_json(page)}, size)

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        """Send the reason for something skipped."""
        self.send({"skip": reason, "example": example[:500], "count": count})

    def send(self, message: dict[str, Any], size: int = 1_000) -> None:
        """Send a message that takes about `size` bytes."""
        self._queued += size
        self._queue.put((message, size))

    def close(self) -> None:
        """Write all waiting messages."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        try:
            while (item := self._queue.get()) is not None:
                self._stream.write(json.dumps(item[0]).encode() + b"\n")
                self._stream.flush()
                self._written += item[1]
        except BrokenPipeError:
            os._exit(0)  # the reader has stopped
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # without this thread nothing can be delivered


class Handler(HTTP11DownloadHandler):
    """Scrapy's handler, but idle connections are closed sooner."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.cachedConnectionTimeout = IDLE_CONNECTION_SECONDS


class Scheduler:
    """The frontier, in the shape that Scrapy expects."""

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
        return False  # all requests come from the frontier


def settings(job: CrawlJob) -> dict[str, Any]:
    """Return Scrapy's settings. Proxies look up names themselves, so they are on only if private addresses are
    allowed."""
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
        "DOWNLOAD_FAIL_ON_DATALOSS": False,  # a truncated page is read as far as it came
        "LOG_LEVEL": "ERROR",
        "LOG_FORMAT": "%(name)s: %(message)s",
    }


def _exit_with_parent() -> None:
    """Wait for the end of standard input: the process that reads the pages has ended."""
    while os.read(0, 1024):
        pass
    os._exit(0)


def main() -> None:
    """Run a crawl."""
    out = MessagePipe(int(sys.argv[1]))
    job = CrawlJob(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    options = settings(job)
    configure_logging(options)
    install_reactor(_REACTOR)
    reactor: Any = import_module("twisted.internet.reactor")  # importing it earlier would install another reactor
    reactor.connectTCP = guarded(reactor.connectTCP, job.allow_private)
    reactor.suggestThreadPoolSize(min(job.concurrency + 2, 64))  # for looking up names
    done: Any = CrawlerRunner(options).crawl(PageSpider, job=job, out=out)
    done.addErrback(lambda failure: failure.printTraceback())
    done.addBoth(lambda _: reactor.stop())
    reactor.run()
    out.close()


if __name__ == "__main__":
    main()
