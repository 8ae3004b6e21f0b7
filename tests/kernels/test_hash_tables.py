"""Hash tables against dictionaries and sets."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels import hash_tables
from cocite.kernels.hash_tables import EMPTY, MISSING, NumberedSet
from tests.kernels.encoded import callable_

bit_filter, keep_likely = callable_(hash_tables.bit_filter), callable_(hash_tables.keep_likely)
stamped_slot = callable_(hash_tables.stamped_slot)

fingerprints = st.integers(1, 2**64 - 1) | st.sampled_from([1, 2, 2**32, 2**63, 2**64 - 1, 2**64 - 2])


def array(values: list[int]) -> NDArray[np.uint64]:
    return np.array(values, np.uint64)


@given(st.lists(st.lists(st.integers(0, 2**32 - 2) | st.integers(0, 9), max_size=20), max_size=5))
def test_members_are_numbered_in_order(parts: list[list[int]]) -> None:
    every = [member for part in parts for member in part]
    table = np.full(1 << (2 * len(every) + 1).bit_length(), EMPTY, np.uint64)
    numbered, count = NumberedSet(table, np.zeros(len(every), np.uint32)), 0
    for part in parts:
        count = hash_tables.add_members(numbered, count, np.array(part, np.uint32))
    truth = {member: number for number, member in enumerate(dict.fromkeys(every))}
    assert numbered.members[:count].tolist() == list(truth)
    asked = np.array([*every, 5, 2**32 - 2], np.uint32)
    numbers = np.zeros(len(asked), np.int32)
    hash_tables.numbers_of(numbered, asked, numbers)
    assert numbers.tolist() == [truth.get(member, -1) for member in asked.tolist()]
    wanted = np.array([*truth, 2**31], np.uint32)
    if 2**31 not in truth:
        shown = np.array(every[::-1], np.uint32)
        last = {member: place for place, member in enumerate(shown.tolist())}
        assert hash_tables.find_places(shown, wanted).tolist() == [last.get(member, -1) for member in wanted.tolist()]


@given(st.lists(st.integers(0, 2**32 - 2), max_size=40), st.lists(st.integers(0, 2**32 - 2), max_size=40))
def test_the_filter_keeps_every_member(members: list[int], others: list[int]) -> None:
    links, kept = np.array([*members, *others], np.uint32), np.zeros(len(members) + len(others), np.uint32)
    count = keep_likely(bit_filter(np.array(members, np.uint32)), links, len(links), kept)
    assert kept[: len(members)].tolist() == members
    assert len(members) <= count <= len(links)


@given(st.lists(st.lists(st.integers(0, 30), max_size=10), max_size=6))
def test_a_new_stamp_empties_a_set(sets: list[list[int]]) -> None:
    table = np.zeros(32, np.uint64)
    for stamp, members in enumerate(sets, 1):
        for member in members:
            slot, entry = stamped_slot(table, np.uint64(stamp), np.uint32(member))
            table[slot] = entry
        for member in range(31):
            slot, entry = stamped_slot(table, np.uint64(stamp), np.uint32(member))
            assert (table[slot] == entry) == (member in members)


@given(
    st.lists(fingerprints, unique=True, max_size=60), st.lists(fingerprints, max_size=30), st.sampled_from([1, 2, 8])
)
def test_the_table_finds_what_is_in_it(known: list[int], others: list[int], parts: int) -> None:
    asked = array([*known, *others, 0])
    numbers = np.full(len(asked), 77, np.uint32)
    for part in range(parts):
        low, high = np.uint64(2**64 // parts * part), np.uint64(2**64 // parts * (part + 1) - 1)
        table = np.zeros(2 * 128, np.uint64)
        hash_tables.fill_table(table, array(known), low, high)
        hash_tables.look_up(table, asked, low, high, numbers)
    truth = {value: i for i, value in enumerate(known)}
    assert numbers.tolist() == [truth.get(int(value), MISSING) for value in asked]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), max_size=200))
def test_names_are_fresh_at_least_once(met: list[tuple[int, int]]) -> None:
    seen = np.zeros(64, np.uint64)
    pages = array([xxhash.xxh64_intdigest(bytes([page])) for page, _ in met])
    spellings, fresh = np.array([spelling for _, spelling in met], np.uint16), np.zeros(len(met), np.bool_)
    count = hash_tables.mark_unseen(pages, spellings, seen, fresh)
    assert count == fresh.sum()
    first = {pair: i for i, pair in reversed(list(enumerate(met)))}
    assert all(fresh[i] for i in first.values()), "the first time is always reported"
    again = np.zeros(1, np.bool_)
    hash_tables.mark_unseen(array([0]), np.zeros(1, np.uint16), seen, again)
    assert not again[0], "0 isn't a page"
