"""What a store with history takes, and how long a date in the past takes to open.

    python bench/history.py                                    # 1 M links, ten captures a page, some churn rates
    python bench/history.py --pages 250000 --churn 0.03

A generated web (bench/generate.py) is captured ten times. From one capture to the next a share of each page's links is
replaced by links of neighbouring pages. Captures are of ten crawls a year apart, each of which takes two weeks. Bits
are those of all files of the store, without texts; "more" is what the store takes beyond one of the newest captures.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.store import Graph
from cocite.operations.pages.related import Related
from cocite.sources.records import ReadReport
from cocite.web import Web
from generate import BATCH, strings, world_of
from tables import show
from web_addresses import addresses
from web_model import crawled, links, positions

CAPTURES, CRAWL_DAYS, FIRST_YEAR = 10, 14, 2010


def captures(pages: int, churn: float, only_newest: bool = False, seed: int = 1) -> Iterator[pa.RecordBatch]:
    """All captures of a generated web, oldest first by batch of pages."""
    world, draw = world_of(pages, seed), np.random.default_rng(seed)
    for begin in range(0, positions(world), BATCH):
        own, places, ends = crawled(world, begin, min(begin + BATCH, positions(world)))
        targets, blocks = links(world, own, places, ends)
        urls, targets = strings(*addresses(world, own)), targets.copy()
        for number in range(CAPTURES):
            if number:
                changed = np.flatnonzero(draw.random(len(targets)) < churn)
                near = np.clip(changed + draw.integers(-2000, 2000, len(changed)), 0, len(targets) - 1)
                targets[changed] = targets[near]
            if only_newest and number < CAPTURES - 1:
                continue
            crawl = date(FIRST_YEAR + number, 3, 1)
            days = [(crawl + timedelta(days=int(day))).isoformat() for day in range(CRAWL_DAYS)]
            dated = pa.array(days).take(pa.array(draw.integers(0, CRAWL_DAYS, len(own))))
            link = pa.StructArray.from_arrays([strings(*addresses(world, targets)), pa.array(blocks)], ["url", "block"])
            listed = pa.ListArray.from_arrays(pa.array(ends), link)
            yield pa.RecordBatch.from_pydict({"url": urls, "links": listed, "captured": dated})


def made(folder: Path, name: str, pages: int, churn: float, **options: Any) -> tuple[Path, float]:
    """A store, and the processor time of building it."""
    only_newest, path, began = not options.get("history"), folder / name, time.process_time()
    source: Any = SimpleNamespace(spec=name, kind="bench", records=lambda: captures(pages, churn, only_newest))
    build([source], path, ReadReport(), BuildOptions(text=False, anchors=False, threads=2, **options))
    return path, time.process_time() - began


def size(path: Path, *beginnings: str) -> int:
    """Bytes of the files of a store's generation whose names begin so."""
    return sum(file.stat().st_size for file in path.glob("g*/*.bin") if file.name.startswith(beginnings or ("",)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--churn", type=float, nargs="*", default=[0.01, 0.03, 0.05])
    given = parser.parse_args()
    sizes, times = list[list[str]](), list[list[str]]()
    for churn in given.churn:
        with tempfile.TemporaryDirectory() as folder:
            newest, plain_seconds = made(Path(folder), "newest.cocite", given.pages, churn)
            whole, seconds = made(Path(folder), "history.cocite", given.pages, churn, history=True)
            graph = Graph(whole)
            about = graph.manifest["history"]
            distinct, ever = about["links"], size(whole) - size(newest)
            names, lists = size(whole, "history.name", "history.shown", "history.extra"), size(whole, "history.")
            sizes.append([
                f"{churn:.0%}", f"{len(graph.links):,}", f"{distinct:,}", f"{about['captures']:,}",
                f"{size(newest) * 8 / len(graph.links):.1f}", f"{ever * 8 / len(graph.links):.2f}",
                f"{ever * 8 / distinct:.2f}", f"{(lists - names) * 8 / distinct:.2f}",
                f"{(CAPTURES - 1) * size(newest) * 8 / len(graph.links):.0f}", "32.00",
            ])  # fmt: skip
            web = Web(whole)
            url = graph.address(int(np.argmax(graph.in_degree[:])))
            clock, began = time.perf_counter(), time.process_time()
            past = web.as_of(f"{FIRST_YEAR + CAPTURES // 2}")
            opened, used = time.perf_counter() - clock, time.process_time() - began
            asked = Related(urls=(url,), method="cocitation", as_of=f"{FIRST_YEAR + CAPTURES // 2}")
            for each in (asked, Related(urls=(url,), method="cocitation")):  # loads what both need
                each.run(each.web_asked(web))
            spans = []
            for each in (asked, Related(urls=(url,), method="cocitation")):
                clock = time.perf_counter()
                for _ in range(20):
                    each.run(each.web_asked(web))
                spans.append((time.perf_counter() - clock) * 50)
            times.append([
                f"{churn:.0%}", f"{seconds:.1f} s", f"{plain_seconds:.1f} s", f"{opened:.1f} s", f"{used:.1f} s",
                f"{len(past.graph.links):,}", f"{spans[0]:.2f} ms", f"{spans[1]:.2f} ms",
            ])  # fmt: skip
    show(
        f"{given.pages:,} pages, {CAPTURES} captures each: bits a link",
        ["replaced a capture", "links", "links ever", "captures", "newest only", "more, by link", "more, by link ever",
         "of that without names", "ten stores: more", "two 16-bit dates: more"], sizes,
    )  # fmt: skip
    show(
        "Time",
        ["replaced a capture", "build (CPU)", "newest only (CPU)", "open a date", "CPU", "its links",
         "a question then", "a question now"], times,
    )  # fmt: skip


if __name__ == "__main__":
    main()
