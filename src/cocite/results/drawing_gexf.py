"""The base set of a question for communities as GEXF 1.3, which Gephi, NetworkX and others read.

Every page of the base set is a node, noise too, with the community to which it belongs and its weights there; links are
those that counted. Places and colours are given: a community above the next, hubs on the left, authorities on the
right, noise beyond them in grey; so the file looks like something before any layout is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from cocite.results.communities import CommunitiesFound
from cocite.results.naming import Titles
from cocite.results.present import one_line

COLOURS = ((11, 98, 196), (168, 72, 10), (15, 122, 77), (132, 54, 184), (179, 36, 90), (95, 108, 0))
GREY, PALE = (120, 128, 136), (190, 196, 202)
ATTRIBUTES = {
    "url": "string",
    "community": "string",
    "keywords": "string",
    "hub": "double",
    "authority": "double",
    "root": "boolean",
    "noise": "boolean",
    "measure": "double",
}
WIDTH, ROW = 400.0, 24.0
NOISE, NOBODY = -1, -2


class Place(NamedTuple):
    """What a page is in its own community, or that it has none."""

    community: int  # by its place among those shown; NOISE, or NOBODY
    hub: float
    authority: float
    x: float
    y: float


def gexf(found: CommunitiesFound) -> str:
    """The whole file."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">',
            f"<meta><creator>cocite</creator><description>{_about(found)}</description></meta>",
            '<graph mode="static" defaultedgetype="directed">',
            '<attributes class="node" mode="static">',
            *(f'<attribute id="{name}" title="{name}" type="{kind}"/>' for name, kind in ATTRIBUTES.items()),
            "</attributes>",
            "<nodes>",
            *_nodes(found),
            "</nodes>",
            "<edges>",
            *_edges(found),
            "</edges>",
            "</graph>",
            "</gexf>\n",
        ]
    )


def _about(found: CommunitiesFound) -> str:
    return escape("communities: " + one_line(found.query or ", ".join(found.pages))[:1000])


def _nodes(found: CommunitiesFound) -> Iterator[str]:
    base, titles = found.found.base, Titles(found.found.base.view.graph)
    places = _places(found)
    heights: dict[int, float] = {}
    for page, root, measure in zip(
        base.edges.pages.tolist(), base.root.tolist(), base.measured.measure.tolist(), strict=True
    ):
        place = places.get(page)
        if place is None:  # noise, or of no community: a column of its own
            kind = NOISE if page in found.left_out else NOBODY
            heights[kind] = heights.get(kind, 0.0) - ROW
            place = Place(kind, 0.0, 0.0, WIDTH * (3 if kind == NOISE else 2), heights[kind])
        shown = found[place.community] if place.community >= 0 else None
        url = base.view.graph.address(page)
        values = {
            "url": one_line(url),
            "community": shown.name if shown else "",
            "keywords": ", ".join(map(one_line, shown.keywords)) if shown else "",
            "hub": f"{place.hub:.6g}",
            "authority": f"{place.authority:.6g}",
            "root": str(root).lower(),
            "noise": str(place.community == NOISE).lower(),
            "measure": f"{measure:.6g}",
        }
        told = "".join(f'<attvalue for="{name}" value={quoteattr(value)}/>' for name, value in values.items())
        label = quoteattr(one_line(titles.of(page)) or values["url"])
        yield f'<node id="{page}" label={label}><attvalues>{told}</attvalues>{_seen(place)}</node>'


def _seen(place: Place) -> str:
    """Colour, size and place."""
    red, green, blue = {NOISE: GREY, NOBODY: PALE}.get(place.community) or COLOURS[place.community % len(COLOURS)]
    size = 4 + 16 * sqrt(min(1.0, max(place.hub, place.authority)))
    return (
        f'<viz:color r="{red}" g="{green}" b="{blue}"/><viz:size value="{size:.2f}"/>'
        f'<viz:position x="{place.x:.1f}" y="{place.y:.1f}" z="0.0"/>'
    )


def _places(found: CommunitiesFound) -> dict[int, Place]:
    """Where the pages of each community stand: the best at the top of its column."""
    by_name = {(each.vector, each.end): each for each in found.found}
    places: dict[int, Place] = {}
    top = 0.0
    for number, shown in enumerate(found):
        community = by_name[(shown.vector, 1 if shown.end == "positive" else -1)]
        weights = [
            dict(zip(side.pages.tolist(), side.weights.tolist(), strict=True))
            for side in (community.hubs, community.authorities)
        ]
        columns: tuple[list[int], list[int]] = ([], [])
        for page in community.members.tolist():
            columns[weights[1].get(page, 0.0) >= weights[0].get(page, 0.0)].append(page)
        for side, column in enumerate(columns):
            column.sort(key=lambda page: (-weights[side].get(page, 0.0), page))
            for at, page in enumerate(column):
                hub, authority = (each.get(page, 0.0) for each in weights)
                places[page] = Place(number, hub, authority, (side - 0.5) * 2 * WIDTH, top - at * ROW)
        top -= (max(map(len, columns)) + 3) * ROW
    return places


def _edges(found: CommunitiesFound) -> Iterator[str]:
    edges = found.found.base.edges
    sources = edges.pages[np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts))]
    for number, (source, target) in enumerate(zip(sources.tolist(), edges.pages[edges.ends].tolist(), strict=True)):
        yield f'<edge id="{number}" source="{source}" target="{target}"/>'
