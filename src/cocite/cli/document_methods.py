"""docs/methods.md, made from the files themselves: `python -m cocite.cli.document_methods docs/methods.md`."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

from cocite.parameters import Parameter, parameters_of
from cocite.related import methods, ranks
from cocite.related.neighbourhood.view import Switches

HEAD = """# Methods

This page is made from the files in `src/cocite/methods`, one a method; `cocite methods METHOD` says the same. A method
is named on the command line and in Python with the parameters that should differ from their defaults:
`-m "companion(parents=500, unit=host)"`, `web.related("nytimes.com", "companion", parents=500)`.

Every method keeps its paper's values as defaults, is deterministic ("random" parents are those of smallest hash), and
orders answers by score to six significant digits, then links in, then address. A query page, or a page merged with
it, is never an answer.

"""

RANKS = """## Ranks

A rank gives every page of a store a value, whatever is asked. It is worked out once, `cocite rank --by hubrank`,
straight from the encoded links, and kept beside the store until this is changed; `web.rank("hubrank").top(20)` in
Python. The outcome is the same for any number of threads. Parameters are given as for methods:
`--by "hubrank(bias=authorities)"`.
"""


def document() -> str:
    """The whole page."""
    names = methods.names()
    common = [each.name for each in fields(Switches)]
    lines = [f"| [`{name}`](#{name}) | {methods.about(name).summary} |" for name in names]
    parts = [HEAD + "\n".join(["| method | what it does |", "|---|---|", *lines]), ""]
    for name in names:
        about = methods.about(name)
        own = [each for each in about.parameters if each.name not in common or differs(each)]
        parts += [f"## {name}", "", about.summary, "", about.description, "", *table(own)]
    parts += ["## Switches that link methods share", "", *table(parameters_of(Switches))]
    return "\n".join([*parts, *rank_parts()])


def rank_parts() -> list[str]:
    """What the rank files say."""
    common = [each.name for each in fields(ranks.Iteration)]
    parts = [RANKS]
    for name in ranks.names():
        about = ranks.about(name)
        own = [each for each in about.parameters if each.name not in common]
        parts += [f"### {name}", "", about.summary, "", about.description, "", *table(own)]
    return [*parts, "All ranks have these as well:", "", *table(parameters_of(ranks.Iteration))]


def differs(parameter: Parameter) -> bool:
    """Whether a method has another default than the others."""
    return all(parameter != each for each in parameters_of(Switches))


def table(parameters: list[Parameter]) -> list[str]:
    """Parameters as a table."""
    shown = {each.name: "" if each.default == () else str(each.default).lower() for each in parameters}
    rows = [f"| `{each.name}` | `{shown[each.name]}` | {each.help} | {each.kind} |" for each in parameters]
    return ["| parameter | default | meaning | allowed |", "|---|---|---|---|", *rows, ""]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(document(), "utf-8")
    else:
        sys.stdout.write(document())
