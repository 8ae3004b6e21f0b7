"""SimRank and its kin against the slow truth, values worked by hand, reasons, and bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocite
from cocite.errors import BadParameter
from cocite.kernels.related.small_webs import match_parents
from cocite.related.methods import method
from cocite.related.methods.probabilistic_simrank import transitions
from cocite.related.methods.simrank import Params, Walk, all_pairs, similar_pages, similarity, similarity_of
from cocite.results.ask import ask, question
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.cli.conftest import run
from tests.graph.webs import examples, make
from tests.graph.webs import page as record
from tests.related.methods import naive_simrank as naive
from tests.related.methods.webs import webs
from tests.webs import make_web

QUADRATIC = ("simrank", "prank", "block_simrank", "pagesim", "matchsim", "probabilistic_simrank")
FAMILY = (*QUADRATIC, "walk")


def links_of(web: Web) -> naive.Web:
    return {page: web.graph.links_from(page).targets.tolist() for page in range(web.graph.pages)}


def scores_of(web: Web, call: str, *seeds: int) -> dict[int, float]:
    found = method(call).relate(web, list(seeds))
    return dict(zip(found.pages.tolist(), found.values.tolist(), strict=True))


def names(web: Web, call: str, url: str, **given_: object) -> dict[str, float]:
    return {each.url: each.score for each in ask(web, question(web.graph, [url]), method(call, given_), 100)}


# ------------------------------------------------------------------------------------------------------ the slow truth


@given(pages=webs(), data=st.data())
@examples(8)
def test_the_slow_truth(pages: list[Page], data: st.DataObject) -> None:
    for each in pages:
        for link in each.links:
            link.weight = data.draw(st.sampled_from([1.0, 1.0, 0.5, 0.25])) if len(pages) < 6 else 1.0
    web = make_web(pages)
    links, graph = links_of(web), web.graph
    site = {each: graph.site(each) for each in links}
    weights: dict[int, dict[int, float]] = {each: {} for each in links}
    for parent in links:
        for child, weight in zip(links[parent], graph.weights_from(parent).tolist(), strict=True):
            weights[child][parent] = weight
    truths: dict[str, Callable[[], naive.Pairs]] = {
        "simrank": lambda: naive.simrank(links),
        "simrank(decay=0.6, rounds=3)": lambda: naive.simrank(links, 0.6, 3),
        "prank(rounds=5)": lambda: naive.prank(links, rounds=5),
        "prank(balance=0.3, rounds=4)": lambda: naive.prank(links, 0.3, rounds=4),
        "block_simrank": lambda: naive.block_simrank(links, site),
        "pagesim": lambda: naive.pagesim(links),
        "pagesim(radius=2, decay=0.5)": lambda: naive.pagesim(links, 0.5, 2),
        "matchsim(rounds=4)": lambda: naive.matchsim(links, 4),
    }
    if max(map(len, weights.values())) <= 10:
        truths["probabilistic_simrank"] = lambda: naive.probabilistic(weights)
    some = data.draw(st.lists(st.sampled_from(sorted(truths)), min_size=3, max_size=3, unique=True))
    chosen = {call: truths[call]() for call in some}
    for seed in data.draw(st.lists(st.integers(0, graph.pages - 1), min_size=1, max_size=3, unique=True)):
        for call, truth in chosen.items():
            found = scores_of(web, call, seed)
            for other in links:
                if other != seed:
                    assert found.get(other, 0.0) == pytest.approx(truth[seed, other], abs=1e-9), call
        for which in ("both", "out", "in"):
            found = scores_of(web, f"walk(links={which}, least=1e-7)", seed)
            for other, value in naive.walk(links, [seed], links=which).items():
                assert -1e-9 <= value - found.get(other, 0.0) <= 1e-4


@given(pages=webs(), data=st.data())
@examples(15)
def test_blocks_of_the_user(pages: list[Page], data: st.DataObject) -> None:
    """The slow truth with some pages in given blocks, and the others in those of their sites."""
    web = make_web(pages)
    graph, links = web.graph, links_of(web)
    names = st.sampled_from(["one", "two", "a block", "page0.example"])
    given_ = data.draw(st.dictionaries(st.integers(0, graph.pages - 1), names, min_size=1))
    truth = naive.block_simrank(links, {page: given_.get(page, f"site {graph.site(page)}") for page in links})
    entries = [f"{graph.address(page)}\t{block}" for page, block in given_.items()]
    seed = data.draw(st.integers(0, graph.pages - 1))
    scores = method("block_simrank", {"blocks": [*entries, "https://unknown.example/\tother"]}).relate(web, [seed])
    found = dict(zip(scores.pages.tolist(), scores.values.tolist(), strict=True))
    for other in links:
        if other != seed:
            assert found.get(other, 0.0) == pytest.approx(truth[seed, other], abs=1e-9)


@given(pages=webs(), data=st.data())
@examples(20)
def test_a_walk_that_restarts_at_hubs_too(pages: list[Page], data: st.DataObject) -> None:
    """Personalised PageRank of the page and the hubs that HubFinder finds (Chirita, Olmedilla & Nejdl 2004, §5)."""
    web = make_web(pages)
    links, seed = links_of(web), data.draw(st.integers(0, web.graph.pages - 1))
    hubs = data.draw(st.integers(1, 4))
    ranked = method("hubfinder").relate(web, [seed]).ranked(web.graph.in_degree)
    starts = [seed, *(page for page, _ in ranked)][: hubs + 1]
    scores = method(f"walk(hubs={hubs}, least=1e-7)").relate(web, [seed])
    found = dict(zip(scores.pages.tolist(), scores.values.tolist(), strict=True))
    for other, value in naive.walk(links, starts).items():
        if other in starts[1:]:
            assert found[other] == 0.0  # a hub is part of the question
        else:
            assert -1e-9 <= value - found.get(other, 0.0) <= 1e-4
    assert scores.path is not None
    for other in found:
        way = scores.path(other)
        assert way[0] == seed and way[-1] == other and way.count(other) == 1
        assert all(b in links[a] or a in links[b] for a, b in pairwise(way))


@given(pages=webs(), seed=st.integers(0, 1 << 40))
@examples(6)
def test_simrank_of_large_webs_is_within_its_bound(pages: list[Page], seed: int) -> None:
    web = make_web(pages)
    truth = naive.simrank(links_of(web))
    for page in range(0, web.graph.pages, 7):
        walk = Walk(web.graph, page, Params(draws=20_000, seed=seed))
        found = similar_pages(walk)
        values = dict(zip(*(part.tolist() for part in found.steps[0]), strict=True))
        assert found.error < 0.2
        for other in range(web.graph.pages):
            if other != page:
                assert abs(values.get(other, 0.0) - truth[page, other]) <= found.error + 1e-9
        other = (page * 7 + 3) % web.graph.pages
        value, error = similarity(walk, Walk(web.graph, other, Params(draws=20_000, seed=seed)))
        assert abs(value - truth[page, other]) <= error + 1e-9


@pytest.fixture(scope="module")
def crowd() -> Web:
    """200 pages with some twenty links each, most of them near by, so that draws cannot be avoided."""
    rng = np.random.default_rng(5)
    pages = []
    for n in range(200):
        near = {int(n + d) % 200 for d in rng.integers(1, 30, 15)} | {int(far) for far in rng.integers(0, 200, 5)}
        pages.append(record(f"https://p{n}.example/", *(f"https://p{m}.example/" for m in sorted(near - {n}))))
    return make_web(pages)


def test_draws_and_the_exact_answer(crowd: Web) -> None:
    exact = method("simrank")
    truth = {seed: scores_of(crowd, str(exact), seed) for seed in range(0, 200, 20)}
    inside, overlaps = [], []
    for seed, values in truth.items():
        found = method("simrank(exact=0, draws=5000)").relate(crowd, [seed])
        error = found.facts["error"]
        assert 0 < error < 0.1
        drawn = dict(zip(found.pages.tolist(), found.values.tolist(), strict=True))
        inside += [abs(drawn.get(other, 0.0) - value) <= error for other, value in values.items() if other != seed]
        best = {other for other, _ in list(exact.relate(crowd, [seed]).ranked(crowd.graph.in_degree))[:20]}
        overlaps.append(len(best & {other for other, _ in list(found.ranked(crowd.graph.in_degree))[:20]}) / 20)
    assert np.mean(inside) >= 0.99
    assert np.mean(overlaps) > 0.9
    again = method("simrank(exact=0, draws=5000)").relate(crowd, [0])
    assert again.values.tolist() == method("simrank(exact=0, draws=5000)").relate(crowd, [0]).values.tolist()
    other_seed = method("simrank(exact=0, draws=5000, seed=7)").relate(crowd, [0])
    assert again.values.tolist() != other_seed.values.tolist()


def test_two_pages(crowd: Web) -> None:
    truth = scores_of(crowd, "simrank", 3)
    for other in (4, 10, 100):
        assert similarity_of(crowd, 3, other) == (truth[other], 0.0)
        value, error = similarity_of(crowd, 3, other, Params(exact=0))
        assert abs(value - truth[other]) <= error < 0.1
        assert similarity_of(crowd, other, 3, Params(exact=0)) == (value, error)
    assert similarity_of(crowd, 3, 3, Params(exact=0)) == (1.0, 0.0)


def test_part_of_a_web_gives_no_more_than_the_whole(crowd: Web) -> None:
    for name in ("prank", "probabilistic_simrank"):
        whole, part = scores_of(crowd, name, 7), scores_of(crowd, f"{name}(pages=120)", 7)
        assert len(part) == 120
        assert all(value <= whole[other] + 1e-9 for other, value in part.items() if other != 7)
    for name in QUADRATIC[1:]:
        assert method(f"{name}(pages=50)").relate(crowd, [7]).facts == {"pages around the query page": 50}
        assert max(value for other, value in scores_of(crowd, f"{name}(pages=50)", 7).items() if other != 7) > 0


# ------------------------------------------------------------------------------------------------------ worked by hand


def test_values_by_hand() -> None:
    """Two lists: one links to a and b, the other to b and c; one page links to both lists."""
    web = make_web(
        [
            record("https://top.example/", "https://one.example/", "https://two.example/"),
            record("https://one.example/", "https://a.example/", "https://b.example/"),
            record("https://two.example/", "https://b.example/", "https://c.example/"),
        ],
    )
    lists = 0.8  # of one parent in common
    assert names(web, "simrank", "a.example") == pytest.approx(
        # s(a, b) = 0.8 · (s(one, one) + s(one, two)) / 2; s(a, c) = 0.8 · s(one, two)
        {"https://b.example/": 0.8 * (1 + lists) / 2, "https://c.example/": 0.8 * lists}
    )
    assert names(web, "matchsim", "a.example") == pytest.approx(
        # the lists match wholly, so a and c do; b has a parent more, which finds no other
        {"https://b.example/": 1 / 2, "https://c.example/": 1.0}
    )
    assert names(web, "prank", "one.example", balance=0.5, rounds=1) == pytest.approx(
        # in: 0.8 · 1; out: 0.8 · 1/4, b alone being in common
        {"https://two.example/": 0.5 * 0.8 + 0.5 * 0.8 / 4}
    )
    assert names(web, "prank", "a.example", balance=1.0) == names(web, "simrank", "a.example")
    # Every page is a site of its own: nothing inside; between sites SimRank, and all links come from other sites.
    assert names(web, "block_simrank", "a.example") == pytest.approx(names(web, "simrank", "a.example"))
    rank = {"top": 0.15, "one": 0.15 + 0.85 * 0.15 / 2}
    rank["a"] = 0.15 + 0.85 * rank["one"] / 2
    to_list, to_page = 0.8 * rank["one"] / 2, 0.64 * rank["top"] / 4
    assert names(web, "pagesim", "a.example")["https://c.example/"] == pytest.approx(to_page)  # from the top to both
    assert names(web, "pagesim", "a.example")["https://b.example/"] == pytest.approx(
        to_list + to_page**2 / (2 * to_page),
        rel=1e-5,  # from `one` as much to both; from the top on two ways to b
    )


def test_probabilities_by_hand() -> None:
    """Of two links into a page with probabilities ½ and ¼ the first is followed with ½·(¾·1 + ¼·½) = 7/16."""
    assert transitions(np.array([0, 2]), np.array([0.5, 0.25])) == pytest.approx([7 / 16, 0.25 * (0.5 + 0.5 / 2)])
    assert transitions(np.array([0, 0, 1]), np.array([0.3])) == pytest.approx([0.3])
    assert transitions(np.array([0, 3000]), np.ones(3000)) == pytest.approx(np.full(3000, 1 / 3000), rel=1e-9)
    assert transitions(np.array([0, 1]), np.array([1.0]), np.array([4.0])) == pytest.approx([1 / 4])
    some = Page("https://list.example/", links=[Link("https://a.example/", weight=0.5), Link("https://b.example/")])
    web = make_web([some])
    assert names(web, "probabilistic_simrank", "a.example") == pytest.approx({"https://b.example/": 0.8 * 0.5 * 1})
    assert names(web, "simrank", "a.example") == pytest.approx({"https://b.example/": 0.8})


@pytest.mark.parametrize("value", [-0.1, 1.5, np.nan, np.inf])
def test_probabilities_outside_0_and_1(value: float) -> None:
    with pytest.raises(BadParameter, match=r"the probability of a link must be from 0 to 1, not "):
        transitions(np.array([0, 2]), np.array([0.5, value]))


def test_a_heaviest_matching_is_not_the_greedy_one() -> None:
    similar_ = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], float)
    similar_[0, 2] = similar_[2, 0] = 0.9
    similar_[0, 3] = similar_[3, 0] = similar_[1, 2] = similar_[2, 1] = 0.8
    found = np.zeros((6, 6))
    both = np.zeros((6, 6))
    both[:4, :4] = similar_
    match_parents(np.array([0, 0, 0, 0, 0, 2, 4]), np.array([0, 1, 2, 3]), np.full(6, 2.0), both, 0, 6, found)
    assert found[5, 4] == pytest.approx((0.8 + 0.8) / 2)  # not 0.9 and nothing


# ------------------------------------------------------------------------------------------------------------- reasons


@pytest.mark.parametrize("call", [*FAMILY, "simrank(exact=0)", "prank(pages=60)", "walk(links=out)"])
def test_every_answer_has_a_true_reason(crowd: Web, call: str) -> None:
    graph = crowd.graph
    for seeds in ([0], [0, 101]):
        scores = method(call).relate(crowd, seeds)
        assert scores.path is not None
        for answer, _ in list(scores.ranked(graph.in_degree))[::9][:30]:
            if scores.evidence is not None and scores.evidence(np.array([answer], np.uint32))[0]:
                continue  # of sites, not of pages
            way = list(scores.path(answer))
            assert way[0] in seeds
            assert way[-1] == answer
            for a, b in pairwise(way):
                assert b in graph.links_from(a).targets or a in graph.links_from(b).targets
    found = ask(crowd, question(graph, ["p0.example"]), method(call), 40)
    assert found
    assert all(each.reasons for each in found)


def test_sites_that_are_cited_alike() -> None:
    web = make_web(
        [
            record("https://hub.example/one", "https://a.example/x"),
            record("https://hub.example/two", "https://b.example/y"),
            record("https://a.example/", "https://a.example/x", "https://a.example/z"),
        ],
    )
    found = ask(web, question(web.graph, ["a.example/x"]), method("block_simrank"), 10)
    assert {each.url: each.score for each in found} == pytest.approx(
        # one of x's two parents is on its site, and z's only one; S = 0.8 for sites that hub.example alone links to
        {"https://a.example/z": 0.8 * 1, "https://b.example/y": 0.5 * 1 * 0.8}
    )
    by_url = {each.url: each.reasons for each in found}
    assert by_url["https://b.example/y"][0].pages == ("a.example", "hub.example", "b.example")
    assert by_url["https://b.example/y"][0].kind == "sites cited alike"
    text = "Their sites have similar links: a.example – hub.example – b.example"
    assert by_url["https://b.example/y"][0].text == text
    assert by_url["https://a.example/z"][0].kind == "cited together"


def test_blocks_are_named_in_reasons(place: Path) -> None:
    """Names of edge lists are shown as they were given; the user's blocks under their names."""
    make(place / "web.cocite", [record("name:hub", "name:a", "name:b"), record("name:top", "name:hub")])
    web = cocite.open(place / "web.cocite")
    (found,) = web.related("a", "block_simrank")
    assert (found.url, found.score, found.reasons[0].text) == ("b", 0.8, "Their sites have similar links: a – hub – b")
    (found,) = web.related("a", "block_simrank", blocks={"a": "A", "b": "B", "hub": "the hub"})
    assert found.reasons[0].text == "Their blocks have similar links: A – the hub – B"
    (place / "blocks.tsv").write_text("# mine\na\tA\nb\tB\nhub\tthe hub\n")
    assert web.related("a", "block_simrank", blocks=place / "blocks.tsv")[0].reasons == found.reasons
    call = f'block_simrank(blocks="{place / "blocks.tsv"}")'
    ran = run("related", "a", "-m", call, "-i", place / "web.cocite", "--json")
    (told,) = json.loads(ran.out)["answers"]
    assert told["reasons"][0]["pages"] == ["A", "the hub", "B"] and told["reasons"][0]["text"] == found.reasons[0].text
    (one,) = web.related("a", "block_simrank", blocks={"a": "all", "b": "all", "hub": "all"})
    assert one.score == 0.8 and one.reasons[0].kind == "cited together"
    for wrong, says in (
        (["a"], "blocks must be page<TAB>block for each page, not 'a'"),
        (["nowhere\tx"], "None of the 1 pages of blocks is in this store"),
    ):
        with pytest.raises(BadParameter, match=says):
            web.related("a", "block_simrank", blocks=wrong)
    ran = run("related", "a", "-m", "block_simrank(blocks=blocks.tsv)", "-i", place / "web.cocite")
    assert ran.code == 2 and "Unknown file 'blocks.tsv' of blocks: check the path, or give page<TAB>block" in ran.err


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("starts", "links", "pages"),
    [
        ([0, 1], [5], 1),
        ([0, 1], [-1], 1),
        ([0, 2], [0], 1),
        ([1, 1], [0], 1),
        ([0, 1, 0], [0], 2),
        ([0], [], 1),
        ([0, 0], [], 10**6),
        ([], [], 0),
    ],
)
def test_invalid_link_arrays(starts: list[int], links: list[int], pages: int) -> None:
    with pytest.raises(BadParameter):
        all_pairs(np.array(starts, np.int64), np.array(links, np.int64), pages)


def test_small_webs_of_all_pairs() -> None:
    assert all_pairs(np.zeros(1, np.int64), np.zeros(0, np.int64), 0).shape == (0, 0)
    assert all_pairs(np.zeros(2, np.int64), np.zeros(0, np.int64), 1).tolist() == [[1.0]]
    for decay, rounds in ((-0.1, 3), (1.1, 3), (np.nan, 3), (0.8, -1)):
        with pytest.raises(BadParameter, match="decay must be a number from 0 to 1"):
            all_pairs(np.zeros(2, np.int64), np.zeros(0, np.int64), 1, decay, rounds)


@pytest.mark.parametrize("name", FAMILY)
def test_the_same_pages_asked_twice_and_many_at_once(crowd: Web, name: str) -> None:
    once, twice = scores_of(crowd, name, 5), scores_of(crowd, name, 5, 5)
    assert once == twice
    several = method(name).relate(crowd, [5, 6, 199])
    assert several.reached is not None
    values = [scores_of(crowd, name, seed) for seed in (5, 6, 199)]
    for other, value, count in zip(several.pages.tolist(), several.values.tolist(), several.reached, strict=True):
        scored = [each[other] for each in values if each.get(other, 0.0) >= 1e-12]
        assert count == len(scored)
        assert value == pytest.approx(np.mean(scored))
