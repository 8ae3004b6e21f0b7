"""What a commit changes of derived data: entry points, best and sampled parents, near-duplicates.

Everything here is computed for the pages around a change, by the rules of derive.py.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build import derive
from cocite.graph.build.derive import verify
from cocite.graph.layers import NONE
from cocite.graph.store import Graph
from cocite.kernels.build import near_duplicates, parents

Pages = NDArray[np.uint32]
Columns = dict[str, NDArray[Any]]


def derived_arrays(old: Graph, new: Graph, changed: Columns) -> Columns:
    """The derived arrays of a layer; `new` is the store with the rest of it, whose arrays are `changed`."""
    none = np.zeros(0, np.uint32)
    out, into = changed.get("out.page", none), changed.get("in.page", none)
    arrays = _entry_points(new, out) | _stored_parents(old, new, into, out) | _near_duplicates(old, new, out, into)
    return {name: values for name, values in arrays.items() if len(values)}


def _entry_points(new: Graph, pages: Pages) -> Columns:
    """Entry points into the long ones of some lists."""
    lists = new.out
    pages = pages[lists.degree[pages] > derive.LONG_LIST_LINKS]
    return dict(derive.entry_points_of("out", lists, pages)) if len(pages) else {}


def _stored_parents(old: Graph, new: Graph, into: Pages, out: Pages) -> Columns:
    """Best and sampled parents of pages that have other parents, or parents of other in-degrees."""
    degree, arrays = new.in_degree, Columns()
    popular = into[degree[into] > derive.SAMPLE_PARENTS]
    if len(popular):
        chosen = np.zeros((len(popular), derive.SAMPLE_PARENTS), np.uint32)
        room = new.into, popular, new.fingerprints, derive.HASH_SEED, derive.SAMPLE_PARENTS
        verify(parents.sample_of_all(*room, chosen))
        arrays |= {"sample.page": popular, "sample.parent": chosen.ravel()}
    # Whom the pages of other in-degrees link to: among the parents of these, their ranks may have changed.
    linking = into[new.out_degree[into] > 0].astype(np.int64)
    starts, targets, _ = new.links.read_some(new.out, linking, attributes=False)
    many = degree[targets] > derive.MANY_PARENTS
    owners = np.repeat(linking.astype(np.uint32), np.diff(starts))[many]
    beside = np.setdiff1d(targets[many], into)
    own = into[degree[into] > derive.MANY_PARENTS]
    pages = np.union1d(own, _reordered(old, new, owners, targets[many], beside))
    if len(pages):
        chosen = np.zeros((len(pages), derive.BEST_PARENTS), np.uint32)
        verify(parents.best_of_all(new.into, pages, derive.BEST_PARENTS, chosen))
        kept = np.array(
            [
                not _same(old.links.stored("best", page) if page < old.pages else None, row) or page in own
                for page, row in zip(pages.tolist(), chosen, strict=True)
            ],
            np.bool_,
        )
        arrays |= {"best.page": pages[kept].astype(np.uint32), "best.parent": chosen[kept].ravel()}
    return arrays


def _same(before: Pages | None, now: Pages) -> bool:
    return before is not None and bool(np.array_equal(before, now))


def _reordered(old: Graph, new: Graph, owners: Pages, children: Pages, beside: Pages) -> Pages:
    """Which pages, whose own parents are the same, may have another order of best parents.

    One of these parents got another in-degree. It matters if it is among the best, or now has enough for it.
    """
    degree, found = new.in_degree, []
    order = np.argsort(children, kind="stable")
    children, owners = children[order], owners[order]
    for page in beside.tolist():
        stored = old.links.stored("best", page)
        low, high = np.searchsorted(children, [page, page + 1])
        if stored is None or _may_change(stored, owners[low:high], old.in_degree, degree):
            found.append(page)
    return np.array(found, np.uint32)


def _may_change(stored: Pages, changed: Pages, before: Pages, after: Pages) -> bool:
    return bool((after[changed] >= before[stored[-1]]).any() or np.isin(changed, stored).any())


def _near_duplicates(old: Graph, new: Graph, out: Pages, into: Pages) -> Columns:
    """Rows of near-duplicates that differ from those of the store."""
    pages, representatives = old.facts.all_near_duplicates
    known = dict[int, int]()  # representatives of all pages in play before, and now
    groups = _Groups(old, new)
    groups.compare(out)
    groups.renew(into)
    now = groups.representatives()
    for page in now:
        at = int(np.searchsorted(pages, np.uint32(page))) if page < old.pages else len(pages)
        known[page] = int(representatives[at]) if at < len(pages) and pages[at] == page else NONE
    rows = sorted(page for page, representative in now.items() if known[page] != representative)
    return {
        "near.page": np.array(rows, np.uint32),
        "near.representative": np.array([now[page] for page in rows], np.uint32),
    }


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
        at = np.searchsorted(self.pages, some)
        hit = at < len(self.pages)
        hit[hit] = self.pages[at[hit]] == some[hit]
        return set(self.of[at[hit]].tolist())

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
