"""The words that tell a community from other pages.

Most pages of a link graph were never fetched. A page's words are therefore those of its title, and those that the
linking pages of the neighbourhood use for it: link text, the words around it, and the heading above it.

Whether a page has a word of a query is another question, and its whole text is read for it (`have_words`).

The weight of a word is ln(pages / pages with the word), times the sum of the weights of the authorities that have it.
Pages are counted in the whole store if it has a search index, else in the neighbourhood. Stop words are ignored unless
they are part of the query, such as "home" in "home automation".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Set
from itertools import zip_longest
from math import log

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related.hubs_authorities import Edges
from cocite.related.methods.community import WebCommunity, WeightedPages
from cocite.words.search import SearchIndex
from cocite.words.tokens import DEFAULT_LANGUAGE, forms, language_of, stop_words, words_of

MAX_LISTS = 300
"""Linking pages that are read, those with most links in the neighbourhood: 2 ms each for 1,000 links."""
MAX_LINKS = 20_000
"""Longer lists are not read."""
MAX_TEXT_CHARS = 200
MAX_AUTHORITIES = 30
"""Authorities of a community whose words count; hubs if no authority has words."""
MAX_CANDIDATES = 200
"""Words whose frequency in the store is looked up: those of most authorities."""
MIN_WORD_CHARS = 3
_ADDRESS = re.compile(r"\s*(?:https?:|www\.)\S*")


def words_of_pages(
    graph: Graph, edges: Edges, split: Callable[[str], set[str]] | None = None, max_lists: int = MAX_LISTS
) -> dict[int, set[str]]:
    """The words of each page of a neighbourhood that has any; `split` returns the words of a text."""
    words: Callable[[str], set[str]] = split or _words
    found: dict[int, set[str]] = defaultdict(set)
    titled = graph.array("title.pages")
    for page in edges.pages[np.isin(edges.pages, titled)].tolist():
        found[page] |= words(graph.title(page))
    degree = np.diff(edges.starts)
    hubs = np.argsort(-degree, kind="stable")[:max_lists]
    inside = set(edges.pages.tolist())
    for hub in edges.pages[hubs[degree[hubs] > 0]].tolist():
        if graph.out_degree[hub] > MAX_LINKS:
            continue
        links = graph.links_from(hub)
        headings = [words(text) for text in graph.headings(hub)]
        texts = zip_longest(links.targets.tolist(), links.blocks.tolist(), graph.anchors(hub), graph.contexts(hub))
        for target, block, anchor, context in texts:
            if target in inside:
                found[target] |= words(anchor) | words(context)
                if 0 <= block < len(headings):
                    found[target] |= headings[block]
    return {page: own for page, own in found.items() if own}


def have_words(graph: Graph, edges: Edges, query: str) -> NDArray[np.bool_]:
    """Which pages of a neighbourhood have a word of a query, with or without a plural s.

    All texts of a page are read: title, headings, text, and the texts of its links. A page that has none but a title
    was never fetched; it is judged by its title and by the texts of the neighbourhood's links to it.
    """
    asked = {form for word in words_of(query) for (form,) in forms((word,))}

    def split(text: str) -> set[str]:
        return asked.intersection(words_of(text)) if text else set()

    by_links, found = words_of_pages(graph, edges, split, len(edges.pages)), np.zeros(len(edges.pages), np.bool_)
    for at, page in enumerate(edges.pages.tolist()):
        own = "\n".join([graph.text(page), *graph.headings(page), *graph.anchors(page), *graph.contexts(page)])
        found[at] = bool(split(own) or split(graph.title(page))) if own.strip() else page in by_links
    return found


def _words(text: str) -> set[str]:
    """Words of at least three letters, without addresses and numbers."""
    found = words_of(_ADDRESS.sub(" ", text[:MAX_TEXT_CHARS])) if text else []
    return {word for word in found if len(word) >= MIN_WORD_CHARS and not word.isdigit()}


def distinctive_words(
    words: dict[int, set[str]],
    community: WebCommunity,
    count: int,
    search: SearchIndex | None = None,
    query: Set[str] = frozenset(),
) -> list[str]:
    """The words of highest weight, best first, equal ones by alphabet; never two forms of one word."""
    by_word = _weights(words, community.authorities) or _weights(words, community.hubs)
    ignored = (stop_words(DEFAULT_LANGUAGE) | stop_words(language_of(by_word))) - query
    weights = {word: own for word, own in by_word.items() if word not in ignored}
    shared = any(len(own) > 1 for own in weights.values())  # a word of one page only is likely a name
    common = sorted(weights, key=lambda word: (-len(weights[word]), word))[:MAX_CANDIDATES]
    candidates = [word for word in common if len(weights[word]) > 1 or not shared]
    spread = Counter(word for own in words.values() for word in own)
    total = search.pages if search else len(words)

    def weight(word: str) -> float:
        pages = max(1, search.pages_with(word) if search else spread[word])
        return round(sum(weights[word]) * log(max(1, total / pages)), 6)

    weighed = {word: weight(word) for word in candidates}
    found: list[str] = []
    for word in sorted((word for word in candidates if weighed[word] > 0), key=lambda word: (-weighed[word], word)):
        if not any((form,) in forms((word,)) for form in found):  # "fonts" adds nothing to "font"
            found.append(word)
    return found[:count]


def _weights(words: dict[int, set[str]], side: WeightedPages) -> dict[str, list[float]]:
    """For each word, the weights of the pages that have it."""
    found: dict[str, list[float]] = defaultdict(list)
    first = zip(side.pages[:MAX_AUTHORITIES].tolist(), side.weights[:MAX_AUTHORITIES].tolist(), strict=True)
    for page, weight in first:
        for word in words.get(page, ()):
            found[word].append(weight)
    return dict(found)
