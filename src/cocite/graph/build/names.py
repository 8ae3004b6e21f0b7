"""Addresses → tags, and the files of names that a build sorts: a part of its first pass.

The text of an address is parsed the first time (more or less) that it is read; its key then goes to a file of names.
Most links lead to an address that was read lately, whose tag is known by the hash of its text.
A tag is half of a hash with a secret key, which a build draws and forgets: nobody can choose addresses of one tag.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.build.scratch import ScratchSpace
from cocite.graph.changes.removed import RemovedPages
from cocite.kernels.addresses.canonical import PYTHON_ADDRESSES, Keyed, key_addresses
from cocite.kernels.addresses.hashes import HashKey, hash_all, new_key
from cocite.kernels.addresses.recent import number_texts, recall_tags, remember_tags
from cocite.kernels.hash_tables import mark_unseen
from cocite.pages.key import APART, BARE, HTTP
from cocite.sources.records import ReadReport

CHUNK_ADDRESSES = 1 << 21  # keyed at once
MAX_DICTIONARIES = 4
WAITING_NAMES = 1 << 18  # written to one file
NAME_COLUMNS = pa.schema([("key", pa.binary()), ("order", pa.uint16()), ("tag", pa.uint64()), ("shown", pa.string())])
"""A name in one spelling: key, rank of the spelling, tag, and the text of a spelling that flags can't give."""
Tags = NDArray[np.uint64]  # 0: unusable
SPELLED = "spelled"  # spellings by day: columns, and the ending of tables of those that have a text
_QUOTED = re.compile(r"""(['"]).*?\1""")


class SharedDictionary(NamedTuple):
    """A dictionary of addresses that batches of one source share."""

    name: str
    addresses: pa.Array
    own: bool
    tag: Tags
    used: NDArray[np.bool_]


def table_of_names(memory: int) -> NDArray[np.uint64]:
    """An empty table of the names that were entered lately, of at most half of this many bytes: there are two."""
    return in_lines(1 << max(10, (memory >> 4).bit_length() - 1))


class NameFiles:
    """The names of one build in its work folder. `key` may be called by several threads."""

    def __init__(
        self,
        scratch: ScratchSpace,
        report: ReadReport,
        memory: int,
        removed: RemovedPages | None = None,
        hash_key: HashKey | None = None,
        seen: NDArray[np.uint64] | None = None,
    ) -> None:
        """With a `hash_key`, tags are the same in all parts of a job that share it.

        Parts that share `seen`, made by `table_of_names`, enter a name once.
        """
        self.removed, self.scratch, self._report = removed or RemovedPages(), scratch, report
        self._hash_key = new_key() if hash_key is None else hash_key
        self._seen = table_of_names(memory) if seen is None else seen
        self._recent = table_of_names(memory)  # tags by text
        self._lock = threading.Lock()
        self._waiting, self._waiting_names = list[pa.Table](), WAITING_NAMES
        self._dictionaries: dict[tuple[int, ...], SharedDictionary] = {}
        self._dictionary_lock = threading.Lock()
        self._addresses = 0  # keyed so far: those of a small web need no compiled kernel
        self.dated = False  # note by which day each spelling was used: a history needs it

    def finish(self) -> None:
        """Enter the names of shared dictionaries after the last address, and free what only reading needs."""
        for shared in self._dictionaries.values():
            self._enter_dictionary(shared)
        self._waiting_names = 0
        self.put("last", key=[], order=[], tag=[], shown=None)
        self._seen = self._recent = np.zeros(1, np.uint64)
        self._dictionaries = {}

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        """Report something that cannot be used."""
        with self._lock:
            self._report.skip(reason, example, count)

    def key(self, name: str, urls: pa.Array, own: bool, days: NDArray[np.uint32] | None = None) -> Tags:
        """Tags of addresses, 0 for unusable ones; names that are new go to the file of names.

        `days` are those of the captures that have these addresses, for a history.
        """
        if self.dated and pa.types.is_dictionary(urls.type):
            urls = urls.dictionary_decode()
        if pa.types.is_dictionary(urls.type):
            return self._key_dictionary(name, urls, own)
        if own or self.dated or self._addresses + len(urls) <= PYTHON_ADDRESSES:
            return self._key_texts(name, urls, own, days)
        return self._key_repeated(name, urls)

    def _key_texts(
        self,
        name: str,
        urls: pa.Array,
        own: bool,
        days: NDArray[np.uint32] | None = None,
        times: NDArray[np.int64] | None = None,
    ) -> Tags:
        """As `key`, each address by itself; `times` are how often each was read, once by default."""
        tags = np.zeros(len(urls), np.uint64)
        for start, part, keyed in self._keyed_chunks(urls):
            each = slice(start, start + len(part))
            some, checks = self._usable(keyed, part, times[each] if times is not None else None)
            self._enter(f"{name}-{start}", keyed, some, checks, own)
            if self.dated and days is not None:
                orders = spelling_orders(keyed.flags, own)
                self.note_days(f"{name}-{start}", some, orders, days[each], keyed.shown)
            tags[each] = some
        return tags

    def _key_repeated(self, name: str, urls: pa.Array) -> Tags:
        """As `key` of links: of addresses that are written alike one is keyed, and none that was keyed lately."""
        data, offsets = text_buffers(urls)
        data, numbers, firsts = as_fixed(data), np.empty(len(urls), np.uint32), np.empty(len(urls), np.uint32)
        hashes = np.empty((len(urls), 2), np.uint64)
        count = number_texts(data, offsets, self._hash_key, numbers, firsts, hashes)
        hashes, tags = hashes[:count], np.empty(count, np.uint64)
        recall_tags(hashes, self._recent, tags)
        if len(new := np.flatnonzero(tags == 0)):
            times = np.bincount(numbers, minlength=count)[new]
            found = self._key_texts(name, urls.take(pa.array(firsts[new])), False, times=times)
            remember_tags(hashes[new], found, self._recent)
            tags[new] = found
        return tags[numbers]

    def tag_keys(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Tags, Tags]:
        """The tags of keys, and their checks: both halves of a hash, 0 for an empty key."""
        tags, checks = (np.empty(len(offsets) - 1, np.uint64) for _ in range(2))
        hash_all(as_fixed(data), offsets, self._hash_key, tags, checks)
        return tags, checks

    def _keyed_chunks(self, urls: pa.Array) -> Iterator[tuple[int, pa.Array, Keyed]]:
        """Addresses with their keys, some at a time: (place of the first, addresses, keys)."""
        for start in range(0, len(urls), CHUNK_ADDRESSES):
            part = urls.slice(start, CHUNK_ADDRESSES)
            self._addresses += len(part)
            yield start, part, key_addresses(*text_buffers(part), compiled=self._addresses > PYTHON_ADDRESSES)

    def _key_dictionary(self, name: str, urls: pa.Array, own: bool) -> Tags:
        """As `key`, each distinct address once: a dictionary that batches share is keyed with the first of them.

        Its names are entered in the end, and only those that were used: a graph's vertices may have no links.
        """
        dictionary, indices = urls.dictionary, urls.indices
        places = indices.drop_null().to_numpy(zero_copy_only=False)
        identity = (len(dictionary), dictionary.offset, *(buffer.address for buffer in dictionary.buffers() if buffer))
        with self._dictionary_lock:
            shared = self._dictionaries.get(identity)
            if shared is None:
                sizes = np.zeros(len(dictionary), np.uint64), np.zeros(len(dictionary), np.bool_)
                shared = self._dictionaries[identity] = SharedDictionary(name, dictionary, own, *sizes)
                for start, part, keyed in self._keyed_chunks(dictionary):
                    shared.tag[start : start + len(part)], _ = self._usable(keyed, part)
            shared.used[places] = True  # before another thread can have its names entered
            if len(self._dictionaries) > MAX_DICTIONARIES:
                self._enter_dictionary(self._dictionaries.pop(next(iter(self._dictionaries))))
        tags = np.zeros(len(indices), np.uint64)
        tags[indices.is_valid().to_numpy(zero_copy_only=False)] = shared.tag[places]
        return tags

    def _enter_dictionary(self, shared: SharedDictionary) -> None:
        """Enter the names of a dictionary that were used."""
        for start, part, keyed in self._keyed_chunks(shared.addresses):
            some = slice(start, start + len(part))
            tags = np.where(shared.used[some], shared.tag[some], np.uint64(0))
            _, checks = self.tag_keys(keyed.data, keyed.offsets)
            self._enter(f"{shared.name}-dictionary-{start}", keyed, tags, checks, shared.own)

    def _usable(self, keyed: Keyed, urls: pa.Array, times: NDArray[np.int64] | None = None) -> tuple[Tags, Tags]:
        """Tags and checks. Tags are 0 for removed pages, and for texts that aren't addresses, which are reported."""
        times = np.ones(len(urls), np.int64) if times is None else times
        for index, message in keyed.bad:
            # Counted by kind: without the hint and without the address itself.
            reason = _QUOTED.sub("…", message.rpartition(": ")[0] or message)
            self.skip(reason, str(urls[index].as_py() or "")[:200], int(times[index]))
        tags, checks = self.tag_keys(keyed.data, keyed.offsets)
        if (gone := self.removed.among(keyed.data, keyed.offsets)).any():
            tags[gone] = 0
            with self._lock:  # as the user wants it: not a fault of the source
                self._report.read["addresses of pages removed from this store"] += int(times[gone].sum())
        return tags, checks

    def _enter(self, name: str, keyed: Keyed, tags: Tags, checks: Tags, own: bool) -> None:
        """Add names that may be new to the file of names."""
        orders = spelling_orders(keyed.flags, own)
        fresh = np.zeros(len(orders), np.bool_)
        mark_unseen(tags, checks, orders, self._seen, fresh)
        shown: list[str | None] | None = None
        if keyed.shown:
            texts = np.full(len(orders), None, object)
            for index, text in keyed.shown.items():
                texts[index] = text
                fresh[index] |= tags[index] != 0
            shown = texts[fresh].tolist()
        keys = key_array(keyed.data, keyed.offsets, fresh)
        self.put(name, key=keys, order=orders[fresh], tag=tags[fresh], shown=shown)

    def note_days(
        self, name: str, tags: Tags, orders: NDArray[np.uint16], days: NDArray[np.uint32], shown: Mapping[int, str]
    ) -> None:
        """Note the first day of each spelling of each page in a batch. `shown` has the texts of some, by place."""
        places = np.array(sorted(shown), np.int64)
        plain = tags != 0
        plain[places] = False
        order = np.lexsort((days[plain], orders[plain], tags[plain]))
        found = {"tag": tags[plain][order], "order": orders[plain][order], "day": days[plain][order]}
        same = (found["tag"][1:] == found["tag"][:-1]) & (found["order"][1:] == found["order"][:-1])
        first = np.append(True, ~same)[: len(order)]
        with self._lock:
            self.scratch.append({f"{SPELLED}.{column}": values[first] for column, values in found.items()})
        if len(places := places[tags[places] != 0]):
            texts = [shown[place] for place in places.tolist()]
            columns = {"tag": tags[places], "order": orders[places], "day": days[places], "shown": texts}
            self.scratch.save_table(f"{name}.{SPELLED}", pa.table(columns))

    def put(self, name: str, **columns: Any) -> None:
        """Write names, the columns of NAME_COLUMNS, to a file; `shown` may be None: no name has a text.

        While addresses are read, names wait until there are many: a file takes 1.5 ms, as long as 2,000 names.
        """
        columns["shown"] = columns["shown"] or pa.nulls(len(columns["key"]), pa.string())
        with self._lock:
            self._waiting.append(pa.table(columns, schema=NAME_COLUMNS))
            if sum(map(len, self._waiting)) < self._waiting_names:
                return
            table, self._waiting = pa.concat_tables(self._waiting), []
        if len(table):
            self.scratch.save_table(f"{name}.names", table)


def spelling_orders(flags: NDArray[np.uint8], own: bool) -> NDArray[np.uint16]:
    """Which spelling of a page to show: its own record's, then one that needs no text, then https."""
    wide = flags.astype(np.uint16)
    rank = ((wide & APART) >> 7 << 14) | ((wide & HTTP) << 13) | ((wide & BARE) >> 3 << 12)
    return (rank | wide | (0 if own else 1 << 15)).astype(np.uint16)


def in_lines(entries: int) -> Tags:
    """Zeros that begin with a cache line."""
    room = np.zeros(entries + 8, np.uint64)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + entries]


def as_fixed(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same bytes, read-only, as some are: for others kernels would be compiled again."""
    fixed = data.view()
    fixed.flags.writeable = False
    return fixed


def key_array(data: NDArray[np.uint8], offsets: NDArray[np.int64], chosen: NDArray[np.bool_]) -> pa.Array:
    """Some of the keys `data[offsets[i]:offsets[i + 1]]`, as Arrow has them."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    keys = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    return keys.filter(pa.array(chosen)).cast(pa.binary())


def text_buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts and where each starts; nulls are empty."""
    if texts.type not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        texts = texts.cast(pa.large_string())
    if texts.null_count:
        texts = pc.fill_null(texts, pa.scalar("" if "string" in str(texts.type) else b"", texts.type))
    width = np.int32 if texts.type in (pa.string(), pa.binary()) else np.int64
    _, offset_buffer, data_buffer = texts.buffers()
    if offset_buffer is None or len(texts) == 0:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    offsets = np.frombuffer(offset_buffer, width)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.zeros(0, np.uint8)
    return data, offsets.astype(np.int64)
