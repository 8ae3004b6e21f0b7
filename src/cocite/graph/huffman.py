"""Static, length-limited Huffman codes for the link and name streams.

Codes are canonical and at most `LONGEST` bits, so that one look-up in a table of 2^LONGEST entries decodes a symbol.
Symbols too rare to deserve a code of that length are written as an escape code followed by the raw symbol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST = 12
"""2^12 entries of four bytes stay in the first-level cache."""


@dataclass(frozen=True, slots=True)
class Code:
    """A prefix code over `len(lengths) - 1` symbols; the last entry is the escape."""

    lengths: NDArray[np.uint8]  # code length per symbol, 0: written with the escape
    codes: NDArray[np.uint32]  # code per symbol, least significant bit first
    table: NDArray[np.uint32]  # by the next LONGEST bits: symbol << 4 | code length

    @classmethod
    def from_counts(cls, counts: NDArray[np.int64]) -> Code:
        """The best code for symbols that occur this often."""
        symbols = len(counts)
        weights = np.append(np.asarray(counts, np.int64), 0)
        rare = weights * (1 << (LONGEST + 1)) < max(1, int(weights.sum()))
        weights[symbols] = max(1, int(weights[rare].sum()))
        weights[:symbols][rare[:symbols]] = 0
        return cls.from_lengths(limited_lengths(weights))

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.uint8]) -> Code:
        """The canonical code with these lengths: this is all that a store has to keep of it."""
        lengths = np.asarray(lengths, np.uint8)
        if lengths.max(initial=0) > LONGEST or sum(1 << (LONGEST - int(x)) for x in lengths if x) > 1 << LONGEST:
            raise ValueError("not the code lengths of a prefix code")
        codes = np.zeros(len(lengths), np.uint32)
        # Unused codes decode as the escape with length 0 bits: decoders treat length 0 as damage.
        table = np.zeros(1 << LONGEST, np.uint32)
        code = 0
        order = sorted((int(length), symbol) for symbol, length in enumerate(lengths) if length)
        previous = order[0][0] if order else 0
        for length, symbol in order:
            code <<= length - previous
            previous = length
            reverse = int(format(code, f"0{length}b")[::-1], 2)
            codes[symbol] = reverse
            table[reverse :: 1 << length] = symbol << 4 | length
            code += 1
        return cls(lengths, codes, table)


def limited_lengths(weights: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Optimal code lengths of at most LONGEST bits (package-merge)."""
    lengths = np.zeros(len(weights), np.uint8)
    singles = sorted((int(weight), (symbol,)) for symbol, weight in enumerate(weights) if weight > 0)
    if len(singles) == 1:
        lengths[singles[0][1][0]] = 1
        return lengths
    packages: list[tuple[int, tuple[int, ...]]] = []
    for _ in range(LONGEST):
        merged = sorted(singles + packages)
        packages = [
            (merged[i][0] + merged[i + 1][0], merged[i][1] + merged[i + 1][1]) for i in range(0, len(merged) - 1, 2)
        ]
    for _, members in packages[: len(singles) - 1]:
        for symbol in members:
            lengths[symbol] += 1
    return lengths
