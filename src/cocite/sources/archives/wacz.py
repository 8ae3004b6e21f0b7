"""Read WACZ files (Web Archive Collection Zipped, of Browsertrix, ArchiveWeb.page, Conifer): the WARC files inside.

`pages/pages.jsonl` lists the pages that somebody visited, with the titles that the browser showed. They replace those
of the HTML, which scripts may have changed, and their dates are used where a record has none.
"""

import io
import json
import lzma
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cocite.errors import BadSource
from cocite.sources.archives.archive_records import MAX_RATIO, warc_records
from cocite.sources.archives.warc import NO_PAGE, WarcReader, count_pages
from cocite.sources.compressed import FREE_OUTPUT
from cocite.sources.html.page import MAX_TITLE
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport, expect_some

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
MAX_LISTED_PAGES = 2_000_000
MAX_URL_CHARACTERS = 4096  # of a listed page
MAX_LINE = 16 << 20  # bytes of a line of pages.jsonl, which may have a page's text
ZIP_ERRORS = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, OSError, struct.error, zlib.error,
    lzma.LZMAError,
)  # fmt: skip
"""What a damaged archive raises, the formats of its members included."""
_COPY = 1 << 20
_HEADER, _NAME_LENGTH = 30, 26  # bytes before a member's name, and where its length and that of more fields are


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is WACZ. Raise BadSource, with what to do, for another zip file."""
    if not head.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            if _warcs(archive):
                return True
    except ZIP_ERRORS as error:
        raise BadSource(f"{path.name} is a damaged zip archive ({error}): copy or download it again") from error
    raise BadSource(f"{path.name} is a zip archive: unpack it, and give the files inside")


def read_wacz(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages of all WARC files inside."""
    return expect_some(count_pages(_pages(path, report, options), report), report, path.name, NO_PAGE)


def _pages(path: Path, report: ReadReport, options: ReadOptions) -> Iterator[Page | None]:
    reader = WarcReader(report, options.text)
    try:
        with zipfile.ZipFile(path) as archive:
            visited = _visited(archive, report)
            for member in _warcs(archive):
                with _opened(path, archive, member, report) as file:
                    for page in map(reader.page, warc_records(file, f"{path.name}/{member.filename}", report)):
                        if page is not None and (known := visited.get(page.url)):
                            page.title, page.captured = known[0] or page.title, page.captured or known[1]
                        yield page
    except ZIP_ERRORS as error:
        report.skip("damaged zip archive: read up to the damage", f"{path.name}: {error}")


def _warcs(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [member for member in archive.infolist() if member.filename.lower().endswith((".warc", ".warc.gz"))]


def _visited(archive: zipfile.ZipFile, report: ReadReport) -> dict[str, tuple[str, str]]:
    """The titles and dates of the pages that pages.jsonl and extraPages.jsonl list, by address."""
    found: dict[str, tuple[str, str]] = {}
    for member in archive.infolist():
        if not (member.filename.startswith("pages/") and member.filename.endswith(".jsonl")):
            continue
        left = max(FREE_OUTPUT, MAX_RATIO * member.compress_size)
        with archive.open(member) as lines:
            while (line := lines.readline(MAX_LINE)) and len(found) < MAX_LISTED_PAGES:
                left -= len(line)
                if left < 0:
                    report.skip("pages.jsonl that is suspiciously large when unpacked", member.filename)
                    break
                try:
                    page = json.loads(line)
                except (ValueError, RecursionError):
                    report.skip("line of pages.jsonl that is not JSON", line[:80].decode("utf-8", "replace"))
                    continue
                url = page.get("url") if isinstance(page, dict) else None
                if isinstance(url, str) and len(url) <= MAX_URL_CHARACTERS:  # the first line is a header
                    title, date = (_line(page.get(name)) for name in ("title", "ts"))
                    found[url] = (title, date)
    report.read["pages listed in pages.jsonl"] += len(found)
    return found


def _line(value: object) -> str:
    text = " ".join(value[: 4 * MAX_TITLE].split())[:MAX_TITLE] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def _opened(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, report: ReadReport
) -> Iterator[io.RawIOBase]:
    """A file with the content of a member: a part of the archive if it is stored as it is, else a copy."""
    with archive.open(member) as packed, path.open("rb", buffering=0) as file:
        if member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1:
            file.seek(member.header_offset + _NAME_LENGTH)
            lengths = struct.unpack("<HH", file.read(4))
            yield _Part(file, member.header_offset + _HEADER + sum(lengths), member.file_size)
            return
        with tempfile.TemporaryFile(prefix="cocite-wacz-", buffering=0) as copy:
            copied, most = 0, max(FREE_OUTPUT, MAX_RATIO * member.compress_size)
            while piece := packed.read(_COPY):
                copy.write(piece)
                copied += len(piece)
                if copied > most:
                    report.skip(f"archive that expands over {MAX_RATIO} times: stopped", member.filename)
                    break
            copy.seek(0)
            yield copy


class _Part(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, file: io.FileIO, start: int, size: int) -> None:
        self.file, self.start, self.size, self.at = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = max(0, offset + (0, self.at, self.size)[whence])
        return self.at

    def tell(self) -> int:
        return self.at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        self.file.seek(self.start + self.at)
        count = self.file.readinto(memoryview(buffer)[: max(0, self.size - self.at)])
        self.at += count
        return count


SOURCE = SourceKind("wacz", "web archive collection (WACZ)", recognises, read_wacz, order=31)
