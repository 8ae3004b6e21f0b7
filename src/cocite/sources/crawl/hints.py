"""Sitemaps and feeds: addresses that a site names itself, with the dates of their last changes.

Sitemaps (and indexes of them), RSS and Atom are read by expat, with bounds: they come from strangers. A hint is no
promise: what it names is fetched under the same rules as any link.
"""

import re
import zlib
from typing import NamedTuple
from urllib.parse import urljoin

from cocite.errors import BadSource
from cocite.sources.xml_chunks import XML_ERRORS, new_parser

MAX_HINTS = 50_000  # of one file, as sitemaps.org limits them
MAX_BYTES = 50 << 20
MAX_DEPTH = 30
MAX_VALUE = 4_000  # characters
MAX_FEEDS = 20

_LINK_TAG = re.compile(rb"<link\s[^<>]*>", re.IGNORECASE)
_FEED = re.compile(rb"type\s*=\s*[\"']?application/(?:rss|atom)\+xml", re.IGNORECASE)
_HREF = re.compile(rb"href\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?", re.ASCII)


class Hint(NamedTuple):
    """An address that a site names."""

    url: str
    changed: str = ""  # an ISO date, or time; "" is unknown
    is_list: bool = False  # whether it is another sitemap


def read_hints(content: bytes, base: str) -> list[Hint]:
    """Return the addresses in a sitemap or feed, as far as it can be read."""
    reader = _Reader(base)
    parser = new_parser(base, "hints don't", reader.start, reader.end, reader.characters)
    try:
        if content[:2] == b"\x1f\x8b":
            content = zlib.decompressobj(31).decompress(content, MAX_BYTES)
        parser.Parse(content[:MAX_BYTES], True)
    except (*XML_ERRORS, zlib.error, BadSource):
        pass  # what came before the damage is kept
    return reader.found


def feeds_of(head: bytes, base: str) -> list[str]:
    """Return the addresses of the feeds that a page declares."""
    found = []
    for tag in _LINK_TAG.findall(head):
        href = _HREF.search(tag) if _FEED.search(tag) else None
        if href:
            address = next(filter(None, href.groups()), b"").decode("utf-8", "replace")
            found.append(_joined(base, address))
    return list(dict.fromkeys(filter(None, found)))[:MAX_FEEDS]


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return ""


class _Reader:
    """Collects addresses from the events of the XML parser."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.found: list[Hint] = []
        self.depth = 0
        self.item: dict[str, str] | None = None  # of the entry that is being read
        self.value: list[str] = []

    def start(self, tag: str, given: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH or len(self.found) >= MAX_HINTS:
            raise ValueError("too deep, or too long")
        name = tag.rpartition(":")[2].lower()
        if name in ("url", "sitemap", "item", "entry"):
            self.item = {"kind": name}
        elif name == "link" and self.item is not None and given.get("rel", "alternate") == "alternate":
            self.item["link"] = self.item.get("link") or given.get("href", "")
        self.value = []

    def characters(self, text: str) -> None:
        if sum(map(len, self.value[-4:])) < MAX_VALUE and len(self.value) < MAX_VALUE:
            self.value.append(text)

    def end(self, tag: str) -> None:
        self.depth -= 1
        name = tag.rpartition(":")[2].lower()
        if self.item is None:
            return
        if name in ("loc", "link", "lastmod", "updated"):
            self.item[name] = self.item.get(name) or "".join(self.value).strip()[:MAX_VALUE]
        elif name == self.item["kind"]:
            written = self.item.get("loc") or self.item.get("link", "")
            date = _DATE.match(self.item.get("lastmod") or self.item.get("updated", ""))
            if written and (address := _joined(self.base, written)):
                self.found.append(Hint(address, date[0] if date else "", name == "sitemap"))
            self.item = None
        self.value = []
