"""Similarity of pages by their keywords (Zhao et al. 2016, §4.1), and which pages are worth comparing.

    Sim_s(P1, P2) = (Σ_{w in P1} max_{w' in P2} r_s(w, w') + Σ_{w in P2} max_{w' in P1} r_s(w, w')) / (m + n)

for pages of m and n keywords; 1 for a page and itself, 0 if neither has any. It is exact to 1e-9, including words that
never occur together. Only the choice of candidates has limits: see `Likeness.candidates`.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cocite.budget import spend
from cocite.kernels.words import best_matches
from cocite.kernels.words.best_matches import ONE, MatchSpace, Similarities, Unmet
from cocite.kernels.words.keyword_pairs import Rows
from cocite.words.relevance import Relevance

Pages = NDArray[np.uint32]
MAX_CACHED_VALUES = 1 << 24
MAX_TABLE_VALUES = 1 << 25  # larger tables are filled in parts
WORDS_PER_LINK = 16  # words to compare that take as long as decoding a link
MAX_GRID_FREQUENCIES = 2048  # with no more, all pairs are computed of words that never occur together


class Likeness:
    """Sim_s of the pages of one web, with one alpha."""

    def __init__(self, words: Rows, relevance: Relevance, rarity: bool = False) -> None:
        """`words` are the keywords of each page, ascending; with `rarity` each counts ln(pages / pages with it)."""
        self.words, self.relevance = words, relevance
        self.pages = len(words.starts) - 1  # including those without keywords
        share = np.maximum(1, relevance.frequency) / max(1, relevance.pages)
        self.weights = -np.log(np.minimum(1.0, share)) if rarity else np.zeros(0)
        self._rows: dict[int, tuple[Pages, NDArray[np.int32]]] = {}
        self._cached_values = 0
        self._local = threading.local()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of keywords of each page."""
        return np.diff(self.words.starts)

    @cached_property
    def _largest(self) -> int:
        return int(self.sizes.max(initial=1))

    @cached_property
    def unmet(self) -> Unmet:
        """The similarity of words that never occur together."""
        r = self.relevance
        frequencies, level = np.unique(r.frequency, return_inverse=True)
        many = len(frequencies) > MAX_GRID_FREQUENCIES
        grid = np.zeros((0, 0), np.int32) if many else np.empty((len(frequencies), len(frequencies)), np.int32)
        levels = level[: 0 if many else None].astype(np.int32)
        unmet = Unmet(r.frequency, r.pages, 1 - r.alpha, *r.mutual, levels, grid)
        if not many:
            best_matches.fill_grid(frequencies, unmet)
        return unmet

    def of(self, page: int) -> Pages:
        """The keywords of a page."""
        return self.words.columns[self.words.starts[page] : self.words.starts[page + 1]]

    def alike(self, page: int, others: Pages) -> NDArray[np.float64]:
        """Sim_s of a page with other pages."""
        own, result = self.of(page), np.zeros(len(others))
        if len(own):
            known = self._known(own)
            for part in self._parts(others, len(own)):
                some = others[part]
                spend(int(self.sizes[some].sum()) / WORDS_PER_LINK)
                space = self._space(int(self.sizes[some].sum()), len(own))
                found = result[part]
                done = best_matches.compare(own, known, self.unmet, self.words, some, self.weights, space, found)
                assert done, "the table has room for all"
                result[part] = found
        result[others == page] = 1.0
        return result

    def candidates(self, page: int, maximum: int, reach: int = 10, postings: int = 500_000) -> Pages:
        """At most `maximum` pages that may be similar, ascending: all with keywords, if there are no more.

        Else they are looked up by the keywords of the page and the `reach` words most similar to each. A word counts
        as much as it is similar, relative to the size of the page. Words on the fewest pages come first, until
        `postings` pages are read.
        """
        if self.pages <= maximum:
            return np.flatnonzero(self.sizes).astype(np.uint32)
        words, values = self.leading(page, reach)
        index = self.relevance.pages_of
        order = np.lexsort((words, self.relevance.frequency[words]))
        sums, touched = np.zeros(self.pages), np.empty(min(self.pages, postings) + 1, np.uint32)
        count = best_matches.add_postings(index, words, values, order, postings, sums, touched)
        spend(int(self.relevance.frequency[words].sum()) / WORDS_PER_LINK)
        found = touched[:count][self.sizes[touched[:count]] > 0]  # pages that have lost theirs since words were counted
        return best_of(found, sums[found] / (len(self.of(page)) + self.sizes[found]), maximum)

    def leading(self, page: int, reach: int) -> tuple[Pages, NDArray[np.float64]]:
        """The words that lead to similar pages, and the similarity of each to a keyword of the page."""
        own = self.of(page)
        words, values = np.empty(len(own) * reach, np.uint32), np.empty(len(own) * reach, np.int32)
        count = best_matches.strongest(self._known(own), reach, words, values)
        words, values = np.append(words[:count], own), np.append(values[:count], np.full(len(own), ONE, np.int32))
        order = np.lexsort((-values, words))
        first = np.flatnonzero(np.diff(words[order], prepend=-1) != 0) if len(order) else order
        chosen = order[first]
        kept = chosen[values[chosen] > 0]
        return words[kept], values[kept] / ONE

    def pairs(self, page: int, other: int, maximum: int) -> list[tuple[int, int, float]]:
        """The keywords of a page, each with the most similar keyword of another page: the best pairs."""
        own, others = self.of(page), self.of(other)
        if not len(own) or not len(others):
            return []
        alone, pages = Rows(np.arange(len(others) + 1), others), np.arange(len(others), dtype=np.uint32)
        table = np.zeros((len(own), len(others)))
        for i in range(len(own)):
            spend()
            word, space = own[i : i + 1], self._space(len(others), 1)
            best_matches.compare(word, self._known(word), self.unmet, alone, pages, np.zeros(0), space, table[i])
        best, value = table.argmax(axis=1), table.max(axis=1)
        order = np.lexsort((own, -value))[:maximum]
        return [(int(own[i]), int(others[best[i]]), float(value[i])) for i in order if value[i] > 0]

    def _parts(self, others: Pages, width: int) -> Sequence[slice]:
        """Slices of pages whose words fit in one table; mostly one."""
        words = np.cumsum(self.sizes[others])
        room = max(MAX_TABLE_VALUES // width, self._largest)
        if not len(words) or words[-1] <= room or len(self.relevance.frequency) <= room:
            return [slice(0, len(others))]
        cuts = [0]
        while cuts[-1] < len(others):
            before = int(words[cuts[-1] - 1]) if cuts[-1] else 0
            cuts.append(int(np.searchsorted(words, before + room, "right")))
        return [slice(a, b) for a, b in pairwise(cuts)]

    def _space(self, slots: int, width: int) -> MatchSpace:
        """Working space of this thread."""
        members = len(self.relevance.frequency)
        slots = min(slots, members)
        space: MatchSpace | None = getattr(self._local, "space", None)
        if space is None or len(space.touched) < slots or len(space.table) < slots * width or len(space.best) < width:
            space = self._local.space = best_matches.match_space(members, slots, width)
        return space

    def _known(self, own: Pages) -> Similarities:
        """r_s of words with all that they occur with."""
        rows = [self._row(int(word)) for word in own]
        sizes = np.array([len(others) for others, _ in rows], np.int64)
        ends = np.cumsum(sizes)
        others = np.concatenate([np.zeros(0, np.uint32), *(each for each, _ in rows)])
        values = np.concatenate([np.zeros(0, np.int32), *(each for _, each in rows)])
        return Similarities(ends - sizes, ends, others, values)

    def _row(self, word: int) -> tuple[Pages, NDArray[np.int32]]:
        """r_s of a word with all that it occurs with, from a cache that is emptied when it is full."""
        row = self._rows.get(word)
        if row is None:
            others, values = self.relevance.similar_to(word)
            row = others, np.empty(len(values), np.int32)
            best_matches.as_whole(values, row[1])
            if self._cached_values + len(others) > MAX_CACHED_VALUES:
                self._rows, self._cached_values = {}, 0
            self._rows[word] = row
            self._cached_values += len(others)
        return row


def best_of(pages: Pages, values: NDArray[np.float64], maximum: int) -> Pages:
    """The `maximum` pages of highest value, ascending; ties by number."""
    return np.sort(pages[np.lexsort((pages, -values))[:maximum]] if len(pages) > maximum else pages)
