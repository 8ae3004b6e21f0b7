"""Methods side by side."""

from __future__ import annotations

import json

from cocite.related import methods
from cocite.results.ask import question
from cocite.results.compare import compare
from cocite.web import Web
from tests.answers.conftest import MANY, OTHERS


def test_side_by_side(web: Web) -> None:
    calls = ["proximity", "cocitation(window=2)", "companion"]
    found = compare(web, question(web.graph, ["q.example"]), [methods.method(call) for call in calls], 5)
    assert list(found.by_method) == calls
    urls = {call: [answer.url for answer in answers] for call, answers in found.by_method.items()}
    assert urls["proximity"] == [*MANY, OTHERS[0]]
    assert urls["cocitation(window=2)"] == MANY[:1]  # one link on either side
    assert found.overlap("proximity", "cocitation(window=2)") == 1
    assert found.overlap("proximity", "proximity") == 5
    assert found.overlap("proximity", "companion") == len(set(urls["proximity"]) & set(urls["companion"]))
    votes = found.votes()
    assert votes[0] == (MANY[0], calls)
    counts = [len(by) for _, by in votes]
    assert counts == sorted(counts, reverse=True)
    assert {url for url, _ in votes} == set().union(*urls.values())


def test_as_json(web: Web) -> None:
    chosen = [methods.method(name) for name in methods.names()]
    found = json.loads(json.dumps(compare(web, question(web.graph, ["q.example"]), chosen, 3).to_dict()))
    assert list(found["methods"]) == methods.names()
    assert len(found["overlaps"]) == len(chosen) * (len(chosen) - 1) // 2
    assert all(0 <= each["common"] <= 3 for each in found["overlaps"])


def test_the_same_method_twice_is_one(web: Web) -> None:
    chosen = [methods.method("companion"), methods.method("companion(parents=2000)")]
    assert list(compare(web, question(web.graph, ["q.example"]), chosen, 3).by_method) == ["companion"]
