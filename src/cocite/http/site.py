"""The routes of the web page: its views, its files, and the description of the interface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from cocite.errors import CociteError
from cocite.http.assets import assets
from cocite.http.pages import document, failed, question_of, wrong
from cocite.http.questions import Made, Question
from cocite.http.render import render
from cocite.http.replies import HTML, JSON, TEXT, Refused, Reply, etag, to_json
from cocite.http.state import PATHS, State, state_of
from cocite.http.taken import MOST_FIELDS
from cocite.http.views import every_method

if TYPE_CHECKING:
    from cocite.http.app import Sent

ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /*?\n"
"""Every answer leads to ten others: a crawler would never come to an end."""
Answer = Callable[[Request, Question], Awaitable[Reply]]


def add_site(app: FastAPI, answer: Answer, sent: Callable[[Reply], Sent]) -> None:
    """Add the routes to an application."""
    for view in PATHS:
        add_view(app, view, answer, sent)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        request.scope["cocite"].route = "static"
        found = assets().get(name)
        if found is None:
            raise HTTPException(404)
        return sent(found)

    add_lasting(app, "/methods", HTML, lambda: document(State(), every_method()), sent)
    add_lasting(app, "/docs", HTML, lambda: render("docs.html", schema=app.openapi()), sent)
    add_lasting(app, "/openapi.json", JSON, lambda: to_json(app.openapi()), sent)

    @app.get("/robots.txt", include_in_schema=False)
    async def robots(request: Request) -> Response:
        request.scope["cocite"].route = "static"
        return sent(Reply(200, ROBOTS, TEXT))


def add_lasting(
    app: FastAPI, path: str, media: bytes, make: Callable[[], bytes], sent: Callable[[Reply], Sent]
) -> None:
    """Something about the program itself, which stays as it is: it is made once, when it is first asked for."""

    @cache
    def made_once() -> Reply:
        body = make()
        return Reply(200, body, media, etag(path, body))

    @app.get(path, include_in_schema=False)
    async def lasting(request: Request) -> Response:
        request.scope["cocite"].route = "docs"
        return sent(made_once())


def add_view(app: FastAPI, view: str, answer: Answer, sent: Callable[[Reply], Sent]) -> None:
    """One view of the web page."""

    @app.get(PATHS[view], include_in_schema=False)
    async def page(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        state = State(view)
        try:
            state = asked_by(view, request.scope["query_string"])
            reply = await answer(request, question_of(state))
        except CociteError as error:
            return sent(made(wrong(state, error)))
        except Refused as error:
            told = failed(state, error.status, f"{error.message}: {error.hint}.")
            return sent(made(told, error.reply().extra))
        return sent(readable(state, reply))


def asked_by(view: str, query: bytes) -> State:
    """What the address of a page says; what is beyond what a page could mean is left out."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), max_num_fields=MOST_FIELDS)
    except ValueError:
        pairs = []
    return state_of(view, pairs)


def made(page: Made, extra: tuple[tuple[bytes, bytes], ...] = ()) -> Reply:
    """A page that is not kept."""
    return Reply(page.status, page.body, page.media, extra=extra)


def readable(state: State, reply: Reply) -> Reply:
    """A reply as a page: an error that was found while working on it comes as programs get it."""
    if reply.media != JSON or reply.status < 400:
        return reply
    error = orjson.loads(reply.body)["error"]
    return made(failed(state, reply.status, f"{error['message']}: {error['hint']}."), reply.extra)
