"""The code of names: sorted keys in blocks of 16, front-coded, the rest in Huffman-coded pieces.

Each key is the number of bytes that it shares with the key before it (at most 255), then its further bytes, then the
end symbol 0: keys have no NUL. A large store has up to 2,048 pieces of text beside the 256 bytes, such as `index` or
`.html`; whatever is the longest piece at a place is one symbol. Symbols and shared lengths have a code each. A block of
names begins with a whole key:

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
from cocite.kernels.instructions import put_word
from cocite.kernels.jit import CHECKED, inline, kernel, lean_inline

NAMES_PER_BLOCK = 16
MAX_KEY_BYTES = 1 << 14  # 4,096 characters of four bytes, and some
ESCAPE_SYMBOL = 256  # of shared lengths
FIRST_PIECE = 256  # the symbols before are single bytes; the one after the last piece is the escape
MAX_PIECE_BYTES = 7
ESCAPED = 128


class CodedNames(NamedTuple):
    """The names of a store; see graph/FORMAT.md."""

    words: NDArray[np.uint64]
    block: NDArray[np.uint64]  # first bit of every sixteenth name
    table: NDArray[np.uint64]  # decodes symbols, see `name_table`
    shared_table: NDArray[np.uint32]  # decodes numbers of shared bytes


class NameCode(NamedTuple):
    """How names are written. Pieces are in the order of `in_order`."""

    codes: NDArray[np.uint32]
    lengths: NDArray[np.uint8]
    shared_codes: NDArray[np.uint32]
    shared_lengths: NDArray[np.uint8]
    pieces: NDArray[np.uint64]  # their bytes, the first one lowest
    sizes: NDArray[np.uint8]  # how many
    first: NDArray[np.uint16]  # the first piece with two leading bytes, for all pairs of bytes and one more


def piece_sizes(pieces: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The number of bytes of each piece, which none of its bytes ends: 0 to MAX_PIECE_BYTES."""
    data = np.ascontiguousarray(pieces, "<u8").view(np.uint8).reshape(-1, 8).copy()
    data[:, MAX_PIECE_BYTES] = 0
    found: NDArray[np.uint8] = (data == 0).argmax(axis=1).astype(np.uint8)
    return found


def in_order(pieces: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Pieces by their first two bytes, then the longest first."""
    return pieces[np.lexsort((pieces, -piece_sizes(pieces).astype(np.int64), pieces & np.uint64(0xFFFF)))]


def first_pieces(pieces: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """The first piece with each pair of leading bytes."""
    counts = np.bincount((pieces & np.uint64(0xFFFF)).astype(np.int64), minlength=1 << 16)
    return np.append(0, np.cumsum(counts)).astype(np.uint16)


def name_table(table: NDArray[np.uint32], pieces: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The table of a code (graph/huffman.py) with what to write: the text from bit 8 on, its bytes from bit 4 on.

    The end symbol has no bytes; an escaped byte, which follows, is ESCAPED.
    """
    sizes = np.concatenate([[0], np.ones(FIRST_PIECE - 1), piece_sizes(pieces), [ESCAPED >> 4]]).astype(np.uint64)
    texts = np.concatenate([np.arange(FIRST_PIECE, dtype=np.uint64), pieces, np.zeros(1, np.uint64)])
    whole = texts << np.uint64(8) | sizes << np.uint64(4)
    found: NDArray[np.uint64] = whole[table >> np.uint32(4)] | (table & np.uint32(15))
    return found


@inline
def shared_bytes(data, offsets, i):
    """How many leading bytes key i shares with the key before it in its block, at most 255."""
    k, start, before = 0, offsets[i], offsets[i - 1]
    most = min(np.int64(255), start - before, offsets[i + 1] - start) if i % NAMES_PER_BLOCK else np.int64(0)
    while k < most and data[before + k] == data[start + k]:
        k += 1
    return k


@inline
def next_symbol(data, k, stop, code):
    """(The symbol of the longest piece at data[k:stop], its bytes); that of the byte if there is no piece."""
    if stop - k >= 2 and len(code.pieces) > 0:
        pair = np.int64(data[k]) | np.int64(data[k + 1]) << 8
        low, high = np.int64(code.first[pair]), np.int64(code.first[pair + 1])
        text = uint64(0)
        for j in range(min(MAX_PIECE_BYTES, stop - k) if low < high else 0):
            text |= uint64(data[k + j]) << uint64(8 * j)
        for at in range(low, high):
            size = np.int64(code.sizes[at])
            if size <= stop - k and text & ((uint64(1) << uint64(8 * size)) - uint64(1)) == code.pieces[at]:
                return FIRST_PIECE + at, size
    return np.int64(data[k]), np.int64(1)


@kernel
def split_names(data, offsets, code, symbols):
    """The symbols of the further bytes of each key, with -1 after each key. Returns how many."""
    count = np.int64(0)
    for i in range(len(offsets) - 1):
        k = offsets[i] + shared_bytes(data, offsets, i)
        while k < offsets[i + 1]:
            symbol, size = next_symbol(data, k, offsets[i + 1], code)
            symbols[count] = symbol
            count, k = count + 1, k + size
        symbols[count] = -1
        count += 1
    return count


@kernel
def count_characters(data, offsets, code, characters, shared):
    """Histograms of the symbols and shared lengths that `encode_names` would write."""
    for i in range(len(offsets) - 1):
        same = shared_bytes(data, offsets, i)
        shared[same] += 1
        k = offsets[i] + same
        while k < offsets[i + 1]:
            symbol, size = next_symbol(data, k, offsets[i + 1], code)
            characters[symbol] += 1
            k += size
        characters[0] += 1


@inline
def put_symbol(words, position, pending, symbol, codes, lengths):
    """Write one symbol, a byte with the escape where it has no code of its own."""
    piece, bits = uint64(codes[symbol]), np.int64(lengths[symbol])
    if bits == 0:
        escape = len(lengths) - 1
        bits = np.int64(lengths[escape])
        piece = uint64(codes[escape]) | uint64(symbol) << uint64(bits)
        bits += 8
    return put(words, position, pending, piece, bits)


@kernel
def encode_names(data, offsets, code, words, block_starts):
    """Write keys (of whole blocks, or the last ones) into `words`; block_starts[b] = first bit of block b."""
    position, pending = np.int64(0), uint64(0)
    for i in range(len(offsets) - 1):
        same = shared_bytes(data, offsets, i)
        if i % NAMES_PER_BLOCK == 0:
            block_starts[i // NAMES_PER_BLOCK] = position
        position, pending = put_symbol(words, position, pending, same, code.shared_codes, code.shared_lengths)
        k = offsets[i] + same
        while k < offsets[i + 1]:
            symbol, size = next_symbol(data, k, offsets[i + 1], code)
            position, pending = put_symbol(words, position, pending, symbol, code.codes, code.lengths)
            k += size
        position, pending = put_symbol(words, position, pending, np.int64(0), code.codes, code.lengths)
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
    while True:
        if position >= stop:
            return np.int64(DAMAGED), np.int64(0)
        bits = window(words, position)
        # A window of 64 bits holds at least three symbols of at most 20 bits each.
        for _ in range(3):
            piece = uint64(table[bits & MASK])
            used = np.int64(piece & uint64(15))
            if used == 0:
                return np.int64(DAMAGED), np.int64(0)
            bits >>= uint64(used)
            if piece & uint64(ESCAPED):
                byte = bits & uint64(255)
                piece = byte << uint64(8) | uint64(byte != 0) << uint64(4)
                bits >>= uint64(8)
                used += 8
            position += used
            size = np.int64(piece >> uint64(4)) & 7
            if size == 0:
                return position, np.int64(k)
            if k + size >= MAX_KEY_BYTES:
                return np.int64(DAMAGED), np.int64(0)
            put_piece(buffer, k, size, piece >> uint64(8))
            k += size


@lean_inline
def put_piece(buffer, k, size, text):
    """Write a piece into a buffer, eight bytes at once where there is room; those behind the piece don't matter."""
    if k + 8 <= len(buffer):
        if CHECKED:
            buffer[k + 7]
        put_word(buffer, k, text)
    else:
        for j in range(size):
            buffer[k + j] = text >> uint64(8 * j)


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
