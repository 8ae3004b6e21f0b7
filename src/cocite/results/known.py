"""Which page of a store an address means: its own, or the nearest known one at a shorter address.

An unknown address is chopped (Dean & Henzinger 1999, §2.2): its fragment, its query string, then one path element after
another is removed until a known address is left. Addresses of their Table 4 (§4.2) that have no in-links get results
like that. By default this never leaves the page's site; `chop=host`, the published rule, goes on until a host name is
left.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocite.errors import BadAddress, BadStore, UnknownPage
from cocite.graph.arrays import IN_MEMORY
from cocite.graph.nearest import chopped
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.pages.site import Sites

MAX_WORDS_LENGTH, MAX_PAGES_MEANT = 200, 3
MAX_PAGES_INDEXED = 100_000  # of a store whose search index is made for a question: two or three seconds


class FoundPage(NamedTuple):
    """A page of the store, and a note if its address is shorter than the one that was given."""

    page: int
    note: str = ""


def find_page(graph: Graph, url: str, chop: str = "site") -> FoundPage:
    """The page of an address, or the nearest known shorter one; raises UnknownPage, BadAddress."""
    found = look_up(graph, url, chop)
    if found is None:
        try:
            return FoundPage(graph.find(url))
        except UnknownPage as error:
            raise pages_meant(graph, url, error) from None
    return found


def pages_meant(graph: Graph, text: str, error: UnknownPage) -> UnknownPage:
    """The error about an unknown address; about words instead of one, with the pages that have these words."""
    if any(mark in text for mark in ".:/") or len(text) > MAX_WORDS_LENGTH or (error.nearest and " " not in text):
        return error
    from cocite.results.naming import titles_of
    from cocite.words.search import SEARCH, has_search

    message = f"{text!r} is not in this store"
    if graph.manifest.get("names") == graph.pages and not has_search(graph):  # an edge list
        some = ", ".join(map(graph.address, range(min(graph.pages, MAX_PAGES_MEANT))))
        return UnknownPage(f"{message}, whose names look like {some}: give one of them")
    try:
        makes_index = 0 < graph.pages <= MAX_PAGES_INDEXED and graph.path != IN_MEMORY
        hits = (SEARCH.ready if makes_index else SEARCH.open)(graph).search(text, MAX_PAGES_MEANT).hits
    except (BadStore, OSError):  # no index, or a stale one, in a large store or one that can't be written
        return UnknownPage(f"{message}: give an address, or find pages by: cocite search {shlex.quote(text)}")
    if not hits:
        return UnknownPage(f"{message}, nor is a page with these words")
    titles = titles_of(graph)
    found = {titles.address(page): titles.of(page) for page, _ in hits}
    named = ", ".join(f"{address} ({title})" if title else address for address, title in found.items())
    return UnknownPage(f"{message}; did you mean {named}?", list(found))


def look_up(graph: Graph, url: str, chop: str = "site") -> FoundPage | None:
    """The page of an address, or unless chop is none the nearest known shorter one; raises BadAddress."""
    page = graph.get(url)
    if page is not None:
        return FoundPage(page)
    shorter = None if chop == "none" else next(known_shorter(graph, url, chop), None)
    if shorter is None:
        return None
    return FoundPage(shorter, f"{url[:200]} isn't in this store; these results are for {graph.address(shorter)}")


def find_pages(graph: Graph, urls: Sequence[str], chop: str = "site", skip: bool = True) -> list[FoundPage | None]:
    """The pages of addresses. With `skip`, None for what is unknown or no address; else that raises as `find_page`."""
    if not skip:
        return [find_page(graph, url, chop) for url in urls]
    found = list[FoundPage | None]()
    for url in urls:
        try:
            found.append(look_up(graph, url, chop))
        except BadAddress:
            found.append(None)
    return found


def known_shorter(graph: Graph, url: str, chop: str = "site") -> Iterator[int]:
    """Known pages of the same site, or with chop host of the same host, at ever shorter addresses."""
    try:
        canonical = parse_query(url).canonical
    except BadAddress:
        return
    sites = Sites()
    for address in () if canonical.startswith("name:") else chopped(canonical):
        page = graph.get(address)
        if page is not None and (chop == "host" or sites.site(graph.canonical(page)) == sites.site(canonical)):
            yield page
