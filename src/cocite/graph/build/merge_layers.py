"""Several layers → one: the newest state of every page that any of them touched. The base is not read."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import distinct, find_in
from cocite.graph.build.commit import Columns, columns_with_texts, encoded_names, out_arrays
from cocite.graph.build.commit_derived import entry_points
from cocite.graph.build.in_lists import in_lists
from cocite.graph.build.spill import RECORD_TEXTS
from cocite.graph.changes.layers import NONE, PAGE_FACTS, PAGE_TABLES, Layer, LayeredArrays, pages_in
from cocite.graph.generation import MemoryWriter, merged_sources
from cocite.graph.store import Graph
from cocite.graph.texts import LayeredColumn, TextWriter, text_column

MAX_LAYERS = 8
"""More layers are merged: each has the whole list of every popular page, so eight together take half of the room."""


def layers_to_merge(sizes: list[int], maximum: int | None = None) -> int:
    """How many of the newest layers to merge, oldest first in `sizes`; 0 for none, or if there are few.

    As many as are not much larger than those after them: a link is then written again a few times in all, however many
    commits there are.
    """
    if len(sizes) <= (MAX_LAYERS if maximum is None else maximum):
        return 0
    count, total = 1, sizes[-1]
    while count < len(sizes) and (count < 2 or sizes[-1 - count] <= 2 * total):
        total += sizes[-1 - count]
        count += 1
    return count


def merge(arrays: LayeredArrays, count: int) -> tuple[dict[str, Any], Columns]:
    """The manifest and arrays of one layer in the place of the newest `count` ones."""
    graph, layers = Graph(arrays), arrays.layers[-count:]
    columns = _facts(graph, layers) | _lists(graph, layers) | _tables(graph, layers) | _texts(graph, layers)
    newest = layers[-1].manifest
    if any("removed" in layer.arrays for layer in layers):
        columns |= {name: graph.array(name) for name in ("removed", "removed.digest")}
    states = [state for layer in layers for state in (*layer.manifest.get("states", ()), layer.manifest["id"])]
    manifest = newest | {
        "first": layers[0].first,
        "new": sum(layer.new for layer in layers),
        "states": states[:-1],
        "sources": merged_sources(source for layer in layers for source in layer.manifest["sources"]),
        "arrays": {},
    }
    return manifest, {name: values for name, values in columns.items() if len(values)}


def _union(layers: Iterable[Layer], name: str) -> NDArray[np.int64]:
    return pages_in(layers, name).astype(np.int64)


def _facts(graph: Graph, layers: list[Layer]) -> Columns:
    pages = _union(layers, "fact.page")
    columns: Columns = {"fact.page": pages.astype(np.uint32)}
    for name in PAGE_FACTS:
        values = graph.array(name)
        columns[name] = values[pages] if len(values) else np.zeros(len(pages), values.dtype)
    for name in ("host.page", "host.domain", "site.page", "name.before"):
        columns[name] = np.concatenate([layer[name] for layer in layers])
    first, new = layers[0].first, sum(layer.new for layer in layers)
    if new:
        columns |= encoded_names(graph.arrays.base, graph.names.keys(first, new))
    return columns


def _lists(graph: Graph, layers: list[Layer]) -> Columns:
    base, out, into = graph.arrays.base, _union(layers, "out.page"), _union(layers, "in.page")
    columns = out_arrays(base, out, graph.links.read_pages(out))
    nothing_more = np.zeros(len(into) + 1, np.int64)
    columns |= in_lists(graph, into, np.ones(len(into), np.bool_), nothing_more, np.zeros(0, np.uint32))
    columns |= entry_points(graph, out.astype(np.uint32))
    for kind in ("best", "sample"):
        columns |= _chosen_parents(graph, layers, kind)
    return columns


def _chosen_parents(graph: Graph, layers: list[Layer], kind: str) -> Columns:
    """The rows of `best` or `sample` parents that the layers decide; pages that lost one have a row that says so."""
    arrays, name = graph.arrays, f"{kind}.page"
    pages = distinct(np.concatenate([layer[f"{kind}.page"] for layer in layers]))
    older = [arrays.base[name], *(layer[name] for layer in arrays.layers[: -len(layers)])]
    pages, rows = chosen_parents(graph, kind, pages, np.isin(pages, distinct(np.concatenate(older))))
    return {name: pages, f"{kind}.parent": rows.ravel()}


def chosen_parents(
    graph: Graph, kind: str, pages: NDArray[Any], had: NDArray[np.bool_], size: int = 0
) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """Those of some pages that have a row of `best` or `sample` parents, or had one, and these rows; NONE for none.

    A row has `size` pages where the store has no rows.
    """
    stored = graph.links.stored_parents(kind)
    at = find_in(stored.page, pages)
    kept = (at >= 0) | had
    rows = np.full((int(kept.sum()), stored.size or size), NONE, np.uint32)
    there = at[kept] >= 0
    if there.any():
        rows[there] = graph.links.stored_rows(kind, at[at >= 0])
    return pages[kept], rows


def _tables(graph: Graph, layers: list[Layer]) -> Columns:
    columns: Columns = {}
    for kind in ("alias", "near"):
        pages, name = _union(layers, f"{kind}.page"), PAGE_TABLES[kind]
        keys, values = graph.array(f"{kind}.page"), graph.array(f"{kind}.{name}")
        columns[f"{kind}.page"] = pages.astype(np.uint32)
        columns[f"{kind}.{name}"] = np.append(values, np.uint32(NONE))[find_in(keys, pages)]
    return columns


def _texts(graph: Graph, layers: list[Layer]) -> Columns:
    writer, columns = MemoryWriter(), {"record.page": _union(layers, "record.page").astype(np.uint32)}
    for name in (*RECORD_TEXTS, "shown"):
        column = text_column(graph.arrays, name)
        assert isinstance(column, LayeredColumn)
        TextWriter.write(writer, name, column.newest(len(layers)))
    return columns | columns_with_texts(writer, (*RECORD_TEXTS, "shown"))
