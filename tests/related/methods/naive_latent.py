"""Extended Cocitation and Latent Linkage Information (Hou & Zhang 2003), read word by word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, rank

Matrix = NDArray[np.float64]


class Side(NamedTuple):
    """One of the two halves of the page source, back (siblings, parents) or forward (spouses, children)."""

    pages: list[int]  # the rows: BS or FS
    groups: list[set[int]]  # the columns: merged parents or merged children
    linked: Matrix  # 1 where the page and the group are linked: A or B of the paper
    query: Matrix  # a row for each query page: 1 where it is linked to the group


class Limits(NamedTuple):
    """B, BF, F and FB of the paper."""

    parents: int
    window: int
    children: int
    child_parents: int


def back_side(view: View, seeds: Sequence[int], limits: Limits) -> Side:
    """Siblings, and the merged parents that link to them."""
    chosen = [view.random_parents(page, limits.parents) for page in seeds]
    siblings = {
        child
        for page, its_parents in zip(seeds, chosen, strict=True)
        for parent in its_parents
        for child in view.window(parent, page, limits.window)
    }
    links = {(child, parent) for of in chosen for parent in of for child in view.children(parent) if child in siblings}
    return side(view, siblings, chosen, links, seeds)


def forward_side(view: View, seeds: Sequence[int], limits: Limits) -> Side:
    """Spouses, and the merged children that they link to."""
    chosen = [view.children(page)[: limits.children] for page in seeds]
    spouses = {
        spouse
        for page, its_children in zip(seeds, chosen, strict=True)
        for child in its_children
        for spouse in view.best_parents(child, limits.child_parents, other_than=page)
        if view.unit(spouse) != view.unit(page) and view.original(spouse) != view.original(page)
    }
    all_children = {child for of in chosen for child in of}
    links = {(spouse, child) for spouse in spouses for child in view.children(spouse) if child in all_children}
    return side(view, spouses, chosen, links)


def side(
    view: View, pages: set[int], chosen: Sequence[Sequence[int]], links: set[tuple[int, int]], seeds: Sequence[int] = ()
) -> Side:
    """The matrix of links between pages (near-duplicates as one) and groups of the chosen parents or children."""
    nodes = sorted({view.node(page) for page in pages} - {view.node(page) for page in view.seeds})
    around = dict(zip(seeds, chosen, strict=True)) if seeds else None
    groups = view.groups(dict.fromkeys(page for of in chosen for page in of), around=around)
    merged = {(view.node(page), other) for page, other in links}
    linked = [[float(any((node, other) in merged for other in group)) for group in groups] for node in nodes]
    query = [[float(not group.isdisjoint(of)) for group in groups] for of in chosen]
    shape = (len(nodes), len(groups))
    return Side(nodes, groups, np.array(linked).reshape(shape), np.array(query).reshape(len(chosen), len(groups)))


def shared(side: Side) -> dict[int, list[float]]:
    """For each page, and each query page, the number of merged parents (or children) in common: b or f."""
    return dict(zip(side.pages, (side.linked @ side.query.T).tolist(), strict=True))


def kept(singular: Matrix, epsilon: float) -> tuple[int, int]:
    """(k, rank): the smallest k at which singular values fall by the share epsilon; those beyond the rank are 0."""
    values = [float(s) for s in singular if s > 1e-6 * singular[0]]
    falls = [(here - after) / here for here, after in pairwise([*values, 0.0])]
    return next(k for k, fall in enumerate(falls, 1) if fall >= epsilon - 1e-9), len(values)


def similarities(side: Side, epsilon: float) -> tuple[dict[int, list[float]], tuple[int, int]]:
    """For each page, and each query page, the cosine in the space of the k greatest singular values; and (k, rank)."""
    if not side.linked.any():
        return {page: [0.0] * len(side.query) for page in side.pages}, (0, 0)
    u, singular, v_transposed = np.linalg.svd(side.linked, full_matrices=False)
    k, rank_of = kept(singular, epsilon)
    rows = u[:, :k] * singular[:k]
    queries = side.query @ v_transposed[:k].T * singular[:k]
    tiny = 1e-9 * singular[0]

    def cosine(row: Matrix, query: Matrix) -> float:
        lengths = float(np.linalg.norm(row)), float(np.linalg.norm(query))
        return abs(float(row @ query)) / (lengths[0] * lengths[1]) if min(lengths) >= tiny else 0.0

    cosines = [[cosine(row, query) for query in queries] for row in rows]
    return dict(zip(side.pages, cosines, strict=True)), (k, rank_of)


def page_source(
    web: NaiveWeb, seeds: list[int], unit: str, switches: Switches, limits: Limits
) -> tuple[Start, Side, Side]:
    """Where to start, and both sides there."""

    def sides(view: View, pages: Sequence[int]) -> tuple[Side, Side]:
        chosen = {parent for page in pages for parent in view.random_parents(page, limits.parents)}
        spouses = {
            spouse
            for page in pages
            for child in view.children(page)[: limits.children]
            for spouse in view.best_parents(child, limits.child_parents, other_than=page)
        }
        view = view.with_unit(pages, chosen, spouses)
        return back_side(view, pages, limits), forward_side(view, pages, limits)

    start = Start(web, seeds, unit, switches, lambda view, page: any(side.pages for side in sides(view, [page])))
    return start, *sides(start.view, start.used)


def extended_cocitation(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 200,
    window: int = 40,
    children: int = 40,
    child_parents: int = 200,
    unit: str = "auto",
    delta: float = 1,
    **switches: Unpack[Switches],
) -> Ranking:
    """Siblings and spouses by the larger of merged parents and merged children in common."""
    limits = Limits(parents, window, children, child_parents)
    start, back, forward = page_source(web, seeds, unit, switches, limits)
    b, f = shared(back), shared(forward)
    scores, reached = {}, {}
    none = [0.0] * len(start.used)
    for page in b.keys() | f.keys():
        of_b, of_f = b.get(page, none), f.get(page, none)
        relevant = [max(x, y) if max(x, y) >= delta else 0.0 for x, y in zip(of_b, of_f, strict=True)]
        if any(relevant):
            scores[page] = (sum(relevant), sum(of_b) + sum(of_f))
            reached[page] = sum(value > 0 for value in relevant)
    return rank(web, scores, reached, start.never, start.used)


def lli(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 200,
    window: int = 40,
    children: int = 40,
    child_parents: int = 200,
    unit: str = "auto",
    epsilon: float = 0.5,
    forward_epsilon: float = 0.0,
    delta: float = 0.0,
    **switches: Unpack[Switches],
) -> Ranking:
    """Siblings and spouses by their cosine to the query page in the space of the greatest singular values."""
    limits = Limits(parents, window, children, child_parents)
    start, back, forward = page_source(web, seeds, unit, switches, limits)
    b, f = shared(back), shared(forward)
    back_cosines, back_k = similarities(back, epsilon)
    forward_cosines, forward_k = similarities(forward, forward_epsilon or epsilon)
    scores, reached = {}, {}
    none = [0.0] * len(start.used)
    for page in b.keys() | f.keys():
        cosines = [
            max(both) for both in zip(back_cosines.get(page, none), forward_cosines.get(page, none), strict=True)
        ]
        selected = [cosine >= delta - 1e-9 for cosine in cosines]
        commons = [x + y for x, y in zip(b.get(page, none), f.get(page, none), strict=True)]
        chosen = [cosine for cosine, yes in zip(cosines, selected, strict=True) if yes]
        scores[page] = (sum(chosen) / len(start.used), sum(commons))
        reached[page] = sum(common > 0 and yes for common, yes in zip(commons, selected, strict=True))
    return rank(web, scores, reached, start.never, start.used, {"back": back_k, "forward": forward_k})


def densities(linked: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """(bcp, bd, dd) of §4: share of parents a page has, share of pages a parent has, and how far a page drifts."""
    pages, groups = linked.shape
    percentage, density = linked.sum(axis=1) / groups, linked.sum(axis=0) / pages
    return percentage, density, 1 - linked @ density / density.sum()
