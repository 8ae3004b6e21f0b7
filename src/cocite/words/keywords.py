"""The keywords of pages: the most frequent words of each page that aren't stop words, stored as side data `keywords`.

The words of a page with text are those of its title, headings and text. Of others, those of links to it: anchor texts
and the headings above them, by the number of links that use each; if that gives no keyword, title and headings. A word
of one list's headings alone says what the list is about, so it is not one. Stop words are those of English, which is
quoted everywhere, and of the page's language; in texts of links, of the languages of all lists that link to it. Among
equally frequent words the first are taken: titles before headings before text; anchor texts before headings, the most
used first, then by alphabet. Nothing depends on the numbers of pages. Pages that ask not to be indexed have none.

Pages that layers changed have their keywords in the file RECENT, among the words that were keywords before: new ones,
and how many pages have each, wait until all keywords are made again.
"""

import itertools
import secrets
import tempfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, UnknownWord
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.words.changes import ChangedPages
from cocite.words.documents import LinkTexts, texts_of_pages
from cocite.words.stored import Arrays, OpenedWords, Vocabulary, WordData, arrays_of, is_starts, rows_at, write_part
from cocite.words.tokens import DEFAULT_LANGUAGE, language_of, stop_words, terms_of

PER_PAGE = 20
MAX_PER_PAGE = 1000
MAX_CHARACTERS = 1 << 18  # characters of a page that are read: some 40,000 words, whose most frequent hardly change
MEMORY_BYTES = 1 << 29  # memory to collect anchor texts, about
RECENT = "recent.npz"  # keywords of pages that layers changed
CACHED_TEXTS = 1 << 16  # anchor texts and headings whose words are cached: many occur again and again


@dataclass(frozen=True)
class KeywordIndex:
    """The keywords of all pages of a store."""

    words: Vocabulary
    starts: NDArray[np.int64]  # where each page's keywords begin, and their end
    ids: NDArray[np.uint32]  # the keywords of each page, ascending
    counts: NDArray[np.uint32]  # how often each occurs in the page
    frequency: NDArray[np.uint32]  # pages with each word
    per_page: int
    made: str  # a random id, different each time they are made

    def ordered(self, page: int) -> list[tuple[int, int]]:
        """(keyword, how often it occurs in the page), the most frequent first, ties by alphabet."""
        row = slice(*self.starts[page : page + 2].tolist())
        return sorted(zip(self.ids[row].tolist(), self.counts[row].tolist(), strict=True), key=lambda pair: -pair[1])

    def find(self, text: str) -> list[int]:
        """The numbers of the words of a text; raises UnknownWord if one isn't a keyword of any page."""
        found = []
        for term in dict.fromkeys(terms_of(text)):
            at = self.words.find(term)
            if at is None:
                nearest = self.words.nearest(term, self.frequency)
                hint = f"did you mean {', '.join(nearest)}?" if nearest else "try another word"
                raise UnknownWord(f"Unknown keyword {term!r}; {hint}", nearest)
            found.append(at)
        if not found:
            raise BadParameter(f"{text[:100]!r} has no word that could be a keyword: give at least two letters")
        return found


def read_keywords(stored: OpenedWords) -> KeywordIndex:
    """Stored keywords, checked."""
    words, about = stored.vocabulary(), stored.side.about
    starts, ids, counts, frequency = map(stored.array, ("starts", "ids", "counts", "frequency"))
    stored.require(is_starts(starts, len(starts) - 1, len(ids)) and len(counts) == len(ids))
    if RECENT in stored.side.files:
        starts, ids, counts = with_recent(stored, starts, ids, counts)
    stored.require(len(starts) == stored.graph.pages + 1)
    stored.require(len(words) == len(frequency) and (not len(ids) or int(ids.max()) < len(words)))
    return KeywordIndex(words, starts, ids, counts, frequency, about["params"]["per_page"], str(about["made"]))


def with_recent(stored: OpenedWords, *base: NDArray[Any]) -> list[NDArray[Any]]:
    """Starts, keywords and counts of all pages, with those of changed pages in their places."""
    part, pages = stored.part(RECENT), stored.graph.pages
    rows = [part[f"keywords.{name}"] for name in ("starts", "ids", "counts")]
    stored.require(is_starts(rows[0], len(part["page"]), len(rows[1])) and len(rows[1]) == len(rows[2]))
    stored.require(len(base[0]) - 1 <= pages and int(part["page"].max(initial=0)) < max(1, pages))
    first, sizes = np.zeros(pages, np.int64), np.zeros(pages, np.int64)
    first[: len(base[0]) - 1], sizes[: len(base[0]) - 1] = base[0][:-1], np.diff(base[0])
    first[part["page"]], sizes[part["page"]] = len(base[1]) + rows[0][:-1], np.diff(rows[0])
    places = rows_at(first, sizes)
    both = (np.concatenate([old, new])[places] for old, new in zip(base[1:], rows[1:], strict=True))
    return [np.append(0, np.cumsum(sizes)), *both]


def follow_keywords(stored: OpenedWords, folder: Path, changed: ChangedPages) -> dict[str, Any]:
    """Add the keywords of changed pages to a folder with older ones."""
    words, terms = stored.vocabulary(), lru_cache(CACHED_TEXTS)(terms_of)
    per_page, graph = int(stored.side.about["params"]["per_page"]), stored.graph
    chosen: dict[int, list[tuple[str, int]]] = {page: [] for page in changed.pages.tolist()}
    for page, own, links in changed.texts:
        chosen[page] = keywords_of(own, links, graph.facts.language(page), terms, per_page)
    known = words.find_all([word for row in chosen.values() for word, _ in row])
    counts = np.array([count for row in chosen.values() for _, count in row], np.uint32)
    row = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen.values()])
    order = np.lexsort((known, row))
    order = order[known[order] >= 0]
    starts = np.searchsorted(row[order], np.arange(len(chosen) + 1)).astype(np.int64)
    rows: Arrays = {"starts": starts, "ids": known[order].astype(np.uint32), "counts": counts[order]}
    parts: list[Arrays] = [{"page": changed.pages, **{f"keywords.{name}": values for name, values in rows.items()}}]
    if RECENT in stored.side.files:
        parts.insert(0, stored.part(RECENT))
        (folder / RECENT).unlink()
    write_part(folder / RECENT, parts)
    return {}


def make_keywords(
    graph: Graph,
    per_page: int = PER_PAGE,
    progress: Progress = no_progress,
    memory: int = MEMORY_BYTES,
    folder: Path | None = None,
) -> KeywordIndex:
    """Choose keywords without storing them. Temporary files go to `folder`, or to the system's place for them."""
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise BadParameter(f"per_page is {per_page}: give a number from 1 to {MAX_PER_PAGE}")
    collected, terms = PageWords(graph.pages), lru_cache(CACHED_TEXTS)(terms_of)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        stage = "choosing keywords of pages"
        for page, own, links in texts_of_pages(graph, Path(temporary), memory, progress, stage, True):
            collected.add(page, dict(keywords_of(own, links, graph.facts.language(page), terms, per_page)))
    return collected.index(per_page)


def pack_keywords(graph: Graph, folder: Path, **options: Any) -> tuple[dict[str, Any], Arrays]:
    """New keywords as they are stored."""
    made = make_keywords(graph, folder=folder, **options)
    arrays = {name: getattr(made, name) for name in ("starts", "ids", "counts", "frequency")}
    return {"params": {"per_page": made.per_page}, "made": made.made}, arrays | arrays_of(words=made.words)


KEYWORDS = WordData("keywords", "keyword index", "keywords", 2, pack_keywords, read_keywords, follow_keywords)


class PageWords:
    """Counted words of pages, collected page by page."""

    def __init__(self, pages: int) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._ids, self._counts, self.sizes = array("I"), array("I"), np.zeros(pages, np.int64)

    def add(self, page: int, words: Mapping[str, int]) -> None:
        """Add the words of a page, each with its count."""
        self._ids.extend(map(self._numbers.__getitem__, words))
        self._counts.extend(words.values())
        self.sizes[page] = len(words)

    def index(self, per_page: int) -> KeywordIndex:
        """Number words by alphabet, and sort those of each page."""
        self.words = sorted(self._numbers)
        number = np.empty(len(self.words), np.uint32)
        number[[self._numbers[word] for word in self.words]] = np.arange(len(self.words), dtype=np.uint32)
        ids = number[np.array(self._ids, np.uint32)]
        order = np.lexsort((ids, np.repeat(np.arange(len(self.sizes)), self.sizes)))
        starts, counts = np.concatenate([[0], np.cumsum(self.sizes)]), np.array(self._counts, np.uint32)[order]
        frequency, vocabulary = np.bincount(ids, minlength=len(number)).astype(np.uint32), Vocabulary.of(self.words)
        return KeywordIndex(vocabulary, starts, ids[order], counts, frequency, per_page, secrets.token_hex(8))


def keywords_of(
    own: dict[str, str], links: LinkTexts, declared: str, terms: Callable[[str], list[str]], per_page: int
) -> list[tuple[str, int]]:
    """The keywords of a page, and how often each occurs."""
    sources = counted_words(own, links, declared, terms)
    return next(filter(None, (choose(words, stop, per_page) for words, stop in sources)), [])


def counted_words(
    own: dict[str, str], links: LinkTexts, declared: str, terms: Callable[[str], list[str]]
) -> Iterator[tuple[Counter[str], frozenset[str]]]:
    """Yield the counts of a page's words from each source, the best first, and their stop words."""
    named = f"{own['title']}\n{own['headings']}"
    if own["text"]:
        words = Counter(terms_of(f"{named}\n{own['text'][:MAX_CHARACTERS]}"))
        yield words, stop_words(language_of(words, declared)) | stop_words(DEFAULT_LANGUAGE)
    linked, lists = Counter[str](), Counter[str]()
    for text, count in links.anchors:
        for term in terms(text):
            linked[term] += count
    for text, count in links.headings:
        for term in dict.fromkeys(terms(text)):
            lists[term] += count
    for term, count in lists.items():
        if count > 1 or term in linked:
            linked[term] += count
    languages = {language_of(linked), DEFAULT_LANGUAGE, *(language for language, _ in links.languages)}
    yield linked, frozenset().union(*map(stop_words, languages))
    words = Counter(terms_of(named[:MAX_CHARACTERS]))
    yield words, stop_words(language_of(words, declared)) | stop_words(DEFAULT_LANGUAGE)


def choose(words: Counter[str], stop: frozenset[str], per_page: int) -> list[tuple[str, int]]:
    """The most frequent words that aren't stop words, nor pairs of characters that are; ties by first occurrence."""

    def is_kept(counted: tuple[str, int]) -> bool:
        word = counted[0]
        return word not in stop and not (len(word) == 2 and word[0] in stop and word[1] in stop)

    return list(islice(filter(is_kept, words.most_common()), per_page))
