"""Auto: worked examples of each evidence, and that every page with any link or text is answered."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import cocite
from cocite.related.methods import method
from cocite.related.methods.auto import TUNABLES
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make, page

U, S, T, V = (f"https://{name}.example/" for name in "ustv")
LISTS = [f"https://list{n}.example/" for n in range(3)]


def scores(place: Path, pages: list[Page], url: str = U, **given: float | str) -> dict[str, float]:
    make(place / "web.cocite", pages)
    web = Web(place / "web.cocite")
    found = method("auto", given).relate(web, [web.graph.find(url)])
    return {web.graph.address(one): score for one, score in found.ranked(web.graph.in_degree)}


def test_a_section_counts_more_than_a_page(place: Path) -> None:
    """The list's first block holds u and s, its second t; 3 links. Both s and t have one link in."""
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1)]
    found = scores(place, [Page(LISTS[0], links=links)])
    s = 1 / math.log(4) + 0.12 / math.sqrt(1) + 0.1 / math.log(5)
    t = 0.1 / math.log(5)
    assert found[S] == pytest.approx(s / math.sqrt(s), rel=1e-5)
    assert found[T] == pytest.approx(t / math.sqrt(s), rel=1e-5)
    # The list itself links to u: that is something.
    assert found[LISTS[0]] == pytest.approx(0.05 / math.sqrt(s), rel=1e-5)


def test_a_page_that_is_listed_again_counts_in_each_block(place: Path) -> None:
    """u and s in the first block, u again and t in the second: three links in the list, two in each block.

    Beside u's first link: s in its block, 1 apart; t on the page. Beside u's second link: t in its block. What one page
    says of t twice counts √(sum · most).
    """
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1), Link(U, block=1)]
    found = scores(place, [Page(LISTS[0], links=links)])
    on_page = 0.1 / math.log(5)
    s = on_page + 1 / math.log(4) + 0.12
    t = math.sqrt((on_page + 1 / math.log(4)) / math.log(4))
    assert found[S] == pytest.approx(math.sqrt(s), rel=1e-5)
    assert found[T] == pytest.approx(t / math.sqrt(s), rel=1e-5)
    first, second = (answer.reasons[0] for answer in cocite.open(place / "web.cocite").related(U, k=2))
    assert (first.block, first.distance) == ("", 1)
    assert (second.block, second.distance) == ("", None)  # how far apart they are there is not kept


def test_a_page_in_every_other_block_is_still_elsewhere(place: Path) -> None:
    """A badge t in 50 blocks, never in that of u: it is on the page, once."""
    links = [Link(U, block=0), Link(S, block=0), *(Link(T, block=n) for n in range(1, 51))]
    found = scores(place, [Page(LISTS[0], links=links)])
    s = 0.1 / math.log(5) + 1 / math.log(4) + 0.12
    assert found[T] == pytest.approx(0.1 / math.log(5) / math.sqrt(s), rel=1e-5)


def test_repeated_links_may_be_refused(place: Path) -> None:
    """The second link to u is boilerplate, so t is beside u on the page alone."""
    links = [Link(U, block=0), Link(S, block=0), Link(T, block=1), Link(U, block=1, boilerplate=True)]
    found = scores(place, [Page(LISTS[0], links=links)], boilerplate=False)
    on_page = 0.1 / math.log(5)
    near = on_page + 1 / math.log(4) + 0.12
    assert found[S] == pytest.approx(math.sqrt(near), rel=1e-5)
    assert found[T] == pytest.approx(on_page / math.sqrt(near), rel=1e-5)


def test_pages_of_one_site_count_as_the_root_of_their_number(place: Path) -> None:
    """Four pages of one site and one of another, of two links each: √4 + 1 times 1 / ln 4."""
    one_site = [page(f"https://list0.example/{n}", U, S) for n in range(4)]
    found = scores(place, [*one_site, page(LISTS[1], U, S)])
    assert found[S] == pytest.approx(math.sqrt(3 / math.log(4)), rel=1e-5)
    assert scores(place, one_site, unit="none")[S] == pytest.approx(math.sqrt(4 / math.log(4)), rel=1e-5)


def test_the_page_s_own_site_counts_a_quarter(place: Path) -> None:
    found = scores(place, [page(f"{U}about", U, S), page(LISTS[0], U, T)])
    own, other = 0.25 / math.log(4), 1 / math.log(4)
    assert (found[S], found[T]) == pytest.approx((own / math.sqrt(other), math.sqrt(other)), rel=1e-5)


def test_shared_children_and_links_both_ways(place: Path) -> None:
    """u and s link to v (2 links in); u and t link to each other."""
    found = scores(place, [page(U, V, T), page(S, V), page(T, U)])
    shared = 1 / math.log(4) / math.sqrt(2)
    mutual = 0.05 + 0.05 + 0.9
    assert found == pytest.approx(
        {T: mutual / math.sqrt(mutual), S: shared / math.sqrt(mutual), V: 0.05 / math.sqrt(mutual)}, rel=1e-5
    )


def test_words_weigh_more_the_more_text_there_is(place: Path) -> None:
    """u's text has two words, one of which s has too. N = 3: both weigh ln(4/3), so the cosine is √½."""
    pages = [Page(U, text="chess rook"), Page(S, text="chess"), Page(T, text="rook keel")]
    found = scores(place, pages)
    assert found[S] == pytest.approx((0.7 + 0.003 * 2**2) * math.sqrt(0.5), rel=1e-4)
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
    assert words.share == pytest.approx(1 - TUNABLES.home_page / score, abs=1e-3)
    assert (first.kind, first.share) == ("first page of its host", pytest.approx(TUNABLES.home_page / score, abs=1e-3))


def test_the_places_of_listed_pages(place: Path) -> None:
    """One block of u and three others: on its host, the first of a host, and neither."""
    asked, on_host, far = "https://code.example/rook", "https://code.example/keel", "https://t.example/rook"
    links = [Link(url, "x", block=0) for url in (asked, on_host, S, far)]
    found = scores(place, [Page(LISTS[0], links=links)], asked, words=0, context=0, names=0, near=0)
    assert found[on_host] == pytest.approx(found[far] + 0.25, rel=1e-4)
    assert found[S] == pytest.approx(found[far] + 0.2, rel=1e-4)


def test_a_place_is_a_reason(place: Path) -> None:
    asked, on_host, far = "https://code.example/rook", "https://code.example/keel", "https://t.example/rook"
    make(place / "web.cocite", [Page(LISTS[0], links=[Link(url, "x", block=0) for url in (asked, on_host, S, far)])])
    answers = {answer.url: answer for answer in cocite.open(place / "web.cocite").related(asked)}
    for url, kind, gave in ((on_host, "same host", 0.25), (S, "first page of its host", 0.2)):
        (reason,) = [reason for reason in answers[url].reasons if reason.kind == kind]
        assert reason.share == pytest.approx(gave / answers[url].score, abs=1e-3)
        assert "%" not in reason.text
    assert {"same host", "first page of its host"}.isdisjoint(reason.kind for reason in answers[far].reasons)


def test_text_enough(place: Path) -> None:
    """Of more than 100 different words the rest do not make words louder: 0.7 + 0.003 · 100², all in common."""
    text = " ".join(f"w{n:04}" for n in range(500))
    found = scores(place, [Page(U, text=text), Page(S, text=text), Page(T, text="keel")])
    assert found[S] == pytest.approx(0.7 + 0.003 * 100**2, rel=1e-3)


def test_lists_of_a_same_name_page_count_half(place: Path) -> None:
    """Links call u and t the same, so that t's list is half u's: s, on it with t, is related to u, and so is t."""
    pages = [Page(LISTS[0], links=[Link(U, "Rook")]), Page(LISTS[1], links=[Link(T, "rook!", 0), Link(S, "Keel", 0)])]
    found = scores(place, pages, words=0, context=0)
    said = 0.5 * (1 / math.log(4) + 0.12 + 0.1 / math.log(4))
    # u itself is in no block, so that neither hosts nor first pages count; t's own place gives it as much as s has.
    assert found[S] == pytest.approx(said / math.sqrt(said) + TUNABLES.home_page, rel=1e-5)
    # Beside it, s has no same-name page, and t's is u, of which nothing is said.
    assert found[T] == pytest.approx(found[S], rel=1e-5)
    assert S not in scores(place, pages, words=0, context=0, names=0)


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
    """u in five sections. The first and three more count. Another page is in each of the five."""
    others = [f"https://other{n}.example/" for n in range(5)]
    links = [link for n, url in enumerate(others) for link in (Link(U, block=n), Link(url, block=n))]
    make(place / "web.cocite", [Page(LISTS[0], headings=[f"H{n}" for n in range(5)], links=links)])
    web = cocite.open(place / "web.cocite")
    told = {answer.url: answer.reasons[0].block for answer in web.related(U, context=0)}
    assert [told[url] for url in others] == ["H0", "H1", "H2", "H3", None]
    by_others = {answer.url: answer.reasons[0].block for answer in web.related(U, "cocitation")}
    assert [by_others[url] for url in others] == ["H0", None, None, None, None]  # which counts first links only


def test_stop_words_are_not_named(place: Path) -> None:
    make(
        place / "web.cocite",
        [
            Page(U, text="the chess and the rook"),
            Page(S, text="the chess and"),
            Page(T, text="the and"),
            Page(V, text="keel"),
            Page(LISTS[0], text="mast"),
        ],
    )
    answers = {answer.url: answer.reasons for answer in cocite.open(place / "web.cocite").related(U)}
    assert answers[S][0].words == ("chess",)
    assert (answers[T][0].words, answers[T][0].text) == ((), "Similar text (2 shared terms)")


def test_several_pages(place: Path) -> None:
    """s is beside both u and t, v beside u alone."""
    pages = [page(LISTS[0], U, S), page(LISTS[1], T, S), page(LISTS[2], U, V), page("https://list3.example/", U, V)]
    make(place / "web.cocite", pages)
    found = cocite.open(place / "web.cocite").related([U, T], "auto")
    assert [answer.url for answer in found][:2] == [S, V]
