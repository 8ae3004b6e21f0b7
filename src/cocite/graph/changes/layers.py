"""Layers: what changed since the base generation was built. FORMAT.md gives every byte.

A layer has, for the pages that a commit touched, everything that changed: whole lists, names of new pages, facts,
texts. `LayeredArrays` puts base and layers together when an array is first needed, so that everything above reads one
store. The newest layer wins. Per-page arrays are copied on write, and lists are mapped behind those of the base: both
cost what the layers hold. Tables that are searched by page (aliases, near-duplicates, …) are merged, which takes a
pass over their keys.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph import generation
from cocite.graph.arrays import (
    IN_MEMORY,
    TEXT_COLUMNS,
    TYPE_OF,
    Arrays,
    Keys,
    changed_small_arrays,
    distinct,
    find_in,
    read_only,
)
from cocite.graph.generation import LayerName, Progress, digest, empty_array, no_progress
from cocite.graph.mapping import GRAIN_BYTES, FilePart, joined
from cocite.kernels.codec.layer_rows import address_ranks, drop_rows, order_names
from cocite.kernels.codec.lists import NONE_MOVED, mark_moved, number_moved, place_moved

NONE = 0xFFFFFFFF
"""In a table of a layer: the page has no row any more."""
PAGE_FACTS = (
    "fingerprint", "name.spelling", "page.kind", "page.captured", "page.status", "page.language", "page.host",
    "page.site",
)  # fmt: skip
"""Per-page arrays. A layer has their values for the pages `fact.page`."""
DECIDED_BY = dict.fromkeys(PAGE_FACTS, "fact.page") | {"out.degree": "out.page", "in.degree": "in.page"}
"""The array of a layer that lists the pages whose values it has."""
PAGE_TABLES = {"alias": "target", "near": "representative"}
ENTRY_POINTS = ("out.skip.bit", "out.skip.before", "out.skip.attribute"), ("out.long.target", "out.long.place")
MAPPED = {
    "out.words",
    "in.words",
    "repeat.words",
    "out.weight",
    "best.parent",
    "sample.parent",
    *ENTRY_POINTS[0],
    *ENTRY_POINTS[1],
}
"""Arrays of a layer that are mapped as they are, so they begin at a page of memory."""
MAX_KNOWN_LAYERS = 256  # whose manifests are kept
Values = NDArray[Any]
Pages = NDArray[np.uint32]


class Layer:
    """One layer: its manifest and its arrays, mapped from its file or in memory."""

    def __init__(self, manifest: dict[str, Any], arrays: Mapping[str, Values], file: Path | None = None) -> None:
        self.manifest, self.arrays, self.file = manifest, arrays, file
        self.first, self.new = int(manifest["first"]), int(manifest["new"])  # its new pages: number, count

    def __getitem__(self, name: str) -> Values:
        return self.arrays[name] if name in self.arrays else empty_array(TYPE_OF.get(name, np.dtype(np.uint32)))

    def pages(self, name: str) -> Pages:
        """The pages that the layer lists in an array such as `fact.page`: verified, since they are used as places."""
        found = self[name]
        if int(found.max(initial=0)) >= max(1, self.first + self.new):
            raise self.damaged(name)
        return found

    def damaged(self, name: str) -> BadStore:
        """The error for an array of the layer that contradicts others."""
        return generation.damaged_layer(self.file or IN_MEMORY, f" ({name})")

    def part(self, name: str) -> FilePart:
        """An array of the layer, to be mapped or copied."""
        values = self[name]
        if self.file is None or not values.nbytes:
            return FilePart(None, 0, values)
        return FilePart(self.file, int(self.manifest["arrays"][name]["offset"]), values)

    def rows_of_lists(self, direction: str) -> tuple[Pages, NDArray[np.uint64]]:
        """The pages whose lists the layer has, and the bit where each begins, and one more for the end: verified."""
        pages = self.pages("out.page" if direction == "repeat" else f"{direction}.page")
        starts = self[f"{direction}.start"]
        if int(starts.max(initial=0)) > max(0, len(self[f"{direction}.words"]) - 1) << 6:
            raise self.damaged(f"{direction}.start")
        return pages, starts if len(starts) else read_only(np.zeros(len(pages) + 1, np.uint64))  # no links at all

    def changed(self, progress: Progress = no_progress, pool: Executor | None = None) -> Iterator[str]:
        """Names of arrays, with the file, whose bytes are not those that were written."""
        for name in generation.changed_arrays(self.arrays, self.manifest["arrays"], progress, pool):
            yield self.place_of(name)

    def place_of(self, name: str) -> str:
        """An array of the layer, for a message."""
        return f"{name} in {self.file.name if self.file else 'a layer'}"

    @classmethod
    def open(cls, store: Path, name: LayerName) -> "Layer":
        """Open a layer that `CURRENT` names, or take it if it is open. Raises BadStore with what to do."""
        file = store / name.file
        try:
            about = file.stat() if file.exists() else None
            marks = (about.st_ino, about.st_size, about.st_mtime_ns) if about else ()
            found = _open_layers.get((file, name.digest, *marks))
            if found is None:
                manifest = _verified_manifest(store, name, *marks)
                found = _open_layers[file, name.digest, *marks] = cls(manifest, _mapped(file, manifest), file)
            return found
        except OSError as error:
            raise generation.cannot_read(file, error) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise generation.damaged_layer(file) from error


_open_layers: WeakValueDictionary[tuple[Any, ...], Layer] = WeakValueDictionary()
"""A server opens a store after each commit, and has all layers but one open."""


@lru_cache(MAX_KNOWN_LAYERS)  # a commit opens a store several times
def _verified_manifest(store: Path, name: LayerName, *_marks: int) -> dict[str, Any]:
    """The manifest of a layer whose file has these marks, and whose smallest arrays are as they were written."""
    manifest, file = generation.read_layer_manifest(store, name), store / name.file
    if wrong := next(changed_small_arrays(_mapped(file, manifest), manifest["arrays"]), ""):
        raise generation.damaged_layer(file, f" ({wrong} doesn't match its checksum)")
    return manifest


def _mapped(file: Path, manifest: dict[str, Any]) -> dict[str, Values]:
    """The arrays of a layer. Raises ValueError for one outside of the file."""
    raw, found = np.memmap(file, np.uint8, "r").view(np.ndarray), {}
    for name, entry in manifest["arrays"].items():
        dtype, length, offset = np.dtype(entry["type"]), int(entry["length"]), int(entry["offset"])
        if offset % 8 or offset < 0 or offset + length * dtype.itemsize > len(raw):
            raise ValueError("an array outside of the file")
        some = raw[offset : offset + length * dtype.itemsize].view(dtype)
        found[name] = some if length else empty_array(dtype)
    return found


def layer_bytes(manifest: dict[str, Any], arrays: Mapping[str, Values]) -> tuple[list[bytes | memoryview], str]:
    """The parts of a layer's file, one after another, and the digest of its manifest."""
    chosen = {name: np.ascontiguousarray(values) for name, values in sorted(arrays.items()) if len(values)}
    entries = {
        name: {
            "type": values.dtype.newbyteorder("<").str,
            "length": len(values),
            "digest": digest(values.data),
        }
        for name, values in chosen.items()
    }
    begin = _aligned(
        generation.LAYER_HEADER_BYTES + len(json.dumps({**manifest, "arrays": entries})) + 64 * len(entries),
        GRAIN_BYTES,
    )
    at, parts = begin, list[bytes | memoryview]()
    for name, values in sorted(chosen.items(), key=lambda item: item[0] not in MAPPED):
        start = _aligned(at, GRAIN_BYTES if name in MAPPED else 8)
        parts += [bytes(start - at), values.view(np.uint8).tobytes()]
        entries[name]["offset"], at = start, start + values.nbytes
    text = json.dumps({**manifest, "arrays": entries}, sort_keys=True).encode()
    header = generation.LAYER_MAGIC + len(text).to_bytes(8, "little") + text
    return [header + bytes(begin - len(header)), *parts], digest(text)


def _aligned(size: int, grain: int) -> int:
    return -(-size // grain) * grain


class PageTable(NamedTuple):
    """A table by page: pages ascend."""

    page: Pages
    values: Values


class LayeredArrays(Arrays):
    """The arrays of a base with its layers, each put together when it is first needed."""

    def __init__(self, base: Arrays, layers: list[Layer], folder: Path | None = None) -> None:
        """`folder` has the files of the base; without it, they are copied."""
        super().__init__({}, generation.merged_manifest(base.manifest, [layer.manifest for layer in layers]), base.path)
        self.format, self._base, self.layers, self.folder = base.format, base, layers, folder
        self.pages, self.new = layers[-1].first + layers[-1].new, layers[-1].first + layers[-1].new - base.pages
        self._firsts = [layer.first for layer in layers]
        states = [state for layer in layers for state in (*layer.manifest.get("states", ()), layer.manifest["id"])]
        self.ids = frozenset({base.manifest["id"], *states})
        self.stored_parents = dict.fromkeys(("best", "sample"), 0)
        self._word_places: dict[str, list[int]] = {}  # where the words of each part begin, by direction

    @property
    def base(self) -> Arrays:
        return self._base

    def __missing__(self, name: str) -> Values:
        values = self._make(name)
        values.flags.writeable = False
        return self.setdefault(name, values)

    def changed(self, progress: Progress = no_progress, pool: Executor | None = None) -> Iterator[str]:
        """Names of arrays of the base, and of layers with their file, whose bytes are not those that were written."""
        yield from self.base.changed(progress, pool)
        for layer in self.layers:
            yield from layer.changed(progress, pool)

    def _make(self, name: str) -> Values:
        kind, _, part = name.partition(".")
        if name in DECIDED_BY:
            return self._grown(name, DECIDED_BY[name])
        if name in ("out.words", "in.words", "repeat.words") and any(len(each[name]) for each in self.parts):
            values, self._word_places[kind] = self._joined(name)
            return values
        if name in ("host.page", "host.domain", "site.page"):
            return np.concatenate([self.base[name], *(layer[name] for layer in self.layers)])
        if name in ("removed", "removed.digest"):
            return next(
                (each[name] for each in reversed(self.layers) if "removed" in each.arrays), self.base[name]
            ).copy()
        if kind in PAGE_TABLES:
            return self._table(kind, part)
        if kind in ("best", "sample"):
            return self._stored(kind, part)
        if name.startswith(("out.long", "out.skip")):
            return self._long(name)
        if kind in TEXT_COLUMNS and part == "pages":
            tables = [PageTable(each[name], each[name]) for each in self.parts]
            return self._merge(tables, [layer[text_rows(kind)] for layer in self.layers]).page.copy()
        return self.base[name].view()

    def of_pages(self, name: str, pages: NDArray[Any]) -> NDArray[Any]:
        """The values of some pages, without putting the array together: that takes a copy of all pages of memory."""
        key = DECIDED_BY.get(name)
        if name in self or key is None:
            return super().of_pages(name, pages)
        wanted, own, values = pages.astype(np.uint32), self.base[name], np.zeros(len(pages), TYPE_OF[name])
        old = wanted < len(own)
        values[old] = own[wanted[old]]
        for layer in self.layers:
            at = find_in(layer[key], wanted)
            decided = at >= 0
            values[decided] = layer[name][at[decided]] if len(layer[name]) else 0
        return values

    def layer_of(self, page: int) -> Layer:
        """The layer that added a page."""
        return self.layers[bisect_right(self._firsts, page) - 1]

    def _base_part(self, name: str) -> FilePart:
        values = self.base[name]
        if self.folder is None or not values.nbytes:
            return FilePart(None, 0, values)
        return FilePart(self.folder / f"{name}.bin", 0, values)

    def _grown(self, name: str, key: str) -> Values:
        """A per-page array with the values of layers in their places."""
        for layer in self.layers:
            layer.pages(key)
        short = not len(self.base[name])
        if short and not any(layer[name].any() for layer in self.layers):
            return self.base[name].view()
        values, _ = joined(TYPE_OF[name], [self._base_part(name)], self.pages if short else self.new)
        for layer in self.layers:
            if len(layer[name]):  # a page of memory is copied when it is written to: most facts are those of before
                differs = values[layer[key]] != layer[name]
                values[layer[key][differs]] = layer[name][differs]
            elif len(layer[key]):
                values[layer[key]] = 0
        return values

    def _joined(self, name: str) -> tuple[Values, list[int]]:
        """The values of the base, and those of the layers behind them; where each begins."""
        return joined(TYPE_OF[name], [self._base_part(name), *(layer.part(name) for layer in self.layers)])

    def moved(self, direction: str) -> NDArray[np.uint64]:
        """Where the lists of layers are: bits of pages, each word with the place of its rows, and the rows."""
        if not len(self[f"{direction}.words"]):  # puts the layers' words in their places
            return NONE_MOVED
        places, lists = self._word_places[direction], [layer.rows_of_lists(direction) for layer in self.layers]
        words = (self.pages >> 6) + 1
        bits = np.zeros(2 * words, np.uint64)
        rows = sum(int(mark_moved(bits, pages)) for pages, _ in lists)
        number_moved(bits, words)
        moved = np.concatenate([bits, np.zeros(2 * rows, np.uint64)])
        for (pages, starts), place in zip(lists, places[1:], strict=True):
            place_moved(moved, pages, starts, np.uint64(place << 6))
        moved.flags.writeable = False
        return moved

    # Tables

    def _newest(self, keys: list[Pages], covered: list[Pages]) -> list[NDArray[np.bool_]]:
        """Which rows of each table, oldest first, no later one replaces: `covered` are the pages that layers decide."""
        kept, gone = [], np.zeros(0, np.uint32)
        for number in reversed(range(len(keys))):
            if number < len(covered) and len(covered[number]):
                gone = distinct(np.concatenate([gone, covered[number]]))
            mask = np.ones(len(keys[number]), np.bool_)
            if len(gone) and len(mask):
                drop_rows(read_only(keys[number]), read_only(gone), mask)
            kept.append(mask)
        return kept[::-1]

    def _merge(self, tables: list[PageTable], covered: list[Pages]) -> PageTable:
        """Rows of several tables by page; the newest that decides about a page has its rows."""
        if not any(map(len, covered)) and not any(len(table.page) for table in tables[1:]):
            return tables[0]
        kept = self._newest([table.page for table in tables], covered)
        base, *more = (
            table if mask.all() else PageTable(table.page[mask], table.values[mask])
            for table, mask in zip(tables, kept, strict=True)
        )
        pages = np.concatenate([each.page for each in more])
        order = np.argsort(pages, kind="stable")
        at = np.searchsorted(base.page, pages[order])
        values = np.concatenate([each.values for each in more])
        return PageTable(np.insert(base.page, at, pages[order]), np.insert(base.values, at, values[order]))

    def _table(self, kind: str, part: str) -> Values:
        """A table whose rows are merged."""
        column = PAGE_TABLES[kind]
        tables = [PageTable(each[f"{kind}.page"], each[f"{kind}.{column}"]) for each in self.parts]
        pages, values = self._merge(tables, [layer[f"{kind}.page"] for layer in self.layers])
        there = values != NONE
        self.setdefault(f"{kind}.page", read_only(pages if there.all() else pages[there]))
        self.setdefault(f"{kind}.{column}", read_only(values if there.all() else values[there]))
        return self[f"{kind}.{part}"]

    def _stored(self, kind: str, part: str) -> Values:
        """`best` and `sample`: the pages, where each row begins, and all rows."""
        parents, places = self._joined(f"{kind}.parent")
        counts = [len(each[f"{kind}.parent"]) // max(1, len(each[f"{kind}.page"])) for each in self.parts]
        self.stored_parents[kind] = max(counts)
        if any(count not in (0, max(counts)) for count in counts):
            raise self.damaged()
        tables = [
            PageTable(each[f"{kind}.page"], place + np.arange(len(each[f"{kind}.page"])) * count)
            for each, place, count in zip(self.parts, places, counts, strict=True)
        ]
        merged = self._merge(tables, [layer.pages(f"{kind}.page") for layer in self.layers])
        first = merged.values.astype(np.uint64)
        there = parents[first] != NONE if len(first) else np.zeros(0, np.bool_)
        self.setdefault(f"{kind}.page", read_only(merged.page[there]))
        self.setdefault(f"{kind}.first", read_only(first[there]))
        self.setdefault(f"{kind}.parent", read_only(parents))
        return self[f"{kind}.{part}"]

    def _long(self, name: str) -> Values:
        """Entry points into long lists."""
        for names, first in zip(ENTRY_POINTS, ("out.long.first", "out.long.link"), strict=True):
            made = [self._joined(each) for each in names]
            for each, (values, _) in zip(names, made, strict=True):
                self.setdefault(each, read_only(values))
            tables = [
                PageTable(each["out.long.page"], each[first][: len(each["out.long.page"])].astype(np.int64) + place)
                for each, place in zip(self.parts, made[0][1], strict=True)
            ]
            merged = self._merge(tables, [layer["out.page"] for layer in self.layers])
            self.setdefault("out.long.page", read_only(merged.page))
            self.setdefault(first, read_only(merged.values.astype(np.uint64)))
        return self[name] if name in self else empty_array(TYPE_OF[name])

    # Texts and names

    def order_of_new(self, keys: Callable[[], Keys]) -> NDArray[np.uint64]:
        """The address keys of new pages, by the pages of the base before each and by their keys."""
        before = np.concatenate([np.zeros(0, np.uint32), *(layer["name.before"] for layer in self.layers)])
        if len(before) != self.new or int(before.max(initial=0)) > self.base.pages:
            raise self.damaged()
        found, (data, offsets) = np.empty(self.new, np.uint64), keys()
        if self.new:
            before = read_only(before)
            address_ranks(before, order_names(before, read_only(data), read_only(offsets)), found)
        return read_only(found)


def text_rows(column: str) -> str:
    """The array of a layer that lists the pages whose texts of a column it decides."""
    return "fact.page" if column == "shown" else "record.page"


def layers_since(arrays: Arrays, state: str) -> list[Layer] | None:
    """The layers that came after an older state of a store, by its id; None if the store was built anew since."""
    if state not in arrays.ids:
        return None
    for at, layer in enumerate(arrays.layers):
        if state == layer.manifest["id"]:
            return arrays.layers[at + 1 :]
        if state in layer.manifest.get("states", ()):  # a state within a layer that was merged counts as before it
            return arrays.layers[at:]
    return arrays.layers


def pages_in(layers: Iterable[Layer], *names: str) -> Pages:
    """The pages that some layers list in arrays such as `record.page`, ascending."""
    listed = (layer.pages(name) for layer in layers for name in names)
    return distinct(np.concatenate([np.zeros(0, np.uint32), *listed]))
