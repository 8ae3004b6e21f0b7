"""How soon pages are suggested while somebody types.

    python bench/suggest.py STORE [--titles 60] [--rounds 3]

Types the titles and addresses of random pages, letter by letter, in turns, and asks a running server for suggestions
(`/api/search?prefix=true`). Every question is different, so none is answered from the cache in the first round; the
table is of that round. The page itself is among the suggestions after some letters; how many that takes is the last
line.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import time
from pathlib import Path
from urllib.parse import urlencode

from cocite.graph.store import Graph
from cocite.results.naming import titles_of
from serve import HOST, cocite
from tables import show

MIN_LETTERS, MAX_LETTERS = 2, 16


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--titles", type=int, default=60)
    options = parser.parse_args()
    graph = Graph(options.store)
    titles, chosen = titles_of(graph), random.Random(1)
    pages = [chosen.randrange(graph.pages) for _ in range(20 * options.titles)]
    pages = [page for page in pages if titles.of(page) and graph.in_degree[page] > 1][: options.titles]
    typed = {
        "titles": [(titles.of(page).lower(), graph.address(page)) for page in pages],
        "addresses": [
            (graph.address(page).partition("://")[2].removeprefix("www."), graph.address(page)) for page in pages
        ],
    }
    rows = []
    with cocite(options.store, 1, "--quiet") as (port, _):
        connection = http.client.HTTPConnection(HOST, port)
        wait(connection)
        for name, texts in typed.items():
            took, letters = [], []
            for text, url in texts:
                found_at = None
                for length in range(MIN_LETTERS, min(len(text), MAX_LETTERS) + 1):
                    began = time.perf_counter()
                    found = ask(connection, text[:length])
                    took.append(1000 * (time.perf_counter() - began))
                    found_at = found_at or (length if url in found else None)
                if found_at:
                    letters.append(found_at)
            ordered = sorted(took)
            rows.append(
                [
                    name, f"{len(took):,}", f"{statistics.median(took):.1f}", f"{ordered[int(0.95 * len(took))]:.1f}",
                    f"{ordered[int(0.99 * len(took))]:.1f}", f"{ordered[-1]:.1f}", f"{len(letters)} of {len(texts)}",
                    f"{statistics.median(letters):.0f}",
                ]
            )  # fmt: skip
    show(
        f"suggestions in a store of {graph.pages:,} pages, milliseconds with HTTP",
        ["typed", "questions", "median", "p95", "p99", "max", f"found within {MAX_LETTERS} letters", "after letters"],
        rows,
    )


def ask(connection: http.client.HTTPConnection, text: str) -> list[str]:
    """The addresses that are suggested."""
    connection.request("GET", "/api/search?" + urlencode({"q": text, "k": 7, "prefix": "true"}))
    return [each["url"] for each in json.loads(connection.getresponse().read()).get("answers", [])]


def wait(connection: http.client.HTTPConnection) -> None:
    """Until the search index is open."""
    for _ in range(300):
        connection.request("GET", "/api/store")
        if json.loads(connection.getresponse().read()).get("search"):
            return
        time.sleep(0.2)
    raise SystemExit("the server has no search index")


if __name__ == "__main__":
    main()
