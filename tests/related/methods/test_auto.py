"""Auto: worked examples of each evidence, and that every page with any link or text is answered."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cocite
from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.related.methods.auto import PLACE
from cocite.results.ask import ask, question
from cocite.sources.clicks import Trail
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from tests.graph.trails import add_clicks
from tests.graph.webs import make, page

U, S, T, V = (f"https://{name}.example/" for name in "ustv")
LISTS = [f"https://list{n}.example/" for n in range(3)]
DIRECTLY = {"best": 0}
"""Without what is like the best pages."""


def scores(place: Path, pages: list[Page], url: str = U, **given: float | str) -> dict[str, float]:
    make(place / "web.cocite", pages)
    return related(Web(place / "web.cocite"), url, **given)


def related(web: Web, url: str, **given: float | str) -> dict[str, float]:
    found = method("auto", given).relate(web, [web.graph.find(url)])
    return {web.graph.address(one): score for one, score in found.ranked(web.graph.in_degree)}


def r(links: int) -> float:
    """The weight of one of this many links."""
    return 1 / math.log(2 + links)


def elsewhere_in_store(links: int) -> Page:
    """A page of another site with this many links to pages that have to do with no others."""
    return page("https://far.example/", *(f"https://far{n}.example/" for n in range(links)))


def test_a_section_counts_more_than_a_page(place: Path) -> None:
    """The list's first section has u and s, its second t; 3 links, of 20 in all. Both s and t have one in-link."""
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1)]
    found = scores(place, [Page(LISTS[0], links=links), elsewhere_in_store(17)])
    s = r(2) + 0.12 / math.sqrt(1) + 0.1 * r(3)
    t = 0.1 * r(3)
    by_chance = 1 / 20 * (s + t)
    assert found[S] == pytest.approx((s - by_chance) / math.sqrt(s - by_chance), rel=1e-5)
    assert found[T] == pytest.approx((t - by_chance) / math.sqrt(s - by_chance), rel=1e-5)
    # The list links to u, which has one in-link and none out: size r(3) + r(0) + r(1), n = 1 + 0 + 2. The list has 3.
    direct = 0.25 * (r(3) + r(1)) / (r(3) + r(0) + r(1))
    assert found[LISTS[0]] == pytest.approx(direct * math.sqrt(3 / (0 + 3 + 2)), rel=1e-5)
    # Where these 3 links are all, chance gives each page 1/3: 0.32, and t has only 0.06.
    alone = scores(place, [Page(LISTS[0], links=links)])
    assert alone[S] == pytest.approx(math.sqrt(s - 1 / 3 * (s + t)), rel=1e-5)
    assert T not in alone


def test_a_page_that_is_listed_again_counts_in_each_block(place: Path) -> None:
    """u and s in the first section, u again and t in the second: 3 different links in the list, 2 in each section.

    With u's first link: s in its section, 1 apart; t on the page. With u's second link: t in its section. Two values of
    one parent for t count √(sum · max). Chance gives each of the two 1/3 of both.
    """
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1), Link(U, block=1)]
    found = scores(place, [Page(LISTS[0], links=links)])
    s = 0.1 * r(3) + r(2) + 0.12
    t = math.sqrt((0.1 * r(3) + r(2)) * r(2))
    by_chance = 1 / 3 * (s + t)
    assert found[S] == pytest.approx(math.sqrt(s - by_chance), rel=1e-5)
    assert found[T] == pytest.approx((t - by_chance) / math.sqrt(s - by_chance), rel=1e-5)
    first, second = (answer.reasons[0] for answer in cocite.open(place / "web.cocite").related(U, k=2))
    assert (first.block, first.distance) == ("", 1)
    assert (second.block, second.distance) == ("", None)  # how far apart they are there is not kept


def test_a_page_in_every_other_block_is_still_elsewhere(place: Path) -> None:
    """A badge t in 50 sections, never in that of u: it is on the page, once. 3 different links, of 20 in all."""
    links = [Link(U, block=0), Link(S, block=0), *(Link(T, block=n) for n in range(1, 51))]
    found = scores(place, [Page(LISTS[0], links=links), elsewhere_in_store(17)])
    s, t = 0.1 * r(3) + r(2) + 0.12, 0.1 * r(3)
    by_chance = 1 / 20 * (s + t)
    assert found[T] == pytest.approx((t - by_chance) / math.sqrt(s - by_chance), rel=1e-5)


def test_repeated_links_may_be_refused(place: Path) -> None:
    """The second link to u is boilerplate, so t is with u on the page alone. 3 different links, of 20 in all."""
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1), Link(U, block=1, boilerplate=True)]
    found = scores(place, [Page(LISTS[0], links=links), elsewhere_in_store(17)], boilerplate=False)
    s, t = 0.1 * r(3) + r(2) + 0.12, 0.1 * r(3)
    by_chance = 1 / 20 * (s + t)
    assert found[S] == pytest.approx(math.sqrt(s - by_chance), rel=1e-5)
    assert found[T] == pytest.approx((t - by_chance) / math.sqrt(s - by_chance), rel=1e-5)


def test_a_page_that_everybody_links_to_is_listed_by_chance(place: Path) -> None:
    """One section has u, s and v. Four more pages link to v: 5 of 7 links, so chance gives it 5/7 of what both have.

    v has about half of that: nothing beyond chance.
    """
    links = [Link(U, block=0), Link(S, block=0), Link(V, block=0)]
    found = scores(place, [Page(LISTS[0], links=links), *(page(f"https://fan{n}.example/", V) for n in range(4))])
    s = r(3) + 0.12 / math.sqrt(1) + 0.1 * r(3)
    v = r(3) + 0.12 / math.sqrt(2) + 0.1 * r(3)
    assert found[S] == pytest.approx(math.sqrt(s - 1 / 7 * (s + v)), rel=1e-5)
    assert v < 5 / 7 * (s + v)
    assert V not in found


def test_in_links_multiply_what_is_beyond_chance(place: Path) -> None:
    """Two lists have u and s in one section, one has s alone: of 25 links, s has 3. The factor is 3^0.18."""
    lists = [Page(LISTS[n], links=[Link(U, block=0), Link(S, block=0)]) for n in range(2)]
    found = scores(place, [*lists, page(LISTS[2], S), elsewhere_in_store(20)])
    s = 2 * (r(2) + 0.12 + 0.1 * r(2))
    assert found[S] == pytest.approx(math.sqrt(3**0.18 * (s - 3 / 25 * s)), rel=1e-5)


def test_lists_that_chance_explains_count_less(place: Path) -> None:
    """Of 40 lists, 20 have u and s, and 5 of the others s: by chance 19 · 5 / 21 of the other 19 would have it."""
    lists = [Page(f"https://list{n}.example/", links=[Link(U, block=0), Link(S, block=0)]) for n in range(20)]
    others = [
        Page(f"https://other{n}.example/", links=[Link(S if n < 5 else f"https://y{n}.example/"), Link(V)])
        for n in range(20)
    ]
    found = scores(place, [*lists, *others])
    e = 19 * 5 / 21
    weight = 1 - e / 20 - 2 * math.sqrt(e**3 / (e + 1) ** 4)
    s = 20 * weight * (r(2) + 0.12 + 0.1 * r(2))
    assert 0 < weight < 1
    assert found[S] == pytest.approx(math.sqrt(25**0.18 * (s - 25 / 80 * s)), rel=1e-5)


def test_pages_of_one_site_count_as_the_root_of_their_number(place: Path) -> None:
    """Four pages of one site and one of another link to u and s: √4 + 1 times r(2).

    u and s have 5 in-links and none out, so n is 5 + 2 for both. The size of u is that of all 5 parents and itself.
    """
    one_site = [page(f"https://list0.example/{n}", U, S) for n in range(4)]
    found = scores(place, [*one_site, page(LISTS[1], U, S)], **DIRECTLY)
    assert found[S] == pytest.approx((2 + 1) * r(2) / (5 * r(2) + r(0) + r(5)), rel=1e-5)
    alone = scores(place, one_site, unit="none", **DIRECTLY)
    assert alone[S] == pytest.approx(4 * r(2) / (4 * r(2) + r(0) + r(4)), rel=1e-5)


def test_on_one_site_each_parent_counts(place: Path) -> None:
    """In a wiki, four pages link to u and s, and t has a child of u: r(2) for each, and sites don't matter.

    u has 4 in-links and 1 out: n = 4 + 1 + 2. Size: 4 parents, the child with 2 in-links, and u itself. s has 4
    in-links, t 1 link out, and the child 2 in-links. A link from another site makes it a site like others: four
    parents count as √4.
    """
    u, s, t, child = (f"https://wiki.example/{name}" for name in ("u", "s", "t", "child"))
    pages = [*(page(f"https://wiki.example/{n}", u, s) for n in range(4)), page(u, child), page(t, child)]
    found = scores(place, pages, u, **DIRECTLY)
    size = 4 * r(2) + r(2) + r(1) + r(4)
    assert found[s] == pytest.approx(4 * r(2) / size * math.sqrt(7 / 6), rel=1e-5)
    assert found[t] == pytest.approx(r(2) / size * math.sqrt(7 / 3), rel=1e-5)
    assert found[child] == pytest.approx(0.25 * (r(1) + r(2)) / size * math.sqrt(7 / 4), rel=1e-5)
    assert found == scores(place, pages, u, unit="none", **DIRECTLY)

    found = scores(place, [*pages, page(LISTS[0], u, s)], u, **DIRECTLY)
    size = 5 * r(2) + r(2) + r(1) + r(5)
    assert found[s] == pytest.approx((2 + 1) * r(2) / size * math.sqrt(8 / 7), rel=1e-5)
    assert found[t] == pytest.approx(r(2) / size * math.sqrt(8 / 3), rel=1e-5)
    assert found[child] == pytest.approx(0.25 * (r(1) + r(2)) / size * math.sqrt(8 / 4), rel=1e-5)


def test_on_one_site_in_links_are_no_votes(place: Path) -> None:
    """Four pages of a wiki have u and s in one section: 4 of 8 links are to s, so chance gives half. No 4^0.18."""
    u, s = (f"https://wiki.example/{name}" for name in "us")
    lists = [Page(f"https://wiki.example/{n}", links=[Link(u, block=0), Link(s, block=0)]) for n in range(4)]
    each = r(2) + 0.12 + 0.1 * r(2)
    assert scores(place, lists, u)[s] == pytest.approx(math.sqrt(4 * each - 4 / 8 * 4 * each), rel=1e-5)
    # Four pages of another site count as √4, and in-links are votes. With unit none, all pages are of other sites.
    away = [Page(f"https://list0.example/{n}", links=each.links) for n, each in enumerate(lists)]
    assert scores(place, away, u)[s] == pytest.approx(math.sqrt(4**0.18 * (1 - 4 / 8) * 2 * each), rel=1e-5)
    apart = scores(place, lists, u, unit="none")
    assert apart[s] == pytest.approx(math.sqrt(4**0.18 * (1 - 4 / 8) * 4 * each), rel=1e-5)


@pytest.mark.parametrize(("host", "factor"), [("wiki.example", 1), ("list0.example", 2**0.18)])
def test_in_links_are_votes_for_context_words_unless_on_one_site(place: Path, host: str, factor: float) -> None:
    """u and s share a child. They are in different sections about chess, s in two: 0.6 for a cosine of 1."""
    u, s, *rest = (f"https://wiki.example/{name}" for name in ("u", "s", "a", "b", "c"))
    lists = [
        Page(f"https://{host}/{n}", links=[Link(one, block=0), Link(other, block=0)])
        for n, (one, other) in enumerate(zip([u, s, s], rest, strict=True))
    ]
    texts = [*(Page(url, text="chess") for url in rest), Page(V, text="keel"), Page(T, text="keel")]
    pages = [*lists, *texts, page(u, V), page(s, V)]
    without = scores(place, pages, u, context=0)
    assert scores(place, pages, u)[s] - without[s] == pytest.approx(0.6 * factor, rel=1e-4)


def test_shared_children_and_links_both_ways(place: Path) -> None:
    """u and s link to v (2 in-links); u and t link to each other.

    u has the parent t, the children v and t, 1 in-link and 2 out: n = 1 + 2 + 2. s has n = 0 + 1 + 2, v 2 + 0 + 2,
    t 1 + 1 + 2.
    """
    found = scores(place, [page(U, V, T), page(S, V), page(T, U)], **DIRECTLY)
    size = r(1) + (r(2) + r(1)) + r(2) + r(1)
    both_ways = 0.25 * (r(2) + r(1)) + 0.25 * (r(1) + r(1))
    one_way = 0.25 * (r(2) + r(2))
    assert found == pytest.approx(
        {
            T: both_ways / size * math.sqrt(5 / 4),
            S: r(2) / size * math.sqrt(5 / 3),
            V: one_way / size * math.sqrt(5 / 4),
        },
        rel=1e-5,
    )


def test_a_link_one_way_and_both_ways(place: Path) -> None:
    """u links to s, t links to u, and u and v link to each other. So u has 2 in-links and 2 out: n = 2 + 2 + 2.

    Each of the others has one link each way that it has: n is 1 + 2 for s and t, 1 + 1 + 2 for v.
    """
    found = scores(place, [page(U, S, V), page(T, U), page(V, U)], **DIRECTLY)
    size = (r(1) + r(1)) + (r(1) + r(1)) + r(2) + r(2)
    to_s, from_t = 0.25 * (r(2) + r(1)), 0.25 * (r(1) + r(2))
    v = to_s + from_t
    assert found == pytest.approx(
        {
            V: v / size * math.sqrt(6 / 4),
            S: to_s / size * math.sqrt(6 / 3),
            T: from_t / size * math.sqrt(6 / 3),
        },
        rel=1e-5,
    )


def test_the_page_that_everybody_links_to_does_not_win(place: Path) -> None:
    """Three topics of four pages that link to each other, and all twelve link to v. u is of the first topic.

    v is linked together with u by 3 parents, more than any other page; one of u's topic by 2. But that page has links
    both ways with u, shares 3 children with it, and has n = 3 + 4 + 2 = 9, as u has. v has n = 12 + 0 + 2.
    """
    topics = [[f"https://page{4 * topic + n}.example/" for n in range(4)] for topic in range(3)]
    pages = [page(one, *(other for other in topic if other != one), V) for topic in topics for one in topic]
    first, *same_topic = topics[0]
    found = scores(place, pages, first, **DIRECTLY)
    size = 3 * r(4) + (3 * r(3) + r(12)) + r(4) + r(3)
    both_ways = 2 * 0.25 * (r(4) + r(3))
    near = (2 * r(4) + 2 * r(3) + r(12) + both_ways) / size
    popular = (3 * r(4) + 0.25 * (r(4) + r(12))) / size * math.sqrt(9 / 14)
    far = r(12) / size  # which shares v alone
    expected = dict.fromkeys(same_topic, near) | {V: popular} | dict.fromkeys([*topics[1], *topics[2]], far)
    assert found == pytest.approx(expected, rel=1e-5)
    assert near > popular > far


def test_parents_that_chance_explains_count_less(place: Path) -> None:
    """Four parents have u; all four have s and two have t, as 10 and 8 of 20 other pages with links do.

    By chance four parents have s twice, and t 1.6 times: that explains half of s and 0.8 of t. With one page fewer,
    nothing is known about chance.
    """
    here = [page(f"https://here{n}.example/", *([U, S, T] if n < 2 else [U, S])) for n in range(4)]
    there = [
        page(f"https://there{n}.example/", "https://x.example/", *([S] if n < 10 else []), *([T] if n < 8 else []))
        for n in range(20)
    ]
    size = 2 * r(3) + 2 * r(2) + r(0) + r(4)
    s, t = (2 * r(3) + 2 * r(2)) / size * math.sqrt(6 / 16), 2 * r(3) / size * math.sqrt(6 / 12)
    found = scores(place, [*here, *there], **DIRECTLY)
    assert (found[S], found[T]) == pytest.approx((s / 2, t * (1 - 1.6 / 2)), rel=1e-5)
    found = scores(place, [*here, *there[:-1]], **DIRECTLY)
    assert (found[S], found[T]) == pytest.approx((s, t), rel=1e-5)


def test_what_is_like_the_best_page_counts_half(place: Path) -> None:
    """A path u → s → t → v: u is like s alone, and s like t; v is like neither. The reason of t names s.

    No other page is among the best ones, so that s is worth what it is without this step.

    n is 1 + 2 for u, 1 + 1 + 2 for s and t. The sizes are those of one child of u, and of a parent and a child of s.
    """
    pages = [page(U, S), page(S, T), page(T, V)]
    s = 0.25 * (r(1) + r(1)) / (r(1) + r(1) + r(0)) * math.sqrt(3 / 4)
    t = 0.25 * (r(1) + r(1)) / (2 * r(1) + r(1) + r(1)) * math.sqrt(4 / 4)
    assert scores(place, pages, **DIRECTLY) == pytest.approx({S: s}, rel=1e-5)
    assert scores(place, pages) == pytest.approx({S: s, T: t / 2}, rel=1e-5)
    (reason,) = cocite.open(place / "web.cocite").related(U)[1].reasons
    assert (reason.kind, reason.through) == ("like a related page", S)
    assert reason.text == "Related by links to s.example, which is related to the query page"


def test_pages_like_the_best_ones_are_better(place: Path) -> None:
    """u shares one page with s and two with t. v shares as much with u as s does, and has one more with t, the best."""
    both = [page(url, U, T) for url in LISTS[:2]]
    others = [page(f"https://{name}.example/", *links) for name, links in {"a": (U, S), "b": (U, V)}.items()]
    with_t = [
        page("https://c.example/", T, V, "https://x.example/"),
        page("https://d.example/", S, "https://x.example/"),
    ]
    directly, found = (scores(place, [*both, *others, *with_t], best=best) for best in (0, 1))
    assert directly[V] == directly[S]
    assert found[V] > found[S]
    assert found[T] == directly[T]  # how much it is like itself doesn't count


def test_copies_of_a_page_are_worth_one(place: Path) -> None:
    """Twelve copies of a page that links to u, and to a child of u, score what the only one scores."""
    links = [U, V, *(f"https://page{n}.example/" for n in range(20))]
    one, *copies = [page(f"https://copy{n}.example/", *links) for n in range(12)]
    own = page(U, V)
    rest = page("https://rest.example/", S, *(f"https://far{n}.example/" for n in range(30)))
    alone = scores(place, [own, one, rest], **DIRECTLY)[one.url]
    found = scores(place, [own, one, *copies, rest], **DIRECTLY)
    assert sum(url.startswith("https://copy") for url in found) == 1
    assert 0.5 * alone < found[one.url] < 1.1 * alone


def listing(url: str, *targets: str) -> Page:
    """A list with one section."""
    return Page(url, links=[Link(target, block=0) for target in targets])


FOUR = [f"https://f{n}.example/" for n in range(4)]


def test_a_copied_section_counts_once(place: Path) -> None:
    """A list has u, s and four others; five copies have t in the place of s. Only the first list counts: t has nothing.

    Sections have 6 links, and s is 1 link from u. Of all links, s has 1.
    """
    original, fan = listing(LISTS[0], S, U, *FOUR), page("https://fan.example/", LISTS[0])
    copies = [listing(f"https://c{n}.example/", T, U, *FOUR) for n in range(5)]
    found = scores(place, [original, *copies, fan, elsewhere_in_store(20)], popularity=0, copies="sections")
    total = sum(0.1 * r(6) + r(6) + 0.12 / math.sqrt(apart) for apart in (1, 1, 2, 3, 4))
    best = 0.1 * r(6) + r(6) + 0.12 - 1 / (6 + 5 * 6 + 1 + 20) * total
    assert found[S] == pytest.approx(best / math.sqrt(best), rel=1e-5)
    assert T not in found
    web = cocite.open(place / "web.cocite")
    [first] = [answer for answer in web.related(U, "auto(copies=sections)", k=10) if answer.url == FOUR[0]]
    assert "Listed together on 6 of 6 pages (copies of each other, counted once)" in " ".join(
        reason.text for reason in first.reasons
    )


@pytest.mark.parametrize(("ours", "theirs", "copied"), [
    ([S, U, *FOUR], [S, U, *FOUR], True),
    ([S, U, *FOUR], [S, U, *FOUR[:3], V], True),
    ([S, U, *FOUR], [S, U, *FOUR[:2], V, T], False),  # two links differ
    ([S, U, *FOUR], [S, U, *reversed(FOUR)], False),  # another order
    ([S, U, *FOUR], [S, U, *FOUR, V], False),  # another length
    ([S, U, *FOUR[:3]], [S, U, *FOUR[:2], V], True),
    ([S, U, *FOUR[:2]], [S, U, *FOUR[:2]], False),  # less than five links
])  # fmt: skip
def test_which_sections_are_copies(ours: list[str], theirs: list[str], copied: bool, place: Path) -> None:
    pages = [listing(LISTS[0], *ours), listing(LISTS[1], *theirs), elsewhere_in_store(40)]
    both, neither = (scores(place, pages, copies=copies)[S] for copies in ("sections", "none"))
    assert (both < 0.9 * neither) == copied


def test_near_duplicates_count_once_without_sections_too(place: Path) -> None:
    """Twenty links and one swapped: they are near-duplicates. With `copies=none` two count as √2."""
    others = [f"https://o{n}.example/" for n in range(40)]
    lists = [page(LISTS[0], U, S, *others), page(LISTS[1], U, S, *others[1:], T)]
    alone, once, twice = (
        scores(place, [*some, elsewhere_in_store(400)], copies=copies, best=0)
        for some, copies in ((lists[:1], "lists"), (lists, "lists"), (lists, "none"))
    )
    assert T not in once
    assert once[S] < alone[S] < twice[S]


def test_a_site_that_mirrors_lists_does_not_make_them_one(place: Path) -> None:
    """Three lists have u and s. Mirrors of all on one site change nothing but numbers of links: not √6 lists, but 3."""
    lists = [listing(LISTS[n], U, S, *(f"https://p{n}{k}.example/" for k in range(18))) for n in range(3)]
    mirrors = [replace(each, url=f"https://mirror.example/{n}") for n, each in enumerate(lists)]
    fans = [page(f"https://fan{n}.example/", LISTS[n]) for n in range(3)]
    found, mirrored = (
        scores(place, [*lists, *fans, *more, elsewhere_in_store(4000)], popularity=0) for more in ([], mirrors)
    )
    assert mirrored[S] == pytest.approx(found[S], rel=0.01)


def test_votes_are_in_links_without_copies(place: Path) -> None:
    """s is on a list, on three copies of it, and on another list: two votes. t is on the other one alone."""
    others = [f"https://o{n}.example/" for n in range(10)]
    lists = [listing(f"https://l{n}.example/", U, S, *others) for n in range(4)]
    pages = [*lists, listing(LISTS[0], S, T, *FOUR), Page(V, text="chess"), Page(f"{V}w", text="chess")]
    make(place / "web.cocite", pages)
    web = Web(place / "web.cocite")
    assert web.vectors is not None
    votes = {url: int(web.vectors.votes[web.graph.find(url)]) for url in (U, S, T, V)}
    assert votes == {U: 1, S: 2, T: 1, V: 0}


def test_words_weigh_more_the_more_text_there_is(place: Path) -> None:
    """u's text has two words, one of which s has too. N = 3: both weigh ln(4/3), so the cosine is √½."""
    pages = [Page(U, text="chess rook"), Page(S, text="chess"), Page(T, text="rook keel")]
    found = scores(place, pages)
    assert found[S] == pytest.approx(0.7 * math.log(math.e + 2) * math.sqrt(0.5), rel=1e-4)
    assert scores(place, pages, words=0) == {}


@pytest.mark.parametrize(
    ("pages", "answer"),
    [
        ([page(LISTS[0], U)], LISTS[0]),  # cited once, by a page that cites nothing else
        ([page(U, S)], S),  # never cited
        ([Page(U, text="chess"), Page(S, text="chess"), Page(T, text="keel")], S),  # no link at all
        ([Page(LISTS[0], links=[Link(U, "Chess")]), Page(LISTS[1], links=[Link(S, "chess")]), Page(V, text="keel")], S),
    ],
)
def test_whatever_is_known_of_a_page_there_is_an_answer(pages: list[Page], answer: str, place: Path) -> None:
    assert answer in scores(place, pages)


def test_a_page_without_evidence_has_its_neighbours(place: Path) -> None:
    """Nobody else has its words. Of its path, host/a/b, the first shares two parts of three, the second one."""
    pages = [Page(f"{U}a/b", text="rook"), Page(f"{U}a/c", text="keel"), Page(f"{U}d"), Page(S, text="yacht")]
    assert scores(place, pages, f"{U}a/b") == pytest.approx({f"{U}a/c": 0.25 * 2 / 3, f"{U}d": 0.25 / 3}, rel=1e-5)
    (reason,) = cocite.open(place / "web.cocite").related(f"{U}a/b")[0].reasons
    assert (reason.kind, reason.share) == ("same host", 1.0)
    assert scores(place, pages, f"{U}a/b", chop="strict") == {}
    assert scores(place, pages, S) == {}  # alone on its host


def test_reasons_name_the_evidence_that_counted(place: Path) -> None:
    make(
        place / "web.cocite",
        [
            Page(LISTS[0], "Games", headings=["Chess"], links=[Link(U, "chess club", 0), Link(S, "chess", 0)]),
            Page(LISTS[1], links=[Link(T, "the club of chess")]),
            Page(LISTS[2], links=[Link(V, "yachts")]),
        ],
    )
    found = cocite.open(place / "web.cocite").related(U)
    answers = {answer.url: answer.reasons for answer in found}
    kinds = [reason.kind for reason in answers[S]]
    assert kinds[0] == "cited together"
    assert "links" in kinds
    assert "words" in kinds
    words, first = answers[T]
    # chess says less: it is nearly everywhere
    assert (words.kind, words.words) == ("words", ("club", "chess"))
    score = next(answer.score for answer in found if answer.url == T)
    assert words.share == pytest.approx(1 - PLACE / score, abs=1e-3)
    assert (first.kind, first.share) == ("first page of its host", pytest.approx(PLACE / score, abs=1e-3))


def test_the_places_of_listed_pages(place: Path) -> None:
    """One block of u and three others: on its host, the first of a host, and neither."""
    asked, on_host, far = "https://code.example/rook", "https://code.example/keel", "https://t.example/rook"
    links = [Link(url, "x", block=0) for url in (asked, on_host, S, far)]
    found = scores(place, [Page(LISTS[0], links=links)], asked, words=0, context=0, names=0, near=0)
    assert found[on_host] == pytest.approx(found[far] + 0.25, rel=1e-4)
    assert found[S] == pytest.approx(found[far] + 0.25, rel=1e-4)


def test_a_place_is_a_reason(place: Path) -> None:
    asked, on_host, far = "https://code.example/rook", "https://code.example/keel", "https://t.example/rook"
    make(place / "web.cocite", [Page(LISTS[0], links=[Link(url, "x", block=0) for url in (asked, on_host, S, far)])])
    answers = {answer.url: answer for answer in cocite.open(place / "web.cocite").related(asked)}
    for url, kind in ((on_host, "same host"), (S, "first page of its host")):
        (reason,) = [reason for reason in answers[url].reasons if reason.kind == kind]
        assert reason.share == pytest.approx(0.25 / answers[url].score, abs=1e-3)
        assert "%" not in reason.text
    assert {"same host", "first page of its host"}.isdisjoint(reason.kind for reason in answers[far].reasons)


def test_a_long_text_weighs_by_the_logarithm_of_its_words(place: Path) -> None:
    """500 different words, all in common."""
    text = " ".join(f"w{n:04}" for n in range(500))
    found = scores(place, [Page(U, text=text), Page(S, text=text), Page(T, text="keel")])
    assert found[S] == pytest.approx(0.7 * math.log(math.e + 500), rel=1e-3)


def test_lists_of_a_same_name_page_count_half(place: Path) -> None:
    """Links call u and t the same, so that t's list is half u's: s, on it with t, is related to u, and so is t.

    Of 3 links in all, s and t have one each, so chance gives each 1/3 of what both have.
    """
    pages = [Page(LISTS[0], links=[Link(U, "Rook")]), Page(LISTS[1], links=[Link(T, "rook!", 0), Link(S, "Keel", 0)])]
    found = scores(place, pages, words=0, context=0, **DIRECTLY)
    both = 0.5 * (r(2) + 0.12 + 0.1 * r(2))  # t's own place gives it as much as s has
    listed = both - 1 / 3 * (both + both)
    assert found[S] == pytest.approx(listed / math.sqrt(listed) + PLACE, rel=1e-5)
    # s has no same-name page, and that of t is u, which is not a candidate.
    assert found[T] == pytest.approx(found[S], rel=1e-5)
    # u's list has one link, to u, and t's list is a parent of u, too: n = 2 + 0 + 2.
    size = r(1) + 0.5 * r(2) + r(0) + r(1)
    direct = 0.25 * (r(1) + r(1)) / size * math.sqrt(4 / 3)
    assert found[LISTS[0]] == pytest.approx(direct + PLACE, rel=1e-5)
    assert S not in scores(place, pages, words=0, context=0, names=0, **DIRECTLY)


def test_lists_of_same_name_pages_count(place: Path) -> None:
    """s stands beside u; t, of s's name, on no list with u. It has 0.15, as the highest."""
    lists = [
        Page(LISTS[0], links=[Link(U, "Rook", 0), Link(S, "Keel", 0)]),
        Page(LISTS[1], links=[Link(T, "keel"), Link(V)]),
    ]
    pages = [*lists, Page(LISTS[2], links=[Link(T), Link(U)])]
    without = scores(place, pages, words=0, context=0, names=0)
    found = scores(place, pages, words=0, context=0)
    assert found[T] - without[T] == pytest.approx(0.15, rel=1e-4)
    assert found[S] == pytest.approx(without[S], rel=1e-5)


def test_context_words_without_a_common_list(place: Path) -> None:
    """u and s stand on lists of different people, beside pages about chess: N = 5, chess in 3 texts, keel in 2."""
    texts = [Page(T, text="chess"), Page(V, text="chess"), Page(f"{V}w", text="chess"), Page(f"{T}k", text="keel")]
    lists = [
        Page(LISTS[n], links=[Link(one, block=0), Link(other, block=0)])
        for n, (one, other) in enumerate([(U, T), (S, V)])
    ]
    pages = [*texts, Page("https://x.example/", text="keel"), *lists]
    make(place / "web.cocite", pages)
    web = Web(place / "web.cocite")
    vectors = web.vectors
    assert vectors is not None
    u, s, k = (web.graph.find(each) for each in (U, S, f"{T}k"))
    assert vectors.cosines(u, np.array([s, k], np.uint32), context=True).tolist() == pytest.approx([1.0, 0.0], abs=1e-4)


def test_a_copy_is_not_a_same_name_page_of_its_representative(place: Path) -> None:
    """s and its copy are called the same and count as one page: that gives it nothing beside v."""
    copy, rest = "https://copy.example/", [f"https://p{n}.example/" for n in range(12)]
    lists = [
        Page(LISTS[n], links=[Link(U, "Rook", 0), Link(each, "Keel", 0), Link(V, "Mast", 0)])
        for n, each in enumerate((S, copy))
    ]
    pages = [*lists, page(S, *rest), page(copy, *rest)]
    found = scores(place, pages, words=0, context=0)
    assert found[V] > max(found.get(S, 0), found.get(copy, 0))


def test_neighbours_of_a_same_name_page_are_not_neighbours_of_the_page(place: Path) -> None:
    own = Page(U, links=[Link(T, "Rook", 0), Link(S, "Keel", 0)])
    pages = [own, Page(LISTS[0], links=[Link(U, "rook")])]
    assert scores(place, pages, words=0, context=0)[S] == scores(place, pages, words=0, context=0, names=0)[S]


def test_a_same_name_page_is_a_reason(place: Path) -> None:
    links = [Link(T, "rook!", 0), Link(S, "Keel", 0)]
    make(place / "web.cocite", [Page(LISTS[0], links=[Link(U, "Rook")]), Page(LISTS[1], links=links)])
    answers = {answer.url: answer.reasons for answer in cocite.open(place / "web.cocite").related(U)}
    assert "same name" in [reason.kind for reason in answers[T]]
    (beside,) = [reason for reason in answers[S] if reason.kind == "beside the same name"]
    assert beside.through == T
    without = cocite.open(place / "web.cocite").related(U, names=0)
    assert "same name" not in [reason.kind for answer in without for reason in answer.reasons]
    assert beside.text == "Listed with t.example, which has the name of the query page"


def test_the_listing_of_a_results_same_name_page_is_a_reason(place: Path) -> None:
    """s stands beside u on the page, its same-name page t in u's block: the best of what same-name pages get, 0.15."""
    links = [Link(U, "Rook", 0), Link(T, "Keel", 0), Link(S, "keel!", 1)]
    make(place / "web.cocite", [Page(LISTS[0], links=links)])
    found = cocite.open(place / "web.cocite").related(U, words=0, context=0)
    (answer,) = [answer for answer in found if answer.url == S]
    (named,) = [reason for reason in answer.reasons if reason.kind == "its name beside"]
    assert (named.through, named.share) == (T, pytest.approx(0.15 / answer.score, abs=1e-3))
    assert named.text == "The query page is listed with t.example, which has the same name"


def test_links_are_a_reason_beside_each_page_asked_about(place: Path) -> None:
    """Five lists have u and s; v and s share words. Both are reasons, each with its query page."""
    lists = [Page(f"https://five{n}.example/", links=[Link(U, block=0), Link(f"{S}x", block=0)]) for n in range(5)]
    texts = [Page(f"{V}x", text="keel mast"), Page(f"{S}x", text="keel mast"), Page(T, text="rook")]
    make(place / "web.cocite", [*lists, *texts])
    answer = cocite.open(place / "web.cocite").related([U, f"{V}x"])[0]
    assert answer.url == f"{S}x"
    told = {(reason.kind, reason.query) for reason in answer.reasons}
    assert {("cited together", U), ("links", U), ("words", f"{V}x")} <= told


def test_of_repeated_sections_the_counted_ones_are_shown(place: Path) -> None:
    """u in five sections. The first and three more count. Another page is in each of the five.

    The store has many more links: otherwise chance gives more than being on the page, as the fifth is.
    """
    others = [f"https://other{n}.example/" for n in range(5)]
    links = [link for n, url in enumerate(others) for link in (Link(U, block=n), Link(url, block=n))]
    make(
        place / "web.cocite",
        [Page(LISTS[0], headings=[f"H{n}" for n in range(5)], links=links), elsewhere_in_store(100)],
    )
    web = cocite.open(place / "web.cocite")
    told = {answer.url: answer.reasons[0].block for answer in web.related(U, context=0)}
    assert [told[url] for url in others] == ["H0", "H1", "H2", "H3", None]
    by_others = {answer.url: answer.reasons[0].block for answer in web.related(U, "cocitation")}
    assert [by_others[url] for url in others] == ["H0", None, None, None, None]  # which counts first links only


def test_stop_words_alone_relate_no_pages(place: Path) -> None:
    """u and s share chess, which is named; u and t share stop words alone, in whatever language."""
    german = "der die das und ist nicht mit auf"
    pages = [
        Page(U, text="the chess and the rook"), Page(S, text="the chess and"), Page(T, text="the and"),
        Page(V, text=f"{german} turm"), Page(LISTS[0], text=f"{german} turm"), Page(LISTS[1], text=german),
        Page(LISTS[2], text="mast"),
    ]  # fmt: skip
    make(place / "web.cocite", pages)
    web = cocite.open(place / "web.cocite")
    (found,) = web.related(U)
    assert (found.url, found.reasons[0].text) == (S, "Similar text: chess (1 shared term)")
    assert found.reasons[0].of == 1  # rook is on a single page
    (found,) = web.related(V)
    assert (found.url, found.reasons[0].words) == (LISTS[0], ("turm",))


def test_words_of_linked_pages_are_not_called_the_pages_own(place: Path) -> None:
    """u says chess only through t, with which it exchanges links; s says it by itself."""
    pages = [
        Page(U, text="rook", links=[Link(T)]), Page(T, text="chess", links=[Link(U)]), Page(S, text="chess"),
        Page(V, text="rook"),
    ]  # fmt: skip
    make(place / "web.cocite", pages)
    web = cocite.open(place / "web.cocite")
    told = {each.url: each.reasons[-1].text for each in web.related(U)}
    assert told[S] == "Similar text, with that of linked pages: chess (1 shared term)"
    assert [each.reasons[0].text for each in web.related(V)] == [told[S].replace("chess", "rook")] * 2
    assert web.related(U)[0].reasons  # t itself, by links
    told = {each.url: each.reasons[-1].text for each in web.related(S)}
    assert told[T] == "Similar text, with that of linked pages: chess (1 shared term)"


def test_context_words_are_no_stop_words(place: Path) -> None:
    """Two lists of pages that have stop words in common, and one page with chess; headings are stop words."""
    texts = ["the and of", "the and of", "the chess", "the chess", "the keel", "the mast"]
    pages = [Page(f"https://p{n}.example/", text=text) for n, text in enumerate(texts)]
    for at, (one, two) in zip(LISTS, ((0, 2), (1, 3), (4, 5)), strict=True):
        links = [Link(pages[n].url, block=0) for n in (one, two)]
        pages.append(Page(at, headings=["See the"], links=links))
    make(place / "web.cocite", pages)
    web = cocite.open(place / "web.cocite")
    found = {answer.url: answer for answer in web.related(pages[0].url)}
    told = {url: [each.text for each in answer.reasons if each.kind == "company"] for url, answer in found.items()}
    assert told[pages[1].url] == ["Listed in sections about chess"]
    assert not any(told.get(pages[n].url) for n in (4, 5))  # under the same heading, but about nothing


def test_several_pages(place: Path) -> None:
    """s is beside both u and t, v beside u alone."""
    pages = [page(LISTS[0], U, S), page(LISTS[1], T, S), page(LISTS[2], U, V), page("https://list3.example/", U, V)]
    make(place / "web.cocite", pages)
    found = cocite.open(place / "web.cocite").related([U, T], "auto", best=0)
    assert [answer.url for answer in found][:2] == [S, V]


def test_clicks_count_beside_the_best_score_without_them(place: Path) -> None:
    """s has one parent with u, t none. 5 clicks to t, 10 back to u, 20 sessions with t: 5 + 1 + 1 clicks."""
    pages = [page(LISTS[0], U, S), page(LISTS[1], T), page(LISTS[2], V)]
    without = scores(place, pages, **DIRECTLY)
    most = max(without.values())
    assert set(without) == {S, LISTS[0]}
    trails = [Trail([U, T], [(0, 1)], 5), Trail([T, U], [(0, 1)], 10), Trail([U, V, T], [(0, 1), (1, 2)], 20)]
    add_clicks(Graph(place / "web.cocite"), trails, ReadReport())
    web = Web(place / "web.cocite")
    found = related(web, U, **DIRECTLY)
    assert found == pytest.approx({**without, V: 0.2 * most, T: 0.07 * most}, rel=1e-5)
    assert related(web, U, **DIRECTLY, usage=0) == without
    by_clicks = next(each for each in ask(web, question(web.graph, [U]), method("auto", DIRECTLY), 9) if each.url == V)
    assert by_clicks.reasons[0].text == "People went from one to the other 20 times"


def test_a_page_with_nothing_but_clicks(place: Path) -> None:
    """u is on a list alone: its link is the best score, and three clicks 3 % of that. Damaged clicks count nothing."""
    make(place / "web.cocite", [page(LISTS[0], U), page(LISTS[1], T)])
    add_clicks(Graph(place / "web.cocite"), [Trail([U, T], [(0, 1)], 3)], ReadReport())
    found = related(Web(place / "web.cocite"), U)
    assert found[T] == pytest.approx(0.03 * found[LISTS[0]], rel=1e-5)
    (steps,) = (place / "web.cocite" / "side").glob("clicks-*/steps.bin")
    steps.write_bytes(b"")
    assert T not in related(Web(place / "web.cocite"), U)


def test_clicks_that_are_added_to_an_open_web_count_at_once(place: Path) -> None:
    make(place / "web.cocite", [page(LISTS[0], U), page(LISTS[1], T)])
    web = cocite.open(place / "web.cocite")
    assert T not in {each.url for each in web.related(U)}
    (place / "clicks.tsv").write_text(f"{U}\t{T}\t3\n")
    web.add_clicks(place / "clicks.tsv")
    assert T in {each.url for each in web.related(U)}
