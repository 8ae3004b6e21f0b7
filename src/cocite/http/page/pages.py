"""The web page as questions: what a page depends on, and how it is made.

A page is a question like those of the API: cached, limited and counted in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cocite import __version__
from cocite.errors import BadAddress, CociteError, UnknownPage
from cocite.http.page import views
from cocite.http.page.render import assets, render
from cocite.http.page.state import State, like_words
from cocite.http.page.views import VIEWS, View
from cocite.http.questions import Asked, Content
from cocite.http.responses import CSV, HTML, STATUS
from cocite.operations.bounds import check_addresses
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import picture_of
from cocite.results.present import separated
from cocite.snapshot import Snapshot

GEXF = b"application/gexf+xml; charset=utf-8"
LOOKS = (__version__, *(reply.etag for reply in assets().values()))
"""A page depends on the version of the program and on its files, too."""


@dataclass(frozen=True)
class Page:
    """A view of the web page."""

    state: State
    asked: Asked | None  # what it shows
    route: str = "page"

    @property
    def slow(self) -> bool:
        """Whether it takes longer than milliseconds."""
        return self.asked is not None and self.asked.slow

    def keys(self, web: Snapshot) -> tuple[tuple[Any, ...], ...]:
        """What the page depends on."""
        own = (self.route, self.state, LOOKS)
        return tuple((*own, key) for key in (self.asked.keys(web) if self.asked else ((),)))

    def work(self, web: Snapshot, load: int) -> Content:
        """The page, or the same as a file."""
        state, asked = self.state, self.asked
        if state.view in ("related", "picture") and only_words(web, state):
            state = State("search", words=state.urls[0])
            asked = Asked.of(state.operation())
        file = FILES.get((state.view, state.form))
        if file is not None and asked is not None:
            body, media = file(web, asked.answers(web, load))
            return Content(body, media, extra=asked.limits_header(web.graph, load))
        try:
            first = asked is None and state.view not in ("communities", "keywords")
            view = views.start(web) if first else VIEWS[state.view](web, state, asked, load)
        except (UnknownPage, BadAddress) as error:
            view = views.unknown(web, state, error)
        return Content(document(state, view, web), HTML, view.status)


FILES: dict[tuple[str, str], Callable[[Snapshot, Any], tuple[bytes, bytes]]] = {
    ("picture", "gexf"): lambda web, answers: (picture_gexf(answers, picture_of(web.graph, answers)).encode(), GEXF),
    ("communities", "gexf"): lambda _, found: (found.to_gexf().encode(), GEXF),
    ("communities", "html"): lambda _, found: (found.to_html().encode(), HTML),
    ("hubs", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
    ("search", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
}
"""Files that a view can be had as, beside those of the API."""


def document(state: State, view: View, web: Snapshot | None = None) -> bytes:
    """A view as a whole page."""
    store = None
    if web is not None:
        built = str(web.graph.manifest.get("built", ""))[:10]
        store = {"pages": web.graph.pages, "links": len(web.graph.links), "built": built}
    return render(view.template, state=state, title=view.title, look=view.look, store=store, **view.values)


def only_words(web: Snapshot, state: State) -> bool:
    """Whether the text in the field isn't an address: it is searched for, unless a page is named so."""
    if len(state.urls) != 1 or not like_words(state.urls[0]):
        return False
    try:
        return web.graph.get(state.urls[0]) is None
    except BadAddress:
        return True


def question_of(state: State) -> Page:
    """The question that an address asks; raises a CociteError."""
    check_addresses((*state.urls, *state.unwanted))
    if not state.asks:
        return Page(state, None)
    default = views.DEFAULT_COLUMNS if state.view == "compare" and len(state.methods) < 2 else ()
    changes = {"method": list(dict.fromkeys((*state.methods, *default)))} if default else {}
    return Page(state, Asked.of(state.operation(**changes)))


def wrong(state: State, error: CociteError) -> Content:
    """The page of a question that is invalid."""
    status = next((STATUS[each] for each in type(error).__mro__ if each in STATUS), 422)
    return failed(state, status, f"{error}")


def failed(state: State, status: int, message: str) -> Content:
    """A page that says what went wrong."""
    view = View("failed.html", "Not answered", {"message": message})
    return Content(document(replace(state, form=""), view), HTML, status)
