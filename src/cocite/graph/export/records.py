"""Export a store as page records, which `build` turns into the same store, and as Parquet edges."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.all_addresses import mapped_addresses
from cocite.graph.arrays import BOILERPLATE, NOFOLLOW, REL, rows_of
from cocite.graph.build.reread import TextCursor, column_part, stored_weights
from cocite.graph.generation import Progress
from cocite.graph.store import FETCHED, NOINDEX, Graph, OutLinks
from cocite.sources.page_records import write_jsonl, write_parquet
from cocite.sources.records import LINK, SCHEMA, Link, Page

CHUNK_PAGES = 1 << 12
"""Pages at a time: their links, with addresses, are held in memory."""
COLUMNS = ("title", "headings", "text", "anchors", "contexts")
RELS = np.array([" ".join(word for word, bit in REL.items() if flags & bit) for flags in range(16)], dtype=object)
"""The `rel` of every combination of flags."""


def write_records(graph: Graph, path: Path, progress: Progress) -> int:
    """Page records as Parquet, or as JSON Lines where the name says so; returns their number.

    What records cannot say is left behind: which pages were removed for good.
    """
    with mapped_addresses(graph, path, progress, marked=True) as known:
        batches = record_batches(graph, known, progress)
        if ".jsonl" in path.suffixes or ".ndjson" in path.suffixes:
            return write_jsonl((page for batch in batches for page in pages(batch)), path)
        return write_parquet(batches, path)


def record_batches(graph: Graph, known: pa.Array, progress: Progress) -> Iterator[pa.RecordBatch]:
    """Every record of a store, in page order: pages that have one of their own, and aliases."""
    arrays = graph.manifest["arrays"]
    cursors = {name: TextCursor(graph, name) for name in COLUMNS if f"{name}.pages" in arrays}
    aliases, leads = graph.array("alias.page"), graph.array("alias.target")
    for first, once, distinct in graph.iter_links(CHUNK_PAGES):
        starts, links, added = graph.with_repeats(first, once, distinct)
        count, weights = len(starts) - 1, stored_weights(graph, first, len(distinct.targets), added)
        texts = {name: column.take(first, count) for name, column in cursors.items()}
        numbers = np.arange(first, first + count)
        lead = np.full(count, -1, np.int64)
        low, high = rows_of(aliases, first, count)
        lead[aliases[low:high].astype(np.int64) - first] = leads[low:high]
        kind = graph.array("page.kind")[numbers]
        status = column_part(graph, "page.status", numbers, np.uint16)
        made = {
            "url": strings(known, numbers),
            "links": link_lists(known, starts, links, weights, texts),
            "headings": lines(texts.get("headings"), count),
            "status": pa.array(status.astype(np.int32), mask=status == 0),
            "redirect": strings(known, np.maximum(lead, 0), lead < 0),
            "captured": dates(column_part(graph, "page.captured", numbers, np.uint32)),
            "lang": languages(column_part(graph, "page.language", numbers, np.uint32)),
            "noindex": pa.array((kind & NOINDEX) > 0),
        }
        made |= {name: texts[name] for name in ("title", "text") if name in texts}
        columns = [made.get(field.name, pa.nulls(count, field.type)) for field in SCHEMA]
        batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        progress("writing records", len(distinct.targets), graph.links)
        yield batch.filter(pa.array(((kind & FETCHED) > 0) | (lead >= 0)))


def strings(known: pa.Array, pages: NDArray[np.integer], without: NDArray[np.bool_] | None = None) -> pa.Array:
    """The addresses of some pages, null where `without`."""
    return known.take(pa.array(pages.astype(np.int64), mask=without)).cast(pa.string())


def link_lists(
    known: pa.Array,
    starts: NDArray[np.int64],
    links: OutLinks,
    weights: NDArray[np.float32],
    texts: dict[str, pa.Array],
) -> pa.Array:
    """The links of some pages as Arrow lists."""
    weight = weights if len(weights) else np.ones(len(links.targets), np.float32)
    fields = {
        "url": strings(known, links.targets),
        "text": link_texts(texts.get("anchors"), starts),
        "block": pa.array(links.blocks, mask=links.blocks < 0),
        "context": link_texts(texts.get("contexts"), starts),
        "rel": pa.array(RELS[links.flags & 15], pa.string()),
        "weight": pa.array(weight),
        "boilerplate": pa.array((links.flags & BOILERPLATE) > 0),
    }
    items = pa.StructArray.from_arrays([fields[field.name] for field in LINK], fields=list(LINK))
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), items)


def link_texts(column: pa.Array | None, starts: NDArray[np.int64]) -> pa.Array:
    """A text per link from a text per page that has them as lines; missing lines are empty."""
    if column is None:
        return pa.nulls(int(starts[-1]), pa.string())
    items: list[str] = []
    for text, degree in zip(column.to_pylist(), np.diff(starts).tolist(), strict=True):
        own = text.split("\n")[:degree] if text else []
        items += own + [""] * (degree - len(own))
    return pa.array(items, pa.string())


def lines(column: pa.Array | None, count: int) -> pa.Array:
    """Texts as lists of lines."""
    texts = [None] * count if column is None else column.to_pylist()
    return pa.array([text.split("\n") if text else [] for text in texts], pa.list_(pa.string()))


def dates(seconds: NDArray[np.generic]) -> pa.Array:
    """Capture times in ISO form, empty where unknown."""
    return pa.array([datetime.fromtimestamp(s, UTC).isoformat() if s else "" for s in seconds.tolist()], pa.string())


def languages(numbers: NDArray[np.generic]) -> pa.Array:
    """Language codes, empty where unknown."""
    codes = [number.to_bytes(4, "little").rstrip(b"\0").decode("ascii", "replace") for number in numbers.tolist()]
    return pa.array(codes, pa.string())


def pages(batch: pa.RecordBatch) -> Iterator[Page]:
    """Records as pages, for JSON."""
    for row in batch.to_pylist():
        row["links"] = [Link(**{k: v for k, v in link.items() if v is not None}) for link in row["links"]]
        yield Page(**{name: value for name, value in row.items() if value is not None})


def write_parquet_edges(graph: Graph, path: Path, progress: Progress) -> int:
    """One row per link: source, target, place on the page, block, marks, and weight if any link has one."""
    import pyarrow.parquet as pq

    from cocite.graph.export.text import replacing

    weights = graph.array("out.weight")
    fields = [("source", pa.string()), ("target", pa.string()), ("position", pa.int32()), ("block", pa.int32())]
    fields += [("boilerplate", pa.bool_()), ("nofollow", pa.bool_())]
    schema = pa.schema(fields + ([("weight", pa.float32())] if len(weights) else []))
    done = 0
    with (
        mapped_addresses(graph, path, progress) as known,
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        for first, starts, links in graph.iter_links(CHUNK_PAGES):
            degrees, total = np.diff(starts), len(links.targets)
            columns = [
                strings(known, np.repeat(np.arange(first, first + len(degrees)), degrees)),
                strings(known, links.targets),
                pa.array((np.arange(total) - np.repeat(starts[:-1], degrees)).astype(np.int32)),
                pa.array(links.blocks, mask=links.blocks < 0),
                pa.array((links.flags & BOILERPLATE) > 0),
                pa.array((links.flags & NOFOLLOW) > 0),
            ]
            if len(weights):
                columns.append(pa.array(weights[done : done + total].astype(np.float32)))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            done += total
            progress("writing links", total, graph.links)
    return done
