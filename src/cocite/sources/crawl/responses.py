"""What an answer to a fetch says of itself, and why there was none."""

from __future__ import annotations

import re

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http import Headers, Response

from cocite.sources.crawl.guard import Refused
from cocite.sources.crawl.robots import Disallowed
from cocite.sources.records import Page

HTML = frozenset(["text/html", "application/xhtml+xml"])


def content_type(headers: Headers) -> str:
    return (headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()


def charset(headers: Headers) -> str | None:
    found = re.search(rb"charset\s*=\s*[\"']?([\w.:-]+)", headers.get("Content-Type") or b"", re.IGNORECASE)
    return found[1].decode("ascii", "replace") if found else None


def is_html(response: Response) -> bool:
    """By the header; where there is none, by the beginning, as browsers do."""
    kind = content_type(response.headers)
    start = response.body[:1024].lower()
    return kind in HTML or (
        not kind and any(mark in start for mark in (b"<!doctype html", b"<html", b"<head", b"<body"))
    )


def robots_tags(headers: Headers, user_agent: str) -> set[str]:
    """What the header X-Robots-Tag asks of everyone or of this crawler: noindex, nofollow."""
    tags: set[str] = set()
    for line in headers.getlist("X-Robots-Tag"):
        text = line.decode("latin-1").lower()
        name, colon, rest = text.partition(":")
        if colon and re.fullmatch(r"[\w-]+", name.strip()) and not name.strip().startswith(("unavailable_", "max-")):
            text = rest if name.strip() in user_agent.lower() else ""
        tags.update(tag.strip() for tag in text.split(","))
    return {"noindex", "nofollow"} if "none" in tags else tags & {"noindex", "nofollow"}


def asks_nofollow(page: Page) -> bool:
    """Whether the page asks that its links be not followed: `read_html` then marks each of them so."""
    return all("nofollow" in link.rel.split() for link in page.links)


def explain(error: BaseException) -> tuple[str, str, bool]:
    """Why there is no answer: the reason to count, a detail, and whether trying again is useless."""
    match error:
        case Refused():
            return error.reason, error.target, True
        case Disallowed():
            return error.reason, error.detail, True
        case IgnoreRequest() | DownloadCancelledError():  # the first is raised when it is decompressed
            return "page is larger than the limit", "", True
        case DownloadTimeoutError():
            return "no answer in time", "", True
        case CannotResolveHostError():
            return "host not found", "", True
        case DownloadConnectionRefusedError():
            return "connection refused", "", True
    inner = getattr(error.__cause__, "reasons", None)  # of a connection that broke, wrapped twice
    return "page cannot be fetched", inner[-1].getErrorMessage() if inner else repr(error), False
