"""Read HTML that came over HTTP, from a server or an archive: its headers say more about the page."""

import re
from collections.abc import Mapping

from cocite.sources.html.page import add_nofollow, parsed, read_html, resolve, robots
from cocite.sources.records import Page, ReadReport

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
GONE_STATUSES = frozenset({404, 410})

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
_ROBOT = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*:(.*)", re.IGNORECASE | re.DOTALL)
_TIMED = re.compile(r"unavailable_after|max-(?:snippet|image-preview|video-preview)", re.IGNORECASE)


def read_response(
    content: bytes,
    url: str,
    headers: Mapping[str, str],
    *,
    text: bool = True,
    user_agent: str = "",
    report: ReadReport | None = None,
) -> Page:
    """Read a document with its headers, by lower-case name. `X-Robots-Tag` may name robots, such as `user_agent`."""
    charset = _CHARSET.search(headers.get("content-type", ""))
    page = read_html(content, url, encoding_hint=charset[1] if charset else None, text=text, report=report)
    for target, parameters in _LINK.findall(headers.get("link", "")[:20_000]):
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
