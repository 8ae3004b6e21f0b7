"""What's Related: links, words and usage together, as Netscape's service of that name, by Alexa, joined them (1998).

Dean & Henzinger (1999, §2.3) quote what was known of it: it drew on links, on the contents of pages and on where people
went directly from a page, and left out what no longer answers. How it weighed them was not published; this is ours. For
query page q and page p

    score(p) = (w_u · c(p) + μ · (w_l · L(p) + w_w · W(p))) / (w_u · Σc + μ · (w_l + w_w))

    c(p)   clicks from q to p + 0.1 · clicks from p to q + 0.05 · times both were seen in one session, not directly
    L(p)   its share of what `proximity` finds (with near=false, of cocitation: the pages that link to both)
    W(p)   its share of how well the pages most like q in words suit q's 25 most telling words

So usage speaks the louder the more clicks of q are known: with μ of them as loudly as links and words together. What
the store does not have (links, a search index, clicks) is left out of sum and divisor. Several query pages: the mean
over those that have to do with p.

Dead pages, which are no answers: those captured with status 404 or 410, and those of a given list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.evidence import ByLinks, Evidence, SimilarText, Usage
from cocite.related.methods import cocitation, proximity
from cocite.related.neighbourhood.scores import Explain, Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages, is_one_of
from cocite.web import Web
from cocite.words.search import has_search
from cocite.words.tfidf import more_like, page_words, strongest_words

GONE = (404, 410)
BACK, TOGETHER = 0.1, 0.05
"""What a click the other way, and a visit in the same session, is worth beside a click (docs/decisions/0043)."""
LINKS, WORDS, USAGE = "links", "words", "usage"
NOTHING = np.zeros(0)


@dataclass(frozen=True, kw_only=True)
class Params:
    """How loudly each evidence speaks."""

    links: float = parameter(1.0, "w_l: the weight of links", minimum=0, maximum=1e6)
    words: float = parameter(0.1, "w_w: the weight of words", minimum=0, maximum=1e6)
    usage: float = parameter(1.0, "w_u: the weight of usage", minimum=0, maximum=1e6)
    prior: float = parameter(20.0, "μ: so many clicks speak as loudly as links and words do", minimum=0, maximum=1e9)
    near: bool = parameter(True, "links that stand near each other, in one block, count more")
    alike: int = parameter(100, "so many pages that are most like the page in words", minimum=0, maximum=10_000)
    dead: tuple[str, ...] = parameter((), "Dead pages: addresses (command line: or a file of them)")


class Share(NamedTuple):
    """The scores by one kind of evidence, as parts of their sum."""

    pages: Pages
    parts: NDArray[np.float64]
    weight: float
    explain: Explain | None = None  # the evidence from links


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by what links, words and usage say of them."""
    seeds = list(dict.fromkeys(seeds))
    found = {page: parts_of(web, page, params) for page in seeds}
    joined = [join(each) for each in found.values()]
    pages = np.unique(np.concatenate([NO_PAGES, *(each for each, _ in joined)]))
    alive = ~is_dead(web, pages, params.dead)
    values, reached = np.zeros(len(pages)), np.zeros(len(pages), np.int32)
    for each, scores in joined:
        at = np.searchsorted(pages, each)
        values[at] += scores
        reached[at] += scores > 0
    values = values / np.maximum(1, reached)
    return Scores(
        pages[alive],
        values[alive],
        seeds,
        np.array(seeds, np.uint32),
        reached=reached[alive] if len(seeds) > 1 else None,
        facts={} if alive.all() else {"dead pages left out": int(np.count_nonzero(~alive))},
        evidence=Explained(web, found),
    )


def parts_of(web: Web, page: int, params: Params) -> dict[str, Share]:
    """What each kind of evidence says of pages related to one page; kinds that say nothing are left out."""
    clicks, weights = usage(web, page) if params.usage else (NO_PAGES, NOTHING)
    linked = links(web, page, params.near) if params.links else None
    by_links = shares(page, linked.pages, linked.values, params.prior * params.links) if linked else None
    found = {
        USAGE: shares(page, clicks, weights, params.usage * float(weights.sum())),
        LINKS: by_links._replace(explain=linked.evidence) if by_links and linked else None,
        WORDS: shares(page, *words(web, page, params.alike), params.prior * params.words) if params.words else None,
    }
    return {kind: each for kind, each in found.items() if each is not None}


def shares(page: int, pages: Pages, values: NDArray[np.float64], weight: float) -> Share | None:
    """Values as parts of their sum; the page itself is none of them."""
    kept = (values > 0) & (pages != page)
    total = values[kept].sum()
    return Share(pages[kept], values[kept] / total, weight) if total > 0 and weight > 0 else None


def join(found: Mapping[str, Share]) -> tuple[Pages, NDArray[np.float64]]:
    """The pages of all kinds of evidence, ascending, and their scores."""
    total = sum(each.weight for each in found.values())
    pages = np.unique(np.concatenate([NO_PAGES, *(each.pages for each in found.values())]))
    scores = np.zeros(len(pages))
    for each in found.values():
        scores[np.searchsorted(pages, each.pages)] += each.parts * (each.weight / total)
    return pages, scores


def links(web: Web, page: int, near: bool) -> Scores:
    """Pages by how they are linked beside a page; every page counts for itself, so that reasons can be looked up."""
    if near:
        return proximity.relate(web, [page], proximity.Params(merge=False, chop="none"))
    return cocitation.relate(web, [page], cocitation.Params(merge=False, chop="none", window=0))


def words(web: Web, page: int, most: int) -> tuple[Pages, NDArray[np.float64]]:
    """Pages by how like a page they are in words; none without a search index."""
    if not most or not has_search(web.graph):
        return NO_PAGES, NOTHING
    hits = more_like(web.graph, web.search, page, most)
    return np.array([other for other, _ in hits], np.uint32), np.array([score for _, score in hits], np.float64)


def usage(web: Web, page: int) -> tuple[Pages, NDArray[np.float64]]:
    """Pages by how people went between them and a page."""
    after, before = web.clicks.after(page), web.clicks.before(page)
    both = np.concatenate((after.pages, before.pages)).astype(np.uint32)
    worth = np.concatenate((after.steps + TOGETHER * after.later, BACK * before.steps + TOGETHER * before.later))
    pages, at = np.unique(both, return_inverse=True)
    return pages, np.bincount(at, worth, len(pages)).astype(np.float64)


def is_dead(web: Web, pages: Pages, listed: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which pages are known to be gone."""
    status = web.graph.array("page.status")
    gone = np.isin(status[pages], GONE) if len(status) else np.zeros(len(pages), np.bool_)
    return gone | is_one_of(pages, web.known_pages(listed)) if listed else gone


class Explained:
    """Finds the evidence for results: for each query page, the largest part of the score first."""

    def __init__(self, web: Web, found: Mapping[int, Mapping[str, Share]]) -> None:
        self._web, self._found = web, found
        self._words: dict[int, dict[str, float]] = {}

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The parts of the score by each query page, and what was counted for them."""
        joined: list[list[Evidence]] = [[] for _ in pages]
        for seed, parts in self._found.items():
            by_links = parts.get(LINKS)
            explain = by_links.explain if by_links is not None else None
            linked = explain(pages) if explain is not None else [[] for _ in pages]
            for page, links, found in zip(pages.tolist(), linked, joined, strict=True):
                for each in self._about(seed, page, links):
                    found.append(replace(each, query=seed) if len(self._found) > 1 else each)
        return joined

    def _about(self, seed: int, page: int, links: list[Evidence]) -> list[Evidence]:
        values = {
            kind: float(each.parts[each.pages == page].sum() * each.weight) for kind, each in self._found[seed].items()
        }
        total, found = sum(values.values()), list[Evidence]()
        for kind in sorted(values, key=lambda kind: -values[kind]):
            if values[kind] > 0:
                share = round(values[kind] / total, 3)
                if kind == LINKS:
                    found += [*links, ByLinks(share=share)]
                else:
                    found.append(self._usage(seed, page, share) if kind == USAGE else self._text(seed, page, share))
        return found

    def _text(self, seed: int, page: int, share: float) -> SimilarText:
        """The characteristic words of the query page that a page has too."""
        graph = self._web.graph
        if seed not in self._words:
            self._words[seed] = strongest_words(self._web.search, page_words(graph, seed))
        own = page_words(graph, page)
        shared = tuple(word for word in self._words[seed] if word in own)
        return SimilarText(terms=shared, shared=len(shared), of=len(self._words[seed]), share=share)

    def _usage(self, seed: int, page: int, share: float) -> Usage:
        """The clicks between the query page and a page."""
        after, before = self._web.clicks.after(seed), self._web.clicks.before(seed)
        to, back = after.pages == page, before.pages == page
        return Usage(
            forward=ceil(after.steps[to].sum()),
            of=ceil(after.steps.sum()),
            back=ceil(before.steps[back].sum()),
            sessions=ceil(after.later[to].sum() + before.later[back].sum()),
            share=share,
        )
