"""Other programs that count common parents, with a store's links loaded into them: what bench/related.py runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.export.libraries import to_scipy
from cocite.graph.store import Graph
from cocite.kernels.related.hubs_authorities import Edges
from cocite.related.methods import method
from cocite.web import Web

PLAIN = "cocitation(parents=4294967295, window=0, merge=false, chop=none)"
"""What every rival counts: all parents, whole pages."""

Counts = tuple[NDArray[Any], NDArray[Any]]
"""Pages, and how many parents each shares with the query page."""


class Rival(NamedTuple):
    """A program with the links loaded, and the maximum number of queries of each kind."""

    name: str
    counts: Callable[[int], Counts]
    most: int


def cocite_itself(web: Web) -> Rival:
    """cocite, doing what the rivals do."""
    how = method(PLAIN)

    def counts(page: int) -> Counts:
        scores = how.relate(web, [page])
        return scores.pages, scores.values

    return Rival("cocite", counts, 50)


def matrices(graph: Graph) -> tuple[Any, Any]:
    """The links as a matrix of ones by source, and by target; 8 bytes a link each."""
    links = to_scipy(graph)
    links.data = np.ones(len(graph.links), np.int32)
    return links, links.T.tocsr()


def scipy_product(links: Any, into: Any) -> Rival:
    """A row of AᵀA, as anyone would write it. SciPy clears two arrays of all pages for it."""

    def counts(page: int) -> Counts:
        found = into[[page]] @ links
        return found.indices, found.data

    return Rival("SciPy, row of AᵀA", counts, 20)


def scipy_rows(links: Any, into: Any) -> Rival:
    """The same by hand: the rows of the parents, sorted and counted, which costs what the rows cost."""

    def counts(page: int) -> Counts:
        parents = into.indices[into.indptr[page] : into.indptr[page + 1]]
        return np.unique(links[parents].indices, return_counts=True)

    return Rival("SciPy, rows of parents, np.unique", counts, 50)


@contextmanager
def duckdb_join(links: Any, into: Any) -> Iterator[Rival]:
    """A self-join over the links, in two tables that are sorted for their side."""
    import duckdb
    import pyarrow as pa

    query = (
        "SELECT l.target AS page, count(*) AS common FROM parents p JOIN links l USING (source) "
        "WHERE p.target = ? GROUP BY l.target"
    )
    with duckdb.connect() as db:
        for name, matrix, by, other in (("links", links, "source", "target"), ("parents", into, "target", "source")):
            given = pa.table({by: owners(matrix, np.int32), other: matrix.indices})
            db.register("given", given)
            db.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            db.unregister("given")
        db.execute("SET threads = 1")

        def counts(page: int) -> Counts:
            found = db.execute(query, [page]).fetchnumpy()
            return found["page"], found["common"]

        yield Rival("DuckDB, self-join", counts, 10)


def igraph_cocitation(graph: Graph) -> Rival:
    """igraph, which visits all pages to count for one."""
    import igraph

    links = to_scipy(graph)
    edges = np.column_stack([owners(links, np.int64), links.indices])
    made = igraph.Graph(n=links.shape[0], edges=edges, directed=True)

    def counts(page: int) -> Counts:
        row = np.array(made.cocitation([page])[0])
        pages = np.flatnonzero(row)
        return pages, row[pages].astype(np.int64)

    return Rival("igraph, cocitation", counts, 1)


def owners(matrix: Any, kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """The row of every entry of a matrix."""
    return np.repeat(np.arange(matrix.shape[0], dtype=kind), np.diff(matrix.indptr))


def digraph(edges: Edges) -> Any:
    """A vicinity graph for networkx."""
    import networkx as nx

    sources = np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts)).tolist()
    made = nx.DiGraph()
    made.add_edges_from(zip(sources, edges.ends.tolist(), strict=True))
    return made
