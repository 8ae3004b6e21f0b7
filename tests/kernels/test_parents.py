"""Chosen parents and entry points into long lists."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.arrays import read_only
from cocite.kernels.build import parents
from cocite.kernels.codec import lists as reading
from tests.graph.webs import examples
from tests.kernels.encoded import callable_, lists_of, turned

decode_part, start_of = callable_(reading.decode_part), callable_(reading.start_of)

N = 24
SEED = np.uint64(42)
webs = st.lists(st.lists(st.integers(0, N - 1), unique=True, max_size=14), min_size=N, max_size=N).map(
    lambda lists: [[target for target in some if target != page] for page, some in enumerate(lists)]
)


@examples(30)
@given(webs, st.integers(1, 12))
def test_parents_of_highest_in_degree(targets: list[list[int]], keep: int) -> None:
    into = turned(targets)
    degrees = np.array([len(some) for some in into], np.uint32)
    pages = np.flatnonzero(degrees >= keep).astype(np.uint32)
    chosen = np.zeros((len(pages), keep), np.uint32)
    assert parents.best_of_all(lists_of(into), pages, parents.ALL_PARENTS, keep, chosen) == len(pages)
    assert chosen.tolist() == [sorted(into[page], key=lambda p: (-len(into[p]), p))[:keep] for page in pages]


@examples(30)
@given(webs, st.integers(1, 12))
def test_parents_of_smallest_hash(targets: list[list[int]], keep: int) -> None:
    into = turned(targets)
    prints = np.array([xxhash.xxh64_intdigest(bytes([page]), seed=42) for page in range(N)], np.uint64)

    def hash_of(page: int, parent: int) -> int:
        inner = xxhash.xxh64_intdigest(int(prints[page]).to_bytes(8, "little"), seed=42)
        return xxhash.xxh64_intdigest(int(prints[parent]).to_bytes(8, "little"), seed=inner)

    pages = np.array([page for page in range(N) if len(into[page]) >= keep], np.uint32)
    chosen = np.zeros((len(pages), keep), np.uint32)
    assert parents.sample_of_all(lists_of(into), pages, parents.ALL_PARENTS, prints, SEED, keep, chosen) == len(pages)
    assert chosen.tolist() == [
        sorted(into[p], key=lambda parent, p=p: hash_of(p, parent))[:keep] for p in pages.tolist()
    ]


@examples(30)
@given(webs, webs, st.integers(1, 6))
def test_stored_parents_and_more_are_enough_to_choose_among(
    targets: list[list[int]], more: list[list[int]], keep: int
) -> None:
    """Where links only come: a stored row, new parents, and those of other in-degrees have the best of all."""
    later = [sorted({*a, *b}) for a, b in zip(targets, more, strict=True)]
    before, after = turned(targets), turned(later)
    degrees = [np.array([len(some) for some in each], np.uint32) for each in (before, after)]
    pages = np.flatnonzero(degrees[0] >= keep).astype(np.uint32)
    old, new = (np.zeros((len(pages), keep), np.uint32) for _ in range(2))
    parents.best_of_all(lists_of(before), pages, parents.ALL_PARENTS, keep, old)
    parents.best_of_all(lists_of(after), pages, parents.ALL_PARENTS, keep, new)
    grown = np.flatnonzero(degrees[0] != degrees[1]).tolist()
    changed = [[p for p in after[page] if p in grown or p not in before[page]] for page in range(N)]
    flat = np.array([p for each in changed for p in each], np.uint32)
    bounds = np.cumsum([0, *map(len, changed)])
    row = np.arange(len(pages)) * keep
    places = np.stack([bounds[:-1], bounds[1:]], axis=1)[pages]
    among = parents.ChosenParents(row, read_only(old.ravel()), keep, flat, places)
    chosen = np.zeros_like(new)
    assert parents.best_of_all(lists_of(after), pages, among, keep, chosen) == len(pages)
    assert chosen.tolist() == new.tolist()

    first = np.arange(len(pages), dtype=np.uint64) * np.uint64(keep)
    stored, found = parents.StoredParents(pages, first, old.ravel(), keep), np.zeros(N, np.bool_)
    every = np.arange(N, dtype=np.uint32)
    assert parents.reordered(stored, lists_of(after), every, bounds, flat, degrees[0], found) == N
    for page, row, now in zip(pages.tolist(), old.tolist(), new.tolist(), strict=True):
        assert found[page] == (row != now)
    again, shorter = np.zeros(N, np.bool_), np.trim_zeros(degrees[0], "b")  # pages beyond its end had no links in
    assert parents.reordered(stored, lists_of(after), every, bounds, flat, shorter, again) == N
    assert again.tolist() == found.tolist()
    assert found[np.setdiff1d(np.arange(N), pages)].all()
    damaged = among._replace(stored=read_only(np.full(len(pages) * keep, N, np.uint32)))
    assert parents.best_of_all(lists_of(after), pages, damaged, keep, chosen) == (-1 if len(pages) else 0)
    cut = among._replace(stored=among.stored[:-1])
    assert parents.best_of_all(lists_of(after), pages, cut, keep, chosen) == (-1 if len(pages) else 0)
    assert parents.best_of_all(
        lists_of(after), pages, among._replace(row=np.full(len(pages), -1)), keep, chosen
    ) == len(pages)
    assert chosen.tolist() == new.tolist(), "without a row, among all"


@examples(30)
@given(webs, webs, st.integers(1, 6))
def test_a_sample_changes_only_where_a_new_parent_is_in_it(
    targets: list[list[int]], more: list[list[int]], keep: int
) -> None:
    later = [sorted({*a, *b}) for a, b in zip(targets, more, strict=True)]
    before, after = turned(targets), turned(later)
    prints = np.array([xxhash.xxh64_intdigest(bytes([page]), seed=42) for page in range(N)], np.uint64)
    pages = np.array([page for page in range(N) if len(before[page]) >= keep], np.uint32)
    old, new = (np.zeros((len(pages), keep), np.uint32) for _ in range(2))
    parents.sample_of_all(lists_of(before), pages, parents.ALL_PARENTS, prints, SEED, keep, old)
    parents.sample_of_all(lists_of(after), pages, parents.ALL_PARENTS, prints, SEED, keep, new)
    came = [[p for p in after[page] if p not in before[page]] for page in range(N)]
    bounds, flat = np.cumsum([0, *map(len, came)]), np.array([p for each in came for p in each], np.uint32)
    first = np.arange(len(pages), dtype=np.uint64) * np.uint64(keep)
    stored, found = parents.StoredParents(pages, first, old.ravel(), keep), np.zeros(N, np.bool_)
    assert parents.resampled(stored, np.arange(N, dtype=np.uint32), bounds, flat, prints, SEED, found) == N
    differs = (old != new).any(axis=1) if len(pages) else np.zeros(0, np.bool_)
    assert found[pages].tolist() == differs.tolist()
    assert found[np.setdiff1d(np.arange(N), pages)].all()


def test_a_sample_of_many_parents() -> None:
    n, keep = 30_000, 2000
    prints = np.array([xxhash.xxh64_intdigest(i.to_bytes(4, "little"), seed=42) for i in range(n)], np.uint64)
    lists = lists_of([list(range(1, n))] + [[] for _ in range(n - 1)])
    chosen = np.zeros((1, keep), np.uint32)
    parents.sample_of_all(lists, np.zeros(1, np.uint32), parents.ALL_PARENTS, prints, SEED, keep, chosen)
    inner = xxhash.xxh64_intdigest(int(prints[0]).to_bytes(8, "little"), seed=42)
    hashes = {p: xxhash.xxh64_intdigest(int(prints[p]).to_bytes(8, "little"), seed=inner) for p in range(1, n)}
    assert chosen[0].tolist() == sorted(hashes, key=hashes.__getitem__)[:keep]


@examples(30)
@given(webs, st.data(), st.integers(1, 7), st.booleans())
def test_entry_points(targets: list[list[int]], data: st.DataObject, every: int, attributed: bool) -> None:
    attributes = [[data.draw(st.integers(0, 3)) for _ in some] for some in targets]
    lists = lists_of(targets, attributes if attributed else None)
    pages = np.array([page for page in range(N) if targets[page]], np.uint32)
    firsts = np.append(0, np.cumsum([-(-len(targets[page]) // every) for page in pages]))
    sizes = [int(firsts[-1])] * 3 + [sum(map(len, targets))] * 2
    made = parents.SkipPoints(*(np.zeros(size, np.uint32) for size in sizes))
    parents.skip_points(lists, pages, every, made, attributed)
    link = 0
    for i, page in enumerate(pages.tolist()):
        degree = len(targets[page])
        for k, point in enumerate(range(int(firsts[i]), int(firsts[i + 1]))):
            done = k * every
            rest = degree - done
            found, found_attributes = np.zeros(rest, np.uint32), np.zeros(rest, np.uint32)
            start, stop = start_of(lists, page), start_of(lists, page + 1)
            state = int(made.before[point]), int(made.attribute[point])
            place = reading.Place(start + int(made.bit[point]), stop, *state)
            end = decode_part(lists, page, place, rest, found, found_attributes, 0)
            assert end == stop
            assert found.tolist() == targets[page][done:]
            assert found_attributes.tolist() == (attributes[page][done:] if attributed else [0] * rest)
        if attributed:
            assert made.target[link : link + degree].tolist() == sorted(targets[page])
            assert [targets[page][place] for place in made.place[link : link + degree]] == sorted(targets[page])
            link += degree
