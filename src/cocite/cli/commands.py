"""Commands made from operations: arguments, options and help are those of the declaration.

A view adds what only a terminal has: how a result is shown, and options for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cocite.cli import options as shared
from cocite.cli.failures import NOTHING, WRONG, complain
from cocite.cli.files import with_page_lists
from cocite.cli.terminal import Screen
from cocite.errors import BadParameter
from cocite.operations.declare import Operation, make, parameters_on
from cocite.operations.task import Task
from cocite.parameters import Checked, Parameter

if TYPE_CHECKING:
    from cocite.web import Web

Options = dict[str, Any]


class CommandView:
    """How the command line asks an operation, and shows its result."""

    operation: ClassVar[type[Operation]]
    options: ClassVar[Mapping[str, tuple[Any, Any]]] = {}  # name: (annotation, default)
    help: ClassVar[str] = ""  # further paragraphs of the help
    interrupted: ClassVar[str] = ""  # what to say after Ctrl-C, unless nothing was changed

    def read(self, values: Options, options: Options) -> Operation:
        """The question; reads the files that options name."""
        return make(self.operation, "cli", values)

    def prepare(self, web: Web, asked: Any, options: Options) -> None:
        """Make what the question needs and the store doesn't have yet."""

    def show(self, screen: Screen, asked: Any, result: Any, options: Options) -> None:
        """Print a result for people: here each value with its name; most operations have a view that does better."""
        for name, value in result.to_dict().items():
            rows = value if isinstance(value, list) else [value]
            for row in rows:
                screen.line(f"{name}  ", "  ".join(map(str, row.values())) if isinstance(row, dict) else str(row))

    def warn(self, web: Any, asked: Any, result: Any, options: Options) -> None:
        """Report on standard error what the result doesn't show."""

    def finish(self, asked: Any, result: Any, options: Options) -> None:
        """Write files, after a result that isn't empty."""

    def run(self, values: Options, options: Options) -> None:
        """Ask and show; exits with 1 if there is nothing to show, with 2 if a task failed."""
        index, json = options.pop("index", None), options.pop("json", False)
        with naming_options(self.operation):
            asked = self.read(values, options)
        try:
            web, result = self.answer(asked, index, options.pop("quiet", False) or json, options)
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(*error.args or (self.interrupted,)) from None
        screen = Screen()
        self.warn(web, asked, result, options)
        if json:
            screen.json(self.to_json(result, options))
        else:
            self.show(screen, asked, result, options)
        if failed := asked.failure(result) if isinstance(asked, Task) else "":
            complain(failed)
            raise typer.Exit(WRONG)
        if why := asked.why_empty(web, result):
            complain(why)
            raise typer.Exit(NOTHING)
        self.finish(asked, result, options)

    def answer(self, asked: Operation, index: Path | None, quiet: bool, options: Options) -> tuple[Any, Any]:
        """The store, opened for a question, and the result; shows progress meanwhile."""
        from cocite.cli.progress import display

        if isinstance(asked, Task):
            asked = asked if index is None else replace(asked, index=str(index))
            with self.helper() as compiling, display(quiet, compiling) as stages, naming_options(self.operation):
                return None, asked.do(stages)
        if index is None:
            return None, asked.run(None)  # type: ignore[arg-type]
        from cocite.web import Web

        web = Web(index)
        with display(quiet) as web.progress:
            self.prepare(web, asked, options)
            return web, asked.run(web)

    def helper(self) -> Any:
        """A context with what to call when kernels have to be compiled."""
        return nullcontext(lambda: None)

    def to_json(self, result: Any, options: Options) -> Any:
        """A result for programs."""
        return result.to_dict()


def plain_view(operation: type[Operation]) -> CommandView:
    """A view of an operation that has none of its own."""
    view = CommandView()
    view.operation = operation  # type: ignore[misc]
    return view


def command(view: CommandView) -> Callable[..., None]:
    """The command of a view, for Typer."""
    about = view.operation.about
    declared = sorted((each for _, each in parameters_on(view.operation, "cli")), key=lambda each: not each.positional)
    arguments = [_argument(each) for each in declared]
    own: dict[str, tuple[Any, Any]] = {"index": (shared.Index, Path("web.cocite"))} if about.store else {}
    own |= {**view.options, "json": (shared.Json, False)}
    arguments += [_keyword(name, *each) for name, each in own.items()]
    joined = {each.name for each in declared if each.joined}

    def run_command(**given: Any) -> None:
        options = {name: given.pop(name) for name in own}
        values = {name.rstrip("_"): value for name, value in given.items() if value is not None}
        values |= {name: " ".join(value) for name, value in values.items() if name in joined}
        for name in values.keys() & {"method", "methods"}:
            one = isinstance(values[name], str)
            values[name] = with_page_lists(values[name]) if one else list(map(with_page_lists, values[name]))
        view.run(values, options)

    run_command.__name__ = about.name.rpartition(" ")[2]
    examples = "".join(f"\n  {example}" for example in about.examples)
    run_command.__doc__ = "\n\n".join(filter(None, (about.summary, about.help, view.help, f"\b\nExamples:{examples}")))
    run_command.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    return run_command


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
    about: dict[str, Any] = {"metavar": each.metavar or None, "help": f"{each.help}."}
    default = Argument.empty if each.required else None if many else each.default
    if each.positional:
        annotated: Any = Annotated[kind, typer.Argument(**about, show_default=False)]
    else:
        annotated = Annotated[kind, typer.Option(*_flags(each), **about, show_default=each.default not in ("", None))]
    return _keyword(f"{each.name}_" if iskeyword(each.name) else each.name, annotated, default)


def _flags(each: Parameter) -> tuple[str, ...]:
    return each.flags or ("--" + each.name.replace("_", "-"),)


def _keyword(name: str, annotation: Any, default: Any) -> Argument:
    return Argument(name, Argument.KEYWORD_ONLY, annotation=annotation, default=default)
