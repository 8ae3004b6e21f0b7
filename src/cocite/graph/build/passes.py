"""Page records → a store. Each pass is a file; this one runs them in order.

spill        addresses become fingerprints, new names are collected            spill.py, spill_names.py
number       names are sorted; a page's place in that order is its number       number.py, number_sites.py
resolve      fingerprints become numbers; newest captures win; aliases;         resolve.py
             pages that nothing refers to any more are dropped
sort_links   both directions, sorted in buckets and encoded                     sort_links.py, write_lists.py
derive       long lists, best and sampled parents, near-duplicates              derive.py
gather_texts titles, headings, anchors, text, in page order                     gather_texts.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadSource, BadStore
from cocite.graph.arrays import IN_MEMORY, Arrays
from cocite.graph.build.derive import derive
from cocite.graph.build.describe import describe, describe_source
from cocite.graph.build.gather_texts import gather_texts
from cocite.graph.build.number import keep_pages, number_pages, opaque_names, write_look_up
from cocite.graph.build.resolve import Resolved
from cocite.graph.build.scratch import MemoryScratch, Scratch
from cocite.graph.build.sort_links import LinkSorter
from cocite.graph.build.spill import Spill
from cocite.graph.build.workers import Workers
from cocite.graph.generation import MemoryWriter, Progress, Writer, new_generation, no_progress, publish, read_current
from cocite.pages.address import canonical
from cocite.pages.site import Sites
from cocite.sources.records import ReadReport

GIBI = 1 << 30
NEWEST = (1 << 32) - 1
"""When records without a date count as captured, if they are added to a store."""


class Source(Protocol):
    """What a build reads: see sources/open_source.py."""

    @property
    def spec(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def records(self) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How to build."""

    anchors: bool = True  # keep anchor texts and contexts of links
    text: bool = True  # keep the main text of pages
    memory: int = 4 * GIBI  # bytes that a build may use, roughly
    threads: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    platforms: Path | None = None  # the user's own table of platforms
    said: Mapping[str, str] = field(default_factory=dict)  # other options of these sources: a repair needs them


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of a build."""

    path: Path
    pages: int
    links: int
    bytes: int
    seconds: float
    report: ReadReport
    links_read: int  # with those that the store had before
    left_out: dict[str, int]  # how many of these, by cause: sort_links.CAUSES
    passes: dict[str, float]  # seconds of each


def build(
    sources: Iterable[Source],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    *,
    old: Any = None,
    remove: NDArray[np.uint64] | None = None,
) -> Built:
    """Read sources into a store at `path`. With `old`, a Graph, its pages go in first.

    `remove` are fingerprints of pages to leave out, now and in later adds.
    """
    options = options or BuildOptions()
    started = time.perf_counter()
    none = np.zeros(0, np.uint64)  # not []: floating-point numbers can't tell fingerprints apart
    removed = np.unique(np.concatenate([none if old is None else old.removed, none if remove is None else remove]))
    with new_generation(path) as (work, new), Workers(options.threads) as workers:
        writer = Writer(new)
        try:
            if old is not None and read_current(path)[1]["id"] != old.manifest["id"]:
                raise BadStore(f"{path} was changed meanwhile by another command: run this one again")
            passes = Passes(Scratch(work), writer, workers, report, options, progress)
            manifest = passes.run(sources, old, removed, path)
            folder = publish(path, new, manifest)
            passes.lap("finish")
        except BaseException:
            writer.abandon()
            raise
    size = sum(file.stat().st_size for file in folder.iterdir())
    took = time.perf_counter() - started
    pages, links, left_out = manifest["pages"], manifest["links"], passes.left_out
    return Built(path, pages, links, size, took, report, links + sum(left_out.values()), left_out, passes.seconds)


def build_in_memory(
    batches: Iterable[pa.RecordBatch], report: ReadReport, options: BuildOptions | None = None
) -> Arrays:
    """Page records as the arrays of a store, without a disk: the same bytes as a build on disk gives."""
    options = options or BuildOptions(threads=0)
    writer, source = MemoryWriter(), InMemory(batches)
    with Workers(options.threads) as workers:
        passes = Passes(MemoryScratch(), writer, workers, report, options, no_progress)
        manifest = passes.run([source], None, np.zeros(0, np.uint64), IN_MEMORY)
    return Arrays(writer.all(), manifest)


class InMemory(NamedTuple):
    """Batches of page records as a source."""

    batches: Iterable[pa.RecordBatch]
    spec: str = "memory"
    kind: str = "memory"

    def records(self) -> Iterator[pa.RecordBatch]:
        """The batches."""
        return iter(self.batches)


class Passes:
    """The passes of one build."""

    def __init__(
        self,
        scratch: Scratch,
        writer: Writer,
        workers: Workers,
        report: ReadReport,
        options: BuildOptions,
        progress: Progress,
    ) -> None:
        self.scratch, self.writer, self.workers = scratch, writer, workers
        self.report, self.options, self.progress = report, options, progress
        self.left_out: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Note the seconds since the last pass."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now

    def run(self, sources: Iterable[Source], old: Any, removed: NDArray[np.uint64], path: Path) -> dict[str, Any]:
        """Write all arrays; returns the manifest."""
        writer, workers, report, options = self.writer, self.workers, self.report, self.options
        sites = Sites(options.platforms)
        spill = Spill(
            self.scratch,
            report,
            text=options.text,
            anchors=options.anchors,
            removed=removed,
            memory=min(options.memory >> 4, self.scratch.MAX_TABLE_BYTES),
            same_site=lambda a, b: sites.domain(sites.host(canonical(a))) == sites.domain(sites.host(canonical(b))),
        )
        described = self.read_sources(sources, spill, old)
        spill.names.finish()
        self.lap("read")
        naming = counted(self.progress, "numbering pages")
        pages = number_pages(self.scratch, writer, sites, options.memory // 2, workers, naming)
        if not pages:
            raise nothing_left(path, report, old)
        self.lap("number")
        resolved = Resolved(spill, pages, workers)
        resolving = counted(self.progress, "resolving links", spill.links)
        resolved.number(writer.map("fingerprint"), options.memory // 2, resolving)
        resolved.choose_records(undated=0 if old is None else NEWEST)
        kept = resolved.referenced()
        if kept is not None:
            if not kept.any():
                raise nothing_left(path, report, old)
            if not kept.all():
                keep_pages(writer, sites, workers, kept)
                resolved.keep_only(kept)
            resolved.measure_again()
        write_look_up(writer, report)
        resolved.write_records(writer)
        self.lap("resolve")
        sorter = LinkSorter(resolved, writer, options.memory // 2)
        links = sorter.sort(lambda stage, done: self.progress(stage, done, spill.links))
        self.left_out = sorter.left_out
        self.lap("sort")
        derive(writer, workers, self.progress)
        self.lap("derive")
        gather_texts(resolved, writer, options.memory // 4, self.progress)
        self.lap("texts")
        writer.append("removed", removed)
        writer.close()
        return describe(writer, resolved.pages, links, opaque_names(writer), described, report, options, sites)

    def read_sources(self, sources: Iterable[Source], spill: Spill, old: Any) -> list[dict[str, Any]]:
        """Spill every record of every source; returns the sources as the manifest describes them."""
        described: list[dict[str, Any]] = list(old.manifest["sources"]) if old is not None else []
        if old is not None:
            from cocite.graph.build.reread import reread

            reread(old, spill, self.progress)

        def numbered() -> Iterator[tuple[int, pa.RecordBatch]]:
            for source in sources:
                entry = describe_source(source.spec, source.kind, self.options.said)
                described.append(entry)
                for batch in source.records():
                    if not len(batch):
                        continue
                    links = count_links(batch)
                    entry["records"] += len(batch)
                    entry["links"] += links
                    self.progress("reading", links, None)
                    yield spill.reserve(links, len(batch)), batch

        for _ in self.workers.in_order(lambda item: spill.add(*item), numbered()):
            pass
        return described


def count_links(batch: pa.RecordBatch) -> int:
    """How many links a batch has."""
    index = batch.schema.get_field_index("links")
    if index < 0 or pa.types.is_null(batch.column(index).type):
        return 0
    return len(batch.column(index).flatten())


def counted(progress: Progress, stage: str, total: int | None = None) -> Callable[[int], None]:
    """A progress call with its stage filled in."""
    return lambda done: progress(stage, done, total)


def why(report: ReadReport) -> str:
    """Why records were skipped, for an error message."""
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in report.skipped.most_common(3))
    return f" ({reasons})" if reasons else "; give other sources, or --kind if they were not recognised"


def nothing_left(path: Path, report: ReadReport, old: Any) -> BadSource | BadStore:
    """The error of a store without pages."""
    if old is None:
        return BadSource("Nothing to index: no usable page in the sources" + why(report))
    return BadStore(f"no page would be left in {path}: delete the folder instead")
