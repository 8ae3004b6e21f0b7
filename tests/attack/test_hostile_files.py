"""Attacks by source files: time and memory stay in proportion to the file. The tests' timeout ends one that hangs."""

from __future__ import annotations

import gzip
import os
import random
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cocite.site.read import list_files
from cocite.sources.archives.archive_records import DAMAGED_PART
from cocite.sources.collections.link_list import web_link
from cocite.sources.open_source import open_source
from cocite.sources.parquet import DAMAGED_GROUP, _idle
from cocite.sources.parquet_worker import MEMORY_BYTES
from cocite.sources.records import ReadReport
from tests.conftest import long
from tests.faults.dying import in_child

GIB = 1 << 30


def rows_of(path: Path, kind: str | None = None) -> tuple[int, ReadReport]:
    """How many records a source has, and what was skipped."""
    report = ReadReport()
    return sum(batch.num_rows for batch in open_source(str(path), report, kind=kind).records()), report


def warc(head: bytes, text: bytes = b"") -> bytes:
    """A WARC file of one response with one link, and more in its head or in its text."""
    html = b"<a href=https://b.example/>b</a>" + text
    http = b"HTTP/1.1 200 OK\r\n" + head + b"\r\nContent-Type: text/html\r\n\r\n" + html
    about = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\n"
    kind = b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n" % len(http)
    return about + kind + http + b"\r\n\r\n"


@pytest.mark.parametrize(
    "line", [b"a" * 60_000, b"a\t" * 30_000, b"\t" * 60_000, b"a:" + b"\r\n " * 20_000, b"x\r" * 30_000]
)
def test_a_long_header_line_without_a_colon(tmp_path: Path, line: bytes) -> None:
    """A line of 64 kB took minutes: every byte of it was tried as the beginning of a name."""
    (tmp_path / "a.warc").write_bytes(warc(line))
    rows, _ = rows_of(tmp_path / "a.warc")
    assert rows == 1


def damaged_at(member: bytes, how: str) -> bytes:
    """A compressed record with damage."""
    at = {"head": 12, "middle": len(member) // 2, "checksum": len(member) - 6, "magic": 0, "cut": 0}[how]
    changed = member[:at] + bytes([member[at] ^ 0x55]) + member[at + 1 :]
    return member[: len(member) // 2] if how == "cut" else changed


@pytest.mark.parametrize("how", ["head", "middle", "checksum", "magic", "cut"])
@pytest.mark.parametrize("size", [200, 200_000])
def test_one_damaged_member_of_a_warc_file_costs_one_record(tmp_path: Path, how: str, size: int) -> None:
    """All records behind it were lost, and no report said how many bytes."""
    noise = random.Random(1)
    members = [gzip.compress(warc(b"X: y", noise.randbytes(size // 2).hex().encode())) for _ in range(6)]
    members[2] = damaged_at(members[2], how)
    (tmp_path / "a.warc.gz").write_bytes(b"".join(members))
    rows, report = rows_of(tmp_path / "a.warc.gz")
    assert rows in ([5] if size == 200 else [5, 6])  # of a long record, the beginning may be readable
    assert report.skipped == {DAMAGED_PART: 1}
    assert report.read["bytes in damaged parts of archives"] == len(members[2])
    assert f"from byte {len(b''.join(members[:2])):,} on" in report.example[DAMAGED_PART]


def test_a_folder_with_a_link_to_itself_and_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "self.html").symlink_to("self.html")
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "page.html").write_text('<a href="https://b.example/">b</a>')
    assert list(list_files(tmp_path).found) == ["page.html"]
    for kind in (None, "html"):
        source = open_source(str(tmp_path), ReadReport(), base="https://a.example/", kind=kind)
        assert sum(batch.num_rows for batch in source.records()) == 1


def test_an_address_of_blanks() -> None:
    """A megabyte of spaces took an hour; addresses with line breaks are read as browsers read them."""
    assert web_link("https://a.example/", "https://b.example/" + " " * (1 << 20) + "x") is not None
    assert web_link("https://a.example/", " https://b.example/c \n d\t/e ") == "https://b.example/cd/e"


def repeated(text: str, times: int) -> pa.Array:
    """One text many times: a few bytes in a file."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, np.int32)), pa.array([text]))


def long_texts() -> pa.Table:
    return pa.table({"url": repeated("https://a.example/", 60_000), "text": repeated("x" * 65_000, 60_000)})


def one_long_record() -> pa.Table:
    links = pa.ListArray.from_arrays(pa.array([0, 40_000_000], pa.int32()), repeated("https://b.example/", 40_000_000))
    return pa.table({"url": ["https://a.example/"], "links": links})


@pytest.mark.parametrize("make", [long_texts, pytest.param(one_long_record, marks=long)])
def test_a_small_parquet_file_that_describes_gigabytes(tmp_path: Path, make: object) -> None:
    """528 bytes took 5.9 GB, and 668 bytes 4.2 GB. Now a process of its own refuses them, and the rest is read."""
    path, sound = tmp_path / "a.parquet", tmp_path / "b.parquet"

    def write() -> bool:
        options = {"data_page_size": GIB, "dictionary_pagesize_limit": GIB, "max_rows_per_page": GIB}
        pq.write_table(make(), path, compression="zstd", store_schema=False, **options)  # type: ignore[operator]
        pq.write_table(pa.table({"url": ["https://c.example/"]}), sound)
        return True

    def read() -> list[object]:
        before = peak(resource.RUSAGE_SELF)
        skipped = dict(rows_of(path)[1].skipped)
        rows, _ = rows_of(sound)
        took = peak(resource.RUSAGE_SELF) - before
        for worker in _idle:
            worker.end()
        return [skipped, rows, took, peak(resource.RUSAGE_CHILDREN)]

    assert in_child(write)
    assert path.stat().st_size < 1000
    skipped, rows, took, of_worker = in_child(read)
    assert skipped[DAMAGED_GROUP] == 1
    assert rows == 1
    assert took < GIB // 8
    assert of_worker < MEMORY_BYTES + GIB // 2


def peak(who: int) -> int:
    """The largest memory so far, in bytes."""
    return resource.getrusage(who).ru_maxrss << 10
