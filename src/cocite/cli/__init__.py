"""The command line: `cocite VERB ...`, a verb per file.

Nothing slow is imported here: NumPy, Numba and Arrow wait inside the verbs, so that `cocite --help` is quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer

from cocite import __version__
from cocite.cli.commands import CommandView, command, plain_view
from cocite.cli.failures import Commands
from cocite.cli.tasks.demo import demo
from cocite.cli.tasks.other import reproduce, warm
from cocite.cli.tasks.serve import mcp, serve
from cocite.cli.tasks.spark import spark
from cocite.cli.views import answers, quality, store, words
from cocite.operations.declare import operations_by_name

# Matrices are small here, and threads that wait for each other made them 8 to 30 times slower on a busy machine. NumPy
# reads this when it is loaded, which no command has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = typer.Typer(
    name="cocite",
    cls=Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)

STUDY_HELP = """Have people rate the results of methods without knowing which method found them.

\b
Examples:
  cocite study new trial nytimes.com bmw.com -m companion -m cocitation
  cocite study rate trial
  cocite study report trial
"""
VERBS: list[Callable[..., None] | CommandView] = [
    *(demo, store.BuildView(), store.AddView(), store.RemoveView(), store.ClicksView()),
    *(answers.RelatedView(), answers.RecommendView(), answers.CompareView(), answers.BatchView()),
    *(answers.SimilarityView(), store.MethodsView(), quality.EvaluateView(), reproduce),
    *(answers.HubsView(), words.CommunitiesView(), answers.ClusterView(), answers.SearchView(), words.KeywordsView()),
    *(store.RankView(), store.LinksView(), store.InfoView(), store.CheckView(), store.ExportView()),
    *(serve, mcp, quality.SiteView(), warm),
]
STUDY_VERBS: list[Callable[..., None] | CommandView] = [quality.StudyNewView(), quality.rate, quality.StudyReportView()]
shown = {verb.operation for verb in (*VERBS, *STUDY_VERBS) if isinstance(verb, CommandView)}
VERBS += [plain_view(operation) for operation in operations_by_name().values() if operation not in shown]
study = typer.Typer(cls=Commands, rich_markup_mode=None, help=STUDY_HELP)
for group, verbs in ((app, VERBS), (study, STUDY_VERBS)):
    for verb in verbs:
        group.command()(command(verb) if isinstance(verb, CommandView) else verb)
app.add_typer(study, name="study")
app.add_typer(spark, name="spark")


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"cocite {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def cocite(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Which pages are related to this page? Related pages from links, in milliseconds, with reasons.

    First build a store from crawls, archives, link lists or bookmarks; then ask it. Commands use the store given by -i,
    else $COCITE_INDEX, else ./web.cocite.

    \b
    Examples:
      cocite demo                                a sample web, in one command
      cocite build crawl.warc.gz -o web.cocite   a store of your own
      cocite related nytimes.com                 related pages, and why
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """The program `cocite`."""
    typer.main.get_command(app)()
