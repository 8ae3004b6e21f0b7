"""The description of the HTTP API (OpenAPI), made from the declarations of operations and from examples.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from cocite.parameters import Parameter

TABLES = ("related", "recommend", "hubs", "search")
"""Operations whose results are pages, which can be had as a table, and with reasons in words."""


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
    about = examples()["answers"][name]
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
