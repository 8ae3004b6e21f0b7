"""`cocite hubs`: what it finds, what it says of its way, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cocite
from cocite.sources.records import Link, Page
from tests.cli.conftest import LONELY, run
from tests.graph.webs import make, page

HUB, START = "https://hub.example/", "https://start.example/"
EIGHT = [f"https://page{n}.example/" for n in range(8)]


@pytest.fixture(scope="module")
def hubs(fast_root: Path) -> Path:
    """A hub that links to eight pages and to the start page; a page that links only to the start page."""
    path = fast_root / "hubs" / "web.cocite"
    path.parent.mkdir()
    make(
        path,
        [
            page(HUB, START, *EIGHT),
            page("https://poor.example/", START),
            page(START, EIGHT[0]),
            page(LONELY),
        ],
    )
    return path


def test_hubs(hubs: Path) -> None:
    ran = run("hubs", START, "-i", hubs, "--by", "out_degree")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].split("\t")[1:3] == ["9", HUB]
    assert "poor.example" not in ran.out  # a hub at distance 1 needs min(2 + 1, 10) = 3 out-links
    # At distance 1, of the hub, the poor page, and the page linked to; at 2, of the pages of the hub.
    assert ran.out.splitlines()[-1] == "Explored 1 of 11 pages up to 2 links away"
    for option in ((), ("--untrimmed",)):
        ran = run("hubs", START, "-i", hubs, "--by", "out_degree", *option, "--json")
        found = json.loads(ran.out)
        assert (found["method"], found["answers"][0]["url"], found["answers"][0]["score"]) == ("hubfinder", HUB, 9)
        assert found["steps"] == [
            {"distance": 1, "met": 3, "passed": 1, "explored": 1, "untrimmed": 3},
            {"distance": 2, "met": 8, "passed": 0, "explored": 0, "untrimmed": 7},
        ]


def test_lists_that_have_the_page_come_first(place: Path) -> None:
    """The far hub has the most links, the near one links to both pages, and the others to one."""
    other = "https://other.example/"
    far = page("https://far.example/", "https://one.example/", *(f"https://x{n}.example/" for n in range(30)))
    near = [page(f"https://{name}.example/", *urls, *EIGHT[:size])
            for name, size, *urls in (("one", 5, START), ("two", 7, START), ("both", 2, START, other))]  # fmt: skip
    make(place / "web.cocite", [far, *near])
    web = cocite.open(place / "web.cocite")
    found = [answer.url for answer in web.hubs([START, other], criterion="out_degree")]
    assert found == [f"https://{name}.example/" for name in ("both", "two", "one", "far")]
    assert web.related(START, "hubfinder(criterion=out_degree)")[0].url == far.url  # as published: by score alone


def test_in_python(hubs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = cocite.open(hubs)
    assert [step["untrimmed"] for step in web.hubs(START, criterion=None, rounds=3).steps] == [3, 7]
    assert web.related(START, "hubfinder(criterion=out_degree)").steps[0] == {
        "distance": 1, "met": 3, "passed": 1, "explored": 1,
    }  # fmt: skip
    monkeypatch.setattr("cocite.operations.pages.hubs.MAX_COMPARED_LINKS", 3)
    few = web.hubs(START, criterion="out_degree")
    assert [step["untrimmed"] for step in few.steps] == [3, None]  # the second round has more than three links
    assert "steps" not in web.related(START, "cocitation").to_dict()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((LONELY, "--by", "out_degree"), f"No links to or from {LONELY}: see cocite links"),
        ((START, "--by", "text"), "--by text compares texts, and this store has none: leave it out, or build"),
        ((START, "--likeness", "0.5", "--by", "out_degree"), "--likeness 0.5 compares texts, and this store has none"),
        (
            (EIGHT[3], "--by", "in_degree", "--rounds", "0"),
            f"Explored 1 page around {EIGHT[3]}, but none has in-links",
        ),
    ],
)
def test_why_there_is_nothing(hubs: Path, args: tuple[str, ...], says: str) -> None:
    ran = run("hubs", *args, "-i", hubs)
    assert ran.code == 1 and len(ran.err.strip().splitlines()) == 1
    assert says in ran.err


def test_pages_with_few_links_are_no_hubs(place: Path) -> None:
    make(place / "web.cocite", [page(START, HUB), page(HUB, LONELY)])
    ran = run("hubs", START, "-i", place / "web.cocite", "--by", "out_degree")
    assert ran.code == 1 and "Explored 1 page around " in ran.err
    assert "but none has the out-links of a hub, 3 or more: try authorities" in ran.err
    assert run("hubs", START, "--authorities", "-i", place / "web.cocite").code == 0


def test_texts_that_are_not_alike(place: Path) -> None:
    other = Page(EIGHT[0], "newspapers", links=[Link(url) for url in (START, *EIGHT[1:3])])  # enough for a hub
    make(place / "web.cocite", [Page(START, "cars", links=[Link(EIGHT[0])]), other])
    ran = run("hubs", START, "-i", place / "web.cocite", "--by", "text")
    assert ran.code == 1 and "but none shares a word with them: leave out --by text" in ran.err
    ran = run("hubs", START, "-i", place / "web.cocite", "--by", "in_degree", "--likeness", "0.9")
    assert ran.code == 1 and "but none has a text similarity of 0.9 with them: leave out --likeness 0.9" in ran.err


def test_authorities(hubs: Path) -> None:
    ran = run("hubs", START, "-i", hubs, "--authorities", "--by", "in_degree", "-k", "1")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].split("\t")[1:3] == ["2", EIGHT[0]]


def test_invalid_arguments_are_refused(hubs: Path) -> None:
    assert run("hubs", LONELY, "-i", hubs, "--by", "out_degree").code == 1
    assert run("hubs", "https://nowhere.example/", "-i", hubs).code == 3
    ran = run("hubs", START, "-i", hubs, "--by", "beauty")
    assert ran.code == 2
    assert "beauty" in ran.err
    assert "hubrank" in ran.err
    assert run("hubs", START, "-i", hubs, "--rounds", "9").code == 2
