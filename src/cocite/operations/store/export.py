"""Write a store to a file, for other programs."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.task import Task, check_writable
from cocite.parameters import parameter

FORMAT_ALIASES = {
    "scipy": "npz", "networkx": "graphml", "igraph": "graphml", "gephi": "gexf", "tsv": "edges", "jsonl": "records",
}  # fmt: skip


class Exported(NamedTuple):
    """What was written."""

    file: str
    what: str  # links or records
    number: int
    bytes: int
    seconds: float
    rows: str  # a file with the address of each row of a matrix, or nothing

    def to_dict(self) -> dict[str, Any]:
        rows = {"rows": self.rows} if self.rows else {}
        own = {"file": self.file, self.what: self.number, "bytes": self.bytes, "seconds": round(self.seconds, 3)}
        return {**own, **rows}


@operation()
class Export(Task):
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

    Examples:
        cocite export -o links.tsv.gz -i web.cocite
        cocite export --format records -o pages.parquet
        cocite export --format edges -o - | head
    """

    output: str = parameter(
        "", "The file to write; - is standard output, for edges and csv", metavar="FILE", flags=("--output", "-o"),
        required=True,
    )  # fmt: skip
    format: str = parameter("", "One of the formats above (default: by the name of the file)", metavar="FORMAT")
    force: bool = parameter(False, "Write GraphML or GEXF of more than 5 million links")
    quiet: bool = shared.quiet()

    def on_surface(self, surface: str) -> Self:
        """Nothing is added to what is written to standard output."""
        return replace(self, quiet=self.quiet or self.output == "-")

    def do(self, progress: Progress) -> Exported | None:
        """Write the file; the result is None for standard output."""
        from cocite.graph.export import export, format_of
        from cocite.graph.export.links import addresses_file
        from cocite.graph.generation import no_progress
        from cocite.graph.store import Graph

        check_writable(self.output)
        began, graph, path, piped = time.monotonic(), Graph(self.index), Path(self.output), self.output == "-"
        given = FORMAT_ALIASES.get(self.format, self.format)
        form = given or ("edges" if piped else format_of(path))
        number = export(graph, path, form, no_progress if piped else progress, force=self.force)
        if piped:
            return None
        took, written = time.monotonic() - began, path.stat().st_size
        what, rows = "records" if form == "records" else "links", str(addresses_file(path)) if form == "npz" else ""
        return Exported(self.output, what, number, written, took, rows)
