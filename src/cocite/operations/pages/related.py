"""Find the pages most related to one or more pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cocite.errors import BadAddress, BadParameter
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD, shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.results.answer import Answers
    from cocite.results.ask import Question
    from cocite.web import Web

QUICK_METHODS = frozenset({DEFAULT_METHOD, *COMPARED_METHODS} - {"walk"})
"""They take milliseconds, within these limits:"""
MAX_QUICK_PAGES = 5
MAX_QUICK_RESULTS = 100
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
        """Check that there is something to ask about."""
        super().validate()
        if not self.urls and not self.history:
            raise BadParameter("No page to ask about: give an address")
        if self.by != "lli" and not self.group:
            raise BadParameter("by needs --group: give both, or leave it out")

    @property
    def slow(self) -> bool:
        """Whether this question takes longer than milliseconds."""
        quick = self.method.partition("(")[0].strip() in QUICK_METHODS and self.k <= MAX_QUICK_RESULTS
        return not quick or len(self.urls) + len(self.exclude) > MAX_QUICK_PAGES

    def run(self, web: Web) -> Answers:
        """The k pages most related to those asked about, with reasons."""
        from cocite.related.methods import method
        from cocite.results.ask import ask
        from cocite.results.groups import grouped

        chosen = method(self.method)
        asked, notes = find_pages(web.graph, self.urls, self.exclude, self.history)
        answers = ask(web, asked, chosen, self.k, self.filters, self.explain)
        answers = with_note(web.graph, asked, answers, notes)
        return grouped(web, answers, self.by) if self.group else answers

    def why_empty(self, web: Web, result: Any) -> str:
        """Why nothing is related, and what to try."""
        if len(result) or not self.k:
            return ""
        if self.filters != NO_FILTERS or self.exclude:
            return why_filtered(web, self.filters, result.query)
        return why_unrelated(web, result.query, self.method)


def find_pages(
    graph: Graph,
    urls: Sequence[str],
    exclude: Sequence[str] = (),
    history: Sequence[tuple[str, float]] = (),
) -> tuple[Question, list[str]]:
    """The pages of a question, with notes: an unknown address is replaced by its nearest known shorter one.

    Raises UnknownPage where no shorter address of its site is known, and BadAddress.
    """
    from cocite.results.ask import check_address, question

    known, notes = [], []
    for url in urls:
        page = graph.get(check_address(url))
        shorter = next(known_shorter(graph, url), None) if page is None else None
        known.append(url if shorter is None else graph.address(shorter))
        if shorter is not None:
            notes.append(f"{url[:200]} isn't in this store; these results are for {known[-1]}")
    asked = question(graph, known, exclude, history)
    return (asked if history else replace(asked, texts=tuple(urls))), notes


def known_shorter(graph: Graph, url: str) -> Iterator[int]:
    """Known pages of the same site at ever shorter addresses."""
    from cocite.graph.nearest import chopped
    from cocite.pages.address import parse_query
    from cocite.pages.site import Sites

    try:
        canonical = parse_query(url).canonical
    except BadAddress:
        return
    if canonical.startswith("name:"):
        return
    sites = Sites()
    for address in chopped(canonical):
        page = graph.get(address)
        if page is not None and sites.site(graph.canonical(page)) == sites.site(canonical):
            yield page


def with_note(graph: Graph, asked: Question, answers: Answers, notes: Sequence[str]) -> Answers:
    """Answers that say where shorter addresses were used."""
    own = {graph.canonical(page).removeprefix("name:") for page in asked.seeds}
    if others := [page for page in answers.used if page not in own]:
        notes = [*notes, f"Too few links are known around the page itself; these results are for {', '.join(others)}"]
    return replace(answers, note=". ".join(notes)) if notes else answers


def why_filtered(web: Web, filters: Filters, query: tuple[str, ...]) -> str:
    """Why nothing passes the filters, and what to try."""
    for given, array, what in (
        (filters.lang, "page.language", "the language of any page: ask without lang"),
        (filters.since or filters.until, "page.captured", "the date of any page: ask without since and until"),
    ):
        if given and not web.graph.array(array).any():
            return f"This store doesn't have {what}"
    return f"Nothing related to {', '.join(query)} passes the filters; give fewer of them"


def why_unrelated(web: Web, urls: tuple[str, ...], *calls: str) -> str:
    """Why methods find nothing related to known pages, and what to try."""
    from shlex import quote

    from cocite.parameters import changed, spell
    from cocite.related.methods import method

    pages, chosen = find_pages(web.graph, urls)[0].seeds, [method(call) for call in calls]
    one = len(urls) == 1
    known = f"{', '.join(urls)} {'is' if one else 'are'} known"
    for each in chosen:
        unit = getattr(each.params, "unit", "none")
        if unit != "none" and all(linked_at_home_only(web, page, unit) for page in pages):
            call = quote(spell(each.name, {**changed(each.params), "unit": "none"}))
            return (
                f"{known}, but linked only from pages of {'its' if one else 'their'} own {unit}: try the method {call}"
            )
    finds = f"{chosen[0].name} finds nothing" if len(chosen) == 1 else "no method finds anything"
    return f"{known}, but {finds} related: look at {'its' if one else 'their'} links"


def linked_at_home_only(web: Web, page: int, unit: str) -> bool:
    """Whether other pages link to a page, and all of them are on its own unit."""
    graph = web.graph
    if not 0 < graph.in_degree[page] <= MAX_IN_LINKS_LOOKED_AT:
        return False
    parents, units = graph.links_to(page), graph.units(unit)
    return bool((parents != page).any() and (units[parents] == units[page]).all())
