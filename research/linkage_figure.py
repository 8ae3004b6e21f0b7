"""Fig. 4 of Hou & Zhang 2003 for any page: bcp, dd and sim of some siblings, drawn as SVG."""

from __future__ import annotations

from cocite.evaluate.chart import ChartCurve, chart, even_axis, named_axis
from research.latent_linkage import LinkageExperiment, LinkageSide

CURVES = {"bcp": "bcp, share of merged {}", "dd": "dd, drift degree", "sim": "sim, similarity by LLI"}


def draw(experiment: LinkageExperiment, count: int = 10, least: int = 2, forward: bool = False) -> str:
    """An SVG picture of up to `count` pages, evenly spaced among those with `least` merged parents in common.

    Most pages share only one parent with the query page, and bcp can't distinguish these: hence `least`.
    """
    side = experiment.forward if forward else experiment.back
    rows = [experiment.row(side, at) for at in side.spread(count, least)]
    pages, groups = _words(side)
    curves = []
    for name, label in CURVES.items():
        values = [float(getattr(row, name)) for row in rows]
        points = [(at + 0.5, value) for at, value in enumerate(values)]
        says = [f"P{at}: {name} {value:.3f}" for at, value in enumerate(values, 1)]
        curves.append(ChartCurve(label.format(groups), points, says))
    return chart(
        experiment.used,
        f"{len(side.pages)} {pages}, {len(side.groups)} merged {groups}, ε = {experiment.epsilon:g}, k = {side.k}",
        curves,
        named_axis(f"{pages}, by bcp, then dd", [f"P{number}" for number in range(1, len(rows) + 1)]),
        even_axis("value", 0, 1),
        [(f"P{number}", row.address.split("://")[-1].rstrip("/")) for number, row in enumerate(rows, 1)],
    )


def _words(side: LinkageSide) -> tuple[str, str]:
    """What the rows and columns of a side's matrix are called."""
    return ("siblings", "parents") if side.name == "back" else ("spouses", "children")
