"""What was committed while a store was compacted, as one layer on its new base.

The new base has the pages that the store had when compaction began, numbered anew. So every number in the layers that
came since is replaced: of pages, hosts, sites and domains. Lists are encoded again, in the code of the new base.
"""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite import __version__
from cocite.graph.arrays import GONE, distinct, find_in
from cocite.graph.build.commit import (
    Columns,
    columns_with_texts,
    encoded_lists,
    encoded_names,
    layer_id,
    out_arrays,
    with_layer,
)
from cocite.graph.build.commit_derived import entry_points
from cocite.graph.build.merge_layers import chosen_parents
from cocite.graph.build.sort_links import starts_of
from cocite.graph.build.spill import RECORD_TEXTS
from cocite.graph.changes.layers import NONE, PAGE_FACTS, Layer, pages_in
from cocite.graph.generation import LAYER_FORMAT, MemoryWriter, subtracted_sources
from cocite.graph.store import Graph
from cocite.graph.texts import LayeredColumn, TextWriter, text_column

Pages = NDArray[Any]  # signed numbers of pages, hosts, …
MAX_SMALL_NUMBERS = 1 << 30
"""Fewer old numbers than that take four bytes each, and leave room for as many that come meanwhile."""
STORED_UNITS = "host", "site"


class Numbers(NamedTuple):
    """The numbers of a new base for those of the store it was made of; -1: it has none."""

    page: Pages
    host: Pages
    site: Pages
    domain: Pages

    @classmethod
    def of(cls, old: Graph, new: Graph) -> "Numbers | None":
        """Compare a store with its compaction, which has the same pages in the order of their addresses, or None."""
        pages = old.names.in_order()
        if len(pages) != new.pages or not np.array_equal(old.fingerprints[pages], new.fingerprints):
            return None
        page = _replaced(pages, np.arange(new.pages), old.pages)
        host, site = (
            _replaced(
                _verified(old, f"page.{unit}", _count(old, unit))[pages], new.array(f"page.{unit}"), _count(old, unit)
            )
            for unit in STORED_UNITS
        )
        before, known = _domains(old), host >= 0
        domain = _replaced(before[known], new.array("host.domain")[host[known]], len(before))
        return cls(page, host, site, domain)


def _replaced(old: NDArray[Any], new: NDArray[Any], size: int) -> Pages:
    """The new number of each old one."""
    numbers = np.full(size, -1, np.int32 if max(size, len(new)) < MAX_SMALL_NUMBERS else np.int64)
    numbers[old] = new
    return numbers


def _count(graph: Graph, unit: str) -> int:
    return len(graph.array(f"{unit}.page"))


def _verified(graph: Graph, name: str, limit: int) -> NDArray[Any]:
    """Numbers of hosts, sites or domains, which are below a limit: tables of as many are made for them."""
    numbers = graph.array(name)
    if int(numbers.max(initial=0)) >= max(1, limit):
        raise graph.damaged()
    return numbers


def _domains(graph: Graph) -> Pages:
    """The domain of each host."""
    return _verified(graph, "host.domain", len(graph.array("host.domain"))).astype(np.int64)


def carry(old: Graph, now: Graph, layers: list[Layer], new: Graph, numbers: Numbers) -> tuple[dict[str, Any], Columns]:
    """The manifest and arrays of one layer on a new base, in the place of the `layers` that a store got since.

    The base is made of `old`; `now` is the current store.
    """
    return _Carried(now, layers, new, numbers).layer(old)


class _Carried:
    def __init__(self, now: Graph, layers: list[Layer], new: Graph, numbers: Numbers) -> None:
        self.now, self.layers, self.new, self.numbers = now, layers, new, numbers
        self.page = _grown(numbers.page, now.pages)
        facts = pages_in(layers, "fact.page").astype(np.int64)
        kinds = now.arrays.of_pages("page.kind", facts)
        self.fresh = facts[(self.page[facts] < 0) & (kinds & GONE == 0)]
        self.page[self.fresh] = new.pages + np.arange(len(self.fresh))

    def layer(self, old: Graph) -> tuple[dict[str, Any], Columns]:
        now, new = self.now, self.new
        arrays, opaque = self._facts(), 0
        if len(self.fresh):
            data, offsets = now.names.keys_of(self.fresh)
            keys = [data[start:end].tobytes() for start, end in pairwise(offsets.tolist())]
            opaque = sum(key[0] < ord(" ") for key in keys)
            arrays |= encoded_names(new.arrays.base, (data, offsets))
            arrays["name.before"] = np.array([new.names.pages_before(key) for key in keys], np.uint32)
        arrays |= self._lists() | self._tables() | self._texts()
        if now.removed != new.removed:
            arrays |= now.removed.arrays()
        arrays = {name: values for name, values in arrays.items() if len(values)}
        more = {f"{unit}s": len(arrays.get(f"{unit}.page", ())) - opaque for unit in STORED_UNITS}
        manifest: dict[str, Any] = {
            "format": LAYER_FORMAT,
            "id": "",
            "built": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": f"cocite {__version__}",
            "first": new.pages,
            "new": len(self.fresh),
            **{name: now.manifest.get(name, 0) for name in ("pages", "links", "aliases")},
            "names": int(new.manifest.get("names", 0)) + opaque,
            **{name: int(new.manifest.get(name, 0)) + count for name, count in more.items()},
            "removed": len(now.removed),
            "sources": subtracted_sources(now.manifest["sources"], old.manifest["sources"]),
            "skipped": self.layers[-1].manifest["skipped"],
            "arrays": {},
        }
        graph = with_layer(new, manifest, arrays)
        arrays |= entry_points(graph, arrays.get("out.page", np.zeros(0, np.uint32)))
        arrays = {name: values for name, values in arrays.items() if len(values)}
        manifest["id"] = layer_id(new.manifest["id"], arrays)
        return manifest, arrays

    def _pages(self, name: str) -> tuple[Pages, Pages]:
        """Pages that the layers list in an array, but for those that the new base never had: old and new numbers."""
        return self._ordered(pages_in(self.layers, name).astype(np.int64))

    def _ordered(self, pages: Pages) -> tuple[Pages, Pages]:
        pages = pages[self.page[pages] >= 0]
        pages = pages[np.argsort(self.page[pages])]
        return pages, self.page[pages]

    def _translated(self, pages: NDArray[Any]) -> NDArray[np.uint32]:
        """New numbers of pages that are there; NONE stays."""
        there = pages != NONE
        found = np.full(len(pages), NONE, np.uint32)
        own = self.page[pages[there]]
        if (own < 0).any():
            raise self.now.damaged()
        found[there] = own
        return found

    def _facts(self) -> Columns:
        pages, own = self._pages("fact.page")
        columns: Columns = {"fact.page": own.astype(np.uint32)}
        for name in PAGE_FACTS:
            columns[name] = self.now.arrays.of_pages(name, pages)
        for unit in STORED_UNITS:
            columns |= self._units(unit, columns[f"page.{unit}"], own)
        return columns

    def _units(self, unit: str, units: NDArray[Any], pages: Pages) -> Columns:
        """The hosts or sites of pages, and those that the new base doesn't have, with their first pages."""
        number = _grown(getattr(self.numbers, unit), _count(self.now, unit))
        if int(units.max(initial=0)) >= max(1, len(number)):
            raise self.now.damaged()
        unknown, first = np.unique(units[number[units] < 0], return_index=True)
        number[unknown] = _count(self.new, unit) + np.arange(len(unknown))
        more: Columns = {f"page.{unit}": number[units].astype(np.uint32)}
        more[f"{unit}.page"] = pages[np.flatnonzero(number[units] >= _count(self.new, unit))][first].astype(np.uint32)
        if unit == "host":
            before = _domains(self.now)
            domain = _grown(self.numbers.domain, len(before))
            wanted = before[unknown]
            fresh = distinct(wanted[domain[wanted] < 0])
            domain[fresh] = int(self.new.array("host.domain").max(initial=0)) + 1 + np.arange(len(fresh))
            more["host.domain"] = domain[wanted].astype(np.uint32)
        return more

    def _lists(self) -> Columns:
        now, base = self.now, self.new.arrays.base
        pages, own = self._pages("out.page")
        rows = now.links.read_pages(pages)
        links = rows.links._replace(targets=self._translated(rows.links.targets))
        columns = out_arrays(base, own, rows._replace(links=links))
        pages, own = self._pages("in.page")
        starts, sources, _ = now.links.read_some(now.into, pages, attributes=False)
        of = np.repeat(np.arange(len(pages), dtype=np.uint64), np.diff(starts)) << np.uint64(32)
        ascending = np.sort(of | self._translated(sources)).astype(np.uint32)
        columns |= encoded_lists(base, "in", own, starts_of(np.diff(starts)), ascending, np.zeros(0, np.uint32))
        for kind in ("best", "sample"):
            columns |= self._chosen_parents(kind)
        return columns

    def _chosen_parents(self, kind: str) -> Columns:
        """The rows of chosen parents. Pages that have none any more are listed where the new base has one.

        Their in-lists changed; their rows were perhaps dropped, when layers were merged.
        """
        decided = [layer[f"{kind}.page"] for layer in self.layers]
        listed = distinct(np.concatenate([pages_in(self.layers, "in.page"), *decided]))
        pages, own = self._ordered(listed.astype(np.int64))
        had = find_in(self.new.array(f"{kind}.page"), own) >= 0
        kept, rows = chosen_parents(self.now, kind, pages, had, self.new.links.stored_parents(kind).size)
        return {f"{kind}.page": self._translated(kept), f"{kind}.parent": self._translated(rows.ravel())}

    def _tables(self) -> Columns:
        pages, own = self._pages("alias.page")
        targets = np.append(self.now.array("alias.target"), np.uint32(NONE))
        columns: Columns = {"alias.page": own.astype(np.uint32)}
        columns["alias.target"] = self._translated(targets[find_in(self.now.array("alias.page"), pages)])
        return columns | self._near_duplicates()

    def _near_duplicates(self) -> Columns:
        """Where groups of near-duplicates differ from those of the new base, which may have found others."""
        known, representatives = self.now.facts.all_near_duplicates
        pages, own = self._ordered(known.astype(np.int64))
        named = np.append(self._translated(representatives[find_in(known, pages.astype(np.uint32))]), np.uint32(NONE))
        before, of_before = self.new.facts.all_near_duplicates
        either = np.union1d(own, before).astype(np.uint32)
        now = named[find_in(own.astype(np.uint32), either)]
        other = now != np.append(of_before, np.uint32(NONE))[find_in(before, either)]
        return {"near.page": either[other], "near.representative": now[other]}

    def _texts(self) -> Columns:
        _, own = self._pages("record.page")
        writer, columns = MemoryWriter(), {"record.page": own.astype(np.uint32)}
        for name in (*RECORD_TEXTS, "shown"):
            column = text_column(self.now.arrays, name)
            assert isinstance(column, LayeredColumn)
            texts = [(int(self.page[page]), text) for page, text in column.newest(len(self.layers))]
            TextWriter.write(writer, name, sorted(item for item in texts if item[0] >= 0))
        return columns | columns_with_texts(writer, (*RECORD_TEXTS, "shown"))


def _grown(numbers: Pages, size: int) -> Pages:
    """A table of new numbers for more old ones, which are not known."""
    return np.append(numbers, np.full(size - len(numbers), -1, numbers.dtype))
