"""A store's pages as documents to be searched: what a page says of itself, and what links to it say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import unquote

import numpy as np

from cocite.graph.all_addresses import addresses
from cocite.graph.generation import Progress
from cocite.graph.store import NOINDEX, Graph
from cocite.graph.texts import TextColumn
from cocite.words.links_in import NOTHING, Said, said_of_pages
from cocite.words.tokens import prepared

FIELDS = ("title", "anchors", "headings", "around", "text", "address")
STAGE = "indexing pages"
STEP = 1 << 12
LONGEST_TEXT = 1 << 20
"""Characters of a page's text that are searched."""
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\d?\.)?", re.IGNORECASE)

Document = dict[str, list[str]]
T = TypeVar("T")


def documents(graph: Graph, folder: Path, memory: int, progress: Progress) -> Iterator[tuple[int, Document]]:
    """(page, its texts by field) in page order. Left out: aliases, and pages that ask not to be indexed.

    `folder` is for passing use.
    """
    first, names = 0, list(addresses(graph, 0, min(STEP, graph.pages)))
    for page, own, said in texts_of_pages(graph, folder, memory, progress, STAGE):
        if page >= first + len(names):
            first = page - page % STEP
            names = list(addresses(graph, first, min(STEP, graph.pages - first)))
        yield page, document(own, said, names[page - first])


def texts_of_pages(
    graph: Graph, folder: Path, memory: int, progress: Progress, stage: str
) -> Iterator[tuple[int, dict[str, str], Said]]:
    """(page, its own texts by column, what links to it say) in page order, of the pages of `documents`."""
    said = Ahead(said_of_pages(graph, folder, memory, progress))
    own = {name: Ahead(items(graph.texts.column(name))) for name in ("title", "headings", "text")}
    kind = graph.array("page.kind")
    hidden = np.union1d(np.flatnonzero(kind & NOINDEX), graph.array("alias.page")).astype(np.int64)
    for first in range(0, graph.pages, STEP):
        count = min(STEP, graph.pages - first)
        low, high = np.searchsorted(hidden, [first, first + count])
        skipped = set(hidden[low:high].tolist())
        for page in range(first, first + count):
            found = {name: column.take(page) or "" for name, column in own.items()}
            links = said.take(page) or NOTHING
            if page not in skipped:
                yield page, found, links
        progress(stage, count, graph.pages)


def document(own: dict[str, str], said: Said, address: str) -> Document:
    """The texts of one page by field, such that words are found in them."""
    texts = {
        "title": [own["title"]],
        "anchors": [text for text, count in said.anchors for _ in range(times(count))],
        "headings": own["headings"].split("\n"),
        "around": [
            text for column in (said.contexts, said.headings) for text, count in column for _ in range(times(count))
        ],
        "text": [own["text"][:LONGEST_TEXT]],
        "address": [spoken(address)],
    }
    return {name: [prepared(text) for text in values if text] for name, values in texts.items()}


def times(count: int) -> int:
    """How often a text that `count` links use is counted: once more for each doubling, or thousands of the same would
    drown everything else that is said of a page."""
    return count.bit_length()


def spoken(address: str) -> str:
    """An address without what all have; its words in any script."""
    return unquote(_SCHEME.sub("", address.removeprefix("name:")), errors="replace").replace("_", " ")


def items(column: TextColumn) -> Iterator[tuple[int, str]]:
    """Every (page, text) of a column."""
    return ((page, raw.decode("utf-8", "replace")) for page, raw in column.items())


class Ahead(Generic[T]):
    """Values by page, read once in page order."""

    def __init__(self, values: Iterator[tuple[int, T]]) -> None:
        self._values = values
        self._next = next(values, None)

    def take(self, page: int) -> T | None:
        """The value of a page, if it has one; pages are asked in ascending order."""
        while self._next is not None and self._next[0] < page:
            self._next = next(self._values, None)
        return self._next[1] if self._next is not None and self._next[0] == page else None
