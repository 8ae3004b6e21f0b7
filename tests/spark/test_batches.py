"""Rows in runs of equal values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.spark.batches import each_run, whole_runs


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=8))
def test_runs_are_complete_for_any_batches(batches: list[list[int]]) -> None:
    rows = sorted(value for batch in batches for value in batch)
    at, made = 0, []
    for batch in batches:
        made.append(pa.record_batch({"part": pa.array(rows[at : at + len(batch)], pa.int32())}))
        at += len(batch)
    found = [pa.Table.from_batches(run)["part"].to_pylist() for run in each_run(made, "part")]
    assert found == [[value] * rows.count(value) for value in sorted(set(rows))]


def plain_tables(batches: list[list[int]], rows: int) -> list[list[int]]:
    """The reference: look at all waiting rows again for every batch."""
    found: list[list[int]] = []
    waiting: list[int] = []
    for batch in batches:
        waiting = waiting + batch
        start = len(waiting)
        while start and waiting[start - 1] == waiting[-1]:
            start -= 1
        if batch and len(waiting) >= rows and start:
            found.append(waiting[:start])
            waiting = waiting[start:]
    return [*found, waiting] if waiting else found


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=12), st.integers(1, 9), st.booleans())
def test_tables_do_not_cut_runs(batches: list[list[int]], rows: int, in_order: bool) -> None:
    if in_order:
        every, at = sorted(value for batch in batches for value in batch), 0
        for number, batch in enumerate(batches):
            batches[number], at = every[at : at + len(batch)], at + len(batch)
    made = [pa.record_batch({"part": pa.array(batch, pa.int64())}) for batch in batches]
    found = [table["part"].to_pylist() for table in whole_runs(iter(made), "part", rows)]
    assert found == plain_tables(batches, rows)


def test_a_long_run_is_concatenated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    together = pa.Table.from_batches

    class Counting:
        @staticmethod
        def from_batches(batches: list[pa.RecordBatch]) -> Any:
            made.append(len(batches))
            return together(batches)

    batch = pa.record_batch({"part": pa.array(np.zeros(10, np.int64))})
    end = pa.record_batch({"part": pa.array(np.ones(1, np.int64))})
    monkeypatch.setattr("cocite.spark.batches.pa.Table", Counting)
    assert [len(table) for table in whole_runs([batch] * 50 + [end], "part", 20)] == [500, 1]
    assert made == [51, 1]
