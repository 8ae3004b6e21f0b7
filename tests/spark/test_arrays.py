"""Rows in runs of equal values."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cocite.spark.arrays import each_run


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=8))
def test_runs_are_whole_however_batches_are_cut(batches: list[list[int]]) -> None:
    rows = sorted(value for batch in batches for value in batch)
    at, made = 0, []
    for batch in batches:
        made.append(pa.record_batch({"part": pa.array(rows[at : at + len(batch)], pa.int32())}))
        at += len(batch)
    found = [pa.Table.from_batches(run)["part"].to_pylist() for run in each_run(made, "part")]
    assert found == [[value] * rows.count(value) for value in sorted(set(rows))]
