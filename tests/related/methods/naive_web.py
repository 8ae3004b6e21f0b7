"""The web that the slow truth reads: dictionaries and lists, with no care for time or memory.

`NaiveWeb` holds a web, `View` is that web as one question sees it: without stop pages, without links that the switches
leave out, near-duplicates standing under one name.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import combinations
from typing import Any, NamedTuple, TypedDict

import numpy as np
import xxhash

NOFOLLOW, BOILERPLATE = 1, 16
REL = ("all", "follow")
UNITS = ("auto", "host", "domain", "site", "none")
SAMPLE, BEST_FROM, BEST = 2000, 256, 201  # parents that a store keeps ready: graph/FORMAT.md
WHOLE = 4096  # longer lists are read in part, if all links count and the window is smaller


class Link(NamedTuple):
    """One link of a page."""

    target: int
    block: int = -1  # -1: unknown
    flags: int = 0


class Switches(TypedDict, total=False):
    """What every method takes beside its own parameters."""

    merge: bool | str  # near-duplicates count as one page; published: where the paper says so
    stop: Collection[int]  # stop pages
    rel: str  # follow: without links marked nofollow
    boilerplate: bool  # whether links in boilerplate blocks count
    seed: int  # of the choice of parents
    chop: str  # site, host, strict or none


class Ranking(list[tuple[int, float]]):
    """Pages with their scores, best first; `used` are the pages asked in place of the seeds, `facts` what to report."""

    def __init__(self, answers: Iterable[tuple[int, float]], used: Sequence[int], facts: Mapping[str, Any]) -> None:
        super().__init__(answers)
        self.used = list(used)
        self.facts = dict(facts)


class NaiveWeb:
    """Pages are numbers in the order of addresses; links are distinct by target, the first kept, none to itself."""

    def __init__(
        self,
        links: Mapping[int, Iterable[tuple[int, int, int]]],
        *,
        units: Mapping[str, Mapping[int, Hashable]] | None = None,
        addresses: Mapping[int, str] | None = None,
        fingerprints: Mapping[int, int] | None = None,
        representatives: Mapping[int, int] | None = None,
        aliases: Mapping[int, int] | None = None,
        again: Mapping[int, Sequence[tuple[int, int, int]]] | None = None,
    ) -> None:
        """Without `fingerprints` and `representatives` they are worked out from addresses and links."""
        self.links: dict[int, list[Link]] = {}
        self.parents: dict[int, list[int]] = {}
        for page, its_links in sorted(links.items()):
            first: dict[int, Link] = {}
            for link in its_links:
                if link[0] != page:
                    first.setdefault(link[0], Link(*link))
            self.links[page] = list(first.values())
            for target in first:
                self.parents.setdefault(target, []).append(page)
        self.units = units or {}
        self.addresses = addresses or {}
        self.fingerprints = fingerprints or {}
        self.representatives = near_duplicates(self) if representatives is None else representatives
        self.aliases = aliases or {}
        self.again = {page: [Link(*link) for link in links] for page, links in (again or {}).items()}
        self._page_of = {address: self.aliases.get(page, page) for page, address in self.addresses.items()}

    @classmethod
    def from_graph(cls, graph: Any) -> NaiveWeb:
        """Everything that a store says about links, units, names and near-duplicates."""
        pages = range(graph.pages)
        numbers = {unit: graph.units(unit).tolist() for unit in ("host", "domain", "site")}
        sources = [page for page in pages if graph.out_degree[page]]
        return cls(
            {page: list(zip(*(column.tolist() for column in graph.links_from(page)), strict=True)) for page in sources},
            units={unit: dict(enumerate(of)) for unit, of in numbers.items()},
            addresses={page: graph.canonical(page) for page in pages},
            fingerprints=dict(enumerate(graph.fingerprints.tolist())),
            representatives={page: graph.facts.representative(page) for page in sources},
            aliases={page: graph.alias_target(page) for page in pages},
            again=links_again(graph),
        )

    def in_degree(self, page: int) -> int:
        """How many pages link to a page."""
        return len(self.parents.get(page, []))

    def out_degree(self, page: int) -> int:
        """The number of pages that a page links to."""
        return len(self.links.get(page, []))

    def unit(self, unit: str, page: int) -> Hashable:
        """Whose page it is; a page that no table knows is its own unit."""
        return self.units.get(unit, {}).get(page, ("page", page))

    def fingerprint(self, page: int) -> int:
        """The stored hash of the page's address."""
        if page in self.fingerprints:
            return self.fingerprints[page]
        return xxhash.xxh64_intdigest(self.addresses.get(page, f"name:{page}").encode(), 42)

    def chopped(self, page: int, within: str = "site") -> Iterator[int]:
        """Pages of the same site at ever shorter addresses: no fragment, no query, then one path element less each.

        Within a host, the site does not matter: until "we are left with just a host name".
        """
        address = self.addresses.get(page, "name:")
        while not address.startswith("name:") and any(mark in address for mark in "#?/"):
            mark = next(mark for mark in "#?/" if mark in address)
            address = address[: address.rindex(mark) if mark == "/" else address.index(mark)]
            found = self._page_of.get(address)
            if found is not None and (within == "host" or self.unit("site", found) == self.unit("site", page)):
                yield found


def links_again(graph: Any) -> dict[int, list[tuple[int, int, int]]]:
    """Links that a store keeps of a page beside its list."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    starts, *repeated = graph.links.read_repeats(np.arange(graph.pages))
    pages = np.repeat(np.arange(graph.pages), np.diff(starts))
    for page, target, attribute in zip(*(each.tolist() for each in (pages, *repeated)), strict=True):
        found.setdefault(page, []).append((target, (attribute & 0xFFFFFF) - 1, attribute >> 24))
    return found


def near_duplicates(web: NaiveWeb) -> dict[int, int]:
    """The representative of every page that has links: all pairs compared, then all that hang together."""
    sets = {page: {link.target for link in links} for page, links in web.links.items() if len(links) > 10}

    def are_alike(a: int, b: int) -> bool:
        linked = a in sets[b] and b in sets[a]
        return not linked and 20 * len(sets[a] & sets[b]) >= 19 * max(len(sets[a]), len(sets[b]))

    alike = [pair for pair in combinations(sets, 2) if are_alike(*pair)]
    chosen: dict[int, int] = {}
    for members in components(web.links, alike):
        best = min(members, key=lambda page: (-web.in_degree(page), page))
        chosen.update(dict.fromkeys(members, best))
    return chosen


def components(items: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Items in sets, two of a pair always in one, each set where its first item was."""
    where = {item: {item} for item in items}
    for a, b in pairs:
        if where[a] is not where[b]:
            where[a] |= where[b]
            for item in where[b]:
                where[item] = where[a]
    return list({id(members): members for members in where.values()}.values())


def hash64(seed: int, u: int, v: int) -> int:
    """XXH64(v, seed = XXH64(u, seed)), both as eight little-endian bytes."""
    inner = xxhash.xxh64_intdigest(u.to_bytes(8, "little"), seed)
    return xxhash.xxh64_intdigest(v.to_bytes(8, "little"), inner)


class View:
    """A web as one question sees it."""

    def __init__(
        self,
        web: NaiveWeb,
        seeds: Sequence[int],
        unit: str,
        *,
        merge: bool | str = True,
        stop: Collection[int] = frozenset(),
        rel: str = "all",
        boilerplate: bool = True,
        seed: int = 42,
    ) -> None:
        if unit not in UNITS or rel not in REL:
            raise ValueError(f"unit is one of {UNITS}, rel one of {REL}")
        self.web, self.seeds, self.unit_name, self.merge, self.seed = web, list(seeds), unit, merge, seed
        self.stop = frozenset() if any(page in stop for page in seeds) else frozenset(stop)
        self.refused = (NOFOLLOW if rel == "follow" else 0) | (0 if boilerplate else BOILERPLATE)
        self.local: dict[int, int] = {}
        self._links: dict[int, list[Link]] = {}
        self._child_sets: dict[int, set[int]] = {}

    def links(self, page: int) -> list[Link]:
        """The links of a page that count, in page order."""
        if page not in self._links:
            its_links = [] if page in self.stop else self.web.links.get(page, [])
            self._links[page] = [
                link for link in its_links if link.target not in self.stop and not link.flags & self.refused
            ]
        return self._links[page]

    def again(self, page: int, window: int) -> list[Link]:
        """The links that a page has again, in other blocks, and that count; none of a list that is read in part."""
        if not self.refused and not self.stop and window and len(self.links(page)) > max(WHOLE, window + 1):
            return []
        its_links = self.web.again.get(page, [])
        return [link for link in its_links if link.target not in self.stop and not link.flags & self.refused]

    def children(self, page: int) -> list[int]:
        """The targets of a page's links, in page order."""
        return [link.target for link in self.links(page)]

    def child_set(self, page: int) -> set[int]:
        """The same without order; kept, as `parents` asks again and again."""
        if page not in self._child_sets:
            self._child_sets[page] = set(self.children(page))
        return self._child_sets[page]

    def parents(self, page: int) -> list[int]:
        """The pages with a link to a page that counts."""
        return [parent for parent in self.web.parents.get(page, []) if page in self.child_set(parent)]

    def random_parents(self, page: int, most: int) -> list[int]:
        """The parents of smallest hash. A store keeps some ready, and those are asked if they may do."""
        of = self.web.fingerprint
        everyone = sorted(self.web.parents.get(page, []), key=lambda parent: hash64(self.seed, of(page), of(parent)))
        if self.seed == 42 and most <= SAMPLE < len(everyone):
            everyone = everyone[:SAMPLE]
        return [parent for parent in everyone if page in self.child_set(parent)][:most]

    def best_parents(self, page: int, most: int, other_than: int) -> list[int]:
        """The parents of highest in-degree, the lower number first of equals; of many only those kept ready."""
        everyone = sorted(self.web.parents.get(page, []), key=lambda parent: (-self.web.in_degree(parent), parent))
        if len(everyone) > BEST_FROM:
            everyone = everyone[:BEST]
        return [parent for parent in everyone if parent != other_than and page in self.child_set(parent)][:most]

    def window(self, parent: int, page: int, window: int) -> list[int]:
        """The children of a parent around its link to a page, that page left out; a window of 0 is the whole parent."""
        children = self.children(parent)
        if window and len(children) > window + 1:
            at = children.index(page)
            children = children[max(0, at - window // 2) : at + window // 2 + 1]
        return [child for child in children if child != page]

    def node(self, page: int) -> int:
        """The representative of a page's near-duplicates."""
        if self.merge == "published":
            return self.local.get(page, page)
        return self.original(page) if self.merge else page

    def original(self, page: int) -> int:
        """The representative of a page in the whole web, as a parent or a child."""
        return self.web.representatives.get(page, page) if self.merge else page

    def within(self, nodes: Collection[int]) -> View:
        """As published, only nodes of a graph are merged, into the one of them with the highest in-degree."""
        found = copy(self)
        for page in nodes if self.merge == "published" else ():
            same = [other for other in nodes if self.original(other) == self.original(page)]
            found.local = {**found.local, page: min(same, key=lambda other: (-self.web.in_degree(other), other))}
        return found

    def unit(self, page: int) -> Hashable:
        """The unit of independence; with unit none every page is one."""
        if self.unit_name == "none":
            return page
        return self.web.unit("site" if self.unit_name == "auto" else self.unit_name, page)

    def with_unit(self, seeds: Sequence[int], parents: Iterable[int], around: Iterable[int] = ()) -> View:
        """With unit auto, without units if the query pages and all that link to them are on one.

        Where nothing links to the query pages, the pages around them that have links are looked at.
        """
        linking = list(parents) or [page for page in around if self.web.links.get(page)]
        found = copy(self)
        if self.unit_name == "auto" and linking:
            found.unit_name = "none" if len({self.unit(page) for page in (*seeds, *linking)}) == 1 else "site"
        return found

    def originals(self, page: int, parents: Iterable[int], window: int, by_section: bool) -> dict[int, int]:
        """Of each parent the one that it is a copy of: a near-duplicate, or one on its site with the same section.

        Such sections have at least five links, the same in the same places, but for one. With `by_section` they may be
        on any site. Where all parents are on the page's own site, sites don't matter.
        """
        parents = list(parents)
        sites = self.unit_name != "none" and {self.unit(parent) for parent in parents} != {self.unit(page)}
        found: dict[int, int] = {}
        sections: dict[int, list[int]] = {}
        near: dict[int, int] = {}
        for parent in sorted(parents, key=lambda parent: (-self.web.in_degree(parent), parent)):
            shown = {page, *self.window(parent, page, window)}
            links = [link for link in self.links(parent) if link.target in shown]
            block = next(link.block for link in links if link.target == page)
            own = [link.target for link in links if link.block == block and link.target != page]
            own = own if block >= 0 and len(own) >= 4 else []
            same = [
                one for one, section in sections.items()
                if own and len(own) == len(section) and sum(map(int.__ne__, own, section)) <= 1
                and (by_section or (sites and self.unit(one) == self.unit(parent)))
            ]  # fmt: skip
            first = near.get(self.original(parent), same[0] if same else parent)
            found[parent] = near[self.original(parent)] = first
            sections |= {parent: own} if first == parent else {}
        return found

    def groups(
        self, pages: Iterable[int], units: bool = True, copies: Mapping[int, int] | None = None
    ) -> list[set[int]]:
        """Pages on one unit (unless `units` is false) and near-duplicates together, transitively.

        With `copies` (of each page its original) the units of originals, and copies of one, are together.
        """

        def alike(page: int) -> Iterator[tuple[str, Hashable]]:
            yield "near-duplicate", self.original(page) if copies is None else copies[page]
            if units:
                yield "unit", self.unit(page if copies is None else copies[page])

        pages, first = list(pages), dict[tuple[str, Hashable], int]()
        return components(pages, [(first.setdefault(key, page), page) for page in pages for key in alike(page)])


def six_digits(score: float) -> float:
    """Rounded to six significant digits."""
    return float(f"{score:.5e}")


def rank(
    web: NaiveWeb,
    scores: Mapping[int, tuple[float, ...]],
    reached: Mapping[int, int],
    never: Collection[int],
    used: Sequence[int],
    facts: Mapping[str, Any] | None = None,
) -> Ranking:
    """By query pages reached, score, further scores, in-degree, address; without `never` and what scores nothing.

    `scores[page]` is the score and whatever breaks its ties before the common rule.
    """

    def place(page: int) -> tuple[float, ...]:
        return (-reached[page], *(-six_digits(score) for score in scores[page]), -web.in_degree(page), page)

    pages = [page for page in scores if page not in never and scores[page][0] >= 1e-12]
    return Ranking([(page, six_digits(scores[page][0])) for page in sorted(pages, key=place)], used, facts or {})
