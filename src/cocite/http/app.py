"""The FastAPI application: the routes of operations, those for operators, the web page, and errors in one shape.

FastAPI routes and describes. Pydantic reads neither questions nor answers: the declarations of operations read
parameters, and the bytes that a thread made are sent as they are. The description (OpenAPI) is made from these
declarations and from examples.json.
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from functools import cache, partial
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from cocite import __version__
from cocite.errors import CociteError
from cocite.http.front import Exchange, body_of
from cocite.http.page.pages import failed, failure_page, methods_page, page_reply
from cocite.http.page.render import assets, environment, render
from cocite.http.page.state import PATHS, State
from cocite.http.page.study import RatingStudy
from cocite.http.questions import (
    TABLES,
    RecordQuestion,
    parameters,
    query_values,
    record_parameters,
    route_name,
    routes,
)
from cocite.http.recording import ClickRecorder, may_record
from cocite.http.responses import HTML, INTERNAL_ERROR, JSON, PLAIN_TEXT, Reply, etag, reply_to, status_reply, to_json
from cocite.http.service import Service
from cocite.http.similar import SimilarQuestion
from cocite.http.writes import WRITTEN_FILES, Writes, keep_connected, request_id, spooled
from cocite.operations.declare import Operation
from cocite.parameters import Parameter
from cocite.serving.threads import RefusedRequest

OPERATORS = "running a server"
ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /*?\n"
"""Every answer links to ten others: a crawler would never come to an end."""
Handler = Callable[[Request, Exchange], Awaitable[Response]]


def make_app(service: Service) -> FastAPI:
    """The application of one worker."""
    app = FastAPI(
        title="cocite", version=__version__, description=examples()["about"], responses=error_responses(),
        summary="Which pages are related to this page? Related pages from links, in milliseconds, with reasons.",
        docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False,
    )  # fmt: skip

    def route(path: str, label: str, handler: Handler, verb: str = "GET", **about: Any) -> None:
        """Add a route, counted under a label; without `about` it isn't in the description."""

        async def endpoint(request: Request) -> Response:
            exchange: Exchange = request.scope["cocite"]
            exchange.route = label
            return await handler(request, exchange)

        app.add_api_route(path, endpoint, methods=[verb], include_in_schema=bool(about), **about)

    async def ask(_: Request, exchange: Exchange, operation: type[Operation]) -> Response:
        return await exchange.ask(operation)  # as the front does, which is sooner

    for path, operation in routes().items():
        name, about = route_name(operation), operation.about
        route(
            path, name, partial(ask, operation=operation), tags=[about.group], summary=about.summary,
            operation_id=name, responses=responses_of(name),
            openapi_extra={"parameters": described(parameters(path).values())},
        )  # fmt: skip
    route(
        "/api/related", "unseen", related_to_record, "POST", tags=["related pages"], operation_id="related_to_record",
        summary="Find the pages most related to a page that the store has never seen, from its record.",
        description="Uses the known pages that it links to; without any, its words; without these, a shorter address.",
        responses=responses_of("unseen"),
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/json": examples()["record"]}},
            "parameters": described(record_parameters().values()),
        },
    )  # fmt: skip

    route(
        "/findSimilar", "similar", similar, "POST", tags=["related pages"], operation_id="find_similar",
        summary="Find related pages, asked and answered in the shape that clients of Exa use.",
        responses=responses_of("similar"),
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": examples()["similar"]}}},
    )  # fmt: skip
    recording = environment().globals["recording"] = service.settings.record_clicks
    if service.settings.write_key or recording:
        writes = service.writes = Writes(service.settings.store, service.log, service.watcher.check_now)
    if recording:
        recorder = ClickRecorder(writes)

        async def clicked(request: Request, exchange: Exchange) -> Response:
            known = {name: Parameter(name=name, help="") for name in ("from", "to")}
            given = query_values(request.scope["query_string"], known)
            if not may_record(exchange.client, exchange.headers):
                raise RefusedRequest(403, "NotLocal", "Only clicks of this machine are recorded", "Open the page there")
            counted = recorder.record(service.web.graph, given.get("from", ""), given.get("to", ""))
            return Reply(200, to_json({"recorded": counted}))

        route("/clicked", "write", clicked, "POST")
    if service.settings.write_key:

        async def write(kind: str, request: Request, _: Exchange) -> Response:
            query_values(request.scope["query_string"], {})
            writes.refuse_if_full()
            file = writes.new_file(WRITTEN_FILES[kind])
            async with spooled(request, file) as size:
                keep_connected(request)
                counted = await writes.write(kind, str(file), size, request_id(request))
            return Reply(200, to_json(counted))

        async def remove(request: Request, exchange: Exchange) -> Response:
            url = query_values(request.scope["query_string"], {"url": Parameter(name="url", help="")}).get("url", "")
            if not url:
                service.web.graph.find(url)  # raises BadAddress
            keep_connected(request)
            await writes.write("removals", url)  # not by the snapshot, which may lack the page yet
            return Reply(200, to_json({"removed": 1}))

        def writing(name: str, summary: str, **more: Any) -> dict[str, Any]:
            extra = {"security": [{"write_key": []}], **more}
            about = {"tags": ["writing"], "operation_id": name, "summary": summary}
            return {**about, "responses": responses_of(name), "openapi_extra": extra}

        sent = examples()["written"]
        route(
            "/api/pages", "write", partial(write, "pages"), "POST",
            **writing("add_pages", "Add page records to the store.", requestBody=sent["pages"]),
        )  # fmt: skip
        route(
            "/api/pages", "write", remove, "DELETE",
            **writing("remove_page", "Remove a page from the store, for good.", parameters=[sent["url"]]),
        )  # fmt: skip
        route(
            "/api/clicks", "write", partial(write, "clicks"), "POST",
            **writing(
                "add_clicks", "Count clicks into the store.", requestBody=sent["clicks"], parameters=[sent["key"]]
            ),
        )  # fmt: skip

    def interface() -> dict[str, Any]:
        """The description of all routes."""
        found = app.openapi()
        if service.settings.write_key:
            about = "The key that the server was started with, see --write-key"
            scheme = {"type": "http", "scheme": "bearer", "description": about}
            found.setdefault("components", {})["securitySchemes"] = {"write_key": scheme}
        return found

    async def health(*_: Any) -> Reply:
        if service.stopping:
            raise RefusedRequest(503, "Stopping", "This server is shutting down", "Ask another one", 5)
        manifest = service.web.graph.manifest
        store = {"id": manifest.get("id"), "generation": manifest.get("generation"), "edition": service.web.edition}
        service.refuse_damaged()
        damage: dict[str, Any] = {"damaged": service.watcher.damage, "rejected": service.watcher.rejected}
        known = {name: value for name, value in damage.items() if value}
        about = {"status": "degraded" if known else "ok", "version": __version__, "store": store}
        return Reply(200, to_json(about | known))

    async def metrics(*_: Any) -> Reply:
        service.measure()
        graph = service.web.graph
        about = {"id": str(graph.manifest.get("id")), "edition": service.web.edition, "version": __version__}
        text = service.metrics.text(about, {"store_pages": len(graph), "store_links": len(graph.links)})
        return Reply(200, text, b"text/plain; version=0.0.4; charset=utf-8")

    route("/healthz", "health", health, tags=[OPERATORS], operation_id="healthz", responses=responses_of("health"),
          summary="Say whether this server answers: 503 while it is shutting down.")  # fmt: skip
    route("/metrics", "metrics", metrics, tags=[OPERATORS], operation_id="metrics", responses=responses_of("metrics"),
          summary="Metrics for Prometheus, summed over all workers.", response_class=Response)  # fmt: skip
    for view, path in PATHS.items():
        route(path, "page", partial(page_reply, view=view))
    route("/static/{name}", "static", static_file)
    route("/robots.txt", "static", robots)

    def lasting(path: str, media: bytes, make: Callable[[], bytes]) -> None:
        """A page about the program itself, which is made once."""

        @cache
        def reply() -> Reply:
            body = make()
            return Reply(200, body, media, etag(path, body))

        async def handler(*_: Any) -> Reply:
            return reply()

        route(path, "docs", handler)

    lasting("/methods", HTML, methods_page)
    lasting("/docs", HTML, lambda: render("docs.html", schema=interface()))
    lasting("/openapi.json", JSON, lambda: to_json(interface()))
    if service.settings.study is not None:
        study = RatingStudy(service.settings.study)
        route("/study", "page", study.show)
        route("/study", "page", study.save, "POST")
    add_errors(app)
    return app


async def related_to_record(request: Request, exchange: Exchange) -> Response:
    """Pages related to a page whose record is sent."""
    exchange.refuse_if_busy()
    body = await body_of(request)
    return await exchange.answer(await exchange.read(partial(RecordQuestion.read, body)))


async def similar(request: Request, exchange: Exchange) -> Response:
    """Related pages in the shape of another service."""
    query_values(request.scope["query_string"], {})
    exchange.refuse_if_busy()
    body = await body_of(request)
    return await exchange.answer(await exchange.read(partial(SimilarQuestion.read, body), len(body)))


async def static_file(request: Request, _: Exchange) -> Response:
    """A file of the web page."""
    return assets().get(request.path_params["name"]) or status_reply(404)


async def robots(*_: Any) -> Response:
    """What crawlers may read."""
    return Reply(200, ROBOTS, PLAIN_TEXT)


def add_errors(app: FastAPI) -> None:
    """Send every error in the one shape."""

    @app.exception_handler(CociteError)
    @app.exception_handler(RefusedRequest)
    async def refused(_: Request, error: CociteError | RefusedRequest) -> Response:
        return reply_to(error)

    @app.exception_handler(Exception)
    async def fault(request: Request, _: Exception) -> Response:
        return failure_page(State(), INTERNAL_ERROR) if request.scope["cocite"].route == "page" else INTERNAL_ERROR

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        extra = tuple((name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items())
        path, accepted = request.url.path, request.headers.get("accept", "")
        if error.status_code == 404 and "text/html" in accepted and not path.startswith("/api/"):
            return failed(State(), 404, "There is no page at this address. Give the address of a page above, or words.")
        if error.status_code == 405:  # of several routes at one path, Starlette names the verbs of the first
            here = [route for route in app.routes if getattr(route, "path", "") == request.url.path]
            verbs = {"GET", "HEAD"}.union(*(getattr(route, "methods", ()) for route in here))
            extra = ((b"allow", ", ".join(sorted(verbs)).encode()),)
        return status_reply(error.status_code, extra)


# ----------------------------------------------------------------------------------------------- the description


@cache
def examples() -> dict[str, Any]:
    """Schemas and examples of answers and errors."""
    found: dict[str, Any] = json.loads(resources.files("cocite.http").joinpath("examples.json").read_bytes())
    return found


def described(given: Iterable[Parameter]) -> list[dict[str, Any]]:
    """Parameters of a query string."""
    return [
        {"name": each.name, "in": "query", "required": each.required, "description": each.help}
        | {"schema": each.schema()}
        | ({"example": each.example} if each.example is not None else {})
        for each in given
    ]


def responses_of(name: str) -> dict[int | str, dict[str, Any]]:
    """The answer of a route."""
    about = examples()["answers"].get(name, {"description": "The result.", "example": {}})  # that of a plugin has none
    about = {**examples()["answers"].get(about.get("same_as"), {}), **about}
    if "text" in about:
        content = {"text/plain": {"schema": {"type": "string"}, "example": about["text"]}}
        return {200: {"description": about["description"], "content": content}}
    schema = examples()["schemas"]["answers"] if name in (*TABLES, "unseen") else {"type": "object"}
    content = {"application/json": {"schema": about.get("schema", schema), "example": about.get("example")}}
    if name in TABLES:
        table = examples()["table"]
        for media, example in (("text/csv", table), ("text/tab-separated-values", table.replace(",", "\t"))):
            content[media] = {"schema": {"type": "string"}, "example": example}
    return {200: {"description": about["description"], "content": content}}


def error_responses() -> dict[int | str, dict[str, Any]]:
    """The errors of every route."""
    schema = examples()["schemas"]["error"]
    return {
        int(status): {
            "description": about["description"],
            "content": {"application/json": {"schema": schema, "example": {"error": about["error"]}}},
        }
        for status, about in examples()["errors"].items()
    }
