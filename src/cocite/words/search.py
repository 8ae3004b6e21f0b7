"""Full text search over a store: an index of tantivy with a document per page, stored as side data `search`.

A query has words and "phrases"; nothing else is syntax, so no input is an error. Several words written without spaces
between them (`node.js`, `wi-fi`, a run of Han characters) are a phrase.
"""

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from tantivy import Occur, Query

from cocite.errors import BadParameter, BadStore
from cocite.graph.generation import Progress, no_progress, read_current
from cocite.graph.side import FOLDER, drop_side, is_being_made, is_left_over, remove_replaced
from cocite.graph.store import Graph
from cocite.processes import WithoutPandas, end_with_parent
from cocite.system import usable_cores, without_collection
from cocite.words.changes import ChangedPages
from cocite.words.documents import FIELDS, document, documents
from cocite.words.keywords import KEYWORDS
from cocite.words.stored import Arrays, ChangedStore, OpenedWords, WordData
from cocite.words.tokens import Clause, analyzer, forms, words_of
from cocite.words.vectors import VECTORS

OTHER_WORD_DATA = ("keywords", "relevance", "vectors")  # other side data with words of pages; the second may lag
MEMORY_BYTES = 1 << 30  # memory to make an index, about
INDEXING = "from cocite.words.search import index_for_parent; index_for_parent()"
POPULARITY = 0.3  # weight of popularity, see `prior`
MIN_HEAP_BYTES, MAX_HEAP_BYTES = 15 << 20, 1 << 30  # bounds of tantivy for what it hasn't written yet
MAX_RENEWALS = 5  # how often words are begun again if somebody changes the store meanwhile
MIN_PROCESS_BYTES = 2 << 20  # compressed texts; an index of fewer takes less time than a process takes to start
MAX_CHECKED_BYTES = 256 << 20  # larger indexes are opened without reading all their bytes
MAX_TIED_PAGES = 1 << 17  # pages of equal score whose order is exact
MAX_CHARACTERS = 2000
MAX_CLAUSES = 32
FIELD_WEIGHTS = {"title": 4.0, "anchors": 3.0, "around": 2.5, "headings": 2.0, "text": 1.0, "address": 0.3}
"""Weight of each field (docs/decisions/0030)."""
SHORT_WORD_LETTERS = 2
"""A word that is being typed and has no more letters begins too many words."""
OTHER_FIELDS = 0.6  # weight of the fields other than the one that matches best
OTHER_FORM = 0.9  # weight of a word with a plural s added or removed
_PIECE = re.compile(r'"([^"]*)"|“([^”]*)”|([^\s"“]+)')


@dataclass(frozen=True)
class SearchHits:
    """The result of a search."""

    hits: list[tuple[int, float]]  # (page, score), best first
    matched: int  # words and phrases of the query that each of these pages has, at least
    total: int  # words and phrases of the query


def renew_search(
    path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY_BYTES
) -> "SearchIndex | None":
    """Renew the index and word vectors of a new or changed store, if wanted and if it has texts; else remove them.

    Where the store has got layers, they follow by what these changed, and so do keywords. Of a new base, keywords and
    their relevance are removed; they are made again when they are needed. If somebody changes the store meanwhile, this
    begins again; whoever changes it again and again renews them in the end.
    """
    for _ in range(MAX_RENEWALS):
        with suppress(ChangedStore):
            return _renew(path, wanted, progress, memory)
    return None


def _renew(path: Path, wanted: bool, progress: Progress, memory: int) -> "SearchIndex | None":
    graph, changes = Graph(path), dict[str, ChangedPages | None]()
    wanted = wanted and bool(graph.texts)
    making = wanted and any(is_being_made(graph, name) for name in ("keywords", "relevance"))
    if not making and not (wanted and followed(KEYWORDS, graph, changes)):  # a server makes them in the background
        drop_side(graph, KEYWORDS.name, f"the {KEYWORDS.title}")
        drop_side(graph, "relevance", "the relevance of keywords")
    if not wanted:
        for kind in (SEARCH, VECTORS):
            drop_side(graph, kind.name, f"the {kind.title}")
        return None
    anew = [kind for kind in (SEARCH, VECTORS) if not followed(kind, graph, changes)]
    with without_collection():
        if len(anew) == 2 and is_worth_a_process(graph):
            with index_process(path, memory // 2) as process:
                VECTORS.build(graph, progress=progress, memory=memory // 2)
                anew = [] if process.wait() == 0 else [SEARCH]  # which says what is wrong
        for kind in anew:
            kind.build(graph, progress=progress, memory=memory)
    return SEARCH.open(graph, False)


def is_worth_a_process(graph: Graph) -> bool:
    """Whether a second process would make words sooner."""
    texts = sum(len(graph.array(f"{name}.data")) for name in ("text", "anchors", "contexts"))
    return texts >= MIN_PROCESS_BYTES and usable_cores() > 1 and bool(sys.executable)


@contextmanager
def index_process(path: Path, memory: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that makes the index, since both kinds take much Python. It ends with this one, or with the block."""
    command = [sys.executable, "-P", "-c", INDEXING, str(path.absolute()), str(memory)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def index_for_parent() -> None:
    """The program of that process."""
    end_with_parent()
    WithoutPandas.install()
    gc.freeze()
    gc.disable()  # it would go over all texts, again and again
    SEARCH.build(Graph(sys.argv[1]), memory=int(sys.argv[2]))
    os._exit(0)


def followed(kind: WordData[Any], graph: Graph, changes: dict[str, ChangedPages | None]) -> bool:
    """Whether stored words have followed the layers of a store; if not, they are made anew."""
    try:
        return kind.catch_up(graph, changes)
    except ChangedStore:
        raise
    except (BadStore, LookupError, ValueError):  # damaged, or of another shape; the pages are in the store already
        return False


def finish_renewal(path: Path, wanted: bool, progress: Progress = no_progress, memory: int = MEMORY_BYTES) -> None:
    """Renew what a command left that died after it changed a store: words of removed pages must not stay."""
    graph = Graph(path)
    remove_replaced(graph)
    made = all((path / FOLDER / f"{name}.json").exists() for name in ("search", "vectors"))
    left = any(is_left_over(graph, name, lagging=True) for name in (SEARCH.name, *OTHER_WORD_DATA))
    if left or (wanted and graph.texts and not made):
        renew_search(path, wanted, progress, memory)


def has_search(graph: Graph) -> bool:
    """Whether there is a search index, perhaps an old one."""
    return (graph.path / FOLDER / f"{SEARCH.name}.json").exists()


def make_index(
    graph: Graph, folder: Path, progress: Progress = no_progress, memory: int = MEMORY_BYTES
) -> tuple[dict[str, Any], Arrays]:
    """Index every document. Texts aren't stored: the store has them."""
    started, degrees, number = time.perf_counter(), graph.in_degree, 0
    if read_current(graph.path)[1]["id"] != graph.manifest["id"]:
        raise ChangedStore(f"Another command changed {graph.path} meanwhile: run this one again")
    builder = tantivy.SchemaBuilder()
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="words")
    builder.add_integer_field("page", fast=True, indexed=True)
    builder.add_float_field("prior", fast=True)
    index = tantivy.Index(builder.build(), path=str(folder), reuse=False)
    heap = max(MIN_HEAP_BYTES, min(memory // 4, MAX_HEAP_BYTES))
    temporary = tempfile.TemporaryDirectory(dir=folder, prefix="temporary-")
    with committed(graph, folder, index, heap) as writer, temporary as own:
        for page, texts in documents(graph, Path(own), memory // 2, progress):
            writer.add_document(tantivy.Document(page=page, prior=prior(int(degrees[page])), **texts))
            number += 1
    return {"pages": number, "seconds": time.perf_counter() - started}, {}


@contextmanager
def committed(graph: Graph, folder: Path, index: tantivy.Index, heap_bytes: int) -> Iterator[tantivy.IndexWriter]:
    """A writer whose documents are in the index at the end. Raises BadStore if it can't be written."""
    index.register_tokenizer("words", analyzer())
    writer = index.writer(heap_bytes, 1)
    try:
        yield writer
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


def follow_index(stored: OpenedWords, folder: Path, changed: ChangedPages) -> dict[str, Any]:
    """Replace the documents of changed pages: an incremental commit of tantivy, whose files never change."""
    graph, started, degrees = stored.graph, time.perf_counter(), stored.graph.in_degree
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:
        raise SEARCH.unusable(graph) from error
    with committed(graph, folder, index, MIN_HEAP_BYTES) as writer:
        for page in changed.pages.tolist():
            writer.delete_documents_by_term("page", page)
        for page, own, links in changed.texts:
            texts = document(own, links, graph.address(page))
            writer.add_document(tantivy.Document(page=page, prior=prior(int(degrees[page])), **texts))
    index.reload()
    return {"pages": int(index.searcher().num_docs), "seconds": time.perf_counter() - started}


def prior(degree: int) -> float:
    """The popularity of a page. tantivy multiplies scores by log2(2 + it): 1 + POPULARITY · log2(1 + degree)."""
    return float(2 * (1 + degree) ** POPULARITY - 2)


def clauses_of(text: str) -> list[Clause]:
    """The different words and phrases of a search text."""
    pieces = (tuple(words_of(next(filter(None, found), ""))) for found in _PIECE.findall(text[:MAX_CHARACTERS]))
    return list(dict.fromkeys(piece for piece in pieces if piece))[:MAX_CLAUSES]


class SearchIndex:
    """An open search index; threads can share it."""

    def __init__(self, stored: OpenedWords, verified: bool = True) -> None:
        """The files of an index of usual size are `verified`: tantivy trusts them, and may never finish."""
        self.graph, self.side = stored.graph, stored.side
        self.seconds = float(self.side.about.get("seconds", 0.0))  # that it took to make
        try:
            if verified and not self.side.whole(MAX_CHECKED_BYTES):
                raise ValueError("changed")
            index = tantivy.Index.open(str(self.side.folder))
            index.register_tokenizer("words", analyzer())
            self._schema, self._searcher = index.schema, index.searcher()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SEARCH.unusable(self.graph) from error

    def search(self, query: str, k: int) -> SearchHits:
        """The k best pages among those with all words and phrases, each in any field.

        If no page has all, those with the most of them; if none has any phrase, those with a word of one. Raises
        BadParameter without words.
        """
        clauses = clauses_of(query)
        if not clauses:
            raise BadParameter("No word to search for: give some letters or digits")
        for minimum in range(len(clauses), 0, -1):
            if hits := self._best(self._query(clauses, minimum), k):
                return SearchHits(hits, minimum, len(clauses))
        single: list[Clause] = [(word,) for word in dict.fromkeys(word for clause in clauses for word in clause)]
        return SearchHits(self._best(self._query(single, 1), k) if single != clauses else [], 0, len(clauses))

    def beginning(self, text: str, k: int) -> list[int]:
        """The k best pages with all words of a text in titles and link texts, or else in addresses; the last may go on.

        One letter at the end of several words is ignored, and two count in titles and link texts only: they would match
        half of all pages.
        """
        *before, last = words_of(text[:MAX_CHARACTERS])[-MAX_CLAUSES:] or [""]
        if before and last.isascii() and len(last) == 1:
            last = before.pop()
        found = dict.fromkeys(self._beginning(before, last, ("title", "anchors"), k) if last else ())
        if len(found) < k and len(last) > SHORT_WORD_LETTERS:
            found |= dict.fromkeys(self._beginning(before, last, ("title", "anchors", "address"), k))
        elif len(found) < k and before:
            found |= dict.fromkeys(self._beginning(before[:-1], before[-1], ("title", "anchors"), k))
        return list(found)[:k]

    def _beginning(self, before: Sequence[str], last: str, fields: Sequence[str], k: int) -> list[int]:
        """The k best pages with some words, and one that begins so, in some fields."""

        def anywhere(match: Callable[[str], Query]) -> Query:
            return Query.const_score_query(Query.boolean_query([(Occur.Should, match(field)) for field in fields]), 1.0)

        def whole(word: str) -> Query:
            return anywhere(lambda field: Query.term_query(self._schema, field, word))

        open_end = anywhere(lambda field: Query.regex_query(self._schema, field, f"{last}.*"))
        bonus = [(Occur.Should, whole(last))] if len(last) > SHORT_WORD_LETTERS else []
        parts = [(Occur.Must, open_end), *bonus, *((Occur.Must, whole(word)) for word in before)]
        return [page for page, _ in self._best(Query.boolean_query(parts), k)]

    def like(self, words: Mapping[str, float], k: int) -> list[tuple[int, float]]:
        """(page, score) of the k pages that have most of some words, by their weights, whatever their popularity."""
        weighted = [(Occur.Should, Query.boost_query(self._anywhere([(word,)]), by)) for word, by in words.items()]
        return self._best(Query.boolean_query(weighted), k, popular=False) if weighted else []

    def pages_with(self, word: str) -> int:
        """The number of pages with a word, in the field where most have it."""
        with self._reading():
            found = max(self._searcher.doc_freq(field, word) for field in FIELDS)
        return min(int(found), self.pages)  # tantivy counts replaced documents until it merges their files

    @property
    def pages(self) -> int:
        """The number of indexed pages."""
        return int(self._searcher.num_docs)

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(size for size, _ in self.side.files.values())

    def _query(self, clauses: Sequence[Clause], minimum: int) -> Query:
        """Match pages with at least `minimum` of the clauses; those that have them side by side score higher."""
        main = Query.boolean_query([(Occur.Should, self._anywhere(forms(clause))) for clause in clauses], minimum)
        if len(clauses) == 1:
            return main
        *before, last = (word for clause in clauses for word in clause)
        adjacent = [(*before, *form) for form in forms((last,))]
        return Query.boolean_query([(Occur.Must, main), (Occur.Should, self._anywhere(adjacent))])

    def _anywhere(self, clauses: Sequence[Clause]) -> Query:
        """Match a word or phrase in any field: the best field counts in full, the others a little.

        Clauses after the first are other forms of it.
        """

        def match(field: str, clause: Clause, weight: float) -> Query:
            one, schema = len(clause) == 1, self._schema
            query = Query.term_query(schema, field, clause[0]) if one else Query.phrase_query(schema, field, [*clause])
            return Query.boost_query(query, weight if clause is clauses[0] else weight * OTHER_FORM)

        found = [match(field, clause, weight) for field, weight in FIELD_WEIGHTS.items() for clause in clauses]
        return Query.disjunction_max_query(found, OTHER_FIELDS)

    def _best(self, query: Query, k: int, popular: bool = True) -> list[tuple[int, float]]:
        """The k best pages; ties by in-links, then by address."""
        if k < 1 or not self.pages:
            return []
        limit = min(k + 16, self.pages)
        while True:
            hits = self._hits(query, limit, "prior" if popular else None)
            if len(hits) < limit or limit >= min(self.pages, max(k, MAX_TIED_PAGES)) or hits[-1][0] < hits[k - 1][0]:
                break
            limit = min(4 * limit, self.pages)
        degrees = self.graph.in_degree
        pages = [page for _, page in hits]
        keys = dict(zip(pages, self.graph.names.address_keys(np.array(pages, np.int64)).tolist(), strict=True))
        hits.sort(key=lambda hit: (-hit[0], -int(degrees[hit[1]]), keys[hit[1]]))
        return [(page, float(f"{score:.5e}")) for score, page in hits[:k]]

    def _hits(self, query: Query, limit: int, weight: str | None) -> list[tuple[float, int]]:
        with self._reading():
            found = self._searcher.search(query, limit, count=False, weight_by_field=weight).hits
            pages = self._searcher.fast_field_values("page", [place for _, place in found])
        if not all(isinstance(page, int) and 0 <= page < self.graph.pages for page in pages):
            raise SEARCH.unusable(self.graph)
        return [(score, int(page or 0)) for (score, _), page in zip(found, pages, strict=True)]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Report what tantivy can't read as damage."""
        try:
            yield
        except BaseException as error:  # pyo3's PanicException can't be imported
            if isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException":
                raise SEARCH.unusable(self.graph) from error
            raise


SEARCH = WordData("search", "search index", "search", 3, make_index, SearchIndex, follow_index)
