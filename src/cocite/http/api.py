"""The HTTP API, made from the declarations of operations: reading query strings, and the OpenAPI description.

Reading and checking ten parameters of /api/related takes 0.07 ms, with pydantic 0.9 ms, of about 3 ms for an answer.
msgspec would take 0.03 ms, but needs a second declaration of every parameter, and has its own error messages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from cocite.errors import BadParameter
from cocite.http.questions import Asked, AskedAboutRecord
from cocite.http.responses import Refused
from cocite.http.settings import MAX_BODY_BYTES
from cocite.operations.bounds import bounded_method
from cocite.operations.declare import Operation, make, operations_by_name, parameters_on
from cocite.operations.pages.related import Related
from cocite.parameters import Parameter, parameters_of
from cocite.results.filters import Filters

MAX_FIELDS = 200
BODY_SECONDS = 10.0
TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
FORMAT = Parameter(
    name="format", help="Format of the answer", default="json", choices=("json", "csv", "tsv"), max_length=10
)
WORDS = Parameter(
    name="words", help="Add reasons in words: `why` of each result, and what each reason `says`", type=bool,
    default=False,
)  # fmt: skip
TABLES = ("related", "recommend", "hubs", "search")
"""Operations whose results are pages, which can be had as a table, and with reasons in words."""
RECORD_NAMES = ("method", "k", *(each.name for each in parameters_of(Filters)))
"""Parameters of POST /api/related, beside the record."""


@cache
def routes() -> dict[str, type[Operation]]:
    """The operations that have a route, by path."""
    return {each.about.route: each for each in operations_by_name().values() if each.about.route}


def parameters(cls: type[Operation]) -> list[Parameter]:
    """The query parameters of a route."""
    own = [FORMAT, WORDS] if cls.about.name in TABLES else []
    return [*(each for _, each in parameters_on(cls, "http")), *own]


def record_parameters() -> list[Parameter]:
    """The query parameters of POST /api/related."""
    return [each for each in parameters(Related) if each.name in (*RECORD_NAMES, "words")]


@cache
def _known(cls: Any) -> dict[str, Parameter]:
    return {each.name: each for each in parameters(cls)}


def question_of(cls: Any, query: bytes) -> Asked:
    """What a query string asks of an operation; raises a CociteError."""
    given = values_of(_known(cls), query)
    own = {each.name: each.check(given.pop(each.name)) for each in (FORMAT, WORDS) if each.name in given}
    return Asked.of(make(cls, "http", given), **own)


def record_question(query: bytes, body: bytes) -> AskedAboutRecord:
    """What a page record in the body asks; raises a CociteError."""
    known = {each.name: each for each in record_parameters()}
    given = {name: known[name].check(value) for name, value in values_of(known, query).items()}
    method, k, words = given.pop("method", Related.method), given.pop("k", Related.k), given.pop("words", False)
    bounded_method(method)
    return AskedAboutRecord(body, method, k, Filters(**given).filters, words)


def values_of(known: Mapping[str, Parameter], query: bytes) -> dict[str, Any]:
    """The texts of a query string by name: one, or a list of them; raises BadParameter."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise BadParameter(f"More than {MAX_FIELDS} parameters; give fewer") from error
    found: dict[str, Any] = {}
    for name, text in pairs:
        each = known.get(name)
        if each is None:
            raise BadParameter(f"Unknown parameter {name!r:.100}. Available: {', '.join(known) or 'none'}")
        if each.many:
            found.setdefault(name, []).append(text)
        elif name in found:
            raise BadParameter(f"{name} is given more than once; give it once")
        else:
            found[name] = text
    return found


async def body_of(request: Request) -> bytes:
    """The body of a request, if it arrives in time and is not too large."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > MAX_BODY_BYTES:
                    raise Refused(400, "TooLarge", f"The body has more than {MAX_BODY_BYTES:,} bytes", "Send less")
                parts.append(part)
    except ClientDisconnect:
        raise Refused(400, "Gone", "The connection ended before the body did", "Send it again") from None
    except TimeoutError:
        message = f"The body did not arrive within {BODY_SECONDS:g} s"
        raise Refused(400, "TooSlow", message, "Send it again") from None
    return b"".join(parts)


def described(given: Iterable[Parameter]) -> list[dict[str, Any]]:
    """Parameters for OpenAPI."""
    return [_described(each) for each in given]


def _described(each: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": TYPE_NAMES[each.type]}
    if each.type is str:
        schema["maxLength"] = each.max_length
        pattern = each.pattern or (r"\S" if each.many or each.required else "")
        schema |= {"pattern": pattern} if pattern else {}
    for name, bound in (("minimum", each.minimum), ("maximum", each.maximum)):
        schema |= {name: bound} if bound is not None else {}
    schema |= {"enum": list(each.choices)} if each.choices else {}
    if each.many:
        schema = {"type": "array", "items": schema, "maxItems": each.max_items}
    elif not each.required:
        schema["default"] = each.default
    about = {"name": each.name, "in": "query", "required": each.required, "description": each.help, "schema": schema}
    return about | ({"example": each.example} if each.example is not None else {})


@cache
def examples() -> dict[str, Any]:
    """Schemas and examples of answers and errors, from examples.json."""
    found: dict[str, Any] = json.loads(resources.files("cocite.http").joinpath("examples.json").read_bytes())
    return found


def responses_of(name: str) -> dict[int | str, dict[str, Any]]:
    """The answer of a route for OpenAPI."""
    about = examples()["answers"][name]
    about = {**examples()["answers"].get(about.get("same_as"), {}), **about}
    content = {"application/json": {"schema": {"type": "object"}, "example": about.get("example")}}
    if name in (*TABLES, "unseen"):
        content["application/json"]["schema"] = examples()["schemas"]["answers"]
    if "schema" in about:
        content["application/json"]["schema"] = about["schema"]
    if name in TABLES:
        table = examples()["table"]
        content["text/csv"] = {"schema": {"type": "string"}, "example": table}
        content["text/tab-separated-values"] = {"schema": {"type": "string"}, "example": table.replace(",", "\t")}
    if "text" in about:
        content = {"text/plain": {"schema": {"type": "string"}, "example": about["text"]}}
    return {200: {"description": about["description"], "content": content}}


def error_responses() -> dict[int | str, dict[str, Any]]:
    """The errors of every route for OpenAPI."""
    schema = examples()["schemas"]["error"]
    return {
        int(status): {
            "description": about["description"],
            "content": {"application/json": {"schema": schema, "example": {"error": about["error"]}}},
        }
        for status, about in examples()["errors"].items()
    }
