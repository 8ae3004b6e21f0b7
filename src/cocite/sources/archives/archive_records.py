"""The records of a web archive file, WARC or ARC, as one shape; their bodies are read only on demand.

WARC is read by fastwarc, ARC by warcio; compressed by record, as a whole or not at all is the same to both.
"""

from __future__ import annotations

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
CUT = "archive ends in the middle of a record: read up to the cut"
DAMAGED = "damaged archive: read up to the damage"
MAX_RATIO = 500
BOMB = f"archive that expands over {MAX_RATIO} times: cut off"
FREE_OUTPUT = 1 << 30
"""Up to this much output any ratio is allowed."""

_FIRST_LINE = re.compile(rb"WARC/[0-9]+\.[0-9]+\s*\r?\n")
_ARC_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_HEAD_LINE = re.compile(rb"([!-9;-~]+)[ \t]*:[ \t]*((?:[^\r\n]|\r?\n[ \t])*)")
_MAX_HEAD = 64 << 10
_SKIPPED_AT_ONCE = 16 << 20
_READ_AT_ONCE = 1 << 20
_JOINED = ("link", "x-robots-tag", "content-encoding", "transfer-encoding")


@dataclass(slots=True)
class Record:
    """One record. `http` holds the headers of an HTTP response by lower-case name; `body` reads what follows them."""

    kind: str  # response, resource, revisit, conversion, metadata, …
    url: str
    captured: str
    headers: dict[str, str]  # of the record itself, by lower-case name
    body: Callable[[], bytes]
    status: int | None = None
    http: dict[str, str] = field(default_factory=dict)


def open_records(path: Path, report: ReadReport) -> Iterator[Record]:
    """The records of an archive in file order. A record's body can be read until the next record is asked for."""
    start = head(path)
    if not start.strip(b"\0\r\n"):
        raise BadSource(f"{path.name} holds no record: give a whole archive")
    if start.startswith(b"filedesc:"):
        with open_bytes(path, report) as stream:
            yield from _arc_records(stream, path.name, report)
    elif _FIRST_LINE.match(start):
        with _CountedFile(path, report) as file:
            yield from _warc_records(file, path.name, report)
    else:
        raise BadSource(f"{path.name} is neither WARC nor ARC: give --kind to say what it is")


class _CountedFile(io.FileIO):
    """A file that adds what is read of it to the report."""

    def __init__(self, path: Path, report: ReadReport) -> None:
        super().__init__(path, "rb")
        self.report = report

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size) or b""
        self.report.read["bytes"] += len(data)
        return data


def web_address(target: str) -> str:
    """The address in `WARC-Target-URI`, which some old writers put into angle brackets; "" if it is none of the web."""
    target = target.strip()
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    return target if target[:8].lower().startswith(("http://", "https://")) else ""


def _warc_records(file: _CountedFile, name: str, report: ReadReport) -> Iterator[Record]:
    from fastwarc.warc import ArchiveIterator, any_type

    total = 0
    try:
        for raw in ArchiveIterator(file, record_types=any_type, parse_http=False, strict_mode=False):
            headers = _named(raw.headers.items())
            body = _Body(raw.reader.read, raw.content_length)
            record = Record(
                str(raw.record_type),
                web_address(headers.get("warc-target-uri", "")),
                headers.get("warc-date", ""),
                headers,
                body.read,
            )
            if record.kind in ("response", "revisit") and "http" in headers.get("content-type", ""):
                body.read_head(record)
            yield record
            while body.skip(raw.reader.consume):
                if total + body.taken > max(FREE_OUTPUT, MAX_RATIO * file.tell()):
                    report.skip(BOMB, name)
                    return
            total += body.taken
            if body.missing:
                report.skip(CUT, f"{name}: {record.url or record.kind}")
    except (OSError, ValueError) as error:
        report.skip(DAMAGED, f"{name}: {error}")


def _arc_records(stream: IO[bytes], name: str, report: ReadReport) -> Iterator[Record]:
    from warcio.archiveiterator import ArchiveIterator

    records = ArchiveIterator(stream, no_record_parse=True)
    records.INC_RECORD = ""  # what it would print where a record's length is wrong; we count instead
    try:
        for raw in records:
            headers = _named(raw.rec_headers.headers)
            size = int(headers.get("length", "0"))
            body = _Body(raw.raw_stream.read, size)
            url = web_address(headers.get("uri", ""))
            kind = "arc header" if raw.rec_type == "arc_header" else "response"
            record = Record(kind, url, _arc_date(headers.get("archive-date", "")), headers, body.read)
            if url:
                body.read_head(record)
            yield record
            while body.skip():
                pass
            if body.missing and kind == "response":
                report.skip(CUT, f"{name}: {record.url or record.kind}")
        if records.err_count:
            report.skip("record of a wrong length", name, records.err_count)
    except BadSource:
        raise
    except Exception as error:  # warcio lets all kinds of errors out where the data are damaged
        report.skip(DAMAGED, f"{name}: {error}")


class _Body:
    """The content of a record, read once: the HTTP headers if there are any, then the body."""

    def __init__(self, read: Callable[[int], bytes], size: int) -> None:
        self._read = read
        self.missing = size
        self.taken = 0
        self._kept = b""

    def _took(self, size: int) -> None:
        self.missing -= size
        self.taken += size

    def _more(self, most: int) -> bytes:
        data = self._read(most)
        self._took(len(data))
        return data

    def read_head(self, record: Record) -> None:
        """Take the HTTP headers off the content, if it begins with any."""
        self._kept = start = self._more(_MAX_HEAD)
        status = _STATUS.match(start)
        end = _HEAD_END.search(start)
        if status is not None and end is not None:
            self._kept = start[end.end() :]
            lines = _HEAD_LINE.findall(start[: end.start()])
            record.status = int(status[1])
            record.http = _named((key.decode("ascii"), _text(value)) for key, value in lines)

    def read(self) -> bytes:
        """The body, or its first 64 MiB."""
        kept, self._kept = self._kept, b""
        if self.missing <= 0:
            return kept
        return kept + self._more(MAX_BODY)

    def skip(self, consume: Callable[[int], int] | None = None) -> bool:
        """Go on towards the end of the record; False if it is reached."""
        if self.missing <= 0:
            return False
        size = consume(_SKIPPED_AT_ONCE) if consume else len(self._read(_READ_AT_ONCE))
        self._took(size)
        return size > 0


def _named(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case name; of several with one name the first counts, except that lists are joined."""
    found: dict[str, str] = {}
    for name, value in items:
        name = name.lower()
        if name not in found:
            found[name] = value
        elif name in _JOINED:
            found[name] += ", " + value
    return found


def _text(value: bytes) -> str:
    """The value of a header; addresses in UTF-8 are common, though the standard knows none."""
    try:
        return " ".join(value.decode("utf-8").split())
    except UnicodeDecodeError:
        return " ".join(value.decode("latin-1").split())


def _arc_date(stamp: str) -> str:
    match = _ARC_DATE.match(stamp)
    if match is None:
        return ""
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day}" + (f"T{hour}:{minute}:{second}Z" if hour else "")
