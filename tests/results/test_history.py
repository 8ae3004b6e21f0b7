"""Reading histories: what they hold, how answers are weighed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cocite.errors import BadParameter, UnknownPage
from cocite.operations.pages.unseen import ask_unseen
from cocite.python import visits_of
from cocite.related import methods
from cocite.results.ask import ask, question
from cocite.results.history import find_history
from cocite.results.present import briefly
from cocite.results.visits import Visit
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.results.conftest import FOUR, OTHERS


def test_in_python() -> None:
    assert visits_of({"a.example": 3}) == [Visit("a.example", 3.0)]
    assert visits_of(["a.example", ("b.example", 0.5)]) == [Visit("a.example"), Visit("b.example", 0.5)]
    assert visits_of("a.example") == [Visit("a.example")]
    assert visits_of([{"url": "a.example", "dwell": 5}, Visit("b.example")]) == [
        Visit("a.example", dwell=5.0), Visit("b.example")
    ]  # fmt: skip
    for wrong in ([5], [("a.example", "x")], [(5, 1.0)], {"a.example": True}, [None], [{"dwell": 5}]):
        with pytest.raises(BadParameter):
            visits_of(wrong)  # type: ignore[arg-type]


def test_pages_named_twice_and_unknown_ones(web: Web) -> None:
    graph = web.graph
    found = find_history(
        graph, [("other0.example", 1), ("q.example", 1), ("old.example", 1), ("no.example", 9), ("?", 1)]
    )
    assert found.pages == (graph.find("q.example"), graph.find("other0.example"))  # old.example leads to q.example
    assert found.weights == (2.0, 1.0)
    assert found.unknown == ("no.example", "?")
    with pytest.raises(UnknownPage):
        find_history(graph, [("no.example", 1.0), ("neither.example", 1.0)])


def test_of_a_long_history_the_pages_that_count_most_are_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = web.graph
    assert find_history(graph, [("q.example", 1.0)] * 5000).weights == (5000.0,)
    monkeypatch.setattr("cocite.results.history.MAX_HISTORY_PAGES", 2)
    read = [("other0.example", 1.0), ("other1.example", 3.0), ("q.example", 1.0)]
    found = find_history(graph, read)
    assert found.pages == (graph.find("other1.example"), graph.find("q.example")), "the latest of those that are equal"
    assert found.note == "The 2 pages of the history that count most are used, not 1 other"
    assert found.others == (graph.find("other0.example"),)
    assert not find_history(graph, read[:2]).note
    with pytest.raises(BadParameter, match="No page of the history counts"):
        find_history(graph, [("q.example", 0.0)])
    with pytest.raises(UnknownPage, match=r"no\.example"):
        find_history(graph, [("q.example", 0.0), ("no.example", 1.0)])


def scores(web: Web, name: str, *urls: str, **history: Any) -> dict[str, float]:
    found = ask(web, question(web.graph, urls, (), list(history.items())), methods.method(name), 100)
    return {answer.url: answer.score for answer in found}


@pytest.fixture
def scores_of(web: Web) -> Callable[[str, str], dict[str, float]]:
    return lambda name, url: scores(web, name, url)


@pytest.mark.parametrize("name", ["cocitation", "proximity", "companion", "semantic"])
def test_the_weighted_mean_of_scores(web: Web, scores_of: Callable[[str, str], dict[str, float]], name: str) -> None:
    asked = question(web.graph, [], [], [("q.example", 3.0), ("other0.example", 1.0), ("no.example", 5.0)])
    found = ask(web, asked, methods.method(name), 100)
    one, other = scores_of(name, "q.example"), scores_of(name, "other0.example")
    read = {"https://q.example/", OTHERS[0]}
    expected = {url: (3 * one.get(url, 0.0) + other.get(url, 0.0)) / 4 for url in (one.keys() | other.keys()) - read}
    assert {each.url: each.score for each in found} == pytest.approx(expected, rel=1e-4)
    assert found.facts["not in this store"] == 1
    assert found.facts["history"] == 2
    assert not expected or (name == "semantic") or found[0].reasons


def test_a_history_of_one_page_is_that_page(web: Web) -> None:
    asked = question(web.graph, [], [], [("q.example", 7.0)])
    found = ask(web, asked, methods.method("proximity"), 100)
    alone = ask(web, question(web.graph, ["q.example"]), methods.method("proximity"), 100)
    assert [(each.url, each.score) for each in found] == [(each.url, each.score) for each in alone]
    assert found[0].url == FOUR[0]


def test_addresses_beside_a_history_weigh_one(web: Web) -> None:
    both = question(web.graph, ["other0.example"], [], [("q.example", 2.0)])
    assert both.history.weights == (2.0, 1.0)
    with pytest.raises(UnknownPage):  # an address that was asked for has to be there, one that was read need not
        question(web.graph, ["no.example"], [], [("q.example", 2.0)])


def test_reasons_name_the_pages_that_gave_most_of_the_score(web: Web) -> None:
    """The truth: each page of the history asked alone, its score times its weight."""
    history = {"q.example": 3.0, "other0.example": 1.0, "other1.example": 1.0}
    method = methods.method("cocitation")
    asked = question(web.graph, [], [], list(history.items()))
    found, several = ask(web, asked, method, 100), 0
    alone = {web.graph.address(web.graph.find(url)): scores(web, "cocitation", url) for url in history}
    weights = dict(zip(alone, history.values(), strict=True))
    for answer in found:
        given = {url: weights[url] * alone[url].get(answer.url, 0.0) for url in alone}
        first, *reasons = answer.reasons
        assert (first.kind, first.text[:16]) == ("read", "Because you read")
        assert set(first.pages) <= {url for url in given if given[url] >= 0.25 * max(given.values())}
        assert given[first.pages[0]] == max(given.values())
        assert reasons
        assert {reason.query for reason in reasons if reason.query} <= set(first.pages)
        several += len(first.pages) > 1
    assert several
    assert briefly(found[0]).startswith("Because you read ")
    linked = ask_unseen(web, Page("https://new.example/", links=[Link(url) for url in alone]), method)
    assert all(reason.kind != "read" for answer in linked for reason in answer.reasons)
