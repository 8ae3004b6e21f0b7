"""OPML."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources.collections.opml import SOURCE, read_opml
from cocite.sources.kinds import ReadOptions
from cocite.sources.records import Link, Page, ReadReport

FEEDS = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>My &lt;feeds&gt;</title></head><body>
<outline text="Tech" title="T">
  <outline type="rss" text="LWN" htmlUrl="https://lwn.example/" xmlUrl="https://l.example/" description="Linux news"/>
  <outline text="Databases"><outline TEXT="Feed only" xmlURL="https://db.example/feed"/></outline>
  <outline text="Link" type="link" url="https://link.example/?a=1&amp;b=2"/>
</outline>
<outline title="Loose" htmlUrl="" xmlUrl="https://loose.example/"/>
<outline text="no web page" xmlUrl="gopher://x.example/"/>
</body></opml>
"""


def read(tmp_path: Path, content: str | bytes, report: ReadReport | None = None) -> list[Page]:
    path = tmp_path / "subscriptions.opml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_opml(path, report or ReadReport()))


def test_outlines_are_blocks(tmp_path: Path) -> None:
    report = ReadReport()
    (page,) = read(tmp_path, FEEDS, report)
    assert page.title == "My <feeds>"
    assert page.url.startswith("https://subscriptions-") and page.url.endswith(".example/")
    assert page.headings == ["Tech", "Tech / Databases", ""]
    assert page.links == [
        Link("https://lwn.example/", "LWN", 0, "Linux news"),
        Link("https://db.example/feed", "Feed only", 1),
        Link("https://link.example/?a=1&b=2", "Link", 0),
        Link("https://loose.example/", "Loose", 2),
    ]
    assert report.read["link to something other than a web page"] == 1
    assert SOURCE.recognises(tmp_path, FEEDS.encode())
    assert SOURCE.recognises(tmp_path, FEEDS.encode("utf-16"))
    assert (
        next(read_opml(tmp_path / "subscriptions.opml", report, ReadOptions("https://me.example/"))).url
        == "https://me.example/subscriptions.opml"
    )


def test_names_that_a_reader_gives_its_own_folders_are_no_pages(tmp_path: Path) -> None:
    report = ReadReport()
    outlines = '<outline text="Unread" xmlUrl="vfolder"/><outline text="A" htmlUrl="https://a.example/" xmlUrl="feed"/>'
    (page,) = read(tmp_path, f"<opml><body>{outlines}</body></opml>", report)
    assert [link.url for link in page.links] == ["https://a.example/"]
    assert report.read["link to something other than a web page"] == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><opml><body><outline text="Café" url="http://a.example/"/></body></opml>'
    assert read(tmp_path, text.encode(encoding))[0].links == [Link("http://a.example/", "Café", 0)]


def test_entity_bombs_are_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><opml><body><outline text="&b;"/>'
    with pytest.raises(BadSource, match="declares XML entities"):
        read(tmp_path, bomb)
    secret = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><opml><body><outline text="&f;"/></body></opml>'
    with pytest.raises(BadSource, match="declares XML entities"):
        read(tmp_path, secret)


def test_a_truncated_file_is_read_up_to_its_end(tmp_path: Path) -> None:
    report = ReadReport()
    (page,) = read(tmp_path, FEEDS[: FEEDS.index('<outline text="Databases')] + "<outline te", report)
    assert [link.url for link in page.links] == ["https://lwn.example/"]
    assert report.skipped == {"damaged OPML file: read up to the damage": 1}


def test_invalid_opml_is_refused(tmp_path: Path) -> None:
    for content in ("no XML", '<?xml version="1.0" encoding="nonsense"?><opml/>'):
        with pytest.raises(BadSource, match="is not OPML"):
            read(tmp_path, content)
    report = ReadReport()
    assert read(tmp_path, "", report) == read(tmp_path, "<opml><body/></opml>", report) == []
    assert report.skipped == {"source without records": 2}


def test_depth_does_not_matter(tmp_path: Path) -> None:
    report = ReadReport()
    (page,) = read(tmp_path, "<opml><body>" + '<outline text="a" url="http://a.example/">' * 10_000, report)
    assert len(page.links) == 10_000
    assert page.headings[-1] == "a / a / a / a / a / a / a / a"
