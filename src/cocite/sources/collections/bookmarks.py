"""Browser bookmarks in the Netscape format, as every browser exports them → one page whose blocks are the folders.

The page's address is `base`, else a made-up one (see `link_list.own_address`). A folder's heading names the folders
around it too: `News / Dailies`. Bookmarklets and the browser's own addresses (place:, chrome:, about:) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from cocite.sources.html.tokens import attributes
from cocite.sources.link_list import MAX_CONTEXT, MAX_TEXT, Folders, decoded, own_address, shortened, whole
from cocite.sources.page_records import EMPTY
from cocite.sources.records import Page, ReadReport

# No < inside a tag: so no two scans overlap, whatever the file holds. Quotation marks are optional, as in the wild.
_TOKEN = re.compile(
    r"<(/?)(dl|dt|dd|h1|h3|a|title)(?=[\s/>])((?>[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+|[^<>]*+)>", re.IGNORECASE
)
_ENTRY = re.compile(rb"<dl>\s*(?:<p>)?\s*<dt>\s*<(?:a|h3)[\s>]")
_OTHER_TAG = re.compile(r"<[^<>]*+>")


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file that begins with `head` is a bookmark file."""
    start = head[:4096].lower()
    return b"<!doctype netscape-bookmark-file" in start or _ENTRY.search(start) is not None


def read_bookmarks(path: Path, report: ReadReport, *, base: str | None = None) -> Iterator[Page]:
    """The page that a bookmark file is."""
    content = whole(path, report)
    page = None if content is None else _parse(decoded(content), own_address(path, content, base), report)
    if page is not None and page.links:
        yield page
    else:
        report.skip(EMPTY, path.name)


def _parse(text: str, url: str, report: ReadReport) -> Page:
    folders = Folders(url)
    folder = ""  # the name of the next folder
    link: tuple[str, str] | None = None  # address and text of a link, until it is known whether a description follows
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        end = tokens[index + 1].start() if index + 1 < len(tokens) else len(text)
        name, closing = token[2].lower(), bool(token[1])
        if link and name in ("a", "dd", "dt", "dl", "h3") and not (name == "a" and closing):
            context = _plain(text, token.end(), end, MAX_CONTEXT) if name == "dd" else ""
            folders.link(*link, context, report)
            link = None
        if name == "dl" and closing:
            folders.leave()
        elif name == "dl":
            folders.enter(folder)
            folder = ""
        elif name == "a" and not closing:
            link = attributes(token[3]).get("href", ""), _plain(text, token.end(), end, MAX_TEXT)
        elif name == "h3" and not closing:
            folder = _plain(text, token.end(), end, MAX_TEXT)
        elif name in ("h1", "title") and not closing:
            folders.page.title = _plain(text, token.end(), end, MAX_TEXT) or folders.page.title
    if link:
        folders.link(*link, "", report)
    return folders.page


def _plain(text: str, start: int, end: int, longest: int) -> str:
    return shortened(unescape(_OTHER_TAG.sub("", text[start : min(end, start + 8 * longest)])), longest)
