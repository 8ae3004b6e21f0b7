"""Reading lists from compiled code: one, many, and damaged ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, read_lists, read_many, read_one
from tests.graph.webs import examples
from tests.kernels.encoded import lists_of
from tests.kernels.test_parents import N, webs

NONE = np.zeros(0, np.uint32)


@examples(30)
@given(webs, st.integers(0, N - 1), st.integers(0, N), st.integers(0, 400))
def test_reading_many_lists(targets: list[list[int]], first: int, count: int, room: int) -> None:
    lists = lists_of(targets)
    count = min(count, N - first)
    found, starts = np.zeros(room, np.uint32), np.zeros(count + 1, np.int64)
    done = read_many(lists, first, count, found, NONE, starts)
    wanted = targets[first : first + done]
    assert [found[starts[i] : starts[i + 1]].tolist() for i in range(done)] == wanted
    if done < count:
        assert sum(map(len, wanted)) + len(targets[first + done]) > room, "as many as there is room for"


@examples(60)
@given(webs, st.lists(st.integers(0, N - 1), max_size=3 * N), st.integers(0, 3))
def test_reading_lists_two_at_a_time(targets: list[list[int]], pages: list[int], attribute: int) -> None:
    lists = lists_of(targets, [[k // 2 * attribute for k in range(len(each))] for each in targets])
    wanted = [targets[page] for page in pages]
    starts = np.cumsum([0, *map(len, wanted)])
    found = np.zeros(starts[-1], np.uint32)
    assert read_lists(lists, np.array(pages, np.uint32), starts, found) == 0
    assert found.tolist() == [target for each in wanted for target in each]
    if len(found):
        assert read_lists(lists, np.array(pages, np.uint32), starts, found[:-1]) == DAMAGED, "too little room"
        starts[1:] += 1
        assert read_lists(lists, np.array(pages, np.uint32), starts, np.zeros(400, np.uint32)) == DAMAGED, "wrong room"


@examples(30)
@given(webs, st.sampled_from(["words", "bounds", "far", "degree", "table"]), st.data())
def test_damaged_lists_stay_in_bounds(targets: list[list[int]], part: str, data: st.DataObject) -> None:
    lists = lists_of(targets)
    values = getattr(lists, part).copy()
    most, first = np.iinfo(values.dtype).max, int(part == "bounds")  # whose header is verified when a store is opened
    for _ in range(3 if len(values) > first else 0):
        values[data.draw(st.integers(first, len(values) - 1))] = data.draw(
            st.integers(0, int(most)) | st.integers(0, 300)
        )
    damaged = Lists(**{**lists._asdict(), part: values})
    found = np.zeros(200, np.uint32)
    starts = np.append(0, np.cumsum(np.minimum(damaged.degree, 20).astype(np.int64)))
    every = np.zeros(starts[-1], np.uint32)
    if read_lists(damaged, np.arange(N, dtype=np.uint32), starts, every) == 0:
        assert (every < N).all()
    for page in range(N):
        got = read_one(damaged, page, found, NONE)
        assert got == DAMAGED or got == damaged.degree[page]
        if got > 0:
            assert (found[:got] < N).all()
