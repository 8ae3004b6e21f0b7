"""A task's answers, from rows as Spark brings them together: the store's, however pages are cut into parts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cocite.graph.store import Graph
from cocite.kernels.related.pools import in_order_of_choice
from cocite.related.methods import method
from cocite.related.neighbourhood.view import GraphView, Switches
from cocite.spark.related import SPARE_RESULTS, answer_parts, is_enough
from cocite.spark.subweb import LIST_ROW, NEAR_ROW, POOL_ROW, QUERY_ROW
from cocite.web import Web

SCHEMA = pa.schema(
    [
        *((name, pa.int32()) for name in ("part", "what")),
        *((name, pa.int64()) for name in ("page", "fingerprint", "unit", "degree", "other")),
        *((name, pa.binary()) for name in ("x", "y", "z")),
    ]
)
K = 5


def rows_of(graph: Graph, part: int, low: int, high: int) -> Iterator[dict[str, Any]]:
    """The rows that Cocitation needs for the pages from low to high - 1."""

    def row(what: int, page: int, degree: int = 0, **more: Any) -> dict[str, Any]:
        empty = {"fingerprint": 0, "unit": 0, "other": 0, "x": None, "y": None, "z": None}
        return {**empty, "part": part, "what": what, "page": page, "degree": degree, **more}

    asked = [page for page in range(low, high) if graph.in_degree[page]]
    parents = {int(parent) for page in asked for parent in graph.links_to(page)}
    known = {*asked, *parents}
    for page in asked:
        yield row(QUERY_ROW, page, int(graph.in_degree[page]))
        yield row(POOL_ROW, page, x=graph.links_to(page).astype("<u4").tobytes())
    for parent in parents:
        targets = graph.links_from(parent).targets
        known |= set(targets.tolist())
        degrees = graph.in_degree[targets].astype("<u4").tobytes()
        yield row(LIST_ROW, parent, int(graph.in_degree[parent]), x=targets.astype("<u4").tobytes(), z=degrees)
    for page in known:
        if (other := graph.facts.representative(page)) != page:
            yield row(NEAR_ROW, page, int(graph.in_degree[other]), other=other)


@pytest.mark.parametrize("parts", [1, 7, 160])
def test_results_are_those_of_the_store(graph: Graph, parts: int) -> None:
    draw, rows = random.Random(parts), []
    cuts = [0, *sorted(draw.sample(range(1, graph.pages), min(parts, graph.pages) - 1)), graph.pages]
    for part, (low, high) in enumerate(pairwise(cuts)):
        own = list(rows_of(graph, part, low, high))
        draw.shuffle(own)
        rows += own
    batches = pa.Table.from_pylist(rows, schema=SCHEMA).to_batches(max_chunksize=37)
    found = [
        row for out in answer_parts(batches, "cocitation", K, "<u4", np.zeros(0, np.int64)) for row in out.to_pylist()
    ]
    assert [row["page"] for row in found] == np.flatnonzero(graph.in_degree).tolist()
    web, alone = Web(graph.path), method("cocitation(chop=none)")
    for row in found:
        scores = alone.relate(web, [row["page"]])
        expected = list(scores.ranked(graph.in_degree, K + SPARE_RESULTS))[: K + SPARE_RESULTS]
        answers, values = np.frombuffer(row["answers"], "<u4"), np.frombuffer(row["scores"])
        assert list(zip(answers.tolist(), values.tolist(), strict=True)) == expected
        assert row["enough"] == is_enough("cocitation", scores)
    assert len({row["enough"] for row in found}) == 2, "this web should have pages of both kinds"


def test_a_pool_is_in_the_order_of_a_store(graph: Graph) -> None:
    """Where some links don't count, parents are chosen again: the first of the pool, as a store would order them."""
    view, compared = GraphView(graph, [], Switches(rel="follow", seed=7)), 0
    for page in np.flatnonzero(graph.in_degree > 2).tolist():
        ordered = in_order_of_choice(graph.links_to(page), page, graph.fingerprints, 7)
        assert ordered.tolist() == view.candidate_parents(page, 2).tolist()
        compared += ordered.tolist() != sorted(ordered.tolist())
    assert compared, "this web should have pages whose parents are in another order"
