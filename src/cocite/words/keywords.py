"""The keywords of pages: the most frequent words of each page that aren't stop words, stored as side data `keywords`.

The words of a page with text are those of its title, headings and text. Of others, those of links to it: anchor texts
and the headings above them, by the number of links that use each; if that gives no keyword, title and headings. Among
equally frequent words the first are taken: titles before headings before text; anchor texts before headings, the most
used first, then by alphabet. Nothing depends on the numbers of pages. Pages that ask not to be indexed have none.
"""

from __future__ import annotations

import secrets
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore, UnknownWord
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.side import only_one, read_side, ready_side, write_side
from cocite.graph.store import Graph
from cocite.words.documents import LinkTexts, texts_of_pages
from cocite.words.stop_words import language_of, stop_words
from cocite.words.tokens import terms_of
from cocite.words.vocabulary import Vocabulary, is_starts

NAME, TITLE = "keywords", "the keywords"
VERSION = 1
"""Keywords of another version are made again."""
STAGE = "choosing keywords of pages"
PER_PAGE = 20
MAX_PER_PAGE = 1000
MAX_CHARACTERS = 1 << 18
"""Characters of a page that are read: some 40,000 words, whose most frequent hardly change."""
MEMORY_BYTES = 1 << 29
"""Memory to collect anchor texts, about."""
CACHED_TEXTS = 1 << 16
"""Anchor texts and headings whose words are cached: many occur again and again."""
TYPES = {"starts": "<i8", "ids": "<u4", "counts": "<u4", "frequency": "<u4", "words.starts": "<i8", "words.data": "|u1"}


class KeywordParams(NamedTuple):
    """How keywords are chosen."""

    per_page: int = PER_PAGE


@dataclass(frozen=True)
class Keywords:
    """The keywords of all pages of a store."""

    words: Vocabulary
    starts: NDArray[np.int64]  # where each page's keywords begin, and their end
    ids: NDArray[np.uint32]  # the keywords of each page, ascending
    counts: NDArray[np.uint32]  # how often each occurs in the page
    frequency: NDArray[np.uint32]  # pages with each word
    params: KeywordParams
    made: str  # a random id, different each time they are made

    def of(self, page: int) -> NDArray[np.uint32]:
        """The keywords of a page, ascending."""
        return self.ids[self.starts[page] : self.starts[page + 1]]

    def ordered(self, page: int) -> list[tuple[int, int]]:
        """(keyword, how often it occurs in the page), the most frequent first, ties by alphabet."""
        row = slice(*self.starts[page : page + 2].tolist())
        return sorted(zip(self.ids[row].tolist(), self.counts[row].tolist(), strict=True), key=lambda pair: -pair[1])

    def id(self, word: str) -> int | None:
        """The number of a word in any spelling; None if it isn't a keyword of any page."""
        terms = terms_of(word)
        return self.words.find(terms[0]) if len(terms) == 1 else None

    def find(self, text: str) -> list[int]:
        """The numbers of the words of a text; raises UnknownWord if one isn't a keyword of any page."""
        found = []
        for term in dict.fromkeys(terms_of(text)):
            at = self.words.find(term)
            if at is None:
                raise UnknownWord(*self._unknown(term))
            found.append(at)
        if not found:
            raise BadParameter(f"{text[:100]!r} has no word that could be a keyword: give at least two letters")
        return found

    def _unknown(self, term: str) -> tuple[str, list[str]]:
        nearest = self.words.nearest(term, self.frequency)
        hint = f"did you mean {', '.join(nearest)}?" if nearest else "try another word"
        return f"Unknown keyword {term!r}; {hint}", nearest


def build_keywords(graph: Graph, per_page: int = PER_PAGE, progress: Progress = no_progress) -> Keywords:
    """Choose keywords and store them."""
    with only_one(graph, NAME, TITLE):
        return store_new(graph, per_page, progress)


def ready_keywords(graph: Graph, progress: Progress = no_progress) -> Keywords:
    """The keywords of a store, chosen and stored if there are none yet."""
    read, make = partial(open_keywords, graph), partial(store_new, graph, PER_PAGE, progress)
    return ready_side(graph, NAME, TITLE, read, make)


def store_new(graph: Graph, per_page: int, progress: Progress) -> Keywords:
    """Choose keywords and write them beside the store; return them as they are stored."""
    about: dict[str, Any] = {"version": VERSION}

    def write(folder: Path, writer: Writer) -> None:
        made = make_keywords(graph, per_page, progress, folder=folder)
        about.update(params=made.params._asdict(), made=made.made)
        for name in ("starts", "ids", "counts", "frequency"):
            writer.append(name, getattr(made, name))
        writer.append("words.starts", made.words.starts)
        writer.append("words.data", made.words.data)

    write_side(graph, NAME, about, write)
    return open_keywords(graph)


def make_command(graph: Graph) -> str:
    """The command that makes keywords."""
    return f"cocite keywords --make -i {quote(str(graph.path))}"


def open_keywords(graph: Graph) -> Keywords:
    """The stored keywords; raises BadStore if there are none, or if they are damaged or of another version."""
    command = make_command(graph)
    side = read_side(graph, NAME, command)
    if side is None:
        raise BadStore(f"{graph.path} has no keywords yet: make them with {command}")
    if side.about.get("version") != VERSION:
        raise BadStore(f"the keywords of {graph.path} are of another version: make them again with {command}")
    found = {name: side.array(name) for name in TYPES}
    starts, ids, words, data = (found[name] for name in ("starts", "ids", "words.starts", "words.data"))
    valid = (
        all(values.dtype == TYPES[name] for name, values in found.items())
        and is_starts(starts, graph.pages, len(ids))
        and len(found["counts"]) == len(ids)
        and is_starts(words, len(found["frequency"]), len(data))
        and (not len(ids) or int(ids.max()) < len(found["frequency"]))
    )
    if not valid:
        raise BadStore(f"the keywords of {graph.path} are damaged: make them again with {command}")
    params, made = KeywordParams(**side.about["params"]), str(side.about["made"])
    return Keywords(Vocabulary(words, data), starts, ids, found["counts"], found["frequency"], params, made)


def make_keywords(
    graph: Graph,
    per_page: int = PER_PAGE,
    progress: Progress = no_progress,
    memory: int = MEMORY_BYTES,
    folder: Path | None = None,
) -> Keywords:
    """Choose keywords without storing them. Temporary files go to `folder`, or to the system's place for them."""
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise BadParameter(f"per_page is {per_page}: give a number from 1 to {MAX_PER_PAGE}")
    numbers: dict[str, int] = {}
    ids, counts, sizes = array("I"), array("I"), np.zeros(graph.pages, np.int64)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        for page, chosen in chosen_words(graph, per_page, Path(temporary), memory, progress):
            ids.extend(numbers.setdefault(word, len(numbers)) for word, _ in chosen)
            counts.extend(count for _, count in chosen)
            sizes[page] = len(chosen)
    return arranged(list(numbers), sizes, np.array(ids, np.uint32), np.array(counts, np.uint32), per_page)


def arranged(
    words: list[str], sizes: NDArray[np.int64], ids: NDArray[np.uint32], counts: NDArray[np.uint32], per_page: int
) -> Keywords:
    """Number words by alphabet, and sort those of each page."""
    alphabet = sorted(range(len(words)), key=words.__getitem__)
    number = np.empty(len(words), np.uint32)
    number[alphabet] = np.arange(len(words), dtype=np.uint32)
    ids = number[ids]
    order = np.lexsort((ids, np.repeat(np.arange(len(sizes)), sizes)))
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    frequency = np.bincount(ids, minlength=len(words)).astype(np.uint32)
    vocabulary, params = Vocabulary.of(words[at] for at in alphabet), KeywordParams(per_page)
    return Keywords(vocabulary, starts, ids[order], counts[order], frequency, params, secrets.token_hex(8))


def chosen_words(
    graph: Graph, per_page: int, folder: Path, memory: int, progress: Progress
) -> Iterator[tuple[int, Sequence[tuple[str, int]]]]:
    """Yield (page, its keywords with their counts), the most frequent first, in page order."""
    terms = lru_cache(CACHED_TEXTS)(terms_of)
    languages = graph.array("page.language")
    for page, own, links in texts_of_pages(graph, folder, memory, progress, STAGE):
        declared = graph.facts.language(page) if len(languages) else ""
        for words, language in counted_words(own, links, declared, terms):
            if chosen := choose(words, language, per_page):
                yield page, chosen
                break


def counted_words(
    own: dict[str, str], links: LinkTexts, declared: str, terms: Callable[[str], list[str]]
) -> Iterator[tuple[Counter[str], str]]:
    """Yield the counts of a page's words from each source, the best first, and the declared language."""
    named = f"{own['title']}\n{own['headings']}"
    if own["text"]:
        yield Counter(terms_of(f"{named}\n{own['text'][:MAX_CHARACTERS]}")), declared
    if links.anchors or links.headings:
        words: Counter[str] = Counter()
        for text, count in (*links.anchors, *links.headings):
            for term in terms(text):
                words[term] += count
        yield words, ""
    if not named.isspace():
        yield Counter(terms_of(named[:MAX_CHARACTERS])), declared


def choose(words: Counter[str], declared: str, per_page: int) -> list[tuple[str, int]]:
    """The most frequent words that aren't stop words, nor pairs of characters that are; ties by first occurrence."""
    stop = stop_words(language_of(words, declared))
    kept = (
        (word, count)
        for word, count in words.most_common()
        if word not in stop and not (len(word) == 2 and word[0] in stop and word[1] in stop)
    )
    return list(islice(kept, per_page))
