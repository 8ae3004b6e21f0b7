"""An evaluation as one self-contained HTML page: tables, and Figures 1 and 2 of Dean & Henzinger 1999."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from cocite.evaluate.chart import STYLES, ChartCurve, chart, even_axis, log_axis
from cocite.evaluate.evaluation import Evaluation, Table

MAX_POINTS = 300
MAX_ROWS = 1000
"""Queries in the table of costs; `--json` has all."""
STYLE = """
:root{color-scheme:light dark;--ink:#24292f;--paper:#fff;--line:#d0d7de;--pale:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--ink:#d7dde4;--paper:#14181d;--line:#3a424b;--pale:#1b2027}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:2rem auto;
padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
th,td{border-bottom:1px solid var(--line);padding:.25rem .7rem;text-align:right;white-space:nowrap}
.name{text-align:left}
thead th{background:var(--pale)}
.figure{overflow-x:auto;margin:.5rem 0 1.5rem}
svg{max-width:100%;min-width:34rem;height:auto}
h2{margin-top:2rem}
"""


def page(title: str, notes: Sequence[str], evaluation: Evaluation, in_degree: dict[str, int] | None = None) -> str:
    """The whole report."""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE}</style>",
            f"<h1>{escape(title)}</h1>",
            *(f"<p>{escape(note)}</p>" for note in notes),
            *_sections(evaluation, in_degree),
            "</html>\n",
        ]
    )


def _sections(evaluation: Evaluation, in_degree: dict[str, int] | None) -> Iterator[str]:
    runs, judged = evaluation.runs, len(evaluation.judgements)
    for group, table in evaluation.table_5().items():
        yield f"<h2>{escape(group[:1].upper() + group[1:])}</h2>{table_as_html(table)}"
    yield "<h2>Precision at r</h2>"
    for group, queries in evaluation.groups.items():
        if queries:
            yield f'<div class="figure">{precision_figure(evaluation, group, queries)}</div>'
    if len(runs) > 1 and len(evaluation.rated) > 1:
        yield "<h2>Is the difference significant?</h2>"
        yield "<p>Average precision on the same queries; p-values are two-sided.</p>"
        yield table_as_html(evaluation.table_paired(), names=3)
        yield "<h2>Is it better? Tests of 1999</h2>"
        yield "<p>AP 1999 of all queries of a group; one-sided p-values, small if the first method is better.</p>"
        yield table_as_html(evaluation.table_6(), names=3)
    if len(runs) > 1:
        yield f"<h2>Results in common</h2>{table_as_html(evaluation.table_7())}"
    yield f"<h2>Results and ratings</h2>{table_as_html(evaluation.table_3())}"
    if any(run.milliseconds for run in runs):
        yield f"<h2>Cost of a query (medians)</h2>{table_as_html(evaluation.table_4(in_degree))}"
        if in_degree:
            which = f", the first {MAX_ROWS:,} of {judged:,}" if judged > MAX_ROWS else ""
            table = evaluation.table_4_by_query(in_degree, MAX_ROWS)
            yield f"<details><summary>Query by query{which}</summary>{table_as_html(table)}</details>"
    yield from (f'<div class="figure">{figure}</div>' for figure in time_figures(evaluation))


def table_as_html(table: Table, names: int = 1) -> str:
    """A table; the first `names` columns are text, the others numbers."""
    head, rows = table

    def cells(kind: str, row: Sequence[object]) -> str:
        marks = (' class="name"' if at < names else "" for at in range(len(row)))
        of = (f"<{kind}{mark}>{escape(str(cell))}</{kind}>" for mark, cell in zip(marks, row, strict=True))
        return f"<tr>{''.join(of)}</tr>"

    body = "".join(cells("td", row) for row in rows)
    return f"<table><thead>{cells('th', head)}</thead><tbody>{body}</tbody></table>"


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
        yield chart(
            f"Time against {what}",
            f"{marks}{_of(len(of), len(every))}",
            of,
            log_axis(what, min(xs), max(xs)),
            log_axis("milliseconds", min(ys), max(ys)),
        )
