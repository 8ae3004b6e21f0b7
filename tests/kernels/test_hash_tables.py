"""Hash tables against dictionaries and sets."""

from __future__ import annotations

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels import hash_tables
from cocite.kernels.hash_tables import EMPTY, GOLDEN_RATIO, MISSING
from cocite.related.neighbourhood.view import Numbered
from tests.kernels.encoded import callable_

bit_filter, keep_likely = callable_(hash_tables.bit_filter), callable_(hash_tables.keep_likely)
new_page_set = callable_(hash_tables.new_page_set)
number_of, stamped_slot = callable_(hash_tables.number_of), callable_(hash_tables.stamped_slot)
new_table = callable_(hash_tables.new_table)

fingerprints = st.integers(1, 2**64 - 1) | st.sampled_from([1, 2, 2**32, 2**63, 2**64 - 1, 2**64 - 2])


def array(values: list[int]) -> NDArray[np.uint64]:
    return np.array(values, np.uint64)


@given(st.lists(st.lists(st.integers(0, 2**32 - 2) | st.integers(0, 9), max_size=20), max_size=5))
def test_members_are_numbered_in_order(parts: list[list[int]]) -> None:
    every = [member for part in parts for member in part]
    numbered, count = Numbered(len(every)).set, 0
    for part in parts:
        count = hash_tables.add_members(numbered, count, np.array(part, np.uint32))
    truth = {member: number for number, member in enumerate(dict.fromkeys(every))}
    assert numbered.members[:count].tolist() == list(truth)
    asked = np.array([*every, 5, 2**32 - 2], np.uint32)
    numbers = [number_of(numbered.table, member) for member in asked]
    assert numbers == [truth.get(member, -1) for member in asked.tolist()]


@given(st.integers(1, 60), st.integers(0, 80), st.data())
def test_pages_are_numbered_in_order_each_in_its_slot_if_it_fits(pages: int, room: int, data: st.DataObject) -> None:
    members = data.draw(st.lists(st.integers(0, pages - 1), max_size=room))
    numbered = new_page_set(room, pages)
    count = hash_tables.add_members(numbered, 0, np.array(members, np.uint32))
    truth = {member: number for number, member in enumerate(dict.fromkeys(members))}
    assert numbered.members[:count].tolist() == list(truth)
    numbers = [number_of(numbered.table, np.uint32(page)) for page in range(pages)]
    assert numbers == [truth.get(page, -1) for page in range(pages)]
    slots = numbered.table[:-1]
    if pages <= len(slots):
        assert [page for page in range(pages) if slots[page] != EMPTY] == sorted(truth)


@given(st.lists(st.integers(0, 2**32 - 2), max_size=40), st.lists(st.integers(0, 2**32 - 2), max_size=40))
def test_the_filter_keeps_every_member(members: list[int], others: list[int]) -> None:
    links, kept = np.array([*members, *others], np.uint32), np.zeros(len(members) + len(others), np.uint32)
    count = keep_likely(bit_filter(np.array(members, np.uint32)), links, len(links), kept)
    assert kept[: len(members)].tolist() == members
    assert len(members) <= count <= len(links)


@given(st.lists(st.lists(st.integers(0, 30), max_size=10), max_size=6))
def test_a_new_stamp_empties_a_set(sets: list[list[int]]) -> None:
    table = new_table(10, 0)
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
        assert hash_tables.fill_table(table, array(known), low, high) == 0
        hash_tables.look_up(table, asked, low, high, numbers)
    truth = {value: i for i, value in enumerate(known)}
    assert numbers.tolist() == [truth.get(int(value), MISSING) for value in asked]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), max_size=200))
def test_names_are_fresh_at_least_once(met: list[tuple[int, int]]) -> None:
    seen = np.zeros(64, np.uint64)
    pages = array([xxhash.xxh64_intdigest(bytes([page])) for page, _ in met])
    spellings, fresh = np.array([spelling for _, spelling in met], np.uint16), np.zeros(len(met), np.bool_)
    count = hash_tables.mark_unseen(pages, pages, spellings, seen, fresh)
    assert count == fresh.sum()
    first = {pair: i for i, pair in reversed(list(enumerate(met)))}
    assert all(fresh[i] for i in first.values()), "the first time is always reported"
    again = np.zeros(1, np.bool_)
    hash_tables.mark_unseen(array([0]), array([7]), np.zeros(1, np.uint16), seen, again)
    assert not again[0], "0 isn't a page"


def test_names_of_one_tag_are_all_entered() -> None:
    seen, fresh = np.zeros(64, np.uint64), np.zeros(3, np.bool_)
    hash_tables.mark_unseen(array([9, 9, 9]), array([1 << 20, 2 << 20, 1 << 20]), np.zeros(3, np.uint16), seen, fresh)
    assert fresh.tolist() == [True, True, False]


@pytest.mark.parametrize("parts", [1, 4])
def test_pages_of_one_tag_are_left_out(parts: int) -> None:
    tags = array([5, 9, 7, 9, 2**63, 9, 7])
    numbers, twins = np.full(7, 77, np.uint32), 0
    for part in range(parts):
        low, high = np.uint64(2**64 // parts * part), np.uint64(2**64 // parts * (part + 1) - 1)
        table = np.zeros(2 * 16, np.uint64)
        twins += hash_tables.fill_table(table, tags, low, high)
        hash_tables.look_up(table, tags, low, high, numbers)
    assert twins == 5
    assert numbers.tolist() == [0, MISSING, MISSING, MISSING, 4, MISSING, MISSING]


def steps_to_find(members: NDArray[np.uint32], table: NDArray[np.uint64]) -> int:
    """How many slots all searches read: from the slot that the hash names to the one that has the member."""
    mask, factor = len(table) - 2, int(table[-1])
    home = [(member * factor % 2**64 >> 32) & mask for member in members.tolist()]
    place = {int(entry) >> 32: slot for slot, entry in enumerate(table[:-1].tolist()) if entry != EMPTY}
    return sum((place[member] - slot) % (mask + 1) + 1 for member, slot in zip(members.tolist(), home, strict=True))


def test_nobody_can_crowd_a_table() -> None:
    """An attacker knows the numbers of his pages, and chooses links to those that would be neighbours in a table."""
    count, slots = 2000, 4096
    every = np.arange(1 << 19, dtype=np.uint64)
    homes = (every * GOLDEN_RATIO >> np.uint64(32)) & np.uint64(slots - 1)
    chosen = every[homes < 32][:count].astype(np.uint32)
    assert len(chosen) == count
    numbered = Numbered(count)
    assert len(numbered.set.table) == slots + 1
    numbered.set.table[-1] = GOLDEN_RATIO  # as if there were no secret
    numbered.add(chosen)
    assert steps_to_find(chosen, numbered.set.table) > count * count / 3
    sets = [Numbered(count, chosen) for _ in range(5)]
    steps = [steps_to_find(chosen, each.set.table) for each in sets]
    assert sorted(steps)[2] < 30 * count  # nearly always 2 for each; rarely, by chance, a factor spreads badly
    factors = {int(each.set.table[-1]) for each in sets}
    assert len(factors) == 5 and all(factor % 2 for factor in factors)
    tables = [new_table(count, np.uint64(EMPTY)) for _ in range(5)]
    assert len({int(table[-1]) for table in tables}) == 5 and all(table[-1] % np.uint64(2) for table in tables)
    assert len(tables[0]) == slots + 1 and (tables[0][:-1] == EMPTY).all()
