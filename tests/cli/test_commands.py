"""Commands made from operations: arguments, options, errors that name options."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from cocite import __version__, cli
from cocite.cli.commands import command, naming_options, run
from cocite.errors import BadParameter
from cocite.operations.declare import Operation, operation, parameters_on
from cocite.operations.pages.related import Related
from cocite.operations.task import Task
from cocite.parameters import parameter, parameters_of
from cocite.results.filters import Filters
from tests.cli.conftest import operations


@operation(store=False)
class Echo(Operation):
    """Repeat some words.

    Another paragraph.

    Examples:
        cocite echo a b
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


def show_echo(screen: Any, asked: Any, result: Any) -> None:
    screen.line(" ".join([result.words] * result.times))


def echo(*args: str) -> Any:
    return CliRunner().invoke(command(Echo, show_echo), args)


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


@operation(store=False)
class Work(Task, Filters):
    """Work.

    Examples:
        cocite work
    """

    fails: bool = parameter(False, "Fail")
    interrupted = "Interrupted; half is done"

    def do(self, progress: Any) -> Work:
        progress("working", 1, 1)
        if self.per_site:
            raise KeyboardInterrupt
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"lang": self.lang}

    def failure(self, result: Any) -> str:
        return "It failed: try again" if self.fails else ""


def show_work(screen: Any, asked: Any, result: Any) -> None:
    screen.line("done")


def work(*args: str) -> Any:
    return CliRunner().invoke(command(Work, show_work), args)


def test_tasks_are_done_fail_and_are_interrupted() -> None:
    assert (work().stdout, work("--lang", "de", "--json").stdout) == ("done\n", '{"lang": "de"}\n')
    failed = work("--fails")
    assert (failed.exit_code, failed.stdout) == (2, "done\n") and "cocite: It failed: try again\n" in failed.stderr
    with pytest.raises(KeyboardInterrupt, match="half is done"):
        run(Work, show_work, {"per_site": 1})


def test_a_task_takes_the_parameters_that_it_inherits() -> None:
    names = ["fails", *(each.name for each in parameters_of(Filters))]
    assert [each.name for _, each in parameters_on(Work, "cli")] == names


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "cocite", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"cocite {__version__}\n"


def test_the_list_of_commands_says_what_the_declarations_say() -> None:
    declared = {name: each.about.summary for name, each in operations().items()}
    assert list(cli.summaries().items()) == list(declared.items())


def test_the_list_of_commands_imports_no_operation() -> None:
    code = "import sys; from cocite import cli; cli.app(['--help'], standalone_mode=False)\n"
    code += "print([name for name in sys.modules if name.startswith(('cocite.operations', 'numpy', 'rich'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "related" in done.stdout and done.stdout.splitlines()[-1] == "[]"
