"""Full text search over a store: an index of tantivy with a document per page, stored as side data `search`."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import tantivy
from tantivy import Occur, Query

from cocite.errors import BadParameter, BadStore
from cocite.graph.generation import Progress, Writer, no_progress, read_current
from cocite.graph.side import FOLDER, Side, drop_side, is_left_over, only_one, read_side, ready_side, write_side
from cocite.graph.store import Graph
from cocite.words.documents import FIELDS, documents
from cocite.words.query import Clause, anywhere, clauses_of, query_of
from cocite.words.tokens import analyzer

NAME, TITLE = "search", "the search index"
WORD_DATA = ("keywords", "relevance", "vectors")
"""Other side data with words of pages."""
VERSION = 2
"""An index of another version is made again."""
MEMORY_BYTES = 1 << 30
"""Memory to make an index, about."""
POPULARITY = 0.3
"""Weight of popularity, see `prior`."""
MIN_HEAP_BYTES, MAX_HEAP_BYTES = 15 << 20, 1 << 30
"""Bounds of tantivy for what it hasn't written yet."""
MAX_CHECKED_BYTES = 256 << 20
"""Larger indexes are opened without reading all their bytes."""
MAX_TIED_PAGES = 1 << 17
"""Pages of equal score whose order is exact."""


@dataclass(frozen=True)
class Indexed:
    """Size and time of a new index."""

    pages: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class SearchHits:
    """The result of a search."""

    hits: list[tuple[int, float]]  # (page, score), best first
    had: int  # words and phrases of the query that each of these pages has, at least
    asked: int  # words and phrases of the query


def schema() -> tantivy.Schema:
    """The fields of a document. Texts aren't stored: the store has them."""
    builder = tantivy.SchemaBuilder()
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="words")
    builder.add_integer_field("page", fast=True)
    builder.add_float_field("prior", fast=True)
    return builder.build()


def build_search(graph: Graph, progress: Progress = no_progress, memory: int = MEMORY_BYTES) -> Indexed:
    """Make the index of a store, and replace an older one."""
    with only_one(graph, NAME, TITLE):
        return make_index(graph, progress, memory)


def ready_search(graph: Graph, progress: Progress = no_progress) -> Search:
    """The search index of a store, made if there is none yet."""

    def make() -> Search:
        make_index(graph, progress, MEMORY_BYTES)
        return open_search(graph)

    return ready_side(graph, NAME, TITLE, partial(open_search, graph), make)


def renew_search(
    path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY_BYTES
) -> Indexed | None:
    """Renew the index and word vectors of a new or changed store, if wanted and if it has texts; else remove them.

    Keywords and their relevance are removed; they are made again when they are needed.
    """
    from cocite.words.make_vectors import ready_vectors

    graph = Graph(path)
    for name in WORD_DATA:
        drop_side(graph, name, f"the {name}")
    if wanted and graph.texts:
        indexed = build_search(graph, progress, memory)
        ready_vectors(graph, progress, memory)
        return indexed
    drop_side(graph, NAME, TITLE)
    return None


def finish_renewal(path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY_BYTES) -> None:
    """Renew what a command left that died after it changed a store: words of removed pages must not stay."""
    graph = Graph(path)
    missing = (
        wanted and graph.texts and not all((path / FOLDER / f"{name}.json").exists() for name in (NAME, "vectors"))
    )
    if missing or any(is_left_over(graph, name) for name in (NAME, *WORD_DATA)):
        renew_search(path, wanted, progress, memory)


def make_index(graph: Graph, progress: Progress, memory: int) -> Indexed:
    """The work of `build_search`."""
    started = time.perf_counter()
    if read_current(graph.path)[1]["id"] != graph.manifest["id"]:
        raise BadStore(f"Another command changed {graph.path} meanwhile: run this one again")
    about: dict[str, Any] = {"version": VERSION, "pages": 0}

    def make(folder: Path, _: Writer) -> None:
        with tempfile.TemporaryDirectory(dir=folder, prefix="temporary-") as temporary:
            about["pages"] = write_index(graph, folder, Path(temporary), memory, progress)

    kept = write_side(graph, NAME, about, make)
    return Indexed(about["pages"], sum(size for size, _ in kept.values()), time.perf_counter() - started)


def write_index(graph: Graph, folder: Path, temporary: Path, memory: int, progress: Progress) -> int:
    """Index every document; return their number."""
    index = tantivy.Index(schema(), path=str(folder), reuse=False)
    index.register_tokenizer("words", analyzer())
    writer = index.writer(max(MIN_HEAP_BYTES, min(memory // 4, MAX_HEAP_BYTES)), 1)
    degrees, number = graph.in_degree, 0
    try:
        for page, texts in documents(graph, temporary, memory // 2, progress):
            writer.add_document(tantivy.Document(page=page, prior=prior(int(degrees[page])), **texts))
            number += 1
        writer.commit()
        writer.wait_merging_threads()
    except BaseException as error:
        with suppress(ValueError):
            writer.rollback()  # or its threads write to a folder that is being removed
        if isinstance(error, ValueError):  # tantivy could not write a file
            free = shutil.disk_usage(folder).free
            why = f"The search index of {graph.path} could not be written ({error}; {free >> 20:,} MiB are free)"
            raise BadStore(f"{why}: free some space; the store itself is intact") from error
        raise
    return number


def prior(degree: int) -> float:
    """The popularity of a page. tantivy multiplies scores by log2(2 + it): 1 + POPULARITY · log2(1 + degree)."""
    return float(2 * (1 + degree) ** POPULARITY - 2)


def make_command(graph: Graph) -> str:
    """The command that makes the index."""
    return f"cocite search --make -i {quote(str(graph.path))}"


def kept_side(graph: Graph) -> Side:
    """The files of the index; raises BadStore if there is none for the current state of the store."""
    command = make_command(graph)
    side = read_side(graph, NAME, command)
    if side is None:
        raise BadStore(f"{graph.path} has no search index: make one with {command}")
    return side


def has_search(graph: Graph) -> bool:
    """Whether there is a search index, perhaps an old one."""
    return (graph.path / FOLDER / f"{NAME}.json").exists()


def open_search(graph: Graph) -> Search:
    """The search index of a store; raises BadStore if there is none of this version."""
    return Search(graph, kept_side(graph))


class Search:
    """An open search index; threads can share it."""

    def __init__(self, graph: Graph, side: Side) -> None:
        self.graph = graph
        if side.about.get("version") != VERSION:
            command = make_command(graph)
            raise BadStore(f"the search index of {graph.path} is of another version: make it again with {command}")
        try:
            if not side.whole(MAX_CHECKED_BYTES):  # tantivy trusts its files, and may never finish
                raise ValueError("changed")
            index = tantivy.Index.open(str(side.folder))
            index.register_tokenizer("words", analyzer())
            self._schema, self._searcher = index.schema, index.searcher()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged() from error

    def find(self, query: str, k: int) -> list[tuple[int, float]]:
        """(page, score) of the k best pages, best first; see `look_for`."""
        return self.look_for(query, k).hits

    def look_for(self, query: str, k: int) -> SearchHits:
        """The k best pages among those with all words and phrases, each in any field.

        If no page has all, those with the most of them; if none has any phrase, those with a word of one. Raises
        BadParameter without words.
        """
        clauses = clauses_of(query)
        if not clauses:
            raise BadParameter("No word to search for: give some letters or digits")
        for least in range(len(clauses), 0, -1):
            if hits := self._best(clauses, least, k):
                return SearchHits(hits, least, len(clauses))
        single: list[Clause] = [(word,) for word in dict.fromkeys(word for clause in clauses for word in clause)]
        return SearchHits(self._best(single, 1, k) if single != clauses else [], 0, len(clauses))

    def like(self, words: Mapping[str, float], k: int) -> list[tuple[int, float]]:
        """(page, score) of the k pages that have most of some words, by their weights, whatever their popularity."""
        asked = [
            (Occur.Should, Query.boost_query(anywhere(self._schema, [(w,)]), weight)) for w, weight in words.items()
        ]
        return self._first(Query.boolean_query(asked), k, popular=False) if asked else []

    def pages_with(self, word: str) -> int:
        """The number of pages with a word, in the field where most have it."""
        with self._reading():
            return max(self._searcher.doc_freq(field, word) for field in FIELDS)

    @property
    def pages(self) -> int:
        """The number of indexed pages."""
        return int(self._searcher.num_docs)

    def _best(self, clauses: list[Clause], least: int, k: int) -> list[tuple[int, float]]:
        return self._first(query_of(self._schema, clauses, least), k)

    def _first(self, query: Query, k: int, popular: bool = True) -> list[tuple[int, float]]:
        """The k best pages; ties by in-links, then by number, which is by address."""
        if k < 1 or not self.pages:
            return []
        limit = min(k + 16, self.pages)
        while True:
            hits = self._hits(query, limit, popular)
            if len(hits) < limit or limit >= min(self.pages, max(k, MAX_TIED_PAGES)) or hits[-1][0] < hits[k - 1][0]:
                break
            limit = min(4 * limit, self.pages)
        degrees = self.graph.in_degree
        hits.sort(key=lambda hit: (-hit[0], -int(degrees[hit[1]]), hit[1]))
        return [(page, float(f"{score:.5e}")) for score, page in hits[:k]]

    def _hits(self, query: Query, limit: int, popular: bool) -> list[tuple[float, int]]:
        weight = "prior" if popular else None
        with self._reading():
            found = self._searcher.search(query, limit, count=False, weight_by_field=weight).hits
            pages = self._searcher.fast_field_values("page", [place for _, place in found])
        if not all(isinstance(page, int) and 0 <= page < self.graph.pages for page in pages):
            raise self._damaged()
        return [(score, int(page or 0)) for (score, _), page in zip(found, pages, strict=True)]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Report what tantivy can't read as damage."""
        try:
            yield
        except (ValueError, OSError) as error:
            raise self._damaged() from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of pyo3, which can't be imported
                raise
            raise self._damaged() from error

    def _damaged(self) -> BadStore:
        return BadStore(
            f"the search index of {self.graph.path} is damaged: make it again with {make_command(self.graph)}"
        )
