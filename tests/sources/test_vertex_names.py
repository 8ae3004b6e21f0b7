"""The dictionary of addresses and the files that it is made from."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from cocite.errors import BadSource
from cocite.sources import compressed
from cocite.sources.records import ReadReport
from cocite.sources.webgraphs import vertex_names
from cocite.sources.webgraphs.vertex_names import number_names, read_names, text_blocks


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files; nothing may be left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def names_of(tmp_path: Path, *texts: bytes, report: ReadReport | None = None) -> list[str]:
    paths = []
    for i, text in enumerate(texts):
        paths.append(tmp_path / f"part-{i}.txt.gz")
        paths[-1].write_bytes(gzip.compress(text))
    names = read_names(paths, report or ReadReport())
    names.validate(full=True)
    found: list[str] = names.to_pylist()
    return found


def test_parts_follow_each_other_and_nothing_is_left_behind(tmp_path: Path, temporary: Path) -> None:
    found = names_of(tmp_path, b"0\tcom.a\n1\tcom.b\n", b"2\tcom.c.x\t9\n3\torg.d")
    assert found == ["https://a.com/", "https://b.com/", "https://x.c.com/", "https://d.org/"]
    assert list(temporary.iterdir()) == []


def test_missing_numbers_have_no_name(tmp_path: Path) -> None:
    report = ReadReport()
    found = names_of(tmp_path, b"1\tcom.a\n4\tcom.b\nrubbish\n", b"6\tcom.c\n", report=report)
    assert found == ["", "https://a.com/", "", "", "https://b.com/", "", "https://c.com/"]
    assert report.skipped == {"vertex without a valid name": 1}
    assert report.example == {"vertex without a valid name": "rubbish"}


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    report = ReadReport()
    found = names_of(tmp_path, "0\tcom.münchen\n".encode() + b"1\tcom.m\xfcnchen\n2\tcom.c\n", report=report)
    assert found == ["https://münchen.com/", "", "https://c.com/"]
    assert report.skipped == {"vertex without a valid name": 1}


def test_one_address_a_line_keeps_the_numbers_of_lines(tmp_path: Path) -> None:
    report = ReadReport()
    found = names_of(tmp_path, b"http://a.it/\n\nhttp://b.it/\n", b"\nhttp://c.it/\n\n", report=report)
    assert found == ["http://a.it/", "", "http://b.it/", "", "http://c.it/", ""]
    assert report.skipped == {"vertex without a valid name": 3}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([b"0\ta\n0\tb\n"], "numbers must ascend"),
        ([b"3\ta\n", b"1\tb\n"], "numbers must ascend"),
        ([b"0\ta\n4000000000\tb\n"], "up to number 4,000,000,000 have no name"),
        ([b"0\ta\n999999999999999999\tb\n"], "up to number 999,999,999,999,999,999"),
        ([b"\n" * 2_000_000], "Most vertices"),
        ([b""], "has no vertex names"),
        ([b"\n\n"], "has no vertex names"),
        ([b"a" * 5_000_000], "a line of over"),
    ],
)
def test_invalid_vertex_files(tmp_path: Path, texts: list[bytes], message: str, temporary: Path) -> None:
    with pytest.raises(BadSource, match=message):
        names_of(tmp_path, *texts)
    assert list(temporary.iterdir()) == []


def test_numbered_names_are_many_and_narrow() -> None:
    names = number_names(300_000)
    assert names.type == pa.string()
    assert (len(names), names[0].as_py(), names[299_999].as_py()) == (300_000, "name:0", "name:299999")
    assert len(number_names(0)) == 0


def test_long_texts_need_wide_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vertex_names, "MAX_INT32_BYTES", 20)
    names = number_names(5)
    assert names.type == pa.large_string()
    assert names.to_pylist() == [f"name:{i}" for i in range(5)]


def test_a_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent/folder")
    with pytest.raises(BadSource, match="set TMPDIR"):
        number_names(3)


def test_a_disk_that_is_full(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    def full(path: Path) -> pa.Buffer:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vertex_names, "_map", full)
    with pytest.raises(BadSource, match="No space left on device; set TMPDIR"):
        number_names(3)
    assert list(temporary.iterdir()) == []


def test_a_file_cut_short_gives_whole_lines(tmp_path: Path) -> None:
    lines = b"".join(b"%d\t%d\n" % (i, i * 7919 % 10007) for i in range(50_000))
    packed = gzip.compress(lines)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    report = ReadReport()
    text = b"".join(block.tobytes() for block in text_blocks(tmp_path / "cut.gz", report))
    assert lines.startswith(text) and text.endswith(b"\n") and len(text) > len(lines) // 3
    assert sum(report.skipped.values()) == 1
    assert report.read["bytes"] == len(packed) // 2


def test_blocks_are_whole_lines_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "BLOCK_BYTES", 10)
    (tmp_path / "text").write_bytes(b"one\ntwo\n" + b"three" * 9 + b"\nfour\n\nfive")
    blocks = [block.tobytes() for block in text_blocks(tmp_path / "text", ReadReport())]
    assert b"".join(blocks) == b"one\ntwo\n" + b"three" * 9 + b"\nfour\n\nfive\n"
    assert all(block.endswith(b"\n") for block in blocks)
