"""The command line: `cocite VERB ...`, a verb per file.

Nothing slow is imported here: NumPy, Numba and Arrow wait inside the verbs, so that `cocite --help` is quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer

from cocite import __version__
from cocite.cli.commands import View, command
from cocite.cli.failures import Commands
from cocite.cli.tasks import build, clicks, demo, evaluate, export, reproduce, serve, site, spark, store, study, warm
from cocite.cli.tasks.batch import BatchView
from cocite.cli.views.communities import CommunitiesView
from cocite.cli.views.compare import CompareView
from cocite.cli.views.keywords import KeywordsView
from cocite.cli.views.links import LinksView
from cocite.cli.views.pages import ClusterView, HubsView, SearchView, SimilarityView
from cocite.cli.views.related import RecommendView, RelatedView
from cocite.cli.views.store import MethodsView, RankView

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

VERBS: list[Callable[..., None] | View] = [
    *(demo.demo, build.build, build.add, build.remove, clicks.clicks),
    *(RelatedView(), RecommendView(), CompareView(), BatchView(), SimilarityView(), MethodsView()),
    *(evaluate.evaluate, reproduce.reproduce),
    *(HubsView(), CommunitiesView(), ClusterView(), SearchView(), KeywordsView(), RankView()),
    *(LinksView(), store.info, store.check, export.export, serve.serve, serve.mcp, site.site, warm.warm),
]
for verb in VERBS:
    app.command()(command(verb) if isinstance(verb, View) else verb)
app.add_typer(study.study, name="study")
app.add_typer(spark.spark, name="spark")


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
