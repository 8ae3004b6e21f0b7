"""WARC and ARC: ten real archives with their counts, and small made-up ones for everything that can be in them."""

from __future__ import annotations

import gzip
import random
import zlib
from pathlib import Path

import pytest
import zstandard

from cocite.errors import BadSource
from cocite.sources.archives.archive_records import DAMAGED_PART
from cocite.sources.archives.warc import NO_PAGE, SOURCE, read_warc
from cocite.sources.kinds import ReadOptions
from cocite.sources.records import Page, ReadReport

ARCHIVES = Path(__file__).parents[3] / "shared" / "data" / "warc"
WITHOUT_TEXT = ReadOptions(text=False)
HTML = b'<title>T</title><p><a href="/x">x</a> <a href="http://other.example/">y</a>'
NOT_HTML, OTHER = "record that is not HTML", "record of something other than a web page"


def record(
    kind: str, url: str, block: bytes, content_type: str = "application/http; msgtype=response", **more: str
) -> bytes:
    """One WARC record; `more` holds further headers with `_` for `-`."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Date: 2020-02-03T04:05:06Z",
        f"Content-Type: {content_type}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in more.items()),
        f"Content-Length: {len(block)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body: bytes = HTML, status: str = "200 OK", content_type: str = "text/html", **more: str) -> bytes:
    """An HTTP answer."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {content_type}"] if content_type else [])]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def response(url: str = "http://example.org/", block: bytes | None = None, **more: str) -> bytes:
    return record("response", url, http() if block is None else block, **more)


def read(
    tmp_path: Path, content: bytes, report: ReadReport | None = None, text: bool = True
) -> tuple[list[Page], ReadReport]:
    path = tmp_path / "archive.warc"
    path.write_bytes(content)
    report = report or ReadReport()
    return list(read_warc(path, report, ReadOptions(text=text))), report


def links(page: Page) -> list[str]:
    return [link.url for link in page.links]


# Real archives. The numbers of records by type and status are those that warcio counts; the links of every page are
# those of a browser's tree (test_html.py).

REAL = {
    # name: pages, links, redirects (of them by <meta>), gone, not HTML, not of the web
    "aut__example.arc.gz": (141, 37_782, 9, 2, 40, 120, 38),
    "aut__example.warc.gz": (141, 37_782, 9, 2, 40, 120, 38),
    "ia-web-commons__IAH-urls-wget.warc.gz": (11, 190, 9, 0, 0, 5, 3),
    "pywb__iana.warc.gz": (20, 5_195, 4, 0, 0, 151, 0),
    "warcio__example-iana.org-chunked.warc": (1, 36, 0, 0, 0, 0, 0),
    "webarchive-discovery__BL-20140325121225068-00000-32090-opera-8443.warc.gz": (36, 6_988, 1, 0, 3, 25, 3),
    "webarchive-discovery__flashfrozen-jwat-recompressed.warc.gz": (2, 1_396, 0, 0, 0, 37, 3),
    "whirlwind-python__whirlwind.warc.gz": (1, 207, 0, 0, 0, 0, 0),
    "whirlwind-python__whirlwind.warc.wet.gz": (1, 0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_archives(name: str) -> None:
    path = ARCHIVES / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    report = ReadReport(strict=True)
    count = [0] * 5
    for page in read_warc(path, report):
        by_meta = bool(page.redirect) and page.status == 200
        for place, value in enumerate((1, len(page.links), bool(page.redirect), by_meta, page.status in (404, 410))):
            count[place] += value
        assert page.captured[:2] == "20"
        assert page.url.startswith("http")
    assert (*count, report.read[NOT_HTML], report.read[OTHER]) == REAL[name]
    assert report.read["pages"] == count[0]
    assert report.read["links"] == count[1]
    assert report.read["redirects"] == count[2]
    assert report.read["bytes"] == path.stat().st_size
    assert not report.skipped


def test_arc_and_warc_of_one_crawl_agree() -> None:
    if not ARCHIVES.exists():
        pytest.skip(f"{ARCHIVES} is not there")
    arc, warc = (
        {page.url: page for page in read_warc(ARCHIVES / f"aut__example.{kind}.gz", ReadReport(), WITHOUT_TEXT)}
        for kind in ("arc", "warc")
    )
    assert arc == warc


def test_a_real_page() -> None:
    path = ARCHIVES / "whirlwind-python__whirlwind.warc.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    (page,) = read_warc(path, ReadReport())
    assert page.url == page.canonical == "https://an.wikipedia.org/wiki/Escopete"
    assert (page.title, page.lang, page.status) == ("Escopete - Biquipedia, a enciclopedia libre", "an", 200)
    assert page.captured == "2024-05-18T01:58:10Z"
    history = page.headings.index("Historia")
    assert [link.text for link in page.links if link.block == history] == [
        *("editar", "modificar o codigo", "Relaciones Topográficas de los pueblos de Espanya"),
        *("Felipe II", "Castiella", "1578"),
    ]
    assert "Escopete ye un municipio d'a provincia de Guadalachara" in page.text
    assert "Politica de privacidat" not in page.text
    assert {link.boilerplate for link in page.links if link.text == "Politica de privacidat"} == {True}


# Pages, redirects, the dead


def test_a_page(tmp_path: Path) -> None:
    (page,), report = read(tmp_path, response())
    assert page.url == "http://example.org/"
    assert (page.title, page.status, page.captured) == ("T", 200, "2020-02-03T04:05:06Z")
    assert links(page) == ["http://example.org/x", "http://other.example/"]
    assert page.text == "x y"
    assert report.read["pages"] == 1
    assert read(tmp_path, response(), text=False)[0][0].text == ""


def test_redirects_are_aliases(tmp_path: Path) -> None:
    moved = http(b"", "301 Moved", "", Location="/new?a=1")
    lost = http(b"", "302 Found", "", Location="mailto:x@example.org")
    (page,), report = read(
        tmp_path, response(block=moved) + response(block=lost) + response(block=http(b"", "303 See"))
    )
    assert page == Page(
        "http://example.org/", redirect="http://example.org/new?a=1", status=301, captured="2020-02-03T04:05:06Z"
    )
    assert report.skipped == {"redirect to an invalid address": 2}


def test_dead_pages_have_a_status_and_no_links(tmp_path: Path) -> None:
    content = b"".join(response(f"http://example.org/{n}", http(status=f"{n} X")) for n in (404, 410, 403, 500, 304))
    pages, report = read(tmp_path, content)
    assert [(page.status, page.links, page.text) for page in pages] == [(404, [], ""), (410, [], "")]
    assert report.read["response with HTTP status 403"] == report.read["response with HTTP status 500"] == 1
    assert not report.skipped


def test_other_types_are_counted(tmp_path: Path) -> None:
    content = (
        response("http://example.org/i.png", http(b"x", content_type="image/png"))
        + response("http://example.org/n", http(b"x", content_type=""))
        + record("response", "dns:example.org", b"1.2.3.4", "text/dns")
        + record("warcinfo", "", b"x", "application/warc-fields")
        + record("request", "http://example.org/", b"GET / HTTP/1.0\r\n\r\n")
    )
    pages, report = read(tmp_path, content)
    assert not pages
    assert report.read[NOT_HTML] == 2
    assert report.read[OTHER] == 1
    assert report.read["warcinfo record"] == report.read["request record"] == 1


def test_pages_without_a_type_are_detected(tmp_path: Path) -> None:
    untyped = response(block=http(content_type=""))
    identified = response(block=http(content_type="unknown"), WARC_Identified_Payload_Type="text/html")
    xhtml = response(block=http(content_type="Application/XHTML+xml; charset=utf-8"))
    bare = record("response", "http://example.org/", HTML)  # no HTTP headers at all
    unix = response(block=http().replace(b"\r\n", b"\n"))
    resource = record("resource", "http://example.org/", HTML, "text/html")
    pages, _ = read(tmp_path, untyped + identified + xhtml + bare + unix + resource)
    assert [len(page.links) for page in pages] == [2] * 6


def test_addresses_in_angle_brackets(tmp_path: Path) -> None:
    (page,), _ = read(tmp_path, response("<http://example.org/a>"))
    assert page.url == "http://example.org/a"


def test_headers_count_too(tmp_path: Path) -> None:
    block = http(
        "Größe".encode("latin-1") + HTML,
        content_type='text/html; charset="ISO-8859-1"',
        Link='</style>; rel=preload, </proper>; title="x, y"; rel="canonical"',
        X_Robots_Tag="googlebot: noindex, nofollow, unavailable_after: 25 Jun 2030",
    )
    (page,), _ = read(tmp_path, response(block=block))
    assert page.text.startswith("Größe")
    assert page.canonical == "http://example.org/proper"
    assert not page.noindex
    assert {link.rel for link in page.links} == {"nofollow"}
    (page,), _ = read(tmp_path, response(block=http(X_Robots_Tag="none")))
    assert page.noindex


# Codings


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def chunked(data: bytes) -> bytes:
    return (
        b"".join(b"%x;ext=1\r\n%s\r\n" % (len(data[n : n + 7]), data[n : n + 7]) for n in range(0, len(data), 7))
        + b"0\r\n\r\n"
    )


def test_transfer_and_content_codings(tmp_path: Path) -> None:
    import brotli  # comes with fastwarc

    packed = {
        "gzip": gzip.compress(HTML),
        "x-gzip": gzip.compress(HTML),
        "deflate": zlib.compress(HTML),
        "Deflate": deflated(HTML),
        "br": brotli.compress(HTML),
        "zstd": zstandard.compress(HTML),
        "gzip, br": brotli.compress(gzip.compress(HTML)),
        "identity": HTML,
    }
    content = b"".join(response(block=http(data, Content_Encoding=name)) for name, data in packed.items())
    content += response(block=http(chunked(packed["gzip"]), Content_Encoding="gzip", Transfer_Encoding="chunked"))
    # headers that are no longer true, as many archives have them
    content += response(block=http(HTML, Content_Encoding="gzip", Transfer_Encoding="chunked"))
    content += response(block=http(HTML, Content_Encoding="br"))
    pages, report = read(tmp_path, content)
    assert [len(page.links) for page in pages] == [2] * 11
    assert not report.skipped


def test_codings_that_cannot_be_undone(tmp_path: Path) -> None:
    content = response(block=http(b"\x00\x01\x02" * 9, Content_Encoding="br"))
    content += response(block=http(b"x", Content_Encoding="compress"))
    content += response(block=http(b"x", Content_Encoding="gzip, gzip, gzip, gzip"))
    content += response(block=http(gzip.compress(HTML * 50)[:-20], Content_Encoding="gzip"))
    pages, report = read(tmp_path, content)
    assert len(pages) == 1  # the last: what is there of it
    assert len(pages[0].links) > 20
    assert report.skipped == {"page with an unknown or damaged content coding": 3}


def test_bombs(tmp_path: Path) -> None:
    import brotli

    zeros = bytes(40 << 20)
    packed = {
        "gzip": gzip.compress(zeros, 1),
        "br": brotli.compress(zeros, quality=1),
        "zstd": zstandard.compress(zeros),
    }
    content = b"".join(response(block=http(data, Content_Encoding=name)) for name, data in packed.items())
    pages, report = read(tmp_path, content + response())
    assert len(pages) == 1
    assert report.skipped == {"page that expands over 200 times": 3}


def test_long_pages_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.sources.archives.warc.MAX_CONTENT", 1 << 20)
    long = HTML + b"<p>" + random.Random(1).randbytes(1 << 20).hex().encode()
    packed = http(gzip.compress(long, 1), Content_Encoding="gzip")
    pages, report = read(tmp_path, response(block=http(long)) + response(block=packed))
    assert [len(page.links) for page in pages] == [2, 2]
    assert report.skipped == {"page longer than 1 MiB: the rest is skipped": 2}


# Revisits


def test_revisits_repeat_the_record_they_refer_to(tmp_path: Path) -> None:
    first = response(WARC_Record_ID="<urn:1>", WARC_Payload_Digest="sha1:A")
    by_id = record("revisit", "http://example.org/", b"", WARC_Refers_To="<urn:1>")
    elsewhere = record("revisit", "http://mirror.example/d/", http(b""), WARC_Payload_Digest="sha1:A")
    unchanged = record(
        "revisit", "http://example.org/", http(b"", "304 Not Modified", ""), WARC_Profile="x/server-not-modified"
    )
    image = record("revisit", "http://example.org/i", http(b"", content_type="image/png"), WARC_Payload_Digest="sha1:B")
    unknown = record("revisit", "http://example.org/z", http(b""), WARC_Payload_Digest="sha1:C")
    moved = record(
        "revisit", "http://example.org/m", http(b"", "302 Found", "", Location="/n"), WARC_Payload_Digest="sha1:D"
    )
    pages, report = read(tmp_path, first + by_id + elsewhere + unchanged + image + unknown + moved)
    assert [page.url for page in pages[:4]] == [
        "http://example.org/",
        "http://example.org/",
        "http://mirror.example/d/",
        "http://example.org/",
    ]
    assert [page.status for page in pages[:4]] == [200] * 4
    assert links(pages[2]) == ["http://mirror.example/x", "http://other.example/"]
    assert links(pages[0]) == links(pages[1]) == links(pages[3])
    assert pages[4].redirect == "http://example.org/n"
    assert report.read[NOT_HTML] == 1
    assert report.skipped == {"revisit of a record that isn't in this file": 1}
    assert report.example == {"revisit of a record that isn't in this file": "http://example.org/z"}


def test_memory_for_revisits_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.sources.archives.warc.MAX_KEPT_BYTES", 12 * len(HTML))
    content = b"".join(response(f"http://example.org/{n}", WARC_Payload_Digest=f"sha1:{n}") for n in range(20))
    content += b"".join(
        record("revisit", "http://example.org/r", http(b""), WARC_Payload_Digest=f"sha1:{n}") for n in (0, 19)
    )
    pages, report = read(tmp_path, content)
    assert len(pages) == 21
    assert sum(report.skipped.values()) == 1


# Plain text


def test_text_made_from_pages(tmp_path: Path) -> None:
    text = "The Title\nSome words.\n" + "The quick answer is that lists of links tell which pages belong together. " * 9
    (page,), _ = read(tmp_path, record("conversion", "http://example.org/", text.encode(), "text/plain"))
    assert page.title == "The Title"
    assert page.text.startswith("The Title Some words. The quick")
    assert page.links == []


# Files


def test_compressed_in_any_way(tmp_path: Path) -> None:
    records = [response(f"http://example.org/{n}") for n in range(5)]
    for content in (
        b"".join(records),
        b"".join(gzip.compress(one) for one in records),
        gzip.compress(b"".join(records)),
        zstandard.compress(b"".join(records)),
    ):
        pages, report = read(tmp_path, content)
        assert [page.url[-1] for page in pages] == list("01234")
        assert not report.skipped


@pytest.mark.parametrize("packed", [False, True])
def test_truncated_files_are_read_up_to_their_end(tmp_path: Path, packed: bool) -> None:
    records = [response(f"http://example.org/{n}") for n in range(3)]
    content = b"".join(map(gzip.compress, records)) if packed else b"".join(records)
    whole = len(gzip.compress(records[0])) if packed else len(records[0])
    for size in range(1, len(content), 7):
        try:
            pages, report = read(tmp_path, content[:size])
        except BadSource:
            assert size < whole // 2  # nothing to go by
            continue
        assert len(pages) <= 1 + size // whole
        assert len(pages) >= size // whole
        for reason in report.skipped:
            assert "read up to" in reason or (reason == NO_PAGE and not pages)
    pages, report = read(tmp_path, content[:-30])
    assert len(pages) == 3
    assert report.skipped == {"archive that ends in the middle of a record: read up to its end": 1}


def test_a_skipped_record_without_its_end_is_reported(tmp_path: Path) -> None:
    image = response("http://example.org/i.png", http(b"x" * 100_000, content_type="image/png"))
    _, report = read(tmp_path, response() + image[:-50_000])
    assert report.skipped == {"archive that ends in the middle of a record: read up to its end": 1}


def test_undamaged_records_of_a_damaged_file_are_read(tmp_path: Path) -> None:
    pages, report = read(tmp_path, response() + b"garbage" * 100 + response())
    assert len(pages) == 2
    assert report.skipped == {DAMAGED_PART: 1}
    assert report.read["bytes in damaged parts of archives"] == 700
    flipped = bytearray(gzip.compress(response()) * 3)
    flipped[len(flipped) // 2] ^= 0xFF
    pages, report = read(tmp_path, bytes(flipped))
    assert len(pages) == 2
    assert report.skipped == {DAMAGED_PART: 1}
    assert report.read["bytes in damaged parts of archives"] == len(flipped) // 3


@pytest.mark.parametrize("seed", range(40))
def test_noise_never_breaks_the_reader(tmp_path: Path, seed: int) -> None:
    noise = random.Random(seed)
    content = bytearray(b"".join(response(f"http://example.org/{n}") for n in range(3)))
    for _ in range(noise.randrange(1, 20)):
        content[noise.randrange(len(content))] = noise.randrange(256)
    try:
        read(tmp_path, bytes(content))
    except BadSource as error:
        assert "\n" not in str(error)


def test_a_bomb_of_an_archive_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.sources.archives.archive_records.FREE_OUTPUT", 1 << 20)
    monkeypatch.setattr("cocite.sources.archives.archive_records._SKIP_BYTES", 1 << 20)
    zeros = response("http://example.org/i", http(bytes(20 << 20), content_type="image/png"))
    pages, report = read(tmp_path, gzip.compress(response()) + gzip.compress(zeros) + gzip.compress(response()))
    assert len(pages) == 1
    assert report.skipped == {"archive that expands over 500 times: stopped": 1}


@pytest.mark.parametrize("content", [b"\0" * 100, b"hello", b"<html>", gzip.compress(b"", mtime=0), b"PK\x03\x04zip"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadSource) as error:
        read(tmp_path, content)
    assert "\n" not in str(error.value)


def test_strict_stops_at_the_first_skip(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="revisit"):
        read(
            tmp_path,
            record("revisit", "http://example.org/", http(b""), WARC_Payload_Digest="x"),
            ReadReport(strict=True),
        )


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="Cannot read"):
        list(read_warc(tmp_path / "none.warc", ReadReport()))


# ARC


def arc(*answers: tuple[str, bytes]) -> bytes:
    head = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    content = b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain %d\n" % len(head) + head + b"\n"
    for url, block in answers:
        content += f"{url} 1.2.3.4 20080430204826 text/html {len(block)}\n".encode() + block + b"\n"
    return content


def test_arc(tmp_path: Path) -> None:
    content = arc(
        ("http://example.org/", http()),
        ("http://example.org/old", http(b"moved", "301 Moved", "", Location="/new")),
        ("dns:example.org", b"1.2.3.4"),
        ("http://example.org/gone", http(status="404 Not Found")),
    )
    for made in (content, gzip.compress(content)):
        pages, report = read(tmp_path, made)
        assert [(page.url, page.status) for page in pages] == [
            ("http://example.org/", 200),
            ("http://example.org/old", 301),
            ("http://example.org/gone", 404),
        ]
        assert pages[0].captured == "2008-04-30T20:48:26Z"
        assert len(pages[0].links) == 2
        assert not report.skipped
    pages, report = read(tmp_path, content[: content.index(b"dns:") - 3])
    assert [page.redirect for page in pages] == ["", "http://example.org/new"]
    assert sum(report.skipped.values()) == 1
    pages, report = read(tmp_path, arc(("http://example.org/", http())) + b"this is no header\n" * 3)
    assert len(pages) == 1


# Recognition


def test_recognises() -> None:
    path = Path("x")
    assert SOURCE.recognises(path, response())
    assert SOURCE.recognises(path, arc())
    assert not SOURCE.recognises(path, HTML)
