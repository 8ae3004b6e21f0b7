"""The compiled loop gives exactly what `pages.address.parse` gives, wherever it does an address itself."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.kernels.addresses import plain as plain_addresses
from cocite.kernels.addresses.canonical import Keyed, key_addresses
from cocite.kernels.addresses.hashes import fingerprint_of
from cocite.pages.address import parse
from cocite.pages.key import APART, UNUSABLE, key, shown, spelling_flags
from tests.pages.spellings import addresses, sample

SHARED = Path(__file__).parents[3] / "shared"


def keyed(texts: Sequence[bytes], before: bytes = b"") -> Keyed:
    offsets = np.cumsum([len(before), *(len(text) for text in texts)], dtype=np.int64)
    data = np.frombuffer(before + b"".join(texts), np.uint8)
    found = key_addresses(data, offsets)
    if len(texts) < 1000:
        same_without_compilation(found, key_in_python(data, offsets))
    return found


def key_in_python(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Keyed:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_addresses, "key_plain", SimpleNamespace(overloads={}))
        return key_addresses(data, offsets, compiled=False)


def same_without_compilation(one: Keyed, other: Keyed) -> None:
    for field in ("flags", "data", "offsets"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert (one.shown, one.bad) == (other.shown, other.bad)


def check(texts: Sequence[str], found: Keyed) -> None:
    """Every item is what the slow way gives."""
    bad = dict(found.bad)
    for i, text in enumerate(texts):
        got = found.data[found.offsets[i] : found.offsets[i + 1]].tobytes()
        try:
            page = parse(text)
        except BadAddress as problem:
            assert (got, found.flags[i], bad.pop(i)) == (b"", UNUSABLE, str(problem).partition(": ")[0])
            continue
        expected = key(page.canonical).encode()
        assert got == expected, text
        flags = spelling_flags(*page)
        assert found.flags[i] == (APART if flags is None else flags), text
        assert found.shown.get(i, shown(page.canonical, int(found.flags[i]))) == page.shown, text
        assert (found.flags[i] == APART) == (i in found.shown)
    assert not bad
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.data)


@given(st.lists(addresses().filter(lambda text: "\ud800" not in text), min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_equals_the_slow_way(texts: list[str]) -> None:
    check(texts, keyed([text.encode() for text in texts], before=b"https://example.org/"))


def test_equals_the_slow_way_for_many() -> None:
    texts = [text for text in sample(20_000, seed=1) if "\ud800" not in text]
    found = keyed([text.encode() for text in texts])
    check(texts, found)
    assert len(found.bad) < len(texts) / 2


PLAIN = "abcZ09-._~/!$&'()*+,;=:@?#%[]"


@given(
    st.sampled_from(["https://", "http://", "host:", "name:"]),
    st.from_regex(r"\A(www\.)?[a-z0-9-]{1,9}(\.[a-z0-9-]{1,9}){1,3}\Z"),
    st.text(PLAIN, max_size=24),
)
@settings(max_examples=250, deadline=None)
def test_equals_the_slow_way_for_nearly_plain_addresses(scheme: str, host: str, rest: str) -> None:
    texts = [scheme + host + mark + rest for mark in "/?#"]
    check(texts, keyed([text.encode() for text in texts]))


def test_worked_examples() -> None:
    texts = [
        b"https://www.nytimes.com/",
        b"name:42",
        b"mailto:a@b",
        b"http://github.com/A/P?q=%c3#x",
        b"host:a.org",
    ]
    found = keyed(texts)
    assert found.data.tobytes() == b'com,nytimes)\x03"42com,github)\x03a\x03p\x02q=%C3org,a)'
    assert found.offsets.tolist() == [0, 12, 16, 16, 37, 43]
    assert found.flags.tolist() == [6, 8, 255, 128, 8]
    assert found.shown == {3: "http://github.com/A/P?q=%c3"}
    assert found.bad == [(2, "mailto address, not a web page")]


def test_nothing() -> None:
    found = keyed([])
    assert found.data.size == found.flags.size == 0 and found.offsets.tolist() == [0]
    found = keyed([b"", b""])
    assert found.flags.tolist() == [UNUSABLE] * 2


def test_it_is_compiled_once() -> None:
    data, offsets = np.frombuffer(b"https://a.org/", np.uint8), np.array([0, 14])
    before = len(plain_addresses.key_plain.signatures)
    for given_data in (data, data.copy()):
        for given_offsets in (offsets, np.frombuffer(offsets.tobytes(), np.int64)):
            assert key_addresses(given_data, given_offsets).data.tobytes() == b"org,a)"
    assert len(plain_addresses.key_plain.signatures) == before == 1


def test_strange_bytes() -> None:
    names = [b"name:\xc3\xa9", b"name:\xc3", b"name:", b"name:" + b"1" * 5000, b"name"]
    webs = [b"https://example.org/\xff", b"https://", b"http", b"https:", b"host:", b"host:.", b"h" * 8, b"\xff\xfe"]
    found = keyed([*names, *webs, b"https://example.org/" + b"a" * 100_000, b"https://a.b/%", b"https://x."])
    assert np.flatnonzero(found.flags != UNUSABLE).tolist() == [0, 14, 15]
    assert found.data.tobytes() == "\x04é".encode() + b"b,a)\x03%" + b"x)"
    assert dict(found.bad)[1] == "not UTF-8"


@pytest.mark.parametrize(
    "text", ["host:www.a.b", "https://www.a.b", "https://www.www.a", "http://a.b", "host:a.b", "https://a.b?c"]
)
def test_nothing_is_read_behind_the_end(text: str) -> None:
    """With NUMBA_BOUNDSCHECK=1 reading one byte too many would raise."""
    check([text], keyed([text.encode()]))


@pytest.mark.parametrize("offsets", [[0, 5, 4], [0, 99], [-1, 3], []])
def test_wrong_offsets(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets"):
        key_addresses(np.zeros(10, np.uint8), np.array(offsets, np.int64))


@given(addresses())
@settings(max_examples=300, deadline=None)
def test_one_address(text: str) -> None:
    try:
        expected = key(parse(text).canonical).encode()
    except BadAddress:
        return
    assert fingerprint_of(expected) == xxhash.xxh64_intdigest(expected, 42)


def test_real_addresses() -> None:
    """Of the links of the awesome lists, 99 of 100 are plain; all are keyed as the slow way keys them."""
    file = SHARED / "data/awesome/pages.jsonl.gz"
    if not file.exists():
        pytest.skip("no shared data beside the checkout")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        texts = [link["url"] for line in lines for link in json.loads(line)["links"]]
    texts = sorted(set(texts))[::20]
    check(texts, keyed([text.encode() for text in texts]))
