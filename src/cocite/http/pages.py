"""The web page as questions: which view an address asks for, on what it depends, and what it shows.

What is shown is a question like any other, so it is kept, limited and counted like the interface for programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cocite import __version__
from cocite.errors import BadAddress, CociteError, UnknownPage
from cocite.http import views
from cocite.http.assets import assets
from cocite.http.holding import Served
from cocite.http.limits import check_addresses
from cocite.http.questions import Made, Related
from cocite.http.render import render
from cocite.http.replies import CSV, HTML, STATUS
from cocite.http.state import State, like_words
from cocite.http.views import VIEWS, View
from cocite.results import DEFAULT_METHOD
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import picture_of
from cocite.results.present import separated
from cocite.results.search import search_for

GEXF = b"application/gexf+xml; charset=utf-8"
HEAVY = frozenset({"compare", "hubs", "communities", "keywords"})
"""Views that take longer than a list of related pages."""
LOOKS = (__version__, *(reply.etag for reply in assets().values()))
"""What pages look like: another version of the program must not be taken for the one that a browser has."""


@dataclass(frozen=True)
class Page:
    """A view of the web page."""

    state: State
    asked: Related | None  # if it shows related pages
    route: str = "page"

    @property
    def heavy(self) -> bool:
        """Whether it takes long."""
        return (self.state.view in HEAVY and self.state.asks) or (self.asked is not None and self.asked.heavy)

    def keys(self, web: Served) -> tuple[tuple[Any, ...], ...]:
        """All that the page depends on."""
        own = (self.route, self.state, LOOKS)
        return tuple((*own, key) for key in (self.asked.keys(web) if self.asked else ((),)))

    def work(self, web: Served, load: int) -> Made:
        """The page, or the same as a file."""
        state = self.state
        if state.view in ("related", "picture") and only_words(web, state):
            state = State("search", words=state.urls[0])
        file = FILES.get((state.view, state.form))
        if file is not None and state.asks:
            return file(self, web, load)
        try:
            view = self._view(web, state, load)
        except (UnknownPage, BadAddress) as error:
            view = views.unknown(web, state, error)
        return Made(document(state, view, web), HTML, view.status)

    def _view(self, web: Served, state: State, load: int) -> View:
        if not state.asks and state.view in ("related", "compare", "picture", "hubs", "search"):
            return views.start(web, state)
        if state.view in ("related", "picture"):
            assert self.asked is not None
            showing = views.related if state.view == "related" else views.picture
            return showing(web, state, self.asked, load)
        return VIEWS[state.view](web, state)


def document(state: State, view: View, web: Served | None = None) -> bytes:
    """A view as a whole page."""
    store = None
    if web is not None:
        built = str(web.graph.manifest.get("built", ""))[:10]
        store = {"pages": web.graph.pages, "links": web.graph.links, "built": built}
    return render(view.template, state=state, title=view.title, look=view.look, store=store, **view.values)


def only_words(web: Served, state: State) -> bool:
    """Whether what was asked about is no address but words: then it is searched for, unless a page is named so."""
    if len(state.urls) != 1 or not like_words(state.urls[0]):
        return False
    try:
        return web.graph.get(state.urls[0]) is None
    except BadAddress:
        return True


def question_of(state: State) -> Page:
    """The question that an address asks; raises a CociteError."""
    check_addresses(state.urls, state.unwanted)
    if state.view not in ("related", "picture") or not state.urls:
        return Page(state, None)
    method = state.method or DEFAULT_METHOD
    return Page(state, Related(state.urls, state.unwanted, method, state.shown, state.filters))


def _picture_file(page: Page, web: Served, load: int) -> Made:
    assert page.asked is not None
    answers = page.asked.answers(web, load)
    file = picture_gexf(answers, picture_of(web.graph, answers)).encode()
    return Made(file, GEXF, extra=page.asked.told_apart(web.graph, load))


FILES: dict[tuple[str, str], Callable[[Page, Served, int], Made]] = {
    ("picture", "gexf"): _picture_file,
    ("communities", "gexf"): lambda page, web, _: Made(
        views.find_communities_of(web, page.state).to_gexf().encode(), GEXF
    ),
    ("communities", "html"): lambda page, web, _: Made(
        views.find_communities_of(web, page.state).to_html().encode(), HTML
    ),
    ("hubs", "csv"): lambda page, web, _: Made(separated(views.find_hubs(web, page.state), ",").encode(), CSV),
    ("search", "csv"): lambda page, web, _: Made(
        separated(search_for(web.graph, web.search, page.state.words, page.state.shown), ",").encode(), CSV
    ),
}
"""What can be had as a file, beside what the interface for programs gives."""


def wrong(state: State, error: CociteError) -> Made:
    """The page of a question that cannot be asked."""
    status = next((STATUS[each] for each in type(error).__mro__ if each in STATUS), 422)
    return failed(state, status, f"{error}")


def failed(state: State, status: int, message: str) -> Made:
    """A page that says what did not work."""
    view = View("failed.html", "Not answered", {"message": message})
    return Made(document(replace(state, form=""), view), HTML, status)
