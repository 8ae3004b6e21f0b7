"""The report: tables are read as benchmarks print them, and figures are found where they stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import report
from tables import show

ROWS = [["cocitation", "2,000 or more", "3.00"], ["companion", "2,000 or more", "12.50"]]
RACES = [["SciPy, row of AᵀA", "2,000 or more", "1,500.0"], ["SciPy, rows of parents", "2,000 or more", "1.50"]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What a benchmark prints."""
    header = ["links in", "ms, median"]
    show("Methods, one thread, first 10", ["method", *header], ROWS)
    show("Parents in common with every page", ["rival", *header], RACES)
    return capsys.readouterr().out


def test_tables_are_read_as_they_are_printed(printed: str) -> None:
    methods, rivals = report.tables_in(printed)
    assert methods.header == ["method", "links in", "ms, median"]
    assert (methods.rows, rivals.rows) == (ROWS, RACES)
    assert methods.cell("companion & 2,000", "ms, median") == "12.50"
    assert methods.cell("companion & 100", "ms, median") is None


def test_a_line_names_rivals_with_ratios_and_the_one_ahead_in_bold(printed: str) -> None:
    """1,500 / 3 = 500 times as long; 1.5 / 3 = 0.5, so that one is ahead."""
    lines = report.lines_of({"related": printed})
    assert lines[2] == (
        "| `cocitation`, pages with 2,000 or more links in | 3.00 ms | SciPy, row of AᵀA 1,500.0 (× 500); "
        "**SciPy, parents' rows and `np.unique` 1.50 (× 0.5)** |"
    )
    assert "PageRank" in lines[-1], "what was not measured is said"


def test_every_figure_names_a_benchmark_that_is_there() -> None:
    assert {figure.step for figure in report.FIGURES} <= set(report.STEPS)
    for steps in report.STEPS.values():
        assert all((report.ROOT / words[0]).exists() for words in steps)
