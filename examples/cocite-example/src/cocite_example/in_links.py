"""In-links: the number of links to a page."""

from dataclasses import dataclass

import numpy as np

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.related.ranks import Iteration, Ranked


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """Nothing of its own."""


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The in-degree of every page."""
    return Ranked(graph.in_degree[:].astype(np.float64), rounds=1, residual=0.0, converged=True)
