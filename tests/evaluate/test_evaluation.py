"""The tables of an evaluation, worked out by hand, and the command that prints them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cocite.cli.terminal import parts_of
from cocite.errors import BadParameter
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store, run_in_store
from cocite.evaluate.judgements import Judgements, Run
from cocite.evaluate.report import page as report_page
from cocite.evaluate.significance import compare, holm
from cocite.operations.quality.evaluate import EvaluationResult
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from tests.cli.conftest import run as run_command
from tests.graph.webs import make, page

JUDGED = Judgements({"q": {"a": 1, "b": 1, "c": 0, "d": -1}, "r": {"a": 1}, "s": {"c": 0}})
ONE = Run("one", {"q": ["a", "c", "d", "x"], "r": ["y", "a"]}, {"q": 2.0, "r": 4.0}, {"q": {"nodes": 10}, "r": {}})
OTHER = Run("other", {"q": ["b", "a"], "s": ["c"]})


@pytest.fixture
def found() -> Evaluation:
    return Evaluation(JUDGED, [ONE, OTHER], depth=2)


def test_holm() -> None:
    """Three tests: the smallest p-value counts three times, the next twice, and none less than one before it."""
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([]) == []


def test_groups(found: Evaluation) -> None:
    """s has no right page: it is rated all the same, and no query of the usual measures."""
    assert found.queries == ["q", "r"]
    assert found.groups == {
        "all": ["q", "r", "s"],
        "intersection": ["q"],
        "not answered by one": ["s"],
        "not answered by other": ["r"],
    }


def test_queries_without_any_results_are_not_a_group() -> None:
    judged = Judgements({"q": {"a": 1}, "r": {"a": 1}})
    groups = Evaluation(judged, [Run("One", {"q": ["a"]}), Run("Two", {"q": ["b"]})]).groups
    assert groups == {"all": ["q", "r"], "intersection": ["q"]}


def test_measures_by_group(found: Evaluation) -> None:
    """P@2: one has (1/2 + 1/2) / 2, other (2/2 + 0) / 2. AP@2: one (1/2 + 1/2) / 2.

    As in 1999, over three queries: P (1/2 + 1/2 + 0) / 3, AP (1 + 1/2 + 0) / 3.
    """
    tables = found.table_5()
    head, rows = tables["all: 3 queries"]
    assert head == ["method", "P@2", "MAP@2", "nDCG@2", "recall@2", "F@2", "P 1999@2", "AP 1999@2", "answered"]
    by_name = {str(row[0]): dict(zip(head, row, strict=True)) for row in rows}
    assert (by_name["one"]["P@2"], by_name["other"]["P@2"]) == ("0.5000", "0.5000")
    assert (by_name["one"]["MAP@2"], by_name["other"]["MAP@2"]) == ("0.5000", "0.5000")
    assert (by_name["one"]["P 1999@2"], by_name["one"]["AP 1999@2"]) == ("0.3333", "0.5000")
    assert (by_name["other"]["P 1999@2"], by_name["other"]["AP 1999@2"]) == ("0.3333", "0.3333")
    assert by_name["other"]["answered"] == "0.6667"
    assert tables["not answered by other: 1 query"][1][1][1] == "0.0000"


def test_significance_by_group() -> None:
    """Of the queries that one run leaves out, the other two are compared, as in Table 6."""
    judged = Judgements({query: {"a": 1} for query in "pqrs"})
    runs = [
        Run("good", {query: ["a"] for query in "pqrs"}),
        Run("fair", {query: ["b", "a"] for query in "pqrs"}),
        Run("shy", {"p": ["a"]}),
    ]
    _, rows = Evaluation(judged, runs).table_paired()
    assert [row[:3] for row in rows] == [
        ["all", "good", "fair"],
        ["all", "good", "shy"],
        ["all", "fair", "shy"],
        ["not answered by shy", "good", "fair"],
    ]
    assert rows[0][3:7] == ["+0.5000", "+0.5000 to +0.5000", "4 : 0", "0.12"]  # 2 / 2^4
    assert rows[3][5:7] == ["3 : 0", "0.25"]


def test_table_6_is_of_1999() -> None:
    """By what is returned: fair has 1/2 everywhere, shy 1 once, good 1 in three. u has nothing right, and is a tie."""
    judged = Judgements({**{query: {"a": 1} for query in "pqrst"}, "u": {"b": 0}})
    runs = [
        Run("fair", {query: ["b", "a"] for query in "pqrstu"}),
        Run("shy", {"p": ["a"]}),
        Run("good", {query: ["a", "c", "d"] for query in "pqr"} | {"u": ["b"]}),
    ]
    _, rows = Evaluation(judged, runs).table_6()
    assert [row[:5] for row in rows if row[0] == "all"] == [
        ["all", "good", "fair", "3 : 2", "0.5"],  # of 3/6 and 2.5/6 the first is better: 16 / 2^5
        ["all", "good", "shy", "2 : 0", "0.25"],
        ["all", "fair", "shy", "4 : 1", "0.19"],  # 6 / 2^5
    ]
    assert [row[:4] for row in rows if row[0] != "all"] == [
        ["not answered by shy", "good", "fair", "2 : 2"],
        ["not answered by good", "fair", "shy", "2 : 0"],
    ]


def test_answers_and_ratings(found: Evaluation) -> None:
    """Of the first two: one gives a, c, y, a; other b, a, c."""
    assert found.table_3()[1] == [["one", 2, 4, 3, 2, 0], ["other", 2, 3, 3, 2, 0]]
    assert Evaluation(JUDGED, [ONE], depth=4).table_3()[1] == [["one", 2, 6, 4, 2, 1]]


def test_overlap(found: Evaluation) -> None:
    """a alone, for q: one of four, one of three."""
    assert found.table_7() == (
        ["in common", "one", "other"], [["one", "4 (100%)", "1 (25%)"], ["other", "1 (33%)", "3 (100%)"]],
    )  # fmt: skip


def test_costs_and_curves(found: Evaluation) -> None:
    degrees = {"q": 7, "r": 9, "s": 1}
    assert found.table_4(degrees)[1] == [
        ["one", "8", "10", "", "", "", "3.00"], ["other", "4", "", "", "", "", ""],
    ]  # fmt: skip
    assert found.table_4_by_query(degrees) == (
        ["query", "links in", "one nodes", "one ms", "other ms"],
        [["q", 7, "10", "2.00", ""], ["r", 9, "", "4.00", "–"], ["s", 1, "–", "–", ""]],
    )
    assert len(found.table_4_by_query(degrees, maximum=2)[1]) == 2
    assert found.curve(ONE, ["q", "r"]) == [(1, 0.5), (2, 0.5)]


def test_time_is_drawn_against_edges_or_siblings() -> None:
    """As in Fig. 2; unknown sizes are skipped."""
    facts: dict[str, dict[str, object]] = {"q": {"nodes": 10, "edges": 20}, "r": {"edges": "many"}, "s": {"edges": 0}}
    run = Run("one", milliseconds={"q": 2.0, "r": 3.0, "s": 4.0, "t": 5.0}, facts=dict(facts))
    found = Evaluation(JUDGED, [run])
    assert found.times(run) == ("edges", [(20.0, 2.0)])
    assert found.times(Run("two", milliseconds={"q": 1.0}, facts={"q": {"siblings": 3}})) == ("siblings", [(3, 1)])
    assert found.times(ONE) == ("nodes", [(10.0, 2.0)])
    assert found.times(OTHER) == ("", [])


def test_two_runs_of_one_name() -> None:
    with pytest.raises(BadParameter, match="Two runs have the same name"):
        Evaluation(JUDGED, [ONE, ONE])


class Tags(HTMLParser):
    """Counts elements, and refuses what would fetch or run anything."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert tag not in ("script", "link", "img", "iframe")
        assert not {name for name, _ in attrs} & {"src", "href", "onload"}


def test_the_report_needs_nothing_else(found: Evaluation) -> None:
    tags = Tags()
    tags.feed(report_page("<script>alert(1)</script>", ["a & b <i>"], found, {"q": 7, "r": 9, "s": 1}))
    assert tags.seen.count("svg") == 5  # precision of four groups, time
    assert tags.seen.count("table") == 10  # four groups, tests of two kinds, overlap, answers, costs, costs by query


@pytest.fixture(scope="module")
def store(fast_root: Path) -> Path:
    """Three lists with a, b and c; one with a and d."""
    path = fast_root / "evaluation" / "web.cocite"
    path.parent.mkdir()
    names = [f"https://{name}.example/" for name in "abcd"]
    lists = [page(f"https://list{n}.example/", *names[:3]) for n in range(3)]
    make(path, [*lists, page("https://list9.example/", names[0], names[3])])
    return path


def test_methods_are_run_on_the_queries(store: Path) -> None:
    web, report = Web(store), ReadReport()
    judged = Judgements({"http://www.a.example/x/..": {"b.example": 1, "z.example": 1}, "y.example": {"a.example": 1}})
    judged, numbers = in_store(web.graph, judged, report)
    assert judged.ratings == {"a.example": {"b.example": 1, "z.example": 1}, "y.example": {"a.example": 1}}
    assert numbers == {"a.example": web.graph.find("a.example")}
    assert report.skipped == {"query that is not in the store": 1, "judged page that is not in the store": 1}
    (run,) = ask_methods(web, [method("cocitation")], numbers, 2)
    assert run.of("a.example") == ["b.example", "c.example"]
    assert run.milliseconds["a.example"] >= 0
    assert run.facts["a.example"]["cocited"] == 2


def test_unknown_queries_are_chopped(store: Path) -> None:
    """a.example/x/y isn't in the store: a.example is asked instead, and the query keeps its name."""
    graph, report = Web(store).graph, ReadReport()
    _, numbers = in_store(graph, Judgements({"a.example/x/y": {"b.example": 1}}), report)
    assert numbers == {"a.example/x/y": graph.find("a.example")}
    assert report.skipped == {"query that is not in the store, chopped": 1}
    runs = ask_methods(Web(store), [method("cocitation"), method("cocitation(chop=none)")], numbers, 2)
    assert [run.of("a.example/x/y") for run in runs] == [["b.example", "c.example"], []]


def test_the_command(store: Path, tmp_path: Path) -> None:
    judged, other, html = tmp_path / "j.tsv", tmp_path / "other.tsv", tmp_path / "r.html"
    judged.write_text("a.example\tb.example\na.example\td.example\nnowhere.example\ta.example\n")
    other.write_text("a.example\t1\td.example\n")
    ran = run_command(
        "evaluate", "-i", store, "-j", judged, "-m", "cocitation", "--run", other, "-k", "2", "--html", html,
        "--save", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["queries"] == 2
    assert told["skipped"] == {
        "query that is not in the store": 1,
        "query without results of cocitation": 1,
        "query without results of other.tsv": 1,
    }
    assert {row["method"]: row["P@2"] for row in told["measures"]["all"]} == {"cocitation": 0.25, "other.tsv": 0.25}
    assert told["precision_at"]["all"] == {"cocitation": [0.5, 0.25], "other.tsv": [0.5, 0.25]}
    assert told["cost_by_query"][0]["query"] == "a.example"
    assert html.read_text().startswith("<!doctype html>")
    saved = sorted((tmp_path / "runs").iterdir())
    assert saved[0].read_text() == "a.example\t1\tb.example\na.example\t2\tc.example\n"
    ran = run_command("evaluate", "-j", judged, "--run", other)  # no store is needed
    assert ran.code == 0, ran.err
    assert "other.tsv\t0.0500" in ran.out


def test_bad_input_is_counted_and_reported(store: Path, tmp_path: Path) -> None:
    """Unknown pages, pairs given twice, queries that a run lacks or has beyond, answers given twice."""
    judged, other = tmp_path / "j.tsv", tmp_path / "other.tsv"
    judged.write_bytes(
        b"\xef\xbb\xbfa.example\tb.example\t1\r\na.example\tb.example\t1\r\na.example\tz.example\t1\r\n"
        b"b.example\tc.example\t0\r\nc.example\ta.example\t1\r\n"
    )
    other.write_text(
        "a.example\t1\tb.example\na.example\t2\thttp://www.b.example/\nd.example\t1\ta.example\na.example\tx\ty\n"
    )
    ran = run_command("evaluate", "-i", store, "-j", judged, "-m", "cocitation", "--run", other)
    assert ran.code == 0, ran.err
    for line in (
        "queries with a relevant page: 2",
        "1 pair given more than once",
        "judged page that is not in the store: 1, such as 'z.example'",
        "query without a relevant page (counts in the measures of 1999 only): 1",
        "query without results of other.tsv: 2, such as 'b.example'",
        "query of other.tsv without judgements, ignored: 1, such as 'd.example'",
        "repeated result of a query: 1",
        "rank that isn't a number: 1",
    ):
        assert line in ran.out


def test_answers_of_others_by_the_names_of_the_store(store: Path) -> None:
    """Other spellings are the same page; pages that are not in the store stay."""
    run = Run("other", {"http://www.a.example/": ["b.example/index.html", "b.example", "nowhere.example"]})
    assert run_in_store(Web(store).graph, run).answers == {"a.example": ["b.example", "nowhere.example"]}
    run = Run("other", {"http://www.a.example/": ["b.example", "a.example/index.html"], "a.example": ["c.example"]})
    assert run_in_store(Web(store).graph, run).answers == {"a.example": ["b.example", "c.example"]}


def test_names_that_look_like_addresses(place: Path) -> None:
    """Node.js is the name of a page in an edge list, whose letters count."""
    edges, judged, answers = place / "edges.tsv", place / "j.tsv", place / "run.tsv"
    edges.write_text("l1\tNode.js\nl1\tVue.js\nl2\tNode.js\nl2\tVue.js\n")
    judged.write_text("Node.js\tVue.js\n")
    answers.write_text("Node.js\t1\tVue.js\n")
    assert run_command("build", edges, "-o", place / "names.cocite").code == 0
    asked = ("evaluate", "-j", judged, "-i", place / "names.cocite", "-m", "cocitation", "--run", answers, "--json")
    found = json.loads(run_command(*asked).out)
    assert [row["MAP@10"] for row in found["measures"]["all"]] == [1.0, 1.0]


def test_few_differences_among_many_ties() -> None:
    """Five of 59 queries differ, all for the better: of 2⁵ signs two are as far out, so p = 2/32, as the Sign Test has.

    Equal differences among them change nothing.
    """
    for gaps in ([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.1, 0.1, 0.4, 0.5]):
        found = compare(gaps + [0.0] * 54, [0.0] * 59)
        assert found.signed_rank == pytest.approx(2 / 32)
        assert found.sign == pytest.approx(2 / 32)
    assert compare([0.1] + [0.0] * 99, [0.0] * 100).signed_rank == 1


def test_runs_of_one_name_in_two_folders(tmp_path: Path) -> None:
    """Each is named by its path; one given twice counts once."""
    judged = tmp_path / "j.tsv"
    judged.write_text("a.example\tb.example\n")
    runs = [tmp_path / name / "run.txt" for name in ("old", "new")]
    for path in runs:
        path.parent.mkdir()
        path.write_text("a.example\t1\tb.example\n")
    ran = run_command("evaluate", "-j", judged, "--run", runs[0], "--run", runs[1], "--run", runs[0], "--json")
    assert ran.code == 0, ran.err
    assert [row["method"] for row in json.loads(ran.out)["measures"]["all"]] == [str(path) for path in runs]


def test_some_of_the_queries(tmp_path: Path) -> None:
    """Of eight, every third or so, from beginning to end; the others are not reported."""
    judged, other = tmp_path / "j.tsv", tmp_path / "r.tsv"
    judged.write_text("".join(f"q{n}.example\ta.example\n" for n in range(8)))
    other.write_text("".join(f"q{n}.example\t1\t{'a' if n in (0, 2, 5) else 'b'}.example\n" for n in range(8)))
    asked = ("evaluate", "-j", judged, "--run", other, "-k", "1", "--json")
    told = json.loads(run_command(*asked, "--queries", "3").out)
    assert (told["queries"], told["skipped"]) == (3, {})
    assert told["measures"]["all"][0]["P@1"] == 1
    assert json.loads(run_command(*asked, "--queries", "9").out)["queries"] == 8


def test_numbers_are_numbers_for_machines() -> None:
    """Thousands too; names that look like numbers stay names."""
    run = Run("7", {"q": ["a"], "r": ["a"]}, {"q": 1.0, "r": 2.0}, {"q": {"edges": 12345}})
    told = EvaluationResult(Evaluation(JUDGED, [run, OTHER]), ReadReport(), {"q": 2_469_131, "r": 5, "s": 6}).to_dict()
    assert told["cost"][0] == {
        "method": "7", "links in": 1_234_568, "nodes": "", "edges": 12345, "siblings": "", "cocited": "", "ms": 1.5
    }  # fmt: skip
    assert told["significance"][0]["method"] == "7"
    assert told["significance_1999"][0]["better : worse"] == "1 : 0"


def test_wide_tables_go_on_below() -> None:
    assert parts_of([8, 4, 4, 4], 1, 80) == [[0, 1, 2, 3]]
    assert parts_of([8, 4, 4, 4], 1, 20) == [[0, 1, 2], [0, 3]]
    assert parts_of([8, 40, 4], 1, 20) == [[0, 1], [0, 2]]  # too wide by itself
    assert parts_of([0, 0, 0], 1, 0) == [[0, 1, 2]]  # no terminal


def test_invalid_arguments_are_refused(store: Path, tmp_path: Path) -> None:
    judged = tmp_path / "j.tsv"
    judged.write_text("nowhere.example\ta.example\n")
    ran = run_command("evaluate", "-i", store, "-j", judged, "-m", "cocitation")
    assert ran.code == 2
    assert "has none of the queries" in ran.err
    assert run_command("evaluate", "-i", store, "-j", tmp_path / "none.tsv", "-m", "cocitation").code == 2
    assert run_command("evaluate", "-i", store, "-j", judged, "-m", "beauty").code == 2
    assert "is a folder" in run_command("evaluate", "-i", store, "-j", judged, "--html", tmp_path).err
    assert "is a file" in run_command("evaluate", "-i", store, "-j", judged, "--save", judged).err
    judged.write_text("a.example\tb.example\n")
    (tmp_path / "cocitation").write_text("a.example\t1\tb.example\n")
    ran = run_command("evaluate", "-i", store, "-j", judged, "-m", "cocitation", "--run", tmp_path / "cocitation")
    assert "Two runs have the same name" in ran.err
