"""What is kept with a graph, within limits, and how the graph is let go."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cocite.graph.store import Graph
from cocite.results.memory import Memory, memory_of
from cocite.results.naming import Titles
from tests.graph.webs import make, page


def test_read_once_and_the_first_half_goes() -> None:
    memory, read = Memory[int](4), list[int]()

    def square(number: int) -> int:
        read.append(number)
        return number * number

    assert [memory.get(n, square) for n in (1, 2, 3, 4, 1, 2)] == [1, 4, 9, 16, 1, 4]
    assert read == [1, 2, 3, 4]
    assert [memory.get(n, square) for n in (5, 4, 5)] == [25, 16, 25]
    assert read == [1, 2, 3, 4, 5]  # 5 were too many: 1, 2 and 3 went
    memory.get(1, square)
    assert read[-1] == 1


def test_so_large_in_all() -> None:
    memory, read = Memory[str](10, len), list[int]()

    def letters(number: int) -> str:
        read.append(number)
        return "x" * number

    for number in (4, 5, 4, 3):
        assert memory.get(number, letters) == "x" * number
    assert read == [4, 5, 3]  # 12 letters in all: 4 and 5 went, 3 stayed
    memory.get(3, letters)
    assert read == [4, 5, 3]
    memory.get(99, letters)  # more than there is room for is kept alone
    memory.get(99, letters)
    assert read == [4, 5, 3, 99]


def test_threads_share_it() -> None:
    memory = Memory[int](50)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: memory.get(n % 200, lambda number: number + 1), range(20_000)))
    assert found == [n % 200 + 1 for n in range(20_000)]


def test_a_graph_that_is_not_needed_goes_at_once(place: Path) -> None:
    make(place / "s", [page("https://a.example/", "https://b.example/")])
    graph = Graph(place / "s")
    assert memory_of(graph, "x", 5) is memory_of(graph, "x", 5)
    Titles(graph).of(0)
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert gone() is None  # with no help of the garbage collector, and so are its files
    finally:
        gc.enable()
