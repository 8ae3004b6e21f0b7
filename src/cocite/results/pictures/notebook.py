"""Results in a notebook: a table with reasons, and a drawing of the neighbourhood.

There are no scripts, styles or outside files. Only marks are coloured; text and lines take the notebook's own colour,
light or dark.
"""

from collections import Counter
from collections.abc import Mapping

from cocite.graph.store import Graph
from cocite.results.answer import Answers
from cocite.results.pictures import render
from cocite.results.pictures.neighbourhood import CITED, CITING, QUERY, RELATED, Node, picture_of, positions
from cocite.results.present import briefly, lines
from cocite.text import clean

KINDS_DRAWN = {
    QUERY: ("#0b6e5f", "query"), RELATED: ("#1d5fb8", "related"), CITING: ("#8f4e06", "links to several"),
    CITED: ("#7a3fb0", "both link to it"),
}  # fmt: skip
"""Colour and legend of each kind of page."""
MAX_DRAWN_RESULTS = 24
DRAWING_WIDTH, ROW_PIXELS, LEGEND_PIXELS = 960, 30, 40
COLUMN_EDGES = ((12, 250), (350, 610), (710, 950))
"""Where each column begins and ends: a name of 30 characters takes up to 220."""
NAME_CHARS = 30


def html(answers: Answers) -> str:
    """A table for a notebook, below a drawing if the store is known."""
    drawable = answers.graph is not None and answers.used and 0 < len(answers) <= MAX_DRAWN_RESULTS
    drawing = svg(answers.graph, answers) if drawable and answers.graph is not None else ""
    return render("answers.html", answers=answers, drawing=drawing, briefly=briefly, lines=lines)


def comparison_html(by_method: Mapping[str, Answers]) -> str:
    """The results of several methods side by side."""
    return render("comparison.html", by_method=by_method, rows=range(max(map(len, by_method.values()), default=0)))


def svg(graph: Graph, answers: Answers) -> str:
    """The neighbourhood drawn: query pages, lists and related pages in three columns."""
    picture = picture_of(graph, answers)
    places = positions(picture)
    height = ROW_PIXELS * max(Counter(place.column for place in places).values()) + LEGEND_PIXELS
    nodes = [
        (node, *COLUMN_EDGES[place.column], (height - LEGEND_PIXELS) * place.height, _short_name(node, NAME_CHARS))
        for node, place in zip(picture.nodes, places, strict=True)
    ]
    joined = [
        (*sorted(pair, key=lambda at: places[at].column), pair in picture.by_name)
        for pair in (*picture.links, *picture.by_name)
    ]
    lines = [(start, end, named) for start, end, named in joined if places[end].column - places[start].column == 1]
    kinds = {kind: about for kind, about in KINDS_DRAWN.items() if picture.of(kind)}
    return render(
        "neighbourhood.svg", picture=picture, width=DRAWING_WIDTH, height=height, nodes=nodes, lines=lines, kinds=kinds
    )


def _short_name(node: Node, chars: int) -> str:
    name = clean(node.title) or clean(node.url).removeprefix("https://").removeprefix("http://").rstrip("/")
    return name if len(name) <= chars else name[: chars - 1] + "…"
