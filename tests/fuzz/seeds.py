"""What fuzzing begins with: small examples of every form of input."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tests.sources.bvgraph_writer import write_graph


class SourceFile(NamedTuple):
    """A small file of one kind of source. Its examples have links."""

    kind: str
    name: str
    examples: tuple[bytes, ...]


def parquet(**columns: object) -> bytes:
    """A table of one row as a file."""
    file = io.BytesIO()
    pq.write_table(pa.table({name: [value] for name, value in columns.items()}), file)
    return file.getvalue()


def wat(names: list[str]) -> bytes:
    """A WAT file of one page with links."""
    links = [{"path": "A@/href", "url": f"https://{name}.example/", "text": name, "rel": "nofollow"} for name in names]
    head = {"Title": "t", "Link": [{"url": "/c", "rel": "canonical"}], "Metas": [{"name": "robots", "content": "none"}]}
    message = {"Response-Message": {"Status": "200"}, "HTML-Metadata": {"Head": head, "Links": links}}
    about = {"WARC-Type": "response", "WARC-Target-URI": "https://a.example/p", "WARC-Date": "2020-01-01T00:00:00Z"}
    envelope = {"WARC-Header-Metadata": about, "Payload-Metadata": {"HTTP-Response-Metadata": message}}
    body = json.dumps({"Envelope": envelope}).encode()
    return b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(body), body)


def bvgraph(lists: list[list[int]]) -> bytes:
    """The bits of a graph behind its numbers of nodes and of fours of arcs."""
    with tempfile.TemporaryDirectory() as folder:
        write_graph(lists, Path(folder) / "web", offsets=False)
        bits = (Path(folder) / "web.graph").read_bytes()
    return bytes([len(lists), sum(map(len, lists)) // 4]) + bits


WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\n"
    b"Content-Type: application/http; msgtype=response\r\nContent-Length: 92\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>t</title><a href=https://b.example/>b</a>\r\n\r\n"
)


def wacz() -> bytes:
    """A WARC file in a zip file, and a list of pages."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/a.warc"), WARC)
        archive.writestr(zipfile.ZipInfo("pages/pages.jsonl"), b'{"url": "https://a.example/", "title": "t"}\n')
    return file.getvalue()


def history() -> bytes:
    """The history of a browser with one click."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(
            "PRAGMA page_size=512; VACUUM; CREATE TABLE urls(id INTEGER PRIMARY KEY, url, title, visit_count,"
            " last_visit_time); CREATE TABLE visits(id INTEGER PRIMARY KEY, url, from_visit, transition);"
            "INSERT INTO urls VALUES (1, 'https://a.example/', 'a', 1, 0), (2, 'https://b.example/', 'b', 1, 0);"
            "INSERT INTO visits VALUES (1, 1, 0, 1), (2, 2, 1, 0);"
        )
        return bytes(made.serialize())


FILES: dict[str, SourceFile] = {
    "warc": SourceFile("warc", "web.warc", (WARC,)),
    "warc.gz": SourceFile("warc", "web.warc.gz", (gzip.compress(WARC, 1, mtime=0) * 3,)),
    "wat": SourceFile("wat", "web.warc.wat", (
        wat(["a", "b"]), b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 2\r\n\r\n{}\r\n\r\n",
    )),
    "opml": SourceFile("opml", "feeds.opml", (
        b'<opml><head><title>t</title></head><body><outline text="f"><outline htmlUrl="https://a.example/"/></outline>',
    )),
    "bookmarks": SourceFile("bookmarks", "bookmarks.html", (
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>f</H3><DL><DT><A HREF='https://a.example/'>a</A></DL>",
    )),
    "markdown": SourceFile("markdown", "list.md", (
        b"# T\n\n## s\n* [a](https://a.example/ 't') and <https://b.example>\n\n[r]: https://c.example\n[r]\n",
    )),
    "records": SourceFile("records", "pages.jsonl", (
        b'{"url": "https://a.example/", "links": [{"url": "//b.example", "block": 0}], "headings": ["h"]}\n',
    )),
    "parquet": SourceFile("records", "pages.parquet", (
        parquet(url="https://a.example/", links=[{"url": "//b.example", "block": 0}], headings=["h"]),
    )),
    "mediawiki": SourceFile("mediawiki", "dump.xml", (
        b'<mediawiki xml:lang="en"><siteinfo><base>https://w.example/wiki/Main_Page</base><namespaces>'
        b'<namespace key="14">Category</namespace></namespaces></siteinfo><page><title>A</title><ns>0</ns><revision>'
        b"<text>[[B|b]]s {{t|[[C]]}}\n== See also ==\n* [[D]] [https://e.example/ e]&lt;ref&gt;[[F]]&lt;/ref&gt;"
        b"[[Category:G]] [[File:H|x [[I]]]]</text></revision></page><page><title>J</title><redirect title='A'/></page>",
    )),
    "wacz": SourceFile("wacz", "web.wacz", (wacz(),)),
    "har": SourceFile("har", "web.har", (
        b'{"log": {"version": "1.2", "pages": [], "entries": [{"request": {"method": "GET", "url": "https://a.example/"},'
        b' "response": {"status": 200, "content": {"mimeType": "text/html", "text": "<a href=/b>b</a>"}}}]}}',
    )),
    "saved": SourceFile("bookmark-manager", "pinboard.json", (
        b'[{"href": "https://a.example/", "description": "a", "extended": "e", "tags": "x y"}]',
    )),
    "saved.xml": SourceFile("bookmark-manager", "pinboard.xml", (
        b'<posts user="u"><post href="https://a.example/" description="a" tag="x y"/></posts>',
    )),
    "saved.csv": SourceFile("bookmark-manager", "pocket.csv", (
        b'title,url,time_added,tags,status\na,https://a.example/,1,x|y,unread\n"b\n",https://b.example/,1,,\n',
    )),
    "wallabag": SourceFile("bookmark-manager", "wallabag.json", (
        b'[{"is_archived": 0, "tags": ["x"], "title": "a", "url": "https://a.example/", "content": "<a href=/b>"}]',
    )),
    "csl": SourceFile("references", "library.json", (
        b'[{"id": "a", "type": "book", "title": "t", "DOI": "10.1000/a", "issued": {"date-parts": [[2019, 3]]}}]',
    )),
    "bibtex": SourceFile("references", "library.bib", (
        b'@article{a,\n title = {T {\\"o} \\ss},\n doi = "10.1000/a", year = 2019, keywords = {x, y} # "z"\n}\n',
    )),
    "karakeep": SourceFile("bookmark-manager", "karakeep.json", (
        b'{"bookmarks": [{"createdAt": 1, "title": "a", "tags": ["x"], "lists": ["l"], "note": null,'
        b' "content": {"type": "link", "url": "https://a.example/"}}],'
        b' "lists": [{"id": "l", "name": "n", "parentId": "l"}]}',
    )),
    "archivebox": SourceFile("bookmark-manager", "list.json", (
        b'[{"history": {}, "schema": "Link", "tags": "x,y", "timestamp": "1.2", "title": "a", "url": "https://a.example/"}]',
        b'{"archive_path": "archive/1", "url": "https://a.example/", "title": "a", "tags": "x"}\n',
    )),
    "openalex.parquet": SourceFile("openalex", "works.parquet", (
        parquet(id="https://openalex.org/W1", title="a", referenced_works=["https://openalex.org/W2"]),
    )),
    "edges.parquet": SourceFile("edges", "links.parquet", (parquet(source="a.example", target="b.example"),)),
    "zotero": SourceFile("references", "library.rdf", (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"'
        b' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/">'
        b'<z:A rdf:about="#1"><dc:title>t</dc:title><dc:identifier>DOI 10.1000/a</dc:identifier></z:A>'
        b'<z:Collection><dc:title>c</dc:title><t:hasPart rdf:resource="#1"/></z:Collection></rdf:RDF>',
    )),
    "openalex": SourceFile("openalex", "works.jsonl", (
        b'{"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1/a", "referenced_works": ["https://openalex.org/W2"],'
        b' "topics": [{"id": "https://openalex.org/T1"}], "abstract_inverted_index": {"a": [0]}}\n',
    )),
    "history": SourceFile("history", "History", (history(),)),
    "edges": SourceFile("edges", "links.tsv", (
        b"https://a.example/\thttps://b.example/\n1\t2\n", b"from,to\na.example,b.example\n",
    )),
}  # fmt: skip
"""Add a new kind of source here, and it is fuzzed."""

TARGETS = """/ /compare?url=birds.example&with=fish.example /picture?url=birds.example /hubs?url=birds.example
/search?q=birds /communities?url=birds.example /keywords?q=birds /methods /docs /openapi.json /robots.txt /healthz
/metrics /static/style.css /static/none /none /?url=robin.example&method=companion&k=3
/api/communities?url=birds.example /api/compare?url=birds.example&with=fish.example
/api/filter?url=birds.example&q=feathers /api/hubs?url=birds.example&k=3 /api/store /api/keywords?q=birds
/api/links?url=birds.example /api/methods /api/changes?url=birds.example&from=2009&to=2024
/api/recommend?url=birds.example&url=robin.example /api/search?q=birds
/recommend?url=robin.example&like=wren.example&decay=0.5 /api/recommend?url=birds.example&date=2026-05-17&dwell=9
/api/related?url=robin.example&method=cocitation&k=5 /api/related?url=birds.example&lang=en&since=2020-01-01
/api/related?url=https%3A%2F%2Fwren.example%2F&method=walk(least=0.1)&explain=true"""
KEY = b"Authorization: Bearer %s\r\n" % (b"k" * 32)
CLICKS = b"https://robin.example/\thttps://wren.example/\t7\n"
RECORD = b'{"url": "https://new.example/", "title": "Birds", "links": [{"url": "https://robin.example/", "block": 0}]}'
REQUESTS = (
    *(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target.encode() for target in TARGETS.split()),
    b"POST /api/related?k=3 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(RECORD), RECORD),
    b'POST /findSimilar HTTP/1.1\r\nHost: localhost\r\nContent-Length: 24\r\n\r\n{"url": "robin.example"}',
    b"POST /api/related HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    *(
        b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n%s\r\n%s" % (route, KEY, len(body), more, body)
        for route, more, body in (
            (b"/api/pages", b"", RECORD + b"\n"),
            (b"/api/clicks", b"Idempotency-Key: 1\r\n", CLICKS),
            (b"/api/pages", b"Content-Encoding: gzip\r\n", gzip.compress(RECORD, mtime=0)),
        )
    ),
    b"DELETE /api/pages?url=nobody.example HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
    % (b"k" * 32),
    b"POST /clicked?from=https://robin.example/&to=https://wren.example/ HTTP/1.1\r\nHost: localhost\r\n"
    b"Sec-Fetch-Site: same-origin\r\n\r\n",
    b"GET /study?at=1 HTTP/1.1\r\nHost: localhost\r\nCookie: $TOKEN\r\n\r\n",
    b"POST /study HTTP/1.1\r\nHost: localhost\r\nCookie: $TOKEN\r\nContent-Length: 12\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nat=1&00001=1",
    b"OPTIONS /api/related HTTP/1.1\r\nHost: localhost\r\nOrigin: https://a.example\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nAccept: text/html\r\n\r\n"
    b"GET /api/store HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
)

SEEDS: dict[str, tuple[bytes, ...]] = {
    "url": (b"https://www.Example.com:443/a/../b/index.html?utm_source=x&id=1#top", "http://bücher.example/ä%C3%A4".encode()),
    "html": (b"<title>t</title><base href=/x/><h2>h</h2><ul><li><a href=a rel=nofollow>a</a><nav><a href=//b>",),
    **{name: file.examples for name, file in FILES.items()},
    "vault": (
        b"---\naliases: [x, y]\ntags:\n  - t/u\n---\n# T\n[[c#h|C]] ![[d]] [[../a b]] #v `[[c]]` [e](c.md) https://e.example\n",
        b"alias:: x, y\ntags:: #t\n- [[c]]\n\t- **[[d]]** | a | b |\n",
    ),
    "bvgraph": (bvgraph([[1, 2, 3, 4, 5], [0, 2, 3, 4, 5], [7], [], [0, 1, 2, 3, 6], [4], [5, 7], [6]]),),
    "hints": (
        b"<urlset><url><loc>https://a.example/</loc><lastmod>2024-01-02</lastmod></url></urlset>",
        b'<feed><entry><link href="/a"/><updated>2024-01-02</updated></entry></feed>',
    ),
    "clicks": (b"https://a.example/\thttps://b.example/\t7\n", b"a;b;<;c\na;c\n", b"a\tb\tlink\t7\n"),
    "visits": (
        b"a.example\t2\t2026-05-17\t90\n", b"url,date,dwell\na.example,1778976000,30\n",
        b'["a.example", {"url": "b.example"}]', b'{"url": "a.example", "captured": "2026-05-17"}\n',
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF=https://a.example/>a</A>",
    ),
    "request": REQUESTS,
    **dict.fromkeys(("kernels", "layers"), tuple(bytes([number]) for number in range(40))),
    **dict.fromkeys(("store", "captures"), (bytes(range(20)), bytes([7, 0, 0, 0, 255] * 6))),
}  # fmt: skip
"""Examples of what each target reads."""
