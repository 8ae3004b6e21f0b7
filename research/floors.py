"""The lowest quality that each method may have on the judged collections: floors.toml, read and measured.

python -m research.floors [COLLECTION]... > /tmp/floors.toml      # new floors, 3 % below the current measures
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import datasets

FILE = Path(__file__).with_name("floors.toml")
DATA = Path(__file__).parents[2] / "shared" / "data"
MARGIN = 0.97


class Floor(NamedTuple):
    """The lowest precision and mean average precision of a method's first ten results."""

    method: str
    p: float
    map: float


class Gate(NamedTuple):
    """The floors of one collection, for a number of its queries chosen by hash."""

    collection: str
    queries: int
    search: bool  # some method needs the search index
    floors: Sequence[Floor]


def gates() -> list[Gate]:
    """Read floors.toml."""
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
    """Measure the methods of a gate."""
    collection = datasets.read(gate.collection, data)
    graph = datasets.make(collection, store, search=gate.search)
    judged, numbers = in_store(graph, datasets.some_queries(collection.judgements, gate.queries), ReadReport())
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


def main() -> None:
    """Print floors.toml with new floors."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        print(line)
    for gate in gates():
        if sys.argv[1:] and gate.collection not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = measure(gate, DATA, Path(folder) / "web.cocite")
        print(f"\n[{gate.collection}]\nqueries = {gate.queries}" + ("\nsearch = true" if gate.search else ""))
        for now in found:
            print(f'"{now.method}" = [{now.p * MARGIN:.4f}, {now.map * MARGIN:.4f}]', flush=True)


if __name__ == "__main__":
    main()
