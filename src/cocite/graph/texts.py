"""Texts by page number: titles, headings, anchor texts and the like, in compressed chunks.

A column NAME is four arrays: `NAME.pages` (which pages have a text, ascending), `NAME.first` (number of each chunk's
first text), `NAME.offset` (where each chunk starts in the data, and its end) and `NAME.data`: zstd frames. A frame
holds the 32-bit lengths of its texts, then the texts. A list of texts is kept as lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import TEXTS, Arrays
from cocite.graph.generation import Writer

CHUNK = 16 << 10
"""Bytes of text per frame: small enough that reading one title costs some 20 µs."""
LARGEST = 1 << 30


class TextWriter:
    """Appends the texts of one column in page order."""

    def __init__(self, writer: Writer, name: str, level: int = 3) -> None:
        self._writer = writer
        self._name = name
        self._compressor = zstandard.ZstdCompressor(level=level)
        self._pages: list[int] = []
        self._texts: list[bytes] = []
        self._size = 0
        self._count = 0
        self._offset = 0
        for part, dtype in (("pages", np.uint32), ("first", np.uint32), ("offset", np.uint64), ("data", np.uint8)):
            writer.append(f"{name}.{part}", np.zeros(0, dtype))

    def append(self, page: int, text: bytes) -> None:
        """Add a page's text; empty ones need not be added."""
        self._pages.append(page)
        self._texts.append(text)
        self._size += len(text)
        if self._size >= CHUNK:
            self._flush()

    def _flush(self) -> None:
        lengths = np.array([len(text) for text in self._texts], np.uint32)
        frame = self._compressor.compress(lengths.tobytes() + b"".join(self._texts))
        self._writer.append(f"{self._name}.pages", np.array(self._pages, np.uint32))
        self._writer.append(f"{self._name}.first", np.array([self._count], np.uint32))
        self._writer.append(f"{self._name}.offset", np.array([self._offset], np.uint64))
        self._writer.append(f"{self._name}.data", np.frombuffer(frame, np.uint8))
        self._count += len(self._texts)
        self._offset += len(frame)
        self._pages, self._texts, self._size = [], [], 0

    def close(self) -> None:
        """Write what is left and the end marks."""
        if self._texts:
            self._flush()
        self._writer.append(f"{self._name}.first", np.array([self._count], np.uint32))
        self._writer.append(f"{self._name}.offset", np.array([self._offset], np.uint64))


class PageTexts:
    """The texts of all pages."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._columns: dict[str, TextColumn] = {}

    def column(self, name: str) -> TextColumn:
        """All texts of one kind, such as `title`."""
        if name not in self._columns:
            self._columns[name] = TextColumn(self._arrays, name)
        return self._columns[name]

    def __bool__(self) -> bool:
        """Whether any page has a text beside its address."""
        return any(len(self._arrays[f"{name}.pages"]) for name in TEXTS if name != "shown")

    def title(self, page: int) -> str:
        """The title of a page, or the empty text."""
        return self.column("title")[self._arrays.page(page)]

    def headings(self, page: int) -> list[str]:
        """The headings of a page's blocks, by block number."""
        return self.column("headings").lines(self._arrays.page(page))

    def text(self, page: int) -> str:
        """The main text of a page."""
        return self.column("text")[self._arrays.page(page)]

    def anchors(self, page: int) -> list[str]:
        """The texts of the links out of a page, in their order."""
        return self._of_links("anchors", page)

    def contexts(self, page: int) -> list[str]:
        """The words around the links out of a page, in their order."""
        return self._of_links("contexts", page)

    def _of_links(self, name: str, page: int) -> list[str]:
        lines, degree = self.column(name).lines(self._arrays.page(page)), int(self._arrays["out.degree"][page])
        if degree > self._arrays.links:
            raise self._arrays.damaged()
        return lines[:degree] + [""] * (degree - len(lines))


class TextColumn:
    """Reads a column: `column[page]` is the text, or ""."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        self._name = name
        self._pages: NDArray[np.uint32] = arrays[f"{name}.pages"]
        self._first: NDArray[np.uint32] = arrays[f"{name}.first"]
        self._offset: NDArray[np.uint64] = arrays[f"{name}.offset"]
        self._data: NDArray[np.uint8] = arrays[f"{name}.data"]
        self._read_chunk = partial(read_chunk, name, self._first, self._offset, self._data)
        self._chunk = lru_cache(maxsize=64)(self._read_chunk)

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, page: int) -> str:
        return self.raw(page).decode("utf-8", "replace")

    def raw(self, page: int) -> bytes:
        """The text of a page as bytes."""
        at = int(np.searchsorted(self._pages, np.uint32(page)))
        if at == len(self._pages) or self._pages[at] != page:
            return b""
        chunk = int(np.searchsorted(self._first, np.uint32(at), side="right")) - 1
        texts = self._chunk(chunk)
        within = at - int(self._first[chunk])
        if not 0 <= within < len(texts):
            raise damaged(self._name)
        return texts[within]

    def lines(self, page: int) -> list[str]:
        """The list of texts of a page."""
        raw = self.raw(page)
        return raw.decode("utf-8", "replace").split("\n") if raw else []

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Every (page, text), in page order."""
        for chunk in range(len(self._first) - 1):
            first, texts = int(self._first[chunk]), self._read_chunk(chunk)
            if first + len(texts) > len(self._pages):
                raise damaged(self._name)
            for i, text in enumerate(texts):
                yield int(self._pages[first + i]), text


def read_chunk(
    name: str, first: NDArray[np.uint32], offset: NDArray[np.uint64], data: NDArray[np.uint8], chunk: int
) -> Sequence[bytes]:
    """The texts of a chunk. Not a method: the cache would keep its TextColumn, and the files, open."""
    if not 0 <= chunk < len(offset) - 1:
        raise damaged(name)
    start, stop = int(offset[chunk]), int(offset[chunk + 1])
    count = int(first[chunk + 1]) - int(first[chunk])
    try:
        frame = data[start:stop].tobytes()
        if zstandard.get_frame_parameters(frame).content_size > LARGEST:
            raise damaged(name)
        raw = zstandard.ZstdDecompressor().decompress(frame)
    except zstandard.ZstdError as error:
        raise damaged(name) from error
    whole = 0 < count * 4 <= len(raw)
    ends = np.frombuffer(raw, np.uint32, count if whole else 0).astype(np.int64).cumsum()
    if count < 0 or len(ends) != count or (count and int(ends[-1]) + 4 * count != len(raw)):
        raise damaged(name)
    texts, at = [], 4 * count
    for end in ends:
        texts.append(raw[at : 4 * count + int(end)])
        at = 4 * count + int(end)
    return texts


def damaged(name: str) -> BadStore:
    """The error for texts that contradict themselves."""
    return BadStore(f"the store's texts ({name}) are damaged: run cocite check")
