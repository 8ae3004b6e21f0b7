"""Collections as questions: what is read of a file, what is recommended, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.errors import BadParameter, UnknownPage
from cocite.operations.pages.collection import (
    NO_FOLDER,
    Collection,
    CollectionResults,
    RelatedToCollection,
    read_collection,
)
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make

BIRDS = ("robin", "wren", "finch", "swift")
CARS = ("audi", "bmw", "ford", "volvo")
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Mine</TITLE><DL><p>
<DT><A HREF="https://loose.example/">Loose</A>
<DT><H3>Birds</H3><DL><p><DT><A HREF="https://robin.example/">R</A><DT><A HREF="https://robin.example/">R again</A>
<DT><H3>Songs</H3><DL><p><DT><A HREF="https://wren.example/">W</A></DL><p></DL><p></DL>"""
OPML = """<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body><outline text="Birds">
<outline text="R" xmlUrl="https://robin.example/feed" htmlUrl="https://robin.example/"/></outline></body></opml>"""


def url(name: str) -> str:
    return f"https://{name}.example/"


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Web:
    """Three lists of birds, three of cars, and one with a bird that is near to both."""
    lists = [
        Page(f"https://list{at}.example/", links=[Link(url(name), name, 0) for name in names], headings=["All"])
        for at, names in enumerate((BIRDS, BIRDS[:3], BIRDS, CARS, CARS[1:], CARS, (*CARS, "swift")))
    ]
    make(fast_root / "collection.cocite", lists)
    return Web(fast_root / "collection.cocite")


def test_bookmarks_and_opml_are_read_by_folder(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text(BOOKMARKS)
    folders = {NO_FOLDER: (url("loose"),), "Birds": (url("robin"),), "Birds / Songs": (url("wren"),)}
    found = read_collection(tmp_path / "b.html")
    assert found == Collection("Mine", folders) and found is not None
    assert list(found.folders) == list(folders)
    (tmp_path / "f.opml").write_text(OPML)
    assert read_collection(tmp_path / "f.opml") == Collection("Feeds", {"Birds": (url("robin"),)})


def test_other_files_are_not_collections(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("robin.example\n")
    assert read_collection(tmp_path / "list.txt") is None
    (tmp_path / "empty.html").write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1><DL></DL>")
    with pytest.raises(BadParameter, match="contains no links"):
        read_collection(tmp_path / "empty.html")
    (tmp_path / "broken.opml").write_text("<opml")
    with pytest.raises(BadParameter, match="not OPML"):
        read_collection(tmp_path / "broken.opml")
    (tmp_path / "Bookmarks").write_text(' {"roots": {}}')
    with pytest.raises(BadParameter, match="export the bookmarks as HTML"):
        read_collection(tmp_path / "Bookmarks")
    with pytest.raises(FileNotFoundError):
        read_collection(tmp_path / "none.html")


def near(web: Web, title: str, folders: dict[str, tuple[str, ...]], k: int, *exclude: str) -> CollectionResults:
    collection = Collection(title, folders)
    return RelatedToCollection(collection=collection, method="cocitation(unit=none)", k=k, exclude=exclude).run(web)


def test_pages_near_to_each_folder(web: Web) -> None:
    folders = {"Birds": (url("robin"), url("nowhere")), "Cars": (url("audi"), url("bmw"))}
    found = near(web, "Mine", folders, 3)
    answers = {each.folder: [answer.url for answer in each.answers] for each in found.folders}
    assert answers == {"Birds": [url("finch"), url("wren"), url("swift")], "Cars": [url("ford"), url("volvo")]}
    assert [answer.rank for answer in found.folders[0].answers] == [1, 2, 3]
    assert found.unknown == [url("nowhere")] and found.pages == 4
    assert [(each.pages, each.known) for each in found.folders] == [(2, 1), (2, 2)]
    told = found.to_dict()
    assert told["collection"] == {"title": "Mine", "pages": 4, "unknown": [url("nowhere")]}
    assert told["method"] == "cocitation" and told["folders"][1]["answers"][0]["reasons"]


def test_nothing_is_recommended_that_is_there_already(web: Web) -> None:
    found = near(web, "", {"Some": (url("robin"),), "Others": (url("wren"), url("swift"))}, 10)
    shown = [answer.url for folder in found.folders for answer in folder.answers]
    assert len(shown) == len(set(shown)) and not {url("robin"), url("wren"), url("swift")} & set(shown)


def test_excluded_pages_and_folders_of_unknown_pages(web: Web) -> None:
    gone = {"Gone": ("http://[", url("nowhere"))}
    found = near(web, "", {**gone, "Birds": (url("robin"),)}, 10, url("swift"))
    assert found.folders[0].answers == () and url("swift") not in [each.url for each in found.folders[1].answers]
    with pytest.raises(UnknownPage, match="no page of the collection"):
        near(web, "", gone, 3)
