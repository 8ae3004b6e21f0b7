"""Pictures as GEXF 1.3, which Gephi and NetworkX read: pages with attributes, positions, sizes and colours."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cocite.results.answer import Answers
from cocite.results.naming import titles_of
from cocite.results.pictures import render
from cocite.results.pictures.neighbourhood import CITED, CITING, QUERY, RELATED, Picture, positions

if TYPE_CHECKING:
    from cocite.operations.words.communities import CommunitiesFound

Colour = tuple[int, int, int]
PICTURE_ATTRIBUTES = {"url": "string", "kind": "string", "rank": "integer", "score": "double"}
KIND_COLOURS: dict[str, Colour] = {
    QUERY: (11, 110, 95), RELATED: (11, 98, 196), CITING: (168, 98, 10), CITED: (132, 54, 184),
}  # fmt: skip
KIND_SIZES = {QUERY: 24, RELATED: 14, CITING: 9, CITED: 9}
PICTURE_WIDTH, PICTURE_HEIGHT = 1000.0, 640.0
COMMUNITY_ATTRIBUTES = {
    "url": "string", "community": "string", "keywords": "string", "hub": "double", "authority": "double",
    "root": "boolean", "noise": "boolean", "measure": "double",
}  # fmt: skip
COMMUNITY_COLOURS: tuple[Colour, ...] = (
    (11, 98, 196), (168, 72, 10), (15, 122, 77), (132, 54, 184), (179, 36, 90), (95, 108, 0),
)  # fmt: skip
NOISE_COLOUR, NO_COMMUNITY_COLOUR = (120, 128, 136), (190, 196, 202)
COLUMN_WIDTH, ROW_HEIGHT = 400.0, 24.0


class GexfNode(NamedTuple):
    """One node: its values are those of the file's attributes."""

    id: int
    title: str
    values: Mapping[str, str]
    colour: Colour
    size: float
    x: float
    y: float


def picture_gexf(answers: Answers, picture: Picture) -> str:
    """The picture of a result."""
    nodes = []
    for number, (node, at) in enumerate(zip(picture.nodes, positions(picture), strict=True)):
        values = {"url": node.url, "kind": node.kind, "rank": str(node.rank), "score": f"{node.score:.6g}"}
        colour, size = KIND_COLOURS[node.kind], KIND_SIZES[node.kind]
        x, y = PICTURE_WIDTH * at.column / 2, -PICTURE_HEIGHT * at.height
        nodes.append(GexfNode(number, node.title, values, colour, size, x, y))
    about = f"related to {', '.join(answers.query)} by {answers.method}"
    return render("graph.gexf", about=about, attributes=PICTURE_ATTRIBUTES, nodes=nodes, edges=picture.links)


def communities_gexf(found: "CommunitiesFound") -> str:
    """The base set of communities: every page, noise pages too, and the links that counted."""
    edges = found.found.base.edges
    sources = edges.pages[np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts))]
    links = zip(sources.tolist(), edges.pages[edges.ends].tolist(), strict=True)
    about = "communities: " + (found.query or ", ".join(found.pages))
    return render("graph.gexf", about=about, attributes=COMMUNITY_ATTRIBUTES, nodes=_base_set(found), edges=links)


class Membership(NamedTuple):
    """A page's place in the community to which it belongs."""

    community: int  # index among those shown
    hub: float
    authority: float
    x: float
    y: float


def _base_set(found: "CommunitiesFound") -> Iterator[GexfNode]:
    """Each page in the column of its community; noise and pages without a community in columns further right."""
    base, titles = found.found.base, titles_of(found.found.base.view.graph)
    memberships = _memberships(found)
    heights = {True: 0.0, False: 0.0}
    pages = zip(base.edges.pages.tolist(), base.root.tolist(), base.measured.measure.tolist(), strict=True)
    for page, root, measure in pages:
        own, noise = memberships.get(page), False
        if own is None:
            noise = page in found.left_out
            heights[noise] -= ROW_HEIGHT
            own = Membership(-1, 0.0, 0.0, COLUMN_WIDTH * (3 if noise else 2), heights[noise])
            colour, name, keywords = NOISE_COLOUR if noise else NO_COMMUNITY_COLOUR, "", ""
        else:
            shown = found[own.community]
            colour = COMMUNITY_COLOURS[own.community % len(COMMUNITY_COLOURS)]
            name, keywords = shown.name, ", ".join(shown.keywords)
        hub, authority, by_root = (f"{number:.6g}" for number in (own.hub, own.authority, measure))
        texts = (titles.address(page), name, keywords, hub, authority, str(root).lower(), str(noise).lower(), by_root)
        values = dict(zip(COMMUNITY_ATTRIBUTES, texts, strict=True))
        size = 4 + 16 * sqrt(min(1.0, max(own.hub, own.authority)))
        yield GexfNode(page, titles.of(page), values, colour, size, own.x, own.y)


def _memberships(found: "CommunitiesFound") -> dict[int, Membership]:
    """One community below the other: hubs in the left column, authorities in the right one, the best at the top."""
    by_vector = {(each.vector, each.end): each for each in found.found}
    memberships: dict[int, Membership] = {}
    top = 0.0
    for number, shown in enumerate(found):
        community = by_vector[(shown.vector, 1 if shown.end == "positive" else -1)]
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
                x, y = (side - 0.5) * 2 * COLUMN_WIDTH, top - at * ROW_HEIGHT
                memberships[page] = Membership(number, hub, authority, x, y)
        top -= (max(map(len, columns)) + 3) * ROW_HEIGHT
    return memberships
