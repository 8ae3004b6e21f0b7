"""Rank all pages by their links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cocite.errors import BadStore
from cocite.operations.declare import Operation, operation
from cocite.operations.shared_parameters import MAX_RESULTS
from cocite.parameters import Parameter, parameter

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.related.ranks import Ranked
    from cocite.web import Web


class TopPage(NamedTuple):
    """A page and its rank."""

    rank: int
    url: str
    title: str
    value: float  # to six significant digits


@dataclass(frozen=True)
class RankResult:
    """The pages of highest value, and how the rank was computed."""

    call: str  # the rank, with the parameters that differ from their defaults
    name: str
    params: dict[str, Any]
    ranked: Ranked
    top: list[TopPage]
    pages: int  # of the store
    seconds: float
    kept: bool
    not_kept: OSError | BadStore | None = None  # why it could not be kept

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        ranked = self.ranked
        facts = {"rounds": ranked.rounds, "residual": ranked.residual, "converged": ranked.converged}
        about = {"rank": self.name, "params": self.params, **facts, "seconds": round(self.seconds, 3)}
        return {**about, "kept": self.kept, "top": [page._asdict() for page in self.top]}


@operation(
    name="rank",
    group="the store",
    examples=[
        "cocite rank --by hubrank",
        'cocite rank --by "hubrank(bias=authorities, transposed=true)" -k 50',
        'cocite rank --by "hits(of=hubs)" --no-keep --json',
    ],
    slow=True,
)
class RankPages(Operation):
    """Rank all pages by their links, keep the rank with the store, and show the first pages.

    Other commands use a rank that is kept. After pages were added or removed, it has to be computed again. The store
    itself doesn't change.
    """

    by: str = parameter(
        "pagerank", "Rank: pagerank, hubrank, hits or randomized_hits, with parameters as in hubrank(bias=authorities)",
        metavar="RANK",
    )  # fmt: skip
    k: int = parameter(
        20, "Maximum number of pages to show", metavar="N", flags=("-k",), minimum=1, maximum=MAX_RESULTS
    )
    keep: bool = parameter(True, "Keep the rank with the store", flags=("--keep/--no-keep",))
    threads: int = parameter(0, "Number of threads (0: one per core, up to 8)", metavar="N", minimum=0, maximum=256)

    def run(self, web: Web) -> RankResult:
        """Compute the rank and keep it."""
        from cocite.kernels.jit import stopwatch
        from cocite.parameters import values_of
        from cocite.related import ranks

        wanted, graph = ranks.rank(self.by), web.graph
        with stopwatch() as passed:
            ranked = wanted.compute(graph, web.progress, self.threads or None)
            took = passed() / 1e3
        error: OSError | BadStore | None = None
        if self.keep:
            try:
                wanted.keep(graph, ranked)
            except (BadStore, OSError) as refused:
                error = refused
        top = top_pages(graph, ranked, self.k)
        kept = self.keep and error is None
        return RankResult(
            str(wanted), wanted.name, values_of(wanted.params), ranked, top, graph.pages, took, kept, error
        )

    def why_empty(self, web: Web, result: Any) -> str:
        """Why no page has a value."""
        return "" if result.top else "No page has a value: the store has no links"


def top_pages(graph: Graph, ranked: Ranked, k: int) -> list[TopPage]:
    """The k pages of highest value, without pages of value 0 and aliases."""
    from itertools import islice

    import numpy as np

    from cocite.related.neighbourhood.scores import Scores
    from cocite.results.naming import Titles

    k, titles = Parameter(name="k", help="", type=int, minimum=1, maximum=MAX_RESULTS).check(k), Titles(graph)
    pages, aliases = np.arange(graph.pages, dtype=np.uint32), graph.array("alias.page")
    best = Scores(pages, ranked.values, [], aliases).ranked(graph.in_degree, k)
    return [
        TopPage(place, graph.address(page), titles.of(page), value)
        for place, (page, value) in enumerate(islice(best, k), 1)
    ]
