"""Read sources into a store, add more to it, and remove pages from it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import join
from typing import IO, TYPE_CHECKING, Any

from cocite.errors import BadParameter, BadStore, UnknownPage
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.task import Task, check_writable, parse_size
from cocite.parameters import changed, parameter
from cocite.sources.declared import declared_kinds
from cocite.system import replacing
from cocite.text import count

if TYPE_CHECKING:
    from cocite.graph.build.passes import BuildOptions, Built
    from cocite.sources.open_source import Source
    from cocite.sources.records import Page, ReadReport
    from cocite.words.search import SearchIndex

READ_OPTIONS = ("undirected", "see_also", "categories", "mentions")
CRAWL_OPTIONS = ("depth", "max_pages", "delay", "scope", "allow_private")
SENT = "sent to cocite serve"
"""The source of pages that were sent to a server."""
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class WorkOptions(Task):
    """How a store is built or changed."""

    platforms: str = parameter("", "Your own table of platforms: hosts on which every author is a site", metavar="FILE")
    memory: str = parameter("4G", "Approximate memory to use, such as 512M or 4G", metavar="SIZE")
    threads: int = parameter(
        0, "Number of threads (default: one per core, up to 8)", minimum=0, maximum=256,
        on={"cli": {"default": None, "minimum": 1}},
    )  # fmt: skip
    quiet: bool = shared.quiet()
    began: float = field(default_factory=time.monotonic, compare=False)  # when the user began to wait

    def warnings(self, web: Any, result: BuildResult) -> Iterator[str]:
        """Why the search index is missing; addresses made to look like others."""
        yield from filter(None, [result.warning, twins_note(result.built.twins)])

    def validate(self) -> None:
        parse_size(self.memory, "memory")
        check_writable(getattr(self, "see_also", ""))
        if self.platforms and not Path(self.platforms).is_file():
            raise BadParameter(f"platforms {self.platforms} is not a file: check the path")

    def build_options(self, said: dict[str, str], **kept: bool) -> BuildOptions:
        """How to build; `kept` is whether texts of pages and links are kept."""
        from cocite.graph.build.passes import BuildOptions

        own: dict[str, Any] = {"threads": self.threads} if self.threads else {}
        platforms = Path(self.platforms) if self.platforms else None
        return BuildOptions(memory=parse_size(self.memory, "memory"), platforms=platforms, said=said, **kept, **own)

    def carried_out(self, work: Callable[[], Built], options: BuildOptions, progress: Progress) -> BuildResult:
        """Write to a store by `work`, and renew its search index. If that fails, the store is complete all the same."""
        from cocite.kernels import jit
        from cocite.words.search import renew_search

        with jit.watch(lambda kernel: None) as compilation:
            built, index, warning = work(), None, ""
            indexing, compiled = time.monotonic(), compilation.seconds
            try:
                index = renew_search(built.path, options.text, progress, options.memory // 4)
            except KeyboardInterrupt:
                missing = "is complete, but has no search index yet; the first cocite search builds it"
                raise KeyboardInterrupt(f"Interrupted: {built.path} {missing}") from None
            except (BadStore, OSError) as error:
                warning = f"{built.path} is complete, but has no search index: {error}"
            ended = time.monotonic()
        times = {
            "reading and sorting": built.seconds - compiled,
            "indexing words": ended - indexing - (compilation.seconds - compiled),
            "compiling, once": compilation.seconds,
            "starting": indexing - self.began - built.seconds,
        }
        return BuildResult(built, index, warning, {name: max(0.0, value) for name, value in times.items()})


@dataclass(frozen=True, kw_only=True)
class SourceFormat(Task):
    """How sources are read, here and on a cluster."""

    base: str = parameter(
        "", "Base URL for sources without addresses: HTML or Markdown files, bookmarks", metavar="URL"
    )
    kind: str = parameter(
        "", f"Kind of the sources, if not recognised: {', '.join(sorted(declared_kinds()))}", metavar="KIND"
    )
    strict: bool = parameter(False, "Stop at the first record that can't be used")


@dataclass(frozen=True, kw_only=True)
class CrawlOptions(Task):
    """Which pages a crawl fetches, and how fast."""

    depth: int = parameter(2, "Crawling: maximum number of links from the address", minimum=0)
    max_pages: int = parameter(1000, "Crawling: maximum number of pages per address", minimum=1)
    delay: float = parameter(
        0.5, "Crawling: minimum time between two requests to one host", metavar="SECONDS", minimum=0
    )
    scope: str = parameter(
        "site", "Crawling: stay on the site, on the host, or go anywhere", metavar="site|host|any",
        choices=("site", "host", "any"),
    )  # fmt: skip
    allow_private: bool = parameter(False, "Crawling: fetch private and local addresses too")


@dataclass(frozen=True, kw_only=True)
class SourceOptions(WorkOptions, SourceFormat, CrawlOptions):
    """How sources are read into a store."""

    sources: tuple[str, ...] = parameter(
        (), "Files, folders, SQL, - for records from a pipe, or addresses to crawl from", metavar="SOURCE",
        positional=True, required=True,
    )  # fmt: skip
    undirected: bool = parameter(False, "Edge lists: read each link in both directions")
    see_also: str = parameter(
        "", 'MediaWiki dumps: write the links of "See also" sections here, as judgements, not to the store',
        metavar="FILE",
    )  # fmt: skip
    categories: bool = parameter(False, "MediaWiki dumps: read categories as links")
    mentions: bool = parameter(False, "Notes: read names of other notes in a text as weak links")
    anchors: bool | None = parameter(
        None, "Keep the texts of links (add: default as before)", type=bool, flags=("--anchors/--no-anchors",)
    )
    text: bool | None = parameter(
        None, "Keep the texts of pages, and index all words for search (add: default as before)", type=bool,
        flags=("--text/--no-text",),
    )  # fmt: skip

    @property
    def said(self) -> dict[str, str]:
        """The options that change how sources are read, as the command line writes them: a repair needs them."""
        given = {
            name: value
            for name, value in changed(self).items()
            if name in ("base", "kind", *READ_OPTIONS, "history", *CRAWL_OPTIONS)
        }
        given |= {"platforms": Path(self.platforms).absolute()} if self.platforms else {}
        return {name.replace("_", "-"): "" if value is True else str(value) for name, value in given.items()}

    def warnings(self, web: Any, result: BuildResult) -> Iterator[str]:
        """Those of other work; how to go on with an interrupted crawl."""
        from cocite.sources.crawl.start import CRAWL_INTERRUPTED

        yield from super().warnings(web, result)
        if result.built.report.read[CRAWL_INTERRUPTED]:
            given = [part for name, value in self.said.items() for part in (f"--{name}", value) if part]
            crawled = [spec for spec in self.sources if self.kind == "crawl" or _WEB_ADDRESS.match(spec)]
            go_on = join(["cocite", "add", *crawled, "-i", str(result.built.path), "--resume", *given])
            yield f"Interrupted; the pages that were fetched are kept; to go on: {go_on}"

    def read(self, work: Callable[..., Built], store: Path, kept: dict[str, bool], progress: Progress) -> BuildResult:
        """Read the sources into a store by `work`, and renew its search index."""
        from cocite.sources.records import ReadReport

        report, options = ReadReport(self.strict), self.build_options(self.said, **kept)

        def write() -> Built:
            opened = self.open_sources(report, options.text, progress, see_also)
            return work(opened, store, report, options, with_estimates(progress, opened, report))

        with self._judgements() as see_also:
            return self.carried_out(write, options, progress)

    @contextmanager
    def _judgements(self) -> Iterator[IO[str] | None]:
        """The file for links of "See also" sections, which is replaced when the store is complete."""
        if not self.see_also:
            yield None
            return
        with replacing(Path(self.see_also)) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            yield file

    def open_sources(
        self, report: ReadReport, text: bool, progress: Progress, see_also: IO[str] | None
    ) -> list[Source]:
        """Recognise every source before the first one is read, so that a mistyped name fails at once."""
        from cocite.sources.open_source import open_source

        given: dict[str, Any] = {name: getattr(self, name) or None for name in ("base", "kind")}
        given |= {name: getattr(self, name) for name in READ_OPTIONS} | {"text": text, "see_also": see_also}
        found = []
        for spec in self.sources:
            crawled = self.kind == "crawl" or (not self.kind and _WEB_ADDRESS.match(spec))
            found.append(self._crawl(spec, report, text, progress) if crawled else open_source(spec, report, **given))
        return found

    def _crawl(self, spec: str, report: ReadReport, text: bool, progress: Progress) -> Source:
        from cocite.sources.crawl.start import crawl

        options = {"seeds": [spec], **{name: getattr(self, name) for name in CRAWL_OPTIONS}, **self.crawled(spec)}
        pages = crawl(report=report, text=text, **options)
        return crawled_source(spec, pages, report, self.max_pages, progress, text)

    def crawled(self, spec: str) -> dict[str, Any]:
        """What an earlier crawl from an address fetched, as options of this one."""
        return {}


def crawled_source(
    spec: str, pages: Iterable[Page], report: ReadReport, max_pages: int, progress: Progress, text: bool = True
) -> Source:
    """The pages of a crawl as a source, counted while they come."""
    from cocite.sources.open_source import Source

    def counted() -> Iterator[Page]:
        for page in pages:
            progress("crawling pages", 1, max_pages)
            yield page

    return Source(spec, "crawl", 0, report, counted, text)


def with_estimates(progress: Progress, sources: Sequence[Source], report: ReadReport) -> Progress:
    """Progress whose total is estimated by the bytes that have been read, while sources are."""
    total, done = sum(source.size_bytes for source in sources), [0]
    known = total and all(source.size_bytes for source in sources)

    def estimated(stage: str, number: int, all_of_them: int | None) -> None:
        if stage == "reading" and all_of_them is None and known:
            done[0] += number
            part = min(1.0, report.read["bytes"] / total)
            all_of_them = max(done[0], int(done[0] / part)) if part else None
        progress(stage, number, all_of_them)

    return estimated


@dataclass(frozen=True)
class BuildResult:
    """What building or changing a store did."""

    built: Built
    indexed: SearchIndex | None
    warning: str  # why the search index is missing
    times: dict[str, float]  # seconds of everything that the user waited for, by part

    @property
    def compiling(self) -> float:
        """Seconds spent compiling kernels."""
        return self.times.get("compiling, once", 0.0)

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the store."""
        from cocite.graph.generation import read_current

        return read_current(self.built.path)[1]

    def to_dict(self) -> dict[str, Any]:
        built, manifest, index = self.built, self.manifest, self.indexed
        return {
            "store": str(built.path),
            "id": manifest["id"],
            "generation": manifest["generation"],
            "pages": built.pages,
            "links": built.links,
            "links_read": built.links_read,
            "left_out": built.left_out,
            "twins": built.twins,
            "sites": manifest["sites"],
            "seconds": round(built.seconds, 3),
            "links_per_second": round(built.links / max(1e-9, built.seconds), 1),
            "bytes": built.bytes,
            "bytes_per_link": round(built.bytes / max(1, built.links), 3),
            "compiling_seconds": round(self.compiling, 3),
            "times": {name: round(value, 3) for name, value in self.times.items()},
            "passes": {name: round(value, 3) for name, value in built.passes.items()},
            "read": dict(built.report.read),
            "skipped": skipped_json(built.report),
            "search": index and {"pages": index.pages, "bytes": index.bytes, "seconds": round(index.seconds, 3)},
        }


def twins_note(twins: int) -> str:
    """What to say about addresses that share a fingerprint; nothing if none does."""
    what = f"{count(twins, 'address')} with the fingerprint of another page, probably made on purpose"
    return f"{what}: names distinguish pages, so no page is affected" if twins else ""


def skipped_json(report: ReadReport) -> list[dict[str, Any]]:
    """What was skipped, for JSON."""
    return [
        {"reason": reason, "count": number, "example": report.example.get(reason, "")}
        for reason, number in report.skipped.most_common()
    ]


def kept_before(store: str, platforms: str) -> dict[str, bool]:
    """Which texts a store keeps; refuses to lose its table of platforms."""
    from cocite.graph.generation import read_current

    _, manifest = read_current(Path(store))
    if manifest.get("platforms") and not platforms:
        raise BadParameter(f"{store} was built with its own table of platforms: give it again with --platforms FILE")
    return {name: bool(manifest.get("options", {}).get(name, True)) for name in ("anchors", "text")}


@operation(store=False)
class Build(SourceOptions):
    """Read sources into a new store.

    Sources are recognised by their content: page records (JSON Lines, Parquet), edge lists, web archives (WARC, WACZ,
    ARC, WAT, HAR), HTML, Markdown, bookmarks, exports of bookmark managers, OPML, browser histories, MediaWiki dumps,
    references (Zotero, BibTeX), OpenAlex, web graphs, SQL (duckdb:SELECT …). docs/sources.md has them all. An old
    store is replaced when the new one is complete, not before. If a page repeats a link, the first one is kept, with
    the sections of the others. Links from a page to itself are dropped. The summary counts both.

    Examples:
        cocite build crawl.warc.gz -o web.cocite
        cocite build notes/ bookmarks.html --base https://me.example/
        cocite build captures/*.warc.gz --history -o archive.cocite
    """

    output: str = parameter("web.cocite", "The store to build", metavar="STORE", flags=("--output", "-o"))
    history: bool = parameter(
        False, "Keep all captures, not only the newest of each page: for questions as of a date (--as-of)"
    )

    def do(self, progress: Progress) -> BuildResult:
        from cocite.graph.build.passes import build

        kept = {"anchors": self.anchors is not False, "text": self.text is not False, "history": self.history}
        return self.read(build, Path(self.output), kept, progress)


@operation()
class Add(SourceOptions):
    """Read more sources into an existing store.

    A page that the store already has gets the links of its newest capture. The old sources aren't needed. Programs
    that have the store open keep reading what they opened.

    Examples:
        cocite add more.warc.gz -i web.cocite
        cocite add https://example.org/news --depth 1
        cocite add https://example.org/ --resume --max-pages 5000
    """

    resume: bool = parameter(False, "Crawling: go on with an earlier crawl, and fetch only what the store doesn't have")
    sent: bool = field(default=False, compare=False)  # to a server, which compacts the store by itself

    def open_sources(
        self, report: ReadReport, text: bool, progress: Progress, see_also: IO[str] | None
    ) -> list[Source]:
        """As for a build. What was sent to a server is one source: each would cost a part of a millisecond."""
        found = super().open_sources(report, text, progress, see_also)
        if not (self.sent and found):
            return found
        size = sum(source.size_bytes for source in found)
        every = partial(chain.from_iterable, (source.read() for source in found))
        return [replace(found[0], spec=SENT, size_bytes=size, read=every)]

    def crawled(self, spec: str) -> dict[str, Any]:
        from cocite.graph.crawled import crawled_before
        from cocite.graph.store import Graph

        if not self.resume:
            return {}
        limits = {name: getattr(self, name) for name in ("scope", "depth", "max_pages")}
        return crawled_before(Graph(self.index), spec, **limits).options()

    def do(self, progress: Progress) -> BuildResult:
        from cocite.graph.build.maintain import add

        given = {"anchors": self.anchors, "text": self.text}
        before = kept_before(self.index, self.platforms)
        kept = {name: bool(before[name] if value is None else value) for name, value in given.items()}
        return self.read(partial(add, compacts=not self.sent), Path(self.index), kept, progress)


@operation()
class Compact(WorkOptions):
    """Fold the layers of a store into one base.

    Every add and remove writes a layer: a small file with what it changed. Questions read through all of them. After
    many changes a store takes less room, and answers a little faster, when it is compacted. Programs that have the
    store open keep reading what they opened. What is added or removed meanwhile becomes a layer on the new base. cocite
    info shows the layers.

    Examples:
        cocite compact -i web.cocite
    """

    def do(self, progress: Progress) -> BuildResult:
        from cocite.graph.build.maintain import compact
        from cocite.words.search import renew_search

        options = self.build_options({}, **kept_before(self.index, self.platforms))

        def with_words(copy: Path) -> None:
            with suppress(BadStore, OSError):  # it is tried again, and reported, when the store is compacted
                renew_search(copy, options.text, progress, options.memory // 4)

        work = partial(compact, Path(self.index), options, progress, with_words)
        return self.carried_out(work, options, progress)


@operation()
class Remove(WorkOptions):
    """Remove pages from a store, with all links from and to them.

    A later add skips them, too. To get one back, build the store again from its sources, which cocite info lists. If
    one of the addresses is unknown, or was removed before, no page is removed. If an earlier remove was killed, this
    one finishes its work.

    Examples:
        cocite remove https://example.org/private -i web.cocite
    """

    urls: tuple[str, ...] = parameter(
        (), "Address of a page, in any spelling", metavar="URL", positional=True, required=True
    )

    def do(self, progress: Progress) -> BuildResult:
        from cocite.graph.build.maintain import remove
        from cocite.words.search import finish_renewal

        store, options = Path(self.index), self.build_options({}, **kept_before(self.index, self.platforms))
        try:
            return self.carried_out(partial(remove, self.urls, store, options, progress), options, progress)
        except UnknownPage:
            finish_renewal(store, options.text, progress, options.memory // 4)
            raise
