"""Buckets: links in files by ranges of pages, each range small enough to be sorted in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Buckets:
    """Ranges of pages with at most so many links; borders lie on cells."""

    borders: list[int]  # page numbers: bucket b is [borders[b], borders[b + 1])
    of_cell: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many buckets there are."""
        return len(self.borders) - 1

    @classmethod
    def cut(cls, cells: NDArray[np.int64], shift: int, pages: int, most: int) -> Buckets:
        """Cut where another cell would make more than `most` links."""
        borders, links = [0], 0
        of_cell = np.zeros(len(cells), np.int64)
        for cell, count in enumerate(cells.tolist()):
            if links and links + count > most:
                borders.append(cell << shift)
                links = 0
            links += count
            of_cell[cell] = len(borders) - 1
        borders.append(pages)
        return cls(borders, of_cell)


class Columns:
    """Arrays of one bucket that grow on disk."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add values to the end of an array."""
        if name not in self._files:
            self._files[name] = (self._folder / name).open("wb")
            self._types[name] = values.dtype
        self._files[name].write(np.ascontiguousarray(values).data)

    def close(self) -> None:
        """No more values will come."""
        for file in self._files.values():
            file.close()

    def read(self, name: str, missing: type[np.generic]) -> NDArray[Any]:
        """An array, empty if it has no value."""
        return np.fromfile(self._folder / name, self._types[name]) if name in self._types else np.zeros(0, missing)

    def remove(self) -> None:
        """Free the disk space."""
        for name in self._files:
            (self._folder / name).unlink()
        self._folder.rmdir()
