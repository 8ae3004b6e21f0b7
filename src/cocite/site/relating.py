"""Which pages of a site are related: by their words first, then by links that somebody wrote into the text.

    score(u, s) = cosine(u, s) + 0.2 · min(1, direct(u, s)) + 0.1 · min(1, together(u, s))

Words weigh (1 + ln tf) · ln((1 + N) / (½ + df)), tf being raised for words of the title and of headings; the 150
weightiest of a page are its vector. `direct` sums, over n content links from one to the other and back, (1 + ln n) /
(ln(e + pages that link to the target) · ln(e + pages that the other links to)): a link to what everybody links to says
little. `together` sums 1 / (links of the group) over paragraphs and lists that link to both.

Navigation says nothing of what a page is about. Beyond what its markup says (reading.py), a link counts as navigation
if the same text leads to the same page from more than 3 % of pages (and 4), or the same text is a link on more than a
fifth of them (`Next`, `Up`), or it stands in a group of three and more that three pages have.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import e
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.kernels.related.all_pairs import SparseRows, compare_rows
from cocite.site.reading import Read

if TYPE_CHECKING:
    from cocite.graph.generation import Progress

DIRECT, TOGETHER = 0.2, 0.1
WORDS = 150
LEAST = 0.1
"""Below this a page is not called related."""
LIST_PAGE, LISTS = 0.6, 5
"""A page of so many links, which make up this part of its words, is a table of contents: nobody's answer."""
WELL_KNOWN, FEW = 0.2, 15
"""A page to which this part of all pages link in their texts, and so many, such as a glossary, needs no pointing to."""
AS_KNOWN = 0.5
"""What such a page counts as an answer: it has words of everything."""
LARGEST_GROUP = 20
EVERYWHERE = 0.5
"""Words on more than this part of pages tell nothing."""
SMALL = 10
"""In a site of fewer pages any word may tell."""
ROWS = 64
"""Pages that are compared with all at once."""
SPARE = 16
"""So many more are chosen than wanted, before values that differ in the tenth digit are taken for equal."""
TOLD = 6
_PARTS = re.compile(r"\s+(?:[—–|·«»:-]|::)\s+")


Near = tuple[int, float]
"""A page, and its score."""


class Why(NamedTuple):
    """Why two pages are related."""

    words: tuple[str, ...]  # that make them alike, the one that does most first
    linked: str  # "", "to" (the page links to it), "from" or "both"


class Site(NamedTuple):
    """The pages of a site that count, in order."""

    reads: Sequence[Read]
    links: Sequence[Sequence[tuple[int, str, int]]]  # of each page: target, text, group


def resolved(reads: Sequence[Read], places: Mapping[str, int]) -> Site:
    """Links by the numbers of pages; links to what is no page of the site are left out."""
    return Site(
        reads,
        [
            [(places[path], text, group) for path, text, group in read.links if places.get(path, at) != at]
            for at, read in enumerate(reads)
        ],
    )


def content_links(site: Site) -> list[list[tuple[int, int]]]:
    """The links that are not navigation: target and group."""
    total = len(site.reads)
    same: Counter[tuple[int, str]] = Counter()
    texts: Counter[str] = Counter()
    groups: Counter[tuple[int, ...]] = Counter()
    for links in site.links:
        same.update({(target, text) for target, text, _ in links})
        texts.update({text for _, text, _ in links})
        groups.update(set(_grouped(links).values()))
    often, common = max(4, 0.03 * total), max(5, 0.2 * total)
    return [
        [
            (target, group)
            for target, text, group in links
            if same[target, text] <= often and texts[text] <= common and not (len(own[group]) > 2 < groups[own[group]])
        ]
        for links in site.links
        for own in [_grouped(links)]
    ]


def _grouped(links: Sequence[tuple[int, str, int]]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for target, _, group in links:
        found.setdefault(group, []).append(target)
    return {group: tuple(targets) for group, targets in found.items()}


def vectors(reads: Sequence[Read]) -> tuple[csr_array, list[str]]:
    """The words of pages as vectors of length 1, and the words themselves."""
    total = len(reads)
    vocabulary = sorted({word for read in reads for word in read.words})
    place = {word: at for at, word in enumerate(vocabulary)}
    sizes = np.array([len(read.words) for read in reads], np.int64)
    columns = np.array([place[word] for read in reads for word in read.words], np.int64)
    times = np.array([count for read in reads for count in read.words.values()], np.float64)
    rows = np.repeat(np.arange(total), sizes)
    frequency = np.bincount(columns, minlength=len(vocabulary))
    most = total if total < SMALL else EVERYWHERE * total
    tells = (frequency <= most)[columns]
    rows, columns, times = rows[tells], columns[tells], times[tells]
    weights = np.round((1 + np.log(times)) * np.log((1 + total) / (0.5 + frequency[columns])), 9)
    order = np.lexsort((columns, -weights, rows))
    starts = np.searchsorted(rows[order], np.arange(total + 1))
    order = order[np.arange(len(order)) - starts[rows[order]] < WORDS]  # the weightiest of each page
    lengths = np.sqrt(np.bincount(rows[order], weights[order] ** 2, total))
    order = order[frequency[columns[order]] > 1]  # words of one page count for its length, and compare nothing
    order = order[np.lexsort((columns[order], rows[order]))]
    rows, columns, weights = rows[order], columns[order], weights[order]
    starts = np.searchsorted(rows, np.arange(total + 1)).astype(np.int32)
    shape = (total, len(vocabulary))
    return csr_array((weights / lengths[rows], columns.astype(np.int32), starts), shape=shape), vocabulary


def by_links(links: Sequence[Sequence[tuple[int, int]]]) -> tuple[csr_array, csr_array]:
    """What links say of pairs of pages, as they are added to cosines; and who links to whom."""
    total = len(links)
    times = Counter((page, target) for page, some in enumerate(links) for target, _ in some)
    pairs = sorted(times)
    sources, targets = (np.array([pair[end] for pair in pairs], np.int64) for end in (0, 1))
    into, out = np.bincount(targets, minlength=total), np.bincount(sources, minlength=total)
    worth = 1 + np.log(np.array([times[pair] for pair in pairs], np.float64))
    worth /= np.log(e + into[targets] - 1) * np.log(e + out[sources] - 1)
    shape = (total, total)
    linked = csr_array((np.ones(len(pairs)), (sources, targets)), shape=shape)
    one_way = csr_array((worth, (sources, targets)), shape=shape)
    direct = one_way + one_way.T
    together: Counter[tuple[int, int]] = Counter()
    for some in links:
        groups: dict[int, set[int]] = {}
        for target, group in some:
            groups.setdefault(group, set()).add(target)
        for members in groups.values():
            if 2 <= len(members) <= LARGEST_GROUP:
                for one in members:
                    for other in members:
                        if one != other:
                            together[one, other] += 1 / len(members)  # type: ignore[assignment]
    both = sorted(together.items())
    places = (np.array([a for (a, _), _ in both], np.int64), np.array([b for (_, b), _ in both], np.int64))
    cited = csr_array((np.array([value for _, value in both], np.float64), places), shape=shape)
    direct.data = DIRECT * np.minimum(1.0, direct.data)
    cited.data = TOGETHER * np.minimum(1.0, cited.data)
    return (direct + cited).tocsr(), linked


def relate(
    site: Site, k: int, hidden: NDArray[np.bool_], progress: Progress
) -> tuple[list[list[Near]], Callable[[int, int], Why]]:
    """The k pages most related to each, and what tells why; `hidden` ones are nobody's."""
    matrix, vocabulary = vectors(site.reads)
    links = content_links(site)
    linking, linked = by_links(links)
    turned = matrix.T.tocsr()
    total = len(site.reads)
    lists = np.array([is_list(read) for read in site.reads], np.bool_)
    factor = np.where(lists & (lists.sum() * 2 < total), 0.0, 1.0)  # in a site of lists they are what there is
    known = Counter(target for some in links for target in {target for target, _ in some})
    factor[[page for page, times in known.items() if times > max(FEW, WELL_KNOWN * total)]] *= AS_KNOWN
    factor[hidden] = 0.0
    names = sorted({read.lang for read in site.reads})
    language = np.array([names.index(read.lang) for read in site.reads])
    unknown = names.index("") if "" in names else -1

    def best(first: int) -> list[list[Near]]:
        """Of some pages; compiled loops let other threads run."""
        rows = np.arange(first, min(first + ROWS, total))
        scores = np.empty((len(rows), total))
        words, pages_of = (SparseRows(each.indptr, each.indices, each.data) for each in (matrix, turned))
        compare_rows(words, pages_of, first, first + len(rows), scores)
        scores += linking[rows].toarray()
        scores *= factor
        if len(names) > 1:
            strange = (language[rows][:, None] != language) & (language != unknown)
            scores[strange & (language[rows] != unknown)[:, None]] = 0
        scores[rows - first, rows] = 0
        some = np.argpartition(-scores, min(k + SPARE, total - 1), axis=1)[:, : k + SPARE]
        values = np.round(np.take_along_axis(scores, some, 1), 6)
        order = np.lexsort((some, -values))[:, :k]
        some, values = np.take_along_axis(some, order, 1), np.take_along_axis(values, order, 1)
        return [
            [pair for pair in zip(others, each, strict=True) if pair[1] >= LEAST]
            for others, each in zip(some.tolist(), values.tolist(), strict=True)
        ]

    found: list[list[Near]] = []
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        for some in threads.map(best, range(0, total, ROWS)):
            found += some
            progress("comparing pages", len(some), total)
    return found, Telling(matrix, vocabulary, linked)


def is_list(read: Read) -> bool:
    """Whether a page is a table of contents."""
    return read.linked >= LIST_PAGE and len(read.links) >= LISTS


class Telling:
    """Says why two pages are related."""

    def __init__(self, matrix: csr_array, vocabulary: list[str], linked: csr_array) -> None:
        self._vocabulary, self._matrix = vocabulary, matrix
        self._links = set(zip(*(each.tolist() for each in linked.nonzero()), strict=True))
        self._words: dict[int, dict[int, float]] = {}

    def __call__(self, page: int, other: int) -> Why:
        """Words that both have, and whether one links to the other."""
        own, its = self._of(page), self._of(other)
        both = sorted([(-own[word] * its[word], word) for word in own.keys() & its.keys()])[: 2 * TOLD]
        common = sorted((round(product, 9), word) for product, word in both)
        to, back = (page, other) in self._links, (other, page) in self._links
        linked = "both" if to and back else "to" if to else "from" if back else ""
        return Why(tuple(self._vocabulary[word] for _, word in common[:TOLD]), linked)

    def _of(self, page: int) -> dict[int, float]:
        found = self._words.get(page)
        if found is None:
            part = slice(*self._matrix.indptr[page : page + 2].tolist())
            words, weights = self._matrix.indices[part].tolist(), self._matrix.data[part].tolist()
            found = self._words[page] = dict(zip(words, weights, strict=True))
        return found


def common_parts(titles: Sequence[str]) -> frozenset[str]:
    """Parts of titles that name the site, not the page: the last, or first, part of a third of all titles."""
    ends = Counter(part for title in titles for part in {*_PARTS.split(title)[:1], *_PARTS.split(title)[-1:]})
    return frozenset(part for part, times in ends.items() if times >= max(3, len(titles) / 3))


def own_title(read: Read, parts: frozenset[str], path: str) -> str:
    """What to call a page: its title without the name of the site, else its heading, else its path."""
    pieces, title = _PARTS.split(read.title), read.title
    if len(pieces) > 1 and pieces[-1] in parts:
        title = title[: title.rindex(pieces[-1])].rstrip(" —–|·«»:-")
    elif len(pieces) > 1 and pieces[0] in parts:
        title = title[len(pieces[0]) :].lstrip(" —–|·«»:-")
    elif title in parts:
        title = ""
    return title or read.heading or read.title or path
