"""The web page as questions: what a page depends on, and the values that its template shows.

A page is a question like those of the API: cached, limited and counted in the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import orjson
from starlette.requests import Request

from cocite import __version__
from cocite.errors import BadAddress, CociteError, UnknownMethod, UnknownPage, UnknownWord
from cocite.http.front import Exchange
from cocite.http.page import views
from cocite.http.page.render import assets, environment, method_names, render, sentence
from cocite.http.page.state import OF_PAGES, State, looks_like_words, state_of
from cocite.http.questions import Key, OperationQuestion, find_page
from cocite.http.responses import CSV, ERRORS, HTML, JSON, Reply, kind_of, reply_to
from cocite.http.settings import MAX_READ_AT_ONCE_BYTES
from cocite.operations import DEFAULT_METHOD
from cocite.operations.bounds import bounded_method, check_addresses
from cocite.related import methods
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import picture_of
from cocite.results.present import separated
from cocite.serving.threads import RefusedRequest
from cocite.web import Web

GEXF = b"application/gexf+xml; charset=utf-8"
MAX_PAGE_QUERY_BYTES = 1 << 14
"""A page repeats its question in a hundred links: 60 kB became 6 MB. The form takes half of this."""
MAX_MARKS = 60
"""Dates that a slider offers."""
DEFAULT_COLUMNS = (DEFAULT_METHOD, "cocitation", "companion", "lli")
"""Methods that are compared by default: four columns fit a screen."""


@dataclass(frozen=True)
class PageQuestion:
    """A view of the web page, and the question whose answer it shows."""

    state: State
    asked: OperationQuestion | None
    remark: str = ""  # how the question was changed
    route: str = "page"

    @classmethod
    def of(cls, state: State) -> Self:
        """The question that an address asks, without methods that don't exist; raises a CociteError."""
        check_addresses((*state.urls, *state.unwanted))
        if not state.asks:
            return cls(state, None)
        known = tuple(name for name in state.methods if is_method(name))
        remark = ""
        if missing := [name for name in state.methods if name not in known]:
            state = replace(state, methods=known)
            instead = known[0] if known else DEFAULT_METHOD
            remark = f"Unknown method {missing[0]!r:.100}; these results are by {instead}."
        default = DEFAULT_COLUMNS if state.view == "compare" and len(state.methods) < 2 else ()
        changes = {"method": list(dict.fromkeys((*state.methods, *default)))} if default else {}
        return cls(state, OperationQuestion.of(state.operation(**changes)), remark)

    @classmethod
    def read(cls, view: str, query: bytes) -> Self | Reply:
        """The question that the address of a view asks, or the page that says what is wrong with it."""
        if len(query) > MAX_PAGE_QUERY_BYTES:
            return failed(State(view), 400, "The question is too long for a page; ask about fewer pages, or the API")
        state = state_of(view, query)
        try:
            return cls.of(state)
        except CociteError as error:
            return failed(state, ERRORS[kind_of(error)][0], str(error))

    @property
    def slow(self) -> bool:
        return self.asked is not None and self.asked.slow

    def keys(self, web: Web) -> tuple[Key, ...]:
        """What the page depends on: also the version of the program, and its files."""
        shown = (__version__, environment().globals["recording"], *(reply.etag for reply in assets().values()))
        own = (self.route, self.state, self.remark, *shown)
        return tuple((*own, key) for key in (self.asked.keys(web) if self.asked else ((),)))

    def work(self, web: Web, load: int) -> Reply:
        """The page, or the same as a file."""
        state, asked = self.state, self.asked
        if state.view in OF_PAGES and only_words(web, state):
            state = State("keywords" if state.view == "keywords" else "search", words=state.urls[0])
            asked = OperationQuestion.of(state.operation())
        remark, dates = self.remark, web.dates
        if asked is not None and state.option("as_of"):
            web = asked.operation.web_asked(web)
            day = web.graph.manifest.get("as_of") or dates[-1]
            remark = " ".join(filter(None, (remark, f"From the captures up to {day}.")))
        file = FILES.get((state.view, state.form))
        if file is not None and asked is not None:
            return asked.file(web, load, *file(web, asked.answers(web, load)))
        status, template = 200, state.view
        try:
            if asked is None and state.view not in ("communities", "keywords"):
                template, values = "start", views.start(web)
            else:
                values = views.VIEWS[state.view](web, state, asked, load)
        except UnknownWord as error:
            status, values = 404, {"error": sentence(str(error).partition("; ")[0]), "nearest": error.nearest}
            values["pages"] = views.pages_with(web, state.words, views.PAGES_FOR_KEYWORDS)
        except (UnknownPage, BadAddress) as error:
            status, template = (404 if isinstance(error, UnknownPage) else 400), "unknown"
            values = views.unknown(web, state, error)
        return Reply(status, document(template, state, web, remark=remark, dates=marks(dates), **values), HTML)


def marks(dates: list[str]) -> list[str]:
    """Dates for a slider: all, or the last of each month, or of each year, if there are too many."""
    for length in (len("2009-06-30"), len("2009-06")):
        if len(found := list({date[:length]: date for date in dates}.values())) <= MAX_MARKS:
            return found
    return list({date[:4]: date for date in dates}.values())


def is_method(call: str) -> bool:
    """Whether a method has this name; raises BadParameter for parameters that it can't have."""
    try:
        return bool(bounded_method(call))
    except UnknownMethod:
        return False


FILES: dict[tuple[str, str], Callable[[Web, Any], tuple[bytes, bytes]]] = {
    ("picture", "gexf"): lambda web, answers: (picture_gexf(answers, picture_of(web.graph, answers)).encode(), GEXF),
    ("communities", "gexf"): lambda _, found: (found.to_gexf().encode(), GEXF),
    ("communities", "html"): lambda _, found: (found.to_html().encode(), HTML),
    ("hubs", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
    ("search", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
}
"""Files that a view can be had as, beside those of the API."""


async def page_reply(request: Request, exchange: Exchange, view: str) -> Reply:
    """A view of the page, or a page that says what went wrong."""
    state = State(view)
    try:
        question = await exchange.read(partial(PageQuestion.read, view))
        if isinstance(question, Reply):
            return question
        if len(exchange.key) <= MAX_READ_AT_ONCE_BYTES:  # a page about 50 long addresses takes 0.1 s to make
            state = question.state
        return failure_page(state, await exchange.answer(question))
    except RefusedRequest as error:
        return failure_page(state, reply_to(error))


def failure_page(state: State, reply: Reply) -> Reply:
    """A reply as a page: an error that occurred in a thread comes as JSON."""
    if reply.media != JSON or reply.status < 400:
        return reply
    error = orjson.loads(reply.body)["error"]
    return replace(failed(state, reply.status, f"{error['message']}. {error['hint']}."), extra=reply.extra)


def failed(state: State, status: int, message: str) -> Reply:
    """A page that says what went wrong, which nobody may cache."""
    return Reply(status, document("failed", replace(state, form=""), message=message), HTML)


def methods_page() -> bytes:
    """Every method, with its parameters."""
    return document("methods", State(), methods=[methods.about(name) for name in method_names()])


def document(template: str, state: State, web: Web | None = None, **values: Any) -> bytes:
    """A whole page."""
    if web is not None:
        graph = web.graph
        store = {"pages": len(graph), "links": len(graph.links), "built": str(graph.manifest.get("built", ""))[:10]}
        values |= {"store": store, "linked": partial(views.linked, web), "asked": partial(views.asked_page, web)}
    return render(f"{template}.html", state=state, **values)


def only_words(web: Web, state: State) -> bool:
    """Whether the text in the field isn't an address: it is searched for, unless a page is named so."""
    return len(state.urls) == 1 and looks_like_words(state.urls[0]) and find_page(web.graph, state.urls[0]) is None
