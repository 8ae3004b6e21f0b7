"""What `import cocite` offers: `cocite.build` and `cocite.open`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cocite.graph.build import BuildOptions, Built, Progress, no_progress
from cocite.graph.build import build as build_store
from cocite.graph.maintain import add as add_to_store
from cocite.sources.open_source import open_source
from cocite.sources.records import Report
from cocite.web import Web


def open(path: str | Path) -> Web:
    """A store, ready to be asked."""
    return Web(path)


def build(
    sources: Sequence[str | Path],
    path: str | Path,
    *,
    base: str | None = None,
    kind: str | None = None,
    strict: bool = False,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    adding: bool = False,
) -> Built:
    """Read sources (files, folders, addresses) into a new store, or with `adding` into the one that is there."""
    options = options or BuildOptions()
    report = Report(strict)
    opened = [open_source(str(source), report, base=base, kind=kind, text=options.text) for source in sources]
    return (add_to_store if adding else build_store)(opened, Path(path), report, options, progress)
