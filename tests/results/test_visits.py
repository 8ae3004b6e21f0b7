"""Visits: files that have them, what each counts, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.results.visits import DAY_SECONDS, Visit, read_history, time_of, weights_of

FOLDER = '<DL><DT><H3>F</H3><DL><DT><A HREF="https://a.example/">A</A></DL></DL>'
MAY = 1_778_976_000.0  # 2026-05-17, in seconds since 1970
LINES = "\ufeff# read lately\nq.example\t2.5\n\n https://other0.example/ \nmany.example/0\t 1 \t2026-05-17\t90\n"
READ = [Visit("q.example", 2.5), Visit("https://other0.example/"), Visit("many.example/0", 1.0, MAY, 90.0)]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("history.tsv", LINES, READ),
        ("history.txt", "a, b.example/c\n", [Visit("a, b.example/c")]),
        ("table.csv", 'title,URL,Seconds,date\n"A, b",a.example,30,2026-05-17\nB,b.example,,\n',
         [Visit("a.example", 1.0, MAY, 30.0), Visit("b.example")]),
        ("table.tsv", "title\turl\tvisits\n\ta.example\t3\n", [Visit("a.example", 3.0)]),
        ("records.jsonl", '{"url": "a.example", "captured": "2026-05-17", "links": []}\n{"url": "b.example"}\n',
         [Visit("a.example", date=MAY), Visit("b.example")]),
        ("list.json", '["a.example", {"url": "b.example", "dwell": 5}]',
         [Visit("a.example"), Visit("b.example", dwell=5)]),
        ("bookmarks.html", f'<!DOCTYPE NETSCAPE-Bookmark-file-1>{FOLDER}',
         [Visit("https://a.example/")]),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, name: str, content: str, expected: list[Visit]) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert read_history(tmp_path / name) == expected


def test_captures_of_an_archive_are_visits(tmp_path: Path) -> None:
    import gzip

    record = {"url": "https://a.example/", "captured": "2026-05-17T00:00:00Z"}
    with gzip.open(tmp_path / "pages.jsonl.gz", "wt") as file:
        file.write(json.dumps(record) + "\n")
    assert read_history(tmp_path / "pages.jsonl.gz") == [Visit("https://a.example/", date=MAY)]


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much", "1e10"])
def test_a_file_with_a_wrong_weight(tmp_path: Path, weight: str) -> None:
    file = tmp_path / "history.tsv"
    file.write_text(f"a.example\t1\nq.example\t{weight}\n")
    with pytest.raises(BadParameter, match=r"line 2 of .*: a weight must be a number above 0, not "):
        read_history(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# nothing\n", "contains no address"),
        (b"\xff\xfe\x00\x80", "cannot read the history"),
        (None, "cannot read the history"),
        (b"a.example\t1\tyesterday\n", r"line 1 of .*: a date must be such as 2026-05-17"),
        (b"a.example\t1\t2026-05-17\t-5\n", r"line 1 of .*: a dwell time must be a number of seconds"),
        (b"url,date\n,2026-05-17\n", r"line 2 of .* has no url"),
        (b'{"url": "a.example"\n', "is not valid JSON"),
        (b'{"url": ' + b"[" * 100_000, "is not valid JSON"),
        (b"url,date\n", "contains no address"),
        (b"url,date\na.example,9999-99-99\n", r"line 2 of .*: a date must be such as"),
        (b"[]", "contains no address"),
        (b"[1]", r"record 1 of .* is not an object"),
        (b'{"url": 5}\n', r"record 1 of .* has no url"),
        (b"<p>no list</p>", "neither bookmarks nor OPML"),
    ],
)
def test_files_that_are_not_histories(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "history").write_bytes(content)
    with pytest.raises(BadParameter, match=message):
        read_history(tmp_path / "history")


def test_dates() -> None:
    for text in ("2026-05-17", "2026-05-17T00:00:00Z", "2026-05-17T02:00+02:00", MAY, int(MAY * 1e3), int(MAY * 1e6)):
        assert time_of(text, "here") == MAY, text


VISITS = st.lists(
    st.builds(
        Visit, st.sampled_from(["a", "b", "c"]), st.floats(0.5, 3),
        st.none() | st.floats(MAY, MAY + 90 * DAY_SECONDS), st.none() | st.floats(0, 900),
    ), max_size=6,
)  # fmt: skip


@given(VISITS, st.sampled_from([0.0, 1.0, 30.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_what_visits_count(visits: list[Visit], half_life: float, decay: float) -> None:
    """Against the formula, written down visit by visit."""
    dated = [visit.date for visit in visits if visit.date is not None]
    ordered = sorted(visits, key=lambda visit: visit.date or 0) if len(dated) == len(visits) else visits
    expected = []
    for at, visit in enumerate(ordered):
        read = 1.0 if visit.dwell is None else 2 * visit.dwell / (visit.dwell + 30)
        days = 0.0 if visit.date is None or not half_life else (max(dated) - visit.date) / DAY_SECONDS / half_life
        weight = visit.weight * read * 2**-days * (decay ** (len(ordered) - 1 - at))
        expected += [(visit.url, pytest.approx(weight))]
    assert weights_of(visits, half_life, decay) == expected
