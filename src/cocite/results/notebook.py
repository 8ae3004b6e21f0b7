"""Answers in a notebook: a table with reasons, and a drawing of the neighbourhood.

Titles and addresses come from strangers: they are escaped, nothing is a script or a style sheet, and nothing is loaded.
Colours are given with marks only: text and lines have the colour of the notebook, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from cocite.results.answer import Answer, Answers
from cocite.results.picture import ASKED, CITED, CITING, RELATED, Node, Picture, picture_of, places
from cocite.results.picture_layout import Frame, Name, Spot, curves, names, sign
from cocite.results.present import briefly, lines, linked, one_line

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.results.compare import Comparison

FILLS = {ASKED: "#0b6e5f", RELATED: "#1d5fb8", CITING: "#8f4e06", CITED: "#7a3fb0"}
KEY = {ASKED: "asked about", RELATED: "related", CITING: "cites them", CITED: "both link to it"}
LEFT = 'style="text-align:left;vertical-align:top"'
DRAWN = 24
"""Answers up to which a drawing can be read."""


def html(answers: Answers) -> str:
    """A table for a notebook, after a drawing if the answers know their graph."""
    about = escape(
        one_line(f"related to {', '.join(answers.query)} by {answers.method}, {answers.milliseconds:.1f} ms")
    )
    if not len(answers):
        return f"<p>{about}: nothing</p>"
    head = "".join(f"<th {LEFT}>{name}</th>" for name in ("", "page", "score", "why"))
    rows = "".join(map(_row, answers))
    drawing = (
        svg(answers.graph, answers) if answers.graph is not None and answers.used and len(answers) <= DRAWN else ""
    )
    return f"<div>{drawing}<table><caption {LEFT}>{about}</caption><tr>{head}</tr>{rows}</table></div>"


def comparison(found: Comparison) -> str:
    """The answers of methods side by side."""
    head = "".join(f"<th {LEFT}>{escape(one_line(name))}</th>" for name in found.by_method)
    most = max(map(len, found.by_method.values()), default=0)
    rows = (
        "".join(f"<td {LEFT}>{_link(some[at]) if at < len(some) else ''}</td>" for some in found.by_method.values())
        for at in range(most)
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
    spots = frame.spots(places(picture))
    marks = zip(picture.nodes, spots, names(picture, spots, frame, _called), strict=True)
    label = f"{len(picture.of(RELATED))} related pages, and {len(picture.of(CITING))} pages that cite several of them"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{label}" font-family="sans-serif" font-size="13">'
        f'<g fill="none" stroke="currentColor" stroke-opacity="0.3">{"".join(_curves(picture, spots))}</g>'
        f"{''.join(_mark(*each) for each in marks)}{''.join(_key(picture, frame))}</svg>"
    )


def _called(node: Node, longest: int) -> str:
    name = one_line(node.title) or one_line(node.url).removeprefix("https://").removeprefix("http://").rstrip("/")
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _curves(picture: Picture, spots: list[Spot]) -> Iterator[str]:
    for curve in curves(picture, spots):
        yield f'<path d="{curve.path}"{" stroke-dasharray=" + chr(34) + "2 5" + chr(34) if curve.apart else ""}/>'


def _mark(node: Node, spot: Spot, name: Name) -> str:
    """A page: what the mouse rests on shows its whole title and address."""
    x, y = spot
    fill = f'fill="{FILLS[node.kind]}"'
    shapes = {
        ASKED: f'<circle cx="{x:.0f}" cy="{y:.0f}" r="19" {fill}/>',
        RELATED: f'<circle cx="{x:.0f}" cy="{y:.0f}" r="13" {fill}/>',
        CITING: f'<rect x="{x - 10:.0f}" y="{y - 10:.0f}" width="20" height="20" rx="4" {fill}/>',
        CITED: f'<path d="M{x:.0f} {y - 13:.0f}l13 13-13 13-13-13z" {fill}/>',
    }
    told = escape(one_line(f"{node.title} {node.url}"))
    inside = f'<text x="{x:.0f}" y="{y + 4.5:.0f}" text-anchor="middle" fill="#fff">{sign(node)}</text>'
    beside = f'<text x="{name.x:.0f}" y="{name.y:.0f}" text-anchor="{name.anchor}" fill="currentColor">'
    return f"<g><title>{told}</title>{shapes[node.kind]}{inside}{beside}{escape(name.text)}</text></g>"


def _key(picture: Picture, frame: Frame) -> Iterator[str]:
    kinds = [kind for kind in KEY if picture.of(kind)]
    for at, kind in enumerate(kinds):
        x, y = frame.width / 2 + 130 * (at - (len(kinds) - 1) / 2) - 45, frame.height - 8
        yield f'<circle cx="{x:.0f}" cy="{y - 4}" r="5" fill="{FILLS[kind]}"/>'
        yield f'<text x="{x + 10:.0f}" y="{y}" fill="currentColor" fill-opacity="0.75">{KEY[kind]}</text>'
