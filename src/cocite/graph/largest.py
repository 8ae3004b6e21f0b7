"""The largest of many values, the same on every processor: of equals, partitions take whichever they come to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def largest(values: NDArray[Any], count: int) -> list[int]:
    """Where the `count` largest values stand, the largest first, of equals the first.

    >>> largest(np.array([3, 9, 3, 0, 3]), 3)
    [1, 0, 2]
    """
    count = min(count, len(values))
    if not count:
        return []
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    order: list[int] = above[np.argsort(-values[above].astype(np.int64), kind="stable")].tolist()
    return order + [int(each) for each in np.flatnonzero(values == least)[: count - len(above)]]
