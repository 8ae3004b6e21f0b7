"""A compiled loop that finds words in a sorted vocabulary."""

import numpy as np

from cocite.kernels.jit import inline, kernel


@inline
def order_of(data, low, high, text, first, last):
    """-1, 0 or 1: the bytes data[low:high] come before text[first:last], are the same, or come after."""
    for i in range(min(high - low, last - first)):
        if data[low + i] != text[first + i]:
            return -1 if data[low + i] < text[first + i] else 1
    return (high - low > last - first) - (high - low < last - first)


@kernel
def find_words(starts, data, text_starts, text, found):
    """Set found[i] to the number of word i, text[text_starts[i]:text_starts[i + 1]], or to -1.

    Word w of the vocabulary is data[starts[w]:starts[w + 1]]; words ascend by their bytes.
    """
    for i in range(len(found)):
        first, last = text_starts[i], text_starts[i + 1]
        low, high = np.int64(0), np.int64(len(starts) - 1)
        found[i] = -1
        while low < high:
            middle = (low + high) // 2
            order = order_of(data, starts[middle], starts[middle + 1], text, first, last)
            if order == 0:
                found[i] = middle
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
