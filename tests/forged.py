"""Addresses whose XXH64 is that of any chosen address: what an attacker can make in a fraction of a second.

XXH64 isn't a cryptographic hash. Its last step can be undone, so eight bytes at the end of a key can give any hash. Of
some 100,000 beginnings, one needs eight bytes that are letters and digits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xxhash
from numpy.typing import NDArray

from cocite.pages.address import canonical
from cocite.pages.key import from_key, key

SEED, MASK = 42, (1 << 64) - 1
P1, P2, P3, P4 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63
INVERSE_1, INVERSE_2, INVERSE_3 = (pow(prime, -1, 1 << 64) for prime in (P1, P2, P3))
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8)
TRIES = 1 << 17
Numbers = NDArray[np.uint64]


def hash_of(address: str) -> int:
    """The public hash of an address."""
    return xxhash.xxh64_intdigest(key(canonical(address)).encode(), SEED)


def forged(victim: str, host: str = "evil.example") -> str:
    """An address of a host that has the public hash of another address."""
    return next(all_forged(hash_of(victim), host))


def all_forged(wanted: int, host: str = "evil.example") -> Iterator[str]:
    """Ever more addresses of a host that have one hash."""
    head = key(host).encode() + b"\x03"
    assert len(head) <= 32, "one block is hashed before the lanes"
    head += b"a" * (32 - len(head))
    random = np.random.default_rng(wanted % (1 << 32))
    while True:
        lanes = LETTERS[random.integers(0, len(LETTERS), (TRIES, 8))].view("<u8").ravel()
        ends = _last_lane(wanted, head, lanes)
        usable = np.isin(ends.view(np.uint8).reshape(-1, 8), LETTERS).all(1)
        for lane, end in zip(lanes[usable], ends[usable], strict=True):
            made = head + lane.tobytes() + end.tobytes()
            assert xxhash.xxh64_intdigest(made, SEED) == wanted
            yield "https://" + from_key(made.decode())


@np.errstate(over="ignore")
def _last_lane(wanted: int, head: bytes, lanes: Numbers) -> Numbers:
    """The last eight bytes of a key that begins with `head` and one of the lanes, for a hash."""
    total = wanted ^ wanted >> 32  # undo the avalanche
    total = total * INVERSE_3 & MASK
    total ^= total >> 29 ^ total >> 58
    total = total * INVERSE_2 & MASK
    total ^= total >> 33
    after = _rotate(np.uint64((total - P4) * INVERSE_1 & MASK), 64 - 27)
    states = [(SEED + start) & MASK for start in (P1 + P2, P2, 0, -P1)]
    blocks = [_round(np.uint64(state), word) for state, word in zip(states, np.frombuffer(head, "<u8"), strict=True)]
    before = np.uint64(
        sum(int(_rotate(state, bits)) for state, bits in zip(blocks, (1, 7, 12, 18), strict=True)) & MASK
    )
    for state in blocks:
        before = (before ^ _round(np.uint64(0), state)) * np.uint64(P1) + np.uint64(P4)
    before += np.uint64(len(head) + 16)
    before = _rotate(before ^ _round(np.uint64(0), lanes), 27) * np.uint64(P1) + np.uint64(P4)
    found: Numbers = _rotate((after ^ before) * np.uint64(INVERSE_1), 64 - 31) * np.uint64(INVERSE_2)
    return found


def _round(state: np.uint64, lane: Numbers) -> Numbers:
    found: Numbers = _rotate(state + lane * np.uint64(P2), 31) * np.uint64(P1)
    return found


def _rotate(value: Numbers, bits: int) -> Numbers:
    found: Numbers = value << np.uint64(bits) | value >> np.uint64(64 - bits)
    return found
