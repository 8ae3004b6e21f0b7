"""Threads of a build, and results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Input = TypeVar("Input")
Output = TypeVar("Output")


class Workers(ThreadPoolExecutor):
    """Threads whose results come in order, so that the bytes of a store don't depend on them."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads = threads

    def in_order(
        self, work: Callable[[Input], Output], items: Iterable[Input], ahead: int | None = None
    ) -> Iterator[Output]:
        """Results of `work` in the order of `items`, with a few items under way at once."""
        waiting: list[Future[Output]] = []
        try:
            for item in items:
                waiting.append(self.submit(work, item))
                if len(waiting) > (self.threads if ahead is None else ahead):
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()
