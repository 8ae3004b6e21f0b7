"""The texts of each page: its own, and those of the links to it. Most pages of a link graph were never fetched.

Links and their texts are stored by source. One pass writes (target, texts) to files by ranges of targets; a range then
fits in memory, where equal texts are counted. Memory is bounded for any store: of a page with very many in-links a
sample is read.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import GONE, NOINDEX, rows_of
from cocite.graph.generation import Progress
from cocite.graph.links import OutLinks
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.words.tokens import different_terms, language_of, prepare

FIELDS = ("title", "anchors", "headings", "around", "text", "address")
CHUNK_PAGES = 1 << 12  # pages read at a time
CHUNK_LINKS = 1 << 17  # links written to files at a time
RANGE_PAGES = 256  # ranges of targets begin at multiples of this
DEGREE_PAGES = RANGE_PAGES << 12  # pages whose in-degrees are summed at a time
SAMPLE_LINKS = 10_000  # in-links read of one page, about
MAX_LINE_CHARACTERS = 300
MAX_TEXT_CHARACTERS = 1 << 20
MAX_TEXTS = {"anchors": 64, "contexts": 16, "headings": 16}  # different texts of links kept for a page, by column
MAX_LANGUAGES = 16  # different languages of lists kept for a page
LANGUAGE_CHARACTERS = 4000  # characters of a list's link texts that show its language
MAX_FILES = 256
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\d?\.)?", re.IGNORECASE)

Value = TypeVar("Value")


class LinkTexts(NamedTuple):
    """Texts of the links to one page with the number of links that use each, the most frequent first."""

    anchors: list[tuple[str, int]]
    contexts: list[tuple[str, int]]  # the words around the links
    headings: list[tuple[str, int]]  # of the sections with the links
    languages: list[tuple[str, int]]  # of the lists, if they are wanted


NO_LINK_TEXTS = LinkTexts([], [], [], [])


class PageReader(Generic[Value]):
    """Reads values by page once, in ascending page order."""

    def __init__(self, values: Iterator[tuple[int, Value]]) -> None:
        self._values = values
        self._next = next(values, None)

    def take(self, page: int) -> Value | None:
        """The value of a page, if it has one."""
        while self._next is not None and self._next[0] < page:
            self._next = next(self._values, None)
        return self._next[1] if self._next is not None and self._next[0] == page else None


def documents(
    graph: Graph, folder: Path, memory: int, progress: Progress
) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield (page, its texts by field) in page order, as `texts_of_pages` does, ready for the tokenizer."""
    names = PageReader(enumerate(addresses(graph.names, 0, graph.pages)))
    for page, own, links in texts_of_pages(graph, folder, memory, progress, "indexing pages"):
        yield page, document(own, links, names.take(page) or "")


def document(own: dict[str, str], links: LinkTexts, address: str) -> dict[str, list[str]]:
    """The texts of a page by field."""
    texts = {
        "title": [own["title"]],
        "headings": own["headings"].split("\n"),
        "text": [own["text"][:MAX_TEXT_CHARACTERS]],
        "address": [address_words(address)],
    }
    return {
        **{name: [prepare(text) for text in values if text] for name, values in texts.items()},
        "anchors": repeated(links.anchors),
        "around": [*repeated(links.contexts), *repeated(links.headings)],
    }


def repeated(texts: list[tuple[str, int]]) -> list[str]:
    """Each text, prepared, once for every doubling of its count: thousands of equal ones would drown the others."""
    return [text for raw, count in texts for text in [prepare(raw)] * count.bit_length()]


def address_words(address: str) -> str:
    """The part of an address that differs between pages, with words in any script."""
    return unquote(_SCHEME.sub("", address.removeprefix("name:")), errors="replace").replace("_", " ")


def texts_of_pages(
    graph: Graph, folder: Path, memory: int, progress: Progress, stage: str, languages: bool = False
) -> Iterator[tuple[int, dict[str, str], LinkTexts]]:
    """Yield (page, its own texts by column, the texts of links to it) in page order.

    Aliases and pages that ask not to be indexed are skipped. `folder` is for temporary files.
    """
    of_links = PageReader(link_texts(graph, folder, memory, progress, languages))
    own = {
        name: PageReader((page, raw.decode("utf-8", "replace")) for page, raw in graph.texts.column(name).items())
        for name in ("title", "headings", "text")
    }
    for first in range(0, graph.pages, CHUNK_PAGES):
        count = min(CHUNK_PAGES, graph.pages - first)
        kinds, aliases = graph.arrays.part("page.kind", first, count), graph.names.alias_targets(first, count) >= 0
        hidden = (kinds & (NOINDEX | GONE) > 0) | aliases
        for page, is_hidden in enumerate(hidden.tolist(), first):
            texts = {name: column.take(page) or "" for name, column in own.items()}
            links = of_links.take(page) or NO_LINK_TEXTS
            if not is_hidden:
                yield page, texts, links
        progress(stage, count, graph.pages)


def link_texts(
    graph: Graph, folder: Path, memory: int, progress: Progress, languages: bool = False
) -> Iterator[tuple[int, LinkTexts]]:
    """Yield (page, texts of links to it) in page order, of pages that have any. `folder` is for temporary files.

    `languages` are those of the linking pages, if they are wanted.
    """
    if not any(len(graph.array(f"{name}.pages")) for name in MAX_TEXTS):
        return
    stored = sum(len(graph.array(f"{name}.data")) for name in MAX_TEXTS)
    # Stored texts take a fifth of the space.
    borders = cut_targets(graph, min(MAX_FILES, 1 + stored * 20 // memory), SAMPLE_LINKS)
    files = [folder / f"{number}.arrow" for number in range(len(borders) - 1)]
    split_by_target(graph, borders, files, progress, languages)
    for file in files:
        with pa.OSFile(str(file)) as source:
            table = pa.ipc.open_stream(source).read_all()
        file.unlink()
        found = counted_texts(table, languages)
        yield from ((page, found[page]) for page in sorted(found))


def counted_texts(table: pa.Table, languages: bool) -> dict[int, LinkTexts]:
    """The texts of links by target."""
    found = defaultdict[int, LinkTexts](lambda: LinkTexts([], [], [], []))
    for name, maximum in columns_of(languages).items():
        column = LinkTexts._fields.index(name)
        for page, texts in count_texts(table["target"], table[name], maximum):
            found[page][column].extend(texts)
    return found


def texts_of_some(graph: Graph, pages: NDArray[np.int64]) -> Iterator[tuple[int, dict[str, str], LinkTexts]]:
    """As `texts_of_pages` with languages, of some pages, ascending: it reads them and the lists that link to them."""
    kinds, aliases = graph.array("page.kind")[pages], graph.array("alias.page")
    shown = pages[(kinds & (NOINDEX | GONE) == 0) & ~np.isin(pages, aliases)]
    links = link_texts_of(graph, shown)
    for page in shown.tolist():
        own = {name: graph.texts.column(name)[page] for name in ("title", "headings", "text")}
        yield page, own, links.get(page, NO_LINK_TEXTS)


def link_texts_of(graph: Graph, pages: NDArray[np.int64]) -> dict[int, LinkTexts]:
    """The texts of the links to some pages, ascending, with the languages of lists."""
    parents = parents_of(graph, pages)
    starts, *links = graph.links.read_some(graph.out, parents, attributes=True)
    out, names = OutLinks.of(*links), list(columns_of(languages=True))
    sources = np.repeat(parents, np.diff(starts))
    read = sampled(graph, sources, out.targets, SAMPLE_LINKS) & np.isin(out.targets, pages)
    columns = {name: graph.texts.column(name) for name in MAX_TEXTS}
    targets, texts = [np.zeros(0, np.uint32)], dict[str, list[str]]({name: [] for name in names})
    for page, low, high in zip(parents.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        lines = {name: cut_lines(column[page]) for name, column in columns.items()}
        own = OutLinks(out.targets[low:high], out.blocks[low:high], out.flags[low:high])
        targets.append(add_texts(graph, page, own, read[low:high], lines, texts))
    made = {name: pa.array(values, pa.string()) for name, values in texts.items()}
    return counted_texts(pa.table({"target": np.concatenate(targets), **made}), languages=True)


def parents_of(graph: Graph, pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pages that link to any of some pages, ascending."""
    return np.unique(graph.links.read_some(graph.into, pages, attributes=False)[1]).astype(np.int64)


def add_texts(
    graph: Graph,
    page: int,
    links: OutLinks,
    read: NDArray[np.bool_],
    lines: dict[str, list[str]],
    texts: dict[str, list[str]],
) -> NDArray[np.uint32]:
    """Add the texts of those of a page's links that are read to columns; returns their targets."""
    chosen = read.nonzero()[0]
    places, blocks = chosen.tolist(), links.blocks[chosen].tolist()
    for name, own in lines.items():
        wanted = blocks if name == "headings" else places
        texts[name] += [own[at] if 0 <= at < len(own) else "" for at in wanted]
    if "languages" in texts:
        texts["languages"] += [language_of_list(graph.facts.language(page), lines)] * len(chosen)
    return links.targets[chosen]


def cut_targets(graph: Graph, ranges: int, sample: int) -> NDArray[np.int64]:
    """Borders of ranges of pages with about as many in-links each; of one page about `sample` are read."""
    sums = []
    for first in range(0, graph.pages, DEGREE_PAGES):
        read = np.minimum(graph.in_degree[first : first + DEGREE_PAGES], sample)
        sums.append(np.add.reduceat(read, np.arange(0, len(read), RANGE_PAGES), dtype=np.int64))
    totals = np.cumsum(np.concatenate(sums))
    inner = RANGE_PAGES * np.searchsorted(totals, totals[-1] * np.arange(1, ranges) // ranges)
    return np.unique(np.concatenate([[0], inner, [graph.pages]]))


def columns_of(languages: bool) -> dict[str, int]:
    """The columns of texts, and how many different texts are kept for a page."""
    return MAX_TEXTS | ({"languages": MAX_LANGUAGES} if languages else {})


def split_by_target(
    graph: Graph, borders: NDArray[np.int64], files: list[Path], progress: Progress, languages: bool = False
) -> None:
    """Write every link that has texts to the file of its target's range."""
    names = list(columns_of(languages))
    schema = pa.schema([("target", pa.uint32()), *((name, pa.string()) for name in names)])
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    writers = [pa.ipc.new_stream(str(file), schema, options=options) for file in files]
    try:
        for targets, texts in read_link_texts(graph, progress, languages):
            of_range = np.searchsorted(borders, targets, side="right") - 1
            columns = [pa.array(targets), *(pa.array(texts[name], pa.string()) for name in names)]
            batch = pa.record_batch(columns, schema)
            for number in np.unique(of_range).tolist():
                chosen = np.flatnonzero(of_range == number)
                writers[number].write_batch(batch if len(chosen) == len(targets) else batch.take(pa.array(chosen)))
    finally:
        for writer in writers:
            writer.close()


def read_link_texts(
    graph: Graph, progress: Progress, languages: bool = False
) -> Iterator[tuple[NDArray[np.uint32], dict[str, list[str]]]]:
    """Yield targets of links and their texts, about CHUNK_LINKS at a time."""
    targets: list[NDArray[np.uint32]] = []
    texts: dict[str, list[str]] = {name: [] for name in columns_of(languages)}
    columns = {name: PageReader(lines_of(graph, name)) for name in MAX_TEXTS}
    pages_with = [graph.array(f"{name}.pages") for name in MAX_TEXTS]
    for first, starts, links in graph.iter_links(CHUNK_PAGES):
        some = [pages[slice(*rows_of(pages, first, len(starts) - 1))] for pages in pages_with]
        here = np.unique(np.concatenate(some)).tolist()
        if here and not first <= here[0] <= here[-1] < first + len(starts) - 1:
            raise graph.damaged()
        sources = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts))
        read = sampled(graph, sources, links.targets, SAMPLE_LINKS)
        for page in here:
            low, high = int(starts[page - first]), int(starts[page - first + 1])
            lines = {name: column.take(page) or [] for name, column in columns.items()}
            own = OutLinks(links.targets[low:high], links.blocks[low:high], links.flags[low:high])
            targets.append(add_texts(graph, page, own, read[low:high], lines, texts))
            if len(texts["anchors"]) >= CHUNK_LINKS:
                yield np.concatenate(targets), texts
                targets, texts = [], {name: [] for name in columns_of(languages)}
        progress("reading anchor texts", int(starts[-1]), len(graph.links))
    if targets:
        yield np.concatenate(targets), texts


def language_of_list(declared: str, lines: dict[str, list[str]]) -> str:
    """The language of a list: the declared one, or that of its headings and link texts."""
    texts = chain.from_iterable(lines[name] for name in ("headings", "contexts", "anchors"))
    return language_of(set() if declared else different_terms("\n".join(texts)[:LANGUAGE_CHARACTERS]), declared)


def lines_of(graph: Graph, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (page, its lines) of a column of the store, in page order."""
    for page, raw in graph.texts.column(name).items():
        yield page, cut_lines(raw.decode("utf-8", "replace"))


def cut_lines(text: str) -> list[str]:
    """The lines of a text, each cut to a length."""
    lines = text.split("\n")
    return lines if len(text) <= MAX_LINE_CHARACTERS else [line[:MAX_LINE_CHARACTERS] for line in lines]


def sampled(graph: Graph, sources: Any, targets: NDArray[np.uint32], sample: int) -> NDArray[np.bool_]:
    """Which links are read: all, but of targets with more in-links than `sample` a share, always the same."""
    if int(targets.max(initial=0)) >= graph.pages:
        raise graph.damaged()
    every = graph.in_degree[targets] // sample + 1
    taken: NDArray[np.bool_] = ((sources * 0x9E3779B1 & 0xFFFFFFFF) >> 8) % every == 0
    return taken


def count_texts(
    targets: pa.ChunkedArray, texts: pa.ChunkedArray, maximum: int
) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield (page, its `maximum` most frequent texts with their counts), in page order."""
    texts = pc.utf8_trim_whitespace(pc.utf8_lower(texts))
    table = pa.table({"target": targets, "text": texts}).filter(pc.not_equal(texts, ""))
    found = table.group_by(["target", "text"], use_threads=False).aggregate([([], "count_all")])
    found = found.sort_by([("target", "ascending"), ("count_all", "descending"), ("text", "ascending")])
    counted = list(zip(found["text"].to_pylist(), found["count_all"].to_pylist(), strict=True))
    pages, starts = np.unique(found["target"].to_numpy(), return_index=True)
    stops = np.append(starts, len(counted))[1:]
    for page, start, stop in zip(pages.tolist(), starts.tolist(), stops.tolist(), strict=True):
        yield page, counted[start : min(stop, start + maximum)]
