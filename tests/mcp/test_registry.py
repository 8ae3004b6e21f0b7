"""server.json: what a registry of servers needs to know."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from cocite import __version__
from cocite.cli import app

ROOT = Path(__file__).parents[2]
DESCRIBED: dict[str, Any] = json.loads((ROOT / "server.json").read_text("utf-8"))


INPUT_FIELDS = {
    "choices", "default", "description", "format", "isRequired", "isSecret", "placeholder", "value", "variables",
    "isRepeated", "type", "name", "valueHint",
}  # fmt: skip
FORMATS = {"string", "number", "boolean", "filepath"}


def test_the_form_that_the_registry_demands() -> None:
    """What the registry's JSON Schema of 2025-12-11 demands of each field that is used here."""
    assert DESCRIBED.keys() == {"$schema", "name", "title", "description", "version", "packages"}
    assert DESCRIBED["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", DESCRIBED["name"]) and len(DESCRIBED["name"]) <= 200
    assert 1 <= len(DESCRIBED["description"]) <= 100 and 1 <= len(DESCRIBED["title"]) <= 100
    assert re.fullmatch(r"\d+(\.\d+)*", DESCRIBED["version"])  # a range is refused
    (package,) = DESCRIBED["packages"]
    assert package.keys() == {
        "registryType", "identifier", "version", "runtimeHint", "runtimeArguments", "packageArguments", "transport"
    }  # fmt: skip
    assert package["registryType"] == "pypi" and package["runtimeHint"] == "uvx"
    assert package["transport"] == {"type": "stdio"}
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        assert argument.keys() <= INPUT_FIELDS and argument.get("format", "string") in FORMATS
        if argument["type"] == "named":
            assert argument["name"].startswith("--")  # clients write --flag=value, which a short option misreads
        else:
            assert argument["type"] == "positional" and {"value", "valueHint"} & argument.keys()


def test_it_describes_this_version_and_a_command_that_exists() -> None:
    (package,) = DESCRIBED["packages"]
    assert {DESCRIBED["version"], package["version"]} == {__version__}
    assert package["runtimeArguments"][0]["value"] == f"cocite[mcp]=={__version__}"
    words = [each.get("value", "/data/web.cocite") for each in package["packageArguments"]]
    assert words[0] == "mcp"
    command = app.get_command(None, "mcp")
    assert command is not None
    with click.Context(command, info_name="mcp") as context:
        command.parse_args(context, [f"{package['packageArguments'][1]['name']}={words[1]}"])
        assert context.params["index"] == "/data/web.cocite"


def test_the_name_is_in_the_readme_of_the_package() -> None:
    """So a registry knows that the package is ours."""
    assert f"mcp-name: {DESCRIBED['name']}" in (ROOT / "README.md").read_text("utf-8")
