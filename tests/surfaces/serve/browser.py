"""A real browser for tests, a store with what strangers write, and axe-core, if they are to be had."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cocite.sources.records import Link, Page

ROOT = Path(__file__).parents[3]
AXE = ROOT / ".pytest_cache" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp\x07 \"'"
LONG = "A very long title " + "of words without an end " * 20
ARABIC = "مولد المواقع الثابتة مع HTML و CSS"
TOOLS = {
    "hugo": "Hugo",
    "jekyll": "Jekyll",
    "pelican": "Pelican",
    "nikola": "Nikola",
    "gatsby": "Gatsby",
    "eleventy": "Eleventy",
    "hostile": HOSTILE,
    "long": LONG,
    "arabic": ARABIC,
    "untitled": "",
}
FONTS = {"inter": "Inter", "roboto": "Roboto", "lato": "Lato", "noto": "Noto"}
HUGO, JEKYLL = "https://hugo.example/", "https://jekyll.example/"


def links(names: dict[str, str], block: int, turn: int) -> list[Link]:
    """Links to pages, beginning with another one each time."""
    found = [Link(f"https://{name}.example/", title, block) for name, title in names.items()]
    return found[turn:] + found[:turn]


PAGES = [
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
def browsing() -> Iterator[Any]:
    """A headless browser. Playwright holds the event loop of this thread meanwhile, so it is not kept longer."""
    where = chromium()
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


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
