"""A slow, literal writer of BVGraphs in every code, for round trips. Bits are kept as text: '0' and '1'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

DEFAULTS = {
    "OUTDEGREES": "GAMMA",
    "REFERENCES": "UNARY",
    "BLOCK_COUNT": "GAMMA",
    "BLOCKS": "GAMMA",
    "INTERVALS": "GAMMA",
    "RESIDUALS": "ZETA",
    "OFFSETS": "GAMMA",
}


@dataclass
class Format:
    """How a graph is written. `codes` maps a part to UNARY, GAMMA, DELTA, ZETA, ZETA4, NIBBLE, GOLOMB or PI2."""

    codes: dict[str, str] = field(default_factory=dict)
    window: int = 7
    chain: int = 3  # maxrefcount
    shortest: int = 4  # minintervallength, 0 for no intervals
    k: int = 3  # zetak
    rust: bool = False  # the Rust tools' properties: `endianness` is given, blocks and their counts share a code
    little: bool = False

    def code(self, part: str) -> str:
        if part == "BLOCK_COUNT" and self.rust:
            part = "BLOCKS"
        return self.codes.get(part, DEFAULTS[part])


def plain(value: int, width: int, little: bool) -> str:
    """A number in `width` bits, in the order of the stream."""
    bits = format(value, f"0{width}b") if width else ""
    assert len(bits) == width
    return bits[::-1] if little else bits


def unary(value: int) -> str:
    return "0" * value + "1"


def digits(value: int, little: bool) -> tuple[int, str]:
    """How many binary digits value + 1 has after its first, and these."""
    width = (value + 1).bit_length() - 1
    return width, plain(value + 1 - (1 << width), width, little)


def minimal_binary(value: int, bound: int, little: bool) -> str:
    width = bound.bit_length() - 1
    short = (1 << width + 1) - bound
    if value < short:
        return plain(value, width, little)
    value += short
    return plain(value >> 1, width, little) + plain(value & 1, 1, little)


def encode(value: int, code: str, k: int, little: bool = False) -> str:
    """A natural number in a code; `k` is the parameter of a code whose name has no digit."""
    kind = code.rstrip("0123456789")
    k = int(code[len(kind) :] or k)
    if kind == "UNARY":
        return unary(value)
    if kind == "GAMMA":
        width, rest = digits(value, little)
        return unary(width) + rest
    if kind == "DELTA":
        width, rest = digits(value, little)
        return encode(width, "GAMMA", k, little) + rest
    if kind == "ZETA":
        group = ((value + 1).bit_length() - 1) // k
        low, high = 1 << group * k, 1 << (group + 1) * k
        return unary(group) + minimal_binary(value + 1 - low, high - low, little)
    if kind == "GOLOMB":
        return unary(value // k) + minimal_binary(value % k, k, little)
    if kind == "PI":
        width, rest = digits(value, little)
        return unary(width >> k) + plain(width & ((1 << k) - 1), k, little) + rest
    assert kind == "NIBBLE" and not little
    octal = format(value, "o")
    return "".join(("1" if i == len(octal) - 1 else "0") + format(int(d), "03b") for i, d in enumerate(octal))


def natural(value: int) -> int:
    """0, 1, 2, 3, 4 … for 0, -1, 1, -2, 2 …"""
    return 2 * value if value >= 0 else -2 * value - 1


def encode_list(node: int, successors: Sequence[int], reference: int, referred: Sequence[int], how: Format) -> str:
    """One node's list, with the list of node - reference as `referred` (no reference: 0)."""
    bits = []

    def put(value: int, part: str) -> None:
        bits.append(encode(value, how.code(part), how.k, how.little))

    put(len(successors), "OUTDEGREES")
    if not successors:
        return "".join(bits)
    if how.window:
        put(reference, "REFERENCES")
    copied: set[int] = set()
    if reference:
        copied = set(referred) & set(successors)
        blocks = [0]
        copying = True
        for value in referred:
            if (value in copied) != copying:
                copying = not copying
                blocks.append(0)
            blocks[-1] += 1
        blocks.pop()  # the last block is implied
        put(len(blocks), "BLOCK_COUNT")
        for i, block in enumerate(blocks):
            put(block - (i > 0), "BLOCKS")
    extra = [value for value in successors if value not in copied]
    if not extra:
        return "".join(bits)
    residuals = extra
    if how.shortest:
        runs: list[list[int]] = []
        for value in extra:
            if runs and value == runs[-1][-1] + 1:
                runs[-1].append(value)
            else:
                runs.append([value])
        intervals = [run for run in runs if len(run) >= how.shortest]
        residuals = [value for run in runs if len(run) < how.shortest for value in run]
        put(len(intervals), "INTERVALS")
        for i, run in enumerate(intervals):
            put(natural(run[0] - node) if i == 0 else run[0] - intervals[i - 1][-1] - 2, "INTERVALS")
            put(len(run) - how.shortest, "INTERVALS")
    for i, value in enumerate(residuals):
        put(natural(value - node) if i == 0 else value - residuals[i - 1] - 1, "RESIDUALS")
    return "".join(bits)


def most_in_common(node: int, candidates: Sequence[int], lists: Sequence[Sequence[int]]) -> int:
    """The reference to the list that shares most with the node's own, 0 if none shares anything."""
    return max([0, *candidates], key=lambda r: len(set(lists[node]) & set(lists[node - r])) if r else 0.5)


def packed(bits: str, little: bool) -> bytes:
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8][:: -1 if little else 1], 2) for i in range(0, len(bits), 8))


def write_graph(
    lists: Sequence[Sequence[int]],
    base: Path,
    how: Format | None = None,
    *,
    offsets: bool = True,
    choose: Callable[[int, Sequence[int], Sequence[Sequence[int]]], int] = most_in_common,
) -> None:
    """Write base.graph, base.properties and, unless told otherwise, base.offsets."""
    how = how or Format()
    stream, starts, depth = "", [0], []
    for node, successors in enumerate(lists):
        window = range(1, min(how.window, node) + 1)
        candidates = [r for r in window if lists[node - r] and depth[node - r] < how.chain]
        reference = choose(node, candidates, lists) if successors else 0
        depth.append(depth[node - reference] + 1 if reference else 0)
        stream += encode_list(node, successors, reference, lists[node - reference], how)
        starts.append(len(stream))
    base.with_name(base.name + ".graph").write_bytes(packed(stream, how.little))
    steps = [0, *(b - a for a, b in pairwise(starts))]
    if offsets:
        code = "".join(encode(step, how.code("OFFSETS"), how.k) for step in steps)
        base.with_name(base.name + ".offsets").write_bytes(packed(code, False))
    flags = (" | " if not how.rust else "|").join(f"{part}_{code}" for part, code in how.codes.items())
    order = f"endianness={'little' if how.little else 'big'}\n" if how.rust else ""
    base.with_name(base.name + ".properties").write_text(
        f"#BVGraph properties\nversion={int(how.little)}\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n{order}"
        f"nodes={len(lists)}\narcs={sum(map(len, lists))}\nwindowsize={how.window}\nmaxrefcount={how.chain}\n"
        f"minintervallength={how.shortest}\nzetak={how.k}\ncompressionflags={flags}\n"
    )
