"""Groups: a set of pages put into named groups, as Hou & Zhang (2003 §6) and others name as the next step.

Pages that link lists put under one heading belong together. The rows of a matrix are the pages, its columns the
sections of the pages that cite them (and, counting less, the citing pages as a whole). Its greatest singular values
span a space, as in LLI, in which near pages are joined step by step (average linkage). How many groups there are is
chosen by the mean silhouette. Each gets the words that its sections' headings and its pages' titles have and others
have not.

LLI's own rule for the size of that space (a fall of singular values by half) keeps one dimension or nearly all on real
lists; here every page counts alike, as many dimensions are kept as hold four fifths of the sum of squares, and more
until half of each page is left: a topic of two pages among a hundred of another one is still a topic. Groups that get
the same name become one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from cocite.answers.answer import Answer
from cocite.answers.naming import title_of
from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.neighbourhood.gather import parents_of
from cocite.neighbourhood.view import Switches, View
from cocite.web import Web

PARENTS = 200
PAGE_LEVEL = 0.3
"""What being cited by one page counts, beside being cited in one section of it."""
ENERGY, HALF = 0.8, 0.5
"""What the dimensions kept hold: of all rows together, and of every single one."""
ALIKE = 0.3
"""Two pages alone belong together from this cosine on; of more, the silhouette decides."""
MOST_PAGES = 2000
MOST_GROUPS = 12
GENERAL = {
    "and", "are", "awesome", "best", "contents", "etc", "for", "from", "general", "in", "index", "links", "list",
    "lists", "more", "misc", "miscellaneous", "of", "on", "other", "others", "our", "page", "pages", "resource",
    "resources", "site", "sites", "table", "that", "the", "their", "this", "to", "tool", "tools", "useful",
    "with", "you", "your",
}  # fmt: skip
"""Words that headings have whatever they are about."""
KEYWORDS = 3
_WORD = re.compile(r"[^\W\d_]{3,}")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Pages that belong together, and what they are about."""

    keywords: tuple[str, ...]
    pages: tuple[int, ...]
    alone: bool = False  # they share nothing with any page, nor with each other

    @property
    def name(self) -> str:
        """The keywords in one text."""
        return ", ".join(self.keywords) or ("others" if self.alone else "a group without words")


def group_pages(web: Web, pages: Sequence[int], most: int = MOST_GROUPS) -> list[Group]:
    """Put pages into groups: the largest first, pages that share nothing with any other last and unnamed."""
    pages = list(dict.fromkeys(pages))
    if len(pages) > MOST_PAGES:
        raise BadParameter(f"{len(pages):,} pages are too many to group: give at most {MOST_PAGES:,}")
    cited = [_Cited(web.graph, page) for page in pages]
    rows = coordinates(cited)
    placed = np.flatnonzero(np.linalg.norm(rows, axis=1) > 0)
    labels = cluster(rows[placed], most)
    found = [[int(i) for i in placed[labels == label]] for label in dict.fromkeys(labels.tolist())]
    found.sort(key=lambda members: (-len(members), members[0]))
    alone = sorted(set(range(len(pages))) - set(placed.tolist()))
    words = [_words(web.graph, [cited[i] for i in members], [pages[i] for i in members]) for members in found]
    named: dict[object, tuple[tuple[str, ...], list[int]]] = {}
    for at, members in enumerate(found):
        keywords = _telling(words, at)
        named.setdefault(frozenset(keywords) or at, (keywords, []))[1].extend(members)
    groups = [Group(keywords, tuple(pages[i] for i in sorted(members))) for keywords, members in named.values()]
    groups.sort(key=lambda group: -len(group.pages))
    return groups + ([Group((), tuple(pages[i] for i in alone), True)] if alone else [])


def group_answers(web: Web, answers: Sequence[Answer], most: int = MOST_GROUPS) -> list[tuple[Group, list[Answer]]]:
    """Answers put into groups, best first in each; the group of the best answer comes first, the unnamed one last."""
    of = {answer.page: answer for answer in answers}
    found = [
        (group, sorted((of[page] for page in group.pages), key=lambda answer: answer.rank))
        for group in group_pages(web, list(of), most)
    ]
    return sorted(found, key=lambda each: (each[0].alone, each[1][0].rank))


class _Cited:
    """Where a page is cited: sections as (page, block), and the whole pages."""

    def __init__(self, graph: Graph, page: int) -> None:
        view = View(graph, [page], Switches(unit="none"))
        parents = parents_of(view, page, PARENTS, 2, blocks=True)
        blocks = (parents.attributes[parents.places] & 0xFFFFFF).astype(np.int64) - 1
        self.pages = [graph.representative(int(parent)) for parent in parents.pages]
        self.sections = [(parent, int(block)) for parent, block in zip(self.pages, blocks, strict=True) if block >= 0]


def coordinates(cited: Sequence[_Cited]) -> Matrix:
    """The place of each page: rows of length 1, or 0 for a page that shares nothing with another."""
    columns = Counter(column for each in cited for column in {*each.sections, *((page, -1) for page in each.pages)})
    shared = {column: at for at, column in enumerate(c for c, count in columns.items() if count > 1)}
    matrix = np.zeros((len(cited), len(shared)))
    for row, each in zip(matrix, cited, strict=True):
        for column in {*each.sections, *((page, -1) for page in each.pages)}:
            if column in shared:
                row[shared[column]] = (1.0 if column[1] >= 0 else PAGE_LEVEL) * log(1 + len(cited) / columns[column])
    if not shared:
        return matrix
    u, singular, _ = np.linalg.svd(_unit(matrix), full_matrices=False)
    kept = np.cumsum((u * singular) ** 2, axis=1)  # of each row, by so many dimensions
    enough = (kept.sum(axis=0) >= ENERGY * kept[:, -1].sum()) & (kept >= HALF * kept[:, -1:]).all(axis=0)
    k = int(enough.argmax()) + 1
    return _unit(u[:, :k] * singular[:k])


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(lengths > 1e-9, rows / np.maximum(lengths, 1e-300), 0.0)


def cluster(rows: Matrix, most: int) -> NDArray[np.int64]:
    """A label for every row: average linkage by cosine, the number of groups of highest mean silhouette."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    size = len(rows)
    if size < 3:
        return np.arange(size) if size == 2 and rows[0] @ rows[1] < ALIKE else np.zeros(size, np.int64)
    distance = np.clip(1 - rows @ rows.T, 0, 2)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    most = min(most, size - 1, round(size**0.5) + 1)  # the silhouette alone likes pairs best
    options = [fcluster(tree, count, "maxclust") for count in range(2, max(2, most) + 1)]
    best = max(options, key=lambda labels: silhouette(distance, labels))
    return np.asarray(best, np.int64)


def silhouette(distance: Matrix, labels: NDArray[np.int64]) -> float:
    """The mean over rows of (b − a) / max(a, b): a the mean distance in the own group, b that to the nearest other."""
    members = labels[:, None] == np.unique(labels)[None, :]
    if members.shape[1] < 2:
        return -1.0
    sizes = members.sum(axis=0)
    sums = distance @ members
    own = members.argmax(axis=1)
    rows = np.arange(len(labels))
    a = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[rows, own] = np.inf
    b = means.min(axis=1)
    value = np.where(sizes[own] > 1, (b - a) / np.maximum(np.maximum(a, b), 1e-12), 0.0)
    return float(value[np.isfinite(value)].mean()) if np.isfinite(value).any() else -1.0


def _words(graph: Graph, cited: Sequence[_Cited], pages: Sequence[int]) -> Counter[str]:
    """How often a word stands in headings under which pages of a group are cited, or in titles: their own, or above."""
    found: Counter[str] = Counter()
    for each, page in zip(cited, pages, strict=True):
        texts = {(-1, title_of(graph, page))}
        for parent, block in each.sections:
            headings = graph.headings(parent)
            texts |= {(parent, headings[block] if block < len(headings) else ""), (parent, graph.title(parent))}
        for _, text in texts:
            found.update({word.lower() for word in _WORD.findall(text)} - GENERAL)
    return found


def _telling(words: Sequence[Counter[str]], at: int) -> tuple[str, ...]:
    """The words that a group has more often than its size would have it, and often."""
    everywhere: Counter[str] = sum(words, Counter())
    share = words[at].total() / max(1, everywhere.total())

    def weight(word: str) -> float:
        count = words[at][word]
        return count * log(1 + count / (everywhere[word] * share))

    return tuple(sorted(words[at], key=lambda word: (-weight(word), word))[:KEYWORDS])
