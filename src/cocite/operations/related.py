"""Find the pages most related to one or more pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import DEFAULT_METHOD
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.results.answer import Answers
    from cocite.web import Web

MAX_RESULTS = 100_000
MAX_PAGES = 1000
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

    urls: tuple[str, ...] = parameter(
        (), "Address of a page, in any spelling; with several, pages related to all of them", metavar="URL",
        positional=True, max_items=MAX_PAGES, max_length=1_000_000, example=["nytimes.com"],
        on={
            "http": {"name": "url", "required": True, "max_items": 50, "max_length": 2000},
            "mcp": {"required": True, "max_items": 20, "max_length": 2000},
            "python": {"name": "pages"},
        },
    )  # fmt: skip
    method: str = parameter(
        DEFAULT_METHOD, "How to relate pages, with parameters in the name: companion(parents=500)", metavar="METHOD",
        flags=("--method", "-m"), example="companion", on={"http": {"max_length": 1000}, "mcp": {"max_length": 1000}},
    )  # fmt: skip
    k: int = parameter(
        10, "Maximum number of results", metavar="N", flags=("-k",), minimum=0, maximum=MAX_RESULTS,
        on={"http": {"maximum": 1000}, "mcp": {"minimum": 1, "maximum": 50}},
    )  # fmt: skip
    exclude: tuple[str, ...] = parameter(
        (), "Exclude this page and pages closer to it than to the query; may be repeated", metavar="URL",
        max_items=MAX_PAGES,
        on={
            "cli": {"name": "not", "flags": ("--not",)},
            "http": {"name": "not", "max_items": 50, "max_length": 2000},
            "mcp": {"name": "not_urls", "max_items": 20, "max_length": 2000},
            "python": {"name": "unwanted"},
        },
    )  # fmt: skip
    history: tuple[tuple[str, float], ...] = parameter(
        (), "Pages that were read, with weights: results are related to all of them, to the heavier ones more",
        type=tuple, surfaces=("python",),
    )  # fmt: skip
    explain: bool = parameter(True, "Give reasons", surfaces=("python",))

    def validate(self) -> None:
        """Check that there is something to ask about."""
        super().validate()
        if not self.urls and not self.history:
            raise BadParameter("No page to ask about: give an address")

    def run(self, web: Web) -> Answers:
        """The k pages most related to those asked about, with reasons."""
        from cocite.related.methods import method
        from cocite.results.ask import ask, question

        asked = question(web.graph, self.urls, self.exclude, self.history)
        return ask(web, asked, method(self.method), self.k, self.filters, self.explain)

    def why_empty(self, web: Web, result: Any) -> str:
        """Why nothing is related, and what to try."""
        if len(result) or not self.k:
            return ""
        if self.filters != NO_FILTERS or self.exclude:
            for given, array, what in (
                (self.lang, "page.language", "the language of any page: ask without lang"),
                (self.since or self.until, "page.captured", "the date of any page: ask without since and until"),
            ):
                if given and not web.graph.array(array).any():
                    return f"This store doesn't have {what}"
            return f"Nothing related to {', '.join(result.query)} passes the filters; give fewer of them"
        return why_unrelated(web, result.query, self.method)


def why_unrelated(web: Web, urls: tuple[str, ...], *calls: str) -> str:
    """Why methods find nothing related to known pages, and what to try."""
    from shlex import quote

    from cocite.parameters import changed, spell
    from cocite.related.methods import method

    pages, chosen = [web.graph.find(url) for url in urls], [method(call) for call in calls]
    one = len(urls) == 1
    known = f"{', '.join(urls)} {'is' if one else 'are'} known"
    for each in chosen:
        unit = getattr(each.params, "unit", "none")
        if unit != "none" and all(linked_at_home_only(web, page, unit) for page in pages):
            call = quote(spell(each.name, {**changed(each.params), "unit": "none"}))
            return f"{known}, but linked only from pages of {'its' if one else 'their'} own {unit}: try -m {call}"
    finds = f"{chosen[0].name} finds nothing" if len(chosen) == 1 else "no method finds anything"
    return f"{known}, but {finds} related: see {'its' if one else 'their'} links with cocite links"


def linked_at_home_only(web: Web, page: int, unit: str) -> bool:
    """Whether other pages link to a page, and all of them are on its own unit."""
    graph = web.graph
    if not 0 < graph.in_degree[page] <= MAX_IN_LINKS_LOOKED_AT:
        return False
    parents, units = graph.links_to(page), graph.units(unit)
    return bool((parents != page).any() and (units[parents] == units[page]).all())
