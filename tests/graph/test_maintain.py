"""Add and remove: each generation against the slow truth, and single cases."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadStore, UnknownPage
from cocite.graph.build.maintain import remove
from cocite.graph.build.passes import build
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.pages.address import parse
from cocite.sources.records import Link, Page, ReadReport
from tests.graph.compare import assert_same
from tests.graph.naive import Naive
from tests.graph.webs import ADDRESSES, addresses, examples, extend, files_of, make, page, records, tight

A, B, C, D, E = (f"https://{name}.example/" for name in "abcde")

adds = st.lists(records(), min_size=1, max_size=6)
removals = st.lists(addresses, min_size=1, max_size=2)


@examples(15)
@given(st.lists(records(), min_size=1, max_size=12), st.lists(adds | removals, min_size=1, max_size=4), st.data())
def test_generations_equal_the_slow_truth(
    fast_root: Path, first: list[Page], steps: list[list[Page] | list[str]], data: st.DataObject
) -> None:
    truth = Naive(first)
    if not truth.pages:
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, tight():
        path = Path(folder) / "web.cocite"
        make(path, first)
        for step in steps:
            if isinstance(step[0], Page):
                after = truth.add(step)  # type: ignore[arg-type]
                if not after.pages:
                    with pytest.raises(BadStore, match="no page would be left"):
                        extend(path, step)  # type: ignore[arg-type]
                    continue
                truth = after
                extend(path, step, data.draw(st.integers(1, 4)))  # type: ignore[arg-type]
            else:
                known = [address for address in step if parse(str(address)).canonical in truth.pages]
                after = truth.remove(known)  # type: ignore[arg-type]
                if not known or not after.pages:
                    continue
                truth = after
                remove([str(address).removeprefix("name:") for address in known], path)
            assert_same(Graph(path), truth)
        assert check(path) == []


def targets(path: Path, address: str) -> list[str]:
    """Where a page's links lead, in order."""
    graph = Graph(path)
    return [graph.address(int(target)) for target in graph.links_from(graph.find(address)).targets]


def test_a_page_captured_again_replaces_its_links(place: Path) -> None:
    make(place / "s", [page(A, B, captured="2020-01-01"), page(C, B)])
    extend(place / "s", [page(A, C)])
    assert targets(place / "s", A) == [C], "an undated record that is added is the newest"
    assert targets(place / "s", C) == [B]


def test_an_undated_record_that_is_added_is_newer_than_a_clock_that_was_wrong(place: Path) -> None:
    make(place / "s", [page(A, B, captured="2090-01-01")])
    extend(place / "s", [page(A, C)])
    assert targets(place / "s", A) == [C]


def test_an_older_capture_does_not(place: Path) -> None:
    make(place / "s", [page(A, B, captured="2020-01-01")])
    extend(place / "s", [page(A, C, captured="2019-01-01")])
    assert targets(place / "s", A) == [B]
    extend(place / "s", [page(A, D, captured="2021-01-01")])
    assert targets(place / "s", A) == [D]


def test_partial_records_that_are_added_add_up(place: Path) -> None:
    make(place / "s", [Page(A, "Title", links=[Link(B, "to b")])])
    extend(place / "s", [page(A, C, partial=True)])
    extend(place / "s", [page(A, D, B, partial=True)])
    graph = Graph(place / "s")
    assert targets(place / "s", A) == [B, C, D]
    assert graph.anchors(graph.find(A)) == ["to b", "", ""]
    assert graph.title(graph.find(A)) == "Title"


def test_pages_that_only_a_replaced_capture_links_to_are_gone(place: Path) -> None:
    make(place / "s", [page(A, B, captured="2020-01-01"), page(A, C, captured="2021-01-01")])
    assert [Graph(place / "s").get(url) is None for url in (A, B, C)] == [False, True, False]
    extend(place / "s", [page(A, D)])
    assert [Graph(place / "s").get(url) is None for url in (A, C, D)] == [False, True, False]
    assert len(Graph(place / "s")) == 2


def test_pages_that_only_a_removed_page_links_to_are_gone(place: Path) -> None:
    make(place / "s", [page(A, B, C), page(D, C)])
    remove([A], place / "s")
    graph = Graph(place / "s")
    assert [graph.address(int(p)) for p in graph.names.in_order()] == [C, D]
    assert check(place / "s") == []


def test_an_alias_goes_with_the_page_that_it_led_to(place: Path) -> None:
    make(place / "s", [Page(A, redirect=B), page(C, B, D)])
    remove([B], place / "s")
    graph = Graph(place / "s")
    assert [graph.address(int(p)) for p in graph.names.in_order()] == [C, D]


def test_adding_the_same_again_gives_the_same_store(place: Path) -> None:
    links = [page(A, *ADDRESSES[:20]), page(B, *ADDRESSES[10:40], captured="2020-01-01"), Page(C, redirect=A)]
    make(place / "s", links)
    more = [page(A, *ADDRESSES[5:9], A), page(B, D, D, captured="2021-01-01"), page(D, *ADDRESSES[30:])]
    extend(place / "s", more)
    once = files_of(place / "s")
    extend(place / "s", more)
    assert files_of(place / "s") == once


def test_a_removed_page_stays_out_for_good(place: Path) -> None:
    pages = [page(A, B, C), page(B, A), page(C, A, B)]
    make(place / "s", pages)
    remove([B], place / "s")
    for _ in range(3):
        graph = Graph(place / "s")
        assert graph.get(B) is None
        assert targets(place / "s", A) == [C]
        assert targets(place / "s", C) == [A]
        assert len(graph.removed) == 1
        extend(place / "s", pages)
    remove([C], place / "s")
    extend(place / "s", [page(D, A, B, C)])
    assert targets(place / "s", D) == [A]


def test_removing_many_pages_one_after_another(place: Path) -> None:
    urls = [f"https://p{i}.example/" for i in range(40)]
    make(place / "s", [page(url, *urls) for url in urls])
    for url in urls[:5]:
        remove([url], place / "s")
    extend(place / "s", [page(A, *urls)])
    assert targets(place / "s", A) == urls[5:]


def test_removing_an_alias_removes_its_page(place: Path) -> None:
    make(place / "s", [Page(A, redirect=B), page(B, C), page(C, A)])
    remove([A], place / "s")
    graph = Graph(place / "s")
    assert (graph.get(A), graph.get(B), len(graph), len(graph.links)) == (None, None, 1, 0)


def test_an_alias_of_a_removed_page_is_removed(place: Path) -> None:
    make(place / "s", [Page(A, redirect=B), page(B, C), page(C, A)])
    remove([B], place / "s")
    graph = Graph(place / "s")
    assert graph.get(B) is None
    assert targets(place / "s", C) == []
    extend(place / "s", [page(A, C)])
    assert targets(place / "s", A) == [C]


def test_removing_an_unknown_page_changes_nothing(place: Path) -> None:
    make(place / "s", [page(A, B)])
    with pytest.raises(UnknownPage):
        remove([A, "https://unknown.example/"], place / "s")
    assert len(Graph(place / "s")) == 2


def test_the_last_page_cannot_be_removed(place: Path) -> None:
    make(place / "s", [page(A, B)])
    with pytest.raises(BadStore, match="delete"):
        remove([A, B], place / "s")
    assert targets(place / "s", A) == [B]


def test_a_page_captured_again_under_another_address(place: Path) -> None:
    variant = "https://a.example/?v=1"
    make(place / "s", [Page(variant, links=[Link(B)], canonical=A, captured="2020-01-01")])
    assert targets(place / "s", A) == [B]
    extend(place / "s", [Page(variant, links=[Link(C)], canonical=A, captured="2021-01-01")])
    assert targets(place / "s", A) == [C]
    extend(place / "s", [page(A, D, captured="2019-01-01")])
    assert targets(place / "s", A) == [D], "its own record counts before any that names it"
    extend(place / "s", [Page(variant, links=[Link(E)], canonical=A)])
    assert targets(place / "s", A) == [D]


def test_a_redirect_keeps_its_date(place: Path) -> None:
    make(place / "s", [Page(A, redirect=B, captured="2020-01-01")])
    extend(place / "s", [page(A, C, captured="2010-01-01")])
    graph = Graph(place / "s")
    assert graph.find(A) == graph.find(B)
    extend(place / "s", [page(A, C, captured="2022-01-01")])
    assert targets(place / "s", A) == [C]


def test_the_spelling_of_a_page_follows_its_record(place: Path) -> None:
    make(place / "s", [page(A, "https://b.example/x")])
    extend(place / "s", [page("http://www.b.example/x/", C)])
    graph = Graph(place / "s")
    assert graph.address(graph.find("b.example/x")) == "http://www.b.example/x/"


def test_texts_survive_adds_and_may_be_dropped(place: Path) -> None:
    links = [Link(B, "to b", 1, "near b", "nofollow", 0.5, True), Link(C, "", 2), Link(D, "to d")]
    whole = Page(A, "Title", "Text\nof two lines", links, ["", "One", "", ""], 200, "", "", "2020-01-01", "en-GB")
    make(place / "s", [whole, page("http://www.x.example/%7Eann/index.htm", A)])
    for i in range(3):
        extend(place / "s", [page(f"https://more{i}.example/", A)])
    graph = Graph(place / "s")
    at = graph.find(A)
    assert (graph.title(at), graph.text(at), graph.headings(at)) == ("Title", "Text\nof two lines", ["", "One", "", ""])
    assert (graph.anchors(at), graph.contexts(at)) == (["to b", "", "to d"], ["near b", "", ""])
    assert graph.weights_from(at).tolist() == [0.5, 1, 1]
    assert graph.links_from(at).blocks.tolist() == [1, 2, -1]
    assert graph.links_from(at).flags.tolist() == [17, 0, 0]
    assert (graph.facts.status(at), graph.facts.language(at), graph.facts.captured(at)) == (200, "en", 1577836800)
    assert graph.address(graph.find("x.example/~ann")) == "http://www.x.example/%7Eann/index.htm"
    extend(place / "s", [page(E, A)], text=False, anchors=False)
    graph = Graph(place / "s")
    assert (graph.text(graph.find(A)), graph.anchors(graph.find(A))) == ("", ["", "", ""])
    assert graph.title(graph.find(A)) == "Title"


def test_nothing_is_lost_when_the_store_changed_meanwhile(place: Path) -> None:
    make(place / "s", [page(A, B)])
    old = Graph(place / "s")
    extend(place / "s", [page(C, D)])
    with pytest.raises(BadStore, match="again"):
        build([], place / "s", ReadReport(), old=old)
    assert targets(place / "s", C) == [D]


def test_adding_nothing_gives_the_same_store(place: Path) -> None:
    make(place / "s", [page(A, B, C), page(B, C, title="B")])
    before = Graph(place / "s").manifest["id"]
    extend(place / "s", [])
    assert Graph(place / "s").manifest["id"] == before
