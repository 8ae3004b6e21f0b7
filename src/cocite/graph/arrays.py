"""The arrays of one generation by name: mapped from disk, or in memory.

FORMAT.md lists them. Kernels trust their types and lengths, so `contradictions` checks both before anything is read.
"""

import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.budget import stopped
from cocite.errors import BadParameter, BadStore, CociteError
from cocite.graph.generation import (
    FORMAT_NUMBER,
    Progress,
    changed_arrays,
    empty_array,
    map_array,
    no_progress,
    read_pointer,
)
from cocite.kernels.codec import list_bounds
from cocite.kernels.codec.name_codec import NAMES_PER_BLOCK

if TYPE_CHECKING:
    from cocite.graph.changes.layers import Layer

Value = TypeVar("Value", bound=np.generic)
Keys = tuple[NDArray[np.uint8], NDArray[np.int64]]  # the bytes of keys, and where each begins
HAS_RECORD, GONE, NOINDEX = 128, 64, 8  # kinds: has a record of its own; was removed; asks not to be indexed
NOFOLLOW, UGC, SPONSORED, ME, BOILERPLATE = 1, 2, 4, 8, 16  # flags of a link
REL = {"nofollow": NOFOLLOW, "ugc": UGC, "sponsored": SPONSORED, "me": ME}
PER_BASE = 16  # pages share an entry of `out.first`
_NAMES_BY_TYPE = {
    "u1": "name.code name.spelling page.kind out.code in.code removed.digest history.name.code history.name.spelling "
    "history.extra history.spelling.data",
    "u2": "page.status history.spelling.order history.edit",
    "u4": "look_up.start look_up.page page.captured page.language page.host page.site host.page site.page host.domain "
    "alias.page alias.target near.page near.representative out.offset in.offset out.degree in.degree out.long.page "
    "in.long.page out.skip.bit in.skip.bit out.skip.before in.skip.before out.skip.attribute out.long.target "
    "out.long.place best.page best.parent sample.page sample.parent repeat.page repeat.target repeat.attribute "
    "fact.page record.page out.page in.page name.before history.day history.crawl history.spelling.page "
    "history.spelling.day history.spelling.pages history.spelling.first",
    "u8": "fingerprint name.words name.block name.piece removed out.words in.words out.base in.base out.first "
    "out.bounds in.bounds out.far in.far repeat.words repeat.bounds repeat.far repeat.start "
    "out.long.first in.long.first out.long.link out.start in.start best.first sample.first "
    "history.start history.first history.link history.shape history.name.words history.name.block "
    "history.name.piece history.spelling.offset",
    "f4": "out.weight history.weight",
}
TEXT_COLUMNS = ("shown", "title", "headings", "text", "anchors", "contexts")
_CODES = {"pages": "<u4", "first": "<u4", "offset": "<u8", "data": "<u1"}
TEXT_PARTS: dict[str, np.dtype[Any]] = {part: np.dtype(code) for part, code in _CODES.items()}
TYPE_OF: dict[str, np.dtype[Any]] = {
    name: np.dtype(f"<{code}") for code, names in _NAMES_BY_TYPE.items() for name in names.split()
} | {
    f"{before}{column}.{part}": dtype
    for column in TEXT_COLUMNS
    for part, dtype in TEXT_PARTS.items()
    for before in ("", "history.")
}
_EMPTY = {name: empty_array(dtype) for name, dtype in TYPE_OF.items()}
VERIFIED_BYTES = 1 << 20
"""Bytes of arrays that opening a store verifies: all of a small store, and the codes of a large one."""
IN_MEMORY = Path("(in memory)")  # the path of a graph without a store


class Arrays(dict[str, NDArray[Any]]):
    """The arrays of one generation and its manifest. A missing array reads as an empty one."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], manifest: dict[str, Any], path: Path = IN_MEMORY) -> None:
        super().__init__({name: read_only(values) for name, values in arrays.items()})
        self.manifest, self.path = manifest, path
        self.folder: Path | None = None  # of the generation's files
        self.layers: list[Layer] = []
        self.pages, self.links = int(manifest.get("pages", 0)), int(manifest.get("links", 0))
        self.format = int(manifest.get("format", FORMAT_NUMBER))
        self.ids = frozenset({manifest.get("id", "")})  # states of the store in which its pages have these numbers
        self.new = 0  # pages that layers have added: the last ones

    def __reduce__(self) -> tuple[type["Arrays"], tuple[Any, ...]]:
        return Arrays, (dict(self), self.manifest, self.path)  # read-only in another process, too

    @property
    def base(self) -> "Arrays":
        """The arrays without layers."""
        return self

    @property
    def parts(self) -> "list[Arrays | Layer]":
        """The base and the layers, oldest first."""
        return [self.base, *self.layers]

    def __missing__(self, name: str) -> NDArray[Any]:
        return _EMPTY[name] if name in _EMPTY else empty_array(np.dtype(np.uint32))

    @staticmethod
    def open(path: Path, expected: str = "") -> "Arrays":
        """Map the current generation of a store, with its layers; fail if its id is not the `expected` one."""
        from cocite.graph.changes.layer_lengths import verify_layers
        from cocite.graph.changes.layers import Layer, LayeredArrays

        while True:
            folder, manifest, names = read_pointer(path)
            try:
                mapped = {name: map_array(folder / f"{name}.bin", entry) for name, entry in manifest["arrays"].items()}
                layers = [Layer.open(path, name) for name in names]
                break
            except (BadStore, KeyError, TypeError, ValueError) as error:
                still_named = read_pointer(path)[::2] == (folder, names)
                if still_named:  # else they were replaced, and removed, meanwhile
                    if isinstance(error, BadStore):
                        raise
                    raise invalid_manifest(path) from error
        ids = [manifest.get("id"), *(layer.manifest["id"] for layer in layers)]
        if expected and expected not in ids:
            raise BadStore(f"{path} was changed meanwhile by another command: open it again")
        layers = layers[: ids.index(expected)] if expected else layers  # as it was before later layers
        arrays = Arrays(mapped, manifest, path)
        arrays.folder = folder
        facts = folder.name, arrays.pages, arrays.links
        logging.getLogger("cocite.store").info("Opened %s: %s, %s pages, %s links", path, *facts)
        if wrong := list(contradictions(mapped, arrays.pages, arrays.links)):
            raise invalid_manifest(path, f" ({', '.join(wrong)})")
        if wrong := list(changed_small_arrays(mapped, manifest["arrays"])):
            raise BadStore(f"{arrays.damaged()} ({wrong[0]} doesn't match its checksum)")
        verify_layers(arrays, layers)
        return LayeredArrays(arrays, layers, folder) if layers else arrays

    def page(self, page: int) -> int:
        """A page number, checked."""
        page = int(page)
        if not 0 <= page < self.pages:
            raise BadParameter(f"no page {page}: pages are numbered from 0 to {self.pages - 1}")
        return page

    def page_at(self, name: str, at: int) -> int:
        """The page number at a place of an array, checked."""
        page = int(self[name][at])
        if page >= self.pages:
            raise self.damaged()
        return page

    def part(self, name: str, first: int, count: int) -> NDArray[Any]:
        """The values of pages [first, first + count), 0 where the store has none."""
        values = self[name]
        return values[first : first + count] if len(values) else np.zeros(count, values.dtype)

    def of_pages(self, name: str, pages: NDArray[Any]) -> NDArray[Any]:
        """The values of some pages, 0 where the store has none."""
        values = self[name]
        return values[pages] if len(values) else np.zeros(len(pages), values.dtype)

    def changed(self, progress: Progress = no_progress, pool: Executor | None = None) -> Iterator[str]:
        """Names of arrays whose bytes are not those that were written."""
        return changed_arrays(self, self.manifest["arrays"], progress, pool)

    def damaged(self) -> CociteError:
        """The error for lists, names or texts that cannot be read; or that were not, as the budget is spent."""
        return stopped() or BadStore(f"{self.path} is damaged: run cocite check -i {quote(str(self.path))}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous read-only view, as of a mapped file: kernels are compiled once, wherever arrays come from."""
    if array.flags.c_contiguous and not array.flags.writeable:
        return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def invalid_manifest(path: Path, where: str = "") -> BadStore:
    """The error for a manifest that contradicts itself."""
    return BadStore(f"{path}: the manifest contradicts itself{where}: build the store again")


def small_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The smallest arrays, up to VERIFIED_BYTES together: opening a store verifies these."""
    chosen, total = {}, 0
    for name in sorted(arrays, key=lambda name: arrays[name].nbytes):
        total += arrays[name].nbytes
        if total > VERIFIED_BYTES:
            break
        chosen[name] = arrays[name]
    return chosen


def changed_small_arrays(arrays: Mapping[str, NDArray[Any]], entries: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Names of the smallest arrays whose bytes are not those that were written."""
    return changed_arrays(small_arrays(arrays), entries)


def rows_of(ascending: NDArray[Any], first: int, count: int = 1) -> tuple[int, int]:
    """The range of rows of pages [first, first + count) in an ascending array of pages.

    The bounds have the array's own type: for another, NumPy would copy the whole array in each search.
    """
    low, last = np.array([first, first + count - 1], ascending.dtype)
    return int(np.searchsorted(ascending, low)), int(np.searchsorted(ascending, last, "right"))


def distinct(values: NDArray[Value]) -> NDArray[Value]:
    """The different values, ascending. `np.unique` counts numbers in a hash table, which takes ten times as long."""
    ordered = np.sort(values)
    different: NDArray[Value] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return different


def find_in(ascending: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """The first place of each value in an ascending array, -1 for those that it doesn't have."""
    at = np.searchsorted(ascending, wanted)
    found = at < len(ascending)
    found[found] = ascending[at[found]] == wanted[found]
    return np.where(found, at, -1)


def places_of(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the items of several lists, one list after another, from where each begins and its length."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def contradictions(arrays: Mapping[str, NDArray[Any]], pages: int, links: int) -> Iterator[str]:
    """Names of arrays whose type or length is wrong."""

    def length(name: str) -> int:
        return len(arrays[name]) if name in arrays else 0

    per_page = "fingerprint", "look_up.page", "name.spelling", "page.kind", "page.host", "page.site"
    exact = dict.fromkeys(per_page, pages)
    exact |= {
        "name.block": -(-pages // NAMES_PER_BLOCK),
        "name.code": 514 + length("name.piece"),
    }
    for d in ("out", "in"):
        exact |= {f"{d}.degree": pages, f"{d}.code": 513}
        if f"{d}.bounds" not in arrays:  # until format 6
            exact |= {f"{d}.offset": pages + 1, f"{d}.base": pages // PER_BASE + 1}
        elif not list_bounds.are_valid(arrays[f"{d}.bounds"], pages):
            yield f"{d}.bounds"
        exact |= {f"{d}.long.first": length(f"{d}.long.page") + 1, f"{d}.skip.before": length(f"{d}.skip.bit")}
    if "out.weight" in arrays:
        exact |= {"out.first": -(-pages // PER_BASE)}
    exact |= {"out.skip.attribute": length("out.skip.bit"), "out.long.link": length("out.long.page") + 1}
    exact |= {"out.long.place": length("out.long.target"), "host.domain": length("host.page")}
    if "repeat.words" in arrays:
        if "repeat.bounds" not in arrays or not list_bounds.are_valid(arrays["repeat.bounds"], pages):
            yield "repeat.bounds"
    else:  # until format 6
        exact |= dict.fromkeys(("repeat.target", "repeat.attribute"), length("repeat.page"))
    exact |= {"alias.target": length("alias.page"), "near.representative": length("near.page")}
    if "removed.digest" in arrays:
        exact |= {"removed.digest": 16 * length("removed")}
    exact |= {"look_up.start": (1 << max(1, (pages // 4).bit_length())) + 1}
    exact |= {f"{column}.offset": length(f"{column}.first") for column in TEXT_COLUMNS}
    optional = dict.fromkeys(("page.captured", "page.status", "page.language"), pages) | {"out.weight": links}
    yield from (name for name, values in arrays.items() if values.dtype != TYPE_OF.get(name, values.dtype))
    yield from (name for name, wanted in exact.items() if length(name) != wanted)
    yield from (name for name, wanted in optional.items() if length(name) not in (0, wanted))
    yield from (name for name in ("out.words", "in.words", "name.words") if not length(name))
    if length("repeat.bounds") and not length("repeat.words"):
        yield "repeat.words"
    yield from (name for name in ("out.words", "in.words") if links > length(name) << 6)  # a link takes a bit
    for column in TEXT_COLUMNS:
        parts = [f"{column}.{part}" for part in TEXT_PARTS]
        yield from (name for name in parts if name not in arrays and any(part in arrays for part in parts))
    for name in ("best", "sample"):
        if length(f"{name}.parent") % max(1, length(f"{name}.page")):
            yield f"{name}.parent"
