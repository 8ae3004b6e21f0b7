"""Arrays of a store that is in memory only: for the parts of a build that write to a `Writer`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.graph.generation import Writer


class MemoryWriter(Writer):
    """Keeps what is appended."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add values to the end of an array."""
        self._parts.setdefault(name, []).append(values)

    def length(self, name: str) -> int:
        """How many values an array has so far."""
        return sum(map(len, self._parts.get(name, [])))

    def finish(self, name: str) -> None:
        """Nothing is to be done."""

    def map(self, name: str) -> NDArray[Any]:
        """An array, read-only as mapped ones are: for others, loops would be compiled again."""
        parts = self._parts[name]
        if len(parts) > 1:
            self._parts[name] = parts = [np.concatenate(parts)]
        found: NDArray[Any] = np.ascontiguousarray(parts[0]).view()
        found.flags.writeable = False
        return found

    def all(self) -> dict[str, NDArray[Any]]:
        """Every array, by name."""
        return {name: self.map(name) for name in self._parts}
