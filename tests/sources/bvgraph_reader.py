"""A slow, literal reader of BVGraphs with the default codes, highest bit first: what the fast one must equal."""

from __future__ import annotations

from collections.abc import Iterator


class Bits:
    """A stream of bits, one at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def bit(self) -> int:
        byte = self.data[self.position >> 3]
        self.position += 1
        return byte >> (-self.position & 7) & 1

    def number(self, width: int) -> int:
        value = 0
        for _ in range(width):
            value = value << 1 | self.bit()
        return value

    def unary(self) -> int:
        zeros = 0
        while not self.bit():
            zeros += 1
        return zeros

    def gamma(self) -> int:
        width = self.unary()
        return (1 << width | self.number(width)) - 1

    def zeta(self, k: int) -> int:
        group = self.unary()
        low = 1 << group * k
        value = self.number(group * k + k - 1)
        return value + low - 1 if value < low else (value << 1 | self.bit()) - 1


def signed(value: int) -> int:
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


def read_lists(data: bytes, nodes: int, window: int = 7, shortest: int = 4, k: int = 3) -> Iterator[list[int]]:
    """The successors of nodes 0, 1, 2 …"""
    bits = Bits(data)
    lists: list[list[int]] = []
    for node in range(nodes):
        degree = bits.gamma()
        successors: list[int] = []
        if degree:
            reference = bits.unary() if window else 0
            if reference:
                referred = lists[-reference]
                at = 0
                blocks = bits.gamma()
                for i in range(blocks):
                    run = bits.gamma() + (i > 0)
                    if i % 2 == 0:
                        successors += referred[at : at + run]
                    at += run
                if blocks % 2 == 0:
                    successors += referred[at:]
            if len(successors) < degree and shortest:
                left = 0
                for i in range(bits.gamma()):
                    left = left + bits.gamma() + 1 if i else node + signed(bits.gamma())
                    length = bits.gamma() + shortest
                    successors += range(left, left + length)
                    left += length
            value = -1
            for i in range(degree - len(successors)):
                value = value + bits.zeta(k) + 1 if i else node + signed(bits.zeta(k))
                successors.append(value)
        lists.append(sorted(successors))
        del lists[: -max(window, 1)]
        yield lists[-1]
