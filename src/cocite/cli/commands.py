"""Commands made from operations: arguments, options and help are those of the declaration.

A view is a function that shows a result on a terminal: `show(screen, asked, result)`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from typing import Annotated, Any

import typer

from cocite.cli.failures import NOTHING, WRONG, complain
from cocite.cli.files import with_page_lists
from cocite.cli.terminal import Screen
from cocite.errors import BadParameter
from cocite.operations.declare import Operation, make, parameters_on
from cocite.operations.store.build import WorkOptions
from cocite.operations.task import Task
from cocite.parameters import Checked, Parameter
from cocite.warm import SecondProcess

Show = Callable[[Screen, Any, Any], None]
METAVARS = {int: "N", float: "X"}
STORE_OPTION = Parameter(
    name="index", help="The store to use", default="web.cocite", flags=("--index", "--store", "-i"), metavar="STORE"
)
JSON_OPTION = Parameter(name="json", help="Print one JSON object instead", type=bool, default=False)


def show_plainly(screen: Screen, asked: Any, result: Any) -> None:
    """Print each value of a result with its name; most operations have a view that does better."""
    for name, value in result.to_dict().items():
        for row in value if isinstance(value, list) else [value]:
            screen.line(f"{name}  ", "  ".join(map(str, row.values())) if isinstance(row, dict) else str(row))


def command(operation: type[Operation], show: Show = show_plainly) -> Callable[..., None]:
    """The command of an operation, for Typer."""
    about = operation.about
    declared = sorted((each for _, each in parameters_on(operation, "cli")), key=lambda each: not each.positional)
    own = [*([STORE_OPTION] if about.store else []), *([JSON_OPTION] if about.json else [])]
    joined = {each.name for each in declared if each.joined}

    def run_command(**given: Any) -> None:
        index, json = (given.pop(each.name) if each in own else each.default for each in (STORE_OPTION, JSON_OPTION))
        values = {name.rstrip("_"): value for name, value in given.items() if value is not None}
        values |= {name: " ".join(value) for name, value in values.items() if name in joined}
        for name in values.keys() & {"method", "methods"}:
            one = isinstance(values[name], str)
            values[name] = with_page_lists(values[name]) if one else list(map(with_page_lists, values[name]))
        run(operation, show, values, index, json)

    run_command.__name__ = about.name.rpartition(" ")[2]
    examples = "".join(f"\n  {example}" for example in about.examples)
    run_command.__doc__ = "\n\n".join(
        filter(None, (about.summary, about.help, about.command_help, f"\b\nExamples:{examples}"))
    )
    run_command.__signature__ = Signature([_argument(each) for each in (*declared, *own)])  # type: ignore[attr-defined]
    return run_command


def run(operation: type[Operation], show: Show, values: dict[str, Any], index: str = "", json: bool = False) -> None:
    """Ask and show; exits with 1 if there is nothing to show, with 2 after a failure."""
    with naming_options(operation):
        asked = make(operation, "cli", values)
        table = getattr(asked, "csv", False) + getattr(asked, "tsv", False)
        if json + table > 1:
            raise BadParameter("--json, --csv and --tsv: give one of them")
        try:
            web, result = answer(asked, index, json or getattr(asked, "quiet", False))
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(*error.args or (asked.interrupted,)) from None
    if result is None:
        return
    for warning in asked.warnings(web, result):
        complain(warning)
    screen, note = Screen(), getattr(result, "note", "")
    if json:
        screen.json(result.to_dict())
    else:
        if note:
            complain(note) if table else screen.line((note, "yellow"))
        show(screen, asked, result)
    if failure := asked.failure(result):
        complain(failure)
        raise typer.Exit(WRONG)
    if why := asked.why_empty(web, result):
        complain(": ".join(filter(None, (why, asked.commands_to_try(web, result)))))
        raise typer.Exit(NOTHING)


def answer(asked: Operation, index: str, quiet: bool) -> tuple[Any, Any]:
    """The store, opened for a question, and the result; shows progress meanwhile."""
    if isinstance(asked, Task):
        asked = replace(asked, index=index) if asked.about.store else asked
        if asked.shows_itself:
            return None, asked.do(lambda *_: None)
    elif not asked.about.store:
        return None, asked.run(None)  # type: ignore[arg-type]
    from cocite.cli.progress import display

    builds = isinstance(asked, WorkOptions)  # a second process compiles what it needs later
    if isinstance(asked, Task):
        with SecondProcess() as second, display(quiet, second.start if builds else bool) as stages:
            return None, asked.do(stages)
    from cocite.web import Web

    web = Web(index)
    with display(quiet) as web.progress:
        asked.prepare(web)
        return web, asked.run(web)


@contextmanager
def naming_options(parameters: type[Checked]) -> Iterator[None]:
    """Errors about a parameter name it as it is written on the command line: `--per-site`, not `per_site`."""
    try:
        yield
    except BadParameter as error:
        name, _, rest = str(error).partition(" ")
        for field, each in parameters_on(parameters, "cli"):
            if name in (field, each.name) and not each.positional:
                raise BadParameter(f"{max(_flags(each), key=len)} {rest}") from error
        raise


def _argument(each: Parameter) -> Argument:
    """A parameter as Typer wants it: its type, with what is declared of it."""
    many = each.many or each.joined
    kind: Any = (list[str] if each.positional and each.required else list[str] | None) if many else each.type
    about: dict[str, Any] = {"metavar": each.metavar or METAVARS.get(each.type), "help": f"{each.help}."}
    default = Argument.empty if each.required else None if many else each.default
    if each.positional:
        annotated: Any = Annotated[kind, typer.Argument(**about, show_default=False)]
    else:
        about |= {
            "envvar": "COCITE_INDEX" if each is STORE_OPTION else None,
            "show_default": each.default not in ("", None),
        }
        annotated = Annotated[kind, typer.Option(*_flags(each), **about)]
    name = f"{each.name}_" if iskeyword(each.name) else each.name
    return Argument(name, Argument.KEYWORD_ONLY, annotation=annotated, default=default)


def _flags(each: Parameter) -> tuple[str, ...]:
    return each.flags or ("--" + each.name.replace("_", "-"),)
