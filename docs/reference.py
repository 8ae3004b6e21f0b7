"""Write the generated pages of docs/ from the declarations: `python docs/reference.py docs`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from cocite import __version__
from cocite.parameters import Parameter, parameters_of

REFERENCE_HEAD = """# Command line

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
MANUAL_HEAD = f""".TH COCITE 1 "" "cocite {__version__}" "User Commands"
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
METHODS_HEAD = """# Methods

This page is generated from the files in `src/cocite/related/methods`, one per method (`make docs`);
`cocite methods METHOD` shows the same. Name a method, on the command line or in Python, with the parameters that should
differ from their defaults: `-m "companion(parents=500, unit=host)"`, `web.related("nytimes.com", "companion",
parents=500)`.

Every method has its paper's values as defaults. It is deterministic ("random" parents are those of smallest hash), and
orders results by score to six significant digits, then in-links, then address. A query page, or a page merged with it,
is never a result.

"""
FILTERS_HEAD = """# Filters

This page is generated from `src/cocite/results/filters.py` (`make docs`). Filters select results by site, language,
date and links. They have the same names everywhere, with `-` on the command line and `_` over HTTP, for assistants and
in Python: `cocite related nytimes.com --not-own-site --lang en`, `web.related("nytimes.com", not_own_site=True,
lang="en")`. You get the k best results that pass.

"""
INTERFACES_HEAD = """# HTTP, tools and Python

This page is generated from the files in `src/cocite/operations` (`make docs`). An operation is declared once. The
command, the HTTP route, the tool for assistants and the method in Python have the same parameters, under these names.
[The command line](cli.md) has a page of its own; a server describes its routes at `/docs` and `/openapi.json`.

"""
SURFACES = {"HTTP": "http", "tool": "mcp", "Python": "python"}
SUBJECTS = {
    "Store and sources": 20,
    "Methods on links": 30,
    "Search and ranks": 40,
    "Words, walks and clicks": 50,
    "The default method": 60,
    "Service and clusters": 80,
    "Front ends": 10_000,
}
"""Of decisions, and the first number that isn't of each."""
RANKS_HEAD = """## Ranks

A rank gives every page of a store a value. `cocite rank --by hubrank` computes it once from the encoded links, and
keeps it beside the store until the store changes; in Python, `web.rank("hubrank").top(20)`. The result is the same for
any number of threads. Parameters are given as for methods: `--by "hubrank(bias=authorities)"`.
"""


def commands_of(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """All commands by name, those of groups with the group's name before."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if name == "help":
            continue
        if hasattr(command, "list_commands"):
            yield from commands_of(command, f"{before}{name} ")
        else:
            yield before + name, command


def all_commands() -> dict[str, Any]:
    """All commands of cocite."""
    from cocite.cli import app

    return dict(commands_of(app))


def parameters_shown(command: Any) -> tuple[list[Any], str]:
    """The parameters of a command without --help, and its arguments as the usage shows them."""
    shown = [each for each in command.params if "--help" not in each.opts]
    arguments = []
    for each in shown:
        if each.param_type_name == "argument":
            text = each.metavar.replace("...", " ...")
            arguments.append(text if each.required else f"[{text}]")
    return shown, " ".join([*arguments, "[OPTIONS]"])


def spelled(parameter: Any) -> list[str]:
    """The spellings of a parameter, each with its metavar."""
    if parameter.param_type_name == "argument":
        return [parameter.metavar.removesuffix("...")]
    metavar = f" {parameter.metavar}" if parameter.metavar else ""
    options = sorted(
        [*parameter.opts, *parameter.secondary_opts], key=lambda option: (option[:2] == "--", option[:5] == "--no-")
    )
    return [f"{option}{metavar if option.startswith('--') or len(options) == 1 else ''}" for option in options]


def meaning(parameter: Any) -> str:
    """The help of a parameter, with its default."""
    default = parameter.default
    if not getattr(parameter, "show_default", False) or parameter.required:
        return str(parameter.help)
    return f"{parameter.help} Default: `{default}`."


def table(head: tuple[str, ...], rows: Iterable[Iterable[object]]) -> list[str]:
    """A table in Markdown, and an empty line."""
    cells = [[re.sub(r"(?<!\\)\|", r"\\|", str(cell)) for cell in row] for row in rows]
    first, *others = (f"| {' | '.join(row)} |" for row in (head, *cells))
    return [first, "|" + "---|" * len(head), *others, ""]


def reference() -> str:
    """docs/cli.md: every command with its arguments and options, exit codes and environment variables."""
    parts, commands = [], all_commands()
    for name, command in commands.items():
        shown, usage = parameters_shown(command)
        parts += [f"## cocite {name}", "", "```", f"cocite {name} {usage}", "```", "", *paragraphs(command.help)]
        rows = ((", ".join(f"`{text}`" for text in spelled(each)), meaning(each)) for each in shown)
        parts += table(("argument or option", "meaning"), rows)
    summaries = {
        name: inspect.cleandoc(each.help).split("\n\n")[0].replace("\n", " ") for name, each in commands.items()
    }
    links = ((f"[`{name}`](#cocite-{name.replace(' ', '-')})", text) for name, text in summaries.items())
    parts = [*table(("command", "what it does"), links), *parts]
    parts += ["## Exit codes", "", *table(("code", "meaning"), EXIT_CODES.items())]
    variables = ((f"`{name}`", text) for name, text in ENVIRONMENT.items())
    return REFERENCE_HEAD + "\n".join([*parts, "## Environment", "", *table(("variable", "meaning"), variables)])


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


def manual() -> str:
    """docs/cocite.1: the manual page, in the language of man."""

    def entry(name: str, text: str) -> str:
        return f".TP\n\\fB{plain(name)}\\fR\n{plain(text.replace('`', ''))}\n"

    parts = [MANUAL_HEAD]
    for name, command in all_commands().items():
        shown, usage = parameters_shown(command)
        parts.append(f".SS {plain(f'cocite {name} {usage}')}\n")
        for at, paragraph in enumerate(inspect.cleandoc(command.help).split("\n\n")):
            lines = "\n".join(plain(line) for line in paragraph.lstrip("\b\n").split("\n"))
            parts += [".PP\n" if at else "", f".nf\n{lines}\n.fi\n" if paragraph.startswith("\b") else f"{lines}\n"]
        parts += [entry(", ".join(spelled(each)), meaning(each)) for each in shown]
    parts += [".SH EXIT STATUS\n", *(entry(code, text) for code, text in EXIT_CODES.items())]
    parts += [".SH ENVIRONMENT\n", *(entry(name, text) for name, text in ENVIRONMENT.items())]
    return "".join(parts)


def plain(text: str) -> str:
    """A line that means itself: no escapes, no requests, and minus signs that can be copied."""
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", r"\e").replace("-", r"\-"))


def methods_page() -> str:
    """docs/methods.md: every method and rank with its parameters."""
    from cocite.related import methods, ranks
    from cocite.related.neighbourhood.view import Switches

    def described(about: Any, level: str, shared: type) -> list[str]:
        common = [each.name for each in fields(shared)]
        own = [each for each in about.parameters if each.name not in common or each not in parameters_of(shared)]
        return [f"{level} {about.name}", "", about.summary, "", about.description, "", *parameter_table(own)]

    abouts = [methods.about(name) for name in methods.names()]
    parts = table(("method", "what it does"), ((f"[`{each.name}`](#{each.name})", each.summary) for each in abouts))
    for about in abouts:
        parts += described(about, "##", Switches)
    parts += ["## Switches that link methods share", "", *parameter_table(parameters_of(Switches)), RANKS_HEAD]
    for name in ranks.names():
        parts += described(ranks.about(name), "###", ranks.Iteration)
    parts += ["All ranks have these as well:", "", *parameter_table(parameters_of(ranks.Iteration))]
    return METHODS_HEAD + "\n".join(parts)


def filters_page() -> str:
    """docs/filters.md: every filter, and the operations that have them."""
    from cocite.operations.declare import operations_by_name
    from cocite.results.filters import Filters

    def code(text: str) -> str:
        return f"`{text}`" if text else ""

    flags = ((f"`--{each.name.replace('_', '-')}`", f"`{each.name}`", each.help) for each in parameters_of(Filters))
    having = [each.about for each in operations_by_name().values() if issubclass(each, Filters)]
    rows = (
        (f"[`cocite {each.name}`](cli.md#cocite-{each.name})", code(each.route), code(each.tool)) for each in having
    )
    parts = [*table(("command line", "elsewhere", "meaning"), flags), "These have all of them:", ""]
    parts += table(("command", "route", "tool for assistants"), rows)
    parts += ["Pages sent to `/api/related` have them, too. `links` refuses `unlinked`, as it would hide all links."]
    parts += ["`communities` and `cluster` have no filters: they return groups of pages that belong together.", ""]
    return FILTERS_HEAD + "\n".join(parts)


def interfaces_page() -> str:
    """docs/interfaces.md: the operations that programs can ask, and their parameters by front end."""
    from cocite.operations.declare import operations_by_name, parameters_on
    from cocite.python import Store
    from cocite.results.filters import Filters

    filters = {each.name for each in parameters_of(Filters)}
    summary, parts = [], []
    for name, each in operations_by_name().items():
        method = name.replace(" ", "_")
        method = f"web.{method}()" if hasattr(Store, method) else ""
        called = {"HTTP": each.about.route, "tool": each.about.tool, "Python": method}
        if not any(called.values()):
            continue
        summary.append(
            (f"[{name}](#{name.replace(' ', '-')})", *(f"`{text}`" if text else "" for text in called.values()))
        )
        parts += [f"## {name}", "", each.about.summary, ""]
        named = {front: dict(parameters_on(each, SURFACES[front])) for front, text in called.items() if text}
        rows = []
        for field in dict.fromkeys(field for parameters in named.values() for field in parameters):
            shown = [parameters.get(field) for parameters in named.values()]
            help = next(parameter.help for parameter in shown if parameter)
            if field not in filters:
                rows.append((*(f"`{parameter.name}`" if parameter else "" for parameter in shown), help))
        parts += table((*named, "meaning"), rows) if rows else []
        if issubclass(each, Filters):
            parts += ["It has all [filters](filters.md), too.", ""]
    return INTERFACES_HEAD + "\n".join([*table(("operation", "HTTP", "tool", "Python"), summary), *parts])


def decisions_page(folder: Path = Path(__file__).parent / "decisions") -> str:
    """docs/decisions/README.md: all decisions by subject."""
    parts = [
        "# Decisions",
        "",
        "Each page has one decision, its reasons, and what we measured. `make docs` writes this list.",
    ]
    first = 0
    for subject, last in SUBJECTS.items():
        parts += ["", f"## {subject}", ""]
        for file in sorted(folder.glob("0*.md")):
            if first <= (number := int(file.name[:4])) < last:
                title = re.sub(r"^# *(?:\d+\.? *)?", "", file.read_text("utf-8").splitlines()[0])
                parts.append(f"- [{number}. {title}]({file.name})")
        first = last
    return "\n".join([*parts, ""])


def parameter_table(parameters: list[Parameter]) -> list[str]:
    """Parameters of a method as a table."""
    shown = {each.name: "" if each.default == () else str(each.default).lower() for each in parameters}
    rows = ((f"`{each.name}`", f"`{shown[each.name]}`", each.help, each.kind) for each in parameters)
    return table(("parameter", "default", "meaning", "allowed"), rows)


if __name__ == "__main__":
    pages = {
        "cli.md": reference,
        "cocite.1": manual,
        "decisions/README.md": decisions_page,
        "filters.md": filters_page,
        "interfaces.md": interfaces_page,
        "methods.md": methods_page,
    }
    for file, write in pages.items():
        Path(sys.argv[1], file).write_text(write(), "utf-8")
