"""The web as one question sees it: units, merged near-duplicates, ignored links and stop pages; parents and children.

`Switches` are the parameters that every link method has beside its own. B, BF, F and FB of the papers are `parents`,
`window`, `children` and `child_parents`. If a page has more parents than the limit, hashes decide which are chosen: the
same in every store that has the same addresses.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.store import Graph
from cocite.kernels import hash_tables
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related import neighbourhood
from cocite.kernels.related.counted_links import Excluded
from cocite.kernels.related.independence import first_copies
from cocite.kernels.related.neighbourhood import NearPages, Parents
from cocite.pages.stop_lists import stop_addresses
from cocite.parameters import parameter
from cocite.related.ranks.trustrank import untrusted_pages

AUTO_UNIT = "auto"
UNITS = (AUTO_UNIT, "site", "domain", "host", "none")
PUBLISHED = "published"
MERGED_NOTHING, MERGED_GROUPS, MERGED_NODES = "nothing", "groups", "nodes"
"""What a paper merges: no near-duplicates; parents and children that count as one; the nodes of its own graph."""
ONE_SITE_NOTE = "Only pages of one site link here, so each page counts by itself (unit=none)"
HASH_SEED = 42
"""Parents chosen with this seed are kept ready in the store."""
Pages = NDArray[np.uint32]
NO_PAGES: Pages = np.zeros(0, np.uint32)
NO_TIMES = np.empty(0, np.int32)


def merge_parameter(default: bool) -> Any:
    """Whether near-duplicates are merged."""
    return parameter(
        default, "Count near-duplicates as one page (published: only those that the method's paper merges)",
        choices=(PUBLISHED,),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Switches:
    """What counts as independent, and as a link."""

    merged_as_published: ClassVar[str] = MERGED_NOTHING

    unit: str = parameter(
        AUTO_UNIT, "What counts as one independent author (auto: site, or the page if only its own site links to it)",
        choices=UNITS,
    )  # fmt: skip
    merge: bool | str = merge_parameter(True)
    rel: str = parameter("all", "follow: ignore links marked nofollow", choices=("all", "follow"))
    boilerplate: bool = parameter(True, "Count links in navigation and footers")
    chop: str = parameter(
        "site", "For a page that is unknown or has too few links, use a shorter address of its site, or of its host"
        " (strict: of its site, or return nothing)", choices=("site", "host", "strict", "none"),
    )  # fmt: skip
    stop: tuple[str, ...] = parameter(
        (), "Stop pages: addresses that are ignored, or @common for those of docs/stop-pages.md (command line: or a"
        " file of them)",
    )  # fmt: skip
    stop_degree: int = parameter(0, "Pages with at least this many in-links are stop pages (0: none)", minimum=0)
    trust: tuple[str, ...] = parameter(
        (), "Trusted pages: pages that they don't lead to, and links of these, are ignored (TrustRank; command line: or"
        " a file of addresses)",
    )  # fmt: skip
    seed: int = parameter(HASH_SEED, "Seed of the choice of parents by hash", minimum=0, maximum=2**63 - 1)

    @property
    def named_unit(self) -> str:
        """The unit, unless `auto` finds only one of it around a page."""
        return "site" if self.unit == AUTO_UNIT else self.unit

    def __post_init__(self) -> None:
        stop_addresses(self.stop)  # refuses unknown lists

    @property
    def ignores_some(self) -> bool:
        """Whether some pages or links don't count."""
        return bool(self.stop or self.stop_degree or self.trust or self.rel == "follow" or not self.boilerplate)


class Merged(NamedTuple):
    """Pages with near-duplicates merged: page i is represented by pages[number[i]]."""

    pages: Pages
    number: NDArray[np.int32]


class GraphView:
    """A graph, seen through switches. Arrays are those of the store; nothing here grows with it."""

    def __init__(self, graph: Graph, seeds: Sequence[int], switches: Switches, stop: Pages = NO_PAGES) -> None:
        """`stop` are the pages of `switches.stop`, ascending."""
        self.graph, self.switches, self.unit = graph, switches, switches.named_unit
        degree = switches.stop_degree
        listed = len(stop) > 0 and bool(np.isin(seeds, stop).any())
        self._from_stop_page = listed or bool(degree and any(graph.in_degree[page] >= degree for page in seeds))
        if self._from_stop_page:
            stop, degree = NO_PAGES, 0  # a page that is a stop page itself is related to others of its kind
        untrusted = untrusted_pages(graph, switches.trust) if switches.trust else NO_PAGES
        stop = np.union1d(stop, untrusted) if len(stop) and len(untrusted) else untrusted if switches.trust else stop
        flags = (NOFOLLOW if switches.rel == "follow" else 0) | (0 if switches.boilerplate else BOILERPLATE)
        self.refused = Excluded(flags, stop, degree, graph.in_degree)
        self.plain = not (flags or degree or len(stop))  # every link counts
        self.out = graph.links.out_in_part
        every = NearPages(*graph.facts.all_near_duplicates)
        none = NearPages(*(each[:0] for each in every))
        published = switches.merged_as_published if switches.merge == PUBLISHED else ""
        self.near_duplicates = every if switches.merge is True else none  # of pages that may be results
        self.grouped_duplicates = every if published == MERGED_GROUPS else self.near_duplicates  # of parents, children
        self._merged_nodes = every if published == MERGED_NODES else none

    @property
    def units(self) -> Pages:
        """The unit of every page of the store; empty if every page is its own."""
        return self.graph.units("site")[:0] if self.unit == "none" else self.graph.units(self.unit)

    def units_of(self, pages: Pages) -> Pages:
        """The unit of each page; with unit none every page is its own."""
        return pages if self.unit == "none" else self.units[pages]

    def choose_unit(self, seeds: Sequence[int], parents: Sequence[Pages], around: Sequence[Pages] = ()) -> None:
        """With unit auto, drop the unit if query pages and their parents are all on one (Hou & Zhang 2003, §2.2, end).

        If they have no parents, the pages around them that have links decide. docs/decisions/0026 gives the reasons.
        """
        if self.switches.unit != AUTO_UNIT or self.unit == "none" or not seeds:
            return
        linking = np.concatenate([NO_PAGES, *parents])
        if not len(linking):
            near = np.concatenate([NO_PAGES, *around])
            linking = near[self.graph.out_degree[near] > 0]
        own = self.units[seeds[0]]
        if len(linking) and bool((self.units[linking] == own).all() and (self.units[list(seeds)] == own).all()):
            self.unit = "none"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about all results of the question."""
        return (ONE_SITE_NOTE,) if self.unit != self.switches.named_unit else ()

    def ignored(self) -> dict[str, int | str]:
        """What a question with these switches does not count, for the facts of its results."""
        switches, found = self.switches, dict[str, int | str]()
        if (switches.stop or switches.stop_degree) and self._from_stop_page:
            found["stop pages"] = "none, since the page asked about is one"
        else:
            found |= {"stop pages": len(self.refused.stop)} if switches.stop and not switches.trust else {}
            found |= {"stop pages with links in from": switches.stop_degree} if switches.stop_degree else {}
        found |= {"pages without trust": len(self.refused.stop)} if switches.trust else {}
        kinds = {"nofollow": switches.rel == "follow", "boilerplate": not switches.boilerplate}
        refused = " and ".join(kind for kind, switched in kinds.items() if switched)
        return found | ({"links not counted": refused} if refused else {})

    def refuses(self, page: int) -> bool:
        """Whether a page is a stop page."""
        refused = self.refused
        if refused.degree and refused.in_degree[page] >= refused.degree:
            return True
        return len(refused.stop) > 0 and bool((refused.stop == page).any())

    def check(self, count: int) -> None:
        """Raise BadStore if a kernel returned a negative count: it could not read a list."""
        if count < 0:
            raise self.graph.damaged()

    def merge_nodes(self, pages: Pages) -> None:
        """Merge near-duplicates among the nodes of a graph, if the method's paper does and the switches ask for that.

        The node of highest in-degree, then of lowest number, represents its group. Other pages of the store don't.
        """
        members = np.sort(pages)
        groups = self._representatives(members, self._merged_nodes)
        if groups is members:
            return
        order = np.lexsort((members, -self.graph.in_degree[members].astype(np.int64), groups))
        _, first, group = np.unique(groups[order], return_index=True, return_inverse=True)
        representative = np.empty_like(members)
        representative[order] = members[order][first[group]]
        for each in (members, representative):
            each.flags.writeable = False  # as those of a store: kernels are compiled once
        self.near_duplicates = self.grouped_duplicates = NearPages(members, representative)

    def representatives(self, pages: Pages, grouped: bool = False) -> Pages:
        """The representative of each page: itself, unless it is a near-duplicate; `grouped`: as a parent or a child."""
        return self._representatives(pages, self.grouped_duplicates if grouped else self.near_duplicates)

    def _representatives(self, pages: Pages, near: NearPages) -> Pages:
        if not len(near.page):
            return pages
        found = np.empty(len(pages), np.uint32)
        return found if neighbourhood.representatives(*near, pages, found) else pages

    def duplicates_of(self, page: int) -> Pages:
        """The near-duplicates that a result represents."""
        if self.switches.merge is True:
            return self.graph.facts.near_duplicates(page)
        near = self.near_duplicates
        found: Pages = near.page[(near.representative == page) & (near.page != page)]
        return found

    def are_seeds(self, pages: Pages, seeds: Sequence[int]) -> NDArray[np.bool_]:
        """Which of the pages are query pages, or represent one."""
        return is_one_of(pages, self.representatives(np.array(seeds, np.uint32)))

    def merge(self, pages: Pages) -> Merged:
        """Different pages, with near-duplicates among them merged."""
        if self.representatives(pages) is pages:  # nearly always, and then a first run compiles one kernel less
            return Merged(pages, np.arange(len(pages), dtype=np.int32))
        found, number, _ = neighbourhood.merge_pages(self.near_duplicates, pages)
        return Merged(found, number)

    @property
    def counts_copies_once(self) -> bool:
        """Whether parents that are copies of each other around a page count as one."""
        return self.switches.merge is True

    def copies(self, parents: Parents) -> Pages:
        """For each parent the first that is a copy of it, around the page; all are their own if copies count."""
        found: Pages = first_copies(parents) if self.counts_copies_once else parents.pages
        return found

    def originals(self, parents: Parents) -> NDArray[np.bool_]:
        """Which parents count where only one of near-duplicates and copies does: the one of highest in-degree."""
        pages, found = parents.pages, np.ones(len(parents.pages), np.bool_)
        groups, count = neighbourhood.group(np.array([self.representatives(pages, True), self.copies(parents)]))
        if count < len(pages):
            order = np.lexsort((pages, -self.graph.in_degree[pages].astype(np.int64), groups))
            found[order[1:]] = groups[order[1:]] != groups[order[:-1]]
        return found

    def group(self, pages: Pages, *more: Pages) -> tuple[NDArray[np.int32], int]:
        """The group of each page, and how many: one unit, near-duplicates, or one value of `more`; transitively."""
        groups, count = neighbourhood.group(np.array([self.units_of(pages), self.representatives(pages, True), *more]))
        return groups, int(count)

    def group_parents(self, parents: Parents, units: bool = True) -> tuple[NDArray[np.int32], int]:
        """The group of each parent, and how many: one unit, near-duplicates or copies; transitively."""
        of_pages = self.units if units else self.units[:0]
        groups, count = neighbourhood.group_parents(parents, self.grouped_duplicates, of_pages, self.counts_copies_once)
        return groups, int(count)

    def parents_of(self, page: int, limit: int, window: int, sections: bool = False) -> Parents:
        """Up to `limit` parents of a page, chosen by hash, with their links; `window` 0 is the whole parent."""
        parents: Parents
        pages = self.candidate_parents(page, limit)
        count, parents = neighbourhood.read_parents(self.out, pages, page, limit, window, self.refused, sections)
        self.check(count)
        return parents

    def candidate_parents(self, page: int, limit: int) -> Pages:
        """The parents that may be chosen, as a new array; a stop page has none."""
        return np.array(NO_PAGES if self.refuses(page) or limit == 0 else self._candidates(page, limit), np.uint32)

    def chosen_parents(self, page: int, limit: int) -> Pages:
        """Up to `limit` parents of a page, chosen by hash, without their links."""
        if not self.plain:
            return self.parents_of(page, limit, 0).pages
        return self._candidates(page, limit)[:limit] if limit else NO_PAGES

    def _candidates(self, page: int, limit: int) -> Pages:
        """The parents to choose from, in the order of choice if there are more than `limit`.

        Of a page with more parents than the store keeps ready, only those kept are candidates. Otherwise a question
        that ignores some of them would have to read them all.
        """
        graph, seed = self.graph, self.switches.seed
        if graph.in_degree[page] <= limit:
            return graph.links_to(page)
        if seed == HASH_SEED:
            sampled = graph.array("sample.page")
            row = int(find_position(sampled, page)) if len(sampled) else -1
            ready = len(graph.array("sample.parent")) // max(1, len(sampled))
            if row >= 0 and limit <= ready:
                found: Pages = graph.array("sample.parent")[row * ready : (row + 1) * ready]
                if found.max(initial=0) >= graph.pages:
                    raise graph.damaged()
                return found[:limit] if self.plain else found
        parents = graph.links_to(page)
        keep = limit if self.plain else len(parents)
        ordered = np.empty(keep, np.uint32)
        return ordered[: neighbourhood.first_by_hash(parents, page, graph.fingerprints, seed, keep, ordered)]

    def children_of(self, page: int, limit: int | None = None) -> Pages:
        """The first `limit` children of a page, in page order."""
        degree = self.graph.links.degree_of(self.graph.out, page)
        targets = np.empty(degree, np.uint32)
        attributes = np.empty(degree, np.uint32) if self.refused.flags else NO_PAGES
        count = neighbourhood.read_children(self.out, page, self.refused, targets, attributes)
        self.check(count)
        return targets[:count][:limit]


def is_one_of(pages: Pages, few: Pages) -> NDArray[np.bool_]:
    """Which of the pages are among a few others. `isin` sorts, which takes longer."""
    if len(few) > 16:
        return np.isin(pages, few)
    found = np.zeros(len(pages), np.bool_)
    for page in few:
        found |= pages == page
    return found


class Numbered:
    """A growing set of pages, numbered 0, 1, … as they are added."""

    def __init__(self, capacity: int, *pages: Pages) -> None:
        table = np.full((1 << max(4, (2 * capacity).bit_length())) + 1, hash_tables.EMPTY, np.uint64)
        table[-1] = secrets.randbits(64) | 1  # its factor
        self.set, self.count = hash_tables.NumberedSet(table, np.empty(capacity, np.uint32)), 0
        for each in pages:
            self.add(each)

    @property
    def pages(self) -> Pages:
        """The pages, in the order of their numbers."""
        return self.set.members[: self.count]

    def add(self, pages: Pages) -> None:
        """Number more pages."""
        self.count = int(hash_tables.add_members(self.set, self.count, pages))

    def find(self, pages: Pages) -> NDArray[np.int32]:
        """The numbers of pages; -1 for a page that has none."""
        found = np.empty(len(pages), np.int32)
        hash_tables.numbers_of(self.set, pages, found)
        return found

    def add_windows(self, parents: Parents) -> None:
        """Number the pages in the windows of parents, without the page itself."""
        self.count = int(neighbourhood.add_windows(parents, self.set, self.count, NO_TIMES))


def number_siblings(parents: Sequence[Parents]) -> Numbered:
    """The pages in the windows of all parents."""
    siblings = Numbered(sum(each.max_siblings for each in parents))
    for each in parents:
        siblings.add_windows(each)
    return siblings
