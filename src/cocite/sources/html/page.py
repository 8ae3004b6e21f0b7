"""One HTML document → one `Page`: links in page order with their blocks, title, main text, and what the head says.

`html_tokens` cuts the source into tags and text, `html_walk` goes over them once and groups the links, `html_blocks`
numbers the groups; here addresses are resolved and the head is read. Text is main text: what stands in boilerplate is
left out.
"""

from __future__ import annotations

import re

import can_ada

from cocite.sources.html.blocks import number_blocks
from cocite.sources.html.encoding import decode
from cocite.sources.html.escapes import plain
from cocite.sources.html.tokens import tokens
from cocite.sources.html.walk import Walk
from cocite.sources.link_list import INVALID_LINK, has_web_scheme
from cocite.sources.records import Link, Page, ReadReport

MAX_CONTENT = 16 << 20
"""Bytes of one document; what is beyond is not read."""
MAX_TEXT = 200_000
MAX_TITLE = 1000
_PIECES = 5000
MAX_REFRESH = 5
"""Seconds: a page that leads on after so short a time is a redirect."""
ENOUGH_TEXT, SAMPLE = 600, 2000
"""Characters from which the language can be told, and how many are looked at. On documents in eleven languages the
detector was right for 83 % with 200 characters, 93 % with 600, 96 % with 2,000 from the middle (at the beginning, where
the menus are, far less often)."""
MAX_DISTANCE, MAX_DISTANCE_CJK = 450, 600
"""Pages of names and numbers come out as Breton or Latin, but far off: within these distances were 96 % of the right
answers and a third of the wrong ones."""

_REFRESH = re.compile(r"\s*([0-9]+)(?:\.[0-9.]*)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)", re.IGNORECASE | re.DOTALL)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_]|$)")
_MARKS = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|a\s|p>)", re.IGNORECASE)
_FROM_ROOT = re.compile(r"/[\w.~!$&()*+,;=:@-][\w.~!$&()*+,;=:@/-]*+(?:\?[\w.~!$&()*+,;=:@/?%-]*+)?+", re.ASCII)
"""References from the root of the site, which resolving does not change; a third of the time of going the long way."""
_SELF_CLOSED = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*+)((?:\s[^<>/]*+(?:/(?!>)[^<>/]*+)*+)?)/>")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "wbr")
)


def read_html(
    content: bytes, url: str, *, encoding_hint: str | None = None, text: bool = True, report: ReadReport | None = None
) -> Page:
    """Read one document that was found at `url`. Never fails: of a broken document it gives what there is.

    Links to what is no web page (`mailto:`, `javascript:`) are left out; those that were meant to lead to one, but have
    an address that no browser can read, are counted in the report.
    """
    walk = Walk()
    walk.read(tokens(_source(content, encoding_hint)))
    page = Page(url, title=plain(walk.title or "")[:MAX_TITLE])
    base, nofollow = read_head(walk.head, page)
    page.links = _resolved(walk.links, url, base, report)
    page.headings = [plain(heading) for heading in number_blocks(page.links, walk.groups)]
    if nofollow:
        add_nofollow(page)
    pieces = walk.main_text()
    page.text = _main_text(pieces) if text else ""
    if not page.lang:
        middle = len(pieces) // 2
        page.lang = language_of(page.text or _main_text(pieces[max(0, middle - 500) : middle + 500]))
    return page


def add_nofollow(page: Page) -> None:
    """The whole page asks that its links not be followed."""
    for link in page.links:
        link.rel = link.rel if "nofollow" in link.rel.split() else f"{link.rel} nofollow".strip()


def recognises(path: object, head: bytes) -> bool:
    """Whether the first bytes of a file look like HTML."""
    start = head[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and b"NETSCAPE-Bookmark" not in start and _MARKS.search(start) is not None


def robots(directives: str) -> tuple[bool, bool]:
    """Whether directives as in `<meta name=robots>` forbid indexing, and following links."""
    words = set(re.split(r"[,\s]+", directives.lower()))
    return bool(words & {"noindex", "none"}), bool(words & {"nofollow", "none"})


def resolve(base: can_ada.URL | None, href: str) -> str:
    """The absolute http(s) address that a browser makes of a reference; "" if it leads elsewhere or nowhere."""
    try:
        address = can_ada.parse(href) if base is None else base + href
    except (ValueError, TypeError):  # no address, or no text that could be written as UTF-8
        return ""
    result = str(address)
    return result if result.startswith(("http:", "https:")) else ""


def parsed(url: str) -> can_ada.URL | None:
    """An address to resolve others against, or None."""
    try:
        return can_ada.parse(url)
    except (ValueError, TypeError):
        return None


def _source(content: bytes, encoding_hint: str | None) -> str:
    """The text of a document; in XML's way of writing, `<script/>` is made what HTML understands."""
    source = decode(content[:MAX_CONTENT], encoding_hint)
    source = source.replace("\0", "").replace("&nbsp;", "\xa0")  # half of all references: resolved at once
    if source[:100].lstrip().startswith("<?xml"):
        source = _SELF_CLOSED.sub(_opened_and_closed, source)
    return source


def _opened_and_closed(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _main_text(pieces: list[str]) -> str:
    """The first `MAX_TEXT` characters, white space folded; few pages need more than the first pieces."""
    parts: list[str] = []
    room = MAX_TEXT
    for start in range(0, len(pieces), _PIECES):
        part = " ".join("".join(pieces[start : start + _PIECES])[: 4 * MAX_TEXT].split())
        parts.append(part)
        room -= len(part) + 1
        if room < 0:
            break
    return plain(" ".join(parts)[:MAX_TEXT].strip())


def read_head(head: list[tuple[str, dict[str, str]]], page: Page) -> tuple[can_ada.URL | None, bool]:
    """Fill in what the head says; return what to resolve links against, and whether they are not to be followed."""
    base = parsed(page.url)
    for element, named in head:
        if element == "base" and "href" in named:
            base = parsed(resolve(base, named["href"])) or base
            break
    nofollow = False
    for element, named in head:
        if element == "html" and not page.lang:
            language = _LANGUAGE.match((named.get("lang") or named.get("xml:lang") or "").strip().lower())
            page.lang = language[1] if language else ""
        elif "canonical" in named.get("rel", "").lower().split() and named.get("href", "").strip():
            page.canonical = page.canonical or resolve(base, named["href"])
        elif named.get("name", "").lower() == "robots":
            no_index, no_follow = robots(named.get("content", ""))
            page.noindex, nofollow = page.noindex or no_index, nofollow or no_follow
        elif named.get("http-equiv", "").lower() == "refresh":
            page.redirect = page.redirect or _refreshed(named.get("content", ""), base, page.url)
    return base, nofollow


def _refreshed(content: str, base: can_ada.URL | None, url: str) -> str:
    """Where `<meta http-equiv=refresh>` leads, if that is soon and elsewhere."""
    match = _REFRESH.match(content[:10_000])
    if match is None or len(match[1]) > 3 or int(match[1]) > MAX_REFRESH:
        return ""
    target = match[2].strip()
    if target[0] in "\"'":
        target = target[1:].partition(target[0])[0]
    address = resolve(base, target)
    return "" if address.partition("#")[0] == url.partition("#")[0] else address


def _resolved(links: list[Link], url: str, base: can_ada.URL | None, report: ReadReport | None) -> list[Link]:
    """The links that lead to web pages, with their absolute addresses."""
    known: dict[str, str] = {}
    kept = []
    origin = base.origin if base is not None and base.protocol in ("http:", "https:") else ""
    for link in links:
        href = link.url
        address = known.get(href)
        if address is None:
            if origin and _FROM_ROOT.fullmatch(href) and "/." not in href:
                address = origin + href
            else:
                address = resolve(base, href)
            known[href] = address
        if address:
            link.url = address
            if not link.text.isprintable():
                link.text = plain(link.text)
            if link.context and not link.context.isprintable():
                link.context = plain(link.context)
            kept.append(link)
        elif report is not None and has_web_scheme(href):
            report.skip(INVALID_LINK, f"{href} on {url}")
    return kept


def language_of(text: str) -> str:
    """The language of a text, told by its looks, or "" where that is not sure."""
    if len(text) < ENOUGH_TEXT:
        return ""
    from resiliparse.parse.lang import detect_fast

    start = max(0, (len(text) - SAMPLE) // 2)
    language, distance = detect_fast(text[start : start + SAMPLE])
    most = MAX_DISTANCE_CJK if language in ("zh", "ja", "ko") else MAX_DISTANCE
    return str(language) if distance <= most else ""
