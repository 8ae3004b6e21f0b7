"""Encode lists of links and write them as arrays of a store."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import PER_BASE
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.kernels.codec import link_codec

FLAT = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)
"""Code lengths to count symbols by, before there is a code."""
NO_ATTRIBUTES = np.zeros(0, np.uint32)


class EncodedLists(NamedTuple):
    """Lists of some pages that follow each other."""

    words: NDArray[np.uint64]
    bits: int  # used of the words
    ends: NDArray[np.int64]  # the bit where each list ends
    degrees: NDArray[np.uint32]


def encode(
    targets: NDArray[np.uint32], attributes: NDArray[np.uint32], starts: NDArray[np.int64], low: int, code: Code
) -> EncodedLists:
    """Encode the lists of pages from `low` on; those of page low + i are targets[starts[i]:starts[i + 1]]."""
    longest_link = 12 + link_codec.RAW_BITS + 32 + (38 if len(attributes) else 0)
    words = np.zeros(len(targets) * longest_link // 64 + 2, np.uint64)
    ends = np.zeros(len(starts) - 1, np.int64)
    bases = np.arange(low, low + len(starts) - 1, dtype=np.uint32)
    bits = link_codec.encode_lists(targets, attributes, starts, bases, code.codes, code.lengths, words, ends)
    return EncodedLists(words, int(bits), ends, np.diff(starts).astype(np.uint32))


def count_symbols(
    targets: NDArray[np.uint32], attributes: NDArray[np.uint32], starts: NDArray[np.int64], pages: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """How often the lists of some pages need each symbol: makes their code."""
    symbols = np.zeros(link_codec.SYMBOLS, np.int64)
    link_codec.count_symbols(targets, attributes, starts, pages, FLAT, symbols)
    return symbols


class ListWriter:
    """Writes the lists of one direction, `out` or `in`: words, offsets, degrees and their code."""

    def __init__(self, writer: Writer, name: str, code: Code) -> None:
        self._writer = writer
        self._name = name
        self._code = code
        self._bits = 0
        self._pages = 0
        self._links = 0
        self._carry = np.zeros(0, np.uint64)  # the last, unfilled word

    def append(self, lists: EncodedLists) -> None:
        """Add lists of further pages (a multiple of PER_BASE of them, or the last)."""
        degrees, count = lists.degrees, len(lists.degrees)
        starts = np.append(0, lists.ends)[:count] + self._bits
        self._put_offsets(starts)
        self._writer.append(f"{self._name}.degree", degrees)
        self._pages += count
        if self._name == "out":
            before = np.append(0, np.cumsum(degrees, dtype=np.int64))[:count]
            self._writer.append("out.first", (before[::PER_BASE] + self._links).astype(np.uint64))
            self._links += int(degrees.sum(dtype=np.int64))
        used = lists.words[: (lists.bits + 63) >> 6]
        shift = np.uint64(self._bits & 63)
        if shift:
            moved = np.append(used << shift, np.uint64(0))
            moved[1:] |= used >> (np.uint64(64) - shift)
            moved[0] |= self._carry[0]
            used = moved
        self._bits += lists.bits
        whole = (self._bits >> 6) - self._writer.length(f"{self._name}.words")
        self._writer.append(f"{self._name}.words", used[:whole])
        self._carry = used[whole : whole + 1] if self._bits & 63 else np.zeros(0, np.uint64)

    def _put_offsets(self, starts: NDArray[np.int64]) -> None:
        bases = starts[::PER_BASE]
        offsets = starts - np.repeat(bases, PER_BASE)[: len(starts)]
        if len(offsets) and offsets.max() >= 1 << 32:
            raise BadStore(
                "the lists of sixteen neighbouring pages take more than 512 MiB: split the source into several stores"
            )
        self._writer.append(f"{self._name}.base", bases.astype(np.uint64))
        self._writer.append(f"{self._name}.offset", offsets.astype(np.uint32))

    def close(self) -> None:
        """Write the end of the last list, the unfilled word, the spare word that decoders may read, and the code."""
        if self._pages % PER_BASE == 0:
            self._writer.append(f"{self._name}.base", np.array([self._bits], np.uint64))
            self._writer.append(f"{self._name}.offset", np.zeros(1, np.uint32))
        else:
            base = int(self._writer.map(f"{self._name}.base")[-1])
            self._writer.append(f"{self._name}.offset", np.array([self._bits - base], np.uint32))
        self._writer.append(f"{self._name}.words", np.append(self._carry, np.uint64(0)))
        self._writer.append(f"{self._name}.code", self._code.lengths)
