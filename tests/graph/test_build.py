"""A store holds what the slow truth says, whatever the limits, batches and threads."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.sources.records import Page
from tests.graph.compare import assert_same
from tests.graph.naive import Naive
from tests.graph.webs import addresses, examples, files_of, make, page, tight, webs


@examples(40)
@given(webs, st.integers(1, 12))
def test_a_store_is_what_the_slow_truth_says(fast_root: Path, pages: list[Page], per_batch: int) -> None:
    truth = Naive(pages)
    if not truth.pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, tight():
        path = Path(folder) / "web.cocite"
        make(path, pages, per_batch)
        assert_same(Graph(path), truth)
        assert check(path) == []
