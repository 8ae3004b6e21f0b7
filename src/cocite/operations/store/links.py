"""Show the links around a page: what it links to, section by section, and which pages link to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Self

from cocite.errors import BadAddress, BadParameter
from cocite.operations import shared
from cocite.operations.declare import Graph, Operation, Web, operation
from cocite.results.answer import HIDDEN, Result
from cocite.results.filters import NO_FILTERS, Filters, passing, why_none_passes
from cocite.text import heading_text

NEIGHBOUR_LINKS = 2  # links shown before and after a link to the page
MAX_LINKS_OVER_HTTP = 1000
MAX_FILTERED_LINKS = 100_000
"""In-links that filters look at, the most linked pages first."""


@dataclass(frozen=True, kw_only=True)
class LinkFacts(Result):
    """A link, with the page at its other end."""

    url: str
    title: str
    text: str  # of the link
    context: str  # the words around it
    rel: list[str]
    weight: float
    boilerplate: bool


@dataclass(frozen=True, kw_only=True)
class ChildLink(LinkFacts):
    """A link out of the page."""

    position: int  # on the page, from 1


@dataclass(frozen=True)
class Section(Result):
    """Links of one section of the page."""

    block: int | None  # its number; None: unknown
    heading: str
    links: list[ChildLink] = field(default_factory=list)

    @property
    def boilerplate(self) -> bool:
        """Whether all of it is navigation and the like."""
        return bool(self.links) and all(link.boilerplate for link in self.links)


@dataclass(frozen=True, kw_only=True)
class Citation(LinkFacts):
    """A link to the page, with its section and the links next to it."""

    in_links: int  # of the linking page
    heading: str
    beside: list[dict[str, str]]  # text and url of the links next to it in its section, in page order


@dataclass(frozen=True)
class LinksAround(Result):
    """The links around one page."""

    query: str
    page: dict[str, Any]  # facts about the page
    blocks: list[Section]
    cited_by: list[Citation]
    is_alias: bool = field(metadata=HIDDEN)  # the query is another address of the page
    note: str = ""


@operation(name="links", route="/api/links", tool="links")
class ShowLinks(Operation, Filters):
    """Show what a page links to, section by section, and which pages link to it.

    Links are in the order of the page, under its headings. Pages that link to it are shown with the section of the
    link, the most linked pages first. Filters are about the pages at the other ends of the links.

    Command line: Exits with 1 if the page has no links, with 3 if it is unknown.

    Examples:
        cocite links nytimes.com
        cocite links https://example.org/list -k 0 --not-own-site -i web.cocite
        cocite links example.org --json | jq '.cited_by[].url'
    """

    url: str = shared.url()
    k: int = shared.k(20, "Maximum number of links each way (0: all)", minimum=0)
    as_of: str = shared.as_of()

    def validate(self) -> None:
        super().validate()
        if self.unlinked:
            raise BadParameter("unlinked would hide all links: leave it out")

    def on_surface(self, surface: str) -> Self:
        """Over HTTP, "all" has a limit, too."""
        return replace(self, k=MAX_LINKS_OVER_HTTP) if surface == "http" and not self.k else self

    def run(self, web: Web) -> LinksAround:
        from cocite.pages.address import parse_query
        from cocite.results.known import find_page

        graph = web.graph
        page, note = find_page(graph, self.url)
        chosen, targets = parents(graph, page, self.k), None
        if self.filters != NO_FILTERS:
            chosen = self._passing(graph, page, parents(graph, page, 0)[:MAX_FILTERED_LINKS])[: self.k or None]
            targets = self._passing(graph, page, graph.links_from(page).targets.tolist())
        cited = [citation(graph, page, parent) for parent in chosen]
        try:
            asked = parse_query(self.url).canonical
        except BadAddress:
            asked = "name:"
        is_alias = not note and asked != graph.canonical(page) and not asked.startswith("name:")
        return LinksAround(self.url, facts(graph, page), sections(graph, page, self.k, targets), cited, is_alias, note)

    def _passing(self, graph: Graph, page: int, others: Sequence[int]) -> list[int]:
        """The pages at the other ends of a page's links that pass the filters."""
        return [other for other, _ in passing(graph, ((each, 0.0) for each in others), [page], self.filters, {})]

    def why_empty(self, web: Web, result: Any) -> str:
        page = result.page
        if not page["links_out"] and not page["links_in"]:
            return f"{page['url']} is known, but has no links"
        if self.filters != NO_FILTERS and not result.blocks and not result.cited_by:
            return why_none_passes(web.graph, self.filters, f"No link around {page['url']}")
        return ""


def facts(graph: Graph, page: int) -> dict[str, Any]:
    """What the store has about a page itself."""
    captured = graph.facts.captured(page)
    return {
        "url": graph.address(page),
        "title": graph.title(page),
        "read": graph.facts.fetched(page),
        "links_out": int(graph.out_degree[page]),
        "links_in": int(graph.in_degree[page]),
        "status": graph.facts.status(page) or None,
        "captured": datetime.fromtimestamp(captured, UTC).isoformat() if captured else None,
        "lang": graph.facts.language(page) or None,
        "noindex": graph.facts.noindex(page),
    }


def sections(graph: Graph, page: int, limit: int, targets: Sequence[int] | None = None) -> list[Section]:
    """The first links of a page by section, in page order; limit 0: all. `targets`: only links to these pages."""
    links, headings = graph.links_from(page), graph.headings(page)
    about, found = _facts_of_links(graph, page), dict[int, Section]()
    wanted = None if targets is None else set(targets)
    places = ((at, target) for at, target in enumerate(links.targets.tolist()) if wanted is None or target in wanted)
    for place, target in islice(places, limit or None):
        number = int(links.blocks[place])
        section = found.setdefault(number, Section(None if number < 0 else number, _heading(headings, number)))
        section.links.append(ChildLink(position=place + 1, **about(place, target)))
    return list(found.values())


def parents(graph: Graph, page: int, limit: int) -> list[int]:
    """The pages that link to a page, those with the most in-links first; limit 0: all."""
    import numpy as np

    ready = graph.best_parents(page)
    if ready is None or not 0 < limit <= len(ready):  # else the best suffice: there may be millions
        found = graph.links_to(page)
        ready = found[np.lexsort((graph.names.address_keys(found), -graph.in_degree[found].astype(np.int64)))]
    chosen: list[int] = ready[: limit or None].tolist()
    return chosen


def citation(graph: Graph, page: int, parent: int, near: int = NEIGHBOUR_LINKS) -> Citation:
    """How a parent links to a page, with up to `near` links before and after it in the same section."""
    links, about, texts = graph.links_from(parent), _facts_of_links(graph, parent), graph.anchors(parent)
    places = (links.targets == page).nonzero()[0]
    if not len(places):
        raise graph.damaged()
    place = int(places[0])
    block = int(links.blocks[place])
    around = range(max(0, place - near), min(len(links.targets), place + near + 1))
    beside = [i for i in around if i != place and links.blocks[i] == block]
    return Citation(
        in_links=int(graph.in_degree[parent]),
        heading=_heading(graph.headings(parent), block),
        beside=[{"text": texts[i], "url": graph.address(int(links.targets[i]))} for i in beside],
        **about(place, parent),
    )


def _heading(headings: list[str], block: int) -> str:
    return heading_text(headings[block]) if 0 <= block < len(headings) else ""


def _facts_of_links(graph: Graph, page: int) -> Callable[[int, int], dict[str, Any]]:
    """A function of a link's place on a page, and of the page at its other end, that returns what is known of it."""
    from cocite.graph.arrays import BOILERPLATE, REL

    texts, contexts, weights = graph.anchors(page), graph.contexts(page), graph.weights_from(page)
    flags = graph.links_from(page).flags

    def facts_of(place: int, other: int) -> dict[str, Any]:
        bits = int(flags[place])
        return {
            "url": graph.address(other),
            "title": graph.title(other),
            "text": texts[place],
            "context": contexts[place],
            "rel": [word for word, bit in REL.items() if bits & bit],
            "weight": float(str(weights[place])),  # as it was written: 0.1, not 0.10000000149011612
            "boilerplate": bool(bits & BOILERPLATE),
        }

    return facts_of
