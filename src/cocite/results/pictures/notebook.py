"""Results in a notebook: a table with reasons, and a drawing of the neighbourhood.

There are no scripts, styles or outside files. Only marks are coloured; text and lines take the notebook's own colour,
light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cocite.results.answer import Answers
from cocite.results.pictures import render
from cocite.results.pictures.neighbourhood import (
    CITED,
    CITING,
    QUERY,
    RELATED,
    Frame,
    Node,
    curves,
    labels,
    picture_of,
    positions,
    symbol,
)
from cocite.results.present import briefly, lines
from cocite.text import clean

if TYPE_CHECKING:
    from cocite.graph.store import Graph

KINDS_DRAWN = {
    QUERY: ("#0b6e5f", "query"), RELATED: ("#1d5fb8", "related"), CITING: ("#8f4e06", "links to several"),
    CITED: ("#7a3fb0", "both link to it"),
}  # fmt: skip
"""Colour and legend of each kind of page."""
MAX_DRAWN_RESULTS = 24


def html(answers: Answers) -> str:
    """A table for a notebook, below a drawing if the store is known."""
    drawable = answers.graph is not None and answers.used and 0 < len(answers) <= MAX_DRAWN_RESULTS
    drawing = svg(answers.graph, answers) if drawable and answers.graph is not None else ""
    return render("answers.html", answers=answers, drawing=drawing, briefly=briefly, lines=lines)


def comparison_html(by_method: Mapping[str, Answers]) -> str:
    """The results of several methods side by side."""
    return render("comparison.html", by_method=by_method, rows=range(max(map(len, by_method.values()), default=0)))


def svg(graph: Graph, answers: Answers) -> str:
    """The neighbourhood drawn."""
    picture, rows = picture_of(graph, answers), (len(answers) + 1) // 2
    frame = Frame("notebook", 960, max(330, 60 * rows + 80), 280, max(120, 30 * rows), 24, 18)
    points = frame.points(positions(picture))
    marks = zip(picture.nodes, points, labels(picture, points, frame, _short_name), strict=True)
    kinds = {kind: about for kind, about in KINDS_DRAWN.items() if picture.of(kind)}
    lines = curves(picture, points)
    return render(
        "neighbourhood.svg", picture=picture, frame=frame, curves=lines, marks=marks, kinds=kinds, symbol=symbol
    )


def _short_name(node: Node, chars: int) -> str:
    name = clean(node.title) or clean(node.url).removeprefix("https://").removeprefix("http://").rstrip("/")
    return name if len(name) <= chars else name[: chars - 1] + "…"
