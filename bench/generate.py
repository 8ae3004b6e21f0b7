"""Write a web-like graph of any size, the same for the same seed, as page records.

    python bench/generate.py -o bench/data/standard                     # the standard graph: 5 M pages, 100 M links
    python bench/generate.py --pages 50000 -o bench/data/small          # the same in small: 2,000 sites, 20 topics
    python bench/generate.py --pages 50000 --edges -o bench/data/edges  # from<TAB>to, for programs that want numbers

bench/README.md describes the graph; web_model.py draws the links, web_addresses.py the addresses.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Lock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from web_addresses import addresses, titles
from web_model import RUN, Array, World, crawled, links, make_world, positions

PAGES = 5_000_000
PAGES_PER_SITE, PAGES_PER_TOPIC = 25, 2_500
MOST_PAGES = 1 << 30
BATCH = RUN * 1_250  # pages; also a row group: some 400,000 links, 25 MB of addresses
PART = BATCH * 10


def world_of(pages: int, seed: int, sites: int | None = None, topics: int | None = None) -> World:
    """The sites and topics of a graph; their numbers follow from the number of pages unless given."""
    sites = max(1, pages // PAGES_PER_SITE) if sites is None else sites
    topics = min(sites, max(1, pages // PAGES_PER_TOPIC)) if topics is None else topics
    if not (1 <= topics <= sites <= pages <= MOST_PAGES and 0 <= seed < 1 << 64):
        raise ValueError(f"need 1 ≤ topics ≤ sites ≤ pages ≤ {MOST_PAGES:,} and a seed from 0 to 2^64 - 1")
    return make_world(pages, sites, topics, seed)


def generate(
    pages: int = PAGES, seed: int = 1, sites: int | None = None, topics: int | None = None, anchors: bool = False
) -> Iterator[pa.RecordBatch]:
    """Page records in the order of the crawl, in batches of at most `BATCH` pages."""
    world = world_of(pages, seed, sites, topics)
    return records(world, 0, positions(world), anchors)


def records(world: World, first: int, last: int, anchors: bool = False) -> Iterator[pa.RecordBatch]:
    """The page records at positions first … last - 1 of the crawl's order."""
    for begin in range(first, last, BATCH):
        pages, places, ends = crawled(world, begin, min(begin + BATCH, last))
        targets, blocks = links(world, pages, places, ends)
        page = {"url": strings(*addresses(world, pages))}
        link = {"url": strings(*addresses(world, targets))}
        if anchors:
            page["title"] = strings(*titles(world, pages, np.empty(0, np.int64)))
            link["text"] = strings(*titles(world, targets, np.repeat(pages, np.diff(ends))))
        link["block"] = pa.array(blocks)
        link_array = pa.StructArray.from_arrays(list(link.values()), names=list(link))
        page["links"] = pa.ListArray.from_arrays(pa.array(ends), link_array)
        yield pa.RecordBatch.from_pydict(page)


def edges(world: World, first: int, last: int) -> Iterator[pa.RecordBatch]:
    """The links of `records` as pairs of page numbers: site by site, within a site in the order of writing."""
    for begin in range(first, last, BATCH):
        pages, places, ends = crawled(world, begin, min(begin + BATCH, last))
        targets, _ = links(world, pages, places, ends)
        yield pa.RecordBatch.from_pydict({"from": np.repeat(pages, np.diff(ends)), "to": targets})


def strings(text: Array, ends: Array) -> pa.StringArray:
    """Bytes and offsets as an Arrow column, without a copy."""
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(text))


def write_parquet(path: Path, batches: pa.RecordBatchReader) -> None:
    """A row group for each batch."""
    with pa.parquet.ParquetWriter(path, batches.schema, compression="zstd", compression_level=1) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_jsonl(path: Path, batches: pa.RecordBatchReader) -> None:
    """A line for each page, by DuckDB: no Python for each link."""
    quoted = str(path).replace("'", "''")
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("records", batches)
        database.execute(f"COPY (FROM records) TO '{quoted}' (FORMAT json)")


def write_edges(path: Path, batches: pa.RecordBatchReader) -> None:
    """A line for each link: from<TAB>to."""
    options = pa.csv.WriteOptions(include_header=False, delimiter="\t")
    with pa.csv.CSVWriter(path, batches.schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


WRITERS: dict[str, Callable[[Path, pa.RecordBatchReader], None]] = {
    "parquet": write_parquet,
    "jsonl": write_jsonl,
    "tsv": write_edges,
}


@dataclass
class Tally:
    """Counts of everything that all threads have written so far."""

    links: int = 0
    address_bytes: int = 0
    link_bytes: int = 0
    lock: Lock = field(default_factory=Lock)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch of page records or of edges."""
        with self.lock:
            if "url" in batch.schema.names:
                link = batch.column("links").values
                self.links += len(link)
                self.address_bytes += batch.column("url").buffers()[2].size
                self.link_bytes += link.field("url").buffers()[2].size
            else:
                self.links += batch.num_rows


def write(world: World, folder: Path, suffix: str = "parquet", anchors: bool = False, threads: int = 1) -> Tally:
    """All part files of a graph, one to a thread at a time, with a progress bar; a failure leaves no folder behind."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    tally, total = Tally(), positions(world)
    columns = BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar, ThreadPoolExecutor(threads) as pool:
        task = bar.add_task("pages", total=total)

        def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield batch
                tally.add(batch)
                bar.advance(task, BATCH)

        def write_part(number: int) -> None:
            first, last = number * PART, min((number + 1) * PART, total)
            batches = counted(edges(world, first, last) if suffix == "tsv" else records(world, first, last, anchors))
            opening = next(batches)
            stream = pa.RecordBatchReader.from_batches(opening.schema, chain([opening], batches))
            WRITERS[suffix](partial / f"part-{number:05}.{suffix}", stream)

        try:
            for _ in pool.map(write_part, range(-(-total // PART))):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            shutil.rmtree(partial, ignore_errors=True)
            raise
    partial.rename(folder)
    return tally


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a web-like graph, the same for the same seed, as page records.")
    parser.add_argument("--pages", type=int, default=PAGES, help="default: 5,000,000, which gives 100 M links")
    parser.add_argument("--sites", type=int, help=f"default: a site for {PAGES_PER_SITE} pages")
    parser.add_argument("--topics", type=int, help=f"default: a topic for {PAGES_PER_TOPIC:,} pages")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--anchors", action="store_true", help="titles of pages and texts of links, too")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["parquet", "jsonl"], default="parquet", help="of the page records")
    form.add_argument(
        "--edges", action="store_true", help="pairs of page numbers, from<TAB>to, instead of page records"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: one for each core")
    parser.add_argument("--force", action="store_true", help="replace the part files that FOLDER holds")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    return parser


def main() -> None:
    """Write the graph that the command line describes, and print its size."""
    parser = arguments()
    chosen = parser.parse_args()
    folder: Path = chosen.output
    begin = time.perf_counter()
    try:
        world = world_of(chosen.pages, chosen.seed, chosen.sites, chosen.topics)
        if folder.exists():
            clear(folder, chosen.force)
        suffix = "tsv" if chosen.edges else chosen.format
        tally = write(world, folder, suffix, chosen.anchors, max(1, chosen.threads))
    except (ValueError, OSError, duckdb.Error) as error:
        parser.error(str(error))
    size = sum(path.stat().st_size for path in folder.iterdir())
    length = ""
    if tally.address_bytes:
        page, link = tally.address_bytes / world.pages, tally.link_bytes / max(1, tally.links)
        length = f"{page:.1f} characters an address ({link:.1f} in links), "
    seconds = time.perf_counter() - begin
    print(f"{world.pages:,} pages, {tally.links:,} links, {length}{seconds:.1f} s, {size:,} bytes")


def clear(folder: Path, force: bool) -> None:
    """Remove an older graph; refuse a folder that has anything but part files."""
    held = list(folder.iterdir())
    if held and not force:
        raise ValueError(f"{folder} is not empty: choose another folder, or replace its part files with --force")
    if not all(path.name.startswith("part-") for path in held):
        raise ValueError(f"{folder} holds more than part files: choose another folder")
    for path in held:
        path.unlink()
    folder.rmdir()


if __name__ == "__main__":
    main()
