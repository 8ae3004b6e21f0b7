"""Read browser bookmarks in the Netscape format, which every browser exports: one page, whose sections are the folders.

The heading of a folder includes the folders around it: `News / Dailies`. Bookmarklets and addresses of the browser
itself (place:, chrome:, about:) are skipped.

Each tag is a section, too, after the folders: Firefox, linkding, Karakeep, Shaarli, Pinboard and Pocket write tags into
this format. In a file with tags, a bookmark without folder and tags is in no section.
"""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from cocite.sources.collections.link_list import (
    MAX_CONTEXT,
    MAX_GROUPS_PER_LINK,
    MAX_TEXT,
    FolderPage,
    GroupedLinks,
    decoded,
    read_folders,
    shortened,
)
from cocite.sources.html.tokens import attributes
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Link, Page, ReadReport

# No < inside a tag: no two scans overlap, so time is linear whatever the file holds. Quotation marks are optional.
ARCHIVED = "linkding:archived"  # a state that linkding writes among the tags
_TOKEN = re.compile(
    r"<(/?)(dl|dt|dd|h1|h3|a|title)(?=[\s/>])((?>[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+|[^<>]*+)>", re.IGNORECASE
)
_POCKET = re.compile(rb"<li>\s*<a href=[^<>]* time_added=")
_FIRST_ENTRY = re.compile(rb"<dl>\s*(?:<p>)?\s*<dt>\s*<(?:a|h3)[\s>]")
_OTHER_TAG = re.compile(r"<[^<>]*+>")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is a bookmark file."""
    start = head[:4096].lower()
    return b"<!doctype netscape-bookmark-file" in start or any(
        pattern.search(start) for pattern in (_FIRST_ENTRY, _POCKET)
    )


def read_bookmarks(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the page of a bookmark file."""
    return read_folders(path, report, options.base, lambda content, folders: _parse(decoded(content), folders))


def _parse(text: str, folders: FolderPage) -> None:
    folder = ""  # the name of the next folder
    link: tuple[str, str] | None = None  # address and text of a link that may have a description
    tags: list[str] = []  # of that link
    tagged, loose = GroupedLinks(folders.page.url, ReadReport()), list[Link]()

    def add_link(context: str) -> None:
        if link is None:
            return
        tagged.add(*link, context, tags) if tags else None
        if folders.in_folder or not tags:
            before = len(folders.page.links)
            folders.add_link(*link, context)
            loose.extend(folders.page.links[before:] if not folders.in_folder else ())

    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        end = tokens[index + 1].start() if index + 1 < len(tokens) else len(text)
        name, closing = token[2].lower(), bool(token[1])
        if link and name in ("a", "dd", "dt", "dl", "h3") and not (name == "a" and closing):
            context = _plain(text, token.end(), end, MAX_CONTEXT) if name == "dd" else ""
            add_link(context)
            link = None
        if name == "dl" and closing:
            folders.leave()
        elif name == "dl":
            folders.enter(folder)
            folder = ""
        elif name == "a" and not closing:
            given = attributes(token[3])
            link = given.get("href", ""), _plain(text, token.end(), end, MAX_TEXT)
            tags = [tag for tag in given.get("tags", "").split(",") if tag.strip() and tag != ARCHIVED]
            del tags[MAX_GROUPS_PER_LINK:]
        elif name == "h3" and not closing:
            folder = _plain(text, token.end(), end, MAX_TEXT)
        elif name in ("h1", "title") and not closing:
            folders.page.title = _plain(text, token.end(), end, MAX_TEXT) or folders.page.title
    add_link("")
    found = tagged.finished()
    if found.links:
        for bookmark in loose:
            bookmark.block = None
        first = len(folders.page.headings)
        for bookmark in found.links:
            bookmark.block = first + (bookmark.block or 0)
        folders.page.headings += found.headings
        folders.page.links += found.links


def _plain(text: str, start: int, end: int, length: int) -> str:
    return shortened(unescape(_OTHER_TAG.sub("", text[start : min(end, start + 8 * length)])), length)


SOURCE = SourceKind("bookmarks", "browser bookmarks", recognises, read_bookmarks, order=50)
