"""Threads of a build, and results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Input = TypeVar("Input")
Output = TypeVar("Output")


class Workers(ThreadPoolExecutor):
    """Threads whose results come in order, so that the bytes of a store don't depend on them.

    With 0 threads the caller does the work: for a few pages, handing it over takes longer than doing it.
    """

    def __init__(self, threads: int) -> None:
        super().__init__(max(1, threads))
        self.threads = threads

    def submit(self, work: Callable[..., Output], /, *arguments: Any, **options: Any) -> Future[Output]:
        """Have work done soon."""
        if self.threads:
            return super().submit(work, *arguments, **options)
        done: Future[Output] = Future()
        done.set_result(work(*arguments, **options))
        return done

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
