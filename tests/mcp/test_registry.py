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


def test_the_form_that_the_registry_demands() -> None:
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", DESCRIBED["name"])
    assert 1 <= len(DESCRIBED["description"]) <= 100 and len(DESCRIBED["title"]) <= 100
    assert DESCRIBED["$schema"].endswith("/server.schema.json")
    (package,) = DESCRIBED["packages"]
    assert {"registryType", "identifier", "version", "transport"} <= package.keys()
    assert package["transport"] == {"type": "stdio"}


def test_it_describes_this_version_and_a_command_that_exists() -> None:
    (package,) = DESCRIBED["packages"]
    assert {DESCRIBED["version"], package["version"]} == {__version__}
    assert package["runtimeArguments"][0]["value"] == f"cocite[mcp]=={__version__}"
    words = [each.get("value", "/data/web.cocite") for each in package["packageArguments"]]
    assert words[0] == "mcp"
    command = app.get_command(None, "mcp")
    assert command is not None
    with click.Context(command, info_name="mcp") as context:
        command.parse_args(context, [package["packageArguments"][1]["name"], words[1]])
        assert context.params["index"] == "/data/web.cocite"


def test_the_name_is_in_the_readme_of_the_package() -> None:
    """So a registry knows that the package is ours."""
    assert f"mcp-name: {DESCRIBED['name']}" in (ROOT / "README.md").read_text("utf-8")
