"""cocite spark: jobs for a cluster, or for this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.failures import INTERRUPTED, Commands, complain
from cocite.cli.files import with_page_lists
from cocite.cli.terminal import Screen, seconds
from cocite.cli.views.store import show_reasons
from cocite.text import count

HELP = """Process webs too large for one machine with Spark, here or on a cluster (--master).

\b
Examples:
  cocite spark pages crawl/*.warc.gz -o pages.parquet
  cocite spark store pages.parquet -o shards
  cocite spark related shards -o related -m proximity
"""
spark = typer.Typer(cls=Commands, rich_markup_mode=None, help=HELP)

Place = Annotated[
    str, typer.Option("--output", "-o", metavar="PLACE", help="A folder to make, here or in object storage.")
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Where to run: local[4], yarn, k8s://…; by default this machine, or spark-submit's."
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark, such as spark.executor.memory=4g."),
]
ShardsFolder = Annotated[str, typer.Argument(metavar="SHARDS", help="The output of cocite spark store.")]


@spark.command()
def pages(
    output: Place,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Files, folders, or addresses of them in object storage."),
    ] = None,
    listed: Annotated[
        str | None, typer.Option("--list", metavar="FILE", help="A file of more sources, one per line; may be gzipped.")
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Prefix of each line of --list.")] = "",
    base: shared.Base = None,
    kind: shared.Kind = None,
    strict: shared.Strict = False,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Keep the texts of pages.")] = True,
    master: Master = None,
    conf: Conf = None,
    json: shared.Json = False,
) -> None:
    """Read sources into page records, one task per file, with the readers of cocite build.

    The records are the input of cocite spark store, or of cocite build.

    \b
    Examples:
      cocite spark pages crawl/*.warc.gz -o pages.parquet
      cocite spark pages --list wat.paths.gz --prefix s3://commoncrawl/ -o s3a://mine/pages
    """
    from cocite.spark.pages import check_sources, read_list, write_pages

    wanted = [*(sources or []), *(read_list(listed, prefix) if listed else [])]
    check_sources(wanted, kind)
    options = {"base": base, "kind": kind, "text": text, "strict": strict}
    done = _run("pages", master, conf, write_pages, wanted, output, **options)
    made = ", ".join(count(done["read"][f"{unit}s"], unit) for unit in ("record", "link", "source"))
    _show(output, done, made, json, hint=" (--strict stops at the first)")


@spark.command()
def store(
    records: Annotated[str, typer.Argument(metavar="RECORDS", help="A Parquet folder of page records.")],
    output: Place,
    master: Master = None,
    conf: Conf = None,
    json: shared.Json = False,
) -> None:
    """Number pages and sort links in both directions, into sorted Parquet files: pages, out and in.

    Numbers and links are the same as those of cocite build. If it is interrupted, the same command continues after the
    last finished step.

    \b
    Examples:
      cocite spark store pages.parquet -o shards
      cocite spark store s3a://mine/pages -o s3a://mine/shards --master yarn
    """
    from cocite.spark.outputs import check_records
    from cocite.spark.store import write_store

    check_records(records, master)
    done = _run("store", master, conf, write_store, records, output)
    _show(output, done, f"{count(done['pages'], 'page')}, {count(done['links'], 'link')}", json)


@spark.command()
def rank(
    shards: ShardsFolder,
    output: Place,
    by: Annotated[
        str, typer.Option(metavar="RANK", help="pagerank or hubrank; parameters as in hubrank(bias=authorities).")
    ] = "pagerank",
    master: Master = None,
    conf: Conf = None,
    json: shared.Json = False,
) -> None:
    """Rank all pages by their links. Rows are number, url and value.

    \b
    Examples:
      cocite spark rank shards -o pagerank
      cocite spark rank shards -o hubs --by "hubrank(transposed=true)"
    """
    from cocite.spark.outputs import check_shards
    from cocite.spark.rank import check, write_rank

    check(by)
    check_shards(shards, master)
    done = _run("rank", master, conf, write_rank, shards, output, by)
    rounds = f"{count(done['rounds'], 'round')}, residual {done['residual']:.1e}"
    _show(output, done, f"{count(done['pages'], 'page')}, {rounds}", json)
    if not json and not done["converged"]:
        call = f'--by "{by.partition("(")[0]}(rounds=1000)"'
        Screen(stderr=True).line((f"The tolerance was not reached: allow more rounds, as in {call}", "yellow"))


@spark.command()
def related(
    shards: ShardsFolder,
    output: Place,
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", metavar="METHOD", help="cocitation, proximity or extended_cocitation, with parameters."
        ),
    ] = "cocitation",
    k: Annotated[int, typer.Option("-k", metavar="N", help="Maximum number of results of each page.")] = 10,
    master: Master = None,
    conf: Conf = None,
    json: shared.Json = False,
) -> None:
    """Find the related pages of every page, like cocite batch. Rows are query, rank, url and score.

    If it is interrupted, the same command continues after the last finished step.

    \b
    Examples:
      cocite spark related shards -o related
      cocite spark related shards -o related -m "extended_cocitation(parents=100)" -k 20
    """
    from cocite.results.ask import check_k
    from cocite.spark.outputs import check_shards
    from cocite.spark.related import check, write_related

    method = with_page_lists(method)
    check(method)
    check_k(k)
    check_shards(shards, master)
    done = _run("related", master, conf, write_related, shards, output, method, k)
    _show(output, done, f"{count(done['answers'], 'result')} for {count(done['pages'], 'page')}", json)


def _run(
    name: str, master: str | None, conf: list[str] | None, write: Callable[..., Any], *arguments: Any, **options: Any
) -> dict[str, Any]:
    """Run a job in its own session. Return its facts, and the seconds it took."""
    from cocite.spark.session import parse_settings, plain_failures, start

    errors = Screen(stderr=True)
    session = start(name, master, parse_settings(conf or []))
    started = time.monotonic()

    def on_step(step: str) -> None:
        errors.line((f"{seconds(time.monotonic() - started)}: {step}", "dim"))

    try:
        with plain_failures():
            done = write(session, *arguments, **options, on_step=on_step)
    except KeyboardInterrupt:
        complain("Interrupted; finished steps are kept, and the same command continues from there")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        session.stop()
    return {**done, "seconds": round(time.monotonic() - started, 3)}


def _show(output: str, facts: dict[str, Any], made: str, json: bool, hint: str = "") -> None:
    """Print what a job made, and what it skipped."""
    screen = Screen()
    if json:
        screen.json({**facts, "output": output})
        return
    screen.line((output, "bold"), f"  {made} in {seconds(facts['seconds'])}")
    if facts.get("skipped"):
        screen.line(("skipped", "yellow"), (hint, "dim"), indent=2)
        show_reasons(screen, facts["skipped"], facts["example"])
