"""Commands made from operations: arguments, options and help are those of the declaration.

A view is a function that shows a result on a terminal: `show(screen, asked, result)`.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cocite.cli.failures import NOTHING, WRONG, complain
from cocite.cli.settings import settings_of
from cocite.cli.terminal import Screen
from cocite.errors import BadParameter
from cocite.operations.declare import Operation, make, parameters_on
from cocite.operations.store.build import WorkOptions
from cocite.operations.task import Task
from cocite.parameters import Checked, Parameter, parse, spell
from cocite.warm import SecondProcess

Show = Callable[[Screen, Any, Any], None]
METAVARS = {int: "N", float: "X"}
STORE_OPTION = Parameter(
    name="index", help="The store to use", default="web.cocite", flags=("--index", "--store", "-i"), metavar="STORE"
)
PAGE_LISTS = ("stop", "dead", "blocks", "trust")
"""Parameters of methods that are lists of pages. Here an entry may be a file of them; strangers can't name files."""
JSON_OPTION = Parameter(name="json", help="Print one JSON object instead", type=bool, default=False)


def show_plainly(screen: Screen, asked: Any, result: Any) -> None:
    """Print each value of a result with its name; most operations have a view that does better."""
    for name, value in result.to_dict().items():
        for row in value if isinstance(value, list) else [value]:
            screen.line(f"{name}  ", "  ".join(map(str, row.values())) if isinstance(row, dict) else str(row))


class OperationCommand(click.Command):
    """The command of an operation. Options that aren't given have the values of the settings."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """A context with the values of the files of settings as defaults."""
        parent: click.Context | None = extra.get("parent")
        options = [each.name for each in self.params if isinstance(each, click.Option) and each.name]
        extra["default_map"] = {} if parent is None else settings_of(self.name or "", options, parent)
        return super().make_context(*args, **extra)


def command(operation: type[Operation], show: Show = show_plainly) -> OperationCommand:
    """The command of an operation."""
    about = operation.about
    declared = sorted((each for _, each in parameters_on(operation, "cli")), key=lambda each: not each.positional)
    own = [*([STORE_OPTION] if about.store else []), *([JSON_OPTION] if about.json else [])]
    joined = {each.name for each in declared if each.joined}

    def run_command(**given: Any) -> None:
        start_logging(given.pop("verbose"))
        index, json = (given.pop(each.name) if each in own else each.default for each in (STORE_OPTION, JSON_OPTION))
        values = {name: value for name, value in given.items() if value not in (None, ())}
        values |= {name: " ".join(value) for name, value in values.items() if name in joined}
        for name in values.keys() & {"method", "methods"}:
            one = isinstance(values[name], str)
            values[name] = with_page_lists(values[name]) if one else list(map(with_page_lists, values[name]))
        if "trust" in values:
            values["trust"] = [page for entry in values["trust"] for page in listed_pages("trust", entry)]
        run(operation, show, values, index, json)

    examples = "".join(f"\n  {example}" for example in about.examples)
    help = "\n\n".join(filter(None, (about.summary, about.help, about.command_help, f"\b\nExamples:{examples}")))
    verbose = click.Option(["--verbose", "-v"], count=True, help="Log what is done on standard error; -vv logs more.")
    params = [*(_parameter(each, about.name) for each in (*declared, *own)), verbose]
    name = about.name.rpartition(" ")[2]
    return OperationCommand(name, callback=run_command, params=params, help=help)


def start_logging(verbose: int) -> None:
    """Log what cocite does (`cocite.*`) on standard error: main steps, or with more than one -v everything."""
    log = logging.getLogger("cocite")
    if verbose and not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    if verbose:
        log.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)


def run(operation: type[Operation], show: Show, values: dict[str, Any], index: str = "", json: bool = False) -> None:
    """Ask and show; exits with 1 if there is nothing to show, with 2 after a failure."""
    with naming_options(operation):
        asked = make(operation, "cli", values)
        table = getattr(asked, "csv", False) + getattr(asked, "tsv", False)
        if json + table > 1:
            raise BadParameter("--json, --csv and --tsv: give one of them")
        if question := asked.confirmation():
            confirm(question)
        try:
            web, result = answer(asked, index, json or getattr(asked, "quiet", False))
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(*error.args or (asked.interrupted,)) from None
    if result is None:
        return
    for warning in asked.warnings(web, result):
        complain(warning)
    short_title, note = None, getattr(result, "note", "")
    if web is not None:
        from cocite.results.naming import titles_of

        short_title = titles_of(web.graph).short
    screen = Screen(short_title=short_title)
    if json:
        screen.json(result.to_dict())
    else:
        if note:
            complain(note) if table else screen.line((note, "yellow"))
        show(screen, asked, result)
    if failure := asked.failure(result):
        complain(failure)
        raise click.exceptions.Exit(WRONG)
    if why := asked.why_empty(web, result):
        complain(": ".join(filter(None, (why, asked.commands_to_try(web, result)))))
        raise click.exceptions.Exit(NOTHING)


def confirm(question: str) -> None:
    """Ask on a terminal whether to go on; elsewhere, the command needs --yes."""
    if not sys.stdin.isatty():
        complain(question)
        raise BadParameter("yes is needed where nobody can be asked")
    click.confirm(question, default=True, abort=True, err=True)


def answer(asked: Operation, index: str, quiet: bool) -> tuple[Any, Any]:
    """The store, opened for a question, and the result; shows progress meanwhile."""
    if isinstance(asked, Task):
        asked = replace(asked, index=index) if asked.about.store else asked
        if asked.shows_itself:
            return None, asked.do(lambda *_: None)
    elif not asked.about.store:
        return None, asked.run(None)  # type: ignore[arg-type]
    from cocite.cli.progress import display
    from cocite.kernels.interpreted import interpreting

    builds = isinstance(asked, WorkOptions)  # a second process compiles what it needs later
    if isinstance(asked, Task):
        with interpreting(), SecondProcess() as second, display(quiet, second.start if builds else bool) as stages:
            return None, asked.do(stages)
    from cocite.web import Web

    with interpreting(), display(quiet) as stages:
        web = Web(index)
        web.progress = stages
        web = asked.web_asked(web)
        asked.prepare(web)
        return web, asked.run(web)


@contextmanager
def naming_options(parameters: type[Checked]) -> Iterator[None]:
    """Errors about a parameter name it as the user wrote it: `--per-site`, a variable, or a line of the settings."""
    try:
        yield
    except BadParameter as error:
        name, _, rest = str(error).partition(" ")
        for field, each in parameters_on(parameters, "cli"):
            if name in (field, each.name) and not each.positional:
                raise BadParameter(f"{max(_flags(each), key=len)} {rest}{_where(each.name)}") from error
        raise


def _where(name: str) -> str:
    """Where the value of an option is from, if not from the command line."""
    ctx = click.get_current_context(silent=True)
    source = ctx and ctx.get_parameter_source(name)
    if source == ParameterSource.DEFAULT_MAP:
        return " (from cocite.toml)"
    return " (from an environment variable)" if source == ParameterSource.ENVIRONMENT else ""


def _parameter(each: Parameter, command: str) -> click.Parameter:
    """A parameter as Click has it. Values are texts: `Parameter.check` converts them, and says what is wrong."""
    about: dict[str, Any] = {"metavar": each.metavar or METAVARS.get(each.type), "required": each.required}
    many = each.many or each.joined
    if each.positional:
        about["metavar"] += "..." if many else ""
        return click.Argument([each.name], help=f"{each.help}.", nargs=-1 if many else 1, **about)
    is_flag = each.type is bool and not each.choices
    return click.Option(
        [each.name, *_flags(each)], help=f"{each.help}.", multiple=each.many, is_flag=is_flag,
        show_default=not is_flag and each.default not in ("", None, ()),
        default=None if many or each.required or (is_flag and each.default is None) else each.default,
        type=bool if is_flag else MethodCalls() if each.calls and each.many else str,
        envvar=[f"COCITE_{command.replace(' ', '_')}_{each.name}".upper(), f"COCITE_{each.name}".upper()],
        **({} if is_flag else about),
    )  # fmt: skip


class MethodCalls(click.types.StringParamType):
    """Several methods in one text, as an environment variable has them: commas separate them, not spaces."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


def _flags(each: Parameter) -> tuple[str, ...]:
    return each.flags or ("--" + each.name.replace("_", "-"),)


def with_page_lists(call: str) -> str:
    """A method as it is written on the command line, with the files of lists of pages replaced by their lines."""
    if not any(f"{name}=" in call.replace(" ", "") for name in PAGE_LISTS):
        return call
    name, values = parse(call)
    for key in PAGE_LISTS:
        if entries := values.get(key):
            some = (entries,) if isinstance(entries, str) else entries
            values[key] = tuple(address for entry in some for address in listed_pages(key, entry))
    return spell(name, values)


def listed_pages(key: str, text: str) -> Iterator[str]:
    """The addresses of a file, or the address itself; raises BadParameter for a path without a file."""
    if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises if a name is too long for one
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise BadParameter(f"cannot read the {key} pages of {text}: {error}") from error
        yield from (line.strip() for line in lines if line.strip() and not line.startswith("#"))
        return
    if key == "blocks" and "\t" not in text:
        raise BadParameter(f"Unknown file {text!r:.200} of blocks: check the path, or give page<TAB>block")
    host, slash, _ = text.replace("\\", "/").partition("/")
    without_host = bool(slash) and not any(mark in host for mark in ".:") and host != "localhost"
    is_path = text.startswith((".", "~", "/")) or text.lower().endswith((".txt", ".tsv", ".csv"))
    if "://" not in text and (without_host or is_path):
        raise BadParameter(f"Unknown file {text!r:.200} of {key} pages: check the path, or give addresses")
    yield text
