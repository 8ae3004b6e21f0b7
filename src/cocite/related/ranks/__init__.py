"""The ranks: one file is one rank of all pages, and the folder is the registry.

A rank file has, in this order: a docstring (paper, formula, departures), `Params`, a frozen dataclass of parameters,
and `compute(graph, params, progress, threads) -> Ranked`. A rank is computed once and stored beside the store, by name
and parameters. When layers are added to the store, it lags: it is used, and says so. It is stale once the store was
rewritten.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore
from cocite.graph.generation import Progress, read_current
from cocite.graph.side import only_one, read_side, write_side
from cocite.graph.store import Graph
from cocite.parameters import changed, make, parameter, parse, spell, values_of
from cocite.registry import Registry


@dataclass(frozen=True)
class Ranked:
    """The value of every page, by page number, and how precise it is."""

    values: NDArray[np.float64]
    rounds: int
    residual: float  # what one more round would change, as a part of the total
    converged: bool  # whether the residual is within the tolerance
    lagging: bool = field(default=False, kw_only=True)  # stored before the last changes: newer pages have the value 0


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """When to stop: parameters of all ranks."""

    tolerance: float = parameter(
        1e-8, "stop when a round changes less than this part of the total", minimum=1e-14, maximum=1
    )
    rounds: int = parameter(500, "maximum number of rounds", minimum=1)


@dataclass(frozen=True)
class Rank:
    """A rank with its parameters set."""

    name: str
    params: Any
    _compute: Callable[[Graph, Any, Progress, int], Ranked]

    def __str__(self) -> str:
        return spell(self.name, changed(self.params))

    def compute(self, graph: Graph, progress: Progress = lambda *_: None, threads: int | None = None) -> Ranked:
        """Compute it; the result is the same for any number of threads."""
        return self._compute(graph, self.params, progress, threads or min(8, os.cpu_count() or 1))

    def keep(self, graph: Graph, ranked: Ranked) -> None:
        """Write it beside the store. Raises BadStore if the store can't be written or has changed."""
        facts = {name: getattr(ranked, name) for name in ("rounds", "residual", "converged")}
        about = {"rank": str(self), "params": values_of(self.params), **facts}
        with only_one(graph, self._side, f"the rank {self}"):
            if read_current(graph.path)[1]["id"] != graph.manifest["id"]:
                raise BadStore(f"{graph.path} was changed by another command in the meantime: rank it again")
            write_side(graph, self._side, lambda _: (about, {"values": ranked.values}))

    def kept(self, graph: Graph) -> Ranked | None:
        """The stored rank, perhaps lagging, or None. Raises BadStore if it belongs to an older generation."""
        again = self.make_command(graph)
        side = read_side(graph, self._side, again, lagging=True)
        if side is None:
            return None
        values, about, lagging = side.array("values"), side.about, side.generation != graph.manifest["id"]
        if len(values) < graph.pages and lagging:
            values = np.append(values, np.zeros(graph.pages - len(values)))  # pages newer than the rank have none yet
        if values.dtype != np.float64 or len(values) != graph.pages or about.get("params") != values_of(self.params):
            raise BadStore(f"The stored {self.name} of {graph.path} is damaged: make it again with {again}")
        return Ranked(values, int(about["rounds"]), float(about["residual"]), bool(about["converged"]), lagging=lagging)

    def make_command(self, graph: Graph) -> str:
        """The command that computes and stores it."""
        return f"cocite rank -i {quote(str(graph.path))} --by {quote(str(self))}"

    @property
    def _side(self) -> str:
        """The name of its side data: with a hash of the parameters unless they are the default."""
        own = changed(self.params)
        return f"rank_{self.name}" + (f"_{hashlib.blake2b(str(self).encode()).hexdigest()[:8]}" if own else "")


_registry = Registry(__name__, __path__, "rank", BadParameter)
names, own_names, about = _registry.names, _registry.own_names, _registry.about


def rank(call: str, given: Mapping[str, Any] | None = None) -> Rank:
    """A rank by name, perhaps with parameters, `hubrank(bias=authorities)`; `given` are more parameters."""
    name, written = parse(call)
    module = _registry.module(name)
    return Rank(name, make(module.Params, name, {**written, **(given or {})}), module.compute)


def kept(graph: Graph, call: str) -> Ranked:
    """A stored rank. Raises BadStore, which says how to make it, if there is none."""
    wanted = rank(call)
    found = wanted.kept(graph)
    if found is None:
        raise BadStore(f"{graph.path} has no {wanted} yet: make it with {wanted.make_command(graph)}")
    return found
