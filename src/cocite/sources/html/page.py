"""Read one HTML document as a `Page`: links in page order with their sections, title, main text, and its head.

`tokens.py` splits the source into tags and text, `walk.py` reads them once and groups the links, `blocks.py` numbers
the groups. Here addresses are resolved and the head is read. Main text is the text outside boilerplate.

Our own reader, because it gives links, blocks and main text of 400 pages per CPU second. A walk over lexbor's tree in
Python gave 246, with fewer details (docs/decisions/0007).
"""

import re
from collections.abc import Mapping

import can_ada

from cocite.sources.collections.link_list import INVALID_LINK, has_web_scheme
from cocite.sources.escapes import plain
from cocite.sources.html.blocks import number_blocks
from cocite.sources.html.encoding import decode
from cocite.sources.html.tokens import tokens
from cocite.sources.html.walk import PageWalk
from cocite.sources.records import Link, Page, ReadReport

MAX_CONTENT = 16 << 20  # bytes of a document; the rest is not read
MAX_TEXT, MAX_TITLE = 200_000, 1000  # characters
MAX_REFRESH_SECONDS = 5  # a page that refreshes to another one within this time is a redirect
MIN_LANGUAGE_TEXT, LANGUAGE_SAMPLE = 600, 2000
"""Characters needed to detect a language, and used. On documents in eleven languages the detector was right for 83 %
with 200 characters, 93 % with 600, 96 % with 2,000 from the middle. At the beginning, where menus are, it was worse."""
MAX_DISTANCE, MAX_DISTANCE_CJK = 450, 600
"""Of the language detector. Within these were 96 % of the right results and a third of the wrong ones: pages of names
and numbers, detected as Breton or Latin at greater distances."""

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
GONE_STATUSES = frozenset({404, 410})

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_LINK_HEADER = re.compile(r"<([^<>]*)>([^<]*)")
_CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
_ROBOT = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*:(.*)", re.IGNORECASE | re.DOTALL)
_TIMED = re.compile(r"unavailable_after|max-(?:snippet|image-preview|video-preview)", re.IGNORECASE)
_REFRESH = re.compile(r"\s*([0-9]+)(?:\.[0-9.]*)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)", re.IGNORECASE | re.DOTALL)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_]|$)")
_HTML_TAGS = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|a\s|p>)", re.IGNORECASE)
_FROM_ROOT = re.compile(r"/[\w.~!$&()*+,;=:@-][\w.~!$&()*+,;=:@/-]*+(?:\?[\w.~!$&()*+,;=:@/?%-]*+)?+", re.ASCII)
"""Addresses from the root of the site that resolving doesn't change. This takes a third of the time of resolving."""
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|wbr"
_SELF_CLOSED = re.compile(rf"<(?!(?i:{_VOID})[\s/])([a-zA-Z][a-zA-Z0-9]*+)((?:\s[^<>/]*+(?:/(?!>)[^<>/]*+)*+)?)/>")


def read_html(
    content: bytes, url: str, *, encoding_hint: str | None = None, text: bool = True, report: ReadReport | None = None
) -> Page:
    """Read a document that was found at `url`. This never fails, however broken the document is.

    Links to other things than web pages (`mailto:`, `javascript:`) are skipped. Web links with an invalid address are
    counted in the report.
    """
    source = decode(content[:MAX_CONTENT], encoding_hint).replace("\0", "")
    source = source.replace("&nbsp;", "\xa0")  # half of all character references
    if source[:100].lstrip().startswith("<?xml"):  # in XHTML, `<script/>` is `<script></script>`
        source = _SELF_CLOSED.sub(r"<\1\2></\1>", source)
    walk = PageWalk()
    walk.read(tokens(source))
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


def read_response(
    content: bytes, url: str, headers: Mapping[str, str], text: bool, report: ReadReport, user_agent: str = ""
) -> Page:
    """Read a document with its headers, by lower-case name. `X-Robots-Tag` may name robots, such as `user_agent`."""
    charset = _CHARSET.search(headers.get("content-type", ""))
    page = read_html(content, url, encoding_hint=charset[1] if charset else None, text=text, report=report)
    for target, parameters in _LINK_HEADER.findall(headers.get("link", "")[:20_000]):
        if not page.canonical and _CANONICAL.search(parameters):
            page.canonical = resolve(parsed(url), target)
    directives = []
    for part in headers.get("x-robots-tag", "")[:10_000].split(","):
        named = _ROBOT.match(part)
        if named is None or _TIMED.match(named[1]):
            directives.append(part)
        elif named[1].lower() in user_agent.lower():
            directives.append(named[2])
    no_index, no_follow = robots(",".join(directives))
    page.noindex |= no_index
    if no_follow:
        add_nofollow(page)
    return page


def media_type(content_type: str) -> str:
    """Return the media type in a header `Content-Type`, such as `text/html`, or ""."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def add_nofollow(page: Page) -> None:
    """Mark all links of a page as nofollow."""
    for link in page.links:
        link.rel = link.rel if "nofollow" in link.rel.split() else f"{link.rel} nofollow".strip()


def recognises(path: object, head: bytes) -> bool:
    """Return whether the first bytes of a file look like HTML."""
    start = head[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and b"NETSCAPE-Bookmark" not in start and _HTML_TAGS.search(start) is not None


def robots(directives: str) -> tuple[bool, bool]:
    """Return whether directives as in `<meta name=robots>` forbid indexing, and following links."""
    words = set(re.split(r"[,\s]+", directives.lower()))
    return bool(words & {"noindex", "none"}), bool(words & {"nofollow", "none"})


def resolve(base: can_ada.URL | None, href: str) -> str:
    """Return the absolute http(s) address of a link, as a browser resolves it, or "" if it has none."""
    try:
        address = can_ada.parse(href) if base is None else base + href
    except (ValueError, TypeError):  # invalid, or not valid Unicode
        return ""
    result = str(address)
    return result if result.startswith(("http:", "https:")) else ""


def parsed(url: str) -> can_ada.URL | None:
    """Parse an address to resolve others against. Return None if it is invalid."""
    try:
        return can_ada.parse(url)
    except (ValueError, TypeError):
        return None


def _main_text(pieces: list[str]) -> str:
    """Return the first `MAX_TEXT` characters, white space collapsed."""
    return plain(" ".join("".join(pieces).split())[:MAX_TEXT].strip())


def read_head(head: list[tuple[str, dict[str, str]]], page: Page) -> tuple[can_ada.URL | None, bool]:
    """Set the fields of a page from its head. Return the base address for its links, and whether they are nofollow."""
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
    """Return the target of `<meta http-equiv=refresh>`, if it is another page and comes soon."""
    match = _REFRESH.match(content[:10_000])
    if match is None or len(match[1]) > 3 or int(match[1]) > MAX_REFRESH_SECONDS:
        return ""
    target = match[2].strip()
    if target[0] in "\"'":
        target = target[1:].partition(target[0])[0]
    address = resolve(base, target)
    return "" if address.partition("#")[0] == url.partition("#")[0] else address


def _resolved(links: list[Link], url: str, base: can_ada.URL | None, report: ReadReport | None) -> list[Link]:
    """Return the links to web pages, with absolute addresses."""
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
    """Return the detected language of a text, or "" if the result is doubtful."""
    if len(text) < MIN_LANGUAGE_TEXT:
        return ""
    from resiliparse.parse.lang import detect_fast

    start = max(0, (len(text) - LANGUAGE_SAMPLE) // 2)
    language, distance = detect_fast(text[start : start + LANGUAGE_SAMPLE])
    limit = MAX_DISTANCE_CJK if language in ("zh", "ja", "ko") else MAX_DISTANCE
    return str(language) if distance <= limit else ""
