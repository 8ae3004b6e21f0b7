"""The application: routes of `routes.py`, those for whoever runs the server, and errors of one shape.

FastAPI routes and describes. No question and no answer goes through Pydantic: parameters are read by `taken.py`, and
the bytes that a thread made are sent as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from cocite import __version__
from cocite.errors import CociteError
from cocite.http import examples
from cocite.http.front import answered
from cocite.http.questions import Question
from cocite.http.replies import FAULT, Refused, Reply, error_reply, json_reply, phrase, reply_to
from cocite.http.routes import PAGES, ROUTES, UNSEEN, Route, filters_of
from cocite.http.service import Service
from cocite.http.site import add_site, readable
from cocite.http.state import State
from cocite.http.study import add_study
from cocite.http.taken import body_of, read
from cocite.http.unseen import Unseen

RUNNING = "running it"


class Sent(Response):
    """A reply, sent as it is."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Leave it to the front, which packs it and adds what every response has."""
        await scope["cocite"].send(self.reply)


def make_app(service: Service) -> FastAPI:
    """The application of one worker."""
    app = FastAPI(
        title="cocite",
        version=__version__,
        summary="Which pages are related to this page? Related pages from links, in milliseconds, with reasons.",
        description=examples.ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=examples.ERRORS,
        redirect_slashes=False,
    )

    async def answer(request: Request, question: Question) -> Reply:
        seen = request.scope["cocite"]
        seen.route = question.route
        return await service.answer(question, seen.key if request.method == "GET" else b"", seen.if_none_match)

    for route in ROUTES:
        add_route(app, route, service)
    add_unseen(app, answer)
    add_service(app, service)
    add_site(app, answer, Sent)
    if service.settings.study is not None:
        add_study(app, service.settings.study, Sent)
    add_errors(app)
    return app


Answer = Callable[[Request, Question], Awaitable[Reply]]


def add_route(app: FastAPI, route: Route, service: Service) -> None:
    """A question by its address: described here; the front answers it in the same way, and sooner."""

    async def endpoint(request: Request) -> Response:
        return Sent(await answered(service, route, request.scope["cocite"]))

    app.add_api_route(
        route.path,
        endpoint,
        methods=["GET"],
        tags=[route.group],
        summary=route.says,
        operation_id=route.path.rpartition("/")[2],
        responses=route.gives,
        openapi_extra={"parameters": [each.described() for each in route.takes]},
    )


def add_unseen(app: FastAPI, answer: Answer) -> None:
    """Related pages of a page that is sent."""

    @app.post(
        "/api/related",
        tags=[PAGES],
        operation_id="related_to_record",
        summary="The pages most related to a page that the store has never seen, given by its record.",
        responses=examples.RELATED,
        openapi_extra={**examples.RECORD, "parameters": [each.described() for each in UNSEEN]},
    )
    async def related_to_record(request: Request) -> Response:
        """Pages that it links to are asked about; if none of them is known, its words are; else a shorter address."""
        given = read(UNSEEN, request.scope["query_string"])
        body = await body_of(request)
        return Sent(await answer(request, Unseen(body, given["method"], given["k"], filters_of(given), given["words"])))


def add_service(app: FastAPI, service: Service) -> None:
    """What those ask who run the server."""

    @app.get("/healthz", responses=examples.HEALTH, tags=[RUNNING], operation_id="healthz")
    async def health(request: Request) -> Response:
        """Whether this server answers: 503 while it is shutting down, so that nobody is sent to it."""
        request.scope["cocite"].route = "health"
        if service.stopping:
            raise Refused(503, "Stopping", "this server is shutting down", "ask another one", 5)
        manifest = service.web.graph.manifest
        about = {"id": manifest.get("id"), "generation": manifest.get("generation"), "edition": service.web.edition}
        return Sent(json_reply({"status": "ok", "version": __version__, "store": about}))

    @app.get("/metrics", responses=examples.METRICS, tags=[RUNNING], operation_id="metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """What was counted, for Prometheus; the sum over all workers."""
        request.scope["cocite"].route = "metrics"
        service.measure()
        graph = service.web.graph
        about = {"id": str(graph.manifest.get("id")), "edition": service.web.edition, "version": __version__}
        text = service.metrics.text(about, {"store_pages": graph.pages, "store_links": graph.links})
        return Sent(Reply(200, text, b"text/plain; version=0.0.4; charset=utf-8"))


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
        if error.status_code == 405:  # of several routes at one path, Starlette names what the first takes
            here = [route for route in app.routes if getattr(route, "path", "") == request.url.path]
            verbs = {"GET", "HEAD"}.union(*(getattr(route, "methods", ()) for route in here))
            extra = ((b"allow", ", ".join(sorted(verbs)).encode()),)
        if error.status_code == 404:
            return Sent(error_reply(404, "NotFound", "there is nothing at this address", "/docs lists what there is"))
        hint = "/docs says what may be asked, and how"
        kind = phrase(error.status_code).title().replace(" ", "")
        return Sent(error_reply(error.status_code, kind, phrase(error.status_code).lower(), hint, extra))
