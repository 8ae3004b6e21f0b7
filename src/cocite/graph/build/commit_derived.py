"""What a commit changes of derived data: entry points, best and sampled parents, near-duplicates.

Everything here is computed for the pages around a change, by the rules of derive.py.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import distinct, find_in
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
    """Best parents of pages that have other parents, or parents of other in-degrees, where that makes a difference."""
    degree, before = new.in_degree, old.in_degree
    # Whom the pages of other in-degrees link to: among the parents of these, their ranks may have changed.
    linking = into[new.out_degree[into] > 0].astype(np.int64)
    starts, targets, _ = new.links.read_some(new.out, linking, attributes=False)
    owners = np.repeat(linking.astype(np.uint32), np.diff(starts))
    # A parent outside of a stored row whose in-degree stayed the same is still behind the row, unless one in it fell.
    has_fallen, known = np.zeros(len(linking), np.bool_), linking < len(before)
    has_fallen[known] = degree[linking[known]] < before[linking[known]]
    fell = targets[np.repeat(has_fallen, np.diff(starts))]
    changed = _ByTarget.of((targets, parents_of.targets), (owners, parents_of.sources), degree, derive.MANY_PARENTS)
    stored, found = old.links.stored_parents("best"), np.zeros(len(changed.targets), np.bool_)
    verify(parents.reordered(stored, new.into, *changed, before, found))
    lost = parents_of.lost[degree[parents_of.lost] > derive.MANY_PARENTS]
    pages = distinct(np.concatenate([changed.targets[found], lost]))
    chosen = np.zeros((len(pages), derive.BEST_PARENTS), np.uint32)
    if len(pages):
        rows = _with_more(stored, pages, np.concatenate([parents_of.lost, fell]), changed)
        verify(parents.best_of_all(new.into, pages, rows, derive.BEST_PARENTS, chosen))
    return _changed_rows(old, "best", pages, chosen, into[degree[into] <= derive.MANY_PARENTS])


def _sampled_parents(old: Graph, new: Graph, into: Pages, parents_of: ChangedParents) -> Columns:
    """Sampled parents of pages that have other parents, where that makes a difference."""
    degree, prints, seed = new.in_degree, new.fingerprints, derive.HASH_SEED
    came = _ByTarget.of((parents_of.targets,), (parents_of.sources,), degree, derive.SAMPLE_PARENTS)
    stored, found = old.links.stored_parents("sample"), np.zeros(len(came.targets), np.bool_)
    if len(found):
        verify(parents.resampled(stored, *came, prints, seed, found))
    lost = parents_of.lost[degree[parents_of.lost] > derive.SAMPLE_PARENTS]
    pages = distinct(np.concatenate([came.targets[found], lost]))
    chosen = np.zeros((len(pages), derive.SAMPLE_PARENTS), np.uint32)
    if len(pages):
        rows = _with_more(stored, pages, parents_of.lost, came)
        verify(parents.sample_of_all(new.into, pages, rows, prints, seed, derive.SAMPLE_PARENTS, chosen))
    return _changed_rows(old, "sample", pages, chosen, into[degree[into] <= derive.SAMPLE_PARENTS])


class _ByTarget(NamedTuple):
    """Parents of some pages, one page after another."""

    targets: Pages
    starts: NDArray[np.int64]  # one more for the end
    parents: Pages

    @classmethod
    def of(
        cls, targets: tuple[Pages, ...], sources: tuple[Pages, ...], degree: NDArray[np.uint32], more_than: int
    ) -> "_ByTarget":
        """Links by target, of targets with more links in than that."""
        target, source = np.concatenate(targets), np.concatenate(sources)
        many = degree[target] > more_than
        keys = distinct(target[many].astype(np.uint64) << np.uint64(32) | source[many])
        target = (keys >> np.uint64(32)).astype(np.uint32)
        first = np.flatnonzero(np.append(True, target[1:] != target[:-1])[: len(target)])
        return cls(target[first], np.append(first, len(target)), keys.astype(np.uint32))


def _changed_rows(old: Graph, kind: str, pages: Pages, chosen: NDArray[np.uint32], few: Pages) -> Columns:
    """The rows of chosen parents that differ from the stored ones. Pages with `few` links in lose theirs."""
    stored = old.links.stored_parents(kind)
    at, differs = find_in(stored.page, pages), np.ones(len(pages), np.bool_)
    if (known := at >= 0).any():
        differs[known] = (old.links.stored_rows(kind, at[known]) != chosen[known]).any(axis=1)
    lost = few[find_in(stored.page, few) >= 0]
    none = np.full((len(lost), chosen.shape[1]), NONE, np.uint32)
    every, parents = np.append(pages[differs], lost), np.concatenate([chosen[differs], none])
    order = np.argsort(every)
    return {f"{kind}.page": every[order], f"{kind}.parent": parents[order].ravel()}


def _with_more(stored: parents.StoredParents, pages: Pages, anew: Pages, more: _ByTarget) -> parents.ChosenParents:
    """Among which parents to choose those of some pages: the ones that are stored, and more of them.

    Pages that have no row, and those that are chosen `anew`, have none here: they are chosen among all.
    """
    at, own = find_in(stored.page, pages), find_in(more.targets, pages)
    row = np.full(len(pages), -1, np.int64)
    known = (at >= 0) & ~np.isin(pages, anew)
    row[known] = stored.first[at[known]]
    bounds = np.zeros((len(pages), 2), np.int64)
    bounds[own >= 0] = np.stack([more.starts[:-1], more.starts[1:]], axis=1)[own[own >= 0]]
    return parents.ChosenParents(row, stored.parent, stored.size, more.parents, bounds)


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
