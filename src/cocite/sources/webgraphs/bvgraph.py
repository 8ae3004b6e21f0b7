"""Read BVGraph, the compressed graph format of WebGraph (Boldi & Vigna 2004), without a JVM.

A graph has two files: `.graph`, a stream of bits with the successors of every node, and `.properties`, which says how
they are coded. A third, `.offsets`, gives the position of each node, and isn't needed: lists are read in order.
kernels/codec/bvgraph.py describes the format. Graphs of the Java tools (also the `big` ones) and of the Rust tools, in
either bit order, can be read.
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadSource

MAX_NODES = 2**32 - 1
MAX_OUT_LINKS = 1 << 27
"""Of a node: more than in any crawl. Damaged bits can claim far more, and memory must not be allocated for it."""
MAX_WINDOW_LINKS = 1 << 30
MAX_WINDOW = 1 << 16
CHUNK_LINKS = 1 << 20

GRAPH_SUFFIXES = (".graph", ".properties", ".offsets")
_MAX_PROPERTIES = 1 << 20
_PARTS = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS")
_PARAMETERS = {"ZETA": range(1, 17), "GOLOMB": range(1, 8193), "PI": range(1, 6)}

Integers: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.uint8]
Nodes: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True)
class Properties:
    """The content of a `.properties` file: counts, and the code of each part (see kernels/codec/bit_codes.py)."""

    nodes: int
    arcs: int
    window: int
    min_interval: int
    codes: dict[str, int]


def basename(path: str | Path) -> Path:
    """Return the path of a graph without the suffix of one of its files."""
    path = Path(path)
    return path.with_suffix("") if path.suffix in GRAPH_SUFFIXES else path


def beside(base: Path, suffix: str) -> Path:
    """Return the path of a file of a graph. The name of a graph may contain dots."""
    return base.parent / (base.name + suffix)


def read_properties(path: Path) -> Properties:
    """Read and check a `.properties` file."""
    values = _java_properties(path)
    kind = values.get("graphclass", "BVGraph").rsplit(".", 1)[-1].strip()
    if kind != "BVGraph":
        raise BadSource(f"{path} describes a graph of class {kind}: convert it to a BVGraph first")
    if _number(values, "version", 0, path) > 1:
        raise BadSource(f"{path} has format version {values['version']}: convert it to version 0 or 1")
    order = values.get("endianness", "big").lower()
    if order not in ("big", "little"):
        raise BadSource(f"{path} has endianness={order}: it must be big or little")
    found = Properties(
        nodes=_number(values, "nodes", None, path),
        arcs=_number(values, "arcs", None, path),
        window=_number(values, "windowsize", 7, path),
        min_interval=_number(values, "minintervallength", 4, path),
        codes=_codes(values, order == "little", path),
    )
    if found.nodes > MAX_NODES:
        raise BadSource(f"{path}: {found.nodes:,} nodes exceed the {MAX_NODES:,} of a store: split the graph")
    if found.window > MAX_WINDOW or found.arcs > found.nodes**2:
        raise BadSource(f"{path} is damaged: windowsize={found.window}, arcs={found.arcs}; download it again")
    return found


def _java_properties(path: Path) -> dict[str, str]:
    text = _mapped(path)
    if len(text) > _MAX_PROPERTIES:
        raise BadSource(f"{path} is too long for the properties of a graph: check the file")
    values = {}
    for line in map(str.strip, text.tobytes().decode("latin-1").splitlines()):
        if line and line[0] not in "#!":
            name, *value = re.split("[=:]", line, maxsplit=1)
            values[name.strip()] = "".join(value).strip().replace("\\", "")
    return values


def _number(values: dict[str, str], name: str, default: int | None, path: Path) -> int:
    text = values.get(name, "" if default is None else str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadSource(f"{path}: {name}={text[:40]!r} is not a count; is this the .properties file of a BVGraph?")
    return int(text)


def _codes(values: dict[str, str], little: bool, path: Path) -> dict[str, int]:
    """Return the code of each part. A part without a flag has WebGraph's default."""
    from cocite.kernels.codec import bit_codes

    named = dict.fromkeys(_PARTS, "GAMMA") | {"REFERENCES": "UNARY", "RESIDUALS": "ZETA"}
    flags = [flag.strip().upper() for flag in values.get("compressionflags", "").split("|") if flag.strip()]
    for flag in flags:
        part, _, code = flag.rpartition("_")
        if part not in (*_PARTS, "OFFSETS"):
            raise BadSource(f"{path}: unknown compression flag {flag[:60]!r}: store the graph with other flags")
        named[part] = code
        if part == "BLOCKS" and "endianness" in values:
            named["BLOCK_COUNT"] = code  # the Rust tools, the only ones to write `endianness`, use one code for both
    codes = {}
    for part, name in named.items():
        kind = name.rstrip("0123456789")
        digits = name[len(kind) :] or values.get("zetak", "3")
        value = getattr(bit_codes, kind, None) if kind in (*_PARAMETERS, "UNARY", "GAMMA", "DELTA", "NIBBLE") else None
        fits = kind not in _PARAMETERS or (len(digits) < 6 and digits.isdigit() and int(digits) in _PARAMETERS[kind])
        if value is None or not fits or (little and kind in ("NIBBLE", "GOLOMB")):
            raise BadSource(f"{path}: unsupported code {name[:40]} for {part.lower()}: store the graph with others")
        code = value + (bit_codes.PARAMETER * int(digits) if kind in _PARAMETERS else 0)
        codes[part] = code + (bit_codes.LITTLE if little else 0)
    return codes


def _mapped(path: Path) -> Bytes:
    """Map a file into memory."""
    try:
        with path.open("rb") as file:
            is_empty = not path.stat().st_size
            return np.frombuffer(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        hint = "put the .graph and .properties files into one folder"
        raise BadSource(f"Cannot read {path}: {error.strerror}; {hint}") from error


class BVGraph:
    """A graph on disk."""

    def __init__(self, path: str | Path) -> None:
        self.base = basename(path)
        self._properties = read_properties(beside(self.base, ".properties"))
        self._data = _mapped(beside(self.base, ".graph"))
        self.nodes, self.arcs = self._properties.nodes, self._properties.arcs
        if self.nodes > 8 * len(self._data):
            raise BadSource(f"{self.base}.graph is too short for {self.nodes:,} nodes: download it again")
        head = [self.nodes, self._properties.window, self._properties.min_interval, MAX_OUT_LINKS]
        self._shape = np.array(head + [self._properties.codes[part] for part in _PARTS], np.int64)

    def batches(self, nodes_per_batch: int = 1 << 16) -> Iterator[tuple[int, Integers, Nodes]]:
        """Yield all lists in order: (first node, outdegrees, successors one list after another).

        Batches have fewer nodes where lists are long: memory is bounded by `CHUNK_LINKS`, or by the lists of one
        window.
        """
        from cocite.kernels.codec import bvgraph

        if nodes_per_batch < 1:
            raise BadParameter(f"Invalid nodes_per_batch {nodes_per_batch}: it must be at least 1")
        window, min_interval = self._properties.window, max(self._properties.min_interval, 1)
        graph = bvgraph.CodedGraph(self._data, self._shape)
        batch_nodes = min(nodes_per_batch, self.nodes)
        # The lists of the window before a batch come before its own, where references reach them.
        starts = np.zeros(window + batch_nodes + 1, np.int64)
        out = np.empty(CHUNK_LINKS, np.uint32)
        extras, spans = np.empty(0, np.uint32), np.empty(0, np.int64)
        node, position, arcs = 0, 0, 0
        while node < self.nodes:
            count = min(batch_nodes, self.nodes - node)
            lists, scratch = bvgraph.DecodedLists(starts, out), bvgraph.ListScratch(extras, spans)
            done, position, state, degree = bvgraph.read_lists(graph, position, node, count, lists, scratch)
            arcs += int(starts[window + done] - starts[window])
            if state == bvgraph.BROKEN_LIST or arcs > self.arcs:
                where = f"at node {node + done:,} (bit {position:,})"
                raise BadSource(f"{self.base}.graph is damaged or cut short {where}: download it again")
            if done:
                degrees = np.diff(starts[window : window + done + 1])
                yield node, degrees, out[starts[window] : starts[window + done]].copy()
                node += done
                kept = starts[done : done + window + 1].copy()
                out[: kept[-1] - kept[0]] = out[kept[0] : kept[-1]]
                starts[: window + 1] = kept - kept[0]
            if state == bvgraph.NO_ROOM:
                needed = int(starts[window]) + degree
                if needed > len(out):
                    if needed > MAX_WINDOW_LINKS:
                        what = f"the lists around node {node} are too long"
                        raise BadSource(f"{self.base}.graph: {what}: download it again")
                    larger = np.empty(max(needed, 2 * len(out)), np.uint32)
                    larger[: len(out)] = out
                    out = larger
                if degree > len(extras):
                    extras = np.empty(2 * degree, np.uint32)
                    spans = np.empty(2 * (len(extras) // min_interval), np.int64)
        if arcs != self.arcs:
            given = f"{arcs:,} links, not {self.arcs:,} as in .properties"
            raise BadSource(f"{self.base}.graph has {given}: download both again")
        # Tools pad the last word with zeros. Anything else belongs to nodes beyond the count.
        rest = self._data[-(-position // 8) :]
        if any(rest[i : i + (1 << 20)].any() for i in range(0, len(rest), 1 << 20)):
            raise BadSource(f"{self.base}.graph is longer than its {self.nodes:,} nodes: download both files again")
