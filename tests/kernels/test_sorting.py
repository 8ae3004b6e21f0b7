"""Sorting links, aliases and captures: kernels against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.build import sorting
from cocite.kernels.hash_tables import MISSING
from tests.graph.webs import examples


@given(st.integers(1, 30).flatmap(lambda n: st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
def test_circles_and_chains(leads: list[int]) -> None:
    alias, circle = np.array(leads, np.uint32), np.full(len(leads), MISSING, np.uint32)
    found = sorting.find_circles(alias, circle)
    members = {}
    for start in range(len(leads)):
        path = [start]
        while leads[path[-1]] not in path:
            path.append(leads[path[-1]])
        if leads[path[-1]] == start and len(path) > 1:
            members[start] = min(path)
    assert found == len(members)
    assert {i: int(first) for i, first in enumerate(circle) if first != MISSING} == members
    for page, first in members.items():
        alias[page] = first
    ends = []
    for start in range(len(leads)):
        end = start
        while alias[end] != end:
            end = int(alias[end])
        ends.append(end)
    count = sorting.resolve_aliases(alias)
    assert alias.tolist() == ends
    assert count == sum(end != page for page, end in enumerate(ends))


def test_a_long_chain_takes_few_steps() -> None:
    n = 200_000
    alias = np.minimum(np.arange(1, n + 1), n - 1).astype(
        np.uint32
    )  # each leads to the next: n²/2 steps if walked anew
    assert sorting.find_circles(alias, np.full(n, MISSING, np.uint32)) == 0
    assert sorting.resolve_aliases(alias) == n - 1
    assert (alias == n - 1).all()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.booleans()), max_size=30),
    st.randoms(use_true_random=False),
)
def test_the_greatest_order_wins_and_the_latest_of_equals(records: list[tuple[int, int, bool]], random: object) -> None:
    sequence = list(range(len(records)))
    random.shuffle(sequence)  # type: ignore[attr-defined]
    best_order, best_record = np.zeros(6, np.uint64), np.full(6, MISSING, np.uint32)
    pages = np.array([MISSING if page == 5 else page for page, _, _ in records], np.uint32)
    orders = np.array([order for _, order, _ in records], np.uint64)
    partial = np.array([partial for _, _, partial in records], np.bool_)
    sorting.choose_records(np.array(sequence, np.int64), pages, orders, partial, 100, best_order, best_record)
    for page in range(5):
        some = [
            (records[r][1], place, r) for place, r in enumerate(sequence) if records[r][0] == page and not records[r][2]
        ]
        assert best_record[page] == (100 + max(some)[2] if some else MISSING)
    assert best_record[5] == MISSING


@given(st.lists(st.tuples(st.integers(10, 16), st.lists(st.integers(0, 9), max_size=8)), max_size=12))
def test_rows_of_a_page_are_joined_first_target_kept(rows: list[tuple[int, list[int]]]) -> None:
    source = np.array([page for page, _ in rows], np.uint32)
    count = np.array([len(targets) for _, targets in rows], np.uint32)
    target = np.array([t for _, targets in rows for t in targets], np.uint32)
    order = np.argsort(source, kind="stable")
    start = np.cumsum(count, dtype=np.int64) - count
    by_source = sorting.BucketRows(order, source, start, count, target, np.zeros(len(target), np.uint32))
    starts, kept = np.zeros(8, np.int64), np.zeros(len(target), np.uint32)
    links = sorting.join_rows(by_source, 10, starts, kept, len(target))
    found = target[kept[:links]].tolist()
    assert [found[starts[i] : starts[i + 1]] for i in range(7)] == [
        list(dict.fromkeys(t for p, targets in rows if p == page for t in targets)) for page in range(10, 17)
    ]


@examples(15)
@given(st.lists(st.lists(st.integers(0, 63), unique=True, max_size=6), min_size=64, max_size=64))
def test_turning_links_round(lists: list[list[int]]) -> None:
    starts = np.cumsum([0, *map(len, lists)])
    targets = np.array([t for some in lists for t in some], np.uint32)
    cells, borders = sorting.Cells(np.array([0, 1, 1, 2]), 4), [0, 16, 48, 64]
    counts = np.zeros(4, np.int64)
    row_target, row_source = sorting.turn_rows(starts, 0, targets, cells, counts)
    for bucket, (low, high) in enumerate(pairwise(borders)):
        a, z = counts[bucket], counts[bucket + 1]
        begin, sources = np.zeros(high - low + 1, np.int64), np.zeros(z - a, np.uint32)
        sorting.sort_turned(row_target[a:z], row_source[a:z], low, begin, sources)
        for page in range(low, high):
            found = sources[begin[page - low] : begin[page - low + 1]].tolist()
            assert found == [source for source, some in enumerate(lists) if page in some]
