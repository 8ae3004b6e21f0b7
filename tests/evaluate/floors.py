"""Floors of quality: what floors.toml asks of methods on the judged collections, and what they have now."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cocite.evaluate import datasets, measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.related.methods import method
from cocite.sources.records import Report
from cocite.web import Web

FILE = Path(__file__).with_name("floors.toml")


class Floor(NamedTuple):
    """What a method must have: precision and mean average precision of the first ten answers."""

    method: str
    p: float
    map: float


class Gate(NamedTuple):
    """What is asked on one collection, on so many of its queries, chosen by hash."""

    collection: str
    queries: int
    search: bool  # some method needs the search index
    floors: Sequence[Floor]


def gates() -> list[Gate]:
    """All of floors.toml."""
    known: Mapping[str, dict[str, object]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    found = []
    for name, rows in known.items():
        queries, search = rows.pop("queries"), rows.pop("search", False)
        assert isinstance(queries, int)
        floors = [Floor(call, *map(float, pair)) for call, pair in rows.items() if isinstance(pair, list)]
        assert len(floors) == len(rows), f"{name}: a floor is [P@10, MAP@10]"
        found.append(Gate(name, queries, bool(search), floors))
    return found


def measure(gate: Gate, data: Path, store: Path) -> list[Floor]:
    """What the methods of a gate have now."""
    collection = datasets.read(gate.collection, data)
    graph = datasets.make(collection, store, search=gate.search)
    judged, numbers = in_store(graph, datasets.some_queries(collection.judgements, gate.queries), Report())
    runs = ask_methods(Web(store), [method(floor.method) for floor in gate.floors], numbers)
    found = Evaluation(judged, runs)
    assert len(found.queries) == gate.queries
    return [
        Floor(
            floor.method,
            found.mean(run, measures.precision, found.queries),
            found.mean(run, measures.average_precision, found.queries),
        )
        for floor, run in zip(gate.floors, runs, strict=True)
    ]
