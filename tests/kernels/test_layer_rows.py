"""Rows and names of layers brought together, beside what Python gives."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.arrays import read_only
from cocite.graph.build.in_lists import LinkCode
from cocite.graph.build.sort_links import count_symbols
from cocite.graph.huffman import Code
from cocite.kernels.codec import layer_rows
from cocite.kernels.codec import lists as reading
from cocite.kernels.codec.lists import Place
from tests.graph.webs import examples
from tests.kernels.encoded import callable_, lists_of

decode_part = callable_(reading.decode_part)
NONE = np.zeros(0, np.uint32)

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


webs = st.lists(st.sets(st.integers(0, 200)).map(sorted), min_size=1, max_size=8)


@examples(50)
@given(webs, st.lists(st.sets(st.integers(201, 1 << 31)).map(sorted), min_size=8, max_size=8), st.randoms())
def test_links_are_appended_to_lists_that_are_copied(old: list[list[int]], more: list[list[int]], dice: Random) -> None:
    """The same links as if the lists were decoded, and encoded again."""
    old = [[source for source in some if source != page] for page, some in enumerate(old)]
    lists = lists_of([*old, *([] for _ in range(201 - len(old)))])  # most links of layers have no code in it
    pages = sorted(dice.sample(range(len(old)), dice.randint(0, len(old))))
    kept, owners = np.array([dice.random() < 0.7 for _ in pages], np.bool_), np.array(pages, np.uint32)
    starts = np.array([0, *accumulate(len(more[page]) for page in pages)], np.int64)
    flat = np.array([source for page in pages for source in more[page]], np.uint32)
    every = [*old, *([] for _ in range(201 - len(old)))]
    counted = np.array([source for some in every for source in some], np.uint32), NONE
    code = Code.from_counts(count_symbols(*counted, np.cumsum([0, *map(len, every)]), np.arange(201, dtype=np.uint32)))
    bits = layer_rows.bits_of_lists(lists, owners[kept])
    words, ends = np.zeros((bits >> 6) + len(flat) + 2, np.uint64), np.zeros(len(pages), np.int64)
    own = LinkCode(code.codes, code.lengths)
    assert layer_rows.append_links(lists, owners, kept, flat, starts, own, words, ends) == (ends[-1] if pages else 0)
    for at, page in enumerate(pages):
        expected = (old[page] if kept[at] else []) + more[page]
        place = Place(ends[at - 1] if at else 0, ends[at], page, 0)
        targets = np.zeros(len(expected), np.uint32)
        whole = lists._replace(words=words, degree=np.broadcast_to(np.uint32(0), 1 << 32))
        assert decode_part(whole, page, place, len(expected), targets, NONE, 0) == ends[at]
        assert targets.tolist() == expected


def test_lists_beyond_the_stream_are_not_copied() -> None:
    lists, pages = lists_of([[1, 2, 3], [0, 2]]), np.array([0, 1], np.uint32)
    assert layer_rows.bits_of_lists(lists, pages) > 0
    assert layer_rows.bits_of_lists(lists._replace(words=lists.words[:0]), pages) == -1
    bounds = lists.bounds.copy()
    bounds[1] |= np.uint64(1 << 40)  # the first bit of the first list
    assert layer_rows.bits_of_lists(lists._replace(bounds=bounds), pages) == -1
