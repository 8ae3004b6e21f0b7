"""The page source of Hou & Zhang 2003, §2: siblings with merged parents, spouses with merged children.

Each side is a matrix of ones and zeros: a row for every sibling (or spouse), a column for every group of parents (or
children) that count as one, and a one if a page of the group links to the row's page (or is linked from it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import group, merge, representatives
from cocite.related.neighbourhood.gather import Numbered, Pairs, best_parents_of, children_of, links_into, parents_of
from cocite.related.neighbourhood.view import Pages, Switches, View, is_one_of


@dataclass(frozen=True, kw_only=True)
class Limits(Switches):
    """B, BF, F and FB of the paper."""

    parents: int = parameter(200, "B: maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(40, "BF: links of a parent around its link to the page (0: all)", minimum=0)
    children: int = parameter(40, "F: maximum number of children, the first", minimum=0)
    child_parents: int = parameter(200, "FB: maximum number of parents of each child, by in-degree", minimum=0)


@dataclass(frozen=True)
class Side:
    """One half of the page source; row i has its ones at columns[starts[i]:starts[i + 1]]."""

    pages: Pages
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    groups: int
    query: NDArray[np.float64]  # a row for each query page: 1 if it is linked with the group

    def shared(self) -> NDArray[np.float64]:
        """For each query page (row), the number of groups that each page shares with it."""
        rows = np.repeat(np.arange(len(self.pages)), np.diff(self.starts))
        counts = [np.bincount(rows, each[self.columns], len(self.pages)) for each in self.query]
        return np.array(counts, np.float64).reshape(len(self.query), len(self.pages))


@dataclass(frozen=True)
class PageSource:
    """Both sides."""

    back: Side
    forward: Side

    @property
    def enough(self) -> bool:
        """Whether there is any sibling or spouse."""
        return len(self.back.pages) + len(self.forward.pages) > 0


def gather(view: View, seeds: Sequence[int], limits: Limits) -> PageSource:
    """The page source of all query pages together."""
    return PageSource(_back(view, seeds, limits), _forward(view, seeds, limits))


def _back(view: View, seeds: Sequence[int], limits: Limits) -> Side:
    parents = [parents_of(view, page, limits.parents, limits.window) for page in seeds]
    siblings = Numbered(sum(each.shown for each in parents))
    for each in parents:
        siblings.add_windows(each)
    links = [links_into(view, each.pages, siblings, each) for each in parents]
    groups = _Groups(view, [each.pages for each in parents])
    columns = [of[pairs.rows] for of, pairs in zip(groups.of, links, strict=True)]
    return _side(view, seeds, siblings.pages, [pairs.columns for pairs in links], columns, groups)


def _forward(view: View, seeds: Sequence[int], limits: Limits) -> Side:
    children = [children_of(view, page, limits.children) for page in seeds]
    asked = np.array(seeds, np.uint32)
    found = []
    for its, page, unit, stands in zip(
        children, seeds, view.units_of(asked), representatives(view, asked), strict=True
    ):
        spouses = np.unique(best_parents_of(view, its, page, limits.child_parents))
        found.append(spouses[(view.units_of(spouses) != unit) & (representatives(view, spouses) != stands)])
    spouses = np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint32)
    every = Numbered(sum(map(len, children)))
    for its in children:
        every.add(its)
    groups = _Groups(view, children)
    pairs = links_into(view, spouses, every) if every.count else Pairs(*np.zeros((2, 0), np.int32))
    return _side(view, seeds, spouses, [pairs.rows], [groups.group_of(every.pages)[pairs.columns]], groups)


class _Groups:
    """The groups of all chosen parents, or children, of all query pages."""

    def __init__(self, view: View, chosen: Sequence[Pages]) -> None:
        self._pages = np.unique(np.concatenate(chosen)) if chosen else np.zeros(0, np.uint32)
        self._groups, self.count = group(view, self._pages)
        self.of = [self.group_of(pages) for pages in chosen]

    def group_of(self, pages: Pages) -> NDArray[np.int32]:
        return self._groups[np.searchsorted(self._pages, pages)]


def _side(
    view: View,
    seeds: Sequence[int],
    pages: Pages,
    rows: Sequence[NDArray[np.int32]],
    columns: Sequence[NDArray[np.int32]],
    groups: _Groups,
) -> Side:
    """The matrix of distinct (page, group) pairs, with near-duplicates in one row, without the query pages."""
    merged = merge(view, pages)
    size = max(1, groups.count)
    pairs = [merged.number[of].astype(np.int64) * size + to for of, to in zip(rows, columns, strict=True)]
    distinct = np.unique(np.concatenate(pairs)) if pairs else np.zeros(0, np.int64)
    row, column = distinct // size, (distinct % size).astype(np.int32)
    kept = ~is_one_of(merged.pages, representatives(view, np.array(seeds, np.uint32)))
    inside = kept[row]
    starts = np.zeros(int(np.count_nonzero(kept)) + 1, np.int64)
    np.cumsum(np.bincount(row[inside], minlength=len(kept))[kept], out=starts[1:])
    query = np.zeros((len(seeds), groups.count))
    for line, of in zip(query, groups.of, strict=True):
        line[of] = 1
    return Side(merged.pages[kept], starts, column[inside], groups.count, query)


def weave(
    source: PageSource, back: NDArray[np.float64], forward: NDArray[np.float64]
) -> tuple[Pages, NDArray[np.float64], NDArray[np.float64]]:
    """The pages of both sides, each once, and their values on each side; 0 if a side does not have the page."""
    pages = np.union1d(source.back.pages, source.forward.pages)
    woven = np.zeros((2, len(back), len(pages)))
    woven[0][:, np.searchsorted(pages, source.back.pages)] = back
    woven[1][:, np.searchsorted(pages, source.forward.pages)] = forward
    return pages, woven[0], woven[1]
