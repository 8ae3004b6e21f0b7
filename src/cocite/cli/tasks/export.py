"""cocite export: write a store for other programs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as shared
from cocite.cli.files import check_writable
from cocite.cli.terminal import Screen, seconds, size

ALIASES = {
    "scipy": "npz",
    "networkx": "graphml",
    "igraph": "graphml",
    "gephi": "gexf",
    "tsv": "edges",
    "jsonl": "records",
}
"""Other names of formats."""


def export(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write; - is standard output, for edges and csv."
        ),
    ],
    index: shared.Index = Path("web.cocite"),
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="One of the formats above (default: by the name of the file)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write GraphML or GEXF of more than 5 million links.")] = False,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Write a store to a file, for other programs.

    \b
    Formats:
      edges    source, tab, target on every line (and the weight, if any link
               has one); .gz and .zst compress
      csv      the same with commas, under a header
      parquet  the same as Parquet, with position, block, boilerplate and
               nofollow for your own analysis; build reads source, target
               and weight of it, so to build again export records
      records  page records with all texts, as .parquet or .jsonl.gz:
               `cocite build` makes the same store of them
      npz      SciPy sparse matrix, with the addresses of its rows beside it
      graphml  for NetworkX, igraph, yEd
      gexf     for Gephi

    \b
    Examples:
      cocite export -o links.tsv.gz -i web.cocite
      cocite export --format records -o pages.parquet
      cocite export --format edges -o - | head
    """
    from cocite.cli.progress import display
    from cocite.graph.export import export as write
    from cocite.graph.export import format_of
    from cocite.graph.export.links import addresses_file
    from cocite.graph.store import Graph

    check_writable(output)
    began = time.monotonic()
    graph = Graph(index)
    piped = str(output) == "-"
    form = ALIASES.get(form, form) if form else "edges" if piped else format_of(output)
    with display(quiet or piped) as stages:
        number = write(graph, output, form, stages, force=force)
    if piped:
        return
    took, written = time.monotonic() - began, output.stat().st_size
    screen = Screen()
    what = "records" if form == "records" else "links"
    beside = {"rows": str(addresses_file(output))} if form == "npz" else {}
    if json:
        screen.json({"file": str(output), what: number, "bytes": written, "seconds": round(took, 3), **beside})
        return
    screen.line((str(output), "bold"), f"  {number:,} {what}, {size(written)}, {seconds(took)}")
    for file in beside.values():
        screen.line((file, "bold"), "  the address of each row, one per line")
