"""Read Common Crawl's WAT files as pages: their links without their content.

A WAT record describes one WARC record in JSON. Links are in page order with their anchor texts; their blocks are
unknown.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cocite.sources.archives.archive_records import Record, open_records, web_address
from cocite.sources.archives.warc import NOT_HTML, count_pages, page_without_content
from cocite.sources.collections.link_list import count_skipped_link
from cocite.sources.html.page import GONE_STATUSES, MAX_TITLE, REDIRECT_STATUSES, add_nofollow, read_head, resolve
from cocite.sources.html.running_text import MAX_ANCHOR, MAX_LINKS
from cocite.sources.json_items import as_list, as_object
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Link, Page, ReadReport

LINK_PATHS = frozenset({"A@/href", "AREA@/href"})
NO_HTML = "WAT file without HTML pages"


def read_wat(path: Path, report: ReadReport, _options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages of a WAT file in file order."""
    described = False
    for page in count_pages((_page(record, report) for record in open_records(path, report)), report):
        described = described or page.status not in REDIRECT_STATUSES | GONE_STATUSES
        yield page
    if not described:
        report.skip(NO_HTML, f"{path.name}: give the WARC file that it was made from")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is a WAT file."""
    if not head.startswith(b"WARC/"):
        return False
    return ".wat" in path.name.lower() or (b"WARC-Type: metadata" in head and b'{"Container":' in head)


def _page(record: Record, report: ReadReport) -> Page | None:
    if record.kind != "metadata":
        report.read[f"{record.kind} record"] += 1
        return None
    try:
        envelope = _dict(json.loads(record.body()), "Envelope")
    except (ValueError, RecursionError):
        report.skip("invalid WAT record", record.url)
        return None
    header = _dict(envelope, "WARC-Header-Metadata")
    kind = _text(header, "WARC-Type")
    url = web_address(_text(header, "WARC-Target-URI"))
    response = _dict(_dict(envelope, "Payload-Metadata"), "HTTP-Response-Metadata")
    if kind != "response" or not url:
        report.read[f"{kind or 'other'} record"] += 1
        return None
    status = _text(_dict(response, "Response-Message"), "Status")
    page = Page(url, captured=_text(header, "WARC-Date"))
    page.status = int(status) if re.fullmatch("[0-9]{3}", status) else None
    if page.status is not None and not 200 <= page.status < 300:
        headers = {name.lower(): value for name, value in _dict(response, "Headers").items()}
        return page_without_content(page, _text(headers, "location"), report)
    if "HTML-Metadata" not in response:
        report.read[NOT_HTML] += 1
        return None
    return _read_html_metadata(page, _dict(response, "HTML-Metadata"), report)


def _read_html_metadata(page: Page, found: dict[str, Any], report: ReadReport) -> Page:
    head = _dict(found, "Head")
    page.title = " ".join(_text(head, "Title").split())[:MAX_TITLE]
    elements = [("base", {"href": _text(head, "Base")})] if _text(head, "Base") else []
    for item in [*_list(head, "Link"), *_list(head, "Metas")]:
        named = {name.lower(): value for name, value in item.items() if isinstance(value, str)}
        named.setdefault("href", named.get("url", ""))
        elements.append(("about", named))
    base, nofollow = read_head(elements, page)
    for item in _list(found, "Links"):
        if item.get("path") not in LINK_PATHS or len(page.links) >= MAX_LINKS:
            continue
        address = resolve(base, _text(item, "url"))
        if not address:
            count_skipped_link(_text(item, "url"), page.url, report)
            continue
        rel = " ".join(_text(item, "rel").lower().split())
        words = _text(item, "text") or _text(item, "alt") or _text(item, "title")
        page.links.append(Link(address, " ".join(words.split())[:MAX_ANCHOR], rel=rel))
    if nofollow:
        add_nofollow(page)
    return page


def _dict(container: object, name: str) -> dict[str, Any]:
    return as_object(as_object(container).get(name))


def _list(container: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in as_list(container.get(name)) if isinstance(item, dict)]


def _text(container: dict[str, Any], name: str) -> str:
    value = container.get(name)
    return value if isinstance(value, str) else ""


SOURCE = SourceKind("wat", "Common Crawl's metadata (WAT)", recognises, read_wat, order=20)
