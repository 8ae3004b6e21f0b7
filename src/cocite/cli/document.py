"""docs/cli.md, made from the commands themselves: `python -m cocite.cli.document docs/cli.md`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

HEAD = """# Command line

This page is generated from the commands (`make docs`); `cocite COMMAND --help` shows the same. Commands use the store
given by `-i`, else `$COCITE_INDEX`, else `./web.cocite`. Results go to standard output; progress and errors to standard
error. Without a terminal, output is plain text with columns separated by tabs.

"""
EXIT_CODES = {
    "0": "success",
    "1": "the page is known, but there is nothing to show",
    "2": "wrong use or bad input, with one line on standard error; for `check`: the store is damaged",
    "3": "unknown page; the nearest known addresses are offered",
    "70": "a bug in cocite",
    "130": "interrupted; nothing was changed",
    "141": "the reader of a pipe went away",
}
ENVIRONMENT = {
    "COCITE_INDEX": "the store to use without `-i`",
    "COCITE_DEBUG": "`1` shows the traceback of an error",
    "NO_COLOR": "no colours",
    "NUMBA_CACHE_DIR": "the folder for compiled kernels",
}


def document() -> str:
    """The whole page."""
    from cocite.cli import app

    commands = dict(commands_of(typer.main.get_command(app)))
    anchors = {name: f"cocite-{name.replace(' ', '-')}" for name in commands}
    lines = [f"| [`{name}`](#{anchors[name]}) | {summary(command)} |" for name, command in commands.items()]
    table = "\n".join(["| command | what it does |", "|---|---|", *lines])
    sections = "\n".join(section(name, command) for name, command in commands.items())
    return f"{HEAD}{table}\n\n{sections}\n{tail()}"


def tail() -> str:
    """Exit codes and environment variables."""
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    variables = [f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT.items()]
    codes = ["## Exit codes", "", "| code | meaning |", "|---|---|", *codes, ""]
    return "\n".join([*codes, "## Environment", "", "| variable | meaning |", "|---|---|", *variables, ""])


def commands_of(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """All commands by name, those of groups with the group's name before."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{before}{name} ")
        else:
            yield before + name, command


def summary(command: Any) -> str:
    """The first sentence of a command's help."""
    return inspect.cleandoc(command.help).split("\n\n")[0].replace("\n", " ")


def section(name: str, command: Any) -> str:
    """What one command does, its examples, arguments and options."""
    shown = [parameter for parameter in command.params if "--help" not in parameter.opts]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    usage = " ".join(["cocite", name, *(usage_of(argument) for argument in arguments), "[OPTIONS]"])
    parts = [f"## cocite {name}", "", "```", usage, "```", "", *paragraphs(command.help)]
    parts += ["| argument or option | meaning |", "|---|---|", *(row(parameter) for parameter in shown), ""]
    return "\n".join(parts)


def usage_of(argument: Any) -> str:
    """An argument as the usage shows it."""
    text = f"{argument.metavar}{' ...' if argument.nargs == -1 else ''}"
    return text if argument.required else f"[{text}]"


def paragraphs(text: str) -> list[str]:
    """Help in Markdown: lists and examples, which begin with a mark for the terminal, as code."""
    parts: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if not paragraph.startswith("\b"):
            parts += [paragraph, ""]
            continue
        title, *lines = paragraph.lstrip("\b\n").split("\n")
        parts += [title, "", "```", *(line.removeprefix("  ") for line in lines), "```", ""]
    return parts


def row(parameter: Any) -> str:
    """A row of the table of parameters."""
    names = ", ".join(f"`{name}`" for name in spelled(parameter))
    return f"| {escaped(names)} | {escaped(meaning(parameter))} |"


def spelled(parameter: Any) -> list[str]:
    """The spellings of a parameter, each with its metavar."""
    if parameter.param_type_name == "argument":
        return [parameter.metavar]
    metavar = f" {parameter.metavar}" if parameter.metavar else ""
    options = sorted(
        [*parameter.opts, *parameter.secondary_opts], key=lambda option: (option[:2] == "--", option[:5] == "--no-")
    )
    return [f"{option}{metavar if option.startswith('--') or len(options) == 1 else ''}" for option in options]


def meaning(parameter: Any) -> str:
    """The help of a parameter, with its default."""
    default = parameter.default
    if isinstance(default, bool) or default is None or parameter.required:
        return str(parameter.help)
    return f"{parameter.help} Default: `{default}`."


def escaped(text: str) -> str:
    """A cell of a Markdown table."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(document(), "utf-8")
    else:
        sys.stdout.write(document())
