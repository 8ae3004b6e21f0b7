"""Auto, the default: what links, blocks, words and popularity say together, by what is known of the page.

With parents q of the page u, each counting c_q, children x that u and s share, and rarity r(n) = 1 / ln(2 + n):

    together(s) = Σ c_q · (r(links in the block) + near / √d if both stand in one block, and elsewhere · r(links of q))
    links(s)    = in_degree(s)^popularity · together(s)      parents with blocks: somebody has sorted these links
                + Σ c_q · r(links of q)                      parents without
                + Σ c_x · r(links into x) / √children
                + 0.05 for a link from u to s, 0.05 for one from s to u, and 0.9 more if there are both
    score(s)    = links(s) / √(max of links) + weight · cosine(words of u, words of s)
    weight      = words + 0.003 · (different words of u's text)²

k parents of one site count as √k, and pages of u's own site a quarter: their links are often one template. So links
speak for pages that many cite, and words the louder the more text a page has; a page that nobody cites, or of which
there is no text, is answered from what there is. Several query pages: scores add up, after the number reached.

Weights were chosen on some lists and tested on others: docs/decisions/0050, which also tells what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels import evidence
from cocite.neighbourhood.clean import Merged, group, merge, representatives
from cocite.neighbourhood.gather import Numbered, Parents, children_of, parents_of, sound
from cocite.neighbourhood.scores import LEAST, Scores
from cocite.neighbourhood.start import begin
from cocite.neighbourhood.view import NO_PAGES, Pages, Switches, View, is_one_of
from cocite.parameters import parameter
from cocite.web import Web
from cocite.words.stop_words import USUAL, stop_words

LINKED, BOTH_WAYS = 0.05, 0.9
OWN_SITE = 0.25
SAID = 0.003
LONGEST = 1000
"""A child with more parents than this says nothing: everybody links there."""
ALIKE = 200
"""Pages that are looked at because of their words alone."""
NAMED = 8
TOLD = 0.95
"""Where links give more than this of a score, words are not spoken of."""
Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """Limits, and how loudly each evidence speaks."""

    parents: int = parameter(2000, "so many parents at most, chosen by hash", least=0)
    window: int = parameter(2000, "links of a parent that are seen around its link to the page (0: all)", least=0)
    children: int = parameter(100, "so many children at most, the first", least=0, most=100_000)
    elsewhere: float = parameter(0.1, "what a link in another block of the same page is worth", least=0, most=100)
    near: float = parameter(0.08, "what standing near each other in a block adds", least=0, most=100)
    popularity: float = parameter(0.18, "the power of links in that multiplies what blocks say", least=0, most=10)
    words: float = parameter(0.4, "what being alike in words is worth", least=0, most=1000)


class Around(NamedTuple):
    """One query page's parents and children, as far as they count."""

    page: int
    parents: Parents
    children: Pages
    starts: NDArray[np.int64]  # where each child's other parents begin in `spouses`
    spouses: Pages


@dataclass(frozen=True)
class Blend:
    """Pages, and what each evidence says of them: a row for each query page."""

    pages: Merged
    links: Values
    words: Values

    @property
    def enough(self) -> bool:
        """Whether anything speaks for any page."""
        return bool((self.links > 0).any() or (self.words > 0).any())


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by all that speaks for them."""
    start, found = begin(web.graph, seeds, params, lambda view, pages: gather(web, view, pages, params))
    parts = found.links + found.words
    reached = (parts > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None
    told = Told(web, start.used, found)
    return Scores(found.pages.pages, parts.sum(axis=0), start.used, start.never, reached=reached, evidence=told)


def gather(web: Web, view: View, pages: Sequence[int], params: Params) -> Blend:
    """Everything that may be related to pages, and what speaks for it."""
    parents = [parents_of(view, page, params.parents, params.window, blocks=True) for page in pages]
    children = [children_of(view, page, params.children) for page in pages]
    alike = [near_in_words(web, page) for page in pages] if params.words else []
    room = [np.minimum(web.graph.in_degree[each], LONGEST).sum(dtype=np.int64) for each in children]
    known = sum(len(each) for each in (*children, *alike)) + sum(each.shown + len(each.pages) for each in parents)
    numbered = Numbered(int(known + sum(room)))
    around = [
        read_around(view, numbered, page, *each) for page, *each in zip(pages, parents, children, room, strict=True)
    ]
    for each in alike:
        numbered.add(each)
    merged = merge(view, numbered.pages)
    own = is_one_of(merged.pages, representatives(view, np.array(pages, np.uint32)))
    links = np.zeros((len(pages), len(merged.pages)))
    for row, one in zip(links, around, strict=True):
        row[:] = by_links(view, numbered, merged, own, one, params)
    words = np.zeros(links.shape)
    if params.words and web.vectors is not None:
        for row, page in zip(words, pages, strict=True):
            weight = params.words + SAID * float(web.vectors.said[page]) ** 2
            row[:] = weight * web.vectors.cosines(page, merged.pages)
            row[own] = 0
    return Blend(merged, links, words)


def near_in_words(web: Web, page: int) -> Pages:
    """Pages that are like a page in words."""
    return web.vectors.near(page, ALIKE) if web.vectors is not None else NO_PAGES


def read_around(view: View, numbered: Numbered, page: int, parents: Parents, children: Pages, room: int) -> Around:
    """Number the pages around a page: siblings, spouses, parents, children."""
    numbered.add_windows(parents)
    numbered.add(parents.pages)
    numbered.add(children)
    starts, spouses = np.zeros(len(children) + 1, np.int64), np.empty(int(room), np.uint32)
    count = evidence.read_spouses(
        view.graph.into, view.out, children, LONGEST, page, view.refused, numbered.table, numbered.local,
        numbered.room, numbered.count, spouses, starts,
    )  # fmt: skip
    sound(view, count)
    numbered.count = int(count)
    return Around(page, parents, children, starts, spouses)


def by_links(
    view: View, numbered: Numbered, merged: Merged, own: NDArray[np.bool_], around: Around, params: Params
) -> Values:
    """What links say of each page, beside one query page; nothing of those that are `own`."""
    graph, parents, children = view.graph, around.parents, around.children
    groups, _ = group(view, parents.pages)
    totals = np.zeros((2, len(merged.pages)))
    evidence.add_together(
        parents.starts, parents.places, parents.targets, parents.attributes, graph.out_degree[parents.pages],
        params.window, np.argsort(groups, kind="stable"), groups, shares(view, around.page, parents.pages),
        params.near, params.elsewhere, numbered.table, numbered.local, merged.number, totals,
    )  # fmt: skip
    links, in_block = totals[evidence.ON_PAGE], totals[evidence.IN_BLOCK]
    links += in_block * np.maximum(1, graph.in_degree[merged.pages]).astype(np.float64) ** params.popularity
    say = shares(view, around.page, children) / np.log(2.0 + graph.in_degree[children])
    say /= np.sqrt(max(1, len(children)))
    evidence.add_shared(around.starts, around.spouses, say, numbered.table, numbered.local, merged.number, links)
    add_linked(view, numbered, merged, around, links)
    links[own] = 0
    links /= np.sqrt(max(float(links.max(initial=0)), LEAST))
    return np.asarray(links)


def add_linked(view: View, numbered: Numbered, merged: Merged, around: Around, links: Values) -> None:
    """Add what links between the page and others say."""
    parents, children = np.unique(around.parents.pages), np.unique(around.children)
    both = np.intersect1d(parents, children, assume_unique=True)
    for pages, worth in ((parents, LINKED), (children, LINKED), (both, BOTH_WAYS)):
        numbers = numbered.numbers(pages)
        np.add.at(links, merged.number[numbers], worth * shares(view, around.page, pages))


def shares(view: View, page: int, others: Pages) -> Values:
    """What the word of each page counts: less if it is of the site of the page asked about."""
    if view.switches.unit == "none":
        return np.ones(len(others))
    units = view.units_of(np.append(others, np.uint32(page)))
    return np.where(units[:-1] == units[-1], OWN_SITE, 1.0)


class Told:
    """Tells whether links or words spoke for an answer, the louder first."""

    def __init__(self, web: Web, used: Sequence[int], found: Blend) -> None:
        self._web, self._used, self._found = web, used, found

    def __call__(self, page: int) -> list[dict[str, Any]]:
        """What spoke for a page, beside each query page."""
        at = np.flatnonzero(self._found.pages.pages == page)
        if not len(at):
            return []
        said: list[dict[str, Any]] = []
        for row, seed in enumerate(self._used):
            links, words = (float(each[row, at[0]]) for each in (self._found.links, self._found.words))
            part = links / max(links + words, LEAST)
            if part > TOLD:
                continue  # links alone are the reason
            by_words = self._words(seed, page, 1 - part) if words > 0 else []
            by_links = [{"kind": "links", "page": seed, "share": round(part, 3)}] if links > 0 else []
            said += by_links + by_words if links >= words else by_words + by_links
        return said

    def _words(self, seed: int, page: int, share: float) -> list[dict[str, Any]]:
        vectors = self._web.vectors
        assert vectors is not None
        shared, empty = vectors.common(seed, page, 4 * NAMED), stop_words(USUAL)
        common = tuple([word for word in shared if word not in empty] or shared)[:NAMED]  # "the" tells a reader nothing
        count = {"count": len(common), "of": len(vectors.of(seed)[0])}
        return [{"kind": "words", "page": seed, "share": round(share, 3), "words": common, **count}] if common else []
