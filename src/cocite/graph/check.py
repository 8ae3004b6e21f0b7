"""Is a store whole? Every checksum, then everything that holds between arrays.

Checksums find any changed byte. The rest finds what checksums cannot: a store that was written wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.generation import map_array, read_current
from cocite.graph.store import Graph
from cocite.kernels import name_codec
from cocite.kernels.checking import check_direction, check_names, count_targets

STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a store: where, and what."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def check(path: Path, progress: Callable[[str, int, int | None], None] = lambda *_: None) -> list[Fault]:
    """All faults of a store, none if it is whole. A store that cannot be opened at all raises BadStore."""
    folder, manifest = read_current(path)
    faults = list(check_files(folder, manifest, progress))
    if faults:
        return faults
    graph = Graph(path)
    return list(check_contents(graph, progress))


def check_files(
    folder: Path, manifest: dict[str, object], progress: Callable[[str, int, int | None], None]
) -> Iterator[Fault]:
    """Sizes and checksums of all arrays, and files that do not belong."""
    arrays: dict[str, dict[str, str | int]] = manifest["arrays"]  # type: ignore[assignment]
    for name, entry in arrays.items():
        try:
            values = map_array(folder / f"{name}.bin", entry)
        except BadStore as error:
            yield Fault(name, str(error))
            continue
        checksum = hashlib.blake2b(digest_size=16)
        raw = values.view(np.uint8)
        for start in range(0, len(raw), 1 << 24):
            checksum.update(raw[start : start + (1 << 24)].data)
            progress("verifying checksums", len(raw[start : start + (1 << 24)]), None)
        if checksum.hexdigest() != entry["digest"]:
            yield Fault(name, "its bytes do not match their checksum")
    known = {f"{name}.bin" for name in arrays} | {"manifest.json"}
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name not in known:
            yield Fault(file.name, "is not listed in the manifest")


def check_contents(graph: Graph, progress: Callable[[str, int, int | None], None]) -> Iterator[Fault]:
    """What must hold within and between arrays."""
    n = graph.pages
    for name, lists in (("out", graph.out), ("in", graph.into)):
        total = int(lists.degree.sum(dtype=np.int64))
        if total != graph.links:
            yield Fault(f"{name}.degree", f"adds up to {total:,} links, the manifest says {graph.links:,}")
        counts, degrees, mixed = np.zeros(n, np.int64), 0, np.zeros(1, np.uint64)
        for first in range(0, n, STEP):
            count = min(STEP, n - first)
            bad = check_direction(lists, first, count, name == "in", mixed)
            if bad >= 0:
                yield Fault(f"{name}.words", f"the list of page {bad} cannot be read, or repeats itself")
                break
            if count_targets(lists, first, count, counts) < 0:
                break
            degrees += count
            progress("reading links", count, 2 * n)
        other = graph.in_degree if name == "out" else graph.out_degree
        if degrees == n and (counts != other).any():
            page = int(np.flatnonzero(counts != other)[0])
            yield Fault(
                f"{name}.words",
                f"page {page} has {counts[page]:,} links in this direction, its degree is {other[page]:,}",
            )
        if name == "out":
            links_hash = mixed
        elif links_hash[0] != mixed[0]:
            yield Fault("in.words", "holds other links than out.words")
    buffer = np.empty(name_codec.LONGEST_KEY, np.uint8)
    before = np.empty(name_codec.LONGEST_KEY, np.uint8)
    for first in range(0, n, STEP):
        bad = check_names(graph.names, first, min(STEP, n - first), buffer, before)
        if bad >= 0:
            yield Fault("name.words", f"the name of page {bad} is damaged, out of order, or has another fingerprint")
            break
        progress("reading names", min(STEP, n - first), n)
    yield from check_references(graph)
    for name in ("shown", "title", "headings", "text", "anchors", "contexts"):
        try:
            pages = [page for page, _ in graph._texts(name).items()]
        except BadStore as error:
            yield Fault(name, str(error))
            continue
        if pages and (pages[-1] >= n or any(a >= b for a, b in pairwise(pages))):
            yield Fault(f"{name}.pages", "is out of order or names pages that do not exist")


def check_references(graph: Graph) -> Iterator[Fault]:
    """Numbers that point into other arrays, and lists of pages that must ascend."""
    n = graph.pages
    hosts, sites = len(graph.array("host.page")), len(graph.array("site.page"))
    below = {
        "page.host": hosts,
        "page.site": sites,
        "host.page": n,
        "site.page": n,
        "alias.page": n,
        "alias.target": n,
        "best.parent": n,
        "sample.parent": n,
        "near.representative": n,
        "look_up.page": n,
        "out.long.target": n,
    }
    for name, limit in below.items():
        if len(graph.array(name)) and int(graph.array(name).max()) >= limit:
            yield Fault(name, f"points beyond {limit:,}")
    for name in (
        "alias.page",
        "best.page",
        "sample.page",
        "near.page",
        "out.long.page",
        "in.long.page",
        "host.page",
        "removed",
    ):
        values: NDArray[np.uint64] = graph.array(name).astype(np.uint64)
        if (values[1:] <= values[:-1]).any():
            yield Fault(name, "is not in order")
