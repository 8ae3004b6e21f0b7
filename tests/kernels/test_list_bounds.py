"""Where lists begin and end: every bound, the width that takes the least room, parts, and damage."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.build.sort_links import ListWriter
from cocite.graph.encode import EncodedLists
from cocite.graph.generation import MemoryWriter
from cocite.kernels.codec import list_bounds
from cocite.kernels.codec.list_bounds import are_valid, packed, words_of
from tests.graph.webs import examples
from tests.kernels.encoded import callable_

bounds_at, has_record = callable_(list_bounds.bounds_at), callable_(list_bounds.has_record)
sizes = st.lists(st.sampled_from([0, 1, 7, 300, 5000]) | st.integers(0, 1 << 34), max_size=70)


def naive_width(spans: list[int]) -> int:
    """The width of the smallest array of all: records, and a row of `far` for sixteen lists of too many bits."""

    def bits(width: int) -> int:
        return 16 * width * len(spans) + sum(64 * 17 for span in spans if span >= 1 << width)

    return min(range(29), key=bits)


@examples(60)
@given(sizes)
def test_bounds_of_all_lists(lengths: list[int]) -> None:
    ends = np.cumsum([0, *lengths])[1:].astype(np.uint64)
    bounds, far = packed(ends)
    wanted = [0, *ends.tolist()]
    found = [bounds_at(bounds, far, page) for page in range(len(lengths))]
    assert found == list(pairwise(wanted))
    assert bounds_at(bounds, far, len(lengths))[0] == wanted[-1], "the list after the last begins where that one ends"
    blocks = [sum(lengths[first : first + 16]) for first in range(0, len(lengths) + 1, 16)]
    assert int(bounds[0]) == naive_width(blocks)
    assert are_valid(bounds, len(lengths)) and len(bounds) == words_of(len(lengths), int(bounds[0]))
    assert len(far) == 17 * sum(block >= 1 << int(bounds[0]) for block in blocks)
    for page in range(len(lengths) + 1):
        assert has_record(bounds, page)
    beyond = (len(lengths) // 16 + 2) * 16  # of a page that a layer has added
    assert not has_record(bounds, beyond) or bounds_at(bounds, far, beyond) == (0, 0)
    again = np.zeros(len(ends), np.uint64)
    list_bounds.read_ends(bounds, far, again)
    assert again.tolist() == ends.tolist()


@examples(30)
@given(st.lists(st.integers(0, 2000), max_size=200), st.data())
def test_parts_are_written_as_the_whole(lengths: list[int], data: st.DataObject) -> None:
    """A bucket after another, and the bounds in chunks."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(lengths) // 16), max_size=4)))
    writer = MemoryWriter()
    with patch.object(list_bounds, "CHUNK_RECORDS", 64 * data.draw(st.integers(1, 3)) // 64 * 4):
        lists = ListWriter(writer, "out")
        for first, last in zip([0, *cuts], [*cuts, len(lengths)], strict=True):
            some = np.array(lengths[16 * first : 16 * last if last < len(lengths) else None], np.int64)
            ends = np.cumsum(some)
            bits = int(ends[-1]) if len(ends) else 0
            lists.append(EncodedLists(np.zeros(bits // 64 + 2, np.uint64), bits, ends, some.astype(np.uint32)))
        lists.close()
    wanted = packed(np.cumsum([0, *lengths])[1:].astype(np.uint64))
    assert writer.map("out.bounds").tolist() == wanted[0].tolist()
    assert writer.map("out.far").tolist() == wanted[1].tolist()
    assert "out.ends" not in writer.arrays


@examples(30)
@given(sizes, st.data())
def test_damaged_bounds_are_numbers(lengths: list[int], data: st.DataObject) -> None:
    """Any bits but the header's: it is verified when a store is opened."""
    bounds, far = packed(np.cumsum([0, *lengths])[1:].astype(np.uint64))
    for _ in range(3):
        bounds[data.draw(st.integers(1, len(bounds) - 1))] = data.draw(st.integers(0, (1 << 64) - 1))
    for page in range(len(lengths) + 1):
        start, stop = bounds_at(bounds, far, page)
        assert isinstance(start, int) and isinstance(stop, int)
    header = bounds.copy()
    header[0] = data.draw(st.integers(0, (1 << 64) - 1).filter(lambda width: width != bounds[0]))
    assert not are_valid(header, len(lengths)) or words_of(len(lengths), int(header[0])) == len(header)
    assert not are_valid(bounds[:-1], len(lengths)) and not are_valid(bounds.astype(np.int64), len(lengths))
