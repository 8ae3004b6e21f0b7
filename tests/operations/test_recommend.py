"""Recommendations: pages, keywords and groups from a reading history, and the same on every surface."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest

import cocite
from cocite.errors import BadParameter
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related, why_unrelated
from cocite.python import Store
from cocite.results.visits import Visit
from cocite.sources.records import Link, Page
from cocite.words.keywords import KEYWORDS
from cocite.words.relevance import RELEVANCE
from tests.cli.conftest import run
from tests.graph.webs import make as make_store

TOPICS = {"birds": ("robin", "wren", "finch", "heron", "stork"), "cars": ("audi", "ford", "fiat", "volvo", "skoda")}


def page(name: str) -> str:
    return f"https://{name}.example/"


@pytest.fixture(scope="module")
def web(fast_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Lists of birds and of cars; each page has words."""
    pages = [
        Page(
            f"https://{topic}{n}.example/list",
            f"Good {topic}",
            links=[Link(page(name), name.title(), 0) for name in (names if n % 2 else names[n:])],
            headings=[topic.title()],
        )
        for topic, names in TOPICS.items()
        for n in range(4)
    ]
    for topic, names in TOPICS.items():
        pages += [Page(page(name), name.title(), f"{topic} {topic} {name} words of {names[0]}") for name in names]
    path = tmp_path_factory.mktemp("recommend") / "web.cocite"
    made = Store(make_store(path, pages).path)
    RELEVANCE.build(made.graph, KEYWORDS.build(made.graph))
    yield made


def urls(found: Any) -> list[str]:
    return [answer.url for answer in found]


def test_pages_are_those_of_the_weighted_history(web: Store) -> None:
    found = web.recommend({page("robin"): 3.0, page("audi"): 1.0}, method="cocitation")
    same = Related(history=((page("robin"), 3.0), (page("audi"), 1.0)), method="cocitation").run(web)
    assert urls(found) == urls(same)
    assert not {page("robin"), page("audi")} & set(urls(found))
    assert found[0].url in map(page, TOPICS["birds"])
    assert sorted(answer.rank for _, some in found.groups for answer in some) == [answer.rank for answer in found]


@pytest.mark.parametrize("given", [{"decay": 0.0}, {"half_life": 1.0}, {}])
def test_pages_that_were_read_are_no_results_even_if_they_count_nothing(web: Store, given: dict[str, float]) -> None:
    birds = [page(name) for name in TOPICS["birds"][:3]]
    visits = [Visit(url, date=date * 86_400.0, dwell=dwell)
              for url, date, dwell in zip(birds, (1, 5000, 5001), (30.0, 0.0, 30.0), strict=True)]  # fmt: skip
    found = urls(web.recommend(visits, method="cocitation", k=50, **given))
    assert found and not {*birds} & {*found}


def test_of_a_long_history_without_results_some_pages_are_named(web: Store) -> None:
    read = [*map(web.graph.address, range(web.graph.pages))]
    said = why_unrelated(web, read, "cocitation")
    assert said.startswith(f"{', '.join(read[:5])} and {len(read) - 5} other pages are known, but ")
    assert why_unrelated(web, read[:2], "cocitation").startswith(f"{read[0]}, {read[1]} are known, but ")


def test_recency_dwell_and_decay(web: Store) -> None:
    def first(*visits: Visit, **options: Any) -> str:
        return str(web.recommend(visits, method="cocitation", **options)[0].url)

    old, new = Visit(page("robin"), date=0.0), Visit(page("audi"), date=90 * 86_400.0)
    cars, birds = set(map(page, TOPICS["cars"])), set(map(page, TOPICS["birds"]))
    assert first(old, new) in cars
    assert first(new, old) in cars
    assert first(old._replace(weight=2.0), new, half_life=0) in birds
    assert first(Visit(page("robin"), dwell=300), Visit(page("audi"), dwell=3)) in birds
    assert first(Visit(page("robin")), Visit(page("audi")), decay=0.5) in cars
    assert first(Visit(page("audi")), Visit(page("robin")), decay=0.5) in birds


def test_more_and_less_like_this(web: Store) -> None:
    cars = set(map(page, TOPICS["cars"]))
    plain = web.recommend([page("robin")], k=3, method="cocitation")
    assert not cars & set(urls(plain))
    more = web.recommend([page("robin")], like=[page("audi")], k=10, method="cocitation")
    assert cars & set(urls(more))
    assert page("audi") not in urls(more)
    less = web.recommend([page("robin"), page("audi")], unwanted=[page("ford")], k=10, method="cocitation")
    assert not cars & set(urls(less))
    assert web.recommend([], like=[page("audi")], method="cocitation")[0].url in cars


def test_keywords_against_their_formula(web: Store) -> None:
    """Words of the history: the three of highest tf-idf of each page, by weight; then the sums of r_s and r_l."""
    history = {page("robin"): 2.0, page("ford"): 1.0}
    keywords, relevance = web.keywords, web.relevance
    words: dict[int, float] = {}
    for url, weight in history.items():
        counted = keywords.ordered(web.graph.find(url))
        scores = {word: count * log(relevance.pages / keywords.frequency[word]) for word, count in counted}
        for word in sorted(scores, key=lambda word: -scores[word])[:3]:
            words[word] = words.get(word, 0.0) + weight / 3
    found = web.recommend(history, k=5).keywords
    assert found is not None
    assert sorted(found.words) == sorted(keywords.words[word] for word in words)
    for kind, row in ((found.similar, relevance.all_similar), (found.logical, relevance.all_led_to)):
        values = {
            keywords.words[other]: sum(weight * row(word)[other] for word, weight in words.items())
            for other in range(len(keywords.words))
            if other not in words
        }
        best = sorted((value for value in values.values() if value > 0), reverse=True)[:5]
        assert [each.relevance for each in kind] == pytest.approx(best, rel=1e-4)
        assert all(each.relevance == pytest.approx(values[each.word], rel=1e-4) for each in kind)


def test_clicks_are_used_where_there_are_any(web: Store, tmp_path: Path) -> None:
    assert web.recommend([page("robin")]).method == "auto"
    shutil.copytree(web.graph.path, tmp_path / "web.cocite")
    (tmp_path / "clicks.tsv").write_text(f"{page('robin')}\t{page('volvo')}\t500\n")
    clicked = cocite.open(tmp_path / "web.cocite")
    clicked.add_clicks(tmp_path / "clicks.tsv")
    found = clicked.recommend([page("robin")])
    assert (found.method, found[0].url) == ("whats_related", page("volvo"))
    assert clicked.recommend([page("robin")], method="cocitation").method == "cocitation"


def test_on_the_command_line(web: Store, tmp_path: Path) -> None:
    history = tmp_path / "read.csv"
    history.write_text(f"url,date,dwell\n{page('robin')},2026-01-01,90\n{page('audi')},2026-03-01,5\nno.example,,\n")
    ran = run("recommend", "--history", history, "-i", web.graph.path, "-k", 4)
    assert ran.code == 0
    assert "Not in this store: 1 page of" in ran.err
    assert "Related keywords  " in ran.out
    assert "Because you read " in ran.out
    as_json = json.loads(run("recommend", "--history", history, "-i", web.graph.path, "--json").out)
    assert {"answers", "groups", "keywords"} <= as_json.keys()
    same = web.recommend(history).to_dict()
    assert [answer["url"] for answer in same["answers"]] == [answer["url"] for answer in as_json["answers"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "No page to start from"),
        ({"urls": ("a.example",), "weights": (1.0, 2.0)}, "2 weights for 1 page"),
        ({"urls": ("a.example",), "dates": ("2026", "2025")}, "2 dates for 1 page"),
        ({"urls": ("a.example",), "weights": (0.0,)}, "A weight must be a number above 0"),
        ({"urls": ("a.example",), "decay": 2.0}, "decay must be a number from 0 to 1"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        Recommend(**given)


def test_what_is_refused_when_it_is_asked(web: Store) -> None:
    with pytest.raises(BadParameter, match="a date must be such as"):
        Recommend(urls=(page("robin"),), dates=("soon",)).run(web)
    with pytest.raises(BadParameter, match="No page of the history counts"):
        Recommend(urls=(page("robin"),), dwell=(0.0,)).run(web)
