"""Every method at the bounds of its parameters, about the 50 most popular pages of a store of a million links.

Each question ends within its time limit or, when the server cancels it then, a moment later. Time is processor time of
this process, so that a busy machine makes no difference.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cocite.budget import budget_for, cancel, limited
from cocite.errors import BadParameter, CociteError, TooMuchWork
from cocite.http.questions import NORMAL, OperationQuestion
from cocite.operations.bounds import FREE_NUMBERS, MAX_ADDRESSES, bounded_method, ends
from cocite.operations.pages.related import Related
from cocite.parameters import Parameter, parameters_of, spell
from cocite.related import methods
from cocite.snapshot import Snapshot
from cocite.sources.records import Link, Page
from tests.conftest import long
from tests.graph.webs import make

PAGES, LINKS_OF_A_PAGE, WORDS = 50_000, 24, 3_000
TIME_LIMIT, GRACE_SECONDS = 10.0, 2.0


def numbers(name: str, kind: type) -> list[Parameter]:
    """The parameters of a method that are numbers of a kind."""
    every = parameters_of(type(methods.method(name).params))
    return [each for each in every if each.type is kind and not each.many and each.name not in FREE_NUMBERS]


def worst_calls(name: str) -> list[str]:
    """A method with whole numbers as large as they may be, and every other parameter at either end, or each choice."""
    whole = {each.name: int(ends(each)[1]) for each in numbers(name, int)}
    fractions = {each.name: ends(each) for each in numbers(name, float)}
    corners = itertools.product(*fractions.values()) if len(fractions) < 3 else zip(*fractions.values(), strict=True)
    calls = [spell(name, {**whole, **dict(zip(fractions, corner, strict=True))}) for corner in corners]
    for each in parameters_of(type(methods.method(name).params)):
        values = (True, False, *each.choices) if each.type is bool else each.choices
        calls += [spell(name, {**whole, each.name: value}) for value in values]
    return list(dict.fromkeys(calls))


@pytest.mark.parametrize("name", methods.names())
def test_bounds_are_enforced(name: str) -> None:
    """A number beyond its bound is refused before any work, and the message has the bound."""
    for each in [*numbers(name, int), *numbers(name, float)]:
        least, most = ends(each)
        assert bounded_method(spell(name, {each.name: each.type(most)})) and least <= each.default <= most
        beyond = most + 1 if each.type is int else most + abs(most) * 0.01 + 1e-9
        with pytest.raises(BadParameter, match=each.name):
            bounded_method(spell(name, {each.name: beyond}))
        below = least - 1 if each.type is int else least - abs(least) * 0.01 - 1e-9
        with pytest.raises(BadParameter, match=each.name):
            bounded_method(spell(name, {each.name: below}))


def test_floats_that_make_work_have_bounds() -> None:
    for call in ("walk(least=1e-7, restart=0.01)", "walk(least=9e-7)", "walk(restart=0.049)"):
        with pytest.raises(BadParameter, match=r"must be at least (1e-06|0\.05) here"):
            bounded_method(call)


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A store of more than a million links, some pages with 20,000 of them, and all that servers keep beside it."""
    draw = np.random.default_rng(1)

    def address(n: int) -> str:
        return f"https://h{n % 500}.example/{n}"

    def pages() -> Iterator[Page]:
        for n in range(PAGES):
            targets = (PAGES * draw.random(LINKS_OF_A_PAGE) ** 3).astype(int).tolist()
            links = [
                Link(f"https://h{t % 500}.example/{t}", f"Page {t}", place // 6) for place, t in enumerate(targets)
            ]
            words = " ".join(f"word{w}" for w in (WORDS * draw.random(20) ** 2).astype(int).tolist())
            headings = ["First", "Second", "Third", "Fourth"]
            yield Page(address(n), f"Page {n}", text=words, links=links, headings=headings)

    store = Path(tmp_path_factory.mktemp("million")) / "web.cocite"
    make(store, list(pages()))
    web = Snapshot(store)
    web.open_parts()
    web.build_parts(lambda *_, **__: None)
    assert len(web.graph.links) > 1_000_000
    return web


@long
@pytest.mark.parametrize("name", methods.names())
def test_every_question_ends_in_time(million: Snapshot, name: str) -> None:
    popular = np.argsort(-million.graph.in_degree[:].astype(np.int64), kind="stable")[:MAX_ADDRESSES]
    urls, late = tuple(million.graph.address(page) for page in popular.tolist()), []
    Related(urls=urls[:1], method=name).run(million)  # compiled
    for call in worst_calls(name):
        budget, found = budget_for(TIME_LIMIT), list[object]()

        def answer(call: str = call, budget: object = budget, found: list[object] = found) -> None:
            try:
                with limited(budget):  # type: ignore[arg-type]
                    found.append(OperationQuestion.of(Related(urls=urls, method=call, k=1000)).work(million, NORMAL))
            except CociteError as error:
                found.append(error)

        thread, began, cancelled = threading.Thread(target=answer), time.process_time(), 0.0
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
            if not cancelled and time.process_time() - began > TIME_LIMIT:
                cancelled = time.process_time()
                cancel(budget)
        after = time.process_time() - cancelled if cancelled else 0.0
        if after > GRACE_SECONDS:
            late.append(f"{call}: {after:.1f} s after it was cancelled")
        assert found, f"{call}: neither an answer nor a reason"
        assert not isinstance(found[0], CociteError) or isinstance(found[0], TooMuchWork | BadParameter), found[0]
    assert late == []
