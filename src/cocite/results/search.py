"""Full-text search, with results in the same shape as related pages."""

from __future__ import annotations

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.results.answer import Answer, Answers
from cocite.results.ask import about_store, check_k
from cocite.results.naming import title_of
from cocite.words.search import SearchIndex


def search_for(graph: Graph, index: SearchIndex, query: str, k: int = 10) -> Answers:
    """The k best pages for a query. `facts` says how many query words each of them has, and how many there are."""
    if not isinstance(query, str):
        raise BadParameter(f"the query must be a text, not {query!r:.100}")
    with stopwatch() as passed:
        found = index.search(query, check_k(k))
        answers = [
            Answer(rank, graph.address(page), title_of(graph, page), score, (), page)
            for rank, (page, score) in enumerate(found.hits, 1)
        ]
        took = passed()
    return Answers(
        query=(query,),
        method="search",
        params={},
        used=(),
        answers=tuple(answers),
        store=about_store(graph),
        milliseconds=took,
        facts={"had": found.matched, "asked": found.total},
    )
