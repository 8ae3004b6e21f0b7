"""What the readers of link lists share."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources.collections import link_list
from cocite.sources.collections.link_list import decoded, list_address, read_list_file, web_link
from cocite.sources.folders import checked_base, walk_files, walk_names
from cocite.sources.records import ReadReport

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


def test_files_are_sorted_and_hidden_files_skipped(tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "a", "c", ".git/x", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert [path.relative_to(tmp_path).as_posix() for path in walk_files(tmp_path)] == ["a", "c", "b/a", "b/z"]


def made(folder: Path, *names: str) -> None:
    """Files of these names, with something in them."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(folder: Path) -> list[str]:
    """What is to be read of a folder."""
    return [path.relative_to(folder).as_posix() for path in walk_files(folder)]


@pytest.mark.parametrize("sign", ["part-0.parquet", "_SUCCESS", "day=2/x.jsonl"])
def test_names_with_an_underscore_are_skipped_in_tables(tmp_path: Path, sign: str) -> None:
    made(tmp_path, sign, "_pages.json", "_work/groups.json", "_delta_log/0.json", "_index.md", "a/_b/c")
    assert set(found(tmp_path)) == {"_index.md", sign, "a/_b/c"} - {"_SUCCESS"}


def test_elsewhere_they_are_but_for_parquet(tmp_path: Path) -> None:
    made(tmp_path, "index.html", "_modules/a.html", "_static/data.parquet", "_static/x.txt", "a/b.parquet")
    assert found(tmp_path) == ["index.html", "_modules/a.html", "_static/x.txt", "a/b.parquet"]


@pytest.mark.parametrize("sign", ["_temporary/0/x", "a/b/_temporary/0/x", "_work/plan.json", "a/_work/plan.json"])
def test_an_unfinished_folder_is_refused(tmp_path: Path, sign: str) -> None:
    made(tmp_path, "part-0.parquet", "a/b/part-0.parquet", sign)
    where = tmp_path / sign.partition("_")[0]
    with pytest.raises(
        BadSource, match=rf"^{where} is incomplete: wait for the job that writes it, or run that job again"
    ):
        found(tmp_path)


def test_a_job_that_is_done_is_known_before_its_steps_are_removed(tmp_path: Path) -> None:
    made(tmp_path, "group=00000/a.parquet", "_work/plan.json", "_pages.json")
    assert found(tmp_path) == ["group=00000/a.parquet"]


def test_a_list_that_is_too_long_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_list, "MAX_FILE", 10)
    path = tmp_path / "x"
    path.write_bytes(b"x" * 10)
    report = ReadReport()
    assert read_list_file(path, report) == b"x" * 10
    path.write_bytes(b"x" * 11)
    assert read_list_file(path, report) is None
    assert sum(report.skipped.values()) == 1


def test_addresses_and_bases() -> None:
    assert (
        list_address(Path("/home/me/Ünïcode  List.v2.html"), b"x", None)
        == "https://ncode-list-2d711642b726b0440162.example/"
    )
    assert list_address(Path("日本.html"), b"x", None) == "https://links-2d711642b726b0440162.example/"
    assert list_address(Path("x"), b"x", " https://a.example/links ") == "https://a.example/links"
    under = [list_address(Path(f"/home/me/{name}"), b"x", "https://a.example/") for name in ("feeds.opml", "my links")]
    assert under == ["https://a.example/feeds.opml", "https://a.example/my%20links"], "lists under one base differ"
    with pytest.raises(BadSource, match="give a web address such as https"):
        checked_base("/home/me")


def test_decoding() -> None:
    assert decoded(b"\xef\xbb\xbfcaf\xc3\xa9") == decoded(b"caf\xe9") == decoded("café".encode("utf-16")) == "café"


def test_folders_that_cannot_be_listed_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.md", "b/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    scandir, why = os.scandir, [errno.EACCES]

    def failing(folder: Path) -> object:
        if folder == tmp_path / "b":
            raise OSError(why[0], os.strerror(why[0]), str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", failing)
    report = ReadReport()
    assert list(walk_names(tmp_path, report)) == ["a.md"]
    assert report.skipped == {"folder that can't be listed": 1} and str(tmp_path / "b") in str(report.example)
    assert list(walk_names(tmp_path)) == ["a.md"]
    why[0] = errno.EIO  # it may be there the next time
    assert list(walk_names(tmp_path, report)) == ["a.md"]
    with pytest.raises(OSError, match="Input/output error"):
        list(walk_names(tmp_path))
