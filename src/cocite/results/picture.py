"""The neighbourhood of an answer as a picture: pages asked about, related pages, and what links them together.

Between them stand the pages that cite both kinds, and those that both kinds cite: few, chosen so that every related
page is joined by something, and short lists before long ones. Pages asked about are in the middle, related pages around
them in the order in which they have citing pages in common (by the second and third singular vectors of who cites
whom, so that those cited together are neighbours), and the pages between on a ring of their own, near what they cite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, log2, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.results.answer import Answers
from cocite.results.naming import Titles

ASKED, RELATED, CITING, CITED = "asked", "related", "citing", "cited"
BETWEEN = 8
"""Citing pages of a picture, and a third as many cited ones."""
LOOKED_AT, PER_ANSWER = 300, 20
"""Parents of a page asked about, and of an answer, that may stand between."""
LONGEST = 20_000
"""Pages with more links are left out: they cite everything."""
INNER = 0.54, 0.7
"""How far out the pages between are, of the way to related pages: to the side, and up or down."""


@dataclass(frozen=True)
class Node:
    """A page of a picture."""

    kind: str
    page: int
    url: str
    title: str
    rank: int  # of a related page; of others its place among its kind, from 1
    score: float = 0.0


@dataclass(frozen=True)
class Picture:
    """Pages, and which of them links to which, by place."""

    nodes: tuple[Node, ...]
    links: tuple[tuple[int, int], ...]

    def of(self, kind: str) -> list[int]:
        """The places of all pages of a kind."""
        return [at for at, node in enumerate(self.nodes) if node.kind == kind]

    def joined_with(self, at: int) -> set[int]:
        """The places of pages that are linked with one."""
        return {b if a == at else a for a, b in self.links if at in (a, b)}


class Place(NamedTuple):
    """Where a page stands; 0, 0 is the middle, and 1 the edge."""

    x: float
    y: float


def picture_of(graph: Graph, answers: Answers, between: int = BETWEEN) -> Picture:
    """The picture of an answer."""
    titles = Titles(graph)
    asked = list(dict.fromkeys(graph.find(url) for url in answers.used))
    related = [answer.page for answer in answers]
    pages = {page: at for at, page in enumerate(dict.fromkeys([*asked, *related]))}
    citing = _chosen(graph, _citing(graph, asked, related), pages, len(asked), between)
    cited = _chosen(graph, _cited(graph, asked, related), pages, len(asked), between // 3)
    cited = [(page, ends) for page, ends in cited if page not in dict(citing)]
    nodes = [Node(ASKED, page, graph.address(page), titles.of(page), at) for at, page in enumerate(asked, 1)]
    nodes += [Node(RELATED, each.page, each.url, each.title, each.rank, each.score) for each in answers]
    links = [(pages[a], pages[b]) for a in pages for b in _ends(graph, a, pages)]
    for kind, found in ((CITING, citing), (CITED, cited)):
        for number, (page, ends) in enumerate(found, 1):
            at = len(nodes)
            nodes.append(Node(kind, page, graph.address(page), titles.of(page), number))
            links += [(at, pages[end]) if kind == CITING else (pages[end], at) for end in sorted(ends)]
    return Picture(tuple(nodes), tuple(links))


Ends = dict[int, set[int]]


def _ends(graph: Graph, page: int, pages: Iterable[int]) -> list[int]:
    """To which of some pages a page links."""
    wanted = np.fromiter(pages, np.uint32)
    if not 0 < graph.out_degree[page] <= LONGEST:
        return []
    found: list[int] = np.intersect1d(graph.links_from(page).targets, wanted).tolist()
    return [end for end in found if end != page]


def _citing(graph: Graph, asked: Sequence[int], related: Sequence[int]) -> Ends:
    """Pages that link to some of these, and to which."""
    tried = dict.fromkeys(parent for page in asked for parent in _parents(graph, page, LOOKED_AT))
    tried |= dict.fromkeys(parent for page in related for parent in _parents(graph, page, PER_ANSWER))
    own = {*asked, *related}
    return {page: set(_ends(graph, page, own)) for page in tried if page not in own}


def _parents(graph: Graph, page: int, most: int) -> list[int]:
    """Some pages that link to a page: the best-cited, of a page that has many."""
    ready = graph.best_parents(page)
    found: list[int] = (graph.links_to(page) if ready is None else ready)[:most].tolist()
    return found


def _cited(graph: Graph, asked: Sequence[int], related: Sequence[int]) -> Ends:
    """Pages to which some of these link, and which do."""
    found: Ends = {}
    for page in (*asked, *related):
        if 0 < graph.out_degree[page] <= LONGEST:
            for end in np.unique(graph.links_from(page).targets).tolist():
                found.setdefault(end, set()).add(page)
    own = {*asked, *related}
    return {page: ends for page, ends in found.items() if page not in own and own & ends and ends & set(asked)}


def _chosen(graph: Graph, found: Ends, pages: dict[int, int], asked: int, most: int) -> list[tuple[int, set[int]]]:
    """The pages to show, one after another: each time the one that joins what is least joined yet."""
    joined = dict.fromkeys(pages, 0)
    left = {page: ends for page, ends in found.items() if len(ends) > 1}
    chosen: list[tuple[int, set[int]]] = []

    def gain(page: int) -> tuple[float, int]:
        ends = left[page]
        middle = any(pages[end] < asked for end in ends)
        new = sum(2.0 ** -joined[end] for end in ends if pages[end] >= asked)
        return new * (2.0 if middle else 1.0) / log2(8 + int(graph.out_degree[page])), -page

    while left and len(chosen) < most:
        best = max(left, key=gain)
        chosen.append((best, left.pop(best)))
        for end in chosen[-1][1]:
            joined[end] += 1
    return chosen


def places(picture: Picture) -> list[Place]:
    """Where every page stands: within the unit circle, in which related pages have equal distances in height."""
    found: dict[int, Place] = {}
    found.update(_middle(picture.of(ASKED)))
    around = _in_order(picture)
    found.update(_circle(around))
    angles = {at: atan2(found[at].y, found[at].x) for at in around}
    found.update(_ring(picture, angles))
    return [found[at] for at in range(len(picture.nodes))]


def _middle(asked: Sequence[int]) -> Iterator[tuple[int, Place]]:
    """One page in the middle, several around it."""
    for number, at in enumerate(asked):
        turn, far = 2 * pi * number / len(asked), 0.16 if len(asked) > 1 else 0.0
        yield at, Place(far * cos(turn), far * sin(turn))


def _in_order(picture: Picture) -> list[int]:
    """Related pages, those cited together side by side; the first is the best."""
    related, between = picture.of(RELATED), [*picture.of(CITING), *picture.of(CITED)]
    if len(related) < 3 or len(between) < 2:
        return related
    column = {at: number for number, at in enumerate(between)}
    table = np.full((len(related), len(between)), 1e-3)
    for row, at in enumerate(related):
        for other in picture.joined_with(at):
            if other in column:
                table[row, column[other]] = 1.0
    scaled = table / np.sqrt(table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True))
    left = np.linalg.svd(scaled, full_matrices=False)[0]
    second, third = _signed(left[:, 1]), _signed(left[:, 2]) if left.shape[1] > 2 else np.zeros(len(related))
    turns = np.round(np.arctan2(third, second), 6)
    order = [related[row] for row in np.lexsort((np.arange(len(related)), turns)).tolist()]
    first = order.index(related[0])
    return order[first:] + order[:first]


def _signed(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A singular vector with its greatest part positive: either sign is right, but one is the same always."""
    return vector if vector[int(np.abs(np.round(vector, 9)).argmax())] >= 0 else -vector


def _circle(order: Sequence[int]) -> Iterator[tuple[int, Place]]:
    """Clockwise from the top, half of them on the right; the same distance in height, so that names have room."""
    half = (len(order) + 1) // 2
    for side, some in ((1, order[:half]), (-1, order[half:][::-1])):
        for number, at in enumerate(some):
            y = (2 * number + 1) / len(some) - 1
            yield at, Place(side * sqrt(max(0.0, 1 - y * y * 0.8)), y)


def _ring(picture: Picture, angles: dict[int, float]) -> Iterator[tuple[int, Place]]:
    """Pages between, each in the direction of what it is linked with, as far as they do not stand too close."""
    between = [*picture.of(CITING), *picture.of(CITED)]
    wanted: list[tuple[float, int]] = []
    for at in between:
        ends = [angles[end] for end in picture.joined_with(at) if end in angles]
        wanted.append((atan2(sum(map(sin, ends)), sum(map(cos, ends))) if ends else 0.0, at))
    wanted.sort()
    turns = _apart([turn for turn, _ in wanted])
    for turn, (_, at) in zip(turns, wanted, strict=True):
        yield at, Place(INNER[0] * cos(turn), INNER[1] * sin(turn))


def _apart(turns: list[float]) -> list[float]:
    """Ascending angles moved apart until neighbours have nine tenths of an equal share of the circle between them."""
    count = len(turns)
    least = 0.9 * 2 * pi / max(1, count)
    for _ in range(100 if count > 1 else 0):
        for at in range(count):
            after = (at + 1) % count
            short = least - (turns[after] - turns[at] + (2 * pi if after == 0 else 0.0))
            if short > 1e-6:
                turns[at] -= short / 2
                turns[after] += short / 2
    return turns
