"""How fast a BVGraph is read.

    python bench/bvgraph.py                          # cnr-2000, from ../shared/data/webgraph
    python bench/bvgraph.py path/to/some-graph       # any other

The rival is a reader in plain Python, the only other way to read these files in Python without a JVM and without the
`.ef` file that the Rust tools alone write. It reads a prefix of the graph; both are timed in the same run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cocite.sources.records import ReadReport  # noqa: E402
from cocite.sources.webgraphs.bvgraph import BVGraph, beside, read_properties  # noqa: E402
from cocite.sources.webgraphs.webgraph import read_webgraph_release  # noqa: E402
from tables import show  # noqa: E402
from tests.sources.bvgraph_reader import read_lists  # noqa: E402

CNR = ROOT.parent / "shared" / "data" / "webgraph" / "cnr-2000"
DEFAULT_CODES = {
    "OUTDEGREES": 2,
    "REFERENCES": 5,
    "BLOCK_COUNT": 2,
    "BLOCKS": 2,
    "INTERVALS": 2,
    "RESIDUALS": 6 + 32 * 3,
}


def in_order(graph: BVGraph) -> float:
    """Links per second, best of five."""
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        links = sum(len(successors) for _, _, successors in graph.batches())
        best = max(best, links / (time.perf_counter() - start))
    return best


def as_records(path: Path) -> float:
    """Links per second as record batches, with names; best of three."""
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        links = sum(len(batch.column("links").values) for batch in read_webgraph_release(path, ReadReport()))
        best = max(best, links / (time.perf_counter() - start))
    return best


def in_plain_python(graph: BVGraph, seconds: float) -> float | None:
    """Links per second of a reader in plain Python on the first nodes; None for a graph in other codes."""
    properties = read_properties(beside(graph.base, ".properties"))
    if any(properties.codes[part] != code for part, code in DEFAULT_CODES.items()):
        return None
    data = beside(graph.base, ".graph").read_bytes()
    links, start = 0, time.perf_counter()
    for successors in read_lists(data, graph.nodes, properties.window, properties.min_interval):
        links += len(successors)
        if time.perf_counter() - start > seconds:
            break
    return links / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="?", type=Path, default=CNR)
    options = parser.parse_args()
    graph = BVGraph(options.graph)
    next(graph.batches(1), None)  # compiles
    ours = in_order(graph)
    plain = in_plain_python(graph, 3.0)
    rows = [
        ["all lists in order, M links/s", f"{ours / 1e6:.1f}", f"{plain / 1e6:.3f}", f"{ours / plain:.0f}"]
        if plain
        else ["all lists in order, M links/s", f"{ours / 1e6:.1f}", "cannot read these codes", ""],
        ["the same as named records, M links/s", f"{as_records(options.graph) / 1e6:.1f}", "", ""],
    ]
    title = f"Reading {graph.base.name}: {graph.nodes:,} nodes, {graph.arcs:,} links"
    show(title, ["reading", "cocite", "plain Python", "times as fast"], rows)


if __name__ == "__main__":
    main()
