"""What a set of pages is about: the words that tell it from other pages.

Most pages of a link graph were never fetched, so a page's words are those of its title and of what links to it say,
where these stand on pages of the same neighbourhood: the text of the link, the words around it, the heading above it.
A word tells as much as ln(pages / pages that have the word), times the weight of the authorities that have it. Pages
are those of the store, by its search index, or without one those of the neighbourhood. Stop words tell nothing, unless
they were asked for: "home" is one, but not of "home automation".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Set
from itertools import zip_longest
from math import log

import numpy as np

from cocite.graph.store import Graph
from cocite.related.methods.community import Community, Weighed
from cocite.related.neighbourhood.weigh import Edges
from cocite.words.query import forms
from cocite.words.search import Search
from cocite.words.stop_words import DEFAULT_LANGUAGE, language_of, stop_words
from cocite.words.tokens import words_of

LISTS = 300
"""Pages whose links are read for words, those with most links in the neighbourhood: 2 ms each for 1,000 links."""
LONGEST = 20_000
"""Links of one page that are read for words."""
SAID = 200
"""Characters of one text that are read."""
WITNESSES = 30
"""Authorities of a community that have a say, or hubs where there is no word about authorities."""
TRIED = 200
"""Words whose frequency in the store is looked up: those that most witnesses have."""
SHORTEST = 3
_ADDRESS = re.compile(r"\s*(?:https?:|www\.)\S*")


def page_words(graph: Graph, edges: Edges) -> dict[int, set[str]]:
    """The words of each page of a neighbourhood of which there are any."""
    found: dict[int, set[str]] = defaultdict(set)
    titled = graph.array("title.pages")
    for page in edges.pages[np.isin(edges.pages, titled)].tolist():
        found[page] |= _words(graph.title(page))
    degree = np.diff(edges.starts)
    hubs = np.argsort(-degree, kind="stable")[:LISTS]
    inside = set(edges.pages.tolist())
    for hub in edges.pages[hubs[degree[hubs] > 0]].tolist():
        if graph.out_degree[hub] <= LONGEST:
            _listen(graph, hub, inside, found)
    return {page: words for page, words in found.items() if words}


def _listen(graph: Graph, hub: int, inside: set[int], found: dict[int, set[str]]) -> None:
    """What the links of one page say of pages of the neighbourhood."""
    links = graph.links_from(hub)
    headings = [_words(text) for text in graph.headings(hub)]
    texts = zip_longest(links.targets.tolist(), links.blocks.tolist(), graph.anchors(hub), graph.contexts(hub))
    for target, block, anchor, context in texts:
        if target in inside:
            found[target] |= _words(anchor) | _words(context)
            if 0 <= block < len(headings):
                found[target] |= headings[block]


def _words(text: str) -> set[str]:
    """Words worth telling: nothing of addresses, no numbers, nothing shorter than three letters."""
    found = words_of(_ADDRESS.sub(" ", text[:SAID])) if text else []
    return {word for word in found if len(word) >= SHORTEST and not word.isdigit()}


def keywords(
    words: dict[int, set[str]],
    community: Community,
    count: int,
    search: Search | None = None,
    asked: Set[str] = frozenset(),
) -> list[str]:
    """The most telling words of a community, best first; of equals by alphabet. `asked` are words of the question."""
    heard = _heard(words, community.authorities) or _heard(words, community.hubs)
    dull = (stop_words(DEFAULT_LANGUAGE) | stop_words(language_of(heard))) - asked
    weights = {word: own for word, own in heard.items() if word not in dull}
    pages = Counter({word: len(each) for word, each in weights.items()})
    least = 2 if any(number > 1 for number in pages.values()) else 1  # a name tells of one page, not of many
    tried = [
        word for word, number in sorted(pages.items(), key=lambda item: (-item[1], item[0]))[:TRIED] if number >= least
    ]
    spread = Counter(word for own in words.values() for word in own)
    total = search.pages if search else len(words)

    def telling(word: str) -> float:
        having = max(1, search.pages_with(word) if search else spread[word])
        return round(sum(weights[word]) * log(max(1, total / having)), 6)

    told = {word: telling(word) for word in tried}
    found: list[str] = []
    for word in sorted((word for word in tried if told[word] > 0), key=lambda word: (-told[word], word)):
        if not any((form,) in forms((word,)) for form in found):  # "fonts" says no more than "font"
            found.append(word)
    return found[:count]


def _heard(words: dict[int, set[str]], side: Weighed) -> dict[str, list[float]]:
    """For each word the weights of the first pages that have it."""
    found: dict[str, list[float]] = defaultdict(list)
    for page, weight in zip(side.pages[:WITNESSES].tolist(), side.weights[:WITNESSES].tolist(), strict=True):
        for word in words.get(page, ()):
            found[word].append(weight)
    return dict(found)
