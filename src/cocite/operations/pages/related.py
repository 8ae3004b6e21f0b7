"""Find the pages most related to one or more pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD, shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import changed, parameter, spell
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.results.answer import Answers
    from cocite.web import Web

QUICK_METHODS = frozenset({DEFAULT_METHOD, *COMPARED_METHODS} - {"walk"})
"""They take milliseconds, within these limits:"""
MAX_QUICK_PAGES, MAX_QUICK_RESULTS = 5, 100
MAX_IN_LINKS_LOOKED_AT = 100_000


@operation(
    group="related pages",
    examples=[
        "cocite related nytimes.com lemonde.fr -m companion -k 20 --explain",
        "cocite related bmw.com -m 'cocitation(unit=site)' --json | jq .answers",
        "cocite related --like bookmarks.html -k 5 --not-own-site",
    ],
    route="/api/related",
    tool="related_pages",
)
class Related(Operation, Filters):
    """Find the pages most related to a page, best first, with reasons.

    With several pages, results are related to all of them.
    """

    urls: tuple[str, ...] = shared_parameters.urls(required=False)
    method: str = shared_parameters.method()
    k: int = shared_parameters.k()
    exclude: tuple[str, ...] = shared_parameters.exclude()
    history: tuple[tuple[str, float], ...] = parameter(
        (), "Pages that were read, with weights: results are related to all of them, to the heavier ones more",
        type=tuple, surfaces=("python",),
    )  # fmt: skip
    group: bool = parameter(
        False, "Put the results into groups, named by keywords", surfaces=("cli", "http"), flags=("--group",)
    )
    by: str = shared_parameters.group_by(surfaces=("cli", "http"))
    explain: bool = parameter(True, "Give reasons", surfaces=("python",))

    def validate(self) -> None:
        super().validate()
        if not self.urls and not self.history:
            raise BadParameter("No page to ask about: give an address")
        if self.by != "lli" and not self.group:
            raise BadParameter("by needs --group: give both, or leave it out")

    @property
    def slow(self) -> bool:
        quick = self.method.partition("(")[0].strip() in QUICK_METHODS and self.k <= MAX_QUICK_RESULTS
        return not quick or len(self.urls) + len(self.exclude) > MAX_QUICK_PAGES

    def run(self, web: Web) -> Answers:
        """The k pages most related to the query pages, with reasons."""
        from cocite.related.methods import method
        from cocite.results.ask import ask, question
        from cocite.results.groups import grouped

        chosen = method(self.method)
        asked = question(web.graph, self.urls, self.exclude, self.history, shorter=True)
        answers = ask(web, asked, chosen, self.k, self.filters, self.explain)
        return grouped(web, answers, self.by) if self.group else answers

    def why_empty(self, web: Web, result: Any) -> str:
        if len(result) or not self.k:
            return ""
        if self.filters != NO_FILTERS or self.exclude:
            return why_filtered(web, self.filters, result.query)
        return why_unrelated(web, result.query, self.method)


def why_filtered(web: Web, filters: Filters, query: Sequence[str]) -> str:
    """Why nothing passes the filters, and what to try."""
    for given, array, what in (
        (filters.lang, "page.language", "the language of any page: ask without lang"),
        (filters.since or filters.until, "page.captured", "the date of any page: ask without since and until"),
    ):
        if given and not web.graph.array(array).any():
            return f"This store doesn't have {what}"
    return f"Nothing related to {', '.join(query)} passes the filters; give fewer of them"


def why_unrelated(web: Web, urls: Sequence[str], *calls: str) -> str:
    """Why methods find nothing related to known pages, and what to try."""
    from shlex import quote

    from cocite.related.methods import method
    from cocite.results.ask import question

    pages, chosen = question(web.graph, urls, shorter=True).seeds, [method(call) for call in calls]
    are, their = ("is", "its") if len(urls) == 1 else ("are", "their")
    known = f"{', '.join(urls)} {are} known, but"
    for each in chosen:
        unit = getattr(each.params, "unit", "none")
        if unit != "none" and all(linked_at_home_only(web, page, unit) for page in pages):
            call = quote(spell(each.name, {**changed(each.params), "unit": "none"}))
            return f"{known} linked only from pages of {their} own {unit}: try the method {call}"
    finds = f"{chosen[0].name} finds nothing" if len(chosen) == 1 else "no method finds anything"
    return f"{known} {finds} related: look at {their} links"


def linked_at_home_only(web: Web, page: int, unit: str) -> bool:
    """Whether other pages link to a page, and all of them are on its own unit."""
    graph = web.graph
    if not 0 < graph.in_degree[page] <= MAX_IN_LINKS_LOOKED_AT:
        return False
    parents, units = graph.links_to(page), graph.units(unit)
    return bool((parents != page).any() and (units[parents] == units[page]).all())
