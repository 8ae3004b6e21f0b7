"""Reports: what they keep of strangers' texts."""

from __future__ import annotations

import pytest

from cocite.errors import BadSource
from cocite.sources.records import LONGEST_EXAMPLE, MOST_REASONS, ReadReport, cut, shown


def test_long_addresses_are_cut_where_they_are_shown() -> None:
    long = "http://a.example/" + "x" * 3000
    assert cut(long) == "http://a.example/" + "x" * 82 + "…"
    assert cut("x" * 100) == "x" * 100
    assert shown(f"{long} on {long}") == f"{cut(long)} on {cut(long)}"
    assert len(shown("word " * 1000)) == LONGEST_EXAMPLE
    report = ReadReport()
    report.skip("bad", long)
    report.skip("bad", "another")
    assert report.example == {"bad": cut(long)}
    with pytest.raises(BadSource) as caught:
        ReadReport(strict=True).skip("bad", long)
    assert len(str(caught.value)) < 200


def test_reasons_are_bounded() -> None:
    report = ReadReport()
    for number in range(MOST_REASONS + 20):
        report.skip(f"reason {number}", "example")
    assert len(report.skipped) == MOST_REASONS + 1
    assert report.skipped["other reasons"] == 20
