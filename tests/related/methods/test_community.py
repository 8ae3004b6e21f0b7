"""Communities: singular vectors against the dense reading, small webs by hand, and political blogs."""

from __future__ import annotations

import csv
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.python import build
from cocite.related.methods import method
from cocite.related.methods.community import Params, WebCommunities, WebCommunity, communities, relate
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import examples, page
from tests.related.methods import naive_community
from tests.related.methods.naive import NaiveWeb, View
from tests.related.methods.webs import webs
from tests.webs import make_web


def site(name: str) -> str:
    return f"https://{name}.example/"


def ask(web: Web, root: list[str], **given_: Any) -> WebCommunities:
    pages = [web.graph.find(site(name)) for name in root]
    return communities(web, pages, method("community", given_).params)


def names(web: Web, pages: Any) -> list[str]:
    return [web.graph.address(each).removeprefix("https://").removesuffix(".example/") for each in pages]


# -------------------------------------------------------------------------------------------------- the dense reading


@given(pages=webs(), data=st.data())
@examples(20)
def test_communities_are_ends_of_singular_vectors(pages: list[Page], data: st.DataObject) -> None:
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    cited = np.argsort(web.graph.in_degree)[::-1][:12].tolist()
    for _ in range(6):
        root = data.draw(st.lists(st.sampled_from(cited), min_size=1, max_size=5, unique=True), label="root")
        weighted = data.draw(st.booleans(), label="weighted")
        unit = data.draw(st.sampled_from(["site", "none"]), label="unit")
        basis = data.draw(st.sampled_from(["svd", "root"]), label="basis")
        window = data.draw(st.sampled_from([0, 2, 8]), label="window")
        params = Params(weighted=weighted, unit=unit, basis=basis, window=window, vectors=4)
        found = communities(web, root, params)
        view = View(truth, root, unit, merge=False)
        limits = naive_community.Limits(window, params.in_links)
        edges = naive_community.without_noise(view, root, limits, params.delta, params.npea, basis)
        compare(found, *naive_community.vectors(view, edges, weighted))


def compare(found: list[WebCommunity], pages: list[int], u: Any, singular: Any, v: Any) -> None:
    """The same ends, as far as singular values are equal or well apart and not cut by the number of vectors."""
    gaps = np.append(-np.diff(singular), 1.0)
    if not ((gaps < 1e-10) | (gaps > 1e-3)).all():
        return
    ends = [(at, sign) for at in range(min(4, len(singular))) for sign in (1, -1)]
    ends = [(at, sign) for at, sign in ends if naive_community.ends(pages, v[:, at], sign)]
    assert [(each.vector - 1, each.end) for each in found] == ends
    for each, (at, sign) in zip(found, ends, strict=True):
        assert each.value == pytest.approx(singular[at])
        for side, vectors in ((each.hubs, u), (each.authorities, v)):
            true = naive_community.ends(pages, vectors[:, at], sign)
            assert dict(zip(side.pages.tolist(), side.weights.tolist(), strict=True)) == pytest.approx(true, abs=1e-6)
            assert (np.diff(side.weights) <= 1e-6).all()


# ------------------------------------------------------------------------------------------------------------ by hand

TWO_TOPICS = [
    *(page(site(f"h{n}"), site("a"), site("b"), site("c")) for n in (1, 2, 3)),
    *(page(site(f"g{n}"), site("x"), site("y")) for n in (1, 2)),
]
"""Three hubs that link to a, b and c, two that link to x and y: singular values 3 and 2, each vector of one sign."""


def test_two_topics_are_two_communities() -> None:
    web = make_web(TWO_TOPICS)
    found = ask(web, ["a", "x"], npea="off", window=0)
    assert [each.value for each in found] == pytest.approx([sqrt(3), sqrt(2)])  # a by three hubs, x by two
    found = ask(web, ["h1", "h2", "h3", "g1", "g2"], npea="off", window=0)
    assert [(each.vector, each.end, round(each.value, 9)) for each in found] == [(1, 1, 3.0), (2, 1, 2.0)]
    first, second = found
    assert names(web, first.authorities.pages) == ["a", "b", "c"] and names(web, first.hubs.pages) == ["h1", "h2", "h3"]
    assert first.authorities.weights == pytest.approx([1 / sqrt(3)] * 3)
    assert names(web, second.authorities.pages) == ["x", "y"] and second.hubs.weights == pytest.approx(
        [1 / sqrt(2)] * 2
    )
    assert names(web, first.members) == ["a", "b", "c", "h1", "h2", "h3"]
    assert names(web, second.members) == ["g1", "g2", "x", "y"]


def test_communities_of_equal_strength_come_in_the_order_of_addresses() -> None:
    """Two pairs of hubs, two pages each: singular value 2 twice. Any mixture would be a singular vector."""
    web = make_web([page(site(f"{n}{at}"), site(f"{n}x"), site(f"{n}y")) for n in "pq" for at in "12"])
    found = ask(web, ["px", "qx"], npea="off")
    assert [names(web, each.authorities.pages) for each in found] == [["px"], ["qx"]]
    found = ask(web, ["p1", "p2", "q1", "q2"], npea="off")
    assert [names(web, each.authorities.pages) for each in found] == [["px", "py"], ["qx", "qy"]]


def test_a_further_vector_has_two_ends() -> None:
    """h links to a and m, g to b and m: AᵀA in (a, m, b) has roots 3 and 1, vectors (1, 2, 1)/√6 and (1, 0, −1)/√2."""
    web = make_web([page(site("h"), site("a"), site("m")), page(site("g"), site("b"), site("m"))])
    found = ask(web, ["h", "g"], npea="off")
    assert [(each.vector, each.end) for each in found] == [(1, 1), (2, 1), (2, -1)]
    principal, left, right = found
    assert names(web, principal.authorities.pages) == ["m", "a", "b"]
    assert principal.authorities.weights == pytest.approx([2 / sqrt(6), 1 / sqrt(6), 1 / sqrt(6)])
    assert (names(web, left.authorities.pages), names(web, left.hubs.pages)) == (["a"], ["h"])
    assert (names(web, right.authorities.pages), names(web, right.hubs.pages)) == (["b"], ["g"])
    # Times singular values: m √3·0.816; a and b √3·0.408 = 0.707 against 1·0.707; h and g √3/√2 against 1/√2.
    assert names(web, principal.members) == ["a", "b", "g", "h", "m"]


def test_weights_of_one_site_together() -> None:
    """Two pages of one site link to a: each edge has authority weight 1/2 and hub weight 1, so √(1/2) in the matrix."""
    pages = [page("https://own.example/1", site("a")), page("https://own.example/2", site("a"))]
    web = make_web(pages)
    assert ask(web, ["a"], weighted=True)[0].value == pytest.approx(1.0)
    assert ask(web, ["a"])[0].value == pytest.approx(sqrt(2))


def test_links_count_by_how_well_a_page_suits_the_words() -> None:
    """Links to a (0.5), b (0) and c (1) count 0.1 + 0.9 · that: 0.55, 0.1 and 1, in the principal vector too."""
    web = make_web([page(site("h"), site("a"), site("b"), site("c"))])
    pages = {name: web.graph.find(site(name)) for name in "habc"}
    suits = {pages["a"]: 0.5, pages["c"]: 1.0}
    (found,) = communities(web, [pages["h"]], Params(npea="off"), suits)
    length = sqrt(0.55**2 + 0.1**2 + 1)
    assert found.value == pytest.approx(length)
    assert names(web, found.authorities.pages) == ["c", "a", "b"]
    assert found.authorities.weights == pytest.approx([1 / length, 0.55 / length, 0.1 / length])
    (found,) = communities(web, [pages["h"]], Params(npea="off", off_topic=0.0), suits)
    assert names(web, found.authorities.pages) == ["c", "a"] and found.value == pytest.approx(sqrt(1.25))
    for params, known in ((Params(npea="off", off_topic=1.0), suits), (Params(npea="off"), None)):
        (found,) = communities(web, [pages["h"]], params, known)
        assert found.authorities.weights == pytest.approx([1 / sqrt(3)] * 3)
    assert communities(web, [pages["h"]], Params(npea="off", off_topic=0.0), {}) == []  # no link counts


NOISY = [
    *(page(site(f"r{n}"), site(f"r{(n + 1) % 5}"), site("t1"), site("t2")) for n in range(5)),
    *(page(site(f"n{n}"), *(site(f"n{m}") for m in range(12) if m != n), site("r0")) for n in range(12)),
]
"""Five root pages in a ring that all link to t1 and t2; twelve pages that all link to each other, and to r0 alone."""


def test_noise_takes_over_and_npea_takes_it_away() -> None:
    web = make_web(NOISY)
    root = [f"r{n}" for n in range(5)]
    drifted = ask(web, root, npea="off", window=0)[0]
    assert names(web, drifted.authorities.pages)[:5] == ["r0", "n0", "n1", "n10", "n11"]
    found = ask(web, root, window=0, basis="root")
    measured = found.base.measured
    gone = set(names(web, found.base.edges.pages[~measured.keep]))
    # S has three ones a row: c = √3. n: (1, 0, 0, 0, 0) of k directions; t: (1, 1, 1, 1, 1), a row of length √5.
    assert measured.threshold == pytest.approx(sqrt(3))
    assert gone == {f"n{n}" for n in range(12)}
    assert names(web, found[0].authorities.pages)[:2] == ["t1", "t2"]
    assert names(web, found[0].eliminated)[:1] == ["n0"] and len(found[0].eliminated) == 12


# -------------------------------------------------------------------------------------------- the window on root pages


def test_a_long_root_page_is_seen_around_its_links_to_other_root_pages() -> None:
    links = [Link(site(f"p{n:02}"), block=n // 6) for n in range(30)]
    web = make_web([Page(site("list"), links=links)])
    root = ["list", "p10"]

    def base(**given_: Any) -> list[str]:
        return [name for name in names(web, ask(web, root, **given_).base.edges.pages) if name != "list"]

    assert base(window=4) == ["p08", "p09", "p10", "p11"]  # p12 is in the next block
    assert base(window=40) == base(window=0) == [f"p{n:02}" for n in range(30)]
    assert base(window=8) == ["p06", "p07", "p08", "p09", "p10", "p11"]
    alone = names(web, ask(web, ["list"], window=4).base.edges.pages)
    assert alone == ["list", *(f"p{n:02}" for n in range(5))]  # no other root page: its first links


# --------------------------------------------------------------------------------------------------------- little input


def test_no_root_no_links_no_communities() -> None:
    web = make_web([page("https://one.example/a", "https://one.example/b"), page(site("alone"))])
    assert communities(web, [], Params()) == []
    assert ask(web, ["alone"]) == []
    inside = communities(web, [web.graph.find("https://one.example/a")], Params(unit="site"))
    assert inside == [] and len(inside.base.edges.pages) == 2
    for params in (Params(), Params(unit="none"), Params(unit="none", weighted=True, vectors=50)):
        (only,) = communities(web, [web.graph.find("https://one.example/a")], params)
        assert (only.value, only.hubs.weights.tolist(), only.authorities.weights.tolist()) == (1.0, [1.0], [1.0])


def test_related_pages_of_pages_without_links() -> None:
    web = make_web([page(site("alone")), page(site("h"), site("a"), site("b"))])
    for params in (Params(), Params(parents=0), Params(chop="none"), Params(npea="max", basis="root")):
        scores = relate(web, [web.graph.find(site("alone"))], params)
        assert list(scores.ranked(web.graph.in_degree)) == []
        assert np.isfinite(scores.values).all()


def test_parents_join_the_root_set_unless_told_not_to() -> None:
    web = make_web([page(site("h"), site("a"), site("b")), page(site("g"), site("a"), site("b"))])
    a = web.graph.find(site("a"))
    assert names(web, [answer for answer, _ in relate(web, [a], Params()).ranked(web.graph.in_degree)]) == ["b"]
    assert list(relate(web, [a], Params(parents=0)).ranked(web.graph.in_degree)) == []
    facts = relate(web, [a], Params()).facts
    assert (facts["root"], facts["base"], facts["eliminated"]) == (3, 4, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("npea", "most"), ("delta", 0), ("delta", 1.5), ("delta", "nan"), ("vectors", 0), ("basis", "x")],
)
def test_bad_parameters(name: str, value: Any) -> None:
    with pytest.raises(BadParameter, match=name):
        method("community", {name: value})


# ------------------------------------------------------------------------------------------------------ political blogs


@pytest.fixture(scope="module")
def blogs(shared: Path, fast_root: Path) -> tuple[Web, np.ndarray[Any, np.dtype[np.int64]]]:
    folder = shared / "data" / "polblogs"
    build([folder / "links.tsv"], fast_root / "polblogs.cocite")
    web = Web(fast_root / "polblogs.cocite")
    with (folder / "nodes.tsv").open(encoding="utf-8") as lines:
        side = {row[0]: int(row[2]) for row in list(csv.reader(lines, delimiter="\t"))[1:]}
    return web, np.array([side[web.graph.address(each)] for each in range(web.graph.pages)])


@pytest.mark.parametrize("vectors", [2, 3])
def test_political_blogs_fall_into_their_two_sides(
    blogs: tuple[Web, np.ndarray[Any, np.dtype[np.int64]]], vectors: int
) -> None:
    """Labels are only looked at afterwards. All blogs that have links are the root set, so NPEA has nothing to do."""
    web, sides = blogs
    found = communities(web, range(web.graph.pages), Params(vectors=vectors))
    counts = [np.bincount(sides[each.members], minlength=2) for each in found]
    covered, pure = sum(int(each.sum()) for each in counts), sum(int(each.max()) for each in counts)
    assert covered / web.graph.pages > 0.99
    assert pure / covered > 0.92
    positive, negative = (each for each in found if each.vector == 2)
    best = [sides[each.authorities.pages[:30]].mean() for each in (positive, negative)]
    assert sorted(best) == [0.0, 1.0]  # the second vector has one side at either end
