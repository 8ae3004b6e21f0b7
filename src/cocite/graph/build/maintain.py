"""Changing a store: `add` and `remove` make a new generation from the old one, without its sources."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from cocite.errors import BadAddress, BadStore, UnknownPage
from cocite.graph.build.passes import BuildOptions, Built, Source, build
from cocite.graph.clicks import renew_clicks
from cocite.graph.generation import Progress, drop_left_over, no_progress
from cocite.graph.store import Graph
from cocite.kernels.addresses.canonical import fingerprint_of
from cocite.pages.address import parse_query
from cocite.pages.key import key
from cocite.sources.records import ReadReport


def add(
    sources: Iterable[Source],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
) -> Built:
    """More pages into a store. A page that it has already gets the links of its newest capture."""
    built = build(sources, path, report, options, progress, old=Graph(path))
    renew_clicks(path)
    return built


def remove(
    addresses: Iterable[str], path: Path, options: BuildOptions | None = None, progress: Progress = no_progress
) -> Built:
    """Take pages out, with all links from and to them, for good: later adds leave them out too.

    Building the store again from its sources brings them back.
    """
    graph = Graph(path)
    fingerprints = []
    for address in addresses:
        with suppress(BadAddress):  # the address may be an alias, which goes too
            fingerprints.append(fingerprint_of(key(parse_query(address).canonical).encode()))
            if graph.get(address) is None and fingerprints[-1] in graph.removed:
                with suppress(BadStore):  # another command is writing, and sees to it
                    drop_left_over(path)  # a remove may have died before it came to it, or to the clicks
                renew_clicks(path)
                raise UnknownPage(f"{address[:200]!r} was removed already: leave it out; nothing was changed")
        fingerprints.append(int(graph.fingerprints[graph.find(address)]))
    built = build([], path, ReadReport(), options, progress, old=graph, remove=np.array(fingerprints, np.uint64))
    renew_clicks(path)
    return built
