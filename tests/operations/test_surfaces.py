"""Every parameter of every operation is on each surface that declares it, under its name there, with its help."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import signature as signature_of
from pathlib import Path
from typing import Any

import pytest

import cocite
from cocite.cli import app
from cocite.http.app import described
from cocite.http.questions import parameters, routes
from cocite.mcp.server import tool_of
from cocite.operations.declare import Operation, operations_by_name, parameters_on
from cocite.operations.store.info import describe
from cocite.operations.store.links import ShowLinks
from cocite.parameters import parameters_of
from cocite.python import Store, StoreKeywords, StoreSearch, places_of
from cocite.results.filters import Filters
from docs.reference import commands_of
from tests.cli.conftest import NEWS
from tests.cli.conftest import operations as command_operations

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS: dict[str, Any] = dict(commands_of(app))
OPERATIONS = [pytest.param(each, id=name) for name, each in command_operations().items()]
RETURNING_PAGES = ("batch", "compare", "hubs", "links", "rank", "recommend", "related", "search")


def test_every_operation_that_returns_pages_has_all_filters() -> None:
    names = {each.name for each in parameters_of(Filters)}
    assert names >= {"site", "not_site", "until", "unlinked", "since", "lang", "per_site", "not_own_site"}
    for name in RETURNING_PAGES:
        operation = operations_by_name()[name]
        for surface in ("cli", "http", "mcp", "python"):
            assert names <= {each.name for _, each in parameters_on(operation, surface)}, (name, surface)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_on_the_command_line(operation: type[Operation]) -> None:
    about = operation.about
    known = {option: each for each in COMMANDS[about.name].params for option in (*each.opts, *each.secondary_opts)}
    for _, each in parameters_on(operation, "cli"):
        flags = [flag for text in each.flags for flag in text.split("/")] or [f"--{each.name.replace('_', '-')}"]
        for flag in [each.name] if each.positional else flags:
            assert flag in known, flag
            assert known[flag].help == f"{each.help}."
            assert known[flag].required == each.required
    assert about.summary in " ".join(COMMANDS[about.name].help.split())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_in_the_reference_and_in_the_manual(operation: type[Operation]) -> None:
    name = operation.about.name
    section = (DOCS / "cli.md").read_text("utf-8").partition(f"\n## cocite {name}\n")[2].partition("\n## ")[0]
    manual = (DOCS / "cocite.1").read_text("utf-8").replace("\\-", "-")
    manual = manual.partition(f"\n.SS cocite {name} ")[2].partition("\n.SS ")[0]
    for _, each in parameters_on(operation, "cli"):
        shown = each.metavar if each.positional else (each.flags or (f"--{each.name.replace('_', '-')}",))[0]
        for flag in shown.split("/"):
            assert f"`{flag}" in section, flag
            assert re.search(rf"^\\fB.*{re.escape(flag)}", manual, re.MULTILINE), flag
        assert each.help.replace("|", "\\|") in section


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.values[0].about.tool])  # type: ignore[union-attr]
def test_among_the_tools_for_assistants(operation: type[Operation]) -> None:
    tool = tool_of(operation.about.tool, operation)
    assert list(tool.input_schema["properties"]) == [each.name for _, each in parameters_on(operation, "mcp")]


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.values[0].about.route])  # type: ignore[union-attr]
def test_in_the_description_of_the_http_interface(operation: type[Operation]) -> None:
    assert operation in routes().values()
    known = {each["name"]: each for each in described(parameters(operation.about.route).values())}
    for _, each in parameters_on(operation, "http"):
        assert each.help in known[each.name]["description"], each.name
        assert known[each.name]["required"] == each.required


CALLED: dict[str, Callable[..., Any]] = {
    "search": StoreSearch.__call__, "keywords": StoreKeywords.__call__, "clicks": Store.add_clicks,
}  # fmt: skip
IN_PYTHON: dict[str, Callable[..., Any]] = {
    name: CALLED.get(name) or getattr(Store, name.replace(" ", "_"))
    for name, each in operations_by_name().items()
    if each.about.store
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_in_the_help_and_the_signature_of_python(name: str) -> None:
    documented, arguments = IN_PYTHON[name].__doc__ or "", signature_of(IN_PYTHON[name]).parameters
    for _, each in parameters_on(operations_by_name()[name], "python"):
        assert f"    {each.name}: {each.help}." in documented, each.name
        assert arguments[each.name].default in (Argument.empty, each.default), each.name


def test_answers_of_python_are_those_of_the_operation(store: Path) -> None:
    web = cocite.open(store)
    assert web.links(NEWS, k=1).to_dict() == ShowLinks(url=NEWS, k=1).run(web).to_dict()
    assert web.info() == describe(store)
    assert web.check().faults == []
    with pytest.raises(TypeError, match="links takes 2 parameters by place, not 3"):
        web.links(NEWS, 1, 2)


PLACES = {
    "related": ["pages", "method", "k"], "recommend": ["history", "k"], "compare": ["page", "methods_", "k"],
    "similarity": ["page", "other", "method"], "hubs": ["pages", "k"], "cluster": ["pages", "most", "by"],
    "communities": ["query", "k"], "batch": ["output", "method", "k"], "search": ["query", "k"],
    "keywords": ["words", "k"], "links": ["url", "k"],
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_parameters_that_python_takes_by_their_place(name: str) -> None:
    assert places_of(operations_by_name()[name]) == PLACES[name]
    assert places_of(operations_by_name()["add"])[0] == "sources"
