"""The links around one page, as the store has them: what it links to, by block, and where it is cited."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocite.graph.store import Graph

BLOCK_UNKNOWN = -1


@dataclass(frozen=True)
class Child:
    """A link out of the page."""

    position: int  # on the page, from 1
    url: str
    text: str  # of the link
    title: str  # of the page that it leads to
    context: str  # the words around it
    rel: list[str]
    weight: float
    boilerplate: bool


@dataclass(frozen=True)
class Block:
    """Links that stand together on the page."""

    block: int | None
    heading: str
    links: list[Child] = field(default_factory=list)

    @property
    def boilerplate(self) -> bool:
        """Whether all of it is navigation and the like."""
        return bool(self.links) and all(link.boilerplate for link in self.links)


@dataclass(frozen=True)
class Citation:
    """A link to the page: where it stands, and what stands beside it."""

    url: str
    title: str
    in_links: int  # of the citing page
    heading: str
    text: str
    context: str
    rel: list[str]
    weight: float
    boilerplate: bool
    beside: list[tuple[str, str]]  # (text, address) of the links next to it in its block, in page order


def facts(graph: Graph, page: int) -> dict[str, Any]:
    """What is known of a page itself."""
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


def plain(weight: Any) -> float:
    """A stored weight as people wrote it: 0.1, not 0.10000000149011612."""
    return float(str(weight))


def children(graph: Graph, page: int, most: int) -> list[Block]:
    """The first links of a page by block, in the order in which the blocks begin; 0 is no limit."""
    from cocite.graph.arrays import BOILERPLATE

    links, headings, texts = graph.links_from(page), graph.headings(page), graph.anchors(page)
    contexts, weights = graph.contexts(page), graph.weights_from(page)
    blocks: dict[int, Block] = {}
    shown = len(links.targets) if not most else min(most, len(links.targets))
    for place in range(shown):
        number, flags, target = int(links.blocks[place]), int(links.flags[place]), int(links.targets[place])
        if number not in blocks:
            known = number != BLOCK_UNKNOWN
            heading = headings[number] if known and number < len(headings) else ""
            blocks[number] = Block(number if known else None, heading)
        blocks[number].links.append(
            Child(
                position=place + 1,
                url=graph.address(target),
                text=texts[place],
                title=graph.title(target),
                context=contexts[place],
                rel=rel_words(flags),
                weight=plain(weights[place]),
                boilerplate=bool(flags & BOILERPLATE),
            )
        )
    return list(blocks.values())


def parents(graph: Graph, page: int, most: int) -> list[int]:
    """The pages that link to a page, those with the most links in first; 0 is no limit."""
    import numpy as np

    ready = graph.best_parents(page)
    if ready is not None and 0 < most <= len(ready):  # so the list of all parents, which may be long, need not be read
        best: list[int] = ready[:most].tolist()
        return best
    found = graph.links_to(page)
    order = np.argsort(-graph.in_degree[found].astype(np.int64), kind="stable")
    chosen: list[int] = found[order][: most or None].tolist()
    return chosen


def cited_in(graph: Graph, page: int, parent: int, near: int = 2) -> Citation:
    """How a parent links to a page, with up to `near` links before it and after it in the same block."""
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
        weight=plain(graph.weights_from(parent)[place]),
        boilerplate=bool(flags & BOILERPLATE),
        beside=[(texts[i], graph.address(int(links.targets[i]))) for i in beside],
    )


def around(graph: Graph, page: int, most: int) -> dict[str, Any]:
    """All of this for one page, ready for JSON."""
    cited = [asdict(cited_in(graph, page, parent)) for parent in parents(graph, page, most)]
    for citation in cited:
        citation["beside"] = [{"text": text, "url": url} for text, url in citation["beside"]]
    return {"page": facts(graph, page), "blocks": [asdict(b) for b in children(graph, page, most)], "cited_by": cited}
