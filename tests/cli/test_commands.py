"""Commands made from operations: arguments, options, errors that name options."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cocite.cli.commands import View, command, naming_options, options_of
from cocite.cli.options import taking
from cocite.errors import BadParameter
from cocite.operations.declare import Operation, operation
from cocite.operations.pages.related import Related
from cocite.parameters import parameter
from cocite.results.filters import Filters


@operation(group="tests", examples=["cocite echo a b"], store=False)
class Echo(Operation):
    """Repeat some words.

    Another paragraph.
    """

    words: str = parameter("", "Words", metavar="WORDS", positional=True, joined=True)
    not_: tuple[str, ...] = parameter((), "Exclude this", metavar="WORD", on={"cli": {"name": "not"}})
    times: int = parameter(1, "How often", minimum=1, maximum=3, flags=("--times", "-t"))

    def run(self, web: Any) -> Echo:
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"words": self.words, "not": list(self.not_), "times": self.times}

    def why_empty(self, web: Any, result: Any) -> str:
        return "" if self.words else "No words: give some"


class EchoView(View):
    operation = Echo

    def show(self, screen: Any, asked: Any, result: Any, options: dict[str, Any]) -> None:
        screen.line(" ".join([result.words] * result.times))


def echo(*args: str) -> Any:
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(command(EchoView()))
    return CliRunner().invoke(app, args)


def test_arguments_and_options() -> None:
    assert echo("a", "b", "-t", "2").stdout == "a b a b\n"
    assert echo("a", "--not", "x", "--not", "y", "--json").stdout == '{"words": "a", "not": ["x", "y"], "times": 1}\n'
    shown = echo("--help").stdout
    for text in ("Repeat some words.", "Another paragraph.", "cocite echo a b", "-t, --times", "Exclude this."):
        assert text in shown
    assert "--index" not in shown


def test_nothing_to_show() -> None:
    ran = echo()
    assert (ran.exit_code, ran.stderr) == (1, "cocite: No words: give some\n")


def test_errors_name_the_option() -> None:
    assert str(echo("a", "-t", "4").exception) == "--times must be a whole number from 1 to 3, not 4"
    with pytest.raises(BadParameter, match=r"^--not-site "), naming_options(Related):
        raise BadParameter("not_site is wrong")
    with pytest.raises(BadParameter, match=r"^something else$"), naming_options(Related):
        raise BadParameter("something else")


def test_a_command_that_takes_declared_options() -> None:
    @taking(options_of(Filters))
    def ask(url: str, **filters: Any) -> None:
        """Ask."""

    assert list(signature(ask).parameters) == [
        "url", "per_site", "not_own_site", "site", "not_site", "lang", "since", "until", "unlinked"
    ]  # fmt: skip
