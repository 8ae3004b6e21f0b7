"""BVGraph, the compressed graph of WebGraph (Boldi and Vigna, 2004), read without a JVM.

Two files make a graph: `.graph`, a stream of bits with every node's successors, and `.properties`, which says how they
are coded. With a third, `.offsets`, any node can be found at once; without it one pass over the graph finds them all.
The format is described at kernels/bvgraph.py; graphs of the Java tools (also the `big` ones) and of the Rust tools, in
either bit order, are read alike.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadSource

MOST_NODES = 2**32 - 1
MOST_LINKS_OF_A_NODE = 1 << 27
"""More than any crawl has seen; a few damaged bits can claim far more, and memory for it must not be asked for."""
MOST_LINKS_HELD = 1 << 30
WIDEST_WINDOW = 1 << 16
LINKS_AT_ONCE = 1 << 20
DONE, NO_ROOM, BROKEN, MISPLACED = range(4)  # how a kernel ended, as in kernels/bvgraph.py

SUFFIXES = (".graph", ".properties", ".offsets")
_LONGEST_PROPERTIES = 1 << 20
_PARTS = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS", "OFFSETS")
_PARAMETERS = {"ZETA": range(1, 17), "GOLOMB": range(1, 8193), "PI": range(1, 6)}

Batch: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.uint32]]


@dataclass(frozen=True)
class Properties:
    """What a `.properties` file says: counts, and how each part of a list is coded (as in kernels/bit_codes.py)."""

    nodes: int
    arcs: int
    window: int
    shortest_interval: int
    codes: dict[str, int]


def basename(path: str | Path) -> Path:
    """The path of a graph without the suffix of one of its files."""
    path = Path(path)
    return path.with_suffix("") if path.suffix in SUFFIXES else path


def beside(base: Path, suffix: str) -> Path:
    """A graph's file; the name of a graph may itself hold dots."""
    return base.parent / (base.name + suffix)


def read_properties(path: Path) -> Properties:
    """Read and check a `.properties` file."""
    values = _java_properties(path)
    kind = values.get("graphclass", "BVGraph").rsplit(".", 1)[-1].strip()
    if kind != "BVGraph":
        raise BadSource(f"{path} describes a graph of class {kind}: store it as a BVGraph with WebGraph's tools first")
    if _number(values, "version", 0, path) > 1:
        raise BadSource(
            f"{path} has format version {values['version']}, and only 0 and 1 are known: store it anew as one"
        )
    order = values.get("endianness", "big").lower()
    if order not in ("big", "little"):
        raise BadSource(f"{path} says endianness={order}: only big and little are known")
    found = Properties(
        nodes=_number(values, "nodes", None, path),
        arcs=_number(values, "arcs", None, path),
        window=_number(values, "windowsize", 7, path),
        shortest_interval=_number(values, "minintervallength", 4, path),
        codes=_codes(values, order == "little", path),
    )
    if found.nodes > MOST_NODES:
        raise BadSource(
            f"{path}: {found.nodes:,} nodes, and a store holds {MOST_NODES:,} at most: split the graph first"
        )
    if found.window > WIDEST_WINDOW or found.arcs > found.nodes**2:
        raise BadSource(f"{path} is damaged: windowsize={found.window}, arcs={found.arcs}; fetch it again")
    return found


def _java_properties(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_PROPERTIES + 1)
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}; a BVGraph needs its .graph and .properties files side by side"
        raise BadSource(message) from error
    if len(text) > _LONGEST_PROPERTIES:
        raise BadSource(f"{path} is too long for the properties of a graph: check that it is one")
    values = {}
    for line in text.decode("latin-1").splitlines():
        line = line.strip()
        if line and line[0] not in "#!":
            separator = min((line.find(c) for c in "=:" if c in line), default=len(line))
            values[line[:separator].strip()] = line[separator + 1 :].strip().replace("\\", "")
    return values


def _number(values: dict[str, str], name: str, default: int | None, path: Path) -> int:
    text = values.get(name, "" if default is None else str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadSource(f"{path}: {name}={text[:40]!r} is no count; is this the .properties file of a BVGraph?")
    return int(text)


def _codes(values: dict[str, str], little: bool, path: Path) -> dict[str, int]:
    """The code of every part; a part that no flag names has WebGraph's default."""
    from cocite.kernels.codec import bit_codes

    named = dict.fromkeys(_PARTS, "GAMMA") | {"REFERENCES": "UNARY", "RESIDUALS": "ZETA"}
    flags = [flag.strip().upper() for flag in values.get("compressionflags", "").split("|") if flag.strip()]
    for flag in flags:
        part, _, code = flag.rpartition("_")
        if part not in _PARTS:
            raise BadSource(
                f"{path}: the compression flag {flag[:60]!r} is not known: store the graph with other flags"
            )
        named[part] = code
        if part == "BLOCKS" and "endianness" in values:
            named["BLOCK_COUNT"] = code  # the Rust tools, which alone write `endianness`, use one code for both
    codes = {}
    for part, name in named.items():
        kind = name.rstrip("0123456789")
        digits = name[len(kind) :] or values.get("zetak", "3")
        value = getattr(bit_codes, kind, None) if kind in (*_PARAMETERS, "UNARY", "GAMMA", "DELTA", "NIBBLE") else None
        fits = kind not in _PARAMETERS or (len(digits) < 6 and digits.isdigit() and int(digits) in _PARAMETERS[kind])
        if value is None or not fits or (little and kind in ("NIBBLE", "GOLOMB")):
            raise BadSource(f"{path}: {part.lower()} in code {name[:40]} cannot be read: store the graph with others")
        code = value + (bit_codes.PARAMETER * int(digits) if kind in _PARAMETERS else 0)
        # Offsets are big-endian in every release of the tools, whatever the graph is.
        codes[part] = code + (bit_codes.LITTLE if little and part != "OFFSETS" else 0)
    return codes


def _mapped(path: Path) -> NDArray[np.uint8]:
    """A file's bytes, mapped: they are read from disk as they are used."""
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                return np.frombuffer(b"", np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}; a BVGraph needs its .graph and .properties files side by side"
        raise BadSource(message) from error


class BVGraph:
    """A graph on disk: `successors(node)` of any node, or all lists in order by `batches`."""

    def __init__(self, path: str | Path) -> None:
        self.base = basename(path)
        self._properties = read_properties(beside(self.base, ".properties"))
        self._data = _mapped(beside(self.base, ".graph"))
        self.nodes = self._properties.nodes
        self.arcs = self._properties.arcs
        if self.nodes > 8 * len(self._data):
            raise BadSource(f"{self.base}.graph is too short for {self.nodes:,} nodes: fetch it again")
        codes = self._properties.codes
        parts = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS")
        head = [self.nodes, self._properties.window, self._properties.shortest_interval, MOST_LINKS_OF_A_NODE]
        self._shape = np.array(head + [codes[part] for part in parts], np.int64)

    def successors(self, node: int) -> NDArray[np.uint32]:
        """The nodes that `node` links to, ascending."""
        if not 0 <= node < self.nodes:
            raise BadParameter(f"node {node} is not in {self.base.name}: nodes are numbered 0 to {self.nodes - 1:,}")
        read_list, offsets = self._random_access
        found: NDArray[np.uint32]
        found, state = read_list(self._data, offsets, self._shape, int(node))
        if state == DONE:
            return found
        if state == MISPLACED and beside(self.base, ".offsets").exists():
            raise BadSource(f"{self.base}.offsets does not belong to the graph: delete it, and a scan takes its place")
        raise self._damage(node, int(offsets[node]))

    def batches(self, nodes_per_batch: int = 1 << 16) -> Iterator[Batch]:
        """All lists in order: (first node, its and the following nodes' outdegrees, their successors end to end).

        A batch holds fewer nodes where their lists are long: memory is bounded by `LINKS_AT_ONCE` links or, if longer,
        by the lists of one window of nodes.
        """
        for first, starts, out, _ in self._lists(nodes_per_batch):
            yield first, np.diff(starts), out[starts[0] : starts[-1]].copy()

    @cached_property
    def _random_access(self) -> tuple[Callable[..., Any], NDArray[np.int64]]:
        """The kernel for one list, looked up once (an import per call costs more than a list), and the offsets."""
        from cocite.kernels.codec import bvgraph

        return bvgraph.read_list, self._offsets()

    def _offsets(self) -> NDArray[np.int64]:
        """The bit at which each list begins, and the end of the last: eight bytes a node."""
        from cocite.kernels.codec import bvgraph

        offsets = np.empty(self.nodes + 1, np.int64)
        file = beside(self.base, ".offsets")
        if file.exists():
            complete = bvgraph.read_offsets(_mapped(file), self._properties.codes["OFFSETS"], offsets)
            if not complete or offsets[0] != 0 or offsets[-1] > 8 * len(self._data):
                raise BadSource(f"{file} is damaged or of another graph: delete it, and a scan takes its place")
            return offsets
        offsets[0] = 0
        for first, starts, _, positions in self._lists(1 << 16):
            offsets[first : first + len(starts)] = positions
        return offsets

    def _lists(
        self, nodes_per_batch: int
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]]:
        """(first node, where in `out` lists start and the last ends, out, the same in the file): views, soon reused."""
        from cocite.kernels.codec import bvgraph

        if nodes_per_batch < 1:
            raise BadParameter(f"nodes_per_batch is {nodes_per_batch}: give at least 1")
        window, shortest = self._properties.window, max(self._properties.shortest_interval, 1)
        most = min(nodes_per_batch, self.nodes)
        # The lists of the window before a batch stand in front of its own, where references reach them.
        starts = np.zeros(window + most + 1, np.int64)
        positions = np.empty(most + 1, np.int64)
        out = np.empty(LINKS_AT_ONCE, np.uint32)
        extras, spans = np.empty(0, np.uint32), np.empty(0, np.int64)
        node, position, arcs = 0, 0, 0
        while node < self.nodes:
            count = min(most, self.nodes - node)
            done, position, state, degree = bvgraph.read_lists(
                self._data, position, self._shape, node, count, starts, positions, out, extras, spans
            )
            arcs += int(starts[window + done] - starts[window])
            if state == BROKEN or arcs > self.arcs:
                raise self._damage(node + done, position)
            if done:
                yield node, starts[window : window + done + 1], out, positions[: done + 1]
                node += done
                kept = starts[done : done + window + 1].copy()
                out[: kept[-1] - kept[0]] = out[kept[0] : kept[-1]]
                starts[: window + 1] = kept - kept[0]
            if state == NO_ROOM:
                out = self._roomier(out, int(starts[window]) + degree, node)
                if degree > len(extras):
                    extras = np.empty(2 * degree, np.uint32)
                    spans = np.empty(2 * (len(extras) // shortest), np.int64)
        if arcs != self.arcs:
            raise BadSource(f"{self.base}.graph has {arcs:,} links, its properties say {self.arcs:,}: fetch both again")
        # Tools pad the last word with zeros, which begin no list; anything else belongs to nodes that are not counted.
        rest = self._data[-(-position // 8) :]
        if any(rest[i : i + (1 << 20)].any() for i in range(0, len(rest), 1 << 20)):
            raise BadSource(
                f"{self.base}.graph goes on after its {self.nodes:,} nodes: fetch it and its properties again"
            )

    def _roomier(self, out: NDArray[np.uint32], needed: int, node: int) -> NDArray[np.uint32]:
        if needed <= len(out):
            return out
        if needed > MOST_LINKS_HELD:
            raise BadSource(f"{self.base}.graph: the lists around node {node} are too long to hold; is it damaged?")
        larger = np.empty(max(needed, 2 * len(out)), np.uint32)
        larger[: len(out)] = out
        return larger

    def _damage(self, node: int, position: int) -> BadSource:
        return BadSource(
            f"{self.base}.graph is damaged or cut short at node {node:,} (bit {position:,}): fetch it again"
        )
