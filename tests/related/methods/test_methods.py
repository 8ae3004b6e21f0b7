"""Every method against the slow truth, on random webs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.related.methods import method
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import examples
from tests.related.methods import naive
from tests.related.methods.naive import NaiveWeb
from tests.related.methods.webs import webs
from tests.webs import make_web

UNIT = st.sampled_from(["auto", "site", "host", "domain", "none"])
LIMIT = st.sampled_from([0, 1, 2, 3, 8, 40, 2000])
WINDOW = st.sampled_from([0, 1, 2, 3, 4, 8, 40])
SWITCHES: dict[str, st.SearchStrategy[Any]] = {
    "unit": UNIT,
    "merge": st.sampled_from([True, False, "published"]),
    "rel": st.sampled_from(["all", "all", "follow"]),
    "boilerplate": st.sampled_from([True, True, False]),
    "chop": st.sampled_from(["site", "host", "strict", "none"]),
    "seed": st.sampled_from([42, 42, 7]),
}
LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "parents": LIMIT,
    "window": WINDOW,
    "children": LIMIT,
    "child_parents": LIMIT,
}
OWN: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "auto": {
        "merge": st.booleans(),  # it isn't a published method
        "parents": LIMIT,
        "window": WINDOW,
        "children": LIMIT,
        "elsewhere": st.sampled_from([0.0, 0.1]),
        "near": st.sampled_from([0.0, 0.08]),
        "best": st.sampled_from([0, 1, 5]),
        "popularity": st.sampled_from([0.0, 0.18]),
        "copies": st.sampled_from(["none", "lists", "sections"]),
    },
    "cocitation": {"parents": LIMIT, "window": WINDOW},
    "proximity": {
        "parents": LIMIT,
        "window": WINDOW,
        "alpha": st.sampled_from([0.0, 0.81, 2.0]),
        "block_weight": st.sampled_from([0.0, 10.0]),
        "popularity": st.sampled_from([0.0, 0.2]),
    },
    "companion": {**LIMITS, "rounds": st.sampled_from([1, 5, 200])},
    "kleinberg": {"parents": LIMIT, "in_links": LIMIT, "rounds": st.sampled_from([3, 200])},
    "extended_cocitation": {**LIMITS, "delta": st.sampled_from([1.0, 2.0])},
    "community": {
        "parents": LIMIT,
        "window": WINDOW,
        "in_links": LIMIT,
        "npea": st.sampled_from(["avg", "max", "min", "off"]),
        "delta": st.sampled_from([0.1, 0.5, 0.9]),
        "basis": st.sampled_from(["svd", "root"]),
        "weighted": st.booleans(),
        "rounds": st.sampled_from([3, 200]),
    },
    "lli": {
        **LIMITS,
        "epsilon": st.sampled_from([0.1, 0.5, 0.9]),
        "forward_epsilon": st.sampled_from([0.0, 0.1, 0.9]),
        "delta": st.sampled_from([0.0, 0.7, 0.93, 1.0]),
    },
}


def choices(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Some parameters of a method; the others keep their defaults."""
    return st.fixed_dictionaries({}, optional={**SWITCHES, **OWN[name]})


def fast(web: Web, name: str, seeds: list[int], given_: dict[str, Any]) -> tuple[list[tuple[int, float]], list[int]]:
    scores = method(name, given_).relate(web, seeds)
    return list(scores.ranked(web.graph.in_degree, first=3)), list(scores.used)


def same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    """The same pages with the same scores; among scores that rounding tells apart or not, the order may differ."""
    assert sorted(page for page, _ in found) == sorted(page for page, _ in expected)
    truth = dict(expected)
    for (page, score), (other, true_score) in zip(found, expected, strict=True):
        assert score == pytest.approx(truth[page], rel=3e-5, abs=1e-9)
        if page != other:
            assert truth[page] == pytest.approx(true_score, rel=3e-5, abs=1e-9)


@pytest.mark.parametrize("name", list(OWN))
@given(pages=webs(), data=st.data())
@examples(25)
def test_the_slow_truth(name: str, pages: list[Page], data: st.DataObject) -> None:
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    cited = np.argsort(web.graph.in_degree)[::-1][:12].tolist()
    for _ in range(8):
        seeds = data.draw(st.lists(st.sampled_from(cited), min_size=1, max_size=2, unique=True), label="seeds")
        parameters = data.draw(choices(name), label="parameters")
        stop = data.draw(st.lists(st.sampled_from(cited), max_size=2, unique=True), label="stop")
        expected = getattr(naive, name)(truth, seeds, stop=frozenset(stop), **parameters)
        texts = [web.graph.canonical(page) for page in stop]
        found, used = fast(web, name, seeds, {**parameters, "stop": texts})
        assert used == expected.used
        same(found, list(expected))


WIKI = [f"https://wiki.example/{n}" for n in range(8)]
WIKI_LINKS = st.lists(st.builds(Link, url=st.sampled_from(WIKI), block=st.none() | st.integers(0, 1)), max_size=6)


@given(links=st.lists(WIKI_LINKS, min_size=8, max_size=8), outside=WIKI_LINKS, data=st.data())
@examples(25)
@pytest.mark.parametrize("name", list(OWN))
def test_the_slow_truth_on_one_site(
    name: str, links: list[list[Link]], outside: list[Link], data: st.DataObject
) -> None:
    """Pages of a wiki that link to each other, often both ways; a page of another site may link to some of them."""
    pages = [Page(url, links=its) for url, its in zip(WIKI, links, strict=True)]
    web = make_web([*pages, Page("https://list.example/", links=outside)])
    truth = NaiveWeb.from_graph(web.graph)
    parameters = data.draw(choices(name), label="parameters")
    for url in WIKI:
        for given_ in ({}, parameters):
            seeds = [web.graph.find(url)]
            found, used = fast(web, name, seeds, given_)
            expected = getattr(naive, name)(truth, seeds, **given_)
            assert used == expected.used
            same(found, list(expected))


@given(pages=webs(), data=st.data())
@examples(25)
def test_counting_in_counters_and_in_a_hash_table(pages: list[Page], data: st.DataObject) -> None:
    """What counts nothing together has a way of its own; both leave zeros behind."""
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    for seed in np.argsort(web.graph.in_degree)[::-1][:6].tolist():
        parameters = {
            "unit": data.draw(st.sampled_from(["none", "none", "site"])),
            "merge": data.draw(st.sampled_from([False, False, True])),
            "rel": data.draw(SWITCHES["rel"]),
            "parents": data.draw(LIMIT),
            "window": data.draw(st.sampled_from([0, 0, 2, 8])),
            "chop": "none",
        }
        expected = naive.cocitation(truth, [seed], **parameters)
        same(fast(web, "cocitation", [seed], parameters)[0], list(expected))
        counters = web.graph.links.borrow_counters()
        assert len(counters) == web.graph.pages
        assert not counters.any()
        web.graph.links.return_counters(counters[:0])  # as if the store had too many pages
        same(fast(web, "cocitation", [seed], parameters)[0], list(expected))
        assert len(web.graph.links.borrow_counters()) == 0


@given(pages=webs(), data=st.data())
@examples(15)
def test_many_pages_at_once_are_answered_as_each_alone(pages: list[Page], data: st.DataObject) -> None:
    """Cocitation has a quick way for many pages; where links do not count it says that there is none."""
    web = make_web(pages)
    everyone, k = np.arange(web.graph.pages, dtype=np.uint32), data.draw(st.integers(0, 5))
    for _ in range(4):
        parameters = {**data.draw(choices("cocitation"), label="parameters"), "chop": "none"}
        chosen = method("cocitation", parameters)
        best = chosen.best_of_each(web, everyone, k)
        quick = parameters.get("rel", "all") == "all" and parameters.get("boilerplate", True)
        assert (best is not None) == (quick and parameters.get("unit") != "auto")
        if best is None:
            continue
        ends = np.cumsum(best.counts)
        for page in everyone.tolist():
            part = slice(ends[page] - best.counts[page], ends[page])
            scores = chosen.relate(web, [page])
            alone = list(scores.ranked(web.graph.in_degree))
            assert list(zip(best.pages[part].tolist(), best.scores[part].tolist(), strict=True)) == alone[:k]
            assert best.enough[page]
        chopping = method("cocitation", {**parameters, "chop": "site"}).best_of_each(web, everyone, 10**3)
        assert chopping is not None
        ends = np.cumsum(chopping.counts)
        for page, end in enumerate(ends.tolist()):
            twice = int((chopping.scores[end - chopping.counts[page] : end] >= 2).sum())
            assert bool(chopping.enough[page]) == (twice >= 15)


def test_a_spouse_s_refused_links_are_not_counted() -> None:
    """s links to both children of q, to c1 by a nofollow link at its end: f = 1, and 2 if all links count."""
    q, s, c0, c1 = (f"https://{name}.example/" for name in ("q", "s", "c0", "c1"))
    others = [Link(f"https://other{i}.example/", rel="nofollow") for i in range(3)]
    pages = [
        Page(q, links=[Link(c0), Link(c1)]),
        Page(s, links=[*others, Link(c0), Link(c1, rel="nofollow")]),
    ]
    web = make_web(pages)
    start, spouse = web.graph.find(q), web.graph.find(s)
    assert dict(fast(web, "extended_cocitation", [start], {"rel": "follow"})[0])[spouse] == 1
    assert dict(fast(web, "extended_cocitation", [start], {})[0])[spouse] == 2


def test_a_long_list_of_a_spouse_is_not_looked_up_where_flags_count() -> None:
    """The same on a list of 702 links, which is looked up rather than read where every link counts."""
    q, s, c0, c1 = (f"https://{name}.example/" for name in ("q", "s", "c0", "c1"))
    others = [Link(f"https://other{i}.example/") for i in range(700)]
    pages = [Page(q, links=[Link(c0), Link(c1)]), Page(s, links=[*others, Link(c0), Link(c1, rel="nofollow")])]
    web = make_web(pages)
    start, spouse = web.graph.find(q), web.graph.find(s)
    for name, score in (("extended_cocitation", 1), ("extended_cocitation(rel=all)", 2)):
        assert (
            dict(
                method(name, {} if "(" in name else {"rel": "follow"}).relate(web, [start]).ranked(web.graph.in_degree)
            )[spouse]
            == score
        )
