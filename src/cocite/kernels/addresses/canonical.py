"""Addresses in bulk → keys, fingerprints and spelling flags.

A compiled loop (`plain_addresses.py`) does plain addresses, which are nearly all, and leaves the rest to
`pages.address.parse`; what is plain is chosen so that both give the same. The rules of `pages/rules.py` come as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.kernels.addresses import plain
from cocite.kernels.addresses.xxh64 import SEED, xxh64, xxh64_in_python
from cocite.kernels.jit import kernel
from cocite.pages import rules
from cocite.pages.address import parse
from cocite.pages.key import APART, INDEX_ENDINGS, UNUSABLE, key, spelling_flags

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


@dataclass(slots=True)
class Keyed:
    """What `key_addresses` found, one item per address; `data[offsets[i]:offsets[i + 1]]` is a key's UTF-8."""

    fingerprint: NDArray[np.uint64]  # 0 where unusable
    flags: NDArray[np.uint8]  # see pages/key.py
    data: Bytes
    offsets: Offsets  # an unusable address has an empty key
    shown: dict[int, str]  # the spellings that flags cannot give (APART)
    bad: list[tuple[int, str]]  # unusable: index and reason, one of few


def key_addresses(data: Bytes, offsets: Offsets) -> Keyed:
    """Keys of the addresses `data[offsets[i]:offsets[i + 1]]`, UTF-8; offsets need not begin at 0."""
    count = len(offsets) - 1
    if count < 0 or offsets[0] < 0 or offsets[-1] > len(data) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets must rise and stay within data")
    if _few.may_take(count):
        return _key_few(data, offsets)
    data, offsets = _fixed(data), np.require(offsets, np.int64, ["C", "W"])
    keys = np.empty(offsets[-1] - offsets[0], np.uint8)
    ends = np.zeros(count + 1, np.int64)
    fingerprint = np.zeros(count, np.uint64)
    flags = np.empty(count, np.uint8)
    left = plain.key_plain(
        data, offsets, rule_tables(), np.empty(66, np.uintp), plain.PlainKeys(keys, ends, fingerprint, flags)
    )
    keyed = Keyed(fingerprint, flags, keys[: ends[-1]], ends, {}, [])
    for i, text in _texts(data, offsets, np.flatnonzero(flags == APART)):  # of which only escapes and case were changed
        keyed.shown[i] = text.decode("ascii").partition("#")[0].removeprefix("host:")
    if left:
        _key_others(data, offsets, keyed)
    return keyed


def _texts(data: Bytes, offsets: Offsets, chosen: NDArray[np.intp]) -> Iterator[tuple[int, bytes]]:
    """Some of the addresses, with their places."""
    if len(chosen):
        text = data[offsets[0] : offsets[-1]].tobytes()
        starts, stops = offsets[chosen] - offsets[0], offsets[chosen + 1] - offsets[0]
        for i, start, stop in zip(chosen.tolist(), starts.tolist(), stops.tolist(), strict=True):
            yield i, text[start:stop]


def _fixed(data: Bytes) -> Bytes:
    """A read-only view, as of `bytes`: for what may be written to the loop would be compiled again."""
    view = np.ascontiguousarray(data).view()
    view.flags.writeable = False
    return view


class _Few:
    """How many addresses Python does before the loop is worth its compilation, which takes seconds: a small web's."""

    left = 20_000

    def may_take(self, count: int) -> bool:
        """Whether Python should do these; they are taken off."""
        if plain.key_plain.overloads or count > self.left:
            return False
        self.left -= count
        return True


_few = _Few()


def _key_few(data: Bytes, offsets: Offsets) -> Keyed:
    """The same as the loop and `_key_others`, without compilation."""
    found = [_key_one(text) for _, text in _texts(data, offsets, np.arange(len(offsets) - 1))]
    ends = np.zeros(len(offsets), np.int64)
    np.cumsum([len(key_bytes) for key_bytes, _, _ in found], out=ends[1:])
    return Keyed(
        np.array([xxh64_in_python(key_bytes) if key_bytes else 0 for key_bytes, _, _ in found], np.uint64),
        np.array([flags for _, flags, _ in found], np.uint8),
        np.frombuffer(b"".join(key_bytes for key_bytes, _, _ in found), np.uint8),
        ends,
        {i: note for i, (_, flags, note) in enumerate(found) if flags == APART},
        [(i, note) for i, (_, flags, note) in enumerate(found) if flags == UNUSABLE],
    )


def _key_others(data: Bytes, offsets: Offsets, keyed: Keyed) -> None:
    """Do the addresses that the loop left, and put their keys where they belong."""
    left = np.flatnonzero(keyed.flags == plain.LEFT)
    found: list[bytes] = []
    for i, text in _texts(data, offsets, left):
        key_bytes, flags, note = _key_one(text)
        keyed.flags[i] = flags
        if flags == UNUSABLE:
            keyed.bad.append((i, note))
        elif flags == APART:
            keyed.shown[i] = note
        found.append(key_bytes)
    more = np.frombuffer(b"".join(found), np.uint8)
    more_offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(key_bytes) for key_bytes in found], out=more_offsets[1:])
    woven = np.empty(len(keyed.data) + len(more), np.uint8)
    ends = np.zeros_like(keyed.offsets)
    _weave(keyed.data, keyed.offsets, left, more, more_offsets, woven, ends, keyed.fingerprint)
    keyed.data, keyed.offsets = woven, ends


@lru_cache(maxsize=1 << 16)
def _key_one(text: bytes) -> tuple[bytes, int, str]:
    """The key, the flags and, where they need one, the spelling or the reason; kept, since links repeat."""
    try:
        page = parse(text.decode())
    except BadAddress as problem:
        return b"", UNUSABLE, str(problem).partition(": ")[0]
    except UnicodeDecodeError:
        return b"", UNUSABLE, "not UTF-8"
    flags = spelling_flags(page.canonical, page.shown)
    if flags is None:
        return key(page.canonical).encode(), APART, page.shown
    return key(page.canonical).encode(), flags, ""


def fingerprint_of(key: bytes) -> int:
    """The fingerprint of one key."""
    return int(xxh64(np.frombuffer(key, _BYTE), 0, len(key), SEED))


_BYTE = np.dtype(np.uint8)


@cache
def rule_tables() -> plain.AddressRules:
    """The rules as arrays."""
    classes = np.arange(256, dtype=np.int64)
    classes[ord("/")] = 3
    for character in map(chr, range(33, 127)):
        as_it_is = character not in rules.ENCODED + "%#;"
        classes[ord(character)] |= (
            plain.IN_HOST * (character in "abcdefghijklmnopqrstuvwxyz0123456789-_.")
            | plain.IN_PATH * (as_it_is and character not in "?.(")
            | plain.IN_QUERY * (as_it_is and character != "&")
            | plain.CAPITAL * ("A" <= character <= "Z")
            | plain.DECODED * (character in rules.UNRESERVED)
            | plain.IS_DOT * (character == ".")
        )
    names = {_hash(name): 1 for name in rules.SUSPECT}
    heads = {_hash(prefix[: plain.HEAD]) ^ int(plain.HEAD_MARK): 1 for prefix in (*rules.PREFIXES, "amp;")}
    hosts = {_hash(host): plain.ONLY_SOME if only else count for host, (count, only) in rules.CASELESS.items()}
    endings = np.zeros((len(INDEX_ENDINGS), max(map(len, INDEX_ENDINGS))), np.uint8)
    for row, ending in zip(endings, INDEX_ENDINGS, strict=True):
        row[: len(ending)] = list(ending.encode())
        row[0] = len(ending)
    return plain.AddressRules(classes, _hash_table(names | heads), _hash_table(hosts), endings)


def _hash(name: str) -> int:
    state = int(plain.HASH_START)
    for byte in name.encode():
        state = ((state ^ byte) * int(plain.HASH_FACTOR)) & 0xFFFFFFFFFFFFFFFF
    return state


def _hash_table(notes: dict[int, int]) -> NDArray[np.uint64]:
    """Open addressing, at most a quarter full."""
    size = 16
    while size < 4 * len(notes):
        size *= 2
    table = np.zeros((size, 2), np.uint64)
    for value, note in notes.items():
        slot = (value >> 32) % size
        while table[slot, 0]:
            slot = (slot + 1) % size
        table[slot] = value, note
    return table


@kernel
def _weave(data, offsets, places, more, more_offsets, out, ends, fingerprint):
    """Copy keys, taking the items at `places` from `more`, and complete the fingerprints."""
    at = 0
    following = 0
    for i in range(offsets.size - 1):
        if following < places.size and places[following] == i:
            begin = at
            for j in range(more_offsets[following], more_offsets[following + 1]):
                out[at] = more[j]
                at += 1
            following += 1
            if at > begin:
                fingerprint[i] = xxh64(out, begin, at, SEED)
        else:
            for j in range(offsets[i], offsets[i + 1]):
                out[at] = data[j]
                at += 1
        ends[i + 1] = at
