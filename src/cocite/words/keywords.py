"""The keywords of pages: the most frequent words of each that are not stop words, kept as side data `keywords`.

A page's words are those of its title, headings and text, if it was fetched and has a text. Otherwise what links to it
say: their texts, and the headings under which they stand, each as often as links use it; and if that gives no keyword,
title and headings alone. Of words that are equally frequent, those that appear first are taken: titles before headings
before texts; of what links say, texts before headings, the most used first, then by the alphabet. Nothing depends on
the numbers of pages. Pages that ask not to be indexed have no keywords.
"""

from __future__ import annotations

import secrets
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore, UnknownWord
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.side import Side, only_one, read_side, ready_side, write_side
from cocite.graph.store import Graph
from cocite.words.documents import LinkTexts, texts_of_pages
from cocite.words.stop_words import language_of, stop_words
from cocite.words.tokens import terms_of
from cocite.words.vocabulary import Vocabulary, is_starts

NAME = "keywords"
VERSION = 1
"""Of what a keyword is; others are made again."""
STAGE = "choosing keywords of pages"
PER_PAGE = 20
MOST_PER_PAGE = 1000
LONGEST = 1 << 18
"""Characters of a page that are read: some 40,000 words, whose most frequent hardly change."""
MEMORY = 1 << 29
"""Bytes that gathering what links say may use, roughly."""
CACHED = 1 << 16
"""Texts of links whose words are remembered: headings, and names of much-cited pages, come again and again."""
TYPES = {"starts": "<i8", "ids": "<u4", "counts": "<u4", "frequency": "<u4", "words.starts": "<i8", "words.data": "|u1"}


class KeywordParams(NamedTuple):
    """How keywords were chosen."""

    per_page: int = PER_PAGE


@dataclass(frozen=True)
class Keywords:
    """The keywords of all pages of a store."""

    words: Vocabulary
    starts: NDArray[np.int64]  # where each page's keywords begin, and their end
    ids: NDArray[np.uint32]  # the keywords of each page, ascending
    counts: NDArray[np.uint32]  # how often each stands in the page
    frequency: NDArray[np.uint32]  # how many pages have each word
    params: KeywordParams
    made: str  # tells one making from another

    def of(self, page: int) -> NDArray[np.uint32]:
        """The keywords of a page, ascending."""
        return self.ids[self.starts[page] : self.starts[page + 1]]

    def ordered(self, page: int) -> list[tuple[int, int]]:
        """(keyword, how often it stands in the page), the most frequent first, then by the alphabet."""
        row = slice(*self.starts[page : page + 2].tolist())
        return sorted(zip(self.ids[row].tolist(), self.counts[row].tolist(), strict=True), key=lambda pair: -pair[1])

    def id(self, word: str) -> int | None:
        """The number of a word as it may be written; None if it is no keyword of any page."""
        terms = terms_of(word)
        return self.words.find(terms[0]) if len(terms) == 1 else None

    def find(self, text: str) -> list[int]:
        """The numbers of the words of a text; raises UnknownWord if one is no keyword of any page."""
        found = []
        for term in dict.fromkeys(terms_of(text)):
            at = self.words.find(term)
            if at is None:
                raise UnknownWord(*self._unknown(term))
            found.append(at)
        if not found:
            raise BadParameter(f"{text[:100]!r} has no word that could be a keyword: give some letters")
        return found

    def _unknown(self, term: str) -> tuple[str, list[str]]:
        nearest = self.words.nearest(term, self.frequency)
        hint = f"known are {', '.join(nearest)}" if nearest else "try another word"
        return f"{term} is no keyword of any page; {hint}", nearest


def build_keywords(graph: Graph, per_page: int = PER_PAGE, progress: Progress = no_progress) -> Keywords:
    """Choose keywords, and keep them beside the store."""
    with only_one(graph, NAME, "the keywords"):
        return keep_new(graph, per_page, progress)


def ready_keywords(graph: Graph, progress: Progress = no_progress) -> Keywords:
    """The keywords of a store, made and kept if there are none that fit."""
    read, make = partial(open_keywords, graph), partial(keep_new, graph, PER_PAGE, progress)
    return ready_side(graph, NAME, "the keywords", read, make)


def keep_new(graph: Graph, per_page: int, progress: Progress) -> Keywords:
    """Choose keywords and write them beside the store; returns them as they are kept."""
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
    """What to type to have keywords made."""
    return f"cocite keywords --make -i {quote(str(graph.path))}"


def kept_keywords(graph: Graph) -> Keywords | None:
    """The keywords that are kept; None if there are none. Raises BadStore if they are stale or damaged."""
    side = read_side(graph, NAME, make_command(graph))
    return None if side is None else read_keywords(graph, side)


def open_keywords(graph: Graph) -> Keywords:
    """The keywords of a store; raises BadStore, which says how to make them, if there are none that fit."""
    found = kept_keywords(graph)
    if found is None:
        raise BadStore(f"{graph.path} has no keywords yet: make them with {make_command(graph)}")
    return found


def read_keywords(graph: Graph, side: Side) -> Keywords:
    """Keywords out of side data; refuses what contradicts itself."""
    if side.about.get("version") != VERSION:
        raise BadStore(f"the keywords of {graph.path} are of another version: make them with {make_command(graph)}")
    found = {name: side.array(name) for name in TYPES}
    starts, ids, words, data = (found[name] for name in ("starts", "ids", "words.starts", "words.data"))
    whole = (
        all(values.dtype == TYPES[name] for name, values in found.items())
        and is_starts(starts, graph.pages, len(ids))
        and len(found["counts"]) == len(ids)
        and is_starts(words, len(found["frequency"]), len(data))
        and (not len(ids) or int(ids.max()) < len(found["frequency"]))
    )
    if not whole:
        raise BadStore(f"the keywords of {graph.path} are damaged: make them again with {make_command(graph)}")
    params, made = KeywordParams(**side.about["params"]), str(side.about["made"])
    return Keywords(Vocabulary(words, data), starts, ids, found["counts"], found["frequency"], params, made)


def make_keywords(
    graph: Graph,
    per_page: int = PER_PAGE,
    progress: Progress = no_progress,
    memory: int = MEMORY,
    folder: Path | None = None,
) -> Keywords:
    """Choose keywords; nothing is kept. Files for passing use go to `folder`, or where the system has them."""
    if not 1 <= per_page <= MOST_PER_PAGE:
        raise BadParameter(f"per_page is {per_page}: give a number from 1 to {MOST_PER_PAGE}")
    numbers: dict[str, int] = {}
    ids, counts, sizes = array("I"), array("I"), np.zeros(graph.pages, np.int64)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as passing:
        for page, chosen in chosen_words(graph, per_page, Path(passing), memory, progress):
            ids.extend(numbers.setdefault(word, len(numbers)) for word, _ in chosen)
            counts.extend(count for _, count in chosen)
            sizes[page] = len(chosen)
    return arranged(list(numbers), sizes, np.array(ids, np.uint32), np.array(counts, np.uint32), per_page)


def arranged(
    words: list[str], sizes: NDArray[np.int64], ids: NDArray[np.uint32], counts: NDArray[np.uint32], per_page: int
) -> Keywords:
    """Words in the order of the alphabet, and those of each page likewise."""
    alphabet = sorted(range(len(words)), key=words.__getitem__)
    number = np.empty(len(words), np.uint32)
    number[alphabet] = np.arange(len(words), dtype=np.uint32)
    ids = number[ids]
    order = np.lexsort((ids, np.repeat(np.arange(len(sizes)), sizes)))
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    frequency = np.bincount(ids, minlength=len(words)).astype(np.uint32)
    vocabulary = Vocabulary.of(words[at] for at in alphabet)
    return Keywords(
        vocabulary, starts, ids[order], counts[order], frequency, KeywordParams(per_page), secrets.token_hex(8)
    )


def chosen_words(
    graph: Graph, per_page: int, folder: Path, memory: int, progress: Progress
) -> Iterator[tuple[int, Sequence[tuple[str, int]]]]:
    """(page, its keywords with how often each stands in it), the most frequent first, in page order."""
    terms = lru_cache(CACHED)(terms_of)
    languages = graph.array("page.language")
    for page, own, said in texts_of_pages(graph, folder, memory, progress, STAGE):
        noted = graph.facts.language(page) if len(languages) else ""
        for count, language in counted_words(own, said, noted, terms):
            if chosen := choose(count, language, per_page):
                yield page, chosen
                break


def counted_words(
    own: dict[str, str], said: LinkTexts, noted: str, terms: Callable[[str], list[str]]
) -> Iterator[tuple[Counter[str], str]]:
    """The words of a page, counted, from the best source to the least; with the language that was noted of them."""
    named = f"{own['title']}\n{own['headings']}"
    if own["text"]:
        yield Counter(terms_of(f"{named}\n{own['text'][:LONGEST]}")), noted
    if said.anchors or said.headings:
        words: Counter[str] = Counter()
        for text, times in (*said.anchors, *said.headings):
            for term in terms(text):
                words[term] += times
        yield words, ""
    if not named.isspace():
        yield Counter(terms_of(named[:LONGEST])), noted


def choose(words: Counter[str], noted: str, per_page: int) -> list[tuple[str, int]]:
    """The most frequent that are not stop words; of equally frequent ones those that were met first."""
    stop, chosen = stop_words(language_of(words, noted)), []
    for word, count in words.most_common():
        # Two characters each of which is a stop word by itself make none that says anything.
        if word not in stop and not (len(word) == 2 and word[0] in stop and word[1] in stop):
            chosen.append((word, count))
            if len(chosen) == per_page:
                break
    return chosen
