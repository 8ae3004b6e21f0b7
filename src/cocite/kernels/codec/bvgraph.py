"""Lists of successors in WebGraph's BVGraph format (Boldi and Vigna, "The WebGraph Framework I", 2004).

A node's list, if not empty, is told as: a *reference* r (the list of node - r is copied in part), *blocks* that say
which runs of that list to copy and to leave out by turns, *intervals* of consecutive successors, and the *residuals*,
all others, as gaps. The three parts are disjoint and ascend, so their merge is the list.

Nothing here trusts the data: a number that does not fit its place ends the reading with `DAMAGED`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from cocite.kernels.codec.bit_codes import DAMAGED, read_number
from cocite.kernels.jit import inline, kernel

# Where an entry of `shape`, the array that describes a graph, stands.
NODES, WINDOW, SHORTEST, LONGEST, OUTDEGREE, REFERENCE, BLOCK_COUNT, BLOCK, INTERVAL, RESIDUAL = range(10)

DONE, NO_ROOM, BROKEN, MISPLACED = range(4)


@inline
def signed(value):
    """0, -1, 1, -2, 2 … for 0, 1, 2, 3, 4 …"""
    return (value >> 1) ^ -(value & 1)


@kernel
def read_head(data, position, shape, node):
    """A list's outdegree and reference (0 for none): (outdegree or DAMAGED, reference, position)."""
    degree, position = read_number(data, position, shape[OUTDEGREE])
    reference = np.int64(0)
    if degree > min(shape[LONGEST], shape[NODES]):
        return np.int64(DAMAGED), reference, position
    if degree > 0 and shape[WINDOW] > 0:
        reference, position = read_number(data, position, shape[REFERENCE])
        if reference < 0 or reference > min(shape[WINDOW], node):
            return np.int64(DAMAGED), reference, position
    return degree, reference, position


@inline
def copy_blocks(data, position, shape, degree, source, start, length, out, at):
    """Copy from source[start : start + length] what the blocks say into out[at:]: (how many or DAMAGED, position)."""
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
            run = length - passed  # the rest, copied if its turn is one of copying
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
def read_intervals(data, position, shape, node, extra, spans):
    """Intervals as pairs (first, end) in `spans`: (their number or DAMAGED, successors outside them, position)."""
    shortest = shape[SHORTEST]
    if shortest == 0:
        return np.int64(0), extra, position
    count, position = read_number(data, position, shape[INTERVAL])
    if count > extra // shortest:
        return np.int64(DAMAGED), extra, position
    end = np.int64(0)
    for i in range(count):
        gap, position = read_number(data, position, shape[INTERVAL])
        length, position = read_number(data, position, shape[INTERVAL])
        if gap < 0 or length < 0:
            return np.int64(DAMAGED), extra, position
        left = node + signed(gap) if i == 0 else end + gap + 1
        length += shortest
        end = left + length
        if left < 0 or end > shape[NODES] or length > extra:
            return np.int64(DAMAGED), extra, position
        spans[2 * i] = left
        spans[2 * i + 1] = end
        extra -= length
    return count, extra, position


@inline
def read_residuals(data, position, shape, node, count, intervals, spans, out, at):
    """Residuals merged with the intervals into out[at:]: the position after them or DAMAGED."""
    code = shape[RESIDUAL]
    nodes = shape[NODES]
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
    """Merge extras[:extra] into out[at : at + copied], backwards and so in place; False if both hold one number."""
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
def read_body(data, position, shape, node, degree, source, start, length, out, at, extras, spans):
    """Decode what follows a list's head into out[at : at + degree]: the position after it or DAMAGED.

    The referred list is source[start : start + length]; a negative length stands for no reference.
    """
    copied = np.int64(0)
    if length >= 0:
        copied, position = copy_blocks(data, position, shape, degree, source, start, length, out, at)
        if copied < 0:
            return np.int64(DAMAGED)
    extra = degree - copied
    if extra > 0:
        intervals, residuals, position = read_intervals(data, position, shape, node, extra, spans)
        if intervals < 0:
            return np.int64(DAMAGED)
        if copied == 0:
            position = read_residuals(data, position, shape, node, residuals, intervals, spans, out, at)
        else:
            position = read_residuals(data, position, shape, node, residuals, intervals, spans, extras, np.int64(0))
            if position >= 0 and not merge(out, at, copied, extras, extra):
                return np.int64(DAMAGED)
    if position > 8 * data.size:
        return np.int64(DAMAGED)
    return position


@kernel
def read_lists(data, position, shape, first, count, starts, positions, out, extras, spans):
    """Decode the lists of `count` nodes from `first` on, one after another, as far as `out` and `extras` have room.

    With the window w, starts[w + i] : starts[w + i + 1] is the range of `out` that holds the list of node first + i;
    the caller has put the lists of the w nodes before `first` in front. positions[i] receives where list i begins.
    Returns (lists decoded, position, DONE, NO_ROOM or BROKEN, the outdegree of the list that was not decoded).
    """
    window = shape[WINDOW]
    for i in range(count):
        node = first + i
        here = window + i
        positions[i] = position
        degree, reference, after = read_head(data, position, shape, node)
        if degree < 0:
            return i, position, BROKEN, degree
        at = starts[here]
        if at + degree > out.size or degree > extras.size:
            return i, position, NO_ROOM, degree
        if degree > 0:
            start = starts[here - reference]
            length = starts[here - reference + 1] - start if reference > 0 else np.int64(-1)
            after = read_body(data, after, shape, node, degree, out, start, length, out, at, extras, spans)
        if after < 0 or after > 8 * data.size:
            return i, position, BROKEN, degree
        starts[here + 1] = at + degree
        position = after
    positions[count] = position
    return count, position, DONE, np.int64(0)


@kernel
def read_list(data, offsets, shape, node):
    """One node's successors by way of the lists it refers to: (successors, DONE, BROKEN or MISPLACED)."""
    chain = np.empty(12, np.int64)  # three numbers a list: its node, its outdegree, the position after its head
    depth = 0
    here = np.int64(node)
    while True:
        degree, reference, position = read_head(data, offsets[here], shape, here)
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
            spans = np.empty(2 * (degree // max(shape[SHORTEST], 1)), np.int64)
            position = read_body(data, position, shape, here, degree, source, zero, length, out, zero, extras, spans)
        if position < 0:
            return np.empty(0, np.uint32), BROKEN
        source = out
        length = degree
    if position != offsets[node + 1]:
        return np.empty(0, np.uint32), MISPLACED
    return source, DONE


@kernel
def read_offsets(data, code, offsets):
    """Fill `offsets` with the running sum of a file of differences: False where the file ends before."""
    position = np.int64(0)
    total = np.int64(0)
    for i in range(offsets.size):
        step, position = read_number(data, position, code)
        if step < 0 or position > 8 * data.size:
            return False
        total += step
        offsets[i] = total
    return True
