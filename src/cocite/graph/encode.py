"""Lists of links → the bits that a store has of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.huffman import Code
from cocite.kernels.codec import link_codec

NO_ATTRIBUTES = np.zeros(0, np.uint32)
EQUAL_LENGTHS = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)  # code lengths to count symbols by, before there is a code
Starts = NDArray[np.int64]
Pages = NDArray[np.uint32]


class EncodedLists(NamedTuple):
    """Lists of consecutive pages."""

    words: NDArray[np.uint64]
    bits: int  # used of the words
    ends: Starts  # the bit where each list ends
    degrees: Pages


def count_symbols(targets: Pages, attributes: Pages, starts: Starts, pages: Pages) -> NDArray[np.int64]:
    """How often the lists of some pages need each symbol: makes their code."""
    symbols = np.zeros(link_codec.SYMBOLS, np.int64)
    link_codec.count_symbols(targets, attributes, starts, pages, EQUAL_LENGTHS, symbols)
    return symbols


def encode(targets: Pages, attributes: Pages, starts: Starts, pages: Pages, code: Code) -> EncodedLists:
    """Encode the lists of pages; that of pages[i] is targets[starts[i]:starts[i + 1]]."""
    max_link_bits = 12 + link_codec.RAW_BITS + 32 + (38 if len(attributes) else 0)
    words = np.zeros(len(targets) * max_link_bits // 64 + 2, np.uint64)
    ends = np.zeros(len(starts) - 1, np.int64)
    bits = link_codec.encode_lists(targets, attributes, starts, pages, code.codes, code.lengths, words, ends)
    return EncodedLists(words, int(bits), ends, np.diff(starts).astype(np.uint32))
