"""Files of page records: JSON Lines (plain, gzip, Zstandard) and Parquet, as described in `docs/page-records.md`.

Reading takes bounded memory. Unknown fields are ignored. A field of the wrong type is counted and dropped, and a record
without an address is skipped. Writing is atomic: a writer that is killed leaves the old file, or none.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import zstandard

from cocite.errors import BadSource
from cocite.sources.arrow_batches import MAX_INT32, to_schema
from cocite.sources.compressed import BYTE_ORDER_MARK, open_lines
from cocite.sources.edges.layout import are_named
from cocite.sources.json_items import json_line
from cocite.sources.kinds import Items, ReadOptions, SourceKind, content_suffix
from cocite.sources.parquet import open_parquet, parquet_columns, row_groups
from cocite.sources.records import BATCH_LINKS, SCHEMA, Link, Page, ReadReport, expect_some
from cocite.system import replacing

JSON_LINES = (".jsonl", ".ndjson", ".jsonlines")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file holds page records. Raise BadSource, with what to do, for JSON of another shape."""
    if head.startswith(b"PAR1"):
        names = parquet_columns(path)
        return "url" in names and ("links" in names or not are_named(names))
    suffix = content_suffix(path)
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if suffix == ".json" and (text.startswith(b"[") or text[:2] in (b"{\n", b"{\r")):
        raise BadSource(f"{path.name} is a single JSON document: write one record per line, e.g. with `jq -c '.[]'`")
    if not text.startswith(b"{"):
        return suffix in JSON_LINES
    record = first_record(text)
    if record is None:  # damaged, or longer than `head`
        return suffix in (*JSON_LINES, ".json") or b'"url"' in text.partition(b"\n")[0]
    if "url" not in record:
        raise BadSource(f"{path.name} has records without url: docs/page-records.md lists the fields")
    return True


def first_record(head: bytes) -> dict[str, Any] | None:
    """Return the JSON object on the first line of a file that begins with `head`, or None."""
    try:
        record = json.loads(head.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def read_records(path: Path, report: ReadReport, options: ReadOptions) -> Items:
    """Read a file of page records."""
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    return read_parquet(path, report, options.text) if is_parquet else read_jsonl(path, report)


def read_jsonl(path: Path | IO[bytes], report: ReadReport) -> Iterator[Page]:
    """Yield the pages of a JSON Lines file or stream."""
    lines = enumerate(open_lines(path, report), 1)
    pages = (page_from_json(line, number, report) for number, line in lines if line.strip())
    name = path.name if isinstance(path, Path) else "standard input"
    return expect_some(filter(None, pages), report, name)


def page_from_json(line: bytes, number: int, report: ReadReport) -> Page | None:
    """Return the page in a line of JSON. Count a line without one, and return None."""
    if not (found := json_line(line, number, report)):
        return None
    record = found[0]
    url = record.get("url") if isinstance(record, dict) else None
    if not isinstance(url, str) or not url.strip():
        reason = "record without url" if isinstance(record, dict) else "record that is not an object"
        report.skip(reason, f"line {number}: {line[:80].decode('utf-8', 'replace')}")
        return None
    page = Page(url.strip())
    for name in SCHEMA.names[1:]:
        if (value := record.get(name)) is None:
            continue
        converted = _PAGE_FIELDS[name](value, report)
        if converted is None:
            report.skip(f"field {name!r} of the wrong type", f"line {number}: {str(value)[:80]}")
        else:
            setattr(page, name, converted)
    return page


def _status(value: object, _report: ReadReport) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if type(value) is int and 0 <= value <= MAX_INT32 else None


def _headings(value: object, report: ReadReport) -> list[str] | None:
    if not isinstance(value, list):
        return None
    for heading in value:
        if not isinstance(heading, str | None):
            report.skip("heading of the wrong type", str(heading)[:80])
    return [heading if isinstance(heading, str) else "" for heading in value]


def _links(value: object, report: ReadReport) -> list[Link] | None:
    if not isinstance(value, list):
        return None
    links = []
    for item in value:
        if isinstance(item, dict) and isinstance(item.get("url"), str):
            link = _link(item, report)
        else:
            link = Link(item.strip() if isinstance(item, str) else "")
        if link.url:
            links.append(link)
        else:
            report.skip("link without url", str(item)[:80])
    return links


def _link(item: dict[str, Any], report: ReadReport) -> Link:
    """Convert a link object. Most time goes here: fields are checked one by one only if a common check fails."""
    get = item.get
    text, context, rel = get("text"), get("context"), get("rel")
    block, weight, boilerplate = get("block"), get("weight"), get("boilerplate")
    if (
        (text is None or type(text) is str)
        and (context is None or type(context) is str)
        and (rel is None or type(rel) is str)
        and (block is None or (type(block) is int and 0 <= block <= MAX_INT32))
        and (weight is None or (type(weight) in (int, float) and 0 < weight <= 1))
        and (boilerplate is None or type(boilerplate) is bool)
    ):
        weight = 1.0 if weight is None else float(weight)
        return Link(item["url"].strip(), text or "", block, context or "", rel or "", weight, boilerplate or False)
    for name, is_valid in _LINK_FIELDS.items():
        if (value := get(name)) is not None and not is_valid(value):
            report.skip(f"link field {name!r} of the wrong type or out of range", str(value)[:80])
            item = {**item, name: None}
    return _link(item, report)


_PAGE_FIELDS: dict[str, Callable[[object, ReadReport], object]] = {
    **dict.fromkeys(SCHEMA.names, lambda value, _report: value if isinstance(value, str) else None),
    "links": _links,
    "headings": _headings,
    "status": _status,
    **dict.fromkeys(("noindex", "partial"), lambda value, _report: value if isinstance(value, bool) else None),
}
_LINK_FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("text", "context", "rel"), lambda value: isinstance(value, str)),
    "block": lambda value: type(value) is int and 0 <= value <= MAX_INT32,
    "weight": lambda value: type(value) in (int, float) and 0 < value <= 1,
    "boilerplate": lambda value: isinstance(value, bool),
}


def page_to_json(page: Page) -> dict[str, Any]:
    """Return a page as a JSON object, without empty fields."""
    record = {name: value for name in SCHEMA.names if (value := getattr(page, name)) or type(value) is int}
    if page.links:
        record["links"] = [
            {field.name: value for field in fields(Link) if (value := getattr(link, field.name)) != field.default}
            for link in page.links
        ]
    return record


def write_jsonl(pages: Iterable[Page], path: Path) -> int:
    """Write pages as JSON Lines, compressed if the name ends in .gz or .zst. Return their number."""
    count = 0
    with replacing(path) as temporary, temporary.open("wb") as file, compressing(file, path.suffix) as out:
        for page in pages:
            line = json.dumps(page_to_json(page), ensure_ascii=False, separators=(",", ":"))
            out.write(line.encode("utf-8", "replace") + b"\n")
            count += 1
    return count


@contextmanager
def compressing(file: IO[bytes], suffix: str, gzip_level: int = 6, zstd_level: int = 10) -> Iterator[Any]:
    """Give a file to write to that compresses into `file`, if the suffix is that of a compressed file."""
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", gzip_level, file, mtime=0) as packed:
            yield packed
    elif suffix == ".zst":
        with zstandard.ZstdCompressor(level=zstd_level).stream_writer(file, closefd=False) as packed:
            yield packed
    else:
        yield file


def read_parquet(path: Path, report: ReadReport, text: bool = True) -> Iterator[pa.RecordBatch]:
    """Yield the records of a Parquet file in batches of bounded size. Without `text`, texts are not read from disk."""
    return expect_some(_parquet_batches(path, report, text), report, path.name)


def _parquet_batches(path: Path, report: ReadReport, text: bool) -> Iterator[pa.RecordBatch]:
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        wanted = [name for name in names if name in SCHEMA.names and (text or name != "text")]
        if "url" not in wanted:
            has = f"columns: {', '.join(names[:8])}"
            raise BadSource(f"{path.name} has no column url ({has}): docs/page-records.md lists the fields")
        for given in row_groups(file, path, wanted, None, report):
            batch = to_schema(given, report, path.name)
            parts = 1 + len(batch.column("links").flatten()) // BATCH_LINKS
            rows = max(1, batch.num_rows // parts)
            yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def write_parquet(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write batches of page records as one Parquet file. Return the number of records."""
    import pyarrow.parquet as pq

    rows = 0
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd", write_page_checksum=True) as writer,
    ):
        for batch in batches:
            plain = to_schema(batch, ReadReport(), dictionaries=False)
            writer.write_batch(plain.cast(SCHEMA))
            rows += plain.num_rows
    return rows


SOURCE = SourceKind("records", "page records (JSON Lines, Parquet)", recognises, read_records, order=60)
