"""The pieces of text that the names of a store are written with: learnt from some of the names.

A round splits these names with the pieces so far, and makes the pairs of neighbours that occur most into new pieces (as
byte-pair encoding does: Gage 1994). Those that are used too rarely for a code of twelve bits are dropped.
"""

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import Keys, read_only
from cocite.graph.huffman import MAX_CODE_BITS, Code
from cocite.graph.names import NO_PIECES
from cocite.kernels.codec import name_codec
from cocite.kernels.codec.name_codec import FIRST_PIECE, MAX_PIECE_BYTES, NAMES_PER_BLOCK, NameCode

MIN_NAMES = 1 << 14
"""Fewer names are written byte by byte: their pieces would need more room than they save."""
SAMPLE_NAMES = 1 << 14
ROUNDS, PIECES_PER_ROUND = 14, 160
MAX_PIECES = 2048
MIN_SHARE = 0.7 / (1 << MAX_CODE_BITS)
"""Of all symbols, a piece is at least this share."""


def name_code(characters: Code, shared: Code, pieces: NDArray[np.uint64]) -> NameCode:
    """A code as kernels take it to write names."""
    return without_codes(pieces)._replace(
        codes=characters.codes, lengths=characters.lengths, shared_codes=shared.codes, shared_lengths=shared.lengths
    )


def encode_keys(keys: Keys, code: NameCode) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
    """Words with the code of keys, from a new block on; the first bit of each block; how many bits are used."""
    data, offsets = keys
    count = len(offsets) - 1
    words = np.zeros((int(offsets[-1] - offsets[0]) + 2 * count) * 20 // 64 + 2, np.uint64)
    starts = np.zeros(-(-count // NAMES_PER_BLOCK), np.int64)
    return words, starts, int(name_codec.encode_names(data, offsets, code, words, starts))


def made_for(keys: Keys) -> tuple[Code, Code, NDArray[np.uint64]]:
    """The code of symbols, that of shared lengths, and the pieces, for names like these."""
    pieces = learn_pieces(some_of(*keys)) if len(keys[1]) > MIN_NAMES else NO_PIECES
    symbols, shared = np.zeros(FIRST_PIECE + len(pieces), np.int64), np.zeros(256, np.int64)
    name_codec.count_characters(*keys, without_codes(pieces), symbols, shared)
    # A piece can't be escaped, so each has a code.
    symbols[FIRST_PIECE:] = np.maximum(symbols[FIRST_PIECE:], int(symbols.sum()) >> MAX_CODE_BITS)
    return Code.from_counts(symbols), Code.from_counts(shared), pieces


def without_codes(pieces: NDArray[np.uint64]) -> NameCode:
    """Enough to split names."""
    codes, lengths = np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    sizes, first = name_codec.piece_sizes(pieces), name_codec.first_pieces(pieces)
    return NameCode(codes, lengths, codes, lengths, read_only(pieces), sizes, first)


def some_of(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Keys:
    """SAMPLE_NAMES keys, in whole blocks from everywhere among the given ones."""
    blocks = (len(offsets) - 1) // NAMES_PER_BLOCK
    chosen = np.linspace(0, blocks - 1, min(blocks, SAMPLE_NAMES // NAMES_PER_BLOCK)).astype(np.int64)
    starts = offsets[chosen * NAMES_PER_BLOCK]
    sizes = [np.diff(offsets[first : first + NAMES_PER_BLOCK + 1]) for first in (chosen * NAMES_PER_BLOCK).tolist()]
    parts = [data[start : start + int(size.sum())] for start, size in zip(starts.tolist(), sizes, strict=True)]
    return np.concatenate(parts), np.append(0, np.cumsum(np.concatenate(sizes)))


def learn_pieces(keys: Keys) -> NDArray[np.uint64]:
    """The pieces for names like these, in the order of a store."""
    pieces, symbols = NO_PIECES, np.empty(len(keys[0]) + len(keys[1]), np.int32)
    for left in range(ROUNDS, -1, -1):
        found = symbols[: name_codec.split_names(*keys, without_codes(pieces), symbols)]
        used = np.bincount(found[found >= 0], minlength=FIRST_PIECE + len(pieces))[FIRST_PIECE:]
        most_used = np.argsort(-used, kind="stable")[:MAX_PIECES]
        kept = pieces[most_used[used[most_used] >= MIN_SHARE * len(found)]]
        pieces = name_codec.in_order(np.union1d(kept, frequent_pairs(found, pieces)) if left else kept)
    return pieces


def frequent_pairs(symbols: NDArray[np.int32], pieces: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The pairs of neighbours that occur most, as pieces."""
    texts = np.append(np.arange(FIRST_PIECE, dtype=np.uint64), pieces)
    sizes = np.append(np.ones(FIRST_PIECE, np.uint8), name_codec.piece_sizes(pieces)).astype(np.uint64)
    left, right = symbols[:-1], symbols[1:]
    fitting = (left >= 0) & (right >= 0) & (sizes[left] + sizes[right] <= MAX_PIECE_BYTES)
    pairs, counts = np.unique(left[fitting].astype(np.int64) << 16 | right[fitting], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:PIECES_PER_ROUND]
    left, right = np.divmod(pairs[most[counts[most] >= MIN_SHARE * len(symbols)]], 1 << 16)
    found: NDArray[np.uint64] = texts[left] | texts[right] << np.uint64(8) * sizes[left]
    return found
