"""Blocks: batches of page records on disk, every address a 64-bit fingerprint. What the passes of a build hand on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTIAL, ALIAS, BY_CANONICAL, NOINDEX, STORED = 1, 2, 4, 8, 16
"""What a record is: one of several that add up; only an alias; a page's links under another address; not to be indexed;
from the store that is being added to."""


@dataclass(slots=True)
class Records:
    """The records of a block, in the order in which they came."""

    fingerprint: NDArray[np.uint64]  # of each record's page, 0: unusable
    kind: NDArray[np.uint8]
    alias: NDArray[np.uint64]  # of an ALIAS: fingerprint of the page that this address leads to; else 0
    captured: NDArray[np.uint32]  # seconds since 1970, 0: unknown
    status: NDArray[np.uint16]
    language: NDArray[np.uint32]  # two or three ASCII letters as a number
    first_link: NDArray[np.int64]


@dataclass(slots=True)
class Links:
    """The links of a block's records, in page order."""

    target: NDArray[np.uint64]  # fingerprints, 0: unusable
    attribute: NDArray[np.uint32]  # flags << 24 | block + 1
    weight: NDArray[np.float32]  # empty: all 1


TYPES: dict[str, type[np.generic]] = {
    "fingerprint": np.uint64,
    "kind": np.uint8,
    "alias": np.uint64,
    "captured": np.uint32,
    "status": np.uint16,
    "language": np.uint32,
    "first_link": np.int64,
    "target": np.uint64,
    "attribute": np.uint32,
    "weight": np.float32,
}
# Plain bytes, not NumPy's files: an archive's checksums would take a tenth of a build, and `np.load` in several threads
# at once fails now and then, because Python up to 3.11 cannot parse (the array's header) in two threads.


def save(values: Records | Links, file: Path) -> None:
    """Set arrays down on disk: their lengths, then one after another."""
    arrays = [np.ascontiguousarray(getattr(values, field.name), TYPES[field.name]) for field in fields(values)]
    with file.open("wb") as out:
        out.write(np.array([len(array) for array in arrays], np.int64).data)
        for array in arrays:
            out.write(array.data)


def load(file: Path, kind: type[Records] | type[Links]) -> list[NDArray[Any]]:
    """Arrays as they were saved."""
    types = [TYPES[field.name] for field in fields(kind)]
    with file.open("rb") as arrays:
        lengths = np.fromfile(arrays, np.int64, len(types)).tolist()
        return [np.fromfile(arrays, dtype, length) for dtype, length in zip(types, lengths, strict=True)]


def load_records(file: Path) -> Records:
    """The records of a block."""
    return Records(*load(file.with_suffix(".records"), Records))


def load_links(file: Path) -> Links:
    """The links of a block."""
    return Links(*load(file.with_suffix(".links"), Links))


def load_attributes(file: Path, most: int) -> NDArray[np.uint32]:
    """The attributes of a block's first links."""
    with file.with_suffix(".links").open("rb") as arrays:
        targets, attributes, _ = np.fromfile(arrays, np.int64, 3).tolist()
        arrays.seek(8 * targets, 1)
        return np.fromfile(arrays, np.uint32, min(most, attributes))


def save_numbers(numbers: NDArray[np.uint32], file: Path) -> None:
    """Set page numbers down on disk."""
    file.write_bytes(numbers.data)


def load_numbers(file: Path) -> NDArray[np.uint32]:
    """Page numbers as they were saved."""
    return np.fromfile(file, np.uint32)


def in_sequence(records: Records) -> NDArray[np.int64]:
    """Rows in the order in which their records came: aliases that canonical addresses made stand at a block's end."""
    made = np.flatnonzero(((records.kind & BY_CANONICAL) > 0) & ((records.kind & STORED) == 0))
    rows = np.arange(len(records.kind) - len(made))
    return np.argsort(np.append(rows, made), kind="stable") if len(made) else rows
