"""docs/cli.md is what the commands say, and says everything."""

from __future__ import annotations

from pathlib import Path

import typer

from cocite.surfaces.cli import app
from cocite.surfaces.cli.document import commands_of, document, paragraphs

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == document(), "run: python -m cocite.surfaces.cli.document docs/cli.md"


def test_every_command_and_option_is_on_it() -> None:
    page = document()
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
