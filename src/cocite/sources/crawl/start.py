"""A live crawl from seed addresses, as a stream of pages.

The crawl runs in a process of its own (`crawl_spider`), because the networking library can be started only once per
process: so it works twice in one notebook, and ends when the reader stops. Only that process imports Scrapy.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
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
COMMAND = [sys.executable, "-m", "cocite.sources.crawl.spider"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # not the host and port of localhost:8000


@dataclass(frozen=True)
class Job:
    """What the crawling process is told: the arguments of `crawl`, checked."""

    seeds: list[str]
    depth: int
    scope: Scope
    max_pages: int
    delay: float
    concurrency: int
    allow_private: bool
    obey_robots: bool
    user_agent: str
    timeout: float
    max_bytes: int
    text: bool


def crawl(
    seeds: list[str],
    report: ReadReport,
    *,
    depth: int = 2,
    scope: Scope = "site",
    max_pages: int = 1000,
    delay: float = 0.5,
    concurrency: int = 8,
    allow_private: bool = False,
    obey_robots: bool = True,
    user_agent: str | None = None,
    timeout: float = 30,
    max_bytes: int = 16 << 20,
    text: bool = True,
) -> Iterator[Page]:
    """Fetch the seeds and the pages up to `depth` links away from them, breadth first; pages come as they are fetched.

    `scope` keeps the crawl on the seeds' sites, on their hosts, or nowhere in particular. `max_pages` limits the pages
    with a status (found, or gone: 404 and 410); redirects come as aliases beside them. `delay` is the least time
    between two requests to one host, or longer where its robots.txt asks for it. Private and local addresses are
    refused, whatever name or redirect leads to them, unless `allow_private`, which also lets the proxy settings of the
    environment take effect: a proxy looks names up itself, so nothing could be checked. Robots.txt is obeyed unless
    `obey_robots` is false. What is left out is counted in `report` by its reason. Closing the iterator ends the crawl.
    """
    if find_spec("scrapy") is None:
        raise BadSource('crawling needs Scrapy: pip install "cocite[crawl]"')
    job = Job(
        seeds=_checked_seeds(seeds, report),
        depth=depth,
        scope=scope,
        max_pages=max_pages,
        delay=delay,
        concurrency=concurrency,
        allow_private=allow_private,
        obey_robots=obey_robots,
        user_agent=USER_AGENT if user_agent is None else user_agent,
        timeout=timeout,
        max_bytes=max_bytes,
        text=text,
    )
    _check(job)
    return _pages(job, report)


def _checked_seeds(seeds: list[str], report: ReadReport) -> list[str]:
    """The seeds as web addresses; a bare `example.org/list` is asked for by http, as browsers long did."""
    checked: dict[str, None] = {}
    for seed in seeds:
        seed = seed.strip()
        address = web_address(seed if _SCHEME.match(seed) else f"http://{seed}")
        if address is None:
            report.skip("seed is not a web address", seed)
        else:
            checked[address] = None
    if not checked:
        raise BadSource("nothing to crawl from: give at least one http or https address")
    return list(checked)


def _check(job: Job) -> None:
    if job.scope not in ("site", "host", "any"):
        raise BadParameter(f"scope is site, host or any, not {job.scope!r}")
    least = {"depth": 0, "max_pages": 1, "delay": 0, "concurrency": 1, "timeout": 0.1, "max_bytes": 1}
    for name, low in least.items():
        value = getattr(job, name)
        if not low <= value < 2**53:  # also refuses nan and infinity
            raise BadParameter(f"{name} is at least {low}, not {value!r}")
    if not job.user_agent.strip() or not (job.user_agent.isascii() and job.user_agent.isprintable()):
        raise BadParameter("user_agent is one line of printable ASCII, such as 'mybot/1.0 (me@example.org)'")


def _pages(job: Job, report: ReadReport) -> Iterator[Page]:
    """Run the crawling process and pass on what it writes; it ends when this generator does, however that happens."""
    with tempfile.TemporaryDirectory(prefix="cocite-crawl-") as folder, tempfile.TemporaryFile() as log:
        process, messages = _start(job, folder, log)
        try:
            for line in messages:
                message = json.loads(line)
                if "page" in message:
                    yield _page(message["page"])
                elif "skip" in message:
                    report.skip(message["skip"], message["example"], message["count"])
                else:
                    if message["left"]:
                        report.read["address left at the page limit"] += message["left"]
                    return
            raise BadSource(f"the crawl broke off: {_last_line(log, process)} (what came before is good)")
        finally:
            process.kill()
            process.wait()
            messages.close()
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.close()


def _start(job: Job, folder: str, log: IO[bytes]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start the crawling process in a folder of its own, with the same modules in reach as here.

    It gets the job on its standard input, which stays open: its end tells the process that nobody reads any more. Its
    messages come by a pipe of their own, so that nothing a library prints gets among them. A session of its own keeps
    Ctrl-C from reaching it before this process has dealt with it.
    """
    reading, writing = os.pipe()
    messages = os.fdopen(reading, "rb")
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    try:
        process = subprocess.Popen(
            [*COMMAND, str(writing)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": folder},
            pass_fds=[writing],
            start_new_session=True,
        )
    except OSError as error:
        messages.close()
        raise BadSource(f"the crawling process cannot be started: {error}") from error
    finally:
        os.close(writing)
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it ended at once; its log says why
        process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        process.stdin.flush()
    return process, messages


def _page(record: dict[str, Any]) -> Page:
    record["links"] = [Link(*fields) for fields in record["links"]]
    return Page(**record)


def _last_line(log: IO[bytes], process: subprocess.Popen[bytes]) -> str:
    """The last thing the crawling process said, or how it ended."""
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:  # a thread of it still waits for something
        code = 1
    log.seek(max(0, log.seek(0, os.SEEK_END) - 8192))
    lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line]
    return "".join(filter(str.isprintable, said[-1]))[:300] if said else f"its process ended with code {code}"


SOURCE = SourceKind(
    "crawl",
    "pages to crawl",
    lambda path, head: False,  # `open_source` recognises web addresses
    lambda address, report, options: crawl([address], report, text=options.text),
)
