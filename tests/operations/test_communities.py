"""Communities as they are shown: hubs, authorities, words and reasons, for words and for pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cocite
from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.operations.words.communities import CommunitiesFound
from cocite.python import Store
from cocite.sources.records import Link, Page
from cocite.words.search import SEARCH
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
    SEARCH.build(found.graph)
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


def test_noise_is_listed_with_its_reason(store: Store) -> None:
    pages = [site(name) for name in ("papers0", "papers1", "papers2", "post", "globe")]
    found = store.communities(pages=pages, basis="root", npea="max")
    assert found.pages == tuple(pages) and found.eliminated == 0  # times alone joins, and spam is two links away
    found = store.communities(pages=[*pages, site("times")], basis="root", npea="max")
    assert found.eliminated == len(found.left_out) == 8
    assert {page.split("//")[1][:4] for page in (noise.url for noise in found.noise)} == {"spam"}
    why = found.noise[0].why
    assert why.startswith("linked with 1 of 6 root pages; its measure ")
    assert why.endswith("the maximum of the root set")
    assert found[0].eliminated_in_all == 8 and len(found[0].eliminated) == 8
    assert found[0].name == "principal" and urls(found[0].authorities) == ["times", "globe", "post"]


def test_both_words_and_pages(store: Store) -> None:
    found = store.communities("newspapers", pages=site("cars0"))
    assert found.root == 7


def test_links_between_what_is_shown(store: Store) -> None:
    found = store.communities(pages=[site("papers0"), site("cars0"), site("cars1")], npea="off")
    for each in found:
        graph = store.graph
        true = {
            (hub, authority)
            for hub, one in enumerate(each.hubs)
            for authority, other in enumerate(each.authorities)
            if other.page in graph.links_from(one.page).targets
        }
        assert set(each.links) == true and len(each.links) == len(true) > 0
        assert [list(pair) for pair in each.links] == each.to_dict()["links"]
    assert {member.url for each in found for member in (*each.hubs, *each.authorities) if member.root} == {
        site("papers0"), site("cars0"), site("cars1"),
    }  # fmt: skip


def drifting(fast: int, slow: int) -> list[Page]:
    """Lists of seeds, and as many more lists of pots, on which a seed page stands too: HITS drifts to the pots."""
    seeds = [Page(site(f"seeds{n}"), "Seeds", links=[Link(site(f"seed{m}"), "seed") for m in range(3)])
             for n in range(slow)]  # fmt: skip
    pots = [
        Page(
            site(f"pots{n}"),
            "Pots for a seed",
            links=[*(Link(site(f"pot{m}"), "pot") for m in range(6)), Link(site("seed0"))],
        )
        for n in range(fast)
    ]
    return [*seeds, *pots]


def test_pages_that_suit_the_words_count_more(place: Path) -> None:
    make(place / "web.cocite", drifting(4, 3))
    store = cocite.open(place / "web.cocite")
    SEARCH.build(store.graph)
    published = store.communities("seed", npea="off", off_topic=1, window=0)
    assert published.root == 10 and published.found[0].vector == 1
    principal = next(each for each in published if each.name == "principal")
    assert "pot0" in urls(principal.authorities)[:3]
    for off_topic in (0.1, 0.0):
        found = store.communities("seed", npea="off", off_topic=off_topic, window=0)
        assert found[0].name == "principal" and urls(found[0].authorities)[:3] == ["seed0", "seed1", "seed2"]
    # Nothing but pages that have the word has any weight at 0.
    assert {name[:4] for each in found for name in urls(each.authorities)} == {"seed"}


def test_communities_come_by_fit_times_strength(place: Path) -> None:
    make(place / "web.cocite", drifting(4, 3))
    store = cocite.open(place / "web.cocite")
    SEARCH.build(store.graph)
    found = store.communities("seed", npea="off", off_topic=1, window=0)
    strengths = [each.fit * each.singular_value for each in found if each.fit is not None]
    assert len(strengths) == len(found) and strengths == sorted(strengths, reverse=True)
    assert all(0 <= (each.fit or 0) <= 1 for each in found)
    suits = dict(store.search.search("seed", 100).hits)
    best = max(suits.values())
    first = found.found[0].authorities.pages[:10].tolist()
    told = next(each for each in found if each.vector == 1 and each.end == "positive")
    assert told.fit == pytest.approx(sum(suits.get(page, 0) / best for page in first) / 10, rel=1e-4)
    assert all(each.fit is None for each in store.communities(pages=[site("seeds0"), site("pots0")]))


def test_no_community_is_empty(place: Path) -> None:
    """h links to a and m, g to b and m: both ends of the second vector have pages, but none of their own."""
    make(place / "web.cocite", [
        Page(site("h"), links=[Link(site("a")), Link(site("m"))]),
        Page(site("g"), links=[Link(site("b")), Link(site("m"))]),
    ])  # fmt: skip
    found = cocite.open(place / "web.cocite").communities(pages=[site("h"), site("g")], npea="off")
    assert [each.pages for each in found] == [5] and len(found.found) == 3


def test_stop_words_are_not_keywords_unless_queried(place: Path) -> None:
    links = [Link(site(f"t{n}"), f"the open home and a gadget{n} for you", block=0) for n in range(3)]
    lists = [Page(site(f"l{n}"), "About the home", links=links, headings=["With other gadgets"]) for n in range(2)]
    others = [Page(site(f"o{n}"), "Something else") for n in range(9)]
    make(place / "web.cocite", [*lists, *others])
    store = cocite.open(place / "web.cocite")
    SEARCH.build(store.graph)
    (only,) = store.communities("gadgets", npea="off")
    assert only.keywords == ("gadgets",)
    (only,) = store.communities("home gadgets", npea="off")
    assert set(only.keywords) == {"gadgets", "home"}


def test_two_forms_of_a_word_are_one_keyword(place: Path) -> None:
    links = [Link(site(f"t{n}"), "font fonts", block=0) for n in range(3)]
    make(place / "web.cocite", [*(Page(site(f"l{n}"), links=links) for n in range(2)), Page(site("o"), "Else")])
    (only,) = cocite.open(place / "web.cocite").communities(pages=[site("l0")])
    assert len(only.keywords) == 0 or only.keywords in (("font",), ("fonts",))


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
    for wrong in (None, 3, b"cars", ["cars"]):
        with pytest.raises(BadParameter, match="query must be a text, not"):
            store.communities(wrong)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match=r"pages must be a list of texts, not \[3\]"):
        store.communities(pages=[3])  # type: ignore[list-item]
    for query in ("", "   "):
        with pytest.raises(BadParameter, match="Nothing to look for"):
            store.communities(query)
    with pytest.raises(BadParameter, match="No word to search for"):
        store.communities("?!")
    with pytest.raises(UnknownPage):
        store.communities(pages="https://nowhere.example/")
    with pytest.raises(BadAddress):
        store.communities(pages="https://")
    with pytest.raises(BadParameter, match="the maximum is 1,000"):
        store.communities(pages=[site("cars0")] * 1001)
    with pytest.raises(BadParameter, match="k must be"):
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


def test_pages_without_any_words(place: Path) -> None:
    make(place / "web.cocite", [Page(site("h"), links=[Link(site("a")), Link(site("b"))])])
    (only,) = cocite.open(place / "web.cocite").communities(pages=site("h"))
    assert only.keywords == () and [member.title for member in only.authorities] == ["", ""]
