"""Page records: all sources give pages and links in this shape (see `docs/page-records.md`).

A reader yields `Page` objects or Arrow record batches of `SCHEMA`; `batches` turns pages into batches. Address columns
may be dictionary-encoded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from dataclasses import field as default
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.errors import BadSource


@dataclass(slots=True)
class Link:
    """One link of a page, in page order."""

    url: str
    text: str = ""
    block: int | None = None  # number of the section on its page, from 0; None is unknown
    context: str = ""  # words around the link
    rel: str = ""  # space-separated tokens, as in HTML
    weight: float = 1.0  # probability in (0, 1]
    boilerplate: bool = False  # navigation, header, footer, aside


@dataclass(slots=True)
class Page:
    """One captured page, or an alias (`redirect`, `canonical`) of another address."""

    url: str
    title: str = ""
    text: str = ""
    links: list[Link] = default(default_factory=list)
    headings: list[str] = default(default_factory=list)  # headings[block] is the heading of that section
    status: int | None = None  # HTTP status of the capture
    redirect: str = ""  # the address that this one redirects to
    canonical: str = ""  # the address that the page names as its own
    captured: str = ""  # ISO 8601 date or time; the newest capture of a page wins
    lang: str = ""  # ISO 639 code
    noindex: bool = False  # the page asks not to be indexed
    partial: bool = False  # links of this record are added to the page's others, as in an edge list


_TEXT = pa.string()
_TYPES: dict[Any, Any] = {str: _TEXT, int | None: pa.int32(), float: pa.float32(), bool: pa.bool_()}
LINK = pa.struct([(field.name, _TYPES[field.type]) for field in fields(Link)])
_TYPES |= {list[str]: pa.list_(_TEXT), list[Link]: pa.list_(LINK)}
SCHEMA = pa.schema([(field.name, _TYPES[field.type]) for field in fields(Page)])
ADDRESS_FIELDS = ("url", "redirect", "canonical")  # the fields of a page that hold addresses; in a link it is `url`
EMPTY_SOURCE = "source without records"
UNREADABLE_FILE = "file that can't be read"
UNREADABLE_FOLDER = "folder that can't be listed"
UNSUPPORTED_FILE = "file of an unsupported type"
BATCH_LINKS, BATCH_TEXT = 200_000, 32 << 20  # links and characters that end a batch

MAX_REASONS = 100  # reasons in a report; they may quote the input, and a report must stay readable
MAX_EXAMPLE, MAX_WORD = 250, 100
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD + 1},}}")


def trimmed(texts: pa.Array) -> pa.Array:
    """Strip the white space around addresses, as `str.strip` does. All readers use this.

    A dictionary that needs no change stays the same object: the builder recognises it by its buffers.
    """
    if pa.types.is_dictionary(texts.type):
        names = pc.utf8_trim_whitespace(texts.dictionary)
        return texts if names.equals(texts.dictionary) else pa.DictionaryArray.from_arrays(texts.indices, names)
    return pc.utf8_trim_whitespace(texts) if may_have_margins(texts) else texts


def may_have_margins(texts: pa.Array) -> bool:
    """Return whether some text may begin or end with white space: whether it does so with anything but printable ASCII.

    Trimming copies all texts, and hardly any address needs it.
    """
    if texts.type != _TEXT or len(texts) == 0:
        return True
    data, offsets = raw_texts(texts)
    if not len(data):
        return False
    ends = data.take(offsets[:-1], mode="clip"), data.take(offsets[1:] - 1, mode="clip")
    return any(bool(((each - np.uint8(33)) > 126 - 33).any()) for each in ends)


def raw_texts(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of a column of strings, and where each begins and ends in them, without a copy."""
    _, offsets, data = texts.buffers()
    if offsets is None or data is None or not len(texts):
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int32)
    places = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, np.uint8), places


def shorten(text: str, length: int = MAX_WORD) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= length else text[: length - 1] + "…"


class ReadReport:
    """Counts of input that was read, and of input that was skipped, by reason and with an example."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.read: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.example: dict[str, str] = {}

    def skip(self, reason: str, example: str = "", count: int = 1) -> None:
        """Count something that is skipped. With `strict`, raise an error instead."""
        if reason not in self.skipped and len(self.skipped) >= MAX_REASONS:
            reason = "other reasons"
        self.skipped[reason] += count
        if self.strict or reason not in self.example:
            example = shorten(_LONG_WORD.sub(lambda word: shorten(word[0]), example[:10_000]), MAX_EXAMPLE)
            self.example.setdefault(reason, example)
        if self.strict:
            raise BadSource(f"{reason}: {example!r}; remove --strict to skip such input")

    def merge(self, other: "ReadReport") -> None:
        """Add the counts of another report."""
        self.read.update(other.read)
        self.skipped.update(other.skipped)
        self.example = {**other.example, **self.example}


Item = TypeVar("Item")


def expect_some(items: Iterable[Item], report: ReadReport, name: str, reason: str = EMPTY_SOURCE) -> Iterator[Item]:
    """Yield the items that are read from a source. Count a source without any as skipped."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        report.skip(reason, name)


def expect_readable(items: Iterable[Item], report: ReadReport, name: str) -> Iterator[Item]:
    """Yield the items that are read from files. If there are none because files can't be read, say why the first can't.

    Readers count such files under `UNREADABLE_FILE`.
    """
    before, empty = report.skipped[UNREADABLE_FILE], True
    for item in items:
        empty = False
        yield item
    if empty and report.skipped[UNREADABLE_FILE] > before:
        raise BadSource(f"{name} has no file that can be read" if before else report.example[UNREADABLE_FILE])


def batches(pages: Iterable[Page]) -> Iterator[pa.RecordBatch]:
    """Collect pages into record batches of bounded size."""
    collected: list[Page] = []
    links = text = 0
    for page in pages:
        collected.append(page)
        links += len(page.links) + 1
        text += len(page.text) + len(page.url)
        if links >= BATCH_LINKS or text >= BATCH_TEXT:
            yield batch(collected)
            collected, links, text = [], 0, 0
    if collected:
        yield batch(collected)


def batch(pages: list[Page]) -> pa.RecordBatch:
    """Return pages as one record batch of `SCHEMA`."""
    links = [link for page in pages for link in page.links]
    offsets = list(accumulate((len(page.links) for page in pages), initial=0))
    link_columns = [pa.array(list(map(attrgetter(field.name), links)), field.type) for field in LINK]
    link_columns[0] = trimmed(link_columns[0])
    columns = []
    for field in SCHEMA:
        if field.name == "links":
            items = pa.StructArray.from_arrays(link_columns, fields=list(LINK))
            column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)
        else:
            column = pa.array([getattr(page, field.name) for page in pages], field.type)
        columns.append(trimmed(column) if field.name in ADDRESS_FIELDS else column)
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def link_batch(
    pages: pa.Array, offsets: Any, targets: pa.Array, partial: Any, weights: pa.Array | None = None
) -> pa.RecordBatch:
    """Return a batch of records without texts: page i links to the targets from offsets[i] to offsets[i + 1]."""
    given = {"url": targets} if weights is None else {"url": targets, "weight": weights}
    items = [given.get(field.name, pa.nulls(len(targets), field.type)) for field in LINK]
    link = [field.with_type(targets.type) if field.name == "url" else field for field in LINK]
    links = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(items, fields=link))
    made = {"url": pages, "links": links, "partial": pa.array(partial)}
    columns = {field.name: made.get(field.name, pa.nulls(len(pages), field.type)) for field in SCHEMA}
    return pa.RecordBatch.from_pydict(columns)
