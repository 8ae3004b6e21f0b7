"""Addresses in bulk → keys and spelling flags.

The kernel of plain.py keys plain addresses, which are nearly all, and leaves the rest to `pages.address.parse`; what is
plain is chosen so that both give the same. The rules of `pages/rules.py` come as arrays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.kernels.addresses import plain
from cocite.pages import rules
from cocite.pages.address import parse
from cocite.pages.key import APART, INDEX_ENDINGS, UNUSABLE, key, spelling_flags

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
PYTHON_ADDRESSES = 20_000  # for so few addresses, Python takes less time than compiling the kernel


@dataclass(slots=True)
class Keyed:
    """What `key_addresses` found, one item per address; `data[offsets[i]:offsets[i + 1]]` is a key's UTF-8."""

    flags: NDArray[np.uint8]  # see pages/key.py
    data: Bytes
    offsets: Offsets  # an unusable address has an empty key
    shown: dict[int, str]  # the spellings that flags cannot give (APART)
    bad: list[tuple[int, str]]  # unusable: index and reason, one of few


def key_addresses(data: Bytes, offsets: Offsets, compiled: bool = True) -> Keyed:
    """Keys of the addresses `data[offsets[i]:offsets[i + 1]]`, UTF-8; offsets need not begin at 0.

    With `compiled` false, a kernel that isn't compiled yet isn't used.
    """
    count = len(offsets) - 1
    if count < 0 or offsets[0] < 0 or offsets[-1] > len(data) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets must rise and stay within data")
    compiled = compiled or bool(plain.key_plain.overloads)
    keys = np.empty(offsets[-1] - offsets[0] if compiled else 0, np.uint8)
    flags, ends, left = np.full(count, plain.NOT_KEYED, np.uint8), np.zeros(count + 1, np.int64), count
    keyed = Keyed(flags, keys, ends, {}, [])
    if compiled:
        fixed = np.ascontiguousarray(data).view()
        fixed.flags.writeable = False  # as of `bytes`: else the kernel would be compiled twice
        found = plain.PlainKeys(keys, ends, flags)
        offsets = np.require(offsets, np.int64, ["C", "W"])
        left = plain.key_plain(fixed, offsets, rule_tables(), np.empty(66, np.uintp), found)
    keyed.data = keys[: ends[-1]]
    for i, text in _texts(data, offsets, np.flatnonzero(keyed.flags == APART)):  # only escapes and case were changed
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


def _key_others(data: Bytes, offsets: Offsets, keyed: Keyed) -> None:
    """Key the addresses that the kernel left, and put their keys where they belong."""
    left = np.flatnonzero(keyed.flags == plain.NOT_KEYED)
    others = [_key_one(text) for _, text in _texts(data, offsets, left)]
    before, keys, at = keyed.offsets[left].tolist(), keyed.data.tobytes(), 0
    parts, sizes = list[bytes](), np.diff(keyed.offsets)
    for i, end, (key_bytes, flags, note) in zip(left.tolist(), before, others, strict=True):
        parts += keys[at:end], key_bytes
        at, sizes[i] = end, len(key_bytes)
        keyed.flags[i] = flags
        if flags == UNUSABLE:
            keyed.bad.append((i, note))
        elif flags == APART:
            keyed.shown[i] = note
    keyed.data = np.frombuffer(b"".join([*parts, keys[at:]]), np.uint8)
    np.cumsum(sizes, out=keyed.offsets[1:])


@lru_cache(maxsize=1 << 16)
def _key_one(text: bytes) -> tuple[bytes, int, str]:
    """Key, flags and, where they need one, the spelling or the reason; cached, since links repeat."""
    try:
        page = parse(text.decode())
    except BadAddress as problem:
        return b"", UNUSABLE, str(problem).partition(": ")[0]
    except UnicodeDecodeError:
        return b"", UNUSABLE, "not UTF-8"
    key_bytes, flags = key(page.canonical).encode(), spelling_flags(page.canonical, page.shown)
    return (key_bytes, APART, page.shown) if flags is None else (key_bytes, flags, "")


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
            | plain.UNESCAPED * (character in rules.UNRESERVED)
            | plain.IS_DOT * (character == ".")
        )
    names = {_hash(name): 1 for name in rules.SUSPECT}
    heads = {_hash(prefix[: plain.HEAD_BYTES]) ^ int(plain.HEAD_MARK): 1 for prefix in (*rules.PREFIXES, "amp;")}
    hosts = {_hash(host): plain.ONLY_SOME if only else count for host, (count, only) in rules.CASELESS.items()}
    endings = np.zeros((len(INDEX_ENDINGS), max(map(len, INDEX_ENDINGS))), np.uint8)
    for row, ending in zip(endings, INDEX_ENDINGS, strict=True):
        row[: len(ending)] = list(ending.encode())
        row[0] = len(ending)
    return plain.AddressRules(classes, _hash_table(names | heads), _hash_table(hosts), endings)


def _hash(name: str) -> int:
    factor, mask = int(plain.HASH_FACTOR), 0xFFFFFFFFFFFFFFFF
    return reduce(lambda state, byte: (state ^ byte) * factor & mask, name.encode(), int(plain.HASH_START))


def _hash_table(notes: dict[int, int]) -> NDArray[np.uint64]:
    """Open addressing, at most a quarter full."""
    size = 1 << max(4, (4 * len(notes)).bit_length())
    table = np.zeros((size, 2), np.uint64)
    for value, note in notes.items():
        slot = (value >> 32) % size
        while table[slot, 0]:
            slot = (slot + 1) % size
        table[slot] = value, note
    return table
