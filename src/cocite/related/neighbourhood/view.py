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

from cocite.graph.arrays import BOILERPLATE, NOFOLLOW, read_only
from cocite.graph.store import Graph
from cocite.kernels import hash_tables
from cocite.kernels.build.parents import NONE_STORED
from cocite.kernels.related import neighbourhood
from cocite.kernels.related.counted_links import Excluded
from cocite.kernels.related.independence import GROUPED
from cocite.kernels.related.listings import CountedWeb
from cocite.kernels.related.neighbourhood import NearPages, ParentChoice, Parents
from cocite.kernels.related.pools import in_order_of_choice
from cocite.pages.stop_lists import stop_addresses
from cocite.parameters import parameter
from cocite.related.ranks.trustrank import trusted_web

AUTO_UNIT = "auto"
UNITS = (AUTO_UNIT, "site", "domain", "host", "none")
PUBLISHED = "published"
MERGED_NOTHING, MERGED_GROUPS, MERGED_NODES = "nothing", "groups", "nodes"
"""What a paper merges: no near-duplicates; parents and children that count as one; the nodes of its own graph."""
ONE_SITE_NOTE = "Only pages of one site link here, so each page counts by itself (unit=none)"
UNLINKED_NOTE = "All pages around it are on one site, so each page counts by itself (unit=none)"
HASH_SEED = 42
"""Parents chosen with this seed are kept ready in the store."""
Pages = NDArray[np.uint32]
NO_PAGES: Pages = np.zeros(0, np.uint32)
NONE_NEAR = NearPages(read_only(NO_PAGES), read_only(NO_PAGES))
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
    trust: tuple[str, ...] = parameter(
        (), "Trusted sites and addresses: pages that they don't lead to, and links of these, are ignored (TrustRank;"
        " command line: or a file of them)",
    )  # fmt: skip
    stop_degree: int = parameter(0, "Pages with at least this many in-links are stop pages (0: none)", minimum=0)
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
        self.graph, self.switches, self.unit, self._linked = graph, switches, switches.named_unit, True
        degree = switches.stop_degree
        listed = len(stop) > 0 and bool(np.isin(seeds, stop).any())
        self._from_stop_page = listed or bool(degree and any(graph.in_degree[page] >= degree for page in seeds))
        if self._from_stop_page:
            stop, degree = NO_PAGES, 0  # a page that is a stop page itself is related to others of its kind
        self.in_degree, self.lists = graph.in_degree, graph.links.lists
        if switches.trust:
            untrusted, self.in_degree, self.lists = trusted_web(graph, switches.trust)
            stop = np.union1d(stop, untrusted) if len(stop) else untrusted
        self.votes = self.in_degree  # in-links that count as popularity
        flags = (NOFOLLOW if switches.rel == "follow" else 0) | (0 if switches.boilerplate else BOILERPLATE)
        self.refused = Excluded(flags, stop, degree, graph.in_degree)
        self.plain = not (flags or degree or len(stop))  # every link counts
        self.out, self.into = graph.links.out_in_part, graph.into
        sample = graph.links.stored_parents("sample") if switches.seed == HASH_SEED else NONE_STORED
        self.choice = ParentChoice(sample, graph.fingerprints, switches.seed)
        every, none = NearPages(*graph.facts.all_near_duplicates), NONE_NEAR
        published = switches.merged_as_published if switches.merge == PUBLISHED else ""
        self.near_duplicates = every if switches.merge is True else none  # of pages that may be results
        self.grouped_duplicates = every if published == MERGED_GROUPS else self.near_duplicates  # of parents, children
        self._merged_nodes = every if published == MERGED_NODES else none

    @property
    def units(self) -> Pages:
        """The unit of every page of the store; empty if every page is its own."""
        return self.graph.units("site")[:0] if self.unit == "none" else self.graph.units(self.unit)

    @property
    def counted(self) -> CountedWeb:
        """The links that count and which parents count as one, as kernels take them."""
        return CountedWeb(
            self.out, self.refused, self.graph.links.repeats, self.grouped_duplicates, self.units, GROUPED
        )

    def units_of(self, pages: Pages) -> Pages:
        """The unit of each page; with unit none every page is its own."""
        return pages if self.unit == "none" else self.units[pages]

    def choose_unit(self, seeds: Sequence[int], parents: Sequence[Pages], around: Sequence[Pages] = ()) -> None:
        """With unit auto, drop the unit if query pages and their parents are all on one (Hou & Zhang 2003, §2.2, end).

        If they have no parents, the pages around them that have links decide. docs/decisions/0026 gives the reasons.
        """
        if self.switches.unit != AUTO_UNIT or self.unit == "none" or not seeds:
            return
        linking = parents[0] if len(parents) == 1 else np.concatenate([NO_PAGES, *parents])
        self._linked = len(linking) > 0
        if not self._linked:
            near = np.concatenate([NO_PAGES, *around])
            linking = near[self.graph.out_degree[near] > 0]
        units, some = self.units, [*seeds, *linking[:1].tolist()]
        if len(linking) and len(set(units[some].tolist())) == 1 and bool((units[linking] == units[some[0]]).all()):
            self.unit = "none"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about all results of the question."""
        note = ONE_SITE_NOTE if self._linked else UNLINKED_NOTE
        return (note,) if self.unit != self.switches.named_unit else ()

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

        The node of highest in-degree, then the first by address, represents its group. Other pages of the store don't.
        """
        members = np.sort(pages)
        groups = self._representatives(members, self._merged_nodes)
        if groups is members:
            return
        degrees = -self.graph.in_degree[members].astype(np.int64)
        order = np.lexsort((self.graph.names.address_keys(members), degrees, groups))
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
        at = np.minimum(np.searchsorted(near.page, pages), len(near.page) - 1)
        found: Pages = np.where(near.page[at] == pages, near.representative[at], pages)
        return pages if bool((found == pages).all()) else found

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

    def group(self, pages: Pages) -> tuple[NDArray[np.int32], int]:
        """The group of each page, and the number of groups: one unit, or near-duplicates; transitively."""
        groups, count = neighbourhood.group(self.units_of(pages), self.representatives(pages, True))
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
        found: Pages
        if (pool := self.graph.pool(page)) is not None:
            if limit == 0 or self.refuses(page):
                return NO_PAGES.copy()
            found = pool.copy() if len(pool) <= limit else in_order_of_choice(pool, page, *self.choice[1:])
            return found[:limit] if self.plain else found
        state, found = neighbourhood.choose_parents(self.into, self.choice, self.refused, page, limit)
        self.check(state)
        return found

    def chosen_parents(self, page: int, limit: int) -> Pages:
        """Up to `limit` parents of a page, chosen by hash, without their links."""
        return self.candidate_parents(page, limit) if self.plain else self.parents_of(page, limit, 0).pages

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

    def add_windows(self, parents: Parents) -> None:
        """Number the pages in the windows of parents, without the page itself."""
        self.count = int(neighbourhood.add_windows(parents, self.set, self.count, NO_TIMES))


def number_siblings(parents: Sequence[Parents]) -> Numbered:
    """The pages in the windows of all parents."""
    siblings = Numbered(sum(each.max_siblings for each in parents))
    for each in parents:
        siblings.add_windows(each)
    return siblings
