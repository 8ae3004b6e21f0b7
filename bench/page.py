"""How heavy the web page of `cocite serve` is, and how soon a browser paints it.

    python bench/page.py STORE [--url URL] [--words WORDS] [--runs 15] [--axe axe.min.js]

Every view is opened in headless Chromium (Debian's), each time in a fresh context, so nothing is cached. Page, style
sheet and script are loaded and counted, over the wire (packed, with headers) and unpacked. Paint is the browser's
first-contentful-paint minus the end of the page's response: as the first page of a fresh context, and when reached from
the start page. Views take turns, because the machine's speed changes from minute to minute. One view is a line of plain
text, which shows the browser's own share. A visit before the measurement fills the server's cache, so only the browser
is measured. --axe runs axe-core on each view with everything opened, in light and in dark, and counts its findings.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser as TestedBrowser
from playwright.sync_api import sync_playwright

from cocite.graph.store import Graph
from devtools import Browser, chromium
from serve import HOST, cocite
from tables import show

NAMES = ("chromium", "chromium-browser", "google-chrome")
WEIGHT = """() => {
  const all = performance.getEntries().filter(each => "transferSize" in each);
  const sum = name => all.reduce((total, each) => total + each[name], 0);
  return [all.length, sum("transferSize"), sum("decodedBodySize"), all[0].decodedBodySize];
}"""
PAINT = """new Promise((done, failed) => {
  setTimeout(() => failed("not painted"), 5000);
  new PerformanceObserver((list, observer) => {
    const paint = list.getEntries().find(each => each.name === "first-contentful-paint");
    if (!paint) return;
    observer.disconnect();
    done(paint.startTime - performance.getEntriesByType("navigation")[0].responseEnd);
  }).observe({type: "paint", buffered: true});
})"""
THERE = """new Promise(done => {
  if (document.readyState === "complete") done(location.href);
  else addEventListener("load", () => done(location.href));
})"""
WIDTH, HEIGHT = 1200, 900
LINE = "a line of text"
OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--url", default="", help="the query page (default: the best-cited one)")
    parser.add_argument("--words", default="static site generator")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--axe", type=Path)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise SystemExit("no Chromium here (apt-get install chromium)")
    graph = Graph(options.store)
    url = options.url or graph.address(int(graph.in_degree.argmax()))
    axe = options.axe.read_text("utf-8") if options.axe else ""
    with cocite(options.store, 1) as (port, _):
        base, wanted = f"http://{HOST}:{port}", views(url, options.words)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            rows = [row(browser, name, base + target, axe) for name, target in wanted.items()]
            browser.close()
        painted = asyncio.run(paints(program, base, list(wanted.values()), options.runs))
    for cells, each in zip(rows, painted, strict=True):
        cells[5:5] = [f"{value:.0f}" for times in each for value in (statistics.median(times), max(times))]
    head = [
        "view",
        "files",
        "wire, kB",
        "plain, kB",
        "page alone, kB",
        "first paint, ms",
        "worst",
        "from start",
        "worst",
    ]
    show(f"{url}, {options.runs} visits each", head + ["axe: light", "dark"] * bool(axe), rows)


def views(url: str, words: str) -> dict[str, str]:
    """The address of each view."""
    page, topic = urlencode({"url": url}), urlencode({"q": words})
    return {
        LINE: "/healthz",
        "first": "/",
        "related": f"/?{page}",
        "related, 100": f"/?{page}&k=100",
        "groups": f"/?{page}&group=true",
        "compare": f"/compare?{page}",
        "picture": f"/picture?{page}",
        "hubs": f"/hubs?{page}",
        "keywords of a page": f"/keywords?{page}",
        "search": f"/search?{topic}",
        "communities": f"/communities?{topic}",
        "keywords": f"/keywords?q={words.split()[0]}",
        "unknown page": f"/?{page}.unknown",
        "methods": "/methods",
        "docs": "/docs",
    }


def row(browser: TestedBrowser, name: str, where: str, axe: str) -> list[str]:
    """The size of one view, and axe-core's findings in it."""
    weights = []
    for _ in range(2):
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.goto(where)
        weights = page.evaluate(WEIGHT)
        context.close()
    cells = [name, str(weights[0]), *(f"{size / 1000:.1f}" for size in weights[1:])]
    if name == LINE:
        return cells + [""] * (2 if axe else 0)
    return cells + [str(violations(browser, where, axe, scheme)) for scheme in ("light", "dark") if axe]


async def paints(program: str, base: str, targets: list[str], runs: int) -> list[tuple[list[float], list[float]]]:
    """First paints of every view: as the first page, and from the start page."""
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in targets]
    async with chromium(program) as browser:
        for _ in range(runs):
            for times, target in zip(found, targets, strict=True):
                for of, before in zip(times, ("", "/"), strict=True):
                    of.append(await first_paint(browser, base, [before, target] if before else [target]))
    return found


async def first_paint(browser: Browser, base: str, targets: list[str]) -> float:
    """The first paint of the last of some pages, visited one after another."""
    async with browser.tab(WIDTH, HEIGHT) as session:
        for target in targets:
            await browser.call("Page.navigate", session, url=base + target)
            while await browser.said(session, THERE) != base + target:
                await asyncio.sleep(0.05)
        return float(await browser.said(session, PAINT))


def violations(browser: TestedBrowser, where: str, axe: str, scheme: Any) -> int:
    """Run axe-core, print its findings and return their number."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page = context.new_page()
    page.goto(where)
    page.evaluate(OPEN)
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
    for each in found:
        print(where, scheme, each["id"], [node["html"][:200] for node in each["nodes"][:2]])
    context.close()
    return len(found)


if __name__ == "__main__":
    main()
