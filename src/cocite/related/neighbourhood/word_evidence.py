"""Evidence for the similarity of two pages by keywords and by linked pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cocite.related.evidence import (
    Evidence,
    OpposedKeywords,
    RelatedKeywords,
    SharedKeywords,
    SimilarSources,
    SimilarTargets,
)
from cocite.related.neighbourhood.page_similarity import SimilarityData
from cocite.related.neighbourhood.scores import Explain
from cocite.web import Web
from cocite.words.likeness import Likeness

MAX_WORDS, MAX_PAIRS = 8, 3
"""Keywords, and pairs of keywords or pages, that are named."""


def for_each(seeds: Sequence[int], find: Callable[[int, int], list[Evidence]]) -> Explain:
    """Evidence for results about all query pages: `find` gives that about one query page for one result."""

    def about(seed: int, page: int) -> list[Evidence]:
        found = find(seed, page)
        return [replace(each, query=seed) for each in found] if len(seeds) > 1 else found

    return lambda pages: [[each for seed in seeds for each in about(seed, page)] for page in pages.tolist()]


def by_words(web: Web, words: Likeness, page: int, result: int) -> list[Evidence]:
    """Keywords that both pages have, the rarest first; and the pairs of others that are most relevant to each other.

    Words that never occur on one page can be relevant to each other too: that is evidence of its own.
    """
    own, theirs, names = words.of(page), words.of(result), web.keywords.words
    shared = np.intersect1d(own, theirs)
    rarest = shared[np.lexsort((shared, words.relevance.frequency[shared]))][:MAX_WORDS]
    found: list[Evidence] = []
    if len(shared):
        named = tuple(names[int(word)] for word in rarest)
        found.append(SharedKeywords(words=named, count=len(shared), of=len(own)))
    pairs = [pair for pair in words.pairs(page, result, len(own)) if pair[0] != pair[1]]
    related = [pair for pair in pairs if words.relevance.meet(*pair[:2])][:MAX_PAIRS]
    opposed = [pair for pair in pairs if not words.relevance.meet(*pair[:2])][:MAX_PAIRS]
    for kind, some in ((RelatedKeywords, related), (OpposedKeywords, opposed)):
        if some and (some is related or not found):
            texts = tuple(f"{names[one]} – {names[other]}" for one, other, _ in some)
            found.append(kind(pairs=texts, relevance=round(some[0][2], 6)))
    return found


def by_links(known: SimilarityData, page: int, result: int) -> list[Evidence]:
    """Pages linked with both, or linked with one and most similar to a page linked with the other."""
    found: list[SimilarTargets] = []
    for kind, linked in ((SimilarTargets, known.links.outs), (SimilarSources, known.links.ins)):
        own, theirs = (linked(np.array([each], np.uint32)).columns for each in (page, result))
        if not len(own) or not len(theirs):
            continue
        table = np.array([known.words.alike(int(each), theirs) for each in own])
        order = np.argsort(-table.ravel(), kind="stable")
        used: set[int] = set()
        for at in order[: 4 * MAX_PAIRS].tolist():
            one, other = divmod(at, len(theirs))
            if table[one, other] <= 0 or one in used or len(used) == MAX_PAIRS:
                continue
            used.add(one)
            pages = (int(own[one]), int(theirs[other]))
            found.append(kind(pages=pages, similarity=round(float(table[one, other]), 6)))
    return list(sorted(found, key=lambda each: -each.similarity)[:MAX_PAIRS])
