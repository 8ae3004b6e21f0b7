"""The attribute of a link: its block and its flags in one number of 32 bits.

31          24 23                                 0
┌─────────────┬────────────────────────────────────┐
│    flags    │   block + 1; 0: unknown block      │
└─────────────┴────────────────────────────────────┘
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import inline

BLOCK_BITS = 24
BLOCK_MASK = (1 << BLOCK_BITS) - 1
MAX_BLOCK = BLOCK_MASK - 1


@inline
def block_of(attribute):
    """The block of a link plus 1; 0 if it is unknown."""
    return attribute & np.uint32(BLOCK_MASK)


@inline
def flags_of(attribute):
    """The flags of a link."""
    return attribute >> BLOCK_BITS


@inline
def pack(block, flags):
    """The attribute of a link; `block` is the block plus 1, or 0."""
    return flags << BLOCK_BITS | block


def all_blocks(attributes: NDArray[Any]) -> NDArray[Any]:
    """`block_of` for arrays."""
    blocks: NDArray[Any] = attributes & attributes.dtype.type(BLOCK_MASK)
    return blocks


def all_flags(attributes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """`flags_of` for arrays."""
    return (attributes >> np.uint32(BLOCK_BITS)).astype(np.uint8)


def pack_all(blocks: NDArray[Any], flags: NDArray[Any]) -> NDArray[np.uint32]:
    """`pack` for arrays."""
    packed: NDArray[np.uint32] = flags.astype(np.uint32) << np.uint32(BLOCK_BITS) | blocks.astype(np.uint32)
    return packed
