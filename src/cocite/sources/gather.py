"""What readers yield, pages or batches of any size → batches worth handling, in the same order.

Every batch costs the builder some milliseconds and some files, whatever it holds: a thousand small files must not be a
thousand batches. Batches that are large already pass as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import pyarrow as pa

from cocite.sources.conform import conform, list_parts
from cocite.sources.html.escapes import without_escapes
from cocite.sources.records import SCHEMA, Page, ReadReport, batches

SMALL_ITEMS, SMALL_BYTES = 20_000, 4 << 20
"""Records and links, and bytes, below which a batch waits for others."""


def gathered(items: Iterable[Page | pa.RecordBatch], text: bool = True) -> Iterator[pa.RecordBatch]:
    """Pages and batches as batches of reasonable size, their texts free of escape sequences; without `text`, none."""
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    for batch in _batches(items, text):
        batch = _plain(batch)
        items_in_it = batch.num_rows + len(batch.column("links").flatten())
        small = items_in_it < SMALL_ITEMS and batch.nbytes < SMALL_BYTES
        if small:
            waiting.append(batch)
            count, size = count + items_in_it, size + batch.nbytes
        if waiting and (not small or count >= SMALL_ITEMS or size >= SMALL_BYTES):
            yield _joined(waiting)
            waiting, count, size = [], 0, 0
        if not small:
            yield batch
    if waiting:
        yield _joined(waiting)


def _batches(items: Iterable[Page | pa.RecordBatch], text: bool) -> Iterator[pa.RecordBatch]:
    """Runs of pages become batches; batches stay."""
    for are_pages, run in groupby(items, lambda item: isinstance(item, Page)):
        if are_pages:
            yield from batches(_pages(run, text))
        else:
            yield from run


def _pages(items: Iterable[Page], text: bool) -> Iterator[Page]:
    for page in items:
        if not text:
            page.text = ""
        yield page


def _joined(waiting: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Several small batches as one."""
    if len(waiting) == 1:
        return waiting[0]
    same = [conform(batch, ReadReport(), dictionaries=False).cast(SCHEMA) for batch in waiting]
    (whole,) = pa.Table.from_batches(same).combine_chunks().to_batches()
    return whole


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose titles, texts, headings, anchors and contexts hold no escape sequences."""
    for name in ("title", "text"):
        column = batch.column(name)
        if (cleaned := without_escapes(column)) is not column:
            batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), cleaned)
    for name in ("headings", "links"):
        column = batch.column(name)
        cleaned = _plain_items(column)
        if cleaned is not column:
            batch = batch.set_column(batch.schema.get_field_index(name), name, cleaned)
    return batch


def _plain_items(lists: pa.Array) -> pa.Array:
    """Lists of texts, or of links, without escape sequences; the same object if there were none."""
    parts = None if lists.null_count == len(lists) else list_parts(lists)
    if parts is None:
        return lists
    offsets, items = parts
    if pa.types.is_struct(items.type):
        fields = dict(zip((field.name for field in items.type), items.flatten(), strict=True))
        changed = {name: without_escapes(fields[name]) for name in ("text", "context")}
        if all(changed[name] is fields[name] for name in changed):
            return lists
        made = {**fields, **changed}
        cleaned = pa.StructArray.from_arrays(list(made.values()), names=list(made))
    elif (cleaned := without_escapes(items)) is items:
        return lists
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), cleaned)
