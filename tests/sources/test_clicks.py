"""Click logs: both layouts, and whatever strangers put into them."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources.clicks import Trail, detect_clicks, read_clicks
from cocite.sources.records import ReadReport


def read(place: Path, content: bytes | str, kind: str | None = None) -> tuple[list[Trail], ReadReport]:
    file, report = place / "clicks", ReadReport()
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_clicks(file, report, kind)), report


def click(source: str, target: str, times: float) -> Trail:
    return Trail([source, target], [(0, 1)], times)


def test_transitions(place: Path) -> None:
    text = "from\tto\tcount\nhttps://a.example/\thttps://b.example/\t12\n# a remark\n\n x.example \ty.example\t1.5\r\n"
    found, report = read(place, text)
    assert found == [
        click("https://a.example/", "https://b.example/", 12),
        click("x.example", "y.example", 1.5),
    ]
    assert report.read["rows"] == 2
    assert not report.skipped
    assert read(place, text.split("\n", 1)[1])[0] == found  # without the header


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes], ids=["gz", "zst", "plain"])
def test_compressed(place: Path, pack: type[bytes]) -> None:
    assert read(place, pack(b"\xef\xbb\xbfa\tb\t1\nc\td\t2\n"))[0] == [click("a", "b", 1), click("c", "d", 2)]


def test_wikipedias_clickstream(place: Path) -> None:
    found, _ = read(place, "other-search\tCat\tother\t300\nCat\tDog\tlink\t25\nprev\tDog\texternal\t1\n")
    assert found == [click("other-search", "Cat", 300), click("Cat", "Dog", 25), click("prev", "Dog", 1)]


def test_sessions(place: Path) -> None:
    found, report = read(place, "a;b;c\na\tb\nonly\n")
    assert found == [Trail(["a", "b", "c"], [(0, 1), (1, 2)]), Trail(["a", "b"], [(0, 1)])]
    assert report.read["sessions of one page"] == 1


def test_back_clicks_as_in_wikispeedia(place: Path) -> None:
    # a → b, back to a, a → c → d, back twice to a, a → e; then back once too often
    found, report = read(place, "a;b;<;c;d;<;<;e\nx;<;y;z\n")
    assert found[0] == Trail(["a", "b", "c", "d", "e"], [(0, 1), (0, 2), (2, 3), (0, 4)])
    assert found[1] == Trail(["x", "y", "z"], [(0, 1), (1, 2)])
    assert report.skipped == {"click on back at the first page": 1}


def test_bad_rows_are_counted_by_reason(place: Path) -> None:
    rows = [
        "a\tb\t1", "a\tb", "\tb\t1", "a\t\t1", "a\tb\tmany", "a\tb\t", "a\tb\t0", "a\tb\t-3", "a\tb\tnan", "a\tb\tinf",
        "a\tb\t1e300", "a\tb\t1\t2\t3", "a\tb\tc\t4", "c\td\t2", "e\tf\t3",
    ]  # fmt: skip
    found, report = read(place, "\n".join(rows), "transitions")
    assert found == [click("a", "b", 1), click("c", "d", 2), click("e", "f", 3)]
    assert report.skipped == {
        "row without from, to and count": 3,
        "row with an invalid count or too many columns": 4,
        "row with a count that is not positive": 3,
        "row with a count over 1e+15": 2,
    }
    assert report.read["rows"] == len(rows)


def test_sessions_with_gaps(place: Path) -> None:
    found, report = read(place, "a;b;;c;d\n;e;f;\n", "sessions")
    assert found == [
        Trail(["a", "b", "c", "d"], [(0, 1), (2, 3)]),  # nobody knows what was between b and c
        Trail(["e", "f"], [(0, 1)]),
    ]
    assert report.skipped == {"session with an empty address": 3}


def test_invalid_text_is_counted(place: Path) -> None:
    found, report = read(place, b"\xff\xfe\x00\nPNG\x00\x01\na\tb\t1\n\x89\x50;\x80\n")
    assert (found, sum(report.skipped.values())) == ([click("a", "b", 1)], 3)
    assert set(report.skipped) == {"row that is not UTF-8 text", "row with a NUL character"}
    assert read(place, b"")[0] == []
    assert read(place, b"\n\n \n#\n")[0] == []


def test_long_lines(place: Path) -> None:
    text = "x" * 100_000 + "\ty\t1\n" + "p;" * 50_000 + "q\n" + "z" * (1 << 21) + "\na\tb\t1\n"
    found, report = read(place, text, "transitions")
    assert found == [click("x" * 100_000, "y", 1), click("a", "b", 1)]
    assert report.skipped == {
        "line longer than 1 MiB": 1,
        "row with an invalid count or too many columns": 1,
    }
    assert all(len(example) <= 250 for example in report.example.values())
    session, _ = read(place, "p;" * 50_000 + "q\n")
    assert len(session[0].steps) == 50_000


def test_strict_and_wrong_kinds(place: Path) -> None:
    (place / "clicks").write_text("a\tb\n")
    with pytest.raises(BadSource, match="row without from, to and count"):
        list(read_clicks(place / "clicks", ReadReport(strict=True), "transitions"))
    with pytest.raises(BadSource, match="Unknown kind of click log 'links': use transitions or sessions"):
        list(read_clicks(place / "clicks", ReadReport(), "links"))
    with pytest.raises(BadSource, match="Cannot read"):
        list(read_clicks(place / "none", ReadReport()))


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"a\tb\t3\n", "transitions"),
        (b"from\tto\tn\na\tb\t3\n", "transitions"),
        (b"10\t12\t15\t16\n10\t12\t7\n1\t2\n", "sessions"),  # ids; only one row has three
        (b"a;b;c\n", "sessions"),
        (b"", "sessions"),
    ],
)
def test_layouts_are_detected(start: bytes, kind: str) -> None:
    assert detect_clicks(start) == kind


@given(st.lists(st.binary(max_size=40) | st.text("ab<;\t01.e-\n", max_size=40).map(str.encode), max_size=6))
def test_nothing_crashes(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for kind in (None, "transitions", "sessions"):
            try:
                found = read(Path(folder), b"\n".join(lines), kind)[0]
            except BadSource:  # the first bytes of an archive
                continue
            for trail in found:
                assert 0 < trail.times <= 1e15
                assert all(trail.pages)
                assert all(0 <= a < b < len(trail.pages) for a, b in trail.steps)
