"""Work in threads, results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Input = TypeVar("Input")
Output = TypeVar("Output")


def in_order(
    work: Callable[[Input], Output], items: Iterable[Input], pool: ThreadPoolExecutor, ahead: int
) -> Iterator[Output]:
    """Results of `work` in the order of `items`, with a few items under way at once."""
    waiting: list[Future[Output]] = []
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()
