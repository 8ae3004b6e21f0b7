"""Words by number: sorted, stored as one run of bytes, decoded when they are read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from cocite.graph.nearest import edits

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MAX_PREFIX_WORDS = 1000
"""Words with the same beginning that are read to suggest one."""


class Vocabulary(Sequence[str]):
    """Words, sorted by character."""

    def __init__(self, starts: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self.starts, self.data = starts, data

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """A vocabulary of sorted words."""
        encoded = [word.encode("utf-8", "replace") for word in words]
        starts = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
        return cls(starts, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"no word {at}: the vocabulary has {len(self)}")
        at += len(self) if at < 0 else 0
        return bytes(self.data[self.starts[at] : self.starts[at + 1]]).decode("utf-8", "replace")

    def find(self, word: str) -> int | None:
        """The number of a word."""
        at = bisect_left(self, word)
        return at if at < len(self) and self[at] == word else None

    def beginning(self, text: str) -> Iterator[int]:
        """The numbers of words that begin with a text, at most MAX_PREFIX_WORDS."""
        first = bisect_left(self, text)
        for at in range(first, min(first + MAX_PREFIX_WORDS, len(self))):
            if not self[at].startswith(text):
                return
            yield at

    def nearest(self, word: str, frequency: NDArray[np.uint32], most: int = 5) -> list[str]:
        """Known words close to an unknown one: one edit away, then longer, then with the same beginning."""
        spelt = {at for text in edits(word, LETTERS) if (at := self.find(text)) is not None}
        groups: list[Iterable[int]] = [spelt, self.beginning(word)] if word else []
        groups += [self.beginning(word[:size]) for size in range(len(word) - 1, 2, -1)]
        found: dict[int, None] = {}
        for group in groups:
            found.update(dict.fromkeys(sorted(group, key=lambda at: (-int(frequency[at]), at))))
            if len(found) >= most:
                break
        return [self[at] for at in found][:most]


def is_starts(starts: NDArray[np.int64], rows: int, total: int) -> bool:
    """Whether these are valid starts of a number of rows with `total` values."""
    return len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == total and bool(np.all(np.diff(starts) >= 0))
