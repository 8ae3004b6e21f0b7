"""Lists of successors at the level of bits: the example of the paper, every kind of damage, room that runs out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels.codec.bit_codes import GAMMA, PARAMETER, UNARY, ZETA
from cocite.kernels.codec.bvgraph import (
    ALL_DECODED,
    BROKEN_LIST,
    NO_ROOM,
    CodedGraph,
    DecodedLists,
    ListScratch,
    read_lists,
)
from tests.sources.bvgraph_writer import Format, encode, encode_list, packed

# Table 1 of "The WebGraph Framework I": nodes 15, 16, 17 and 18.
PAPER = {
    15: [13, 15, 16, 17, 18, 19, 23, 24, 203, 315, 1034],
    16: [15, 16, 17, 22, 23, 24, 315, 316, 317, 3041],
    17: [],
    18: [13, 15, 16, 17, 50],
}
NODES = 4000


def shape(nodes: int = NODES, window: int = 7, shortest: int = 2, longest: int = 1 << 20) -> NDArray[np.int64]:
    return np.array(
        [nodes, window, shortest, longest, GAMMA, UNARY, GAMMA, GAMMA, GAMMA, ZETA + 3 * PARAMETER], np.int64
    )


def run(
    data: bytes, count: int, described: NDArray[np.int64], first: int = 0, room: int = 100
) -> tuple[int, int, int, int, list[list[int]]]:
    window = int(described[1])
    starts = np.zeros(window + count + 1, np.int64)
    out, extras, spans = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(2 * room, np.int64)
    graph = CodedGraph(np.frombuffer(data, np.uint8), described)
    lists_room = DecodedLists(starts, out)
    done, position, state, degree = read_lists(graph, 0, first, count, lists_room, ListScratch(extras, spans))
    lists = [out[starts[window + i] : starts[window + i + 1]].tolist() for i in range(done)]
    return int(done), int(position), int(state), int(degree), lists


def test_the_example_of_the_paper() -> None:
    how = Format(shortest=2)
    references = {15: 0, 16: 1, 17: 0, 18: 3}
    words = [encode_list(n, PAPER[n], references[n], PAPER.get(n - references[n], []), how) for n in PAPER]
    # The paper's copy blocks of node 16 are 0, 0, 2, 1, 1, 0, 0; those of node 18 are 4 and no more.
    assert "".join(encode(block, "GAMMA", 3) for block in (7, 0, 0, 2, 1, 1, 0, 0)) in words[1]
    done, position, state, _, lists = run(packed("".join(words), False), 4, shape(), first=15)
    assert (done, state, position) == (4, ALL_DECODED, sum(map(len, words)))
    assert lists == list(PAPER.values())


def test_a_list_by_hand() -> None:
    # Node 0 of 3: outdegree 2 (011), reference 0 (1), no intervals (1), residuals 0 + 1 → natural 2 → ζ₃ 1011,
    # then a gap of 0 → ζ₃ 100: successors 1 and 2. Nodes 1 and 2 have none: 1, 1.
    bits = "011" + "1" + "1" + "1011" + "100" + "1" + "1"
    done, position, state, _, lists = run(packed(bits, False), 3, shape(nodes=3, shortest=4))
    assert (done, position, state, lists) == (3, 14, ALL_DECODED, [[1, 2], [], []])


HOW = Format(shortest=2)
FIVE = encode(5, "GAMMA", 3)


@pytest.mark.parametrize(
    "bits",
    [
        encode(NODES + 1, "GAMMA", 3),  # more successors than nodes
        FIVE + "01",  # a reference to a node before the first
        FIVE + "1" + encode(3, "GAMMA", 3),  # three intervals of two at least in five successors
        FIVE + "1" + encode(1, "GAMMA", 3) + encode(1, "GAMMA", 3) * 2,  # an interval that begins at -1
        FIVE + "1" + encode(1, "GAMMA", 3) + "1" + encode(9, "GAMMA", 3),  # an interval longer than the list
        FIVE + "1" + "1" + encode(1, "ZETA", 3),  # a residual of -1
        FIVE + "1" + "1" + encode(2 * NODES, "ZETA", 3),  # a residual past the last node
        encode(3, "GAMMA", 3) + "1" + encode(1, "GAMMA", 3) + "11" + encode(2, "ZETA", 3),  # a residual in an interval
        FIVE,  # nothing more
        "",
    ],
)
def test_damage_is_found(bits: str) -> None:
    data = packed(bits, False)
    done, position, state, *_ = run(data, 1, shape())
    assert (done, position, state) == (0, 0, BROKEN_LIST)


def list_of(node: int, successors: list[int]) -> str:
    return encode_list(node, successors, 0, [], HOW)


@pytest.mark.parametrize(
    "second",
    [
        encode(2, "GAMMA", 3) + "01" + encode(9, "GAMMA", 3),  # more blocks than the referred list can have
        encode(2, "GAMMA", 3) + "01" + encode(1, "GAMMA", 3) + encode(4, "GAMMA", 3),  # a block longer than the list
        encode(2, "GAMMA", 3) + "01" + encode(0, "GAMMA", 3),  # copies three, has two
        encode(4, "GAMMA", 3) + "01" + "1" + "1" + encode(8, "ZETA", 3),  # a residual that is copied too (1 + 4)
        encode(2, "GAMMA", 3) + "001",  # a reference of 2 from node 1
    ],
)
def test_damage_in_references_is_found(second: str) -> None:
    bits = list_of(0, [1, 3, 5]) + second + "1" * 64
    done, _, state, *_ = run(packed(bits, False), 2, shape())
    assert (done, state) == (1, BROKEN_LIST)


def test_a_list_longer_than_the_limit_is_refused() -> None:
    data = packed(list_of(0, list(range(0, 40, 2))), False)
    assert run(data, 1, shape(longest=20))[2] == ALL_DECODED
    assert run(data, 1, shape(longest=19))[2] == BROKEN_LIST


def test_stops_where_room_ends_and_goes_on() -> None:
    lists = [list(range(i, i + 30, 2)) for i in range(10)]  # 15 each
    words = [list_of(i, successors) for i, successors in enumerate(lists)]
    done, position, state, degree, found = run(packed("".join(words), False), 10, shape(), room=50)
    assert (done, state, degree) == (3, NO_ROOM, 15)
    assert found == lists[:3]
    assert position == sum(map(len, words[:3]))


@given(st.binary(max_size=200), st.integers(0, 9), st.integers(0, 5), st.sampled_from([1, 5, 40, NODES]))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_sorted_lists_or_damage(data: bytes, window: int, shortest: int, nodes: int) -> None:
    described = shape(nodes, window, shortest)
    count = min(nodes, 40)
    _, position, _, _, lists = run(data, count, described, room=5000)
    assert 0 <= position <= 8 * len(data)
    for successors in lists:
        assert all(a < b for a, b in pairwise(successors))
        assert all(0 <= successor < nodes for successor in successors)
