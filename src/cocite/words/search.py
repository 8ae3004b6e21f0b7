"""Full text search over a store, kept beside it as side data `search`: an index of tantivy, a document a page."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from cocite.errors import BadParameter, BadStore
from cocite.graph.generation import Writer
from cocite.graph.side import FOLDER, Side, read_side, write_side
from cocite.graph.store import Graph
from cocite.words.documents import FIELDS, documents
from cocite.words.links_in import Progress
from cocite.words.query import Clause, clauses_of, query_of
from cocite.words.tokens import analyzer

NAME = "search"
VERSION = 1
"""Of what is indexed and how; an index of another version is made again."""
MEMORY = 1 << 30
PRIOR = 0.15
"""How much popularity counts, see `prior`."""
MOST_TIES = 1 << 17
"""Pages of equal score among which the order is exact."""


@dataclass(frozen=True)
class Indexed:
    """What indexing made."""

    pages: int
    bytes: int
    seconds: float


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Say nothing."""


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
    started = time.perf_counter()
    about: dict[str, Any] = {"version": VERSION, "pages": 0, "files": {}}

    def make(folder: Path, _: Writer) -> None:
        with tempfile.TemporaryDirectory(dir=folder, prefix="passing-") as passing:
            about["pages"] = write_index(graph, folder, Path(passing), memory, progress)
        about["files"] = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.suffix != ".lock"}

    with only_one(graph):
        write_side(graph, NAME, about, make)
    return Indexed(about["pages"], sum(about["files"].values()), time.perf_counter() - started)


def write_index(graph: Graph, folder: Path, passing: Path, memory: int, progress: Progress) -> int:
    """Index every document; returns how many."""
    index = tantivy.Index(schema(), path=str(folder), reuse=False)
    index.register_tokenizer("words", analyzer())
    priors = prior(graph)
    number = 0
    try:
        writer = index.writer(max(15 << 20, min(memory // 4, 1 << 30)), 1)
        for page, texts in documents(graph, passing, memory // 2, progress):
            writer.add_document(tantivy.Document(page=page, prior=float(priors[page]), **texts))
            number += 1
        writer.commit()
        writer.wait_merging_threads()
    except ValueError as error:  # tantivy's own way to say that a disk is full
        free = shutil.disk_usage(folder).free
        raise BadStore(
            f"the search index cannot be written to {folder.parent} ({error}; {free:,} bytes free)"
        ) from error
    return number


def prior(graph: Graph) -> Any:
    """What tantivy multiplies scores by, of each page: it takes log2(2 + value) of it.

    Twice as many links in make a page worth PRIOR more, beginning with 1.
    """
    return np.exp2(1 + PRIOR * np.log2(1.0 + graph.in_degree)) - 2


@contextmanager
def only_one(graph: Graph) -> Iterator[None]:
    """Wait until nobody else makes this index."""
    side = graph.path / FOLDER
    try:
        side.mkdir(exist_ok=True)
        lock = (side / f".{NAME}.lock").open("a")
    except OSError as error:
        raise BadStore(f"the search index of {graph.path} cannot be written ({error.strerror})") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_command(graph: Graph) -> str:
    """What to type to have the index made."""
    return f"cocite search --make -i {graph.path}"


def open_search(graph: Graph) -> Search:
    """The search index of a store; raises BadStore if there is none, or none that fits."""
    again = make_command(graph)
    side = read_side(graph, NAME, again)
    if side is None:
        raise BadStore(f"{graph.path} has no search index: make one with {again}")
    return Search(graph, side)


class Search:
    """A search index, opened. It can be shared among threads."""

    def __init__(self, graph: Graph, side: Side) -> None:
        self._graph = graph
        again = make_command(graph)
        if side.about.get("version") != VERSION:
            raise BadStore(f"the search index of {graph.path} is of another version: make it again with {again}")
        try:
            sizes = {name: (side.folder / name).stat().st_size for name in side.about["files"]}
            if sizes != side.about["files"]:
                raise ValueError("sizes")
            index = tantivy.Index.open(str(side.folder))
            index.register_tokenizer("words", analyzer())
            self._schema, self._searcher = index.schema, index.searcher()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged() from error

    def find(self, query: str, k: int) -> list[tuple[int, float]]:
        """(page, score) of the k best pages, best first: those that have all of the words, in whatever field.

        If no page has them all, then those that have the most of them. Raises BadParameter if there is no word.
        """
        clauses = clauses_of(query)
        if not clauses:
            raise BadParameter("there is no word to search for: give some letters or digits")
        for least in range(len(clauses), 0, -1):
            found = self._best(clauses, least, k)
            if found:
                return found
        single = [(word,) for word in dict.fromkeys(word for clause in clauses for word in clause)]
        return self._best(single, 1, k) if single != clauses else []

    def pages_with(self, word: str) -> int:
        """How many pages have a word, by the field in which most have it."""
        return max(int(self._guarded(lambda: self._searcher.doc_freq(field, word))) for field in FIELDS)

    @property
    def pages(self) -> int:
        """How many pages there are to find."""
        return int(self._searcher.num_docs)

    def _best(self, clauses: list[Clause], least: int, k: int) -> list[tuple[int, float]]:
        """The k best pages; equal scores by links in, then by number, which is address."""
        if k < 1 or not self.pages:
            return []
        query, limit = query_of(self._schema, clauses, least), min(k + 16, self.pages)
        while True:
            hits = self._guarded(lambda: self._hits(query, limit))
            if len(hits) < limit or limit >= min(self.pages, max(k, MOST_TIES)) or hits[-1][0] < hits[k - 1][0]:
                break
            limit = min(4 * limit, self.pages)
        degrees = self._graph.in_degree
        hits.sort(key=lambda hit: (-hit[0], -int(degrees[hit[1]]), hit[1]))
        return [(page, float(f"{score:.5e}")) for score, page in hits[:k]]

    def _hits(self, query: tantivy.Query, limit: int) -> list[tuple[float, int]]:
        found = self._searcher.search(query, limit, count=False, weight_by_field="prior").hits
        pages = self._searcher.fast_field_values("page", [place for _, place in found])
        if not all(isinstance(page, int) and 0 <= page < self._graph.pages for page in pages):
            raise self._damaged()
        return [(score, int(page or 0)) for (score, _), page in zip(found, pages, strict=True)]

    def _guarded(self, work: Any) -> Any:
        """What tantivy answers; what it cannot read is damage."""
        try:
            return work()
        except (ValueError, OSError) as error:
            raise self._damaged() from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of pyo3, and not to be imported from anywhere
                raise
            raise self._damaged() from error

    def _damaged(self) -> BadStore:
        return BadStore(
            f"the search index of {self._graph.path} is damaged: make it again with {make_command(self._graph)}"
        )
