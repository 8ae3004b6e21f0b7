"""A store in a notebook: what it holds, its most cited pages, and how links are spread. No script, no style sheet."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cocite.graph.store import Graph

TOP = 10
LEFT = 'style="text-align:left"'
WIDTH, HEIGHT, BAR = 300, 120, 18
BLUE, BROWN = "#1d5fb8", "#8f4e06"


def html(graph: Graph) -> str:
    """Two tables and two drawings."""
    manifest = graph.manifest
    facts = {
        "store": str(graph.path), "pages": f"{graph.pages:,}", "links": f"{graph.links:,}",
        "sites": f"{int(manifest.get('sites', 0)):,}", "hosts": f"{int(manifest.get('hosts', 0)):,}",
        "built": str(manifest.get("built", "")),
    }  # fmt: skip
    cells = ((name, escape(_line(value))) for name, value in facts.items())
    rows = "".join(f"<tr><th {LEFT}>{name}</th><td {LEFT}>{value}</td></tr>" for name, value in cells)
    drawn = bars("links in", graph.in_degree, BLUE) + bars("links out", graph.out_degree, BROWN)
    return f"<div><table>{rows}</table>{drawn}{most_cited(graph)}</div>"


def most_cited(graph: Graph) -> str:
    """The pages with the most links in."""
    degrees = graph.in_degree
    order = [page for page in largest(degrees, TOP) if degrees[page]]
    titled = any(graph.title(page) for page in order)
    rows = "".join(
        f"<tr><td>{int(degrees[page]):,}</td><td {LEFT}>{escape(_line(graph.address(page)))}</td>"
        f"{f'<td {LEFT}>{escape(_line(graph.title(page)))}</td>' if titled else ''}</tr>"
        for page in order
    )
    head = f"<tr><th>links in</th><th {LEFT}>page</th>{f'<th {LEFT}>title</th>' if titled else ''}</tr>"
    return f"<table>{head}{rows}</table>" if rows else ""


def bars(name: str, degrees: NDArray[np.uint32], colour: str) -> str:
    """A histogram of pages by number of links: 0, 1, 2–3, 4–7 and so on; heights are logarithms."""
    bins = np.bincount(np.frexp(degrees)[1]) if len(degrees) else np.zeros(1, np.int64)
    width = max(WIDTH, BAR * len(bins) + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 50}" width="{width}" role="img" '
        f'aria-label="pages by {name}" font-family="sans-serif" font-size="10">{"".join(_bars(bins, colour))}'
        f'<text x="10" y="{HEIGHT + 44}" font-size="12" fill="currentColor">pages by {name}, logarithmic</text></svg>'
    )


def _bars(bins: NDArray[np.int64], colour: str) -> Iterator[str]:
    tallest = float(np.log1p(bins.max())) or 1.0
    for at, pages in enumerate(bins.tolist()):
        high, x = HEIGHT * float(np.log1p(pages)) / tallest, 10 + BAR * at
        least = 0 if at == 0 else 1 << (at - 1)
        between = str(least) if at < 2 else f"{least:,} to {2 * least - 1:,}"
        yield f'<g><title>{pages:,} pages with {between}</title><rect x="{x}" y="{HEIGHT + 12 - high:.1f}" '
        yield f'width="{BAR - 3}" height="{high:.1f}" fill="{colour}"/></g>'
        if at % 3 == 0 or len(bins) < 8:
            yield f'<text x="{x + BAR / 2 - 1.5}" y="{HEIGHT + 25}" text-anchor="middle" fill="currentColor">'
            yield f"{_short(least)}</text>"


def _short(number: int) -> str:
    """A power of two in a few characters."""
    for size, mark in ((1 << 20, "M"), (1 << 10, "k")):
        if number >= size:
            return f"{number // size}{mark}"
    return str(number)


def _line(text: str) -> str:
    """Text on one line, without characters that cannot be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def largest(values: NDArray[Any], count: int) -> list[int]:
    """Where the `count` largest values stand, the largest first, of equals the first.

    >>> largest(np.array([3, 9, 3, 0, 3]), 3)
    [1, 0, 2]
    """
    count = min(count, len(values))
    if not count:
        return []
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    order: list[int] = above[np.argsort(-values[above].astype(np.int64), kind="stable")].tolist()
    return order + [int(each) for each in np.flatnonzero(values == least)[: count - len(above)]]
