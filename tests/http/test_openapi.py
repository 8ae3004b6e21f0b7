"""The description of the interface: complete, with examples, and true. Schemathesis asks what it allows, and worse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import checks

from cocite.http.questions import parameters, routes
from tests.conftest import RUN_LONG
from tests.http.conftest import Asking

CONTRACT = {
    "/api/related", "/api/recommend", "/api/search", "/api/compare", "/api/changes", "/api/hubs",
    "/api/communities", "/api/filter", "/api/keywords", "/api/links", "/api/methods", "/api/store", "/findSimilar",
    "/healthz", "/metrics",
}  # fmt: skip

POSTED = {"/findSimilar"}


@pytest.fixture(scope="module")
def description(asking: Asking) -> dict[str, Any]:
    found: dict[str, Any] = asking.get("/openapi.json").json
    return found


def test_every_route_is_described_with_examples(description: dict[str, Any]) -> None:
    assert set(description["paths"]) == CONTRACT
    for path, verbs in description["paths"].items():
        for about in verbs.values():
            assert about["summary"], path
            content = about["responses"]["200"]["content"]
            assert all("example" in each for each in content.values()), path
    posted = description["paths"]["/api/related"]["post"]["requestBody"]["content"]["application/json"]
    assert posted["example"]["url"]


def test_every_parameter_is_described(description: dict[str, Any]) -> None:
    for path, operation in routes().items():
        told = {each["name"]: each for each in description["paths"][path]["get"].get("parameters", [])}
        assert set(told) == set(parameters(operation.about.route))
        assert all(each["description"] for each in told.values())


def test_errors_are_described_as_they_are(description: dict[str, Any], asking: Asking) -> None:
    for about in description["paths"]["/api/related"].values():
        for status in ("400", "404", "422", "503"):
            example = about["responses"][status]["content"]["application/json"]["example"]
            assert set(example["error"]) >= {"kind", "message", "hint"}
    found = asking.get("/api/related?url=ftp://example.org/").json
    assert (
        found
        == description["paths"]["/api/related"]["get"]["responses"]["400"]["content"]["application/json"]["example"]
    )


def test_the_description_for_people_needs_no_script(asking: Asking, description: dict[str, Any]) -> None:
    page = asking.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path in CONTRACT:
        assert f"{'POST' if path in POSTED else 'GET'} {path}" in page.text
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page.text)  # nothing of third parties


def test_routes_are_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "serve.md").read_text("utf-8")
    for path in (*CONTRACT, "/docs", "/openapi.json"):
        assert f"`{path}" in text or f" {path}" in text, path


@pytest.fixture(scope="module")
def api(asking: Asking) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", asking.front)


ALLOWED, NOT_ALLOWED = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
ANYTHING = ("/api/store", "/healthz", "/metrics")
"""Routes that take nothing, so that nothing is not allowed."""
OPERATIONS = [
    *(("GET", path, ALLOWED) for path in sorted(CONTRACT - POSTED)),
    *(("GET", path, NOT_ALLOWED) for path in sorted(CONTRACT.difference(ANYTHING, POSTED))),
    *(("POST", path, mode) for path in ("/api/related", *POSTED) for mode in (ALLOWED, NOT_ALLOWED)),
]
CHECKS = [checks.content_type_conformance, checks.response_schema_conformance]


@pytest.mark.parametrize(("verb", "path", "mode"), OPERATIONS)
@settings(max_examples=20 if RUN_LONG else 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_request_gets_a_described_response(api: Any, verb: str, path: str, mode: Any, data: Any) -> None:
    """Neither a fault, nor a type or a shape that is not described; 503 only where a part of the store is missing."""
    case = data.draw(api[path][verb].as_strategy(generation_mode=mode))
    response = case.call()
    assert response.status_code in (200, 400, 404, 405, 422) or path == "/api/hubs", response.text
    case.validate_response(response, checks=CHECKS)
