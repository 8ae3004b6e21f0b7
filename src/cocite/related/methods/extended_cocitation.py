"""Extended Cocitation: merged parents and merged children in common (Hou & Zhang 2003, §2.2).

Of up to B parents (200) the BF links around (40) are the siblings; of the first F children (40) the FB parents of
highest in-degree (200) are the spouses, except those of the page's own unit. Parents on one unit, or near-duplicates,
are merged into one that has the links of all; likewise children. b(p, u) is the number of merged parents that p and u
have in common, f(p, u) that of merged children; p is relevant if b or f is at least delta. Inside
one site each page counts by itself (§2.2, end), which `unit=auto` does where only the page's own site links to it.

Siblings and spouses that are near-duplicates are merged, too; the paper keeps them apart (`merge=published`).

Results are ordered by max(b, f), then by b + f; the paper has no order. With several query pages, values add up.

The page source (§2.2) has two sides, each a matrix of ones and zeros: a row for every sibling (or spouse), a column for
every merged parent (or child), and a one if a page of that group links to the row's page (or is linked from it).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related.cocitation import pair_links
from cocite.kernels.related.neighbourhood import Parents, parents_of_highest_degree
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import LinkEvidence, Scores, begin
from cocite.related.neighbourhood.view import (
    MERGED_GROUPS,
    NO_PAGES,
    GraphView,
    Numbered,
    Pages,
    Switches,
    number_siblings,
)
from cocite.web import Web

Matrix = NDArray[np.float64]
Indices = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class SourceParams(Switches):
    """B, BF, F and FB of the paper."""

    merged_as_published: ClassVar[str] = MERGED_GROUPS
    parents: int = parameter(200, "B: maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(40, "BF: links of a parent around its link to the page (0: all)", minimum=0)
    children: int = parameter(40, "F: maximum number of children, the first", minimum=0)
    child_parents: int = parameter(200, "FB: maximum number of parents of each child, by in-degree", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Params(SourceParams):
    """The limits of the page source, and the threshold."""

    delta: float = parameter(1.0, "δ: minimum number of merged parents, or merged children, in common", minimum=0)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings and spouses by merged parents and children in common."""
    start, source = begin(web, seeds, params, lambda view, some: gather(view, some, params))
    pages, b, f = source.join(source.back.shared(), source.forward.shared())
    rows = np.maximum(b, f)  # for every query page by itself
    rows[rows < params.delta] = 0
    facts = {"merged parents": source.back.groups, "merged children": source.forward.groups}
    evidence = LinkEvidence(start.view, source.parents, params.children)
    return start.scores(pages, rows.sum(axis=0), rows, ties=(b + f).sum(axis=0), facts=facts, evidence=evidence)


@dataclass(frozen=True)
class SourceSide:
    """One side of the page source; row i has its ones at columns[starts[i]:starts[i + 1]]."""

    pages: Pages
    starts: NDArray[np.int64]
    columns: Indices
    groups: int
    query: Matrix  # a row for each query page: 1 if it is linked with the group

    def shared(self) -> Matrix:
        """For each query page (row), the number of groups that each page shares with it."""
        rows = np.repeat(np.arange(len(self.pages)), np.diff(self.starts))
        counts = [np.bincount(rows, each[self.columns], len(self.pages)) for each in self.query]
        return np.array(counts, np.float64).reshape(len(self.query), len(self.pages))


class PageSource(NamedTuple):
    """Both sides, and the chosen parents of each query page."""

    back: SourceSide
    forward: SourceSide
    parents: list[Parents]

    def join(self, back: Matrix, forward: Matrix) -> tuple[Pages, Matrix, Matrix]:
        """The pages of both sides, each once, and their values on each side; 0 if a side does not have the page."""
        pages = np.union1d(self.back.pages, self.forward.pages)
        values = np.zeros((2, len(back), len(pages)))
        values[0][:, np.searchsorted(pages, self.back.pages)] = back
        values[1][:, np.searchsorted(pages, self.forward.pages)] = forward
        return pages, values[0], values[1]


def gather(view: GraphView, seeds: Sequence[int], params: SourceParams) -> tuple[PageSource, bool]:
    """The page source of all query pages together, and whether there is any sibling or spouse."""
    parents = [view.parents_of(page, params.parents, params.window) for page in seeds]
    children = [view.children_of(page, params.children) for page in seeds]
    near = [_best_parents(view, its, page, params.child_parents) for its, page in zip(children, seeds, strict=True)]
    view.choose_unit(seeds, [each.pages for each in parents], near)
    source = PageSource(_back(view, seeds, parents), _forward(view, seeds, children, near), parents)
    return source, len(source.back.pages) + len(source.forward.pages) > 0


def _back(view: GraphView, seeds: Sequence[int], parents: list[Parents]) -> SourceSide:
    siblings = number_siblings(parents)
    links = [_links_into(view, each.pages, siblings, each) for each in parents]
    groups = _Groups(view, [each.pages for each in parents])
    columns = [of[rows] for of, (rows, _) in zip(groups.of, links, strict=True)]
    return _side(view, seeds, siblings.pages, [numbers for _, numbers in links], columns, groups)


def _forward(view: GraphView, seeds: Sequence[int], children: list[Pages], near: list[Pages]) -> SourceSide:
    own, found = np.array(seeds, np.uint32), [NO_PAGES]
    for each, unit, representative in zip(near, view.units_of(own), view.representatives(own, True), strict=True):
        spouses = np.unique(each)
        found.append(
            spouses[(view.units_of(spouses) != unit) & (view.representatives(spouses, True) != representative)]
        )
    spouses = np.unique(np.concatenate(found))
    every = Numbered(sum(map(len, children)), *children)
    groups = _Groups(view, children)
    rows, numbers = _links_into(view, spouses, every) if every.count else np.zeros((2, 0), np.int32)
    return _side(view, seeds, spouses, [rows], [groups.group_of(every.pages)[numbers]], groups)


def _best_parents(view: GraphView, children: Pages, other_than: int, limit: int) -> Pages:
    """Of each child its `limit` parents of highest in-degree, without `other_than`; some may be repeated."""
    graph, limit = view.graph, min(limit, view.graph.pages)
    room = int(np.minimum(graph.in_degree[children], limit).sum(dtype=np.int64))
    found, best = np.empty(room, np.uint32), graph.links.stored_parents("best")
    count = parents_of_highest_degree(view.out, graph.into, best, children, other_than, limit, view.refused, found)
    view.check(count)
    return found[:count]


def _links_into(
    view: GraphView, owners: Pages, numbered: Numbered, read: Parents | None = None
) -> tuple[Indices, Indices]:
    """Every link that counts from an owner (by index) to a numbered page; `read` has the owners' lists, if known."""
    if read is None:
        read = Parents(0, 0, owners, np.zeros(len(owners) + 1, np.int64), whole=np.zeros(len(owners), np.bool_))
        room = np.minimum(view.graph.out_degree[owners], max(1, numbered.count)).sum(dtype=np.int64)
    else:
        room = int(read.starts[-1]) + numbered.count * int(np.count_nonzero(~read.whole))
    rows, numbers = np.empty(int(room), np.int32), np.empty(int(room), np.int32)
    count = pair_links(view.out, read, view.refused, numbered.set, numbered.count, rows, numbers)
    view.check(count)
    return rows[:count], numbers[:count]


class _Groups:
    """The groups of all chosen parents, or children, of all query pages."""

    def __init__(self, view: GraphView, chosen: Sequence[Pages]) -> None:
        self._pages = np.unique(np.concatenate([NO_PAGES, *chosen]))
        self._groups, self.count = view.group(self._pages)
        self.of = [self.group_of(pages) for pages in chosen]

    def group_of(self, pages: Pages) -> Indices:
        return self._groups[np.searchsorted(self._pages, pages)]


def _side(
    view: GraphView,
    seeds: Sequence[int],
    pages: Pages,
    rows: Sequence[Indices],
    columns: Sequence[Indices],
    groups: _Groups,
) -> SourceSide:
    """The matrix of distinct (page, group) pairs, with near-duplicates in one row, without the query pages."""
    merged, size = view.merge(pages), max(1, groups.count)
    pairs = [merged.number[of].astype(np.int64) * size + to for of, to in zip(rows, columns, strict=True)]
    distinct = np.unique(np.concatenate([np.zeros(0, np.int64), *pairs]))
    row, column = distinct // size, (distinct % size).astype(np.int32)
    kept = ~view.are_seeds(merged.pages, seeds)
    inside = kept[row]
    starts = np.zeros(int(np.count_nonzero(kept)) + 1, np.int64)
    np.cumsum(np.bincount(row[inside], minlength=len(kept))[kept], out=starts[1:])
    query = np.zeros((len(seeds), groups.count))
    for line, of in zip(query, groups.of, strict=True):
        line[of] = 1
    return SourceSide(merged.pages[kept], starts, column[inside], groups.count, query)
