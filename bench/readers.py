"""Does every reader take time in proportion to its input, and bounded memory? Sizes are 1, 2 and 4 times a number.

    python bench/readers.py [--only mediawiki]... [--items 20000]

There is a form for every kind of source that is a file or a folder; `crawl` has the limits of its own. Times are of
the processor, the best of three. Memory is the peak of a process that reads one file, above what it had before.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import sqlite3
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.tables import show
from cocite.sources.kinds import source_kinds
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.fuzz.growth import forget_peak
from tests.sources.bvgraph_writer import write_graph

BASE, ROUNDS, SIZES = "https://base.example/", 3, (1, 2, 4)
NOT_FILES = {"crawl"}
WORDS = [
    "tree",
    "river",
    "stone",
    "cloud",
    "paper",
    "window",
    "garden",
    "letter",
    "silver",
    "market",
    "bridge",
    "lantern",
    "harbour",
    "meadow",
]


def url(number: int) -> str:
    """An address; hosts have ten pages each."""
    return f"https://site{number // 10}.example/page/{number % 10}"


def text(number: int, words: int = 30) -> str:
    """Some words."""
    return " ".join(WORDS[(number * 7 + at * 3) % len(WORDS)] for at in range(words))


def html(number: int) -> str:
    """A page with ten links in two sections."""
    links = "".join(f"<li><a href='{url(number * 3 + at)}'>{text(at, 3)}</a> {text(at, 5)}" for at in range(5))
    head = f"<html><title>{text(number, 3)}</title><body><h1>A</h1><p>{text(number)}</p>"
    return f"{head}<ul>{links}</ul><h2>B</h2><ul>{links}"


def http(number: int) -> bytes:
    """A response."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html(number).encode()


def warc_record(number: int, kind: str, content_type: str, body: bytes) -> bytes:
    """A record of a web archive."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url(number)}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def warc(path: Path, items: int) -> None:
    with gzip.open(path, "wb", 1) as file:
        for number in range(items):
            file.write(warc_record(number, "response", "application/http; msgtype=response", http(number)))


def wat(path: Path, items: int) -> None:
    links = [{"path": "A@/href", "url": url(at), "text": text(at, 3)} for at in range(10)]
    with path.open("wb") as file:
        for number in range(items):
            found = {"Response-Message": {"Status": "200"}, "HTML-Metadata": {"Head": {"Title": "t"}, "Links": links}}
            about = {"WARC-Type": "response", "WARC-Target-URI": url(number), "WARC-Date": "2020-01-01T00:00:00Z"}
            payload = {"HTTP-Response-Metadata": found}
            envelope = {"Envelope": {"WARC-Header-Metadata": about, "Payload-Metadata": payload}}
            file.write(warc_record(number, "metadata", "application/json", json.dumps(envelope).encode()))


def wacz(path: Path, items: int) -> None:
    inside = path.with_suffix(".inside")
    warc(inside, items)
    lines = [json.dumps({"url": url(number), "title": "t", "ts": "2024-01-01T00:00:00Z"}) for number in range(items)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inside, "archive/a.warc.gz")
        archive.writestr("pages/pages.jsonl", "\n".join(lines), zipfile.ZIP_DEFLATED)
    inside.unlink()


def har(path: Path, items: int) -> None:
    entries = [
        {
            "request": {"method": "GET", "url": url(number)},
            "response": {"status": 200, "content": {"mimeType": "text/html", "text": html(number)}},
        }
        for number in range(items)
    ]
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}))


def folder(suffix: str, content: Callable[[int], str]) -> Callable[[Path, int], None]:
    """Files of a folder, a hundred in each folder in it."""

    def write(path: Path, items: int) -> None:
        for number in range(items):
            file = path / str(number // 100) / f"{number}{suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content(number))

    return write


def note(number: int) -> str:
    return (
        f"---\naliases: [a{number}]\n---\n# Note {number}\n{text(number)} [[{number // 2}]] [[a{number // 3}|x]]\n\n"
        f"- [x]({url(number)}) {text(number, 8)}\n- **b** {text(number, 8)} #tag{number % 9}\n"
    )


def links_in_markdown(path: Path, items: int) -> None:
    lines = (
        f"{'## ' + text(n, 2) if n % 50 == 0 else ''}\n* [{text(n, 3)}]({url(n)}) {text(n, 6)}" for n in range(items)
    )
    path.write_text("# List\n" + "\n".join(lines))


def mediawiki(path: Path, items: int) -> None:
    with path.open("w") as file:
        file.write("<mediawiki xml:lang='en'><siteinfo><base>https://w.example/wiki/Main_Page</base></siteinfo>\n")
        for number in range(items):
            linked = " ".join(f"[[Page {number * 3 + at}|{text(at, 2)}]] {text(at, 8)}" for at in range(10))
            file.write(
                f"<page><title>Page {number}</title><ns>0</ns><revision><text>'''{text(number)}''' {linked} "
                f"{{{{cite|title=[[x]]|url={url(number)}}}}}\n== See also ==\n* [[Page {number + 1}]]\n</text>"
                f"</revision></page>\n"
            )
        file.write("</mediawiki>")


def bookmarks(path: Path, items: int) -> None:
    with path.open("w") as file:
        file.write("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n")
        for number in range(items):
            end = "</DL><p>\n" if number and number % 50 == 0 else ""
            file.write(end + (f"<DT><H3>{text(number, 2)}</H3>\n<DL><p>\n" if number % 50 == 0 else ""))
            file.write(f"<DT><A HREF='{url(number)}'>{text(number, 4)}</A>\n")


def opml(path: Path, items: int) -> None:
    rows = (f"<outline text='{text(n, 3)}' xmlUrl='{url(n)}/feed' htmlUrl='{url(n)}'/>" for n in range(items))
    path.write_text(f"<opml version='2.0'><head><title>t</title></head><body>{''.join(rows)}</body></opml>")


def as_json(
    item: Callable[[int], object], around: Callable[[list[object]], object] = list
) -> Callable[[Path, int], None]:
    return lambda path, items: path.write_text(json.dumps(around([item(number) for number in range(items)]))) and None


def as_lines(item: Callable[[int], object], head: str = "") -> Callable[[Path, int], None]:
    def write(path: Path, items: int) -> None:
        lines = (each if isinstance(each := item(number), str) else json.dumps(each) for number in range(items))
        path.write_text(head + "\n".join(lines) + "\n")

    return write


def wallabag(number: int) -> object:
    return {"is_archived": 0, "tags": ["x"], "title": text(number, 3), "url": url(number), "content": html(number)}


def csl(number: int) -> object:
    named = {"id": str(number), "type": "book", "title": text(number, 5), "abstract": text(number, 60)}
    return named | {"DOI": f"10.1000/{number}", "issued": {"date-parts": [[2019, 3]]}, "keyword": "a, b"}


def bibtex(number: int) -> str:
    return (
        f'@article{{k{number},\n  title = {{{text(number, 5)} {{\\"o}}}},\n  doi = {{10.1000/{number}}},\n'
        f"  abstract = {{{text(number, 60)}}},\n  keywords = {{a, b}},\n  year = 2019\n}}\n"
    )


def zotero(path: Path, items: int) -> None:
    spaces = " ".join(
        f"xmlns:{name}='{space}'"
        for name, space in (
            ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"), ("z", "http://www.zotero.org/namespaces/export#"),
            ("dc", "http://purl.org/dc/elements/1.1/"), ("dcterms", "http://purl.org/dc/terms/"),
        )
    )  # fmt: skip
    with path.open("w") as file:
        file.write(f"<rdf:RDF {spaces}>")
        for n in range(items):
            file.write(
                f"<z:A rdf:about='#{n}'><dc:title>{text(n, 5)}</dc:title><dc:identifier>DOI 10.1000/{n}</dc:identifier>"
                f"<dcterms:abstract>{text(n, 60)}</dcterms:abstract><dc:relation rdf:resource='#{n // 2}'/></z:A>"
            )
        parts = "".join(f"<dcterms:hasPart rdf:resource='#{n}'/>" for n in range(items))
        file.write(f"<z:Collection><dc:title>c</dc:title>{parts}</z:Collection></rdf:RDF>")


def work(number: int) -> object:
    cited = [f"https://openalex.org/W{number * 3 + at}" for at in range(10)]
    words = {word: [at] for at, word in enumerate(WORDS)}
    named = {"id": f"https://openalex.org/W{number}", "doi": f"https://doi.org/10.1/{number}", "title": text(number, 5)}
    return named | {
        "referenced_works": cited,
        "topics": [{"id": "https://openalex.org/T1"}],
        "abstract_inverted_index": words,
    }


def record(number: int) -> dict[str, object]:
    links = [{"url": url(number * 3 + at), "text": text(at, 3), "block": at // 5} for at in range(10)]
    return {"url": url(number), "title": text(number, 4), "text": text(number), "links": links, "headings": ["a", "b"]}


def parquet(item: Callable[[int], object]) -> Callable[[Path, int], None]:
    return lambda path, items: pq.write_table(pa.Table.from_pylist([item(n) for n in range(items)]), path)


def history(firefox: bool) -> Callable[[Path, int], None]:
    """The history of a browser, with as many clicks as pages."""

    def write(path: Path, items: int) -> None:
        pages = [(n + 1, url(n), text(n, 4), 1_700_000_000_000_000) for n in range(items)]
        visits = [(n + 1, n, n % items + 1) for n in range(items)]
        with closing(sqlite3.connect(path)) as made:
            if firefox:
                made.execute(
                    "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url, title, last_visit_date, visit_count)"
                )
                made.execute(
                    "CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit, place_id, visit_type)"
                )
                made.executemany("INSERT INTO moz_places VALUES (?, ?, ?, ?, 1)", pages)
                made.executemany("INSERT INTO moz_historyvisits VALUES (?, ?, ?, 1)", visits)
            else:
                made.execute("CREATE TABLE urls (id INTEGER PRIMARY KEY, url, title, last_visit_time, visit_count)")
                made.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, from_visit, url, transition)")
                made.executemany("INSERT INTO urls VALUES (?, ?, ?, ?, 1)", pages)
                made.executemany("INSERT INTO visits VALUES (?, ?, ?, 0)", visits)
            made.commit()

    return write


def webgraph(path: Path, items: int) -> None:
    dice = np.random.default_rng(1)
    write_graph([sorted(set(dice.integers(0, items, 10).tolist())) for _ in range(items)], path)


FORMS: dict[str, tuple[str, str, float, Callable[[Path, int], None]]] = {
    "warc.gz": ("warc", "a.warc.gz", 0.1, warc),
    "wacz": ("wacz", "a.wacz", 0.1, wacz),
    "wat": ("wat", "a.warc.wat", 0.2, wat),
    "har": ("har", "a.har", 0.1, har),
    "html folder": ("html", "html", 0.1, folder(".html", html)),
    "markdown folder": ("markdown", "notes", 0.1, folder(".md", note)),
    "markdown list": ("markdown", "list.md", 1, links_in_markdown),
    "mediawiki": ("mediawiki", "dump.xml", 0.2, mediawiki),
    "bookmarks": ("bookmarks", "bookmarks.html", 2, bookmarks),
    "opml": ("opml", "feeds.opml", 2, opml),
    "linkding": ("bookmark-manager", "l.json", 1, as_json(
        lambda n: {"id": n, "url": url(n), "title": text(n, 3), "tag_names": ["x"]})),
    "pinboard xml": ("bookmark-manager", "p.xml", 1, as_lines(
        lambda n: f"<post href='{url(n)}' description='{text(n, 3)}' tag='x y'/>", "<posts user='u'>")),
    "pocket csv": ("bookmark-manager", "p.csv", 1, as_lines(
        lambda n: f"{text(n, 3)},{url(n)},1,x|y,unread", "title,url,time_added,tags,status\n")),
    "wallabag": ("bookmark-manager", "w.json", 0.1, as_json(wallabag)),
    "csl-json": ("references", "l.json", 1, as_json(csl)),
    "bibtex": ("references", "l.bib", 0.5, as_lines(bibtex)),
    "zotero rdf": ("references", "l.rdf", 0.5, zotero),
    "openalex": ("openalex", "w.jsonl", 0.5, as_lines(work)),
    "openalex parquet": ("openalex", "w.parquet", 0.5, parquet(work)),
    "records": ("records", "r.jsonl", 2, as_lines(record)),
    "records parquet": ("records", "r.parquet", 5, parquet(record)),
    "firefox": ("history", "places.sqlite", 1, history(True)),
    "chromium": ("history", "History", 1, history(False)),
    "edges": ("edges", "l.tsv", 20, as_lines(lambda n: f"{url(n)}\t{url(n * 3 + 1)}")),
    "edges parquet": ("edges", "l.parquet", 20, parquet(lambda n: {"source": url(n), "target": url(n * 3 + 1)})),
    "webgraph": ("webgraph", "web", 0.5, webgraph),
    "sql": ("sql", "l.csv", 20, as_lines(lambda n: f"{url(n)},{url(n * 3 + 1)}", "source,target\n")),
}  # fmt: skip
"""Kind, name of the file, items in units of --items, and what writes it."""


def read(kind: str, path: Path) -> None:
    """Read a source to its end."""
    spec = f"duckdb:SELECT source, target FROM '{path}'" if kind == "sql" else str(path)
    for _ in open_source(spec, ReadReport(), base=BASE, kind=kind).records():
        pass


def measure(kind: str, path: Path, answers: multiprocessing.Queue[tuple[float, int]]) -> None:
    """In a process of its own: the best time, and the peak of memory above what there was before."""
    status = Path("/proc/self/status")

    def kilobytes(name: str) -> int:
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name))

    times, peak = [], 0
    for _ in range(ROUNDS):
        forget_peak()
        before, began = kilobytes("VmRSS"), time.process_time()
        read(kind, path)
        times.append(time.process_time() - began)
        peak = max(peak, kilobytes("VmHWM") - before)
    answers.put((min(times), peak))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=FORMS)
    parser.add_argument("--items", type=int, default=20_000, help="of the smallest file, for a usual kind")
    given = parser.parse_args()
    missing = set(source_kinds()) - {kind for kind, *_ in FORMS.values()} - NOT_FILES
    assert not missing, f"no form for {missing}"
    rows, context = [], multiprocessing.get_context("spawn")
    for form in given.only or FORMS:
        kind, name, share, write = FORMS[form]
        cells: list[tuple[float, float, int]] = []
        for size in SIZES:
            with tempfile.TemporaryDirectory() as place:
                path, answers = Path(place) / name, context.Queue()
                write(path, int(size * share * given.items))
                bytes_ = sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file())
                process = context.Process(target=measure, args=(kind, path, answers))
                process.start()
                seconds, peak = answers.get()
                process.join()
                cells.append((bytes_ / 1e6, seconds, peak))
        (small, first, least), *_, (large, last, most) = cells
        times = [f"{seconds:.2f}" for _, seconds, _ in cells]
        ratio = f"{last / first / SIZES[-1]:.2f}"
        rows.append([form, f"{small:.1f}", *times, ratio, f"{large / last:.1f}", f"{least >> 10}", f"{most >> 10}"])
        print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    header = [
        "",
        "MB at 1 ×",
        "s at 1 ×",
        "s at 2 ×",
        "s at 4 ×",
        "s an item, 4 × ÷ 1 ×",
        "MB/s at 4 ×",
        "peak MiB at 1 ×",
    ]
    show("Readers", [*header, "peak MiB at 4 ×"], rows)


if __name__ == "__main__":
    main()
