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

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.bit_codes import DAMAGED, read_number
from cocite.kernels.jit import inline, kernel

# Positions in `CodedGraph.shape`: four counts, and how each part of a list is coded (see bit_codes.py).
NODES, WINDOW, MIN_INTERVAL, MAX_DEGREE, OUTDEGREE, REFERENCE, BLOCK_COUNT, BLOCK, INTERVAL, RESIDUAL = range(10)

DONE, NO_ROOM, BROKEN, MISPLACED = range(4)


class CodedGraph(NamedTuple):
    """The bytes of a `.graph` file, and the numbers that describe it."""

    data: NDArray[np.uint8]
    shape: NDArray[np.int64]


class DecodedLists(NamedTuple):
    """Lists one after another in `out`: list i is out[starts[window + i] : starts[window + i + 1]].

    The lists of the `window` nodes before come first. positions[i] is the bit where list i begins in the file.
    """

    starts: NDArray[np.int64]
    positions: NDArray[np.int64]
    out: NDArray[np.uint32]


class Scratch(NamedTuple):
    """Room for the successors of one list that aren't copied, and for its intervals as pairs (first, end)."""

    extras: NDArray[np.uint32]
    spans: NDArray[np.int64]


class ReferredList(NamedTuple):
    """The list that another one copies from: values[start : start + length]. A negative length means none."""

    values: NDArray[np.uint32]
    start: int
    length: int


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
    if degree > min(shape[MAX_DEGREE], shape[NODES]):
        return np.int64(DAMAGED), reference, position
    if degree > 0 and shape[WINDOW] > 0:
        reference, position = read_number(data, position, shape[REFERENCE])
        if reference < 0 or reference > min(shape[WINDOW], node):
            return np.int64(DAMAGED), reference, position
    return degree, reference, position


@inline
def copy_blocks(graph, position, degree, referred, out, at):
    """Copy the runs of the referred list into out[at:]. Return (number of successors or DAMAGED, position)."""
    data, shape = graph.data, graph.shape
    source, start, length = referred.values, referred.start, referred.length
    blocks, position = read_number(data, position, shape[BLOCK_COUNT])
    if blocks < 0 or blocks > length + 1:
        return np.int64(DAMAGED), position
    copied = np.int64(0)
    passed = np.int64(0)
    for i in range(blocks + 1):
        if i < blocks:
            run, position = read_number(data, position, shape[BLOCK])
            if run < 0:
                return np.int64(DAMAGED), position
            if i > 0:
                run += 1
        else:
            run = length - passed  # the rest, copied if its turn is to be copied
        if passed + run > length:
            return np.int64(DAMAGED), position
        if i & 1 == 0:
            if copied + run > degree:
                return np.int64(DAMAGED), position
            for j in range(run):
                out[at + copied + j] = source[start + passed + j]
            copied += run
        passed += run
    return copied, position


@inline
def read_intervals(graph, position, node, extra, spans):
    """Decode intervals into `spans`. Return (their number or DAMAGED, number of other successors, position)."""
    data, shape = graph.data, graph.shape
    min_interval = shape[MIN_INTERVAL]
    if min_interval == 0:
        return np.int64(0), extra, position
    count, position = read_number(data, position, shape[INTERVAL])
    if count > extra // min_interval:
        return np.int64(DAMAGED), extra, position
    end = np.int64(0)
    for i in range(count):
        gap, position = read_number(data, position, shape[INTERVAL])
        length, position = read_number(data, position, shape[INTERVAL])
        if gap < 0 or length < 0:
            return np.int64(DAMAGED), extra, position
        left = node + signed(gap) if i == 0 else end + gap + 1
        length += min_interval
        end = left + length
        if left < 0 or end > shape[NODES] or length > extra:
            return np.int64(DAMAGED), extra, position
        spans[2 * i] = left
        spans[2 * i + 1] = end
        extra -= length
    return count, extra, position


@inline
def read_residuals(graph, position, node, count, intervals, spans, out, at):
    """Merge residuals and intervals into out[at:]. Return the position after them or DAMAGED."""
    data, code, nodes = graph.data, graph.shape[RESIDUAL], graph.shape[NODES]
    span = np.int64(0)
    value = np.int64(-1)
    for i in range(count):
        gap, position = read_number(data, position, code)
        if gap < 0:
            return np.int64(DAMAGED)
        value = node + signed(gap) if i == 0 else value + gap + 1
        if value < 0 or value >= nodes:
            return np.int64(DAMAGED)
        while span < intervals and spans[2 * span] <= value:
            if spans[2 * span + 1] > value:
                return np.int64(DAMAGED)
            for inside in range(spans[2 * span], spans[2 * span + 1]):
                out[at] = inside
                at += 1
            span += 1
        out[at] = value
        at += 1
    for last in range(span, intervals):
        for inside in range(spans[2 * last], spans[2 * last + 1]):
            out[at] = inside
            at += 1
    return position


@inline
def merge(out, at, copied, extras, extra):
    """Merge extras[:extra] into out[at : at + copied], backwards and in place. Return False if a number is in both."""
    i = at + copied - 1
    k = i + extra
    for j in range(extra - 1, -1, -1):
        value = extras[j]
        while i >= at and out[i] > value:
            out[k] = out[i]
            i -= 1
            k -= 1
        if i >= at and out[i] == value:
            return False
        out[k] = value
        k -= 1
    return True


@kernel
def read_body(graph, position, node, degree, referred, out, at, scratch):
    """Decode a list after its head into out[at : at + degree]. Return the position after it or DAMAGED."""
    extras, spans = scratch.extras, scratch.spans
    copied = np.int64(0)
    if referred.length >= 0:
        copied, position = copy_blocks(graph, position, degree, referred, out, at)
        if copied < 0:
            return np.int64(DAMAGED)
    extra = degree - copied
    if extra > 0:
        intervals, residuals, position = read_intervals(graph, position, node, extra, spans)
        if intervals < 0:
            return np.int64(DAMAGED)
        if copied == 0:
            position = read_residuals(graph, position, node, residuals, intervals, spans, out, at)
        else:
            position = read_residuals(graph, position, node, residuals, intervals, spans, extras, np.int64(0))
            if position >= 0 and not merge(out, at, copied, extras, extra):
                return np.int64(DAMAGED)
    if position > 8 * graph.data.size:
        return np.int64(DAMAGED)
    return position


@kernel
def read_lists(graph, position, first, count, lists, scratch):
    """Decode the lists of `count` nodes from `first` on, as far as there is room.

    Return (lists decoded, position, DONE, NO_ROOM or BROKEN, the outdegree of the list that was not decoded).
    """
    starts, positions, out = lists.starts, lists.positions, lists.out
    window, end = graph.shape[WINDOW], 8 * graph.data.size
    for i in range(count):
        node = first + i
        here = window + i
        positions[i] = position
        degree, reference, after = read_head(graph, position, node)
        if degree < 0:
            return i, position, BROKEN, degree
        at = starts[here]
        if at + degree > out.size or degree > scratch.extras.size:
            return i, position, NO_ROOM, degree
        if degree > 0:
            start = starts[here - reference]
            length = starts[here - reference + 1] - start if reference > 0 else np.int64(-1)
            after = read_body(graph, after, node, degree, ReferredList(out, start, length), out, at, scratch)
        if after < 0 or after > end:
            return i, position, BROKEN, degree
        starts[here + 1] = at + degree
        position = after
    positions[count] = position
    return count, position, DONE, np.int64(0)


@kernel
def read_list(data, shape, offsets, node):
    """Decode the list of one node, and those that it refers to. Return (successors, DONE, BROKEN or MISPLACED).

    The arrays come one by one: unpacking a tuple takes Numba 2 µs, a fifth of a call.
    """
    graph = CodedGraph(data, shape)
    chain = np.empty(12, np.int64)  # for each list: node, outdegree, position after its head
    depth = 0
    here = np.int64(node)
    while True:
        degree, reference, position = read_head(graph, offsets[here], here)
        if degree < 0:
            return np.empty(0, np.uint32), BROKEN
        if depth == chain.size:
            longer = np.empty(2 * depth, np.int64)
            for i in range(depth):
                longer[i] = chain[i]
            chain = longer
        chain[depth] = here
        chain[depth + 1] = degree
        chain[depth + 2] = position
        if reference == 0:
            break
        here -= reference
        depth += 3
    source = np.empty(0, np.uint32)
    length = np.int64(-1)
    zero = np.int64(0)
    for i in range(depth, -1, -3):
        here = chain[i]
        degree = chain[i + 1]
        position = chain[i + 2]
        out = np.empty(degree, np.uint32)
        if degree > 0:
            extras = np.empty(degree if length > 0 else 0, np.uint32)
            spans = np.empty(2 * (degree // max(graph.shape[MIN_INTERVAL], 1)), np.int64)
            referred = ReferredList(source, zero, length)
            position = read_body(graph, position, here, degree, referred, out, zero, Scratch(extras, spans))
        if position < 0:
            return np.empty(0, np.uint32), BROKEN
        source = out
        length = degree
    if position != offsets[node + 1]:
        return np.empty(0, np.uint32), MISPLACED
    return source, DONE


@kernel
def read_offsets(data, code, offsets):
    """Fill `offsets` with the running sums of a file of differences. Return False if the file is too short."""
    position = np.int64(0)
    total = np.int64(0)
    for i in range(offsets.size):
        step, position = read_number(data, position, code)
        if step < 0 or position > 8 * data.size:
            return False
        total += step
        offsets[i] = total
    return True
