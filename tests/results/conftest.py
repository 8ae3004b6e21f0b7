"""A small store with languages, dates, sites of several pages, mirrors and strange names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make

NASTY = '\x1b[31m<script>alert("1")</script>\x9b\u202e &amp; a, "b"\ttab\r\nline'
FOUR = [f"https://many.example/{n}" for n in range(4)]
OTHERS = [f"https://other{n}.example/" for n in range(3)]


def links(*urls: str) -> list[Link]:
    return [Link(url, block=0) for url in urls]


PAGES = [
    # By proximity: the nearer to q.example, the better. The two lists agree, so the order of answers is that of links.
    Page("https://list1.example/", "First", links=links("https://q.example/", *FOUR, *OTHERS), headings=["Things"]),
    Page("https://list2.example/", links=links("https://q.example/", *FOUR, *OTHERS)),
    Page("https://list3.example/", links=links("https://bad.example/", FOUR[1], FOUR[0])),
    Page(FOUR[0], "Null", lang="de-AT", captured="2020-05-17"),
    Page(FOUR[1], "Eins", lang="DE", captured="2019-01-01"),
    Page(FOUR[2], NASTY, lang="en", captured="2021-01-01"),
    Page(OTHERS[0], "Zero", lang="en"),
    Page("https://q.example/", links=links("https://q.example/sub")),
    Page("https://q.example/sub"),
    Page("https://old.example/", redirect="https://q.example/"),
]


@pytest.fixture(scope="session")
def web(fast_root: Path) -> Iterator[Web]:
    """The store of PAGES; not to be changed."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", PAGES)
        yield Web(Path(folder) / "web.cocite")
