"""The command line: `cocite VERB ...`, made from operations.

Nothing slow is imported here: NumPy, Numba and Arrow wait inside the operations, so that `cocite --help` is quick.
"""

import os
from typing import Annotated

import typer

from cocite import __version__
from cocite.cli.commands import Show, command, show_plainly
from cocite.cli.failures import Commands
from cocite.cli.tasks.demo import Demo
from cocite.cli.tasks.other import Reproduce, StudyRate, Warm
from cocite.cli.tasks.serve import Serve, ServeAssistants
from cocite.cli.tasks.spark import SparkPages, SparkRank, SparkRelated, SparkStore, show_job
from cocite.cli.views import answers, quality, store, words
from cocite.operations.declare import Operation, operations_by_name

# Matrices are small here, and threads that wait for each other made them 8 to 30 times slower on a busy machine. NumPy
# reads this when it is loaded, which no command has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

OWN = (Demo, Serve, ServeAssistants, Warm, Reproduce, StudyRate, SparkPages, SparkStore, SparkRank, SparkRelated)
OPERATIONS: dict[str, type[Operation]] = {**operations_by_name(), **{each.about.name: each for each in OWN}}
SHOWN_BY: dict[str, Show] = {
    "demo": show_plainly, "build": store.show_built, "add": store.show_built, "remove": store.show_built,
    "clicks": store.show_clicks, "related": answers.show_pages, "recommend": answers.show_pages,
    "compare": answers.show_comparison, "batch": answers.show_batch, "similarity": answers.show_similarity,
    "methods": store.show_methods, "evaluate": quality.show_evaluation, "reproduce": show_plainly,
    "hubs": answers.show_hubs, "communities": words.show_communities, "filter": words.show_filtered,
    "cluster": answers.show_groups,
    "search": answers.show_found, "keywords": words.show_keywords, "rank": store.show_rank, "links": store.show_links,
    "info": store.show_info, "check": store.show_check, "export": store.show_exported, "serve": show_plainly,
    "mcp": show_plainly, "site": quality.show_site, "warm": show_plainly, "study new": quality.show_new_study,
    "study rate": show_plainly, "study report": quality.show_evaluation, "spark pages": show_job,
    "spark store": show_job, "spark rank": show_job, "spark related": show_job,
}  # fmt: skip
"""How results are shown, in the order of the help; other operations follow, shown plainly."""
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
app = typer.Typer(
    name="cocite", cls=Commands, add_completion=True, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]}, rich_markup_mode=None,
)  # fmt: skip
groups = {name: typer.Typer(cls=Commands, rich_markup_mode=None, help=text) for name, text in GROUPS.items()}
for name in dict.fromkeys((*SHOWN_BY, *OPERATIONS)):
    group = groups.get(name.partition(" ")[0], app)
    group.command()(command(OPERATIONS[name], SHOWN_BY.get(name, show_plainly)))
for name, group in groups.items():
    app.add_typer(group, name=name)


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
    typer.main.get_command(app)(prog_name="cocite")
