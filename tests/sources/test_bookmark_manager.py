"""Exports of bookmark managers: JSON, XML, CSV and HTML, in the published formats."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from cocite.sources.kinds import detect_kind
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.sources.timing import without_collection

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
LINKDING = {
    "count": 3, "next": None, "previous": None,
    "results": [
        {"id": 1, "url": A, "title": "a", "description": "first", "notes": "", "tag_names": ["x", "y"],
         "is_archived": False, "date_added": "2020-09-26T09:46:23.006313Z"},
        {"id": 2, "url": B, "title": "", "website_title": "b", "tag_names": ["x"]},
        {"id": 3, "url": C, "title": "c", "tag_names": []},
    ],
}  # fmt: skip
KARAKEEP = {
    "bookmarks": [
        {
            "createdAt": 1700,
            "title": "a",
            "tags": ["x", "y"],
            "content": {"type": "link", "url": A},
            "note": "first",
        },
        {"createdAt": 1701, "title": "b", "tags": ["x"], "content": {"type": "link", "url": B}, "note": None},
        {
            "createdAt": 1702,
            "title": None,
            "tags": [],
            "content": {"type": "text", "text": "a note"},
            "note": None,
        },
        {"createdAt": 1703, "title": "c", "tags": [], "content": {"type": "link", "url": C}, "note": None},
    ]
}
SHAARLI = [
    {"id": 1, "url": A, "shorturl": "abc", "title": "a", "description": "first", "tags": ["x", "y"], "private": False,
     "created": "2015-05-05T12:30:00+03:00", "updated": ""},
    {"id": 2, "url": B, "shorturl": "abd", "title": "b", "description": "", "tags": ["x"], "private": False},
    {"id": 3, "url": C, "shorturl": "abe", "title": "c", "description": "", "tags": [], "private": True},
]  # fmt: skip
PINBOARD = [
    {"href": A, "description": "a", "extended": "first", "meta": "1", "hash": "2", "time": "2020-01-02T03:04:05Z",
     "shared": "yes", "toread": "no", "tags": "x y"},
    {"href": B, "description": "b", "extended": "", "tags": "x"},
    {"href": C, "description": "c", "extended": "", "tags": ""},
]  # fmt: skip
WALLABAG = [
    {"is_archived": 0, "is_starred": 1, "tags": ["x", "y"], "id": 1, "title": "a", "url": A,
     "content": "<h2>Part</h2><p>Words of the article. <a href='/more'>more</a></p>",
     "created_at": "2020-01-02T03:04:05+00:00"},
    {"is_archived": 1, "tags": [{"id": 1, "label": "x", "slug": "x"}], "title": "b", "url": B, "content": None},
    {"is_archived": 1, "tags": [], "title": "c", "url": C, "content": ""},
]  # fmt: skip
ARCHIVEBOX = [
    {"archive_path": "archive/1600000000", "base_url": "a.example", "timestamp": "1600000000", "url": A, "title": "a",
     "tags": "x,y", "sources": []},
    {"timestamp": "1600000001", "url": B, "title": "b", "tags": "x"},
    {"timestamp": "1600000002", "url": C, "title": "c", "tags": None},
]  # fmt: skip
LISTED = [
    {"history": {}, "schema": "Link", "sources": ["/archive/sources/1.txt"], "tags": f",{tags}", "timestamp": "1795.35",
     "title": title, "updated": None, "url": url}
    for url, title, tags in ((A, "a", "x,y"), (B, "b", "x"), (C, "c", ""))
]  # fmt: skip
"""What ArchiveBox 0.7 printed."""
XML = f"""<?xml version="1.0" encoding="UTF-8" ?>
<posts user="me"><post href="{A}" time="2020-01-02T03:04:05Z" description="a" extended="first" tag="x y" hash="1"/>
<post href="{B}" description="b" extended="" tag="x"/><post href="{C}" description="c" extended="" tag=""/></posts>"""
POCKET = f"title,url,time_added,tags,status\na,{A},1600000000,x|y,unread\nb,{B},1600000001,x,archive\nc,{C},1,,unread\n"
RAINDROP = (
    "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
    f'1,a,first,"two\nlines",{A},x,"y",2020-01-02T03:04:05.678Z,,,false\n2,b,,,{B},x,,2020,,,false\n3,c,,,{C},,,2020,,,true\n'
)
NETSCAPE = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>
<DT><A HREF="{A}" ADD_DATE="1" PRIVATE="0" TOREAD="0" TAGS="x,y">a</A><DD>first
<DT><A HREF="{B}" ADD_DATE="1" TAGS="x">b</A>
<DT><A HREF="{C}" ADD_DATE="1" TAGS="">c</A>
</DL><p>"""
LINKDING_HTML = "\n\r".join([
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>", "<TITLE>Bookmarks</TITLE>", "<H1>Bookmarks</H1>", "<DL><p>",
    f'<DT><A HREF="{A}" ADD_DATE="1" PRIVATE="1" TOREAD="0" TAGS="x,y,linkding:archived">a</A>', "<DD>first",
    f'<DT><A HREF="{B}" ADD_DATE="1" PRIVATE="1" TOREAD="0" TAGS="x">b</A>',
    f'<DT><A HREF="{C}" ADD_DATE="1" PRIVATE="0" TOREAD="1" TAGS="linkding:archived">c</A>', "</DL><p>",
])  # fmt: skip
POCKET_HTML = f"""<!DOCTYPE html><html><head><title>Pocket Export</title></head><body><h1>Unread</h1><ul>
<li><a href="{A}" time_added="1" tags="x,y">a</a></li><li><a href="{B}" time_added="1" tags="x">b</a></li></ul>
<h1>Read Archive</h1><ul><li><a href="{C}" time_added="1" tags="">c</a></li></ul></body></html>"""
EXPORTS = {
    "linkding.json": json.dumps(LINKDING), "karakeep.json": json.dumps(KARAKEEP, indent=2),
    "shaarli.json": json.dumps(SHAARLI), "pinboard.json": json.dumps(PINBOARD), "wallabag.json": json.dumps(WALLABAG),
    "index.json": json.dumps({"info": "ArchiveBox", "num_links": 3, "links": ARCHIVEBOX}, indent=4),
    "list.json": json.dumps(ARCHIVEBOX), "list-0.7.json": json.dumps(LISTED, indent=4),
    "list-0.7-with-headers.json": json.dumps({"info": "by ArchiveBox", "links": LISTED, "meta": {}}, indent=4),
    "index.jsonl": "\n".join(json.dumps({**each, "bookmarked_at": "2020"}) for each in ARCHIVEBOX),
    "pinboard.xml": XML, "pocket.csv": POCKET, "raindrop.csv": RAINDROP,
    "netscape.html": NETSCAPE, "linkding.html": LINKDING_HTML, "ril_export.html": POCKET_HTML,
}  # fmt: skip


def read(path: Path, report: ReadReport | None = None) -> list[dict[str, Any]]:
    batches = open_source(str(path), report or ReadReport(strict=True)).records()
    return [row for batch in batches for row in batch.to_pylist()]


def sections(page: dict[str, Any]) -> dict[str | None, list[str]]:
    found: dict[str | None, list[str]] = {}
    for link in page["links"]:
        heading = None if link["block"] is None else page["headings"][link["block"]]
        found.setdefault(heading, []).append(link["url"])
    return found


@pytest.mark.parametrize("name", EXPORTS)
def test_folders_and_tags_are_sections(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(EXPORTS[name], "utf-8")
    assert detect_kind(path) == ("bookmarks" if name.endswith(".html") else "bookmark-manager")
    *articles, page = read(path)
    assert sections(page) == {"x": [A, B], "y": [A], None: [C]}
    assert sorted(link["text"] for link in page["links"]) == ["a", "a", "b", "c"]
    if not name.startswith(("wallabag", "index", "list", "pocket", "ril_export")):
        assert "first" in {link["context"] for link in page["links"] if link["url"] == A}
    assert len(articles) == (name == "wallabag.json")
    for article in articles:
        assert (article["url"], article["title"], article["captured"]) == (A, "a", "2020-01-02T03:04:05+00:00")
        assert "Words of the article" in article["text"]
        assert article["links"][0]["url"] == f"{A}more"


def test_folders_with_tags(tmp_path: Path) -> None:
    path = tmp_path / "firefox.html"
    path.write_text(f"""<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>News</H3><DL><p>
        <DT><A HREF="{A}" TAGS="x">a</A><DT><A HREF="{B}">b</A></DL></DL>""")
    assert sections(read(path)[0]) == {"News": [A, B], "x": [A]}


@pytest.mark.parametrize("first", ["bookmarks", "lists"])
def test_lists_of_karakeep_have_names(tmp_path: Path, first: str) -> None:
    """A bookmark has the numbers of its lists; the lists themselves may follow. Circles of lists end."""
    lists = [
        {"id": "c1", "name": "Birds", "icon": "x", "type": "manual", "query": None, "parentId": None},
        {"id": "c2", "name": "Owls", "parentId": "c1"},
        {"id": "c3", "name": "Loop", "parentId": "c3"},
    ]
    content = {"type": "link", "url": A}
    bookmark = {
        "createdAt": 1,
        "title": "a",
        "tags": ["x"],
        "lists": ["c2", "c3", "c9"],
        "content": content,
        "note": None,
    }
    both = {"bookmarks": [bookmark], "lists": lists}
    path = tmp_path / "karakeep.json"
    path.write_text(json.dumps({first: both.pop(first), **both}))
    (page,) = read(path)
    assert page["headings"] == ["Birds / Owls", " / ".join(["Loop"] * 8), "c9", "x"]


def test_damage_is_counted(tmp_path: Path) -> None:
    for name, text, count in (
        ("cut.json", EXPORTS["pinboard.json"][:-40], 2), ("cut.xml", XML[:-40], 2),
        ("quote.csv", POCKET + '"' + "x" * 200_000, 3), ("nul.jsonl", EXPORTS["index.jsonl"] + "\n{no", 3),
    ):  # fmt: skip
        path, report = tmp_path / name, ReadReport()
        path.write_text(text)
        (page,) = read(path, report)
        assert len({link["url"] for link in page["links"]}) == count
        assert sum(report.skipped.values()) == 1
        if name == "quote.csv":
            assert list(report.example.values()) == ["quote.csv, line 5: field larger than field limit (131072)"]


def test_of_columns_with_the_same_name_the_first_counts(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(f"url,title,tags,title,url\n{A},First,x,Second,{B}\n")
    (page,) = read(path)
    assert [(link["url"], link["text"]) for link in page["links"]] == [(A, "First")]


def test_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text(f'<!DOCTYPE x [<!ENTITY e "x">]>{XML[XML.index("<posts") :]}')
    with pytest.raises(Exception, match="declares XML entities"):
        read(path)


@pytest.mark.parametrize("most", [12_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", ["beside", "nested", "tags", "csv"])
def test_a_hundred_thousand_folders(tmp_path: Path, shape: str, most: int) -> None:
    @without_collection
    def cost(count: int) -> float:
        if shape == "csv":
            text = "title,url,folder,tags\n" + "".join(f"t,https://a.example/{n},f{n},g{n}\n" for n in range(count))
        elif shape == "tags":
            text = "".join(f'<DT><A HREF="https://a.example/{n}" TAGS="t{n}">a</A>\n' for n in range(count))
        else:
            end = "</DL>" if shape == "beside" else ""
            text = "".join(
                f"<DT><H3>f{n}</H3><DL><DT><A HREF='https://a.example/{n}'>a</A>{end}\n" for n in range(count)
            )
        path = tmp_path / f"{count}.{'csv' if shape == 'csv' else 'html'}"
        path.write_text(text if shape == "csv" else f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>{text}")
        began = time.process_time()
        (page,) = read(path)
        assert len(page["headings"]) == (2 * count if shape == "csv" else count)
        return time.process_time() - began

    small = cost(most // 4)
    assert cost(most) < 9 * small + 0.5
