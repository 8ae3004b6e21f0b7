"""Bits per link on a BVGraph, both directions, against WebGraph, plain arrays and gzip.

python bench/sizes.py ../shared/data/webgraph/cnr-2000
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

import numpy as np

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.store import Graph
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tables import show


def main() -> None:
    """Print the table."""
    base = Path(sys.argv[1])
    graph_file = base.with_suffix(".graph")
    with tempfile.TemporaryDirectory() as folder:
        report = ReadReport()
        store = Path(folder) / "web.cocite"
        build([open_source(str(graph_file), report)], store, report, BuildOptions(anchors=False, text=False))
        graph = Graph(store)
        links = len(graph.links)
        flat = np.concatenate([part.targets for _, _, part in graph.iter_links()])

        def bits(*names: str) -> str:
            return f"{sum(graph.array(name).nbytes for name in names) * 8 / links:.2f}"

        rows = [
            [
                "cocite, links out",
                bits("out.words", "out.code"),
                bits("out.words", "out.code", "out.bounds", "out.far", "out.degree"),
            ],
            [
                "cocite, links in",
                bits("in.words", "in.code"),
                bits("in.words", "in.code", "in.bounds", "in.far", "in.degree"),
            ],
            ["WebGraph (BVGraph), links out", f"{graph_file.stat().st_size * 8 / links:.2f}", offsets(base, links)],
            ["plain CSR, 32 bits", "32.00", f"{32 + 64 * graph.pages / links:.2f}"],
            ["gzip -6 of plain CSR", f"{len(gzip.compress(flat.tobytes(), 6)) * 8 / links:.2f}", ""],
        ]
        show(
            f"{base.name}: {graph.pages:,} pages, {links:,} links, bits per link",
            ["graph", "lists", "with offsets and degrees"],
            rows,
        )


def offsets(base: Path, links: int) -> str:
    """WebGraph with its offsets, if they are there."""
    file = base.with_suffix(".offsets")
    return (
        f"{(base.with_suffix('.graph').stat().st_size + file.stat().st_size) * 8 / links:.2f}" if file.exists() else ""
    )


if __name__ == "__main__":
    main()
