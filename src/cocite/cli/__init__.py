"""The command line: `cocite VERB ...`, made from operations.

Nothing slow is imported here: NumPy, Numba and Arrow wait inside the operations. A command imports only its own
operation, so that `cocite related` starts quickly. The list of commands imports none: it reads their source.
"""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cocite import __version__
from cocite.cli.failures import Commands, stop_kernels_at_interrupts

# Matrices are small here, and threads that wait for each other made them 8 to 30 times slower on a busy machine. NumPy
# reads this when it is loaded, which no command has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SHOWN_BY = {
    "demo": "", "get": "store.show_got", "build": "store.show_built", "add": "store.show_built",
    "remove": "store.show_built", "compact": "store.show_built", "clicks": "store.show_clicks",
    "related": "answers.show_pages",
    "recommend": "answers.show_recommended", "compare": "answers.show_comparison", "changes": "answers.show_changes",
    "batch": "answers.show_batch", "similarity": "answers.show_similarity", "methods": "store.show_methods",
    "plugins": "store.show_plugins", "evaluate": "quality.show_evaluation",
    "reproduce": "", "hubs": "answers.show_hubs", "communities": "words.show_communities",
    "filter": "words.show_filtered", "cluster": "answers.show_groups", "search": "answers.show_found",
    "keywords": "words.show_keywords", "rank": "store.show_rank", "links": "store.show_links",
    "info": "store.show_info", "check": "store.show_check", "export": "store.show_exported", "install": "",
    "serve": "", "mcp": "", "watch": "", "crawl": "", "site": "quality.show_site", "warm": "",
    "study new": "quality.show_new_study", "study rate": "", "study report": "quality.show_evaluation",
    "spark pages": "spark.show_job",
    "spark store": "spark.show_job", "spark rank": "spark.show_job", "spark related": "spark.show_job",
}  # fmt: skip
"""How results are shown, in the order of the help; other operations follow, shown plainly."""
TASKS = {
    "demo": "demo.Demo", "serve": "serve.Serve", "mcp": "serve.ServeAssistants", "warm": "other.Warm",
    "watch": "watch.WatchFolder", "crawl": "crawl.Crawl", "reproduce": "other.Reproduce",
    "study rate": "other.StudyRate", "spark pages": "spark.SparkPages", "spark store": "spark.SparkStore",
    "spark rank": "spark.SparkRank", "spark related": "spark.SparkRelated",
}  # fmt: skip
"""Operations that only the command line has."""
GROUPS = {
    "study": """Have people rate the results of methods without knowing which method found them.

\b
Examples:
  cocite study new trial nytimes.com bmw.com -m companion -m cocitation
  cocite study rate trial
  cocite study report trial
""",
    "spark": """Process webs too large for one machine with Spark, here or on a cluster (--master).

\b
Examples:
  cocite spark pages crawl/*.warc.gz -o pages.parquet
  cocite spark store pages.parquet -o shards
  cocite spark related shards -o related -m proximity
""",
}
HELP_OF_HELP = "Show the help of a command."
HELP = """Which pages are related to this page? Related pages from links, in milliseconds, with reasons.

First build a store from crawls, archives, link lists or bookmarks; then ask it. Commands use the store given by -i,
else $COCITE_INDEX, else ./web.cocite. Commands of plugins aren't listed here: cocite plugins shows them.

\b
Examples:
  cocite demo                                a sample web, in one command
  cocite build crawl.warc.gz -o web.cocite   a store of your own
  cocite related nytimes.com                 related pages, and why
"""


_DECLARED = re.compile(r'^@operation\((.*)\)\nclass (\w+)\(.*\):\n    """([^"]+?)(?:\n\n|""")', re.MULTILINE)
"""The declaration of an operation, as far as the list of commands needs it: options, class, summary."""


def summaries() -> dict[str, str]:
    """The summary of every operation by name, in the order of the help: importing them takes ten times as long."""
    found: dict[str, str] = {}
    cli = Path(__file__).parent
    for file in sorted((*(cli / "tasks").glob("*.py"), *(cli.parent / "operations").rglob("*.py"))):
        for options, name, summary in _DECLARED.findall(file.read_text("utf-8")):
            given = re.search(r'name="([^"]+)"', options)
            found[given[1] if given else name.lower()] = " ".join(summary.split())
    return {name: found[name] for name in (*SHOWN_BY, *sorted(found.keys() - SHOWN_BY))}


def _find(folder: str, path: str) -> Any:
    module, _, name = path.partition(".")
    folder = "tasks" if module == "spark" else folder
    return getattr(import_module(f"cocite.cli.{folder}.{module}"), name)


class LazyCommands(Commands):
    """Commands that are made when they are needed; `before` is the group's name, with a space."""

    def __init__(self, name: str, before: str = "", **about: Any) -> None:
        super().__init__(name, **about)
        self.before = before

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """All names, in the order of the help."""
        return list(self.summaries())

    def summaries(self) -> dict[str, str]:
        """The summary of each command."""
        known = {**summaries(), **GROUPS, **({} if self.before else {"help": HELP_OF_HELP})}
        names = [name.removeprefix(self.before).partition(" ")[0] for name in known if name.startswith(self.before)]
        return {name: known[self.before + name].partition("\n\n")[0] for name in names}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its whole summary: Click cuts what is longer than a line."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries().items()))

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """The command of this name, made from its operation."""
        name = self.before + cmd_name
        if name not in self.commands:
            if not self.before and cmd_name in GROUPS:
                self.commands[name] = LazyCommands(cmd_name, f"{cmd_name} ", help=GROUPS[cmd_name])
            elif name == "help":
                words = click.Argument(["words"], nargs=-1, metavar="COMMAND")
                self.commands[name] = click.Command("help", callback=show_help, params=[words], help=HELP_OF_HELP)
            else:
                self._add_operation(name)
        return self.commands.get(name)

    def _add_operation(self, name: str) -> None:
        from cocite.cli.commands import command, show_plainly
        from cocite.operations.declare import operation_named

        if (operation := _find("tasks", TASKS[name]) if name in TASKS else operation_named(name)) is not None:
            view = SHOWN_BY.get(name, "")  # imported when it shows something
            show = (lambda *shown: _find("views", view)(*shown)) if view else show_plainly
            self.commands[name] = command(operation, show)


@click.pass_context
def show_help(ctx: click.Context, words: tuple[str, ...]) -> None:
    """`cocite help related`: the same as `cocite related --help`."""
    ctx.exit(ctx.find_root().command.main([*words, "--help"], "cocite", standalone_mode=False) or 0)


def show_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Print what a shell has to read to complete commands and options."""
    if shell:
        from click.shell_completion import get_completion_class

        found = get_completion_class(shell)
        assert found is not None, "a choice of the option"
        click.echo(found(app, {}, "cocite", "_COCITE_COMPLETE").source())
        ctx.exit()


@click.pass_context
def show_overview(ctx: click.Context) -> None:
    """Without a command, the help."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


app = LazyCommands(
    "cocite", help=HELP, callback=show_overview, invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
click.version_option(__version__, "--version", "-V", message="cocite %(version)s", help="Show the version and stop.")(
    app
)
click.option(
    "--show-completion", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL", is_eager=True,
    expose_value=False, callback=show_completion, help="Print the completion script of bash, zsh or fish.",
)(app)  # fmt: skip


def main() -> None:
    """The program `cocite`."""
    stop_kernels_at_interrupts()
    app(prog_name="cocite")
