"""Page records: the one shape in which pages and links enter cocite (see `docs/page-records.md`).

A reader yields `Page` objects or, where it can, Arrow record batches of `SCHEMA`; `batches` turns the first into the
second, so that the builder sees one shape. Address columns may be dictionary-encoded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(slots=True)
class Link:
    """One link of a page, in page order."""

    url: str
    text: str = ""
    block: int | None = None  # the section of the page it stands in, from 0; None is unknown
    context: str = ""  # words around the link
    rel: str = ""  # as in HTML: space-separated tokens
    weight: float = 1.0  # probability in (0, 1]
    boilerplate: bool = False  # navigation, header, footer, aside


@dataclass(slots=True)
class Page:
    """One captured page, or an alias (`redirect`, `canonical`) of another address."""

    url: str
    title: str = ""
    text: str = ""
    links: list[Link] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)  # headings[block] names the block
    status: int | None = None  # HTTP status of the capture
    redirect: str = ""  # this address leads to that one
    canonical: str = ""  # the page says its proper address is that one
    captured: str = ""  # ISO 8601 date or time; the newest capture of a page wins
    lang: str = ""  # ISO 639 code
    noindex: bool = False  # meta robots asked not to be indexed
    partial: bool = False  # an edge list's rows: records of one page add up instead of replacing each other


LINK = pa.struct(
    [
        pa.field("url", pa.string()),
        pa.field("text", pa.string()),
        pa.field("block", pa.int32()),
        pa.field("context", pa.string()),
        pa.field("rel", pa.string()),
        pa.field("weight", pa.float32()),
        pa.field("boilerplate", pa.bool_()),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("url", pa.string()),
        pa.field("title", pa.string()),
        pa.field("text", pa.string()),
        pa.field("links", pa.list_(LINK)),
        pa.field("headings", pa.list_(pa.string())),
        pa.field("status", pa.int32()),
        pa.field("redirect", pa.string()),
        pa.field("canonical", pa.string()),
        pa.field("captured", pa.string()),
        pa.field("lang", pa.string()),
        pa.field("noindex", pa.bool_()),
        pa.field("partial", pa.bool_()),
    ]
)

ADDRESSES = ("url", "redirect", "canonical")
"""The fields of a page that are addresses; of a link it is `url`."""


def trimmed(texts: pa.Array) -> pa.Array:
    """Addresses without the white space around them: the one rule of all readers, and that of `str.strip`.

    With two rules, one web had other pages as JSON Lines than as an edge list. Questions are stripped, too, so a name
    that ends in white space could never be asked for.
    """
    if pa.types.is_dictionary(texts.type):
        names = pc.utf8_trim_whitespace(texts.dictionary)
        # One that stays as it is must stay the same object: it is known again by its buffers.
        return texts if names.equals(texts.dictionary) else pa.DictionaryArray.from_arrays(texts.indices, names)
    return pc.utf8_trim_whitespace(texts)


MOST_REASONS = 100
"""Reasons may quote strangers; a report stays readable all the same."""
LONGEST_EXAMPLE, LONGEST_WORD = 250, 100
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def cut(text: str, most: int = LONGEST_WORD) -> str:
    """A text for a message: what is too long is cut, and that is shown."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shown(example: str) -> str:
    """An example for a message, each address in it cut to a readable length."""
    return cut(_LONG_WORD.sub(lambda word: cut(word[0]), example[:10_000]), LONGEST_EXAMPLE)


class ReadReport:
    """What a reader or builder met on its way: counts, and per reason the number of things left out and one example."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.read: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.example: dict[str, str] = {}

    def skip(self, reason: str, example: str = "", count: int = 1) -> None:
        """Count something that cannot be used; with `strict`, stop."""
        from cocite.errors import BadSource

        if reason not in self.skipped and len(self.skipped) >= MOST_REASONS:
            reason = "other reasons"
        self.skipped[reason] += count
        if reason not in self.example:
            self.example[reason] = shown(example)
        if self.strict:
            raise BadSource(f"{reason}: {shown(example)!r} (leave out --strict to count and skip such records)")

    def merge(self, other: ReadReport) -> None:
        """Add another report's counts to this one."""
        self.read.update(other.read)
        self.skipped.update(other.skipped)
        for reason, example in other.example.items():
            self.example.setdefault(reason, example)


def batches(
    pages: Iterable[Page], links_per_batch: int = 200_000, text_per_batch: int = 32 << 20
) -> Iterator[pa.RecordBatch]:
    """Gather pages into record batches of bounded size."""
    gathered: list[Page] = []
    links = text = 0
    for page in pages:
        gathered.append(page)
        links += len(page.links) + 1
        text += len(page.text) + len(page.url)
        if links >= links_per_batch or text >= text_per_batch:
            yield batch(gathered)
            gathered, links, text = [], 0, 0
    if gathered:
        yield batch(gathered)


def batch(pages: list[Page]) -> pa.RecordBatch:
    """Pages as one record batch of `SCHEMA`."""
    links = [link for page in pages for link in page.links]
    offsets = [0]
    for page in pages:
        offsets.append(offsets[-1] + len(page.links))
    link_columns = [pa.array([getattr(link, f.name) for link in links], f.type) for f in LINK]
    link_columns[0] = trimmed(link_columns[0])
    link_array = pa.StructArray.from_arrays(link_columns, fields=list(LINK))
    columns = []
    for f in SCHEMA:
        if f.name == "links":
            column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), link_array)
        else:
            column = pa.array([getattr(page, f.name) for page in pages], f.type)
        columns.append(trimmed(column) if f.name in ADDRESSES else column)
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
