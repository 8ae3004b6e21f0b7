"""A store as objects of other libraries: tables of pandas and Polars, graphs of NetworkX and igraph, SciPy matrices."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.export.links import LINK_COLUMNS, LinkRows, csr_chunks, csr_layout, link_chunks
from cocite.graph.names import addresses
from cocite.graph.store import Graph

MAX_LINKS = 5_000_000  # links of a store that become Python objects without a choice of pages
LINK_FACTS = tuple(LINK_COLUMNS)[2:]  # what is stored about a link, apart from its ends


def library(name: str, extra: str = "graphs") -> Any:
    """Import a library that is an optional dependency."""
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise BadParameter(f'{top} is not installed: pip install "cocite[{extra}]"') from error


def frame_of(columns: Mapping[str, Any], name: str) -> Any:
    """A table of pandas or of Polars."""
    if name == "pandas":
        return library("pandas", "frames").DataFrame(columns)
    if name == "polars":
        return library("polars", "polars").DataFrame(columns, strict=False)
    raise BadParameter(f"library is pandas or polars, not {name!r:.100}")


def _named_links(graph: Graph, pages: Iterable[int] | None) -> tuple[dict[int, str], LinkRows]:
    """The addresses of some pages, or of all in a store of at most MAX_LINKS links; and the links out of them."""
    if pages is not None:
        names = {page: graph.address(page) for page in sorted({int(page) for page in pages})}
        return names, _join(link_chunks(graph, pages=names))
    if len(graph.links) > MAX_LINKS:
        raise BadParameter(
            f"{len(graph.links):,} links are too many for this: give the pages that you want, pages=[...],"
            " or use to_scipy() or cocite export"
        )
    return dict(enumerate(addresses(graph.names, 0, graph.pages))), _join(link_chunks(graph))


def _join(chunks: Iterable[LinkRows]) -> LinkRows:
    """All chunks as one."""
    every = list(chunks)
    return {
        name: np.concatenate([np.zeros(0, dtype), *(e[name] for e in every)]) for name, dtype in LINK_COLUMNS.items()
    }


def to_frame(graph: Graph, pages: Iterable[int] | None = None, name: str = "pandas") -> Any:
    """The links, or those out of some pages, as a table with a row per link, in page order.

    Columns are `source` and `target` (addresses), `block` (-1: unknown), `boilerplate`, `nofollow` and `weight`.
    """
    names, links = _named_links(graph, pages)
    names |= {page: graph.address(page) for page in {*links["target"].tolist()} - names.keys()}
    return frame_of(links | {end: [names[p] for p in links[end].tolist()] for end in ("source", "target")}, name)


def to_scipy(graph: Graph) -> Any:
    """The links as a `scipy.sparse.csr_array`: row = source, column = target, value = weight (1 without weights)."""
    sparse = library("scipy.sparse")
    starts, value = csr_layout(graph)
    columns, values, done = np.empty(len(graph.links), starts.dtype), np.empty(len(graph.links), value), 0
    for some, own in csr_chunks(graph):
        columns[done : done + len(some)], values[done : done + len(some)] = some, own
        done += len(some)
    return sparse.csr_array((values, columns, starts), shape=(graph.pages, graph.pages))


def to_networkx(graph: Graph, pages: Iterable[int] | None = None) -> Any:
    """The links, or those among some pages, as a `networkx.DiGraph` of addresses.

    Nodes have `page` (the number), `title` and `site`; links have `block` (-1: unknown), `boilerplate`, `nofollow` and
    `weight`.
    """
    made, (names, links), sites = library("networkx").DiGraph(), _named_links(graph, pages), graph.units("site")
    for page, url in names.items():
        made.add_node(url, page=page, title=graph.title(page), site=int(sites[page]))
    for source, target, *facts in zip(*(column.tolist() for column in links.values()), strict=True):
        if target in names:
            made.add_edge(names[source], names[target], **dict(zip(LINK_FACTS, facts, strict=True)))
    return made


def to_igraph(graph: Graph) -> Any:
    """The links as a directed `igraph.Graph`: vertex i is page i, with `name` (its address), `title` and `site`."""
    igraph, links = library("igraph"), _join(link_chunks(graph))
    made = igraph.Graph(n=graph.pages, edges=np.column_stack([links["source"], links["target"]]), directed=True)
    made.vs["name"] = list(addresses(graph.names, 0, graph.pages))
    made.vs["title"] = [graph.title(page) for page in range(graph.pages)]
    made.vs["site"] = graph.units("site").tolist()
    for fact in LINK_FACTS:
        made.es[fact] = links[fact].tolist()
    return made
