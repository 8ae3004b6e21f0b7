"""Which kind of source a file is, by its first bytes and its name."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources.collections import bookmarks, opml
from cocite.sources.compressed import head
from cocite.sources.edges.layout import layout, named
from cocite.sources.markdown.page import SUFFIXES as MARKDOWN
from cocite.sources.records import cut

KINDS = {
    "records": "page records (JSON Lines, Parquet)",
    "edges": "edge list (TSV, CSV, Parquet)",
    "warc": "web archive (WARC, ARC, WET)",
    "wat": "Common Crawl's metadata (WAT)",
    "html": "HTML files",
    "markdown": "Markdown files",
    "bookmarks": "browser bookmarks",
    "opml": "OPML",
    "webgraph": "web graph (BVGraph, Common Crawl's releases)",
    "crawl": "pages to be crawled",
}

EDGES = (".edges", ".edgelist", ".el")
TABLES = (".tsv", ".csv", ".tab", *EDGES)
MAYBE_EDGES = (".txt", ".net", ".dat", "")
JSON_LINES = (".jsonl", ".ndjson", ".jsonlines")

_SAY = "say so by --kind"
_NEVER = re.compile(
    r"\.(?:css|m?js|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|[to]tf|eot|pdf|mp[34]|webm|np[yz]|py|ipynb|toml|ya?ml)$",
    re.IGNORECASE,
)  # files beside sources that need no look inside
_ARCHIVE = re.compile(r"\.(?:w?arc|wat|wet)(?:\.|$)", re.IGNORECASE)
_GRAPH = re.compile(r"vertices|edges|\.paths|\.graph$|\.properties$|\.offsets$")


def recognise(path: Path) -> str:
    """The kind of a file; an error that says what to do if there is no telling."""
    if not path.exists() and not _is_webgraph(path, b""):
        shown = cut(str(path))
        address = f", or to crawl it write https://{shown}" if "." in path.name.strip(".") else ""
        raise BadSource(f"{shown} does not exist: check the path{address}")
    if path.is_file() and not path.stat().st_size:
        raise BadSource(f"{path} is empty: give a file that holds something")
    found = _kind(path)
    if found is None:
        raise BadSource(f"cannot tell what {path} is: {_SAY} ({', '.join(KINDS)})")
    return found


def recognised(path: Path) -> str | None:
    """The kind of a file in a folder; None for what was not meant as a source."""
    if path.name.startswith("_") and path.suffix.lower() not in MARKDOWN:
        return None  # Spark's and Hive's own files
    if _NEVER.search(path.name):
        return None
    try:
        return _kind(path) if path.stat().st_size else None
    except (BadSource, OSError):
        return None


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _kind(path: Path) -> str | None:
    if not path.is_file():
        return "webgraph"
    start = head(path)
    if start[257:262] == b"ustar":
        raise BadSource(f"{path.name} is a tar archive: unpack it first and give what is inside")
    if start.startswith(b"PAR1"):
        return _parquet_kind(path)
    if _is_webgraph(path, start):
        return "webgraph"
    if (archive := _archive_kind(path, start)) is not None:
        return archive
    if opml.recognises(path, start):
        return "opml"
    if bookmarks.recognises(path, start):
        return "bookmarks"
    suffix = _suffix(path)
    if (json_kind := _json_kind(path, start, suffix)) is not None:
        return json_kind
    if suffix in MARKDOWN:
        return "markdown"
    if _is_html(path, start):
        return "html"
    if suffix in TABLES or (suffix in MAYBE_EDGES and b"\0" not in start):
        return _edge_kind(path, start, suffix)
    return None


def _suffix(path: Path) -> str:
    """The suffix that tells what is inside: `.tsv` of `links.tsv.gz`."""
    name = re.sub(r"\.(?:gz|zst|bz2)$", "", path.name, flags=re.IGNORECASE)
    return Path(name).suffix.lower()


def _is_webgraph(path: Path, start: bytes) -> bool:
    if path.exists() and not _GRAPH.search(path.name) and not _GRAPH.search(path.parent.name):
        return False
    from cocite.sources.webgraphs import webgraph

    return webgraph.recognises(path, start)


def _archive_kind(path: Path, start: bytes) -> str | None:
    if not (start.startswith((b"WARC/", b"filedesc:")) or _ARCHIVE.search(path.name)):
        return None
    from cocite.sources.archives import warc, wat

    if wat.recognises(path, start):
        return "wat"
    return "warc" if warc.recognises(path, start) else None


def _is_html(path: Path, start: bytes) -> bool:
    from cocite.sources.html import page as html

    return html.recognises(path, start)


def _json_kind(path: Path, start: bytes, suffix: str) -> str | None:
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if suffix == ".json" and (text.startswith(b"[") or text[:2] in (b"{\n", b"{\r")):
        raise BadSource(f"{path.name} is one JSON document: write one record per line, as `jq -c '.[]'` does")
    if not text.startswith(b"{"):
        return "records" if suffix in JSON_LINES else None
    line = text.partition(b"\n")[0]
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):  # broken, or longer than what we have seen of it
        return "records" if suffix in (*JSON_LINES, ".json") or b'"url"' in line else None
    if isinstance(record, dict) and "url" not in record:
        raise BadSource(f"{path.name} has records without url: see docs/page-records.md for the fields")
    return "records"


def _parquet_kind(path: Path) -> str:
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadSource(f"{path.name} is not a whole Parquet file: write or copy it again") from error
    if "url" in names and ("links" in names or not named(names)):
        return "records"
    if named(names):
        return "edges"
    raise BadSource(f"{path.name} {_unnamed(names)}")


def _edge_kind(path: Path, start: bytes, suffix: str) -> str:
    """`edges`, if a text gives good reason to think so; else an error that says what it looks like."""
    try:
        form = layout(start, name=path.name, strict=True)
    except BadSource as error:
        if suffix in TABLES:
            raise BadSource(f"{error}: give --kind edges to read it all the same") from error
        raise BadSource(f"cannot tell what {path} is: it looks like plain text; {_SAY} ({', '.join(KINDS)})") from error
    if not form.linked:
        raise BadSource(f"{path.name} {_unnamed(form.names)}")
    if form.looks and suffix not in EDGES:
        raise BadSource(f"{path.name} looks like {form.looks}, not like links: --kind edges reads it as an edge list")
    return "edges"


def _unnamed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return f"has the columns {shown}: call two of them source and target, or give --kind edges to take the first two"
