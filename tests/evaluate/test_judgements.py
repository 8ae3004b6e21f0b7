"""Judgements and runs from files: both forms, bad rows counted, whatever a spreadsheet or a stranger put in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.evaluate.judgements import page_of, read_judgements, read_run
from cocite.sources.records import ReadReport


def test_tabs(tmp_path: Path) -> None:
    file = tmp_path / "j.tsv"
    file.write_bytes(
        b"\xef\xbb\xbfquery\tpage\trating\r\n# a remark\r\nhttps://www.a.example/\tb.example\t1\r\n\r\n"
        b"a.example\tc.example\t0\r\na.example\thttp://b.example/#x\t2\r\na.example\td.example\t-1\r\n"
        b"a.example\te.example\tgood\r\nonly-one-field\r\na.example\t\r\n"
    )
    report = ReadReport()
    found = read_judgements(file, report)
    assert found.ratings == {"a.example": {"b.example": 2, "c.example": 0, "d.example": -1}}
    assert found.right("a.example") == {"b.example"}
    assert found.right("unknown.example") == set()
    assert found.repeated == 1
    assert report.skipped == {"rating that isn't a number": 1, "no address given": 2}


def test_without_ratings_and_compressed(tmp_path: Path) -> None:
    file = tmp_path / "j.tsv.gz"
    file.write_bytes(gzip.compress(b"a.example\tb.example\na.example\tb.example\n"))
    assert read_judgements(file, ReadReport()).ratings == {"a.example": {"b.example": 1}}


@pytest.mark.parametrize(
    ("content", "ratings", "skipped"),
    [
        ("Query\tPage\na.example\tb.example\n", {"a.example": {"b.example": 1}}, {}),  # names of columns
        ("alice\tbob\n", {"name:alice": {"name:bob": 1}}, {}),  # names of pages
        ("a.example\tb.example\t\n", {"a.example": {"b.example": 1}}, {}),  # no rating
        (
            "a.example\tc.example\tgood\na.example\tb.example\n",
            {"a.example": {"b.example": 1}},
            {"rating that isn't a number": 1},  # also in the first row
        ),
    ],
)
def test_first_rows(
    tmp_path: Path, content: str, ratings: dict[str, dict[str, float]], skipped: dict[str, int]
) -> None:
    (tmp_path / "j.tsv").write_text(content)
    report = ReadReport()
    assert read_judgements(tmp_path / "j.tsv", report).ratings == ratings
    assert report.skipped == skipped


def test_trec(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run.txt"
    qrels.write_text("a.example 0 b.example 1\na.example 0 c.example 0\n")
    run.write_text(
        "a.example Q0 c.example 2 0.5 mine\na.example Q0 b.example 1 0.9 mine\na.example Q0 b.example 3 0.1 mine\n"
    )
    assert read_judgements(qrels, ReadReport()).ratings == {"a.example": {"b.example": 1, "c.example": 0}}
    found = read_run(run, ReadReport())
    assert found.name == "run.txt"
    assert found.of("a.example") == ["b.example", "c.example"]
    assert found.of("z.example") == []


def test_the_second_field_of_a_trec_run_does_not_matter(tmp_path: Path) -> None:
    run = tmp_path / "run.txt"
    run.write_text("q 0 b.example 2 0.1 mine\nq 0 a.example 1 0.9 mine\n")
    assert read_run(run, ReadReport()).of("name:q") == ["a.example", "b.example"]


def test_a_header_may_follow_comments(tmp_path: Path) -> None:
    file = tmp_path / "j.tsv"
    file.write_text("# made by hand\n\nquery\tpage\na.example\tb.example\nquery\tpage\n")
    assert list(read_judgements(file, ReadReport()).ratings) == ["a.example", "name:query"]  # only the first row is one


def test_runs_with_bad_rows(tmp_path: Path) -> None:
    file, report = tmp_path / "run.tsv", ReadReport()
    file.write_text("query\trank\tanswer\nq.example\t2\tb.example\nq.example\t1\ta.example\tmore\nq.example\tx\tc\nq\n")
    assert read_run(file, report).of("q.example") == ["a.example", "b.example"]
    assert report.skipped == {"rank that isn't a number": 1, "row with fewer than three fields": 1}


@pytest.mark.parametrize("read", [read_judgements, read_run])
def test_files_of_nothing(tmp_path: Path, read: object) -> None:
    file = tmp_path / "file"
    for content in (b"", b"\n\n", b"# remark\n", b"\x00\xff" * 100):
        file.write_bytes(content)
        with pytest.raises(BadSource, match="a row is query<TAB>"):
            read(file, ReadReport())  # type: ignore[operator]


@given(content=st.binary(max_size=200) | st.text(st.sampled_from("a.com\t 0Q1\n\r"), max_size=200).map(str.encode))
def test_whatever_is_in_a_file(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "strange"
    file.write_bytes(content)
    for read in (read_judgements, read_run):
        try:
            read(file, ReadReport())
        except BadSource as error:
            assert "\n" not in str(error)


def test_spellings_are_one_page() -> None:
    assert page_of("HTTP://WWW.Example.com:80/index.html?utm_source=x") == page_of("example.com")


def test_trec_runs_are_in_the_order_of_their_scores(tmp_path: Path) -> None:
    """As trec_eval has it, whatever the ranks say; of equal scores the lower rank is first."""
    file, report = tmp_path / "run.txt", ReadReport()
    file.write_text(
        "q.example Q0 a.example 0 0.5 me\nq.example Q0 b.example 0 0.9 me\nq.example Q0 c.example 3 0.1 me\n"
        "q.example Q0 d.example 2 0.1 me\nq.example Q0 q.example 1 7 me\nq.example Q0 e.example 1 high me\n"
    )
    assert read_run(file, report).of("q.example") == ["b.example", "a.example", "d.example", "c.example"]
    assert report.skipped == {"result that is the query itself, skipped": 1, "score that isn't a number": 1}


def test_pairs_given_twice(tmp_path: Path) -> None:
    file = tmp_path / "j.tsv"
    file.write_text("q.example\ta.example\t0\n" * 2 + "q.example\ta.example\t1\nq.example\tb.example\t-1\n")
    found = read_judgements(file, ReadReport())
    assert found.ratings == {"q.example": {"a.example": 1, "b.example": -1}}
    assert (found.repeated, found.contradicted) == (2, 1)
