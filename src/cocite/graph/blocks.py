"""Blocks: batches of page records on disk, every address a 64-bit fingerprint. What the passes of a build hand on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

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


def save(values: Records | Links, file: Path) -> None:
    """Set arrays down on disk."""
    with file.open("wb") as out:
        np.savez(out, **{f.name: getattr(values, f.name) for f in fields(values)})


def load_records(file: Path) -> Records:
    """The records of a block."""
    with np.load(file.with_suffix(".records")) as arrays:
        return Records(**arrays)


def load_links(file: Path) -> Links:
    """The links of a block."""
    with np.load(file.with_suffix(".links")) as arrays:
        return Links(**arrays)


def in_sequence(records: Records) -> NDArray[np.int64]:
    """Rows in the order in which their records came: the aliases that canonical addresses made stand at a block's end."""
    made = np.flatnonzero(((records.kind & BY_CANONICAL) > 0) & ((records.kind & STORED) == 0))
    return np.argsort(np.append(np.arange(len(records.kind) - len(made)), made), kind="stable")
