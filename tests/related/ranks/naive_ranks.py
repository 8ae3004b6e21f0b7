"""The ranks read literally, with dense matrices and exact solvers: slow, and sharing no code with cocite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
"""links[p, q] is 1 where page p links to page q."""


def surfer(links: Matrix, jump: float, prefers: Matrix) -> Matrix:
    """x = (1 - jump) · (links and dead ends) · x + jump · E, of mean 1, solved as a linear system."""
    pages = len(links)
    even = prefers / prefers.sum()
    moves = np.array([row / row.sum() if row.any() else even for row in links])
    found = np.linalg.solve(np.eye(pages) - (1 - jump) * moves.T, jump * even)
    return np.asarray(found * pages)


def pagerank(links: Matrix, jump: float = 0.15) -> Matrix:
    return surfer(links, jump, np.ones(len(links)))


def hubrank(links: Matrix, jump: float = 0.15, bias: str = "hubs", transposed: bool = False) -> Matrix:
    if not links.any():
        return np.ones(len(links))
    prefers = links.sum(axis=1) if bias == "hubs" else links.sum(axis=0)
    return surfer(links.T if transposed else links, jump, prefers)


def hits(links: Matrix) -> tuple[Matrix, Matrix, float]:
    """(Authorities, hubs, gap): where a, then h, lead to when iterated from h = 1 for ever.

    That is the start's part in the leading eigenspace of AᵀA. The gap says how far the next eigenvalue is.
    """
    pages = len(links)
    if not links.any():
        return np.zeros(pages), np.zeros(pages), 1.0
    values, vectors = np.linalg.eigh(links.T @ links)
    leading = values > values[-1] * (1 - 1e-9)
    gap = 1.0 if leading.all() else float(1 - values[~leading].max() / values[-1])
    space = vectors[:, leading]
    authorities = space @ (space.T @ (links.T @ np.ones(pages)))
    hubs = links @ authorities
    return authorities / np.linalg.norm(authorities), hubs / np.linalg.norm(hubs), gap


def randomized_hits(links: Matrix, jump: float = 0.15) -> tuple[Matrix, Matrix]:
    """(Authorities, hubs), both of mean 1: the surfer's two distributions, by a linear system for the authorities."""
    pages = len(links)
    if not links.any():
        return np.ones(pages), np.ones(pages)
    even = np.full(pages, 1 / pages)
    forwards = np.array([row / row.sum() if row.any() else even for row in links]).T
    backwards = np.array([row / row.sum() if row.any() else even for row in links.T]).T
    follow = 1 - jump
    start = jump * np.ones(pages) + follow * forwards @ (jump * np.ones(pages))
    authorities = np.linalg.solve(np.eye(pages) - follow**2 * forwards @ backwards, start)
    return authorities, jump + follow * backwards @ authorities
