"""What a set of pages is about: the words that tell it from the pages around it.

Most pages of a link graph were never fetched, so a page's words are those of its title and of links to it, where these
stand on pages of the same neighbourhood. A word tells as much as ln(pages with words / pages with this word), times
the weight of the pages that have it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

import numpy as np

from cocite.graph.store import Graph
from cocite.methods.community import Community
from cocite.neighbourhood.weigh import Edges
from cocite.words.tokens import words_of

LISTS = 300
"""Pages whose link texts are read, those with most links in the neighbourhood: some 2 ms each for 1,000 links."""
LONGEST = 20_000
"""Links of one page that are read for words."""
SAID = 200
"""Characters of one text that are read."""
WITNESSES = 50
"""Hubs, and authorities, of a community that have a say."""
SHORTEST = 3


def page_words(graph: Graph, edges: Edges) -> dict[int, set[str]]:
    """The words of each page of a neighbourhood of which there are any."""
    found: dict[int, set[str]] = {}
    inside = set(edges.pages.tolist())
    if len(graph.array("title.pages")):
        for page in edges.pages[np.isin(edges.pages, graph.array("title.pages"))].tolist():
            found[page] = _words(graph.title(page))
    if not len(graph.array("anchors.pages")):
        return found
    degree = np.diff(edges.starts)
    hubs = np.argsort(-degree, kind="stable")[:LISTS]
    for hub in edges.pages[hubs[degree[hubs] > 0]].tolist():
        if graph.out_degree[hub] > LONGEST:
            continue
        for target, text in zip(graph.links_from(hub).targets.tolist(), graph.anchors(hub), strict=True):
            if text and target in inside:
                found.setdefault(target, set()).update(_words(text))
    return found


def _words(text: str) -> set[str]:
    """Words worth telling: no numbers, nothing shorter than three letters; of a script without spaces, none."""
    return {word for word in words_of(text[:SAID]) if len(word) >= SHORTEST and not word.isdigit()}


def keywords(words: dict[int, set[str]], community: Community, count: int) -> list[str]:
    """The most telling words of a community, best first; of equals by alphabet."""
    spread = Counter(word for own in words.values() for word in own)
    telling: dict[str, float] = defaultdict(float)
    pages: Counter[str] = Counter()
    for page, weight in _witnesses(community):
        for word in words.get(page, ()):
            telling[word] += weight * log(len(words) / spread[word])
            pages[word] += 1
    least = 2 if any(number > 1 for number in pages.values()) else 1  # a name tells of one page, not of many
    chosen = [word for word in telling if pages[word] >= least and telling[word] > 0]
    return sorted(chosen, key=lambda word: (-round(telling[word], 6), word))[:count]


def _witnesses(community: Community) -> Sequence[tuple[int, float]]:
    """Its best hubs and authorities with their weights, a page that is both with the larger one."""
    weights: dict[int, float] = {}
    for side in (community.hubs, community.authorities):
        for page, weight in zip(side.pages[:WITNESSES].tolist(), side.weights[:WITNESSES].tolist(), strict=True):
            weights[page] = max(weight, weights.get(page, 0.0))
    return list(weights.items())
