"""Find hubs, or authorities, around a set of pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.operations.related import find_pages, why_filtered
from cocite.parameters import parameter
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.related.methods import Method
    from cocite.results.answer import Answers
    from cocite.web import Web

UNLIMITED = 1 << 62
KINDS = ("hubs", "authorities")


@operation(
    group="related pages",
    examples=["cocite hubs nytimes.com", "cocite hubs nytimes.com lemonde.fr --authorities --by pagerank -k 20"],
    route="/api/hubs",
    tool="hubs",
    slow=True,
)
class Hubs(Operation, Filters):
    """Find hubs a few links away from some pages: pages that link to many others.

    HubFinder (Chirita, Olmedilla & Nejdl 2004) explores the links around the pages, and keeps the pages of highest
    global rank. A rank that isn't kept in the store is computed first; cocite rank keeps one. The result says how many
    pages each round explored, and how many it would have explored without trimming, where that is quick to count.
    """

    urls: tuple[str, ...] = shared_parameters.urls("Address of a page to start from; may be repeated")
    authorities: bool = parameter(False, "Find authorities instead of hubs", surfaces=("cli", "http"))
    kind: str = parameter(
        "hubs", "hubs: pages that link to many pages on the topic; authorities: pages that many hubs link to",
        choices=KINDS, surfaces=("mcp", "python"),
    )  # fmt: skip
    by: str = parameter(
        "", "Criterion for keeping pages: a rank, out_degree, in_degree or text (default: hubrank)",
        metavar="CRITERION", surfaces=("cli", "http"), on={"http": shared_parameters.TEXT},
    )  # fmt: skip
    rounds: int = parameter(
        3, "Number of extensions after the first", metavar="N", minimum=0, maximum=5, surfaces=("cli", "http")
    )
    likeness: float = parameter(
        0.0, "Minimum similarity of texts, from 0 to 1", metavar="X", minimum=0, maximum=1, surfaces=("cli", "http")
    )
    k: int = shared_parameters.k()
    untrimmed: bool = parameter(
        False, "Count what HITS would explore without trimming, however long that takes", surfaces=("cli",)
    )

    def chosen(self) -> Method:
        """HubFinder with these parameters."""
        from cocite.related.methods import method

        kind = "authorities" if self.authorities else self.kind
        given = {"kind": kind, "criterion": self.by, "rounds": self.rounds, "likeness": self.likeness}
        return method("hubfinder", given)

    def run(self, web: Web) -> Answers:
        """The k best hubs or authorities; `steps` of the result are the rounds."""
        from cocite.results.hubs import MAX_COMPARED_LINKS, find_hubs

        asked, notes = find_pages(web.graph, self.urls)
        compared = UNLIMITED if self.untrimmed else MAX_COMPARED_LINKS
        answers = find_hubs(web, asked, self.chosen(), self.k, max_compared_links=compared, filters=self.filters)
        return replace(answers, note=". ".join(notes)) if notes else answers

    def why_empty(self, web: Web, result: Any) -> str:
        """Why there are no hubs, and what to try."""
        from cocite.results.hubs import why_none

        if len(result) or not self.k:
            return ""
        if self.filters != NO_FILTERS:
            return why_filtered(web, self.filters, self.urls)
        return why_none(web, find_pages(web.graph, self.urls)[0], self.chosen().params, result)
