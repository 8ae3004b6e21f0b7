"""Communities and noise page elimination (Hou & Zhang 2002), read word by word, with dense matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from tests.related.methods.naive_hits import Edge, edges_between, hits, weights
from tests.related.methods.naive_latent import kept
from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, rank

Matrix = NDArray[np.float64]


class Noise(NamedTuple):
    """What NPEA says of the pages outside the root set."""

    measures: dict[int, float]  # ‖PR_i‖
    threshold: float
    k: int


class Limits(NamedTuple):
    """Of the base set."""

    window: int
    in_links: int


def one_block(one: int, other: int) -> bool:
    """Whether two links may stand in one block."""
    return one == other or -1 in (one, other)


def children_near(view: View, page: int, root: Collection[int], window: int) -> list[int]:
    """What a page links to near its links to root pages; of a short page, or with a window of 0, everything."""
    links = view.links(page)
    if not window or len(links) <= window + 1:
        return [link.target for link in links]
    roots = [at for at, link in enumerate(links) if link.target in root]
    if not roots:
        return [link.target for link in links[: window + 1]]
    return [
        link.target
        for at, link in enumerate(links)
        if any(abs(at - other) <= window // 2 and one_block(link.block, links[other].block) for other in roots)
    ]


def base_set(view: View, part: Collection[int], root: Collection[int], limits: Limits) -> set[int]:
    """Some root pages, what they link to, and some that link to each."""
    pages = set(part)
    for page in part:
        pages |= {*children_near(view, page, root, limits.window), *view.random_parents(page, limits.in_links)}
    return pages


def fixed_basis(singular: Matrix, vectors: Matrix) -> Matrix:
    """Within equal singular values Gram–Schmidt of projected unit vectors; largest entry positive."""
    columns: list[Matrix] = []
    start = 0
    while start < len(singular):
        stop = start + 1
        while stop < len(singular) and singular[stop - 1] - singular[stop] <= 1e-9 * singular[0]:
            stop += 1
        space = vectors[:, start:stop]
        projector = space @ space.T
        own: list[Matrix] = []
        for unit in range(len(vectors)):
            vector = projector[:, unit]
            for _ in range(2):
                for before in own:
                    vector = vector - (before @ vector) * before
            if len(own) < stop - start and np.linalg.norm(vector) >= 1e-6:
                own.append(vector / np.linalg.norm(vector))
        columns += own
        start = stop
    for at, vector in enumerate(columns):
        first = next(i for i, x in enumerate(vector) if abs(x) >= np.abs(vector).max() - 1e-9)
        columns[at] = vector if vector[first] > 0 else -vector
    return np.array(columns).T.reshape(len(vectors), len(singular))


def decomposed(matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """(U, singular values, V) without zeros: V is fixed, and U goes with it."""
    _, singular, v_transposed = np.linalg.svd(matrix, full_matrices=False)
    rank_of = int((singular > 1e-6 * singular[0]).sum()) if singular.size else 0
    singular = singular[:rank_of]
    v = fixed_basis(singular, v_transposed[:rank_of].T)
    return matrix @ v / singular if rank_of else np.zeros((len(matrix), 0)), singular, v


def npea(
    edges: Collection[Edge], base: Collection[int], root: Collection[int], delta: float, npea: str, basis: str
) -> Noise | None:
    """The measures of all pages of the base set outside the root set; None: there is nothing to eliminate."""
    inside, outside = sorted(root), sorted(set(base) - set(root))
    linked = {pair for source, target in edges for pair in ((source, target), (target, source))}
    s = np.array([[float(i == j or (i, j) in linked) for j in inside] for i in inside])
    a = np.array([[float((i, j) in linked) for j in inside] for i in outside])
    if not outside or not a.any():
        return None
    u, sigma, v = decomposed(a)
    # S is its own transpose, so the left vectors of S are the right vectors of Sᵀ = S.
    _, omega, w = decomposed(s.T)
    t = len(omega)
    k = min(kept(sigma, delta)[0], t)
    if basis == "svd":
        pages = np.hstack((u[:, :k] * sigma[:k], np.zeros((len(outside), t - k))))
        roots = w * omega
    else:
        pages = u[:, :k] * sigma[:k] @ v[:, :k].T
        roots = s
    lengths = [float(np.linalg.norm(row)) for row in roots]
    measures = {}
    for page, row in zip(outside, pages, strict=True):
        projection = [float(row @ other) / length for other, length in zip(roots, lengths, strict=True)]
        measures[page] = float(np.linalg.norm(projection))
    threshold = {"avg": sum(lengths) / len(lengths), "max": max(lengths), "min": min(lengths)}[npea]
    return Noise(measures, threshold, k)


def with_unit(view: View, root: Collection[int], limits: Limits) -> View:
    """With unit auto, without units if all root pages are on one."""
    return view.with_unit(sorted(root)[:1], sorted(root)[1:], base_set(view, root, root, limits))


def without_noise(view: View, root: Collection[int], limits: Limits, delta: float, npea_: str, basis: str) -> set[Edge]:
    """The edges among the pages of the base set that are not noise."""
    pages = base_set(view, root, root, limits)
    view = with_unit(view, root, limits)
    edges = edges_between(view, pages)
    base, roots = {view.node(page) for page in pages}, {view.node(page) for page in root}
    found = None if npea_ == "off" else npea(edges, base, roots, delta, npea_, basis)
    if found is None:
        return edges
    noise = {page for page, measure in found.measures.items() if measure < found.threshold - 1e-9}
    return {(source, target) for source, target in edges if source not in noise and target not in noise}


def community(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 200,
    window: int = 8,
    in_links: int = 50,
    unit: str = "auto",
    npea: str = "avg",
    delta: float = 0.5,
    basis: str = "svd",
    weighted: bool = False,
    rounds: int = 200,
    **switches: Unpack[Switches],
) -> Ranking:
    """The authorities among the pages that are not noise."""
    given: Switches = {**switches, "merge": switches.get("merge") is True}  # nothing is merged as published
    limits = Limits(window, in_links)

    def roots(view: View, page: int) -> set[int]:
        return {page, *view.random_parents(page, parents)}

    def good(view: View, page: int) -> bool:
        root = roots(view, page)
        return bool(edges_between(with_unit(view, root, limits), base_set(view, root, root, limits)))

    start = Start(web, seeds, unit, given, good)
    view = start.view
    root = {page for seed in start.used for page in roots(view, seed)}
    edges = without_noise(view, root, limits, delta, npea, basis)
    view = with_unit(view, root, limits)
    if not edges:
        return Ranking([], start.used, {})
    ones = dict.fromkeys(edges, 1.0)
    authority, _, _, _ = hits(edges, *(weights(view, edges) if weighted else (ones, ones)), rounds)
    each = [base_set(view, roots(view, page), root, limits) for page in start.used]
    reached = Counter(node for pages in each for node in {view.node(page) for page in pages})
    return rank(web, {node: (score,) for node, score in authority.items()}, reached, start.never, start.used)


def vectors(view: View, edges: Collection[Edge], weighted: bool) -> tuple[list[int], Matrix, Matrix, Matrix]:
    """(pages, U, singular values, V) of the matrix of edges, of √(authority weight · hub weight) if weighted."""
    pages = sorted({page for edge in edges for page in edge})
    place = {page: at for at, page in enumerate(pages)}
    authority, hub = weights(view, edges)
    matrix = np.zeros((len(pages), len(pages)))
    for source, target in edges:
        value = (authority[source, target] * hub[source, target]) ** 0.5 if weighted else 1.0
        matrix[place[source], place[target]] = value
    return pages, *decomposed(matrix)


def ends(pages: Sequence[int], vector: Matrix, sign: int) -> dict[int, float]:
    """The pages at one end of a vector."""
    return {page: float(sign * x) for page, x in zip(pages, vector, strict=True) if sign * x > 1e-6}
