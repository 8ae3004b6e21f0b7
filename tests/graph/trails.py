"""Trails that tests count into the clicks of a store."""

from __future__ import annotations

from collections.abc import Iterable

from cocite.graph.clicks import Kept, add_files
from cocite.graph.store import Graph
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport


def add_clicks(graph: Graph, trails: Iterable[Trail], report: ReadReport, anew: bool = False) -> Kept:
    """Count trails that come from no file."""
    return add_files(graph, [(b"", trails)], report, anew)
