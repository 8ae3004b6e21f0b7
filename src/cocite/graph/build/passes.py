"""Page records → a store. This file runs the passes in order. `Built.passes` has their seconds under these names.

read      addresses become tags, new names are collected                    spill.py, names.py, maintain.py
number    names are sorted; a page's place in that order is its number       number.py
resolve   tags become numbers;         newest captures win; aliases;         resolve.py
          pages that nothing refers to any more are dropped
sort      both directions of links, sorted in buckets and encoded            sort_links.py
derive    long lists, best and sampled parents; near-duplicates              derive.py
texts     titles, headings, anchors, text, in page order                     gather_texts.py
captures  with history only: what older captures have                        captures.py
finish    the new generation becomes the current one                         graph/generation.py
"""

import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cocite import __version__
from cocite.errors import BadSource, BadStore, LockedStore
from cocite.graph import generation
from cocite.graph.arrays import Arrays
from cocite.graph.build.captures import CaptureWriter, put_captures
from cocite.graph.build.derive import derive
from cocite.graph.build.gather_texts import gather_texts
from cocite.graph.build.names import NameFiles
from cocite.graph.build.number import TAGS, count_opaque_names, keep_pages, number_pages, write_look_up
from cocite.graph.build.resolve import NumberedSpill
from cocite.graph.build.scratch import ScratchSpace, Workers, affordable_memory
from cocite.graph.build.sort_links import LinkSorter
from cocite.graph.build.spill import LINK_TEXTS, RECORD_TEXTS, Spill
from cocite.graph.changes.history import CaptureHistory
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.generation import MemoryWriter, Progress, Writer, no_progress
from cocite.graph.store import Graph
from cocite.kernels.interpreted import expect
from cocite.pages.site import Sites
from cocite.sources.kinds import count_kinds
from cocite.sources.records import ReadReport

NEWEST_SECOND = (1 << 32) - 1  # when records without a date count as captured, if they are added to a store
MAX_TABLE_BYTES, MEMORY_TABLE_BYTES = 1 << 34, 1 << 16  # of the tables of names that were read, on disk and in memory
MIN_TABLE_BYTES = 1 << 22


class RecordSource(Protocol):
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
    memory: int = 4 << 30  # bytes that a build may use, roughly
    threads: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    platforms: Path | None = None  # the user's own table of platforms
    said: Mapping[str, str] = field(default_factory=dict)  # other options of these sources: a repair needs them
    history: bool = False  # keep all captures, not only the newest of each page


class Past(NamedTuple):
    """Captures that a store keeps, as a source of a build."""

    history: CaptureHistory
    until: int = -1  # index of the day that they are wanted for; negative: all

    @property
    def date(self) -> str:
        """The day of the newest captures that count."""
        return self.history.dates[self.until - 1]


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
    left_out: dict[str, int]  # how many of these, by cause: sort_links.SKIP_CAUSES
    passes: dict[str, float]  # seconds of each
    twins: int = 0  # pages, of a layer its own, with the fingerprint of another: somebody has made their addresses


def build(
    sources: Iterable[RecordSource],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    *,
    old: Graph | None = None,
    remove: RemovedPages | None = None,
    past: Past | None = None,
) -> Built:
    """Read sources into a store at `path`. With `old`, its pages go in first; with `past`, captures of a history.

    `remove` are pages to leave out, now and in later adds.
    """
    options, started = options or BuildOptions(), time.perf_counter()
    removed = (RemovedPages() if old is None else old.removed) + (remove or RemovedPages())
    with generation.new_generation(path) as (work, writer), Workers(options.threads) as workers:
        before = old if past is None or past.until >= 0 else past.history.graph
        if before is not None and generation.read_current(path)[1]["id"] != before.manifest["id"]:
            raise LockedStore(f"{path} was changed meanwhile by another command: run this one again")
        passes = Passes(ScratchSpace(work), writer, workers, report, options, progress, old, removed, past)
        manifest = passes.run(sources)
        folder = generation.publish(path, writer.folder, manifest)
        passes.note_seconds("finish")
    size, took = sum(file.stat().st_size for file in folder.iterdir()), time.perf_counter() - started
    pages, links, left_out = manifest["pages"], manifest["links"], passes.left_out
    read = links + sum(left_out.values())
    return Built(path, pages, links, size, took, report, read, left_out, passes.seconds, passes.twins)


def build_in_memory(
    batches: Iterable[pa.RecordBatch],
    report: ReadReport,
    options: BuildOptions | None = None,
    *,
    past: Past | None = None,
    removed: RemovedPages | None = None,
) -> Arrays:
    """Page records as the arrays of a store, without a disk: the same bytes as a build on disk gives."""
    options, writer = options or BuildOptions(threads=0), MemoryWriter()
    source: Any = SimpleNamespace(spec="memory", kind="memory", records=lambda: iter(batches))
    with Workers(options.threads) as workers:
        passes = Passes(ScratchSpace(), writer, workers, report, options, no_progress, past=past)
        passes.removed = removed or passes.removed
        manifest = passes.run([source])
    return Arrays(writer.all(), manifest)


@dataclass
class Passes:
    """The passes of one build."""

    scratch: ScratchSpace
    writer: Writer
    workers: Workers
    report: ReadReport
    options: BuildOptions
    progress: Progress
    old: Graph | None = None
    removed: RemovedPages = field(default_factory=RemovedPages)
    past: Past | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    twins: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def note_seconds(self, name: str) -> None:
        """Note the seconds since the last pass."""
        now = time.perf_counter()
        self.seconds[name], self._last = now - self._last, now
        logging.getLogger("cocite.build").info("%s took %.3f s", name, self.seconds[name])

    def run(self, sources: Iterable[RecordSource]) -> dict[str, Any]:
        """Write all arrays; returns the manifest."""
        writer, workers, options, progress = self.writer, self.workers, self.options, self.progress
        sites, memory = Sites(options.platforms), max(4, affordable_memory(options.memory))
        sources = list(sources)
        spill = self.new_spill(sites, memory, sum(getattr(source, "size_bytes", 0) for source in sources))
        described = self.read_sources(sources, spill)
        self.note_seconds("read")
        pages = number_pages(self.scratch, writer, sites, memory // 2, workers, progress)
        if not pages:
            raise self._nothing_left()
        self.note_seconds("number")
        numbered = NumberedSpill(spill, pages, workers)
        tags = np.asarray(self.scratch.column(TAGS, np.uint64, mapped=True))
        if twins := numbered.number(tags, memory // 2, progress):
            self.report.skip("address with the same tag as another by chance: build again to have it", "", twins)
        captures = CaptureWriter(numbered, sites, memory // 2) if options.history else None
        if captures is not None:
            captures.read_spellings(tags)
        self.scratch.remove(TAGS)
        numbered.choose_records(undated=0 if self.old is None else NEWEST_SECOND)
        kept = numbered.referenced()
        if captures is not None:
            captures.scatter(progress)
            captures.keep_names(writer, kept)
        if kept is not None and not kept.all():
            if not kept.any():
                raise self._nothing_left()
            keep_pages(writer, sites, workers, kept)
            numbered.keep_only(kept)
        self.twins = write_look_up(writer)
        numbered.write_records(writer)
        self.note_seconds("resolve")
        sorter = LinkSorter(numbered, writer, memory // 2, progress)
        out, into = sorter.sort()
        self.left_out = sorter.left_out
        self.note_seconds("sort")
        writer.append_all(derive(out, into, writer.map("fingerprint"), workers, progress))
        self.note_seconds("derive")
        gather_texts(numbered, writer, memory // 4, progress)
        self.note_seconds("texts")
        writer.append_all(self.removed.arrays().items())
        writer.close()
        history = {}
        if captures is not None:
            history = captures.write(writer, progress)
            writer.close()
            if captures.future:
                self.report.skip("capture date in the future, kept as it is", "", captures.future)
            if captures.undated:
                self.report.read["captures without a date, which count as the oldest"] += captures.undated
            self.note_seconds("captures")
        return self._manifest(numbered.pages, int(out.degree.sum(dtype=np.int64)), described, sites, history)

    def new_spill(self, sites: Sites, memory: int, size: int = 0) -> Spill:
        """An empty spill, for the texts that are wanted; `size` is that of the sources, 0 if it isn't known."""
        table_bytes = min(memory >> 4, MAX_TABLE_BYTES, max(size, MIN_TABLE_BYTES) if size else MAX_TABLE_BYTES)
        table_bytes = MEMORY_TABLE_BYTES if self.scratch.folder is None else table_bytes
        unwanted = {*([] if self.options.text else ["text"]), *([] if self.options.anchors else LINK_TEXTS)}
        names = NameFiles(self.scratch, self.report, table_bytes, self.removed)
        names.dated = self.options.history
        return Spill(self.scratch, names, sites, [name for name in RECORD_TEXTS if name not in unwanted])

    def read_sources(self, sources: Iterable[RecordSource], spill: Spill) -> list[dict[str, Any]]:
        """Spill every record of every source; returns the sources as the manifest describes them."""
        described, read = list[dict[str, Any]](), 0
        if self.old is not None:
            from cocite.graph.build.maintain import reread

            described += self.old.manifest["sources"]
            reread(self.old, spill, self.progress)
        if self.past is not None:
            put_captures(self.past.history, spill, self.progress, self.past.until)
            if self.past.until < 0:
                described += self.past.history.graph.manifest["sources"]
                spill.undated = int(time.time())

        def numbered() -> Iterator[tuple[int, pa.RecordBatch]]:
            nonlocal read
            for source in sources:
                described.append(entry := self._describe(source))
                for batch in filter(len, source.records()):
                    lists = batch.column("links") if "links" in batch.schema.names else pa.nulls(len(batch))
                    links = 0 if pa.types.is_null(lists.type) else len(lists.flatten())
                    entry["records"] += len(batch)
                    entry["links"] += links
                    read += max(links, len(batch))  # an edge list has a record for each link
                    expect(read)
                    self.progress("reading", links, None)
                    yield spill.reserve(links), batch

        for _ in self.workers.in_order(lambda item: spill.add(*item), numbered()):
            pass
        spill.names.finish()
        return generation.merged_sources(described)

    def _describe(self, source: RecordSource) -> dict[str, Any]:
        """A source as the manifest lists it: enough to read it again from another folder, with the same options."""
        path = str(Path(source.spec).absolute()) if Path(source.spec).exists() else source.spec
        entry: dict[str, Any] = {"source": path, "kind": source.kind, "records": 0, "links": 0}
        if self.options.said:
            entry["said"] = dict(self.options.said)
        if source.kind == "folder":
            entry["files"] = count_kinds(Path(path))
        return entry

    def _manifest(
        self, pages: int, links: int, sources: list[dict[str, Any]], sites: Sites, history: dict[str, Any]
    ) -> dict[str, Any]:
        writer, options = self.writer, self.options
        names = count_opaque_names(writer)  # they have no site and no host
        platforms = options.platforms.read_bytes() if options.platforms else b""
        digests = "".join(f"{name}{entry['digest']}" for name, entry in sorted(writer.arrays.items()))
        return {
            "format": generation.FORMAT_NUMBER,
            "id": generation.digest(digests.encode())[:16],
            "built": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": f"cocite {__version__}",
            "pages": pages,
            "links": links,
            "aliases": writer.length("alias.page"),
            "names": names,
            "sites": writer.length("site.page") - names,
            "hosts": writer.length("host.page") - names,
            "sources": sources,
            "options": {"anchors": options.anchors, "text": options.text},
            "public_suffix_list": sites.version(),
            "platforms": generation.digest(platforms) if platforms else "",
            "skipped": dict(self.report.skipped),
            "arrays": writer.arrays,
            **({"history": history} if history else {}),
            **({} if self.past is None or self.past.until < 0 else {"as_of": self.past.date}),
        }

    def _nothing_left(self) -> BadSource | BadStore:
        """The error of a store without pages."""
        if self.old is not None:
            return BadStore(f"no page would be left in {self.old.path}: delete the folder instead")
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self.report.skipped.most_common(3))
        why = f" ({reasons})" if reasons else "; give other sources, or --kind if they were not recognised"
        return BadSource(f"Nothing to index: no usable page in the sources{why}")
