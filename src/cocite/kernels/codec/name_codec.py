"""The code of names: sorted keys in blocks of 16, front-coded, the rest in Huffman-coded characters.

Each key is the number of bytes that it shares with the key before it (at most 255), then its further bytes, then the
end symbol 0: keys have no NUL. Bytes and shared lengths have a code each: 14 bytes per name of the awesome lists, where
keys are 36, and zlib makes 16 of them, block by block. A block of names begins with a whole key:

    ┌───┬───────────────────┬───┬────┬─────┬───┬────┬────────┬───┬─
    │ 0 │ com,example)/blog │ 0 │ 17 │ /a  │ 0 │ 18 │ b/2024 │ 0 │ …   com,example)/blog, …/blog/a, …/blog/b/2024
    └───┴───────────────────┴───┴────┴─────┴───┴────┴────────┴───┴─
    shared  further bytes   end
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED, MASK, flush, put, window
from cocite.kernels.jit import inline, kernel, lean_inline

NAMES_PER_BLOCK = 16
MAX_KEY_BYTES = 1 << 14  # 4,096 characters of four bytes, and some
ESCAPE_SYMBOL = 256


class CodedNames(NamedTuple):
    """The names of a store; see graph/FORMAT.md."""

    words: NDArray[np.uint64]
    block: NDArray[np.uint64]  # first bit of every sixteenth name
    table: NDArray[np.uint32]  # decodes characters
    shared_table: NDArray[np.uint32]  # decodes numbers of shared bytes


@inline
def shared_bytes(data, offsets, i):
    """How many leading bytes key i shares with the key before it in its block, at most 255."""
    k, start, before = 0, offsets[i], offsets[i - 1]
    most = min(np.int64(255), start - before, offsets[i + 1] - start) if i % NAMES_PER_BLOCK else np.int64(0)
    while k < most and data[before + k] == data[start + k]:
        k += 1
    return k


@kernel
def count_characters(data, offsets, characters, shared):
    """Histograms of the bytes and shared lengths that `encode_names` would write."""
    for i in range(len(offsets) - 1):
        same = shared_bytes(data, offsets, i)
        shared[same] += 1
        for k in range(offsets[i] + same, offsets[i + 1]):
            characters[data[k]] += 1
        characters[0] += 1


@inline
def put_symbol(words, position, pending, symbol, codes, lengths):
    """Write one symbol, with the escape where it has no code of its own."""
    piece, bits = uint64(codes[symbol]), np.int64(lengths[symbol])
    if bits == 0:
        bits = np.int64(lengths[ESCAPE_SYMBOL])
        piece = uint64(codes[ESCAPE_SYMBOL]) | uint64(symbol) << uint64(bits)
        bits += 8
    return put(words, position, pending, piece, bits)


@kernel
def encode_names(data, offsets, codes, lengths, shared_codes, shared_lengths, words, block_starts):
    """Write keys (of whole blocks, or the last ones) into `words`; block_starts[b] = first bit of block b."""
    position, pending = np.int64(0), uint64(0)
    for i in range(len(offsets) - 1):
        same = shared_bytes(data, offsets, i)
        if i % NAMES_PER_BLOCK == 0:
            block_starts[i // NAMES_PER_BLOCK] = position
        position, pending = put_symbol(words, position, pending, np.int64(same), shared_codes, shared_lengths)
        for k in range(offsets[i] + same, offsets[i + 1]):
            position, pending = put_symbol(words, position, pending, np.int64(data[k]), codes, lengths)
        position, pending = put_symbol(words, position, pending, np.int64(0), codes, lengths)
    flush(words, position, pending)
    return position


@lean_inline
def next_name(names, position, buffer, length):
    """Turn the key in buffer[:length] into the next one; returns (position or DAMAGED, length)."""
    words, table = names.words, names.table
    stop = (len(words) - 1) << 6
    if position < 0 or position >= stop:
        return np.int64(DAMAGED), np.int64(0)
    bits = window(words, position)
    entry = np.int64(names.shared_table[bits & MASK])
    used = entry & 15
    same = entry >> 4
    if same == ESCAPE_SYMBOL:
        same = np.int64((bits >> uint64(used)) & uint64(255))
        used += 8
    if (entry & 15) == 0 or same > length:
        return np.int64(DAMAGED), np.int64(0)
    position += used
    k = same
    while k < MAX_KEY_BYTES:
        if position >= stop:
            return np.int64(DAMAGED), np.int64(0)
        bits = window(words, position)
        # A window of 64 bits holds at least three symbols of at most 20 bits each.
        for _ in range(3):
            entry = np.int64(table[bits & MASK])
            used = entry & 15
            symbol = entry >> 4
            if used == 0:
                return np.int64(DAMAGED), np.int64(0)
            bits >>= uint64(used)
            if symbol == ESCAPE_SYMBOL:
                symbol = np.int64(bits & uint64(255))
                bits >>= uint64(8)
                used += 8
            position += used
            if symbol == 0:
                return position, np.int64(k)
            if k >= MAX_KEY_BYTES:
                break
            buffer[k] = symbol
            k += 1
    return np.int64(DAMAGED), np.int64(0)


@lean_inline
def read_name(names, page, buffer):
    """Read the key of a page into `buffer` (of MAX_KEY_BYTES bytes). Returns its length, or DAMAGED."""
    position, length = np.int64(names.block[page // NAMES_PER_BLOCK]), np.int64(0)
    for _ in range(page % NAMES_PER_BLOCK + 1):
        position, length = next_name(names, position, buffer, length)
        if position < 0:
            return np.int64(DAMAGED)
    return length


@kernel
def decode_name(words, block, table, shared_table, page, buffer):
    """`read_name` for Python. Takes the arrays of CodedNames one by one: passing the tuple takes a quarter longer."""
    return read_name(CodedNames(words, block, table, shared_table), page, buffer)


@kernel
def decode_names(names, first, count, buffer, data, offsets):
    """Read the keys of pages [first, first + count) into data/offsets. Returns how many fitted, or DAMAGED."""
    position, length = np.int64(0), np.int64(0)
    offsets[0] = 0
    for page in range(first - first % NAMES_PER_BLOCK, first + count):
        if page % NAMES_PER_BLOCK == 0:
            position, length = np.int64(names.block[page // NAMES_PER_BLOCK]), np.int64(0)
        position, length = next_name(names, position, buffer, length)
        if position < 0:
            return np.int64(DAMAGED)
        i = page - first
        if i < 0:
            continue
        if offsets[i] + length > len(data):
            return np.int64(i)
        for k in range(length):
            data[offsets[i] + k] = buffer[k]
        offsets[i + 1] = offsets[i] + length
    return np.int64(count)


@lean_inline
def compare(buffer, length, key):
    """Byte order of buffer[:length] against key: negative, zero or positive."""
    most = min(length, len(key))
    for k in range(most):
        difference = np.int64(buffer[k]) - np.int64(key[k])
        if difference != 0:
            return difference
    return length - len(key)


@kernel
def lower_bound(names, pages, key, buffer):
    """The number of pages whose key is below `key`; DAMAGED if a name cannot be read."""
    low, high = np.int64(0), np.int64(len(names.block))  # between them: the first block whose head is not below key
    while low < high:
        middle = (low + high) // 2
        position, length = next_name(names, np.int64(names.block[middle]), buffer, np.int64(0))
        if position < 0:
            return np.int64(DAMAGED)
        if compare(buffer, length, key) < 0:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return np.int64(0)
    first = (low - 1) * NAMES_PER_BLOCK
    position, length = np.int64(names.block[low - 1]), np.int64(0)
    for page in range(first, min(pages, first + NAMES_PER_BLOCK)):
        position, length = next_name(names, position, buffer, length)
        if position < 0:
            return np.int64(DAMAGED)
        if compare(buffer, length, key) >= 0:
            return np.int64(page)
    return np.int64(min(pages, first + NAMES_PER_BLOCK))
