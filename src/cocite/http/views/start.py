"""What to see before anything is asked, and instead of a dead end."""

from __future__ import annotations

from collections.abc import Iterator

from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.graph.largest import largest
from cocite.http.frame import Content, trouble
from cocite.http.holding import Served
from cocite.http.listing import chips, name_of, plain_list
from cocite.http.markup import Markup, joined, shown_address, tag
from cocite.http.state import State
from cocite.results.naming import Titles
from cocite.results.search import search_for

EXAMPLES = 9
"""Best-cited pages that the first page offers."""
LOOKED_AT = 400
"""Best-cited pages among which they are: of one site only one is taken, and only those that have a name."""
WORDS = 8
"""Words that the first page offers."""
FOUND = 6
"""Pages that have the words of an unknown address."""


def show(web: Served, state: State) -> Content:
    """The first visit."""
    what = "Paste the address of a page and see which others belong with it: those that people list beside it."
    above = joined(tag("h1", "Which pages are related to this page?"), tag("p", what, class_="lead"))
    parts = [holds(web)]
    parts += [tag("h2", "Ask about one of these"), cards(web)] if web.graph.pages else []
    words = popular(web)
    if words:
        links = [tag("li", tag("a", tag("bdi", word), href=State("search", words=word).address())) for word in words]
        parts += [tag("h2", "Or begin with a word"), tag("ul", *links, class_="words")]
        topics = tag("a", "communities", href="/communities")
        parts.append(
            tag("p", "A topic, rather than a page? See its ", topics, " of hubs and authorities.", class_="facts")
        )
    return Content("", joined(*parts), above=above)


def holds(web: Served) -> Markup:
    """What the store has, in figures."""
    graph = web.graph
    figures = (("pages", graph.pages), ("links", graph.links), ("sites", int(graph.manifest.get("sites") or 0)))
    shown = [tag("div", tag("dd", f"{number:,}"), tag("dt", name)) for name, number in figures if number]
    return tag("dl", *shown, class_="figures")


def cards(web: Served) -> Markup:
    """Pages to begin with, each to be clicked."""
    shown = [
        tag(
            "li",
            tag("a", tag("b", tag("bdi", name_of(url, title))), tag("span", shown_address(url), class_="address"),
                tag("span", f"cited by {cited:,}", class_="facts"), href=State(urls=(url,)).address()),
        )
        for url, title, cited in examples(web)
    ]  # fmt: skip
    return tag("ul", *shown, class_="cards")


def examples(web: Served) -> Iterator[tuple[str, str, int]]:
    """The best-cited pages of different sites: address, title, how many cite it."""
    graph, titles = web.graph, Titles(web.graph)
    most = min(LOOKED_AT, graph.pages)
    degrees = graph.in_degree
    sites: set[int] = set()
    for page in largest(degrees, most):
        site, title = int(graph.units("site")[page]), titles.of(page)
        if len(sites) == EXAMPLES or not degrees[page]:
            return
        if site not in sites and (title or most <= EXAMPLES):
            sites.add(site)
            yield graph.address(page), title, int(degrees[page])


def popular(web: Served) -> list[str]:
    """Words that many pages have."""
    if not web.has("keywords") or not web.has("search"):
        return []
    words, frequency = web.keywords.words, web.keywords.frequency
    return [words[word] for word in largest(frequency, WORDS)]


def unknown(web: Served, state: State, error: UnknownPage | BadAddress) -> Content:
    """What may have been meant: addresses that are near, pages that have the words; else something to begin with."""
    missing = [url for url in (*state.urls, *state.unwanted) if not known(web, url)]
    first = missing[0] if missing else (*state.urls, "")[0]

    def meaning(url: str) -> State:
        swap = {first: url}
        urls = tuple(dict.fromkeys(swap.get(each, each) for each in state.urls))
        return state.but(urls=urls, unwanted=tuple(swap.get(each, each) for each in state.unwanted))

    message = str(error).partition("; did you mean")[0]
    parts = [tag("h1", "Not known here"), trouble(f"{message[:1].upper()}{message[1:]}.")]
    near = list(getattr(error, "nearest", []))
    if near:
        shown = [tag("li", tag("a", shown_address(url), href=meaning(url).address())) for url in near]
        parts += [tag("h2", "Did you mean"), tag("ul", *shown, class_="plain")]
    words = [each for each in with_words(web, first) if each[0] not in near]
    if words:
        parts += [tag("h2", "Pages that have these words"), plain_list(state, words)]
    if len(state.urls) + len(state.unwanted) > 1:
        rest = state.but(
            urls=tuple(url for url in state.urls if url != first),
            unwanted=tuple(url for url in state.unwanted if url != first),
        )
        if rest.urls:
            parts.insert(2, tag("p", tag("a", "Ask without it", href=rest.address())))
        parts.insert(1, chips(state, {}))
    if not near and not words:
        parts += [tag("h2", "Or ask about one of these"), cards(web)]
    return Content("Unknown page", joined(*parts), 404 if isinstance(error, UnknownPage) else 400)


def known(web: Served, url: str) -> bool:
    """Whether the store has a page."""
    try:
        return web.graph.get(url) is not None
    except BadAddress:
        return False


def with_words(web: Served, text: str) -> list[tuple[str, str]]:
    """Pages that have the words of an address, if they can be searched for."""
    host = shown_address(text if "://" in text else f"https://{text}").rpartition("@")[2]
    words = " ".join(part for part in host.replace("/", ".").replace("-", ".").split(".") if len(part) > 3)
    try:
        hits = search_for(web.graph, web.search, words or text, FOUND)
    except (BadStore, BadParameter):
        return []
    return [(hit.url, hit.title) for hit in hits]
