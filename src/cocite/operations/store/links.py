"""Show the links around a page: what it links to, section by section, and which pages link to it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cocite.errors import BadAddress
from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.web import Web

UNKNOWN_BLOCK = -1
NEIGHBOUR_LINKS = 2
"""Links shown before and after a link to the page."""
MAX_LINKS_OVER_HTTP = 1000


@dataclass(frozen=True)
class ChildLink:
    """A link out of the page."""

    position: int  # on the page, from 1
    url: str
    text: str  # of the link
    title: str  # of the target
    context: str  # the words around it
    rel: list[str]
    weight: float
    boilerplate: bool


@dataclass(frozen=True)
class Section:
    """Links of one section of the page."""

    block: int | None  # its number; None: unknown
    heading: str
    links: list[ChildLink] = field(default_factory=list)

    @property
    def boilerplate(self) -> bool:
        """Whether all of it is navigation and the like."""
        return bool(self.links) and all(link.boilerplate for link in self.links)


@dataclass(frozen=True)
class Citation:
    """A link to the page, with its section and the links next to it."""

    url: str
    title: str
    in_links: int  # of the linking page
    heading: str
    text: str
    context: str
    rel: list[str]
    weight: float
    boilerplate: bool
    beside: list[tuple[str, str]]  # (text, address) of the links next to it in its section, in page order


@dataclass(frozen=True)
class PageLinks:
    """The links around one page."""

    query: str
    page: dict[str, Any]  # facts about the page
    blocks: list[Section]
    cited_by: list[Citation]
    is_alias: bool  # the query is another address of the page

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        cited = [asdict(citation) for citation in self.cited_by]
        for citation in cited:
            citation["beside"] = [{"text": text, "url": url} for text, url in citation["beside"]]
        blocks = [asdict(block) for block in self.blocks]
        return {"query": self.query, "page": self.page, "blocks": blocks, "cited_by": cited}


@operation(
    name="links",
    group="the store",
    examples=[
        "cocite links nytimes.com",
        "cocite links https://example.org/list -k 0 -i web.cocite",
        "cocite links example.org --json | jq '.cited_by[].url'",
    ],
    route="/api/links",
    tool="links",
)
class ShowLinks(Operation):
    """Show what a page links to, section by section, and which pages link to it.

    Links are in the order of the page, under its headings. Pages that link to it are shown with the section of the
    link, the most linked pages first.
    """

    url: str = shared_parameters.url()
    k: int = shared_parameters.k(20, "Maximum number of links each way (0: all)")

    def on_surface(self, surface: str) -> ShowLinks:
        """Over HTTP, "all" has a limit, too."""
        return replace(self, k=MAX_LINKS_OVER_HTTP) if surface == "http" and not self.k else self

    def run(self, web: Web) -> PageLinks:
        """The links, with sections and texts."""
        graph = web.graph
        page = graph.find(self.url)
        cited = [citation(graph, page, parent) for parent in parents(graph, page, self.k)]
        return PageLinks(
            self.url, facts(graph, page), sections(graph, page, self.k), cited, is_alias(graph, page, self.url)
        )

    def why_empty(self, web: Web, result: Any) -> str:
        """That the page has no links."""
        page = result.page
        return "" if page["links_out"] or page["links_in"] else f"{page['url']} is known, but has no links"


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


def rel_words(flags: int) -> list[str]:
    """The `rel` of a link."""
    from cocite.graph.arrays import REL

    return [word for word, bit in REL.items() if flags & bit]


def decimal(weight: Any) -> float:
    """A stored 32-bit weight as it was written: 0.1, not 0.10000000149011612."""
    return float(str(weight))


def sections(graph: Graph, page: int, limit: int) -> list[Section]:
    """The first links of a page by section, in page order; limit 0: all."""
    from cocite.graph.arrays import BOILERPLATE

    links, headings, texts = graph.links_from(page), graph.headings(page), graph.anchors(page)
    contexts, weights = graph.contexts(page), graph.weights_from(page)
    blocks: dict[int, Section] = {}
    shown = len(links.targets) if not limit else min(limit, len(links.targets))
    for place in range(shown):
        number, flags, target = int(links.blocks[place]), int(links.flags[place]), int(links.targets[place])
        if number not in blocks:
            known = number != UNKNOWN_BLOCK
            heading = headings[number] if known and number < len(headings) else ""
            blocks[number] = Section(number if known else None, heading)
        blocks[number].links.append(
            ChildLink(
                position=place + 1,
                url=graph.address(target),
                text=texts[place],
                title=graph.title(target),
                context=contexts[place],
                rel=rel_words(flags),
                weight=decimal(weights[place]),
                boilerplate=bool(flags & BOILERPLATE),
            )
        )
    return list(blocks.values())


def parents(graph: Graph, page: int, limit: int) -> list[int]:
    """The pages that link to a page, those with the most in-links first; limit 0: all."""
    import numpy as np

    ready = graph.best_parents(page)
    if ready is not None and 0 < limit <= len(ready):  # no need to read all parents, which may be millions
        best: list[int] = ready[:limit].tolist()
        return best
    found = graph.links_to(page)
    order = np.argsort(-graph.in_degree[found].astype(np.int64), kind="stable")
    chosen: list[int] = found[order][: limit or None].tolist()
    return chosen


def citation(graph: Graph, page: int, parent: int, near: int = NEIGHBOUR_LINKS) -> Citation:
    """How a parent links to a page, with up to `near` links before and after it in the same section."""
    import numpy as np

    from cocite.graph.arrays import BOILERPLATE

    links, headings, texts = graph.links_from(parent), graph.headings(parent), graph.anchors(parent)
    place = int(np.argmax(links.targets == page))
    block, flags = int(links.blocks[place]), int(links.flags[place])
    around = range(max(0, place - near), min(len(links.targets), place + near + 1))
    beside = [i for i in around if i != place and links.blocks[i] == block]
    return Citation(
        url=graph.address(parent),
        title=graph.title(parent),
        in_links=int(graph.in_degree[parent]),
        heading=headings[block] if 0 <= block < len(headings) else "",
        text=texts[place],
        context=graph.contexts(parent)[place],
        rel=rel_words(flags),
        weight=decimal(graph.weights_from(parent)[place]),
        boilerplate=bool(flags & BOILERPLATE),
        beside=[(texts[i], graph.address(int(links.targets[i]))) for i in beside],
    )


def is_alias(graph: Graph, page: int, url: str) -> bool:
    """Whether an address is another one of its page."""
    from cocite.pages.address import parse_query

    try:
        asked = parse_query(url).canonical
    except BadAddress:
        return False
    return asked != graph.canonical(page) and not asked.startswith("name:")
