"""A small store for the tests of surfaces, and a way to run commands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cocite import cli
from cocite.cli import app
from cocite.kernels import jit
from cocite.operations.declare import Operation, operations_by_name
from cocite.sources.records import Link, Page
from tests.graph.webs import make

LIST, NEWS, OTHER, LONELY, OLD = (
    "https://lists.example/papers",
    "https://news.example/",
    "https://www.other.example/a",
    "https://lonely.example/",
    "https://old.example/",
)
NASTY = "\x1b[31mred\x1b[0m [bold]markup[/bold] \u202egnp\x07\nline"
PAGES = [
    Page(
        LIST,
        "Papers",
        links=[
            Link(NEWS, "The News", 0),
            Link(OTHER, NASTY, 0, rel="nofollow ugc"),
            Link("https://foot.example/", "Imprint", 1, boilerplate=True),
            Link("https://loose.example/"),
        ],
        headings=["Dailies", ""],
        captured="2024-05-06",
        lang="en",
        status=200,
    ),
    Page("https://blog.example/roll", NASTY, links=[Link(NEWS, "news", 0), Link(LIST, "papers", 0)], headings=["Roll"]),
    Page("https://fan.example/", "Fan", links=[Link("https://blog.example/roll")]),
    Page(LONELY, "Nobody links here"),
    Page(OLD, redirect=NEWS),
]


class Ran:
    """What a command did."""

    def __init__(self, args: tuple[str | Path, ...], stdin: str | None = None) -> None:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr


def run(*args: str | Path, stdin: str | None = None) -> Ran:
    """Run a command in this process."""
    return Ran(args, stdin)


@pytest.fixture(scope="session")
def store(fast_root: Path) -> Iterator[Path]:
    """The store of PAGES; not to be changed."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", PAGES)
        yield Path(folder) / "web.cocite"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the user's own, and no note on compiling, since some test is always the first to compile."""
    watch = jit.watch
    monkeypatch.setattr(jit, "watch", lambda _: watch(lambda kernel: None))
    for name in [name for name in os.environ if name.startswith("COCITE_")] + ["FORCE_COLOR", "NO_COLOR"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)


def operations() -> dict[str, type[Operation]]:
    """Every operation of the command line, in the order of the help."""
    named = {**{name: cli._find("tasks", cli.TASKS[name]) for name in cli.TASKS}, **operations_by_name()}
    return {name: named[name] for name in dict.fromkeys((*cli.SHOWN_BY, *named))}
