"""cocite crawl: fetch a small web into a store, and keep it fresh."""

import hashlib
import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.cli.failures import complain
from cocite.cli.terminal import Screen, seconds
from cocite.errors import BadParameter, BadSource, BadStore
from cocite.operations.declare import operation
from cocite.operations.store.build import CRAWL_OPTIONS, CrawlOptions, WorkOptions, kept_before
from cocite.parameters import parameter
from cocite.system import replace_file
from cocite.text import count

if TYPE_CHECKING:
    from cocite.sources.crawl.start import CrawlNotes
    from cocite.sources.records import Page, ReadReport

STATE_VERSION = 1
MAX_FEEDS = 50
MIN_SECONDS = 60
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@operation(store=False, json=False)
class Crawl(WorkOptions, CrawlOptions):
    """Fetch the pages around an address into a store, and keep them fresh.

    The first round builds the store, unless it is there. Later rounds ask for pages only if they changed (ETag,
    Last-Modified), and add those that did; sitemaps and feeds name new pages. robots.txt and --delay hold as for cocite
    build. The dates and hashes of pages are kept beside the store: stop it at any time with Ctrl-C, and start it again.
    Needs the extra `crawl`.

    Examples:
        cocite crawl https://example.org/ --into example.cocite --every 6h
        cocite crawl https://example.org/ --into my.cocite --max-pages 5000
    """

    shows_itself = True
    url: str = parameter("", "The address to begin at", metavar="URL", positional=True, required=True)
    into: str = parameter("web.cocite", "The store to keep fresh", metavar="STORE", flags=("--into", "-o"))
    every: str = parameter("", "Time between two rounds, such as 30m, 6h or 1d (default: one round)", metavar="TIME")

    def validate(self) -> None:
        super().validate()
        if self.every and parse_duration(self.every) < MIN_SECONDS:
            raise BadParameter(f"every {self.every} is less than a minute: give sites more time")

    def do(self, progress: object) -> None:
        """Crawl, and again after a while."""
        screen = Screen(stderr=True)
        try:
            while self._round(screen) and self.every:
                time.sleep(parse_duration(self.every))
        except KeyboardInterrupt:
            pass
        if self.every and not self.quiet:
            screen.line("Stopped; start it again to go on")

    def _round(self, screen: Screen) -> bool:
        """Fetch what is new or changed. Return False after Ctrl-C. A round that fails is reported: the next may not."""
        from cocite.sources.crawl.start import CRAWL_INTERRUPTED, CrawlNotes
        from cocite.sources.records import ReadReport

        began, state, notes, report = time.monotonic(), self._state(), CrawlNotes(), ReadReport()
        digests: dict[str, str] = {}
        try:
            pages = self._changed(self._pages(state, notes, report), state, digests)
            first = next(pages, None)
            if first is not None:
                self._write(chain([first], pages), report)
            elif not Path(self.into).exists():
                reasons = "; ".join(report.skipped) or "no page was found"
                raise BadSource(f"Nothing was fetched from {self.url} ({reasons}): check the address")
        except (BadSource, BadStore, OSError) as error:
            if not self.every or not Path(self.into).exists():
                raise
            complain(f"{error}; trying again after {self.every}")
            return True
        self._save(state, notes, digests)
        if not self.quiet:
            unchanged = len(notes.unchanged) + len(notes.validators) - len(digests)
            took = seconds(time.monotonic() - began)
            line = f"{datetime.now():%H:%M:%S} {count(len(digests), 'page')} new or changed, {max(0, unchanged):,} not"
            screen.line(f"{line} ({took})")
            for reason, number in report.skipped.most_common(3):
                screen.line(f"  skipped: {number:,} × {reason}")
        return not report.read[CRAWL_INTERRUPTED]

    def _pages(self, state: dict[str, Any], notes: "CrawlNotes", report: "ReadReport") -> "Iterator[Page]":
        """The pages of a crawl that asks only for what changed."""
        from cocite.graph.crawled import crawled_before
        from cocite.graph.store import Graph
        from cocite.sources.crawl.start import crawl

        options: dict[str, Any] = {name: getattr(self, name) for name in CRAWL_OPTIONS} | {"seeds": [self.url]}
        if Path(self.into).exists():
            limits = {name: options[name] for name in ("scope", "depth", "max_pages")}
            before = crawled_before(Graph(self.into), self.url, **limits)
            options |= {"seeds": before.seeds, "waiting": [*before.visited, *before.waiting]}
        known = {key: page[:3] for key, page in state["pages"].items()}
        return crawl(report=report, notes=notes, known=known, hints=True, feeds=state["feeds"], **options)

    def _changed(self, pages: "Iterator[Page]", state: dict[str, Any], digests: dict[str, str]) -> "Iterator[Page]":
        """The pages whose content differs from the last time: many servers don't say that nothing changed."""
        from cocite.sources.crawl.frontier import page_key
        from cocite.sources.page_records import page_to_json

        for page in pages:
            key, record = page_key(page.url) or page.url, page_to_json(page)
            record.pop("captured", None)
            digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:20]
            if state["pages"].get(key, [""])[-1] != digest:
                digests[key] = digest
                yield page

    def _write(self, pages: "Iterator[Page]", report: "ReadReport") -> None:
        from cocite.graph.build.maintain import add
        from cocite.graph.build.passes import build
        from cocite.graph.generation import no_progress
        from cocite.sources.open_source import Source

        exists = Path(self.into).exists()
        kept = kept_before(self.into, self.platforms) if exists else {"anchors": True, "text": True}
        options = self.build_options({"kind": "crawl"}, **kept)
        source = Source(self.url, "crawl", 0, report, lambda: pages, kept["text"])
        work = partial(add if exists else build, [source], Path(self.into), report, options, no_progress)
        result = self.carried_out(work, options, no_progress)
        if result.warning:
            complain(result.warning)

    @property
    def _state_file(self) -> Path:
        """The file with dates and hashes of the pages, beside the store: without it, all are fetched again."""
        store = Path(self.into)
        return store.with_name(f"{store.name}.crawl.json")

    def _state(self) -> dict[str, Any]:
        """For each page, by canonical address: ETag, Last-Modified, when it was fetched, a hash; and the feeds."""
        if Path(self.into).exists():
            with suppress(OSError, ValueError):
                state = json.loads(self._state_file.read_bytes())
                if isinstance(state, dict) and (state.get("version"), state.get("url")) == (STATE_VERSION, self.url):
                    return state
        return {"version": STATE_VERSION, "url": self.url, "pages": {}, "feeds": []}

    def _save(self, state: dict[str, Any], notes: "CrawlNotes", digests: dict[str, str]) -> None:
        from cocite.sources.crawl.frontier import page_key

        now, pages = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), state["pages"]
        for key in notes.unchanged:
            if key in pages:
                pages[key][2] = now
        for key, digest in digests.items():
            pages[key] = ["", "", now, digest]
        for key, validators in notes.validators.items():
            pages[key] = [*validators, pages.get(key, [""])[-1]]
        feeds = dict.fromkeys([*state["feeds"], *notes.feeds])
        state["feeds"] = [feed for feed in feeds if page_key(feed)][:MAX_FEEDS]
        replace_file(self._state_file, json.dumps(state))


def parse_duration(text: str) -> float:
    """The seconds of a time such as 30m, 6h or 1d."""
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise BadParameter(f"every must be a time such as 30m, 6h or 1d, not {text!r:.100}")
    return float(found[1]) * _SECONDS[found[2].lower()]
