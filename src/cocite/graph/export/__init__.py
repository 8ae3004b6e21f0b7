"""A store for other programs, as a file: `FORMATS` has every format. `libraries.py` has objects of other libraries.

Files are written while the store is read, so only the disk bounds their size. A file appears when it is complete.
"""

from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

from cocite.errors import BadParameter
from cocite.graph.export import links, records
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph

MAX_XML_LINKS = 5_000_000  # XML with more links needs --force: the programs that read it hold all of it in memory


class Format(NamedTuple):
    """A way of writing a store to a file; `write` returns the number of links, or of records."""

    write: Callable[[Graph, Path, Progress], int]
    suffixes: str
    max_links: float = inf  # without --force


FORMATS = {
    "edges": Format(partial(links.write_lines, delimiter="\t"), ".tsv .tsv.gz .tsv.zst"),
    "csv": Format(partial(links.write_lines, delimiter=","), ".csv .csv.gz .csv.zst"),
    "parquet": Format(links.write_parquet, ".parquet"),
    "records": Format(records.write_records, ".jsonl .jsonl.gz .jsonl.zst"),
    "npz": Format(links.write_npz, ".npz"),
    "graphml": Format(partial(links.write_xml, elements=links.graphml), ".graphml .graphml.gz", MAX_XML_LINKS),
    "gexf": Format(partial(links.write_xml, elements=links.gexf), ".gexf .gexf.gz", MAX_XML_LINKS),
}


def format_of(path: Path) -> str:
    """The format that a file's name implies."""
    for name, form in FORMATS.items():
        if path.name.lower().endswith(tuple(form.suffixes.split())):
            return name
    suffixes = ", ".join(form.suffixes.split()[0] for form in FORMATS.values())
    raise BadParameter(
        f"No format has the suffix of {path.name}: end the name in {suffixes}, or give --format {'|'.join(FORMATS)}"
    )


def export(
    graph: Graph, path: Path, format: str | None = None, progress: Progress = no_progress, *, force: bool = False
) -> int:
    """Write a store to a file. Return the number of links written (of records, for `records`)."""
    name = format or format_of(path)
    if name not in FORMATS:
        raise BadParameter(f"Unknown format {name!r}: choose one of {', '.join(FORMATS)}")
    if path == links.STDOUT and name not in ("edges", "csv"):
        raise BadParameter(f"Only edges and csv can be written to standard output: give a file name for {name}")
    if len(graph.links) > FORMATS[name].max_links and not force:
        raise BadParameter(
            f"{len(graph.links):,} links make about {len(graph.links) * 130 / 1e9:.0f} GB of {name}, more than most "
            "programs can read: use parquet or npz, or give --force"
        )
    return FORMATS[name].write(graph, path, progress)
