"""Kernels on graphs whose arrays have changed bits: they answer or refuse, and never crash."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache

from cocite.errors import CociteError
from cocite.graph.store import Graph
from tests.faults.computing import Computation, computations, damage, layered_web_of, web_of


@cache
def small() -> tuple[Graph, list[Computation]]:
    """A small graph, and everything that is computed of one."""
    return web_of(60), [compute for _, compute in sorted(computations().items())]


@cache
def with_layers() -> tuple[Graph, list[Computation]]:
    """The same with layers."""
    return layered_web_of(60), small()[1]


def kernels(data: bytes) -> None:
    """The bytes choose the damage and the computation."""
    compute(data, *small())


def layers(data: bytes) -> None:
    """The same with layers."""
    compute(data, *with_layers())


def compute(data: bytes, graph: Graph, every: list[Computation]) -> None:
    """Damage a graph, and compute something of it."""
    dice = random.Random(data)
    with suppress(CociteError):
        _, changed = damage(graph, dice)
        dice.choice(every)(changed)
