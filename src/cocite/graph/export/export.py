"""A store for other programs: files (`export`), and objects of SciPy, NetworkX and igraph (`to_...`).

Files are written as the store is read, so their size is bounded by the disk only; a file appears when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.all_addresses import addresses
from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.export import records as export_records
from cocite.graph.export import text as export_text
from cocite.graph.generation import Progress
from cocite.graph.store import Graph

MANY = 5_000_000
"""Links from which XML is refused unless forced: the programs that read it hold all of it in memory."""


@dataclass(frozen=True)
class Format:
    """One way of writing a store to a file."""

    write: Callable[[Graph, Path, Progress], int]
    endings: tuple[str, ...]  # file names that mean it
    limit: int | None = None  # links from which it is refused


FORMATS = {
    "edges": Format(export_text.write_edges, (".tsv", ".tsv.gz", ".tsv.zst")),
    "csv": Format(export_text.write_csv, (".csv", ".csv.gz", ".csv.zst")),
    "parquet": Format(export_records.write_parquet_edges, (".parquet",)),
    "records": Format(export_records.write_records, (".jsonl", ".jsonl.gz", ".jsonl.zst")),
    "npz": Format(export_text.write_npz, (".npz",)),
    "graphml": Format(export_text.write_graphml, (".graphml", ".graphml.gz"), MANY),
    "gexf": Format(export_text.write_gexf, (".gexf", ".gexf.gz"), MANY),
}


def format_of(path: Path) -> str:
    """The format that a file's name means."""
    for name, form in FORMATS.items():
        if path.name.lower().endswith(form.endings):
            return name
    known = ", ".join(form.endings[0] for form in FORMATS.values())
    raise BadParameter(
        f"cannot tell a format from the name {path.name}: end it in {known}, or give --format {'|'.join(FORMATS)}"
    )


def export(
    graph: Graph, path: Path, format: str | None = None, progress: Progress = lambda *_: None, *, force: bool = False
) -> int:
    """Write a store to a file; returns the number of links written (of records, for `records`)."""
    name = format or format_of(path)
    if name not in FORMATS:
        raise BadParameter(f"no format is called {name!r}: choose one of {', '.join(FORMATS)}")
    form = FORMATS[name]
    if path == export_text.STDOUT and name not in ("edges", "csv"):
        raise BadParameter(f"only edges and csv can be written to standard output: give a file name for {name}")
    if path.is_dir():
        raise BadParameter(f"{path} is a folder: give the name of a file in it")
    if not path.absolute().parent.is_dir():
        raise BadParameter(f"there is no folder {path.parent}: make it first, or write to another place")
    if form.limit is not None and graph.links > form.limit and not force:
        raise BadParameter(
            f"{graph.links:,} links make about {graph.links * 130 / 1e9:.0f} GB of {name}, more than most programs can"
            " read: use parquet or npz, or give --force"
        )
    return form.write(graph, path, progress)


# Objects of other libraries


def library(name: str, extra: str = "graphs") -> Any:
    """A library that need not be installed."""
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise BadParameter(f'{top} is not installed: pip install "cocite[{extra}]"') from error


def frame_of(columns: Mapping[str, Any], name: str) -> Any:
    """A table of columns, by pandas or by Polars."""
    if name == "pandas":
        return library("pandas", "frames").DataFrame(columns)
    if name == "polars":
        return library("polars", "polars").DataFrame(columns, strict=False)
    raise BadParameter(f"library is pandas or polars, not {name!r:.100}")


def to_frame(graph: Graph, pages: Iterable[int] | None = None, name: str = "pandas") -> Any:
    """The links as a table, or those out of some pages, a row a link, in page order.

    Columns are `source` and `target` (addresses), `block` (-1: unknown), `boilerplate`, `nofollow` and `weight`.
    """
    chosen = _few(graph, pages)
    parts = [graph.links_from(page) for page in chosen]
    targets = np.concatenate([links.targets for links in parts]) if parts else np.zeros(0, np.uint32)
    flags = np.concatenate([links.flags for links in parts]) if parts else np.zeros(0, np.uint8)
    known = {page: graph.address(page) for page in {*chosen, *targets.tolist()}}
    columns = {
        "source": [known[page] for page, links in zip(chosen, parts, strict=True) for _ in range(len(links.targets))],
        "target": [known[page] for page in targets.tolist()],
        "block": np.concatenate([links.blocks for links in parts]) if parts else np.zeros(0, np.int32),
        "boilerplate": (flags & BOILERPLATE) > 0,
        "nofollow": (flags & NOFOLLOW) > 0,
        "weight": np.concatenate([graph.weights_from(page) for page in chosen]) if parts else np.zeros(0, np.float32),
    }
    return frame_of(columns, name)


def _few(graph: Graph, pages: Iterable[int] | None) -> list[int]:
    """Some pages, or all of a store that is not too large for objects of Python."""
    if pages is not None:
        return sorted({int(page) for page in pages})
    if graph.links > MANY:
        raise BadParameter(
            f"{graph.links:,} links are too many for this: give the pages that you want, pages=[...],"
            " or use to_scipy() or cocite export"
        )
    return list(range(graph.pages))


def to_scipy(graph: Graph) -> Any:
    """The links as a `scipy.sparse.csr_array`: row = source, column = target, value = weight (1 without weights)."""
    sparse = library("scipy.sparse")
    targets = np.empty(graph.links, np.int32 if max(graph.pages, graph.links) < 2**31 else np.int64)
    values = np.empty(graph.links, np.float32 if len(graph.array("out.weight")) else np.int8)
    done = 0
    for part, own in export_text.rows(graph):
        targets[done : done + len(part)], values[done : done + len(part)] = part, own
        done += len(part)
    rows = np.append(0, np.cumsum(graph.out_degree, dtype=np.int64)).astype(targets.dtype)
    return sparse.csr_array((values, targets, rows), shape=(graph.pages, graph.pages))


def to_networkx(graph: Graph, pages: Iterable[int] | None = None) -> Any:
    """The links as a `networkx.DiGraph` of addresses, or those among some pages.

    Nodes have `page` (the number), `title` and `site`; links have `block` (-1: unknown), `boilerplate`, `nofollow`,
    `weight`.
    """
    nx = library("networkx")
    made = nx.DiGraph()
    chosen = _few(graph, pages)
    names = dict(zip(chosen, addresses(graph, 0, graph.pages), strict=True)) if pages is None else {}
    for page in chosen:
        names.setdefault(page, graph.address(page))
        made.add_node(names[page], page=page, title=graph.title(page), site=int(graph.units("site")[page]))
    for page in chosen:
        links, weights = graph.links_from(page), graph.weights_from(page).tolist()
        for target, block, flags, weight in zip(
            links.targets.tolist(), links.blocks.tolist(), links.flags.tolist(), weights, strict=True
        ):
            if target in names:
                marks = {"boilerplate": bool(flags & BOILERPLATE), "nofollow": bool(flags & NOFOLLOW)}
                made.add_edge(names[page], names[target], block=block, weight=weight, **marks)
    return made


def to_igraph(graph: Graph) -> Any:
    """The links as a directed `igraph.Graph`: vertex i is page i, with `name` (its address), `title` and `site`."""
    igraph = library("igraph")
    sources = np.repeat(np.arange(graph.pages, dtype=np.int64), graph.out_degree)
    targets = np.empty(graph.links, np.int64)
    blocks, flags, done = np.empty(graph.links, np.int32), np.empty(graph.links, np.uint8), 0
    for _, _, links in graph.iter_links():
        part = slice(done, done + len(links.targets))
        targets[part], blocks[part], flags[part] = links
        done += len(links.targets)
    made = igraph.Graph(n=graph.pages, edges=np.column_stack([sources, targets]), directed=True)
    made.vs["name"] = list(addresses(graph, 0, graph.pages))
    made.vs["title"] = [graph.title(page) for page in range(graph.pages)]
    made.vs["site"] = graph.units("site").tolist()
    made.es["block"] = blocks.tolist()
    made.es["boilerplate"] = ((flags & BOILERPLATE) > 0).tolist()
    made.es["nofollow"] = ((flags & NOFOLLOW) > 0).tolist()
    weights: NDArray[Any] = graph.array("out.weight")
    made.es["weight"] = weights.tolist() if len(weights) else [1.0] * graph.links
    return made
