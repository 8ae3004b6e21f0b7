"""What was read of a graph and will be read again: kept with it for all questions and threads, within limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cocite.graph.store import Graph

T = TypeVar("T")


class Memory(Generic[T]):
    """So many things at most, by number; when they are too many, the half that came first goes.

    It holds no graph: a graph that holds it would never be let go at once, with all its open files. Dictionaries are
    changed in one step each, so threads need no lock; at worst two of them read the same thing.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[int, T] = {}

    def get(self, number: int, read: Callable[[int], T]) -> T:
        """What is kept under a number, else what is read now."""
        found = self._kept.get(number)
        if found is None:
            found = read(number)
            if len(self._kept) >= self._most:
                for old in list(self._kept)[: self._most // 2]:
                    self._kept.pop(old, None)
            self._kept[number] = found
        return found


def memory_of(graph: Graph, name: str, most: int) -> Memory[Any]:
    """The memory of a graph under a name."""
    found: Memory[Any] = vars(graph).setdefault(f"_memory_{name}", Memory(most))
    return found
