"""An unknown address is answered for its nearest known shorter one, by every operation that takes a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cocite
from cocite.errors import UnknownPage
from cocite.graph.store import Graph
from cocite.python import Store
from cocite.related.methods import method
from cocite.results.known import find_page
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.search import SEARCH
from tests.cli.conftest import run
from tests.graph.webs import make

ALICE, BOB, HOST = "https://github.com/alice/bird", "https://github.com/bob/fish", "https://github.com/"
A, B, C = (f"https://{name}.example/" for name in "abc")
LISTS = [f"https://list{n}.example/" for n in range(4)]
DEEP = f"{A}path/of/a?page=1#part"
NOTE = f"{DEEP} isn't in this store; these results are for {A}"


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Store:
    """Lists of A, B and C; one of them also has a page of GitHub, and all have its first page."""
    pages = [Page(url, "Birds", links=[Link(each, "bird") for each in (A, B, C, HOST)]) for url in LISTS]
    pages[0].links.append(Link(ALICE, "bird"))
    make(fast_root / "chopping.cocite", pages)
    found = cocite.open(fast_root / "chopping.cocite")
    SEARCH.build(found.graph)
    return found


@pytest.mark.parametrize(
    ("name", "given", "same"),
    [
        ("related", {"pages": DEEP}, {"pages": A}),
        ("related", {"pages": DEEP, "method": "walk"}, {"pages": A, "method": "walk"}),
        ("related", {"pages": B, "unwanted": DEEP}, {"pages": B, "unwanted": A}),
        ("related", {"pages": B, "history": {DEEP: 2.0}}, {"pages": B, "history": {A: 2.0}}),
        ("recommend", {"history": {DEEP: 2.0, B: 1.0}}, {"history": {A: 2.0, B: 1.0}}),
        ("hubs", {"pages": DEEP}, {"pages": A}),
        ("compare", {"page": DEEP, "methods_": ["walk", "lli"]}, {"page": A, "methods_": ["walk", "lli"]}),
        ("communities", {"pages": [DEEP, B]}, {"pages": [A, B]}),
        ("filter", {"root": [DEEP, B]}, {"root": [A, B]}),
        ("similarity", {"page": DEEP, "other": B, "method": "lli"}, {"page": A, "other": B, "method": "lli"}),
        ("links", {"url": DEEP}, {"url": A}),
    ],
)  # fmt: skip
def test_as_if_the_shorter_address_was_asked(web: Store, name: str, given: Any, same: Any) -> None:
    def results(of: dict[str, Any]) -> Any:
        found = getattr(web, name)(**of)
        return found, json.loads(json.dumps(found.to_dict()))

    (found, told), (_, expected) = results(given), results(same)
    assert NOTE in found.note and NOTE in told["note"] and "isn't in this store" not in expected.get("note", "")
    for one in (told, expected):
        plain = json.dumps(one).replace(json.dumps(DEEP)[1:-1], A)
        one["plain"] = [word for word in plain.split('"') if word.startswith("http") and "isn't" not in word]
    assert sorted(set(told["plain"])) == sorted(set(expected["plain"]))


def test_keywords_and_groups(web: Store) -> None:
    assert web.keywords.of_page(DEEP).note == NOTE
    assert web.keywords.of_page(DEEP).keywords == web.keywords.of_page(A).keywords
    assert web.cluster([DEEP, B]) == web.cluster([A, B])


def test_in_a_batch_the_rows_have_the_address_as_given(web: Store, place: Path) -> None:
    file = place / "pages.txt"
    file.write_text(f"{A}\n{DEEP}\n{DEEP}\nnowhere.example\nhttps://\n")
    ran = run("batch", "-i", web.graph.path, "--queries", file, "-m", "cocitation(chop=site)", "-o", place / "r.tsv")
    assert ran.code == 0 and "Used the nearest known shorter address for 1 address of" in ran.err
    assert "Not in this store: 2 addresses" in ran.err
    rows = [line.split("\t") for line in (place / "r.tsv").read_text().splitlines()]
    by_query = {query: [row[1:] for row in rows if row[0] == query] for query in (A, DEEP)}
    assert by_query[A] and by_query[A] == by_query[DEEP] and len(rows) == 2 * len(by_query[A])
    done = web.batch(place / "r.parquet", "cocitation", pages=[DEEP], processes=1)
    assert (done.pages, done.chopped, done.unknown) == (1, 1, 0)
    with pytest.raises(UnknownPage):
        web.batch(place / "s.parquet", "cocitation", pages=["nowhere.example"])


def test_within_a_site_or_a_host(web: Store) -> None:
    """By default chopping stops at the site, here a user's project; the published rule ends at the host name."""
    graph = web.graph
    assert graph.address(find_page(graph, f"{ALICE}/issues/3").page) == ALICE
    with pytest.raises(UnknownPage):
        find_page(graph, BOB)
    with pytest.raises(UnknownPage):
        web.related(BOB, "cocitation(chop=strict)")
    assert graph.address(find_page(graph, BOB, "host").page) == HOST
    found = web.related(BOB, "cocitation(chop=host)", k=3)
    assert [each.url for each in found] == [each.url for each in web.related(HOST, "cocitation", k=3)] != []
    assert found.note == f"{BOB} isn't in this store; these results are for {HOST}"
    with pytest.raises(UnknownPage):
        web.related(DEEP, "cocitation(chop=none)")


def test_a_known_page_with_few_links_is_chopped_up_to_its_host(web: Store) -> None:
    """Cocitation needs 15 siblings that are cocited twice: only the first page of the host has them."""
    many = [Page(url, links=[Link(HOST), *(Link(f"https://s{n}.example/") for n in range(16))]) for url in LISTS]
    records = [*many, Page("https://one.example/", links=[Link(ALICE), Link(A)])]
    found = Web(Graph.from_records(records))
    options = {"window": "0", "merge": "false"}
    page = [found.graph.find(ALICE)]
    assert method("cocitation", {**options, "chop": "host"}).relate(found, page).used == [found.graph.find(HOST)]
    assert method("cocitation", options).relate(found, page).used == page


def test_exit_codes(web: Store) -> None:
    ran = run("related", DEEP, "-i", web.graph.path)
    assert ran.code == 0 and ran.out.startswith(NOTE)
    assert run("related", "nowhere.example", "-i", web.graph.path).code == 3
    ran = run("recommend", DEEP, f"{B}deep", "-i", web.graph.path)
    assert ran.out.startswith(f"Shorter addresses are used for 2 pages that aren't in this store, e.g. {NOTE}")
