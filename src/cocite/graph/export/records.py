"""A store as page records. `build` makes the same store from them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, HAS_RECORD, NOINDEX, REL
from cocite.graph.generation import Progress
from cocite.graph.names import mapped_addresses
from cocite.graph.store import Graph
from cocite.sources.page_records import write_jsonl, write_parquet
from cocite.sources.records import LINK, SCHEMA, Link, Page

RECORDS_CHUNK_PAGES = 1 << 12  # pages at a time: their links are in memory, with addresses
TEXT_COLUMNS = ("title", "headings", "text", "anchors", "contexts")
# The `rel` of every combination of flags.
RELS = np.array([" ".join(word for word, bit in REL.items() if flags & bit) for flags in range(16)], dtype=object)


def write_records(graph: Graph, path: Path, progress: Progress) -> int:
    """Write page records as Parquet, or as JSON Lines if the name says so. Return their number.

    Records can't say which pages were removed for good.
    """
    with mapped_addresses(graph.names, path, progress, marked=True) as known:
        batches = _record_batches(graph, known, progress)
        if ".jsonl" in path.suffixes or ".ndjson" in path.suffixes:
            return write_jsonl((_page(row) for batch in batches for row in batch.to_pylist()), path)
        return write_parquet(batches, path)


def _page(row: dict[str, object]) -> Page:
    """A record as a Page, without what is unknown."""
    links = [Link(**{name: value for name, value in link.items() if value is not None}) for link in row["links"]]  # type: ignore[attr-defined]
    return Page(**{name: value for name, value in row.items() if value is not None} | {"links": links})  # type: ignore[arg-type]


def _record_batches(graph: Graph, known: pa.Array, progress: Progress) -> Iterator[pa.RecordBatch]:
    """Every record of a store, in page order: of pages that have one of their own, and of aliases."""
    columns_of = {name: graph.texts.column(name) for name in TEXT_COLUMNS if len(graph.array(f"{name}.pages"))}

    def addresses(pages: NDArray[np.integer], is_null: NDArray[np.bool_] | None = None) -> pa.Array:
        return known.take(pa.array(pages.astype(np.int64), mask=is_null)).cast(pa.string())

    for first, starts, links, weights, distinct in graph.links.iter_all(RECORDS_CHUNK_PAGES):
        numbers = np.arange(first, first + len(starts) - 1)
        part = partial(graph.arrays.part, first=first, count=len(numbers))
        texts = {
            name: pa.array(column.between(first, len(numbers)), pa.string()) for name, column in columns_of.items()
        }
        lead = graph.names.alias_targets(first, len(numbers))
        kind, status, captured = part("page.kind"), part("page.status"), part("page.captured").tolist()
        language = part("page.language").astype("<u4")
        link_columns = {
            "url": addresses(links.targets),
            "text": _link_texts(texts.pop("anchors", None), starts),
            "block": pa.array(links.blocks, mask=links.blocks < 0),
            "context": _link_texts(texts.pop("contexts", None), starts),
            "rel": pa.array(RELS[links.flags & 15], pa.string()),
            "weight": pa.array(weights if len(weights) else np.ones(len(links.targets), np.float32)),
            "boilerplate": pa.array((links.flags & BOILERPLATE) > 0),
        }
        items = pa.StructArray.from_arrays([link_columns[field.name] for field in LINK], fields=list(LINK))
        headings = texts["headings"].to_pylist() if "headings" in texts else [None] * len(numbers)
        made = texts | {
            "url": addresses(numbers),
            "links": pa.ListArray.from_arrays(pa.array(starts, pa.int32()), items),
            "headings": pa.array([text.split("\n") if text else [] for text in headings], pa.list_(pa.string())),
            "status": pa.array(status.astype(np.int32), mask=status == 0),
            "redirect": addresses(np.maximum(lead, 0), lead < 0),
            "captured": pa.array([datetime.fromtimestamp(s, UTC).isoformat() if s else "" for s in captured]),
            "lang": pa.array([code.decode("ascii", "replace") for code in language.view("S4").tolist()]),
            "noindex": pa.array((kind & NOINDEX) > 0),
        }
        columns = [made.get(field.name, pa.nulls(len(numbers), field.type)) for field in SCHEMA]
        batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        progress("writing records", distinct, len(graph.links))
        yield batch.filter(pa.array(((kind & HAS_RECORD) > 0) | (lead >= 0)))


def _link_texts(column: pa.Array | None, starts: NDArray[np.int64]) -> pa.Array:
    """A text per link from a text per page that has them as lines; missing lines are empty."""
    if column is None:
        return pa.nulls(int(starts[-1]), pa.string())
    items: list[str] = []
    for text, degree in zip(column.to_pylist(), np.diff(starts).tolist(), strict=True):
        own = text.split("\n")[:degree] if text else []
        items += own + [""] * (degree - len(own))
    return pa.array(items, pa.string())
