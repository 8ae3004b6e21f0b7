"""Compute ranks, hubs, walks and every method on graphs whose arrays have changed bits.

Whatever the bits say, a computation returns or raises a CociteError. It never crashes, and it doesn't take memory in
proportion to a damaged number. Graphs are in memory, half of them with layers. Bits change as a disk would change them:
types and lengths of arrays stay, since opening a store verifies those. Each trial is a process of its own with limits,
so that a crash, a hang or a large allocation is seen.
"""

from __future__ import annotations

import random
import resource
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from cocite.errors import CociteError
from cocite.graph.arrays import Arrays
from cocite.graph.changes.layers import Layer, LayeredArrays
from cocite.graph.store import Graph
from cocite.operations.pages.hubs import Hubs
from cocite.operations.store.links import ShowLinks
from cocite.related import methods, ranks
from cocite.related.ranks import _iteration
from cocite.results.ask import Question, ask
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.faults.dying import in_child
from tests.graph.webs import extend, long_lists, make

MAX_SECONDS = 60
MEMORY_BYTES = 2 << 30  # of address space beyond what the process has
ASKED_PAGES = 5
Computation = Callable[[Graph], object]


@cache
def intact() -> Graph:
    """A web of some hundred pages."""
    return web_of(400)


@cache
def layered() -> Graph:
    """As many pages; some came with layers."""
    return layered_web_of(400)


def web_of(count: int) -> Graph:
    """A web of `count` pages, with something in every array that is computed with."""
    with long_lists():
        return Graph.from_records(pages_of(count))


def layered_web_of(count: int) -> Graph:
    """The same web in memory; a third of it came with two layers."""
    pages = pages_of(count)
    with tempfile.TemporaryDirectory() as folder, long_lists():
        path = Path(folder) / "web.cocite"
        make(path, pages[::3] + pages[1::3])
        extend(path, pages[2::6])
        extend(path, pages[5::6])
        arrays = Graph(path).arrays
        assert isinstance(arrays, LayeredArrays) and len(arrays.layers) == 2
        base = Arrays({name: values.copy() for name, values in arrays.base.items()}, arrays.base.manifest)
        return Graph(LayeredArrays(base, [in_memory(layer) for layer in arrays.layers]))


def in_memory(layer: Layer) -> Layer:
    """A layer without its file."""
    return Layer(layer.manifest, {name: values.copy() for name, values in layer.arrays.items()})


def pages_of(count: int) -> list[Page]:
    """The records of a web."""
    dice = random.Random(3)
    names = [f"https://site{n * 40 // count}.example/page{n}" for n in range(count)]
    pages = []
    for n, name in enumerate(names):
        chosen = dice.sample(names, dice.choice([0, 1, 4, 4, 9, 30]))
        links = [Link(url, f"to {url[-4:]}", k // 3 or None, weight=1 - k / 60) for k, url in enumerate(chosen)]
        pages.append(Page(name, f"Title {n}", f"Words of page {n} and {n * 7 % 13}. " * 3, links, ["One", "Two"]))
    copies = [Page(f"https://copy{n}.example/", links=[Link(url) for url in names[:20]]) for n in range(4)]
    moved = [Page("https://old.example/", redirect=names[3])]
    return [*pages, *copies, *moved]


def computations() -> dict[str, Computation]:
    """Every rank and every method, and operations that read links in their own way."""
    made: dict[str, Computation] = {f"rank {name}": rank_of(name) for name in ranks.names()}
    made |= {f"method {name}": relate_by(name) for name in methods.names()}
    made["method cocitation(parents=2)"] = relate_by("cocitation(parents=2)")
    made["hubs"] = hubs_by("out_degree")
    made["hubs by hubrank"] = hubs_by("hubrank")
    made["links"] = lambda graph: [
        ShowLinks(url=graph.address(page), k=0).run(Web(graph)) for page in some_pages(graph)
    ]
    return made


def rank_of(name: str) -> Computation:
    """Compute a rank."""

    def compute(graph: Graph) -> None:
        with patch.object(_iteration, "BLOCK_LINKS", 300):  # many blocks: all but the last are decoded in the fast way
            seeds = {"seeds": (graph.address(0),)} if name == "trustrank" else {}
            ranks.rank(name, seeds).compute(graph, threads=2)

    return compute


def relate_by(name: str) -> Computation:
    """Ask a method for some pages, one by one and together, with reasons."""

    def relate(graph: Graph) -> None:
        web, method, pages = Web(graph), methods.method(name), some_pages(graph)
        for some in (*((page,) for page in pages), tuple(pages)):
            ask(web, Question(("",) * len(some), some), method, 5)
        method.compare(web, pages[0], pages[1])
        method.best_of_each(web, np.array(pages, np.uint32), 5)

    return relate


def hubs_by(by: str) -> Computation:
    """Find hubs and authorities near some pages."""

    def find(graph: Graph) -> None:
        urls = tuple(graph.address(page) for page in some_pages(graph))
        for authorities in (False, True):
            Hubs(urls=urls, by=by, authorities=authorities).run(Web(graph))

    return find


def some_pages(graph: Graph) -> list[int]:
    """Some pages, by number."""
    return list(range(3, graph.pages, max(1, graph.pages // ASKED_PAGES)))


def damage(graph: Graph, dice: random.Random) -> tuple[str, Graph]:
    """A graph with other bits in one or two of its arrays, and what was changed."""
    parts = [dict(part if isinstance(part, Arrays) else part.arrays) for part in graph.arrays.parts]
    said = []
    for _ in range(dice.choice([1, 1, 2])):
        arrays = dice.choice(parts[1:]) if len(parts) > 1 and dice.randrange(4) else parts[0]
        filled = sorted(name for name, values in arrays.items() if len(values))
        links = [name for name in filled if name.startswith(("out.", "in.", "near.", "alias.", "best.", "sample."))]
        name = dice.choice(dice.choice([filled, links]))
        data, size = bytearray(arrays[name].tobytes()), arrays[name].nbytes
        for at, mask in changes(size, arrays[name].itemsize, dice):
            data[at] ^= mask
            said.append(f"{name}[{at}]^{mask:#x}")
        arrays[name] = np.frombuffer(bytes(data), arrays[name].dtype)
    if len(parts) == 1:
        return " ".join(said[:6]), Graph.from_arrays(parts[0], graph.manifest)
    base = Arrays(parts[0], graph.arrays.base.manifest)
    layers = [Layer(layer.manifest, own) for layer, own in zip(graph.arrays.layers, parts[1:], strict=True)]
    return " ".join(said[:6]), Graph(LayeredArrays(base, layers))


def changes(size: int, item: int, dice: random.Random) -> Iterator[tuple[int, int]]:
    """(byte, bits to flip): one bit, one byte, or a stretch of noise."""
    kind = dice.randrange(5)
    if kind < 2:
        yield dice.randrange(size), 1 << dice.randrange(8)
    elif kind == 4:  # a high bit of a number: lengths and places far outside
        yield (dice.randrange(size) // item + 1) * item - 1, 1 << dice.randrange(8)
    elif kind == 2:
        yield dice.randrange(size), dice.randrange(1, 256)
    else:
        start = dice.randrange(size)
        yield from ((at, dice.randrange(1, 256)) for at in range(start, min(size, start + 16)))


def attempt(seed: int, chosen: str = "") -> dict[str, str]:
    """Damage a graph, compute everything, and return how each computation ended; raises what isn't for users."""
    dice = random.Random(seed)
    try:
        said, graph = damage(layered() if seed % 2 else intact(), dice)
    except CociteError:
        return {"opening": "refused"}
    every = computations()
    names = [chosen] if chosen else dice.sample(sorted(every), 6)
    ended = {}
    for name in names:
        signal.alarm(MAX_SECONDS)
        try:
            every[name](graph)
            ended[name] = "answered"
        except CociteError:
            ended[name] = "refused"
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__)[-3:])
            raise AssertionError(f"seed {seed}, {name}, {said}:\n{where}{error!r}") from None
    signal.alarm(0)
    return ended


def limited(seed: int, chosen: str = "") -> dict[str, str]:
    """`attempt` with a limit of memory; for a process of its own."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return attempt(seed, chosen)


def warm() -> None:
    """Compile or load all kernels here, and not again in each process."""
    for name, compute in computations().items():
        compute(intact())
        compute(layered())
        assert name


class Computed(NamedTuple):
    """One line of the log."""

    computation: str
    trials: int
    answered: int
    refused: int


def compute_all(trials: int, seed: int) -> Iterator[Computed | str]:
    """Damage a graph so often, and compute some of everything; texts say what has failed."""
    warm()
    ended: Counter[tuple[str, str]] = Counter()
    for number in range(seed, seed + trials):
        try:
            ended.update(in_child(partial(limited, number), f"the computation with seed {number}").items())
        except AssertionError as error:
            yield str(error)
    for name in sorted({name for name, _ in ended}):
        answered, refused = ended[name, "answered"], ended[name, "refused"]
        yield Computed(name, answered + refused, answered, refused)
