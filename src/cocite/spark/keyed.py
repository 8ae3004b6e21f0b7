"""Page records → names and captures in which every address is a 64-bit fingerprint: the first pass of a build, by task.

A batch goes through the `Spill` of a build, in a folder of its own, so that addresses, dates and aliases are understood
as on one machine. Rows of both kinds come out of one pass, told apart by `what`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from cocite.graph.build.scratch import BY_CANONICAL, MemoryScratch
from cocite.graph.build.spill import Spill
from cocite.pages.address import canonical
from cocite.pages.site import Sites
from cocite.sources.arrow_batches import have_address, to_schema
from cocite.sources.records import ReadReport
from cocite.spark.arrays import Batches, cut, signed

NAME, CAPTURE = 0, 1
SCHEMA = pa.schema(
    [
        ("what", pa.int32()),
        ("fingerprint", pa.int64()),  # of a name, or of a capture's page
        ("key", pa.binary()),
        ("order", pa.int32()),  # of spellings of one name: the smallest is shown
        ("shown", pa.string()),
        ("sequence", pa.int64()),  # of captures: the order in which one machine would read them
        ("kind", pa.int32()),
        ("alias", pa.int64()),
        ("captured", pa.int64()),
        ("loose", pa.bool_()),  # some address was named here that no page may have
        ("targets", pa.binary()),  # fingerprints, 64 bits each, 0 for what is no page
        ("attributes", pa.binary()),  # 32 bits each
    ]
)
COLUMNS = ("url", "links", "redirect", "canonical", "captured", "noindex", "partial")
ROWS = 1 << 32
"""More rows than any file has: files and rows make one number."""


def file_name(address: str) -> str:
    """An address of a file in one spelling: Spark has two."""
    return re.sub("^([a-z0-9]+):/+", r"\1:/", unquote(address))


def key_batches(
    batches: Batches, place_of: dict[str, int], tally: Callable[[ReadReport], None]
) -> Iterator[pa.RecordBatch]:
    """Names and captures of batches of page records that tell their `file` and their `row` in it.

    What cannot be used is told to `tally`, batch by batch.
    """
    sites = Sites()
    for batch in batches:
        if not batch.num_rows:
            continue
        report = ReadReport()
        file = batch.column("file").dictionary_encode()
        first = np.array([place_of[file_name(name)] * ROWS for name in file.dictionary.to_pylist()], np.int64)
        sequence = first[file.indices.to_numpy()] + batch.column("row").to_numpy()
        sequence = sequence[have_address(batch.column("url"))]
        records = to_schema(batch, report, "", dictionaries=False)
        yield from _keyed(records, sequence, report, sites)
        tally(report)


def _keyed(
    records: pa.RecordBatch,
    sequence: np.ndarray[Any, np.dtype[np.int64]],
    report: ReadReport,
    sites: Sites,
) -> Iterator[pa.RecordBatch]:
    scratch = MemoryScratch()
    spill = Spill(
        scratch,
        report,
        text=False,
        anchors=False,
        removed=np.zeros(0, np.uint64),
        memory=1 << 22,
        same_site=lambda a, b: sites.domain(sites.host(canonical(a))) == sites.domain(sites.host(canonical(b))),
    )
    spill.add(spill.reserve(0, len(records)), records)
    spill.names.finish()
    for table in map(scratch.load_table, sorted(scratch.names(".names"))):
        for names in table.to_batches() if table is not None else ():
            yield _rows(
                NAME,
                fingerprint=pa.array(signed(names.column("fingerprint").to_numpy())),
                key=names.column("key"),
                order=names.column("order").cast(pa.int32()),
                shown=names.column("shown"),
            )
    found, links = spill.records_of(0), spill.links_of(0)
    made = np.flatnonzero(found.kind[: len(sequence)] & BY_CANONICAL)  # their aliases stand at the end
    starts = found.first_link
    yield _rows(
        CAPTURE,
        fingerprint=pa.array(signed(found.fingerprint)),
        sequence=pa.array(np.append(sequence, sequence[made])),
        kind=pa.array(found.kind.astype(np.int32)),
        alias=pa.array(signed(found.alias)),
        captured=pa.array(found.captured.astype(np.int64)),
        loose=pa.array(np.full(len(found.kind), spill.loose)),
        targets=cut(links.target, starts),
        attributes=cut(links.attribute, starts),
    )


def _rows(what: int, **columns: pa.Array) -> pa.RecordBatch:
    count = len(columns["fingerprint"])
    columns["what"] = pa.array(np.full(count, what, np.int32))
    return pa.RecordBatch.from_arrays(
        [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in SCHEMA], schema=SCHEMA
    )
