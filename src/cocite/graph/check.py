"""Check a store: every checksum, then every relation between arrays.

Checksums find any changed byte. The rest finds what checksums can't: a store that was written wrong.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import GONE, PER_BASE, TEXT_COLUMNS, places_of
from cocite.graph.arrays import Arrays as StoreArrays
from cocite.graph.build import derive as build_derive
from cocite.graph.build.derive import derive
from cocite.graph.build.number import look_up_arrays
from cocite.graph.build.scratch import Workers
from cocite.graph.changes.history import history_of
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.generation import Progress, changed_arrays, map_array, no_progress, read_current
from cocite.graph.huffman import MAX_CODE_BITS
from cocite.graph.side import faults_of_sides
from cocite.graph.store import Graph
from cocite.kernels.codec import list_bounds, name_codec
from cocite.kernels.codec.attributes import BLOCK_BITS, all_blocks
from cocite.kernels.codec.checking import check_direction, check_names
from cocite.kernels.interpreted import Threads

CHUNK_PAGES = 1 << 16


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a store: where, and what."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


Faults = Iterator[Fault]
Arrays = dict[str, NDArray[Any]]


def check(path: Path, progress: Progress = no_progress) -> list[Fault]:
    """All faults of a store, none if it is OK. A store that cannot be opened at all raises BadStore.

    It checks the generation that is current now, even if another command replaces it meanwhile.
    """
    lock = threading.Lock()

    def report(stage: str, done: int, total: int | None) -> None:
        with lock:
            progress(stage, done, total)

    with Threads(2) as pool:
        try:
            graph = Graph(path)
        except BadStore as error:
            if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
                raise  # it can't be read here and now: that isn't damage
            if faults := list(_check_files(*read_current(path), report, pool)):
                return faults
            raise
        changed = (Fault(name, "its bytes do not match their checksum") for name in graph.arrays.changed(report, pool))
        faults = [*changed, *_strangers(path, graph.manifest)]
        return faults or list(_check_contents(graph, report, pool))


def _check_files(folder: Path, manifest: dict[str, Any], progress: Progress, pool: Threads) -> Faults:
    """The files of a store that cannot be opened, one by one."""
    arrays = {}
    for name, entry in manifest["arrays"].items():
        try:
            arrays[name] = map_array(folder / f"{name}.bin", entry)
        except BadStore as error:
            yield Fault(name, str(error))
        except (KeyError, TypeError, ValueError):
            yield Fault(name, "the manifest does not say what it is")
    for name in changed_arrays(arrays, manifest["arrays"], progress, pool):
        yield Fault(name, "its bytes do not match their checksum")


def _strangers(path: Path, manifest: dict[str, Any]) -> Faults:
    """Files that do not belong to a generation, unless it has been replaced meanwhile."""
    listed = {f"{name}.bin" for name in manifest["arrays"]} | {"manifest.json"}
    with suppress(BadStore, FileNotFoundError):
        folder, current = read_current(path)
        for file in sorted(folder.iterdir()) if current["id"] == manifest["id"] else ():
            if file.is_file() and file.name not in listed:
                yield Fault(file.name, "is not listed in the manifest")


def _check_contents(graph: Graph, progress: Progress, pool: Threads) -> Faults:
    """What must hold within and between arrays."""
    names = pool.submit(lambda: list(_check_names(graph, progress)))
    faults = [*_check_codes(graph), *_check_links(graph, progress, pool)]
    yield from faults
    yield from names.result()
    yield from _check_references(graph)
    yield from _check_layers(graph)
    yield from (Fault(*fault) for fault in faults_of_sides(graph))
    if not faults:  # else nothing can be computed from the links
        yield from _check_repeats(graph)
        yield from _check_derived(graph, progress)
    for name in TEXT_COLUMNS:
        yield from _check_texts(graph, name)
    yield from _check_history(graph, progress)


def _check_codes(graph: Graph) -> Faults:
    """Codes use all of their bits, and streams end with an empty word."""
    pieces = graph.arrays.base["name.piece"]
    middle = name_codec.FIRST_PIECE + len(pieces) + 1
    codes = ("out.code", 0, 513), ("in.code", 0, 513), ("name.code", 0, middle), ("name.code", middle, middle + 257)
    for name, start, stop in codes:
        lengths = graph.arrays.base[name][start:stop].astype(np.int64)
        used = np.minimum(lengths[lengths > 0], MAX_CODE_BITS)
        if used.tolist() != [1] and (1 << (MAX_CODE_BITS - used)).sum() != 1 << MAX_CODE_BITS:
            yield Fault(name, "is not the lengths of a whole code")
    sizes = name_codec.piece_sizes(pieces)
    if (sizes < 2).any() or (pieces >> np.uint64(8) * sizes).any() or (name_codec.in_order(pieces) != pieces).any():
        yield Fault("name.piece", "is not pieces in order")
    for name in ("out.words", "in.words", "name.words", "repeat.words"):
        if len(words := graph.arrays.base[name]) and int(words[-1]):
            yield Fault(name, "does not end with an empty word")


def _check_links(graph: Graph, progress: Progress, pool: Threads) -> Faults:
    """Both directions can be read, are in order, and hold the same links."""
    sums: dict[str, int] = {}
    into = pool.submit(lambda: list(_check_direction(graph, "in", sums, progress)))
    faults = [*_check_direction(graph, "out", sums, progress), *into.result()]
    yield from faults
    if not faults and sums["out"] != sums["in"]:
        yield Fault("in.words", "holds other links than out.words")
    base = graph.arrays.base
    if len(base["repeat.words"]):
        yield from _check_bounds(base, "repeat")
    before = np.append(0, np.cumsum(base["out.degree"], dtype=np.int64))[:-1:PER_BASE]
    if len(base["out.weight"]) and (base["out.first"] != before.astype(np.uint64)).any():
        yield Fault("out.first", "does not match the number of links out")


def _check_direction(graph: Graph, name: str, sums: dict[str, int], progress: Progress) -> Faults:
    """The lists of one direction; sums[name] receives a hash of all its links."""
    n = graph.pages
    lists, other = (graph.out, graph.in_degree) if name == "out" else (graph.into, graph.out_degree)
    total = int(lists.degree.sum(dtype=np.int64))
    if total != len(graph.links):
        yield Fault(f"{name}.degree", f"adds up to {total:,} links, the manifest says {len(graph.links):,}")
        return
    counts, mixed = np.zeros(n, np.int64), np.zeros(1, np.uint64)
    for first in range(0, n, CHUNK_PAGES):
        count = min(CHUNK_PAGES, n - first)
        bad = check_direction(lists, first, count, name == "in", mixed, counts)
        if bad >= 0:
            yield Fault(f"{name}.words", f"the list of page {bad} cannot be read, or repeats itself")
            return
        progress("reading links", count, 2 * n)
    for page in np.flatnonzero(counts != other)[:1]:
        number = f"page {page} has {counts[page]:,} links in this direction"
        yield Fault(f"{name}.words", f"{number}, its degree is {other[page]:,}")
    sums[name] = int(mixed[0])
    yield from _check_bounds(graph.arrays.base, name)


def _check_bounds(base: StoreArrays, name: str) -> Faults:
    """The bounds of lists are written as they should be: each list begins where the one before it ends."""
    bounds, far, ends = base[f"{name}.bounds"], base[f"{name}.far"], np.zeros(base.pages, np.uint64)
    if len(bounds):  # from format 7 on
        list_bounds.read_ends(bounds, far, ends)
        if not all(map(np.array_equal, (bounds, far), list_bounds.packed(ends))):
            yield Fault(f"{name}.bounds", "is not where lists end, one after another")


def _check_names(graph: Graph, progress: Progress) -> Faults:
    """Names can be read, are in order, and lead back to their pages."""
    n, base = graph.arrays.base.pages, graph.arrays.base
    buffer, before = (np.empty(name_codec.MAX_KEY_BYTES, np.uint8) for _ in range(2))
    for first in range(0, n, CHUNK_PAGES):
        start = max(0, first - name_codec.NAMES_PER_BLOCK)  # the order must hold between chunks too
        count = min(CHUNK_PAGES, n - first)
        bad = check_names(graph.names.index, start, count + first - start, buffer, before)
        if bad >= 0:
            yield Fault("name.words", f"the name of page {bad} is damaged, out of order, or has another fingerprint")
            break
        progress("reading names", count, n)
    starts, pages, _ = look_up_arrays(base["fingerprint"], base.format > 1)
    if not np.array_equal(starts, base["look_up.start"]) or not np.array_equal(pages, base["look_up.page"]):
        yield Fault("look_up", "does not lead from every fingerprint to its page")
    if base.format == 1 and (twins := count_twins(graph)):
        shared = f"{twins:,} of other pages" if twins > 1 else "1 of another page"
        yield Fault("fingerprint", f"{shared}: in format 1, one may have the other's links")


def count_twins(graph: Graph) -> int:
    """The number of pages that have the fingerprint of another: by chance none, so somebody has made them."""
    kinds = graph.array("page.kind")
    return look_up_arrays(graph.fingerprints[kinds & GONE == 0] if len(kinds) else graph.fingerprints)[2]


def _check_references(graph: Graph) -> Faults:
    """Numbers that point into other arrays, and lists of pages that must ascend."""
    n, array = graph.pages, graph.array
    hosts, sites, domains = len(array("host.page")), len(array("site.page")), len(array("host.domain"))
    limits = {
        "page.site": sites,
        "page.host": hosts,
        "site.page": n,
        "alias.page": n,
        "alias.target": n,
        "host.domain": domains,
    }
    for name, limit in limits.items():
        if len(array(name)) and int(array(name).max()) >= limit:
            yield Fault(name, f"points beyond {limit:,}")
    if not _ascending(array("alias.page")):
        yield Fault("alias.page", "is not in order")
    if RemovedPages.of(graph.removed.entries) != graph.removed:
        yield Fault("removed", "is not in order")
    base = graph.arrays.base
    own, firsts = len(base["host.page"]), np.flatnonzero(np.diff(base["page.host"].astype(np.int64), prepend=-1))
    if not np.array_equal(firsts, base["host.page"]) or (base["page.host"][firsts] != np.arange(own)).any():
        yield Fault("page.host", "does not number hosts in the order of their pages")
    aliases = array("alias.page")
    there = aliases[aliases < n]
    linked = graph.out_degree[there].any() or graph.in_degree[there].any()
    if linked or np.isin(array("alias.target"), aliases).any():
        yield Fault("alias.page", "has links, or leads to another alias")


def _check_layers(graph: Graph) -> Faults:
    """New pages have names of their own; pages that are gone have no links; figures are those of the manifest."""
    arrays = graph.arrays
    if not arrays.layers:
        return
    for page in range(arrays.base.pages, graph.pages):
        if graph.names.find_number(graph.names.key(page)) != page:
            yield Fault("name.words", f"the name of page {page} is that of another page, or has another fingerprint")
            return
    gone = np.flatnonzero(graph.array("page.kind") & GONE)
    if graph.out_degree[gone].any() or graph.in_degree[gone].any():
        yield Fault("page.kind", "a page that is gone has links")
    if graph.pages - len(gone) != len(graph):
        yield Fault("page.kind", f"{graph.pages - len(gone):,} pages are there, the manifest says {len(graph):,}")


def _check_repeats(graph: Graph) -> Faults:
    """Links that a page has again: in order, of known blocks, each but once, never more than it has others."""
    for first, starts, links in graph.iter_links(CHUNK_PAGES) if len(graph.links.repeats.words) else ():
        owners = np.arange(first, first + len(starts) - 1)
        try:
            bounds, *repeated = graph.links.read_repeats(owners)
        except BadStore:
            yield Fault("repeat.words", "cannot be read, or has more links of a page than its list")
            return
        target, attribute = (each.astype(np.int64) for each in repeated)
        page, source = np.repeat(owners, np.diff(bounds)), np.repeat(owners, np.diff(starts))
        before, again = source << 32 | links.targets, page << 32 | target
        if not np.isin(again, before).all():
            yield Fault("repeat.words", "has links that are not in the page's list")
        elif len(again):
            order = np.argsort(before)
            at = order[np.searchsorted(before, again, sorter=order)]
            block = all_blocks(attribute)
            place = (page - first) << BLOCK_BITS | block
            is_valid = (block > 0) & (block != links.blocks[at] + 1)
            once = np.unique(np.stack([place, target]), axis=1).shape[1] == len(page)
            if (place[1:] < place[:-1]).any() or not is_valid.all() or not once:
                yield Fault("repeat.words", "is not in order, has no block of its own, or says the same twice")


def _check_derived(graph: Graph, progress: Progress) -> Faults:
    """Derived arrays are what `derive` computes from the links."""
    found: dict[str, list[NDArray[Any]]] = defaultdict(list)
    with Workers(2) as workers:
        for name, values in derive(graph.out, graph.into, graph.fingerprints, workers, progress):
            found[name].append(values)
    if graph.arrays.layers:
        yield from _check_layered(graph, {name: np.concatenate(parts) for name, parts in found.items()})
        return
    for name, parts in found.items():
        if not np.array_equal(np.concatenate(parts), graph.array(name)):
            yield Fault(name, "does not match the links")


def _check_layered(graph: Graph, derived: Arrays) -> Faults:
    """As above, with layers: rows are compared, wherever they are. Near-duplicates of very common templates may differ
    from those of a build, which compares each page with a limited number of others: they only have to make sense."""
    for kind in ("best", "sample"):
        stored, pages = graph.links.stored_parents(kind), derived[f"{kind}.page"]
        rows = np.split(derived[f"{kind}.parent"], max(1, len(pages)))[: len(pages)]
        kept: list[Any] = [graph.links.stored(kind, int(page)) for page in stored.page]
        same = np.array_equal(stored.page, pages)
        if not same or not all(np.array_equal(own, row) for own, row in zip(kept, rows, strict=True)):
            yield Fault(f"{kind}.parent", "does not match the links")
    degrees = graph.out_degree[derived["out.long.page"]].astype(np.int64)
    if not np.array_equal(graph.array("out.long.page"), derived["out.long.page"]):
        yield Fault("out.long.page", "does not match the links")
        degrees = degrees[:0]
    for first, name, sizes in (
        ("out.long.first", "out.skip.bit", -(-degrees // build_derive.SKIP_LINKS)),
        ("out.long.link", "out.long.target", degrees),
    ):
        places = places_of(graph.array(first)[: len(sizes)].astype(np.int64), sizes)
        values = graph.array(name)
        is_inside = 0 <= int(places.min(initial=0)) <= int(places.max(initial=-1)) < len(values)
        if len(sizes) and not (is_inside and np.array_equal(values[places], derived[name])):
            yield Fault(name, "does not match the links")
    pages, representatives = graph.facts.all_near_duplicates
    if not _ascending(pages) or not np.isin(representatives, pages).all():
        yield Fault("near.page", "is not in order, or a representative has no near-duplicates")


def _check_texts(graph: Graph, name: str) -> Faults:
    """A column of texts can be read, and its pages ascend."""
    column = graph.texts.column(name)
    try:
        pages = [page for page, _ in column.items()]
    except BadStore as error:
        yield Fault(name, str(error))
        return
    if len(pages) != len(column) or (pages and pages[-1] >= graph.pages) or not _ascending(np.array(pages)):
        yield Fault(f"{name}.pages", "is out of order or names pages that do not exist")
    for part in graph.arrays.parts:
        offsets = part[f"{name}.offset"]
        if len(offsets) and int(offsets[-1]) != len(part[f"{name}.data"]):
            yield Fault(f"{name}.offset", "does not end where the data do")


def _check_history(graph: Graph, progress: Progress) -> Faults:
    """All captures can be read, with their texts, and are as many as `history.shape` says."""
    try:
        history = history_of(graph)
        if history is None:
            return
        texts = [column for name in TEXT_COLUMNS[1:] if (column := history.text_column(name)) is not None]
        stored = np.full(history.pages, -1, np.int64)
        stored[history.number] = np.arange(len(history.number))
        history.extra_keys(0, int(history.extra.sum()))
        history.spelling_steps()
        captures = links = longest = 0
        for rows in history.read():
            sizes = np.diff(rows.captures.first)
            places = rows.row - captures != np.arange(len(sizes)), rows.first_link - links != rows.captures.first[:-1]
            if any(map(np.any, places)):
                yield Fault("history.first", "does not lead to the captures")
                return
            captures, links = captures + len(sizes), links + int(sizes.sum())
            longest = max(longest, int(sizes.max(initial=0)))
            for column in texts:
                column.of(rows, stored[rows.captures.page])
            progress("reading captures", len(sizes), history.count)
    except BadStore as error:
        yield Fault("history", str(error))
        return
    if (captures, links, longest) != (history.count, history.links, history.longest):
        yield Fault("history.edit", "has other captures than history.shape says")


def _ascending(values: NDArray[Any]) -> bool:
    """Whether each value is greater than the one before."""
    return bool((values[1:] > values[:-1]).all())
