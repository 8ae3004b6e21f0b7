"""The slow truth against examples worked by hand: what all methods share, cocitation and proximity.

Webs are written as `page: targets`; pages 0 to 9 are the pages asked for or answered, hundreds are parents.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.related.methods import naive
from tests.related.methods.naive import Link, NaiveWeb, Ranking, View, hash64
from tests.related.methods.naive_web import BOILERPLATE, NOFOLLOW

METHODS: list[Callable[..., Ranking]] = [
    naive.cocitation,
    naive.companion,
    naive.extended_cocitation,
    naive.kleinberg,
    naive.lli,
    naive.proximity,
]


def plain(links: Mapping[int, Sequence[int]]) -> dict[int, list[tuple[int, int, int]]]:
    """Links of unknown block, without flags."""
    return {page: [(target, -1, 0) for target in targets] for page, targets in links.items()}


def web_of(links: Mapping[int, Sequence[int]], sites: Mapping[int, str] | None = None, **more: object) -> NaiveWeb:
    """A web; pages that `sites` leaves out are sites of their own."""
    return NaiveWeb(plain(links), units={"site": sites or {}, "host": sites or {}}, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- what all share


def test_links_are_distinct_and_never_to_the_page_itself() -> None:
    web = NaiveWeb({1: [(2, 0, 0), (1, 0, 0), (3, 0, 0), (2, 5, 1)]})
    assert web.links == {1: [Link(2, 0, 0), Link(3, 0, 0)]}
    assert web.in_degree(2) == 1
    assert web.in_degree(1) == 0


def test_hash64_is_xxh64_of_the_second_seeded_with_that_of_the_first() -> None:
    u, v = 0x0123456789ABCDEF, 2**64 - 1
    inner = xxhash.xxh64(struct.pack("<Q", u), seed=42).intdigest()
    assert hash64(42, u, v) == xxhash.xxh64(b"\xff" * 8, seed=inner).intdigest()
    assert hash64(42, u, v) != hash64(42, v, u)


def test_random_parents_are_those_of_smallest_hash() -> None:
    web = web_of({page: [0] for page in range(100, 120)})
    order = sorted(range(100, 120), key=lambda p: hash64(42, web.fingerprint(0), web.fingerprint(p)))
    view = View(web, [0], "none")
    assert view.random_parents(0, 7) == order[:7]
    assert View(web, [0], "none", stop={order[0]}).random_parents(0, 7) == order[1:8]  # 7 that are not stop pages
    assert View(web, [0], "none", seed=43).random_parents(0, 20) != order


def test_window_is_half_before_and_half_after_and_never_filled_up() -> None:
    web = web_of({100: list(range(10))})
    view = View(web, [5], "none")
    assert view.window(100, 5, 4) == [3, 4, 6, 7]
    assert view.window(100, 0, 4) == [1, 2]
    assert view.window(100, 9, 4) == [7, 8]
    assert view.window(100, 5, 8) == [1, 2, 3, 4, 6, 7, 8, 9]  # ten children are more than 8 + 1
    assert view.window(100, 1, 9) == [0, 2, 3, 4, 5, 6, 7, 8, 9]  # but not more than 9 + 1
    assert view.window(100, 1, 0) == [0, 2, 3, 4, 5, 6, 7, 8, 9]  # no window


def test_stop_pages_go_before_windows_are_cut() -> None:
    web = web_of({100: list(range(10))})
    view = View(web, [5], "none", stop={4, 6})
    assert view.window(100, 5, 4) == [2, 3, 7, 8]
    assert View(web, [4], "none", stop={4, 6}).window(100, 4, 4) == [2, 3, 5, 6]  # off: the query is one


def test_switches_leave_links_out() -> None:
    web = NaiveWeb({100: [(0, 0, 0), (1, 0, NOFOLLOW), (2, 0, BOILERPLATE), (3, 0, NOFOLLOW | BOILERPLATE), (4, 0, 0)]})
    assert View(web, [0], "none").children(100) == [0, 1, 2, 3, 4]
    assert View(web, [0], "none", rel="follow").children(100) == [0, 2, 4]
    assert View(web, [0], "none", boilerplate=False).children(100) == [0, 1, 4]
    assert View(web, [0], "none", rel="follow", boilerplate=False).children(100) == [0, 4]
    assert View(web, [0], "none", rel="follow").parents(1) == []
    assert web.in_degree(1) == 1  # degrees count every stored link


def test_near_duplicates_share_19_of_20_links_and_hang_together() -> None:
    base = list(range(20))
    chain = {200: base, 201: [*base[1:], 30], 202: [*base[2:], 30, 31], 203: [*base[3:], 30, 31, 32]}
    web = web_of(chain)
    assert web.representatives == {200: 200, 201: 200, 202: 200, 203: 200}  # 200 and 203 share only 17 of 20
    web = web_of({**chain, 300: [203]})
    assert web.representatives[200] == 203  # of highest in-degree
    assert web.representatives[300] == 300


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (range(10), range(10), False),  # ten links are not more than ten
        (range(11), range(11), True),
        (range(11), range(1, 12), False),  # 10 / 11 = 0.91
        (range(19), range(20), True),  # 19 / 20 = 0.95
        (range(18), range(20), False),  # 18 / 20 = 0.90
        (range(40), range(2, 42), True),  # 38 / 40 = 0.95
    ],
)
def test_the_95_percent_rule(one: range, other: range, alike: bool) -> None:
    web = web_of({200: list(one), 201: list(other)})
    assert (web.representatives[201] == 200) is alike


def test_groups_join_units_and_near_duplicates() -> None:
    same = list(range(11))
    web = web_of({200: same, 201: same, 202: [0], 203: [0], 204: [0]}, {201: "x", 202: "x", 203: "y"})
    groups = View(web, [0], "site").groups([200, 201, 202, 203, 204])
    assert groups == [{200, 201, 202}, {203}, {204}]  # 200 and 201 are alike, 201 and 202 on one site
    assert View(web, [0], "site", merge=False).groups([200, 201, 202]) == [{200}, {201, 202}]
    assert View(web, [0], "none").groups([200, 201, 202]) == [{200, 201}, {202}]


@pytest.mark.parametrize("method", METHODS)
def test_a_page_without_neighbours_has_no_results(method: Callable[..., Ranking]) -> None:
    assert method(web_of({1: [2]}), [0]) == []
    assert method(web_of({1: [0]}), [0]) == []
    assert method(web_of({}), []) == []


@pytest.mark.parametrize("method", METHODS)
def test_never_the_query_nor_a_page_merged_with_it(method: Callable[..., Ranking]) -> None:
    twins = list(range(20, 31))
    web = web_of({0: twins, 1: twins, 100: [0, 1, 2], 101: [0, 1, 2, 3]})
    assert web.representatives[1] == 0
    for seed in (0, 1):
        answers = {page for page, _ in method(web, [seed], merge=True)}
        assert answers >= {2, 3}
        assert not {0, 1} & answers
    assert 1 in {page for page, _ in method(web, [0], merge=False)}


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(0, 11), st.lists(st.integers(0, 11), max_size=9), max_size=12),
    st.lists(st.integers(0, 11), min_size=1, max_size=2),
    st.sampled_from(METHODS),
)
def test_renumbering_in_the_same_order_changes_nothing(
    links: dict[int, list[int]], seeds: list[int], method: Callable[..., Ranking]
) -> None:
    def number(page: int) -> int:
        return 3 * page + 7

    sites = {page: f"site {page % 4}" for page in range(12)}
    prints = {page: hash64(1, 2, page) for page in range(12)}
    web = web_of(links, sites, fingerprints=prints)
    renumbered = web_of(
        {number(page): [number(t) for t in targets] for page, targets in links.items()},
        {number(page): site for page, site in sites.items()},
        fingerprints={number(page): value for page, value in prints.items()},
    )
    answers = method(web, seeds, parents=3)
    again = method(renumbered, [number(page) for page in seeds], parents=3)
    assert [page for page, _ in again] == [number(page) for page, _ in answers]
    assert [score for _, score in again] == pytest.approx([score for _, score in answers], rel=1e-4)
    assert not set(seeds) & {page for page, _ in answers}


# ---------------------------------------------------------------------------------------------------- cocitation


def test_cocitation_counts_common_parents() -> None:
    """Three parents of u = 0: all cite 1, two cite 2, one cites 3."""
    web = web_of({100: [0, 1, 2], 101: [1, 0], 102: [2, 3, 1, 0], 103: [3, 1]})
    assert naive.cocitation(web, [0]) == [(1, 3.0), (2, 2.0), (3, 1.0)]  # 103 does not cite u


def test_windows_choose_candidates_and_degrees_count_every_link() -> None:
    """4 stands far from u on 100 and next to it on 101: a candidate by 101, cocited by both."""
    web = web_of({100: [0, 1, 2, 3, 4, 5], 101: [4, 0]})
    assert naive.cocitation(web, [0], window=2) == [(4, 2.0), (1, 1.0)]
    assert naive.cocitation(web, [0], window=2, parents=1) in ([(1, 1.0)], [(4, 1.0)])


def test_ties_go_to_higher_in_degree_then_lower_number() -> None:
    web = web_of({100: [0, 1, 2, 3], 200: [3]})
    assert naive.cocitation(web, [0]) == [(3, 1.0), (1, 1.0), (2, 1.0)]


def test_a_template_of_one_site_counts_once() -> None:
    links = {page: [0, 1] for page in range(100, 110)} | {200: [0, 2], 201: [0, 2]}
    web = web_of(links, dict.fromkeys(range(100, 110), "template"))
    assert naive.cocitation(web, [0]) == [(1, 10.0), (2, 2.0)]
    assert naive.cocitation(web, [0], unit="site") == [(2, 2.0), (1, 1.0)]


def test_cocitation_takes_near_duplicate_parents_as_one() -> None:
    mirror = [0, 1, *range(20, 30)]
    web = web_of({100: mirror, 101: mirror, 102: mirror, 103: [0, 2], 104: [2, 0]})
    assert naive.cocitation(web, [0], window=2)[:2] == [(2, 2.0), (1, 1.0)]
    assert naive.cocitation(web, [0], window=2, merge=False)[:2] == [(1, 3.0), (2, 2.0)]


def test_several_query_pages_reached_come_first() -> None:
    """5 is cocited thrice with 0 alone, 6 once with 0 and once with 1."""
    web = web_of({100: [0, 5], 101: [0, 5], 102: [0, 5, 6], 103: [1, 6]})
    assert naive.cocitation(web, [0]) == [(5, 3.0), (6, 1.0)]
    assert naive.cocitation(web, [0, 1]) == [(6, 1.0 + 1.0), (5, 3.0)]
    assert naive.cocitation(web, [0, 0]) == naive.cocitation(web, [0])


def chopping_web(cocited_twice: int, site: str = "a.com") -> NaiveWeb:
    """The paper's a.com/X/Y/Z (page 3): a.com/X/Y is unknown, a.com/X has siblings that are cocited twice."""
    siblings = list(range(10, 10 + cocited_twice))
    addresses = {0: "a.com", 1: "a.com/X", 3: "a.com/X/Y/Z", 4: "b.com", 5: "a.com/X?q=1", 6: "a.com/X#!/y"}
    links = {100: [3, 4], 101: [1, *siblings, 60, 61], 102: [62, 63, *siblings, 1]}  # not near-duplicates
    return web_of(links, {0: "a.com", 1: site, 3: "a.com", 5: "a.com", 6: "a.com"}, addresses=addresses)


def test_cocitation_chops_until_15_pages_are_cocited_twice() -> None:
    found = naive.cocitation(chopping_web(15), [3], window=0)
    assert found.used == [1]
    assert [score for _, score in found] == [2.0] * 15 + [1.0] * 4
    assert naive.cocitation(chopping_web(15), [3], chop="none") == [(4, 1.0)]


@pytest.mark.parametrize("web", [chopping_web(14), chopping_web(15, site="a.com/X")])
def test_where_no_chopped_address_serves_the_page_keeps_its_own_list(web: NaiveWeb) -> None:
    """14 are too few; a.com/X of another site is not asked."""
    found = naive.cocitation(web, [3], window=0)
    assert found.used == [3]
    assert found == [(4, 1.0)]
    strict = naive.cocitation(web, [3], window=0, chop="strict")
    assert strict == []
    assert strict.used == []


def test_chopping_within_a_host_goes_beyond_the_site() -> None:
    """The published rule: a.com/X is used for a.com/X/Y/Z, whatever their sites are."""
    found = naive.cocitation(chopping_web(15, site="a.com/X"), [3], window=0, chop="host")
    assert found.used == [1] and len(found) == 19


def test_chopping_takes_fragment_and_query_before_path_elements() -> None:
    web = chopping_web(1)
    assert list(web.chopped(3)) == [1, 0]
    assert list(web.chopped(5)) == [1, 0]
    assert list(web.chopped(6)) == [1, 0]
    assert list(web.chopped(0)) == []
    assert list(web_of({}, addresses={0: "name:a/b"}).chopped(0)) == []


def test_other_methods_chop_where_there_is_no_link() -> None:
    web = web_of({100: [1, 2]}, {1: "a.com", 3: "a.com"}, addresses={1: "a.com/X", 3: "a.com/X/Y"})
    for method in METHODS:
        found = method(web, [3])
        if method is naive.cocitation:  # which asks for 15 pages cocited twice
            assert (found, found.used) == ([], [3])
        else:
            assert ([page for page, _ in found], found.used) == ([2], [1])


# ----------------------------------------------------------------------------------------------------- proximity


def test_proximity_counts_distance_and_block() -> None:
    """u = 0 stands in a block of two; its neighbours are one and two links off."""
    web = NaiveWeb({100: [(1, 0, 0), (0, 1, 0), (2, 1, 0), (3, 2, 0)]})
    same = 1**-0.81 + 10 / log(2 + 2)
    answers = naive.proximity(web, [0])
    assert answers == [(2, pytest.approx(same, rel=1e-5)), (1, 1.0), (3, pytest.approx(2**-0.81, rel=1e-5))]


def test_an_unknown_block_is_distance_alone() -> None:
    web = NaiveWeb({100: [(1, -1, 0), (0, -1, 0), (2, 3, 0)], 101: [(3, 0, 0), (4, 0, 0), (0, -1, 0)]})
    near = pytest.approx(2**-0.81, rel=1e-5)
    assert naive.proximity(web, [0]) == [(1, 1.0), (2, 1.0), (4, 1.0), (3, near)]


def test_proximity_adds_up_parents_and_takes_the_best_of_a_unit() -> None:
    """1 is next to u on 100 and two links off on 101."""
    links = {100: [0, 1], 101: [0, 2, 1]}
    third = 2**-0.81
    assert naive.proximity(web_of(links), [0]) == [(1, pytest.approx(1 + third, rel=1e-5)), (2, 1.0)]
    one_site = web_of(links, {100: "x", 101: "x"})
    assert naive.proximity(one_site, [0], unit="site") == [(1, 1.0), (2, 1.0)]


def test_popularity_multiplies() -> None:
    web = web_of({100: [1, 0, 2], 101: [2], 102: [2], 103: [2]})
    assert naive.proximity(web, [0], popularity=0.5) == [(2, 4**0.5), (1, 1.0)]


# ------------------------------------------------------------------------------------------------------- from a store


def test_a_store_gives_the_same_web(tmp_path: Path) -> None:
    cocite = pytest.importorskip("cocite")
    pages = {
        "https://a.example/1": ["https://b.example/", "https://c.example/x", "https://c.example/x"],
        "https://a.example/2": ["https://b.example/", "https://a.example/2", "https://c.example/x"],
    }
    records = [
        json.dumps({"url": url, "links": [{"url": to, "block": n} for n, to in enumerate(targets)]})
        for url, targets in pages.items()
    ]
    (tmp_path / "pages.jsonl").write_text("\n".join(records))
    cocite.build([tmp_path / "pages.jsonl"], tmp_path / "web.cocite")
    graph = cocite.open(tmp_path / "web.cocite").graph
    web = NaiveWeb.from_graph(graph)
    names = ("b.example", "c.example/x", "a.example/1", "a.example/2")
    b, c, one, two = (graph.find(name) for name in names)
    assert web.links == {one: [Link(b, 0), Link(c, 1)], two: [Link(b, 0), Link(c, 2)]}
    assert web.unit("site", one) == web.unit("site", two) != web.unit("site", b)
    assert web.fingerprint(b) == xxhash.xxh64_intdigest(b"example,b)", 42)
    assert naive.cocitation(web, [b], chop="none") == [(c, 2.0)]
    assert naive.cocitation(web, [b], unit="site") == [(c, 1.0)]
