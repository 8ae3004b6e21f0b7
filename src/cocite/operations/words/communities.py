"""Find communities of hubs and authorities on a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter, parse

if TYPE_CHECKING:
    from cocite.results.communities import CommunitiesFound
    from cocite.web import Web

COMMUNITY_METHOD = "community"


@operation(
    name="communities",
    group="words",
    examples=[
        "cocite communities typography -m 'community(vectors=5)' --no-npea",
        "cocite communities password manager --html page.html --gexf page.gexf",
        "cocite communities --page example.org --page example.com --json",
    ],
    route="/api/communities",
    tool="communities",
    slow=True,
)
class FindCommunities(Operation):
    """Find the communities of hubs and authorities on a topic, without noise pages.

    The best pages for the words, or the given pages, are the root set. Together with the pages that they link to, and
    the pages that link to them, they are the base set. Pages too loosely linked with the root set are removed as noise
    (NPEA). The rest forms communities: the principal one, and others by further singular vectors.
    """

    query: str = parameter(
        "", "Words of a topic; the best pages for them are the root set", metavar="QUERY", positional=True, joined=True,
        example="password manager",
        on={"http": {"name": "q", **shared_parameters.TEXT_BOUNDS}, "mcp": shared_parameters.TEXT_BOUNDS},
    )  # fmt: skip
    urls: tuple[str, ...] = parameter(
        (), "A page of the root set; may be repeated", metavar="URL", max_items=shared_parameters.MAX_PAGES,
        on={
            "cli": {"name": "page"},
            "http": {**shared_parameters.SEVERAL_ADDRESSES["http"], "name": "url"},
            "mcp": shared_parameters.SEVERAL_ADDRESSES["mcp"],
            "python": {"name": "pages"},
        },
    )  # fmt: skip
    method: str = shared_parameters.method(
        COMMUNITY_METHOD,
        "Parameters: community(delta=0.3, npea=min, vectors=5)",
        example=None,
        surfaces=("cli", "http"),
    )
    k: int = parameter(
        5, "Maximum number of hubs and of authorities in each community", metavar="N", flags=("-k",), minimum=0,
        maximum=shared_parameters.MAX_RESULTS,
        on={
            "cli": {"default": None, "help": "Maximum number of hubs and of authorities of each (default: 5)"},
            "http": {"maximum": 100},
            "mcp": {"minimum": 1, "maximum": 50},
            "python": {"default": 10},
        },
    )  # fmt: skip
    no_npea: bool = parameter(
        False, "Also show the communities without eliminating noise pages", surfaces=("cli", "http")
    )

    def validate(self) -> None:
        """Check that there is something to ask about, and by the right method."""
        if not self.query.strip() and not self.urls:
            raise BadParameter("Nothing to look for: give some words, or pages")
        if parse(self.method)[0] != COMMUNITY_METHOD:
            raise BadParameter(f"Communities are found by the method {COMMUNITY_METHOD}, not {self.method!r:.100}")

    def run(self, web: Web) -> CommunitiesFound:
        """The communities, and with `no_npea` those without eliminating noise."""
        from dataclasses import replace

        from cocite.related.methods import method
        from cocite.results.communities import find

        params = method(self.method).params
        found = find(web, self.query, self.urls, params, self.k)
        if self.no_npea:
            found = replace(found, plain=find(web, self.query, self.urls, replace(params, npea="off"), self.k))
        return found

    def why_empty(self, web: Web, result: Any) -> str:
        """Why there is no community, and what to try."""
        if len(result):
            return ""
        if not result.root:
            return f"No page has any of the words {result.query!r}: try others, or give pages"
        number = f"{result.root:,} page{'' if result.root == 1 else 's'}"
        what = f"the {number} found for {result.query!r}" if result.query else ", ".join(result.pages)
        return f"No link between two sites around {what}: see links with cocite links, or try 'community(unit=none)'"
