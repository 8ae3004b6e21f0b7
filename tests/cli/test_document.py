"""docs/cli.md, docs/cocite.1 and docs/methods.md are what commands and methods declare, and have everything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from cocite.cli import app
from cocite.cli.document import commands_of, manual, methods_page, paragraphs, plain, reference
from cocite.related import methods, ranks

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "cli.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: make docs"


def test_every_command_and_option_is_on_it() -> None:
    page = reference()
    for name, command in commands_of(typer.main.get_command(app)):
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
    for name, _ in commands_of(typer.main.get_command(app)):
        assert f"\n   cocite {name} " in done.stdout


def test_the_page_of_methods_is_up_to_date() -> None:
    assert (DOCS / "methods.md").read_text("utf-8") == methods_page(), "run: make docs"


def test_every_method_and_parameter_is_on_it() -> None:
    page = methods_page()
    for name in methods.names():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        about = methods.about(name)
        assert about.summary in section
        for parameter in about.parameters:
            assert f"| `{parameter.name}` |" in section or f"| `{parameter.name}` |" in page.partition("## Switches")[2]
            assert parameter.help


def test_every_rank_and_parameter_is_on_it() -> None:
    page = methods_page().partition("\n## Ranks\n")[2]
    for name in ranks.names():
        section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        about = ranks.about(name)
        assert about.summary in section
        for parameter in about.parameters:
            assert f"| `{parameter.name}` |" in section or f"| `{parameter.name}` |" in page.partition("All ranks")[2]
