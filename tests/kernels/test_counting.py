"""Counting the links of many lists in counters by page number, beside plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists
from cocite.kernels.related.cocitation import CHUNK_LINKS, count_lists, take_counts
from tests.graph.webs import examples
from tests.kernels.encoded import lists_of
from tests.kernels.test_parents import N, webs


def counted(lists: Lists, pages: list[int], counters: NDArray[np.uint32]) -> dict[int, int] | int:
    """How many of the pages link to each page, or DAMAGED."""
    starts = np.append(0, np.cumsum(lists.degree[pages].astype(np.int64)))
    found = np.empty(min(starts[-1], len(counters)) + 1, np.uint32)
    count = count_lists(lists, np.array(pages, np.uint32), starts, counters, found)
    if count < 0:
        return int(count)
    counts = np.empty(count, np.int32)
    take_counts(found[:count], counters, 0, counts)
    return dict(zip(found[:count].tolist(), counts.tolist(), strict=True))


def truth(targets: list[list[int]], pages: list[int]) -> dict[int, int]:
    """The same, link by link."""
    return dict(Counter(target for page in pages for target in targets[page]))


@examples(60)
@given(webs, st.lists(st.integers(0, N - 1), max_size=3 * N))
def test_links_are_counted(targets: list[list[int]], pages: list[int]) -> None:
    counters = np.zeros(N, np.uint32)
    assert counted(lists_of(targets), pages, counters) == truth(targets, pages)
    assert not counters.any(), "cleared for the next question"


def test_links_are_counted_in_several_chunks() -> None:
    random, size = np.random.default_rng(3), 2 * CHUNK_LINKS
    long = random.permutation(size)[: CHUNK_LINKS + 100].tolist()  # longer than a chunk
    targets = [random.permutation(size)[: random.integers(0, 60)].tolist() for _ in range(size)]
    targets[77] = [page for page in long if page != 77]
    targets = [[page for page in each if page != own] for own, each in enumerate(targets)]
    pages = [*range(400), 77, *range(300, 500)]
    counters = np.zeros(size, np.uint32)
    assert counted(lists_of(targets), pages, counters) == truth(targets, pages)
    assert sum(len(targets[page]) for page in pages) > 4 * CHUNK_LINKS
    assert not counters.any()


@examples(60)
@given(webs, st.sampled_from(["words", "bounds", "degree", "table"]), st.data())
def test_damaged_lists_leave_no_counts(targets: list[list[int]], part: str, data: st.DataObject) -> None:
    lists = lists_of(targets)
    values = getattr(lists, part).copy()
    most = min(np.iinfo(values.dtype).max, 300 if part == "degree" else 1 << 64)
    header = part == "bounds"  # its first word, which opening a store verifies
    for _ in range(3):
        values[data.draw(st.integers(header, len(values) - 1))] = data.draw(
            st.integers(0, int(most)) | st.integers(0, 300)
        )
    counters = np.zeros(N, np.uint32)
    found = counted(Lists(**{**lists._asdict(), part: values}), list(range(N)), counters)
    assert found == DAMAGED or all(page < N for page in found)  # type: ignore[union-attr]
    assert not counters.any()
