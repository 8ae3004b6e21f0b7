"""Filters: sites, languages, dates, and values that are none."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import pytest

from cocite.errors import BadParameter
from cocite.parameters import parameters_of
from cocite.related import methods
from cocite.results.ask import ask, question
from cocite.results.filters import Filters, passing
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.results.conftest import FOUR, OTHERS
from tests.webs import make_web


def shown(web: Web, *, query: str = "q.example", k: int = 100, **given: Any) -> list[str]:
    found = ask(web, question(web.graph, [query]), methods.method("proximity"), k, Filters(**given))
    return [answer.url for answer in found]


def test_not_too_many_of_one_site(web: Web) -> None:
    assert shown(web, per_site=1) == [FOUR[0], *OTHERS]
    assert shown(web, per_site=3) == [*FOUR[:3], *OTHERS]
    assert shown(web, per_site=1, k=2) == [FOUR[0], OTHERS[0]]
    assert shown(web, per_site=0) == shown(web) == [*FOUR, *OTHERS]


def test_not_of_the_own_site(web: Web) -> None:
    assert shown(web, query=FOUR[2])[:2] == [FOUR[1], FOUR[3]]
    assert not set(shown(web, query=FOUR[2], not_own_site=True)) & set(FOUR)
    assert "https://q.example/" in shown(web, query=FOUR[2], not_own_site=True)


@pytest.mark.parametrize("lang", ["de", "DE", "de-CH", " de_AT "])
def test_a_language(web: Web, lang: str) -> None:
    assert shown(web, lang=lang) == FOUR[:2]
    assert shown(web, lang=lang, per_site=1) == FOUR[:1]


def test_a_language_that_no_page_has(web: Web) -> None:
    assert shown(web, lang="fr") == []


def test_since_a_date(web: Web) -> None:
    assert shown(web, since="2020-05-17") == [FOUR[0], FOUR[2]]
    assert shown(web, since="2020-05-18") == [FOUR[2]]
    assert shown(web, since="2020-05-17T00:00:01+00:00") == [FOUR[2]]
    assert shown(web, since="2020-05-17T01:00:00+02:00") == [FOUR[0], FOUR[2]]
    assert shown(web, since="2020-01-01", lang="de") == [FOUR[0]]
    for early in ("1970-01-01", "1950-01-01", "0001-01-01"):  # when it was captured must still be known
        assert shown(web, since=early) == FOUR[:3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"per_site": -1}, "per_site must be a whole number of at least 0, not -1"),
        ({"per_site": 1.5}, "per_site must be a whole number of at least 0, not 1.5"),
        ({"per_site": "two"}, "per_site must be a whole number of at least 0, not 'two'"),
        ({"not_own_site": "perhaps"}, "not_own_site must be true or false, not 'perhaps'"),
        ({"lang": "german"}, "lang must be a code such as de or en-GB, not 'german'"),
        ({"lang": "é"}, "lang must be a code such as de or en-GB, not 'é'"),
        ({"lang": 5}, "lang must be a text, not 5"),
        ({"since": "yesterday"}, "since must be a date such as 2020-05-17, not 'yesterday'"),
        ({"since": "2020-13-01"}, "since must be a date such as 2020-05-17, not '2020-13-01'"),
        ({"since": 2020}, "since must be a text, not 2020"),
    ],
)
def test_invalid_filters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter) as caught:
        Filters(**given)
    assert str(caught.value) == message


def test_unwanted_pages_go_by_rank(web: Web) -> None:
    ranked = [(10, 0.5), (11, 0.4), (12, 0.3), (13, 0.2)]
    # 11 is second here and first there, 12 third in both, 13 fourth here and fifth there
    unwanted = {11: 1, 12: 3, 13: 5}
    assert list(passing(web.graph, ranked, [0], Filters(), unwanted)) == [(10, 0.5), (13, 0.2)]


def test_only_these_sites(web: Web) -> None:
    assert shown(web, site="many.example") == FOUR
    assert shown(web, site="other0.example") == [OTHERS[0]]
    assert shown(web, site=["https://many.example/2", "other1.example/"]) == [FOUR[2], OTHERS[1]]
    assert shown(web, site="unknown.example") == []
    assert shown(web, site="many.example", per_site=2) == FOUR[:2]


def test_not_these_sites(web: Web) -> None:
    assert shown(web, not_site="many.example") == OTHERS
    assert shown(web, not_site=["many.example/1", *OTHERS]) == [FOUR[0], *FOUR[2:]]
    assert shown(web, site="many.example", not_site="many.example/0") == FOUR[1:]


def test_until_a_date(web: Web) -> None:
    assert shown(web, until="2019-12-31") == [FOUR[1]]
    assert shown(web, until="2020") == FOUR[:2]
    assert shown(web, until="2020-05-17") == FOUR[:2]
    assert shown(web, until="2020-05-16") == [FOUR[1]]
    assert shown(web, until="2020-05") == FOUR[:2]
    assert shown(web, since="2020", until="2020-12") == [FOUR[0]]
    with pytest.raises(BadParameter, match="until 2020 is before since 2021"):
        shown(web, since="2021", until="2020")


def test_hide_linked_pages(web: Web) -> None:
    linked = {"https://list1.example/", "https://list2.example/"}
    for query in ("q.example", FOUR[0]):
        everything = shown(web, query=query)
        hidden = set(everything) - set(shown(web, query=query, unlinked=True))
        page = web.graph.find(query)
        targets = {web.graph.address(int(target)) for target in web.graph.links_from(page).targets}
        sources = {web.graph.address(int(source)) for source in web.graph.links_to(page)}
        assert hidden == set(everything) & (targets | sources)
        assert not linked & set(shown(web, query=query, unlinked=True))


def test_hide_linked_pages_both_ways() -> None:
    pages = [
        Page("https://l.example/", links=[Link(f"https://{name}.example/", block=0) for name in "qabc"]),
        Page("https://q.example/", links=[Link("https://a.example/")]),
        Page("https://b.example/", links=[Link("https://q.example/")]),
    ]
    web = make_web(pages)
    everything = [f"https://{name}.example/" for name in "abc"]
    assert sorted(shown(web)) == everything
    assert shown(web, unlinked=True) == everything[2:]


def test_the_schema_admits_every_day_but_a_leap_day() -> None:
    """29 February is accepted, but no pattern can tell leap years, so the schema leaves it out."""
    pattern = next(each.pattern for each in parameters_of(Filters) if each.name == "until")
    days = [date(2021, 1, 1) + timedelta(day) for day in range(365)]
    assert all(re.fullmatch(pattern, day.isoformat()) for day in days)
    assert not any(re.fullmatch(pattern, text) for text in ("2021-02-29", "2021-04-31", "2021-13-01", "2021-1-1"))
