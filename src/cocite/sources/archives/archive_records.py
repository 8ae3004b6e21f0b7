"""Read the records of a web archive file, WARC (with FastWARC) or ARC (with warcio), in one shape.

Bodies are read only on demand. Files may be compressed by record, as a whole, or not at all. HTTP headers are parsed
here: FastWARC 1.1 loses the page where a response has none, or where their lines end in line feeds only.
"""

import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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
DAMAGED_PART = "damaged part of an archive: skipped up to the next record"
MAX_DAMAGED_PARTS = 1000  # of one archive; then the rest is skipped

_FIRST_LINE = re.compile(rb"WARC/[0-9]+\.[0-9]+\s*\r?\n")
_RECORD_START = re.compile(rb"\x1f\x8b\x08|WARC/[0-9]\.[0-9]\r?\n")
_ARC_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_HEAD_LINE = re.compile(rb"^([!-9;-~]++)[ \t]*+:[ \t]*+((?:[^\r\n]|\r?\n[ \t])*+)", re.MULTILINE)
"""Begins at a line's start, and never goes back: else a line without a colon takes quadratic time."""
_MAX_HEAD = 64 << 10
_SKIP_BYTES = 16 << 20
_MEMBER_HEAD = 1 << 10
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
    damage: str = ""  # why the rest can't be read
    _start: bytes = b""

    def _read_some(self, size: int) -> bytes:
        try:
            data = self._read(size)
        except (OSError, ValueError) as error:
            data, self.damage = b"", str(error)
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
            yield from warc_records(file, path.name, report)
    else:
        raise BadSource(f"{path.name} is neither WARC nor ARC: use --kind for its kind")


def web_address(target: str) -> str:
    """Return the web address in `WARC-Target-URI`, without the angle brackets of old writers, or "" if it isn't one."""
    target = target.strip()
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    return target if target[:8].lower().startswith(("http://", "https://")) else ""


def warc_records(file: io.RawIOBase, name: str, report: ReadReport) -> Iterator[Record]:
    """Yield the records. After a damaged part, reading goes on at the next record."""
    start: int | None = 0
    parts = Parts(file, name, report)
    while start is not None:
        file.seek(start)
        yield from parts.read()
        start = parts.next_start()


class Parts:
    """The parts of a WARC file between damages."""

    def __init__(self, file: io.RawIOBase, name: str, report: ReadReport) -> None:
        self.file, self.name, self.report = file, name, report
        self.total = self.begin = self.damaged_parts = 0  # bytes of output; where the last record begins
        self.length: int | None = None  # of the last record's content, if it was read to its end
        self.damage = ""

    def read(self) -> Iterator[Record]:
        """Yield the records from the file's position on, up to its end or to damage."""
        from fastwarc.warc import ArchiveIterator, any_type

        file, position, self.damage = self.file, self.file.tell(), ""
        self.begin, self.length = position, None
        try:
            for raw in ArchiveIterator(file, record_types=any_type, parse_http=False, strict_mode=False):
                self.begin, self.length = raw.stream_pos, None
                headers = _by_name(raw.headers.items())
                url, date = web_address(headers.get("warc-target-uri", "")), headers.get("warc-date", "")
                record = Record(str(raw.record_type), url, date, headers, raw.reader.read, raw.content_length)
                if record.kind in ("response", "revisit") and "http" in headers.get("content-type", ""):
                    record.read_head()
                if not record.damage:
                    yield record
                if record.damage:
                    raise ValueError(record.damage)
                while record.skip(raw.reader.consume):
                    if self.total + record.taken > max(FREE_OUTPUT, MAX_RATIO * file.tell()):
                        self.report.skip(f"archive that expands over {MAX_RATIO} times: stopped", self.name)
                        return
                self.total += record.taken
                self.report.read["bytes"] += max(0, file.tell() - position)
                position = max(position, file.tell())
                self.length = raw.content_length
                if record.missing:
                    self.report.skip(TRUNCATED_ARCHIVE, f"{self.name}: {record.url or record.kind}")
        except (OSError, ValueError) as error:
            self.damage = str(error) or type(error).__name__
        finally:
            self.report.read["bytes"] += max(0, file.tell() - position)

    def next_start(self) -> int | None:
        """Where a record begins after the damage, if there was any: what is between them is counted."""
        if not self.damage:
            return None
        whole = self.length is not None
        begin = _end_of_record(self.file, self.begin, self.length or 0) if whole else self.begin
        found = _find_record(self.file, begin + (not whole)) if self.damaged_parts < MAX_DAMAGED_PARTS else None
        if found == begin:  # the next record is the damaged one
            return found
        self.damaged_parts += 1
        lost = (self.file.seek(0, os.SEEK_END) if found is None else found) - begin
        self.report.read["bytes in damaged parts of archives"] += lost
        where = f"{lost:,} bytes from byte {begin:,} on"
        self.report.skip(DAMAGED_PART if found else DAMAGED_ARCHIVE, f"{self.name}: {where} ({self.damage})")
        return found


def _end_of_record(file: io.RawIOBase, begin: int, length: int) -> int:
    """Where a record that was read to its end is followed by the next one."""
    file.seek(begin)
    data = file.read(_MAX_HEAD)
    if data[:2] != b"\x1f\x8b":
        head = _HEAD_END.search(data)
        return begin + (head.end() if head else 0) + length + len(b"\r\n\r\n")
    decoder = zlib.decompressobj(31)
    with suppress(zlib.error):
        while data and not decoder.eof:
            while data and not decoder.eof:
                decoder.decompress(data, _READ_BYTES)
                data = decoder.unconsumed_tail
            data = b"" if decoder.eof else file.read(_READ_BYTES)
    return file.tell() - len(decoder.unused_data)


def _find_record(file: io.RawIOBase, start: int) -> int | None:
    """Where the next record begins: a gzip member with one, or a line that is the first of one."""
    file.seek(start)
    at, window = start, b""
    while piece := file.read(_READ_BYTES):
        window += piece
        for found in _RECORD_START.finditer(window):
            begin = found.start()
            if found[0][0] != 0x1F or _member_begins(window[begin : begin + _MEMBER_HEAD]):
                return at + begin
        kept = window[-_MEMBER_HEAD:]
        at, window = at + len(window) - len(kept), kept
    return None


def _member_begins(data: bytes) -> bool:
    """Whether a gzip member begins with a WARC record."""
    try:
        return zlib.decompressobj(31).decompress(data, 5) == b"WARC/"
    except zlib.error:
        return False


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
