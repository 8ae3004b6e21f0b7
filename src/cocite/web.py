"""Web: everything that one store knows, opened together. No algorithms: this is what every method is given."""

from __future__ import annotations

from pathlib import Path

from cocite.graph.store import Graph


class Web:
    """A store opened for asking."""

    def __init__(self, path: str | Path) -> None:
        self.graph = Graph(path)

    def __repr__(self) -> str:
        return f"<Web {self.graph.path} {self.graph.pages:,} pages, {self.graph.links:,} links>"
