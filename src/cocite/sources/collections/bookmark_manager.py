"""Read what bookmark managers and read-later services export: one page, whose sections are the folders and tags.

- JSON: linkding's API, Karakeep, Shaarli's API, Pinboard, wallabag, ArchiveBox (`index.json`, or JSON Lines);
- XML: Pinboard; CSV: Pocket, Raindrop, Instapaper.

Their HTML exports are bookmark files (`bookmarks.py`). A link with several tags is in several sections, one without is
in none. Where an export has the texts of articles, as wallabag's has, these are pages of their own.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadSource
from cocite.sources.collections.link_list import (
    MAX_CONTEXT,
    MAX_HEADING_FOLDERS,
    MAX_TEXT,
    GroupedLinks,
    shortened,
)
from cocite.sources.compressed import HEAD_BYTES, head, open_bytes
from cocite.sources.html.page import MAX_CONTENT, read_html
from cocite.sources.json_items import as_list, as_object, as_text, json_items, json_lines
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport
from cocite.sources.xml_chunks import new_parser, xml_items


class Saved(NamedTuple):
    """One saved link."""

    url: str
    title: str = ""
    note: str = ""
    groups: tuple[str, ...] = ()  # folders and tags
    content: str = ""  # HTML
    date: str = ""


def _names(value: object, separators: str = ",") -> tuple[str, ...]:
    """Tags as a list of names, a list of objects with names, or one text."""
    if isinstance(value, str):
        return tuple(filter(None, (name.strip() for name in re.split(f"[{separators}]", value))))
    found = (name.get("name") or name.get("label") if isinstance(name, dict) else name for name in as_list(value))
    return tuple(filter(None, map(as_text, found)))


def _linkding(item: dict[str, Any]) -> Saved:
    title = as_text(item.get("title")) or as_text(item.get("website_title"))
    note = as_text(item.get("description")) or as_text(item.get("notes"))
    return Saved(as_text(item.get("url")), title, note, _names(item.get("tag_names")))


def _karakeep(item: dict[str, Any]) -> Saved:
    link, groups = as_object(item.get("content")), (*_names(item.get("lists")), *_names(item.get("tags")))
    return Saved(as_text(link.get("url")), as_text(item.get("title")), as_text(item.get("note")), groups)


def _karakeep_lists(path: Path) -> dict[str, str]:
    """The lists of an export by their numbers, which its bookmarks have: names, with those of the lists around them."""
    found = dict[str, tuple[str, str]]()
    for item in json_items(path, ReadReport(), "lists"):  # damage is counted with the bookmarks
        if isinstance(item, dict) and (number := as_text(item.get("id"))):
            found[number] = as_text(item.get("name")), as_text(item.get("parentId"))
    names = dict[str, str]()
    for number in found:
        parts, at = list[str](), number
        while at in found and len(parts) < MAX_HEADING_FOLDERS:
            name, at = found[at]
            parts.insert(0, name)
        names[number] = " / ".join(filter(None, parts))
    return names


def _shaarli(item: dict[str, Any]) -> Saved:
    return Saved(
        as_text(item.get("url")), as_text(item.get("title")), as_text(item.get("description")), _names(item.get("tags"))
    )


def _pinboard(item: dict[str, Any]) -> Saved:
    tags = _names(item["tags"] if "tags" in item else item.get("tag"), r"\s")
    return Saved(as_text(item.get("href")), as_text(item.get("description")), as_text(item.get("extended")), tags)


def _wallabag(item: dict[str, Any]) -> Saved:
    url, title, content, date = (as_text(item.get(name)) for name in ("url", "title", "content", "created_at"))
    return Saved(url, title, "", _names(item.get("tags")), content, date)


def _archivebox(item: dict[str, Any]) -> Saved:
    return Saved(as_text(item.get("url")), as_text(item.get("title")), "", _names(item.get("tags")))


class _Json(NamedTuple):
    """A kind of JSON: how it begins, names that it has near the beginning, where its items are, and what they say."""

    start: bytes
    names: tuple[bytes, ...]
    keys: tuple[str, ...]
    saved: Callable[[dict[str, Any]], Saved]


_ARCHIVEBOX = re.compile(rb'"(?:archive_path|bookmarked_at|bookmarked_date|base_url)"|"schema":\s*"(?:Link|Snapshot)"')
_JSON = (
    _Json(rb"\{", (b'"results"', b'"tag_names"', b'"url"'), ("results",), _linkding),
    _Json(rb"\[", (b'"tag_names"', b'"url"'), (), _linkding),
    _Json(rb"\{", (b'"bookmarks"', b'"content"', b'"createdAt"'), ("bookmarks",), _karakeep),
    _Json(rb"\[", (b'"href"', b'"extended"'), (), _pinboard),
    _Json(rb"\[", (b'"shorturl"', b'"url"'), (), _shaarli),
    _Json(rb"\[", (b'"is_archived"', b'"url"'), (), _wallabag),
    _Json(rb"\{", (b'"links"', b'"timestamp"', b'"url"'), ("links",), _archivebox),
    _Json(rb"\[", (b'"timestamp"', b'"url"'), (), _archivebox),
)
_COLUMNS = ("url", "title")
_GROUP_COLUMNS = ("folder", "tags")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is such an export."""
    return _is_pinboard_xml(head) or _columns(head) is not None or _is_snapshots(head) or _json_kind(head) is not None


def _json_kind(head: bytes) -> _Json | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] not in (b"{", b"["):
        return None
    for kind in _JSON:
        if re.match(kind.start, start) and all(name in start for name in kind.names):
            is_archivebox = kind.saved is not _archivebox or _ARCHIVEBOX.search(start)
            if is_archivebox and (start[:1] == b"[" or _first_keys(start, kind.keys)):
                return kind
    return None


def _first_keys(start: bytes, keys: tuple[str, ...]) -> bool:
    """Whether an object spans lines, or has its list on the first one: a line by itself may be a page record."""
    return b'"%s"' % keys[0].encode() in start[:HEAD_BYTES] and not start.startswith(b'{"url"')


def _is_snapshots(head: bytes) -> bool:
    """Whether a file is ArchiveBox's JSON Lines."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return (
        line.startswith(b"{") and b'"url"' in line and _ARCHIVEBOX.search(line) is not None and b'"links"' not in line
    )


def _is_pinboard_xml(head: bytes) -> bool:
    return re.search(rb"<posts\b[^<>]*>\s*(?:<!--.*?-->\s*)?<post\s[^<>]*href=", head[:4096]) is not None


def _columns(head: bytes) -> list[str] | None:
    """The columns of a CSV file with links and folders or tags; None if it isn't one."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace").strip().lower()
    names = [name.strip().strip('"') for name in line.split(",")] if len(line) < 1000 else []
    has_all = all(name in names for name in _COLUMNS) and any(name in names for name in _GROUP_COLUMNS)
    return names if has_all else None


def read_saved(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the articles of an export, and the page with all links."""
    links = GroupedLinks.of_file(path, report, options.base)
    for saved in _saved(path, head(path), report):
        links.add(saved.url, shortened(saved.title, MAX_TEXT), shortened(saved.note, MAX_CONTEXT), saved.groups)
        if saved.content and saved.url.lower().startswith(("http://", "https://")):
            content = saved.content.encode("utf-8", "replace")[:MAX_CONTENT]
            article = read_html(content, saved.url, encoding_hint="utf-8", text=options.text, report=report)
            article.title, article.captured = shortened(saved.title, MAX_TEXT) or article.title, saved.date
            yield article
    yield from links.pages(path.name)


def _saved(path: Path, start: bytes, report: ReadReport) -> Iterator[Saved]:
    if _is_pinboard_xml(start):
        yield from _from_xml(path, report)
    elif (names := _columns(start)) is not None:
        yield from _from_csv(path, names, report)
    elif _is_snapshots(start):
        yield from (saved for item in json_lines(path, report) if (saved := _archivebox(as_object(item))).url)
    elif (kind := _json_kind(start)) is not None:
        lists = _karakeep_lists(path) if kind.saved is _karakeep else {}
        for item in json_items(path, report, *kind.keys):
            if (saved := kind.saved(as_object(item))).url:
                yield saved._replace(groups=tuple(lists.get(name, name) for name in saved.groups))
            else:
                report.read["item without an address"] += 1  # notes and pictures, too
    else:
        raise BadSource(f"{path.name} is not an export that cocite knows: export it as HTML, or use --kind")


def _from_csv(path: Path, names: list[str], report: ReadReport) -> Iterator[Saved]:
    url, title = (names.index(name) for name in _COLUMNS)
    note = names.index("note") if "note" in names else -1
    folder, tags = (names.index(name) if name in names else -1 for name in _GROUP_COLUMNS)

    def field(row: list[str], column: int) -> str:
        return row[column].strip() if 0 <= column < len(row) else ""

    with open_bytes(path, report) as stream, io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as lines:
        rows = csv.reader(lines)
        next(rows, None)
        try:
            for row in rows:
                given = field(row, tags).strip("[]")
                groups = (field(row, folder), *_names(given.replace('"', ""), ",|"))
                address = field(row, url)
                if address:
                    yield Saved(address, field(row, title), field(row, note), tuple(filter(None, groups)))
                elif row:
                    report.skip("row without an address", ",".join(row)[:80])
        except csv.Error as error:
            report.skip("damaged CSV: read up to the damage", f"{path.name}, line {rows.line_num}: {error}")


def _from_xml(path: Path, report: ReadReport) -> Iterator[Saved]:
    found: list[Saved] = []

    def start(tag: str, given: dict[str, str]) -> None:
        if tag == "post":
            found.append(_pinboard(dict(given)))

    return xml_items(path, new_parser(path.name, "exports don't", start), found, report, MAX_CONTENT)


SOURCE = SourceKind("bookmark-manager", "exports of bookmark managers", recognises, read_saved, order=46)
