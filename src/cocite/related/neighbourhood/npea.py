"""Noise page elimination (NPEA; Hou & Zhang 2002, §3.2): remove pages of a base set that have few links with its root.

R are the n root pages, B is the base set. S (n × n) has 1 on its diagonal and where two root pages are linked
either way, A (|B − R| × n) has 1 where a page outside the root set and a root page are. With S = WΩXᵀ of rank t and
A = UΣVᵀ, k is the smallest with (σ_k − σ_{k+1}) / σ_k ≥ δ, and at most t:

    R_i = row i of U_kΣ_k, with zeros up to t        R'_j = row j of W_tΩ_t
    PR_ij = R_i · R'_j / ‖R'_j‖                        page i stays where ‖PR_i‖ ≥ c = mean (max, min) of ‖R'_j‖

The product R_i · R'_j combines coordinates of two bases, so it depends on their choice, which the paper leaves open:
`spectra` fixes V and W, whose entries are root pages in the order of addresses. The variant `basis=root` uses the one
space of root pages for both, R_i = row i of A_k = U_kΣ_kV_kᵀ and R'_j = row j of S: lengths are the same, and there is
nothing to choose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.related.hubs_authorities import Edges
from cocite.parameters import parameter
from cocite.related.neighbourhood.spectra import Matrix, kept, right_vectors, symmetric_left_vectors

Marks = NDArray[np.bool_]
ROOT_STATISTICS: dict[str, Callable[[Matrix], Any]] = {"avg": np.mean, "max": np.max, "min": np.min}
MAX_ROOT_PAGES = 2000
"""The work grows with the cube of the number of root pages; 2,000 take about ten seconds."""
CHUNK_NUMBERS = 1 << 22
"""Numbers of a dense matrix that are in memory at once."""


@dataclass(frozen=True, kw_only=True)
class Elimination:
    """How strict NPEA is."""

    npea: str = parameter("avg", "c: statistic of the root set that a page has to reach; off: no page is noise",
                          choices=(*ROOT_STATISTICS, "off"))  # fmt: skip
    delta: float = parameter(0.5, "δ: drop of singular values that limits the space", minimum=1e-6, maximum=1)
    basis: str = parameter(
        "svd", "svd: as published, with fixed bases; root: both in the space of root pages", choices=("svd", "root")
    )


@dataclass(frozen=True)
class Measured:
    """The result of NPEA; `measure` and `ties` are by node."""

    keep: Marks  # of every node
    measure: Matrix  # ‖PR_i‖; of root pages ‖R'_j‖
    ties: NDArray[np.int64]  # other root pages with which a node is linked, in either direction
    threshold: float = 0.0  # c; 0 if there was nothing to eliminate
    k: int = 0
    rank: int = 0  # of A
    root_rank: int = 0  # t


class Linkage:
    """The matrices S and A of a base set, decomposed once for any number of δ and thresholds."""

    def __init__(self, edges: Edges, root: Marks) -> None:
        """Nodes are in the order of addresses; `root` marks the root pages."""
        self.root = root
        self._among, self._outside = _linkage(edges, root)
        self.ties = np.zeros(len(root), np.int64)
        self.ties[root], self.ties[~root] = self._among.sum(axis=1).ravel() - 1, self._outside.sum(axis=1).ravel()
        self._lengths: dict[tuple[str, int], Matrix] = {}

    def measured(self, params: Elimination) -> Measured:
        """The result for some parameters; raises BadParameter if the root set is too large."""
        root, n = self.root, int(np.count_nonzero(self.root))
        lengths = np.zeros(len(root))
        lengths[root] = own = np.sqrt(self.ties[root] + 1.0)  # W and X rotate the rows of S, which keeps their lengths
        if params.npea == "off" or not self._outside.nnz:
            return Measured(np.ones(len(root), np.bool_), lengths, self.ties)
        if n > MAX_ROOT_PAGES:
            raise BadParameter(f"NPEA takes up to {MAX_ROOT_PAGES:,} root pages, not {n:,}: give fewer, or npea=off")
        k, rank = kept(self._right[0], params.delta)
        k = min(k, len(self._left[0]))
        if (params.basis, k) not in self._lengths:
            v, (omega, w) = self._right[1][:, :k], self._left
            rows = v.T @ self._among.toarray() if params.basis == "root" else (w * omega)[:, :k].T
            self._lengths[params.basis, k] = _lengths(self._outside, v @ (rows / own))
        lengths[~root] = self._lengths[params.basis, k]
        threshold = float(ROOT_STATISTICS[params.npea](own))
        keep = root | (lengths >= threshold - 1e-9)
        return Measured(keep, lengths, self.ties, threshold, k, rank, len(self._left[0]))

    @cached_property
    def _right(self) -> tuple[Matrix, Matrix]:
        """Σ and V."""
        return right_vectors(self._outside)

    @cached_property
    def _left(self) -> tuple[Matrix, Matrix]:
        """Ω and W."""
        return symmetric_left_vectors(self._among.toarray())


def _linkage(edges: Edges, root: Marks) -> tuple[Any, Any]:
    """S and A as sparse matrices of ones."""
    from scipy.sparse import csr_array, eye_array

    size = len(edges.pages)
    links = csr_array((np.ones(len(edges.ends)), edges.ends, edges.starts), shape=(size, size))
    links.sort_indices()
    linked = (links + links.T).astype(bool).astype(np.float64)[:, root]  # in either direction, or both
    among = (linked[root] + eye_array(linked.shape[1])).astype(bool).astype(np.float64)
    return csr_array(among), csr_array(linked[~root])


def _lengths(sparse: Any, dense: Matrix) -> Matrix:
    """The lengths of the rows of a product, computed in chunks."""
    found = np.zeros(sparse.shape[0])
    step = max(1, CHUNK_NUMBERS // max(1, dense.shape[1]))
    for first in range(0, len(found), step):
        found[first : first + step] = np.linalg.norm(sparse[first : first + step] @ dense, axis=1)
    return found


def by_address(edges: Edges, graph: Graph) -> Edges:
    """The same graph with its nodes in the order of addresses."""
    order = np.argsort(graph.names.address_keys(edges.pages), kind="stable")
    return edges if bool((np.diff(order) > 0).all()) else chosen(edges, order)


def chosen(edges: Edges, nodes: NDArray[np.intp]) -> Edges:
    """The graph of some nodes, in the order given, and the links among them."""
    place = np.full(len(edges.pages), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    sources, ends = place[np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts))], place[edges.ends]
    among = np.flatnonzero((sources >= 0) & (ends >= 0))
    among = among[np.argsort(sources[among], kind="stable")]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(sources[among], minlength=len(nodes)))])
    return Edges(edges.pages[nodes], edges.unit[nodes], edges.units, starts, ends[among].astype(np.int32))
