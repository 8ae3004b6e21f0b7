"""Names in bits: any sorted keys come back, one by one, in runs, and by search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.graph.build.name_pieces import MAX_PIECES, made_for, name_code, without_codes
from cocite.graph.huffman import Code
from cocite.kernels.codec import name_codec
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.name_codec import MAX_KEY_BYTES, NAMES_PER_BLOCK, CodedNames

Bytes = NDArray[np.uint8]

alphabet = st.sampled_from(
    [b"com,example)", b"\x03a", b"\x03index", b"\x02q=", b"0", b"1", b"z", "ü名".encode(), b"\xff", b"\x01"]
)
keys = st.lists(alphabet, min_size=1, max_size=12).map(b"".join) | st.binary(min_size=1, max_size=9).filter(
    lambda b: 0 not in b
)
key_lists = st.lists(keys, min_size=1, max_size=70, unique=True).map(sorted)
piece_lists = st.lists((st.lists(alphabet, max_size=5).map(b"".join) | keys).map(lambda b: b[:7]).filter(
    lambda b: len(b) > 1), max_size=12)  # fmt: skip


def make_codes(data: Bytes, offsets: NDArray[np.int64], pieces: NDArray[np.uint64]) -> tuple[Code, Code]:
    """Codes for the symbols and the shared lengths of names."""
    characters, shared = np.zeros(256 + len(pieces), np.int64), np.zeros(256, np.int64)
    name_codec.count_characters(data, offsets, without_codes(pieces), characters, shared)
    characters[256:] = np.maximum(1, characters[256:])
    return Code.from_counts(characters), Code.from_counts(shared)


def as_pieces(texts: Sequence[bytes]) -> NDArray[np.uint64]:
    """Pieces as a store has them."""
    return name_codec.in_order(np.array([int.from_bytes(text, "little") for text in set(texts)], np.uint64))


def joined(texts: list[bytes]) -> tuple[Bytes, NDArray[np.int64]]:
    """Texts as (bytes, offsets)."""
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])


class Names:
    """Encoded names, as a store keeps them."""

    def __init__(self, texts: list[bytes], sample: list[bytes] | None = None, pieces: Sequence[bytes] = ()) -> None:
        self.texts, self.pieces = texts, as_pieces(pieces)
        self.characters, self.shared = make_codes(*joined(texts if sample is None else sample), self.pieces)
        data, offsets = joined(texts)
        words = np.full((len(data) + 2 * len(texts)) * 20 // 64 + 2, 0xAAAAAAAAAAAAAAAA, np.uint64)
        self.starts = np.zeros(-(-len(texts) // NAMES_PER_BLOCK), np.int64)
        code = name_code(self.characters, self.shared, self.pieces)
        self.bits = name_codec.encode_names(data, offsets, code, words, self.starts)
        self.words = np.append(words[: (self.bits + 63) >> 6], np.uint64(0))
        self.buffer = np.empty(MAX_KEY_BYTES, np.uint8)

    @property
    def coded(self) -> CodedNames:
        table = name_codec.name_table(self.characters.table, self.pieces)
        return CodedNames(self.words, self.starts.astype(np.uint64), table, self.shared.table)

    def one(self, page: int) -> bytes:
        length = name_codec.decode_name(*self.coded, page, self.buffer)
        return b"damaged" if length < 0 else self.buffer[:length].tobytes()

    def run(self, first: int, count: int, room: int) -> list[bytes] | int:
        data, offsets = np.empty(room, np.uint8), np.zeros(count + 1, np.int64)
        done = name_codec.decode_names(self.coded, first, count, self.buffer, data, offsets)
        if done < 0:
            return int(done)
        return [data[offsets[i] : offsets[i + 1]].tobytes() for i in range(done)]

    def search(self, key: bytes) -> int:
        text = np.frombuffer(key, np.uint8)
        return int(name_codec.lower_bound(self.coded, len(self.texts), text, self.buffer))


@given(key_lists, key_lists, st.booleans(), piece_lists)
def test_names_come_back(texts: list[bytes], others: list[bytes], foreign: bool, pieces: list[bytes]) -> None:
    names = Names(texts, others if foreign else None, pieces)  # a code made for other names needs the escape
    assert [names.one(page) for page in range(len(texts))] == texts
    assert names.run(0, len(texts), sum(map(len, texts))) == texts
    for key in [*texts, *others, b"", b"\xff" * 20]:
        assert names.search(key) == bisect_left(texts, key)


@given(key_lists, st.data())
def test_runs_begin_and_end_anywhere(texts: list[bytes], data: st.DataObject) -> None:
    names = Names(texts)
    first = data.draw(st.integers(0, len(texts) - 1))
    count = data.draw(st.integers(0, len(texts) - first))
    wanted = texts[first : first + count]
    assert names.run(first, count, sum(map(len, wanted))) == wanted
    short = names.run(first, count, sum(map(len, wanted)) // 2)
    assert isinstance(short, list)
    assert short == wanted[: len(short)], "as many as there is room for"


def test_the_longest_keys_and_prefixes() -> None:
    head = b"com,example)\x03" + b"x" * 4000
    texts = sorted([head + bytes([c]) * n for c in b"abc" for n in (1, 2, 300)] + [b"\x04" + "𐍈".encode() * 4090])
    names = Names(texts)
    assert [names.one(page) for page in range(len(texts))] == texts
    assert names.run(0, len(texts), sum(map(len, texts))) == texts
    assert [names.search(text) for text in texts] == list(range(len(texts)))


def test_a_key_that_is_too_long_is_damage() -> None:
    texts = [b"a" * (MAX_KEY_BYTES - 1), b"b" * (MAX_KEY_BYTES + 1)]
    names = Names(texts)
    assert names.one(0) == texts[0]
    assert names.one(1) == b"damaged"
    assert names.run(0, 2, 4 * MAX_KEY_BYTES) == DAMAGED


def test_two_names_worked_out_by_hand() -> None:
    # Characters: a, b and the end symbol 0; codes of lengths 1 (end: 0), 2 (a: 10), 3 (b: 110, escape: 111).
    # Shared lengths: 0 is 0, 1 is 10, the escape is 11.
    lengths, shared = np.zeros(257, np.uint8), np.zeros(257, np.uint8)
    lengths[[0, ord("a"), ord("b"), 256]] = 1, 2, 3, 3
    shared[[0, 1, 256]] = 1, 2, 2
    codes, shares = Code.from_lengths(lengths), Code.from_lengths(shared)
    data, offsets = joined([b"ab", b"ac"])
    words, starts = np.zeros(3, np.uint64), np.zeros(1, np.int64)
    bits = name_codec.encode_names(data, offsets, name_code(codes, shares, as_pieces([])), words, starts)
    stream = "".join(str(int(words[0]) >> i & 1) for i in range(bits))
    assert stream == "".join(
        [
            "0", "10", "110", "0",  # nothing shared, a, b, end
            "10", "111", "11000110", "0",  # one byte shared, the escape, c = 99 = 01100011 lowest first, end
        ]
    )  # fmt: skip


@given(key_lists, piece_lists)
def test_names_are_split_into_the_longest_pieces(texts: list[bytes], pieces: list[bytes]) -> None:
    data, offsets = joined(texts)
    code, found = without_codes(as_pieces(pieces)), np.empty(len(data) + len(texts), np.int32)
    count = name_codec.split_names(data, offsets, code, found)
    every = [bytes([n]) for n in range(256)] + [
        int(piece).to_bytes(8, "little")[: int(size)] for piece, size in zip(code.pieces, code.sizes, strict=True)
    ]
    assert sorted(every[256:]) == sorted(set(pieces))
    expected: list[int] = []
    for i, text in enumerate(texts):
        before, at = texts[i - 1] if i % NAMES_PER_BLOCK else b"", 0
        while at < min(len(before), len(text), 255) and before[at] == text[at]:
            at += 1
        while at < len(text):
            longest = max((piece for piece in every if text.startswith(piece, at)), key=len)
            expected.append(every.index(longest))
            at += len(longest)
        expected.append(-1)
    assert found[:count].tolist() == expected


def test_pieces_are_learnt() -> None:
    texts = [f"com,example)/{word}/index{n:05}.html".encode() for word in ("about", "news") for n in range(9000)]
    keys = joined(sorted(texts))
    characters, _, pieces = made_for(keys)
    assert 0 < len(pieces) <= MAX_PIECES
    assert np.array_equal(name_codec.in_order(pieces), pieces)
    assert (name_codec.piece_sizes(pieces) >= 2).all()
    assert (characters.lengths[256:-1] > 0).all(), "a piece can't be escaped"
    again = made_for(keys)
    assert np.array_equal(again[2], pieces)
    assert np.array_equal(again[0].lengths, characters.lengths)
    own = [int(piece).to_bytes(8, "little").rstrip(b"\0") for piece in pieces]
    texts = sorted(texts)[:5000]
    assert Names(texts, pieces=own).bits < Names(texts).bits / 2
    assert Names(texts, pieces=own).run(0, len(texts), sum(map(len, texts))) == texts
    assert len(made_for(joined(texts))[2]) == 0, "too few names"


@given(key_lists, piece_lists, st.integers(0, 10**6), st.integers(0, 63))
def test_damage_stays_in_bounds(texts: list[bytes], pieces: list[bytes], word: int, bit: int) -> None:
    names = Names(texts, pieces=pieces)
    names.words[word % len(names.words)] ^= np.uint64(1) << np.uint64(bit)
    if len(names.pieces):
        names.pieces[word % len(names.pieces)] ^= np.uint64(1) << np.uint64(bit)
    for page in range(len(texts)):
        assert len(names.one(page)) <= MAX_KEY_BYTES
    names.run(0, len(texts), sum(map(len, texts)))
    assert DAMAGED <= names.search(texts[0]) <= len(texts)


@pytest.mark.parametrize("start", [-1, -64, -(2**62), 2**62, 2**40, -(2**63)])
def test_starts_outside_the_stream_are_damage(start: int) -> None:
    names = Names([b"a", b"b"])
    names.starts[0] = start
    assert names.one(0) == b"damaged"
    assert names.run(0, 2, 9) == DAMAGED
    assert names.search(b"b") == DAMAGED


def test_an_unused_code_is_damage() -> None:
    names = Names([b"ab", b"ac"])
    names.shared = Code.from_lengths(np.zeros(257, np.uint8))
    assert names.one(0) == b"damaged"


def test_codes_of_no_names() -> None:
    characters, shared = make_codes(*joined([]), as_pieces([]))
    assert characters.lengths[256] == shared.lengths[256] == 1
