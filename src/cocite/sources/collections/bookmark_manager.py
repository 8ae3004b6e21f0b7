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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadSource
from cocite.sources.collections.link_list import MAX_CONTEXT, MAX_HEADING_FOLDERS, MAX_TEXT, GroupedLinks, shortened
from cocite.sources.compressed import head, open_bytes
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


def _reader(head: bytes) -> Callable[[Path, ReadReport], Iterator[Saved]] | None:
    """What reads a file that begins with `head`."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line = start.partition(b"\n")[0]
    if re.search(rb"<posts\b[^<>]*>\s*(?:<!--.*?-->\s*)?<post\s[^<>]*href=", head[:4096]):
        return _from_xml
    names = [name.strip().strip('"') for name in line.decode("utf-8", "replace").lower().split(",")]
    if len(line) < 1000 and {"url", "title"} <= set(names) and not {"folder", "tags"}.isdisjoint(names):
        return partial(_from_csv, names)
    if line.startswith(b"{") and b'"url"' in line and _ARCHIVEBOX.search(line) and b'"links"' not in line:
        return _from_lines
    for kind in _JSON if start[:1] in (b"{", b"[") else ():
        if re.match(kind.start, start) and all(name in start for name in kind.names):
            is_archivebox = kind.saved is not _archivebox or _ARCHIVEBOX.search(start)
            # An object spans lines, or has its list on the first one: a line by itself may be a page record.
            if is_archivebox and (start[:1] == b"[" or not start.startswith(b'{"url"')):
                return partial(_from_document, kind)
    return None


def read_saved(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the articles of an export, and the page with all links."""
    links = GroupedLinks.of_file(path, report, options.base)
    if (read := _reader(head(path))) is None:
        raise BadSource(f"{path.name} is not an export that cocite knows: export it as HTML, or use --kind")
    for saved in read(path, report):
        links.add(saved.url, shortened(saved.title, MAX_TEXT), shortened(saved.note, MAX_CONTEXT), saved.groups)
        if saved.content and saved.url.lower().startswith(("http://", "https://")):
            content = saved.content.encode("utf-8", "replace")[:MAX_CONTENT]
            article = read_html(content, saved.url, encoding_hint="utf-8", text=options.text, report=report)
            article.title, article.captured = shortened(saved.title, MAX_TEXT) or article.title, saved.date
            yield article
    yield from links.pages(path.name)


def _from_lines(path: Path, report: ReadReport) -> Iterator[Saved]:
    return (saved for item in json_lines(path, report) if (saved := _archivebox(as_object(item))).url)


def _from_document(kind: _Json, path: Path, report: ReadReport) -> Iterator[Saved]:
    lists = _karakeep_lists(path) if kind.saved is _karakeep else {}
    for item in json_items(path, report, *kind.keys):
        if (saved := kind.saved(as_object(item))).url:
            yield saved._replace(groups=tuple(lists.get(name, name) for name in saved.groups))
        else:
            report.read["item without an address"] += 1  # notes and pictures, too


def _from_csv(names: list[str], path: Path, report: ReadReport) -> Iterator[Saved]:
    with open_bytes(path, report) as stream, io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as lines:
        # Of columns with the same name the first one counts.
        columns = [name if name not in names[:at] else "" for at, name in enumerate(names)]
        rows = csv.DictReader(lines, columns, restkey="", restval="")
        next(rows, None)
        try:
            for row in rows:
                given = {name: as_text(value) for name, value in row.items()}
                groups = _names(given.get("tags", "").strip("[]").replace('"', ""), ",|")
                if given["url"]:
                    groups = tuple(filter(None, (given.get("folder", ""), *groups)))
                    yield Saved(given["url"], given["title"], given.get("note", ""), groups)
                else:
                    report.skip("row without an address", ",".join(given.values())[:80])
        except csv.Error as error:
            report.skip("damaged CSV: read up to the damage", f"{path.name}, line {rows.reader.line_num}: {error}")


def _from_xml(path: Path, report: ReadReport) -> Iterator[Saved]:
    found: list[Saved] = []

    def start(tag: str, given: dict[str, str]) -> None:
        if tag == "post":
            found.append(_pinboard(dict(given)))

    return xml_items(path, new_parser(path.name, "exports don't", start), found, report, MAX_CONTENT)


SOURCE = SourceKind(
    "bookmark-manager", "exports of bookmark managers", lambda _, head: _reader(head) is not None, read_saved, order=46
)
