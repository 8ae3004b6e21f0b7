"""Graph: a store opened for reading. Everything is mapped; nothing is read before it is asked for.

A page is a number from 0 to pages - 1, in the order of reversed-host addresses. A Graph never changes: when a store
gets a new generation, a Graph opened before keeps its own. It can be shared among threads and pickled to processes.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.graph.arrays import contradictions
from cocite.graph.generation import map_array, read_current
from cocite.graph.huffman import Code
from cocite.graph.texts import Texts
from cocite.kernels import look_up, name_codec
from cocite.kernels.addresses import rule_tables
from cocite.kernels.find_address import Desk
from cocite.kernels.lists import Lists, read_many, read_one
from cocite.kernels.look_up import Names
from cocite.pages import address as rules
from cocite.pages.key import APART, from_key, key, shown
from cocite.pages.site import Sites

FETCHED, NOINDEX = 128, 8
"""Kinds of a page: has a record of its own; asks not to be indexed."""
FEW = 1000
"""Look-ups that are keyed in Python, before the loop that is three times as fast is worth its compilation."""


class Links(NamedTuple):
    """The links out of a page, in page order."""

    targets: NDArray[np.uint32]
    blocks: NDArray[np.int32]  # -1: unknown
    flags: NDArray[np.uint8]


class Graph:
    """The connectivity server: pages, names and links of one store."""

    def __init__(self, path: str | Path, expected: str = "") -> None:
        """Open a store; with `expected`, the id of a generation, no other."""
        self.path = Path(path)
        while True:
            folder, self.manifest = read_current(self.path)
            try:
                self._arrays = {
                    name: map_array(folder / f"{name}.bin", entry) for name, entry in self.manifest["arrays"].items()
                }
                break
            except (BadStore, KeyError, TypeError, ValueError) as error:
                if read_current(self.path)[0] == folder:  # else it was replaced, and removed, while being opened
                    raise error if isinstance(error, BadStore) else self._contradiction() from error
        if expected and self.manifest.get("id") != expected:
            raise BadStore(f"{self.path} was changed meanwhile by another command: open it again")
        self.pages, self.links = int(self.manifest.get("pages", 0)), int(self.manifest.get("links", 0))
        wrong = list(contradictions(self._arrays, self.pages, self.links))
        if wrong:
            raise self._contradiction(f" ({', '.join(wrong)})")
        self._scratch = threading.local()
        self._asked = 0

    def __repr__(self) -> str:
        return f"<Graph {self.path} {self.pages:,} pages, {self.links:,} links>"

    def __reduce__(self) -> tuple[type[Graph], tuple[Path, str]]:
        return Graph, (self.path.absolute(), self.manifest["id"])  # page numbers hold in one generation only

    def __len__(self) -> int:
        return self.pages

    # ---------------------------------------------------------------------------------------------- arrays for kernels

    def array(self, name: str) -> NDArray[Any]:
        """An array by its name in FORMAT.md; empty where this store has none."""
        found = self._arrays.get(name)
        return np.zeros(0, np.uint32) if found is None else found

    @cached_property
    def out(self) -> Lists:
        """Links out as raw arrays."""
        return self._lists("out")

    @cached_property
    def into(self) -> Lists:
        """Links in as raw arrays."""
        return self._lists("in")

    @cached_property
    def names(self) -> Names:
        """Names as raw arrays."""
        lengths = self.array("name.code")
        try:
            characters, shared = Code.from_lengths(lengths[:257]), Code.from_lengths(lengths[257:])
        except ValueError as error:
            raise self._damaged() from error
        return Names(
            self.array("name.words"),
            self.array("name.block"),
            characters.table,
            shared.table,
            self.array("fingerprint"),
            self.array("look_up.start"),
            self.array("look_up.page"),
        )

    def _lists(self, name: str) -> Lists:
        try:
            table = Code.from_lengths(self.array(f"{name}.code")).table
        except ValueError as error:
            raise self._damaged() from error
        words, base, offset, degree = (self.array(f"{name}.{part}") for part in ("words", "base", "offset", "degree"))
        return Lists(words, base, offset, degree, table)

    @property
    def in_degree(self) -> NDArray[np.uint32]:
        """Links into each page."""
        return self.array("in.degree")

    @property
    def out_degree(self) -> NDArray[np.uint32]:
        """Links out of each page."""
        return self.array("out.degree")

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """A hash of each page's address, the same in every store."""
        return self.array("fingerprint")

    @property
    def removed(self) -> NDArray[np.uint64]:
        """Fingerprints of pages that were removed for good."""
        return self.array("removed").astype(np.uint64)

    # ----------------------------------------------------------------------------------------------------------- links

    def links_from(self, page: int) -> Links:
        """The links out of a page, in page order, with blocks and flags."""
        page, degree = self._page(page), self._degree(self.out, page)
        targets, attributes = np.empty(degree, np.uint32), np.empty(degree, np.uint32)
        if read_one(self.out, page, targets, attributes) != degree:
            raise self._damaged()
        return Links(targets, (attributes & 0xFFFFFF).astype(np.int32) - 1, (attributes >> 24).astype(np.uint8))

    def links_to(self, page: int) -> NDArray[np.uint32]:
        """The pages that link to a page, ascending."""
        page, degree = self._page(page), self._degree(self.into, page)
        sources = np.empty(degree, np.uint32)
        if read_one(self.into, page, sources, np.zeros(0, np.uint32)) != degree:
            raise self._damaged()
        return sources

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        degree, weights = self._degree(self.out, self._page(page)), self.array("out.weight")
        if not len(weights):
            return np.ones(degree, np.float32)
        first = self._first_link(page)
        if first + degree > len(weights):
            raise self._damaged()
        return weights[first : first + degree]

    def blocks(self, page: int) -> list[tuple[str, NDArray[np.uint32]]]:
        """The links out of a page by block: (heading, targets), in order of appearance; the heading may be empty."""
        links, headings = self.links_from(page), self.headings(page)
        order = list(dict.fromkeys(links.blocks.tolist()))
        return [(headings[b] if 0 <= b < len(headings) else "", links.targets[links.blocks == b]) for b in order]

    def iter_links(self, pages_per_step: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int64], Links]]:
        """All links out, some pages at a time: (first page, where each page's links start, the links)."""
        degrees, first = self.out_degree, 0
        while first < self.pages:
            count = min(pages_per_step, self.pages - first)
            total = int(degrees[first : first + count].sum(dtype=np.int64))
            if total > self.links:
                raise self._damaged()
            targets, attributes = np.empty(total, np.uint32), np.empty(total, np.uint32)
            starts = np.zeros(count + 1, np.int64)
            if read_many(self.out, first, count, targets, attributes, starts) != count:
                raise self._damaged()
            blocks, flags = (attributes & 0xFFFFFF).astype(np.int32) - 1, (attributes >> 24).astype(np.uint8)
            yield first, starts, Links(targets, blocks, flags)
            first += count

    def _first_link(self, page: int) -> int:
        """The number of a page's first link, counting all links out in page order."""
        base = page // 16 * 16
        return int(self.array("out.first")[page // 16]) + int(self.out_degree[base:page].sum(dtype=np.int64))

    # ----------------------------------------------------------------------------------------------------------- names

    def find(self, address: str) -> int:
        """The page of an address in any spelling; aliases lead to their page. Raises UnknownPage, BadAddress."""
        page = self.get(address)
        if page is None:
            if "://" in address or not address.strip():
                rules.parse_query(address)  # no address at all is another fault, and says so
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
                page = self._find_canonical(rules.parse_query(address).canonical)
        except BadAddress:
            page = -1
        if page < 0 and "://" not in address:
            page = self._find_canonical("name:" + address.removeprefix("name:"))
        return None if page < 0 else self.lead(page)

    def _find_spelled(self, text: str) -> int:
        """The page of an address as links spell it, -1 if there is none."""
        if self._asked < FEW:
            self._asked += 1
        else:
            page = self._desk().find(text)
            if page >= -1:
                return page
        return self._find_canonical(rules.parse(text).canonical)  # which also tells what is wrong

    def _desk(self) -> Desk:
        desk: Desk | None = getattr(self._scratch, "desk", None)
        if desk is None:
            desk = self._scratch.desk = Desk(self.names, rule_tables())
        return desk

    def _find_canonical(self, canonical: str) -> int:
        return self._find_key(key(canonical).encode("utf-8", "surrogatepass"))  # half a character is in no name

    def _find_key(self, text: bytes) -> int:
        page = int(look_up.find(self.names, np.frombuffer(text, np.uint8), self._buffer()))
        if page < -1:
            raise self._damaged()
        return page

    def lead(self, page: int) -> int:
        """Where an alias leads; other pages lead to themselves."""
        aliases = self.array("alias.page")
        if len(aliases):
            at = int(look_up.find_position(aliases, page))
            if at >= 0:
                return self._stored_page("alias.target", at)
        return page

    def canonical(self, page: int) -> str:
        """The canonical address of a page, or `name:` and its opaque name."""
        buffer, names = self._buffer(), self.names
        length = name_codec.decode_name(
            names.words, names.block, names.table, names.shared_table, self._page(page), buffer
        )
        if length <= 0:
            raise self._damaged()
        return from_key(buffer[:length].tobytes().decode("utf-8", "replace"))

    def address(self, page: int) -> str:
        """The address of a page as its own record, or the first link to it, spells it."""
        spelling = int(self.array("name.spelling")[self._page(page)])
        if spelling == APART:
            return self._texts("shown")[page]
        return shown(self.canonical(page), spelling)

    def pages_under(self, prefix: str) -> range:
        """The pages at and below an address: `example.com/blog` has `example.com/blog/1`, not `example.com/blogger`.

        A bare host has its subdomains too.
        """
        canonical = rules.parse_query(prefix).canonical
        low = key(canonical).encode()
        high = low + b"\x04"
        if low.endswith(b")") and not canonical.startswith("name:"):
            high = low[:-1] + (b"-" if b"," in low else b"*")  # with its ports; beyond `,` with its subdomains
        buffer = self._buffer()
        borders = []
        for bound in (low, high):
            names = self.names
            at = name_codec.lower_bound(
                names.words, names.block, names.table, names.shared_table, self.pages,
                np.frombuffer(bound, np.uint8), buffer,
            )  # fmt: skip
            if at < 0:
                raise self._damaged()
            borders.append(int(at))
        return range(*borders)

    def nearest(self, address: str, most: int = 5) -> list[str]:
        """Known addresses close to an unknown one: chopped, then neighbours on the same host."""
        try:
            canonical = rules.parse_query(address).canonical
        except BadAddress:
            return []
        found: list[int] = []
        chopped = canonical
        while "/" in chopped or "?" in chopped:
            chopped = chopped[: max(chopped.rfind("/"), chopped.rfind("?"))]
            page = self._find_canonical(chopped)
            if page >= 0:
                found.append(page)
        host = re.split("[/?#]", canonical)[0]
        under = range(0) if host.startswith("name:") else self.pages_under(host)
        if len(under):
            names, bound = self.names, np.frombuffer(key(canonical).encode(), np.uint8)
            at = int(name_codec.lower_bound(
                names.words, names.block, names.table, names.shared_table, self.pages, bound, self._buffer()
            ))  # fmt: skip
            found += [page for near in range(most) for page in (at - 1 - near, at + near) if page in under]
        return [self.address(page) for page in dict.fromkeys(found)][:most]

    # --------------------------------------------------------------------------------------------- what pages are like

    @property
    def site_of(self) -> NDArray[np.uint32]:
        """The site of each page, as a number."""
        return self.array("page.site")

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The unit of independence of each page, as a number: host, domain or site."""
        if unit == "site":
            return self.site_of
        if unit == "host":
            return self.array("page.host")
        if unit == "domain":
            hosts, domains = self.array("page.host"), self.array("host.domain")
            if len(hosts) and int(hosts.max()) >= len(domains):
                raise self._damaged()
            found: NDArray[np.uint32] = domains[hosts]
            return found
        raise BadParameter(f"unit is host, domain or site, not {unit!r}")

    def site(self, page: int) -> str:
        """The name of a page's site."""
        try:
            return Sites().site(self.canonical(page))
        except ValueError as error:
            raise self._damaged() from error

    def title(self, page: int) -> str:
        """The title of a page, or the empty text."""
        return self._texts("title")[self._page(page)]

    def headings(self, page: int) -> list[str]:
        """The headings of a page's blocks, by block number."""
        return self._texts("headings").lines(self._page(page))

    def text(self, page: int) -> str:
        """The main text of a page."""
        return self._texts("text")[self._page(page)]

    def anchors(self, page: int) -> list[str]:
        """The texts of the links out of a page, in their order."""
        return self._link_texts("anchors", page)

    def contexts(self, page: int) -> list[str]:
        """The words around the links out of a page, in their order."""
        return self._link_texts("contexts", page)

    def _link_texts(self, name: str, page: int) -> list[str]:
        lines, degree = self._texts(name).lines(self._page(page)), self._degree(self.out, page)
        return lines[:degree] + [""] * (degree - len(lines))

    def fetched(self, page: int) -> bool:
        """Whether the page has a record of its own; others are known from links only."""
        return bool(self.array("page.kind")[self._page(page)] & FETCHED)

    def status(self, page: int) -> int:
        """The HTTP status of the capture, 0 if unknown."""
        return self._number("page.status", page)

    def captured(self, page: int) -> int:
        """Seconds since 1970 of the capture, 0 if unknown."""
        return self._number("page.captured", page)

    def language(self, page: int) -> str:
        """The language code of the page, empty if unknown."""
        return self._number("page.language", page).to_bytes(4, "little").rstrip(b"\0").decode("ascii", "replace")

    def _number(self, name: str, page: int) -> int:
        page, values = self._page(page), self.array(name)
        return int(values[page]) if len(values) else 0

    def representative(self, page: int) -> int:
        """The page that stands for a page and its near-duplicates: itself if it has none."""
        at = int(look_up.find_position(self.array("near.page"), page))
        return page if at < 0 else self._stored_page("near.representative", at)

    # ------------------------------------------------------------------------------------------------------- internals

    def _page(self, page: int) -> int:
        page = int(page)
        if not 0 <= page < self.pages:
            raise BadParameter(f"there is no page {page}: pages are numbered from 0 to {self.pages - 1}")
        return page

    def _degree(self, lists: Lists, page: int) -> int:
        """The length of a list, if it can be true: memory is taken on its word."""
        degree = int(lists.degree[page])
        if degree > self.links:
            raise self._damaged()
        return degree

    def _stored_page(self, name: str, at: int) -> int:
        """A page number out of an array."""
        page = int(self.array(name)[at])
        if page >= self.pages:
            raise self._damaged()
        return page

    def _texts(self, name: str) -> Texts:
        cached = self.__dict__.setdefault("_columns", {})
        if name not in cached:
            cached[name] = Texts(self._arrays, name) if f"{name}.pages" in self._arrays else Texts(NO_TEXTS, "none")
        column: Texts = cached[name]
        return column

    def _buffer(self) -> NDArray[np.uint8]:
        """Scratch space of this thread for one name."""
        buffer: NDArray[np.uint8] | None = getattr(self._scratch, "buffer", None)
        if buffer is None:
            buffer = self._scratch.buffer = np.empty(name_codec.LONGEST_KEY, np.uint8)
        return buffer

    def _contradiction(self, where: str = "") -> BadStore:
        return BadStore(f"{self.path}: the manifest contradicts itself{where}: build the store again")

    def _damaged(self) -> BadStore:
        return BadStore(f"{self.path} is damaged: run cocite check -i {self.path}")


NO_TEXTS: dict[str, NDArray[Any]] = {
    "none.pages": np.zeros(0, np.uint32),
    "none.first": np.zeros(1, np.uint32),
    "none.offset": np.zeros(1, np.uint64),
    "none.data": np.zeros(0, np.uint8),
}
