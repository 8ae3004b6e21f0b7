"""Full text search over a store, kept beside it as side data `search`: an index of tantivy, a document a page."""

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

NAME = "search"
OF_WORDS = ("keywords", "relevance", "vectors")
"""Other side data that hold words of pages."""
VERSION = 2
"""Of what is indexed and how; an index of another version is made again."""
MEMORY = 1 << 30
"""Bytes that making an index may use, roughly."""
PRIOR = 0.3
"""How much popularity counts, see `prior`."""
LEAST_HEAP, MOST_HEAP = 15 << 20, 1 << 30
"""Bytes that tantivy takes and can use for what it has not written yet."""
MOST_CHECKED = 256 << 20
MOST_TIES = 1 << 17
"""Pages of equal score among which the order is exact."""


@dataclass(frozen=True)
class Indexed:
    """What indexing made."""

    pages: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """What a search found."""

    hits: list[tuple[int, float]]  # (page, score), best first
    had: int  # so many words and phrases of the question each of these pages has, at least
    asked: int  # of so many


def schema() -> tantivy.Schema:
    """The fields of a document. Nothing is stored: texts are in the store already."""
    builder = tantivy.SchemaBuilder()
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="words")
    builder.add_integer_field("page", fast=True)
    builder.add_float_field("prior", fast=True)
    return builder.build()


def build_search(graph: Graph, progress: Progress = no_progress, memory: int = MEMORY) -> Indexed:
    """Make the index of a store, and put it in the place of the one that may be there."""
    with only_one(graph, NAME, "the search index"):
        return make_index(graph, progress, memory)


def ready_search(graph: Graph, progress: Progress = no_progress) -> Search:
    """The search index of a store, made if there is none that fits."""

    def make() -> Search:
        make_index(graph, progress, MEMORY)
        return open_search(graph)

    return ready_side(graph, NAME, "the search index", partial(open_search, graph), make)


def renew_search(path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY) -> Indexed | None:
    """After a store was built or changed: its index, if it is wanted and there is any text; else none is left.

    Word vectors likewise. Keywords and their relevance go too, and are made when they are next needed.
    """
    from cocite.words.make_vectors import ready_vectors

    graph = Graph(path)
    for name in OF_WORDS:
        drop_side(graph, name, f"the {name}")
    if wanted and graph.texts:
        indexed = build_search(graph, progress, memory)
        ready_vectors(graph, progress, memory)
        return indexed
    drop_side(graph, NAME, "the search index")
    return None


def finish_renewal(path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY) -> None:
    """What a command that died after it had changed a store did not come to: words of removed pages must not stay."""
    graph = Graph(path)
    missing = (
        wanted and graph.texts and not all((path / FOLDER / f"{name}.json").exists() for name in (NAME, "vectors"))
    )
    if missing or any(is_left_over(graph, name) for name in (NAME, *OF_WORDS)):
        renew_search(path, wanted, progress, memory)


def make_index(graph: Graph, progress: Progress, memory: int) -> Indexed:
    """The work of `build_search`."""
    started = time.perf_counter()
    if read_current(graph.path)[1]["id"] != graph.manifest["id"]:
        raise BadStore(f"{graph.path} was changed meanwhile by another command: open it again")
    about: dict[str, Any] = {"version": VERSION, "pages": 0}

    def make(folder: Path, _: Writer) -> None:
        with tempfile.TemporaryDirectory(dir=folder, prefix="passing-") as passing:
            about["pages"] = write_index(graph, folder, Path(passing), memory, progress)

    kept = write_side(graph, NAME, about, make)
    return Indexed(about["pages"], sum(size for size, _ in kept.values()), time.perf_counter() - started)


def write_index(graph: Graph, folder: Path, passing: Path, memory: int, progress: Progress) -> int:
    """Index every document; returns how many."""
    index = tantivy.Index(schema(), path=str(folder), reuse=False)
    index.register_tokenizer("words", analyzer())
    writer = index.writer(max(LEAST_HEAP, min(memory // 4, MOST_HEAP)), 1)
    degrees, number = graph.in_degree, 0
    try:
        for page, texts in documents(graph, passing, memory // 2, progress):
            writer.add_document(tantivy.Document(page=page, prior=prior(int(degrees[page])), **texts))
            number += 1
        writer.commit()
        writer.wait_merging_threads()
    except BaseException as error:
        with suppress(ValueError):
            writer.rollback()  # or its threads go on writing into a folder that is being removed
        if isinstance(error, ValueError):  # tantivy's way to say that a file could not be written
            free = shutil.disk_usage(folder).free
            why = f"the search index of {graph.path} could not be written ({error}; {free >> 20:,} MiB are free)"
            raise BadStore(f"{why}: free some space; the store itself is whole") from error
        raise
    return number


def prior(degree: int) -> float:
    """How popular a page is, such that tantivy, which multiplies scores by log2(2 + this), does so by
    1 + PRIOR · log2(1 + degree)."""
    return float(2 * (1 + degree) ** PRIOR - 2)


def make_command(graph: Graph) -> str:
    """What to type to have the index made."""
    return f"cocite search --make -i {quote(str(graph.path))}"


def kept_side(graph: Graph) -> Side:
    """The index as it is kept; raises BadStore if there is none of this store as it is."""
    again = make_command(graph)
    side = read_side(graph, NAME, again)
    if side is None:
        raise BadStore(f"{graph.path} has no search index: make one with {again}")
    return side


def has_search(graph: Graph) -> bool:
    """Whether there is a search index, which need not fit."""
    return (graph.path / FOLDER / f"{NAME}.json").exists()


def open_search(graph: Graph) -> Search:
    """The search index of a store; raises BadStore if there is none that fits."""
    return Search(graph, kept_side(graph))


class Search:
    """A search index, opened. It can be shared among threads."""

    def __init__(self, graph: Graph, side: Side) -> None:
        self.graph = graph
        again = make_command(graph)
        if side.about.get("version") != VERSION:
            raise BadStore(f"the search index of {graph.path} is of another version: make it again with {again}")
        try:
            if not side.whole(MOST_CHECKED):  # tantivy trusts its files, and may not come to an end
                raise ValueError("changed")
            index = tantivy.Index.open(str(side.folder))
            index.register_tokenizer("words", analyzer())
            self._schema, self._searcher = index.schema, index.searcher()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged() from error

    def find(self, query: str, k: int) -> list[tuple[int, float]]:
        """(page, score) of the k best pages, best first; see `look_for`."""
        return self.look_for(query, k).hits

    def look_for(self, query: str, k: int) -> Found:
        """The k best pages: those that have all of the words and phrases, each in whatever field.

        If no page has them all, those that have the most of them; if none has any phrase, those that have a word.
        Raises BadParameter if there is no word.
        """
        clauses = clauses_of(query)
        if not clauses:
            raise BadParameter("there is no word to search for: give some letters or digits")
        for least in range(len(clauses), 0, -1):
            if hits := self._best(clauses, least, k):
                return Found(hits, least, len(clauses))
        single: list[Clause] = [(word,) for word in dict.fromkeys(word for clause in clauses for word in clause)]
        return Found(self._best(single, 1, k) if single != clauses else [], 0, len(clauses))

    def like(self, words: Mapping[str, float], k: int) -> list[tuple[int, float]]:
        """(page, score) of the k pages that have most of some words, each by its weight; how popular is no matter."""
        asked = [
            (Occur.Should, Query.boost_query(anywhere(self._schema, [(w,)]), weight)) for w, weight in words.items()
        ]
        return self._first(Query.boolean_query(asked), k, popular=False) if asked else []

    def pages_with(self, word: str) -> int:
        """How many pages have a word, by the field in which most have it."""
        with self._reading():
            return max(self._searcher.doc_freq(field, word) for field in FIELDS)

    @property
    def pages(self) -> int:
        """How many pages there are to find."""
        return int(self._searcher.num_docs)

    def _best(self, clauses: list[Clause], least: int, k: int) -> list[tuple[int, float]]:
        return self._first(query_of(self._schema, clauses, least), k)

    def _first(self, query: Query, k: int, popular: bool = True) -> list[tuple[int, float]]:
        """The k best pages; equal scores by links in, then by number, which is address."""
        if k < 1 or not self.pages:
            return []
        limit = min(k + 16, self.pages)
        while True:
            hits = self._hits(query, limit, popular)
            if len(hits) < limit or limit >= min(self.pages, max(k, MOST_TIES)) or hits[-1][0] < hits[k - 1][0]:
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
        """What tantivy cannot read is damage."""
        try:
            yield
        except (ValueError, OSError) as error:
            raise self._damaged() from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of pyo3, and not to be imported from anywhere
                raise
            raise self._damaged() from error

    def _damaged(self) -> BadStore:
        return BadStore(
            f"the search index of {self.graph.path} is damaged: make it again with {make_command(self.graph)}"
        )
