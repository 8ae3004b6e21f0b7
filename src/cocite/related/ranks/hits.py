"""HITS on the whole web: authorities are linked by good hubs, hubs link to good authorities (Kleinberg 1999).

    a(p) = Σ h(q) over the pages q that link to p,   h(p) = Σ a(q) over the pages q that p links to

Squares sum to 1. Starting from equal hubs, the iteration converges to the projection of the start on the leading
eigenspace of AᵀA. LOBPCG (Knyazev 2001) finds the same in fewer rounds: it takes the best combination of the current
vector, its residual and the last step. A round reads all links in both directions. Equal leading eigenvalues give the
same result as Kleinberg's iteration. Without links all values are 0. The residual is |AᵀAa - σ²a| / σ².
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import Blocks, RankWorkers, Vector, Watch


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """Which of the two."""

    of: str = parameter("authorities", "authorities or hubs", choices=("authorities", "hubs"))


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The authority (or hub) value of every page."""
    if not graph.links:
        return Ranked(np.zeros(graph.pages), 0, 0.0, True)
    watch = Watch(progress, params.tolerance)
    with RankWorkers(graph, threads) as workers:
        into, out, hubs = Blocks(workers, graph.into), Blocks(workers, graph.out), np.ones(graph.pages)
        start = np.empty(graph.pages)
        into.add_up(hubs, start, watch.read)

        def apply(given: Vector, result: Vector) -> None:
            out.add_up(given, hubs, watch.read)
            into.add_up(hubs, result, watch.read)

        found, rounds, residual = leading(workers, apply, start, params, watch)
        values = np.abs(found)  # noise may be below 0
        if params.of == "hubs":
            out.add_up(values, hubs)
            values = hubs
    return Ranked(values / np.sqrt(np.square(values).sum()), rounds, residual, residual <= params.tolerance)


def leading(
    workers: RankWorkers, apply: Callable[[Vector, Vector], None], start: Vector, params: Params, watch: Watch
) -> tuple[Vector, int, float]:
    """(The leading eigenvector that a start leads to, rounds, residual) of a symmetric, positive semi-definite map."""

    def gram() -> NDArray[np.float64]:
        """The products of x, r and p with all six vectors."""

        def work(first: int, last: int) -> NDArray[np.float64]:
            part = vectors[:, first:last]
            return np.triu(np.einsum("jp,kp->jk", part[:3], part))

        return sum(workers.each(work), np.zeros((3, 6)))

    vectors = np.zeros((6, len(start)))  # x, its residual r, the last step p, and what the map makes of each
    vectors[0] = start / np.sqrt(np.square(start).sum())
    apply(vectors[0], vectors[3])
    parts, rounds = np.array([1.0, 0.0, 0.0]), 1
    top = float(gram()[0, 3])
    while True:
        square = float(sum(workers.each(partial(_advance, vectors, parts, top))))
        residual = float(np.sqrt(square)) / top
        watch.changed(residual)
        if residual <= params.tolerance or rounds >= params.rounds:
            return vectors[0], rounds, residual
        apply(vectors[1], vectors[4])
        rounds += 1
        top, parts = _best(gram())


def _advance(vectors: Vector, parts: Vector, top: float, first: int, last: int) -> float:
    """A step of conjugate gradients: vectors are x, r, p and what a map B makes of each.

    p ← parts of r and p, x ← a part of x, and p; r ← Bx - top · x. Returns |r|².
    """
    own, rest, further = parts
    x, r, p = vectors[0::3, first:last], vectors[1::3, first:last], vectors[2::3, first:last]
    p *= further
    p += rest * r
    x *= own
    x += p
    r[0] = x[1] - top * x[0]
    return float(np.einsum("p,p->", r[0], r[0]))


def _best(sums: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The largest Ritz value among combinations of x, r and p, and the combination, of length 1."""
    gram, images = sums[:, :3] + np.triu(sums[:, :3], 1).T, (sums[:, 3:] + sums[:, 3:].T) / 2
    lengths = np.sqrt(np.maximum(np.diag(gram), 0))
    used = np.flatnonzero(lengths > 0)
    scale = 1 / lengths[used]
    gram, images = (part[np.ix_(used, used)] * scale * scale[:, None] for part in (gram, images))
    sizes, axes = eigh(gram)
    good = sizes > 1e-12 * sizes[-1]  # r and p may lie in one line
    basis = axes[:, good] / np.sqrt(sizes[good])
    values, inner = eigh(basis.T @ images @ basis)
    chosen = np.zeros(3)
    chosen[used] = scale * (basis @ inner[:, -1])
    return float(values[-1]), chosen if chosen[0] >= 0 else -chosen
