"""A web with lists so long that a store keeps parts of them ready; and a program that asks it, with bounds checked.

`python -m tests.related.methods.long_web STORE` prints the results of every method, with reasons; and of word kernels.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cocite.kernels.words.keyword_pairs import Rows
from cocite.related import methods
from cocite.related.neighbourhood.all_alike import SearchLimits, all_alike
from cocite.related.neighbourhood.page_similarity import SimilarityData, link_likeness, links_in_memory, strong_links
from cocite.results.ask import ask, question
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.likeness import Likeness
from cocite.words.relevance import INFORMATION, SUPPORT, count_relevance
from tests.graph.webs import make

LONG_LIST_LINKS, PARENTS, CHILD_PARENTS = 6000, 2500, 300
QUERY, CHILD, FULL = "https://query.example/", "https://child.example/", "https://full.example/"
WHOLE, CHILDREN = 4096, 21
"""The longest list that is read whole; so many children make nodes for which least room is taken."""
TARGETS = [f"https://t{n}.example/" for n in range(LONG_LIST_LINKS)]
CASES: list[tuple[list[str], dict[str, Any]]] = [
    ([QUERY], {}),
    ([QUERY], {"rel": "follow", "boilerplate": False, "unit": "host"}),
    ([QUERY], {"stop": [TARGETS[2999], "https://parent7.example/", TARGETS[12]]}),
    ([CHILD], {"stop_degree": 400, "seed": 7, "merge": False}),
    ([TARGETS[3100], QUERY], {"unit": "none"}),
    ([FULL], {"unit": "host"}),
    ([FULL], {"stop": [TARGETS[12]]}),
    ([TARGETS[5910]], {"unit": "host"}),
]
SMALLER: dict[str, dict[str, Any]] = {
    "cocitation": {"parents": 200},
    "proximity": {"parents": 200},
    "lli": {"parents": 100},
    "community": {"parents": 20, "in_links": 10},
}
"""The slow truth compares all pairs of parents."""


def pages() -> list[Page]:
    """A page with 2,500 parents, two of which have 6,000 links, and with a child that has 300 parents.

    Also a page with one parent, which has 4,096 links, and one with two parents that are copies of each other.
    """

    def link(url: str, n: int, block: int) -> Link:
        return Link(url, block=block, rel="nofollow" if n % 7 == 0 else "", boilerplate=n % 11 == 0)

    first, second = list(TARGETS), [*TARGETS[::2], *(f"https://v{n}.example/" for n in range(LONG_LIST_LINKS // 2))]
    first[3000], second[4500] = QUERY, QUERY
    first[5000] = CHILD
    long = [
        Page(
            "https://long0.example/", links=[Link(url, block=n // 100) for n, url in enumerate(first)], headings=["Top"]
        ),
        Page("https://long1.example/", links=[Link(url, block=0) for url in second], headings=["All"]),
    ]
    parents = [
        Page(
            f"https://parent{n}.example/",
            links=[
                *(link(TARGETS[(n * n + k) % 40], n + k, k // 2) for k in range(3)),
                link(QUERY, n, 1),
                *(link(TARGETS[(n + 5 * k) % 90], n + k + 1, 1) for k in range(n % 5)),
                Link(f"https://parent{n * 3 % PARENTS}.example/"),
                *(link(QUERY, n + k, k + 2) for k in range(n % 7)),
                *(link(TARGETS[k], n + k, k + 2) for k in range(n % 4)),
            ],
        )
        for n in range(PARENTS - 2)
    ]
    others = [
        Page(
            f"https://other{n}.example/",
            links=[
                link(CHILD, n, 0),
                Link(f"https://parent{n % 20}.example/"),
                *(Link(f"https://other{n * k % CHILD_PARENTS}.example/") for k in range(2, 2 + n % 4)),
                Link("https://long0.example/"),
            ],
        )
        for n in range(CHILD_PARENTS - 3)
    ]
    query = Page(QUERY, links=[Link(CHILD), Link(TARGETS[3]), Link("https://long1.example/")])
    around = [*TARGETS[: WHOLE // 2 - 1], FULL, *TARGETS[-WHOLE // 2 :]]
    full = [
        Page(FULL, links=[Link(f"https://below{n}.example/") for n in range(CHILDREN)]),
        Page("https://long2.example/", links=[Link(url) for url in around]),
        *(Page(f"https://twin{n}.example/", links=[Link(url) for url in TARGETS[5900:5920]]) for n in range(2)),
    ]
    for page in long:
        page.links += [Link(url, block=77) for url in (QUERY, TARGETS[2], TARGETS[5998])]
    return [*long, *parents, *others, *full, query, Page(TARGETS[5], links=[Link(CHILD), Link(QUERY)])]


@cache
def built(root: Path) -> Web:
    """The store, made once."""
    folder = Path(tempfile.mkdtemp(dir=root))
    make(folder / "web.cocite", pages())
    return Web(folder / "web.cocite")


def answers(web: Web) -> list[Any]:
    """What every method answers to every case, and why."""
    found = []
    for name in methods.names():
        known = {each.name for each in methods.about(name).parameters}
        for urls, given in CASES:
            taken = {key: value for key, value in given.items() if key in known}
            asked = ask(web, question(web.graph, urls), methods.method(name, taken), 20)
            found.append([answer.to_dict() for answer in asked])
    return found


def words_and_links() -> list[Any]:
    """What loops over all words and all pages give, of a random web with pages without words and without links."""
    rng = np.random.default_rng(4)
    count, vocabulary = 120, 70  # more than 64 words: bits of the second level

    def some(most: int, limit: int) -> Rows:
        drawn = [np.unique(rng.integers(0, limit, rng.integers(0, most))) for _ in range(count)]
        return Rows(np.cumsum([0, *map(len, drawn)]), np.concatenate(drawn).astype(np.uint32))

    keys, outs = some(12, vocabulary), some(9, count)
    relevance = count_relevance(keys, vocabulary, outs)
    words, found = Likeness(keys, relevance), []
    for beside in (SUPPORT, INFORMATION):
        logical = replace(relevance, beside=beside).logical
        found += [logical.other.tolist(), logical.value.tolist()]
        links = links_in_memory(
            strong_links(words, outs, 0.2, 0.5, beside), 5, rng.permutation(count).astype(np.uint64)
        )
        found += [
            link_likeness(SimilarityData(words, links), page, np.arange(count, dtype=np.uint32)).tolist()
            for page in (0, 7)
        ]
        for looking in (
            SearchLimits(),
            SearchLimits(candidates=4, reach=1, postings=9, near=3, alike=2),
            SearchLimits(alike=0, reach=0),
        ):
            alike = all_alike(words, links, 6, 0.4, looking)
            found += [alike.pages.tolist(), alike.values.tolist()]
    return found


if __name__ == "__main__":
    json.dump([answers(Web(sys.argv[1])), words_and_links()], sys.stdout)
