"""Cluster pages into named groups (proposed as the next step by Hou & Zhang 2003, §6).

Pages are merged by average linkage; the number of groups has the highest mean silhouette. A group is named by words of
its headings and titles that are rarer in other groups; groups with the same name are merged. Two similarities:

`lli`: pages listed under the same heading belong together. Rows of a matrix are pages; columns are the sections that
list them and, with less weight, whole listing pages. Similarity is the cosine in the space of its largest singular
values, as in LLI. LLI's own rule for the dimension (a drop of singular values by half) keeps one dimension or nearly
all on real lists. Here the dimensions kept hold four fifths of the sum of squares, and at least half of every row: a
topic of two pages beside a hundred pages on another topic is still a topic.

`integrated`: the integrated similarity of words and links (Zhao et al. 2016).

docs/lab/communities.md compares them on the topics of real lists.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, log
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import all_blocks
from cocite.related.neighbourhood.view import GraphView, Switches
from cocite.results.answer import Answer, Answers
from cocite.results.naming import titles_of
from cocite.web import Web

if TYPE_CHECKING:
    from cocite.operations.words.keywords import KeywordsFound

MAX_PARENTS = 200
PAGE_WEIGHT = 0.3
"""Weight of a common listing page, where a common section has weight 1."""
ENERGY_OF_ALL, ENERGY_OF_EACH = 0.8, 0.5
"""Share of the squares that the dimensions keep: of all rows together, and of every row."""
ROUNDING = 1e-9
MIN_PAIR_COSINE = 0.3
"""Two pages alone form a group from this cosine on; for more pages the silhouette decides."""
MAX_PAGES = 2000
MAX_GROUPS = 12
WAYS = ("lli", "integrated")
GENERIC_WORDS = {
    "and", "are", "awesome", "best", "contents", "etc", "for", "from", "general", "in", "index", "links", "list",
    "lists", "more", "misc", "miscellaneous", "of", "on", "other", "others", "our", "page", "pages", "resource",
    "resources", "site", "sites", "table", "that", "the", "their", "this", "to", "tool", "tools", "useful",
    "with", "you", "your",
}  # fmt: skip
"""Words of headings on any topic. Stop word lists don't fit: they include "home", "web" and "open"."""
NAME_WORDS = 3
_WORD = re.compile(r"[^\W\d_]{3,}")

Matrix = NDArray[np.float64]
Member = TypeVar("Member")


class PageGroup(NamedTuple, Generic[Member]):
    """Pages on one topic, and the words that name it."""

    keywords: tuple[str, ...]
    pages: tuple[Member, ...]
    alone: bool = False  # pages that share nothing with any other page

    @property
    def name(self) -> str:
        """The keywords in one text."""
        return ", ".join(self.keywords) or ("others" if self.alone else "unnamed group")


@dataclass(frozen=True, repr=False)
class GroupedAnswers(Answers):
    """Results with their groups."""

    groups: Sequence[tuple[PageGroup[int], Sequence[Answer]]] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        groups = [{"keywords": list(group.keywords), "ranks": [a.rank for a in some]} for group, some in self.groups]
        return {**super().to_dict(), "groups": groups}


@dataclass(frozen=True, repr=False)
class Recommendations(GroupedAnswers):
    """Pages for somebody who has read some, and keywords; none if the store has no keywords."""

    keywords: "KeywordsFound | None" = None

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "keywords": self.keywords.to_dict() if self.keywords else None}


def grouped(web: Web, answers: Answers, by: str = WAYS[0]) -> GroupedAnswers:
    """Cluster results: best first in each group; the group of the best result first, pages without a group last."""
    of = {answer.page: answer for answer in answers}
    found = [
        (group, sorted((of[page] for page in group.pages), key=lambda answer: answer.rank))
        for group in group_pages(web, list(of), by=by)
    ]
    found.sort(key=lambda each: (each[0].alone, each[1][0].rank))
    return GroupedAnswers(**vars(answers), groups=found)


def group_pages(web: Web, pages: Sequence[int], most: int = MAX_GROUPS, by: str = WAYS[0]) -> list[PageGroup[int]]:
    """Cluster pages: the largest group first; pages that share nothing with any other come last, in one group."""
    pages = list(dict.fromkeys(pages))
    if len(pages) > MAX_PAGES:
        raise BadParameter(f"cannot group {len(pages):,} pages: give at most {MAX_PAGES:,}")
    cited = [_listings(web.graph, page) for page in pages]
    alike = by_words_and_links(web, pages) if by == "integrated" else by_sections(cited)
    placed = np.flatnonzero(alike.diagonal() > 0)
    labels = cluster(1 - alike[np.ix_(placed, placed)], most)
    found = [[int(i) for i in placed[labels == label]] for label in dict.fromkeys(labels.tolist())]
    found.sort(key=lambda members: (-len(members), members[0]))
    words = [_words(web.graph, [cited[i] for i in members], [pages[i] for i in members]) for members in found]
    everywhere: Counter[str] = sum(words, Counter())
    named: dict[object, tuple[tuple[str, ...], list[int]]] = {}
    for at, members in enumerate(found):
        keywords = _distinctive(words[at], everywhere)
        named.setdefault(frozenset(keywords) or at, (keywords, []))[1].extend(members)
    groups = [PageGroup(keywords, tuple(pages[i] for i in sorted(members))) for keywords, members in named.values()]
    groups.sort(key=lambda group: -len(group.pages))
    alone = tuple(pages[i] for i in sorted(set(range(len(pages))) - set(placed.tolist())))
    return groups + ([PageGroup((), alone, True)] if alone else [])


class Listings(NamedTuple):
    """Where a page is listed: whole pages, and sections as (page, section)."""

    pages: list[int]
    sections: list[tuple[int, int]]


def _listings(graph: Graph, page: int) -> Listings:
    view = GraphView(graph, [page], Switches(unit="none"))
    parents = view.parents_of(page, MAX_PARENTS, 2, sections=True)
    blocks = all_blocks(parents.attributes[parents.places]).astype(np.int64) - 1
    pages = [graph.facts.representative(int(parent)) for parent in parents.pages]
    return Listings(pages, [(parent, int(block)) for parent, block in zip(pages, blocks, strict=True) if block >= 0])


def by_words_and_links(web: Web, pages: Sequence[int]) -> Matrix:
    """Integrated similarity of every two pages; the diagonal is 0 for a page similar to no other."""
    from cocite.related.methods.integrated import Params, integrated
    from cocite.related.neighbourhood.page_similarity import similarity_data

    params, numbers = Params(), np.array(pages, np.uint32)
    known = similarity_data(web, params)
    rows = np.array([integrated(known, page, numbers, params) for page in pages]).reshape(len(pages), len(pages))
    found: Matrix = np.clip((rows + rows.T) / 2, 0, 1)
    np.fill_diagonal(found, 0)
    np.fill_diagonal(found, found.sum(axis=1) > 0)
    return found


def by_sections(cited: Sequence[Listings]) -> Matrix:
    """The cosine of every two pages in the reduced space; the diagonal is 0 for a page that shares no listing.

    Only the product of the matrix with its transpose is decomposed: it has a row per page, whereas there may be
    100,000 sections.
    """
    from scipy.linalg import eigh

    matrix = _sections(cited)
    if not matrix.nnz:
        return np.zeros((len(cited), len(cited)))
    values, vectors = eigh((matrix @ matrix.T).toarray(), driver="evd", overwrite_a=True, check_finite=False)
    squares = vectors[:, ::-1] ** 2 * np.maximum(values[::-1], 0.0)
    kept = np.cumsum(squares, axis=1)  # of each row, by number of dimensions
    enough = kept.sum(axis=0) >= ENERGY_OF_ALL * kept[:, -1].sum() - ROUNDING
    enough &= (kept >= ENERGY_OF_EACH * kept[:, -1:] - ROUNDING).all(axis=0)
    enough &= np.append(values[:0:-1] - values[-2::-1] > ROUNDING * values[-1], True)  # keep equal values together
    k = int(enough.argmax()) + 1
    rows = vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.where(lengths > 1e-9, rows / np.maximum(lengths, 1e-300), 0.0)
    found: Matrix = rows @ rows.T
    return found


def _sections(cited: Sequence[Listings]) -> Any:
    """The matrix of pages × listings shared by at least two pages, rare ones with more weight; rows of length 1."""
    from scipy.sparse import csr_array

    own = [list(dict.fromkeys([*each.sections, *((page, -1) for page in each.pages)])) for each in cited]
    columns = Counter(column for each in own for column in each)
    shared = {column: at for at, column in enumerate(c for c, count in columns.items() if count > 1)}
    used = [[column for column in each if column in shared] for each in own]
    weights = [
        [(1.0 if column[1] >= 0 else PAGE_WEIGHT) * log(1 + len(cited) / columns[column]) for column in each]
        for each in used
    ]
    values = [weight / hypot(*each) for each in weights for weight in each]
    places = [shared[column] for each in used for column in each]
    starts = np.append(0, np.cumsum([len(each) for each in used]))
    return csr_array((values, places, starts), shape=(len(cited), len(shared)))


def cluster(distance: Matrix, most: int) -> NDArray[np.int64]:
    """A label for every row, by average linkage; the number of groups has the highest mean silhouette."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    size = len(distance)
    if size < 3:
        return np.arange(size) if size == 2 and distance[0, 1] > 1 - MIN_PAIR_COSINE else np.zeros(size, np.int64)
    distance = np.clip(distance, 0, 2)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    most = min(most, size - 1, round(size**0.5) + 1)  # the silhouette alone prefers pairs
    options = [fcluster(tree, count, "maxclust") for count in range(2, max(2, most) + 1)]
    best = max(options, key=lambda labels: silhouette(distance, labels))
    return np.asarray(best, np.int64)


def silhouette(distance: Matrix, labels: NDArray[np.int64]) -> float:
    """The mean over rows of (b − a) / max(a, b); a is the mean distance to the own group, b to the nearest other."""
    members = labels[:, None] == np.unique(labels)[None, :]
    if members.shape[1] < 2:
        return -1.0
    sizes, sums = members.sum(axis=0), distance @ members
    own, rows = members.argmax(axis=1), np.arange(len(labels))
    a = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[rows, own] = np.inf
    b = means.min(axis=1)
    value = np.where(sizes[own] > 1, (b - a) / np.maximum(np.maximum(a, b), 1e-12), 0.0)
    return float(value[np.isfinite(value)].mean()) if np.isfinite(value).any() else -1.0


def _words(graph: Graph, cited: Sequence[Listings], pages: Sequence[int]) -> Counter[str]:
    """Counts of the words in the titles of a group's pages, their section headings, and the titles of the lists."""
    found, titles = Counter[str](), titles_of(graph)
    for each, page in zip(cited, pages, strict=True):
        texts = {(-1, titles.of(page))}
        for parent, block in each.sections:
            headings = graph.headings(parent)
            texts |= {(parent, headings[block] if block < len(headings) else ""), (parent, graph.title(parent))}
        for _, text in texts:
            found.update({word.lower() for word in _WORD.findall(text)} - GENERIC_WORDS)
    return found


def _distinctive(own: Counter[str], everywhere: Counter[str]) -> tuple[str, ...]:
    """The words that are frequent in a group, and more so than its size explains."""
    share = own.total() / max(1, everywhere.total())

    def weight(word: str) -> float:
        return own[word] * log(1 + own[word] / (everywhere[word] * share))

    return tuple(sorted(own, key=lambda word: (-weight(word), word))[:NAME_WORDS])
