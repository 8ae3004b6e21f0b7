"""Read WARC and ARC files as pages: HTML with its links, redirects as aliases, dead pages with their status, text
(WET).

`report.read` counts the records without a page, by kind. Pages that can't be read are counted as skipped.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from cocite.sources.archives.archive_records import Record, open_records
from cocite.sources.archives.http_content import MAX_RATIO, Completeness, decode_body
from cocite.sources.html.page import (
    MAX_CONTENT,
    MAX_TEXT,
    MAX_TITLE,
    add_nofollow,
    language_of,
    parsed,
    read_html,
    resolve,
    robots,
)
from cocite.sources.html.page import recognises as looks_like_html
from cocite.sources.kinds import SourceKind
from cocite.sources.records import Page, ReadReport

MAX_KEPT_BYTES = 64 << 20
"""Of recent pages, kept for the revisit records that refer to them."""

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
NO_PAGE = "archive without pages"
UNTYPED = frozenset({"", "*/*", "unknown", "unknown/unknown", "no-type"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
GONE = frozenset({404, 410})

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
_ROBOT = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*:", re.IGNORECASE)
_TIMED = re.compile(r"unavailable_after|max-(?:snippet|image-preview|video-preview)", re.IGNORECASE)


def read_warc(path: Path, report: ReadReport, *, text: bool = True) -> Iterator[Page]:
    """Yield the pages of an archive in file order. Damage is counted, and the rest is read."""
    reader = _Reader(report, text)
    found = False
    for record in open_records(path, report):
        page = reader.page(record)
        if page is not None:
            found = True
            report.read["pages"] += 1
            yield page
    if not found:
        report.skip(NO_PAGE, path.name)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is a WARC or ARC file."""
    return head.startswith((b"WARC/", b"filedesc:"))


class _Reader:
    """Turns records into pages, and keeps the content of some for the records that refer to them."""

    def __init__(self, report: ReadReport, text: bool) -> None:
        self.report, self.text = report, text
        self.kept: OrderedDict[str, tuple[bytes, dict[str, str]]] = OrderedDict()
        self.kept_size = 0

    def page(self, record: Record) -> Page | None:
        """Return the page in a record. Count a record without one, and return None."""
        if record.kind not in ("response", "resource", "conversion", "revisit"):
            self.report.read[f"{record.kind} record"] += 1
            return None
        if not record.url:
            self.report.read["record of something other than a web page"] += 1
            return None
        if record.kind == "conversion":
            return self.text_page(record)
        if record.kind == "revisit":
            return self.revisited(record)
        status = record.status
        if status in REDIRECTS:
            return self.redirect(record)
        if status in GONE:
            return Page(record.url, status=status, captured=record.captured)
        if status is not None and not 200 <= status < 300:
            self.report.read[f"response with HTTP status {status}"] += 1
            return None
        if not self.is_html(record):
            return None
        return self.html_page(record)

    def is_html(self, record: Record) -> bool:
        """Return whether the content of a record is HTML, by its type, or by its first bytes if it has none."""
        kind = media_type(record)
        if kind in UNTYPED:
            content = record.body()
            record.body = lambda: content
            if looks_like_html(record.url, content[:4096]):
                return True
        if kind in HTML_TYPES:
            return True
        self.report.read["record that is not HTML"] += 1
        return False

    def html_page(self, record: Record) -> Page | None:
        """Read the HTML of a record."""
        body = record.body()
        http = record.http
        coding = http.get("content-encoding", "")
        content, state = decode_body(body, http.get("transfer-encoding", ""), coding, MAX_CONTENT)
        if state is Completeness.BOMB:
            self.report.skip(f"page that expands over {MAX_RATIO} times", record.url)
            return None
        if state is Completeness.DAMAGED:
            self.report.skip("page with an unknown or damaged content coding", f"{record.url} ({coding})")
            return None
        if state is Completeness.TRUNCATED:
            self.report.skip(f"page longer than {MAX_CONTENT >> 20} MiB: the rest is skipped", record.url)
        self.keep(record, content)
        return self.read(record, content, http)

    def read(self, record: Record, content: bytes, http: dict[str, str]) -> Page:
        """Read HTML, and the headers that came with it."""
        charset = _CHARSET.search(http.get("content-type", "") or record.headers.get("content-type", ""))
        hint = charset[1] if charset else None
        page = read_html(content, record.url, encoding_hint=hint, text=self.text, report=self.report)
        page.status, page.captured = record.status, record.captured
        page.canonical = page.canonical or _canonical_header(http.get("link", ""), record.url)
        no_index, no_follow = robots(_for_all_robots(http.get("x-robots-tag", "")))
        page.noindex |= no_index
        if no_follow:
            add_nofollow(page)
        self.report.read["links"] += len(page.links)
        if page.redirect:
            self.report.read["redirects"] += 1
        return page

    def redirect(self, record: Record) -> Page | None:
        """Read a 3xx response as an alias."""
        location = record.http.get("location", "").strip()
        target = resolve(parsed(record.url), location) if location else ""
        if not target:
            self.report.skip("redirect to an invalid address", f"{record.url} to {location!r}")
            return None
        self.report.read["redirects"] += 1
        return Page(record.url, redirect=target, status=record.status, captured=record.captured)

    def text_page(self, record: Record) -> Page | None:
        """Read the plain text of a page (Common Crawl's WET). Its first line is the title."""
        if media_type(record) not in ("text/plain", ""):
            self.report.read["record that is not HTML"] += 1
            return None
        content = record.body()[: 4 * MAX_TEXT].decode("utf-8", "replace")
        page = Page(record.url, captured=record.captured)
        page.title = " ".join(content.partition("\n")[0].split())[:MAX_TITLE]
        words = " ".join(content.split())[:MAX_TEXT]
        page.lang = language_of(words)
        page.text = words if self.text else ""
        return page

    def keep(self, record: Record, content: bytes) -> None:
        """Keep the content of a page under the names that later records may use for it."""
        names = [record.headers.get("warc-record-id", ""), record.headers.get("warc-payload-digest", ""), record.url]
        for name in filter(None, names):
            old = self.kept.pop(name, None)
            self.kept_size -= len(old[0]) if old else 0
            self.kept[name] = (content, record.http)
            self.kept_size += len(content)
        while self.kept_size > MAX_KEPT_BYTES:
            _, (dropped, _) = self.kept.popitem(last=False)
            self.kept_size -= len(dropped)

    def revisited(self, record: Record) -> Page | None:
        """Read a capture that is the same as an earlier one: its links again, with the new date."""
        if record.http.get("content-type") and media_type(record) not in HTML_TYPES and record.status != 304:
            self.report.read["record that is not HTML"] += 1
            return None
        if record.status in REDIRECTS and record.http.get("location"):
            return self.redirect(record)
        for name in _names_of_original(record):
            found = self.kept.get(name)
            if found is not None:
                record.status = 200
                return self.read(record, *found)
        self.report.skip("revisit of a record that isn't in this file", record.url)
        return None


def _names_of_original(record: Record) -> list[str]:
    """Return the names that a revisit record has for the record that it repeats, most reliable first."""
    headers = record.headers
    names = [headers.get("warc-refers-to", ""), headers.get("warc-payload-digest", "")]
    if "not-modified" in headers.get("warc-profile", ""):
        names.append(record.url)
    return [name for name in names if name]


def media_type(record: Record) -> str:
    """Return the media type of a record, such as `text/html`, or "" if it has none."""
    if record.status is None and record.kind != "response":
        return record.headers.get("content-type", "").partition(";")[0].strip().lower()
    kind = record.http.get("content-type", "").partition(";")[0].partition(",")[0].strip().lower()
    return record.headers.get("warc-identified-payload-type", "").lower() if kind in UNTYPED else kind


def _canonical_header(value: str, url: str) -> str:
    """Return the address in `Link: <…>; rel="canonical"`."""
    for target, parameters in _LINK.findall(value[:20_000]):
        if _CANONICAL.search(parameters):
            return resolve(parsed(url), target)
    return ""


def _for_all_robots(value: str) -> str:
    """Return the directives of `X-Robots-Tag` for all robots, without those for a robot by name."""
    kept = []
    for part in value[:10_000].split(","):
        named = _ROBOT.match(part)
        if named is None or _TIMED.match(named[1]):
            kept.append(part)
    return ",".join(kept)


SOURCE = SourceKind(
    "warc",
    "web archive (WARC, ARC, WET)",
    recognises,
    lambda path, report, options: read_warc(path, report, text=options.text),
    order=30,
)
