"""A commit: new records and removals → a layer, at the cost of the pages that they touch.

The passes of a build run in memory on a small web: the new records, and from the store only the pages whose records
compete with them, whose addresses become or cease to be aliases, or that link to such pages. What comes out is what a
build of everything would have for those pages. The rest of the layer follows from comparing it with the store:
changed links change the in-links of their targets; see commit_derived.py for what depends on those.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadStore
from cocite.graph.arrays import GONE, HAS_RECORD, TYPE_OF, Arrays, Keys, distinct, find_in
from cocite.graph.build.commit_derived import ChangedParents, derived_arrays
from cocite.graph.build.commit_units import Units
from cocite.graph.build.gather_texts import gather_texts
from cocite.graph.build.in_lists import changed_in_lists
from cocite.graph.build.name_pieces import encode_keys, name_code
from cocite.graph.build.names import NAME_COLUMNS, Tags, key_array, spelling_orders, text_buffers
from cocite.graph.build.number import TAGS, keep_pages, number_pages
from cocite.graph.build.resolve import NumberedSpill
from cocite.graph.build.scratch import ALIAS_ONLY, PAGE_KINDS, STORED, LinkColumns, RecordColumns, Workers
from cocite.graph.build.sort_links import LinkSorter, starts_of
from cocite.graph.build.spill import RECORD_TEXTS, Spill
from cocite.graph.changes.layers import NONE, PAGE_FACTS, Layer, LayeredArrays
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.encode import encode
from cocite.graph.generation import LAYER_FORMAT, MemoryWriter, digest, no_progress
from cocite.graph.huffman import Code
from cocite.graph.links import LinkRows
from cocite.graph.names import codes_of, packed
from cocite.graph.store import Graph
from cocite.graph.texts import TextWriter
from cocite.kernels.codec.attributes import pack_all
from cocite.pages.key import APART
from cocite.pages.site import Sites

NEWEST_SECOND = (1 << 32) - 1
MEMORY_BYTES = 1 << 30
Pages = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]


class Change(NamedTuple):
    """A layer to be written: what its manifest says, and its arrays."""

    manifest: dict[str, Any]
    arrays: Columns
    left_out: dict[str, int]
    graph: Graph  # the store as it is with it


class TouchedWeb(NamedTuple):
    """What the passes made of the pages that a commit touches."""

    graph: Graph | None  # None: no page is left of them
    number: Pages  # of each of its pages in the store
    fresh: NDArray[np.bool_]  # which of them are new
    left_out: dict[str, int]


@dataclass
class Commit:
    """One commit to a store, whose new records are in a spill; block 0 of the spill is reserved for old pages."""

    old: Graph
    spill: Spill
    sites: Sites
    remove: RemovedPages
    removed_pages: Pages  # numbers of the pages of `remove` that the store has
    _more_units: dict[str, list[int]] = field(
        default_factory=lambda: {"host.page": [], "host.domain": [], "site.page": []}
    )  # rows of new hosts and sites

    def change(self, sources: list[dict[str, Any]], skipped: dict[str, int]) -> Change | None:
        """The layer; None if nothing would change."""
        self._put_old()
        web = self._small_web()
        self._compare(web)
        arrays = self._arrays(web)
        if not arrays:
            return None
        manifest = self._manifest(sources, skipped)
        if not manifest["pages"]:
            raise BadStore(f"no page would be left in {self.old.path}: delete the folder instead")
        added, lost = np.sort(turn(self.added)), distinct(self.dropped.astype(np.uint32))
        parents = ChangedParents((added >> np.uint64(32)).astype(np.uint32), added.astype(np.uint32), lost)
        graph = with_layer(self.old, manifest, arrays)
        arrays |= derived_arrays(self.old, graph, arrays, parents)
        manifest["id"] = layer_id(self.old.manifest["id"], arrays)
        return Change(manifest, arrays, web.left_out, graph)

    # What of the store takes part

    def _put_old(self) -> None:
        """Choose the pages of the store that take part, and put them into block 0."""
        old, names = self.old, self.spill.names
        keys, tags = self._mentioned()
        mentioned = old.names.find_numbers(*keys)
        self._page_of = dict(zip(tags.tolist(), mentioned.tolist(), strict=True))
        records = [self.spill.records_of(block) for block in range(1, self.spill.blocks)]
        own = {self._page_of.get(tag, -1) for each in records for tag in each.tag.tolist() + each.alias.tolist()}
        moved = {self._page_of.get(tag, -1) for each in records for tag in each.tag[each.has(ALIAS_ONLY)].tolist()}
        competing = {page for page in own if page >= 0} | set(self.removed_pages.tolist())
        competing |= self._alias_relatives(competing)
        linking = [old.links_to(page) for page in {*moved, *self.removed_pages.tolist()} if page >= 0]
        through = np.intersect1d(mentioned, old.array("alias.page"))  # links to them lead elsewhere
        leads = [old.alias_target(page) for page in through.tolist()]
        taking_part = [np.array(sorted(competing), np.int64), through, *linking]
        self.taking_part = distinct(np.concatenate(taking_part).astype(np.int64))
        self.rows = old.links.read_pages(self.taking_part)
        known: list[Any] = [self.taking_part, self.rows.links.targets, mentioned[mentioned >= 0], leads]
        self.known = distinct(np.concatenate(known).astype(np.int64))
        self.known = self.known[self._facts("page.kind", self.known) & GONE == 0]
        data, offsets = old.names.keys_of(self.known)
        tag_of, _ = names.tag_keys(data, offsets)
        tag_of[names.removed.among(data, offsets)] = 0
        is_alias = np.isin(self.known, old.array("alias.page"))
        put_names(old, self.spill, "old", self.known, (data, offsets), tag_of, is_alias)
        self._put_records(tag_of)
        self.spelling = self._spellings(dict(zip(tag_of.tolist(), self.known.tolist(), strict=True)))

    def _mentioned(self) -> tuple[Keys, NDArray[np.uint64]]:
        """The names that the new records mention: their keys and tags, each once."""
        table = self._new_names()
        tags, first = np.unique(table["tag"].to_numpy(), return_index=True)
        keys = table["key"].take(pa.array(first)).cast(pa.large_binary()).combine_chunks()
        return text_buffers(keys), tags

    def _new_names(self) -> pa.Table:
        return pa.concat_tables([NAME_COLUMNS.empty_table(), *self.spill.scratch.tables(".names")])

    def _spellings(self, page_of: dict[int, int]) -> dict[int, tuple[int, str | None]]:
        """How old pages are shown from now on: the best spelling in the store and in any new record."""
        names = ("tag", "order", "shown")
        rows = self._new_names().select(names).sort_by([(name, "ascending") for name in names])
        tags = rows["tag"].to_numpy()
        first = np.flatnonzero(np.append(True, tags[1:] != tags[:-1])) if len(tags) else np.zeros(0, np.int64)
        first = first[np.isin(tags[first], np.array([*page_of], np.uint64))]
        chosen = zip(*(rows[name].take(pa.array(first)).to_pylist() for name in names), strict=True)
        return {page_of[tag]: (order & 0xFF, shown) for tag, order, shown in chosen if tag}

    def _alias_relatives(self, pages: set[int]) -> set[int]:
        """Where pages lead, if they are aliases, and the aliases that lead to the same pages."""
        aliases, targets = self.old.array("alias.page"), self.old.array("alias.target")
        if not len(aliases):
            return set()
        ends = np.array(sorted(pages | {self.old.alias_target(page) for page in pages}), np.uint32)
        return {*ends.tolist(), *aliases[np.isin(targets, ends)].tolist()}

    def _put_records(self, tag_of: NDArray[np.uint64]) -> None:
        """The records of the pages that take part, as a rewrite of the store would put them."""
        old, pages, rows = self.old, self.taking_part, self.rows

        def tags(some: NDArray[Any]) -> Tags:
            return np.append(tag_of, np.uint64(0))[find_in(self.known, some)]

        leads = np.array([old.alias_target(page) for page in pages.tolist()], np.int64)
        lead = np.where(leads != pages, np.maximum(tags(leads), 1), np.uint64(0))
        records = stored_records(tags(pages), lead, rows.starts, partial(self._facts, pages=pages))
        texts = {}
        for name in self.spill.texts:
            column = old.texts.column(name)
            texts[name] = pa.array([column[page] or None for page in pages.tolist()], pa.string())
        self.spill.links += len(rows.links.targets)
        self.spill.again += len(rows.links.targets) - rows.distinct
        links = LinkColumns(tags(rows.links.targets), rows.weights, pack_all(rows.links.blocks + 1, rows.links.flags))
        self.spill.put(0, records, links, texts)

    def _facts(self, name: str, pages: Pages) -> NDArray[Any]:
        return self.old.arrays.of_pages(name, pages)

    def _small_web(self) -> TouchedWeb:
        """Run the passes of a build on what takes part."""
        scratch, writer = self.spill.scratch, MemoryWriter()
        nothing = TouchedWeb(None, np.zeros(0, np.int64), np.zeros(0, np.bool_), {})
        if not scratch.names(".names"):
            return nothing
        with Workers(0) as workers:
            pages = number_pages(scratch, writer, None, MEMORY_BYTES, workers, no_progress)  # `Units` has their sites
            numbered = NumberedSpill(self.spill, pages, workers)
            numbered.number(np.asarray(scratch.column(TAGS, np.uint64)), MEMORY_BYTES, no_progress)
            numbered.choose_records(undated=NEWEST_SECOND)
            kept = numbered.referenced()
            if kept is not None and not kept.any():
                targets = [self.spill.targets_of(block) for block in range(self.spill.blocks)]
                usable = sum(int(np.count_nonzero(each)) for each in targets)  # of records that don't count
                return nothing._replace(left_out={"replaced": usable, "unusable": sum(map(len, targets)) - usable})
            if kept is not None and not kept.all():
                keep_pages(writer, None, workers, kept)
                numbered.keep_only(kept)
            numbered.write_records(writer)
            sorter = LinkSorter(numbered, writer, MEMORY_BYTES, no_progress)
            out, _ = sorter.sort()
            gather_texts(numbered, writer, MEMORY_BYTES, no_progress)
        manifest = {"id": "", "pages": numbered.pages, "links": int(out.degree.sum(dtype=np.int64))}
        graph = Graph(Arrays(writer.all(), manifest))
        number = self.old.names.find_numbers(*graph.names.keys(0, graph.pages))
        fresh = number < 0
        number[fresh] = self.old.pages + np.arange(int(fresh.sum()))
        return TouchedWeb(graph, number, fresh, sorter.left_out)

    # What differs

    def _compare(self, web: TouchedWeb) -> None:
        """Find the pages that changed, and how their links did."""
        graph, none = web.graph, np.zeros(0, np.int64)
        known = web.number[~web.fresh]
        gone = np.zeros(len(web.number), np.bool_)
        gone[~web.fresh] = self._facts("page.kind", known) & GONE > 0
        taking_part = np.isin(web.number, self.taking_part)
        self.decided = np.flatnonzero(web.fresh | gone | taking_part)  # pages of the small web that decide
        self.decided = self.decided[np.argsort(web.number[self.decided])]
        self.new = int(web.fresh.sum())
        self.after = distinct(np.append(self.taking_part, web.number[self.decided]))  # pages that may change
        local = np.full(len(self.after), -1, np.int64)
        local[np.searchsorted(self.after, web.number[self.decided])] = self.decided
        self.local = local  # their pages in the small web, -1: dropped
        there = local[local >= 0]
        rows = graph.links.read_pages(there) if graph is not None else LinkRows.empty()
        targets = web.number[rows.links.targets] if len(rows.links.targets) else none
        self.new_rows = LinkRows(
            *_spread(rows, local >= 0), rows.links._replace(targets=targets.astype(np.uint32)), rows.weights
        )
        old_pages = np.isin(self.after, self.taking_part)
        self.old_rows = LinkRows(*_spread(self.rows, old_pages), self.rows.links, self.rows.weights)
        changed = [self.old_rows.row(i) != self.new_rows.row(i) for i in range(len(self.after))]
        self.out_changed = np.array(changed, np.bool_)
        before, now = (each.pairs(self.after, self.out_changed) for each in (self.old_rows, self.new_rows))
        self.added = np.setdiff1d(now, before, assume_unique=True)
        self.dropped = np.setdiff1d(before, now, assume_unique=True)

    def _arrays(self, web: TouchedWeb) -> Columns:
        """All arrays of the layer but the derived ones."""
        rows = self.new_rows.some(self.out_changed)
        self._into = changed_in_lists(self.old, *(np.sort(turn(each)) for each in (self.added, self.dropped)))
        arrays = out_arrays(self.old.arrays.base, self.after[self.out_changed], rows) | self._into
        arrays |= self._aliases(web)
        facts = self._new_facts(web)
        arrays |= self._names(web, facts)
        arrays |= self._texts(web, arrays)
        if len(self.remove) and self.remove != self.old.removed:
            arrays |= (self.old.removed + self.remove).arrays()
        return {name: values for name, values in arrays.items() if len(values)}

    def _aliases(self, web: TouchedWeb) -> Columns:
        """Aliases that came, went, or lead elsewhere."""
        old, graph, rows = self.old, web.graph, {}
        for page, local in zip(self.after.tolist(), self.local.tolist(), strict=True):
            before = old.alias_target(page) if page < old.pages else page
            now = page
            if local >= 0 and graph is not None:
                now = int(web.number[graph.alias_target(local)])
            if now != before:
                rows[page] = now if now != page else NONE
        self._alias_rows = rows
        return {"alias.page": np.array(list(rows), np.uint32), "alias.target": np.array(list(rows.values()), np.uint32)}

    def _new_facts(self, web: TouchedWeb) -> dict[str, NDArray[Any]]:
        """The facts of all pages that may have changed, by array; then only of those that did."""
        old, graph = self.old, web.graph
        lost = distinct(self.dropped & np.uint64(NONE)).astype(np.int64)  # pages that lost an in-link
        mentioned = np.array([*web.number[~web.fresh].tolist(), *self.spelling], np.int64)
        pages = distinct(np.concatenate([self.after, lost, mentioned]))
        is_old = pages < old.pages
        facts: Columns = {}
        for name in PAGE_FACTS:
            facts[name] = np.zeros(len(pages), TYPE_OF[name])
            facts[name][is_old] = self._facts(name, pages[is_old])
        before = {name: values.copy() for name, values in facts.items()}
        at, of_web = np.searchsorted(pages, self.after), self.local >= 0
        for name in ("page.kind", "page.captured", "page.status", "page.language"):
            values = graph.array(name) if graph is not None else np.zeros(0, TYPE_OF[name])
            facts[name][at] = 0
            if len(values):
                facts[name][at[of_web]] = values[self.local[of_web]]
        spelled = np.searchsorted(pages, np.array(list(self.spelling), np.int64))
        facts["name.spelling"][spelled] = [spelling for spelling, _ in self.spelling.values()]
        if graph is not None:
            rows = np.searchsorted(pages, web.number)
            facts["name.spelling"][rows[web.fresh]] = graph.array("name.spelling")[web.fresh]
            facts["fingerprint"][rows] = graph.fingerprints
            Units(old, self.sites).fill(graph, web.number, web.fresh, rows, facts, self._more_units)
        gone = self._unreferenced(pages, facts["page.kind"])
        facts["page.kind"][gone] = GONE
        changed = ~is_old
        for name in PAGE_FACTS:
            changed |= facts[name] != before[name]
        changed[is_old] |= self._shown_changed(pages[is_old])
        self._gone_before = int((before["page.kind"][changed] & GONE > 0).sum())
        self._gone_after = int((facts["page.kind"][changed] & GONE > 0).sum())
        return {"fact.page": pages[changed].astype(np.uint32), **{name: facts[name][changed] for name in PAGE_FACTS}}

    def _shown_changed(self, pages: Pages) -> NDArray[np.bool_]:
        """Which pages have another spelling of their own that flags can't give."""
        changed = np.zeros(len(pages), np.bool_)
        for at in np.flatnonzero(self._facts("name.spelling", pages) == APART).tolist():
            spelling, shown = self.spelling.get(int(pages[at]), (APART, None))
            changed[at] = spelling != APART or (shown is not None and shown != self.old.address(int(pages[at])))
        return changed

    def _unreferenced(self, pages: Pages, kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which pages nothing refers to any more: no record, no link, no alias."""
        old = self.old
        degrees = np.zeros(len(pages), np.int64)
        degrees[pages < old.pages] = old.in_degree[pages[pages < old.pages]]
        changed = np.isin(pages, self._into["in.page"])
        degrees[changed] = self._into["in.degree"][np.searchsorted(self._into["in.page"], pages[changed])]
        gone: NDArray[np.bool_] = (kinds & HAS_RECORD == 0) & (degrees == 0)
        if gone.any():
            aliases, targets = old.array("alias.page"), old.array("alias.target")
            stay = ~np.isin(aliases, np.array(list(self._alias_rows), np.uint32))
            now = {page: target for page, target in self._alias_rows.items() if target != NONE}
            gone &= ~np.isin(pages, np.concatenate([aliases[stay], targets[stay], [*now], [*now.values()]]))
        return gone

    def _names(self, web: TouchedWeb, facts: Columns) -> Columns:
        """The facts, the names of new pages, and spellings that flags can't give."""
        arrays = dict(facts) | {name: np.array(rows, np.uint32) for name, rows in self._more_units.items()}
        writer, graph, self._new_keys = MemoryWriter(), web.graph, list[bytes]()
        if graph is None:
            return arrays
        local = dict(zip(web.number.tolist(), range(len(web.number)), strict=True))

        def shown() -> Iterator[tuple[int, str]]:
            for page in facts["fact.page"][facts["name.spelling"] == APART].tolist():
                _, text = self.spelling.get(page, (APART, None))
                if text is None:
                    text = graph.address(local[page]) if page in local else self.old.address(page)
                yield page, text

        TextWriter.write(writer, "shown", shown())
        arrays |= columns_with_texts(writer, ["shown"])
        if web.fresh.any():
            places = np.flatnonzero(web.fresh)
            keys = self._new_keys = [graph.names.key(int(place)) for place in places]
            arrays |= encoded_names(self.old.arrays.base, packed(keys))
            arrays["name.before"] = np.array([self.old.names.pages_before(key) for key in keys], np.uint32)
        return arrays

    def _texts(self, web: TouchedWeb, arrays: Columns) -> Columns:
        """The texts of pages whose record or links changed."""
        old, graph, writer = self.old, web.graph, MemoryWriter()
        texts: dict[int, list[str]] = {}
        every = zip(self.after.tolist(), self.local.tolist(), self.out_changed.tolist(), strict=True)
        for page, local, changed in every:
            before = now = [""] * len(RECORD_TEXTS)
            if local >= 0 and graph is not None:
                now = [graph.texts.column(name)[local] for name in RECORD_TEXTS]
            if page < old.pages:
                before = [old.texts.column(name)[page] for name in RECORD_TEXTS]
            if changed or now != before:
                texts[page] = now
        for at, name in enumerate(RECORD_TEXTS):
            TextWriter.write(writer, name, ((page, now[at]) for page, now in texts.items()))
        return {"record.page": np.array([*texts], np.uint32)} | columns_with_texts(writer, RECORD_TEXTS)

    def _manifest(self, sources: list[dict[str, Any]], skipped: dict[str, int]) -> dict[str, Any]:
        old = self.old.manifest
        aliases = sum(1 for target in self._alias_rows.values() if target != NONE)
        aliases -= sum(1 for page in self._alias_rows if page < self.old.pages and self.old.alias_target(page) != page)
        opaque = sum(key[0] < ord(" ") for key in self._new_keys)
        more = {name: len(rows) for name, rows in self._more_units.items()}
        return {
            "format": LAYER_FORMAT,
            "id": "",
            "built": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": f"cocite {__version__}",
            "first": self.old.pages,
            "new": self.new,
            "pages": int(old["pages"]) + self.new + self._gone_before - self._gone_after,
            "links": int(old["links"]) + len(self.added) - len(self.dropped),
            "aliases": int(old.get("aliases", 0)) + aliases,
            "names": int(old.get("names", 0)) + opaque,
            "sites": int(old.get("sites", 0)) + more["site.page"] - opaque,
            "hosts": int(old.get("hosts", 0)) + more["host.page"] - opaque,
            "removed": len(self.old.removed + self.remove),
            "sources": sources,
            "skipped": skipped,
            "arrays": {},
        }


def put_names(
    old: Graph, spill: Spill, name: str, pages: Pages, keys: Keys, tags: Tags, is_alias: NDArray[np.bool_]
) -> None:
    """Enter the names of pages of a store, but for those whose tag is 0."""
    kept = tags != 0
    some = pages[kept]
    spelling, kinds = (old.arrays.of_pages(fact, some) for fact in ("name.spelling", "page.kind"))
    own = (kinds & HAS_RECORD > 0) | is_alias[kept]
    order = np.where(own, spelling_orders(spelling, own=True), spelling_orders(spelling, own=False))
    apart = zip(some.tolist(), (spelling == APART).tolist(), strict=True)
    shown = [old.address(page) if is_apart else None for page, is_apart in apart]
    spill.names.put(name, key=key_array(*keys, kept), order=order, tag=tags[kept], shown=shown)


def stored_records(
    own: Tags, lead: Tags, first_link: NDArray[np.int64], fact: Callable[[str], NDArray[Any]]
) -> RecordColumns:
    """Pages of a store as records; `lead` are the tags that aliases lead to, `fact` gives an array of facts.

    Pages known from links only have no record: nothing of theirs may compete with a record that is added.
    """
    kind = fact("page.kind")
    return RecordColumns(
        tag=np.where((kind & HAS_RECORD > 0) | (lead > 0), own, np.uint64(0)),
        kind=((kind & PAGE_KINDS) | STORED | np.where(lead > 0, ALIAS_ONLY, 0)).astype(np.uint8),
        alias=lead,
        captured=fact("page.captured"),
        status=fact("page.status"),
        language=fact("page.language"),
        first_link=first_link,
    )


def out_arrays(base: Arrays, pages: Pages, rows: LinkRows) -> Columns:
    """The links out of some pages, with weights and repeats, as arrays of a layer."""
    plain, again = rows.split()
    attributes = pack_all(plain.links.blocks + 1, plain.links.flags)
    made = encoded_lists(base, "out", pages, plain.starts, plain.links.targets, attributes)
    if len(plain.weights) and (plain.weights != 1).any():
        made["out.weight"] = plain.weights.astype(np.float32)
    if len(again.links.targets):
        attributes = pack_all(again.links.blocks + 1, again.links.flags)
        made["repeat.words"], made["repeat.start"], _ = _coded(
            base, "out", pages, again.starts, again.links.targets, attributes
        )
    return made


def encoded_lists(
    base: Arrays,
    direction: str,
    pages: Pages,
    starts: NDArray[np.int64],
    targets: NDArray[Any],
    attributes: NDArray[Any],
) -> Columns:
    """Lists of some pages in one direction as arrays of a layer, in the code of the base."""
    words, bounds, degrees = _coded(base, direction, pages, starts, targets, attributes)
    return {
        f"{direction}.page": pages.astype(np.uint32),
        f"{direction}.start": bounds if len(pages) else bounds[:0],
        f"{direction}.degree": degrees,
        f"{direction}.words": words if len(pages) else words[:0],
    }


def _coded(
    base: Arrays,
    code: str,
    pages: Pages,
    starts: NDArray[np.int64],
    targets: NDArray[Any],
    attributes: NDArray[Any],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32]]:
    """(words, where each list begins and the last one ends, degrees) of some pages, in a code of the base."""
    lengths = Code.from_lengths(base[f"{code}.code"])
    lists = encode(targets.astype(np.uint32), attributes.astype(np.uint32), starts, pages.astype(np.uint32), lengths)
    return lists.words[: ((lists.bits + 63) >> 6) + 1], np.append(0, lists.ends).astype(np.uint64), lists.degrees


def encoded_names(base: Arrays, keys: Keys) -> Columns:
    """The names of new pages as arrays of a layer, in the code of the base."""
    own = {name: base[name].copy() for name in ("name.code", "name.piece") if len(base[name])}
    words, blocks, bits = encode_keys(keys, name_code(*codes_of(base)))
    return {"name.words": words[: ((bits + 63) >> 6) + 1], "name.block": blocks.astype(np.uint64), **own}


def layer_id(before: str, arrays: Columns) -> str:
    """The id of a store with one more layer, from the id before."""
    digests = "".join(f"{name}{digest(np.ascontiguousarray(arrays[name]).data)}" for name in sorted(arrays))
    return digest((before + digests).encode())[:16]


def with_layer(old: Graph, manifest: dict[str, Any], arrays: Columns) -> Graph:
    """A store as it is with one more layer, which is in memory."""
    own = old.arrays
    return Graph(LayeredArrays(own.base, [*own.layers, Layer(manifest, arrays)], own.folder))


def columns_with_texts(writer: MemoryWriter, names: Iterable[str]) -> Columns:
    """The arrays of columns that have a text."""
    arrays = writer.all()
    with_texts = {name for name in names if len(arrays[f"{name}.pages"])}
    return {name: values for name, values in arrays.items() if name.partition(".")[0] in with_texts}


def _spread(rows: LinkRows, there: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and counts of distinct links of rows, with empty rows where there are none."""
    sizes, distinct = np.zeros(len(there), np.int64), np.zeros(len(there), np.int64)
    sizes[there], distinct[there] = np.diff(rows.starts), rows.distinct_counts
    return starts_of(sizes), distinct


def turn(pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Links the other way round."""
    return (pairs << np.uint64(32)) | (pairs >> np.uint64(32))
