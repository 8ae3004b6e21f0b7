"""The rating study: blind, complete, and patient with what comes back from spreadsheets."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource, BadStore
from cocite.evaluate.judgements import DEAD, Run
from cocite.evaluate.significance import holm
from cocite.evaluate.study import (
    SHEET_COLUMNS,
    Item,
    Study,
    assign,
    judgements_of,
    keep_edited,
    new,
    read,
    read_ratings,
    write,
    write_ratings,
)
from cocite.related.methods import method
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from tests.cli.conftest import run as run_command
from tests.graph.webs import make
from tests.http.browser import browsing

A, B, C, D = (f"https://{name}.example/" for name in "abcd")


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Web:
    path = fast_root / "study" / "web.cocite"
    path.parent.mkdir()
    lists = [
        Page(f"https://list{n}.example/", links=[Link(A, "=A()"), Link(B, "<b>&"), Link(C, "C"), Link(D, "D")][: 4 - n])
        for n in range(2)
    ]
    make(path, [*lists, Page(A, "=cmd|'!A1"), Page(B, "<script>alert(1)</script>")])
    return Web(path)


@pytest.fixture
def folder(web: Web, tmp_path: Path) -> Path:
    write(new(web, [A, C, A], [method("cocitation"), method("proximity")], 2), tmp_path / "trial")
    return tmp_path / "trial"


def test_every_answer_once_and_blind(web: Web, folder: Path) -> None:
    study = read(folder)
    assert [item.id for item in study.items] == [f"{n:05d}" for n in range(1, len(study.items) + 1)]
    pairs = [(item.query, item.page) for item in study.items]
    assert len(pairs) == len(set(pairs))
    by_id = {item.id: (item.query, item.page) for item in study.items}
    for run in study.runs:
        for query, ids in run.answers.items():
            found = [by_id[number] for number in ids]
            assert [given for given, _ in found] == [query] * len(found)
            answers = method(run.name).relate(web, [web.graph.find(query)]).ranked(web.graph.in_degree)
            assert [page for _, page in found] == [web.graph.address(page) for page, _ in list(answers)[:2]]
    told = (folder / "ratings.csv").read_text("utf-8-sig") + (folder / "rate.html").read_text("utf-8")
    assert "cocitation" not in told
    assert "proximity" not in told


def test_strangers_titles_are_harmless(folder: Path) -> None:
    assert ",=" not in (folder / "ratings.csv").read_text("utf-8-sig")
    html = (folder / "rate.html").read_text("utf-8")
    assert "<script>alert" not in html
    assert html.count("<script>") == 1
    assert not re.search(r'<(?:link|img|iframe)|src=|href="(?!https?://)', html)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_spreadsheets_make_of_it(folder: Path, separator: str, ending: str, mark: str) -> None:
    """Numbers lose their zeros, rows are sorted anew, columns move."""
    rows = [["Rating", "id"], ["1", "3"], ["0.0", "00001"], ["X", "'00002"], ["", "4"], ["yes", "4"], ["1", "999"], []]
    sheet = folder / "back.csv"
    sheet.write_bytes((mark + ending.join(separator.join(row) for row in rows) + ending).encode())
    report = ReadReport()
    assert read_ratings(sheet, read(folder), report) == {"00003": "1", "00001": "0", "00002": "x"}
    assert report.skipped == {"rating other than 1, 0 or x": 1, "row that is not a result of this study": 1}


def test_rows_and_columns_that_were_added(folder: Path) -> None:
    """An empty row above, a rating of a point; and two columns of ratings."""
    sheet, report = folder / "back.csv", ReadReport()
    sheet.write_text(",,\nid,rating,note\n1,.,\n2,1,\n")
    assert read_ratings(sheet, read(folder), report) == {"00002": "1"}
    assert report.skipped == {"rating other than 1, 0 or x": 1}
    sheet.write_text("id,rating,Rating\n1,1,\n")
    with pytest.raises(BadSource, match="two columns id or rating"):
        read_ratings(sheet, read(folder), ReadReport())


def test_a_sheet_saved_as_unicode_text(folder: Path) -> None:
    """Tabs and UTF-16, which is what spreadsheets call so."""
    sheet = folder / "back.txt"
    sheet.write_bytes("id\trating\r\n00001\t1\r\n".encode("utf-16"))
    assert read_ratings(sheet, read(folder), ReadReport()) == {"00001": "1"}


def test_a_sheet_saved_as_plain_csv_by_windows(tmp_path: Path) -> None:
    """Names in its code page, and numbers that were names: 0012 is 12, 1.50 is 1,5."""
    names = ["Zürich", "0012", "1.50", "Bern"]
    study = Study([Item(f"{n:05d}", "q", "", name, "") for n, name in enumerate(names)], [], {"q": 1}, 4)
    sheet, report = tmp_path / "back.csv", ReadReport()
    sheet.write_bytes("id;page;rating\r\n0;Zürich;1\r\n1;12;1\r\n2;1,5;0\r\n3;Basel;1\r\n".encode("cp1252"))
    assert read_ratings(sheet, study, report) == {"00000": "1", "00001": "1", "00002": "0"}
    assert report.skipped == {"row that is not a result of this study": 1}


def test_an_edited_sheet_is_copied_before_it_is_overwritten(folder: Path) -> None:
    study, sheet = read(folder), folder / "ratings.csv"
    assert keep_edited(study, sheet) is None
    write_ratings(study, sheet, {"00001": "1"})
    assert keep_edited(study, sheet) is None
    assert keep_edited(study, folder / "ratings-new.csv") is None  # there is none yet
    for name, said in (("ratings.csv.edited", "yes"), ("ratings.csv.edited1", "?")):
        edited = f"id,rating,comment\n1,{said},a thought\n2,0,\n"
        sheet.write_text(edited)
        ran = run_command("study", "rate", folder, stdin="x\nq\n")
        assert "Skipped: 1 × rating other than 1, 0 or x" in ran.out
        assert f"The edited sheet is kept as {folder / name}" in ran.out
        assert (folder / name).read_text() == edited
    assert read_ratings(sheet, study, ReadReport()) == {"00001": "x", "00002": "0"}


def test_queries_without_a_related_answer_count(folder: Path, tmp_path: Path) -> None:
    """P@2 of 1999 is over all pages with a rated result; a page without one is ignored and reported."""
    study = read(folder)
    sheet = tmp_path / "sheet.csv"
    rated = {item.id: "1" if item.query == A else "0" for item in study.items}
    write_ratings(study, sheet, rated)
    told = json.loads(run_command("study", "report", folder, sheet, "--json").out)
    every = {row["method"]: row for row in told["measures"]["all"]}
    assert every["cocitation"]["P@2"] == 1.0
    assert every["cocitation"]["P 1999@2"] == 0.5
    write_ratings(study, sheet, {number: rating for number, rating in rated.items() if rating == "1"})
    told = json.loads(run_command("study", "report", folder, sheet, "--json").out)
    assert {row["method"]: row["P 1999@2"] for row in told["measures"]["all"]}["cocitation"] == 1.0
    assert told["skipped"]["query without any rating, ignored"] == 1
    assert {row["query"] for row in told["cost_by_query"]} == {A}
    assert {row["answered"] for row in told["answers"]} == {1}  # Tables 3, 4 and 7 are of the same queries


def test_a_query_without_results_counts(tmp_path: Path) -> None:
    """Two queries; one has a result, rated 1: P@1 of 1999 is one half."""
    items = [Item("00001", A, "", B, "")]
    write(Study(items, [Run("one", {A: ["00001"], C: []})], {A: 1, C: 0}, 1), tmp_path / "trial")
    (tmp_path / "trial" / "ratings.csv").write_text("id,rating\n1,1\n")
    told = json.loads(run_command("study", "report", tmp_path / "trial", "--json").out)
    (row,) = told["measures"]["all"]
    assert (row["P@1"], row["P 1999@1"], row["AP 1999@1"], row["answered"]) == (1, 0.5, 0.5, 0.5)
    assert told["skipped"]["query without results of one"] == 1


def test_sheets_that_went_astray(folder: Path, tmp_path: Path) -> None:
    """A note on the separator, empty lines, columns of one's own, one answer twice, and a row of another study."""
    study, report = read(folder), ReadReport()
    first, second = study.items[:2]
    sheet = tmp_path / "back.csv"
    sheet.write_text(
        f'sep=;\r\n\r\nNotes;Rating;Page;ID\r\n"a; ""b""";1,00;{first.page};1.0\r\n;;;\r\n;0;;00001\r\n'
        f";1;https://other.example/;{second.id}\r\n"
    )
    assert read_ratings(sheet, study, report) == {first.id: "0"}
    assert report.skipped == {
        "result with two ratings on one sheet, the last counts": 1,
        "row that is not a result of this study": 1,
    }


def test_all_sheets_of_the_folder(folder: Path) -> None:
    """The server keeps one for each rater."""
    study = read(folder)
    write_ratings(study, folder / "ratings-anna.csv", {study.items[0].id: "1"})
    write_ratings(study, folder / "ratings-ben.csv", {study.items[1].id: "0"})
    told = json.loads(run_command("study", "report", folder, "--json").out)
    (row,) = [row for row in told["answers"] if row["method"] == "cocitation"]
    assert (row["answered"], row["rated"]) == (1, 2)


def test_the_page_in_a_browser(tmp_path: Path) -> None:
    """Hostile names are shown as they are; choices survive, and are saved with the page that each is about."""
    name, page = "</script>{{total}}\"'<img src=x onerror=alert(1)>", "https://b.example/?\"x='<b>"
    items = [Item("00001", A, name, page, name), Item("10002", A, name, C, "C")]
    write(Study(items, [], {A: 1}, 2), tmp_path / "trial")
    with browsing() as browser:
        tab = browser.new_context(accept_downloads=True).new_page()
        faults: list[object] = []
        tab.on("pageerror", lambda error: faults.append(error))
        tab.on("dialog", lambda dialog: faults.append(dialog))
        tab.goto((tmp_path / "trial" / "rate.html").as_uri())
        assert tab.locator("h2 a").inner_text().startswith(name)
        assert tab.locator(".item a").first.get_attribute("href") == page
        assert tab.locator("img").count() == 0
        # A busy Chromium loses what a page stored just before it was reloaded: then choose again, and reload later.
        for pause in (0.0, 0.2, 1.0, 5.0):
            tab.locator("input[name='00001'][value='x']").check()
            sleep(pause)
            tab.reload()
            if tab.locator("#count").inner_text() != "0 of 2 rated":
                break
        assert tab.locator("#count").inner_text() == "1 of 2 rated"
        assert tab.locator("input[name='00001'][value='x']").is_checked()
        tab.locator("input[name='10002'][value='1']").check()
        with tab.expect_download() as saved:
            tab.locator("#save").click()
        saved.value.save_as(tmp_path / "back.csv")
        assert not faults
    report = ReadReport()
    assert read_ratings(tmp_path / "back.csv", read(tmp_path / "trial"), report) == {"00001": "x", "10002": "1"}
    assert not report.skipped


def test_sheets_that_cannot_be_read(folder: Path) -> None:
    """A quotation mark that is never closed makes the rest one cell."""
    sheet = folder / "other.csv"
    sheet.write_text('id,rating\n00001,"' + "a" * 200_000)
    with pytest.raises(BadSource, match="is not a sheet of ratings"):
        read_ratings(sheet, read(folder), ReadReport())


def test_sheets_of_something_else(folder: Path) -> None:
    sheet = folder / "other.csv"
    for content in (b"", b"name,price\nx,1\n", b"\x00\xff\xfe", b"\n\n"):
        sheet.write_bytes(content)
        with pytest.raises(BadSource, match="no columns id and rating"):
            read_ratings(sheet, read(folder), ReadReport())


def test_written_ratings_are_read_back(folder: Path) -> None:
    study = read(folder)
    ratings = {item.id: "10x"[n % 3] for n, item in enumerate(study.items)}
    write_ratings(study, folder / "ratings.csv", ratings)
    assert read_ratings(folder / "ratings.csv", study, ReadReport()) == ratings
    assert (folder / "ratings.csv").read_text("utf-8-sig").splitlines()[0] == ",".join(SHEET_COLUMNS)


def test_raters_who_disagree(folder: Path) -> None:
    """Two of three say 1; of two, the lower counts; x alone is a page that could not be opened."""
    study = read(folder)
    one, two, three = (item.id for item in study.items[:3])
    found = judgements_of(study, [{one: "1", two: "1", three: "x"}, {one: "1", two: "0"}, {one: "0"}])
    said = {number: rating for of in found.ratings.values() for number, rating in of.items()}
    assert said == {one: 1.0, two: 0.0, three: DEAD}
    assert set(found.ratings) == {item.query for item in study.items[:3]}


def test_a_damaged_study(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="has no study"):
        read(tmp_path)
    (folder / "study.json").write_text('{"items": 5}')
    with pytest.raises(BadStore, match="is damaged"):
        read(folder)


def test_the_commands(web: Web, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    asked = ("study", "new", folder, A, C, "-m", "cocitation", "-m", "proximity", "-i", web.graph.path)
    assert run_command(*asked).code == 0
    assert "already has a study" in run_command(*asked).err
    (tmp_path / "file").touch()
    assert "is a file" in run_command("study", "new", tmp_path / "file", A, "-i", web.graph.path).err
    ran = run_command("study", "new", tmp_path / "part", A, "nowhere.example", "-i", web.graph.path)
    assert ran.code == 0, ran.err
    assert "Skipped, as it isn't in this store: https://nowhere.example/" in ran.err
    assert run_command("study", "new", tmp_path / "none", "nowhere.example", "-i", web.graph.path).code == 3
    assert not (tmp_path / "none").exists()
    assert "No result is rated yet" in run_command("study", "report", folder).err
    ran = run_command("study", "rate", folder, stdin="1\nwhat\nx\nq\n")
    assert ran.code == 0, ran.err
    assert (folder / "ratings.csv").read_text("utf-8-sig").count(",1\n") == 1
    ran = run_command("study", "report", folder, "--json", "--html", tmp_path / "r.html")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    items = read(folder).items
    begun = sum(item.query == items[0].query for item in items)
    assert (
        told["skipped"]["result without a rating, counted as not related"] == begun - 2 > 0
    )  # the other query is left out
    assert {row["method"] for row in told["answers"]} == {"cocitation", "proximity"}
    assert (tmp_path / "r.html").exists()
    assert run_command("study", "rate", folder, stdin="").code == 0  # goes on where it was left
    assert run_command("study", "new", tmp_path / "x", "-i", web.graph.path).code == 2
    assert run_command("study", "report", tmp_path / "nowhere").code == 2


def made(web: Web, folder: Path, *options: object) -> dict[str, Any]:
    """What `study new` says in JSON."""
    ran = run_command("study", "new", folder, *options, "-i", web.graph.path, "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_unknown_addresses_are_chopped(web: Web, tmp_path: Path) -> None:
    """Ten of the 59 pages of 1999 (Table 4) have no in-links in the store: raters see them, the results are A's."""
    longer = "https://a.example/sold/out.html"
    told = made(web, tmp_path / "trial", longer, "nowhere.example/x", "-m", "cocitation")
    assert told["chopped"] == {longer: A}
    assert told["unknown"] == ["https://nowhere.example/x"]
    study, own = read(tmp_path / "trial"), made(web, tmp_path / "own", A, "-m", "cocitation")
    assert {item.query for item in study.items} == {longer}
    assert (study.in_degree, len(study.items)) == ({longer: 0}, own["items"])
    assert {item.page for item in study.items} == {item.page for item in read(tmp_path / "own").items}
    told = made(web, tmp_path / "both", longer, "-m", "cocitation", "-m", "companion(chop=none)")
    answers = {run.name: run.of(longer) for run in read(tmp_path / "both").runs}
    assert answers["cocitation"] and not answers["companion(chop=none)"]  # Companion, as in the paper, doesn't chop
    ran = run_command("study", "new", tmp_path / "said", longer, "-i", web.graph.path)
    assert f"{longer} isn't in this store; its results are for {A}" in ran.err


def run_file(folder: Path, *rows: str) -> Path:
    path = folder / f"{len(rows)}.run"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_another_system_joins_by_a_trec_run(web: Web, tmp_path: Path) -> None:
    """Its name is the tag; its order is that of the scores; pages that the store doesn't have are rated too."""
    rows = [
        f"{A} Q0 https://new.example/ 3 1 netscape",
        "a.example Q0 www.b.example 2 2.5 netscape",
        f"{A} Q0 a.example 1 9 netscape",
        f"https://other.example/ Q0 {B} 1 9 netscape",
        f"{C} Q0 {B} 1 9 excite",
    ]
    told = made(web, tmp_path / "trial", A, C, "-m", "cocitation", "--run", run_file(tmp_path, *rows))
    study = read(tmp_path / "trial")
    pages = {item.id: item.page for item in study.items}
    answers = {run.name: {query: [pages[one] for one in of] for query, of in run.answers.items()} for run in study.runs}
    assert answers["netscape"] == {A: [B, "https://new.example/"], C: []}
    assert answers["excite"] == {A: [], C: [B]}
    assert B in answers["cocitation"][A]
    assert sorted(item.page for item in study.items if item.query == A).count(B) == 1
    assert told["notes"] == [
        "netscape: ignored 1 topic not in this study, e.g. other.example",
        "netscape: 1 of 2 results not in this store; raters see only the address, e.g. https://new.example/",
    ]
    assert "netscape" not in (tmp_path / "trial" / "rate.html").read_text()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([f"{A} Q0 {B} 1 9 x", f"{A} Q0 {C} 2 8"], "line 2: 5 fields instead of six; a row is: topic Q0 page rank"),
        ([f"{A}\t1\t{B}"], "line 1: 3 fields instead of six"),
        ([f"{A} Q0 {B} 1 nan x"], "line 1: the score 'nan' isn't a number"),
        ([f"{A} Q0 {B} first 9 x"], "line 1: the rank 'first' isn't a number"),
        ([f"{A} Q0 {B} 1 9 x", f"{A} Q0 {C} 1 8 x"], "line 2: x has rank 1 for https://a.example/ twice"),
        ([f"{A} Q0 {B} 1 9 x", f"{A} Q0 b.example 2 8 x"], "line 2: x has b.example twice for https://a.example/"),
        ([f"{A} Q0 http://[x 1 9 x"], "line 1: invalid address"),
        ([f"q1 Q0 {B} 1 9 x"], "no topic of x is a query page of this study, such as name:q1"),
        ([f"{A} Q0 {B} 1 9 cocitation"], "Two runs have the same name"),
        (["# nothing"], "has no results: a row of a TREC run is: topic Q0 page rank score tag"),
    ],
)  # fmt: skip
def test_wrong_runs(web: Web, tmp_path: Path, rows: list[str], message: str) -> None:
    path = run_file(tmp_path, *rows)
    ran = run_command("study", "new", tmp_path / "trial", A, "-m", "cocitation", "--run", path, "-i", web.graph.path)
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "trial").exists()


def study_of(sizes: list[int]) -> Study:
    """A study; `sizes` are the numbers of results of its queries."""
    items = [Item(f"{n:02d}{m:03d}", f"q{n}", "", f"p{m}", "") for n, size in enumerate(sizes) for m in range(size)]
    return Study(items, [], {f"q{n}": 0 for n in range(len(sizes))}, 10)


@given(
    sizes=st.lists(st.integers(0, 20), min_size=1, max_size=30),
    raters=st.integers(1, 6),
    overlap=st.floats(0, 1),
    shared_by=st.integers(2, 4),
    seed=st.integers(0, 5),
)
def test_shares_are_balanced(sizes: list[int], raters: int, overlap: float, shared_by: int, seed: int) -> None:
    study, names = study_of(sizes), [f"r{n}" for n in range(raters)]
    found = assign(study, names, None, overlap, shared_by, seed)
    assert found == assign(study, names[::-1], None, overlap, shared_by, seed)  # the same, in whatever order
    times = Counter(query for of in found.raters.values() for query in of)
    several = min(shared_by, raters)
    assert set(times) == set(study.in_degree)
    assert Counter(times.values()) == Counter(
        several if n < round(overlap * len(sizes)) else 1 for n in range(len(sizes))
    )
    loads = [len(found.share(name)) for name in names]
    assert max(loads) - min(loads) <= max(sizes)


def test_raters_rate_pages_of_their_own(web: Web, tmp_path: Path) -> None:
    """As in 1999, where each volunteer named pages; C has no owner, and goes to whom has less."""
    queries = tmp_path / "queries.txt"
    queries.write_text(f"{A}\tAnna\n{C}\n")
    told = made(web, tmp_path / "trial", "--file", queries, "--rater", "ben", "--overlap", "0", "-m", "cocitation")
    study = read(tmp_path / "trial")
    assert study.raters == {"anna": [A], "ben": [C]}
    assert told["raters"] == {name: len(study.share(name)) for name in ("anna", "ben")}
    names = {path.name for path in (tmp_path / "trial").iterdir()}
    assert names == {"study.json", "rate-anna.html", "rate-ben.html", "ratings-anna.csv", "ratings-ben.csv"}
    assert read_sheet(tmp_path / "trial" / "ratings-ben.csv") == {item.id for item in study.share("ben")}
    page = (tmp_path / "trial" / "rate-ben.html").read_text()
    assert "Save ratings-ben.csv" in page
    assert re.findall(r'<h2>.*?href="(.*?)"', page, re.DOTALL) == [C]
    ran = run_command("study", "rate", tmp_path / "trial", "--rater", "Ben", stdin="1\nq\n")
    assert f"Rated 0 of {told['raters']['ben']}." in ran.out
    assert list(read_ratings(tmp_path / "trial" / "ratings-ben.csv", study, ReadReport()).values()) == ["1"]
    ran = run_command("study", "rate", tmp_path / "trial")
    assert (ran.code, "Unknown rater ''" in ran.err) == (2, True)
    bad = run_command("study", "new", tmp_path / "bad", A, "--rater", "../x", "-i", web.graph.path)
    assert "A rater's name must have" in bad.err


def read_sheet(path: Path) -> set[str]:
    """The ids of a sheet."""
    return {row.partition(",")[0] for row in path.read_text("utf-8-sig").splitlines()[1:]}


def test_the_report_has_raters_agreement_and_corrected_tests(web: Web, tmp_path: Path) -> None:
    """Three methods are three pairs: Holm's correction counts the smallest p-value three times."""
    folder, methods = (
        tmp_path / "trial",
        [each for name in ("cocitation", "proximity", "walk") for each in ("-m", name)],
    )
    told = made(web, folder, A, B, C, "--rater", "anna", "--rater", "ben", "--overlap", "1", *methods)
    study = read(folder)
    assert told["raters"] == {"anna": len(study.items), "ben": len(study.items)}
    write_ratings(
        study, folder / "ratings-anna.csv", {item.id: "10"[n % 2] for n, item in enumerate(study.items)}, "anna"
    )
    write_ratings(
        study, folder / "ratings-ben.csv", {item.id: "10"[n % 2] for n, item in enumerate(study.items)}, "ben"
    )
    report = json.loads(run_command("study", "report", folder, "--html", tmp_path / "r.html", "--json").out)
    assert [row["rater"] for row in report["raters"]] == ["anna", "ben"]
    assert report["raters"][0]["rated"] == len(study.items) == report["raters"][0]["to rate"]
    assert [(row["agreement"], row["value"]) for row in report["agreement"]] == [
        ("equal pairs of ratings", 1), ("Fleiss' κ", 1), ("Krippendorff's α", 1),
    ]  # fmt: skip
    for table, tests in (("significance", ("sign", "signed ranks")), ("significance_1999", ("sign", "sum of ranks"))):
        rows = [row for row in report[table] if row["queries"] == "all"]
        assert len(rows) == 3
        for test in tests:
            given, corrected = ([row[f"{test}, {kind}"] for row in rows] for kind in ("p", "Holm"))
            assert corrected == pytest.approx(holm(given), rel=0.1)  # shown with two digits
    html = (tmp_path / "r.html").read_text()
    assert "<h2>Agreement</h2>" in html and "<h2>Raters</h2>" in html and "signed ranks, Holm" in html


def test_without_nltk_the_report_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = read(folder)
    for name in ("anna", "ben"):
        write_ratings(study, folder / f"ratings-{name}.csv", {study.items[0].id: "1", study.items[1].id: "0"})
    monkeypatch.setitem(sys.modules, "nltk.metrics.agreement", None)
    ran = run_command("study", "report", folder)
    assert ran.code == 0
    assert "pip install 'cocite[study]'" in ran.out
