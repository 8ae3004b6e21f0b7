"""Decode lists of successors in WebGraph's BVGraph format (Boldi & Vigna 2004, "The WebGraph Framework I", §3).

The list of a node has an outdegree and, if it is not empty, these parts:

    reference   r: a part of the list of node - r is copied; 0 for none
    blocks      lengths of the runs of that list to copy and to skip, in turn
    intervals   runs of consecutive successors
    residuals   all other successors, as gaps

Copied successors, intervals and residuals are disjoint and ascending, so merging them gives the list.

Our own decoder, because the `webgraph` package opens only graphs with an `.ef` file that the Rust tools write. No
number is trusted: one that doesn't fit its place ends decoding with `DAMAGED`.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.bit_codes import read_number
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.jit import inline, kernel

# Positions in `CodedGraph.shape`: four counts, and how each part of a list is coded (see bit_codes.py).
NODES, WINDOW_NODES, MIN_INTERVAL, MAX_DEGREE, OUTDEGREE, REFERENCE, BLOCK_COUNT, BLOCK, INTERVAL, RESIDUAL = range(10)
ALL_DECODED, NO_ROOM, BROKEN_LIST = range(3)  # states in which decoding ends


class CodedGraph(NamedTuple):
    """The bytes of a `.graph` file, and the numbers that describe it."""

    data: NDArray[np.uint8]
    shape: NDArray[np.int64]


class DecodedLists(NamedTuple):
    """Lists one after another in `out`: list i is out[starts[window + i] : starts[window + i + 1]].

    The lists of the `window` nodes before come first.
    """

    starts: NDArray[np.int64]
    out: NDArray[np.uint32]


class ListScratch(NamedTuple):
    """Room for the successors of one list that aren't copied, and for its intervals as pairs (first, end)."""

    extras: NDArray[np.uint32]
    spans: NDArray[np.int64]


@inline
def signed(value):
    """Return 0, -1, 1, -2, 2 … for 0, 1, 2, 3, 4 …"""
    return (value >> 1) ^ -(value & 1)


@kernel
def read_head(graph, position, node):
    """Return (outdegree or DAMAGED, reference or 0, position)."""
    data, shape = graph.data, graph.shape
    degree, position = read_number(data, position, shape[OUTDEGREE])
    reference = np.int64(0)
    if degree > 0 and shape[WINDOW_NODES] > 0:
        reference, position = read_number(data, position, shape[REFERENCE])
    if degree > min(shape[MAX_DEGREE], shape[NODES]) or not 0 <= reference <= min(shape[WINDOW_NODES], node):
        degree = np.int64(DAMAGED)
    return degree, reference, position


@inline
def copy_blocks(graph, position, referred, out):
    """Copy runs of the referred list to `out`. Return (number of successors or DAMAGED, position)."""
    data, shape, length = graph.data, graph.shape, len(referred)
    blocks, position = read_number(data, position, shape[BLOCK_COUNT])
    if blocks < 0 or blocks > length + 1:
        return np.int64(DAMAGED), position
    copied = passed = np.int64(0)
    for i in range(blocks + 1):
        run = length - passed  # the rest, copied if its turn is to be copied
        if i < blocks:
            run, position = read_number(data, position, shape[BLOCK])
            if run < 0:
                return np.int64(DAMAGED), position
            run += i > 0
        if passed + run > length or (i & 1 == 0 and copied + run > len(out)):
            return np.int64(DAMAGED), position
        if i & 1 == 0:
            for j in range(run):
                out[copied + j] = referred[passed + j]
            copied += run
        passed += run
    return copied, position


@inline
def read_intervals(graph, position, node, extra, spans):
    """Decode intervals into `spans`. Return (their number or DAMAGED, number of other successors, position)."""
    data, shape = graph.data, graph.shape
    if shape[MIN_INTERVAL] == 0:
        return np.int64(0), extra, position
    count, position = read_number(data, position, shape[INTERVAL])
    if count > extra // shape[MIN_INTERVAL]:
        return np.int64(DAMAGED), extra, position
    end = np.int64(0)
    for i in range(count):
        gap, position = read_number(data, position, shape[INTERVAL])
        length, position = read_number(data, position, shape[INTERVAL])
        if gap < 0 or length < 0:
            return np.int64(DAMAGED), extra, position
        left = node + signed(gap) if i == 0 else end + gap + 1
        length += shape[MIN_INTERVAL]
        end = left + length
        if left < 0 or end > shape[NODES] or length > extra:
            return np.int64(DAMAGED), extra, position
        spans[2 * i], spans[2 * i + 1] = left, end
        extra -= length
    return count, extra, position


@inline
def read_residuals(graph, position, node, count, intervals, spans, out):
    """Merge residuals and intervals into `out`. Return the position after them or DAMAGED."""
    data, code, nodes = graph.data, graph.shape[RESIDUAL], graph.shape[NODES]
    span = at = np.int64(0)
    value = np.int64(-1)
    for i in range(count + 1):
        limit = nodes  # after the last residual, all intervals that are left
        if i < count:
            gap, position = read_number(data, position, code)
            value = node + signed(gap) if i == 0 else value + gap + 1
            if gap < 0 or value < 0 or value >= nodes:
                return np.int64(DAMAGED)
            limit = value
        while span < intervals and spans[2 * span] <= limit:
            if spans[2 * span + 1] > limit:
                return np.int64(DAMAGED)
            for inside in range(spans[2 * span], spans[2 * span + 1]):
                out[at] = inside
                at += 1
            span += 1
        if i < count:
            out[at] = value
            at += 1
    return position


@inline
def merge(out, copied, extras):
    """Merge `extras` into out[:copied], backwards and in place. Return False if a number is in both."""
    i, k = copied - 1, copied + len(extras) - 1
    for j in range(len(extras) - 1, -1, -1):
        value = extras[j]
        while i >= 0 and out[i] > value:
            out[k] = out[i]
            i -= 1
            k -= 1
        if i >= 0 and out[i] == value:
            return False
        out[k] = value
        k -= 1
    return True


@kernel
def read_body(graph, position, node, refers, referred, out, scratch):
    """Decode a list after its head into `out`, which is as long. Return the position after it or DAMAGED."""
    copied = np.int64(0)
    if refers:
        copied, position = copy_blocks(graph, position, referred, out)
        if copied < 0:
            return np.int64(DAMAGED)
    extra = len(out) - copied
    if extra > 0:
        intervals, residuals, position = read_intervals(graph, position, node, extra, scratch.spans)
        if intervals < 0:
            return np.int64(DAMAGED)
        rest = out if copied == 0 else scratch.extras[:extra]
        position = read_residuals(graph, position, node, residuals, intervals, scratch.spans, rest)
        if copied > 0 and position >= 0 and not merge(out, copied, rest):
            return np.int64(DAMAGED)
    return position if position <= 8 * graph.data.size else np.int64(DAMAGED)


@kernel
def read_lists(graph, position, first, count, lists, scratch):
    """Decode lists as far as there is room: (lists decoded, position, state, outdegree of the list that wasn't)."""
    starts, out = lists
    window, end = graph.shape[WINDOW_NODES], 8 * graph.data.size
    for i in range(count):
        node, here = first + i, window + i
        degree, reference, after = read_head(graph, position, node)
        if degree < 0:
            return i, position, BROKEN_LIST, degree
        at = starts[here]
        if at + degree > out.size or degree > scratch.extras.size:
            return i, position, NO_ROOM, degree
        if degree > 0:
            referred = out[starts[here - reference] : starts[here - reference + 1]]
            after = read_body(graph, after, node, reference > 0, referred, out[at : at + degree], scratch)
        if after < 0 or after > end:
            return i, position, BROKEN_LIST, degree
        starts[here + 1] = at + degree
        position = after
    return count, position, ALL_DECODED, np.int64(0)
