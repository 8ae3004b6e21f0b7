"""Change a store: `add` and `remove` make a new generation from the old one, without its sources.

The old store is the first source of the build: its pages, links and texts go into the spill as they are.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadStore, UnknownPage
from cocite.graph.arrays import HAS_RECORD
from cocite.graph.build.names import key_array, spelling_orders
from cocite.graph.build.passes import BuildOptions, Built, RecordSource, build
from cocite.graph.build.scratch import ALIAS_ONLY, PAGE_KINDS, STORED, LinkColumns, RecordColumns
from cocite.graph.build.spill import Spill
from cocite.graph.clicks import renew_clicks
from cocite.graph.generation import Progress, changed_arrays, no_progress, remove_leftovers
from cocite.graph.removed import RemovedPages
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import pack_all
from cocite.pages.address import parse_query
from cocite.pages.key import APART, key
from cocite.sources.records import ReadReport

CHUNK_PAGES = 1 << 16
OLD_TAGS = "old.tags"


def add(
    sources: Iterable[RecordSource],
    path: Path,
    report: ReadReport,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
) -> Built:
    """Add pages to a store. A page that it has already gets the links of its newest capture."""
    built = build(sources, path, report, options, progress, old=Graph(path))
    renew_clicks(path)
    return built


def remove(
    addresses: Iterable[str], path: Path, options: BuildOptions | None = None, progress: Progress = no_progress
) -> Built:
    """Remove pages, with all links from and to them, for good: later adds leave them out too.

    Building the store again from its sources brings them back.
    """
    graph = Graph(path)
    keys = []
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
        keys.append(graph.names.key(graph.find(address)))
    built = build([], path, ReadReport(), options, progress, old=graph, remove=RemovedPages.of_keys(keys))
    renew_clicks(path)
    return built


def reread(old: Graph, spill: Spill, progress: Progress) -> None:
    """Put everything that an existing store has into a spill.

    Every byte of it is verified before: a new generation has checksums of its own, which would hide old damage.
    """
    with ThreadPoolExecutor(2) as pool:
        for name in changed_arrays(old.arrays, old.manifest["arrays"], progress, pool):
            raise BadStore(
                f"{old.path} is damaged (the bytes of {name} do not match their checksum): build it again from its "
                "sources, which cocite info names; nothing was changed"
            )
    try:
        _put_all(old, spill, progress)
    except (IndexError, ValueError) as error:  # numbers that point nowhere
        raise old.damaged() from error


def _tags(old: Graph, spill: Spill) -> NDArray[np.uint64]:
    """The tags of all pages of an old store, 0 for those to remove: links name their targets in any order."""
    names, scratch = spill.names, spill.scratch
    for first in range(0, old.pages, CHUNK_PAGES):
        count = min(CHUNK_PAGES, old.pages - first)
        data, offsets = old.names.keys(first, count)
        tags, _ = names.tag_keys(data, offsets)
        tags[names.removed.among(data, offsets)] = 0
        scratch.append({OLD_TAGS: tags})
    scratch.close()
    return scratch.column(OLD_TAGS, np.uint64, mapped=True)


def _put_all(old: Graph, spill: Spill, progress: Progress) -> None:
    texts = {name: old.texts.column(name) for name in spill.texts if f"{name}.pages" in old.arrays}
    tags = _tags(old, spill)
    for first, starts, links, weight, distinct in old.links.iter_all(CHUNK_PAGES):
        count = len(starts) - 1
        part = partial(old.arrays.part, first=first, count=count)
        own, targets, kind = tags[first : first + count], tags[links.targets], part("page.kind")
        leads = old.names.alias_targets(first, count)
        lead = np.where(leads < 0, np.uint64(0), np.maximum(tags[leads], 1))  # no page has the tag 1: a removed one
        has_record = ((kind & HAS_RECORD) > 0) | (leads >= 0)
        kept = own != 0
        pages = first + np.flatnonzero(kept)
        spelling = old.array("name.spelling")[pages]
        apart = zip(pages.tolist(), (spelling == APART).tolist(), strict=True)
        shown = [old.address(page) if is_apart else None for page, is_apart in apart]
        orders = (spelling_orders(spelling, own=True), spelling_orders(spelling, own=False))
        order, keys = np.where(has_record[kept], *orders), key_array(*old.names.keys(first, count), kept)
        spill.names.put(f"old-{first}", key=keys, order=order, tag=own[kept], shown=shown)
        number = spill.reserve(len(targets))
        spill.again += len(targets) - distinct
        records = RecordColumns(
            # Pages known from links only have no record: nothing of theirs may compete with a record that is added.
            tag=np.where(has_record, own, np.uint64(0)),
            kind=((kind & PAGE_KINDS) | STORED | np.where(lead > 0, ALIAS_ONLY, 0)).astype(np.uint8),
            alias=lead,
            captured=part("page.captured"),
            status=part("page.status"),
            language=part("page.language"),
            first_link=starts,
        )
        columns = {name: pa.array(column.between(first, count), pa.string()) for name, column in texts.items()}
        spill.put(number, records, LinkColumns(targets, weight, pack_all(links.blocks + 1, links.flags)), columns)
        progress("reading the old store", distinct, len(old.links))
