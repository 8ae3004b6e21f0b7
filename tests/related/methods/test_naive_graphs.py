"""The slow truth of Companion, Kleinberg, Extended Cocitation and LLI against examples worked by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.related.methods import naive
from tests.related.methods.naive import View
from tests.related.methods.naive_hits import edges_between, hits, weights
from tests.related.methods.naive_latent import Limits, back_side, forward_side
from tests.related.methods.test_naive import web_of


def near(*scores: float) -> object:
    """Equal to six digits."""
    return pytest.approx(list(scores), rel=2e-6)


# ------------------------------------------------------------------------------------------------------- Companion

TWO_HOSTS = {100: [0, 1], 101: [0, 1], 102: [0, 2]}
"""u = 0 and 1 are cited by two pages of host x, u and 2 by one page of host y."""


def test_edges_of_one_unit_into_a_page_weigh_one_together() -> None:
    """Authority weights 1/2 for 100 and 101. With hubs h, h, g: A(u) = h + g, A(1) = h, A(2) = g;

    h' = A(u) + A(1) = 2h + g and g' = A(u) + A(2) = h + 2g, so h = g: A = (2, 1, 1) / sqrt(6).
    """
    web = web_of(TWO_HOSTS, {100: "x", 101: "x", 102: "y"})
    found = naive.companion(web, [0])
    assert [page for page, _ in found] == [1, 2]
    assert [score for _, score in found] == near(1 / sqrt(6), 1 / sqrt(6))
    assert found.facts["edges"] == 6


def test_without_units_the_host_with_two_pages_wins() -> None:
    """A(u) = 2h + g, A(1) = 2h, A(2) = g; h' = 4h + g, g' = 2h + 2g: the root is 3 + sqrt(3), so g = (sqrt(3) - 1) h.

    A = (1 + sqrt(3), 2, sqrt(3) - 1), of length sqrt(12).
    """
    found = naive.companion(web_of(TWO_HOSTS), [0], unit="none")
    assert [page for page, _ in found] == [1, 2]
    assert [score for _, score in found] == near(2 / sqrt(12), (sqrt(3) - 1) / sqrt(12))


TWO_TARGETS = {100: [0, 1, 2], 101: [0, 3]}
"""100 cites u = 0 and two pages of one host, 101 cites u and one page."""


def test_edges_of_a_page_into_one_unit_weigh_one_together() -> None:
    """Hub weights 1/2 for 1 and 2: h' = (h + g) + (h + h) / 2 = 2h + g and g' = (h + g) + g = h + 2g, so h = g.

    A = (2, 1, 1, 1) / sqrt(7).
    """
    found = naive.companion(web_of(TWO_TARGETS, {1: "z", 2: "z"}), [0])
    assert [page for page, _ in found] == [1, 2, 3]
    assert [score for _, score in found] == near(*[1 / sqrt(7)] * 3)


def test_without_units_the_longer_list_wins() -> None:
    """h' = 3h + g, g' = h + 2g: g / h is the golden section (sqrt(5) - 1) / 2, and A has the length sqrt(5)."""
    found = naive.companion(web_of(TWO_TARGETS), [0], unit="none")
    assert [page for page, _ in found] == [1, 2, 3]
    assert [score for _, score in found] == near(1 / sqrt(5), 1 / sqrt(5), (sqrt(5) - 1) / 2 / sqrt(5))


def test_links_inside_a_unit_are_not_edges_but_bring_siblings() -> None:
    """100 is on u's own site: it has no edge to u, and still its window brings 1."""
    web = web_of({100: [0, 1]}, {0: "own", 100: "own"})
    view = View(web, [0], "site")
    assert edges_between(view, {0, 1, 100}) == {(100, 1)}
    assert naive.companion(web, [0], unit="site") == [(1, 1.0)]
    # Only u's own site links to it, so with unit auto each page counts: u and 1 are alike.
    assert naive.companion(web, [0]) == [(1, pytest.approx(1 / sqrt(2), rel=1e-5))]


def test_children_and_their_best_parents_join_the_graph() -> None:
    """u = 0 links to 50; of the parents 101, 102 and 103 of 50 the one of highest in-degree is 103."""
    links = {0: [50], 101: [50, 2], 102: [50, 3], 103: [1, 50], 200: [103], 201: [103, 101]}
    web = web_of(links)
    found = naive.companion(web, [0], child_parents=1)
    # Nodes 0, 50, 103: the edges 0 -> 50 and 103 -> 50 only, as 1 is in nobody's window.
    assert found == [(50, 1.0)]
    assert found.facts["edges"] == 2
    assert naive.companion(web, [0], child_parents=3).facts["edges"] == 4
    assert naive.companion(web, [0], children=0) == []


def test_every_link_between_two_nodes_is_an_edge() -> None:
    """1 and 2 are siblings of u by different parents; the link 1 -> 2 and the far link 100 -> 2 count as well."""
    web = web_of({100: [1, 0, 3, 4, 2], 101: [0, 2], 1: [2]})
    view = View(web, [0], "none")
    assert view.window(100, 0, 2) == [1, 3]
    found = naive.companion(web, [0], window=2, unit="none")
    edges = {(100, 1), (100, 0), (100, 3), (100, 2), (101, 0), (101, 2), (1, 2)}
    assert edges_between(view, {0, 1, 2, 3, 100, 101}) == edges
    assert found.facts["edges"] == len(edges)


def test_near_duplicates_become_one_node() -> None:
    """Two mirrors of twelve links and a page of its own: merged, 1 is cited once, and 2 as well."""
    mirror = [0, 1, *range(20, 30)]
    web = web_of({100: mirror, 101: mirror, 102: [0, 2]}, dict.fromkeys(range(20, 30), "far"))
    view = View(web, [0], "site")
    edges = edges_between(view, {0, 1, 2, 100, 101, 102})
    assert edges == {(100, 0), (100, 1), (102, 0), (102, 2)}
    assert [score for _, score in naive.companion(web, [0], window=2)] == near(1 / sqrt(6), 1 / sqrt(6))
    apart = naive.companion(web, [0], window=2, merge=False)
    assert [score for _, score in apart] == near(2 / sqrt(12), (sqrt(3) - 1) / sqrt(12))


def test_power_iteration_reports_rounds_and_residual() -> None:
    found = naive.companion(web_of(TWO_HOSTS), [0], unit="none")
    assert found.facts["residual"] < 1e-8
    assert 5 < found.facts["rounds"] < 40  # the roots are 4.73 and 1.27: each round gains a factor of 3.7
    assert naive.companion(web_of(TWO_HOSTS), [0], unit="none", rounds=1).facts["rounds"] == 1


def test_one_round_is_weighted_counting() -> None:
    """After one round the authority is the number of edges in: 3 for u, 2 for 1, 1 for 2."""
    found = naive.companion(web_of(TWO_HOSTS), [0], unit="none", rounds=1)
    assert [score for _, score in found] == near(2 / sqrt(14), 1 / sqrt(14))


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(6, 11)), min_size=1, max_size=15))
def test_hits_without_weights_is_the_principal_singular_vector(edges: set[tuple[int, int]]) -> None:
    ones = dict.fromkeys(edges, 1.0)
    authority, hub, _, residual = hits(edges, ones, ones, 2000)
    matrix = np.zeros((12, 12))
    for source, target in edges:
        matrix[source, target] = 1.0
    a = np.array([authority.get(node, 0.0) for node in range(12)])
    assert residual < 1e-8
    # The power is that of the greatest singular value among those that the start vector of ones reaches.
    assert np.linalg.norm(matrix @ a) == pytest.approx(np.linalg.svd(matrix)[1][0], rel=1e-4)
    assert sum(value * value for value in hub.values()) == pytest.approx(1.0)


def test_several_query_pages_share_one_graph() -> None:
    """3 is in the vicinity of both, 2 of 0 alone, 4 of 1 alone."""
    web = web_of({100: [0, 2, 3], 101: [1, 3, 4], 102: [0, 2], 103: [0, 2]})
    found = naive.companion(web, [0, 1])
    assert [page for page, _ in found] == [3, 2, 4]
    assert dict(found)[2] > dict(found)[3]  # and yet 3 comes first


# ------------------------------------------------------------------------------------------------------- Kleinberg


def test_kleinberg_has_grandparents_and_whole_parents_but_no_spouses() -> None:
    """100 is a parent, 200 a grandparent, 50 a child of u = 0, 300 a spouse by it."""
    web = web_of({0: [50], 100: [0, *range(1, 10)], 200: [100, 60], 300: [50, 70]})
    found = naive.kleinberg(web, [0])
    assert found.facts["edges"] == 1 + 10 + 1  # 200 -> 60, 300 -> 50 and 300 -> 70 leave the graph
    assert {page for page, _ in found[:9]} == set(range(1, 10))


def test_kleinberg_limits_the_parents_of_each_page() -> None:
    web = web_of({100: [0, 1], **{page: [100] for page in range(200, 260)}})
    assert naive.kleinberg(web, [0]).facts["edges"] == 2 + 50
    assert naive.kleinberg(web, [0], in_links=3).facts["edges"] == 2 + 3
    assert naive.kleinberg(web, [0], in_links=3, parents=0) == []


def test_kleinberg_has_no_weights() -> None:
    """The same sites that make Companion fair leave plain HITS with (1 + sqrt(3), 2, sqrt(3) - 1) / sqrt(12)."""
    web = web_of(TWO_HOSTS, {100: "x", 101: "x", 102: "y"})
    assert [score for _, score in naive.kleinberg(web, [0])] == near(2 / sqrt(12), (sqrt(3) - 1) / sqrt(12))


# --------------------------------------------------------------------------------------------- Extended Cocitation

S11, S12, S21, S22, S31, S32 = range(1, 7)
MALICIOUS = {100: [0, S11, S12, S22, S31], 101: [0, S21, S22, S12, S31], 102: [0, S31, S32, S22, S12]}
"""Fig. 3: three parents of u = 0 and their children on one site, linked so that S12, S22 and S31 look like the best."""


def test_merged_parents_shield_from_malicious_links() -> None:
    sites = dict.fromkeys([100, 101, 102, *range(1, 7)], "spam.example")
    web = web_of(MALICIOUS, sites)
    apart = dict(naive.extended_cocitation(web, [0], unit="none"))
    assert apart == {S12: 3.0, S22: 3.0, S31: 3.0, S11: 1.0, S21: 1.0, S32: 1.0}
    merged = dict(naive.extended_cocitation(web, [0]))
    assert merged == dict.fromkeys(range(1, 7), 1.0)


def test_back_and_forward_degrees() -> None:
    """1 shares two parents with u = 0, 2 one parent and one child, 3 two children that are on one site, so one."""
    links = {100: [0, 1], 101: [0, 1], 102: [0, 2], 0: [50, 51, 52], 2: [50], 3: [51, 52]}
    web = web_of(links, {51: "s", 52: "s"})
    assert naive.extended_cocitation(web, [0]) == [(1, 2.0), (2, 1.0), (3, 1.0)]  # 2 before 3: b + f = 2
    assert naive.extended_cocitation(web, [0], delta=2) == [(1, 2.0)]
    assert dict(naive.extended_cocitation(web, [0], unit="none")) == {1: 2.0, 2: 1.0, 3: 2.0}


def test_spouses_of_the_own_unit_do_not_count_but_siblings_do() -> None:
    web = web_of({0: [50], 1: [50], 2: [50], 100: [0, 3]}, {0: "own", 1: "own", 3: "own"})
    assert [page for page, _ in naive.extended_cocitation(web, [0])] == [3, 2]


def test_limits_of_both_sides() -> None:
    web = web_of({0: [50, 51], 2: [50], 3: [50], 4: [51], 200: [3]})
    view, limits = View(web, [0], "site"), Limits(200, 40, 1, 1)
    assert forward_side(view, [0], limits).pages == [3]  # one child, and its parent of highest in-degree
    assert forward_side(view, [0], Limits(200, 40, 2, 200)).pages == [2, 3, 4]
    assert back_side(view, [0], limits).pages == []


def test_window_candidates_count_every_link_of_the_merged_parent() -> None:
    """4 is in the window on 101 only; its link on 100, of another site, counts too."""
    web = web_of({100: [0, 1, 2, 3, 4], 101: [4, 0]})
    assert dict(naive.extended_cocitation(web, [0], window=2)) == {1: 1.0, 4: 2.0}


# ------------------------------------------------------------------------------------------------------------- LLI

BLOCKS = {100: [0, 1, 2, 3], 101: [0, 1, 2, 3], 102: [0, 4]}
"""A has rows (1, 1, 0) for 1, 2, 3 and (0, 0, 1) for 4: two blocks of rank 1, with singular values sqrt(6) and 1."""


def test_lli_filters_pages_without_weight_in_the_first_singular_vector() -> None:
    """(sqrt(6) - 1) / sqrt(6) = 0.59 >= 0.5, so k = 1: v = (1, 1, 0) / sqrt(2), and 4 has no part in it."""
    found = naive.lli(web_of(BLOCKS), [0])
    assert found == [(1, 1.0), (2, 1.0), (3, 1.0)]
    assert found.facts == {"back": (1, 2), "forward": (0, 0)}


def test_a_larger_epsilon_keeps_more() -> None:
    """0.59 < 0.9, so k = 2. u = (1, 1, 1) V S = (sqrt(2) sqrt(6), 1); 1 is (sqrt(2), 0), 4 is (0, 1)."""
    found = naive.lli(web_of(BLOCKS), [0], epsilon=0.9)
    assert found.facts["back"] == (2, 2)
    assert [page for page, _ in found] == [1, 2, 3, 4]
    assert [score for _, score in found] == near(*[sqrt(12) / sqrt(13)] * 3, 1 / sqrt(13))


def test_lli_distinguishes_pages_of_equal_cocitation() -> None:
    """3 and 4 are cocited once each, 3 by the denser parent.

    A has rows (1, 1) for 1 and 2, (1, 0) for 3 and 5, (0, 1) for 4. A'A = [[4, 2], [2, 3]] has the roots
    (7 +- sqrt(17)) / 2, so singular values 2.358 and 1.199, a fall of 0.49 < 0.5: k = 2, nothing is lost.
    The product of a row and u is row . q with q = V S V' (1, 1)' and V S V' the square root of A'A, which is
    (A'A + sqrt(8) I) / t, t = sqrt(7 + 2 sqrt(8)). So q = (6 + sqrt(8), 5 + sqrt(8)) / t, of length sqrt(11).
    """
    found = naive.lli(web_of({100: [0, 1, 2, 3, 5], 101: [0, 1, 2, 4]}), [0])
    assert found.facts["back"] == (2, 2)
    length = sqrt(7 + 2 * sqrt(8)) * sqrt(11)
    both, first, second = (11 + 2 * sqrt(8)) / sqrt(2) / length, (6 + sqrt(8)) / length, (5 + sqrt(8)) / length
    assert [page for page, _ in found] == [1, 2, 3, 5, 4]
    assert [score for _, score in found] == near(both, both, first, first, second)


def test_lli_as_published_may_prefer_a_page_with_fewer_common_parents() -> None:
    """9 is linked by all three parents, just as u is, and yet 1 to 8 come first: u carries one S too many.

    A has rows (1, 1, 0) eight times and (1, 1, 1). In the basis (1, 1, 0) / sqrt(2), (0, 0, 1) A'A is
    M = [[18, sqrt(2)], [sqrt(2), 1]], of roots 18.12 and 0.88: a fall of 0.78, so with epsilon 0.9 k = 2.
    The product of a row and u is row . q, q = root(M) (sqrt(2), 1)'. root(M) = (M + 4 I) / sqrt(27) as det M = 16,
    so q = (23 sqrt(2), 7) / sqrt(27), of length sqrt(41).
    """
    block = list(range(1, 9))
    found = naive.lli(web_of({100: [0, *block, 9], 101: [0, *block, 9], 102: [0, 9]}), [0], epsilon=0.9)
    assert found.facts["back"] == (2, 2)
    length = sqrt(27) * sqrt(41)
    assert [page for page, _ in found] == [*block, 9]
    assert [score for _, score in found] == near(*[23 * sqrt(2) / length] * 8, (23 * 2 + 7) / sqrt(3) / length)


def test_lli_forward_side_and_the_larger_of_both() -> None:
    """1 is a sibling that the back side does not see (4 of BLOCKS) and a spouse that the forward side sees fully."""
    web = web_of({**BLOCKS, 0: [50], 4: [50], 5: [50]})
    found = naive.lli(web, [0])
    assert found.facts == {"back": (1, 2), "forward": (1, 1)}
    # All five have the cosine 1. b + f: 2 for 1, 2 and 3; 4 has 1 + 1; 5 has 0 + 1.
    assert dict(found) == dict.fromkeys(range(1, 6), 1.0)
    assert [page for page, _ in found] == [1, 2, 3, 4, 5]


def test_lli_of_identical_parents_is_rank_one() -> None:
    found = naive.lli(web_of({100: [0, 1, 2], 101: [0, 1, 2]}), [0])
    assert (found, found.facts["back"]) == ([(1, 1.0), (2, 1.0)], (1, 1))


def test_densities() -> None:
    """BLOCKS: parents have 3, 3 and 1 of the 4 siblings; 4 has only the sparse one of them."""
    side = back_side(View(web_of(BLOCKS), [0], "site"), [0], Limits(200, 40, 40, 200))
    assert side.pages == [1, 2, 3, 4]
    percentage, density, drift = naive.densities(side.linked)
    assert percentage == near(2 / 3, 2 / 3, 2 / 3, 1 / 3)
    assert sorted(density.tolist()) == near(1 / 4, 3 / 4, 3 / 4)
    assert drift == near(*[1 - 6 / 7] * 3, 1 - 1 / 7)


def test_weights_are_counted_after_merging() -> None:
    """100 and 101 are one page, on the site of 100; with 102 of that site two edges come into 1."""
    mirror = [1, *range(20, 31)]
    web = web_of({100: mirror, 101: mirror, 102: [1]}, {100: "x", 102: "x", 101: "y"})
    view = View(web, [0], "site")
    edges = edges_between(view, {1, 100, 101, 102})
    assert edges == {(100, 1), (102, 1)}
    assert weights(view, edges)[0] == {(100, 1): 1 / 2, (102, 1): 1 / 2}
