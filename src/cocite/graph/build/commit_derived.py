"""What a commit changes of derived data: entry points, best and sampled parents, near-duplicates.

Everything here is computed for the pages around a change, by the rules of derive.py.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import find_in
from cocite.graph.build import derive
from cocite.graph.build.derive import verify
from cocite.graph.changes.layers import NONE
from cocite.graph.store import Graph
from cocite.kernels.build import near_duplicates, parents

Pages = NDArray[np.uint32]
Columns = dict[str, NDArray[Any]]


class ChangedParents(NamedTuple):
    """The links that came, by target and then by source, and the pages that lost one."""

    targets: Pages
    sources: Pages
    lost: Pages


def derived_arrays(old: Graph, new: Graph, changed: Columns, parents_of: ChangedParents) -> Columns:
    """The derived arrays of a layer; `new` is the store with the rest of it, whose arrays are `changed`."""
    none = np.zeros(0, np.uint32)
    out, into = changed.get("out.page", none), changed.get("in.page", none)
    arrays = entry_points(new, out) | _best_parents(old, new, into, parents_of)
    arrays |= _sampled_parents(old, new, into, parents_of) | _near_duplicates(old, new, out, into)
    return {name: values for name, values in arrays.items() if len(values)}


def entry_points(new: Graph, pages: Pages) -> Columns:
    """Entry points into the long ones of some lists."""
    pages = pages[new.out_degree[pages] > derive.LONG_LIST_LINKS]
    return dict(derive.entry_points_of("out", new.out, pages)) if len(pages) else {}


def _best_parents(old: Graph, new: Graph, into: Pages, parents_of: ChangedParents) -> Columns:
    """Best parents of pages that have other parents, or parents of other in-degrees."""
    degree, before = new.in_degree, np.append(old.in_degree, np.zeros(new.pages - old.pages, np.uint32))
    # Whom the pages of other in-degrees link to: among the parents of these, their ranks may have changed.
    linking = into[new.out_degree[into] > 0].astype(np.int64)
    starts, targets, _ = new.links.read_some(new.out, linking, attributes=False)
    many = degree[targets] > derive.MANY_PARENTS
    owners = np.repeat(linking.astype(np.uint32), np.diff(starts))[many]
    targets = targets[many]
    order = np.argsort(targets, kind="stable")
    owners, targets = owners[order], targets[order]
    beside, first = np.unique(targets, return_index=True)
    bounds = np.append(first, len(targets)).astype(np.int64)
    stored, reordered = old.links.stored_parents("best"), np.zeros(len(beside), np.bool_)
    verify(parents.reordered(stored, beside, bounds, owners, before, degree, reordered))
    own = into[degree[into] > derive.MANY_PARENTS]
    pages = np.union1d(own, beside[reordered])
    if not len(pages):
        return {}
    # A parent outside of a stored row whose in-degree stayed the same is still behind the row, unless one in it fell.
    fell = targets[degree[owners] < before[owners]]
    more = np.concatenate([parents_of.targets, targets]), np.concatenate([parents_of.sources, owners])
    rows = _with_more(stored, pages, np.union1d(parents_of.lost, fell), *more)
    chosen = np.zeros((len(pages), derive.BEST_PARENTS), np.uint32)
    verify(parents.best_of_all(new.into, pages, rows, derive.BEST_PARENTS, chosen))
    changed = np.isin(pages, own)
    for at in np.flatnonzero(~changed).tolist():
        before_it = old.links.stored("best", int(pages[at]))
        changed[at] = before_it is None or not np.array_equal(before_it, chosen[at])
    return {"best.page": pages[changed].astype(np.uint32), "best.parent": chosen[changed].ravel()}


def _sampled_parents(old: Graph, new: Graph, into: Pages, parents_of: ChangedParents) -> Columns:
    """Sampled parents of pages that have other parents."""
    pages = into[new.in_degree[into] > derive.SAMPLE_PARENTS]
    if not len(pages):
        return {}
    chosen = np.zeros((len(pages), derive.SAMPLE_PARENTS), np.uint32)
    rows = _with_more(
        old.links.stored_parents("sample"), pages, parents_of.lost, parents_of.targets, parents_of.sources
    )
    room = new.into, pages, rows, new.fingerprints, derive.HASH_SEED, derive.SAMPLE_PARENTS
    verify(parents.sample_of_all(*room, chosen))
    return {"sample.page": pages, "sample.parent": chosen.ravel()}


def _with_more(
    stored: parents.StoredParents, pages: Pages, anew: Pages, targets: Pages, sources: Pages
) -> parents.ChosenParents:
    """Among which parents to choose those of some pages: the ones that are stored, and more of them.

    For pages that have no row, and those that are chosen `anew`, it is empty: among all.
    """
    at = find_in(stored.page, pages)
    known = (at >= 0) & ~np.isin(pages, anew)
    order = np.lexsort((sources, targets))
    targets, sources = targets[order], sources[order]
    low, high = (np.searchsorted(targets, pages, side) for side in ("left", "right"))
    found, starts = [], [0]
    for number, row in enumerate(at.tolist()):
        some = sources[:0]
        if known[number]:
            first = int(stored.first[row])
            some = np.union1d(stored.parent[first : first + stored.size], sources[low[number] : high[number]])
        found.append(some)
        starts.append(starts[-1] + len(some))
    return parents.ChosenParents(np.array(starts, np.int64), np.concatenate([sources[:0], *found]).astype(np.uint32))


def _near_duplicates(old: Graph, new: Graph, out: Pages, into: Pages) -> Columns:
    """Rows of near-duplicates that differ from those of the store."""
    pages, representatives = old.facts.all_near_duplicates
    groups = _Groups(old, new)
    groups.compare(out)
    groups.renew(into)
    found = groups.representatives()
    rows = np.array(sorted(found), np.uint32)
    now = np.array([found[page] for page in rows.tolist()], np.uint32)
    changed = now != np.append(representatives, np.uint32(NONE))[find_in(pages, rows)]
    return {"near.page": rows[changed], "near.representative": now[changed]}


class _Groups:
    """Near-duplicate groups around a change."""

    def __init__(self, old: Graph, new: Graph) -> None:
        self.old, self.new = old, new
        self.pages, self.of = old.facts.all_near_duplicates
        self.groups: list[set[int]] = []  # as they are now
        self.in_play: set[int] = set()  # pages whose groups were looked at

    def _members(self, representatives: set[int]) -> dict[int, list[int]]:
        """The pages of groups, as they were, by representative."""
        if not representatives:
            return {}
        rows = np.flatnonzero(np.isin(self.of, np.array(sorted(representatives), np.uint32)))
        found: dict[int, list[int]] = {each: [] for each in representatives}
        for page, representative in zip(self.pages[rows].tolist(), self.of[rows].tolist(), strict=True):
            found[representative].append(page)
        return found

    def _groups_of(self, pages: set[int]) -> set[int]:
        """The representatives, as they were, of pages that had near-duplicates."""
        some = np.array(sorted(page for page in pages if page < self.old.pages), np.uint32)
        at = find_in(self.pages, some)
        return set(self.of[at[at >= 0]].tolist())

    def compare(self, changed: Pages) -> None:
        """Compare pages whose links changed with those that share a rare link, and the rest of their groups anew."""
        new, own = self.new, set(changed.tolist())
        broken = self._groups_of(own)  # groups that may fall apart
        parts = self._members(broken)
        eligible = changed[new.out_degree[changed] >= near_duplicates.MIN_LINKS]
        candidates = self._candidates(eligible)
        play = own.union(*parts.values()) | candidates
        play = {page for page in play if new.out_degree[page] >= near_duplicates.MIN_LINKS}
        self.in_play |= own.union(*parts.values())
        whole = self._members(self._groups_of(candidates - self.in_play))  # groups that stay, and may grow
        joined: dict[int, int] = {}

        def root(page: int) -> int:
            while joined.setdefault(page, page) != page:
                page = joined[page]
            return page

        members = np.array(sorted(play), np.uint32)
        if len(members) > 1:
            places = derive.compare_lists(new.out, new.into, members)
            for page, place in zip(members.tolist(), places.tolist(), strict=True):
                joined[root(page)] = root(int(members[place]))
        for some in whole.values():
            for page in some:
                joined[root(page)] = root(some[0])
        found: dict[int, set[int]] = {}
        for page in joined:
            found.setdefault(root(page), set()).add(page)
        for group in found.values():
            if len(group) > 1 and not self.in_play.isdisjoint(group):
                self.groups.append(group)
                self.in_play |= group

    def _candidates(self, pages: Pages) -> set[int]:
        """Pages of about the same length that have one of the rarest links of a changed page.

        A near-duplicate lacks at most one of 20 links of the page, so it has one of any d // 20 + 1 of them.
        """
        new, found = self.new, set[int]()
        for page in pages.tolist():
            targets = new.links_from(page).targets
            size = len(targets)
            rarest = targets[np.lexsort((targets, new.in_degree[targets]))][: size // 20 + 1]
            for target in rarest.tolist():
                others = new.links_to(target)
                sizes = new.out_degree[others].astype(np.int64)
                found.update(others[(20 * np.minimum(sizes, size) >= 19 * np.maximum(sizes, size))].tolist())
        return found

    def renew(self, pages: Pages) -> None:
        """Take the groups of pages whose in-degrees changed: another page may represent them."""
        for some in self._members(self._groups_of(set(pages.tolist()) - self.in_play)).values():
            if self.in_play.isdisjoint(some):
                self.groups.append(set(some))
                self.in_play |= set(some)

    def representatives(self) -> dict[int, int]:
        """The representative of every page in play, NONE for those without near-duplicates."""
        found = dict.fromkeys(self.in_play, NONE)
        for group in self.groups:
            members = np.array(sorted(group), np.uint32)
            degrees = self.new.in_degree[members].astype(np.int64)
            best = int(members[np.lexsort((self.new.names.address_keys(members), -degrees))[0]])
            found |= dict.fromkeys(group, best)
        return found
