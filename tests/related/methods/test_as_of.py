"""Every link method answers as of a date exactly as a store that was built from the captures of then."""

from __future__ import annotations

import random
from functools import cache

import pytest

from cocite.graph.build.passes import BuildOptions, Past, build_in_memory
from cocite.graph.changes.history import CaptureHistory
from cocite.graph.store import Graph
from cocite.related import methods
from cocite.results.ask import Question, ask
from cocite.sources.records import Page, ReadReport, batch
from cocite.web import Web
from tests.graph.webs import long_lists
from tests.related.methods.test_layers import LINK_METHODS, LISTS, PAGES, record

DATES = ["2004-05-06", "2009-06-30", "2009-07-01", "2024-01-01"]


@cache
def webs(seed: int) -> list[tuple[Graph, Graph]]:
    """(the graph of a date from a history, one built from the captures of then), for each date."""
    draw = random.Random(seed)
    pages = []
    for url in draw.sample([*PAGES, *LISTS], draw.randrange(8, 24)):
        for date in draw.sample(DATES, draw.randrange(1, len(DATES) + 1)):
            moved = draw.random() < 0.08
            found = Page(url, redirect=draw.choice(PAGES)) if moved else record(draw, url)
            found.captured, found.title, found.headings = date, f"{url} on {date}", [f"Section {date}"]
            pages.append(found)
    draw.shuffle(pages)

    def built(some: list[Page], past: Past | None = None, history: bool = False) -> Graph:
        batches = [batch(some)] if some else []
        return Graph(build_in_memory(batches, ReadReport(), BuildOptions(threads=0, history=history), past=past))

    history = CaptureHistory(built(pages, history=True))
    return [
        (built([], Past(history, index)), built([each for each in pages if each.captured <= date]))
        for index, date in enumerate(history.dates, 1)
    ]


def answers(graph: Graph, name: str, page: int) -> object:
    """The answers to a question, by address, with their titles and reasons."""
    given = {"words": 0} if name == "auto" else {}
    found = ask(Web(graph), Question(("",), (page,)), methods.method(name, given), 30)
    return [(each.url, each.title, each.score, [str(reason) for reason in each.reasons]) for each in found]


@pytest.mark.parametrize("name", LINK_METHODS)
def test_a_date_answers_as_a_store_built_then(name: str) -> None:
    with long_lists():
        for seed in range(2):
            for then, whole in webs(seed):
                addresses = [whole.address(page) for page in range(whole.pages)]
                assert [then.address(page) for page in range(then.pages)] == addresses
                for page in range(seed, whole.pages, 6):
                    assert answers(then, name, page) == answers(whole, name, page), (seed, addresses[page])
