"""Commands made from operations: arguments, options and help are those of the declaration.

A `View` adds what only a terminal has: how a result is shown, and options for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer

from cocite.cli import options
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Screen
from cocite.operations.declare import Operation, make, parameters_on
from cocite.parameters import Parameter


@dataclass(frozen=True)
class View:
    """How the command line shows the result of an operation."""

    show: Callable[..., None]  # (screen, web, operation, result, **options)
    options: Mapping[str, Any] = field(default_factory=dict)  # name: (annotation, default)
    read: Callable[[dict[str, Any], dict[str, Any]], None] | None = None  # (parameters, options): reads their files


def command(operation: type[Operation], view: View) -> Callable[..., None]:
    """The command of an operation, for Typer."""

    def run_command(**given: Any) -> None:
        from cocite.cli.progress import display
        from cocite.web import Web

        index, json = given.pop("index"), given.pop("json")
        extra = {name: given.pop(name) for name in view.options}
        values = {name.rstrip("_"): value for name, value in given.items() if value is not None}
        if view.read is not None:
            view.read(values, extra)
        asked = make(operation, "cli", values)
        web, screen = Web(index), Screen()
        with display(quiet=json) as web.progress:
            result = asked.run(web)
        if json:
            screen.json(result.to_dict())
        else:
            view.show(screen, web, asked, result, **extra)
        if why := asked.why_empty(web, result):
            complain(why)
            raise typer.Exit(NOTHING)

    arguments = [_argument(each) for _, each in parameters_on(operation, "cli")]
    arguments.append(_keyword("index", options.Index, Path("web.cocite")))
    arguments += [_keyword(name, *about) for name, about in view.options.items()]
    arguments.append(_keyword("json", options.Json, False))
    about = operation.about
    run_command.__name__ = about.name
    examples = "".join(f"\n  {example}" for example in about.examples)
    run_command.__doc__ = "\n\n".join(filter(None, (about.summary, about.help, f"\b\nExamples:{examples}")))
    run_command.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    return run_command


def _argument(each: Parameter) -> Argument:
    """A parameter as Typer wants it: its type, with what is declared of it."""
    kind: Any = list[str] | None if each.many else each.type
    about: dict[str, Any] = {"metavar": each.metavar or None, "help": f"{each.help}."}
    if each.positional:
        annotated: Any = Annotated[kind, typer.Argument(**about)]
        default = None if each.many and not each.required else Argument.empty if each.required else each.default
    else:
        flag = "--" + each.name.replace("_", "-")
        annotated = Annotated[kind, typer.Option(*(each.flags or (flag,)), **about)]
        default = None if each.many else each.default
    return _keyword(f"{each.name}_" if iskeyword(each.name) else each.name, annotated, default)


def _keyword(name: str, annotation: Any, default: Any) -> Argument:
    return Argument(name, Argument.KEYWORD_ONLY, annotation=annotation, default=default)
