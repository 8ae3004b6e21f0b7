"""Answers in words, tables and HTML; titles and addresses of strangers do no harm."""

from __future__ import annotations

import csv
import io

import pytest

from cocite.related import methods
from cocite.results.answer import Answer, Answers, Reason
from cocite.results.ask import ask, question
from cocite.results.present import briefly, lines, say, separated, text
from cocite.web import Web
from tests.answers.conftest import MANY, NASTY


def answers_of(*found: Answer) -> Answers:
    return Answers((NASTY,), "proximity", {}, ("x",), found, {}, 1.25)


def test_values_by_commas_and_by_tabs(web: Web) -> None:
    answers = ask(web, question(web.graph, ["q.example"]), methods.method("proximity"), 4)
    clean = '[31m<script>alert("1")</script> &amp; a, "b" tab line'
    for separator in (",", "\t"):
        out = separated(answers, separator)
        assert out.count("\n") == 5, "a line for each answer, whatever their titles say"
        assert not set(out) & set("\x1b\x9b\u202e\r")
        quoted = csv.reader(io.StringIO(out)) if separator == "," else (row.split("\t") for row in out.splitlines())
        rows = list(quoted)
        assert rows[0] == ["rank", "score", "url", "title", "why"]
        assert [row[2] for row in rows[1:]] == MANY
        assert rows[1][:2] == ["1", "10.6859"]
        assert rows[3][3] == clean
        assert all(len(row) == 5 for row in rows)


def test_text_for_a_prompt(web: Web) -> None:
    answers = ask(web, question(web.graph, ["q.example"]), methods.method("proximity"), 3)
    head, *rows = str(answers).splitlines()
    assert head == "related to q.example by proximity"
    assert rows[0] == f"  1  10.6859     {MANY[0]} Null"
    assert len(rows) == 3
    assert "\x1b" not in text(answers_of(Answer(1, "u", NASTY, 1.0)))
    assert text(answers_of()).splitlines()[-1] == "  nothing"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Reason(kind="cited together", by="u", title="T", block="H", distance=1), "beside it on T under “H”, next to"),
        (Reason(kind="cited together", by="u", block="", distance=2), "beside it on u, in one block, 2 links apart"),
        (Reason(kind="cited together", by="u", distance=1500), "beside it on u, 1,500 links apart"),
        (Reason(kind="cited together in all", count=1, of=1), "cited together by 1 of 1 page"),
        (Reason(kind="cited together in all", count=9, of=2000, voices=4), "by 9 of 2,000 pages, counted as 4"),
        (Reason(kind="links to the same page", to="c", query="q"), "both link to c (with q)"),
        (Reason(kind="links to the same pages in all", count=2, of=40), "2 links in common, of 40"),
        (Reason(kind="linked by the query"), "the page links to it"),
        (Reason(kind="links to the query", copy="m"), "it links to the page (its near-duplicate m)"),
        (Reason(kind="links to a page that links to the query", through="t"), "it links to t, which links to the page"),
        (Reason(kind="stands for near-duplicates", count=6, pages=("a", "b")), "counted with 6 near-duplicates: a, b"),
    ],
)
def test_reasons_in_words(reason: Reason, words: str) -> None:
    assert words in say(reason)
    assert "None" not in say(reason)
    assert list(lines(Answer(1, "u", "", 1.0, (reason, reason)))) == [say(reason)] * 2
    assert briefly(Answer(1, "u", "", 1.0, (reason,)))


def test_what_is_not_independent_is_said_in_brief() -> None:
    best = Reason(kind="cited together", by="u", title="T", block="H", distance=1)
    for voices, said in ((4, "4 of 9 pages cite both, such as"), (1, "4 of 9 pages cite both, counted as 1, such as")):
        counts = Reason(kind="cited together in all", count=4, of=9, voices=voices)
        assert briefly(Answer(1, "u", "", 1.0, (best, counts))) == f"{said} T under “H”"


def test_a_spreadsheet_runs_no_formula_of_a_stranger() -> None:
    titles = ["=1+1", "+1", "-1", "@SUM(1)", " =1", "'=1", "a=1"]
    answers = answers_of(*(Answer(1, "-u", title, 1.0) for title in titles))
    rows = list(csv.reader(io.StringIO(separated(answers, ","))))[1:]
    assert [row[3] for row in rows] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "'=1", "'=1", "a=1"]
    assert rows[0][:3] == ["1", "1", "'-u"]
    assert [line.split("\t")[3] for line in separated(answers, "\t").splitlines()[1:]] == [t.strip() for t in titles]


def test_nothing_to_say() -> None:
    assert briefly(Answer(1, "u", "", 1.0)) == ""


def test_reasons_as_data() -> None:
    assert Reason(kind="cited together", by="u", block="", distance=1).to_dict() == {
        "kind": "cited together", "by": "u", "block": "", "distance": 1,
    }  # fmt: skip
    assert Reason(kind="linked by the query").to_dict() == {"kind": "linked by the query"}
