"""What the readers of link lists share."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources import link_list
from cocite.sources.link_list import checked_base, decoded, files, own_address, web_link, whole
from cocite.sources.records import Report

PAGE = "https://example.org/a/b?c"


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("https://x.org/", "https://x.org/"),
        (" HTTP://X.org/\n a\tb ", "HTTP://X.org/ab"),
        ("//x.org/y", "https://x.org/y"),
        ("d", "https://example.org/a/d"),
        ("../d#e", "https://example.org/d#e"),
        ("?d", "https://example.org/a/b?d"),
        ("#d", None),
        ("b?c#d", None),
        ("", None),
        ("mailto:x@y.org", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("https://", None),
        ("//[", None),
    ],
)
def test_web_links(href: str, address: str | None) -> None:
    assert web_link(PAGE, href) == address


def test_files_are_sorted_and_hidden_ones_left_out(tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "a", "c", ".git/x", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert [path.relative_to(tmp_path).as_posix() for path in files(tmp_path)] == ["a", "c", "b/a", "b/z"]


def test_a_list_that_is_too_long_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_list, "MAX_FILE", 10)
    path = tmp_path / "x"
    path.write_bytes(b"x" * 10)
    report = Report()
    assert whole(path, report) == b"x" * 10
    path.write_bytes(b"x" * 11)
    assert whole(path, report) is None
    assert sum(report.skipped.values()) == 1


def test_addresses_and_bases() -> None:
    assert own_address(Path("/home/me/Ünïcode  List.v2.html"), b"x", None) == "https://ncode-list-2d711642.example/"
    assert own_address(Path("日本.html"), b"x", None) == "https://links-2d711642.example/"
    assert own_address(Path("x"), b"x", " https://a.example/ ") == "https://a.example/"
    with pytest.raises(BadSource, match="no web address: give one such as https"):
        checked_base("/home/me")


def test_decoding() -> None:
    assert decoded(b"\xef\xbb\xbfcaf\xc3\xa9") == decoded(b"caf\xe9") == decoded("café".encode("utf-16")) == "café"
