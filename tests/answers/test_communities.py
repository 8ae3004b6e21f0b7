"""Communities as they are shown: hubs, authorities, words and reasons, for words and for pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cocite
from cocite.answers.communities import CommunitiesFound
from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.sources.records import Link, Page
from cocite.surfaces.python import Store
from cocite.words.search import build_search
from tests.graph.webs import make


def site(name: str) -> str:
    return f"https://{name}.example/"


def lists(name: str, heading: str, words: str, *targets: str) -> Page:
    links = [Link(site(target), f"{target} {words}", block=0) for target in targets]
    return Page(site(name), f"List of {heading}", links=links, headings=[heading])


PAGES = [
    *(lists(f"papers{n}", "Newspapers", "daily", "times", "post", "globe") for n in range(3)),
    *(lists(f"cars{n}", "Makers of cars", "motor", "fast", "slow") for n in range(2)),
    *(
        Page(
            site(f"spam{n}"),
            "Buy now",
            links=[*(Link(site(f"spam{m}")) for m in range(8) if m != n), Link(site("times"))],
        )
        for n in range(8)
    ),
]


@pytest.fixture
def store(place: Path) -> Store:
    make(place / "web.cocite", PAGES)
    found = cocite.open(place / "web.cocite")
    build_search(found.graph)
    return found


def urls(members: object) -> list[str]:
    return [member.url.removeprefix("https://").removesuffix(".example/") for member in members]  # type: ignore[attr-defined]


def test_words_find_a_root_set_and_its_community(store: Store) -> None:
    found = store.communities("newspapers", npea="off")
    assert isinstance(found, CommunitiesFound) and found.query == "newspapers"
    assert found.root == 6  # the lists, by their titles, and the pages under the heading
    paper = next(each for each in found if "post" in urls(each.authorities)[:2])
    assert {"newspapers", "daily"} <= set(paper.keywords)
    assert set(urls(paper.hubs)[:3]) == {"papers0", "papers1", "papers2"}
    assert paper.hubs[0].title == "List of Newspapers"


def test_noise_is_told_with_its_reason(store: Store) -> None:
    pages = [site(name) for name in ("papers0", "papers1", "papers2", "post", "globe")]
    found = store.communities(pages=pages, basis="root", npea="max")
    assert found.pages == tuple(pages) and found.eliminated == 0  # times alone joins, and spam is two links away
    found = store.communities(pages=[*pages, site("times")], basis="root", npea="max")
    assert found.eliminated == len(found.left_out) == 8
    assert {page.split("//")[1][:4] for page in (noise.url for noise in found.noise)} == {"spam"}
    why = found.noise[0].why
    assert why.startswith("linked with 1 of 6 root pages, measure ") and why.endswith("the greatest of the root set")
    assert found[0].eliminated_in_all == 8 and len(found[0].eliminated) == 8
    assert found[0].name == "principal" and urls(found[0].authorities) == ["times", "globe", "post"]


def test_both_words_and_pages(store: Store) -> None:
    found = store.communities("newspapers", pages=site("cars0"))
    assert found.root == 7


def test_for_json(store: Store) -> None:
    found = store.communities("cars", k=1)
    told = json.loads(json.dumps(found.to_dict()))
    assert set(told) == {"query", "method", "params", "base_set", "communities", "store", "milliseconds"}
    assert told["query"] == "cars" and told["params"]["delta"] == 0.5
    first = told["communities"][0]
    assert first["name"] == "principal" and len(first["hubs"]) == len(first["authorities"]) == 1
    assert store.communities(pages=[site("cars0")]).to_dict()["query"] == [site("cars0")]
    assert found[0] is found.communities[0] and list(found[:1]) == [found[0]]


def test_nothing_is_found(store: Store) -> None:
    found = store.communities("zebra")
    assert (len(found), found.root, found.base) == (0, 0, 0)
    assert found.to_dict()["communities"] == []


def test_wrong_questions(store: Store) -> None:
    for query in ("", "   "):
        with pytest.raises(BadParameter, match="nothing to look for"):
            store.communities(query)
    with pytest.raises(BadParameter, match="no word"):
        store.communities("?!")
    with pytest.raises(UnknownPage):
        store.communities(pages="https://nowhere.example/")
    with pytest.raises(BadAddress):
        store.communities(pages="https://")
    with pytest.raises(BadParameter, match="fewer at once"):
        store.communities(pages=[site("cars0")] * 1001)
    with pytest.raises(BadParameter, match="k is"):
        store.communities("cars", k=-1)
    with pytest.raises(BadParameter, match="community has no parameter 'depth'"):
        store.communities("cars", depth=3)


def test_pages_need_no_search_index(place: Path) -> None:
    make(place / "web.cocite", PAGES)
    store = cocite.open(place / "web.cocite")
    found = store.communities(pages=[site("papers0"), site("cars0")])
    assert [set(urls(each.authorities)) for each in found] == [{"globe", "post", "times"}, {"fast", "slow"}]
    assert "newspapers" in found[0].keywords and "motor" in found[1].keywords
    with pytest.raises(BadStore, match="cocite search"):
        store.communities("cars")


def test_pages_of_which_nothing_is_said(place: Path) -> None:
    make(place / "web.cocite", [Page(site("h"), links=[Link(site("a")), Link(site("b"))])])
    (only,) = cocite.open(place / "web.cocite").communities(pages=site("h"))
    assert only.keywords == () and [member.title for member in only.authorities] == ["", ""]
