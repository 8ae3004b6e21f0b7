"""What a commit costs, and what layers cost a question, by the size of the store.

    python bench/layers.py                                        # 1 M and 10 M links
    python bench/layers.py --pages 50000 500000 5000000           # and 100 M
    python bench/layers.py --store bench/data/standard.cocite     # a copy of it gets its lists again, at new addresses
    python bench/layers.py --words shared/data/awesome/pages.jsonl.gz   # lists with words, by the command `add`

For each size, the standard graph (generate.py) is built without its last 21,000 pages. A copy gets single pages, and
the store 20 layers of 1,000 pages. Commits are timed until the store is open again with them. Questions are asked in
turns on the store with its 20 layers and on a compacted copy, which has the same pages; times are processor time.

With --words, the store is built from page records with texts, and gets made-up lists of 20 links, taken from its own
links: one at a time, and 1,000 at a time. Everything that `cocite add` does is timed, but for loading the program.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns, rmtree
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from cocite.graph.build import merge_layers
from cocite.graph.build.maintain import commit, compact
from cocite.graph.build.passes import build
from cocite.graph.generation import no_progress
from cocite.graph.store import Graph
from cocite.operations.store.build import Add, Build, Compact
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from generate import records, world_of
from web_model import positions

COMMITS, PAGES = 20, 1000
METHODS = (
    "cocitation", "extended_cocitation", "companion", "kleinberg", "lli", "proximity", "whats_related", "auto(words=0)",
)  # fmt: skip
QUESTIONS = 200


def source(batches: Callable[[], Iterator[pa.RecordBatch]]) -> Any:
    """A source of page records."""
    return SimpleNamespace(spec="standard", kind="records", records=batches)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """(processor time, time by the clock) of some work."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - clock


def median_ms(web: Web, call: str, pages: list[int]) -> float:
    """The median of the questions."""
    how, took = method(call), []
    for page in pages:
        began = time.process_time_ns()
        how.relate(web, [page])
        took.append(time.process_time_ns() - began)
    return statistics.median(took) / 1e6


def measure(pages: int, folder: Path) -> None:
    """Build the standard graph without its last pages, then add them."""
    world = world_of(pages, 1)
    last = positions(world)
    first = last - COMMITS * PAGES - 1000
    store = folder / f"layers-{pages}.cocite"
    rmtree(store, ignore_errors=True)
    build([source(lambda: records(world, 0, first))], store, ReadReport())
    commits(store, lambda start, stop: records(world, first + start, first + stop))
    rmtree(store)


def measure_store(given: Path, folder: Path) -> None:
    """Add the last pages of a standard graph to a copy of it once more, at new addresses."""
    store = folder / "layers.cocite"
    linked_copy(given, store)
    world = world_of(len(Graph(store)), 1)
    first = positions(world) - COMMITS * PAGES - 1000

    def batches(start: int, stop: int) -> Iterator[pa.RecordBatch]:
        for batch in records(world, first + start, first + stop):
            urls = [f"https://list{(start + at) // 10}.example/{start + at}" for at in range(batch.num_rows)]
            yield batch.set_column(batch.schema.get_field_index("url"), "url", pa.array(urls))

    commits(store, batches)
    rmtree(store)


def commits(store: Path, batches: Callable[[int, int], Iterator[pa.RecordBatch]]) -> None:
    """Commit to a store, and ask. `batches` gives some of COMMITS * PAGES + 1,000 pages."""
    merge_layers.MAX_LAYERS = COMMITS  # a store merges the ninth with those before it
    before = Graph(store)
    print(f"{len(before):,} pages, {len(before.links):,} links")

    def add(path: Path, start: int, stop: int) -> None:
        commit([source(lambda: batches(start, stop))], path, ReadReport())
        graph = Graph(path)
        graph.links_from(graph.pages - 1)
        graph.links_to(0)

    end, copy = COMMITS * PAGES + 1000, store.with_suffix(".copy")
    linked_copy(store, copy)
    add(copy, end - 1, end)  # loads everything
    singles = [seconds(partial(add, copy, at, at + 1)) for at in range(end - 12, end - 1)]
    took = [seconds(partial(add, store, at, at + PAGES)) for at in range(0, COMMITS * PAGES, PAGES)]
    linked_copy(store, copy)
    more = [seconds(partial(add, copy, at, at + 1)) for at in range(end - 12, end - 1)]
    layered = f"one page, with {COMMITS} layers"
    for name, some in (("one page", singles), (f"{PAGES:,} pages", took), (layered, more)):
        cpu, clock = (statistics.median(each[i] for each in some) for i in (0, 1))
        print(f"  {name}: {1e3 * cpu:,.0f} ms of processor time, {1e3 * clock:,.0f} ms (slowest {max(some)[0]:.2f} s)")
    after = Graph(store)
    size = sum(file.stat().st_size for file in store.glob("*.layer"))
    print(f"  {after.manifest['layers']} layers, {size / 1e6:,.1f} MB, {after.arrays.new:,} new pages")
    print(f"  opening: {1e3 * seconds(lambda: Graph(store).links_to(0))[0]:,.0f} ms")
    linked_copy(store, copy)
    print(f"  compaction: {seconds(lambda: compact(copy))[1]:,.1f} s")
    whole = Graph(copy)
    step = max(1, whole.pages // (2 * QUESTIONS))
    asked = [page for page in range(0, whole.pages, step) if whole.in_degree[page] > 1][:QUESTIONS]
    same = [after.find(whole.address(page)) for page in asked]
    compare(Web(whole), Web(after), asked, same, METHODS)
    rmtree(copy)


def linked_copy(store: Path, copy: Path) -> None:
    """Make a copy of a store that shares its files, which never change."""
    rmtree(copy, ignore_errors=True)
    copytree(store, copy, copy_function=os.link, ignore=ignore_patterns("lock", "CURRENT"))
    copyfile(store / "CURRENT", copy / "CURRENT")


def compare(plain: Web, layered: Web, asked: list[int], same: list[int], calls: Sequence[str]) -> None:
    """Ask the same questions in turns on a store without layers and on one with them."""
    for call in calls:
        median_ms(plain, call, asked[:20])
        median_ms(layered, call, same[:20])
        rounds = [(median_ms(plain, call, asked), median_ms(layered, call, same)) for _ in range(5)]
        one, other = (min(each[i] for each in rounds) for i in (0, 1))
        print(f"  {call}: {one:.3f} ms without layers, {other:.3f} ms with them: {other / one:.2f} ×")


def measure_words(records: Path, folder: Path) -> None:
    """Add made-up lists to a store with words."""
    store, drawn = folder / "words.cocite", random.Random(1)
    rmtree(store, ignore_errors=True)
    Build(sources=(str(records),), output=str(store), quiet=True).do(no_progress)
    with gzip.open(records) as lines:
        links = [link for line in lines for link in json.loads(line).get("links", ()) if isinstance(link, dict)]
    gc.freeze()  # what the benchmark itself has in memory isn't looked at again
    print(f"{len(Graph(store)):,} pages with words, {len(Graph(store).links):,} links")

    def add(name: str, count: int) -> tuple[float, float]:
        file = folder / "more.jsonl"
        with file.open("w") as out:
            for number in range(count):
                some = [{**link, "block": at // 10} for at, link in enumerate(drawn.sample(links, 20))]
                page = {"url": f"https://{name}{number}.example/", "title": f"List {number}", "links": some}
                print(json.dumps(page | {"headings": ["First", "Second"]}), file=out)
        return seconds(lambda: Add(sources=(str(file),), index=str(store), quiet=True).do(no_progress))

    for _ in range(3):
        add("load", 1)  # loads everything
    for count, turns in ((1, 20), (10, 5), (100, 5), (1000, 3)):
        some = [add(f"new{count}-{turn}-", count) for turn in range(turns)]
        cpu, clock = (statistics.median(each[i] for each in some) for i in (0, 1))
        print(f"  {count:,} page(s): {1e3 * cpu:,.0f} ms of processor time, {1e3 * clock:,.0f} ms by the clock")
    copy = store.with_suffix(".copy")
    linked_copy(store, copy)
    print(f"  compaction: {seconds(lambda: Compact(index=str(copy), quiet=True).do(no_progress))[0]:,.1f} s")
    whole, after = Graph(copy), Graph(store)
    asked = [page for page in range(0, whole.pages, 50) if whole.in_degree[page] > 1][:QUESTIONS]
    same = [after.find(whole.address(page)) for page in asked]
    compare(Web(whole), Web(after), asked, same, ("auto", "auto(words=0,context=0)"))
    gc.unfreeze()
    rmtree(store)
    rmtree(copy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--words", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("bench/data"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.words:
        measure_words(given.words, given.folder)
        return
    if given.store:
        measure_store(given.store, given.folder)
        return
    for pages in given.pages:
        measure(pages, given.folder)


if __name__ == "__main__":
    main()
