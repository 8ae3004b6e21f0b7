"""Addresses that were read before: numbers of equal texts, and the table of tags, against dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels.addresses.hashes import new_key
from cocite.kernels.addresses.recent import LINE_ENTRIES, number_texts, recall_tags, remember_tags

texts = st.lists(st.binary(max_size=20) | st.sampled_from([b"", b"https://a.example/", b"https://a.example/b"]))


def numbered(given: list[bytes]) -> tuple[list[int], list[int], NDArray[np.uint64]]:
    """The number of each text, where each distinct one is first, and their hashes."""
    data = np.frombuffer(b"before" + b"".join(given), np.uint8)
    offsets = np.cumsum([6, *map(len, given)])
    numbers, firsts = np.full(len(given), 99, np.uint32), np.full(len(given), 99, np.uint32)
    hashes = np.zeros((len(given), 2), np.uint64)
    count = number_texts(data, offsets, new_key(), numbers, firsts, hashes)
    return numbers.tolist(), firsts[:count].tolist(), hashes[:count]


@given(texts)
def test_equal_texts_have_one_number(given: list[bytes]) -> None:
    numbers, firsts, hashes = numbered(given)
    distinct = list(dict.fromkeys(given))
    assert numbers == [distinct.index(text) for text in given]
    assert firsts == [given.index(text) for text in distinct]
    assert len({tuple(row) for row in hashes.tolist()}) == len(distinct)


def test_many_texts_are_numbered_in_order() -> None:
    given = [b"%d" % (i * i % 10_007) for i in range(20_000)]
    places = {text: number for number, text in enumerate(dict.fromkeys(given))}
    assert numbered(given)[0] == [places[text] for text in given]


pairs = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))


@given(st.dictionaries(pairs, st.integers(0, 2**64 - 1), max_size=60), st.lists(pairs, max_size=9))
def test_a_tag_is_recalled_or_lost_and_never_another_one(
    known: dict[tuple[int, int], int], more: list[tuple[int, int]]
) -> None:
    table = np.zeros(4 * 2 * LINE_ENTRIES, np.uint64)
    hashes, tags = np.array([*known], np.uint64).reshape(-1, 2), np.array([*known.values()], np.uint64)
    remember_tags(hashes, tags, table)
    asked = np.array([*known, *more], np.uint64).reshape(-1, 2)
    found = np.full(len(asked), 7, np.uint64)
    recall_tags(asked, table, found)
    # A line and the second half of a hash are what the table knows.
    named = {(one % 4, two): {0} for one, two in asked.tolist()}
    for (one, two), tag in known.items():
        named[one % 4, two].add(tag)
    assert all(tag in named[one % 4, two] for (one, two), tag in zip(asked.tolist(), found.tolist(), strict=True))
    usable = {pair: tag for pair, tag in known.items() if tag}
    if len({(one % 4, two) for one, two in known}) == len(known) and all(
        sum(one % 4 == line for one, _ in usable) <= LINE_ENTRIES for line in range(4)
    ):
        assert found[: len(known)].tolist() == [*known.values()]


def test_half_an_entry_is_not_found() -> None:
    """Two threads may write one entry at once."""
    hashes, tags = np.array([[8, 5], [8, 6]], np.uint64), np.array([11, 12], np.uint64)
    tables = []
    for row in range(2):
        tables.append(np.zeros(2 * LINE_ENTRIES, np.uint64))
        remember_tags(hashes[row : row + 1], tags[row : row + 1], tables[row])
    assert np.count_nonzero(tables[0]) == 2
    torn, found = tables[0].copy(), np.zeros(2, np.uint64)
    torn[1] = tables[1][1]
    recall_tags(hashes, torn, found)
    assert found.tolist() == [0, 0]
