"""docs/cocite.1, the manual page, from the commands: `python -m cocite.cli.document_man docs/cocite.1`."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import typer

from cocite import __version__
from cocite.cli.document import ENVIRONMENT, EXIT_CODES, commands_of, meaning, spelled, usage_of

HEAD = f""".TH COCITE 1 "" "cocite {__version__}" "User Commands"
.SH NAME
cocite \\- which pages are related to this page?
.SH SYNOPSIS
.B cocite
.I COMMAND
[ARGUMENT ...] [OPTION ...]
.SH DESCRIPTION
Related pages from links, with reasons. Commands use the store that
.B \\-i
names, else
.BR $COCITE_INDEX ,
else ./web.cocite. Results go to standard output; progress and errors to standard error. Without a terminal,
output is plain text with columns separated by tabs.
.SH COMMANDS
"""


def manual() -> str:
    """The whole page, in the language of man."""
    from cocite.cli import app

    parts = [command_of(name, command) for name, command in commands_of(typer.main.get_command(app))]
    parts.append(".SH EXIT STATUS\n" + "".join(entry(code, says) for code, says in EXIT_CODES.items()))
    parts.append(".SH ENVIRONMENT\n" + "".join(entry(name, says) for name, says in ENVIRONMENT.items()))
    return HEAD + "".join(parts)


def command_of(name: str, command: Any) -> str:
    """What one command does, its examples, arguments and options."""
    shown = [parameter for parameter in command.params if "--help" not in parameter.opts]
    arguments = [usage_of(parameter) for parameter in shown if parameter.param_type_name == "argument"]
    parts = [f".SS {plain(' '.join(['cocite', name, *arguments, '[OPTIONS]']))}\n"]
    for at, paragraph in enumerate(inspect.cleandoc(command.help).split("\n\n")):
        parts.append(".PP\n" if at else "")
        listed = paragraph.startswith("\b")
        lines = "\n".join(plain(line) for line in paragraph.lstrip("\b\n").split("\n"))
        parts.append(f".nf\n{lines}\n.fi\n" if listed else f"{lines}\n")
    return "".join(parts) + "".join(entry(", ".join(spelled(each)), meaning(each)) for each in shown)


def entry(name: str, says: str) -> str:
    """A name in bold, and below it what it means."""
    return f".TP\n\\fB{plain(name)}\\fR\n{plain(says.replace('`', ''))}\n"


def plain(text: str) -> str:
    """A line that means itself: no escapes, no requests, and minus signs that can be copied."""
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", r"\e").replace("-", r"\-"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(manual(), "utf-8")
    else:
        sys.stdout.write(manual())
