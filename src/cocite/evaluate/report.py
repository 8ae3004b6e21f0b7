"""An evaluation as one self-contained HTML page: tables, and Figures 1 and 2 of Dean & Henzinger 1999."""

from collections.abc import Iterator, Mapping, Sequence

from cocite.evaluate import render
from cocite.evaluate.chart import STYLES, ChartCurve, chart, even_axis, log_axis
from cocite.evaluate.evaluation import Evaluation, Table

MAX_POINTS = 300
MAX_ROWS = 1000
"""Queries in the table of costs; `--json` has all."""


def page(
    title: str,
    notes: Sequence[str],
    evaluation: Evaluation,
    in_degree: dict[str, int] | None = None,
    tables: Mapping[str, Table] = {},
) -> str:
    """The whole report; `tables` are more of them, by name."""
    precision = (precision_figure(evaluation, *group) for group in evaluation.groups.items() if group[1])
    figures = {"precision_figures": precision, "time_figures": time_figures(evaluation)}
    about = {"title": title, "notes": notes, "max_rows": MAX_ROWS, "tables": tables}
    return render("report.html", evaluation=evaluation, in_degree=in_degree, **about, **figures) + "\n"


def precision_figure(evaluation: Evaluation, group: str, queries: Sequence[str]) -> str:
    """Fig. 1 of Dean & Henzinger 1999."""
    runs = evaluation.runs[: len(STYLES)]
    curves = [ChartCurve(run.name, evaluation.curve(run, queries)) for run in runs]
    highest = max((value for curve in curves for _, value in curve.points), default=0.0)
    r = even_axis("r", 0, evaluation.depth, evaluation.depth if evaluation.depth <= 10 else 5)
    note = f"{len(queries):,} queries{_of(len(runs), len(evaluation.runs))}"
    return chart(f"Precision at r, {group}", note, curves, r, even_axis("precision", 0, highest))


def _of(drawn: int, total: int) -> str:
    """A note if not all methods are drawn: there are only eight kinds of lines."""
    return f", the first {drawn} of {total} methods" if drawn < total else ""


def time_figures(evaluation: Evaluation) -> Iterator[str]:
    """Fig. 2 of Dean & Henzinger 1999: time against edges, siblings or nodes, a figure for each."""
    curves: dict[str, list[ChartCurve]] = {}
    steps: dict[str, int] = {}
    for run in evaluation.runs:
        what, points = evaluation.times(run)
        if points:
            step = -(-len(points) // MAX_POINTS)
            steps[what] = max(step, steps.get(what, 1))
            curves.setdefault(what, []).append(ChartCurve(run.name, points[::step], joined=False))
    for what, every in curves.items():
        of = every[: len(STYLES)]
        xs, ys = zip(*(point for curve in of for point in curve.points), strict=True)
        marks = "one mark per query" if steps[what] == 1 else f"one mark for every {steps[what]} queries"
        axes = log_axis(what, min(xs), max(xs)), log_axis("milliseconds", min(ys), max(ys))
        yield chart(f"Time against {what}", f"{marks}{_of(len(of), len(every))}", of, *axes)
