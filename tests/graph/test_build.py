"""A store holds what the slow truth says, whatever the limits, batches and threads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.build import names, number, sort_names
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.sources.records import Page, ReadReport
from tests.graph.compare import assert_same
from tests.graph.naive import Naive
from tests.graph.webs import ADDRESSES, Records, examples, files_of, limited, make, page, tight, webs


@examples(30)
@given(webs, st.integers(1, 12))
def test_a_store_equals_the_slow_truth(fast_root: Path, pages: list[Page], per_batch: int) -> None:
    truth = Naive(pages)
    if not truth.pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, tight():
        path = Path(folder) / "web.cocite"
        make(path, pages, per_batch)
        assert_same(Graph(path), truth)
        assert check(path) == []


@examples(6)
@given(webs)
def test_threads_and_limits_do_not_change_a_byte(fast_root: Path, pages: list[Page]) -> None:
    if not Naive(pages).pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        stores = [Path(folder) / name for name in ("one", "two", "again")]
        with tight():
            for store, threads in zip(stores, (1, 2, 5), strict=True):
                make(store, pages, 2, threads=threads)
        one, two, again = (files_of(store) for store in stores)
        assert one == two == again
        assert len({Graph(store).manifest["id"] for store in stores}) == 1


def test_the_threads_of_a_larger_build_do_not_change_a_byte(place: Path) -> None:
    urls = [f"https://site{i % 29}.example/page/{i}" for i in range(400)]
    pages = [
        page(url, *(urls[(i * k * k + k) % 400] for k in range(1, 9)), *ADDRESSES[i % 9 :: 9])
        for i, url in enumerate(urls)
    ]
    with tight():
        for threads in (1, 4):
            make(place / f"{threads}", pages, 50, threads=threads)
    assert files_of(place / "1") == files_of(place / "4")
    make(place / "loose", pages, 50)
    loose, truth = Graph(place / "loose"), Naive(pages)
    assert_same(loose, truth)
    assert check(place / "loose") == []


@examples(15)
@given(webs)
def test_names_have_one_order_however_they_are_sorted(fast_root: Path, pages: list[Page]) -> None:
    """By Arrow, by a kernel, and by DuckDB."""
    if not Naive(pages).pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        arrow, kernel, duckdb = (Path(folder) / name for name in ("arrow", "kernel", "duckdb"))
        make(arrow, pages)
        with patch.object(number, "FEW_NAMES", 0), limited(sort_names):
            make(kernel, pages)
            with patch.object(sort_names, "BYTES_PER_NAME", 1 << 40):
                make(duckdb, pages)
        assert files_of(arrow) == files_of(kernel) == files_of(duckdb)


@examples(15)
@given(webs, st.integers(1, 12))
def test_addresses_that_were_read_before_change_nothing(fast_root: Path, pages: list[Page], per_batch: int) -> None:
    """Neither the store, nor how many addresses are reported as unusable."""
    pages = pages * 2
    if not Naive(pages).pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        stores, reports = [Path(folder) / name for name in ("each", "once")], [ReadReport(), ReadReport()]
        for store, report, limit in zip(stores, reports, (1 << 40, 0), strict=True):
            with patch.object(names, "PYTHON_ADDRESSES", limit):
                build([Records(pages, per_batch)], store, report, BuildOptions(threads=2))
        assert files_of(stores[0]) == files_of(stores[1])
        assert reports[0].skipped == reports[1].skipped
