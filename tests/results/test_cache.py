"""What is kept with a graph, within limits, and how the graph is let go."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cocite.graph.store import Graph
from cocite.results.naming import NumberCache, Titles, cache_of
from tests.graph.webs import make, page


def test_read_once_and_the_first_half_goes() -> None:
    cache, read = NumberCache[int](4), list[int]()

    def square(number: int) -> int:
        read.append(number)
        return number * number

    assert [cache.get(n, square) for n in (1, 2, 3, 4, 1, 2)] == [1, 4, 9, 16, 1, 4]
    assert read == [1, 2, 3, 4]
    assert [cache.get(n, square) for n in (5, 4, 5)] == [25, 16, 25]
    assert read == [1, 2, 3, 4, 5]  # 5 were too many: 1, 2 and 3 went
    cache.get(1, square)
    assert read[-1] == 1


def test_so_large_in_all() -> None:
    cache, read = NumberCache[str](10, len), list[int]()

    def letters(number: int) -> str:
        read.append(number)
        return "x" * number

    for number in (4, 5, 4, 3):
        assert cache.get(number, letters) == "x" * number
    assert read == [4, 5, 3]  # 12 letters in all: 4 and 5 went, 3 stayed
    cache.get(3, letters)
    assert read == [4, 5, 3]
    cache.get(99, letters)  # more than there is room for is kept alone
    cache.get(99, letters)
    assert read == [4, 5, 3, 99]


def test_threads_share_it() -> None:
    cache = NumberCache[int](50)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: cache.get(n % 200, lambda number: number + 1), range(20_000)))
    assert found == [n % 200 + 1 for n in range(20_000)]


def test_a_graph_that_is_not_needed_goes_at_once(place: Path) -> None:
    make(place / "s", [page("https://a.example/", "https://b.example/")])
    graph = Graph(place / "s")
    assert cache_of(graph, "x", 5) is cache_of(graph, "x", 5)
    Titles(graph).of(0)
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert gone() is None  # with no help of the garbage collector, and so are its files
    finally:
        gc.enable()
