"""A store in a notebook: what it holds, its most cited pages, and how links are distributed. notebook.html shows it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.text import clean

TOP_PAGES = 10


def html(graph: Graph) -> str:
    """Two tables and two drawings."""
    manifest = {**graph.manifest, "pages": len(graph), "links": len(graph.links)}
    facts = {"store": clean(str(graph.path))}
    facts |= {name: f"{int(manifest.get(name, 0)):,}" for name in ("pages", "links", "sites", "hosts")}
    facts["built"] = clean(str(manifest.get("built", "")))
    popular = [
        {"links": f"{degree:,}", "address": clean(graph.address(page)), "title": clean(graph.title(page))}
        for page in top_indices(graph.in_degree, TOP_PAGES)
        if (degree := int(graph.in_degree[page]))
    ]
    degrees = (("links in", "#1d5fb8", graph.in_degree), ("links out", "#8f4e06", graph.out_degree))
    charts = [{"name": name, "colour": colour, "bars": list(_bars(values))} for name, colour, values in degrees]
    template = Environment(loader=PackageLoader("cocite.graph", "."), autoescape=True).get_template("notebook.html")
    return template.render(facts=facts, charts=charts, popular=popular)


def _bars(degrees: NDArray[np.uint32]) -> Iterator[dict[str, Any]]:
    """A histogram of pages by number of links: 0, 1, 2–3, 4–7 and so on; heights are logarithms, from 0 to 1."""
    bins = np.bincount(np.frexp(degrees)[1]) if len(degrees) else np.zeros(1, np.int64)
    heights = np.log1p(bins) / (np.log1p(bins.max()) or 1.0)
    for at, (pages, height) in enumerate(zip(bins.tolist(), heights.tolist(), strict=True)):
        low = (1 << at) >> 1
        links = str(low) if at < 2 else f"{low:,} to {2 * low - 1:,}"
        label = f"{low >> 20}M" if low >= 1 << 20 else f"{low >> 10}k" if low >= 1 << 10 else str(low)
        yield {"title": f"{pages:,} pages with {links}", "height": height, "label": label}


def top_indices(values: NDArray[Any], count: int) -> list[int]:
    """The places of the `count` largest values, the largest first, of equals the first.

    >>> top_indices(np.array([3, 9, 3, 0, 3]), 3)
    [1, 0, 2]
    """
    count = min(count, len(values))
    if not count:
        return []
    smallest = np.partition(values, len(values) - count)[len(values) - count]
    candidates = np.flatnonzero(values >= smallest)
    order: list[int] = candidates[np.argsort(-values[candidates].astype(np.int64), kind="stable")].tolist()
    return order[:count]
