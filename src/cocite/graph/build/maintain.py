"""Change a store without its sources: `add` and `remove` write a layer, `compact` folds the layers into a new base.

`commit` writes a layer: it runs the passes of a build on the pages that take part. `rewrite` makes a new generation:
there the old store is the first source of the build, and its pages, links and texts go into the spill as they are.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadStore, LockedStore, UnknownPage
from cocite.graph import generation
from cocite.graph.arrays import GONE, Arrays, places_of
from cocite.graph.build.commit import Change, Commit, put_names, stored_records
from cocite.graph.build.compaction import linked_copy, replace_base
from cocite.graph.build.merge_layers import layers_to_merge, merge
from cocite.graph.build.passes import BuildOptions, Built, Passes, Past, RecordSource, build
from cocite.graph.build.scratch import LinkColumns, ScratchSpace, Workers
from cocite.graph.build.sort_links import SKIP_CAUSES
from cocite.graph.build.spill import Spill
from cocite.graph.changes.history import history_of
from cocite.graph.changes.layers import LayeredArrays, layer_bytes
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.clicks import renew_clicks
from cocite.graph.generation import Progress, no_progress, remove_leftovers
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import pack_all
from cocite.kernels.interpreted import Threads
from cocite.pages.address import parse_query
from cocite.pages.key import key
from cocite.pages.site import Sites
from cocite.sources.records import ReadReport

CHUNK_PAGES = 1 << 16
OLD_TAGS = "old.tags"
MIN_REWRITE_BYTES = 64 << 20  # of sources; from a quarter of the store on, it is rewritten
MIN_COMPACT_BYTES = 1 << 20  # of layers
COMPACT_SHARE = 2
"""A layer of half of the base is folded into it: so a link is rewritten a few times, however many commits there are."""


def add(
    sources: Iterable[RecordSource],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    compacts: bool = True,
) -> Built:
    """Add pages to a store. A page that it has already gets the links of its newest capture.

    Few pages become a layer. Where the sources are large beside the store, it is rewritten: that takes less time and a
    bounded amount of memory. So it is where texts that it has are no longer wanted. Layers that have become large are
    folded into the store, unless somebody else `compacts` it.
    """
    sources, options = list(sources), options or BuildOptions()
    size, (_, manifest, _) = sum(getattr(each, "size_bytes", 0) for each in sources), generation.read_pointer(path)
    large = size > max(MIN_REWRITE_BYTES, base_bytes(manifest) // 4)
    drops = any(manifest["options"].get(name, True) and not getattr(options, name) for name in ("text", "anchors"))
    work = rewrite if large or drops or is_old(manifest) or "history" in manifest else commit
    built = work(sources, path, report, options, progress)
    if compacts and is_compaction_due(path):
        with suppress(LockedStore):  # somebody else compacts it
            compact(path, options, progress)
    renew_clicks(path)
    return built


def is_compaction_due(path: Path) -> bool:
    """Whether the layers of a store have become large beside its base: the largest of them, or all together.

    Small layers that were not merged yet count little: each has the whole in-list of every page that it links to.
    """
    while True:
        _, manifest, layers = generation.read_pointer(path)
        try:
            sizes = [(path / layer.file).stat().st_size for layer in layers]
            break
        except FileNotFoundError:
            if generation.read_pointer(path)[2] == layers:  # else a commit has merged them meanwhile
                raise
    size = max(max(sizes, default=0) * COMPACT_SHARE, sum(sizes) // COMPACT_SHARE)
    return sum(sizes) >= MIN_COMPACT_BYTES and size >= base_bytes(manifest)


def is_old(manifest: dict[str, Any]) -> bool:
    """Whether a store is of an older format: a rewrite converts it."""
    return int(manifest["format"]) < generation.FORMAT_NUMBER


def compact(
    path: Path,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    prepare: Callable[[Path], object] = lambda copy: None,
) -> Built:
    """Fold the layers of a store into a new base. What is committed meanwhile becomes a layer on it.

    `prepare` may make side data of the compacted store, at the path that it is given, before it is used.
    """
    old = Graph(path)
    if history_of(old) is not None:  # it has no layers, and is rewritten from its captures
        built = rewrite([], path, ReadReport(), options, progress)
        renew_clicks(path)
        return built
    with linked_copy(path) as copy:
        try:
            old = Graph(copy)
            built = rewrite([], copy, ReadReport(), options, progress)
            prepare(copy)
        except BadStore as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from error
        replaced = replace_base(path, old, copy)
    if not replaced:
        built = rewrite([], path, ReadReport(), options, progress)
    renew_clicks(path)
    now = Graph(path)
    return replace(built, path=path, bytes=base_bytes(now.manifest), pages=now.pages, links=len(now.links))


def base_bytes(manifest: dict[str, Any]) -> int:
    """The size of the arrays of a base."""
    return sum(int(each["length"]) * np.dtype(each["type"]).itemsize for each in manifest["arrays"].values())


def commit(
    sources: Iterable[RecordSource],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    remove: RemovedPages | None = None,
) -> Built:
    """Write a layer with new records, or without some pages. It costs what they touch, not what the store has."""
    options, started = options or BuildOptions(), time.perf_counter()
    with generation.new_generation(path) as (work, _):
        old = Graph(path)
        change, passes = make_change(old, sources, report, options, progress, remove)
        manifest, size = old.manifest, 0
        if change is not None:
            manifest, (parts, checksum) = change.manifest, layer_bytes(change.manifest, change.arrays)
            generation.publish_layer(path, parts, checksum, generation.read_pointer(path)[2], work)
            size = sum(map(len, parts))
        merge_layers(path, work)  # in any case: a killed commit may not have come so far
        generation.remove_unnamed(path)  # which killed commands have left; they may have removed pages in them
        twins = 0 if change is None else count_changed_twins(old, change)
        passes.note_seconds("finish")
    took, left_out = time.perf_counter() - started, dict.fromkeys(SKIP_CAUSES, 0)
    left_out |= {} if change is None else change.left_out
    read = manifest["links"] + sum(left_out.values())  # as a build counts them
    return Built(path, manifest["pages"], manifest["links"], size, took, report, read, left_out, passes.seconds, twins)


def count_changed_twins(old: Graph, change: Change) -> int:
    """How many of the new and changed pages have the fingerprint of another page: somebody has made their addresses.

    Others are not looked at, for that would take a pass over the store: `cocite check` counts all.
    """
    facts, index, none = change.graph.arrays.of_pages, old.names.index, np.zeros(0, np.uint32)
    changed = np.union1d(change.arrays.get("fact.page", none), change.arrays.get("record.page", none))
    changed = changed[facts("page.kind", changed) & GONE == 0]
    wanted, own = np.unique(facts("fingerprint", changed), return_counts=True)
    buckets = np.unique(wanted >> np.uint64(65 - (len(index.start) - 1).bit_length())).astype(np.int64)
    lows, highs = (index.start[buckets + more].astype(np.int64) for more in (0, 1))
    near = index.page[places_of(lows, highs - lows)].astype(np.int64)
    if int(near.max(initial=0)) >= max(1, old.pages):
        raise old.damaged()
    near = np.append(near, np.arange(old.arrays.base.pages, change.graph.pages))
    near = near[(facts("page.kind", near) & GONE == 0) & np.isin(facts("fingerprint", near), wanted)]
    _, all_of_them = np.unique(facts("fingerprint", near), return_counts=True)
    return int(np.minimum(own, all_of_them - 1).sum())


def merge_layers(path: Path, work: Path) -> None:
    """Merge the newest layers of a store if it has too many."""
    layers = generation.read_pointer(path)[2]
    if count := layers_to_merge([(path / layer.file).stat().st_size for layer in layers]):
        arrays = Arrays.open(path)
        assert isinstance(arrays, LayeredArrays)
        generation.publish_layer(path, *layer_bytes(*merge(arrays, count)), layers[:-count], work)


def make_change(
    old: Graph,
    sources: Iterable[RecordSource],
    report: ReadReport,
    options: BuildOptions,
    progress: Progress = no_progress,
    remove: RemovedPages | None = None,
) -> tuple[Change | None, Passes]:
    """What new records, or the removal of pages, change; None if nothing. Also the passes."""
    remove, sites, writer = remove or RemovedPages(), Sites(options.platforms), generation.MemoryWriter()
    with Workers(options.threads) as workers:
        passes = Passes(ScratchSpace(), writer, workers, report, options, progress, removed=old.removed + remove)
        spill = passes.new_spill(sites, options.memory)
        spill.reserve(0)  # for the pages of the store that take part
        described = passes.read_sources(sources, spill)
        passes.note_seconds("read")
        numbers = [old.names.find_number(key) for key in remove.keys]
        removed = np.array(sorted(page for page in numbers if page >= 0 and old.names.exists(page)), np.int64)
        change = Commit(old, spill, sites, remove, removed).change(described, dict(report.skipped))
        passes.note_seconds("compare")
    return change, passes


def remove(
    addresses: Iterable[str], path: Path, options: BuildOptions | None = None, progress: Progress = no_progress
) -> Built:
    """Remove pages, with all links from and to them, for good: later adds leave them out too.

    Building the store again from its sources brings them back.
    """
    graph = Graph(path)
    history, keys = history_of(graph), []
    for address in addresses:
        with suppress(BadAddress):  # the address may be an alias, which goes too
            keys.append(key(parse_query(address).canonical).encode())
            if graph.get(address) is None and keys[-1] in graph.removed:
                with suppress(BadStore):  # another command is writing, and does it
                    remove_leftovers(path)  # an earlier remove may have been killed before this, or before the clicks
                renew_clicks(path)
                raise UnknownPage(f"{address[:200]!r} was removed already: leave it out; nothing was changed")
            if graph.get(address) is None and graph.removed.is_weak(keys[-1]):
                continue  # its entry gets a digest
            if graph.get(address) is None and history is not None and history.has_extra(keys[-1]):
                continue  # only older captures have it
        keys.append(graph.names.key(graph.find(address)))
    work = rewrite if is_old(graph.arrays.base.manifest) or history is not None else commit
    built = work([], path, ReadReport(), options, progress, remove=RemovedPages.of_keys(keys))
    renew_clicks(path)
    return built


def rewrite(
    sources: Iterable[RecordSource],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    remove: RemovedPages | None = None,
) -> Built:
    """Build the store anew from itself, with more sources and without some pages. Its layers become one with it.

    A store with history is built from all of its captures.
    """
    old = Graph(path)
    if (history := history_of(old)) is None:
        return build(sources, path, report, options, progress, old=old, remove=remove)
    verify(old, progress)
    options, removed = replace(options or BuildOptions(), history=True), old.removed + (remove or RemovedPages())
    return build(sources, path, report, options, progress, remove=removed, past=Past(history))


def reread(old: Graph, spill: Spill, progress: Progress) -> None:
    """Put everything that an existing store has into a spill."""
    verify(old, progress)
    try:
        _put_all(old, spill, progress)
    except (IndexError, ValueError) as error:  # numbers that point nowhere
        raise old.damaged() from error


def verify(old: Graph, progress: Progress) -> None:
    """Verify every byte of a store: a new generation has checksums of its own, which would hide old damage."""
    with Threads(2) as pool:
        for name in old.arrays.changed(progress, pool):
            raise BadStore(
                f"{old.path} is damaged (the bytes of {name} do not match their checksum): build it again from its "
                "sources, which cocite info names; nothing was changed"
            )


def _tags(old: Graph, spill: Spill) -> NDArray[np.uint64]:
    """The tags of all pages of an old store, 0 for those to remove: links name their targets in any order."""
    names, scratch = spill.names, spill.scratch
    for first in range(0, old.pages, CHUNK_PAGES):
        count = min(CHUNK_PAGES, old.pages - first)
        data, offsets = old.names.keys(first, count)
        tags, _ = names.tag_keys(data, offsets)
        tags[names.removed.among(data, offsets) | (old.array("page.kind")[first : first + count] & GONE > 0)] = 0
        scratch.append({OLD_TAGS: tags})
    scratch.close()
    return scratch.column(OLD_TAGS, np.uint64, mapped=True)


def _put_all(old: Graph, spill: Spill, progress: Progress) -> None:
    texts = {name: old.texts.column(name) for name in spill.texts if len(old.array(f"{name}.pages"))}
    tags = _tags(old, spill)
    for first, starts, links, weight, distinct in old.links.iter_all(CHUNK_PAGES):
        count = len(starts) - 1
        part = partial(old.arrays.part, first=first, count=count)
        own, targets = tags[first : first + count], tags[links.targets]
        leads = old.names.alias_targets(first, count)
        lead = np.where(leads < 0, np.uint64(0), np.maximum(tags[leads], 1))  # no page has the tag 1: a removed one
        pages, keys = first + np.arange(count), old.names.keys(first, count)
        put_names(old, spill, f"old-{first}", pages, keys, own, leads >= 0)
        number = spill.reserve(len(targets))
        spill.again += len(targets) - distinct
        records = stored_records(own, lead, starts, part)
        columns = {name: pa.array(column.between(first, count), pa.string()) for name, column in texts.items()}
        spill.put(number, records, LinkColumns(targets, weight, pack_all(links.blocks + 1, links.flags)), columns)
        progress("reading the old store", distinct, len(old.links))
