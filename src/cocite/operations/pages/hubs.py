"""Find hubs, or authorities, around a set of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.pages.related import why_filtered
from cocite.parameters import parameter
from cocite.results.answer import Answers
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.related.methods import Method
    from cocite.related.methods.hubfinder import Criterion, Params
    from cocite.related.neighbourhood.scores import Scores

UNLIMITED = 1 << 62
MAX_DISTANCE = 6
"""Links between a query page and a hub: one more than the rounds."""
MAX_COMPARED_LINKS = 2_000_000
"""A round with more links is not compared with HITS: counting them would take more than half a second."""


@operation(route="/api/hubs", tool="hubs", slow=True)
class Hubs(Operation, Filters):
    """Find hubs around some pages: pages that link to many others. Those that link to the pages themselves come first.

    HubFinder (Chirita, Olmedilla & Nejdl 2004) explores the links around the pages, and keeps the pages of highest
    global rank. A rank that isn't kept in the store is computed first; cocite rank keeps one. JSON has how many pages
    each round explored, and how many it would have explored without trimming, where that is quick to count.

    Examples:
        cocite hubs nytimes.com
        cocite hubs nytimes.com lemonde.fr --authorities --by pagerank -k 20
    """

    urls: tuple[str, ...] = shared.urls("Address of a page to start from; may be repeated")
    k: int = shared.k()
    authorities: bool = parameter(False, "Find authorities instead of hubs", surfaces=("cli", "http"))
    kind: str = parameter(
        "hubs", "hubs: pages that link to many pages on the topic; authorities: pages that many hubs link to",
        choices=("hubs", "authorities"), surfaces=("mcp", "python"),
    )  # fmt: skip
    by: str = parameter(
        "", "Criterion for keeping pages: a rank, out_degree, in_degree or text (default: hubrank)",
        metavar="CRITERION", surfaces=("cli", "http", "python"),
        on=shared.on_surfaces(shared.TEXT, python="criterion"),
    )  # fmt: skip
    rounds: int = parameter(
        3, "Number of extensions after the first", minimum=0, maximum=5, surfaces=("cli", "http", "python")
    )
    likeness: float = parameter(
        0.0, "Minimum similarity of texts, from 0 to 1", metavar="X", minimum=0, maximum=1,
        surfaces=("cli", "http", "python"),
    )  # fmt: skip
    untrimmed: bool = shared.command_option(
        False, "Count what HITS would explore without trimming, however long that takes"
    )
    as_of: str = shared.as_of()
    explain: bool = parameter(True, "Give reasons", surfaces=("python",))
    method: str = "hubfinder"  # with its other parameters
    rating: Criterion | None = None  # a criterion of your own, from Python

    def chosen(self) -> Method:
        """HubFinder with these parameters."""
        from cocite.related.methods import method

        kind = "authorities" if self.authorities else self.kind
        given = {"kind": kind, "criterion": self.by, "rounds": self.rounds, "likeness": self.likeness}
        return method(self.method, given)

    def prepare(self, web: Web) -> None:
        from cocite.words.search import SEARCH

        if (self.likeness or self.by == "text") and web.graph.texts:
            web.search = SEARCH.ready(web.graph, progress=web.progress)

    def run(self, web: Web) -> Answers:
        """The k best hubs or authorities; `steps` of the result are the rounds."""
        from cocite.related.methods import Method
        from cocite.results.ask import ask, question

        chosen, compared = self.chosen(), UNLIMITED if self.untrimmed else MAX_COMPARED_LINKS
        relating = partial(nearest_first, criterion=self.rating, max_compared_links=compared)
        hubfinder = Method(chosen.name, chosen.params, relating)
        asked = question(web.graph, self.urls)
        return ask(web, asked, hubfinder, self.k, self.filters, self.explain)

    def commands_to_try(self, web: Web, result: Any) -> str:
        explored = any(step["met"] for step in result.steps)
        return "" if explored or self.filters != NO_FILTERS else "see cocite links"

    def why_empty(self, web: Web, result: Any) -> str:
        if len(result):
            return ""
        if self.filters != NO_FILTERS:
            return why_filtered(web, self.filters, self.urls)
        params, pages, met = self.chosen().params, ", ".join(self.urls), sum(step["met"] for step in result.steps)
        if not met:
            return f"No links to or from {pages}"
        around = f"Explored {met:,} {'page' if met == 1 else 'pages'} around {pages}, but"
        if not any(step["passed"] for step in result.steps):
            return f"{around} none has the out-links of a hub, 3 or more: try authorities"
        if params.likeness > 0 or params.criterion == "text":
            option = f"--likeness {params.likeness:g}" if params.likeness > 0 else "--by text"
            if not web.graph.texts:
                return f"{option} compares texts, and this store has none: leave it out, or build the store with texts"
            what = f"has a text similarity of {params.likeness:g}" if params.likeness > 0 else "shares a word"
            return f"{around} none {what} with them: leave out {option}"
        none = {"out_degree": "has out-links", "in_degree": "has in-links"}
        what = none.get(params.criterion, f"has a value by {params.criterion or 'the criterion'}")
        return f"{around} none {what}: try another --by, or more --rounds"


def nearest_first(web: Web, seeds: Sequence[int], params: Params, **options: Any) -> Scores:
    """HubFinder's scores. Hubs are ordered by the number of query pages to which they link, distance, then score."""
    import numpy as np

    from cocite.related.methods.hubfinder import relate

    found = relate(web, seeds, params, **options)
    if params.kind != "hubs":
        return found
    distances = np.repeat([step["distance"] for step in found.steps], [step["explored"] for step in found.steps])
    linked = sum(np.isin(found.pages, web.graph.links_to(seed)) for seed in found.used)
    return replace(found, reached=(MAX_DISTANCE + 1) * linked + MAX_DISTANCE - distances)
