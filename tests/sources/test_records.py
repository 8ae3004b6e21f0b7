"""Reports: long texts of the input are shortened."""

from __future__ import annotations

import pytest

from cocite.errors import BadSource
from cocite.sources.records import MAX_EXAMPLE, MAX_REASONS, ReadReport, shorten


def test_long_addresses_are_cut_where_they_are_shown() -> None:
    long = "http://a.example/" + "x" * 3000
    assert shorten(long) == "http://a.example/" + "x" * 82 + "…"
    assert shorten("x" * 100) == "x" * 100
    report = ReadReport()
    report.skip("two", f"{long} on {long}")
    report.skip("words", "word " * 1000)
    assert report.example["two"] == f"{shorten(long)} on {shorten(long)}"
    assert len(report.example["words"]) == MAX_EXAMPLE
    report.skip("bad", long)
    report.skip("bad", "another")
    assert report.example["bad"] == shorten(long)
    with pytest.raises(BadSource) as caught:
        ReadReport(strict=True).skip("bad", long)
    assert len(str(caught.value)) < 200


def test_reasons_are_bounded() -> None:
    report = ReadReport()
    for number in range(MAX_REASONS + 20):
        report.skip(f"reason {number}", "example")
    assert len(report.skipped) == MAX_REASONS + 1
    assert report.skipped["other reasons"] == 20
