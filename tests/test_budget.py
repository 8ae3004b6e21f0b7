"""Budgets: kernels stop when one is spent or cancelled, and nothing is limited without one."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from cocite import budget
from cocite.budget import cancel, current, limited, new_budget, spend, stopped
from cocite.errors import TooMuchWork
from cocite.graph.store import Graph
from cocite.operations.pages.related import Related
from cocite.related.neighbourhood.small_web import simrank_matrix, small_web
from cocite.web import Web

PAGES = 3000


@pytest.fixture(scope="module")
def web() -> Web:
    """A web in which a walk never runs out of links."""
    links = np.random.default_rng(1).integers(0, PAGES, (30 * PAGES, 2)).tolist()
    return Web(Graph.from_links((f"https://p{a}.example/", f"https://p{b}.example/") for a, b in links))


def name(web: Web) -> str:
    return web.graph.address(0)


def test_without_a_budget_nothing_is_limited(web: Web) -> None:
    spend(10**15)
    assert stopped() is None
    assert len(Related(urls=(name(web),), method="walk").run(web)) == 10


@pytest.mark.parametrize("method", ["walk", "cocitation", "companion"])
def test_kernels_stop_when_the_budget_is_spent(web: Web, method: str) -> None:
    free = new_budget(10**9)
    with limited(free):
        expected = Related(urls=(name(web),), method=method).run(web)
    needed = 10**9 - int(free[0])
    with limited(new_budget(needed)):
        assert [each.url for each in Related(urls=(name(web),), method=method).run(web)] == [
            each.url for each in expected
        ]
    for links in (0, needed // 2, needed - 1):
        with limited(new_budget(links)), pytest.raises(TooMuchWork, match="fewer pages"):
            Related(urls=(name(web),), method=method).run(web)
    assert stopped() is None and int(current()[0]) == 0


def test_a_kernel_is_cancelled_from_another_thread(web: Web) -> None:
    budget, began = new_budget(10**12), time.monotonic()
    threading.Timer(0.2, cancel, (budget,)).start()
    with limited(budget), pytest.raises(TooMuchWork, match="Cancelled"):
        for _ in range(1000):  # a minute of work
            Related(urls=(name(web),), method="walk(least=1e-7,restart=0.01)").run(web)
    assert time.monotonic() - began < 30


def test_all_pairs_are_counted_too(web: Web) -> None:
    around = small_web(web, (0,), 300)
    with limited(new_budget(1000)), pytest.raises(TooMuchWork):
        simrank_matrix(around.into, around.into.shares(), 0.8, 100)


def test_a_budget_belongs_to_its_thread() -> None:
    seen = []
    with limited(new_budget(5)):
        thread = threading.Thread(target=lambda: seen.append(int(current()[1])))
        thread.start()
        thread.join()
        assert int(current()[0]) == 5
    assert seen == [0]


def test_a_thread_that_steps_aside_lets_others_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[str] = []
    monkeypatch.setattr(budget.time, "sleep", lambda _: slept.append(threading.current_thread().name))

    def work(aside: bool) -> None:
        if aside:
            budget.step_aside()
        for _ in range(3):
            budget.spend()
        budget._own.again = 0.0  # a while later
        budget.spend()

    for aside in (True, False):
        thread = threading.Thread(target=work, args=(aside,), name=f"aside {aside}")
        thread.start()
        thread.join()
    assert slept == ["aside True"] * 2


def test_a_thread_that_steps_aside_waits_for_the_others_but_not_for_long() -> None:
    waited: list[float] = []

    def work() -> None:
        budget.step_aside(waited.append)
        budget.spend()
        budget.spend()  # it has stepped aside a moment ago

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert waited == [budget.MAX_ASIDE_SECONDS]
