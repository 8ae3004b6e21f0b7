"""What's Related: links, words and usage together, after the service of Netscape and Alexa (1998).

Dean & Henzinger (1999, §2.3) describe it: it used links, the contents of pages and where people went
directly from a page, and it left out pages that no longer answer. Its weights were not published; these are ours. For
query page q and page p

    score(p) = (w_u · c(p) + μ · (w_l · L(p) + w_w · W(p))) / (w_u · Σc + μ · (w_l + w_w))

    c(p)   clicks from q to p + 0.1 · clicks from p to q + 0.05 · times both were visited in one session, not directly
    L(p)   its share of the scores of `proximity` (with near=false, of cocitation: the pages that link to both)
    W(p)   its share of how well the pages with the most similar words match q's 25 most characteristic words

So usage counts more the more clicks of q are known: with μ of them as much as links and words together. What the store
does not have (links, a search index, clicks) is left out of sum and divisor. With several query pages, the score is the
mean over those that reach p.

Dead pages are not results: those captured with status 404 or 410, and those of a given list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cocite.parameters import parameter
from cocite.related.evidence import ByLinks, Evidence, SimilarText
from cocite.related.methods import cocitation, proximity
from cocite.related.neighbourhood.page_similarity import is_dead
from cocite.related.neighbourhood.scores import NO_TIES, Explain, Scores, SeedScores, Values, combine_seeds, for_query
from cocite.related.neighbourhood.usage import usage_around, usage_evidence
from cocite.related.neighbourhood.view import NO_PAGES, Pages, is_one_of
from cocite.web import Web
from cocite.words.search import has_search
from cocite.words.tfidf import more_like, page_words, shared_words, strongest_words

BY_LINKS, BY_TEXT, BY_USAGE = "links", "words", "usage"


@dataclass(frozen=True, kw_only=True)
class Params:
    """The weight of each kind of evidence."""

    links: float = parameter(1.0, "w_l: the weight of links", minimum=0, maximum=1e6)
    words: float = parameter(0.1, "w_w: the weight of words", minimum=0, maximum=1e6)
    usage: float = parameter(1.0, "w_u: the weight of usage", minimum=0, maximum=1e6)
    prior: float = parameter(20.0, "μ: this many clicks count as much as links and words", minimum=0, maximum=1e9)
    near: bool = parameter(True, "Links near each other, in one section, count more")
    alike: int = parameter(100, "Maximum number of pages with similar words", minimum=0, maximum=10_000)
    dead: tuple[str, ...] = parameter((), "Dead pages: addresses (command line: or a file of them)")


class KindShares(NamedTuple):
    """The scores by one kind of evidence, as shares of their sum."""

    pages: Pages
    shares: Values
    weight: float
    explain: Explain | None = None  # the evidence from links


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by links, words and usage."""
    found: dict[int, dict[str, KindShares]] = {}

    def find(seed: int) -> SeedScores:
        found[seed] = parts_of(web, seed, params)
        return SeedScores(*join(found[seed]))

    scores = combine_seeds(seeds, find, evidence=WhatsRelatedEvidence(web, found))
    alive = ~(is_dead(web.graph, scores.pages) | is_one_of(scores.pages, web.known_pages(params.dead)))
    if alive.all():
        return scores
    reached = None if scores.reached is None else scores.reached[alive]
    facts = {"dead pages left out": int(np.count_nonzero(~alive))}
    return replace(scores, pages=scores.pages[alive], values=scores.values[alive], reached=reached, facts=facts)


def parts_of(web: Web, page: int, params: Params) -> dict[str, KindShares]:
    """The scores of each kind of evidence for one query page, without kinds that have none."""
    clicks, weights = usage_around(web, page) if params.usage else (NO_PAGES, NO_TIES)
    found = {BY_USAGE: shares(page, clicks, weights, params.usage * float(weights.sum()))}
    if params.links:  # every page counts for itself, so that each has evidence of its own
        if params.near:
            linked = proximity.relate(web, [page], proximity.Params(merge=False, chop="none"))
        else:
            linked = cocitation.relate(web, [page], cocitation.Params(merge=False, chop="none", window=0))
        by_links = shares(page, linked.pages, linked.values, params.prior * params.links)
        found[BY_LINKS] = by_links and by_links._replace(explain=linked.evidence)
    if params.words and params.alike and has_search(web.graph):
        hits = more_like(web.graph, web.search, page, params.alike)
        pages, values = np.array([other for other, _ in hits], np.uint32), np.array([score for _, score in hits], float)
        found[BY_TEXT] = shares(page, pages, values, params.prior * params.words)
    return {kind: each for kind, each in found.items() if each is not None}


def shares(page: int, pages: Pages, values: Values, weight: float) -> KindShares | None:
    """Values as shares of their sum, without the page itself; None if there is nothing to share."""
    kept = (values > 0) & (pages != page)
    total = values[kept].sum()
    return KindShares(pages[kept], values[kept] / total, weight) if total > 0 and weight > 0 else None


def join(found: Mapping[str, KindShares]) -> tuple[Pages, Values]:
    """The pages of all kinds of evidence, ascending, and their scores."""
    total = sum(each.weight for each in found.values())
    pages = np.unique(np.concatenate([NO_PAGES, *(each.pages for each in found.values())]))
    scores = np.zeros(len(pages))
    for each in found.values():
        scores[np.searchsorted(pages, each.pages)] += each.shares * (each.weight / total)
    return pages, scores


@dataclass(frozen=True)
class WhatsRelatedEvidence:
    """Finds the evidence for results: for each query page, the largest part of the score first."""

    web: Web
    found: Mapping[int, Mapping[str, KindShares]]  # by query page

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The parts of the score by each query page, and what was counted for them."""
        rows = [for_query(self._about(seed, pages), seed, len(self.found)) for seed in self.found]
        return [[one for each in about for one in each] for about in zip(*rows, strict=True)]

    def _about(self, seed: int, pages: Pages) -> list[list[Evidence]]:
        kinds, joined = self.found[seed], list[list[Evidence]]()
        explain = kinds[BY_LINKS].explain if BY_LINKS in kinds else None
        linked = explain(pages) if explain is not None else [[] for _ in pages]
        words = strongest_words(self.web.search, page_words(self.web.graph, seed)) if BY_TEXT in kinds else {}
        for page, links in zip(pages.tolist(), linked, strict=True):
            values = {kind: float(each.shares[each.pages == page].sum() * each.weight) for kind, each in kinds.items()}
            total, found = sum(values.values()), list[Evidence]()
            for kind in sorted((kind for kind in values if values[kind] > 0), key=lambda kind: -values[kind]):
                share = round(values[kind] / total, 3)
                if kind == BY_LINKS:
                    found += [*links, ByLinks(share=share)]
                elif kind == BY_USAGE:
                    found.append(usage_evidence(self.web, seed, pages[pages == page], share))
                else:
                    shared = shared_words(words, page_words(self.web.graph, page))
                    found.append(SimilarText(terms=shared, shared=len(shared), of=len(words), share=share))
            joined.append(found)
        return joined
