"""Read HAR files, which browsers save from their network tools: the HTML pages among the requests, with their links.

A HAR file has the contents of pages only where it was saved "with content"; requests without are counted. Redirects
become aliases, pages that are gone keep their status.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cocite.sources.archives.warc import NO_PAGE, count_pages, page_without_content
from cocite.sources.html import page as html
from cocite.sources.html.page import HTML_TYPES, MAX_CONTENT
from cocite.sources.json_items import as_list, as_object, as_text, json_items
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport, expect_some

_START = re.compile(rb"\s*\{\s*\"log\"\s*:\s*\{")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is a HAR file."""
    start = head.removeprefix(b"\xef\xbb\xbf")
    return _START.match(start) is not None and (b'"creator"' in start or b'"entries"' in start)


def read_har(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages of a HAR file, in the order of the requests."""
    entries = json_items(path, report, "log", "entries")
    pages = (_page(as_object(entry), report, options.text) for entry in entries)
    return expect_some(count_pages(pages, report), report, path.name, NO_PAGE)


def _page(entry: dict[str, Any], report: ReadReport, text: bool) -> Page | None:
    """The page of one request; None if it has none, which is counted."""
    request, response = as_object(entry.get("request")), as_object(entry.get("response"))
    url, status = as_text(request.get("url")), response.get("status")
    if not url.lower().startswith(("http://", "https://")) or type(status) is not int or status <= 0:
        report.read["request without a response, or not of the web"] += 1
        return None
    if request.get("method", "GET") != "GET":
        report.read["request that isn't GET"] += 1
        return None
    page = Page(url.partition("#")[0], status=min(status, 999), captured=as_text(entry.get("startedDateTime")))
    if not 200 <= status < 300:
        return page_without_content(page, as_text(response.get("redirectURL")), report)
    headers = {
        as_text(header.get("name")).lower(): as_text(header.get("value"))
        for header in map(as_object, as_list(response.get("headers")))
    }
    content = as_object(response.get("content"))
    mime = as_text(content.get("mimeType")) or headers.get("content-type", "")
    body = as_text(content.get("text"))
    if html.media_type(mime) not in HTML_TYPES:
        report.read["request of something other than HTML"] += 1
        return None
    if not body:
        report.read["page without content (save the HAR file with content)"] += 1
        return None
    try:
        data = base64.b64decode(body) if content.get("encoding") == "base64" else body.encode("utf-8", "replace")
    except (binascii.Error, ValueError):
        report.skip("page with a damaged content", url)
        return None
    if content.get("encoding") != "base64":  # the browser has decoded it
        mime = "text/html; charset=utf-8"
    read = html.read_response(data[:MAX_CONTENT], page.url, headers | {"content-type": mime}, text, report)
    read.status, read.captured = page.status, page.captured
    return read


SOURCE = SourceKind("har", "browser requests (HAR)", recognises, read_har, order=44)
