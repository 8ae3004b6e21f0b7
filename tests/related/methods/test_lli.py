"""LLI: the short way by AᵀA against the plain SVD, the rule of ε, and Fig. 3 of the paper through real stores."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from cocite.budget import limited, new_budget
from cocite.errors import TooMuchWork
from cocite.related.methods import lli, method
from cocite.related.methods.extended_cocitation import SourceSide
from cocite.related.neighbourhood import spectra
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make, page
from tests.related.methods import naive_latent

Matrix = NDArray[np.float64]


def side_of(linked: Matrix, query: Matrix | None = None) -> SourceSide:
    """A side with this matrix; the query page has every group unless said otherwise."""
    rows, columns = np.nonzero(linked)
    starts = np.searchsorted(rows, np.arange(len(linked) + 1)).astype(np.int64)
    query = np.ones((1, linked.shape[1])) if query is None else query
    return SourceSide(np.arange(len(linked), dtype=np.uint32), starts, columns.astype(np.int32), linked.shape[1], query)


def plain(linked: Matrix, query: Matrix, epsilon: float) -> tuple[Matrix, tuple[int, int]]:
    """The same by the SVD of the whole matrix."""
    side = naive_latent.Side(list(range(len(linked))), [], linked, query)
    found, counts = naive_latent.similarities(side, epsilon)
    return np.array(list(found.values())).reshape(len(linked), len(query)).T, counts


# ------------------------------------------------------------------------------------- the short way is the plain one

shapes = st.tuples(st.integers(1, 30), st.integers(1, 12))
bits = st.sampled_from([0.0, 0.0, 1.0])
scattered = arrays(np.float64, shapes, elements=bits)
rank_one = st.builds(
    np.outer, arrays(np.float64, st.integers(1, 20), elements=bits), arrays(np.float64, 6, elements=bits)
)
equal_values = st.builds(
    lambda blocks, height, width: np.kron(np.eye(blocks), np.ones((height, width))),
    st.integers(1, 5), st.integers(1, 3), st.integers(1, 3),
)  # fmt: skip
"""Blocks alike: as many equal singular values as blocks, √(height·width), and zeros if a block is wider than 1."""
blocks_of_two_sizes = st.builds(
    lambda one, other: np.block(
        [[one, np.zeros((len(one), other.shape[1]))], [np.zeros((len(other), one.shape[1])), other]]
    ),
    equal_values, equal_values,
)  # fmt: skip


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Ones and zeros, with all that makes a decomposition ambiguous: equal values, low rank, rows of zeros, copies."""
    linked = draw(st.one_of(scattered, rank_one, equal_values, blocks_of_two_sizes))
    copies = draw(st.lists(st.integers(0, len(linked) - 1), max_size=8))
    zeros = np.zeros((draw(st.integers(0, 3)), linked.shape[1]))
    mixed = np.vstack((linked, linked[copies], zeros))
    return mixed[draw(st.permutations(range(len(mixed))))]


def clear(linked: Matrix, epsilon: float) -> bool:
    """Whether every fall of singular values is on one side of ε: on the edge both ways may round differently."""
    values = np.linalg.svd(linked, compute_uv=False)
    falls = [(here - after) / here for here, after in pairwise([*values[values > 1e-6 * values[0]], 0.0])]
    return all(abs(fall - epsilon) > 1e-6 or abs(fall - epsilon) < 1e-12 for fall in falls)


@given(matrices(), st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]), st.data())
@example(np.zeros((3, 2)), 0.5, None)
@example(np.ones((1, 1)), 1.0, None)
@example(np.eye(6), 0.5, None)
def test_the_short_way_equals_the_plain_decomposition(linked: Matrix, epsilon: float, data: Any) -> None:
    assume(not linked.any() or clear(linked, epsilon))
    query = np.ones((1, linked.shape[1]))
    if data is not None:
        query = data.draw(
            arrays(np.float64, (2, linked.shape[1]), elements=st.sampled_from([0.0, 1.0])) | st.just(query)
        )
    expected, counts = plain(linked, query, epsilon)
    found, found_counts = lli.cosines(side_of(linked, query), epsilon)
    assert found_counts == counts
    assert found == pytest.approx(expected, abs=1e-7)


@given(matrices())
def test_singular_values_and_the_product_with_v(linked: Matrix) -> None:
    """AV = UΣ has columns at right angles whose lengths are the singular values, whatever basis equal ones have."""
    assume(linked.any())
    singular, v = lli.spectrum(side_of(linked))
    expected = np.zeros(linked.shape[1])
    values = np.linalg.svd(linked, compute_uv=False)
    expected[: len(values)] = values
    assert singular == pytest.approx(expected, abs=1e-6)
    product = lli.multiply(side_of(linked), v, 0, len(linked))
    assert product == pytest.approx(linked @ v, abs=1e-12)
    assert product.T @ product == pytest.approx(np.diag(singular**2), abs=1e-8)


def test_equal_singular_values_are_never_cut_apart() -> None:
    """Four blocks alike: the first fall is at the end, so k = 4 and every page is seen just as well.

    Each block is 2 × 3 of ones, σ = √6. u = (√3·√6) in each of the four directions, a page √3 in one: cosine 1/2.
    """
    found, counts = lli.cosines(side_of(np.kron(np.eye(4), np.ones((2, 3))).astype(np.float64)), 0.01)
    assert counts == (4, 4)
    assert found == pytest.approx(np.full((1, 8), 0.5))


def test_a_row_of_zeros_is_similar_to_nothing() -> None:
    found, counts = lli.cosines(side_of(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])), 0.5)
    assert (found.tolist(), counts) == ([[pytest.approx(1.0), 0.0, pytest.approx(1.0)]], (1, 1))


# -------------------------------------------------------------------------------------------------------- the rule of ε


@pytest.mark.parametrize(
    ("singular", "epsilon", "expected"),
    [
        ([2.0, 1.0], 0.5, (1, 2)),  # (2 − 1)/2 = 0.5: reached
        ([2.0, 1.0], 0.51, (2, 2)),  # (1 − 0)/1 = 1
        ([4.0, 3.0, 1.0], 0.2, (1, 3)),  # 1/4, 2/3, 1
        ([4.0, 3.0, 1.0], 0.5, (2, 3)),
        ([4.0, 3.0, 1.0], 0.7, (3, 3)),
        ([8.0, 2.0, 0.5], 0.5, (1, 3)),  # 3/4, 3/4, 1: the smallest k of all that serve
        ([3.0, 3.0, 3.0], 0.1, (3, 3)),  # 0, 0, 1
        ([3.0, 3.0, 3.0], 1.0, (3, 3)),
        ([5.0, 4e-6], 1.0, (1, 1)),  # 4e-6 ≤ 1e-6 · 5 counts as 0
        ([5.0, 6e-6], 1.0, (2, 2)),
        ([7.0], 0.5, (1, 1)),
    ],
)
def test_the_smallest_k(singular: list[float], epsilon: float, expected: tuple[int, int]) -> None:
    assert spectra.kept(np.array(singular), epsilon) == expected


@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_epsilon_keeps_as_much_or_more(values: list[float], one: float, other: float) -> None:
    singular = np.array(sorted(values, reverse=True))
    (few, rank), (many, _) = spectra.kept(singular, min(one, other)), spectra.kept(singular, max(one, other))
    assert 1 <= few <= many <= rank


# ------------------------------------------------------------------------------ Fig. 3: links inside a site, on purpose

U, HONEST = "https://u.example/", "https://honest.example/"
S = {name: f"https://spam.example/s{name}" for name in ("11", "12", "21", "22", "31", "32")}
BOOSTED = ("12", "22", "31")
FIGURE_3A = [
    page("https://spam.example/p1", U, S["11"], S["12"], S["22"], S["31"]),
    page("https://spam.example/p2", U, S["21"], S["22"], S["12"], S["31"]),
    page("https://spam.example/p3", U, S["31"], S["32"], S["22"], S["12"]),
]
"""Three pages and their children on one site, linked so that S12, S22 and S31 have three parents in common with u."""
FIGURE_3B = [page("https://spam.example/p", U, *S.values())]
"""The same, the three pages being one with the links of all."""
INDEPENDENT = [page(f"https://list{n}.example/", U, HONEST) for n in (1, 2)]
"""Two sites that have nothing to do with each other, and link to u and to an honest page."""


def answers(place: Path, pages: list[Page], call: str, query: str = U) -> dict[str, float]:
    """The answers for u, or another page, by address."""
    store = place / f"{len(list(place.iterdir()))}.cocite"
    make(store, pages)
    web = Web(store)
    scores = method(call).relate(web, [web.graph.find(query)])
    return {web.graph.address(answer): score for answer, score in scores.ranked(web.graph.in_degree)}


def test_fig_3a_without_merging_favours_its_makers(place: Path) -> None:
    found = answers(place, FIGURE_3A, "extended_cocitation(unit=none)")
    assert found == {S[name]: 3.0 if name in BOOSTED else 1.0 for name in S}


def test_fig_3a_is_treated_as_fig_3b(place: Path) -> None:
    """Each child contributes 1, however tightly the pages of the site are linked."""
    merged = answers(place, FIGURE_3A, "extended_cocitation")
    assert merged == dict.fromkeys(S.values(), 1.0)
    assert merged == answers(place, FIGURE_3B, "extended_cocitation")
    # A is six rows (1): one singular value, √6, and every row is u.
    assert answers(place, FIGURE_3A, "lli") == answers(place, FIGURE_3B, "lli") == dict.fromkeys(S.values(), 1.0)


def test_lli_without_merging_sees_three_parents_as_well(place: Path) -> None:
    """Rows (1, 1, 1) three times, and one of each unit vector: AᵀA = 3J + I, of roots 10, 1, 1; falls 0.68, 0, 1.

    So k = 3 with ε = 0.9. (AᵀA)^½ (1, 1, 1)ᵀ = √10 (1, 1, 1)ᵀ, so cosines to (1, 1, 1) remain: 1 and 1/√3.
    """
    found = answers(place, FIGURE_3A, "lli(unit=none, epsilon=0.9)")
    assert found == pytest.approx({S[name]: 1.0 if name in BOOSTED else 1 / sqrt(3) for name in S}, rel=1e-5)


def test_an_honest_page_wins_once_parents_are_merged(place: Path) -> None:
    """Two parents of its own against three, which are one."""
    pages = FIGURE_3A + INDEPENDENT
    apart, merged = (answers(place, pages, f"extended_cocitation(unit={unit})") for unit in ("none", "site"))
    assert (apart[HONEST], apart[S["22"]]) == (2.0, 3.0)
    assert merged == {HONEST: 2.0, **dict.fromkeys(S.values(), 1.0)}
    assert next(iter(merged)) == HONEST


def test_lli_takes_a_long_list_of_one_site_for_a_dense_parent(place: Path) -> None:
    """What the paper says of Fig. 3 it says of b. LLI prefers the children of dense parents, and six children are many.

    A has rows (1, 0, 0) six times and (0, 1, 1): σ = √6 and √2, a fall of 1 − 1/√3 = 0.42 < 0.5, so k = 2.
    u = (1·√6, √2·√2) has length √10: √6/√10 for the six, 2/√10 for the honest page.
    """
    found = answers(place, FIGURE_3A + INDEPENDENT, "lli")
    assert found == pytest.approx({**dict.fromkeys(S.values(), sqrt(0.6)), HONEST: 2 / sqrt(10)}, rel=1e-5)
    assert found == answers(place, FIGURE_3B + INDEPENDENT, "lli")


# ------------------------------------------------------------------------------------- δ, and ε of the forward side


def test_pages_below_delta_are_not_selected(place: Path) -> None:
    """BSR = {p in BS with BSS ≥ δ} : √0.6 = 0.775 for pages of the long list, 2/√10 = 0.632 for the honest one."""
    pages = FIGURE_3A + INDEPENDENT
    assert set(answers(place, pages, "lli(delta=0.6)")) == {*S.values(), HONEST}
    assert set(answers(place, pages, "lli(delta=0.7)")) == set(S.values())
    assert answers(place, pages, "lli(delta=0.8)") == {}


def test_both_sides_may_have_an_epsilon_of_their_own(place: Path) -> None:
    """Footnote 4. u and x share the children 0 and 1 with three pages; only y has child 2.

    B has rows (1, 1, 0) three times and (0, 0, 1) for y: σ = √6 and 1, a fall of 0.59. With ε = 0.5 k is 1, and y has
    no part in it; with 0.9 k is 2. The query page is (√2·√6, 1·1), y is (0, 1): cosine 1/√13, and √(12/13) for others.
    """
    children = [f"https://child{n}.example/" for n in range(3)]
    alike = [page(f"https://x{n}.example/", *children[:2]) for n in range(3)]
    pages = [page(U, *children), *alike, page("https://y.example/", children[2])]
    one = {each.url: 1.0 for each in alike}
    assert answers(place, pages, "lli") == answers(place, pages, "lli(epsilon=0.9, forward_epsilon=0.5)") == one
    both = {url: sqrt(12 / 13) for url in one} | {"https://y.example/": 1 / sqrt(13)}
    assert answers(place, pages, "lli(forward_epsilon=0.9)") == pytest.approx(both, rel=1e-5)
    assert answers(place, pages, "lli(epsilon=0.9)") == pytest.approx(both, rel=1e-5)


def test_pages_of_one_encyclopedia_have_different_scores(place: Path) -> None:
    """By site all parents are one: A is a column of ones, and every sibling scored 1.

    Four articles list u; all list a, three b, one c and d. Each counts by itself, and the order is that of b: with
    ε = 0.9, rows (1, 1, 1, 1), (1, 1, 1, 0), (0, 0, 0, 1) twice.
    """
    wiki = "https://wiki.example/"
    u, a, b, c, d = (f"{wiki}{name}" for name in "uabcd")
    listed = [[a, b], [a, b], [a, b], [a, c, d]]
    pages = [page(f"{wiki}list{n}", u, *others) for n, others in enumerate(listed)]
    assert answers(place, pages, "lli(unit=site)", u) == dict.fromkeys([a, b, c, d], 1.0)
    found = answers(place, pages, "lli(epsilon=0.9)", u)
    assert list(found) == [a, b, c, d] and found == answers(place, pages, "lli(epsilon=0.9, unit=none)", u)
    assert found[a] > found[b] > found[c] == found[d] > 0


# ------------------------------------------------------------------------------------ near-duplicates, as published

COPIED = [f"https://copied{n}.example/" for n in range(11)]
M1, M2, R, S_PAGE = (f"https://{name}.example/" for name in ("m1", "m2", "r", "s"))
MIRRORS = [
    *(page(f"https://p{n}.example/", U, M1, M2, *([S_PAGE] if n < 2 else [])) for n in range(3)),
    page("https://p3.example/", U, S_PAGE, R),
    page(M1, *COPIED),
    page(M2, *COPIED),
]
"""p0 to p2 link to u, m1 and m2, p0 and p1 also to s; p3 links to u, s and r; m1 and m2 are mirrors."""


def test_rows_are_not_merged_as_published(place: Path) -> None:
    """The rows (1, 1, 1, 0) twice, (1, 1, 0, 1) and (0, 0, 0, 1): k = 2, and m comes before s.

    Hou & Zhang 2003, §2.2 merge parents and children only. With mirrors in one row the order is the other one.
    """
    published = answers(place, MIRRORS, "lli(merge=published)")
    expected = {M1: 0.928127, M2: 0.928127, S_PAGE: 0.908374, R: 0.349135}
    assert published == pytest.approx(expected, abs=1e-4) and list(published) == [M1, M2, S_PAGE, R]
    assert list(answers(place, MIRRORS, "lli")) == [S_PAGE, M1, R]
    both = {M1: 3.0, M2: 3.0, S_PAGE: 3.0, R: 1.0}
    assert answers(place, MIRRORS, "extended_cocitation(merge=published)") == both
    assert answers(place, MIRRORS, "extended_cocitation") == {M1: 3.0, S_PAGE: 3.0, R: 1.0}


def test_parents_are_merged_as_published(place: Path) -> None:
    """Two mirrors link to u and a, another page to u and b: one parent each."""
    a, b = "https://a.example/", "https://b.example/"
    pages = [page(f"https://mirror{n}.example/", U, a, *COPIED) for n in range(2)] + [page("https://p.example/", U, b)]
    for merge, of_a in (("published", 1.0), ("true", 1.0), ("false", 2.0)):
        found = answers(place, pages, f"extended_cocitation(merge={merge})")
        assert (found[a], found[b]) == (of_a, 1.0)


def test_cocitation_merges_nothing_as_published(place: Path) -> None:
    for name in ("cocitation", "proximity", "kleinberg"):
        published = answers(place, MIRRORS, f"{name}(merge=published)")
        assert published == answers(place, MIRRORS, f"{name}(merge=false)") and {M1, M2} <= set(published)
        assert M2 not in answers(place, MIRRORS, f"{name}(merge=true)")


def test_companion_merges_nodes_of_its_own_graph_as_published(place: Path) -> None:
    """Two mirrors are listed with u; a third, which everybody links to, isn't, and represents them in the store."""
    m0 = "https://m0.example/"
    pages = [*MIRRORS, page(m0, *COPIED), *(page(f"https://fan{n}.example/", m0) for n in range(9))]
    assert m0 in answers(place, pages, "companion") and M1 not in answers(place, pages, "companion")
    published = answers(place, pages, "companion(merge=published)")
    assert M1 in published and not {M2, m0} & set(published)
    assert {M1, M2} <= set(answers(place, pages, "companion(merge=false)"))
    # Mirrors of the page itself are one node with it, and no answer.
    assert not {M1, M2} & set(answers(place, pages, "companion(merge=published)", M2))


def test_eigenvectors_that_nothing_can_cancel_are_charged_before(place: Path) -> None:
    links = [Link("https://a.example/")]
    pages = [Page(f"https://list{n}.example/", links=[*links, Link(f"https://b{n % 7}.example/")]) for n in range(300)]
    make(place / "s", pages)
    web = Web(place / "s")
    seeds, params = [web.graph.find("https://a.example/")], lli.Params(parents=300)
    with limited(new_budget(300**3 // lli.CELLS_PER_LINK)), pytest.raises(TooMuchWork):
        lli.relate(web, seeds, params)
    with limited(new_budget(10**6)):
        assert len(lli.relate(web, seeds, params).pages)


@given(linked=arrays(np.float64, (7, 5), elements=st.sampled_from([0.0, 1.0])), numbers=st.integers(1, 40))
def test_pages_in_parts_are_the_same(linked: Matrix, numbers: int) -> None:
    assume(linked.any())
    whole, counts = lli.cosines(side_of(linked), 0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lli, "MAX_NUMBERS", numbers)
        found, again = lli.cosines(side_of(linked), 0.5)
    assert again == counts and np.allclose(found, whole, atol=1e-12)
