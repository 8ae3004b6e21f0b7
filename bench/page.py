"""How heavy the web page of `cocite serve` is, and how soon a browser paints it.

    python bench/page.py STORE [--url URL] [--words WORDS] [--runs 15] [--axe axe.min.js]

Every view is opened in headless Chromium (Debian's, by Playwright) in a fresh context each time, so that nothing of it
is kept: page, style sheet and script are loaded and counted, over the wire (packed, with headers) and unpacked. Paint
is what the browser itself notes as first-contentful-paint, less the end of the page's response: as the very first page
that a browser shows, and as one that is reached from the start page. One visit goes before, so that the server's answer
is kept: it is the browser that is measured. --axe has axe-core look at each view with all that opens opened, in light
and in dark, and counts what it finds. Rows are printed as they come.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

from cocite.graph.store import Graph
from serve import HOST, cocite
from tables import show

NAMES = ("chromium", "chromium-browser", "google-chrome")
WEIGHT = """() => {
  const all = performance.getEntries().filter(each => "transferSize" in each);
  const sum = name => all.reduce((total, each) => total + each[name], 0);
  return [all.length, sum("transferSize"), sum("decodedBodySize"), all[0].decodedBodySize];
}"""
PAINT = """() => new Promise(done => new PerformanceObserver((list, observer) => {
  const paint = list.getEntries().find(each => each.name === "first-contentful-paint");
  if (!paint) return;
  observer.disconnect();
  done(paint.startTime - performance.getEntriesByType("navigation")[0].responseEnd);
}).observe({type: "paint", buffered: true}))"""
OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--url", default="", help="the page asked about; else the best-cited one")
    parser.add_argument("--words", default="static site generator")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--axe", type=Path)
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        raise SystemExit("no Chromium here (apt-get install chromium)")
    graph = Graph(options.store)
    url = options.url or graph.address(int(graph.in_degree.argmax()))
    axe = options.axe.read_text("utf-8") if options.axe else ""
    with cocite(options.store, 1) as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        base, rows = f"http://{HOST}:{port}", []
        for name, target in views(url, options.words).items():
            rows.append(row(browser, name, base, target, options.runs, axe))
            print(rows[-1], flush=True)
        browser.close()
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
    """Where each view is."""
    page, topic = urlencode({"url": url}), urlencode({"q": words})
    return {
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


def row(browser: Browser, name: str, base: str, target: str, runs: int, axe: str) -> list[str]:
    """One view, visited so often."""
    where = base + target
    visited(browser, where, WEIGHT)
    cells = [name]
    files, wire, plain, alone = visited(browser, where, WEIGHT)
    cells += [str(files), *(f"{size / 1000:.1f}" for size in (wire, plain, alone))]
    for before in ("", f"{base}/"):
        paints = sorted(visited(browser, where, PAINT, before) for _ in range(runs))
        cells += [f"{statistics.median(paints):.0f}", f"{paints[-1]:.0f}"]
    return cells + [str(violations(browser, where, axe, scheme)) for scheme in ("light", "dark") if axe]


def visited(browser: Browser, where: str, script: str, before: str = "") -> Any:
    """What a script says of a view that is visited for the first time, perhaps after another page."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    if before:
        page.goto(before)
    page.goto(where)
    found = page.evaluate(script)
    context.close()
    return found


def violations(browser: Browser, where: str, axe: str, scheme: Any) -> int:
    """What axe-core finds; printed, too."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
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
