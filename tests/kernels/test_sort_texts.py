"""Names sorted in memory, against Python's sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.build import sort_names
from cocite.graph.build.scratch import Workers
from cocite.graph.build.sort_names import sorted_rows
from cocite.kernels.build.sort_texts import Texts
from tests.graph.webs import examples, limited

parts = st.sampled_from([b"com,example)", b"a", b"\x03", b"/page", b"12345678", b"\xff"])
keys = st.lists(parts, max_size=6).map(b"".join)
rows = st.lists(st.tuples(keys, st.integers(0, 9)), max_size=120)


def in_order(names: list[tuple[bytes, int]], threads: int = 2) -> list[int]:
    """The rows that are kept, in their order."""
    data = np.frombuffer(b"".join(key for key, _ in names) + bytes(8), np.uint8).copy()
    start = np.cumsum([0, *(len(key) for key, _ in names)])
    with Workers(threads) as workers:
        found = sorted_rows(Texts(data, start, np.array([rank for _, rank in names], np.uint64)), workers)
    return [int(row) for row in found]


@examples(100)
@given(rows)
def test_names_are_in_the_order_of_keys_and_the_lowest_rank_is_kept(names: list[tuple[bytes, int]]) -> None:
    expected = [min((rank for key, rank in names if key == one)) for one in sorted({key for key, _ in names})]
    with limited(sort_names):
        found = [names[row] for row in in_order(names)]
    assert [key for key, _ in found] == sorted({key for key, _ in names})
    assert [rank for _, rank in found] == expected


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("prefix", [b"", b"org,example)\x03long/enough/for/some/words/", b"x" * 2048])
def test_many_names(threads: int, prefix: bytes) -> None:
    generator = np.random.default_rng(len(prefix))
    names = [(prefix + b"%d" % number, int(number)) for number in generator.integers(1, 3000, 20_000)]
    found = [names[row][0] for row in in_order(names, threads)]
    assert found == sorted({key for key, _ in names})


def test_equal_names_take_no_longer() -> None:
    """A million links to one page, in two spellings."""
    names = [(b"com,example)\x03a", place % 2) for place in range(100_000)]
    (row,) = in_order(names)
    assert names[row][1] == 0
