"""Slow truths for words/: one loop over everything, sharing nothing with what they judge but the splitting of words."""

from __future__ import annotations

import math
from collections import Counter

import stopwordsiso

from cocite.graph.store import Graph
from cocite.words.search import SearchIndex
from cocite.words.tokens import terms_of, words_of


def links_into(graph: Graph, page: int) -> list[tuple[str, str, str]]:
    """(anchor, context, heading) of every link to a page, in the order of sources."""
    found = []
    for source in range(graph.pages):
        links, headings = graph.links_from(source), graph.headings(source)
        anchors, contexts = graph.anchors(source), graph.contexts(source)
        for place, target in enumerate(links.targets.tolist()):
            if target == page:
                block = int(links.blocks[place])
                heading = headings[block] if 0 <= block < len(headings) else ""
                found.append((anchors[place], contexts[place], heading))
    return found


def texts_of(graph: Graph, page: int) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Texts of links to a page and how often each is used: anchors, contexts, headings."""
    columns = zip(*links_into(graph, page), strict=True) if links_into(graph, page) else ((), (), ())
    anchors, contexts, headings = (
        dict(Counter(text.lower().strip() for text in column if text.strip())) for column in columns
    )
    return anchors, contexts, headings


def tf_idf(search: SearchIndex, pages: list[int], most: int) -> list[dict[str, float]]:
    """The vector of each page as a dictionary. The index, which has its own tests, counts the pages with a word."""
    graph, counts = search.graph, []
    for page in pages:
        words = words_of(graph.title(page))
        for heading in graph.headings(page):
            words += words_of(heading)
        for anchor, _, _ in links_into(graph, page):
            words += words_of(anchor)
        words += words_of(graph.text(page))[:most]
        counts.append({word: words.count(word) for word in words})
    result = []
    for count in counts:
        vector = {}
        for word, times in count.items():
            having = search.pages_with(word)
            vector[word] = (1 + math.log(times)) * (math.log((1 + search.pages) / (1 + having)) + 1)
        length = math.sqrt(sum(value * value for value in vector.values()))
        result.append({word: value / length for word, value in vector.items()})
    return result


def cosine(a: dict[str, float], b: dict[str, float]) -> float:
    """Of two vectors of length 1, or without words."""
    return sum(value * b.get(word, 0.0) for word, value in a.items())


def keyword_counts(graph: Graph, page: int) -> dict[str, int]:
    """The words of a page that may be its keywords, and how often each occurs in it; for English pages.

    Of headings above links, a word counts once for each list, and only if two lists have it or a link text does.
    """
    stop = {*stopwordsiso.stopwords("en"), *stopwordsiso.stopwords("zh"), "http", "https", "www"}
    named = [graph.title(page), *graph.headings(page)]
    linked, lists = list[str](), list[str]()
    for source in range(graph.pages):
        links, headings, above = graph.links_from(source), graph.headings(source), set[str]()
        for place in [at for at, target in enumerate(links.targets.tolist()) if target == page]:
            linked += terms_of(graph.anchors(source)[place][:300])
            block = int(links.blocks[place])
            above |= set(terms_of(headings[block][:300])) if 0 <= block < len(headings) else set()
        lists += above
    linked += [word for word in lists if lists.count(word) > 1 or word in linked]
    own = [word for text in [*named, graph.text(page)] for word in terms_of(text)] if graph.text(page) else []
    for words in (own, linked, [word for text in named for word in terms_of(text)]):
        if counts := {word: words.count(word) for word in words if word not in stop}:
            return counts
    return {}
