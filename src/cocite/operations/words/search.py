"""Search pages by words."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from cocite.errors import BadAddress, BadParameter
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.parameters import parameter
from cocite.results.answer import Answer, Answers, Result
from cocite.results.filters import NO_FILTERS, Filters, passing, why_none_passes


@dataclass(frozen=True)
class IndexBuilt(Result):
    """The search index of a store, built again."""

    store: str
    search: dict[str, Any]  # pages, bytes, seconds


@operation(name="search", route="/api/search", tool="search")
class SearchPages(Operation, Filters):
    """Search pages by words: in titles, headings, texts and addresses, and in the texts of links to them.

    Finds the pages that have all of the words, in any field; if there are none, those that have the most. Case,
    accents and a plural s don't matter. Pages that ask not to be indexed are excluded.

    Command line: build and add make the index if they keep texts, else the first search does. Exits with 1 if
    nothing is found.

    Examples:
        cocite search password manager
        cocite search '"static site" generator' -k 20 -i web.cocite
        cocite search --make -i web.cocite
    """

    query: str = parameter(
        "", "Words, and phrases in double quotes", metavar="WORDS", positional=True, joined=True, required=True,
        example="static site generator",
        on={"cli": {"required": False}, **shared.on_surfaces(shared.TEXT, http="q")},
    )  # fmt: skip
    k: int = shared.k()
    prefix: bool = parameter(
        False, "The query is being typed: its last word, or the address that it is, may go on", surfaces=("http",)
    )
    max_tokens: int = shared.max_tokens()
    make: bool = shared.command_option(False, "Build the index again, even if there is one that fits")
    quiet: bool = shared.quiet()

    def validate(self) -> None:
        super().validate()
        self.refuse_filters_by_query()
        if not self.query.strip() and not self.make:
            raise BadParameter("Nothing to search for: give some words")

    def prepare(self, web: Web) -> None:
        """Build the index if there is none that fits, or if asked to; then also vectors if there are none that fit."""
        from cocite.words.search import SEARCH
        from cocite.words.vectors import VECTORS

        web.search = (SEARCH.build if self.make else SEARCH.ready)(web.graph, progress=web.progress)
        if self.make and web.graph.texts:
            VECTORS.ready(web.graph, progress=web.progress)

    def run(self, web: Web) -> Answers | IndexBuilt:
        """The k best pages; `facts` says how many query words each of them has, and how many there are."""
        if not self.query.strip():
            index = web.search
            facts = {"pages": index.pages, "bytes": index.bytes, "seconds": round(index.seconds, 3)}
            return IndexBuilt(str(web.graph.path), facts)
        if self.prefix:
            return suggestions_for(web, self.query, self.k)
        if self.filters == NO_FILTERS:
            return search_for(web, self.query, self.k)
        looked_at = 10 * self.k + 100
        while True:
            looked_at = min(looked_at, shared.MAX_RESULTS)
            found = search_for(web, self.query, looked_at)
            ranked = ((answer.page, answer.score) for answer in found)
            passed = {page for page, _ in passing(web.graph, ranked, (), self.filters, {})}
            if len(passed) >= self.k or len(found) < looked_at or looked_at == shared.MAX_RESULTS:
                break
            looked_at *= 10
        best = [answer for answer in found if answer.page in passed][: self.k]
        return replace(found, answers=tuple(replace(answer, rank=rank) for rank, answer in enumerate(best, 1)))

    def why_empty(self, web: Web, result: Any) -> str:
        if isinstance(result, IndexBuilt) or len(result):
            return ""
        if self.filters != NO_FILTERS:
            return why_none_passes(web.graph, self.filters, f"No page with the words {self.query[:200]!r}")
        return f"No page has any of the words {self.query[:200]!r}; try others"


def search_for(web: Web, query: str, k: int = 10) -> Answers:
    """The k best pages for a query."""
    from cocite.kernels.jit import stopwatch
    from cocite.results.ask import about_store
    from cocite.results.naming import titles_of

    with stopwatch() as passed:
        found, titles = web.search.search(query, k), titles_of(web.graph)
        ranked, facts = enumerate(found.hits, 1), {"had": found.matched, "asked": found.total}
        answers = tuple(Answer(rank, titles.address(at), titles.of(at), score, (), at) for rank, (at, score) in ranked)
        return Answers((query,), "search", {}, (), answers, about_store(web.graph), passed(), facts=facts)


def suggestions_for(web: Web, text: str, k: int) -> Answers:
    """The k likeliest pages for a text that is being typed: the page at this address, longer addresses, words."""
    from cocite.graph.nearest import most_cited
    from cocite.kernels.jit import stopwatch
    from cocite.pages.address import parse_query
    from cocite.results.ask import about_store
    from cocite.results.naming import titles_of

    with stopwatch() as passed:
        graph, titles, found = web.graph, titles_of(web.graph), dict[int, None]()
        try:
            page, canonical = graph.get(text), parse_query(text).canonical
            found |= {} if page is None else {page: None}
            if page is not None or "/" in text.rpartition("://")[2]:
                found |= dict.fromkeys(most_cited(graph.names, graph.names.pages_beginning(canonical), canonical, k))
        except BadAddress:
            pass
        if len(found) < k:
            found |= dict.fromkeys(web.search.beginning(text.rpartition("://")[2].removeprefix("www."), k))
        pages = enumerate(islice(found, k), 1)
        answers = tuple(Answer(rank, titles.address(at), titles.of(at), 1 / rank, (), at) for rank, at in pages)
        return Answers((text,), "search", {}, (), answers, about_store(graph), passed())
