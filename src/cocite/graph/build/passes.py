"""Page records → a store. Each pass is a file; this one says in which order.

spill        addresses become fingerprints, new names go to files               spill.py
number       names are sorted; a page's place in that order is its number       number.py
resolve      fingerprints become numbers; newest captures win; aliases          resolve.py
forget       pages that nothing mentions any more are dropped                   forget.py
sort_links   both directions, sorted in buckets and encoded                     sort_links.py
derive       long lists, best and sampled parents, near-duplicates              derive.py
gather_texts titles, headings, anchors, text, in page order                     gather_texts.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadSource, BadStore
from cocite.graph.build.derive import derive
from cocite.graph.build.describe import describe, describe_source
from cocite.graph.build.forget import mentioned
from cocite.graph.build.gather_texts import gather_texts
from cocite.graph.build.number import keep_pages, number_pages, opaque_names, write_look_up
from cocite.graph.build.ordered import in_order
from cocite.graph.build.resolve import Resolved
from cocite.graph.build.sort_links import LinkSorter
from cocite.graph.build.spill import Spill
from cocite.graph.generation import Progress, Writer, new_generation, no_progress, publish, read_current
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
    """What a build made."""

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
    none = np.zeros(0, np.uint64)  # not []: floating-point numbers, which cannot tell fingerprints apart
    removed = np.unique(np.concatenate([none if old is None else old.removed, none if remove is None else remove]))
    sites = Sites(options.platforms)
    passes: dict[str, float] = {}
    clock = Clock(passes)
    with new_generation(path) as (work, new), ThreadPoolExecutor(options.threads) as pool:
        writer = Writer(new)
        try:
            if old is not None and read_current(path)[1]["id"] != old.manifest["id"]:
                raise BadStore(f"{path} was changed meanwhile by another command: run this one again")
            spill = Spill(
                work,
                report,
                text=options.text,
                anchors=options.anchors,
                removed=removed,
                memory=options.memory >> 4,
                same_site=lambda a, b: sites.domain(sites.host(canonical(a))) == sites.domain(sites.host(canonical(b))),
            )
            described = read_sources(sources, spill, old, pool, options, progress)
            spill.names.finish()
            clock.lap("read")
            naming = counted(progress, "numbering pages")
            pages = number_pages(work, writer, sites, options.memory // 2, options.threads, pool, naming)
            if not pages:
                raise nothing_left(path, report, old)
            clock.lap("number")
            resolved = Resolved(spill, pages, pool, options.threads)
            resolved.number(
                writer.map("fingerprint"), options.memory // 2, counted(progress, "resolving links", spill.links)
            )
            resolved.choose_records(undated=0 if old is None else NEWEST)
            kept = mentioned(resolved)
            if kept is not None:
                if not kept.any():
                    raise nothing_left(path, report, old)
                if not kept.all():
                    keep_pages(writer, sites, pool, kept)
                    resolved.keep_only(kept)
                resolved.measure_again()
            write_look_up(writer, report)
            resolved.write_records(writer)
            clock.lap("resolve")
            sorter = LinkSorter(resolved, writer, options.memory // 2)
            links = sorter.sort(lambda stage, done: progress(stage, done, spill.links))
            clock.lap("sort")
            pages = resolved.pages
            derive(writer, pages, options.threads, pool, progress)
            clock.lap("derive")
            gather_texts(resolved, writer, options.memory // 4, progress)
            clock.lap("texts")
            writer.append("removed", removed)
            writer.close()
            manifest = describe(writer, pages, links, opaque_names(writer), described, report, options, sites)
            folder = publish(path, new, manifest)
            clock.lap("finish")
        except BaseException:
            writer.abandon()
            raise
    size = sum(file.stat().st_size for file in folder.iterdir())
    took = time.perf_counter() - started
    read = links + sum(sorter.left_out.values())
    return Built(path, pages, links, size, took, report, read, sorter.left_out, passes)


class Clock:
    """Seconds of each pass."""

    def __init__(self, passes: dict[str, float]) -> None:
        self._passes = passes
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Note the time since the last lap."""
        now = time.perf_counter()
        self._passes[name] = now - self._last
        self._last = now


def read_sources(
    sources: Iterable[Source],
    spill: Spill,
    old: Any,
    pool: ThreadPoolExecutor,
    options: BuildOptions,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Spill every record of every source; returns what is to be said of the sources."""
    described: list[dict[str, Any]] = list(old.manifest["sources"]) if old is not None else []
    if old is not None:
        from cocite.graph.build.reread import reread

        reread(old, spill, progress)

    def numbered() -> Iterator[tuple[int, pa.RecordBatch]]:
        for source in sources:
            entry = describe_source(source.spec, source.kind, options.said)
            described.append(entry)
            for batch in source.records():
                if not len(batch):
                    continue
                links = count_links(batch)
                entry["records"] += len(batch)
                entry["links"] += links
                progress("reading", links, None)
                yield spill.reserve(links, len(batch)), batch

    for _ in in_order(lambda item: spill.add(*item), numbered(), pool, options.threads):
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
    """The reasons for which records were left out, for an error message."""
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in report.skipped.most_common(3))
    return f" ({reasons})" if reasons else "; give other sources, or --kind if they were not recognised"


def nothing_left(path: Path, report: ReadReport, old: Any) -> BadSource | BadStore:
    """The error of a store without pages."""
    if old is None:
        return BadSource("the sources hold no page that can be used" + why(report))
    return BadStore(f"no page would be left in {path}: delete the folder instead")
