"""Streams: every compression, damage, bombs, long lines."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources import compressed
from cocite.sources.compressed import head, open_bytes, open_lines, read_start
from cocite.sources.records import ReadReport

PACK = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "bzip2": bz2.compress,
}
TEXT = b"".join(b"line %d of a text that is long enough to be worth packing\n" % i for i in range(20_000))


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
def test_compression_is_detected_by_first_bytes(tmp_path: Path, pack) -> None:
    path = tmp_path / "misnamed.txt"
    path.write_bytes(pack(TEXT))
    report = ReadReport()
    with open_bytes(path, report) as stream:
        assert stream.read() == TEXT
    assert report.read["bytes"] == path.stat().st_size
    assert not report.skipped
    assert head(path) == TEXT[: 64 << 10]


@pytest.mark.parametrize("pack", list(PACK.values())[1:], ids=list(PACK.keys())[1:])
def test_members_that_follow_each_other_are_one_stream(tmp_path: Path, pack) -> None:
    path = tmp_path / "x"
    path.write_bytes(pack(b"one ") + pack(b"") + pack(b"two") + b"\0" * 3000)
    report = ReadReport()
    with open_bytes(path, report) as stream:
        assert stream.read() == b"one two"
    assert not report.skipped


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_a_truncated_file_is_read_up_to_its_end(tmp_path: Path, pack) -> None:
    whole = pack(TEXT)
    path = tmp_path / "cut"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    report = ReadReport()
    with open_bytes(path, report) as stream:
        got = stream.read()
    assert TEXT.startswith(got)
    assert len(got) > len(TEXT) // 3
    assert report.skipped == {"truncated compressed file: read up to its end": 1}
    with pytest.raises(BadSource, match="truncated"), open_bytes(path, ReadReport(strict=True)) as stream:
        stream.read()
    assert head(path) == TEXT[: 64 << 10]


def test_damage_is_counted(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(TEXT, mtime=0))
    whole[-6] ^= 1  # the checksum
    path = tmp_path / "x.gz"
    path.write_bytes(whole)
    report = ReadReport()
    lines = list(open_lines(path, report))
    assert len(lines) >= 19_000  # at most one feed is lost
    assert report.skipped == {"damaged compressed file: read up to the damage": 1}
    path.write_bytes(gzip.compress(b"whole\n") + b"garbage")
    report = ReadReport()
    assert list(open_lines(path, report)) == [b"whole"]
    assert sum(report.skipped.values()) == 1


@pytest.mark.parametrize("pack", list(PACK.values())[1:], ids=list(PACK.keys())[1:])
def test_a_bomb_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack) -> None:
    monkeypatch.setattr(compressed, "FREE_OUTPUT", 4 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(pack(b"a line\n" + bytes(48 << 20)))
    report = ReadReport()
    with open_bytes(path, report) as stream:
        read = sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b""))
    assert 4 << 20 < read < 48 << 20
    assert report.skipped == {"compressed file that expands over 1000 times: stopped": 1}
    with pytest.raises(BadSource, match="expands over"):
        list(open_lines(path, ReadReport(strict=True)))


def test_long_lines_are_counted_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one\r\n" + b"x" * 5000 + b"\nexactly10!\n\n" + b"y" * 11)
    report = ReadReport()
    assert list(open_lines(path, report, max_line=10)) == [b"one", b"exactly10!", b""]
    assert report.skipped == {"line longer than 0 MiB": 2}


def test_an_open_stream_is_read_and_left_open() -> None:
    stream = io.BytesIO(gzip.compress(b"a\nb"))
    assert list(open_lines(stream, ReadReport())) == [b"a", b"b"]
    assert not stream.closed


@pytest.mark.parametrize(
    ("start", "what"), [(b"PK\x03\x04", "zip"), (b"PK\x05\x06", "empty zip"), (b"\xfd7zXZ\0", "xz"), (b"Rar!", "RAR")]
)
def test_archives_are_refused_with_advice(tmp_path: Path, start: bytes, what: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(start + bytes(100))
    with pytest.raises(BadSource, match=f"{what}.*unpack it, and"):
        open_bytes(path, ReadReport())


def test_a_file_that_cannot_be_opened_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="No such file"):
        open_bytes(tmp_path / "none", ReadReport())
    with pytest.raises(BadSource, match="Is a directory"):
        open_bytes(tmp_path, ReadReport())


@given(data=st.binary(max_size=3000), codec=st.sampled_from(["gzip", "zstd", "bzip2"]), flip=st.integers(0, 10**6))
def test_damage_raises_only_documented_errors(tmp_path_factory, data: bytes, codec: str, flip: int) -> None:
    packed = bytearray(PACK[codec](data))
    packed[flip % len(packed)] ^= 1 << (flip % 8)
    with open_bytes(io.BytesIO(bytes(packed)), ReadReport()) if _readable(packed) else io.BytesIO() as stream:
        stream.read()


def _readable(packed: bytearray) -> bool:
    return not packed.startswith((b"PK", b"Rar!", b"7z", b"\xfd7z", b"\x04\x22"))


@pytest.mark.parametrize("size", [0, 3, 4, 5, 99, 100, 101, 300])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"])
def test_a_whole_file_is_what_a_stream_has(tmp_path: Path, pack: Callable[[bytes], bytes], size: int) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(pack(bytes(range(1, 256)) * 2)[:size] if pack is bytes else pack(b"x" * size))
    whole, stream = ReadReport(), ReadReport()
    for maximum in (100, 1 << 20):
        with open_bytes(file, stream) as opened:
            assert read_start(file, whole, maximum) == opened.read(maximum)
        if maximum > size:
            assert whole.read == stream.read
    with pytest.raises(BadSource, match="Cannot read"):
        read_start(tmp_path / "none", whole, 100)
    file.write_bytes(b"PK\x03\x04 archive")
    with pytest.raises(BadSource, match="zip archive"):
        read_start(file, whole, 100)
