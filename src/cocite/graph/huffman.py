"""Static, length-limited Huffman codes for the link and name streams.

Codes are canonical and at most `MAX_CODE_BITS` long, so that one look-up in a table decodes a symbol. Symbols too rare
for a code of that length are written as an escape code followed by the raw symbol.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

MAX_CACHED_CODES = 64
MAX_CODE_BITS = 12  # 2^12 entries of four bytes stay in the first-level cache


@dataclass(frozen=True, slots=True)
class Code:
    """A prefix code over `len(lengths) - 1` symbols; the last entry is the escape."""

    lengths: NDArray[np.uint8]  # code length per symbol, 0: written with the escape
    codes: NDArray[np.uint32]  # code per symbol, least significant bit first
    table: NDArray[np.uint32]  # by the next MAX_CODE_BITS bits: symbol << 4 | code length

    @classmethod
    def from_counts(cls, counts: NDArray[np.int64]) -> Self:
        """The best code for symbols that occur this often."""
        symbols = len(counts)
        weights = np.append(np.asarray(counts, np.int64), 0)
        rare = weights * (1 << (MAX_CODE_BITS + 1)) < max(1, int(weights.sum()))
        weights[symbols] = max(1, int(weights[rare].sum()))
        weights[:symbols][rare[:symbols]] = 0
        return cls.from_lengths(limited_lengths(weights))

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.uint8]) -> Self:
        """The canonical code with these lengths: this is all that a store has to keep of it."""
        return cls(*_code(np.asarray(lengths, np.uint8).tobytes()))


@lru_cache(MAX_CACHED_CODES)  # every layer has the codes of its base
def _code(raw: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32]]:
    """The lengths, codes and table of a code."""
    lengths = np.frombuffer(raw, np.uint8).copy()
    used = lengths[lengths > 0].astype(np.int64)
    if used.max(initial=0) > MAX_CODE_BITS or (1 << (MAX_CODE_BITS - used)).sum() > 1 << MAX_CODE_BITS:
        raise ValueError("not the code lengths of a prefix code")
    codes = np.zeros(len(lengths), np.uint32)
    # Unused codes decode as the escape with length 0 bits: decoders treat length 0 as damage.
    table = np.zeros(1 << MAX_CODE_BITS, np.uint32)
    place = 0  # of a code in the table, were its first bit the highest
    for length, symbol in sorted((int(length), symbol) for symbol, length in enumerate(lengths) if length):
        codes[symbol] = reverse = int(format(place, f"0{MAX_CODE_BITS}b")[::-1], 2)
        table[reverse :: 1 << length] = symbol << 4 | length
        place += 1 << (MAX_CODE_BITS - length)
    return lengths, codes, table


def limited_lengths(weights: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Optimal code lengths of at most MAX_CODE_BITS bits (package-merge)."""
    lengths = np.zeros(len(weights), np.uint8)
    singles = sorted((int(weight), (symbol,)) for symbol, weight in enumerate(weights) if weight > 0)
    if len(singles) == 1:
        lengths[singles[0][1][0]] = 1
        return lengths
    packages: list[tuple[int, tuple[int, ...]]] = []
    for _ in range(MAX_CODE_BITS):
        merged = sorted(singles + packages)
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(merged[::2], merged[1::2], strict=False)]
    for _, members in packages[: len(singles) - 1]:
        np.add.at(lengths, list(members), np.uint8(1))
    return lengths
