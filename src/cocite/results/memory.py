"""What was read of a graph and will be read again: kept with it for all questions and threads, within limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cocite.graph.store import Graph

T = TypeVar("T")


class Memory(Generic[T]):
    """Things of so large a size in all, by number; when they are too many, those that came first go, down to a half.

    It holds no graph: a graph that holds it would never be let go at once, with all its open files. Dictionaries are
    changed in one step each, so threads need no lock; at worst two of them read the same thing, or sizes are off by it.
    """

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most, self._size, self._held = most, size, 0
        self._kept: dict[int, T] = {}

    def get(self, number: int, read: Callable[[int], T]) -> T:
        """What is kept under a number, else what is read now."""
        found = self._kept.get(number)
        if found is None:
            found = read(number)
            self._held += self._size(found)
            if self._held > self._most:
                self._shrink()
            self._kept[number] = found
        return found

    def _shrink(self) -> None:
        for old in list(self._kept):
            gone = self._kept.pop(old, None)
            self._held -= 0 if gone is None else self._size(gone)
            if self._held <= self._most // 2:
                break


def memory_of(graph: Graph, name: str, most: int, size: Callable[[Any], int] = lambda _: 1) -> Memory[Any]:
    """The memory of a graph under a name."""
    found: Memory[Any] = vars(graph).setdefault(f"_memory_{name}", Memory(most, size))
    return found
