"""Sixth pass of a build: titles, headings, anchors, contexts and text of the records that count, in page order.

Texts are in the order of records, batch by batch. They are sorted by page, one range of pages at a time that fits in
memory. Anchors and contexts are cut to the links that were kept, in their order.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.arrays import places_of
from cocite.graph.build.names import text_buffers
from cocite.graph.build.resolve import NumberedSpill
from cocite.graph.build.scratch import PARTIAL
from cocite.graph.build.sort_links import starts_of
from cocite.graph.build.spill import LINK_TEXTS, RECORD_TEXTS
from cocite.graph.generation import Progress, Writer
from cocite.graph.texts import TextWriter
from cocite.kernels.addresses.texts import pick_lines

MEMORY_PER_TEXT_BYTE = 5  # for sorting, all copies of the ranges under way together
Texts = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]  # bytes, and where texts start and stop


def gather_texts(numbered: NumberedSpill, writer: Writer, memory: int, progress: Progress) -> None:
    """Write a column of texts for each of RECORD_TEXTS, if some record has any."""
    spill, workers = numbered.spill, numbered.workers
    if not spill.text_bytes:
        return
    columns = {name: TextWriter(writer, name) for name in RECORD_TEXTS}
    first_links = starts_of(writer.map("out.degree"))
    positions = spill.scratch.column("positions", np.uint32, mapped=True)

    def work(names: list[str]) -> dict[str, tuple[NDArray[np.uint32], Texts]]:
        if not names:
            return {}
        table = pa.concat_tables([spill.scratch.load_table(name) for name in names]).combine_chunks()
        spill.scratch.remove(*names)
        pages = table["page"].to_numpy()
        order = np.argsort(pages, kind="stable")
        result: dict[str, tuple[NDArray[np.uint32], Texts]] = {}
        for name in RECORD_TEXTS:
            column = table[name].chunk(0) if table[name].num_chunks else pa.array([], pa.string())
            rows = order[column.is_valid().to_numpy(zero_copy_only=False)[order]]
            if name in LINK_TEXTS and len(rows):
                firsts = first_links[pages[rows]]
                counts = first_links[pages[rows].astype(np.int64) + 1] - firsts
                result[name] = pages[rows], kept_lines(column, rows, positions[places_of(firsts, counts)], counts)
            elif len(rows):
                data, offsets = text_buffers(column)
                result[name] = pages[rows], (data, offsets[rows], offsets[rows + 1])
        return result

    ranges = max(1, -(-spill.text_bytes * MEMORY_PER_TEXT_BYTE // memory))
    for result in workers.in_order(work, scatter(numbered, ranges)):
        for name, (pages, (data, starts, stops)) in result.items():
            raw, column = data.tobytes(), columns[name]
            for page, start, stop in zip(pages.tolist(), starts.tolist(), stops.tolist(), strict=True):
                if start < stop:
                    column.append(page, raw[start:stop])
            progress("writing texts", len(pages), None)
    for column in columns.values():
        column.close()


def kept_lines(texts: pa.Array, rows: NDArray[np.int64], lines: NDArray[np.uint32], counts: NDArray[np.int64]) -> Texts:
    """Some texts with the lines of the links that were kept; `counts` are how many each text has of them."""
    data, offsets = text_buffers(texts)
    out = np.empty(int((offsets[rows + 1] - offsets[rows]).sum()) + len(lines) + len(rows) + 1, np.uint8)
    ends = np.zeros(len(rows), np.int64)
    pick_lines(data, offsets, rows, lines, starts_of(counts), out, ends)
    return out, np.append(0, ends[:-1]), ends


def scatter(numbered: NumberedSpill, ranges: int) -> list[list[str]]:
    """The texts of records that count, in tables by range of pages; the names of the tables of each range."""
    borders = np.array([numbered.pages])
    if ranges > 1:  # with about as many captured pages each
        captured = np.sort(np.concatenate([block.page[numbered.taken(block)] for block in numbered.blocks()]))
        borders = np.append(np.unique(captured[len(captured) // ranges :: max(1, len(captured) // ranges)]), borders)
    names: list[list[str]] = [[] for _ in borders]
    for block in numbered.blocks():
        table = numbered.scratch.load_table(f"{block.number}.texts")
        if table is None:
            continue
        rows = np.flatnonzero((numbered.taken(block) & ~block.records.has(PARTIAL))[: len(table)])
        of_range = np.searchsorted(borders, block.page[rows], side="right")
        for number in np.unique(of_range).tolist():
            chosen = rows[of_range == number]
            part = table.take(pa.array(chosen)).append_column("page", pa.array(block.page[chosen]))
            names[number].append(f"{number}-{block.number}.range")
            numbered.scratch.save_table(names[number][-1], part)
        numbered.scratch.remove(f"{block.number}.texts")
    return names
