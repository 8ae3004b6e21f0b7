"""What speaks for the likeness of two pages by words and by linked pages: evidence that a reader can look up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cocite.related.neighbourhood.likenesses import Around
from cocite.web import Web
from cocite.words.likeness import Likeness

KEYWORDS, WORDS_ALIKE, WORDS_APART = "keywords in common", "keywords alike", "keywords apart"
OUTS_ALIKE, INS_ALIKE = "links to pages alike", "linked by pages alike"
NAMED, PAIRS = 8, 3
"""Words and pairs that are named."""
Evidence = Sequence[Mapping[str, Any]]


def telling(seeds: Sequence[int], tell: Callable[[int, int], Evidence]) -> Callable[[int], Evidence]:
    """The evidence for an answer, of all query pages: `tell` gives that of one."""
    return lambda answer: [each for page in seeds for each in tell(page, answer)]


def by_words(web: Web, words: Likeness, page: int, answer: int) -> Evidence:
    """Keywords that both pages have, the rarest first; and pairs of others that are most relevant to each other.

    Words that no page has both of can be relevant too, by avoiding each other; they are told apart.
    """
    own, theirs, names = words.of(page), words.of(answer), web.keywords.words
    shared = np.intersect1d(own, theirs)
    rarest = shared[np.lexsort((shared, words.relevance.frequency[shared]))][:NAMED]
    found: list[dict[str, Any]] = []
    if len(shared):
        named = tuple(names[int(word)] for word in rarest)
        found.append({"kind": KEYWORDS, "page": page, "words": named, "count": len(shared), "of": len(own)})
    pairs = [pair for pair in words.pairs(page, answer, len(own)) if pair[0] != pair[1]]
    for kind, some in (
        (WORDS_ALIKE, [pair for pair in pairs if words.relevance.meet(*pair[:2])][:PAIRS]),
        (WORDS_APART, [pair for pair in pairs if not words.relevance.meet(*pair[:2])][:PAIRS]),
    ):
        if some and (kind == WORDS_ALIKE or not found):
            told = tuple(f"{names[one]} – {names[other]}" for one, other, _ in some)
            found.append({"kind": kind, "page": page, "words": told, "share": round(some[0][2], 6)})
    return found


def by_links(web: Web, known: Around, page: int, answer: int) -> Evidence:
    """The pages linked with both, or linked with the one and most alike to a page linked with the other."""
    found: list[dict[str, Any]] = []
    for kind, linked in ((OUTS_ALIKE, known.links.outs), (INS_ALIKE, known.links.ins)):
        own, theirs = (linked(np.array([each], np.uint32)).columns for each in (page, answer))
        if not len(own) or not len(theirs):
            continue
        table = np.array([known.words.alike(int(each), theirs) for each in own])
        order = np.argsort(-table.ravel(), kind="stable")
        used: set[int] = set()
        for at in order[: 4 * PAIRS].tolist():
            one, other = divmod(at, len(theirs))
            if table[one, other] <= 0 or one in used or len(used) == PAIRS:
                continue
            used.add(one)
            pages = (web.graph.address(int(own[one])), web.graph.address(int(theirs[other])))
            found.append({"kind": kind, "page": page, "pages": pages, "share": round(float(table[one, other]), 6)})
    return sorted(found, key=lambda each: -float(each["share"]))[:PAIRS]
