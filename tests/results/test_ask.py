"""Questions and answers: what is asked, what is refused, what is unwanted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

import cocite
from cocite.errors import BadAddress, BadParameter, UnknownPage
from cocite.kernels.jit import stopwatch
from cocite.related import methods
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask, check_k, question
from cocite.results.filters import Filters
from cocite.web import Web
from tests.graph.webs import make, page
from tests.results.conftest import FOUR, OTHERS

KEYS = {"query", "method", "params", "used", "answers", "store", "milliseconds"}


def related(web: Web, *urls: str, unwanted: tuple[str, ...] = (), k: int = 10, method: str = "proximity") -> Answers:
    return ask(web, question(web.graph, urls, unwanted), methods.method(method), k)


def test_answers_in_their_order(web: Web) -> None:
    answers = related(web, "Q.example")
    assert [answer.url for answer in answers] == [*FOUR, *OTHERS]
    assert [answer.rank for answer in answers] == [1, 2, 3, 4, 5, 6, 7]
    # Two lists of eight links in one block: 2 · (1^-0.81 + 10 / ln 10), to six digits
    assert answers[0].score == float(f"{2 * (1 + 10 / math.log(10)):.5e}") == 10.6859
    assert (answers[0].title, answers[0].page) == ("Null", web.graph.find(FOUR[0]))
    assert (len(answers), list(answers), answers[1:3]) == (7, list(answers.answers), answers.answers[1:3])


def test_the_json_has_the_keys_that_others_rely_on(web: Web) -> None:
    found = json.loads(json.dumps(related(web, "https://old.example/", k=1, method="cocitation(stop=x.com)").to_dict()))
    assert set(found) == KEYS
    assert (found["query"], found["used"], found["method"]) == (["https://old.example/"], ["q.example"], "cocitation")
    assert found["params"]["window"] == 8
    assert found["params"]["stop"] == ["x.com"]
    assert set(found["store"]) == {"id", "built", "pages", "links"}
    assert (found["store"]["pages"], found["store"]["links"]) == (web.graph.pages, len(web.graph.links))
    [answer] = found["answers"]
    assert set(answer) == {"rank", "url", "title", "score", "reasons"}
    assert answer["reasons"][0] == {
        "kind": "cited together", "by": "https://list1.example/", "title": "First", "block": "Things", "distance": 1,
        "text": 'Listed next to each other on First under "Things"',
    }  # fmt: skip
    assert found["milliseconds"] > 0


def test_facts_give_what_did_not_count(web: Web) -> None:
    assert related(web, "q.example").facts == {}
    call = f"proximity(stop={FOUR[0]} unknown.example {FOUR[1]}, rel=follow, boilerplate=false, stop_degree=3)"
    found = related(web, "q.example", method=call)
    assert found.facts == {
        "stop pages": 2, "stop pages with links in from": 3, "links not counted": "nofollow and boilerplate",
    }  # fmt: skip
    assert not {FOUR[0], FOUR[1]} & {answer.url for answer in found}
    found = related(web, FOUR[0], method=f"proximity(stop={FOUR[0]})")
    assert found.facts == {"stop pages": "none, since the page asked about is one"}
    assert related(web, "q.example", method="companion(stop=x.com)").facts.keys() >= {"rounds", "stop pages"}


def test_a_stop_list_is_looked_up_once_for_a_question(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    get = web.graph.get

    def noted(address: str) -> int | None:
        looked_up.append(address)
        return get(address)

    monkeypatch.setattr(web.graph, "get", noted)
    call = f"proximity(stop={FOUR[0]})"
    related(web, "q.example", "bad.example", unwanted=("https://many.example/3",), method=call)
    assert looked_up.count(FOUR[0]) == 1
    call = f"proximity(stop={FOUR[1]})"
    assert {answer.url for answer in related(web, "q.example", method=call)} == {FOUR[0], *FOUR[2:], *OTHERS}


@pytest.mark.parametrize(
    "entry", ["x.com", "https://x.com/a.txt", "x.com/a/b", "x" * 300, "http://", "a name", "/etc/passwd", __file__]
)
def test_unknown_addresses_of_a_stop_list_are_ignored_and_files_not_read(web: Web, entry: str) -> None:
    found = ask(web, question(web.graph, ["q.example"]), methods.method("proximity", {"stop": [entry]}))
    assert found.facts == {"stop pages": 0}


def test_a_page_that_is_called_like_a_file_can_be_a_stop_page(place: Path) -> None:
    make(place / "web.cocite", [page("https://list.example/", "https://q.example/", "https://a.example/robots.txt")])
    found = related(Web(place / "web.cocite"), "q.example", method="proximity(stop=a.example/robots.txt)")
    assert (found.facts, len(found)) == ({"stop pages": 1}, 0)


def test_milliseconds_without_those_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("cocite.kernels.jit.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(event, "timer", lambda: clock[0])
    with stopwatch() as passed:
        clock[0] += 0.25
        for _ in range(2):
            with global_compiler_lock, global_compiler_lock:  # a loop that calls another compiles it, too
                clock[0] += 8
        clock[0] += 0.5
        assert passed() == 750.0


def test_of_several_spellings_and_pages(web: Web) -> None:
    assert related(web, "q.example", "http://www.q.example/").answers == related(web, "q.example").answers
    both = related(web, "q.example", "bad.example")
    assert {answer.url for answer in both[:2]} == set(FOUR[:2])  # which both are cited with
    assert both.used == ("q.example", "bad.example")


@pytest.mark.parametrize("k", [-1, 100_001, 2.5, math.nan, math.inf, "many", None, True, "", [3]])
def test_numbers_of_answers_that_are_refused(web: Web, k: Any) -> None:
    filters = [Filters(), Filters(per_site=1)]
    for each in filters:
        with pytest.raises(BadParameter, match="k must be a whole number from 1 to 100000, not"):
            ask(web, Question(("q",), (web.graph.find("q.example"),)), methods.method("proximity"), k, each)


def test_numbers_of_answers_that_are_taken() -> None:
    assert [check_k(k) for k in (1, 100_000, 5.0, "7")] == [1, 100_000, 5, 7]  # type: ignore[arg-type]


def test_invalid_questions(web: Web) -> None:
    with pytest.raises(BadParameter, match="no page to ask about: give an address"):
        question(web.graph, [])
    with pytest.raises(BadParameter, match="more than 1,000 addresses"):
        question(web.graph, ["q.example"] * 1000, ["bad.example"])
    with pytest.raises(BadParameter, match="an address is a text, not 5"):
        question(web.graph, [5])  # type: ignore[list-item]
    with pytest.raises(BadParameter, match=r"'old\.example' is asked about and unwanted at once"):
        question(web.graph, ["q.example"], ["old.example"])
    with pytest.raises(BadAddress):
        question(web.graph, [" "])
    with pytest.raises(UnknownPage):
        question(web.graph, ["q.example"], ["unknown.example"])


def test_pages_nearer_to_an_excluded_page_are_excluded(web: Web) -> None:
    # Of bad.example the first is FOUR[1] and the second FOUR[0]; of q.example FOUR[0] is the first, FOUR[1] the second.
    answers = related(web, "q.example", unwanted=("bad.example",))
    assert [answer.url for answer in answers] == [FOUR[0], *FOUR[2:], *OTHERS]
    assert answers[1].rank == 2
    answers = related(web, "q.example", unwanted=(FOUR[0],))
    assert FOUR[0] not in [answer.url for answer in answers]


def test_the_representative_of_an_excluded_page_is_excluded(place: Path) -> None:
    """Two mirrors: many.example has more in-links and represents both; mirror.example is excluded."""
    others = [f"https://other{n}.example/" for n in range(12)]
    pages = [
        *(page(url, *others) for url in ("https://many.example/", "https://mirror.example/")),
        *(page(f"https://fan{n}.example/", "https://many.example/") for n in range(2)),
        page("https://hub.example/", "https://q.example/", "https://mirror.example/", "https://c.example/"),
    ]
    make(place / "web.cocite", pages)
    web = Web(place / "web.cocite")
    assert [each.url for each in related(web, "q.example")] == ["https://many.example/", "https://c.example/"]
    assert [each.url for each in related(web, "q.example", unwanted=("mirror.example",))] == []  # c.example is as near


def test_python_asks_the_same(web: Web) -> None:
    store = cocite.open(web.graph.path)
    assert store.related("q.example", "proximity", k=3).answers == related(web, "q.example", k=3).answers
    assert store.related(["q.example"], "proximity(alpha=2)").params["alpha"] == 2.0
    assert store.related("q.example", near=2).params["near"] == 2.0
    assert [each.url for each in store.related("q.example", "proximity", per_site=1)] == [FOUR[0], *OTHERS]
    with pytest.raises(BadParameter, match="per_site must be a whole number of at least 0, not -1"):
        store.related("q.example", per_site=-1)
    with pytest.raises(BadParameter, match="auto has no parameter 'apha'"):
        store.related("q.example", apha=2)
    assert set(store.compare("q.example", ["lli", "companion"]).by_method) == {"lli", "companion"}


@pytest.mark.parametrize("pages", [5, None, b"github.com", bytearray(b"github.com"), 2.5])
def test_values_that_are_not_addresses_in_python(web: Web, pages: Any) -> None:
    store = cocite.open(web.graph.path)
    for ask_ in (store.related, store.compare, lambda pages: store.related("q.example", unwanted=pages)):
        with pytest.raises(BadParameter, match=r"(pages?|unwanted) must be a list of texts, not"):
            ask_(pages)
    with pytest.raises(BadParameter, match="pages must be a list of texts, not"):
        store.related([pages])


def test_answers_at_a_prompt_are_a_short_list(web: Web) -> None:
    answers = related(web, "q.example", k=2)
    assert repr(answers) == str(answers)
    assert len(repr(answers).splitlines()) == 3
