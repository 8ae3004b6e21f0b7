"""What an earlier crawl left in a store: the pages that it fetched, and the addresses that it still had to fetch."""

from typing import Any, NamedTuple

from cocite.graph.arrays import NOFOLLOW
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.sources.crawl.frontier import Scoped
from cocite.sources.crawl.start import MAX_FOLLOWED_LINKS, Scope


class Crawled(NamedTuple):
    """Where a crawl goes on."""

    seeds: list[str]  # the seed, and where it has moved
    fetched: list[str]  # canonical addresses
    waiting: list[tuple[str, int]]  # addresses, and how many links they are away from the seed
    visited: list[tuple[str, int]]  # the same of the pages that it fetched

    def options(self) -> dict[str, Any]:
        """The options of a crawl that goes on, and fetches no page again."""
        return {"seeds": self.seeds, "fetched": self.fetched, "waiting": self.waiting}


def crawled_before(graph: Graph, seed: str, scope: Scope, depth: int, max_pages: int) -> Crawled:
    """Follow the links of a store breadth first, as the crawl did, up to pages that the store doesn't have."""
    first = graph.get(seed)
    if first is None or not graph.facts.fetched(first):
        return Crawled([seed], [], [], [])
    found, inside = Crawled([seed, graph.address(first)], [], [], []), Scoped(scope)
    for address in (parse_query(seed).canonical, graph.canonical(first)):
        inside.include(address)
    level, seen = [first], {first}
    for links_away in range(depth + 1):
        following = list[int]()
        for page in level:
            if not graph.facts.fetched(page):
                found.waiting.append((graph.address(page), links_away))
                continue
            if len(found.fetched) == max_pages:
                return found
            found.fetched.append(graph.canonical(page))
            found.visited.append((graph.address(page), links_away))
            links = graph.links_from(page)
            if links_away == depth or (links.flags & NOFOLLOW).all():
                continue
            for target in links.targets[:MAX_FOLLOWED_LINKS].tolist():
                if target not in seen and inside.contains(graph.canonical(target)):
                    seen.add(target)
                    following.append(target)
        level = following
    return found
