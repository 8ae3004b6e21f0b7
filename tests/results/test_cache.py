"""What is kept with a graph, within limits, and how the graph is let go."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cocite.graph.store import Graph
from cocite.results.naming import NumberCache, titles_of
from tests.graph.webs import make, page


def test_read_once_and_the_first_half_goes() -> None:
    read = list[int]()

    def square(number: int) -> int:
        read.append(number)
        return number * number

    cache = NumberCache(square, 4)
    assert [cache[n] for n in (1, 2, 3, 4, 1, 2)] == [1, 4, 9, 16, 1, 4]
    assert read == [1, 2, 3, 4]
    assert [cache[n] for n in (5, 4, 5)] == [25, 16, 25]
    assert read == [1, 2, 3, 4, 5]  # 5 were too many: 1, 2 and 3 went
    assert cache[1] == 1
    assert read[-1] == 1


def test_so_large_in_all() -> None:
    read = list[int]()

    def letters(number: int) -> str:
        read.append(number)
        return "x" * number

    cache = NumberCache(letters, 10, len)
    for number in (4, 5, 4, 3):
        assert cache[number] == "x" * number
    assert read == [4, 5, 3]  # 12 letters in all: 4 and 5 went, 3 stayed
    assert cache[3] == "xxx"
    assert read == [4, 5, 3]
    assert len(cache[99]) == len(cache[99]) == 99  # more than there is room for is kept alone
    assert read == [4, 5, 3, 99]


def test_threads_share_it() -> None:
    cache = NumberCache(lambda number: number + 1, 50)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: cache[n % 200], range(20_000)))
    assert found == [n % 200 + 1 for n in range(20_000)]


def test_a_graph_that_is_not_needed_goes_at_once(place: Path) -> None:
    make(place / "s", [page("https://a.example/", "https://b.example/")])
    graph = Graph(place / "s")
    assert titles_of(graph) is titles_of(graph)
    assert titles_of(graph).of(0) == titles_of(graph).title(0)
    assert titles_of(graph).label(0) == "a.example"
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert gone() is None  # with no help of the garbage collector, and so are its files
    finally:
        gc.enable()
