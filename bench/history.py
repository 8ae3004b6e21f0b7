"""What a store with history takes, and how long a date in the past takes to open.

    python bench/history.py                                    # 1 M links, ten captures a page, some churn rates
    python bench/history.py --pages 250000 --churn 0.03

A generated web (bench/generate.py) is captured ten times. From one capture to the next a share of each page's links is
replaced by links of neighbouring pages. Captures are of ten crawls a year apart, each of which takes two weeks. Bits
are those of all files of the store, without texts; "more" is what the store takes beyond one of the newest captures.

With `--uneven`, the same share of links is replaced, but not evenly, as on real sites: half of the pages never change,
and others have rates of their own; four links of each page are the frame of its site, to pages of the site, and change
on all of its pages at once; and a site is captured within two days of a crawl.
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

CAPTURES, CRAWL_DAYS, FIRST_YEAR, FRAME = 10, 14, 2010, 4


def captures(
    pages: int, churn: float, only_newest: bool = False, uneven: bool = False, seed: int = 1
) -> Iterator[pa.RecordBatch]:
    """All captures of a generated web, oldest first by batch of pages."""
    world, draw = world_of(pages, seed), np.random.default_rng(seed)
    if uneven:
        sizes, own_draw = np.diff(world.starts), np.random.default_rng([seed, 1])
        frame = world.starts[:-1, None] + own_draw.integers(0, sizes[:, None], (CAPTURES, len(sizes), FRAME))
        for number in range(1, CAPTURES):
            frame[number] = np.where(own_draw.random(frame[0].shape) < churn, frame[number], frame[number - 1])
        first_days = own_draw.integers(0, CRAWL_DAYS - 1, (CAPTURES, len(sizes)))
    for begin in range(0, positions(world), BATCH):
        own, places, ends = crawled(world, begin, min(begin + BATCH, positions(world)))
        targets, blocks = links(world, own, places, ends)
        urls, targets = strings(*addresses(world, own)), targets.copy()
        rates, site = np.full(len(targets), churn), np.searchsorted(world.starts, own, side="right") - 1
        if uneven:
            page, place, in_frame = frames(ends)
            rates = (2 * churn * draw.exponential(1, len(own)) * draw.integers(0, 2, len(own)))[page]
            rates[in_frame] = 0
        for number in range(CAPTURES):
            if number:
                changed = np.flatnonzero(draw.random(len(targets)) < rates)
                near = np.clip(changed + draw.integers(-2000, 2000, len(changed)), 0, len(targets) - 1)
                targets[changed] = targets[near]
            if uneven:
                targets[in_frame] = frame[number, site[page[in_frame]], place[in_frame]]
            day = draw.integers(0, CRAWL_DAYS, len(own))
            if only_newest and number < CAPTURES - 1:
                continue
            crawl = date(FIRST_YEAR + number, 3, 1)
            days = [(crawl + timedelta(days=int(day))).isoformat() for day in range(CRAWL_DAYS)]
            if uneven:
                day = first_days[number, site] + day % 2
            dated = pa.array(days).take(pa.array(day))
            link = pa.StructArray.from_arrays([strings(*addresses(world, targets)), pa.array(blocks)], ["url", "block"])
            listed = pa.ListArray.from_arrays(pa.array(ends), link)
            yield pa.RecordBatch.from_pydict({"url": urls, "links": listed, "captured": dated})


def frames(ends: Any) -> tuple[Any, Any, Any]:
    """The page and the place on it of each link, and which links are of a frame: pages of few links have none."""
    sizes = np.diff(ends)
    page = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(ends[-1]) - ends[:-1][page]
    return page, place, (place < FRAME) & (sizes[page] >= 2 * FRAME)


def made(folder: Path, name: str, pages: int, churn: float, uneven: bool = False, **options: Any) -> tuple[Path, float]:
    """A store, and the processor time of building it."""
    only_newest, path, began = not options.get("history"), folder / name, time.process_time()
    source: Any = SimpleNamespace(spec=name, kind="bench", records=lambda: captures(pages, churn, only_newest, uneven))
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
    parser.add_argument("--uneven", action="store_true")
    given = parser.parse_args()
    sizes, times = list[list[str]](), list[list[str]]()
    for churn in given.churn:
        with tempfile.TemporaryDirectory() as folder:
            newest, plain_seconds = made(Path(folder), "newest.cocite", given.pages, churn, given.uneven)
            whole, seconds = made(Path(folder), "history.cocite", given.pages, churn, given.uneven, history=True)
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
