"""Results in a notebook: a table with reasons, and a drawing of the neighbourhood.

Titles and addresses are untrusted: they are escaped, and there are no scripts, styles or outside files.
Only marks are coloured; text and lines take the notebook's own colour, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

from cocite.results.answer import Answer, Answers
from cocite.results.pictures.neighbourhood import (
    ASKED,
    CITED,
    CITING,
    RELATED,
    Frame,
    Label,
    Node,
    Picture,
    Point,
    curves,
    labels,
    picture_of,
    positions,
    symbol,
)
from cocite.results.present import briefly, lines, linked, one_line

if TYPE_CHECKING:
    from cocite.graph.store import Graph

FILLS = {ASKED: "#0b6e5f", RELATED: "#1d5fb8", CITING: "#8f4e06", CITED: "#7a3fb0"}
LEGEND = {ASKED: "query", RELATED: "related", CITING: "links to several", CITED: "both link to it"}
LEFT = 'style="text-align:left;vertical-align:top"'
MAX_DRAWN_RESULTS = 24


def html(answers: Answers) -> str:
    """A table for a notebook, below a drawing if the store is known."""
    about = escape(
        one_line(f"related to {', '.join(answers.query)} by {answers.method}, {answers.milliseconds:.1f} ms")
    )
    if not len(answers):
        return f"<p>{about}: nothing</p>"
    head = "".join(f"<th {LEFT}>{name}</th>" for name in ("", "page", "score", "why"))
    drawable = answers.graph is not None and answers.used and len(answers) <= MAX_DRAWN_RESULTS
    drawing = svg(answers.graph, answers) if drawable and answers.graph is not None else ""
    rows = "".join(map(_row, answers))
    return f"<div>{drawing}<table><caption {LEFT}>{about}</caption><tr>{head}</tr>{rows}</table></div>"


def comparison_html(by_method: Mapping[str, Answers]) -> str:
    """The results of several methods side by side."""
    head = "".join(f"<th {LEFT}>{escape(one_line(name))}</th>" for name in by_method)
    rows = (
        "".join(f"<td {LEFT}>{_link(some[at]) if at < len(some) else ''}</td>" for some in by_method.values())
        for at in range(max(map(len, by_method.values()), default=0))
    )
    body = "".join(f"<tr><td>{at}</td>{row}</tr>" for at, row in enumerate(rows, 1))
    return f"<table><tr><th></th>{head}</tr>{body}</table>"


def _row(answer: Answer) -> str:
    reasons = "<br>".join(escape(one_line(line)) for line in lines(answer))
    why = f"<details><summary>{escape(one_line(briefly(answer)))}</summary>{reasons}</details>" if reasons else ""
    address = f"<br><small>{escape(one_line(answer.url))}</small>" if one_line(answer.title) else ""
    cells = str(answer.rank), _link(answer) + address, f"{answer.score:g}", why
    return f"<tr>{''.join(f'<td {LEFT}>{cell}</td>' for cell in cells)}</tr>"


def _link(answer: Answer) -> str:
    return linked(answer.url, escape(one_line(answer.title) or one_line(answer.url)))


def svg(graph: Graph, answers: Answers) -> str:
    """The neighbourhood drawn."""
    picture = picture_of(graph, answers)
    rows = (len(answers) + 1) // 2
    frame = Frame("notebook", 960, max(330, 60 * rows + 80), 280, max(120, 30 * rows), 24, 18)
    points = frame.points(positions(picture))
    marks = zip(picture.nodes, points, labels(picture, points, frame, _short_name), strict=True)
    label = f"{len(picture.of(RELATED))} related pages, {len(picture.of(CITING))} pages that link to several of them"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{label}" font-family="sans-serif" font-size="13">'
        f'<g fill="none" stroke="currentColor" stroke-opacity="0.3">{"".join(_curves(picture, points))}</g>'
        f"{''.join(_mark(*each) for each in marks)}{''.join(_legend(picture, frame))}</svg>"
    )


def _short_name(node: Node, chars: int) -> str:
    name = one_line(node.title) or one_line(node.url).removeprefix("https://").removeprefix("http://").rstrip("/")
    return name if len(name) <= chars else name[: chars - 1] + "…"


def _curves(picture: Picture, points: list[Point]) -> Iterator[str]:
    for curve in curves(picture, points):
        dashes = ' stroke-dasharray="2 5"' if curve.unlinked else ""
        yield f'<path d="{curve.path}"{dashes}/>'


def _mark(node: Node, point: Point, label: Label) -> str:
    """A page; its tooltip is the whole title and address."""
    x, y = point
    fill = f'fill="{FILLS[node.kind]}"'
    shapes = {
        ASKED: f'<circle cx="{x:.0f}" cy="{y:.0f}" r="19" {fill}/>',
        RELATED: f'<circle cx="{x:.0f}" cy="{y:.0f}" r="13" {fill}/>',
        CITING: f'<rect x="{x - 10:.0f}" y="{y - 10:.0f}" width="20" height="20" rx="4" {fill}/>',
        CITED: f'<path d="M{x:.0f} {y - 13:.0f}l13 13-13 13-13-13z" {fill}/>',
    }
    tooltip = escape(one_line(f"{node.title} {node.url}"))
    inside = f'<text x="{x:.0f}" y="{y + 4.5:.0f}" text-anchor="middle" fill="#fff">{symbol(node)}</text>'
    beside = f'<text x="{label.x:.0f}" y="{label.y:.0f}" text-anchor="{label.anchor}" fill="currentColor">'
    return f"<g><title>{tooltip}</title>{shapes[node.kind]}{inside}{beside}{escape(label.text)}</text></g>"


def _legend(picture: Picture, frame: Frame) -> Iterator[str]:
    kinds = [kind for kind in LEGEND if picture.of(kind)]
    for at, kind in enumerate(kinds):
        x, y = frame.width / 2 + 130 * (at - (len(kinds) - 1) / 2) - 45, frame.height - 8
        yield f'<circle cx="{x:.0f}" cy="{y - 4}" r="5" fill="{FILLS[kind]}"/>'
        yield f'<text x="{x + 10:.0f}" y="{y}" fill="currentColor" fill-opacity="0.75">{LEGEND[kind]}</text>'
