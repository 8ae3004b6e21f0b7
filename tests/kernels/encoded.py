"""Lists of links as a store keeps them, from plain Python lists; functions that only kernels call, for Python."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from cocite.graph.encode import count_symbols, encode
from cocite.graph.huffman import Code
from cocite.kernels.codec.link_codec import link_table
from cocite.kernels.codec.list_bounds import packed
from cocite.kernels.codec.lists import Lists
from cocite.kernels.jit import CACHED


def callable_(inlined: Any) -> Any:
    """An inlined function, so that Python can call it; under a name of its own in Numba's cache."""
    copy = FunctionType(inlined.py_func.__code__, inlined.py_func.__globals__)
    copy.__qualname__ = f"{copy.__name__}_for_python"
    return njit(error_model="numpy", cache=CACHED)(copy)


def lists_of(targets: list[list[int]], attributes: list[list[int]] | None = None) -> Lists:
    """One direction of links: targets[page], and attributes likewise."""
    flat = np.array([target for some in targets for target in some], np.uint32)
    attrs = np.array([value for some in attributes or [] for value in some], np.uint32)
    starts = np.cumsum([0, *map(len, targets)])
    code = Code.from_counts(count_symbols(flat, attrs, starts, np.arange(len(targets), dtype=np.uint32)))
    words, bits, ends, degrees = encode(flat, attrs, starts, np.arange(len(starts) - 1, dtype=np.uint32), code)
    words = np.append(words[: (bits + 63) >> 6], np.uint64(0))
    return Lists(words, *packed(ends.astype(np.uint64)), degrees, link_table(code.table))


def turned(targets: list[list[int]]) -> list[list[int]]:
    """The other direction."""
    parents: list[list[int]] = [[] for _ in targets]
    for source, some in enumerate(targets):
        for target in some:
            parents[target].append(source)
    return parents
