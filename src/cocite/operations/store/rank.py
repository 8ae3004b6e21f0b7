"""Rank all pages by their links."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cocite.errors import BadStore, os_message
from cocite.operations import shared
from cocite.operations.declare import Graph, Operation, Web, operation
from cocite.parameters import parameter, parameters_of, values_of
from cocite.results.answer import HIDDEN, Result
from cocite.results.filters import NO_FILTERS, Filters, best_answers, why_none_passes

if TYPE_CHECKING:
    from cocite.related.ranks import Ranked


class TopPage(NamedTuple):
    """A page and its rank."""

    rank: int
    url: str
    title: str
    value: float  # to six significant digits


@dataclass(frozen=True)
class RankResult(Result):
    """The pages of highest value, and how the rank was computed."""

    rank: str
    params: dict[str, Any]
    rounds: int
    residual: float
    converged: bool
    seconds: float
    kept: bool
    top: list[TopPage]
    call: str = field(metadata=HIDDEN)  # the rank, with the parameters that differ from their defaults
    pages: int = field(metadata=HIDDEN)  # of the store
    not_kept: OSError | BadStore | None = field(metadata=HIDDEN)  # why it could not be kept


@operation(name="rank", slow=True)
class RankPages(Operation, Filters):
    """Rank all pages by their links, keep the rank with the store, and show the first pages.

    Other commands use a rank that is kept. After pages were added or removed, it has to be computed again. The store
    itself doesn't change.

    Examples:
        cocite rank --by hubrank --per-site 1
        cocite rank --by "hubrank(bias=authorities, transposed=true)" -k 50
        cocite rank --by "hits(of=hubs)" --no-keep --json
    """

    by: str = parameter(
        "pagerank", "Rank: pagerank, hubrank, hits or randomized_hits, with parameters as in hubrank(bias=authorities)",
        metavar="RANK",
    )  # fmt: skip
    k: int = shared.command_option(
        20, "Maximum number of pages to show", flags=("-k",), minimum=1, maximum=shared.MAX_RESULTS
    )
    keep: bool = shared.command_option(True, "Keep the rank with the store", flags=("--keep/--no-keep",))
    threads: int = shared.command_option(0, "Number of threads (0: one per core, up to 8)", minimum=0, maximum=256)
    quiet: bool = shared.quiet()

    def validate(self) -> None:
        super().validate()
        self.refuse_filters_by_query()

    def run(self, web: Web) -> RankResult:
        from cocite.kernels.jit import stopwatch
        from cocite.related import ranks

        wanted, graph = ranks.rank(self.by), web.graph
        with stopwatch() as passed:
            ranked = wanted.compute(graph, web.progress, self.threads or None)
            took = round(passed() / 1e3, 3)
        error: OSError | BadStore | None = None
        try:
            if self.keep:
                wanted.keep(graph, ranked)
        except (BadStore, OSError) as refused:
            error = refused
        best = top_pages(graph, ranked, self.k, self.filters)
        return RankResult(
            wanted.name, values_of(wanted.params), ranked.rounds, ranked.residual, ranked.converged, took,
            self.keep and error is None, best, str(wanted), len(graph), error,
        )  # fmt: skip

    def why_empty(self, web: Web, result: Any) -> str:
        if result.top:
            return ""
        if self.filters != NO_FILTERS:
            return why_none_passes(web.graph, self.filters, "No page with a value")
        return "No page has a value: the store has no links"

    def failure(self, result: Any) -> str:
        error = result.not_kept
        why = os_message(error) if isinstance(error, OSError) else error
        return f"Not kept, so other commands won't find this rank: {why}" if error else ""


def top_pages(graph: Graph, ranked: "Ranked", k: int, filters: Filters = NO_FILTERS) -> list[TopPage]:
    """The k pages of highest value that pass, without pages of value 0 and aliases."""

    import numpy as np

    from cocite.related.neighbourhood.scores import Scores
    from cocite.results.naming import titles_of

    k = next(each for each in parameters_of(RankPages) if each.name == "k").check(k)
    pages, titles = np.arange(graph.pages, dtype=np.uint32), titles_of(graph)
    if len(graph) < graph.pages:  # some are gone
        pages = np.sort(graph.names.in_order()).astype(np.uint32)
        ranked = replace(ranked, values=ranked.values[pages])
    best = best_answers(graph, Scores(pages, ranked.values, [], graph.array("alias.page")), [], k, filters)
    return [TopPage(place, graph.address(page), titles.of(page), value) for place, (page, value) in enumerate(best, 1)]
