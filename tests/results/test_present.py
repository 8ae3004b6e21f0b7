"""Answers in words, tables and HTML; titles and addresses of strangers do no harm."""

from __future__ import annotations

import csv
import io

import pytest

from cocite.related import methods
from cocite.results.answer import Answer, Answers, Reason
from cocite.results.ask import ask, question
from cocite.results.naming import label_of
from cocite.results.present import briefly, lines, separated
from cocite.web import Web
from tests.results.conftest import FOUR, NASTY


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
        assert [row[2] for row in rows[1:]] == FOUR
        assert rows[1][:2] == ["1", "10.6859"]
        assert rows[3][3] == clean
        assert all(len(row) == 5 for row in rows)


def test_text_for_a_prompt(web: Web) -> None:
    answers = ask(web, question(web.graph, ["q.example"]), methods.method("proximity"), 3)
    head, *rows = str(answers).splitlines()
    assert head == "related to q.example by proximity"
    assert rows[0] == f"  1  10.6859     {FOUR[0]} Null"
    assert len(rows) == 3
    assert "\x1b" not in repr(answers_of(Answer(1, "u", NASTY, 1.0)))
    assert repr(answers_of()).splitlines()[-1] == "  nothing"


def reason(kind: str, text: str, query: str = "") -> Reason:
    return Reason(kind=kind, text=text, query=query)


NEXT, LISTED = reason("cited together", "Listed next to each other on L"), reason("cited together in all", "On 4 of 9")
LINK, LINKS = reason("links to the same page", "Both link to X"), reason("links to the same pages in all", "Both: X, Y")
HERE, THERE = (reason(f"link{kind} the query", "They link to each other") for kind in ("ed by", "s to"))


def test_an_address_alone_makes_no_page_related() -> None:
    home, host = (
        reason("first page of its host", "It is a home page, as pages on lists often are"),
        reason("same host", "On the same host"),
    )
    weak = reason("company", "Listed in sections about myst")
    weak.share, home.share = 0.027, 0.973
    assert briefly(Answer(1, "u", "", 1.0, (weak, home))) == weak.text
    assert briefly(Answer(1, "u", "", 1.0, (host,))) == host.text, "every result has a reason"
    assert lines(Answer(1, "u", "", 1.0, (weak, home))) == [weak.text, home.text]


def test_shared_links_are_named_once() -> None:
    other = Reason(kind=LINK.kind, text="Both link to Z (its near-duplicate W)", copy="w")
    assert lines(Answer(1, "u", "", 1.0, (LINK, NEXT, LINKS, other))) == [NEXT.text, LINKS.text, other.text]
    assert lines(Answer(1, "u", "", 1.0, (LINK, NEXT))) == [LINK.text, NEXT.text]


def test_in_brief_counts_take_the_place_of_their_examples() -> None:
    found = Answer(1, "u", "", 1.0, (NEXT, NEXT, LINK, HERE, THERE, LISTED, LINKS))
    assert briefly(found) == "On 4 of 9 · Both: X, Y · They link to each other"
    assert list(lines(found)) == [NEXT.text, HERE.text, LISTED.text, LINKS.text]
    assert briefly(Answer(1, "u", "", 1.0, (LINK,))) == "Both link to X"


def test_in_brief_there_are_three_at_most() -> None:
    found = Answer(1, "u", "", 1.0, tuple(reason("words", text) for text in "abcd"))
    assert briefly(found) == "a · b · c"
    assert list(lines(found)) == list("abcd")


def test_in_brief_each_query_page_has_its_count() -> None:
    queries = [reason(each.kind, f"{each.text} with {query}", query) for query in "ab" for each in (NEXT, LISTED)]
    assert briefly(Answer(1, "u", "", 1.0, tuple(queries))) == "On 4 of 9 with a · On 4 of 9 with b"


def test_the_generic_reason_is_not_shown_beside_a_named_one() -> None:
    by_links = reason("links", "Related by links")
    assert briefly(Answer(1, "u", "", 1.0, (NEXT, by_links))) == NEXT.text
    assert briefly(Answer(1, "u", "", 1.0, (by_links,))) == "Related by links"


@pytest.mark.parametrize(
    ("address", "title", "label"),
    [
        ("https://www.a.example/b/", "", "a.example/b"),
        ("https://a.example/", "Newspapers", "Newspapers"),
        ("https://www.a.example/", "Introduction", "Introduction (a.example)"),
        ("https://a.example/", " Lists:\n", "Lists: (a.example)"),
        ("https://a.example/", "x" * 90, "x" * 79 + "…"),
        ("name", "", "name"),
        ("https://a.example/", NASTY, '[31m<script>alert("1")</script> &amp; a, "b" tab line'),
    ],
)
def test_what_a_page_is_called_in_a_sentence(address: str, title: str, label: str) -> None:
    assert label_of(address, title) == label


def test_a_spreadsheet_runs_no_formula_of_a_stranger() -> None:
    titles = ["=1+1", "+1", "-1", "@SUM(1)", " =1", "'=1", "a=1"]
    answers = answers_of(*(Answer(1, "-u", title, 1.0) for title in titles))
    rows = list(csv.reader(io.StringIO(separated(answers, ","))))[1:]
    assert [row[3] for row in rows] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "'=1", "'=1", "a=1"]
    assert rows[0][:3] == ["1", "1", "'-u"]
    by_tabs = [line.split("\t") for line in separated(answers, "\t").splitlines()[1:]]
    assert by_tabs == [[*row[:4], ""] for row in rows]


def test_no_evidence_no_reason() -> None:
    assert briefly(Answer(1, "u", "", 1.0)) == ""


def test_reasons_as_data() -> None:
    found = Reason(kind="cited together", by="u", block="", distance=1, text="Listed next to each other on u")
    assert found.to_dict() == {
        "kind": "cited together", "by": "u", "block": "", "distance": 1, "text": "Listed next to each other on u",
    }  # fmt: skip
    assert str(found) == found.text
    assert Reason(kind="usage", count=0, pages=("a",), share=0.0).to_dict() == {
        "kind": "usage", "count": 0, "pages": ["a"], "share": 0.0,
    }  # fmt: skip
