"""An existing store as the first source of a build: its pages, links and texts, without their sources."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import rows_of
from cocite.graph.build.scratch import ALIAS, BY_CANONICAL, NOINDEX, STORED, LinkColumns, RecordColumns
from cocite.graph.build.spill import LINK_TEXTS, TEXTS, Spill
from cocite.graph.build.spill_names import spelling_orders
from cocite.graph.generation import Progress, changed_arrays
from cocite.graph.store import FETCHED, Graph
from cocite.kernels.addresses.hashing import copy_chosen
from cocite.kernels.codec.attributes import pack_all
from cocite.pages.key import APART

CHUNK_PAGES = 1 << 16


def reread(old: Graph, spill: Spill, progress: Progress) -> None:
    """Put everything that an existing store holds into a spill.

    Every byte of it is verified before: a new generation has checksums of its own, and what was damaged in the old one
    would be right by them for ever.
    """
    with ThreadPoolExecutor(2) as pool:
        for name in changed_arrays(old.arrays, old.manifest["arrays"], progress, pool):
            raise BadStore(
                f"{old.path} is damaged (the bytes of {name} do not match their checksum): build it again from its "
                "sources, which cocite info names; nothing was changed"
            )
    try:
        put_all(old, spill, progress)
    except (IndexError, ValueError) as error:  # numbers that point nowhere
        raise old.damaged() from error


def put_all(old: Graph, spill: Spill, progress: Progress) -> None:
    """The work of `reread`."""
    columns = {name: TextCursor(old, name) for name in TEXTS if f"{name}.pages" in old.manifest["arrays"]}
    if not spill.anchors:
        columns = {name: column for name, column in columns.items() if name not in LINK_TEXTS}
    if not spill.text:
        columns.pop("text", None)
    aliases, alias_targets = old.array("alias.page"), old.array("alias.target")
    kind = old.array("page.kind")
    for first, once, distinct in old.iter_links(CHUNK_PAGES):
        starts, links, added = old.with_repeats(first, once, distinct)
        count = len(starts) - 1
        pages = np.arange(first, first + count)
        fingerprints = old.fingerprints[first : first + count]
        targets = old.fingerprints[links.targets]
        lead = np.zeros(count, np.uint64)
        low, high = rows_of(aliases, first, count)
        lead[aliases[low:high].astype(np.int64) - first] = old.fingerprints[alias_targets[low:high]]
        if len(spill.removed):
            targets = np.where(np.isin(targets, spill.removed), np.uint64(0), targets)
        gone = np.isin(fingerprints, spill.removed)
        put_names(old, spill, first, ~gone, ((kind[pages] & FETCHED) > 0) | (lead > 0))
        number = spill.reserve(len(targets), count)
        spill.again += len(added)
        own = fingerprints.copy()
        # Pages known from links only have no record: nothing of theirs may compete with a record that is added.
        own[gone | (((kind[pages] & FETCHED) == 0) & (lead == 0))] = 0
        records = RecordColumns(
            fingerprint=own,
            kind=((kind[pages] & (NOINDEX | BY_CANONICAL)) | STORED | np.where(lead > 0, ALIAS, 0)).astype(np.uint8),
            alias=lead,
            captured=column_part(old, "page.captured", pages, np.uint32),
            status=column_part(old, "page.status", pages, np.uint16),
            language=column_part(old, "page.language", pages, np.uint32),
            first_link=starts,
        )
        attribute = pack_all(links.blocks + 1, links.flags)
        weight = stored_weights(old, first, len(distinct.targets), added)
        texts = {name: column.take(first, count) for name, column in columns.items()}
        empty = pa.nulls(count, pa.string())
        table = pa.table({name: texts.get(name, empty) for name in TEXTS}) if texts else None
        spill.put(number, records, LinkColumns(targets, weight, attribute), table)
        progress("reading the old store", len(distinct.targets), old.links)


def stored_weights(old: Graph, first: int, links: int, added: NDArray[np.int64]) -> NDArray[np.float32]:
    """The weights of `links` links from a page's first on, 1 for each of those `added`; none if the store has none."""
    weights = old.array("out.weight")
    if not len(weights):
        return np.zeros(0, np.float32)
    at = old.first_link(first)
    return np.insert(weights[at : at + links].astype(np.float32), added, np.float32(1))


def column_part(old: Graph, name: str, pages: NDArray[np.int64], dtype: type[np.generic]) -> NDArray[Any]:
    """Values of some pages, 0 where the store has none."""
    values = old.array(name)
    return values[pages] if len(values) else np.zeros(len(pages), dtype)


def put_names(old: Graph, spill: Spill, first: int, kept: NDArray[np.bool_], own: NDArray[np.bool_]) -> None:
    """Names of the kept pages from `first` on; `own` are those with a record, which spells them."""
    count = len(kept)
    data, offsets = old.names.keys(first, count)
    chosen, ends = np.empty(int(offsets[-1]), np.uint8), np.empty(int(kept.sum()) + 1, np.int64)
    used = copy_chosen(data, offsets, kept, chosen, ends)
    spelling = old.array("name.spelling")[first : first + count][kept]
    shown: list[str | None] = [None] * len(spelling)
    places = first + np.flatnonzero(kept)
    for i in np.flatnonzero(spelling == APART).tolist():
        shown[i] = old.address(int(places[i]))
    orders = np.where(own[kept], spelling_orders(spelling, own=True), spelling_orders(spelling, own=False))
    spill.names.put(f"old-{first}", chosen[:used], ends, orders, old.fingerprints[first : first + count][kept], shown)


class TextCursor:
    """Reads a column of texts once, in page order."""

    def __init__(self, old: Graph, name: str) -> None:
        self._items = old.texts.column(name).items()
        self._next = next(self._items, None)

    def take(self, first: int, count: int) -> pa.Array:
        """The texts of pages [first, first + count), null where there is none."""
        texts: list[str | None] = [None] * count
        while self._next is not None and self._next[0] < first + count:
            texts[self._next[0] - first] = self._next[1].decode("utf-8", "replace")
            self._next = next(self._items, None)
        return pa.array(texts, pa.string())
