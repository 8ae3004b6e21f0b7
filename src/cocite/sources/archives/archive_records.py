"""Read the records of a web archive file, WARC (with FastWARC) or ARC (with warcio), in one shape.

Bodies are read only on demand. Files may be compressed by record, as a whole, or not at all. HTTP headers are parsed
here: FastWARC 1.1 loses the page where a response has none, or where their lines end in line feeds only.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cocite.errors import BadSource
from cocite.sources.compressed import head, open_bytes
from cocite.sources.records import ReadReport

MAX_BODY = 64 << 20
MAX_RATIO = 500
FREE_OUTPUT = 1 << 30  # bytes of output before `MAX_RATIO` applies
TRUNCATED_ARCHIVE = "archive that ends in the middle of a record: read up to its end"
DAMAGED_ARCHIVE = "damaged archive: read up to the damage"

_FIRST_LINE = re.compile(rb"WARC/[0-9]+\.[0-9]+\s*\r?\n")
_ARC_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_HEAD_LINE = re.compile(rb"^([!-9;-~]++)[ \t]*+:[ \t]*+((?:[^\r\n]|\r?\n[ \t])*+)", re.MULTILINE)
"""Begins at a line's start, and never goes back: else a line without a colon takes quadratic time."""
_MAX_HEAD = 64 << 10
_SKIP_BYTES = 16 << 20
_READ_BYTES = 1 << 20
_LIST_HEADERS = ("link", "x-robots-tag", "content-encoding", "transfer-encoding")


@dataclass(slots=True)
class Record:
    """One record, whose content is read once: its HTTP headers if it has any, then its body."""

    kind: str  # response, resource, revisit, conversion, metadata, …
    url: str
    captured: str
    headers: dict[str, str]  # of the record itself, by lower-case name
    _read: Callable[[int], bytes]
    missing: int  # bytes that are not read yet
    status: int | None = None
    http: dict[str, str] = field(default_factory=dict)  # headers of an HTTP response, by lower-case name
    taken: int = 0  # bytes that are read or skipped
    _start: bytes = b""

    def _read_some(self, size: int) -> bytes:
        data = self._read(size)
        self.missing -= len(data)
        self.taken += len(data)
        return data

    def read_head(self) -> None:
        """Split off the HTTP headers, if the content begins with any."""
        self._start = start = self._read_some(_MAX_HEAD)
        status = _STATUS.match(start)
        end = _HEAD_END.search(start)
        if status is not None and end is not None:
            self._start = start[end.end() :]
            self.status = int(status[1])
            lines = _HEAD_LINE.findall(start[: end.start()])
            self.http = _by_name((key.decode("ascii"), _text(value)) for key, value in lines)

    def body(self) -> bytes:
        """Return the body, or its first 64 MiB."""
        kept, self._start = self._start, b""
        return kept + self._read_some(MAX_BODY) if self.missing > 0 else kept

    def skip(self, consume: Callable[[int], int] | None = None) -> bool:
        """Skip towards the end of the record. Return False if it is reached."""
        if self.missing <= 0:
            return False
        if consume is None:
            return len(self._read_some(_READ_BYTES)) > 0
        size = consume(_SKIP_BYTES)
        self.missing -= size
        self.taken += size
        return size > 0


def open_records(path: Path, report: ReadReport) -> Iterator[Record]:
    """Yield the records of an archive in file order. The body of a record can be read until the next record."""
    start = head(path)
    if not start.strip(b"\0\r\n"):
        raise BadSource(f"{path.name} has no records: give a complete archive")
    if start.startswith(b"filedesc:"):
        with open_bytes(path, report) as stream:
            yield from _arc_records(stream, path.name, report)
    elif _FIRST_LINE.match(start):
        with path.open("rb", buffering=0) as file:
            yield from _warc_records(file, path.name, report)
    else:
        raise BadSource(f"{path.name} is neither WARC nor ARC: use --kind for its kind")


def web_address(target: str) -> str:
    """Return the web address in `WARC-Target-URI`, without the angle brackets of old writers, or "" if it isn't one."""
    target = target.strip()
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    return target if target[:8].lower().startswith(("http://", "https://")) else ""


def _warc_records(file: io.FileIO, name: str, report: ReadReport) -> Iterator[Record]:
    from fastwarc.warc import ArchiveIterator, any_type

    total = position = 0
    try:
        for raw in ArchiveIterator(file, record_types=any_type, parse_http=False, strict_mode=False):
            headers = _by_name(raw.headers.items())
            url, date = web_address(headers.get("warc-target-uri", "")), headers.get("warc-date", "")
            record = Record(str(raw.record_type), url, date, headers, raw.reader.read, raw.content_length)
            if record.kind in ("response", "revisit") and "http" in headers.get("content-type", ""):
                record.read_head()
            yield record
            while record.skip(raw.reader.consume):
                if total + record.taken > max(FREE_OUTPUT, MAX_RATIO * file.tell()):
                    report.skip(f"archive that expands over {MAX_RATIO} times: stopped", name)
                    return
            total += record.taken
            report.read["bytes"] += file.tell() - position
            position = file.tell()
            if record.missing:
                report.skip(TRUNCATED_ARCHIVE, f"{name}: {record.url or record.kind}")
    except (OSError, ValueError) as error:
        report.skip(DAMAGED_ARCHIVE, f"{name}: {error}")
    finally:
        report.read["bytes"] += file.tell() - position


def _arc_records(stream: IO[bytes], name: str, report: ReadReport) -> Iterator[Record]:
    from warcio.archiveiterator import ArchiveIterator

    records = ArchiveIterator(stream, no_record_parse=True)
    records.INC_RECORD = ""  # warcio would print this for a record of a wrong length; we count it
    try:
        for raw in records:
            headers = _by_name(raw.rec_headers.headers)
            kind = "arc header" if raw.rec_type == "arc_header" else "response"
            date = _ARC_DATE.match(headers.get("archive-date", ""))
            captured = "" if date is None else date.expand(r"\1-\2-\3T\4:\5:\6Z" if date[4] else r"\1-\2-\3")
            size = int(headers.get("length", "0"))
            record = Record(kind, web_address(headers.get("uri", "")), captured, headers, raw.raw_stream.read, size)
            if record.url:
                record.read_head()
            yield record
            while record.skip():
                pass
            if record.missing and kind == "response":
                report.skip(TRUNCATED_ARCHIVE, f"{name}: {record.url or record.kind}")
        if records.err_count:
            report.skip("record with a wrong length", name, records.err_count)
    except BadSource:
        raise
    except Exception as error:  # warcio raises errors of all types for damaged data
        report.skip(DAMAGED_ARCHIVE, f"{name}: {error}")


def _by_name(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by lower-case name. Of several with the same name the first counts, but lists are joined."""
    found: dict[str, str] = {}
    for name, value in items:
        name = name.lower()
        if name not in found:
            found[name] = value
        elif name in _LIST_HEADERS:
            found[name] += ", " + value
    return found


def _text(value: bytes) -> str:
    """Decode the value of a header. Addresses in UTF-8 are common, though not standard."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return " ".join(text.split())
