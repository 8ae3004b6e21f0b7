"""Methods side by side."""

from __future__ import annotations

import json

from cocite.operations.pages.compare import Compare
from cocite.related import methods
from cocite.web import Web
from tests.results.conftest import FOUR, OTHERS


def test_side_by_side(web: Web) -> None:
    calls = ["proximity", "cocitation(window=2)", "companion"]
    found = Compare(urls=("q.example",), methods=tuple(calls), k=5).run(web)
    assert list(found.by_method) == calls
    urls = {call: [answer.url for answer in answers] for call, answers in found.by_method.items()}
    assert urls["proximity"] == [*FOUR, OTHERS[0]]
    assert urls["cocitation(window=2)"] == FOUR[:1]  # one link on either side
    assert found.overlap("proximity", "cocitation(window=2)") == 1
    assert found.overlap("proximity", "proximity") == 5
    assert found.overlap("proximity", "companion") == len(set(urls["proximity"]) & set(urls["companion"]))
    votes = found.votes()
    assert votes[0] == (FOUR[0], calls)
    counts = [len(by) for _, by in votes]
    assert counts == sorted(counts, reverse=True)
    assert {url for url, _ in votes} == set().union(*urls.values())


def test_as_json(web: Web) -> None:
    chosen = tuple(methods.names())
    found = json.loads(json.dumps(Compare(urls=("q.example",), methods=chosen, k=3).run(web).to_dict()))
    assert "note" not in found
    assert list(found["methods"]) == methods.names()
    assert len(found["overlaps"]) == len(chosen) * (len(chosen) - 1) // 2
    assert all(0 <= each["common"] <= 3 for each in found["overlaps"])


def test_the_same_method_twice_is_one(web: Web) -> None:
    found = Compare(urls=("q.example",), methods=("companion", "companion(parents=2000)"), k=3).run(web)
    assert list(found.by_method) == ["companion"]


def test_a_shorter_address_is_noted(web: Web) -> None:
    found = Compare(urls=("q.example/unknown",), methods=("cocitation", "proximity"), k=3).run(web)
    note = "q.example/unknown isn't in this store; these results are for https://q.example/"
    assert found.note == found.to_dict()["note"] == note
    assert {answers.note for answers in found.by_method.values()} == {note}
