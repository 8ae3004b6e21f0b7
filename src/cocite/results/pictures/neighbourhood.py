"""A picture of the neighbourhood of a result: the query pages, the related pages, and pages linked with both.

A few linking pages are shown: pages that link to both kinds ("citing"), and pages to which both kinds link ("cited").
They are chosen so that every related page is linked with something; short lists come before long ones.

Query pages are drawn in the middle, with related pages around them. Related pages that share linking pages are
neighbours: their order is the angle in the plane of the second and third singular vectors of the link matrix.
Linking pages are drawn on a ring in between, near the pages with which they are linked.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, log2, pi, sin, sqrt
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.results.answer import Answers
from cocite.results.naming import titles_of

QUERY, RELATED, CITING, CITED = "asked", "related", "citing", "cited"
MAX_CITING_PAGES = 8
"""A third as many cited pages are shown."""
PARENTS_OF_QUERY, PARENTS_OF_RESULT = 300, 20
"""In-links of a query page, and of a result, that are considered as citing pages."""
MAX_LINKS = 20_000
"""Pages with more out-links are ignored: they link to everything."""
RING_RADII = 0.54, 0.7
"""Horizontal and vertical radius of the ring of linking pages; related pages have radius 1."""


@dataclass(frozen=True)
class Node:
    """A page in a picture."""

    kind: str
    page: int
    url: str
    title: str
    rank: int  # rank of a related page; for other kinds, the number within the kind, from 1
    score: float = 0.0


@dataclass(frozen=True)
class Picture:
    """Nodes, and links as pairs of node indices (source, target)."""

    nodes: tuple[Node, ...]
    links: tuple[tuple[int, int], ...]

    def of(self, kind: str) -> list[int]:
        """The nodes of one kind."""
        return [at for at, node in enumerate(self.nodes) if node.kind == kind]

    def linked_with(self, at: int) -> set[int]:
        """The nodes that link to a node, or to which it links."""
        return {b if a == at else a for a, b in self.links if at in (a, b)}


def picture_of(graph: Graph, answers: Answers, max_citing: int = MAX_CITING_PAGES) -> Picture:
    """Choose the pages and links to draw for a result."""
    titles = titles_of(graph)
    asked = list(dict.fromkeys(graph.find(url) for url in answers.used))
    index = {page: at for at, page in enumerate(dict.fromkeys([*asked, *(answer.page for answer in answers)]))}
    citing = _choose(graph, _citing(graph, asked, index), index, len(asked), max_citing)
    cited = _choose(graph, _cited(graph, asked, index), index, len(asked), max_citing // 3)
    cited = [(page, ends) for page, ends in cited if page not in dict(citing)]
    nodes = [Node(QUERY, page, graph.address(page), titles.of(page), at) for at, page in enumerate(asked, 1)]
    nodes += [Node(RELATED, each.page, each.url, each.title, each.rank, each.score) for each in answers]
    links = [(index[a], index[b]) for a in index for b in sorted(_targets_among(graph, a, index))]
    for kind, chosen in ((CITING, citing), (CITED, cited)):
        for number, (page, ends) in enumerate(chosen, 1):
            at = len(nodes)
            nodes.append(Node(kind, page, graph.address(page), titles.of(page), number))
            links += [(at, index[end]) if kind == CITING else (index[end], at) for end in sorted(ends)]
    return Picture(tuple(nodes), tuple(links))


LinkEnds = dict[int, set[int]]
"""For each linking page, the query and related pages with which it is linked."""


def _targets_among(graph: Graph, page: int, pages: Iterable[int]) -> set[int]:
    if not 0 < graph.out_degree[page] <= MAX_LINKS:
        return set()
    return set(pages).intersection(graph.links_from(page).targets.tolist()) - {page}


def _citing(graph: Graph, asked: Sequence[int], shown: Iterable[int]) -> LinkEnds:
    """Pages that link to shown pages; parents of query pages come first."""
    own, candidates = set(shown), dict[int, None]()
    for page in (*asked, *(page for page in shown if page not in asked)):
        best, limit = graph.best_parents(page), PARENTS_OF_QUERY if page in asked else PARENTS_OF_RESULT
        candidates |= dict.fromkeys((graph.links_to(page) if best is None else best)[:limit].tolist())
    return {page: _targets_among(graph, page, own) for page in candidates if page not in own}


def _cited(graph: Graph, asked: Sequence[int], shown: Iterable[int]) -> LinkEnds:
    """Pages to which a query page links, with all shown pages that link to them."""
    found: LinkEnds = {}
    own = set(shown)
    for page in shown:
        if 0 < graph.out_degree[page] <= MAX_LINKS:
            for target in np.unique(graph.links_from(page).targets).tolist():
                found.setdefault(target, set()).add(page)
    return {page: ends for page, ends in found.items() if page not in own and ends & set(asked)}


def _choose(
    graph: Graph, candidates: LinkEnds, index: dict[int, int], asked: int, limit: int
) -> list[tuple[int, set[int]]]:
    """Choose greedily: each time the page that adds most links to the pages with fewest links so far."""
    links = dict.fromkeys(index, 0)
    left = {page: ends for page, ends in candidates.items() if len(ends) > 1}
    chosen: list[tuple[int, set[int]]] = []

    def gain(page: int) -> tuple[float, int]:
        ends = left[page]
        links_to_query = any(index[end] < asked for end in ends)
        new = sum(2.0 ** -links[end] for end in ends if index[end] >= asked)
        return new * (2.0 if links_to_query else 1.0) / log2(8 + int(graph.out_degree[page])), -page

    while left and len(chosen) < limit:
        best = max(left, key=gain)
        chosen.append((best, left.pop(best)))
        for end in chosen[-1][1]:
            links[end] += 1
    return chosen


class Position(NamedTuple):
    """Where a node is drawn, in the unit circle."""

    x: float
    y: float


def positions(picture: Picture) -> list[Position]:
    """Where every node is drawn. Related pages are evenly spaced in height, so that there is room for their names."""
    asked, related = picture.of(QUERY), _ordered_related(picture)
    found: dict[int, Position] = {}
    for number, at in enumerate(asked):
        turn, radius = 2 * pi * number / len(asked), 0.16 if len(asked) > 1 else 0.0
        found[at] = Position(radius * cos(turn), radius * sin(turn))
    half = (len(related) + 1) // 2
    for side, some in ((1, related[:half]), (-1, related[half:][::-1])):  # clockwise from the top
        for number, at in enumerate(some):
            y = (2 * number + 1) / len(some) - 1
            found[at] = Position(side * sqrt(max(0.0, 1 - y * y * 0.8)), y)
    found.update(_ring(picture, {at: atan2(found[at].y, found[at].x) for at in related}))
    return [found[at] for at in range(len(picture.nodes))]


def _ordered_related(picture: Picture) -> list[int]:
    """Related pages in drawing order, the best one first."""
    related, between = picture.of(RELATED), [*picture.of(CITING), *picture.of(CITED)]
    if len(related) < 3 or len(between) < 2:
        return related
    table = np.array([[1.0 if other in picture.linked_with(at) else 1e-3 for other in between] for at in related])
    scaled = table / np.sqrt(table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True))
    left = np.linalg.svd(scaled, full_matrices=False)[0]
    second, third = _signed(left[:, 1]), _signed(left[:, 2]) if left.shape[1] > 2 else np.zeros(len(related))
    turns = np.round(np.arctan2(third, second), 6)
    order = [related[row] for row in np.lexsort((np.arange(len(related)), turns)).tolist()]
    first = order.index(related[0])
    return order[first:] + order[:first]


def _signed(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A singular vector with its largest entry positive, so that the same picture is always drawn the same way."""
    return vector if vector[int(np.abs(np.round(vector, 9)).argmax())] >= 0 else -vector


def _ring(picture: Picture, angles: dict[int, float]) -> Iterator[tuple[int, Position]]:
    """Linking pages, each in the mean direction of the related pages with which it is linked."""
    wanted: dict[int, float] = {}
    for at in [*picture.of(CITING), *picture.of(CITED)]:
        ends = [angles[end] for end in picture.linked_with(at) if end in angles]
        wanted[at] = atan2(sum(map(sin, ends)), sum(map(cos, ends))) if ends else 0.0
    order = sorted(wanted, key=lambda at: (wanted[at], at))
    for at, turn in zip(order, _spread([wanted[at] for at in order]), strict=True):
        yield at, Position(RING_RADII[0] * cos(turn), RING_RADII[1] * sin(turn))


def _spread(turns: list[float]) -> list[float]:
    """Move ascending angles apart until neighbours are at least nine tenths of an equal share apart."""
    count = len(turns)
    gap = 0.9 * 2 * pi / max(1, count)
    for _ in range(100 if count > 1 else 0):
        for at in range(count):
            after = (at + 1) % count
            missing = gap - (turns[after] - turns[at] + (2 * pi if after == 0 else 0.0))
            if missing > 1e-6:
                turns[at] -= missing / 2
                turns[after] += missing / 2
    return turns


Point = tuple[float, float]


class Frame(NamedTuple):
    """The size of a drawing: of the whole, of the circle of related pages, and of names in characters (0: none)."""

    name: str
    width: int
    height: int
    x_radius: int
    y_radius: int
    related_chars: int
    linking_chars: int

    def points(self, positions: Sequence[Position]) -> list[Point]:
        """Positions scaled to this frame."""
        return [(self.width / 2 + self.x_radius * at.x, self.height / 2 + self.y_radius * at.y) for at in positions]


class LinkCurve(NamedTuple):
    """A line between two nodes; `unlinked` if the page is linked with nothing shown."""

    path: str
    start: int
    end: int
    unlinked: bool


def curves(picture: Picture, points: Sequence[Point]) -> Iterator[LinkCurve]:
    """Links, slightly bent so that links in both directions stay apart; straight lines to pages without links."""
    for a, b in picture.links:
        (x, y), (u, v) = points[a], points[b]
        middle = (x + u) / 2 + (v - y) * 0.08, (y + v) / 2 - (u - x) * 0.08
        yield LinkCurve(f"M{x:.0f} {y:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {u:.0f} {v:.0f}", a, b, False)
    for at in picture.of(RELATED):
        if not picture.linked_with(at):
            (x, y), (u, v) = points[0], points[at]
            yield LinkCurve(f"M{x:.0f} {y:.0f}L{u:.0f} {v:.0f}", 0, at, True)


def symbol(node: Node) -> str:
    """The text inside a node's mark: a number for a related page, a letter for a linking page, a star for a query."""
    letter = ascii_uppercase[(node.rank - 1) % 26]
    return {RELATED: str(node.rank), CITING: letter, CITED: letter.lower()}.get(node.kind, "★")


class Label(NamedTuple):
    """A name and where it is written; empty where the frame has no room for names."""

    text: str
    x: float
    y: float
    anchor: str


def labels(
    picture: Picture, points: Sequence[Point], frame: Frame, name_of: Callable[[Node, int], str]
) -> Iterator[Label]:
    """Names beside their marks: outwards for related pages, else above or below, whichever is free.

    A name for which neither is free is shortened to half. `name_of` returns a node's name in at most n characters.
    """
    taken: list[tuple[float, float, int]] = []
    for node, (x, y) in zip(picture.nodes, points, strict=True):
        chars = frame.related_chars if node.kind in (RELATED, QUERY) else frame.linking_chars
        name = name_of(node, chars) if chars else ""
        if node.kind == RELATED:
            side = 1 if x >= frame.width / 2 else -1
            yield Label(name, x + 24 * side, y + 5, "start" if side > 0 else "end")
            continue
        offsets = (40, -30) if node.kind == QUERY else (-17, 27) if y < frame.height / 2 else (27, -17)
        half = name_of(node, chars // 2) if chars else ""
        options = [(text, (x, y + offset, len(text))) for text in (name, half) for offset in offsets]
        free = [option for option in options if not any(_overlap(other, option[1]) for other in taken)]
        text, place = free[0] if free else options[len(offsets)]
        taken.append(place)
        yield Label(text, *place[:2], "middle")


def _overlap(one: tuple[float, float, int], other: tuple[float, float, int]) -> bool:
    """Whether two centred names overlap: a character is 7 wide, a line 17 high."""
    return abs(one[1] - other[1]) < 17 and abs(one[0] - other[0]) < 3.5 * (one[2] + other[2])
