"""Folders of HTML files: addresses, order, what is not followed."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.graph.store import Graph
from cocite.sources.html.folder import SOURCE, read_html_folder
from cocite.sources.kinds import ReadOptions
from cocite.sources.open_source import open_source
from cocite.sources.records import Page, ReadReport

BASE = "https://docs.example/manual/"


def fill(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(path: Path, base: str | None = BASE) -> tuple[list[Page], ReadReport]:
    report = ReadReport()
    return list(read_html_folder(path, report, ReadOptions(base))), report


def test_addresses_and_order(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "b/two.html": '<a href="../index.html">up</a>',
            "index.html": '<title>Start</title><a href="b/two.html">two</a>',
            "a/Über uns.htm": "x",
            "b.xhtml": "x",
            "style.css": "x",
            "b/picture.png": "x",
            ".git/no.html": "x",
            "b/.hidden.html": "x",
        },
    )
    pages, report = read(tmp_path)
    assert [page.url for page in pages] == [
        BASE + "b.xhtml",
        BASE + "index.html",
        BASE + "a/%C3%9Cber%20uns.htm",
        BASE + "b/two.html",
    ]
    assert pages[1].title == "Start"
    assert [link.url for link in pages[1].links] == [BASE + "b/two.html"]
    assert [link.url for link in pages[3].links] == [BASE + "index.html"]
    assert report.read["pages"] == 4
    assert report.read["links"] == 2
    assert [page.url for page in read(tmp_path, BASE.rstrip("/"))[0]] == [page.url for page in pages]


def test_compressed_files(tmp_path: Path) -> None:
    link = b'<a href="/x">y</a>'
    fill(
        tmp_path,
        {"a.html.gz": gzip.compress(link), "b.htm.bz2": bz2.compress(link), "notes.txt.gz": gzip.compress(link)},
    )
    pages, _ = read(tmp_path)
    assert [page.url for page in pages] == [BASE + "a.html", BASE + "b.htm"]
    assert [len(page.links) for page in pages] == [1, 1]


def test_pages_without_a_suffix_are_detected(tmp_path: Path) -> None:
    page = "<!doctype html><p>x"
    fill(tmp_path, {"about": page, "LICENSE": "words", "view.php": page, "list.php": "<?php echo 1;", "x.txt": page})
    assert [found.url for found in read(tmp_path)[0]] == [BASE + "about", BASE + "view.php"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    fill(tmp_path, {"outside/secret.html": "x", "site/in.html": "x"})
    site = tmp_path / "site"
    (site / "linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    (site / "linked.html").symlink_to(tmp_path / "outside" / "secret.html")
    (site / "same.html").symlink_to(site / "in.html")
    (site / "loop").symlink_to(site, target_is_directory=True)
    (site / "broken.html").symlink_to(site / "none.html")
    pages, report = read(site)
    assert [page.url for page in pages] == [BASE + "in.html", BASE + "same.html"]
    assert report.skipped == {"symbolic link out of the folder": 1}


def test_saved_sites_contain_their_addresses(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "www.Example.org/index.html": '<a href="a/b.html">b</a>',
            "www.Example.org/a/b.html": "x",
            "www.Example.org/list.php?id=3&x=y.html": "<html>",
            "www.Example.org/page.html?lang=de": "<html>",
            "other.example:8080/x.html": "x",
            "index.html": "HTTrack's own",
            "hts-cache/new.html": "x",
        },
    )
    pages, report = read(tmp_path, None)
    assert [page.url for page in pages] == [
        "http://other.example:8080/x.html",
        "http://www.example.org/index.html",
        "http://www.example.org/list.php?id=3&x=y",
        "http://www.example.org/page.html?lang=de",
        "http://www.example.org/a/b.html",
    ]
    assert pages[1].links[0].url == "http://www.example.org/a/b.html"
    assert report.read["HTML file outside the folders named after hosts"] == 2


def test_a_base_is_a_web_address(tmp_path: Path) -> None:
    fill(tmp_path, {"index.html": "x", "v1.html/x.html": "x"})
    with pytest.raises(BadSource, match="Invalid --base"):
        read(tmp_path, "docs")


def test_one_file(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {"a.html": '<a href="b">b</a>', "s.html": "<!-- saved from url=(0024)https://saved.example/dir/ --><html>"},
    )
    assert read(tmp_path / "a.html")[0][0].url == BASE + "a.html"
    assert read(tmp_path / "a.html", "https://x.example/page")[0][0].url == "https://x.example/page"
    assert read(tmp_path / "s.html", None)[0][0].url == "https://saved.example/dir/"


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="has no HTML files"):
        read(tmp_path)
    with pytest.raises(BadSource, match="does not exist"):
        open_source(str(tmp_path / "none"), ReadReport(), kind="html")


def test_bad_files_are_counted(tmp_path: Path) -> None:
    packed = gzip.compress(b'<a href="/x">y</a>' * 5000)
    fill(
        tmp_path,
        {"a.html.gz": packed[:-10], "b.html": b"PK\x03\x04zip", "c.html": b"<p>" + b"x" * (17 << 20), "d.html": ""},
    )
    pages, report = read(tmp_path)
    assert [page.url[-6:] for page in pages] == ["a.html", "c.html", "d.html"]
    assert len(pages[0].links) > 4000
    assert report.skipped == {
        "truncated compressed file: read up to its end": 1,
        "file that can't be read": 1,
        "page longer than 16 MiB: the rest is skipped": 1,
    }


def test_recognises(tmp_path: Path) -> None:
    assert not SOURCE.recognises(tmp_path / "x", b"# Markdown")
    assert SOURCE.recognises(tmp_path / "x", b"<!doctype html>")


def test_without_a_base_pages_have_their_own_addresses_or_paths(place: Path) -> None:
    """A page that declares an address has it; others have their paths, and links between them follow."""
    folder = place / "my site"
    (folder / "sub").mkdir(parents=True)
    files = {
        "index.html": "<title>Home</title><a href='about.html#us'>a</a><a href='sub/'>s</a><a href='no.html'>no</a>",
        "about.html": "<link rel=canonical href='https://me.example/about'><a href='index.html'>home</a>",
        "sub/index.html": "<a href='../index.html'>home</a><a href='https://else.example/'>else</a>",
        "saved.html": "<!-- saved from url=(0020)https://saved.example/ --><a href='x'>x</a>",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    report = ReadReport()
    pages = {page.url: [link.url for link in page.links] for page in read_html_folder(folder, report)}
    assert pages == {
        "name:my site/index.html": ["https://me.example/about", "name:my site/sub/index.html"],
        "https://me.example/about": ["https://me.example/index.html"],
        "name:my site/sub/index.html": ["name:my site/index.html", "https://else.example/"],
        "https://saved.example/": ["https://saved.example/x"],
    }
    assert report.read["HTML page without an address, named by its path"] == 2
    (single,) = read_html_folder(folder / "index.html", ReadReport())
    assert single.url == "name:my site/index.html"
    graph = Graph.from_records(list(read_html_folder(folder, ReadReport())))
    assert graph.title(graph.find("my site/index.html")) == "Home"
