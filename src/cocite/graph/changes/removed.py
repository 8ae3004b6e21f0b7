"""Pages that were removed for good, without their names: `add` leaves them out.

A page is known by the BLAKE2b digest of its key, 16 bytes, which nobody can give to another page. Its fingerprint is a
public hash that costs little: only keys with a fingerprint of the list need a digest. Stores of format 1 have
fingerprints only; these are kept with a digest of zeros, and any address with such a fingerprint counts as removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.addresses.hashes import fingerprint_of, hash_keys

DIGEST_BYTES = 16
NO_DIGEST = bytes(DIGEST_BYTES)  # the digest of a page that was removed from a store of format 1
Entry = tuple[int, bytes]  # the fingerprint and the digest of a key


@dataclass(frozen=True)
class RemovedPages:
    """A list of removed pages, by fingerprint and digest."""

    entries: tuple[Entry, ...] = ()
    keys: tuple[bytes, ...] = field(default=(), compare=False)  # where they are known: of pages to remove now

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """A list in order, each page once; one whose digest is known needs no entry without."""
        known = set(entries)
        strong = {fingerprint for fingerprint, digest in known if digest != NO_DIGEST}
        return cls(tuple(sorted(each for each in known if each[1] != NO_DIGEST or each[0] not in strong)))

    @classmethod
    def of_keys(cls, keys: Iterable[bytes]) -> Self:
        """The pages with these keys."""
        keys = tuple(keys)
        return replace(cls.of((fingerprint_of(key), digest_of(key)) for key in keys), keys=keys)

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The list of a store."""
        fingerprints, digests = arrays["removed"].tolist(), arrays["removed.digest"].tobytes()
        digests = digests or NO_DIGEST * len(fingerprints)
        parts = (digests[start : start + DIGEST_BYTES] for start in range(0, len(digests), DIGEST_BYTES))
        return cls(tuple(zip(fingerprints, parts, strict=True)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The list as arrays of a store."""
        digests = b"".join(digest for _, digest in self.entries)
        return {"removed": self.fingerprints, "removed.digest": np.frombuffer(digests, np.uint8)}

    def __len__(self) -> int:
        return len(self.entries)

    def __add__(self, other: RemovedPages) -> RemovedPages:
        return RemovedPages.of((*self.entries, *other.entries))

    def __contains__(self, key: bytes) -> bool:
        return (fingerprint_of(key), digest_of(key)) in self._known

    def is_weak(self, key: bytes) -> bool:
        """Whether a key has the fingerprint of a page that is known by its fingerprint only."""
        return (fingerprint_of(key), NO_DIGEST) in self._known

    @property
    def weak(self) -> int:
        """The number of pages known by their fingerprints only."""
        return sum(digest == NO_DIGEST for _, digest in self.entries)

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """The fingerprints of all, ascending."""
        return np.array([fingerprint for fingerprint, _ in self.entries], np.uint64)

    @cached_property
    def _known(self) -> frozenset[Entry]:
        return frozenset(self.entries)

    def among(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the keys `data[offsets[i]:offsets[i + 1]]` are those of removed pages."""
        found = np.zeros(len(offsets) - 1, np.bool_)
        if self.entries:
            fingerprints = np.empty(len(found), np.uint64)
            hash_keys(data, offsets, fingerprints)
            for at in np.flatnonzero(np.isin(fingerprints, self.fingerprints)).tolist():
                digest = digest_of(data[offsets[at] : offsets[at + 1]].tobytes())
                found[at] = any((int(fingerprints[at]), each) in self._known for each in (digest, NO_DIGEST))
        return found


def digest_of(key: bytes) -> bytes:
    """The digest of a key."""
    return blake2b(key, digest_size=DIGEST_BYTES).digest()
