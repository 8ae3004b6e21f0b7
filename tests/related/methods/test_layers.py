"""Every link method answers on a store with layers exactly as on one that was built at once from the same captures."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cocite.graph.build.commit import with_layer
from cocite.graph.build.maintain import make_change
from cocite.graph.build.passes import BuildOptions
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.names import encode_key
from cocite.graph.store import Graph
from cocite.pages.address import parse
from cocite.related import methods
from cocite.results.ask import Question, ask
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from tests.graph.webs import Records, long_lists
from tests.related.methods.test_contract import BY_WORDS

PAGES = [
    f"https://{host}.example/{path}" for host in ("ann", "bob", "cy", "news", "zoo") for path in ("", "a", "m", "z")
]
LISTS = [f"https://list{n}.example/" for n in range(12)]
LINK_METHODS = [name for name in methods.names() if name not in BY_WORDS]
OPTIONS = BuildOptions(threads=0)


def record(draw: random.Random, url: str) -> Page:
    """A page of a small world: lists of a few sections, some of them copies of each other."""
    if draw.random() < 0.35:
        chosen = random.Random(draw.randrange(3)).sample(PAGES, 13)
        if draw.random() < 0.3:
            chosen = [*chosen[:-1], draw.choice(LISTS)]
    else:
        chosen = draw.sample([*PAGES, *LISTS], draw.randrange(1, 9))
    links = [Link(target, block=at // 4) for at, target in enumerate(chosen)]
    if draw.random() < 0.3:
        links.append(Link(links[0].url, block=7))
    return Page(url, links=links)


def commit(graph: Graph, pages: list[Page], removed: list[str] | None = None) -> Graph:
    """The graph with one more layer, in memory."""
    keys = RemovedPages.of_keys(encode_key(parse(url).canonical) for url in removed or ())
    change, _ = make_change(graph, [Records(pages)], ReadReport(), OPTIONS, remove=keys)
    return graph if change is None else with_layer(graph, change.manifest, change.arrays)


def history(seed: int) -> tuple[Graph, Graph]:
    """(a store with layers, one built at once) from the same captures."""
    draw = random.Random(seed)
    latest: dict[str, Page] = {}

    def some(count: int) -> list[Page]:
        found = [record(draw, url) for url in draw.sample([*PAGES, *LISTS], count)]
        latest.update({page.url: page for page in found})
        return found

    graph, gone = Graph.from_records(some(draw.randrange(4, 14))), set[str]()
    for _ in range(draw.randrange(1, 5)):
        if draw.random() < 0.25:
            removed = [url for url in draw.sample([*PAGES, *LISTS], 2) if graph.get(url) is not None]
            graph, gone = commit(graph, [], removed), gone.union(removed)
        else:
            graph = commit(graph, some(draw.randrange(1, 6)))
    kept = [replace(page, links=[each for each in page.links if each.url not in gone]) for page in latest.values()]
    return graph, Graph.from_records([page for page in kept if page.url not in gone])


def answers(graph: Graph, name: str, url: str, reasons: bool) -> object:
    """The answers to a question, by address, with their reasons."""
    given = {"words": 0} if name == "auto" else {}
    web, page = Web(graph), graph.find(url)
    found = ask(web, Question((url,), (page,)), methods.method(name, given), 30, explained=reasons)
    return [(each.url, each.score, [str(reason) for reason in each.reasons] if reasons else ()) for each in found]


@pytest.mark.parametrize("name", LINK_METHODS)
def test_layers_answer_as_a_store_built_at_once(name: str) -> None:
    with long_lists():
        for seed in range(8):
            layered, whole = history(seed)
            assert [layered.canonical(int(page)) for page in layered.names.in_order()] == [
                whole.canonical(page) for page in range(whole.pages)
            ]
            for page in range(0, whole.pages, 3):
                url = whole.address(page)
                assert answers(layered, name, url, False) == answers(whole, name, url, False), (seed, url)
