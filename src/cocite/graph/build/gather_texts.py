"""Sixth pass of a build: titles, headings, anchors, contexts and text of the records that count, in page order.

Texts are in the order of records, batch by batch. They are sorted by page, one range of pages at a time that fits in
memory. Anchors and contexts are cut to the links that were kept, in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.arrays import PER_BASE
from cocite.graph.build.columns import text_buffers
from cocite.graph.build.resolve import Resolved
from cocite.graph.build.scratch import PARTIAL
from cocite.graph.build.spill import LINK_TEXTS, TEXTS
from cocite.graph.generation import Writer
from cocite.graph.texts import TextWriter
from cocite.kernels.addresses.lines import pick_lines


def gather_texts(
    resolved: Resolved, writer: Writer, memory: int, progress: Callable[[str, int, int | None], None]
) -> None:
    """Write a column of texts for each of TEXTS that some record has."""
    spill = resolved.spill
    columns = {name: TextWriter(writer, name) for name in TEXTS if spill.text_bytes}
    if not columns:
        return
    ranges = max(1, -(-spill.text_bytes * 4 // memory))
    borders = cut_ranges(resolved, ranges)
    scattered = scatter(resolved, borders)
    degrees, firsts = writer.map("out.degree"), writer.map("out.first")
    positions = spill.scratch.column("positions", np.uint32, mapped=True)

    def work(names: list[str]) -> dict[str, tuple[NDArray[Any], tuple[NDArray[Any], ...]]]:
        if not names:
            return {}
        table = pa.concat_tables([spill.scratch.load_table(name) for name in names]).combine_chunks()
        spill.scratch.remove(*names)
        pages = table["page"].to_numpy()
        order = np.argsort(pages, kind="stable")
        result: dict[str, Any] = {}
        for name in TEXTS:
            column = table[name].chunk(0) if table[name].num_chunks else pa.array([], pa.string())
            rows = order[column.is_valid().to_numpy(zero_copy_only=False)[order]]
            if len(rows):
                data, offsets = text_buffers(column)
                if name in LINK_TEXTS:
                    result[name] = pages[rows], kept_lines(data, offsets, rows, pages[rows], degrees, firsts, positions)
                else:
                    result[name] = pages[rows], (data, offsets[rows], offsets[rows + 1])
        return result

    for result in resolved.workers.in_order(work, scattered, resolved.workers.threads - 1):
        for name, (pages, (data, starts, stops)) in result.items():
            raw, column = data.tobytes(), columns[name]
            for page, start, stop in zip(pages.tolist(), starts.tolist(), stops.tolist(), strict=True):
                if start < stop:
                    column.append(page, raw[start:stop])
            progress("writing texts", len(pages), None)
    for column in columns.values():
        column.close()


def cut_ranges(resolved: Resolved, ranges: int) -> NDArray[np.int64]:
    """Borders of page ranges with about as many captured pages each."""
    if ranges == 1:
        return np.array([0, resolved.pages], np.int64)
    counts = np.zeros((resolved.pages >> resolved.shift) + 1, np.int64)
    for block in resolved.blocks():
        counts += np.bincount(block.page[resolved.taken(block)] >> resolved.shift, minlength=len(counts))
    share = np.cumsum(counts) * ranges // max(1, int(counts.sum()) + 1)
    borders = np.searchsorted(share, np.arange(1, ranges)) << resolved.shift
    return np.unique(np.concatenate([[0], borders, [resolved.pages]]))


def scatter(resolved: Resolved, borders: NDArray[np.int64]) -> list[list[str]]:
    """The texts of records that count, in tables by range of pages; the names of the tables of each range."""
    scratch = resolved.spill.scratch
    names: list[list[str]] = [[] for _ in borders[1:]]
    for block in resolved.blocks():
        table = scratch.load_table(f"{block.number}.texts")
        if table is None:
            continue
        taken = resolved.taken(block) & ((block.records.kind & PARTIAL) == 0)
        rows = np.flatnonzero(taken[: len(table)])
        pages = block.page[rows]
        of_range = np.searchsorted(borders, pages, side="right") - 1
        for number in np.unique(of_range).tolist():
            chosen = rows[of_range == number]
            part = table.take(pa.array(chosen)).append_column("page", pa.array(block.page[chosen]))
            names[number].append(f"{number}-{block.number}.range")
            scratch.save_table(names[number][-1], part)
        scratch.remove(f"{block.number}.texts")
    return names


def kept_lines(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    pages: NDArray[np.uint32],
    degrees: NDArray[np.uint32],
    firsts: NDArray[np.uint64],
    positions: NDArray[np.uint32],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Lines of the links that were kept: (bytes, starts, stops)."""
    counts = degrees[pages].astype(np.int64)
    starts = np.append(0, np.cumsum(counts))
    chosen = np.empty(int(starts[-1]), np.uint32)
    for i, page in enumerate(pages.tolist()):
        base = page // PER_BASE * PER_BASE
        first = int(firsts[page // PER_BASE]) + int(degrees[base:page].sum(dtype=np.int64))
        chosen[starts[i] : starts[i + 1]] = positions[first : first + int(counts[i])]
    out = np.empty(int((offsets[rows + 1] - offsets[rows]).sum()) + len(chosen) + len(rows) + 1, np.uint8)
    ends = np.zeros(len(rows), np.int64)
    pick_lines(data, offsets, rows, chosen, starts, out, ends)
    return out, np.append(0, ends[:-1]), ends
