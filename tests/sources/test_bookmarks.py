"""Browser bookmarks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.sources.collections.bookmarks import read_bookmarks, recognises
from cocite.sources.kinds import ReadOptions
from cocite.sources.records import Link, ReadReport

FIREFOX = """\
<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks Menu</H1>

<DL><p>
    <DT><A HREF="https://top.example/" ADD_DATE="1" ICON="data:image/png;base64,AA>BB">Top &amp; <b>more</b></A>
    <DT><H3 ADD_DATE="1" PERSONAL_TOOLBAR_FOLDER="true">News</H3>
    <DD>papers I read
    <DL><p>
        <DT><A HREF="https://www.nytimes.com/" SHORTCUTURL="n">The New York Times</A>
        <DD>All the news
        <DT><H3>Dailies</H3>
        <DL><p>
            <DT><A HREF="https://www.lemonde.fr/">Le Monde</A>
            <DT><A HREF="javascript:alert('hi')">bookmarklet</A>
        </DL><p>
        <DT><A HREF="place:sort=8&maxResults=10">Most visited</A>
        <DT><A HREF='https://www.bbc.co.uk/'>BBC</A>
    </DL><p>
    <HR>
    <DT><H3>News</H3>
    <DL><p>
        <DT><A HREF="https://www.zeit.de/">Zeit</A>
    </DL><p>
    <DT><A HREF=https://last.example/>Last
</DL>
"""


def test_folders_are_blocks(tmp_path: Path) -> None:
    path = tmp_path / "My Bookmarks (2).html"
    path.write_text(FIREFOX)
    report = ReadReport()
    (page,) = read_bookmarks(path, report)
    assert page.title == "Bookmarks Menu"
    assert page.headings == ["", "News", "News / Dailies", "News"]
    assert page.links == [
        Link("https://top.example/", "Top & more", 0),
        Link("https://www.nytimes.com/", "The New York Times", 1, "All the news"),
        Link("https://www.lemonde.fr/", "Le Monde", 2),
        Link("https://www.bbc.co.uk/", "BBC", 1),
        Link("https://www.zeit.de/", "Zeit", 3),
        Link("https://last.example/", "Last", 0),
    ]
    assert report.read["link to something other than a web page"] == 2
    assert not report.skipped
    assert recognises(path, FIREFOX.encode())
    assert not recognises(path, b"<!doctype html><title>x</title><dl><dt>term<dd>text</dl>")


def test_the_page_has_an_address_without_private_data(tmp_path: Path) -> None:
    urls = []
    for owner in ("alice", "bob"):
        (tmp_path / owner).mkdir()
        path = tmp_path / owner / "Lesezeichen äöü.html"
        path.write_text(FIREFOX.replace("Zeit", owner))
        urls += [page.url for page in read_bookmarks(path, ReadReport())]
        assert next(read_bookmarks(path, ReadReport())).url == urls[-1]
    assert urls[0] != urls[1]
    assert all(url.startswith("https://lesezeichen-") and url.endswith(".example/") for url in urls)
    assert (
        next(read_bookmarks(path, ReadReport(), ReadOptions("https://bob.example/links"))).url
        == "https://bob.example/links"
    )


@pytest.mark.parametrize(
    "content", ["", "<DL>", "no bookmarks", "<dl></dl></dl></dl>", '<dt><a href="about:blank">x</a>']
)
def test_an_empty_file_is_reported(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.html"
    path.write_text(content)
    report = ReadReport()
    assert list(read_bookmarks(path, report)) == []
    assert report.skipped == {"source without records": 1}


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "content",
    [
        '<a "' * 50_000,
        "<a " + "a" * 300_000 + ">",
        "<dl><dt><h3>x</h3><dt><a href=http://a.example/>" * 5_000,
        "<dt" * 10**5,
    ],
    ids=["quotes", "attribute", "depth", "tags"],
)
def test_time_is_linear(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.html"
    path.write_text(content)
    for page in read_bookmarks(path, ReadReport()):
        assert len(page.headings) == 5_000
        assert max(map(len, page.headings)) < 50


@given(
    st.lists(
        st.sampled_from(["<DL>", "</DL>", "<DT>", "<H3>f", "</H3>", "<A HREF='http://a.example/'>t", "</A>", "<DD>d"])
    )
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_link_is_kept_in_a_block(tmp_path: Path, pieces: list[str]) -> None:
    path = tmp_path / "x.html"
    path.write_text("".join(pieces))
    links = [link for page in read_bookmarks(path, ReadReport()) for link in page.links]
    assert len(links) == sum(piece.startswith("<A ") for piece in pieces)
    assert all(link.text == "t" for link in links)
    assert {link.block for link in links} == set(range(len({link.block for link in links})))
