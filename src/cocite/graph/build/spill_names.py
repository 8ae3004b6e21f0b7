"""Addresses → fingerprints, and the files of names that a build sorts: a part of its first pass.

The text of an address is looked at once. Its key goes to a file of names the first time (more or less) that it is met.
"""

from __future__ import annotations

import re
import threading

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.build.columns import text_buffers
from cocite.graph.build.scratch import Scratch
from cocite.kernels.addresses.canonical import Keyed, key_addresses
from cocite.kernels.addresses.hashing import copy_chosen
from cocite.kernels.hash_tables import mark_unseen
from cocite.pages.key import APART, BARE, HTTP
from cocite.sources.records import ReadReport

CHUNK_ADDRESSES = 1 << 21
"""Addresses that are keyed at once."""
MAX_DICTIONARIES = 4
QUOTED = re.compile(r"""(['"]).*?\1""")
NAMES = pa.schema([("key", pa.binary()), ("order", pa.uint16()), ("fingerprint", pa.uint64()), ("shown", pa.string())])


class Dictionary:
    """A dictionary of addresses that batches of one source share."""

    def __init__(self, name: str, addresses: pa.Array, own: bool) -> None:
        self.name = name
        self.addresses = addresses
        self.own = own
        self.fingerprint = np.zeros(len(addresses), np.uint64)
        self.used = np.zeros(len(addresses), np.bool_)


class NameFiles:
    """The names of one build in its work folder. `key` may be called by several threads."""

    def __init__(self, scratch: Scratch, report: ReadReport, removed: NDArray[np.uint64], memory: int) -> None:
        self.report = report
        self.removed = removed
        self._scratch = scratch
        self._seen = np.zeros(1 << max(10, (memory >> 3).bit_length() - 1), np.uint64)
        self._lock = threading.Lock()
        self._dictionaries: dict[tuple[int, ...], Dictionary] = {}
        self._dictionary_lock = threading.Lock()

    def finish(self) -> None:
        """No more addresses will come: enter the names of shared dictionaries, and free what only reading needs."""
        for shared in self._dictionaries.values():
            self._enter_dictionary(shared)
        self._seen = np.zeros(1, np.uint64)
        self._dictionaries = {}

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        """Report something that cannot be used."""
        with self._lock:
            self.report.skip(reason, example, count)

    def key(self, name: str, urls: pa.Array, own: bool) -> NDArray[np.uint64]:
        """Fingerprints of addresses; names that are new go to the file of names."""
        if pa.types.is_dictionary(urls.type):
            return self._key_dictionary(name, urls, own)
        fingerprints = np.zeros(len(urls), np.uint64)
        for start in range(0, len(urls), CHUNK_ADDRESSES):
            part = urls.slice(start, CHUNK_ADDRESSES)
            data, offsets = text_buffers(part)
            keyed = key_addresses(data, offsets)
            keyed.fingerprint = self._usable(keyed, part)
            self._enter(f"{name}-{start}", keyed, own)
            fingerprints[start : start + len(part)] = keyed.fingerprint
        return fingerprints

    def _key_dictionary(self, name: str, urls: pa.Array, own: bool) -> NDArray[np.uint64]:
        """As `key`, each distinct address once: a dictionary that batches share is keyed with the first of them.

        Its names are entered in the end, and only those that were used: a graph's vertices may stand alone.
        """
        dictionary, indices = urls.dictionary, urls.indices
        valid = indices.is_valid().to_numpy(zero_copy_only=False)
        places = indices.drop_null().to_numpy(zero_copy_only=False)
        identity = (len(dictionary), dictionary.offset, *(buffer.address for buffer in dictionary.buffers() if buffer))
        with self._dictionary_lock:
            shared = self._dictionaries.get(identity)
            if shared is None:
                shared = self._dictionaries[identity] = Dictionary(name, dictionary, own)
                for start in range(0, len(dictionary), CHUNK_ADDRESSES):
                    part = dictionary.slice(start, CHUNK_ADDRESSES)
                    shared.fingerprint[start : start + CHUNK_ADDRESSES] = self._usable(
                        key_addresses(*text_buffers(part)), part
                    )
            shared.used[places] = True  # before another thread can have its names entered
            if len(self._dictionaries) > MAX_DICTIONARIES:
                self._enter_dictionary(self._dictionaries.pop(next(iter(self._dictionaries))))
        fingerprints = np.zeros(len(indices), np.uint64)
        fingerprints[valid] = shared.fingerprint[places]
        return fingerprints

    def _enter_dictionary(self, shared: Dictionary) -> None:
        """Enter the names of a dictionary that were used."""
        for start in range(0, len(shared.addresses), CHUNK_ADDRESSES):
            keyed = key_addresses(*text_buffers(shared.addresses.slice(start, CHUNK_ADDRESSES)))
            used = shared.used[start : start + CHUNK_ADDRESSES] & (
                shared.fingerprint[start : start + CHUNK_ADDRESSES] != 0
            )
            keyed.fingerprint = np.where(used, keyed.fingerprint, np.uint64(0))
            self._enter(f"{shared.name}-dictionary-{start}", keyed, shared.own)

    def _usable(self, keyed: Keyed, urls: pa.Array) -> NDArray[np.uint64]:
        """Fingerprints, 0 for addresses that are no pages (they are reported) and for removed pages."""
        for index, message in keyed.bad:
            # Counted by kind: neither what to do about it nor the address itself.
            reason = QUOTED.sub("…", message.rpartition(": ")[0] or message)
            self.skip(reason, str(urls[index].as_py() or "")[:200])
        fingerprints = keyed.fingerprint
        if len(self.removed):
            gone = np.isin(fingerprints, self.removed)
            if gone.any():
                with self._lock:  # as the user wants it: no fault of the source
                    self.report.read["addresses of pages removed from this store"] += int(gone.sum())
                fingerprints = np.where(gone, np.uint64(0), fingerprints)
        return fingerprints

    def _enter(self, name: str, keyed: Keyed, own: bool) -> None:
        """Write names that are new to the file of names."""
        fingerprints = keyed.fingerprint
        orders = spelling_orders(keyed.flags, own)
        fresh = np.zeros(len(fingerprints), np.bool_)
        count = mark_unseen(fingerprints, orders, self._seen, fresh)
        for index in keyed.shown:
            if fingerprints[index] and not fresh[index]:
                fresh[index] = True
                count += 1
        if count:
            sizes = np.diff(keyed.offsets)[fresh]
            data, offsets = np.empty(int(sizes.sum()), np.uint8), np.empty(count + 1, np.int64)
            copy_chosen(keyed.data, keyed.offsets, fresh, data, offsets)
            shown = (
                [keyed.shown.get(int(i)) for i in np.flatnonzero(fresh)]
                if keyed.shown
                else pa.nulls(count, pa.string())
            )
            self.put(name, data, offsets, orders[fresh], fingerprints[fresh], shown)

    def put(
        self,
        name: str,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        orders: NDArray[np.uint16],
        fingerprints: NDArray[np.uint64],
        shown: list[str | None] | pa.Array,
    ) -> None:
        """Write keys to a file of names."""
        keys = pa.Array.from_buffers(
            pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        ).cast(pa.binary())
        shown = shown if isinstance(shown, pa.Array) else pa.array(shown, pa.string())
        table = pa.Table.from_arrays([keys, pa.array(orders), pa.array(fingerprints), shown], schema=NAMES)
        self._scratch.save_table(f"{name}.names", table)


def spelling_orders(flags: NDArray[np.uint8], own: bool) -> NDArray[np.uint16]:
    """Which spelling of a page to show: its own record's, then one that needs no text, then https."""
    wide = flags.astype(np.uint16)
    rank = ((wide & APART) >> 7 << 14) | ((wide & HTTP) << 13) | ((wide & BARE) >> 3 << 12)
    return (rank | wide | (0 if own else 1 << 15)).astype(np.uint16)
