"""Open files as byte streams of bounded memory: plain, or compressed with gzip, Zstandard, bzip2 or 7-Zip.

The first bytes of a file decide, not its name. Of a damaged file the part before the damage is read, and the damage is
counted. Decompression stops where a file expands beyond all proportion. The bytes read from disk are added to
`report.read["bytes"]`, for progress bars.
"""

import bz2
import io
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from cocite.errors import BadSource
from cocite.sources.records import ReadReport

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 64 << 10
MAX_LINE = 128 << 20  # bytes of a line; a page record with a million links takes about 100 MB of JSON
BLOCK_BYTES = 4 << 20  # of lines parsed at a time; 4 MiB stay in the cache, 16 MiB took longer
MAX_ROW = 4 << 20
MAX_RATIO = 1000
FREE_OUTPUT = 1 << 30  # bytes of output before `MAX_RATIO` applies; 1 GiB of zeros is harmless where memory is bounded

_READ = 256 << 10
_FEED = 1 << 10
"""Bytes fed to a decoder at a time. They become at most 1 MiB (gzip) or 32 MiB (Zstandard, 128 KiB for every 4 bytes),
and damage costs no more than one feed. Feeds of 16 KiB were not faster."""
_PIECE = 8 << 20
_DECODERS: tuple[tuple[re.Pattern[bytes], Callable[[], Any]], ...] = (
    (re.compile(rb"\x1f\x8b"), lambda: zlib.decompressobj(31)),
    (re.compile(rb"\x28\xb5\x2f\xfd|[P-_]\x2a\x4d\x18"), lambda: zstandard.ZstdDecompressor().decompressobj()),
    (re.compile(rb"BZh"), bz2.BZ2Decompressor),
)
_UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xfd7zXZ": "an xz file",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}


def open_bytes(path: Path | IO[bytes], report: ReadReport) -> io.BufferedReader:
    """Open the decompressed content of a file, or of an open binary stream such as standard input.

    Damage ends the stream and is counted in the report.
    """
    name = str(getattr(path, "name", "the stream"))
    try:
        opened = path.open("rb") if isinstance(path, Path) else path
    except OSError as error:
        raise BadSource(f"Cannot read {path}: {error.strerror}; check the path and its permissions") from error
    raw = opened if isinstance(opened, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, opened))
    try:
        first = raw.peek(8)
    except OSError as error:
        raise BadSource(f"Cannot read {name}: {error.strerror}; copy it to a file first") from error
    if first.startswith(b"7z\xbc\xaf") and isinstance(path, Path):
        raw.close()
        return io.BufferedReader(_Stream(_unpacked(path, report), None), 1 << 20)
    for magic, what in _UNSUPPORTED.items():
        if first.startswith(magic):
            raw.close()
            raise BadSource(f"{name} is {what}: unpack it, and give the files inside")
    new_decoder = next((new for magic, new in _DECODERS if magic.match(first)), None)
    pieces = _inflated(raw, new_decoder, name, report) if new_decoder else _counted(raw, name, report)
    release = raw.close if isinstance(path, Path) else raw.detach if raw is not path else None
    return io.BufferedReader(_Stream(pieces, release), 1 << 20)


def read_start(path: Path, report: ReadReport, maximum: int) -> bytes:
    """Return the decompressed content of a file, or its first bytes if it has more than `maximum`.

    A folder has thousands of notes: for a small plain file a stream takes four times as long as to read it.
    """
    with suppress(OSError), open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a third faster than Path.open
        start = file.read(min(_READ, maximum) + 1)
        is_plain = len(start) > 4 and not start.startswith(tuple(_UNSUPPORTED)) and not _is_packed(start)
        if is_plain and len(start) <= min(_READ, maximum) and not file.read(1):
            report.read["bytes"] += len(start)
            return start
    with open_bytes(path, report) as stream:
        return stream.read(maximum)


def _is_packed(start: bytes) -> bool:
    return any(magic.match(start) for magic, _ in _DECODERS)


def open_lines(path: Path | IO[bytes], report: ReadReport, max_line: int = MAX_LINE) -> Iterator[bytes]:
    """Yield the lines of a file without their line ends. Lines longer than `max_line` bytes are counted and skipped."""
    with open_bytes(path, report) as stream:
        if stream.peek(3).startswith(BYTE_ORDER_MARK):
            stream.read(3)
        while line := stream.readline(max_line + 1):
            if len(line) > max_line and not line.endswith(b"\n"):
                start = line[:100].decode("utf-8", "replace")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(1 << 20)
                report.skip(f"line longer than {max_line >> 20} MiB", start)
                continue
            yield line.rstrip(b"\r\n")


def line_blocks(path: Path, report: ReadReport, refuse_long: bool = False) -> Iterator[bytes]:
    """Yield the content of a file in blocks of complete lines, without a byte order mark.

    Lines over `MAX_ROW` bytes are counted and skipped, or refused with an error. The incomplete last line of a damaged
    file is skipped.
    """
    damage = ReadReport(report.strict)
    rest, skipping = b"", False
    with open_bytes(path, damage) as stream:
        if stream.peek(3).startswith(BYTE_ORDER_MARK):
            stream.read(3)
        returns = has_returns_only(stream.peek(HEAD_BYTES)[:HEAD_BYTES])
        while piece := stream.read(BLOCK_BYTES):
            piece = piece.replace(b"\r", b"\n") if returns else piece
            report.read["bytes"] += damage.read.pop("bytes", 0)
            end = piece.rfind(b"\n") + 1
            if skipping and end:
                start = piece.find(b"\n") + 1
                piece, end, skipping = piece[start:], end - start, False
            if end:
                yield b"".join((rest, memoryview(piece)[:end]))
                rest = piece[end:]
            elif not skipping:
                rest += piece
                if len(rest) > MAX_ROW:
                    if refuse_long:
                        raise BadSource(f"{path} has a line of over {MAX_ROW:,} bytes: give a file of short lines")
                    report.skip(f"line longer than {MAX_ROW >> 20} MiB", path.name)
                    rest, skipping = b"", True
    report.merge(damage)
    if rest and not damage.skipped:
        yield rest + b"\n"


def has_returns_only(head: bytes) -> bool:
    """Return whether lines end with a carriage return alone, as spreadsheets on old Macs write them."""
    return b"\r" in head.rstrip(b"\r") and b"\n" not in head


def head_lines(head: bytes) -> list[bytes]:
    """Return the complete lines of a file that begins with `head`, at most a thousand."""
    lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\r" if has_returns_only(head) else b"\n")
    if len(lines) > 1 and len(head) >= HEAD_BYTES:
        lines.pop()
    return lines[:1000]


def head(path: Path) -> bytes:
    """Return the first 64 KiB of a file's decompressed content, or less where the file is shorter or damaged.

    Of a zip archive, the bytes are as they are: one kind of source is such an archive.
    """
    with suppress(OSError), path.open("rb") as file:
        if (start := file.read(4)) == b"PK\x03\x04":
            return start + file.read(HEAD_BYTES - 4)
    with open_bytes(path, ReadReport()) as stream:
        return stream.read(HEAD_BYTES)


class _Stream(io.RawIOBase):
    """A raw stream over a generator of bytes."""

    def __init__(self, pieces: Generator[bytes, None, None], release: Callable[[], object] | None) -> None:
        self._pieces = pieces
        self._release = release
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._pieces.close()
            if self._release is not None:
                self._release()
        super().close()


def _counted(raw: IO[bytes], name: str, report: ReadReport) -> Generator[bytes, None, None]:
    while True:
        try:
            piece = raw.read(_READ)
        except OSError as error:
            raise BadSource(f"Cannot read all of {name}: {error.strerror}; copy it to another disk") from error
        if not piece:
            return
        report.read["bytes"] += len(piece)
        yield piece


def _unpacked(path: Path, report: ReadReport) -> Generator[bytes, None, None]:
    """Unpack a 7z archive by the program of 7-Zip, or that of libarchive, which write to a pipe."""
    program = next(filter(None, map(shutil.which, ("7z", "7zz", "7za", "bsdtar"))), "")
    if not program:
        raise BadSource(f"{path} is a 7z archive: install 7-Zip (7z), or unpack it and give the file inside")
    options = ["-xOf"] if Path(program).stem == "bsdtar" else ["e", "-so", "-bd", "-y"]
    command = [program, *options, str(path.absolute())]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as work:
        assert work.stdout is not None
        try:
            while piece := work.stdout.read(_READ):
                yield piece
            if work.wait():
                why = f"{path.name}: {Path(program).name} failed"
                report.skip("damaged compressed file: read up to the damage", why)
        finally:
            work.kill()


def _inflated(
    raw: IO[bytes], new_decoder: Callable[[], Any], name: str, report: ReadReport
) -> Generator[bytes, None, None]:
    """Decompress a file. Members (gzip), frames (Zstandard) and streams (bzip2) may follow each other."""
    produced = consumed = 0
    decoder: Any = None
    for feed in (piece[at : at + _FEED] for piece in _counted(raw, name, report) for at in range(0, len(piece), _FEED)):
        consumed += len(feed)
        rest = feed
        while rest := (rest if decoder else rest.lstrip(b"\0")):  # some writers pad the last member with zeros
            decoder = decoder or new_decoder()
            try:
                for output in _decompress(decoder, rest):
                    produced += len(output)
                    yield output
                    if produced > FREE_OUTPUT and produced > MAX_RATIO * consumed:
                        report.skip(f"compressed file that expands over {MAX_RATIO} times: stopped", name)
                        return
            except (zlib.error, zstandard.ZstdError, OSError) as error:
                report.skip("damaged compressed file: read up to the damage", f"{name}: {error}")
                return
            rest = decoder.unused_data
            if decoder.eof:
                decoder = None
    if decoder is not None:
        if hasattr(decoder, "flush"):
            yield decoder.flush() or b""
        report.skip("truncated compressed file: read up to its end", name)


def _decompress(decoder: Any, data: bytes) -> Iterator[bytes]:
    limit = [_PIECE] if isinstance(decoder, bz2.BZ2Decompressor) else []
    yield decoder.decompress(data, *limit)
    while limit and not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", *limit)
