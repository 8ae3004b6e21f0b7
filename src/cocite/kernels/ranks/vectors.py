"""Long vectors, a range at a time: threads take ranges, and sums are added up in their order, whoever made them."""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import kernel


@kernel
def share(first, last, values, flow, degree, shared):
    """What a page gives to each page that it links to: shared = values · flow / degree; returns what is not given."""
    kept = 0.0
    for page in range(first, last):
        many = np.int64(degree[page])
        shared[page] = values[page] * flow / many if many else 0.0
        kept += 0.0 if many else values[page]
    return kept


@kernel
def note(first, last, values, before, steps, moves, slot, count, sums):
    """Finish the step and the move of this round, and compare: for `mix`.

    The move of a round is values - before. Slot by slot, `moves` holds differences of successive moves, and `steps`
    of successive values; those of this round are complete but for the move itself. sums[j, k] = moves[j] · moves[k];
    sums[j, count] = moves[j] · the move of this round.
    """
    sums[:] = 0.0
    held = np.empty(count + 1)
    for page in range(first, last):
        move = values[page] - before[page]
        if count > 0:
            moves[slot, page] += move
            steps[slot, page] += move
        for j in range(count):
            held[j] = moves[j, page]
        held[count] = move
        for j in range(count):
            for k in range(j, count + 1):
                sums[j, k] += held[j] * held[k]


@kernel
def mix(first, last, values, before, steps, moves, slot, parts):
    """Take so much of each noted step back: values - parts · steps; and prepare a slot for the next round."""
    for page in range(first, last):
        back = 0.0
        for j in range(len(parts)):
            back += parts[j] * steps[j, page]
        moves[slot, page] = before[page] - values[page]
        steps[slot, page] = -back
        values[page] -= back
        before[page] = values[page]


@kernel
def products(first, last, vectors, sums):
    """Inner products of the first half of some vectors with all of them."""
    many = len(vectors)
    sums[:] = 0.0
    for page in range(first, last):
        for j in range(many // 2):
            for k in range(j, many):
                sums[j, k] += vectors[j, page] * vectors[k, page]


@kernel
def advance(vectors, parts, top, first, last):
    """A step of conjugate gradients: vectors are x, r, p and what a map B makes of each.

    p ← parts of r and p, x ← a part of x, and p; r ← Bx - top · x. Returns |r|².
    """
    own, rest, further = parts
    square = 0.0
    for page in range(first, last):
        for of in (0, 3):
            vectors[of + 2, page] = rest * vectors[of + 1, page] + further * vectors[of + 2, page]
            vectors[of, page] = own * vectors[of, page] + vectors[of + 2, page]
        left = vectors[3, page] - top * vectors[0, page]
        vectors[1, page] = left
        square += left * left
    return square
