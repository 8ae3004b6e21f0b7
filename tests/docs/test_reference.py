"""docs/cli.md and docs/cocite.1 are what the commands declare, and have everything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cocite.cli import app
from cocite.operations.declare import operations_by_name
from cocite.parameters import parameters_of
from cocite.results.filters import Filters
from docs.reference import (
    commands_of,
    decisions_page,
    filters_page,
    interfaces_page,
    manual,
    paragraphs,
    plain,
    reference,
)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "cli.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: make docs"


def test_the_page_of_filters_is_up_to_date() -> None:
    page = filters_page()
    assert (DOCS / "filters.md").read_text("utf-8") == page, "run: make docs"
    for each in parameters_of(Filters):
        assert f"| `--{each.name.replace('_', '-')}` | `{each.name}` | {each.help} |" in page


def test_the_list_of_decisions_is_up_to_date() -> None:
    page = decisions_page()
    assert (DOCS / "decisions" / "README.md").read_text("utf-8") == page, "run: make docs"
    assert page.count("](0") == len(list((DOCS / "decisions").glob("0*.md")))


def test_the_page_of_interfaces_is_up_to_date() -> None:
    page = interfaces_page()
    assert (DOCS / "interfaces.md").read_text("utf-8") == page, "run: make docs"
    for each in operations_by_name().values():
        for called in (each.about.route, each.about.tool):
            assert not called or f"`{called}`" in page
    assert "| `url` | `urls` | `pages` |" in page.partition("\n## related\n")[2], "each front end has names of its own"


def test_every_command_and_option_is_on_it() -> None:
    page = reference()
    for name, command in commands_of(app):
        section = page.partition(f"\n## cocite {name}\n")[2].partition("\n## ")[0]
        assert f"cocite {name}" in section
        for parameter in command.params:
            for option in [*parameter.opts, *parameter.secondary_opts]:
                if parameter.param_type_name == "option" and option != "--help" and option != "-h":
                    assert f"`{option}" in section, (name, option)
            assert parameter.param_type_name != "option" or parameter.help, (name, parameter.name)


def test_examples_become_code() -> None:
    text = "What it does.\n\nMore\nof it.\n\n\b\nExamples:\n  cocite a\n    b"
    assert paragraphs(text) == [
        "What it does.", "", "More\nof it.", "", "Examples:", "", "```", "cocite a", "  b", "```", "",
    ]  # fmt: skip


def test_the_manual_page_is_up_to_date() -> None:
    assert (DOCS / "cocite.1").read_text("utf-8") == manual(), "run: make docs"


def test_the_manual_page_is_one() -> None:
    assert plain(r"-a \n") == r"\-a \en" and plain(".TH '") == r"\&.TH '"
    if shutil.which("man") is None:
        pytest.skip("no man to ask")
    command = ["man", "--warnings", "-l", str(DOCS / "cocite.1")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    for name, _ in commands_of(app):
        assert f"\n   cocite {name} " in done.stdout
