"""cocite crawl: later rounds fetch what changed, by conditional requests, sitemaps and feeds."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cocite.cli.tasks.crawl import Crawl, parse_duration
from cocite.errors import BadParameter, BadSource
from cocite.graph.store import Graph
from cocite.sources.crawl.hints import Hint, feeds_of, read_hints

pytest.importorskip("scrapy")


class Site:
    """A site whose pages have versions: `pages` has their links, `dated` those that sitemaps have, with dates."""

    def __init__(self) -> None:
        self.pages = {"/": ["/a", "/b"], "/a": ["/"], "/b": ["/a"]}
        self.dated: dict[str, str] = {}
        self.feed: list[str] = []
        self.hits: Counter[str] = Counter()  # path, and the status
        self.base = ""

    def answer(self, path: str, given: Any) -> tuple[int, dict[str, str], bytes]:
        if path == "/robots.txt":
            return 200, {}, b"User-agent: *\nDisallow: /secret\n"
        if path == "/sitemap.xml":
            rows = "".join(
                f"<url><loc>{self.base}{page}</loc><lastmod>{date}</lastmod></url>" for page, date in self.dated.items()
            )
            return 200, {"Content-Type": "text/xml"}, f"<urlset>{rows}</urlset>".encode()
        if path == "/feed":
            items = "".join(f"<item><link>{self.base}{page}</link></item>" for page in self.feed)
            return 200, {"Content-Type": "text/xml"}, f"<rss><channel>{items}</channel></rss>".encode()
        if path not in self.pages:
            return 404, {}, b""
        feed = '<link rel="alternate" type="application/rss+xml" href="/feed">' if path == "/" else ""
        items = "".join(f"<li><a href={link}>{link}</a>" for link in self.pages[path])
        body = f"<title>{path}</title>{feed}<ul>{items}</ul>".encode()
        tag = f'"{hash(tuple(self.pages[path]))}"'
        if path == "/b":  # has no validator
            return 200, {"Content-Type": "text/html"}, body
        if given.get("If-None-Match") == tag:
            return 304, {"ETag": tag}, b""
        return 200, {"Content-Type": "text/html", "ETag": tag}, body


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = site.answer(self.path, self.headers)
            site.hits[f"{self.path} {status}"] += 1
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    site.base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


def crawl(site: Site, store: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """One round in this process; returns what it says."""
    site.hits.clear()
    Crawl(url=f"{site.base}/", into=str(store), allow_private=True, delay=0.0).do(None)
    return capfd.readouterr().err


def titles(store: Path) -> set[str]:
    graph = Graph(store)
    pages = graph.names.in_order()
    return {title for page in pages if (title := graph.texts.title(int(page)))}


def test_rounds(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = place / "web.cocite"
    with serving(Site()) as site:
        assert "3 pages new or changed" in crawl(site, store, capfd)
        assert titles(store) == {"/", "/a", "/b"}
        assert "0 pages new or changed, 3 not" in crawl(site, store, capfd)
        assert site.hits["/ 304"] == site.hits["/a 304"] == site.hits["/b 200"] == 1
        generation = (store / "CURRENT").read_bytes()
        # A page changed, one is new in the sitemap, one in the feed, one is forbidden; /a is older than its last fetch.
        site.pages |= {"/b": ["/a", "/c"], "/c": [], "/new": ["/"], "/post": ["/"], "/secret": []}
        site.dated = {"/new": "2030-01-01", "/a": "2020-01-01", "/secret": "2030-01-01"}
        site.feed = ["/post"]
        said = crawl(site, store, capfd)
        assert "4 pages new or changed, 2 not" in said
        assert titles(store) == {"/", "/a", "/b", "/c", "/new", "/post"}
        assert not any(hit.startswith(("/a ", "/secret")) for hit in site.hits)
        assert (store / "CURRENT").read_bytes() != generation
        # A page is gone. Without what is known, all is fetched again; a damaged file counts as none.
        del site.pages["/new"]
        (place / "web.cocite.crawl.json").write_text("{cut")
        crawl(site, store, capfd)
        graph = Graph(store)
        assert graph.array("page.status")[graph.find(f"{site.base}/new")] == 404
        assert site.hits["/ 200"] == 1
        assert json.loads((place / "web.cocite.crawl.json").read_text())["url"] == f"{site.base}/"


def test_nothing_to_fetch(place: Path) -> None:
    with pytest.raises(BadSource, match=r"Nothing was fetched from http://127\.0\.0\.1:9/ \("):
        Crawl(url="http://127.0.0.1:9/", into=str(place / "web.cocite")).do(None)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(("text", "found"), [("90s", 90), ("30m", 1800), ("6h", 21_600), ("1.5d", 129_600)])
def test_durations(text: str, found: float) -> None:
    assert parse_duration(text) == found


@pytest.mark.parametrize("text", ["", "6", "h", "-1h", "6 weeks"])
def test_invalid_durations(text: str) -> None:
    with pytest.raises(BadParameter, match="such as 30m"):
        parse_duration(text)


def test_hints() -> None:
    base = "https://a.example/x/"
    index = b"<sitemapindex><sitemap><loc>https://a.example/s.xml.gz</loc></sitemap></sitemapindex>"
    assert read_hints(index, base) == [Hint("https://a.example/s.xml.gz", "", True)]
    atom = (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="/self"/><entry><link rel="edit" href="/no"/>'
        b'<link href="../p"/><updated>2024-02-03T04:05:06Z</updated></entry><entry><title>t</title></entry>'
    )
    assert read_hints(atom, base) == [Hint("https://a.example/p", "2024-02-03T04:05:06")]
    bomb = b'<!DOCTYPE x [<!ENTITY e "x">]><urlset><url><loc>https://a.example/</loc></url></urlset>'
    for bad in (b"", b"<html><p>", bomb, b"<a>" * 1000, b"\x1f\x8bno"):
        assert read_hints(bad, base) == []
    page = b'<link rel=stylesheet href=x><LINK REL="alternate" TYPE="application/atom+xml" HREF=\'/f\'>'
    assert feeds_of(page, base) == ["https://a.example/f"]
