"""How similar two given pages are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cocite.errors import UnknownPage
from cocite.operations.pages.similarity import Similarity, SimilarityResult
from cocite.related import methods
from cocite.results.ask import ask, question
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.webs import make_web

PAGES = [
    Page("https://apple.example/", links=[Link("https://iphone.example/")], text="apple company"),
    Page("https://microsoft.example/", links=[Link("https://lumia.example/")], text="microsoft company"),
    Page("https://iphone.example/", text="phone apple"),
    Page("https://lumia.example/", text="phone microsoft"),
    Page("https://alone.example/", text="bread"),
]


@pytest.fixture(scope="module")
def shops() -> Iterator[Web]:
    web = make_web(PAGES)
    yield web


def similarity(web: Web, page: str, other: str, method: str) -> SimilarityResult:
    return Similarity(page=page, other=other, method=method).run(web)


@pytest.mark.parametrize("name", methods.names())
def test_it_equals_the_score_of_related_pages(shops: Web, name: str) -> None:
    found = ask(shops, question(shops.graph, ["apple.example"]), methods.method(name), 100)
    expected = {answer.url: answer.score for answer in found}
    for url in ("https://microsoft.example/", "https://iphone.example/", "https://alone.example/"):
        pair = similarity(shops, "apple.example", url, name)
        assert pair.score == pytest.approx(expected.get(url, 0.0), rel=1e-4, abs=1e-8)
        assert pair.pages == ("https://apple.example/", url)
        assert float(pair) == pair.score
        assert pair.to_dict()["method"] == name


def test_reasons_by_words_and_links(shops: Web) -> None:
    pair = similarity(shops, "apple.example", "microsoft.example", "integrated")
    said = [reason.text for reason in pair.reasons]
    assert said[0] == "Shared keywords: company (1 of 2)"
    assert said[1].startswith("Related keywords: apple – ")
    assert said[2] == "Links to lumia.example, which is similar to iphone.example, a link of the query page"
    assert pair.reasons[2].share is not None
    assert 0 < pair.reasons[2].share < 1
    assert pair.error == 1e-9


def test_words_that_never_occur_together_are_not_similar(shops: Web) -> None:
    pair = similarity(shops, "apple.example", "alone.example", "semantic")
    assert list(map(str, pair.reasons)) == ["Keywords that never occur together: apple – bread, company – bread"]


def test_unknown_pages(shops: Web) -> None:
    with pytest.raises(UnknownPage):
        similarity(shops, "apple.example", "nowhere.example", "semantic")
