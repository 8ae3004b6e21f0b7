"""A page that the store has never seen, by its own record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.errors import BadAddress, UnknownPage
from cocite.operations.pages.unseen import MAX_LINKED_PAGES, ask_unseen, linked_pages
from cocite.related.methods import method
from cocite.results.filters import Filters
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.search import SEARCH
from tests.graph.webs import make

NEW = "https://new.example/list"
ROBIN, WREN, FINCH, SITE = (f"https://{name}.example/" for name in ("robin", "wren", "finch", "site"))
COCITATION = method("cocitation(window=0)")


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Iterator[Web]:
    pages = [
        Page("https://a.example/", "Songbirds", links=[Link(ROBIN), Link(WREN), Link(FINCH)]),
        Page("https://b.example/", "More songbirds", links=[Link(ROBIN), Link(FINCH)]),
        Page("https://c.example/", "Herons", text="herons wade in water", links=[Link("https://heron.example/")]),
        Page(SITE, "A site", links=[Link(SITE + "about")]),
        Page("https://d.example/", "Herons fly", links=[Link(SITE), Link(WREN)]),
    ]
    store = fast_root / "unseen.cocite"
    make(store, pages)
    found = Web(store)
    SEARCH.build(found.graph)
    yield found


def test_by_what_it_links_to(web: Web) -> None:
    """FINCH stands beside ROBIN on two lists and beside WREN on one: (2 + 1) / 2; SITE beside WREN alone."""
    answers = ask_unseen(web, Page(NEW, links=[Link(ROBIN), Link(WREN)]), COCITATION)
    assert answers.query == (NEW,)
    assert answers.used == ("robin.example", "wren.example")
    assert [(each.url, each.score) for each in answers] == [(FINCH, 1.5), (SITE, 0.5)]
    assert {reason.query for reason in answers[0].reasons} == {ROBIN, WREN}


def test_links_count_by_their_weight(web: Web) -> None:
    """(3/4 · 2 + 1/4 · 1) for FINCH, as WREN's weight is a third of ROBIN's; 1/4 for SITE."""
    answers = ask_unseen(web, Page(NEW, links=[Link(ROBIN, weight=0.9), Link(WREN, weight=0.3)]), COCITATION)
    assert [(each.url, each.score) for each in answers] == [(FINCH, 1.75), (SITE, 0.25)]


def test_only_links_of_its_main_part_to_other_sites(web: Web) -> None:
    record = Page("https://site.example/new", links=[Link(SITE), Link(WREN, boilerplate=True), Link(ROBIN)])
    find = web.graph.find
    assert linked_pages(web.graph, record) == {find(ROBIN): 1.0}
    record.links.pop()
    assert linked_pages(web.graph, record) == {find(SITE): 1.0, find(WREN): 1.0}


def test_not_too_many_links(web: Web) -> None:
    links = [Link(f"https://unknown{n}.example/") for n in range(5000)] + [Link(ROBIN)]
    assert linked_pages(web.graph, Page(NEW, links=links)) == {}
    strange = [Link(text) for text in ("", "/relative", "mailto:a@b.example", "http://", "https://\ud800/", "name:x")]
    assert linked_pages(web.graph, Page(NEW, links=strange)) == {}
    assert MAX_LINKED_PAGES == 50


def test_by_its_words_if_it_links_to_nothing_known(web: Web) -> None:
    answers = ask_unseen(web, Page(NEW, "Of herons", text="they wade", links=[Link("https://x.example/")]), COCITATION)
    assert (answers.method, answers.used) == ("words", ())
    assert answers[0].url == "https://c.example/"
    assert answers[0].reasons[0].kind == "words"
    assert "herons" in answers[0].reasons[0].words


def test_by_a_shorter_address_if_it_has_no_links_and_words(web: Web) -> None:
    answers = ask_unseen(web, Page(SITE + "deep/page?x=1"), COCITATION)
    assert (answers.used, [each.url for each in answers]) == (("site.example",), [WREN])


def test_a_page_that_is_known_after_all(web: Web) -> None:
    answers = ask_unseen(web, Page("robin.example", links=[Link(WREN)]), COCITATION, k=1)
    assert (answers.used, answers[0].url) == (("robin.example",), FINCH)


def test_filters_and_k(web: Web) -> None:
    record = Page(NEW, links=[Link(ROBIN), Link(WREN)])
    assert len(ask_unseen(web, record, COCITATION, k=1)) == 1
    assert len(ask_unseen(web, record, COCITATION, filters=Filters(lang="de"))) == 0


def test_nothing_known_at_all(web: Web) -> None:
    with pytest.raises(UnknownPage):
        ask_unseen(web, Page("https://nowhere.example/", "Zzyzx"), COCITATION)
    for address in ("", "ftp://x.example/", "https://"):
        with pytest.raises(BadAddress):
            ask_unseen(web, Page(address, links=[Link(ROBIN)]), COCITATION)
