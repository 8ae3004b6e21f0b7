"""Every method on graphs of odd shapes: it ends, never returns the query, and has results or says why it has none."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from cocite.graph.store import Graph
from cocite.operations.pages.related import why_unrelated
from cocite.related import methods
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.webs import make_web

NAMES = methods.names()
long_trial = pytest.mark.long
SIZE = 30
MAX_SECONDS = 2.0
"""Processor time of a question about a page with a million in-links; it takes a tenth of a second at most."""
Links = Iterable[tuple[int, int]]


def url(page: int) -> str:
    """On a site of its own."""
    return f"https://s{page:03d}.example/"


def url_of_one_site(page: int) -> str:
    """All on one site."""
    return f"https://wiki.example/{page:03d}"


def web_of(links: Links, name: Callable[[int], str] = url, weight: float = 1.0) -> Web:
    """A web of SIZE pages."""
    pages = [Page(name(n)) for n in range(SIZE)]
    for source, target in links:
        pages[source].links.append(Link(name(target), weight=weight))
    return make_web(pages)


def complete(first: int, last: int) -> list[tuple[int, int]]:
    """All links among some pages."""
    return [(a, b) for a in range(first, last) for b in range(first, last) if a != b]


def by_chance(share: float, both_ways: bool = False) -> list[tuple[int, int]]:
    """A share of all links, chosen with a fixed seed."""
    random = np.random.default_rng(1)
    some = [(a, b) for a, b in complete(0, SIZE) if random.random() < share and (a < b or not both_ways)]
    return [*some, *((b, a) for a, b in some)] if both_ways else some


def popular(parents: int) -> Web:
    """A plain graph: all pages link to page 0, and each of the first 30 to the next one."""
    links = [*((n, 0) for n in range(1, parents + 1)), *((n, n + 1) for n in range(1, SIZE))]
    return Web(Graph.from_links([(f"name:{source:06d}", f"name:{target:06d}") for source, target in links]))


IN, OUT = [(n, 0) for n in range(1, SIZE)], [(0, n) for n in range(1, SIZE)]
GRAPHS: dict[str, Callable[[], Web]] = {
    "complete": lambda: web_of(complete(0, SIZE)),
    "complete, one site": lambda: web_of(complete(0, SIZE), url_of_one_site),
    "dense": lambda: web_of(by_chance(0.7)),
    "one site": lambda: web_of(by_chance(0.1), url_of_one_site),
    "undirected": lambda: web_of(by_chance(0.1, both_ways=True)),
    "star inwards": lambda: web_of(IN),
    "star outwards": lambda: web_of(OUT),
    "star both ways": lambda: web_of([*IN, *OUT]),
    "path": lambda: web_of((n, n + 1) for n in range(SIZE - 1)),
    "cycle": lambda: web_of((n, (n + 1) % SIZE) for n in range(SIZE)),
    "two components": lambda: web_of([*complete(0, 15), *complete(15, SIZE)]),
    "bipartite": lambda: web_of((a, b) for a in range(15) for b in range(15, SIZE)),
    "self-loops": lambda: web_of((n, n) for n in range(SIZE)),
    "weights of 0": lambda: web_of(by_chance(0.1), weight=0.0),
    "no links": lambda: web_of([]),
    "2,000 in-links": lambda: popular(2_000),
    "100,000 in-links": lambda: popular(100_000),
}


SHORT = ("complete, one site", "star inwards", "two components", "self-loops", "weights of 0", "2,000 in-links")
"""Those of `make test`."""


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=() if each in SHORT else long_trial) for each in GRAPHS]
)
def graph(request: pytest.FixtureRequest) -> tuple[str, Web]:
    return request.param, GRAPHS[request.param]()


def answers(web: Web, name: str, page: int, k: int = 10) -> Answers:
    return ask(web, Question((web.graph.address(page),), (page,)), methods.method(name), k)


@pytest.mark.parametrize("name", NAMES)
def test_results_or_a_message(graph: tuple[str, Web], name: str) -> None:
    kind, web = graph
    for page in (0, 7, 20):
        found = answers(web, name, page)
        scores = [each.score for each in found]
        assert page not in [each.page for each in found]
        assert len({each.page for each in found}) == len(found)
        assert all(math.isfinite(score) and score > 0 for score in scores) and scores == sorted(scores, reverse=True)
        assert all(each.reasons for each in found)
        again = answers(web, name, page)
        assert [(each.page, each.score) for each in again] == [(each.page, each.score) for each in found]
        if not len(found):
            assert web.graph.address(page) in why_unrelated(web, [web.graph.address(page)], name)
        if kind == "two components":
            assert all((each.page < 15) == (page < 15) for each in found)
        if kind in ("self-loops", "no links"):
            assert not len(found)


@long_trial
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("semantic", "hubfinder")])
@pytest.mark.parametrize("kind", ["complete", "complete, one site", "dense", "undirected", "one site"])
def test_every_link_method_answers_where_all_are_linked(kind: str, name: str) -> None:
    """In a complete graph pages differ in nothing but their names: all are equally related, none is a copy."""
    web = GRAPHS[kind]()
    found = answers(web, name, 7, SIZE)
    assert len(found) >= 5
    if kind.startswith("complete"):
        assert not len(web.graph.facts.all_near_duplicates[0])
        assert len(found) == SIZE - 1 or name in ("cocitation", "proximity", "whats_related", "companion", "community")


@long_trial
@pytest.mark.parametrize("name", ["auto", "cocitation", "proximity", "extended_cocitation", "lli", "simrank", "prank"])
def test_a_page_that_everybody_links_to_is_not_the_first_merely_for_that(name: str) -> None:
    """Ten pairs, each on three lists; on every list a portal is linked as well, at the far end."""
    pages = []
    for pair in range(10):
        for n in range(3):
            others = [f"https://x{pair}-{n}-{k}.example/" for k in range(6)]
            links = [f"https://a{pair}.example/", f"https://b{pair}.example/", *others, "https://portal.example/"]
            pages.append(Page(f"https://list{pair}-{n}.example/", links=[Link(each) for each in links]))
    web = make_web(pages)
    found = [each.url for each in answers(web, name, web.graph.find("https://a3.example/"))]
    assert found[0] == "https://b3.example/" or (
        name in ("cocitation", "extended_cocitation", "lli") and found[1] == "https://b3.example/"
    )


def test_a_page_whose_copies_are_all_that_is_related_says_so() -> None:
    web = GRAPHS["bipartite"]()
    assert not len(answers(web, "extended_cocitation", 0))
    message = why_unrelated(web, [web.graph.address(0)], "extended_cocitation")
    assert "14 pages with nearly the same links count as it" in message
    assert message.endswith("try the method 'extended_cocitation(merge=false)'")


@long_trial
def test_a_million_parents() -> None:
    """Every method reads a sample of them, or says that there is nothing; what is made once doesn't count as time."""
    web = popular(1_000_000)
    for name in NAMES:
        for page in (0, 7, 20):
            found = answers(web, name, page)
            assert page not in [each.page for each in found]
            if not len(found):
                assert web.graph.address(page) in why_unrelated(web, [web.graph.address(page)], name)
            began = time.process_time()
            again = answers(web, name, page)
            assert time.process_time() - began < MAX_SECONDS
            assert [(each.page, each.score) for each in again] == [(each.page, each.score) for each in found]


def test_the_note_of_a_page_that_nobody_links_to() -> None:
    """Methods that look at pages around it drop the site, too, but not because pages of one site link to it."""
    web = web_of(IN, url_of_one_site)
    for name in ("kleinberg", "community"):
        found = answers(web, name, 7)
        assert "link here" not in found.note


def test_lists_of_a_page_and_a_popular_one_say_nothing() -> None:
    """Twenty lists have the page and one that a hundred other lists have: chance explains that."""
    lists = [[f"https://x{n}.example/", "https://portal.example/"] for n in range(100)]
    lists += [["https://u.example/", "https://portal.example/"]] * 20
    pages = [
        Page(f"https://list{n}.example/", links=[Link(each, block=0) for each in links], headings=["Links"])
        for n, links in enumerate(lists)
    ]
    web = make_web(pages)
    found = answers(web, "auto", web.graph.find("https://u.example/"))
    assert "https://portal.example/" not in [each.url for each in found]
