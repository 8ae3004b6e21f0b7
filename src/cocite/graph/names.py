"""From an address in any spelling to its page, and from a page to its address."""

import re
import tempfile
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, UnknownPage
from cocite.graph.arrays import GONE, Arrays, Keys, rows_of
from cocite.graph.changes.layers import Layer, LayeredArrays
from cocite.graph.generation import Progress
from cocite.graph.huffman import Code
from cocite.graph.texts import text_column
from cocite.kernels.addresses.canonical import rule_tables
from cocite.kernels.addresses.hashes import fingerprint_of
from cocite.kernels.codec import look_up, name_codec
from cocite.kernels.codec.lists import NONE_MOVED
from cocite.kernels.codec.look_up import AddressFinder, NameIndex
from cocite.kernels.codec.name_codec import CodedNames
from cocite.kernels.interpreted import is_active
from cocite.pages import address as rules
from cocite.pages.key import APART, from_key, key, shown

CODED_NAMES = ("name.words", "name.block", "name.code", "name.piece")
"""The arrays of names. Small stores and those of format 1 to 4 have no pieces."""
NO_PIECES: NDArray[np.uint64] = np.frombuffer(b"", np.uint64)
PYTHON_LOOK_UPS = 1000  # look-ups parsed in Python before compiling the loop pays, which is three times as fast
CHUNK_PAGES = 1 << 14
MAX_PAGES = 1 << 32
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


class Scratch(threading.local):
    """What each thread has of its own: room for a name, and a finder once it has looked up many."""

    def __init__(self) -> None:
        self.buffer, self.finder = np.empty(name_codec.MAX_KEY_BYTES, np.uint8), cast(AddressFinder | None, None)


class LayeredRange:
    """Pages of neighbouring addresses in a store with layers: a range of the base, and new pages."""

    def __init__(self, arrays: Arrays, base: range, new: NDArray[np.int64]) -> None:
        self.base, self._arrays = base, arrays
        self.new: list[int] = new[arrays.of_pages("page.kind", new) & GONE == 0].tolist()
        self._known = frozenset(self.new)

    def __contains__(self, page: int) -> bool:
        return page in self.base or page in self._known

    def __len__(self) -> int:
        return len(self.new) + int((self._kinds() & GONE == 0).sum())

    def __iter__(self) -> Iterator[int]:
        yield from (self.base.start + np.flatnonzero(self._kinds() & GONE == 0)).tolist()
        yield from self.new

    def _kinds(self) -> NDArray[np.uint8]:
        return self._arrays["page.kind"][self.base.start : self.base.stop]


PageRange = range | LayeredRange


class NewNames:
    """The names of the pages that layers have added."""

    def __init__(self, arrays: LayeredArrays) -> None:
        self._arrays, self._scratch = arrays, Scratch()

    @cached_property
    def _coded(self) -> dict[int, CodedNames]:
        try:
            return {layer.first: coded_names(layer) for layer in self._arrays.layers if layer.new}
        except ValueError as error:
            raise self._arrays.damaged() from error

    def key(self, page: int) -> bytes:
        """The key of a page."""
        layer, buffer = self._arrays.layer_of(page), self._scratch.buffer
        length = name_codec.decode_name(*self._coded[layer.first], page - layer.first, buffer)
        if length <= 0:
            raise self._arrays.damaged()
        return buffer[:length].tobytes()

    def keys(self, first: int = 0, count: int = MAX_PAGES) -> Keys:
        """The keys of new pages [first, first + count), of all if not given. Raises ValueError for damaged names."""
        parts = []
        for layer in self._arrays.layers:
            low, high = max(first, layer.first), min(first + count, layer.first + layer.new)
            if low < high:
                parts.append(read_keys(self._coded[layer.first], low - layer.first, high - low))
        sizes = [np.zeros(1, np.int64), *(np.diff(offsets) for _, offsets in parts)]
        return np.concatenate([np.zeros(0, np.uint8), *(data for data, _ in parts)]), np.cumsum(np.concatenate(sizes))

    @cached_property
    def by_fingerprint(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The fingerprints of new pages, ascending, and their pages."""
        first = self._arrays.base.pages
        own = self._arrays.of_pages("fingerprint", np.arange(first, self._arrays.pages))
        order = np.argsort(own, kind="stable")
        return own[order], first + order

    def find(self, text: bytes) -> int:
        """The page with a key, -1 if there is none."""
        fingerprints, pages = self.by_fingerprint
        wanted = np.uint64(fingerprint_of(text))
        at = int(np.searchsorted(fingerprints, wanted))
        while at < len(pages) and fingerprints[at] == wanted:
            if self.key(int(pages[at])) == text:
                return int(pages[at])
            at += 1
        return -1


class PageNames:
    """The names of all pages."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays, self._scratch, self._looked_up = arrays, Scratch(), 0
        self._base, self._shown = arrays.base, text_column(arrays, "shown")
        self._new: NewNames | None = NewNames(arrays) if isinstance(arrays, LayeredArrays) else None

    @cached_property
    def index(self) -> NameIndex:
        """Names and their index, as kernels take them."""
        try:
            names = coded_names(self._base)
        except ValueError as error:
            raise self.arrays.damaged() from error
        prints, *look_up = (self._base[name] for name in ("fingerprint", "look_up.start", "look_up.page"))
        return NameIndex(
            names, prints, look_up[0], look_up[1], np.frombuffer(bytes([self.arrays.format > 1]), np.uint8)
        )

    def find(self, address: str) -> int:
        """The page of an address in any spelling; an alias gives its target. Raises UnknownPage, BadAddress."""
        page = self.get(address)
        if page is None:
            if "://" in address or not address.strip():
                rules.parse_query(address)  # raises BadAddress for a text that can't be an address
            nearest = self.nearest(address)
            hint = f"; did you mean {', '.join(nearest[:3])}?" if nearest else ""
            raise UnknownPage(f"{address[:200]!r} is not in this store{hint}", nearest)
        return page

    def get(self, address: str) -> int | None:
        """The page of an address in any spelling, None if the store does not have it."""
        text = address.strip()
        if ":" not in text and "." in text.partition("/")[0]:
            text = "https://" + text
        try:
            if text[:8].lower().startswith(("http://", "https://")):
                page = self._find_spelled(text)
            else:
                page = self.find_canonical(rules.parse_query(address).canonical)
        except BadAddress:
            page = -1
        if page < 0 and "://" not in address:
            page = self.find_canonical("name:" + address.removeprefix("name:"))
        return None if page < 0 else self.alias_target(page)

    def _find_spelled(self, text: str) -> int:
        """The page of an address as links spell it, -1 if there is none."""
        if self._looked_up < PYTHON_LOOK_UPS:
            self._looked_up += 1
        elif not is_active():
            finder = self._scratch.finder = self._scratch.finder or AddressFinder(self.index, rule_tables())
            page = finder.find(text)
            if page >= -1 and (self._new is None or (page >= 0 and self.exists(page))):
                return page
        return self.find_canonical(rules.parse(text).canonical)  # raises BadAddress with the reason

    def find_canonical(self, canonical: str) -> int:
        """The page of a canonical address, -1 if there is none; aliases are not followed."""
        return self.find_key(encode_key(canonical))

    def find_key(self, text: bytes) -> int:
        """The page with a key, -1 if there is none; aliases are not followed."""
        page = self.find_number(text)
        return page if page < 0 or self.exists(page) else -1

    def find_number(self, text: bytes) -> int:
        """As `find_key`, with pages that are no pages any more: they keep their numbers."""
        page = int(look_up.find_key(self.index, np.frombuffer(text, np.uint8), self._scratch.buffer))
        if page < -1:
            raise self.arrays.damaged()
        return self._new.find(text) if page < 0 and self._new else page

    def find_numbers(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """`find_number` of many keys, data[offsets[i]:offsets[i + 1]]."""
        found = np.empty(len(offsets) - 1, np.int64)
        fixed = data.view()
        fixed.flags.writeable = False
        if not look_up.find_keys(self.index, fixed, offsets, self._scratch.buffer, found):
            raise self.arrays.damaged()
        for at in np.flatnonzero(found < 0).tolist() if self._new else ():
            found[at] = self._new.find(data[offsets[at] : offsets[at + 1]].tobytes())  # type: ignore[union-attr]
        return found

    def hits_among_new(self, fingerprints: NDArray[np.uint64]) -> list[int]:
        """The places of fingerprints that a page of a layer has."""
        if self._new is None:
            return []
        found: list[int] = np.flatnonzero(np.isin(fingerprints, self._new.by_fingerprint[0])).tolist()
        return found

    def exists(self, page: int) -> bool:
        """Whether a page is still there: layers remove pages, and drop those that nothing refers to any more."""
        return self._new is None or not self.arrays["page.kind"][page] & GONE

    @cached_property
    def order(self) -> NDArray[np.uint64]:
        """The address keys of the pages that layers have added: kernels/codec/lists.py has those of others."""
        if self._new is None:
            return NONE_MOVED
        try:
            return self.arrays.order_of_new(self._new.keys)  # type: ignore[attr-defined,no-any-return]
        except ValueError as error:
            raise self.arrays.damaged() from error

    def address_keys(self, pages: NDArray[Any]) -> NDArray[np.uint64]:
        """Numbers that order pages by address."""
        first = self.arrays.pages - self.arrays.new
        keys: NDArray[np.uint64] = (pages.astype(np.uint64) + np.uint64(1)) << np.uint64(32)
        if self.arrays.new:
            new = pages >= first
            keys[new] = self.order[pages[new].astype(np.int64) - first]
        return keys

    @cached_property
    def _new_in_order(self) -> NDArray[np.int64]:
        """The pages that layers have added, by address."""
        return self.arrays.pages - self.arrays.new + np.argsort(self.order, kind="stable")

    def in_order(self) -> NDArray[np.int64]:
        """All pages that are there, by address."""
        base = self.arrays.pages - self.arrays.new
        if self._new is None:
            return np.arange(base)
        new = self._new_in_order
        before = (self.order[new - base] >> np.uint64(32)).astype(np.int64)
        pages: NDArray[np.int64] = np.insert(np.arange(base), before, new)
        there: NDArray[np.int64] = pages[self.arrays["page.kind"][pages] & GONE == 0]
        return there

    def alias_target(self, page: int) -> int:
        """The target of an alias; any other page itself."""
        aliases = self.arrays["alias.page"]
        at = int(look_up.find_position(aliases, page)) if len(aliases) else -1
        return page if at < 0 else self.arrays.page_at("alias.target", at)

    def alias_targets(self, first: int, count: int) -> NDArray[np.int64]:
        """The targets of pages [first, first + count) that are aliases, -1 for others."""
        aliases, found = self.arrays["alias.page"], np.full(count, -1, np.int64)
        rows = slice(*rows_of(aliases, first, count))
        at = aliases[rows].astype(np.int64) - first
        if len(at) and not 0 <= at.min() <= at.max() < count:
            raise self.arrays.damaged()
        found[at] = self.arrays["alias.target"][rows]
        return found

    def canonical(self, page: int) -> str:
        """The canonical address of a page, or `name:` and its opaque name."""
        return from_key(self.key(page).decode("utf-8", "replace"))

    def key(self, page: int) -> bytes:
        """The key of a page."""
        buffer = self._scratch.buffer
        if self._new and self.arrays.page(page) >= self._base.pages:
            return self._new.key(page)
        length = name_codec.decode_name(*self.index.names, self.arrays.page(page), buffer)
        if length <= 0:
            raise self.arrays.damaged()
        return buffer[:length].tobytes()

    def address(self, page: int) -> str:
        """The address of a page as its own record, or the first link to it, spells it."""
        spelling = int(self.arrays["name.spelling"][self.arrays.page(page)])
        return self._shown[page] if spelling == APART else shown(self.canonical(page), spelling)

    def pages_under(self, prefix: str) -> PageRange:
        """The pages at and below an address: `example.com/blog` has `example.com/blog/1`, not `example.com/blogger`.

        A bare host includes its subdomains.
        """
        return self.pages_below(rules.parse_query(prefix).canonical)

    def pages_below(self, canonical: str) -> PageRange:
        """As `pages_under`, for a canonical address."""
        low = encode_key(canonical)
        high = low + b"\x04"
        if low.endswith(b")") and not canonical.startswith("name:"):
            high = low[:-1] + (b"-" if b"," in low else b"*")  # with its ports; beyond `,` with its subdomains
        return self.pages_between(low, high)

    def pages_beginning(self, canonical: str) -> PageRange:
        """The pages whose addresses begin with a text that has a host: `example.com/bl` has `example.com/blogger`."""
        low = encode_key(canonical)
        return self.pages_between(low, low + b"\xff")

    def pages_between(self, low: bytes, high: bytes) -> PageRange:
        """The pages from one key to before another."""
        base = range(self.pages_before(low), self.pages_before(high))
        if self._new is None:
            return base
        first, last = (bisect_left(self._new_in_order, bound, key=self._new.key) for bound in (low, high))
        return LayeredRange(self.arrays, base, self._new_in_order[first:last])

    def pages_before(self, bound: bytes) -> int:
        """The number of pages of the base before a key, known or not."""
        text = np.frombuffer(bound, np.uint8)
        at = int(name_codec.lower_bound(self.index.names, self._base.pages, text, self._scratch.buffer))
        if at < 0:
            raise self.arrays.damaged()
        return at

    def nearest(self, address: str, limit: int = 5) -> list[str]:
        """Known addresses close to an unknown one, the likeliest first; see nearest.py."""
        from cocite.graph.nearest import nearest

        return nearest(self, address, limit)

    def keys_of(self, pages: NDArray[np.int64]) -> Keys:
        """The keys of any pages."""
        return packed([self.key(page) for page in pages.tolist()])

    def keys(self, first: int, count: int) -> Keys:
        """The keys of pages [first, first + count)."""
        try:
            base = max(0, min(count, self._base.pages - first))
            data, offsets = read_keys(self.index.names, first if base else 0, base)
            if self._new is None or base == count:
                return data, offsets
            more, starts = self._new.keys(first + base, count - base)
            return np.concatenate([data, more]), np.append(offsets, offsets[-1] + starts[1:])
        except ValueError as error:
            raise self.arrays.damaged() from error


def packed(keys: list[bytes]) -> Keys:
    """Keys one after another."""
    return np.frombuffer(b"".join(keys), np.uint8), np.cumsum([0, *map(len, keys)], dtype=np.int64)


def encode_key(canonical: str) -> bytes:
    """The key of a canonical address as bytes; half of a surrogate pair, which no name has, is let through."""
    return key(canonical).encode("utf-8", "surrogatepass")


def coded_names(arrays: Mapping[str, NDArray[Any]] | Layer) -> CodedNames:
    """The names of a store, or of one that is being built, as kernels take them. Raises ValueError for a bad code."""
    characters, shared, pieces = codes_of(arrays.arrays if isinstance(arrays, Layer) else arrays)
    table = name_codec.name_table(characters.table, pieces)
    return CodedNames(arrays["name.words"], arrays["name.block"], table, shared.table)


def codes_of(arrays: Mapping[str, NDArray[Any]]) -> tuple[Code, Code, NDArray[np.uint64]]:
    """The code of symbols, that of shared lengths, and the pieces. Raises ValueError for a bad code."""
    lengths, pieces = arrays["name.code"], arrays.get("name.piece", NO_PIECES)
    middle = name_codec.FIRST_PIECE + len(pieces) + 1
    if len(lengths) not in (0, middle + 257):
        raise ValueError("not the code lengths of as many pieces")
    return Code.from_lengths(lengths[:middle]), Code.from_lengths(lengths[middle:]), pieces


def read_keys(names: CodedNames, first: int, count: int) -> Keys:
    """The keys of pages [first, first + count). Raises ValueError for damaged names."""
    offsets = np.zeros(count + 1, np.int64)
    buffer = np.empty(name_codec.MAX_KEY_BYTES, np.uint8)
    size = 128 * count
    while True:
        data = np.empty(size, np.uint8)
        done = name_codec.decode_names(names, first, count, buffer, data, offsets)
        if done == count:
            return data[: int(offsets[-1])], offsets
        if done < 0:
            raise ValueError("damaged names")
        size *= 2


def addresses(names: PageNames, first: int, count: int, marked: bool = False) -> Iterator[str]:
    """The addresses of pages [first, first + count) on one line each; with `marked`, in the form of page records."""
    for start in range(first, first + count, CHUNK_PAGES):
        some = slice(start, min(start + CHUNK_PAGES, first + count))
        data, offsets = names.keys(start, some.stop - start)
        raw, ends = data.tobytes(), offsets.tolist()
        for i, spelling in enumerate(names.arrays["name.spelling"][some].tolist()):
            canonical = from_key(raw[ends[i] : ends[i + 1]].decode("utf-8", "replace"))
            text = names.address(start + i) if spelling == APART else shown(canonical, spelling)
            if not marked:
                yield CONTROL.sub(" ", text)
            else:
                yield canonical if canonical.startswith("name:") else text if "://" in text else "host:" + text


@contextmanager
def mapped_addresses(names: PageNames, beside: Path | None, progress: Progress, marked: bool = False) -> Iterator[Any]:
    """All addresses as an Arrow array, item p for page p, while the context lasts.

    They are decoded in page order to a file, and mapped: links name their targets in any order, whatever their number.
    With `marked` they have the form of page records: `name:` before opaque names, `host:` before addresses without a
    scheme. `beside` is a file in whose folder there is room.
    """
    import pyarrow as pa

    room, pages = None if beside is None else beside.absolute().parent, names.arrays.pages
    with tempfile.TemporaryDirectory(prefix=".cocite-export-", dir=room, ignore_cleanup_errors=True) as folder:
        file, ends = Path(folder) / "addresses", [np.zeros(1, np.int64)]
        with file.open("wb") as out:
            for first in range(0, pages, CHUNK_PAGES):
                texts = [text.encode() for text in addresses(names, first, min(CHUNK_PAGES, pages - first), marked)]
                out.writelines(texts)
                ends.append(ends[-1][-1] + np.cumsum([len(text) for text in texts]))
                progress("reading names", len(texts), pages)
        data = np.memmap(file, np.uint8, "r") if ends[-1][-1] else np.zeros(1, np.uint8)
        offsets = np.concatenate(ends)
        yield pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
