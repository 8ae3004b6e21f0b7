"""SimRank and its kin, word by word from the papers, on a web given as {page: children}. Slow, and shares no code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment

Web = dict[int, list[int]]
Pairs = dict[tuple[int, int], float]


def turned(web: Web) -> Web:
    """The parents of each page."""
    return {page: sorted(q for q in web if page in web[q]) for page in web}


def one_round(before: Pairs, links: Web, a: int, b: int, c: float) -> float:
    if not links[a] or not links[b]:
        return 0.0
    total = sum(before[i, j] for i in links[a] for j in links[b])
    return c * total / (len(links[a]) * len(links[b]))


def start(web: Web) -> Pairs:
    return {(a, b): float(a == b) for a in web for b in web}


def simrank(web: Web, c: float = 0.8, rounds: int = 10) -> Pairs:
    """Jeh & Widom 2002."""
    parents, found = turned(web), start(web)
    for _ in range(rounds):
        found = {(a, b): 1.0 if a == b else one_round(found, parents, a, b, c) for a, b in found}
    return found


def prank(web: Web, balance: float = 0.5, c: float = 0.8, rounds: int = 10) -> Pairs:
    """Zhao, Han & Sun 2009."""
    parents, found = turned(web), start(web)
    for _ in range(rounds):
        found = {
            (a, b): 1.0
            if a == b
            else balance * one_round(found, parents, a, b, c) + (1 - balance) * one_round(found, web, a, b, c)
            for a, b in found
        }
    return found


def transitions(weights: dict[int, float]) -> dict[int, float]:
    """From a page to each parent, over all worlds: each parent's link is there or not."""
    found = dict.fromkeys(weights, 0.0)
    for world in product((False, True), repeat=len(weights)):
        likely, there = 1.0, []
        for (parent, p), exists in zip(weights.items(), world, strict=True):
            likely *= p if exists else 1 - p
            there += [parent] if exists else []
        for parent in there:
            found[parent] += likely / len(there)
    return found


def probabilistic(weights: dict[int, dict[int, float]], c: float = 0.8, rounds: int = 10) -> Pairs:
    """Du et al. 2015; `weights` are the probabilities of the links into each page, by parent."""
    steps = {page: transitions(parents) for page, parents in weights.items()}
    found = {(a, b): float(a == b) for a in weights for b in weights}
    for _ in range(rounds):
        found = {
            (a, b): 1.0
            if a == b
            else c * sum(p * q * found[i, j] for i, p in steps[a].items() for j, q in steps[b].items())
            for a, b in found
        }
    return found


def block_simrank(web: Web, site: Mapping[int, str], c: float = 0.8, rounds: int = 10) -> Pairs:
    """Li et al. 2009, with sites as blocks, or others."""
    own = {page: [q for q in web[page] if site[q] == site[page]] for page in web}
    inside = simrank(own, c, rounds)
    sites = sorted(set(site.values()))
    times = {(a, b): sum(site[q] == b for p in web if site[p] == a for q in web[p]) for a in sites for b in sites}
    into = {b: {a: times[a, b] for a in sites if a != b and times[a, b]} for b in sites}
    between = {(a, b): float(a == b) for a in sites for b in sites}
    for _ in range(rounds):
        fresh = {}
        for a, b in between:
            both = sum(into[a].values()) * sum(into[b].values())
            total = sum(m * n * between[i, j] for i, m in into[a].items() for j, n in into[b].items())
            fresh[a, b] = 1.0 if a == b else c * total / both if both else 0.0
        between = fresh
    parents = turned(web)
    out = {p: sum(site[q] != site[p] for q in parents[p]) / len(parents[p]) if parents[p] else 0.0 for p in web}
    return {
        (a, b): inside[a, b] if site[a] == site[b] else out[a] * out[b] * between[site[a], site[b]]
        for a in web
        for b in web
    }


def paths(web: Web, first: int, radius: int) -> list[list[int]]:
    """All paths of up to so many links that visit no page twice."""
    found = [[first]]
    for way in found:
        if len(way) <= radius:
            found += [[*way, child] for child in web[way[-1]] if child not in way]
    return found


def pagesim(web: Web, d: float = 0.8, radius: int = 3, damping: float = 0.85) -> Pairs:
    """Lin, King & Lyu 2006."""
    parents = turned(web)
    rank = dict.fromkeys(web, 1.0)
    for _ in range(400):
        rank = {p: 1 - damping + damping * sum(rank[q] / len(web[q]) for q in parents[p]) for p in web}
    given = {(i, v): 0.0 for i in web for v in web}
    for i in web:
        for way in paths(web, i, radius):
            share = rank[i]
            for x in way[:-1]:
                share *= d / len(web[x])
            given[i, way[-1]] += share
    return {
        (u, v): sum(
            min(given[i, u], given[i, v]) ** 2 / max(given[i, u], given[i, v])
            for i in web
            if given[i, u] or given[i, v]
        )
        for u in web
        for v in web
    }


def matchsim(web: Web, rounds: int = 10) -> Pairs:
    """Lin, Lyu & King 2009."""
    parents, found = turned(web), start(web)
    for _ in range(rounds):
        fresh = {}
        for a, b in found:
            value = 0.0
            if parents[a] and parents[b]:
                table = np.array([[found[i, j] for j in parents[b]] for i in parents[a]])
                rows, columns = linear_sum_assignment(table, maximize=True)
                value = table[rows, columns].sum() / max(table.shape)
            fresh[a, b] = 1.0 if a == b else value
        found = fresh
    return found


def walk(web: Web, starts: Sequence[int], restart: float = 0.15, links: str = "both") -> dict[int, float]:
    """Random walk with restart at some pages, as the solution of its equations; at a page without links it ends."""
    parents = turned(web)
    follow = {p: (web[p] if links != "in" else []) + (parents[p] if links != "out" else []) for p in web}
    pages = sorted(web)
    at = {page: i for i, page in enumerate(pages)}
    step = np.zeros((len(pages), len(pages)))
    for page in pages:
        for other in follow[page]:
            step[at[other], at[page]] += 1 / len(follow[page])
    prefer = np.array([starts.count(page) / len(starts) for page in pages])
    visits = np.linalg.solve(np.eye(len(pages)) - (1 - restart) * step, prefer)
    return {page: visits[at[page]] * (restart if follow[page] else 1.0) for page in pages}
