"""Read WARC and ARC files as pages: HTML with its links, redirects as aliases, dead pages with their status, text
(WET).

`report.read` counts the records without a page, by kind. Pages that can't be read are counted as skipped.

Bodies are decoded here, within limits. FastWARC decompresses, but its `auto_decode` loses a page, and the rest of the
file, where a header is false. Of 14 codings tried with version 1.1 it failed on 7: x-gzip, raw deflate, an unknown one,
and gzip, deflate, br or chunked in the headers of a body that was decoded before it was archived.
"""

import io
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from cocite.sources.archives.archive_records import Record, open_records
from cocite.sources.html import page as html
from cocite.sources.html.page import GONE_STATUSES, HTML_TYPES, MAX_CONTENT, MAX_TEXT, REDIRECT_STATUSES
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport, expect_some

MAX_KEPT_BYTES = 64 << 20  # of recent pages, kept for the revisit records that refer to them
NO_PAGE = "archive without pages"
NOT_HTML = "record that is not HTML"
ARCHIVE_STARTS = b"WARC/", b"filedesc:"
UNTYPED = frozenset({"", "*/*", "unknown", "unknown/unknown", "no-type"})
MAX_RATIO = 200  # content that expands more than this, beyond the size limit, is a bomb; HTML expands 3 to 30 times
MAX_CODINGS = 3

_OUTPUT_BYTES = 64 << 10
_INPUT_BYTES = 1 << 10  # decompressed at a time, to measure how much input a bomb has taken
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CODING = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")


def read_warc(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages of an archive in file order. Damage is counted, and the rest is read."""
    pages = map(WarcReader(report, options.text).page, open_records(path, report))
    return expect_some(count_pages(pages, report), report, path.name, NO_PAGE)


def count_pages(pages: Iterable[Page | None], report: ReadReport) -> Iterator[Page]:
    """Count the pages of an archive in the report, with their links."""
    for page in pages:
        if page is not None:
            report.read["pages"] += 1
            report.read["links"] += len(page.links)
            if page.redirect:
                report.read["redirects"] += 1
            yield page


def page_without_content(page: Page, location: str, report: ReadReport) -> Page | None:
    """Return a page whose status is not 2xx, if it redirects to `location` or is gone. Others are counted."""
    if page.status in REDIRECT_STATUSES:
        page.redirect = html.resolve(html.parsed(page.url), location.strip()) if location.strip() else ""
        if page.redirect:
            return page
        report.skip("redirect to an invalid address", f"{page.url} to {location.strip()!r}")
    elif page.status in GONE_STATUSES:
        return page
    else:
        report.read[f"response with HTTP status {page.status}"] += 1
    return None


class WarcReader:
    """Turns records into pages, and keeps the content of some for the records that refer to them."""

    def __init__(self, report: ReadReport, text: bool) -> None:
        self.report, self.text = report, text
        self.kept: OrderedDict[str, tuple[bytes, dict[str, str]]] = OrderedDict()
        self.kept_size = 0

    def page(self, record: Record) -> Page | None:
        """Return the page in a record. Count a record without one, and return None."""
        if record.kind not in ("response", "resource", "conversion", "revisit"):
            self.report.read[f"{record.kind} record"] += 1
        elif not record.url:
            self.report.read["record of something other than a web page"] += 1
        elif record.kind == "conversion":
            return self.text_page(record)
        elif record.kind == "revisit":
            return self.revisited(record)
        elif record.status is not None and not 200 <= record.status < 300:
            return self.without_content(record)
        else:
            return self.html_page(record)
        return None

    def without_content(self, record: Record) -> Page | None:
        """Read a response whose status is not 2xx."""
        page = Page(record.url, status=record.status, captured=record.captured)
        return page_without_content(page, record.http.get("location", ""), self.report)

    def html_page(self, record: Record) -> Page | None:
        """Read a record if it is HTML, by its type, or by its first bytes if it has none."""
        kind, http = record_type(record), record.http
        body = record.body() if kind in HTML_TYPES or kind in UNTYPED else b""
        if kind not in HTML_TYPES and not html.recognises(record.url, body[:4096]):
            self.report.read[NOT_HTML] += 1
            return None
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
        """Read HTML with its headers."""
        headers = {"content-type": record.headers.get("content-type", "")} | http
        page = html.read_response(content, record.url, headers, self.text, self.report)
        page.status, page.captured = record.status, record.captured
        return page

    def text_page(self, record: Record) -> Page | None:
        """Read the plain text of a page (Common Crawl's WET). Its first line is the title."""
        if record_type(record) not in ("text/plain", ""):
            self.report.read[NOT_HTML] += 1
            return None
        content = record.body()[: 4 * MAX_TEXT].decode("utf-8", "replace")
        title = " ".join(content.partition("\n")[0].split())[: html.MAX_TITLE]
        words = " ".join(content.split())[:MAX_TEXT]
        text = words if self.text else ""
        return Page(record.url, title=title, text=text, captured=record.captured, lang=html.language_of(words))

    def keep(self, record: Record, content: bytes) -> None:
        """Keep the content of a page under the names that later records may use for it."""
        names = [record.headers.get("warc-record-id", ""), record.headers.get("warc-payload-digest", ""), record.url]
        for name in filter(None, names):
            self.kept_size += len(content) - len(self.kept.pop(name, (b"",))[0])
            self.kept[name] = (content, record.http)
        while self.kept_size > MAX_KEPT_BYTES:
            _, (dropped, _) = self.kept.popitem(last=False)
            self.kept_size -= len(dropped)

    def revisited(self, record: Record) -> Page | None:
        """Read a capture that is the same as an earlier one: its links again, with the new date."""
        headers = record.headers
        if record.http.get("content-type") and record_type(record) not in HTML_TYPES and record.status != 304:
            self.report.read[NOT_HTML] += 1
            return None
        if record.status in REDIRECT_STATUSES and record.http.get("location"):
            return self.without_content(record)
        names = [headers.get("warc-refers-to", ""), headers.get("warc-payload-digest", "")]  # most reliable first
        if "not-modified" in headers.get("warc-profile", ""):
            names.append(record.url)
        found = next((self.kept[name] for name in names if name in self.kept), None)
        if found is None:
            self.report.skip("revisit of a record that isn't in this file", record.url)
            return None
        record.status = 200
        return self.read(record, *found)


def record_type(record: Record) -> str:
    """Return the media type of a record, such as `text/html`, or "" if it has none."""
    if record.status is None and record.kind != "response":
        return record.headers.get("content-type", "").partition(";")[0].strip().lower()
    kind = html.media_type(record.http.get("content-type", ""))
    return record.headers.get("warc-identified-payload-type", "").lower() if kind in UNTYPED else kind


class Completeness(Enum):
    """How much of the content could be decoded."""

    WHOLE = 1
    TRUNCATED = 2  # longer than the limit
    BOMB = 3  # longer than the limit, and out of all proportion
    DAMAGED = 4  # the coding is unknown, or the data are damaged from the beginning


def decode_body(body: bytes, transfer_encoding: str, content_encoding: str, limit: int) -> tuple[bytes, Completeness]:
    """Undo the codings that the headers name. A body that is already decoded stays as it is."""
    if "chunked" in transfer_encoding.lower():
        body = join_chunks(body)
    codings = [coding for coding in _CODING.findall(content_encoding.lower()) if coding not in ("identity", "chunked")]
    if len(codings) > MAX_CODINGS:
        return b"", Completeness.DAMAGED
    state = Completeness.WHOLE
    for coding in reversed(codings):
        body, state = _decompressed(body, coding.removeprefix("x-"), limit)
        if state in (Completeness.BOMB, Completeness.DAMAGED):
            return b"", state
    return body[:limit], Completeness.TRUNCATED if len(body) > limit else state


def join_chunks(body: bytes) -> bytes:
    """Undo `Transfer-Encoding: chunked`. Return a body that doesn't begin with a chunk as it is."""
    pieces: list[bytes] = []
    at = 0
    while head := _CHUNK_HEAD.match(body, at):
        size = int(head[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(body[head.end() : head.end() + size])
        at = head.end() + size
        at += 2 if body[at : at + 2] == b"\r\n" else body[at : at + 1] == b"\n"
    return b"".join(pieces) if pieces else body


def _decompressed(body: bytes, coding: str, limit: int) -> tuple[bytes, Completeness]:
    import zstandard
    from fastwarc.stream_io import BrotliReader, GzipReader

    source = io.BytesIO(body)
    reader: Any
    if coding == "gzip":
        if not body.startswith(b"\x1f\x8b"):
            return body, Completeness.WHOLE  # already decoded
        reader = GzipReader(source, _INPUT_BYTES)
    elif coding == "deflate":
        if body[:1] != b"\x78":  # many servers omit zlib's header
            source = io.BytesIO(b"\x78\x9c" + body)
        reader = GzipReader(source, _INPUT_BYTES, zlib=True)
    elif coding == "br":
        reader = BrotliReader(source, _INPUT_BYTES)
    elif coding == "zstd":
        reader = zstandard.ZstdDecompressor(max_window_size=8 << 20).stream_reader(source, _INPUT_BYTES)
    else:
        return b"", Completeness.DAMAGED
    out = bytearray()
    try:
        while len(out) <= limit and (piece := reader.read(_OUTPUT_BYTES)):
            out += piece
    except (OSError, EOFError, ValueError, zstandard.ZstdError):
        pass  # keep the output before the damage
    if len(out) > limit:
        consumed = getattr(reader, "inner_tell", source.tell)()  # FastWARC's readers buffer their source
        is_bomb = len(out) > MAX_RATIO * consumed
        return bytes(out[:limit]), Completeness.BOMB if is_bomb else Completeness.TRUNCATED
    if not out and body:
        looks_decoded = b"<" in body[:1000]
        return (body, Completeness.WHOLE) if looks_decoded else (b"", Completeness.DAMAGED)
    return bytes(out), Completeness.WHOLE


SOURCE = SourceKind(
    "warc", "web archive (WARC, ARC, WET)", lambda path, head: head.startswith(ARCHIVE_STARTS), read_warc, order=30
)
