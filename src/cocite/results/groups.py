"""Groups: a set of pages put into named groups, as Hou & Zhang (2003 §6) and others name as the next step.

Pages are joined step by step with those near to them (average linkage); how many groups there are is chosen by the
mean silhouette. Each gets the words that its sections' headings and its pages' titles have and others have not. What
is near is told in one of two ways:

`lli`: pages that link lists put under one heading belong together. The rows of a matrix are the pages, its columns the
sections of the pages that cite them (and, counting less, the citing pages as a whole). Its greatest singular values
span a space, as in LLI, in which cosines are taken. LLI's own rule for the size of that space (a fall of singular
values by half) keeps one dimension or nearly all on real lists; here every page counts alike, as many dimensions are
kept as hold four fifths of the sum of squares, and more until half of each page is left: a topic of two pages among a
hundred of another one is still a topic.

`integrated`: by the integrated similarity of Zhao et al. (2016), of words and links.

docs/communities.md has which of them finds the topics of real lists. Groups that get the same name become one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.parameters import Parameter
from cocite.related.neighbourhood.gather import parents_of
from cocite.related.neighbourhood.view import Switches, View
from cocite.results.answer import Answer, Answers
from cocite.results.naming import Titles
from cocite.web import Web

PARENTS = 200
PAGE_LEVEL = 0.3
"""What being cited by one page counts, beside being cited in one section of it."""
ENERGY, HALF = 0.8, 0.5
"""What the dimensions kept hold: of all rows together, and of every single one."""
SAME = 1e-9
"""Less is rounding."""
ALIKE = 0.3
"""Two pages alone belong together from this cosine on; of more, the silhouette decides."""
MOST_PAGES = 2000
MOST_GROUPS = 12
WAYS = ("lli", "integrated")
BY = Parameter(name="by", help="What groups are made by", default="lli", choices=WAYS)
MOST = Parameter(name="most", help="Maximum number of groups", type=int, default=MOST_GROUPS, minimum=2, maximum=100)
GENERAL = {
    "and", "are", "awesome", "best", "contents", "etc", "for", "from", "general", "in", "index", "links", "list",
    "lists", "more", "misc", "miscellaneous", "of", "on", "other", "others", "our", "page", "pages", "resource",
    "resources", "site", "sites", "table", "that", "the", "their", "this", "to", "tool", "tools", "useful",
    "with", "you", "your",
}  # fmt: skip
"""Words that headings have whatever they are about. Lists of stop words have "home", "web" and "open" as well, which
tell much in a heading."""
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


def group_pages(web: Web, pages: Sequence[int], most: int = MOST_GROUPS, by: str = WAYS[0]) -> list[Group]:
    """Put pages into groups: the largest first, pages that share nothing with any other last and unnamed."""
    most, by, pages = MOST.check(most), BY.check(by), list(dict.fromkeys(pages))
    if len(pages) > MOST_PAGES:
        raise BadParameter(f"{len(pages):,} pages are too many to group: give at most {MOST_PAGES:,}")
    cited = [_Cited(web.graph, page) for page in pages]
    alike = by_words_and_links(web, pages) if by == "integrated" else by_sections(cited)
    placed = np.flatnonzero(alike.diagonal() > 0)
    labels = cluster(1 - alike[np.ix_(placed, placed)], most)
    found = [[int(i) for i in placed[labels == label]] for label in dict.fromkeys(labels.tolist())]
    found.sort(key=lambda members: (-len(members), members[0]))
    alone = sorted(set(range(len(pages))) - set(placed.tolist()))
    words = [_words(web.graph, [cited[i] for i in members], [pages[i] for i in members]) for members in found]
    everywhere: Counter[str] = sum(words, Counter())
    named: dict[object, tuple[tuple[str, ...], list[int]]] = {}
    for at, members in enumerate(found):
        keywords = _telling(words[at], everywhere)
        named.setdefault(frozenset(keywords) or at, (keywords, []))[1].extend(members)
    groups = [Group(keywords, tuple(pages[i] for i in sorted(members))) for keywords, members in named.values()]
    groups.sort(key=lambda group: -len(group.pages))
    return groups + ([Group((), tuple(pages[i] for i in alone), True)] if alone else [])


def group_answers(
    web: Web, answers: Sequence[Answer], most: int = MOST_GROUPS, by: str = WAYS[0]
) -> list[tuple[Group, list[Answer]]]:
    """Answers put into groups, best first in each; the group of the best answer comes first, the unnamed one last."""
    of = {answer.page: answer for answer in answers}
    found = [
        (group, sorted((of[page] for page in group.pages), key=lambda answer: answer.rank))
        for group in group_pages(web, list(of), most, by)
    ]
    return sorted(found, key=lambda each: (each[0].alone, each[1][0].rank))


@dataclass(frozen=True, repr=False)
class GroupedAnswers(Answers):
    """Answers with the groups that they are in."""

    groups: Sequence[tuple[Group, Sequence[Answer]]] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        groups = [{"keywords": list(group.keywords), "ranks": [a.rank for a in some]} for group, some in self.groups]
        return {**super().to_dict(), "groups": groups}


def grouped(web: Web, answers: Answers, by: str = WAYS[0]) -> GroupedAnswers:
    """Answers put into groups."""
    return GroupedAnswers(**vars(answers), groups=group_answers(web, answers, by=by))


class _Cited:
    """Where a page is cited: sections as (page, block), and the whole pages."""

    def __init__(self, graph: Graph, page: int) -> None:
        view = View(graph, [page], Switches(unit="none"))
        parents = parents_of(view, page, PARENTS, 2, blocks=True)
        blocks = (parents.attributes[parents.places] & 0xFFFFFF).astype(np.int64) - 1
        self.pages = [graph.facts.representative(int(parent)) for parent in parents.pages]
        self.sections = [(parent, int(block)) for parent, block in zip(self.pages, blocks, strict=True) if block >= 0]


def by_words_and_links(web: Web, pages: Sequence[int]) -> Matrix:
    """Integrated similarity of every two pages; 0 with itself for a page that is like no other."""
    from cocite.related.methods.integrated import Params, integrated
    from cocite.related.neighbourhood.likenesses import around

    params, numbers = Params(), np.array(pages, np.uint32)
    known = around(web, params)
    rows = np.array([integrated(known, page, numbers, params) for page in pages]).reshape(len(pages), len(pages))
    found: Matrix = np.clip((rows + rows.T) / 2, 0, 1)
    np.fill_diagonal(found, 0)
    np.fill_diagonal(found, found.sum(axis=1) > 0)
    return found


def by_sections(cited: Sequence[_Cited]) -> Matrix:
    """The cosine of every two pages in the space that sections span; 0 with itself for a page that shares nothing.

    Of the matrix only the product with its transpose is decomposed: it is as large as there are pages, whereas their
    sections may be 100,000.
    """
    from scipy.linalg import eigh

    matrix = _sections(cited)
    if not matrix.nnz:
        return np.zeros((len(cited), len(cited)))
    values, vectors = eigh((matrix @ matrix.T).toarray(), driver="evd", overwrite_a=True, check_finite=False)
    squares = vectors[:, ::-1] ** 2 * np.maximum(values[::-1], 0.0)
    kept = np.cumsum(squares, axis=1)  # of each row, by so many dimensions
    enough = kept.sum(axis=0) >= ENERGY * kept[:, -1].sum() - SAME
    enough &= (kept >= HALF * kept[:, -1:] - SAME).all(axis=0)
    enough &= np.append(values[:0:-1] - values[-2::-1] > SAME * values[-1], True)  # equal ones stay together
    k = int(enough.argmax()) + 1
    rows = vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.where(lengths > 1e-9, rows / np.maximum(lengths, 1e-300), 0.0)
    found: Matrix = rows @ rows.T
    return found


def _sections(cited: Sequence[_Cited]) -> Any:
    """Pages by the sections and pages that cite them and another one, rare ones counting more; rows of length 1."""
    from scipy.sparse import csr_array

    own = [list(dict.fromkeys([*each.sections, *((page, -1) for page in each.pages)])) for each in cited]
    columns = Counter(column for each in own for column in each)
    shared = {column: at for at, column in enumerate(c for c, count in columns.items() if count > 1)}
    used = [[column for column in each if column in shared] for each in own]
    weights = [
        [(1.0 if column[1] >= 0 else PAGE_LEVEL) * log(1 + len(cited) / columns[column]) for column in each]
        for each in used
    ]
    values = [weight / hypot(*each) for each in weights for weight in each]
    places = [shared[column] for each in used for column in each]
    starts = np.append(0, np.cumsum([len(each) for each in used]))
    return csr_array((values, places, starts), shape=(len(cited), len(shared)))


def cluster(distance: Matrix, most: int) -> NDArray[np.int64]:
    """A label for every row: average linkage, the number of groups of highest mean silhouette."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    size = len(distance)
    if size < 3:
        return np.arange(size) if size == 2 and distance[0, 1] > 1 - ALIKE else np.zeros(size, np.int64)
    distance = np.clip(distance, 0, 2)
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
    found, titles = Counter[str](), Titles(graph)
    for each, page in zip(cited, pages, strict=True):
        texts = {(-1, titles.of(page))}
        for parent, block in each.sections:
            headings = graph.headings(parent)
            texts |= {(parent, headings[block] if block < len(headings) else ""), (parent, graph.title(parent))}
        for _, text in texts:
            found.update({word.lower() for word in _WORD.findall(text)} - GENERAL)
    return found


def _telling(own: Counter[str], everywhere: Counter[str]) -> tuple[str, ...]:
    """The words that a group has more often than its size would have it, and often."""
    share = own.total() / max(1, everywhere.total())

    def weight(word: str) -> float:
        return own[word] * log(1 + own[word] / (everywhere[word] * share))

    return tuple(sorted(own, key=lambda word: (-weight(word), word))[:KEYWORDS])
