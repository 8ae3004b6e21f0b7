"""Lists of links as bits, and the arrays in which they go to a store."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import PER_BASE
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.kernels.codec import link_codec


class BitStream:
    """Writes the lists of one direction: words, offsets, degrees."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer = writer
        self._name = name
        self._bits = 0
        self._links = 0
        self._carry = np.zeros(0, np.uint64)  # the last, unfilled word

    def append(
        self, words: NDArray[np.uint64], bits: int, ends: NDArray[np.int64], degrees: NDArray[np.uint32]
    ) -> None:
        """Add encoded lists of further pages (a multiple of PER_BASE of them, or the last)."""
        starts = np.append(0, ends[:-1]) + self._bits if len(ends) else np.zeros(0, np.int64)
        self._put_offsets(starts)
        self._writer.append(f"{self._name}.degree", degrees)
        if self._name == "out":
            before = np.append(0, np.cumsum(degrees, dtype=np.int64)[:-1]) if len(degrees) else np.zeros(0, np.int64)
            self._writer.append("out.first", (before[::PER_BASE] + self._links).astype(np.uint64))
            self._links += int(degrees.sum(dtype=np.int64))
        used = words[: (bits + 63) >> 6]
        shift = np.uint64(self._bits & 63)
        if shift:
            moved = np.append(used << shift, np.uint64(0))
            moved[1:] |= used >> (np.uint64(64) - shift)
            moved[0] |= self._carry[0]
            used = moved
        self._bits += bits
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

    def close(self, pages: int) -> None:
        """Write the end of the last list, the unfilled word, and the spare word that decoders may look at."""
        if pages % PER_BASE == 0:
            self._writer.append(f"{self._name}.base", np.array([self._bits], np.uint64))
            self._writer.append(f"{self._name}.offset", np.zeros(1, np.uint32))
        else:
            base = int(self._writer.map(f"{self._name}.base")[-1])
            self._writer.append(f"{self._name}.offset", np.array([self._bits - base], np.uint32))
        self._writer.append(f"{self._name}.words", np.append(self._carry, np.uint64(0)))


def encode(
    targets: NDArray[np.uint32], attributes: NDArray[np.uint32], starts: NDArray[np.int64], low: int, code: Code
) -> tuple[NDArray[np.uint64], int, NDArray[np.int64]]:
    """Lists of pages from `low` on as (words, bits used, bit where each list ends)."""
    worst = 12 + link_codec.RAW_BITS + 32 + (38 if len(attributes) else 0)
    words = np.zeros(len(targets) * worst // 64 + 2, np.uint64)
    ends = np.zeros(len(starts) - 1, np.int64)
    bases = np.arange(low, low + len(starts) - 1, dtype=np.uint32)
    bits = link_codec.encode_lists(targets, attributes, starts, bases, code.codes, code.lengths, words, ends)
    return words, int(bits), ends
