"""cocite batch: answers for every page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import INTERRUPTED, complain
from cocite.cli.related import Lang, Method, NotOwnSite, PerSite, Since, filters_of, read_addresses
from cocite.cli.terminal import Screen, count, rate, seconds
from cocite.errors import BadParameter
from cocite.results import DEFAULT_METHOD


def batch(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PLACE", help="A folder of Parquet files, or one file if it ends in .tsv."
        ),
    ],
    index: given.Index = Path("web.cocite"),
    method: Method = DEFAULT_METHOD,
    k: Annotated[int, typer.Option("-k", metavar="N", help="So many answers to each page.")] = 10,
    queries: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Only for the pages of this file of addresses, one a line.")
    ] = None,
    per_site: PerSite = 0,
    not_own_site: NotOwnSite = False,
    lang: Lang = "",
    since: Since = "",
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare all pages at once: integrated only, far sooner, not exactly.")
    ] = False,
    threads: given.Threads = None,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Answer for every page, or for those of a file, on all cores.

    Rows are query, rank, url and score; a TSV file has them in this order, without a header. If it is interrupted, the
    same command goes on where it was.

    With --all-pairs, integrated similarity is worked out for all pages at once, by words and links held in memory. It
    looks at fewer pages than a single question: of the 20 best answers some nineteen are the same
    (docs/integrated.md). If that is interrupted before the first part is written, it begins anew.

    \b
    Examples:
      cocite batch -o related.parquet
      cocite batch -m cocitation -k 20 --queries pages.txt -o related.tsv
      cocite batch -m integrated --all-pairs -k 20 -o alike.parquet
    """
    from cocite.cli.progress import display
    from cocite.graph.store import Graph
    from cocite.results.batch import batch as run

    kept = filters_of(per_site, not_own_site, lang, since)
    graph = Graph(index)
    pages = None
    unknown = 0
    if queries is not None:
        found = [graph.get(address) for address in read_addresses(queries)]
        pages = [page for page in found if page is not None]
        unknown = len(found) - len(pages)
        if not pages:
            raise BadParameter(f"{queries} has no address of a page in this store: check both")
    screen, started = Screen(stderr=not json), time.monotonic()
    try:
        with display(quiet=quiet or json) as stages:
            done = run(
                graph, method, output, k=k, queries=pages, filters=kept, processes=threads, together=all_pairs,
                progress=stages,
            )  # fmt: skip
    except KeyboardInterrupt:
        complain("interrupted; the parts that are ready are kept, the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    took = time.monotonic() - started
    if json:
        screen.json({**done._asdict(), "unknown": unknown, "output": str(output), "seconds": round(took, 3)})
        return
    if unknown:
        screen.line(
            (f"not in this store: {unknown:,} {'address' if unknown == 1 else 'addresses'} of {queries}", "yellow")
        )
    if done.kept:
        screen.line((f"{count(done.kept, 'part')} of {done.parts} kept from an earlier run", "dim"))
    speed = f", {rate(done.pages / took)} pages/s" if took > 1 and done.pages > 1000 and not done.kept else ""
    screen.line(
        f"{count(done.pages, 'page')} asked, {count(done.answers, 'answer')} in {seconds(took)}{speed}: {output}"
    )
