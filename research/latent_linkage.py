"""The numerical experiment of Hou & Zhang 2003, §4 (Table 8 and Fig. 4), for any page of any web.

It tests whether LLI distinguishes pages that counting can't. A is the matrix of m siblings and n merged parents of the
query page (`methods.extended_cocitation`). The paper defines, without numbers for the first three:

    bcp(i) = Σ_j a_ij / n                             back cocitation percentage of a sibling
    bd(j)  = Σ_i a_ij / m                             back density of a merged parent
    dd(i)  = 1 − Σ_{j with a_ij = 1} bd(j) / Σ_j bd(j)  drift degree of a sibling: low if its parents are dense ones
    sim(i), equations 3 to 5                          similarity to the query page: `methods.lli`

The forward side has the same figures of spouses and merged children, with equations 6 to 8. `epsilon_sweep` is the
study of k that §6 proposes. `linkage_figure.draw` draws Fig. 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import CociteError
from cocite.graph.store import Graph
from cocite.parameters import parameters_of
from cocite.related.methods import lli
from cocite.related.methods.extended_cocitation import SourceSide, gather
from cocite.related.methods.lli import Params
from cocite.related.neighbourhood.scores import Start, begin, six_digits
from cocite.related.neighbourhood.view import GraphView, Pages
from cocite.web import Web

Figures = NDArray[np.float64]
EPSILONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FIRST = 10
"""Results that a user reads."""


def percentages(side: SourceSide) -> Figures:
    """bcp of each page: the share of merged parents (children) that it has."""
    return np.diff(side.starts) / max(1, side.groups)


def densities(side: SourceSide) -> Figures:
    """bd of each merged parent (child): the share of pages that it has."""
    return np.bincount(side.columns, minlength=side.groups) / max(1, len(side.pages))


def drifts(side: SourceSide) -> Figures:
    """dd of each page; 1 for a page without any merged parent, as the sum over none is 0."""
    density = densities(side)
    of_page: Figures = lli.multiply(side, density[:, None], 0, len(side.pages))[:, 0]
    return 1 - of_page / (density.sum() or 1)


class Linkage(NamedTuple):
    """A row of Table 8."""

    side: str  # back or forward
    address: str
    shared: int  # merged parents (children) in common with the query page: b or f
    bcp: float
    dd: float
    sim: float


class Density(NamedTuple):
    """A merged parent (or child) and its density."""

    side: str
    addresses: tuple[str, ...]
    bd: float


@dataclass(frozen=True)
class LinkageSide:
    """One side's figures. Pages come by bcp, then dd, then sim, best first, as in the paper."""

    name: str
    pages: Pages
    shared: NDArray[np.int64]
    bcp: Figures
    dd: Figures
    sim: Figures
    groups: Sequence[Pages]  # the merged parents (children), each as its merged pages
    bd: Figures  # of each group
    k: int
    rank: int
    patterns: int  # different rows of the matrix: the most that the matrix alone can distinguish

    def spread(self, count: int, least: int = 1) -> list[int]:
        """Up to `count` places, evenly spaced among the pages with at least `least` groups in common."""
        last = int(np.count_nonzero(self.shared >= least)) - 1
        return sorted(set(np.linspace(0, last, max(0, min(count, last + 1))).round().astype(int).tolist()))

    def told_apart(self) -> dict[str, int]:
        """How many different values each figure has, to six significant digits."""
        figures = {"bcp": self.bcp, "dd": self.dd, "sim": self.sim}
        return {name: len(np.unique(six_digits(values))) for name, values in figures.items()}


@dataclass(frozen=True)
class LinkageExperiment:
    """All figures around one page."""

    query: str  # the query page
    used: str  # the page used in its place, if it has too few links
    epsilon: float
    back: LinkageSide
    forward: LinkageSide
    _graph: Graph = field(repr=False)

    def rows(self) -> list[Linkage]:
        """Table 8 of every page: the back side, then the forward side."""
        return [self.row(side, at) for side in (self.back, self.forward) for at in range(len(side.pages))]

    def row(self, side: LinkageSide, at: int) -> Linkage:
        """The row of one place of a side."""
        figures = float(side.bcp[at]), float(side.dd[at]), float(side.sim[at])
        return Linkage(side.name, self._graph.address(int(side.pages[at])), int(side.shared[at]), *figures)

    def densities(self) -> list[Density]:
        """Every merged parent and merged child, densest first."""
        return [
            Density(side.name, tuple(self._graph.address(int(page)) for page in side.groups[at]), float(side.bd[at]))
            for side in (self.back, self.forward)
            for at in np.argsort(-side.bd, kind="stable")
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            frames = import_module("pandas")
        except ImportError as error:
            raise CociteError("to_frame needs pandas: pip install pandas, or take rows()") from error
        return frames.DataFrame(self.rows(), columns=list(Linkage._fields))


def experiment(web: Web, address: str, params: Params | None = None) -> LinkageExperiment:
    """The figures of all siblings and spouses of a page, with the similarities that LLI gives them.

    Raises UnknownPage or BadAddress. A page without siblings and spouses has two empty sides.
    """
    params = params or Params()
    page = web.graph.find(address)
    start, source = begin(web, [page], params, lambda view, pages: gather(view, pages, params))
    names, sides = ("back", "forward"), (source.back, source.forward)
    back, forward = (
        _figures(name, side, groups, params.epsilon)
        for name, side, groups in zip(names, sides, _groups(start, params), strict=True)
    )
    used = web.graph.address(start.used[0]) if start.used else ""
    return LinkageExperiment(web.graph.address(page), used, params.epsilon, back, forward, web.graph)


def _figures(name: str, side: SourceSide, groups: Sequence[Pages], epsilon: float) -> LinkageSide:
    cosines, (k, rank) = lli.cosines(side, epsilon)
    bcp, dd, sim = percentages(side), drifts(side), cosines.sum(axis=0)  # of one query page, or of none
    order = np.lexsort((side.pages, -six_digits(sim), six_digits(dd), -bcp))
    rows = {side.columns[start:end].tobytes() for start, end in zip(side.starts[:-1], side.starts[1:], strict=True)}
    shared = np.diff(side.starts)[order]
    figures = bcp[order], dd[order], sim[order]
    return LinkageSide(name, side.pages[order], shared, *figures, groups, densities(side), k, rank, len(rows))


def _groups(start: Start, params: Params) -> tuple[list[Pages], list[Pages]]:
    """The pages behind each column of both matrices, in the order of columns."""
    if not start.used:
        return [], []
    view, page = start.view, start.used[0]
    parents = view.parents_of(page, params.parents, params.window).pages
    return _columns(view, parents), _columns(view, view.children_of(page, params.children))


def _columns(view: GraphView, pages: Pages) -> list[Pages]:
    distinct = np.unique(pages)
    of, count = view.group(distinct)
    return [distinct[of == each] for each in range(count)]


class Step(NamedTuple):
    """The effect of one ε on the results for a page."""

    epsilon: float
    back_k: int
    back_rank: int
    forward_k: int
    forward_rank: int
    answers: int  # pages with any coordinate
    above: int  # pages that reach the paper's selection threshold
    values: int  # different similarities, to six significant digits
    first_kept: int  # how many of the first ten results with the ε of `params` are among the first ten here
    moved: float  # from 0, the order of `params`, to 1, that order reversed: Spearman's footrule


def epsilon_sweep(
    web: Web,
    address: str,
    epsilons: Sequence[float] = EPSILONS,
    params: Params | None = None,
    similarity: float = 0.5,
) -> list[Step]:
    """LLI's results for a page with each ε, compared with those of `params` (0.5 by default)."""
    params = params or Params()
    known = next(each for each in parameters_of(Params) if each.name == "epsilon")
    checked = [known.check(epsilon) for epsilon in epsilons]
    page = web.graph.find(address)
    reference, _, _ = _answers(web, page, params)
    return [_step(web, page, replace(params, epsilon=epsilon), reference, similarity) for epsilon in checked]


def _answers(web: Web, page: int, params: Params) -> tuple[list[int], Figures, dict[str, Any]]:
    """Pages in order, their similarities, and k and rank of both sides."""
    scores = lli.relate(web, [page], params)
    ranked = list(scores.ranked(web.graph.in_degree, first=FIRST))
    return [answer for answer, _ in ranked], np.array([score for _, score in ranked]), dict(scores.facts)


def _step(web: Web, page: int, params: Params, reference: list[int], similarity: float) -> Step:
    answers, similarities, facts = _answers(web, page, params)
    return Step(
        params.epsilon,
        facts["back k"],
        facts["back rank"],
        facts["forward k"],
        facts["forward rank"],
        len(answers),
        int(np.count_nonzero(similarities >= similarity)),
        len(np.unique(similarities)),
        len(set(answers[:FIRST]) & set(reference[:FIRST])),
        footrule(reference, answers),
    )


def footrule(one: Sequence[int], other: Sequence[int]) -> float:
    """How far the common pages of two lists move, as a share of the maximum."""
    both = set(one) & set(other)
    place = {page: at for at, page in enumerate(page for page in other if page in both)}
    moved = sum(abs(at - place[page]) for at, page in enumerate(page for page in one if page in both))
    return moved / max(1, len(both) ** 2 // 2)
