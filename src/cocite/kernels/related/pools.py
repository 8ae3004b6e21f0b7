"""Choosing among parents that were chosen before: the part of a web has no others (spark/subweb.py)."""

import numpy as np

from cocite.kernels.build.parents import sample_parents
from cocite.kernels.jit import kernel


@kernel
def in_order_of_choice(pool, page, fingerprints, seed):
    """The parents of a pool, by hash, as a new array."""
    ordered = np.empty(len(pool), np.uint32)
    return ordered[: sample_parents(pool, fingerprints[page], fingerprints, seed, len(pool), ordered)]
