"""Crawl the web from seed addresses.

The crawl runs in its own process (`process.py`), because Twisted can be started only once per process. So a notebook
can crawl twice, and a crawl ends when its reader stops. Only that process imports Scrapy.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal

from cocite import __version__
from cocite.errors import BadParameter, BadSource
from cocite.sources.crawl.guard import web_address
from cocite.sources.kinds import SourceKind
from cocite.sources.records import Link, Page, ReadReport

Scope = Literal["site", "host", "any"]

USER_AGENT = f"cocite/{__version__} (+crawler; reads links to find related pages)"
COMMAND = [sys.executable, "-m", "cocite.sources.crawl.process"]

CRAWL_INTERRUPTED = "crawl that was interrupted: its pages are kept"

MAX_FOLLOWED_LINKS = 10_000  # of one page; its record keeps all links

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # not the host and port of localhost:8000


@dataclass(frozen=True)
class CrawlJob:
    """The options of a crawl."""

    seeds: list[str]
    depth: int = 2  # links away from the seeds
    scope: Scope = "site"  # stay on the sites of the seeds, on their hosts, or anywhere
    max_pages: int = 1000  # pages with a status, including 404 and 410; redirects come as aliases beside them
    delay: float = 0.5  # minimum seconds between two requests to a host, or longer if its robots.txt asks for it
    concurrency: int = 8
    allow_private: bool = False  # allow private addresses and proxies, which look up names themselves, unchecked
    obey_robots: bool = True
    user_agent: str = USER_AGENT
    timeout: float = 30
    max_bytes: int = 16 << 20
    text: bool = True  # whether the texts of pages are wanted
    fetched: list[str] = field(default_factory=list)  # canonical addresses that an earlier crawl fetched
    waiting: list[tuple[str, int]] = field(default_factory=list)  # where it goes on: addresses, links from a seed
    known: dict[str, list[str]] = field(default_factory=dict)
    """Of pages to fetch only if they changed, by canonical address: ETag, Last-Modified and when they were fetched."""
    hints: bool = False  # whether to read sitemaps, and `feeds`
    feeds: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.scope not in ("site", "host", "any"):
            raise BadParameter(f"Invalid scope {self.scope!r}: use site, host or any")
        minimum = {"depth": 0, "max_pages": 1, "delay": 0, "concurrency": 1, "timeout": 0.1, "max_bytes": 1}
        for name, low in minimum.items():
            value = getattr(self, name)
            if not low <= value < 2**53:  # refuses nan and infinity, too
                raise BadParameter(f"Invalid {name} {value!r}: it must be at least {low}")
        if not (self.user_agent.strip() and self.user_agent.isascii() and self.user_agent.isprintable()):
            example = "'mybot/1.0 (me@example.org)'"
            raise BadParameter(f"Invalid user_agent: give one line of printable ASCII, such as {example}")


@dataclass
class CrawlNotes:
    """What a crawl learns beside its pages, for the next one."""

    validators: dict[str, list[str]] = field(default_factory=dict)  # as `CrawlJob.known`
    unchanged: set[str] = field(default_factory=set)  # canonical addresses
    feeds: dict[str, None] = field(default_factory=dict)


def crawl(seeds: list[str], report: ReadReport, notes: CrawlNotes | None = None, **options: Any) -> Iterator[Page]:
    """Fetch the seeds and the pages around them, breadth first. Yield the pages as they are fetched.

    `options` are the fields of `CrawlJob`. Private and local addresses are refused, whatever name or redirect leads to
    them, unless `allow_private`. What is skipped is counted in `report`. Closing the iterator ends the crawl.
    """
    if find_spec("scrapy") is None:
        raise BadSource('Crawling needs Scrapy: pip install "cocite[crawl]"')
    checked: dict[str, None] = {}
    for seed in map(str.strip, seeds):  # a bare `example.org/list` gets http
        address = web_address(seed if _SCHEME.match(seed) else f"http://{seed}")
        if address is None:
            report.skip("seed that is not a web address", seed)
        else:
            checked[address] = None
    if not checked:
        raise BadSource("Nothing to crawl: give at least one http or https address")
    return _pages(CrawlJob(list(checked), **options), report, notes or CrawlNotes())


def _pages(job: CrawlJob, report: ReadReport, notes: CrawlNotes) -> Iterator[Page]:
    """Run the crawling process and yield its pages. The process ends with this generator."""
    with tempfile.TemporaryDirectory(prefix="cocite-crawl-") as folder, tempfile.TemporaryFile() as log:
        process, messages = _start(job, folder, log)
        with _interruptible(process) as interrupted, messages:
            fetched = False
            for line in messages:
                message = json.loads(line)
                if "page" in message:
                    fetched = True
                    notes.validators.update(message.get("validators", {}))
                    notes.feeds.update(dict.fromkeys(message.get("feeds", ())))
                    links = [Link(**link) for link in message["page"].pop("links", ())]
                    yield Page(**message["page"], links=links)
                elif "unchanged" in message:
                    fetched = True
                    notes.unchanged.add(message["unchanged"])
                    report.read["page that hasn't changed"] += 1
                elif "skip" in message:
                    report.skip(message["skip"], message["example"], message["count"])
                else:
                    if message["left"]:
                        report.read["address beyond the page limit"] += message["left"]
                    return
            if interrupted and not fetched:
                raise KeyboardInterrupt
            if interrupted:
                report.read[CRAWL_INTERRUPTED] += 1
                return
            raise BadSource(f"The crawl failed: {_last_line(log, process)} (pages before that are complete)")


@contextmanager
def _interruptible(process: subprocess.Popen[bytes]) -> Iterator[list[bool]]:
    """Let Ctrl-C end the crawl, but not what reads it; a second one ends that, too. Give a list that is filled then.

    Only the main thread can do so. In others, Ctrl-C ends everything. The process ends in any case.
    """
    interrupted: list[bool] = []
    is_main, before = threading.current_thread() is threading.main_thread(), signal.getsignal(signal.SIGINT)

    def end(*_: object) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.append(True)
        process.kill()

    try:
        if is_main:
            signal.signal(signal.SIGINT, end)
        yield interrupted
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)
        process.kill()
        process.wait()


def _start(job: CrawlJob, folder: str, log: IO[bytes]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start the crawling process in its own folder, with the same module path.

    Messages come through their own pipe, so that output of libraries doesn't mix with them. Once nobody reads from the
    pipe, the process ends. Its own session keeps Ctrl-C from reaching it first.
    """
    reading, writing = os.pipe()
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": folder}
    try:
        with tempfile.TemporaryFile() as given:
            given.write(json.dumps(asdict(job)).encode())
            given.seek(0)
            streams: dict[str, Any] = {"stdin": given, "stdout": log, "stderr": log, "pass_fds": [writing]}
            command = [*COMMAND, str(writing)]
            process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
    except OSError as error:
        os.close(reading)
        raise BadSource(f"Cannot start the crawling process: {error}") from error
    finally:
        os.close(writing)
    return process, os.fdopen(reading, "rb")


def _last_line(log: IO[bytes], process: subprocess.Popen[bytes]) -> str:
    """Return the last line of the process's log, or its exit code."""
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:  # one of its threads is still waiting
        code = 1
    log.seek(max(0, log.seek(0, os.SEEK_END) - 8192))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return "".join(filter(str.isprintable, lines[-1].strip()))[:300] if lines else f"its process ended with code {code}"


SOURCE = SourceKind(
    "crawl",
    "pages to crawl",
    recognises=lambda path, head: False,  # `open_source` recognises web addresses
    read=lambda address, report, options: crawl([address], report, text=options.text),
    order=100,
)
