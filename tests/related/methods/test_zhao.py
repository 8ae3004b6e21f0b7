"""Semantic, link and integrated similarity beside a slow truth, on random webs; and where to look."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cocite.kernels.words.keyword_pairs import Rows
from cocite.related.methods import integrated, method
from cocite.related.methods.integrated import keep_greatest, walked_likeness
from cocite.related.neighbourhood.all_alike import SearchLimits, all_alike
from cocite.related.neighbourhood.page_similarity import (
    LinkParams,
    SimilarityData,
    StoredLinks,
    counted_links,
    link_likeness,
    linked_alike,
    links_in_memory,
    strong_links,
)
from cocite.related.neighbourhood.page_similarity import (
    similarity_data as similarity_data_of,
)
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.likeness import Likeness
from research.datasets import wikispeedia
from tests.graph.webs import examples, make
from tests.related.methods.naive_web import hash64
from tests.related.methods.naive_zhao import NaiveZhao
from tests.webs import make_web
from tests.words.test_relevance import relevance, rows, webs

Random = tuple[list[set[int]], list[set[int]]]
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel"]


def similarity_data(
    web: Random, theta: float = 0.0, beta: float = 0.5, beside: str = "support", least: int = 5
) -> SimilarityData:
    pages, links = web
    words = Likeness(rows(pages), relevance(pages, links, 8))
    outs = strong_links(words, rows(links), theta, beta, beside, least) if theta else rows(links)
    return SimilarityData(words, links_in_memory(outs))


@given(
    webs(),
    st.sampled_from([0.0, 0.0, 0.2, 0.5, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from(["support", "information"]),
    st.sampled_from([1, 2, 4, 5]),
)
@examples(100)
def test_link_similarity_equals_its_definition(web: Random, theta: float, beta: float, beside: str, least: int) -> None:
    pages, links = web
    found = similarity_data(web, theta, beta, beside, least)
    truth = NaiveZhao(pages, links, beta=beta, theta=theta, beside=beside, least_pages=least)
    everything = np.arange(len(pages), dtype=np.uint32)
    assert [set(found.links.outs(everything[page : page + 1]).columns.tolist()) for page in everything] == truth.strong
    for page in range(len(pages)):
        expected = [truth.link(page, other) for other in range(len(pages))]
        assert link_likeness(found, page, everything).tolist() == pytest.approx(expected, abs=1e-8)


def test_the_example_of_the_paper() -> None:
    """Table 1: iPhone and MacBook of Apple, Lumia and Surface of Microsoft: 0.65."""
    from cocite.kernels.words.best_matches import as_whole, compare_lists

    table = np.empty(4, np.int32)
    as_whole(np.array([0.7, 0.2, 0.1, 0.6]), table)  # Lumia with both of Apple's, Surface with both
    result = np.zeros(1)
    lists = Rows(np.array([0, 2]), np.array([0, 1], np.uint32))
    compare_lists(lists, table, 2, result)
    assert result[0] == pytest.approx((0.7 + 0.6 + 0.7 + 0.6) / 4)


@st.composite
def stores(draw: st.DrawFn) -> list[Page]:
    pages, links = draw(webs())
    dead = draw(st.sets(st.integers(0, len(pages) - 1), max_size=1))
    return [
        Page(
            f"https://page{n}.example/",
            text=" ".join(WORDS[word] for word in sorted(words)) or None,
            links=[Link(f"https://page{target}.example/") for target in sorted(targets | ({n} if n % 3 else set()))],
            status=404 if n in dead else 200,
        )
        for n, (words, targets) in enumerate(zip(pages, links, strict=True))
    ]


@given(stores(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.3]), st.sampled_from([0.2, 0.5]))
@examples(15)
def test_methods_equal_their_definitions(pages: list[Page], alpha: float, theta: float, mix: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "web.cocite", pages)
        web = Web(Path(folder) / "web.cocite")
        graph = web.graph
        dead = {page for page in range(graph.pages) if graph.facts.status(page) == 404}
        links = [{int(target) for target in graph.links_from(page).targets} - {page} for page in range(graph.pages)]
        words = [{word for word, _ in web.keywords.ordered(page)} for page in range(graph.pages)]
        truth = NaiveZhao(words, links, alpha, theta=theta, dead=frozenset(dead))
        for seed in range(min(4, graph.pages)):
            others = [page for page in range(graph.pages) if page != seed]
            for name, given_, score in (
                ("semantic", {}, truth.semantic),
                ("link_similarity", {"theta": theta}, truth.link),
                ("integrated", {"theta": theta, "mix": mix}, lambda p, q: truth.integrated(p, q, mix)),
            ):
                scores = method(name, {"alpha": alpha, **given_}).relate(web, [seed])
                found = dict(scores.ranked(graph.in_degree))
                expected = {page: score(seed, page) for page in others}
                assert found == pytest.approx({page: s for page, s in expected.items() if s >= 1e-8}, abs=1e-6)


def test_several_query_pages() -> None:
    with tempfile.TemporaryDirectory() as folder:
        texts = ["apple banana", "apple cherry", "banana cherry", "damson", "damson elder"]
        make(Path(folder) / "w.cocite", [Page(f"https://p{n}.example/", text=text) for n, text in enumerate(texts)])
        web = Web(Path(folder) / "w.cocite")
        pages = [web.graph.find(f"p{n}.example") for n in range(5)]
        relate = method("semantic(alpha=1)").relate
        one, other, both = relate(web, pages[:1]), relate(web, pages[1:2]), relate(web, pages[:2])
        first, second = dict(one.ranked(web.graph.in_degree)), dict(other.ranked(web.graph.in_degree))
        found = dict(both.ranked(web.graph.in_degree))
        assert found[pages[2]] == pytest.approx((first[pages[2]] + second[pages[2]]) / 2)
        assert set(found) == {pages[2]}


@given(webs(), st.integers(1, 4))
@examples(60)
def test_where_to_look_by_links(web: Random, most: int) -> None:
    pages, links = web
    found = similarity_data(web)
    for page in range(len(pages)):
        near = linked_alike(found, page, LinkParams(candidates=most, alike=2))
        assert len(near) <= max(most, 0 if len(pages) > most else len(pages))
        assert near.tolist() == sorted(set(near.tolist()))
        linked = links[page] | {p for p, targets in enumerate(links) if page in targets}
        assert len(pages) <= most or bool(len(near)) == bool(linked)


@given(webs(), st.sampled_from([0.4, 0.0, 1.0]))
@examples(60)
def test_all_pairs_with_wide_limits_are_the_exact_answer(web: Random, mix: float) -> None:
    pages, links = web
    around = similarity_data(web)
    found = all_alike(around.words, links_in_memory(rows(links)), 5, mix, SearchLimits(100, 100, 10_000, 100, 100))
    truth = NaiveZhao(pages, links)
    for page in range(len(pages)):
        best = sorted(
            (truth.integrated(page, other, mix) for other in range(len(pages)) if other != page), reverse=True
        )
        values = found.values[page]
        for other, value in zip(found.pages[page][values > 0].tolist(), values[values > 0].tolist(), strict=True):
            # Words that never meet are no way to a page, and pages not reached count as not alike.
            assert value <= truth.integrated(page, other, mix) + 1e-8
        assert values.tolist() == sorted(values.tolist(), reverse=True)
        assert len(best) >= np.count_nonzero(values)


# --------------------------------------------------------------------------------------------- one rule of sampling


def hub_web(pages: int = 60, dead: int = 5) -> Web:
    """A web in which most pages have more links in and out than are compared, and some pages are gone."""
    rng = np.random.default_rng(3)
    return make_web(
        [
            Page(
                f"https://page{n}.example/",
                text=" ".join(WORDS[word] for word in rng.choice(8, 3, replace=False)),
                links=[Link(f"https://page{t}.example/") for t in rng.choice(pages, 25, replace=False).tolist()],
                status=404 if n < dead else 200,
            )
            for n in range(pages)
        ]
    )


def test_links_are_chosen_by_hash_after_dead_and_weak_ones_are_dropped() -> None:
    web, limit = hub_web(), 4
    graph, of = web.graph, web.graph.fingerprints.tolist()
    dead = {page for page in range(graph.pages) if graph.facts.status(page) == 404}
    outs = {page: {*graph.links_from(page).targets.tolist()} - dead - {page} for page in range(graph.pages)}
    ins = {page: {other for other in outs if page in outs[other]} for page in outs}
    everything = np.arange(graph.pages, dtype=np.uint32)
    stored = StoredLinks(graph, limit)
    kept = counted_links(web, similarity_data_of(web, LinkParams()).words, LinkParams(theta=1e-9, links=limit))
    for linked, read, held in ((outs, stored.outs, kept.outs), (ins, stored.ins, kept.ins)):
        for page in everything.tolist():
            chosen = sorted(linked[page], key=lambda other: hash64(42, of[page], of[other]))[:limit]
            for found in (read, held):
                assert found(everything[page : page + 1]).columns.tolist() == sorted(chosen)


@pytest.mark.parametrize("name", ["link_similarity", "integrated", "integrated(steps=2)"])
def test_a_theta_that_prunes_nothing_changes_nothing(name: str) -> None:
    web = hub_web()
    assert (web.graph.out_degree > 4).all()  # so a sample is compared
    one, other = (method(name, {"links": 4, "theta": theta}) for theta in (0.0, 1e-9))
    for page in range(web.graph.pages):
        found, again = (each.relate(web, [page]).ranked(web.graph.in_degree) for each in (one, other))
        assert list(found) == list(again)
    strict = method(name, {"links": 4, "theta": 0.9})
    assert any(
        list(one.relate(web, [page]).ranked(web.graph.in_degree))
        != list(strict.relate(web, [page]).ranked(web.graph.in_degree))
        for page in range(web.graph.pages)
    )


def test_a_theta_that_prunes_nothing_on_an_encyclopedia(shared: Path) -> None:
    """Its hubs have hundreds of links, of which 50 are compared; the ten best were others with θ = 1e-9."""
    web = make_web(wikispeedia(shared / "data").source.pages)  # type: ignore[attr-defined]
    one, other = method("link_similarity"), method("link_similarity(theta=1e-9)")
    hubs = np.argsort(-web.graph.in_degree.astype(np.int64), kind="stable")[:3]
    for page in hubs.tolist():
        found, again = (list(islice(each.relate(web, [page]).ranked(web.graph.in_degree), 10)) for each in (one, other))
        assert found == again


@given(webs(), st.integers(1, 3))
@examples(40)
def test_likeness_after_some_steps(web: Random, steps: int) -> None:
    pages, links = web
    around, truth, count = similarity_data(web), NaiveZhao(pages, links), len(pages)
    linked = [{p} | links[p] | {q for q in range(count) if p in links[q]} for p in range(count)]
    step = np.array([[(q in linked[p]) / len(linked[p]) for q in range(count)] for p in range(count)])
    places = np.linalg.matrix_power(step, steps)
    alike = np.array([[truth.semantic(p, q) for q in range(count)] for p in range(count)])
    lengths = np.sqrt((places**2).sum(axis=1))
    expected = places @ alike @ places.T / np.sqrt(np.outer(lengths, lengths))
    for page in range(count):
        found = walked_likeness(around, page, np.arange(count, dtype=np.uint32), steps)
        assert found == pytest.approx(expected[page], abs=1e-7)


def test_only_the_likeliest_places_are_kept() -> None:
    rows_ = csr_array(np.array([[0.1, 0.4, 0.3, 0.2], [0.0, 1.0, 0.0, 0.0]]))
    assert keep_greatest(rows_, 2).toarray() == pytest.approx(np.array([[0, 4 / 7, 3 / 7, 0], [0, 1, 0, 0]]))
    assert keep_greatest(rows_, 4).toarray() == pytest.approx(rows_.toarray())


@given(st.integers(0, 1000), st.integers(1, 40))
def test_walked_positions_are_the_same_in_parts_of_any_size(seed: int, cells: int) -> None:
    draw = np.random.default_rng(seed)
    rows = csr_array(draw.random((7, 9)) * (draw.random((7, 9)) < 0.4))
    step = csr_array(draw.random((9, 300)) * (draw.random((9, 300)) < draw.random()))
    literal = rows.toarray() @ step.toarray()
    for row in literal:
        row[np.argsort(-row, kind="stable")[integrated.MAX_POSITIONS :]] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integrated, "PRODUCT_CELLS", cells)
        found = integrated._product(rows, step).toarray()
    sums = np.where(found.sum(1) > 0, found.sum(1) / np.where(literal.sum(1) > 0, literal.sum(1), 1), 1)
    assert np.allclose(found, literal * sums[:, None])
    assert (np.isclose(sums, 1) | np.isclose(found.sum(1), 1)).all(), "a row is cut and scaled, or as it was"
