"""Operations: declared once, checked when they are made, answered from a store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, UnknownPage
from cocite.graph.store import Graph
from cocite.operations.declare import Operation, make, operations_by_name, parameters_on
from cocite.operations.pages.cluster import Cluster
from cocite.operations.pages.compare import Compare
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.pages.similarity import Similarity
from cocite.operations.store.info import Info, describe
from cocite.operations.store.links import ShowLinks
from cocite.operations.store.methods import Methods
from cocite.operations.store.rank import RankPages
from cocite.operations.words.communities import FindCommunities
from cocite.operations.words.keywords import FindKeywords
from cocite.operations.words.search import SearchPages
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.search import SEARCH
from tests.graph.webs import make as make_store

DAILIES = [f"https://daily{i}.example/" for i in range(6)]
LISTS = [f"https://list{i}.example/papers" for i in range(5)]


@pytest.fixture(scope="module")
def web(fast_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Five lists of daily newspapers, each newspaper with a page of words."""
    pages = [
        Page(
            url,
            "Newspapers",
            links=[Link(daily, f"Daily {i}", 0) for i, daily in enumerate(DAILIES)],
            headings=["News"],
        )
        for url in LISTS
    ]
    pages += [
        Page(url, f"Daily {i}", text="A newspaper with politics and weather", lang="en" if i % 2 else "de")
        for i, url in enumerate(DAILIES)
    ]
    path = tmp_path_factory.mktemp("operations") / "web.cocite"
    make_store(path, pages)
    SEARCH.ready(Graph(path))
    yield Web(path)


def test_each_operation_is_found_by_its_name() -> None:
    found = operations_by_name()
    assert set(found) >= {
        "cluster", "communities", "compare", "hubs", "info", "keywords", "links", "methods", "rank", "recommend",
        "related", "search", "similarity",
    }  # fmt: skip
    for name, each in found.items():
        assert each.about.summary.endswith("."), name
        assert all(example.startswith(f"cocite {name}") for example in each.about.examples), name


def test_results_are_ready_for_json(web: Web) -> None:
    asked: list[Operation] = [
        Related(urls=(DAILIES[0],), group=True), Recommend(urls=tuple(DAILIES[:2]), weights=(2, 1)),
        Compare(urls=(DAILIES[0],), methods=("cocitation", "companion")), Hubs(urls=(DAILIES[0],), by="out_degree"),
        FindCommunities(query="newspaper", no_npea=True), Cluster(urls=tuple(DAILIES)),
        FindKeywords(words=("newspaper",)), FindKeywords(page=DAILIES[0]),
        SearchPages(query="newspaper"), RankPages(keep=False), Methods(), Info(),
        ShowLinks(url=DAILIES[0]), Similarity(page=DAILIES[0], other=DAILIES[1], method="cocitation"),
    ]  # fmt: skip
    for each in asked:
        result: Any = each.run(web)
        json.dumps(result.to_dict())
        assert each.why_empty(web, result) == "", each


def test_groups_are_in_the_json_of_related_pages(web: Web) -> None:
    found = Related(urls=(DAILIES[0],), group=True, k=4).run(web).to_dict()
    assert sorted(rank for group in found["groups"] for rank in group["ranks"]) == [1, 2, 3, 4]
    assert "groups" not in Related(urls=(DAILIES[0],), k=4).run(web).to_dict()
    with pytest.raises(BadParameter, match="by needs --group: give both, or leave it out"):
        Related(urls=(DAILIES[0],), by="integrated")


def test_an_unknown_address_is_answered_for_its_nearest_shorter_one(web: Web) -> None:
    found = Related(urls=(f"{DAILIES[0]}politics/today",), method="cocitation").run(web)
    same = Related(urls=(DAILIES[0],), method="cocitation").run(web)
    assert found.query == (f"{DAILIES[0]}politics/today",)
    assert [answer.url for answer in found] == [answer.url for answer in same]
    assert found.used == same.used == ("daily0.example",)
    assert found.to_dict()["note"] == (
        f"{DAILIES[0]}politics/today isn't in this store; these results are for {DAILIES[0]}"
    )
    assert "note" not in same.to_dict()
    with pytest.raises(UnknownPage):
        Related(urls=("unknown.example/page",)).run(web)


def test_filters_apply_to_every_operation_that_returns_pages(web: Web) -> None:
    known = {answer.url for answer in Related(urls=(DAILIES[0],), lang="en").run(web)}
    assert known == set(DAILIES[1::2])
    compared = Compare(urls=(DAILIES[0],), methods=("cocitation",), lang="en").run(web)
    assert {answer.url for answers in compared.by_method.values() for answer in answers} == known
    hubs = Hubs(urls=(DAILIES[0],), by="out_degree", site=("list1.example", "list2.example")).run(web)
    assert {answer.url for answer in hubs} == set(LISTS[1:3])
    read = Recommend(urls=(DAILIES[0],), not_site=("daily1.example",), lang="en").run(web)
    assert {answer.url for answer in read} == known - {DAILIES[1]}
    found = SearchPages(query="politics", lang="en", k=2).run(web)
    assert [answer.rank for answer in found] == [1, 2]
    assert {answer.url for answer in found} < known
    top = RankPages(by="pagerank", lang="en", k=2, keep=False).run(web).top
    assert [page.rank for page in top] == [1, 2]
    assert {page.url for page in top} < known | {DAILIES[0]}
    around = ShowLinks(url=LISTS[0], site=("daily1.example",)).run(web)
    assert [link.url for section in around.blocks for link in section.links] == [DAILIES[1]]
    cited = ShowLinks(url=DAILIES[0], not_site=("list1.example",)).run(web).cited_by
    everywhere = ShowLinks(url=DAILIES[0]).run(web).cited_by
    assert [link.url for link in cited] == [link.url for link in everywhere if link.url != LISTS[1]]
    assert len(cited) == len(everywhere) - 1
    with pytest.raises(BadParameter, match="unlinked would hide all links"):
        ShowLinks(url=LISTS[0], unlinked=True)


def test_why_nothing_passes_the_filters(web: Web) -> None:
    for asked in (
        Related(urls=(DAILIES[0],), site=("none.example",)), SearchPages(query="politics", site=("none.example",)),
        Compare(urls=(DAILIES[0],), site=("none.example",)), Hubs(urls=(DAILIES[0],), site=("none.example",)),
        RankPages(keep=False, site=("none.example",)), ShowLinks(url=DAILIES[0], site=("none.example",)),
    ):  # fmt: skip
        result: Any = asked.run(web)
        assert asked.why_empty(web, result) == "This store has no page of none.example: check the spelling"
        asked = replace(asked, site=(DAILIES[0], "none.example"), not_site=(DAILIES[0],))
        assert "passes the filters" in asked.why_empty(web, asked.run(web))
    asked = Related(urls=(DAILIES[0],), since="2020")
    assert asked.why_empty(web, asked.run(web)) == (
        "This store doesn't have the date of any page: ask without since and until"
    )


def test_weights_of_a_history(web: Web) -> None:
    assert make(Recommend, "http", {"url": ["a.com", "b.com"], "weight": ["2", "1.5"]}).weights == (2.0, 1.5)
    for weights, message in (((1.0,), "1 weights for 2 pages"), ((1.0, 0.0), "above 0"), ((1.0, -2), "from 0")):
        with pytest.raises(BadParameter, match=message):
            Recommend(urls=("a.com", "b.com"), weights=weights)


def test_pages_to_group_that_are_unknown(web: Web) -> None:
    with pytest.raises(UnknownPage):
        Cluster(urls=(*DAILIES, "unknown.example")).run(web)
    assert Cluster(urls=(*DAILIES, "unknown.example"), skip_unknown=True).run(web).unknown == ("unknown.example",)
    with pytest.raises(UnknownPage):
        Cluster(urls=("unknown.example",), skip_unknown=True).run(web)


def test_strangers_have_bounds() -> None:
    with pytest.raises(BadParameter, match="k must be a whole number from 1 to 1000"):
        make(Related, "http", {"url": ["a.com"], "k": "2000"})
    with pytest.raises(BadParameter, match="k must be a whole number from 1 to 50"):
        make(Related, "mcp", {"urls": ["a.com"], "k": 51})
    with pytest.raises(BadParameter, match="url is given 51 times; the maximum is 50"):
        make(Related, "http", {"url": ["a.com"] * 51})
    with pytest.raises(BadParameter, match="url has 4,097 characters; the maximum is 4,096"):
        make(ShowLinks, "http", {"url": "a" * 4097})
    assert make(ShowLinks, "http", {"url": "a.com", "k": "0"}).k == 1000
    assert make(ShowLinks, "cli", {"url": "a.com", "k": "0"}).k == 0
    assert make(Compare, "mcp", {"urls": ["a.com"]}).k == 5
    for each in operations_by_name().values():
        for surface in ("http", "mcp"):
            if each.about.route if surface == "http" else each.about.tool:
                for _, known in parameters_on(each, surface):
                    bounded = known.maximum is not None if known.type in (int, float) else known.max_length <= 4096
                    assert bounded or known.type is bool or known.choices, (each, surface, known.name)
                    assert not known.many or known.max_items, (each, surface, known.name)


def test_a_store_is_described_to_strangers_without_its_path(web: Web) -> None:
    public, own = Info().run(web).to_dict(), describe(web.graph.path)
    assert {"path", "store", "sources"}.isdisjoint(public)
    assert own["store"] == str(web.graph.path)
    assert public["search"] is True
    assert public["pages"] == own["pages"]
