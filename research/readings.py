"""Whether the fast methods score the same on the awesome lists as the slow, literal versions of the papers.

    python -m research.readings --store STORE --judgements J.tsv.gz --judge judge.py [--slow] [--queries 500]
        [--only lli]

Prints a table with the figures that the data's own README gives for the same settings. The README gives the one in
brackets without its formula; we chose the setting in that row because it comes close (docs/decisions/0023).
"""

from __future__ import annotations

import argparse
import gzip
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from bench.tables import show
from cocite.related.methods import method
from cocite.web import Web
from tests.related.methods import naive

BACK = {"children": 0, "merge": False, "chop": "none"}
PLAIN = {"merge": False, "chop": "none"}


class Setting(NamedTuple):
    """A method, its parameters, and their score in the README of the data."""

    name: str
    method: str
    parameters: dict[str, Any]
    known: str = ""


SETTINGS = [
    Setting("full cocitation", "cocitation", {"parents": 10**9, "window": 0, **PLAIN}, "0.070 / 0.045"),
    Setting("cocitation", "cocitation", PLAIN, "0.132 / 0.095"),
    Setting("cocitation, chopping", "cocitation", {"merge": False}, "0.132 / 0.095"),
    Setting("cocitation, defaults", "cocitation", {}),
    Setting("cocitation by site", "cocitation", {"unit": "site", **PLAIN}),
    Setting("proximity by distance alone", "proximity", {"block_weight": 0.0, **PLAIN}, "0.128 / 0.094"),
    Setting("proximity", "proximity", PLAIN),
    Setting("proximity, in-degree^0.2", "proximity", {"popularity": 0.2, **PLAIN}, "(0.177 / 0.137)"),
    Setting("proximity, defaults", "proximity", {}),
    Setting("companion by host", "companion", {"unit": "host", "rounds": 30, **BACK}, "0.063 / 0.037"),
    Setting("companion by site", "companion", {"rounds": 30, **BACK}, "0.123 / 0.091"),
    Setting("companion, defaults", "companion", {}),
    Setting("kleinberg, defaults", "kleinberg", {}),
    Setting("extended cocitation by host", "extended_cocitation", {"unit": "host", **BACK}, "0.086 / 0.041"),
    Setting("extended cocitation by site", "extended_cocitation", BACK, "0.109 / 0.069"),
    Setting("extended cocitation, defaults", "extended_cocitation", {}),
    Setting("lli by host", "lli", {"unit": "host", **BACK}, "0.086 / 0.041"),
    Setting("lli by site", "lli", BACK, "0.105 / 0.068"),
    Setting("lli, defaults", "lli", {}),
]

web: Web
slow_web: naive.NaiveWeb
FIRST = 20
"""Results to return: the judge uses ten, and may merge two of them."""


def answers(setting: Setting, page: int) -> list[int]:
    """The first pages that a method returns."""
    scores = method(setting.method, setting.parameters).relate(web, [page])
    return [answer for answer, _ in islice(scores.ranked(web.graph.in_degree), FIRST)]


def slow_answers(setting: Setting, page: int) -> list[int]:
    """The first pages that the slow version returns."""
    return [answer for answer, _ in getattr(naive, setting.method)(slow_web, [page], **setting.parameters)[:FIRST]]


def judged(judge: Path, judgements: Path, rows: Iterator[str]) -> str:
    """P@10 / MAP@10 of a run."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as run:
        run.writelines(rows)
        run.flush()
        command = [sys.executable, str(judge), str(judgements), run.name]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"P@10 ([\d.]+)  MAP@10 ([\d.]+)", printed)
    assert found, printed
    return f"{found[1]} / {found[2]}"


def main() -> None:
    """Run the chosen settings and print the table."""
    global web, slow_web
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--judgements", type=Path, required=True)
    parser.add_argument("--judge", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=0, help="number of queries, evenly spaced; 0 is all")
    parser.add_argument("--only", default="", help="settings whose name begins so")
    parser.add_argument("--slow", action="store_true", help="also run the slow versions")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    web = Web(options.store)
    graph = web.graph
    ways = [answers]
    if options.slow:
        slow_web = naive.NaiveWeb.from_graph(graph)
        ways.append(slow_answers)
    with gzip.open(options.judgements, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t") for line in lines]
    queries = list(dict.fromkeys(query for query, _ in pairs))
    if options.queries:
        queries = [queries[i * len(queries) // options.queries] for i in range(options.queries)]
    chosen = set(queries)
    pages = {query: page for query in queries if (page := graph.get(query)) is not None}
    rows = []
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as kept, get_context("fork").Pool(options.processes) as pool:
        kept.writelines(f"{query}\t{relevant}\n" for query, relevant in pairs if query in chosen)
        kept.flush()
        for setting in SETTINGS:
            if setting.name.startswith(options.only):
                scored = []
                for way in ways:
                    began = time.perf_counter()
                    results = pool.map(partial(way, setting), pages.values(), chunksize=8)
                    took = (time.perf_counter() - began) * options.processes / len(pages)
                    run = (
                        f"{query}\t{place}\t{graph.address(page)}\n"
                        for query, found in zip(pages, results, strict=True)
                        for place, page in enumerate(found, 1)
                    )
                    scored += [judged(options.judge, Path(kept.name), run), f"{took * 1000:.1f}"]
                rows.append((setting.name, setting.known, *scored))
                print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    header = ("method", "known", "P@10 / MAP@10", "ms a query", "slow reading", "ms a query")[: 2 + 2 * len(ways)]
    show(f"{len(queries)} queries, {len(pages)} of them in the store", header, rows)


if __name__ == "__main__":
    main()
