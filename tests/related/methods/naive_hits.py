"""Companion (Dean & Henzinger 1999, §2.1) and Kleinberg's HITS round a page (there, §5), read word by word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, rank

Edge = tuple[int, int]
Vector = NDArray[np.float64]
Gather = Callable[[View, int], tuple[set[int], list[int]]]
"""The pages around a page, and its chosen parents."""


def edges_between(view: View, pages: Collection[int]) -> set[Edge]:
    """Every link between two of the pages on different units, then near-duplicates put together."""
    links = {
        (source, target)
        for source in pages
        for target in view.children(source)
        if target in pages and view.unit(source) != view.unit(target)
    }
    merged = {(view.node(source), view.node(target)) for source, target in links}
    return {(source, target) for source, target in merged if view.unit(source) != view.unit(target)}


def weights(view: View, edges: Iterable[Edge]) -> tuple[dict[Edge, float], dict[Edge, float]]:
    """Authority weight: 1 / edges from one unit to one page. Hub weight: 1 / edges from one page to one unit."""
    edges = list(edges)
    into = Counter((view.unit(source), target) for source, target in edges)
    out_of = Counter((source, view.unit(target)) for source, target in edges)
    authority = {(source, target): 1 / into[view.unit(source), target] for source, target in edges}
    hub = {(source, target): 1 / out_of[source, view.unit(target)] for source, target in edges}
    return authority, hub


def hits(
    edges: Collection[Edge], authority_weight: dict[Edge, float], hub_weight: dict[Edge, float], rounds: int
) -> tuple[dict[int, float], dict[int, float], int, float]:
    """Authority and hub scores of all ends of edges; also the number of rounds and the last round's largest change."""
    nodes = sorted({node for edge in edges for node in edge})
    order, place = sorted(edges), {node: at for at, node in enumerate(nodes)}
    sources, targets = (np.array([place[edge[end]] for edge in order]) for end in (0, 1))
    to_authority, to_hub = (np.array([weight[edge] for edge in order]) for weight in (authority_weight, hub_weight))
    authority: Vector = np.ones(len(nodes))
    hub: Vector = np.ones(len(nodes))
    change, done = math.inf, 0
    while done < rounds and change >= 1e-8:
        before = authority, hub
        authority = summed(targets, hub[sources] * to_authority, len(nodes))
        hub = summed(sources, authority[targets] * to_hub, len(nodes))
        authority, hub = authority / np.linalg.norm(authority), hub / np.linalg.norm(hub)
        change = max(float(np.abs(authority - before[0]).max()), float(np.abs(hub - before[1]).max()))
        done += 1
    return dict(zip(nodes, authority.tolist(), strict=True)), dict(zip(nodes, hub.tolist(), strict=True)), done, change


def summed(places: NDArray[np.int64], values: Vector, length: int) -> Vector:
    """A vector of sums: each value is added at its place."""
    total = np.zeros(length)
    np.add.at(total, places, values)
    return total


def authorities(
    web: NaiveWeb, seeds: list[int], unit: str, switches: Switches, gather: Gather, weighted: bool, rounds: int
) -> Ranking:
    """Build the graph round all query pages, run HITS on it, and rank its authorities."""

    def around(view: View, pages: Sequence[int]) -> tuple[View, list[set[int]], set[Edge]]:
        found = [gather(view, page) for page in pages]
        every = set().union(*(nodes for nodes, _ in found))
        view = view.with_unit(pages, {parent for _, its in found for parent in its}, every).within(every)
        return view, [nodes for nodes, _ in found], edges_between(view, every)

    start = Start(web, seeds, unit, switches, lambda view, page: bool(around(view, [page])[2]))
    view, gathered, edges = around(start.view, start.used)
    if not edges:
        return Ranking([], start.used, {"rounds": 0, "residual": 0.0, "edges": 0})
    ones = dict.fromkeys(edges, 1.0)
    authority, _, done, change = hits(edges, *(weights(view, edges) if weighted else (ones, ones)), rounds)
    reached = Counter(node for pages in gathered for node in {view.node(page) for page in pages})
    scores = {node: (score,) for node, score in authority.items()}
    facts = {"rounds": done, "residual": change, "edges": len(edges)}
    never = start.never | {view.node(page) for page in (*seeds, *start.used)}
    return rank(web, scores, reached, never, start.used, facts)


def vicinity(
    view: View, page: int, parents: int, window: int, children: int, child_parents: int
) -> tuple[set[int], list[int]]:
    """The nodes of Companion's graph, and the chosen parents."""
    nodes, chosen = {page}, view.random_parents(page, parents)
    for parent in chosen:
        nodes |= {parent, *view.window(parent, page, window)}
    for child in view.children(page)[:children]:
        nodes |= {child, *view.best_parents(child, child_parents, other_than=page)}
    return nodes, chosen


def companion(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 2000,
    window: int = 8,
    children: int = 40,
    child_parents: int = 8,
    unit: str = "auto",
    rounds: int = 200,
    **switches: Unpack[Switches],
) -> Ranking:
    """The authorities of the vicinity graph, edges weighted by how many come from one unit."""

    def gather(view: View, page: int) -> tuple[set[int], list[int]]:
        return vicinity(view, page, parents, window, children, child_parents)

    return authorities(web, seeds, unit, switches, gather, True, rounds)


def kleinberg(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 200,
    in_links: int = 50,
    unit: str = "auto",
    rounds: int = 200,
    **switches: Unpack[Switches],
) -> Ranking:
    """The authorities among the page, its parents, and what points to them or is pointed to by them."""

    def gather(view: View, page: int) -> tuple[set[int], list[int]]:
        chosen = view.random_parents(page, parents)
        start = {page, *chosen}
        nodes = set(start)
        for member in start:
            nodes |= {*view.children(member), *view.random_parents(member, in_links)}
        return nodes, chosen

    given: Switches = {**switches, "merge": switches.get("merge") is True}  # nothing is merged as published
    return authorities(web, seeds, unit, given, gather, False, rounds)
