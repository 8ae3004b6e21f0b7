"""Pages whose words are like a page's: its most telling words, asked of the search index.

The words of a page are those of its title, its headings, its text and the links into it. Word w tells

    (1 + ln tf(w)) · (ln((1 + N) / (1 + df(w))) + 1)

of it, where df are those of the store, by the field in which most pages have w. A word that no two pages have in any
one field is left out, since it would hardly find another page; one that more than a tenth of all pages have is taken
for a stop word, whatever the language.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import NamedTuple

from cocite.graph.store import Graph
from cocite.words.search import Search
from cocite.words.tfidf import anchors_into, text_words
from cocite.words.tokens import words_of

MOST_WORDS = 25
"""Words that are asked for."""
READ = 1000
"""Words of a page's text that are read."""
TRIED = 400
"""Words whose frequency in the store is looked up: the most frequent of the page, then the first."""
COMMON = 0.1
FEW_PAGES = 100
"""In a store of fewer pages even a tenth of them says little."""


class Like(NamedTuple):
    """Pages like a page, best first, and by which words."""

    hits: list[tuple[int, float]]
    words: dict[str, float]


def more_like(graph: Graph, search: Search, page: int, k: int) -> Like:
    """The k pages whose words are most like a page's, without itself."""
    words = telling_words(search, page_words(graph, page))
    hits = search.like(words, k + 1) if words else []
    return Like([(other, score) for other, score in hits if other != page][:k], words)


def page_words(graph: Graph, page: int) -> Counter[str]:
    """How often each word is said by a page, and of it by links."""
    said = Counter(text_words(graph, page, READ))
    said.update(word for texts in anchors_into(graph, [page]).values() for text in texts for word in words_of(text))
    return said


def telling_words(search: Search, said: Counter[str]) -> dict[str, float]:
    """The most telling words, with how much each tells; of equals by alphabet."""
    total = search.pages
    most = COMMON * total if total >= FEW_PAGES else total
    told: dict[str, float] = {}
    for word, times in said.most_common(TRIED):
        having = search.pages_with(word)
        if 1 < having <= most:
            told[word] = round((1 + log(times)) * (log((1 + total) / (1 + having)) + 1), 6)
    return dict(sorted(told.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS])
