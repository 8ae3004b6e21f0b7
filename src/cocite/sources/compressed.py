"""Open files as byte streams of bounded memory: plain, or compressed with gzip, Zstandard or bzip2.

The first bytes of a file decide, not its name. Of a damaged file the part before the damage is read, and the damage is
counted. Decompression stops where a file expands beyond all proportion. The bytes read from disk are added to
`report.read["bytes"]`, for progress bars.
"""

from __future__ import annotations

import bz2
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from cocite.errors import BadSource
from cocite.sources.records import ReadReport

HEAD_BYTES = 64 << 10
MAX_LINE = 128 << 20
"""Bytes of a line. A page record with a million links takes about 100 MB of JSON."""
MAX_RATIO = 1000
FREE_OUTPUT = 1 << 30
"""Bytes of output before `MAX_RATIO` applies. 1 GiB of zeros is harmless where memory is bounded."""

_READ = 256 << 10
_FEED = 1 << 10
"""Bytes fed to a decoder at a time. They become at most 1 MiB (gzip) or 32 MiB (Zstandard, 128 KiB for every 4 bytes),
and damage costs no more than one feed. Feeds of 16 KiB were not faster."""
_PIECE = 8 << 20
_UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\xfd7zXZ": "an xz file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}


def open_bytes(path: Path | IO[bytes], report: ReadReport | None = None) -> IO[bytes]:
    """Open the decompressed content of a file, or of an open binary stream such as standard input.

    Damage ends the stream and is counted in the report. Without a report it raises BadSource.
    """
    raw, name = _open_raw(path)
    try:
        first = raw.peek(8)
    except OSError as error:
        raise BadSource(f"Cannot read {name}: {error.strerror}; copy it to a file first") from error
    for magic, what in _UNSUPPORTED.items():
        if first.startswith(magic):
            raw.close()
            raise BadSource(f"{name} is {what}: unpack it, and give the files inside")
    new_decoder = _decoder_for(first)
    pieces = _inflated(raw, new_decoder, name, report) if new_decoder else _counted(raw, name, report)
    release = raw.close if isinstance(path, Path) else raw.detach if raw is not path else None
    return io.BufferedReader(_Stream(pieces, release), 1 << 20)


def open_lines(path: Path | IO[bytes], report: ReadReport, max_line: int = MAX_LINE) -> Iterator[bytes]:
    """Yield the lines of a file without their line ends. Lines longer than `max_line` bytes are counted and skipped."""
    with open_bytes(path, report) as stream:
        while line := stream.readline(max_line + 1):
            if len(line) > max_line and not line.endswith(b"\n"):
                start = line[:100].decode("utf-8", "replace")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(1 << 20)
                report.skip(f"line longer than {max_line >> 20} MiB", start)
                continue
            yield line.rstrip(b"\r\n")


def head(path: Path) -> bytes:
    """Return the first 64 KiB of a file's decompressed content, or less where the file is shorter or damaged."""
    with open_bytes(path, ReadReport()) as stream:
        return stream.read(HEAD_BYTES)


def _open_raw(path: Path | IO[bytes]) -> tuple[io.BufferedReader, str]:
    if not isinstance(path, Path):
        raw = path if isinstance(path, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, path))
        return cast(io.BufferedReader, raw), str(getattr(path, "name", "the stream"))
    try:
        return path.open("rb"), path.name
    except OSError as error:
        raise BadSource(f"Cannot read {path}: {error.strerror}; check the path and its permissions") from error


def _decoder_for(first: bytes) -> Callable[[], Any] | None:
    """Return what makes a decoder for a file that begins with these bytes, or None if it is not compressed."""
    if first.startswith(b"\x1f\x8b"):
        return lambda: zlib.decompressobj(31)
    is_skippable_frame = len(first) >= 4 and first[1:4] == b"\x2a\x4d\x18" and first[0] & 0xF0 == 0x50
    if first.startswith(b"\x28\xb5\x2f\xfd") or is_skippable_frame:
        return lambda: zstandard.ZstdDecompressor().decompressobj()
    return bz2.BZ2Decompressor if first.startswith(b"BZh") else None


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


def _counted(raw: IO[bytes], name: str, report: ReadReport | None) -> Generator[bytes, None, None]:
    while True:
        try:
            piece = raw.read(_READ)
        except OSError as error:
            raise BadSource(f"Cannot read all of {name}: {error.strerror}; copy it to another disk") from error
        if not piece:
            return
        if report is not None:
            report.read["bytes"] += len(piece)
        yield piece


def _inflated(
    raw: IO[bytes], new_decoder: Callable[[], Any], name: str, report: ReadReport | None
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
                        _count_damage(report, f"compressed file that expands over {MAX_RATIO} times: stopped", name)
                        return
            except (zlib.error, zstandard.ZstdError, OSError) as error:
                _count_damage(report, "damaged compressed file: read up to the damage", f"{name}: {error}")
                return
            rest = decoder.unused_data
            if decoder.eof:
                decoder = None
    if decoder is not None:
        if hasattr(decoder, "flush"):
            yield decoder.flush() or b""
        _count_damage(report, "truncated compressed file: read up to its end", name)


def _decompress(decoder: Any, data: bytes) -> Iterator[bytes]:
    if not isinstance(decoder, bz2.BZ2Decompressor):
        yield decoder.decompress(data)
        return
    yield decoder.decompress(data, _PIECE)
    while not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", _PIECE)


def _count_damage(report: ReadReport | None, reason: str, example: str) -> None:
    if report is None:
        raise BadSource(f"{reason}: {example}")
    report.skip(reason, example)
