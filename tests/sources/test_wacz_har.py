"""WACZ (a zip file of WARC files, and a list of pages) and HAR (requests of a browser)."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import harfile
import pytest

from cocite.errors import BadSource
from cocite.sources.kinds import detect_kind
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.sources.timing import without_collection


def read(path: Path, report: ReadReport | None = None) -> list[dict[str, Any]]:
    batches = open_source(str(path), report or ReadReport(strict=True)).records()
    return [row for batch in batches for row in batch.to_pylist()]


def warc(url: str, body: str) -> bytes:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body.encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0)


def wacz(path: Path, warcs: dict[str, bytes], pages: str = "", how: int = zipfile.ZIP_STORED) -> Path:
    """A file as py-wacz writes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in warcs.items():
            archive.writestr(f"archive/{name}", content, how)
        archive.writestr("pages/pages.jsonl", pages, zipfile.ZIP_DEFLATED)
        archive.writestr("indexes/index.cdx.gz", b"", zipfile.ZIP_STORED)
        archive.writestr("datapackage.json", '{"profile": "data-package", "wacz_version": "1.1.1"}')
    return path


PAGES = (
    '{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n'
    '{"id": "1", "url": "https://a.example/", "ts": "2024-05-06T07:08:09Z", "title": "As the browser showed it"}\n'
)


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_wacz(tmp_path: Path, how: int) -> None:
    files = {
        "one.warc.gz": warc("https://a.example/", "<title>x</title><h2>h</h2><a href=https://b.example/>b</a>") * 2,
        "two.warc.gz": warc("https://c.example/", "<title>c</title><a href=https://a.example/>a</a>"),
    }
    path = wacz(tmp_path / "crawl.wacz", files, PAGES, how)
    assert detect_kind(path) == "wacz"
    one, _, two = read(path)
    assert (one["url"], one["title"], one["captured"]) == (
        "https://a.example/", "As the browser showed it", "2024-05-06T07:08:09Z"
    )  # fmt: skip
    assert [(link["url"], link["block"]) for link in one["links"]] == [("https://b.example/", 0)]
    assert one["headings"] == ["h"]
    assert (two["url"], two["title"]) == ("https://c.example/", "c")


def test_damaged_wacz(tmp_path: Path) -> None:
    damaged = bytearray(warc("https://a.example/", "<a href=https://b.example/>b</a>" * 50) * 3)
    damaged[120:150] = bytes(30)
    path = wacz(tmp_path / "crawl.wacz", {"one.warc.gz": bytes(damaged)}, "{no json\n" + PAGES)
    report = ReadReport()
    assert len(read(path, report)) == 2
    assert report.skipped["line of pages.jsonl that is not JSON"] == 1
    assert any("damaged part" in reason for reason in report.skipped)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadSource, match="damaged zip archive"):
        read(path)


def test_other_zip_files_say_what_to_do(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.html", "<a href=https://a.example/>")
    with pytest.raises(BadSource, match="zip archive: unpack it"):
        read(tmp_path / "x.zip")


def entry(url: str, body: str | None = None, **response: Any) -> dict[str, Any]:
    content: dict[str, Any] = {"size": 1, "mimeType": "text/html; charset=iso-8859-1"}
    content |= {} if body is None else {"text": body}
    return {
        "startedDateTime": "2024-05-06T07:08:09.123Z", "time": 1, "cache": {}, "timings": {},
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": 200, "headers": [], "redirectURL": "", "content": content, **response},
    }  # fmt: skip


def har(path: Path, entries: list[Any]) -> Path:
    pages = [{"id": "p", "title": "\ud800", "startedDateTime": "", "pageTimings": {}}]
    log = {"version": "1.2", "creator": {"name": "b", "version": "1"}, "pages": pages, "entries": entries}
    path.write_text(json.dumps({"log": log}), "utf-8")
    return path


def test_har(tmp_path: Path) -> None:
    encoded = entry("https://d.example/")
    encoded["response"]["content"] |= {
        "text": base64.b64encode("<a href=/x>\xe9</a>".encode("latin-1")).decode(), "encoding": "base64"
    }  # fmt: skip
    image = entry("https://a.example/i.png", "x")
    image["response"]["content"]["mimeType"] = "image/png"
    post = entry("https://a.example/form", "<p>")
    post["request"]["method"] = "POST"
    entries = [
        entry("https://a.example/#top", "<title>t\u00e9</title><a href=/b>b \u00e9</a>"),
        entry("http://a.example/", status=301, redirectURL="https://a.example/"),
        entry("https://gone.example/", status=404),
        encoded, entry("https://empty.example/"), image, post, {"request": 1}, None,
        entry("chrome-extension://x/", "<p>"),
    ]  # fmt: skip
    report = ReadReport(strict=True)
    path = har(tmp_path / "requests.har", entries)
    assert detect_kind(path) == "har"
    page, moved, gone, other = read(path, report)
    assert (page["url"], page["title"], page["captured"]) == ("https://a.example/", "té", "2024-05-06T07:08:09.123Z")
    assert [(link["url"], link["text"]) for link in page["links"]] == [("https://a.example/b", "b é")]
    assert (moved["redirect"], gone["status"]) == ("https://a.example/", 404)
    assert other["links"][0]["text"] == "é"
    assert report.read["page without content (save the HAR file with content)"] == 1


def test_har_written_by_a_tool(tmp_path: Path) -> None:
    path = tmp_path / "written.har"
    content = harfile.Content(size=9, mimeType="text/html", text="<h2>h</h2><a href=https://b.example/>b</a>")
    with harfile.HarFile.open(str(path)) as file:
        file.add_entry(
            startedDateTime="2024-01-02T03:04:05Z", time=1,
            request=harfile.Request(method="GET", url="https://a.example/", httpVersion="HTTP/1.1"),
            response=harfile.Response(status=200, statusText="OK", httpVersion="HTTP/1.1", content=content),
            timings=harfile.Timings(send=0, wait=0, receive=0),
        )  # fmt: skip
    (page,) = read(path)
    assert (page["url"], [link["url"] for link in page["links"]]) == ("https://a.example/", ["https://b.example/"])


def test_cut_har(tmp_path: Path) -> None:
    path = har(tmp_path / "cut.har", [entry(f"https://a.example/{n}", "<p>") for n in range(10)])
    path.write_bytes(path.read_bytes()[:-100])
    report = ReadReport()
    assert len(read(path, report)) == 9
    assert report.skipped["damaged JSON: read up to the damage"] == 1


def test_time_is_linear(tmp_path: Path) -> None:
    @without_collection
    def cost(count: int) -> float:
        path = har(
            tmp_path / f"{count}.har", [entry(f"https://a.example/{n}", "<a href=/b>b</a>") for n in range(count)]
        )
        began = time.process_time()
        assert len(read(path)) == count
        return time.process_time() - began

    cost(10)
    assert cost(2000) < 9 * cost(500) + 0.2
