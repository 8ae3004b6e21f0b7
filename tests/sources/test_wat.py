"""Common Crawl's WAT: made-up files as its own extractor writes them, and the real one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cocite.sources.archives.warc import NO_PAGE, read_warc
from cocite.sources.archives.wat import NO_HTML, read_wat, recognises
from cocite.sources.records import Link, Page, ReadReport
from tests.sources.test_warc import record

ARCHIVES = Path(__file__).parents[3] / "shared" / "data" / "warc"


def wat(response: object, url: str = "http://example.org/dir/page", kind: str = "response", **more: Any) -> bytes:
    """A WAT record about a record of a WARC."""
    content = {
        "Container": {"Filename": "x.warc.gz", "Offset": "0"},
        "Envelope": {
            "Format": "WARC/1.0",
            "WARC-Header-Metadata": {"WARC-Type": kind, "WARC-Date": "2024-05-18T01:58:10Z", "WARC-Target-URI": url},
            "Payload-Metadata": {"HTTP-Response-Metadata": response, **more},
        },
    }
    return record("metadata", url, json.dumps(content, separators=(",", ":")).encode(), "application/json")


def answer(html: object = None, status: str = "200", **headers: str) -> dict[str, Any]:
    made: dict[str, Any] = {"Response-Message": {"Status": status, "Version": "HTTP/1.1"}, "Headers": headers}
    return made if html is None else {**made, "HTML-Metadata": html}


def read(tmp_path: Path, *records: bytes) -> tuple[list[Page], ReadReport]:
    path = tmp_path / "x.warc.wat.gz"
    path.write_bytes(b"".join(map(gzip.compress, records)))
    report = ReadReport()
    return list(read_wat(path, report)), report


def test_a_page(tmp_path: Path) -> None:
    html = {
        "Head": {
            "Title": " A  title ",
            "Base": "http://example.org/base/",
            "Link": [
                {"path": "LINK@/href", "url": "/proper", "rel": "canonical"},
                {"url": "/style.css", "rel": "stylesheet"},
            ],
            "Metas": [{"name": "robots", "content": "noindex"}, {"name": "description", "content": "x"}],
        },
        "Links": [
            {"path": "A@/href", "url": "a.html", "text": "The  first", "rel": "NoFollow"},
            {"path": "IMG@/src", "url": "/i.png", "alt": "no link"},
            {"path": "A@/href", "url": "mailto:x@example.org", "text": "no page"},
            {"path": "A@/href", "url": "http://other.example/?a=1&b=2", "title": "its title"},
            {"path": "FORM@/action", "url": "/search"},
            {"path": "AREA@/href", "url": "/map", "alt": "a map"},
        ],
    }
    (page,), report = read(tmp_path, wat(answer(html)))
    assert page == Page(
        "http://example.org/dir/page",
        title="A title",
        links=[
            Link("http://example.org/base/a.html", "The first", rel="nofollow"),
            Link("http://other.example/?a=1&b=2", "its title"),
            Link("http://example.org/map", "a map"),
        ],
        status=200,
        canonical="http://example.org/proper",
        captured="2024-05-18T01:58:10Z",
        noindex=True,
    )
    assert [link.block for link in page.links] == [None, None, None]
    assert report.read["links"] == 3
    assert report.read["link to something other than a web page"] == 1


def test_pages_that_ask_not_to_follow(tmp_path: Path) -> None:
    head = {"Metas": [{"name": "robots", "content": "nofollow"}]}
    (page,), _ = read(tmp_path, wat(answer({"Head": head, "Links": [{"path": "A@/href", "url": "/a"}]})))
    assert page.links == [Link("http://example.org/a", rel="nofollow")]


def test_redirects_and_the_dead(tmp_path: Path) -> None:
    refresh = {"Head": {"Metas": [{"http-equiv": "refresh", "content": "0; url=/there"}]}}
    pages, report = read(
        tmp_path,
        wat(answer(status="301", Location="../new")),
        wat(answer(status="302", location="http://other.example/")),
        wat(answer(status="302")),
        wat(answer(status="404")),
        wat(answer(status="503")),
        wat(answer(refresh)),
    )
    assert [(page.status, page.redirect) for page in pages] == [
        (301, "http://example.org/new"),
        (302, "http://other.example/"),
        (404, ""),
        (200, "http://example.org/there"),
    ]
    assert report.skipped == {"redirect to an invalid address": 1}
    assert report.read["response with HTTP status 503"] == 1
    assert report.read["redirects"] == 3


def test_other_records_are_counted(tmp_path: Path) -> None:
    pages, report = read(
        tmp_path,
        record("warcinfo", "", b"x", "application/warc-fields"),
        wat({}, kind="request"),
        wat(answer()),
        wat({}, url="dns:example.org"),
    )
    assert not pages
    assert (
        report.read["warcinfo record"] == report.read["request record"] == report.read["record that is not HTML"] == 1
    )
    assert report.skipped == {NO_HTML: 1}
    assert report.example[NO_HTML] == "x.warc.wat.gz: give the WARC file that it was made from"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"null",
        b'{"Envelope": 3}',
        b"[" * 200_000,
        b'{"Envelope": {"WARC-Header-Metadata": []}}',
    ],
)
def test_bad_json(tmp_path: Path, content: bytes) -> None:
    good = wat(answer({}))
    pages, report = read(tmp_path, record("metadata", "http://example.org/", content, "application/json"), good)
    assert len(pages) == 1
    assert sum(report.skipped.values()) + report.read["other record"] == 1


@pytest.mark.parametrize(
    "odd", [None, 3, "x", [], [3, None], {"Links": 3, "Head": []}, {"Links": [3, {"path": "A@/href", "url": 3}]}]
)
def test_odd_values_are_passed_over(tmp_path: Path, odd: object) -> None:
    made = answer()
    made["HTML-Metadata"] = odd
    (page,), _ = read(tmp_path, wat(made))
    assert all(link.url == page.url for link in page.links)


def test_the_real_file() -> None:
    path = ARCHIVES / "whirlwind-python__whirlwind.warc.wat.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    report = ReadReport()
    assert list(read_wat(path, report)) == []  # it holds what was found in a request, no page and no link
    assert report.read == {"bytes": 1361, "warcinfo record": 1, "request record": 1}
    assert report.skipped == {NO_HTML: 1}
    report = ReadReport()
    assert list(read_warc(path, report)) == []
    assert report.skipped == {NO_PAGE: 1}


def test_metadata_of_a_real_page(tmp_path: Path) -> None:
    path = ARCHIVES / "whirlwind-python__whirlwind.warc.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    (real,) = read_warc(path, ReadReport())
    links = [{"path": "A@/href", "url": link.url, "text": link.text} for link in real.links]
    (page,), report = read(tmp_path, wat(answer({"Head": {"Title": real.title}, "Links": links}), real.url))
    assert (page.url, page.title, len(page.links)) == (real.url, "Escopete - Biquipedia, a enciclopedia libre", 207)
    assert page.links == [Link(link.url, link.text) for link in real.links]
    assert not report.skipped


def test_addresses_that_cannot_be_read_are_skips(tmp_path: Path) -> None:
    links = [{"path": "A@/href", "url": url} for url in ("http://[bad", "tel:1", "/good")]
    (page,), report = read(tmp_path, wat(answer({"Links": links}, status="9" * 5000)))
    assert [link.url for link in page.links] == ["http://example.org/good"]
    assert (page.status, report.read["link to something other than a web page"]) == (None, 1)
    assert report.example == {"link with an invalid address": "http://[bad on http://example.org/dir/page"}


def test_recognises() -> None:
    info = record("warcinfo", "", b"x", "application/warc-fields")
    assert recognises(Path("x.warc.wat.gz"), info)
    assert recognises(Path("x"), info + wat(answer()))
    assert not recognises(Path("x"), info)
    assert not recognises(Path("x.wat"), b"no archive")
