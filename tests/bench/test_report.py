"""The report: tables are read as benchmarks print them, and figures are found in their places."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import report
from tables import show

ROWS = [["cocitation", "2,000 or more", "3.00"], ["companion", "2,000 or more", "12.50"]]
RACES = [
    ["SciPy, row of AᵀA", "2,000 or more", "1,500.0", "4.00"],
    ["SciPy, rows of parents", "2,000 or more", "1.50", "3.00"],
]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What a benchmark prints."""
    header = ["links in", "ms, median"]
    show("Methods, one thread, first 10", ["method", *header], ROWS)
    show("Parents in common with every page", ["rival", *header, "cocite, the same"], RACES)
    return capsys.readouterr().out


def test_tables_are_read_as_they_are_printed(printed: str) -> None:
    methods, rivals = report.tables_in(printed)
    assert methods.header == ["method", "links in", "ms, median"]
    assert (methods.rows, rivals.rows) == (ROWS, RACES)
    assert methods.cell("companion & 2,000", "ms, median") == "12.50"
    assert methods.cell("companion & 100", "ms, median") is None


def test_a_line_names_rivals_with_ratios_and_the_one_ahead_in_bold(printed: str) -> None:
    """1,500 / 4 = 375 times as long as we for the same questions; 1.5 / 3 = 0.5, so that one is ahead."""
    lines = report.lines_of({"related": printed})
    assert lines[2] == (
        "| parents in common with every page, for pages with 2,000 or more links in | 3.00 ms | "
        "SciPy, row of AᵀA 1,500.0 (× 375); **SciPy, parents' rows and `np.unique` 1.50 (× 0.5)** |"
    )
    assert lines[3] == "| `cocitation`, which reads windows, pages with 2,000 or more links in | 3.00 ms |  |"
    assert "PageRank" in lines[-1], "what was not measured is said"


def test_where_more_is_better_a_rival_with_more_is_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    """0.12 / 0.18 = 0.67 and 0.27 / 0.18 = 1.5; signs of significance are removed."""
    rows = [["auto", "0.1800 / 0.14 ·"], ["cocitation", "0.1200 / 0.09 ▼"], ["companion", "0.2700 / 0.2 ▲"]]
    show("P@10 / MAP@10; beside auto", ["method", "awesome"], rows)
    lines = report.lines_of({"quality": capsys.readouterr().out})
    assert lines[2].endswith(
        "| 0.1800 / 0.14 | `cocitation` 0.1200 / 0.09 (× 0.67); **`companion` 0.2700 / 0.2 (× 1.5)** |"
    )


def test_a_figure_of_another_day_or_machine_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    """The day and machine of most are said once; an older figure names its own, however it is called."""
    show("PageRank", ["program", "s, best"], [["cocite", "20.0"]])
    ranks = capsys.readouterr().out
    show("Building (from Parquet)", ["program", "M links/s"], [["cocite", "1.10"]])
    today = capsys.readouterr().out
    earlier = today.replace(report.machine(), "AMD EPYC(tm) 7, 64 cores, 9 GiB, Python 3.12.1, 2025-01-31")
    assert report.captions(today) == [report.machine()]
    assert report.when({"build": today}) == report.when({"build": earlier, "ranks": ranks}) == report.machine()
    lines = report.lines_of({"build": earlier, "ranks": ranks})
    old = "standard graph, Parquet → store (AMD EPYC(tm) 7, 64 cores, 9 GiB, Python 3.12.1, 2025-01-31)"
    assert lines[2:4] == [f"| {old} | 1.10 M links/s |  |", "| PageRank of the standard graph | 20.0 s |  |"]


def test_figures_of_a_failed_benchmark_are_skipped(printed: str) -> None:
    lines = report.lines_of({"related": f"{printed}\n{report.FAILED} 1\n"})
    assert lines[2:3] == [""] and "`companion`" in lines[-1]


def test_every_figure_names_a_benchmark_that_is_there() -> None:
    assert {figure.step for figure in report.FIGURES} <= set(report.STEPS)
    for steps in report.STEPS.values():
        for words in steps:
            script = f"{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0]
            assert (report.ROOT / script).exists()


def test_progress_lines_are_not_in_the_tables() -> None:
    lines = (report.ROOT / "docs" / "lab" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith("[")]


def test_the_summary_and_the_readme_have_the_figures_of_the_tables() -> None:
    """Every figure is of a table in docs/lab/benchmarks.md: written again from these, both files stay as they are."""
    outputs = report.kept()
    assert set(outputs) == set(report.STEPS)
    assert report.REPORT.read_text(encoding="utf-8") == report.report_of(outputs)
    readme = (report.ROOT / "README.md").read_text(encoding="utf-8")
    assert report.with_figures(readme, outputs) == readme, "run: python bench/report.py --kept"
    rows = report.lines_of(outputs, readme=True)[2:]
    assert len(rows) == 5 and all(row.startswith("| ") for row in rows), "five figures, and none is missing"
