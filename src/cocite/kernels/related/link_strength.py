"""How strong links are: the greatest logical relevance of a keyword of the one page to a keyword of the other."""

from __future__ import annotations

import numpy as np
from numba import int64

from cocite.kernels.jit import kernel
from cocite.kernels.words.keyword_pairs import clear_row, count_row, scaled, together


@kernel
def link_strengths(words, pages_of, reached, both, outs, least, total, beta, measure, confidence, space, strength):
    """max r_l of every link of `outs`, 1 where the pages have a keyword in common; `strength` is 0 before.

    r_l = beta · together + (1 - beta) · confidence, where the page's own link is no evidence for itself: it does not
    count unless another link of the page leads to the same word. Words on fewer pages than `least` have no confidence.
    """
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
