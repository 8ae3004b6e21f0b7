"""Reading histories: what they hold, how answers are weighed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, UnknownPage
from cocite.python import entries_of
from cocite.related import methods
from cocite.results.ask import ask, question
from cocite.results.history import find_history, read_history
from cocite.web import Web
from tests.results.conftest import FOUR, OTHERS


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "history.tsv"
    file.write_text("\ufeff# read lately\nq.example\t2.5\n\n https://other0.example/ \nmany.example/0\t 1 \n", "utf-8")
    assert read_history(file) == [("q.example", 2.5), ("https://other0.example/", 1.0), ("many.example/0", 1.0)]


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much", "1e10"])
def test_a_file_with_a_wrong_weight(tmp_path: Path, weight: str) -> None:
    file = tmp_path / "history.tsv"
    file.write_text(f"a.example\t1\nq.example\t{weight}\n")
    with pytest.raises(BadParameter, match=r"line 2 of .*: a weight must be a number above 0, not "):
        read_history(file)


def test_files_that_are_not_histories(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00\x80")
    for name, message in (
        ("empty", "contains no address"),
        ("bytes", "cannot read the history"),
        ("none", "cannot read the history"),
    ):
        with pytest.raises(BadParameter, match=message):
            read_history(tmp_path / name)


def test_in_python() -> None:
    assert entries_of({"a.example": 3}) == [("a.example", 3.0)]
    assert entries_of(["a.example", ("b.example", 0.5)]) == [("a.example", 1.0), ("b.example", 0.5)]
    assert entries_of("a.example") == [("a.example", 1.0)]
    for wrong in ([5], [("a.example", "x")], [(5, 1.0)], {"a.example": True}, [None]):
        with pytest.raises(BadParameter):
            entries_of(wrong)  # type: ignore[arg-type]


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
    with pytest.raises(BadParameter, match="more than 1,000 pages"):
        find_history(graph, [("q.example", 1.0)] * 1001)


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
