"""A real browser for tests, a store with what strangers write, and axe-core, if they are to be had."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from cocite.sources.records import Link, Page

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".pytest_cache" / "axe-core" / "axe.min.js"
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 15_000
"""Milliseconds in which what a test waits for has come."""
MAX_SECONDS = 120.0
"""Seconds that a test may take before the browser is ended."""
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp\x07 \"'"
LONG_TITLE = "A very long title " + "of words without an end " * 20
ARABIC = "مولد المواقع الثابتة مع HTML و CSS"
TOOLS = {
    "hugo": "Hugo",
    "jekyll": "Jekyll",
    "pelican": "Pelican",
    "nikola": "Nikola",
    "gatsby": "Gatsby",
    "eleventy": "Eleventy",
    "hostile": HOSTILE,
    "long": LONG_TITLE,
    "arabic": ARABIC,
    "untitled": "",
}
FONTS = {"inter": "Inter", "roboto": "Roboto", "lato": "Lato", "noto": "Noto"}
HUGO, JEKYLL = "https://hugo.example/", "https://jekyll.example/"


def links(names: dict[str, str], block: int, turn: int) -> list[Link]:
    """Links to pages, beginning with another one each time."""
    found = [Link(f"https://{name}.example/", title, block) for name, title in names.items()]
    return found[turn:] + found[:turn]


CROWD = {f"stone{n}": f"A stone with the number {n}" for n in range(14)}
"""Pages on 32 lists, with names as long as they are."""
STONE = "https://stone0.example/"
PAGES = [
    *(
        Page(
            f"https://quarry{n}.example/",
            f"The stones that quarry {n} has, and some others",
            links=[link for at, link in enumerate(links(CROWD, 0, n % 14)) if at % 7 != n % 7 or link.url == STONE],
            headings=["Stones of all kinds, sorted by hand"],
        )
        for n in range(32)
    ),
    *(
        Page(
            f"https://list{n}.example/all",
            f"Awesome sites {n}" if n else HOSTILE,
            text="static site generator and fonts for websites, collected by hand",
            links=[*links(TOOLS, 0, n)[: 10 - n % 3], *links(FONTS, 1, n % 4)],
            headings=["Static site generators", "Fonts"],
            lang="en",
        )
        for n in range(7)
    ),
    Page(HUGO, "Hugo", text="a static site generator, fast and flexible", links=[Link(JEKYLL, "Jekyll")]),
    Page("https://fan.example/", "Fan", text="a fan", links=[Link("https://list1.example/all", "Awesome sites")]),
    Page("https://lonely.example/", "Nobody links here"),
]


def chromium() -> str:
    """Where the browser is; skips the test if there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no browser is installed (apt-get install chromium)")
    return found


@contextmanager
def driving() -> Iterator[Any]:
    """Playwright. It holds the event loop of this thread meanwhile, so it is not kept longer, whatever happens."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright = api.sync_playwright().start()
    try:
        yield playwright
    finally:  # a browser that doesn't start in time would else fail every later test that runs an event loop
        with ended_after(MAX_SECONDS):
            playwright.stop()


@contextmanager
def browsing() -> Iterator[Any]:
    """A headless browser."""
    where = chromium()
    with driving() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=ARGUMENTS, timeout=2 * PATIENCE)
        try:
            yield browser
        finally:
            closed(browser)


def closed(what: Any) -> None:
    """Close a browser, or a context of one; if it had to be ended it is closed already."""
    with ended_after(MAX_SECONDS), suppress(Exception):
        what.close()


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Ends the browser and its driver if what is done with them takes too long: every call then raises an error.

    Some calls of Playwright (evaluating, closing, counting) wait for ever if a browser hangs. An exception raised by a
    signal does not help: it comes up in Playwright's event loop, and what is waiting goes on waiting.
    """
    timer = Timer(seconds, end_browsers)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def end_browsers() -> None:
    """End the drivers that this process has started, and their browsers."""
    for child in psutil.Process().children():
        if "playwright" in " ".join(child.cmdline()):
            print("the browser took too long and is ended", file=sys.stderr)
            for process in (*child.children(recursive=True), child):
                process.send_signal(signal.SIGKILL)


def axe() -> str:
    """The source of axe-core: kept from the last time, or fetched by npm; skips the test if it is not to be had."""
    if not AXE.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("no npm to fetch axe-core with")
        with tempfile.TemporaryDirectory() as folder:
            command = [npm, "pack", "axe-core@4", "--silent", "--pack-destination", folder]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=folder)
                with tarfile.open(next(Path(folder).glob("axe-core-*.tgz"))) as packed:
                    source = packed.extractfile("package/axe.min.js")
                    assert source is not None
                    AXE.parent.mkdir(parents=True, exist_ok=True)
                    AXE.write_bytes(source.read())
            except (OSError, subprocess.SubprocessError, StopIteration, tarfile.TarError, KeyError) as error:
                pytest.skip(f"axe-core cannot be fetched: {type(error).__name__}")
    return AXE.read_text("utf-8")


class Watched:
    """A page of a browser, and everything on it that should not be: errors, violations, requests to others."""

    def __init__(self, context: Any, base: str) -> None:
        context.set_default_timeout(PATIENCE)
        self.context, self.base, self.page = context, base, context.new_page()
        self.wrong: list[str] = []
        self.bytes: dict[str, int] = {}
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:")):
            self.wrong.append(f"request to {urlsplit(request.url).netloc}")

    def open(self, target: str) -> int:
        """Go somewhere; the status of what came back."""
        response = self.page.goto(self.base + target)
        return int(response.status)
