"""Keywords: of a page, or those to go on with from some words."""

from __future__ import annotations

from collections.abc import Sequence

from cocite.errors import UnknownWord
from cocite.http.frame import Content, exports, note, trouble
from cocite.http.holding import Served
from cocite.http.listing import asked_about, bar, plain_list
from cocite.http.markup import Markup, joined, shown_address, tag
from cocite.http.state import State
from cocite.http.views import start
from cocite.results.keywords import Keyword, keywords_for, keywords_of_page
from cocite.results.search import search_for

FOUND = 5
"""Pages that are shown for words."""


def show(web: Served, state: State) -> Content:
    """Of a page, or of words."""
    if not web.has("relevance"):
        why = "This store has no keywords, or not yet: they are made from texts and from what links say."
        return Content("Keywords", joined(tag("h1", "Keywords"), note(why)))
    if state.words:
        return of_words(web, state)
    return of_page(web, state) if state.urls else first(web)


def of_page(web: Served, state: State) -> Content:
    """What a page is about."""
    found = keywords_of_page(web, state.urls[0])
    one = state.but(urls=state.urls[:1], unwanted=())
    title = f"Keywords of {shown_address(state.urls[0])}"
    head = asked_about(web, one, "Keywords of")
    if not found.keywords:
        return Content(title, joined(head, note("No keyword of this page is known.")))
    main = [tag("b", tag("bdi", word)) for word in found.main]
    shown = joined(*(joined(", " if at else "", word) for at, word in enumerate(main)))
    rows = table(found.keywords, ("how relevant to the others", "pages that have it"))
    files = tag(
        "p", f"{len(found.keywords)} keywords", exports(("JSON", one.program(), "keywords.json")), class_="facts"
    )
    return Content(title, joined(head, tag("p", "Mainly about ", shown, "."), rows, files))


def of_words(web: Served, state: State) -> Content:
    """Keywords to go on with: alike, and next."""
    head = tag("h1", "Keywords beside ", tag("bdi", state.words))
    try:
        found = keywords_for(web, [state.words], state.shown)
    except UnknownWord as error:
        near = [tag("li", tag("a", word, href=State("keywords", words=word).address())) for word in error.nearest]
        message = str(error).partition("; ")[0]
        parts = [head, trouble(f"{message[:1].upper()}{message[1:]}.")]
        parts += [tag("h2", "Did you mean"), tag("ul", *near, class_="words")] if near else []
        return Content(state.words, joined(*parts, *pages(web, state)), 404)
    both = (
        ("Similar", "on the same pages", found.similar),
        ("Leading on", "on pages that pages with these words link to", found.logical),
    )
    columns = [
        tag("section", tag("h2", name), tag("p", about, class_="facts"),
            table(words, ("relevance", "pages that have it")) if words else tag("p", "none", class_="facts"))
        for name, about, words in both
    ]  # fmt: skip
    files = tag("p", "The same as ", tag("a", "JSON", href=state.program(), download="keywords.json"), class_="facts")
    return Content(state.words, joined(head, tag("div", *columns, class_="two"), *pages(web, state), files))


def table(words: Sequence[Keyword], heads: tuple[str, str]) -> Markup:
    """Words with how relevant they are."""
    best = max((word.relevance for word in words), default=1.0) or 1.0
    rows = [
        tag("tr", tag("th", linked(word.word), scope="row"),
            tag("td", bar(word.relevance / best), tag("span", f"{word.relevance:.3g}", class_="unseen")),
            tag("td", f"{word.pages:,}", class_="number"))
        for word in words
    ]  # fmt: skip
    head = tag("tr", tag("th", "keyword", scope="col"), *(tag("th", each, scope="col") for each in heads))
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="keywords")


def linked(word: str) -> Markup:
    """A word that leads to those beside it."""
    return tag("a", tag("bdi", word), href=State("keywords", words=word).address())


def pages(web: Served, state: State) -> list[Markup]:
    """The best pages for the words."""
    if not web.has("search"):
        return []
    hits = search_for(web.graph, web.search, state.words, FOUND)
    if not len(hits):
        return []
    more = tag("a", "more", href=State("search", words=state.words).address())
    return [tag("h2", "Pages"), plain_list(State(), ((hit.url, hit.title) for hit in hits)), tag("p", more)]


def first(web: Served) -> Content:
    """Nothing is asked yet."""
    links = [tag("li", tag("a", word, href=State("keywords", words=word).address())) for word in start.popular(web)]
    about = tag("p", "Give a word, and see which go with it, and where it leads.", class_="lead")
    return Content("Keywords", joined(tag("h1", "Keywords"), about, tag("ul", *links, class_="words")))
