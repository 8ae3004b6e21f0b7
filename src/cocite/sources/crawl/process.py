"""The crawling process: `python -m cocite.sources.crawl.process PIPE`. Only `crawl` starts it.

It reads a `CrawlJob` as JSON from standard input, and writes one message per line to the pipe: a page, something
skipped, or the end. It uses Scrapy's downloader (HTTP, time-outs, delays, decompression). The frontier says what to
fetch next; Scrapy's extensions, caches and console are off.
"""

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from cocite.sources.crawl.guard import guarded
from cocite.sources.crawl.spider import PageSpider
from cocite.sources.crawl.start import CrawlJob
from cocite.sources.page_records import page_to_json
from cocite.sources.records import Page

MAX_BACKLOG = 64 << 20  # bytes of messages waiting for the reader before fetching pauses
IDLE_CONNECTION_SECONDS = 15  # Scrapy's minutes would exhaust the connections in a crawl of many hosts

_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
_MIDDLEWARES = "scrapy.downloadermiddlewares"


class MessagePipe(asyncio.BaseProtocol):
    """Messages to the reader. They wait in a buffer, so that a slow reader doesn't stop the network."""

    def connection_made(self, transport: Any) -> None:
        self._transport: asyncio.WriteTransport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """End the process: all messages are written, or the reader has stopped."""
        os._exit(0)

    def full(self) -> bool:
        """Return whether the reader is behind."""
        return self._transport.get_write_buffer_size() > MAX_BACKLOG

    def page(self, page: Page, validators: dict[str, list[str]] | None = None, feeds: Sequence[str] = ()) -> None:
        """Send a page, with what the next crawl needs to know of it."""
        self.send({"page": page_to_json(page), "validators": validators or {}, "feeds": list(feeds)})

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        """Send the reason for something skipped."""
        self.send({"skip": reason, "example": example[:500], "count": count})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._transport.write(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        """Write all waiting messages, and end the process."""
        self._transport.close()


class Handler(HTTP11DownloadHandler):
    """Scrapy's handler, but idle connections are closed sooner."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.cachedConnectionTimeout = IDLE_CONNECTION_SECONDS


def settings(job: CrawlJob) -> dict[str, Any]:
    """Return Scrapy's settings. Proxies look up names, unchecked: they need `allow_private`."""
    middlewares = {
        f"{_MIDDLEWARES}.downloadtimeout.DownloadTimeoutMiddleware": 350,
        f"{_MIDDLEWARES}.defaultheaders.DefaultHeadersMiddleware": 400,
        f"{_MIDDLEWARES}.useragent.UserAgentMiddleware": 500,
        f"{_MIDDLEWARES}.httpcompression.HttpCompressionMiddleware": 590,
        f"{_MIDDLEWARES}.httpproxy.HttpProxyMiddleware": 750 if job.allow_private else None,
    }
    return {
        "TWISTED_REACTOR": _REACTOR,
        "DOWNLOAD_HANDLERS_BASE": {"http": Handler, "https": Handler},
        "DOWNLOADER_MIDDLEWARES_BASE": middlewares,
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
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


async def _crawl(job: CrawlJob, descriptor: int) -> None:
    try:
        _, out = await asyncio.get_running_loop().connect_write_pipe(MessagePipe, os.fdopen(descriptor, "wb"))
        await AsyncCrawlerRunner(settings(job)).crawl(PageSpider, job=job, out=out)
        out.close()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    """Run a crawl."""
    job = CrawlJob(**json.load(sys.stdin))
    configure_logging(settings(job))
    install_reactor(_REACTOR)
    reactor: Any = import_module("twisted.internet.reactor")  # importing it earlier would install another reactor
    reactor.connectTCP = guarded(reactor.connectTCP, job.allow_private)
    reactor.suggestThreadPoolSize(min(job.concurrency + 2, 64))  # for looking up names
    _crawling = asyncio.get_event_loop().create_task(_crawl(job, int(sys.argv[1])))  # the loop keeps no reference
    reactor.run()


if __name__ == "__main__":
    main()
