"""Pages that nothing stands for: named only by captures that were replaced, by removed pages, by records of no page.

They must not stay: the same pages would give another store by way of an export, or when they are added twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.blocks import ALIAS, Records, load_numbers
from cocite.graph.build.ordered import in_order
from cocite.graph.build.resolve import Resolved
from cocite.kernels.addresses.hashing import MISSING


def mentioned(resolved: Resolved) -> NDArray[np.bool_] | None:
    """Which pages have a record or a link that counts, are an alias, or an alias's end; None if surely all have.

    Nearly every build reads each page once: then the records tell, and no link is looked at.
    """
    if not resolved.spill.loose and all(
        all_count(records, lead, resolved.taken(first, records, page), resolved.won(first, page))
        for first, _, records, page, lead in resolved.blocks()
    ):
        return None
    kept = np.zeros(resolved.pages, np.bool_)

    def work(item: tuple[int, Path, Records, NDArray[np.uint32], NDArray[np.uint32]]) -> None:
        first, file, records, page, _ = item
        taken = resolved.taken(first, records, page)
        kept[page[taken]] = True
        targets = load_numbers(file.with_suffix(".targets"))[np.repeat(taken, np.diff(records.first_link))]
        kept[targets[targets != MISSING]] = True

    for _ in in_order(work, resolved.blocks(), resolved.pool, resolved.threads):
        pass
    if len(resolved.alias):
        moved = np.flatnonzero(resolved.alias != np.arange(resolved.pages, dtype=np.uint32))
        kept[moved] = kept[resolved.alias[moved]] = True
    return kept


def all_count(records: Records, lead: NDArray[np.uint32], taken: NDArray[np.bool_], won: NDArray[np.bool_]) -> bool:
    """Whether every record that names other pages counts."""
    naming = (np.diff(records.first_link) > 0) | (records.alias > 0)
    leading = won & ((records.kind & ALIAS) > 0) & (lead != MISSING) & (np.diff(records.first_link) == 0)
    return not (naming & ~taken & ~leading).any()
