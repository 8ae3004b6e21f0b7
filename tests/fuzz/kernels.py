"""Kernels on graphs whose arrays have changed bits: they answer or refuse, and never crash."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache

from cocite.errors import CociteError
from cocite.graph.store import Graph
from tests.faults.computing import Computation, computations, damage, web_of


@cache
def small() -> tuple[Graph, list[Computation]]:
    """A small graph, and everything that is computed of one."""
    return web_of(60), [compute for _, compute in sorted(computations().items())]


def kernels(data: bytes) -> None:
    """The bytes choose the damage and the computation."""
    dice = random.Random(data)
    graph, every = small()
    _, changed = damage(graph, dice)
    with suppress(CociteError):
        dice.choice(every)(changed)
