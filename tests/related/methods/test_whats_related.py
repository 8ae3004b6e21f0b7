"""What's Related: the formula worked out, each evidence alone, the dead, and reasons that say what spoke."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadStore
from cocite.graph.store import Graph
from cocite.related import methods
from cocite.related.evidence import ByLinks, Listing, SimilarText, Usage
from cocite.related.methods import whats_related
from cocite.results.ask import ask, question
from cocite.sources.clicks import Trail
from cocite.sources.records import Page, ReadReport
from cocite.web import Web
from cocite.words.search import SEARCH
from tests.graph.trails import add_clicks
from tests.graph.webs import examples, extend, make, page

SITES = {letter: f"https://{letter}.example/" for letter in "abcdefghkj"}
A, B, C, D, E, F, G, H, K, J = SITES.values()


def click(source: str, target: str, times: float) -> Trail:
    return Trail([source, target], [(0, 1)], times)


def pages() -> list[Page]:
    """b and c are cited with a, twice and once; d and e have words in common with a; f is gone."""
    return [
        page("https://list.example/1", A, B, C, F),
        page("https://list.example/2", A, B),
        Page(A, "Keeping tortoises", text="tortoises hibernate"),
        Page(D, "Tortoises hibernate"),
        Page(E, "When animals hibernate"),
        Page(F, "Gone", status=404),
        Page(G, "Unrelated words"),
        Page(H, "Other matters"),
    ]


def make_web(place: Path, words: bool = False, clicks: list[Trail] | None = None) -> Web:
    make(place / "web.cocite", pages())
    graph = Graph(place / "web.cocite")
    if words:
        SEARCH.build(graph)
    if clicks:
        add_clicks(graph, clicks, ReadReport())
    return Web(place / "web.cocite")


def answers(web: Web, *urls: str, **given_: object) -> dict[str, float]:
    found = ask(web, question(web.graph, urls), methods.method("whats_related", given_), 100, explained=False)
    return {each.url: each.score for each in found}


def test_links_alone(place: Path) -> None:
    web = make_web(place)
    # By cocitation b has 2 of 4 votes, c 1, and f 1, which is dead: its share is lost, not given to others.
    assert answers(web, A, near=False) == {B: 0.5, C: 0.25}
    assert list(answers(web, A)) == [B, C]
    assert answers(web, A, links=0) == {}
    assert answers(web, G) == {}


def test_usage_alone(place: Path) -> None:
    web = make_web(
        place,
        clicks=[click(A, H, 6), click(A, F, 3), click(H, A, 10), Trail([A, G, B], [(0, 1), (1, 2)])],
    )
    # h: 6 + 0.1 · 10; f, which is dead: 3; g: 1; b: 0.05 · 1
    total = 7 + 3 + 1 + 0.05
    expected = {H: 7 / total, G: 1 / total, B: 0.05 / total}
    assert answers(web, A, links=0, words=0) == pytest.approx(expected, rel=1e-5)
    assert answers(web, A, prior=0) == answers(web, A, links=0)
    # b is in a session with a and g, and was reached from g: g comes first by clicks, a only by the session
    assert answers(web, B, links=0) == pytest.approx({G: 0.1 / 0.15, A: 0.05 / 0.15}, rel=1e-5)


def test_links_and_usage_together(place: Path) -> None:
    web = make_web(place, clicks=[click(A, H, 30), click(A, B, 10)])
    # 40 clicks and a prior of 20: usage has two thirds of the say
    expected = {H: 2 / 3 * 0.75, B: 2 / 3 * 0.25 + 1 / 3 * 0.5, C: 1 / 3 * 0.25}
    assert answers(web, A, near=False) == pytest.approx(expected, rel=1e-5)
    expected = {H: 0.75 * 40 / 80, B: 0.25 * 40 / 80 + 0.5 * 40 / 80, C: 0.25 * 40 / 80}
    assert answers(web, A, near=False, prior=40) == pytest.approx(expected, rel=1e-5)
    assert answers(web, A, near=False, prior=20, links=2) == pytest.approx(expected, rel=1e-5)
    assert answers(web, A, near=False, prior=20, usage=0.5) == pytest.approx(expected, rel=1e-5)


def test_words_alone(place: Path) -> None:
    web = make_web(place, words=True)
    found = answers(web, A, links=0)
    assert list(found) == [D, E]
    assert sum(found.values()) == pytest.approx(1, abs=1e-5)
    assert list(answers(web, A, links=0, alike=1)) == [D]
    assert answers(web, A, links=0, words=0) == answers(web, A, links=0, alike=0) == {}
    assert answers(web, B, links=0) == {}  # known from links only, which say nothing


def test_all_three_and_what_spoke(place: Path) -> None:
    web = make_web(
        place,
        words=True,
        clicks=[click(A, B, 8), click(B, A, 2), click(A, D, 1), Trail([A, C, D], [(0, 1), (1, 2)])],
    )
    asked = question(web.graph, [A])
    found = ask(web, asked, methods.method("whats_related(words=1)"), 10)
    assert {each.url for each in found} == {B, C, D, E}
    reasons = {each.url: {reason.kind: reason for reason in each.reasons} for each in found}
    b = reasons[B][Usage.kind]
    assert (b.count, b.of, b.back, b.together) == (8, 10, 2, 0)
    assert reasons[D][Usage.kind].together == 1
    assert (reasons[D][SimilarText.kind].words, reasons[D][SimilarText.kind].count) == (("tortoises", "hibernate"), 2)
    assert (reasons[E][SimilarText.kind].words, reasons[E][SimilarText.kind].of) == (("hibernate",), 2)
    assert {url: set(kinds) & {ByLinks.kind, SimilarText.kind, Usage.kind} for url, kinds in reasons.items()} == {
        B: {ByLinks.kind, Usage.kind},
        C: {ByLinks.kind, Usage.kind},
        D: {SimilarText.kind, Usage.kind},
        E: {SimilarText.kind},
    }
    assert Listing.kind in reasons[B]
    assert not {Listing.kind} & set(reasons[D])  # links did not speak
    for kinds in reasons.values():
        assert sum(reason.share or 0 for reason in kinds.values()) == pytest.approx(1, abs=0.002)
    assert reasons[B][Usage.kind].text == "People went from one to the other 10 times"
    assert reasons[E][SimilarText.kind].text == "Similar text: hibernate (1 shared term)"


def test_several_pages(place: Path) -> None:
    web = make_web(place, clicks=[click(A, H, 1), click(G, H, 1), click(G, K, 1), click(G, J, 2)])
    extend(web.graph.path, [page(K, J)])
    web = Web(web.graph.path)
    add_clicks(web.graph, [click(G, K, 1), click(G, J, 2)], ReadReport())
    web = Web(web.graph.path)
    # h by both: (1 + 1/4) / 2; k and j by g alone, after it, at 1/4 and 2/4
    found = answers(web, A, G, links=0)
    assert list(found) == [H, J, K]
    assert found == pytest.approx({H: (1 + 0.25) / 2, J: 0.5, K: 0.25})
    kinds = ask(web, question(web.graph, [A, G]), methods.method("whats_related(links=0)"), 10)[0].reasons
    assert [(reason.kind, reason.query, reason.count) for reason in kinds] == [(Usage.kind, A, 1), (Usage.kind, G, 1)]


def test_the_dead(place: Path) -> None:
    web = make_web(place, clicks=[click(A, F, 5)])
    asked = question(web.graph, [A])
    found = ask(web, asked, methods.method("whats_related"), 10)
    assert F not in {each.url for each in found}
    assert found.facts["dead pages left out"] == 1
    assert F in {each.url for each in ask(web, asked, methods.method("cocitation(chop=none)"), 10)}
    assert set(answers(web, A, dead=["b.example", "unknown.example"])) == {C}
    assert answers(web, A, dead=[C, B]) == {}


def test_a_stale_search_index_is_reported(place: Path) -> None:
    web = make_web(place, words=True)
    extend(web.graph.path, [page(K, J)])
    with pytest.raises(BadStore, match="make it again with cocite search --make"):
        answers(Web(web.graph.path), A)


@examples(40)
@given(
    parts=st.lists(
        st.tuples(st.dictionaries(st.integers(0, 9), st.floats(0.01, 100), max_size=6), st.floats(0.1, 10)), max_size=3
    )
)
def test_joining_is_a_weighted_mean(parts: list[tuple[dict[int, float], float]]) -> None:
    found, expected, total = {}, dict.fromkeys(range(1, 10), 0.0), 0.0
    for number, (values, weight) in enumerate(parts):
        kept = {p: v for p, v in values.items() if p != 0}  # page 0 asks
        pages_, scores = np.array(list(values), np.uint32), np.array(list(values.values()), np.float64)
        each = whats_related.shares(0, pages_, scores, weight)
        assert (each is None) == (not kept)
        if each is not None:
            found[str(number)] = each
            total += weight
            for p, v in kept.items():
                expected[p] += weight * v / sum(kept.values())
    joined, scores = whats_related.join(found)
    assert joined.tolist() == sorted(p for p, v in expected.items() if v)
    assert scores.tolist() == pytest.approx([expected[int(p)] / total for p in joined])
