"""Rows and names of layers brought together, beside what Python gives."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.arrays import read_only
from cocite.kernels.codec import layer_rows
from tests.graph.webs import examples

pages = st.lists(st.integers(0, 60), max_size=40).map(sorted)


@examples(50)
@given(pages, st.sets(st.integers(0, 60)).map(sorted))
def test_rows_of_pages_that_are_decided_later_are_dropped(rows: list[int], gone: list[int]) -> None:
    kept = np.ones(len(rows), np.bool_)
    layer_rows.drop_rows(read_only(np.array(rows, np.uint32)), read_only(np.array(gone, np.uint32)), kept)
    assert kept.tolist() == [page not in gone for page in rows]


@examples(50)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=4)), unique=True), max_size=7))
def test_names_of_several_commits_are_ordered(commits: list[list[tuple[int, bytes]]]) -> None:
    every = {name: None for commit in commits for name in sorted(commit)}  # each once, runs that ascend
    names = [*every]
    before = read_only(np.array([place for place, _ in names], np.uint32))
    data = read_only(np.frombuffer(b"".join(key for _, key in names), np.uint8))
    offsets = read_only(np.array([0, *accumulate(len(key) for _, key in names)], np.int64))
    order = layer_rows.order_names(before, data, offsets)
    assert [names[at] for at in order.tolist()] == sorted(names)
    found = np.zeros(len(names), np.uint64)
    layer_rows.address_ranks(before, order, found)
    assert [names[at] for at in np.argsort(found).tolist()] == sorted(names)
    assert [int(key) >> 32 for key in found.tolist()] == [place for place, _ in names]
    assert all(int(key) >> 31 & 1 for key in found.tolist()), "behind the page of the base with the number before it"


links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 20)))


@examples(50)
@given(links, links, links)
def test_lists_get_what_came_and_lose_what_went(
    old: set[tuple[int, int]], came: set[tuple[int, int]], went: set[tuple[int, int]]
) -> None:
    came, went = came - old, went & old
    changed = sorted({target for target, _ in old | came | went})
    known = [target for target in changed if target in {page for page, _ in old}]
    changed = known + [target for target in changed if target not in known]
    names = {target: number for number, target in enumerate(changed)}  # pages without a list come last
    lists = [sorted(source for target, source in old if target == page) for page in known]
    starts = np.array([0, *accumulate(map(len, lists))], np.int64)
    sources = np.array([source for each in lists for source in each], np.uint32)
    keys = [np.array(sorted(names[t] << 32 | s for t, s in some), np.uint64) for some in (came, went)]
    merged, ends = np.zeros(len(old) + len(came), np.uint32), np.zeros(len(changed) + 1, np.int64)
    count = layer_rows.merge_sources(np.arange(len(changed)), starts, sources, *keys, ends, merged)
    found = [merged[low:high].tolist() for low, high in pairwise(ends.tolist())]
    assert found == [sorted(s for t, s in (old | came) - went if t == page) for page in changed]
    assert count == len((old | came) - went)
