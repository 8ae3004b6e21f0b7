"""Every reason of every answer of every method is true, and every answer has one."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.clicks import Clicks, PagePairs
from cocite.graph.store import Graph
from cocite.kernels.related.independence import GROUPED
from cocite.related import methods
from cocite.related.neighbourhood.likeness import LikenessParams
from cocite.related.neighbourhood.view import Switches
from cocite.results.ask import Question, ask
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import examples, make
from tests.related.methods.naive import NaiveWeb
from tests.related.methods.test_methods import OWN, SWITCHES, WIKI, WIKI_LINKS
from tests.related.methods.webs import webs
from tests.related.proof import LOOKED_AT, UNKNOWN, Proof, Trails, view_of
from tests.webs import make_web

LINK_METHODS = [name for name in methods.names() if isinstance(methods.method(name).params, Switches)]
REPEATS = {"auto": 3}  # sections that repeat the link to the query page and count
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel"]
HEADINGS = ["One", "", "Three"]  # a block may be beyond the last


def prove(
    web: Web, truth: NaiveWeb, method: methods.Method, seeds: list[int], stop: list[int], trails: Trails = ()
) -> int:
    """Ask, prove all reasons, and that none is missing; returns how many there were."""
    graph, told = web.graph, 0
    answers = ask(web, Question(tuple(map(graph.address, seeds)), tuple(seeds)), method, 10**4)
    used = [graph.find(address) for address in answers.used]
    looked_at = getattr(method.params, "parents", LOOKED_AT)
    repeats, window = REPEATS.get(method.name, 0), getattr(method.params, "window", 0)
    switches = method.params if isinstance(method.params, Switches) else Switches(merge=False, unit="none")
    view = view_of(graph, truth, used, switches, stop)
    copies = method.params.counted_copies if isinstance(method.params, LikenessParams) else GROUPED
    proof = Proof(graph, view, used, looked_at, repeats, window, web, method.params, trails, copies)
    for answer in answers:
        assert answer.reasons, f"{method}: nothing speaks for {answer.url}"
        proof.prove(answer.page, answer.reasons, answer.score)
        told += len(answer.reasons)
        together = [reason for reason in answer.reasons if reason.kind == "cited together"]
        if together:
            assert (together[0].block is None, together[0].distance or UNKNOWN) == proof.best(
                answer.page, proof.query(together[0])
            )
            assert any(reason.kind == "cited together in all" for reason in answer.reasons)
    return told


@pytest.mark.parametrize("name", LINK_METHODS)
@given(pages=webs(), data=st.data())
@examples(6)
def test_every_reason_is_true(name: str, pages: list[Page], data: st.DataObject) -> None:
    for page in pages:
        page.headings = HEADINGS
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    cited = np.argsort(web.graph.in_degree, kind="stable")[::-1][:12].tolist()
    for _ in range(10):
        seeds = data.draw(st.lists(st.sampled_from(cited), min_size=1, max_size=3, unique=True), label="seeds")
        stop = data.draw(st.lists(st.sampled_from(cited), max_size=2, unique=True), label="stop")
        parameters: dict[str, Any] = data.draw(
            st.fixed_dictionaries({}, optional={**SWITCHES, **OWN.get(name, {})}), label="parameters"
        )
        texts = [web.graph.canonical(page) for page in stop]
        prove(web, truth, methods.method(name, {**parameters, "stop": texts}), seeds, stop)


@pytest.mark.parametrize("name", LINK_METHODS)
@given(links=st.lists(WIKI_LINKS, min_size=8, max_size=8))
@examples(6)
def test_every_reason_is_true_on_one_site(name: str, links: list[list[Link]]) -> None:
    """Pages of one site count one by one there, and no reason says otherwise."""
    web = make_web([Page(url, links=its, headings=HEADINGS) for url, its in zip(WIKI, links, strict=True)])
    truth = NaiveWeb.from_graph(web.graph)
    for page in range(web.graph.pages):
        prove(web, truth, methods.method(name), [page], [])


def clicks_of(graph: Graph, trails: Trails) -> Clicks:
    """The clicks of trails, and the other pairs of pages in each, added up."""
    times = dict[tuple[int, int], list[float]]()
    for pages, people in trails:
        for (place, one), (later, other) in combinations(enumerate(pages), 2):
            times.setdefault((one, other), [0.0, 0.0])[later > place + 1] += people
    rows = np.array([[*pair, *times[pair]] for pair in sorted(times)]).reshape(-1, 4).T
    return Clicks(graph, PagePairs(rows[0].astype(np.uint32), rows[1].astype(np.uint32), rows[2], rows[3]))


@given(pages=webs(), data=st.data())
@examples(4)
def test_every_reason_of_every_method_is_true_where_pages_have_texts(pages: list[Page], data: st.DataObject) -> None:
    """And where people's clicks are known."""
    texts = st.lists(st.sampled_from(WORDS), max_size=6)
    for page in pages:
        page.headings, page.text = HEADINGS, " ".join(data.draw(texts, label=page.url))
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    cited = np.argsort(web.graph.in_degree, kind="stable")[::-1][:8].tolist()
    seeds = data.draw(st.lists(st.sampled_from(cited), min_size=1, max_size=2, unique=True), label="seeds")
    visited = st.lists(st.sampled_from(cited), min_size=2, max_size=5, unique=True)
    trails = data.draw(st.lists(st.tuples(visited, st.sampled_from([1.0, 2.0, 0.5]))), label="trails")
    web.clicks = clicks_of(web.graph, trails)
    for name in methods.names():
        prove(web, truth, methods.method(name), seeds, [], trails)
    prove(web, truth, methods.method("auto(copies=sections)"), seeds, [], trails)


@given(pages=webs(), data=st.data())
@examples(15)
def test_groups_are_what_cocitation_counts(pages: list[Page], data: st.DataObject) -> None:
    web = make_web(pages)
    cited = np.argsort(web.graph.in_degree, kind="stable")[::-1][:12].tolist()
    for _ in range(8):
        seeds = data.draw(st.lists(st.sampled_from(cited), min_size=1, max_size=2, unique=True), label="seeds")
        unit = data.draw(st.sampled_from(["none", "site", "auto"]), label="unit")
        method = methods.method("cocitation", {"unit": unit, "window": 0})
        for answer in ask(web, Question(("",) * len(seeds), tuple(seeds)), method, 10**4):
            assert answer.score == sum(reason.voices or 0 for reason in answer.reasons)


def test_the_evidence_of_an_answer_and_its_copies_is_counted_together(place: Path) -> None:
    """Ten copies, each listed once with the query page; so their representative has one list of its own."""
    others = [f"https://other{n}.example/" for n in range(20)]
    copies = [f"https://copy{n}.example/" for n in range(10)]
    pages = [
        *(Page(url, links=[Link(other) for other in others]) for url in copies),
        *(
            Page(
                f"https://list{n}.example/",
                links=[Link("https://q.example/"), Link(f"https://x{n}.example/"), Link(url)],
            )
            for n, url in enumerate(copies)
        ),
        *(Page(f"https://fan{n}.example/", links=[Link(copies[0])]) for n in range(2)),
    ]
    make(place / "web.cocite", pages)
    found = reasons(Web(place / "web.cocite"), "q.example", copies[0], "cocitation")
    assert found[0] == {"kind": "cited together", "by": "https://list0.example/", "distance": 2}
    assert found[1] == {**found[0], "by": "https://list1.example/", "copy": copies[1]}
    assert found[3] == {"kind": "cited together in all", "count": 10, "of": 10, "voices": 10}
    assert found[4] == {"kind": "stands for near-duplicates", "count": 9, "pages": copies[1:6]}


def test_one_parent_of_each_group_is_shown(place: Path) -> None:
    """Four mirrors have both next to each other, a list of its own has them further apart. A copy is never named."""
    q, a = "https://q.example/", "https://a.example/"
    many = [Link(q), Link(a), *(Link(f"https://other{n}.example/") for n in range(20))]
    apart = [Link(q), *(Link(f"https://x{n}.example/") for n in range(5)), Link(a)]
    pages = [Page(f"https://mirror{n}.example/", links=many) for n in range(4)] + [
        Page("https://z.example/", links=apart)
    ]
    make(place / "web.cocite", pages)
    found = reasons(Web(place / "web.cocite"), q, a, "cocitation(window=0)")
    named = [each["by"] for each in found if "by" in each]
    assert named == ["https://mirror0.example/", "https://z.example/"]
    assert found[2:] == [{"kind": "cited together in all", "count": 5, "of": 5, "voices": 2}]


def test_links_of_the_query_page_beyond_the_first_thousands(place: Path) -> None:
    a, q = "https://a.example/", "https://q.example/"
    links = [*(Link(f"https://other{n}.example/") for n in range(5000)), Link(a)]
    make(place / "web.cocite", [Page(q, links=links), Page("https://list.example/", links=[Link(q), Link(a)])])
    assert {"kind": "linked by the query"} in reasons(Web(place / "web.cocite"), q, a, "proximity")


def test_copies_far_away_on_long_lists() -> None:
    """On a list of 9,000 links q is the first, a copy of the answer the 5,000th, and the answer the 8,000th."""
    q, answer, copy = (f"https://{name}.example/" for name in ("q", "answer", "copy"))
    others = [Link(f"https://other{n}.example/") for n in range(20)]
    urls = [q, *(f"https://x{n}.example/" for n in range(1, 9000))]
    urls[5000], urls[8000] = copy, answer
    blocks = [1 if n < 4000 else 0 for n in range(9000)]
    far = [Link(url, block=block) for url, block in zip(urls, blocks, strict=True)]
    together = [Link(url, block=0) for url in urls]
    pages = [
        *(Page(url, links=others) for url in (answer, copy)),
        Page("https://fan.example/", links=[Link(answer)]),
        Page("https://list1.example/", links=far),
        Page("https://list2.example/", "Two", links=together[:8001], headings=["All"]),
    ]
    web = make_web(pages)
    assert web.graph.facts.near_duplicates(web.graph.find(answer)).tolist() == [web.graph.find(copy)]
    found = reasons(web, q, answer, "cocitation(window=0, merge=true)")
    assert found[:2] == [
        {"kind": "cited together", "by": "https://list2.example/", "title": "Two", "block": "All", "distance": 5000,
         "copy": copy},
        {"kind": "cited together", "by": "https://list1.example/", "distance": 5000, "copy": copy},
    ]  # fmt: skip
    assert found[2] == {"kind": "cited together in all", "count": 2, "of": 2, "voices": 2}
    assert reasons(web, q, answer, "cocitation(window=0, merge=false)")[0]["distance"] == 8000


def test_without_parents_none_is_mentioned(small: Web) -> None:
    found = reasons(small, "a.example", "c.example", "companion(parents=0)")
    assert found == [{"kind": "linked by the query"}]


@pytest.fixture(scope="module")
def small() -> Web:
    """Two lists, a mirror of one, and a page whose shorter address is known better."""
    others = [f"https://other{n}.example/" for n in range(12)]
    many = [Link("https://a.example/", block=0), *(Link(url, block=1) for url in others)]
    pages = [
        Page(
            "https://list.example/",
            "A list",
            links=[
                Link("https://a.example/", block=0),
                Link("https://b.example/", block=0),
                Link("https://c.example/"),
            ],
            headings=["Letters"],
        ),
        Page("https://many.example/", links=many),
        Page("https://mirror.example/", links=many),
        Page("https://b.example/", links=[Link("https://x.example/"), Link("https://a.example/")]),
        Page("https://a.example/", links=[Link("https://x.example/"), Link("https://c.example/")]),
        Page("https://hub.example/", links=[Link("https://list.example/"), Link("https://mirror.example/")]),
        *(Page(f"https://fan{n}.example/", links=[Link("https://many.example/")]) for n in range(2)),
        Page("https://a.example/alone", "Nobody links here"),
    ]
    return make_web(pages)


def reasons(web: Web, query: str, answer: str, call: str) -> list[dict[str, Any]]:
    page = web.graph.find(query)
    found = ask(web, Question((query,), (page,)), methods.method(call), 100)
    why = next(each.reasons for each in found if each.page == web.graph.find(answer))
    assert all(str(reason) == reason.text for reason in why)
    return [{name: value for name, value in reason.to_dict().items() if name != "text"} for reason in why]


def test_reasons_worked_out_by_hand(small: Web) -> None:
    assert reasons(small, "a.example", "b.example", "proximity") == [
        {"kind": "cited together", "by": "https://list.example/", "title": "A list", "block": "Letters", "distance": 1},
        {"kind": "links to the same page", "to": "https://x.example/"},
        {"kind": "links to the query"},
        # a.example is linked by the list, by b.example, by both mirrors
        {"kind": "cited together in all", "count": 1, "of": 4, "voices": 1},
        {"kind": "links to the same pages in all", "count": 1, "of": 2},
    ]
    assert reasons(small, "a.example", "c.example", "proximity") == [
        {"kind": "cited together", "by": "https://list.example/", "title": "A list", "distance": 2},
        {"kind": "linked by the query"},
        {"kind": "cited together in all", "count": 1, "of": 4, "voices": 1},
    ]


def test_mirrors_count_as_one_site(small: Web) -> None:
    found = reasons(small, "a.example", "other3.example", "cocitation(unit=site, window=0)")
    assert found[-1] == {"kind": "cited together in all", "count": 2, "of": 4, "voices": 1}


def test_evidence_of_a_mirror_names_the_mirror(small: Web) -> None:
    assert small.graph.facts.representative(small.graph.find("mirror.example")) == small.graph.find("many.example")
    assert reasons(small, "list.example", "many.example", "proximity") == [
        {"kind": "cited together", "by": "https://hub.example/", "distance": 1, "copy": "https://mirror.example/"},
        {"kind": "links to the same page", "to": "https://a.example/"},  # as both do: said of the answer itself
        {"kind": "cited together in all", "count": 1, "of": 1, "voices": 1},
        {"kind": "links to the same pages in all", "count": 1, "of": 3},
        {"kind": "stands for near-duplicates", "count": 1, "pages": ["https://mirror.example/"]},
    ]


@pytest.mark.parametrize("name", LINK_METHODS)
def test_a_chopped_page_is_explained_by_the_page_asked_instead(small: Web, name: str) -> None:
    graph = small.graph
    alone = ask(small, Question(("alone",), (graph.find("a.example/alone"),)), methods.method(name), 100)
    # Cocitation wants fifteen siblings cocited twice, which nobody has here: it asks the page itself, in vain.
    assert alone.used == (("a.example/alone",) if name == "cocitation" else ("a.example",))
    asked = ask(small, Question(("a.example",), (graph.find("a.example"),)), methods.method(name), 100)
    assert alone.answers == (() if name == "cocitation" else asked.answers)
    assert all(answer.reasons for answer in alone)


def test_the_evidence_of_several_pages_takes_turns(small: Web) -> None:
    seeds = [small.graph.find(each) for each in ("a.example", "b.example")]
    answers = ask(small, Question(("a", "b"), tuple(seeds)), methods.method("proximity"), 100)
    kinds = [(reason.kind, reason.query) for reason in answers[0].reasons]
    assert answers[0].url == "https://c.example/"
    assert kinds == [
        ("cited together", "https://a.example/"),
        ("cited together", "https://b.example/"),
        ("cited together in all", "https://a.example/"),
        ("cited together in all", "https://b.example/"),
    ]


def test_reasons_can_be_turned_off(small: Web) -> None:
    page = small.graph.find("a.example")
    answers = ask(small, Question(("a",), (page,)), methods.method("proximity"), 100, explained=False)
    assert len(answers) > 10
    assert all(answer.reasons == () for answer in answers)
