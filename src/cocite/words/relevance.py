"""How relevant keywords are to each other: on the same pages, and by links (Zhao et al. 2016, §3.1–3.4).

For two different words, over the N pages that have keywords:

    support S             pages with both / N
    mutual information M  Σ p(x1, x2) · log(p(x1, x2) / (p(x1) · p(x2))) over the four cells of presence, 0 · log 0 = 0
    confidence C(w1 → w2) pages with w1 that link to a page with w2 / pages with w1; 0 if these are below `least_pages`

    r_s(w1, w2) = alpha · S + (1 - alpha) · M,  r_s(w, w) = 1      similar
    r_l(w1 → w2) = beta · S + (1 - beta) · C,   r_l(w, w) = 1      one leads to the other

r_l may have M in the place of S (§3.4). S, M and C are normalised to 0 … 1 by their lowest and highest value over all
pairs of different words, including pairs that never occur; if all values are equal, to 1 if they are above 0, else 0.
Words on no page are ignored. The paper doesn't define r_l(w, w): a link between two pages of one keyword isn't weak.

Only the counts of pairs that occur are stored. Other pairs have S = 0, C = 0, and M from the frequencies of the words,
which isn't small: two frequent words that avoid each other say much. So nothing is lost, and alpha and beta can change
without counting again.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.kernels.interpreted import Threads
from cocite.kernels.words import keyword_pairs
from cocite.kernels.words.keyword_pairs import CountingSpace, PairCounts, Range, Rows, Statistics, counting_space
from cocite.system import machine_bytes
from cocite.words.keywords import KeywordIndex
from cocite.words.stored import Arrays, OpenedWords, WordData, arrays_of, is_starts

SUPPORT, INFORMATION = "support", "information"  # what r_l combines with confidence
MIN_CONFIDENCE_PAGES = 5
WORK_PARTS = 64  # parts of about equal work for the threads, which so end at about the same time
CHUNK_ROWS = 1 << 16  # rows whose work is summed at a time
Output = TypeVar("Output")
Weighted = tuple[NDArray[np.uint32], NDArray[np.float64]]  # words, and the relevance of each


@dataclass(frozen=True)
class Relevance:
    """Counts of pairs of keywords, and their relevance.

    There are many times more linked pairs than pairs on one page, so a row of those is counted when it is needed.
    """

    pages: int  # that have keywords
    pages_of: Rows  # the pages of each word
    both: PairCounts  # pages with both words, in either order
    reached: Rows  # the words of the pages that each page links to
    support: Range
    mutual: Range
    confidence: Range
    alpha: float = 0.5
    beta: float = 0.5
    beside: str = SUPPORT
    least_pages: int = MIN_CONFIDENCE_PAGES  # of a word, for its confidence

    def with_least_pages(self, least_pages: int) -> Self:
        """The same with another minimum. The range of confidence takes seconds for many pages, and is kept."""
        if least_pages not in self._confidence_ranges:
            found = confidence_range(self.pages_of, self.reached, least_pages)
            self._confidence_ranges[least_pages] = found
        return replace(self, confidence=self._confidence_ranges[least_pages], least_pages=least_pages)

    @cached_property
    def _confidence_ranges(self) -> dict[int, Range]:
        return {self.least_pages: self.confidence}

    @cached_property
    def frequency(self) -> NDArray[np.uint32]:
        """The number of pages with each word."""
        return np.diff(self.pages_of.starts).astype(np.uint32)

    @cached_property
    def statistics(self) -> Statistics:
        """What normalises relevance, for kernels."""
        return Statistics(self.frequency, self.pages, self.support, self.mutual, self.confidence)

    @cached_property
    def similar(self) -> NDArray[np.float64]:
        """r_s of all pairs in `both`."""
        starts, values = self.both.starts, np.empty(len(self.both.other), np.float64)

        def fill(first: int, last: int) -> None:
            part = values[starts[first] : starts[last]]
            keyword_pairs.similar_values(self.both, self.statistics, self.alpha, first, last, part)

        in_parts(ranges(starts), fill)
        return values

    def similar_to(self, word: int) -> Weighted:
        """The words that occur together with a word, ascending, and their r_s."""
        start, stop = self.both.starts[word : word + 2].tolist()
        values = np.empty(stop - start, np.float64)
        keyword_pairs.similar_values(self.both, self.statistics, self.alpha, word, word + 1, values)
        return self.both.other[start:stop], values

    def led_to_by(self, word: int) -> Weighted:
        """The words that occur together with a word or are linked from its pages, ascending, and their r_l."""
        start, stop = self.both.starts[word : word + 2].tolist()
        both = PairCounts(np.array([0, stop - start]), self.both.other[start:stop], self.both.times[start:stop])
        linked = row_of(self.pages_of, self.reached, len(self.frequency), word, self.least_pages)
        maximum = len(both.other) + len(linked.other)
        other, values = np.empty(maximum, np.uint32), np.empty(maximum, np.float64)
        size = keyword_pairs.logical_values(word, both, linked, self.statistics, self.beta, self.measure, other, values)
        return other[:size], values[:size]

    def all_similar(self, word: int) -> NDArray[np.float64]:
        """r_s of a word with every word."""
        return self._with_every(word, 1 - self.alpha, self.similar_to(word))

    def all_led_to(self, word: int) -> NDArray[np.float64]:
        """r_l from a word to every word."""
        return self._with_every(word, self.beta if self.beside == INFORMATION else 0.0, self.led_to_by(word))

    def _with_every(self, word: int, share: float, known: Weighted) -> NDArray[np.float64]:
        """Relevance to every word: known, or a share of the information in never occurring together."""
        values = np.zeros(len(self.frequency))
        if share:
            keyword_pairs.absent_values(int(self.frequency[word]), self.frequency, self.statistics, values)
            values *= share
        values[known[0]] = known[1]
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


def count_relevance(words: Rows, vocabulary: int, links: Rows, progress: Progress = no_progress) -> Relevance:
    """Count the relevance of keywords: `words` are those of each page, ascending, `links` the pages it links to."""
    total, reported = len(words.starts) - 1, 0

    def report(quarters: int) -> None:
        nonlocal reported
        progress("counting keywords of pages", total * quarters // 4 - reported, total)
        reported = total * quarters // 4

    pages, pages_of = int(np.count_nonzero(np.diff(words.starts))), transposed(words, vocabulary)
    frequency = np.diff(pages_of.starts).astype(np.uint32)
    used = int(np.count_nonzero(frequency))
    all_pairs = used * (used - 1)
    both = product(pages_of, words, vocabulary)
    report(1)
    low = int(both.times.min()) if 0 < len(both.times) == all_pairs else 0  # pairs that never occur have support 0
    support = Range(low / max(1, pages), int(both.times.max(initial=0)) / max(1, pages))
    mutual = information_range(both, frequency, pages)
    report(2)
    reached = product(links, words, vocabulary, diagonal=True, counted=False)
    report(3)
    confidence = confidence_range(pages_of, Rows(reached.starts, reached.other), MIN_CONFIDENCE_PAGES)
    report(4)
    return Relevance(pages, pages_of, both, Rows(reached.starts, reached.other), support, mutual, confidence)


def information_range(both: PairCounts, frequency: NDArray[np.uint32], pages: int) -> Range:
    """The range of mutual information, including pairs that never occur."""
    order = np.argsort(frequency, kind="stable")[np.count_nonzero(frequency == 0) :]
    if len(order) < 2:
        return Range(0.0, 0.0)

    def part(first: int, last: int) -> Any:
        marks = np.zeros(len(frequency), np.int64)
        return keyword_pairs.mutual_range(both, frequency, pages, order, first, last, marks)

    lows, highs = zip(*in_parts(ranges(both.starts + np.arange(len(both.starts))), part), strict=True)
    return Range(min(lows), max(highs))


def confidence_range(pages_of: Rows, reached: Rows, least_pages: int) -> Range:
    """The range of confidence, including pairs that are never linked."""
    used = int(np.count_nonzero(np.diff(pages_of.starts)))

    def part(first: int, last: int) -> Any:
        space = counting_space(len(pages_of.starts) - 1)
        return keyword_pairs.confidence_range(pages_of, reached, first, last, least_pages, space)

    lows, highs, pairs = zip(*in_parts(cut(pages_of, reached), part) or [(0.0, 0.0, 0)], strict=True)
    linked = sum(pairs)
    return Range(min(lows) if linked == used * (used - 1) else 0.0, max(highs)) if linked else Range(0.0, 0.0)


def transposed(rows: Rows, columns: int) -> Rows:
    """The rows of each column, ascending."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows.columns, minlength=columns))])
    of_row = np.repeat(np.arange(len(rows.starts) - 1, dtype=np.uint32), np.diff(rows.starts))
    return Rows(starts, of_row[np.argsort(rows.columns, kind="stable")])


def product(left: Rows, right: Rows, columns: int, diagonal: bool = False, counted: bool = True) -> PairCounts:
    """The number of middles between each row and each column, without the numbers unless `counted`.

    Every row is counted twice, first for its length. Raises BadParameter if the result needs too much memory.
    """
    unused: list[CountingSpace] = []  # one for each thread
    parts, sizes = cut(left, right), np.zeros(len(left.starts) - 1, np.int64)

    def count(pairs: PairCounts) -> None:
        def work(first: int, last: int) -> None:
            space = unused.pop() if unused else counting_space(columns)
            keyword_pairs.count_rows(left, right, first, last, diagonal, space, sizes, pairs)
            unused.append(space)

        in_parts(parts, work)

    nothing = np.empty(0, np.uint32)
    count(PairCounts(np.zeros(len(left.starts), np.int64), nothing, nothing))
    total, memory = int(sizes.sum()), machine_bytes()
    wanted = total * (8 if counted else 4)
    if wanted > memory // 3:  # there are two such tables, and links besides
        raise BadParameter(
            f"Pairs of keywords need {wanted / 1e9:,.1f} GB, but this machine has {memory / 1e9:,.1f} GB: choose fewer "
            "keywords per page, with cocite keywords --make --per-page 10"
        )
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found = PairCounts(starts, np.empty(total, np.uint32), np.empty(total, np.uint32) if counted else nothing)
    count(found)
    return found


def row_of(left: Rows, right: Rows, columns: int, row: int, minimum: int) -> PairCounts:
    """One row of `product` as a matrix of its own; empty if it has fewer than `minimum` middles."""
    other, count, size = np.empty(columns, np.uint32), np.empty(columns, np.uint32), 0
    if left.starts[row + 1] - left.starts[row] >= minimum:
        size = keyword_pairs.count_one(left, right, row, counting_space(columns), other, count)
    return PairCounts(np.array([0, size]), other[:size], count[:size])


def cut(left: Rows, right: Rows) -> list[tuple[int, int]]:
    """Ranges of rows with about the same work."""
    sizes, work, done = np.diff(right.starts), np.arange(len(left.starts)), 0
    for first in range(0, len(left.starts) - 1, CHUNK_ROWS):  # there may be 100 million links
        rows = left.starts[first : first + CHUNK_ROWS + 1]
        before = np.concatenate([[0], np.cumsum(sizes[left.columns[rows[0] : rows[-1]]])])
        work[first + 1 : first + len(rows)] += done + before[rows[1:] - rows[0]]
        done += int(before[-1])
    return ranges(work)


def ranges(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of rows with about the same work; `work` is the total before each row, and at the end."""
    inner = np.searchsorted(work, work[-1] * np.arange(1, WORK_PARTS) // WORK_PARTS)
    return list(pairwise(np.unique(np.concatenate([[0], inner, [len(work) - 1]])).tolist()))


def in_parts(parts: list[tuple[int, int]], work: Callable[[int, int], Output]) -> list[Output]:
    """The results of work(first row, last row) for all parts, in order."""
    with Threads(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda part: work(*part), parts))


def make_relevance(graph: Graph, keywords: KeywordIndex, progress: Progress = no_progress) -> Relevance:
    """Count relevance without storing it."""
    words = Rows(np.asarray(keywords.starts), np.asarray(keywords.ids))
    return count_relevance(words, len(keywords.words), links_of(graph), progress)


def links_of(graph: Graph) -> Rows:
    """All out-links."""
    starts, targets = np.append(0, np.cumsum(graph.out_degree, dtype=np.int64)), np.empty(len(graph.links), np.uint32)
    at = 0
    for _, ends, links in graph.iter_links():
        if at + int(ends[-1]) > len(targets) or int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        targets[at : at + len(links.targets)] = links.targets
        at += len(links.targets)
    if at != starts[-1]:
        raise graph.damaged()
    return Rows(starts, targets[:at])


def pack_relevance(graph: Graph, _: Path, keywords: KeywordIndex, **options: Any) -> tuple[dict[str, Any], Arrays]:
    """New keyword relevance as it is stored."""
    made = make_relevance(graph, keywords, **options)
    limits = {name: list(getattr(made, name)) for name in ("support", "mutual", "confidence")}
    arrays = arrays_of(pages_of=made.pages_of, both=made.both, reached=made.reached)
    return {"keywords": keywords.made, "pages": made.pages, "ranges": limits}, arrays


def read_relevance(stored: OpenedWords, keywords: KeywordIndex) -> Relevance:
    """Stored keyword relevance, checked."""
    words, pages, about = len(keywords.words), stored.graph.pages, stored.side.about
    stored.require(about.get("keywords") == keywords.made, "is of other keywords")
    pages_of, reached = (stored.matrix(Rows, name) for name in ("pages_of.", "reached."))
    both = stored.matrix(PairCounts, "both.")
    before = len(reached.starts) - 1  # of a state with fewer layers: what pages added since lead to is unknown
    stored.require(before <= pages)
    reached = Rows(np.append(reached.starts, np.full(pages - before, reached.starts[-1])), reached.columns)
    for (starts, *columns), rows, width in ((pages_of, words, pages), (both, words, words), (reached, pages, words)):
        stored.require(all(is_starts(starts, rows, len(each)) for each in columns))
        stored.require(int(columns[0].max(initial=0)) < max(1, width))
    support, mutual, confidence = (Range(*about["ranges"][name]) for name in ("support", "mutual", "confidence"))
    return Relevance(int(about["pages"]), pages_of, both, reached, support, mutual, confidence)


RELEVANCE = WordData("relevance", "keyword relevance", "keywords", 1, pack_relevance, read_relevance, lags=True)
