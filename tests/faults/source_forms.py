"""A small source of every kind, in each of its forms, for builds whose calls fail.

Most are the examples that fuzzing begins with. The others are folders, several files together, compressed files,
addresses of SQL, and what each bookmark manager exports.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import zstandard

from cocite.sources.collections import note_workers
from tests.faults.dying import command
from tests.faults.model import store
from tests.fuzz.seeds import FILES
from tests.sources.bvgraph_writer import write_graph
from tests.sources.test_bookmark_manager import EXPORTS
from tests.sources.test_browser_history import database
from tests.sources.test_warc import arc, http

Form = Callable[[Path], tuple[object, ...]]
"""Writes a source to a place; returns how the command names it."""

NOTES = {
    "folder/a.md": "---\naliases: [x]\ntags: [t]\n---\n# A\n[[b]] [[c#h|C]] [e](https://e.example/) #u\n\n[r]: /r\n",
    "b.md": "# B\nalias:: y\n[[x]] and [[folder/a]] https://f.example/\n",
    ".obsidian/app.json": "{}",
}
SITE = {
    "index.html": "<title>t</title><h2>s</h2><ul><li><a href=below/b.html>b</a><li><a href=//c.example/>c</a></ul>",
    "below/b.html": "<title>b</title><a href=..>a</a>",
}


def build_of(form: Form) -> Callable[[Path], Callable[[], object]]:
    """A build from a source of a form, over an older store."""

    def work(place: Path) -> Callable[[], object]:
        return command("build", *form(place), "-o", store(place), "-q", "--base", "https://base.example/")

    return work


def file(name: str, data: bytes | str) -> Form:
    """One file."""

    def write(place: Path) -> tuple[object, ...]:
        (place / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return (place / name,)

    return write


def folder(files: dict[str, str], in_processes: bool = False) -> Form:
    """A folder; `in_processes` has its notes read by other processes, few as they are."""

    def write(place: Path) -> tuple[object, ...]:
        for name, text in files.items():
            (place / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "folder" / name).write_text(text)
        note_workers.MIN_FILES = 1 if in_processes else 5000
        return (place / "folder",)

    return write


def webgraph(place: Path) -> tuple[object, ...]:
    """A compressed graph with its addresses."""
    write_graph([[1, 2, 3, 4], [0, 2, 3, 4], [4], [], [0, 1, 2, 3]], place / "web")
    (place / "web.urls").write_text("".join(f"https://p{n}.example/\n" for n in range(5)))
    return (place / "web.properties",)


def release(place: Path) -> tuple[object, ...]:
    """A domain graph as texts."""
    (place / "cc-domain-vertices.txt.gz").write_bytes(gzip.compress(b"0\texample.a\t1\n1\texample.b\t1\n"))
    (place / "cc-domain-edges.txt.gz").write_bytes(gzip.compress(b"0\t1\n1\t0\n"))
    return (place / "cc-domain-vertices.txt.gz",)


def firefox(place: Path) -> tuple[object, ...]:
    """The history of Firefox."""
    return (database(place / "places.sqlite", "firefox"),)


def sql(place: Path) -> tuple[object, ...]:
    """A query over a file."""
    (place / "links.csv").write_text("src,dst\nhttps://a.example/,https://b.example/\n")
    return (f"duckdb:SELECT src, dst FROM '{place}/links.csv'",)


def see_also(place: Path) -> tuple[object, ...]:
    """A wiki whose judgements go to another file."""
    return (*file("dump.xml", FILES["mediawiki"].examples[0])(place), "--see-also", place / "also.tsv", "--categories")


def several(place: Path) -> tuple[object, ...]:
    """Sources of two kinds, in a folder and beside it."""
    return (*folder({"links.tsv": "https://a.example/\thttps://b.example/\n", **NOTES})(place),
            *file("web.warc", FILES["warc"].examples[0])(place))  # fmt: skip


FORMS: dict[str, Form] = {
    **{name: file(each.name, each.examples[0]) for name, each in FILES.items()},
    **{f"export {name}": file(name, data) for name, data in EXPORTS.items()},
    "arc": file("a.arc", arc(("http://example.org/", http(b"<a href=/b>b</a>")))),
    "html": file("a.html", SITE["below/b.html"]),
    "html folder": folder(SITE),
    "vault": folder(NOTES),
    "vault in processes": folder(NOTES, True),
    "mentions": lambda place: (*folder(NOTES)(place), "--mentions"),
    "webgraph": webgraph,
    "webgraph as texts": release,
    "firefox": firefox,
    "sql": sql,
    "see also": see_also,
    "mediawiki.bz2": file("dump.xml.bz2", bz2.compress(FILES["mediawiki"].examples[0])),
    "records.zst": file("pages.jsonl.zst", zstandard.compress(FILES["records"].examples[0])),
    "several": several,
}
"""By name. `crawl` isn't among them: it needs a server."""
