"""Attacks by source files: time and memory stay in proportion to the file. The tests' timeout ends one that hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.sources.collections.link_list import web_link
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport


def rows_of(path: Path, kind: str | None = None) -> tuple[int, ReadReport]:
    """How many records a source has, and what was skipped."""
    report = ReadReport()
    return sum(batch.num_rows for batch in open_source(str(path), report, kind=kind).records()), report


def warc(head: bytes) -> bytes:
    """A WARC file of one response with one link, and more lines in the head of the response."""
    http = b"HTTP/1.1 200 OK\r\n" + head + b"\r\nContent-Type: text/html\r\n\r\n<a href=https://b.example/>b</a>"
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


def test_an_address_of_blanks() -> None:
    """A megabyte of spaces took an hour; addresses with line breaks are read as browsers read them."""
    assert web_link("https://a.example/", "https://b.example/" + " " * (1 << 20) + "x") is not None
    assert web_link("https://a.example/", " https://b.example/c \n d\t/e ") == "https://b.example/cd/e"
