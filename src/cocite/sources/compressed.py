"""Files as bounded byte streams, plain or compressed (gzip, Zstandard, bzip2), told apart by their first bytes.

A file cut in the middle gives what it has and is counted; one that expands beyond all measure is stopped and counted.
Readers pass their `ReadReport`; the bytes read from disk are added to `report.read["bytes"]`, which is what progress
bars watch.
"""

from __future__ import annotations

import bz2
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

from cocite.errors import BadSource
from cocite.sources.records import ReadReport

HEAD = 64 << 10
MAX_LINE = 128 << 20
"""A page record with a million links takes about 100 MB of JSON; what is longer is no record."""

MAX_RATIO = 1000
FREE_OUTPUT = 1 << 30
"""Up to this much output any ratio is allowed: 1 GiB of zeros is harmless where memory is bounded."""

_READ = 256 << 10
_FEED = 1 << 10
"""Decoders are fed this much at a time: the most that one feed can become is then 1 MiB (gzip) or 32 MiB (Zstandard,
128 KiB for every 4 bytes), and damage costs no more than one feed. Feeds of 16 KiB were not faster."""
_PIECE = 8 << 20

_ZSTD = b"\x28\xb5\x2f\xfd"
_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\xfd7zXZ": "an xz file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}


def open_bytes(path: Path | IO[bytes], report: ReadReport | None = None) -> IO[bytes]:
    """The decompressed content of a file (or of an open binary stream, such as standard input).

    Damage ends the stream and is counted in the report; without a report it raises `BadSource`.
    """
    raw, name = _open_raw(path)
    try:
        first = raw.peek(8)
    except OSError as error:
        raise BadSource(f"cannot read {name}: {error.strerror}; copy it to a file first") from error
    for magic, what in _OTHERS.items():
        if first.startswith(magic):
            raw.close()
            raise BadSource(f"{name} is {what}: unpack it first and give what is inside")
    codec = _codec(first)
    pieces = _inflated(raw, codec, name, report) if codec else _counted(raw, name, report)
    release = raw.close if isinstance(path, Path) else raw.detach if raw is not path else None
    return io.BufferedReader(_Stream(pieces, release), 1 << 20)


def open_lines(path: Path | IO[bytes], report: ReadReport, max_line: int = MAX_LINE) -> Iterator[bytes]:
    """The lines of a file without their line ends; a line longer than `max_line` bytes is counted and left out."""
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
    """The first 64 KiB of a file's decompressed content, or less where the file is shorter or damaged."""
    with open_bytes(path, ReadReport()) as stream:
        return stream.read(HEAD)


def _open_raw(path: Path | IO[bytes]) -> tuple[io.BufferedReader, str]:
    if not isinstance(path, Path):
        raw = path if isinstance(path, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, path))
        return cast(io.BufferedReader, raw), str(getattr(path, "name", "the stream"))
    try:
        return path.open("rb"), path.name
    except OSError as error:
        raise BadSource(f"cannot read {path}: {error.strerror}; check the path and its permissions") from error


def _codec(first: bytes) -> str | None:
    if first.startswith(b"\x1f\x8b"):
        return "gzip"
    skippable = len(first) >= 4 and first[1:4] == b"\x2a\x4d\x18" and first[0] & 0xF0 == 0x50
    if first.startswith(_ZSTD) or skippable:
        return "zstd"
    return "bzip2" if first.startswith(b"BZh") else None


class _Stream(io.RawIOBase):
    """A generator of byte pieces as a raw stream."""

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
            raise BadSource(f"cannot go on reading {name}: {error.strerror}; copy the file to a sound disk") from error
        if not piece:
            return
        if report is not None:
            report.read["bytes"] += len(piece)
        yield piece


def _inflated(raw: IO[bytes], codec: str, name: str, report: ReadReport | None) -> Generator[bytes, None, None]:
    produced = consumed = 0
    decoder: _Decoder | None = None
    for feed in _feeds(raw, name, report):
        consumed += len(feed)
        rest = feed
        # Members, frames and streams may follow each other; some writers pad the last with zeros.
        while rest := (rest if decoder else rest.lstrip(b"\0")):
            decoder = decoder or _Decoder(codec)
            try:
                for output in decoder.feed(rest):
                    produced += len(output)
                    yield output
                    if produced > FREE_OUTPUT and produced > MAX_RATIO * consumed:
                        _complain(report, f"compressed file that expands over {MAX_RATIO} times: cut off", name)
                        return
            except (zlib.error, zstandard.ZstdError, OSError) as error:
                _complain(report, "damaged compressed file: read up to the damage", f"{name}: {error}")
                return
            rest = decoder.rest
            if decoder.ended:
                decoder = None
    if decoder is not None:
        yield from decoder.last()
        _complain(report, "compressed file cut short: read up to the cut", name)


def _feeds(raw: IO[bytes], name: str, report: ReadReport | None) -> Iterator[bytes]:
    for piece in _counted(raw, name, report):
        for start in range(0, len(piece), _FEED):
            yield piece[start : start + _FEED]


class _Decoder:
    """One member (gzip), frame (Zstandard) or stream (bzip2); `rest` is what follows its end."""

    def __init__(self, codec: str) -> None:
        self._codec = codec
        self.rest = b""
        self.ended = False
        self._zlib = zlib.decompressobj(31) if codec == "gzip" else None
        self._zstd = zstandard.ZstdDecompressor().decompressobj() if codec == "zstd" else None
        self._bz2 = bz2.BZ2Decompressor() if codec == "bzip2" else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        decoder = self._zlib or self._zstd
        if decoder is not None:
            yield decoder.decompress(data)
            self.ended, self.rest = decoder.eof, decoder.unused_data
            return
        assert self._bz2 is not None
        yield self._bz2.decompress(data, _PIECE)
        while not self._bz2.eof and not self._bz2.needs_input:
            yield self._bz2.decompress(b"", _PIECE)
        self.ended, self.rest = self._bz2.eof, self._bz2.unused_data

    def last(self) -> Iterator[bytes]:
        """What a member that was cut short still holds back."""
        if self._zlib is not None:
            yield self._zlib.flush()


def _complain(report: ReadReport | None, reason: str, example: str) -> None:
    if report is None:
        raise BadSource(f"{reason}: {example}")
    report.skip(reason, example)
