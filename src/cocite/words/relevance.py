"""How relevant keywords are to each other: on the same pages, and by links (Zhao et al. 2016, §3.1–3.4).

For two different words, over the N pages that have keywords:

    support S             pages with both / N
    mutual information M  Σ p(x1, x2) · log(p(x1, x2) / (p(x1) · p(x2))) over the four cells of presence, 0 · log 0 = 0
    confidence C(w1 → w2) pages with w1 that link to a page with w2 / pages with w1; 0 if fewer than 5 pages have w1

    r_s(w1, w2) = alpha · S + (1 - alpha) · M,  r_s(w, w) = 1      similar
    r_l(w1 → w2) = beta · S + (1 - beta) · C,   r_l(w, w) = 1      one leads to the other

r_l may have M in the place of S (§3.4). S, M and C are normalised to 0 … 1 by their lowest and highest value over all
pairs of different words, including pairs that never occur; if all values are equal, to 1 if they are above 0, else 0.
Words on no page are ignored. The paper doesn't define r_l(w, w): a link between two pages of one keyword isn't weak.

Only the counts of pairs that occur are stored. Other pairs have S = 0, C = 0, and M from the frequencies of the words,
which isn't small: two frequent words that avoid each other say much. So nothing is lost, and alpha and beta can change
without counting again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cocite.errors import BadStore
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.side import only_one, read_side, ready_side, write_side
from cocite.graph.store import Graph
from cocite.kernels.words.keyword_pairs import (
    Pairs,
    Range,
    Rows,
    Statistics,
    absent_values,
    logical_values,
    mutual_range,
    similar_values,
)
from cocite.words.keywords import Keywords, make_command
from cocite.words.pair_counts import count_both, in_parts, ranges, reached_words, row_of, shares, transposed
from cocite.words.vocabulary import is_starts

SUPPORT, INFORMATION = "support", "information"
"""What r_l combines with confidence."""
MIN_CONFIDENCE_PAGES = 5
STAGE, STEPS = "counting keywords of pages", 4
NAME, TITLE, VERSION = "relevance", "the keyword relevance", 1
TYPES = {"starts": "<i8", "columns": "<u4", "other": "<u4", "times": "<u4"}


class RelevanceMatrix(NamedTuple):
    """Relevance of all words to others: `value[starts[w]:starts[w + 1]]` to `other[...]`, ascending."""

    starts: NDArray[np.int64]
    other: NDArray[np.uint32]
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Relevance:
    """Counts of pairs of keywords, and their relevance.

    There are many times more linked pairs than pairs on one page, so a row of those is counted when it is needed.
    """

    pages: int  # that have keywords
    pages_of: Rows  # the pages of each word
    both: Pairs  # pages with both words, in either order
    reached: Rows  # the words of the pages that each page links to
    support: Range
    mutual: Range
    confidence: Range
    alpha: float = 0.5
    beta: float = 0.5
    beside: str = SUPPORT

    @cached_property
    def frequency(self) -> NDArray[np.uint32]:
        """The number of pages with each word."""
        return np.diff(self.pages_of.starts).astype(np.uint32)

    @cached_property
    def statistics(self) -> Statistics:
        """What normalises relevance, for kernels."""
        return Statistics(self.frequency, self.pages, self.support, self.mutual, self.confidence)

    @cached_property
    def similar(self) -> RelevanceMatrix:
        """r_s of all pairs that occur together."""
        starts, value = self.both.starts, np.empty(len(self.both.other), np.float64)

        def fill(first: int, last: int) -> None:
            part = value[starts[first] : starts[last]]
            similar_values(self.both, self.statistics, self.alpha, first, last, part)

        in_parts(ranges(starts), fill)
        return RelevanceMatrix(starts, self.both.other, value)

    def similar_to(self, word: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words that occur together with a word, ascending, and their r_s."""
        start, stop = self.both.starts[word : word + 2].tolist()
        value = np.empty(stop - start, np.float64)
        similar_values(self.both, self.statistics, self.alpha, word, word + 1, value)
        return self.both.other[start:stop], value

    def led_to_by(self, word: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words that occur together with a word or are linked from its pages, ascending, and their r_l."""
        start, stop = self.both.starts[word : word + 2].tolist()
        both = Pairs(np.array([0, stop - start]), self.both.other[start:stop], self.both.times[start:stop])
        linked = row_of(self.pages_of, self.reached, len(self.frequency), word, MIN_CONFIDENCE_PAGES)
        maximum = len(both.other) + len(linked.other)
        other, value = np.empty(maximum, np.uint32), np.empty(maximum, np.float64)
        size = logical_values(word, both, linked, self.statistics, self.beta, self.measure, other, value)
        return other[:size], value[:size]

    def absent(self, frequency_a: int, frequency_b: ArrayLike) -> NDArray[np.float64]:
        """r_s of a word with words that never occur together with it, from their numbers of pages."""
        return (1 - self.alpha) * self._information(frequency_a, frequency_b)

    def all_similar(self, word: int) -> NDArray[np.float64]:
        """r_s of a word with every word."""
        values = self.absent(int(self.frequency[word]), self.frequency)
        others, known = self.similar_to(word)
        values[others] = known
        values[word] = 1.0
        return values

    def all_led_to(self, word: int) -> NDArray[np.float64]:
        """r_l from a word to every word."""
        share = self.beta if self.beside == INFORMATION else 0.0
        values = share * self._information(int(self.frequency[word]), self.frequency)
        others, known = self.led_to_by(word)
        values[others] = known
        values[word] = 1.0
        return values

    def meet(self, a: int, b: int) -> bool:
        """Whether some page has both words."""
        row = self.both.other[self.both.starts[a] : self.both.starts[a + 1]]
        at = int(np.searchsorted(row, np.uint32(b)))
        return at < len(row) and int(row[at]) == b

    @property
    def measure(self) -> tuple[bool, float, float]:
        """What r_l combines with confidence, for kernels: (is it information, its lowest and highest value)."""
        return (True, *self.mutual) if self.beside == INFORMATION else (False, *self.support)

    def _information(self, frequency_a: int, frequency_b: ArrayLike) -> NDArray[np.float64]:
        """Normalised mutual information of words that never occur together."""
        others = np.atleast_1d(np.asarray(frequency_b)).astype(np.uint32)
        values = np.empty(len(others), np.float64)
        absent_values(int(frequency_a), others, self.statistics, values)
        return values


def count_relevance(words: Rows, vocabulary: int, links: Rows, progress: Progress = no_progress) -> Relevance:
    """Count the relevance of keywords: `words` are those of each page, ascending, `links` the pages it links to."""
    total = len(words.starts) - 1

    def step(number: int) -> None:
        progress(STAGE, total * number // STEPS - total * (number - 1) // STEPS, total)

    pages, pages_of = int(np.count_nonzero(np.diff(words.starts))), transposed(words, vocabulary)
    frequency = np.diff(pages_of.starts).astype(np.uint32)
    all_pairs = int(np.count_nonzero(frequency)) * (int(np.count_nonzero(frequency)) - 1)
    both = count_both(words, pages_of)
    step(1)
    support = Range(0.0, 0.0)
    if len(both.times):  # pairs that never occur have support 0
        low = int(both.times.min()) if len(both.times) == all_pairs else 0
        support = Range(low / pages, int(both.times.max()) / pages)
    mutual = information_range(both, frequency, pages)
    step(2)
    reached = reached_words(words, links, vocabulary)
    step(3)
    lowest, highest, linked = shares(pages_of, reached, vocabulary, MIN_CONFIDENCE_PAGES)
    confidence = Range(lowest if linked == all_pairs else 0.0, highest) if linked else Range(0.0, 0.0)
    step(4)
    return Relevance(pages, pages_of, both, reached, support, mutual, confidence)


def information_range(both: Pairs, frequency: NDArray[np.uint32], pages: int) -> Range:
    """The range of mutual information, including pairs that never occur."""
    order = np.argsort(frequency, kind="stable")[np.count_nonzero(frequency == 0) :]
    if len(order) < 2:
        return Range(0.0, 0.0)

    def part(first: int, last: int) -> tuple[float, float]:
        marks = np.zeros(len(frequency), np.int64)
        found: tuple[float, float] = mutual_range(both, frequency, pages, order, first, last, marks)
        return found

    lows, highs = zip(*in_parts(ranges(both.starts + np.arange(len(both.starts))), part), strict=True)
    return Range(min(lows), max(highs))


# ---------------------------------------------------------------------------------------------------- beside the store


def make_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """Count relevance without storing it."""
    words = Rows(np.asarray(keywords.starts), np.asarray(keywords.ids))
    return count_relevance(words, len(keywords.words), links_of(graph), progress)


def links_of(graph: Graph) -> Rows:
    """All out-links."""
    starts, targets, at = np.zeros(graph.pages + 1, np.int64), np.empty(graph.links, np.uint32), 0
    np.cumsum(graph.out_degree, out=starts[1:])
    for _, ends, links in graph.iter_links():
        if at + int(ends[-1]) > len(targets) or int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        targets[at : at + len(links.targets)] = links.targets
        at += len(links.targets)
    if at != starts[-1]:
        raise graph.damaged()
    return Rows(starts, targets[:at])


def build_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """Count relevance and store it."""
    with only_one(graph, NAME, TITLE):
        return store_new(graph, keywords, progress)


def ready_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """The keyword relevance of a store, counted and stored if there is none of these keywords."""
    read, make = partial(open_relevance, graph, keywords), partial(store_new, graph, keywords, progress)
    return ready_side(graph, NAME, TITLE, read, make)


def store_new(graph: Graph, keywords: Keywords, progress: Progress) -> Relevance:
    """Count relevance and write it beside the store; return it as it is stored."""
    made = make_relevance(graph, keywords, progress)

    def write(_: Path, writer: Writer) -> None:
        for name in ("pages_of", "both", "reached"):
            for part, values in getattr(made, name)._asdict().items():
                writer.append(f"{name}.{part}", values)

    ranges = {name: list(getattr(made, name)) for name in ("support", "mutual", "confidence")}
    about = {"version": VERSION, "keywords": keywords.made, "pages": made.pages, "ranges": ranges}
    write_side(graph, NAME, about, write)
    return open_relevance(graph, keywords)


def open_relevance(graph: Graph, keywords: Keywords) -> Relevance:
    """The stored keyword relevance; raises BadStore if there is none, or if it is damaged or of other keywords."""
    command = make_command(graph)
    side = read_side(graph, NAME, command)
    if side is None:
        raise BadStore(f"{graph.path} has no keyword relevance yet: make it with {command}")
    if side.about.get("version") != VERSION or side.about.get("keywords") != keywords.made:
        raise BadStore(f"the keyword relevance of {graph.path} is of other keywords: make it again with {command}")

    def part(name: str, fields: tuple[str, ...], rows: int, columns: int) -> list[NDArray[Any]]:
        values = [side.array(f"{name}.{field}") for field in fields]
        valid = all(array.dtype == TYPES[field] for array, field in zip(values, fields, strict=True))
        valid = valid and all(is_starts(values[0], rows, len(others)) for others in values[1:])
        if not valid or int(values[1].max(initial=0)) >= max(1, columns):
            raise BadStore(f"the keyword relevance of {graph.path} is damaged: make it again with {command}")
        return values

    words, pages = len(keywords.words), graph.pages
    pages_of = Rows(*part("pages_of", Rows._fields, words, pages))
    both = Pairs(*part("both", Pairs._fields, words, words))
    reached = Rows(*part("reached", Rows._fields, pages, words))
    support, mutual, confidence = (Range(*side.about["ranges"][name]) for name in ("support", "mutual", "confidence"))
    return Relevance(int(side.about["pages"]), pages_of, both, reached, support, mutual, confidence)
