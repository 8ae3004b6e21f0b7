"""Texts by page number: titles, headings, anchor texts and the like, in compressed chunks.

A column NAME is four arrays: `NAME.pages` (which pages have a text, ascending), `NAME.first` (number of each chunk's
first text), `NAME.offset` (where each chunk starts in the data, and its end) and `NAME.data`: zstd frames. A frame
has the 32-bit lengths of its texts, then the texts. A list of texts is stored as lines.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from heapq import merge
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import TEXT_COLUMNS, TEXT_PARTS, Arrays, distinct, find_in, rows_of
from cocite.graph.changes.layers import Layer, LayeredArrays, text_rows
from cocite.graph.generation import Writer

FRAME_BYTES = 16 << 10  # text per frame: small enough that reading one title costs some 20 µs
MAX_FRAME_BYTES = 1 << 30
CACHED_FRAMES = 64


class TextWriter:
    """Appends the texts of one column in page order."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer, self._name = writer, name
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._pages: list[int] = []
        self._texts: list[bytes] = []
        self._size = self._count = self._offset = 0
        for part, dtype in TEXT_PARTS.items():
            writer.append(f"{name}.{part}", np.zeros(0, dtype))

    def append(self, page: int, text: bytes) -> None:
        """Add a page's text; empty ones need not be added."""
        self._pages.append(page)
        self._texts.append(text)
        self._size += len(text)
        if self._size >= FRAME_BYTES:
            self._flush()

    def _flush(self) -> None:
        lengths = np.array([len(text) for text in self._texts], np.uint32)
        frame = self._compressor.compress(lengths.tobytes() + b"".join(self._texts))
        self._put(pages=self._pages, first=[self._count], offset=[self._offset], data=np.frombuffer(frame, np.uint8))
        self._count += len(self._texts)
        self._offset += len(frame)
        self._pages, self._texts, self._size = [], [], 0

    def _put(self, **parts: Any) -> None:
        for part, values in parts.items():
            self._writer.append(f"{self._name}.{part}", np.asarray(values, TEXT_PARTS[part]))

    @classmethod
    def write(cls, writer: Writer, name: str, texts: Iterable[tuple[int, str | None]]) -> None:
        """Write a column of texts by page, in order, without the empty ones."""
        column = cls(writer, name)
        for page, text in texts:
            if text:
                column.append(page, text.encode())
        column.close()

    def close(self) -> None:
        """Write what is left and the end marks."""
        if self._texts:
            self._flush()
        self._put(first=[self._count], offset=[self._offset])


class PageTexts:
    """The texts of all pages."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.column = cache(partial(text_column, arrays))  # all texts of one kind, such as `title`

    def __bool__(self) -> bool:
        """Whether any page has a text beside its address."""
        return any(len(self._arrays[f"{name}.pages"]) for name in TEXT_COLUMNS if name != "shown")

    def title(self, page: int) -> str:
        """The title of a page, or the empty text."""
        return self.column("title")[self._arrays.page(page)]

    def headings(self, page: int) -> list[str]:
        """The headings of a page's sections, by their numbers."""
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

    def __init__(self, arrays: Mapping[str, NDArray[Any]] | Layer, name: str) -> None:
        self._name = name
        self.pages, self._first, offset, data = (arrays[f"{name}.{part}"] for part in TEXT_PARTS)
        self._read_frame = partial(read_frame, name, self._first, offset, data)
        self._frame = lru_cache(CACHED_FRAMES)(self._read_frame)

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, page: int) -> str:
        if not len(self.pages):
            return ""
        at = int(self.pages.searchsorted(np.uint32(page)))  # np.searchsorted takes three times as long
        if at == len(self.pages) or self.pages[at] != page:
            return ""
        number = int(self._first.searchsorted(np.uint32(at), side="right")) - 1
        texts = self._frame(number)
        within = at - int(self._first[number])
        if not 0 <= within < len(texts):
            raise damaged(self._name)
        return texts[within].decode("utf-8", "replace")

    def lines(self, page: int) -> list[str]:
        """The list of texts of a page."""
        text = self[page]
        return text.split("\n") if text else []

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Every (page, text), in page order."""
        return self._items(0)

    def _items(self, first_frame: int) -> Iterator[tuple[int, bytes]]:
        for number in range(first_frame, len(self._first) - 1):
            first, texts = int(self._first[number]), self._read_frame(number)
            if first + len(texts) > len(self.pages):
                raise damaged(self._name)
            yield from zip(self.pages[first : first + len(texts)].tolist(), texts, strict=True)

    def between(self, first: int, count: int) -> list[str | None]:
        """The texts of pages [first, first + count), None where there is none."""
        texts: list[str | None] = [None] * count
        row = np.uint32(rows_of(self.pages, first, count)[0])
        for page, text in self._items(max(0, int(np.searchsorted(self._first, row, side="right")) - 1)):
            if page >= first + count:
                break
            if page >= first:
                texts[page - first] = text.decode("utf-8", "replace")
        return texts


class LayeredColumn(TextColumn):
    """A column of a store with layers: the newest one that decides about a page has its text, or none."""

    def __init__(self, arrays: LayeredArrays, name: str) -> None:
        super().__init__(arrays.base, name)
        self._layers = [(layer[text_rows(name)], TextColumn(layer, name)) for layer in arrays.layers]
        self._arrays = arrays
        self._is_empty = not any(len(column.pages) for column in (self, *(column for _, column in self._layers)))

    @cached_property
    def _decided(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The pages about which any layer decides, ascending, and the number of the newest such layer."""
        pages = distinct(np.concatenate([decided for decided, _ in self._layers]))
        newest = np.zeros(len(pages), np.int64)
        for number, (decided, _) in enumerate(self._layers):
            newest[np.searchsorted(pages, decided)] = number
        return pages, newest

    def __len__(self) -> int:
        return len(self._arrays[f"{self._name}.pages"])

    def _part(self, page: int) -> TextColumn | None:
        """The column of the newest layer that decides about a page; None: the base's."""
        pages, newest = self._decided
        at = int(pages.searchsorted(np.uint32(page)))
        return self._layers[int(newest[at])][1] if at < len(pages) and pages[at] == page else None

    def __getitem__(self, page: int) -> str:
        part = None if self._is_empty else self._part(page)
        return super().__getitem__(page) if part is None else part[page]

    def items(self) -> Iterator[tuple[int, bytes]]:
        pages, _ = self._decided
        decided = frozenset(pages.tolist())
        base = (item for item in self._items(0) if item[0] not in decided)
        return merge(base, ((page, text.encode()) for page, text in self.newest(len(self._layers))))

    def newest(self, count: int) -> Iterator[tuple[int, str]]:
        """Every (page, text) that the newest `count` layers decide, in page order."""
        pages, newest = self._decided
        has_text = np.zeros(len(pages), np.bool_)
        for decided, column in self._layers:
            has_text[np.searchsorted(pages, decided)] = find_in(column.pages, decided) >= 0
        has_text &= newest >= len(self._layers) - count
        for page, number in zip(pages[has_text].tolist(), newest[has_text].tolist(), strict=True):
            yield page, self._layers[number][1][page]

    def between(self, first: int, count: int) -> list[str | None]:
        texts: list[str | None] = [None] * count
        if np.diff(rows_of(self.pages, first, count))[0]:
            texts = super().between(first, count)
        for decided, column in self._layers:
            low, high = rows_of(decided, first, count)
            for page in decided[low:high].tolist():
                texts[page - first] = column[page] or None
        return texts


def text_column(arrays: Arrays, name: str) -> TextColumn:
    """A column of texts, with those of layers."""
    return LayeredColumn(arrays, name) if isinstance(arrays, LayeredArrays) else TextColumn(arrays, name)


def read_frame(
    name: str, first: NDArray[np.uint32], offset: NDArray[np.uint64], data: NDArray[np.uint8], number: int
) -> Sequence[bytes]:
    """The texts of a frame. Not a method: the cache would keep its TextColumn, and the files, open."""
    if not 0 <= number < len(offset) - 1:
        raise damaged(name)
    count = int(first[number + 1]) - int(first[number])
    try:
        frame = data[int(offset[number]) : int(offset[number + 1])].tobytes()
        if zstandard.get_frame_parameters(frame).content_size > MAX_FRAME_BYTES:
            raise damaged(name)
        raw = zstandard.ZstdDecompressor().decompress(frame)
    except zstandard.ZstdError as error:
        raise damaged(name) from error
    if not 0 < 4 * count <= len(raw):
        raise damaged(name)
    ends = (4 * count + np.frombuffer(raw, np.uint32, count).astype(np.int64).cumsum()).tolist()
    if ends[-1] != len(raw):
        raise damaged(name)
    return [raw[start:end] for start, end in zip([4 * count, *ends], ends, strict=False)]


def damaged(name: str) -> BadStore:
    """The error for texts that contradict themselves."""
    return BadStore(f"the store's texts ({name}) are damaged: run cocite check")
