"""A picture of a result, as a person would draw it: query pages on the left, lists as rows, related pages on the right.

Only links on paths between a query page and a related page are drawn: a list that links to both, a page that both link
to, or a link from one to the other. Where a list has a page of the same name instead of the query page, that is drawn
too, but isn't a link.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

import numpy as np

from cocite.graph.store import Graph
from cocite.results.answer import Answers
from cocite.results.naming import titles_of
from cocite.results.strips import stand_ins

QUERY, RELATED, CITING, CITED = "asked", "related", "citing", "cited"
MAX_CITING_PAGES = 32
"""A quarter as many cited pages are shown."""
PARENTS_OF_QUERY = 300
"""In-links of a query page, or of a page of its name, that are considered as citing pages."""
MAX_LINKS = 20_000
"""Pages with more out-links are ignored: they link to everything."""


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
    by_name: tuple[tuple[int, int], ...] = ()  # lists of a page that has the name of a query page, with that page

    def of(self, kind: str) -> list[int]:
        """The nodes of one kind."""
        return [at for at, node in enumerate(self.nodes) if node.kind == kind]

    def linked_with(self, at: int) -> set[int]:
        """The nodes with which a node is joined."""
        return {b if a == at else a for a, b in (*self.links, *self.by_name) if at in (a, b)}


def picture_of(graph: Graph, answers: Answers, max_citing: int = MAX_CITING_PAGES) -> Picture:
    """Choose the pages and links to draw for a result."""
    titles = titles_of(graph)
    asked = list(dict.fromkeys(graph.find(url) for url in answers.used))
    found = [answer for answer in answers if answer.page not in asked]
    index = {page: at for at, page in enumerate(dict.fromkeys([*asked, *(answer.page for answer in found)]))}
    names = stand_ins(graph, answers) - set(asked) if asked else set[int]()
    nodes = [Node(QUERY, page, graph.address(page), titles.of(page), at) for at, page in enumerate(asked, 1)]
    nodes += [Node(RELATED, each.page, each.url, each.title, each.rank, each.score) for each in found]
    links = [
        (index[a], index[b])
        for a in index
        for b in sorted(_targets_among(graph, a, index))
        if (a in asked) != (b in asked)
    ]
    by_name = list[tuple[int, int]]()
    citing = _choose(graph, _citing(graph, asked, names, index), index, len(asked), max_citing)
    both = {page: ends for page, ends in _cited(graph, asked, index).items() if page not in dict(citing)}
    cited = _choose(graph, both, index, len(asked), max_citing // 4)
    for kind, chosen in ((CITING, citing), (CITED, cited)):
        for number, (page, ends) in enumerate(chosen, 1):
            at = len(nodes)
            nodes.append(Node(kind, page, graph.address(page), titles.of(page), number))
            links += [(at, index[end]) if kind == CITING else (index[end], at) for end in sorted(ends)]
            by_name += [(at, 0)] if not any(page in ends for page in asked) else []
    return Picture(tuple(nodes), tuple(links), tuple(by_name))


LinkEnds = dict[int, set[int]]
"""For each page between them, the query and related pages with which it is linked."""


def _targets_among(graph: Graph, page: int, pages: Iterable[int]) -> set[int]:
    if not 0 < graph.out_degree[page] <= MAX_LINKS:
        return set()
    return set(pages).intersection(graph.links_from(page).targets.tolist()) - {page}


def _citing(graph: Graph, asked: list[int], names: set[int], shown: Iterable[int]) -> LinkEnds:
    """Pages that link to a query page, or to one of its name, and to a related page."""
    own, candidates = set(shown), dict[int, None]()
    for page in (*asked, *sorted(names)):
        best = graph.best_parents(page)
        candidates |= dict.fromkeys((graph.links_to(page) if best is None else best)[:PARENTS_OF_QUERY].tolist())
    found = {page: _targets_among(graph, page, own) for page in candidates if page not in own}
    return {page: ends for page, ends in found.items() if ends - set(asked) - names}


def _cited(graph: Graph, asked: list[int], shown: Iterable[int]) -> LinkEnds:
    """Pages to which a query page and a related page link, with all shown pages that do."""
    own, found = set(shown), LinkEnds()
    for page in own:
        if 0 < graph.out_degree[page] <= MAX_LINKS:
            for target in np.unique(graph.links_from(page).targets).tolist():
                found.setdefault(target, set()).add(page)
    queries = set(asked)
    return {page: ends for page, ends in found.items() if page not in own and ends & queries and ends - queries}


def _choose(
    graph: Graph, candidates: LinkEnds, index: dict[int, int], asked: int, limit: int
) -> list[tuple[int, set[int]]]:
    """Choose greedily: each time the page that adds most links to the pages with fewest links so far."""
    links, left, chosen = dict.fromkeys(index, 0), dict(candidates), list[tuple[int, set[int]]]()

    def gain(page: int) -> tuple[float, int]:
        new = sum(2.0 ** -links[end] for end in left[page] if index[end] >= asked)
        return new / log2(8 + int(graph.out_degree[page])), -page

    while left and len(chosen) < limit:
        best = max(left, key=gain)
        chosen.append((best, left.pop(best)))
        for end in chosen[-1][1]:
            links[end] += 1
    return chosen


class Position(NamedTuple):
    """Where a node is drawn: its column from the left, and its height from 0 to 1 (the bottom)."""

    column: int
    height: float


def positions(picture: Picture) -> list[Position]:
    """Where every node is drawn: columns fill the height evenly."""
    found: dict[int, Position] = {}
    for column, places in enumerate((picture.of(QUERY), rows(picture), picture.of(RELATED))):
        for number, at in enumerate(places):
            found[at] = Position(column, (number + 0.5) / len(places))
    return [found[at] for at in range(len(picture.nodes))]


def rows(picture: Picture) -> list[int]:
    """The pages in the middle, each near the height of the related pages with which it is joined."""

    def height(at: int) -> tuple[float, int]:
        ranks = [picture.nodes[end].rank for end in picture.linked_with(at) if picture.nodes[end].kind == RELATED]
        return sum(ranks) / max(1, len(ranks)), at

    return sorted([*picture.of(CITING), *picture.of(CITED)], key=height)


class LinkCurve(NamedTuple):
    """A line between two columns: x from 0 to 100, y in percent of the height."""

    path: str
    start: int
    end: int
    by_name: bool


def curves(picture: Picture, columns: tuple[int, int]) -> list[LinkCurve]:
    """The lines between two neighbouring columns."""
    places, found = positions(picture), list[LinkCurve]()
    for a, b in (*picture.links, *picture.by_name):
        start, end = sorted((a, b), key=lambda at: places[at].column)
        if (places[start].column, places[end].column) == columns:
            low, high = 100 * places[start].height, 100 * places[end].height
            path = f"M0 {low:.1f}C50 {low:.1f} 50 {high:.1f} 100 {high:.1f}"
            found.append(LinkCurve(path, start, end, (a, b) in picture.by_name))
    return found
