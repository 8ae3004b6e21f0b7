"""The strength of links: the greatest logical relevance of a keyword of the source to a keyword of the target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int64

from cocite.kernels.jit import kernel
from cocite.kernels.words.keyword_pairs import Pairs, Rows, clear_row, count_row, scaled, together


class WordCounts(NamedTuple):
    """What relevance is counted from."""

    words: Rows  # keywords of each page
    pages_of: Rows  # pages of each keyword
    reached: Rows  # keywords of the pages to which each page links
    both: Pairs  # pages that have two keywords
    pages: int


class StrengthWeights(NamedTuple):
    """r_l = beta · together + (1 - beta) · confidence; words on fewer than `min_pages` pages have no confidence."""

    beta: float
    measure: tuple[bool, float, float]
    confidence: tuple[float, ...]
    min_pages: int


@kernel
def link_strengths(evidence, outs, weights, space, strength):
    """max r_l of every link of `outs`, 1 if the pages share a keyword; `strength` is 0 before.

    A link is no evidence for itself: it counts only if another link of the page leads to the same word.
    """
    words, pages_of, reached, both, total = evidence
    beta, measure, confidence, least = weights
    nothing = np.empty(0, np.uint32)
    met, times = np.zeros(len(space.counts), np.uint32), np.zeros(len(space.counts), np.uint32)
    for word in range(len(pages_of.starts) - 1):
        start, stop = pages_of.starts[word], pages_of.starts[word + 1]
        having = stop - start
        if having >= least:
            count_row(pages_of, reached, word, space)
        for k in range(both.starts[word], both.starts[word + 1]):
            met[both.other[k]] = both.times[k]
        for at in range(start, stop):
            page = int64(pages_of.columns[at])
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    times[words.columns[k]] += np.uint32(1)
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                best = float(strength[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    other = int64(words.columns[k])
                    if other == word:
                        best = 1.0
                        break
                    leading = int64(space.counts[other]) - (1 if times[other] == 1 else 0)
                    c = scaled(max(leading, 0) / having, confidence[0], confidence[1]) if having >= least else 0.0
                    others = pages_of.starts[other + 1] - pages_of.starts[other]
                    s = together(int64(met[other]), having, others, total, measure)
                    best = max(best, beta * s + (1 - beta) * c)
                strength[link] = best
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    times[words.columns[k]] = 0
        for k in range(both.starts[word], both.starts[word + 1]):
            met[both.other[k]] = 0
        clear_row(int64(-1), space, nothing, nothing)
