"""/docs: the interface for programs, described from its OpenAPI in a page without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cocite.http.frame import brand, whole
from cocite.http.markup import Markup, joined, tag, verbatim


def description(schema: dict[str, Any]) -> bytes:
    """The whole page."""
    info = schema["info"]
    intro = [tag("p", *_coded(part)) for part in info["description"].split("\n\n") if part.strip()]
    routes = ((verb, path, about) for path, verbs in schema["paths"].items() for verb, about in verbs.items())
    main = tag(
        "main",
        *intro,
        tag("p", "The same for programs: ", tag("a", "openapi.json", href="/openapi.json"), class_="facts"),
        *(route(*each) for each in routes),
        errors(schema),
    )
    top = tag("header", tag("div", brand(), class_="top"), tag("h1", "HTTP interface"))
    foot = tag("footer", tag("span", f"cocite {info['version']}"))
    return whole("cocite – HTTP interface", top, main, foot)


def route(method: str, path: str, about: dict[str, Any]) -> Markup:
    """One route: what it does, what it takes, what it gives."""
    said = about.get("description") or about.get("summary", "")
    given = about.get("parameters", [])
    rows = [tag("tr", tag("td", tag("code", each["name"])), tag("td", *_meaning(each))) for each in given]
    table = tag("div", tag("table", *rows), class_="wide") if rows else Markup("")
    parts = [tag("h2", tag("code", f"{method.upper()} {path}"), id=f"{method}{path.replace('/', '-')}")]
    parts += [tag("p", *_coded(each)) for each in said.split("\n\n")]
    parts += [table, *_examples("takes", about.get("requestBody", {})), *_examples("gives", about["responses"]["200"])]
    return joined(*parts)


def errors(schema: dict[str, Any]) -> Markup:
    """The shape of errors, with an example of each status."""
    responses = schema["paths"]["/api/related"]["get"]["responses"]
    shown = [
        joined(tag("h3", f"{status}: {about['description']}"), *_examples("", about))
        for status, about in sorted(responses.items())
        if status != "200"
    ]
    return joined(tag("h2", "Errors", id="errors"), *shown)


def _meaning(parameter: dict[str, Any]) -> Iterator[str]:
    schema = parameter.get("schema", {})
    yield from _coded(parameter.get("description", ""))
    notes = []
    if parameter.get("required"):
        notes.append("required")
    if "default" in schema and schema["default"] not in ("", []):
        notes.append(f"default {json.dumps(schema['default'])}")
    if "enum" in schema:
        notes.append("one of " + ", ".join(schema["enum"]))
    if "maximum" in schema:
        notes.append(f"from {schema.get('minimum', 0)} to {schema['maximum']:,}")
    yield tag("span", f" {'; '.join(notes)}", class_="facts") if notes else ""


def _examples(what: str, about: dict[str, Any]) -> Iterator[Markup]:
    for media, each in about.get("content", {}).items():
        if "example" in each:
            shown = each["example"]
            body = shown if isinstance(shown, str) else json.dumps(shown, indent=1, ensure_ascii=False)
            label = f"{what} {media}".strip()
            yield tag("details", tag("summary", label), tag("pre", verbatim(body), tabindex="0"))


def _coded(words: str) -> Iterator[str]:
    """Words in which what stands between backticks is code."""
    for at, part in enumerate(words.split("`")):
        yield tag("code", part) if at % 2 else part
