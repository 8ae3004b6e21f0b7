"""How relevant keywords are to each other (Zhao et al., sections 3.1–3.4): by standing on the same pages, and by links.

Over the N pages that have keywords, and for two different words:

    support S           pages with both / N
    mutual information M  Σ p(x1, x2) · log(p(x1, x2) / (p(x1) · p(x2))) over the four cells of presence, 0 · log 0 = 0
    confidence C(w1 → w2) pages with w1 that link to a page with w2 / pages with w1; 0 if fewer than 5 pages have w1

    r_s(w1, w2) = alpha · S + (1 - alpha) · M,  r_s(w, w) = 1      alike
    r_l(w1 → w2) = beta · S + (1 - beta) · C,   r_l(w, w) = 1      one leads to the other

or with M in the place of S, where r_l is to have mutual information beside confidence (section 3.4);

S, M and C are each normalised to 0 … 1 by the least and greatest value over all pairs of different words, those that
never meet included; where all values are the same, 1 if it is above 0, else 0. Words on no page are no words here. The
paper does not say what r_l(w, w) is: a link between two pages of one keyword is not a weak one.

What is kept are the counts, of pairs that occur only. A pair that never does has S = 0, C = 0, and M by its words'
frequencies alone, which is not small: two frequent words that avoid each other tell much. So nothing is left out, and
alpha and beta can be changed without counting again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cocite.graph.generation import Progress, no_progress
from cocite.kernels.words.keyword_pairs import Pairs, Rows, absent_values, logical_values, mutual_range, similar_values
from cocite.words.pair_counts import (
    STAGE,
    count_both,
    in_parts,
    product,
    ranges,
    reached_words,
    row_of,
    shares,
    transposed,
)

SUPPORT, INFORMATION = "support", "information"
"""What r_l has beside confidence."""
LEAST_PAGES = 5
"""Pages that must have a word for its confidence to count."""
STEPS = 4
"""Of counting. Each is told as a part of the pages."""


class Range(NamedTuple):
    """Least and greatest value over all pairs of different words."""

    least: float
    most: float


class Sparse(NamedTuple):
    """Relevance to other words, of all words: `other[starts[w]:starts[w + 1]]`, ascending, and `value` likewise."""

    starts: NDArray[np.int64]
    other: NDArray[np.uint32]
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Relevance:
    """Counts of pairs of keywords, and the relevance that follows from them.

    What is linked is many times what occurs together, so it is not kept: a row of it is counted when it is asked for.
    """

    pages: int  # that have keywords
    pages_of: Rows  # the pages of each word
    both: Pairs  # pages with both words; both ways round
    reached: Rows  # the words of the pages to which each page links
    support: Range
    mutual: Range
    confidence: Range
    alpha: float = 0.5
    beta: float = 0.5
    beside: str = SUPPORT

    @cached_property
    def frequency(self) -> NDArray[np.uint32]:
        """How many pages have each word."""
        return np.diff(self.pages_of.starts).astype(np.uint32)

    @cached_property
    def linked(self) -> Pairs:
        """How many pages of one word link to a page of another, of words that LEAST_PAGES have."""
        return product(self.pages_of, self.reached, len(self.frequency), LEAST_PAGES)

    @cached_property
    def similar(self) -> Sparse:
        """r_s of all pairs that occur together."""
        starts, value = self.both.starts, np.empty(len(self.both.other), np.float64)
        in_parts(ranges(starts), lambda a, b: self._fill_similar(a, b, value[starts[a] : starts[b]]))
        return Sparse(starts, self.both.other, value)

    @cached_property
    def logical(self) -> Sparse:
        """r_l of all pairs that occur together or are linked, in that direction; `apart` has that of others."""
        counts = (self.both, self.linked, self.frequency)
        parts, sizes = ranges(self.both.starts + self.linked.starts), np.zeros(len(self.frequency), np.int64)
        in_parts(parts, lambda a, b: self._fill_logical(*counts, a, b, sizes[a:b], *_NO_ROW))
        for a, b in parts:
            sizes[a:b] = np.diff(sizes[a:b], prepend=0)
        starts = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        other, value = np.empty(int(starts[-1]), np.uint32), np.empty(int(starts[-1]), np.float64)

        def fill(a: int, b: int) -> None:
            row = slice(int(starts[a]), int(starts[b]))
            self._fill_logical(*counts, a, b, sizes[a:b], other[row], value[row])

        in_parts(parts, fill)
        return Sparse(starts, other, value)

    def similar_to(self, word: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words that occur together with one, ascending, and their r_s."""
        start, stop = self.both.starts[word : word + 2].tolist()
        value = np.empty(stop - start, np.float64)
        self._fill_similar(word, word + 1, value)
        return self.both.other[start:stop], value

    def led_to_by(self, word: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words that occur together with one or are linked from its pages, ascending, and r_l from it to them."""
        start, stop = self.both.starts[word : word + 2].tolist()
        both = Pairs(np.array([0, stop - start]), self.both.other[start:stop], self.both.times[start:stop])
        linked = row_of(self.pages_of, self.reached, len(self.frequency), word, LEAST_PAGES)
        most = len(both.other) + len(linked.other)
        end, other, value = np.zeros(1, np.int64), np.empty(most, np.uint32), np.empty(most, np.float64)
        self._fill_logical(both, linked, self.frequency[word : word + 1], 0, 1, end, other, value)
        return other[: end[0]], value[: end[0]]

    def absent(self, frequency_a: int, frequency_b: ArrayLike) -> NDArray[np.float64]:
        """r_s of a word on so many pages with words on so many, where they never occur together."""
        return (1 - self.alpha) * self._information(frequency_a, frequency_b)

    def apart(self, frequency_a: int, frequency_b: ArrayLike) -> NDArray[np.float64]:
        """r_l of a word on so many pages to words on so many, where they neither occur together nor are linked."""
        share = self.beta if self.beside == INFORMATION else 0.0
        return share * self._information(frequency_a, frequency_b)

    def all_similar(self, word: int) -> NDArray[np.float64]:
        """r_s of a word with every word."""
        values = self.absent(int(self.frequency[word]), self.frequency)
        others, known = self.similar_to(word)
        values[others] = known
        values[word] = 1.0
        return values

    def all_led_to(self, word: int) -> NDArray[np.float64]:
        """r_l from a word to every word."""
        values = self.apart(int(self.frequency[word]), self.frequency)
        others, known = self.led_to_by(word)
        values[others] = known
        values[word] = 1.0
        return values

    def meet(self, a: int, b: int) -> bool:
        """Whether some page has both words."""
        row = self.both.other[self.both.starts[a] : self.both.starts[a + 1]]
        at = int(np.searchsorted(row, np.uint32(b)))
        return at < len(row) and int(row[at]) == b

    def r_s(self, a: int, b: int) -> float:
        """How alike two words are."""
        if a == b:
            return 1.0
        found = _value_of(b, *self.similar_to(a))
        return float(self.absent(int(self.frequency[a]), int(self.frequency[b]))[0]) if found is None else found

    def r_l(self, a: int, b: int) -> float:
        """How much one word leads to another."""
        if a == b:
            return 1.0
        found = _value_of(b, *self.led_to_by(a))
        return float(self.apart(int(self.frequency[a]), int(self.frequency[b]))[0]) if found is None else found

    @property
    def measure(self) -> tuple[bool, float, float]:
        """What r_l has beside confidence, for loops: whether it is information, its least and its greatest value."""
        chosen = self.mutual if self.beside == INFORMATION else self.support
        return self.beside == INFORMATION, chosen.least, chosen.most

    def _information(self, frequency_a: int, frequency_b: ArrayLike) -> NDArray[np.float64]:
        """Normalised mutual information of words that never occur together."""
        others = np.atleast_1d(np.asarray(frequency_b)).astype(np.uint32)
        values = np.empty(len(others), np.float64)
        absent_values(int(frequency_a), others, self.pages, tuple(self.mutual), values)
        return values

    def _fill_similar(self, first: int, last: int, value: NDArray[np.float64]) -> None:
        weights = (self.alpha, tuple(self.support), tuple(self.mutual))
        similar_values(self.both, self.frequency, self.pages, first, last, *weights, value)

    def _fill_logical(
        self, both: Pairs, linked: Pairs, own: NDArray[np.uint32], first: int, last: int, *room: NDArray[Any]
    ) -> None:
        weights = (self.beta, self.measure, tuple(self.confidence))
        logical_values(both, linked, own, self.frequency, self.pages, first, last, *weights, *room)


_NO_ROW = (np.empty(0, np.uint32), np.empty(0, np.float64))


def _value_of(word: int, others: NDArray[np.uint32], values: NDArray[np.float64]) -> float | None:
    at = int(np.searchsorted(others, np.uint32(word)))
    return float(values[at]) if at < len(others) and others[at] == word else None


def count_relevance(words: Rows, vocabulary: int, links: Rows, progress: Progress = no_progress) -> Relevance:
    """Relevance of keywords: `words` are those of each page, ascending, `links` the pages it links to."""
    total = len(words.starts) - 1

    def step(number: int) -> None:
        progress(STAGE, total * number // STEPS - total * (number - 1) // STEPS, total)

    pages, pages_of = int(np.count_nonzero(np.diff(words.starts))), transposed(words, vocabulary)
    frequency = np.diff(pages_of.starts).astype(np.uint32)
    known = int(np.count_nonzero(frequency))
    both = count_both(words, pages_of)
    step(1)
    support, mutual = support_range(both, pages, known), information_range(both, frequency, pages)
    step(2)
    reached = reached_words(words, links, vocabulary)
    step(3)
    confidence = link_range(pages_of, reached, known)
    step(4)
    return Relevance(pages, pages_of, both, reached, support, mutual, confidence)


def support_range(both: Pairs, pages: int, words: int) -> Range:
    """Of support; a pair that never occurs has none."""
    if not len(both.times):
        return Range(0.0, 0.0)
    least = int(both.times.min()) if len(both.times) == words * (words - 1) else 0
    return Range(least / pages, int(both.times.max()) / pages)


def information_range(both: Pairs, frequency: NDArray[np.uint32], pages: int) -> Range:
    """Of mutual information, pairs that never occur included."""
    order = np.argsort(frequency, kind="stable")[np.count_nonzero(frequency == 0) :]
    work = both.starts + np.arange(len(both.starts))

    def part(first: int, last: int) -> tuple[float, float]:
        marks = np.zeros(len(frequency), np.int64)
        found: tuple[float, float] = mutual_range(both, frequency, pages, order, first, last, marks)
        return found

    return whole(in_parts(ranges(work), part)) if len(order) > 1 else Range(0.0, 0.0)


def link_range(pages_of: Rows, reached: Rows, words: int) -> Range:
    """Of confidence; a pair that is never linked has none."""
    least, most, pairs = shares(pages_of, reached, len(pages_of.starts) - 1, LEAST_PAGES)
    return Range(least if pairs == words * (words - 1) else 0.0, most) if pairs else Range(0.0, 0.0)


def whole(parts: Sequence[tuple[float, float]]) -> Range:
    """The range of several."""
    return Range(min(least for least, _ in parts), max(most for _, most in parts))
