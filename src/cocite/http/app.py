"""The FastAPI application: the routes of operations, those for operators, the web page, and errors in the one shape.

FastAPI routes and describes. Pydantic reads neither questions nor answers: api.py reads parameters by the declarations
of operations, and the bytes that a thread made are sent as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from cocite import __version__
from cocite.errors import CociteError
from cocite.http import api
from cocite.http.front import answered
from cocite.http.page import pages
from cocite.http.page.render import assets, render
from cocite.http.page.state import PATHS, State, state_of
from cocite.http.page.study import add_study
from cocite.http.page.views import every_method
from cocite.http.questions import Content, Headers, Question
from cocite.http.responses import (
    FAULT,
    HTML,
    JSON,
    TEXT,
    Refused,
    Reply,
    error_reply,
    etag,
    json_reply,
    phrase,
    reply_to,
    to_json,
)
from cocite.http.service import Service
from cocite.operations.declare import Operation

OPERATORS = "running a server"
ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /*?\n"
"""Every answer links to ten others: a crawler would never come to an end."""
Answer = Callable[[Request, Question], Awaitable[Reply]]


class Sent(Response):
    """A reply, sent as it is by the front, which adds what every response has."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await scope["cocite"].send(self.reply)


def make_app(service: Service) -> FastAPI:
    """The application of one worker."""
    app = FastAPI(
        title="cocite",
        version=__version__,
        summary="Which pages are related to this page? Related pages from links, in milliseconds, with reasons.",
        description=api.examples()["about"],
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=api.error_responses(),
        redirect_slashes=False,
    )

    async def answer(request: Request, question: Question) -> Reply:
        exchange = request.scope["cocite"]
        exchange.route = question.route
        return await service.answer(question, exchange.key if request.method == "GET" else b"", exchange.if_none_match)

    for operation in api.routes().values():
        add_operation(app, operation, service)
    add_record(app, answer)
    add_operators_routes(app, service)
    for view in PATHS:
        add_view(app, view, answer)
    add_files(app)
    if service.settings.study is not None:
        add_study(app, service.settings.study, Sent)
    add_errors(app)
    return app


def add_operation(app: FastAPI, operation: type[Operation], service: Service) -> None:
    """The route of an operation. It is described here; the front answers it in the same way, and sooner."""

    async def endpoint(request: Request) -> Response:
        return Sent(await answered(service, operation, request.scope["cocite"]))

    about = operation.about
    name = about.route.rpartition("/")[2]
    app.add_api_route(
        about.route,
        endpoint,
        methods=["GET"],
        tags=[about.group],
        summary=about.summary,
        operation_id=name,
        responses=api.responses_of(name),
        openapi_extra={"parameters": api.described(api.parameters(operation))},
    )


def add_record(app: FastAPI, answer: Answer) -> None:
    """Pages related to a page whose record is sent."""
    body = {"requestBody": {"required": True, "content": {"application/json": api.examples()["record"]}}}

    @app.post(
        "/api/related",
        tags=["related pages"],
        operation_id="related_to_record",
        summary="Find the pages most related to a page that the store has never seen, from its record.",
        responses=api.responses_of("unseen"),
        openapi_extra={**body, "parameters": api.described(api.record_parameters())},
    )
    async def related_to_record(request: Request) -> Response:
        """Uses the known pages that it links to; without any, its words; without these, a shorter address."""
        body = await api.body_of(request)
        return Sent(await answer(request, api.record_question(request.scope["query_string"], body)))


def add_operators_routes(app: FastAPI, service: Service) -> None:
    """What those ask who run the server."""

    @app.get("/healthz", responses=api.responses_of("health"), tags=[OPERATORS], operation_id="healthz")
    async def health(request: Request) -> Response:
        """Say whether this server answers: 503 while it is shutting down."""
        request.scope["cocite"].route = "health"
        if service.stopping:
            raise Refused(503, "Stopping", "This server is shutting down", "Ask another one", 5)
        manifest = service.web.graph.manifest
        about = {"id": manifest.get("id"), "generation": manifest.get("generation"), "edition": service.web.edition}
        return Sent(json_reply({"status": "ok", "version": __version__, "store": about}))

    @app.get(
        "/metrics", responses=api.responses_of("metrics"), tags=[OPERATORS], operation_id="metrics",
        response_class=Response,
    )  # fmt: skip
    async def metrics(request: Request) -> Response:
        """Metrics for Prometheus, summed over all workers."""
        request.scope["cocite"].route = "metrics"
        service.measure()
        graph = service.web.graph
        about = {"id": str(graph.manifest.get("id")), "edition": service.web.edition, "version": __version__}
        text = service.metrics.text(about, {"store_pages": graph.pages, "store_links": len(graph.links)})
        return Sent(Reply(200, text, b"text/plain; version=0.0.4; charset=utf-8"))


def add_view(app: FastAPI, view: str, answer: Answer) -> None:
    """One view of the web page."""

    @app.get(PATHS[view], include_in_schema=False)
    async def page(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        state = State(view)
        try:
            state = state_of(view, request.scope["query_string"])
            reply = await answer(request, pages.question_of(state))
        except CociteError as error:
            return Sent(uncached(pages.wrong(state, error)))
        except Refused as error:
            return Sent(
                uncached(pages.failed(state, error.status, f"{error.message}. {error.hint}."), error.reply().extra)
            )
        return Sent(readable(state, reply))


def uncached(page: Content, extra: Headers = ()) -> Reply:
    """A page that nobody may cache."""
    return Reply(page.status, page.body, page.media, extra=extra)


def readable(state: State, reply: Reply) -> Reply:
    """A reply as a page: an error that occurred in a thread comes as JSON."""
    if reply.media != JSON or reply.status < 400:
        return reply
    error = orjson.loads(reply.body)["error"]
    return uncached(pages.failed(state, reply.status, f"{error['message']}. {error['hint']}."), reply.extra)


def add_files(app: FastAPI) -> None:
    """The files of the web page, and pages about the program itself, which are made once."""

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        request.scope["cocite"].route = "static"
        found = assets().get(name)
        if found is None:
            raise HTTPException(404)
        return Sent(found)

    @app.get("/robots.txt", include_in_schema=False)
    async def robots(request: Request) -> Response:
        request.scope["cocite"].route = "static"
        return Sent(Reply(200, ROBOTS, TEXT))

    made: dict[str, Reply] = {}

    def add(path: str, media: bytes, make: Callable[[], bytes]) -> None:
        @app.get(path, include_in_schema=False)
        async def lasting(request: Request) -> Response:
            request.scope["cocite"].route = "docs"
            if path not in made:
                body = make()
                made[path] = Reply(200, body, media, etag(path, body))
            return Sent(made[path])

    add("/methods", HTML, lambda: pages.document(State(), every_method()))
    add("/docs", HTML, lambda: render("docs.html", schema=app.openapi()))
    add("/openapi.json", JSON, lambda: to_json(app.openapi()))


def add_errors(app: FastAPI) -> None:
    """Every error in the one shape."""

    @app.exception_handler(CociteError)
    async def wrong(_: Request, error: CociteError) -> Response:
        return Sent(reply_to(error))

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return Sent(error.reply())

    @app.exception_handler(Exception)
    async def fault(request: Request, _: Exception) -> Response:
        return Sent(readable(State(), FAULT) if request.scope["cocite"].route == "page" else FAULT)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        extra = tuple((name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items())
        if error.status_code == 405:  # of several routes at one path, Starlette names the verbs of the first
            here = [route for route in app.routes if getattr(route, "path", "") == request.url.path]
            verbs = {"GET", "HEAD"}.union(*(getattr(route, "methods", ()) for route in here))
            extra = ((b"allow", ", ".join(sorted(verbs)).encode()),)
        if error.status_code == 404:
            return Sent(error_reply(404, "NotFound", "Nothing at this address", "See /docs for all routes"))
        name = phrase(error.status_code)
        hint = "See /docs for all routes and their parameters"
        return Sent(error_reply(error.status_code, name.title().replace(" ", ""), name.capitalize(), hint, extra))
