"""cocite keywords, and the same from Python."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import cocite
from cocite.errors import BadParameter, UnknownWord
from cocite.sources.records import Link, Page
from tests.cli.conftest import run
from tests.graph.webs import make

CHESS, CLUB, SHOGI, EMPTY = (f"https://{name}.example/" for name in ("chess", "club", "shogi", "empty"))
PAGES = [
    Page(CHESS, text="chess chess gambit", links=[Link(SHOGI)]),
    Page(CLUB, text="chess gambit club", links=[Link(SHOGI)]),
    Page(SHOGI, text="shogi club"),
    Page(EMPTY, text="of the and"),
]


@pytest.fixture
def web(place: Path) -> Path:
    make(place / "web.cocite", PAGES)
    return place / "web.cocite"


def test_words_to_go_on_with(web: Path) -> None:
    ran = run("keywords", "Chess", "-i", web, "-q")
    assert ran.code == 0, ran.err
    # N = 3 pages have keywords. chess and gambit share 2, the most of any pair, and always stand together, which tells
    # the most: r_s = 1. shogi stands where chess does not, which tells as much, but without support: 0.5.
    similar, logical = ran.out.split("logical\n")
    assert similar.splitlines() == [
        "similar",
        "1\tgambit\t\t2 pages",
        "0.5\tshogi\t\t1 page",
        "0.25\tclub\t\t2 pages",
    ]
    # Fewer than five pages have each word, so that only support is left: 2 and 1 of at most 2.
    assert logical.splitlines() == ["0.5\tgambit\t\t2 pages", "0.25\tclub\t\t2 pages"]
    assert sorted(file.name for file in (web / "side").glob("*.json")) == ["keywords.json", "relevance.json"]


def test_json_and_shares(web: Path) -> None:
    found = json.loads(run("keywords", "chess", "-i", web, "-k", "1", "--alpha", "1", "--beta", "1", "--json").out)
    best = {"word": "gambit", "relevance": 1.0, "pages": 2}
    assert found == {"words": ["chess"], "similar": [best], "logical": [best]}


def test_a_page(web: Path) -> None:
    ran = run("keywords", "--page", "chess.example", "-i", web, "-q")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        f"{CHESS}  main: chess, gambit",
        "1\tchess\t2×\t2 pages",
        "1\tgambit\t1×\t2 pages",
    ]
    found = json.loads(run("keywords", "--page", CLUB, "-i", web, "--json").out)
    assert found["page"] == CLUB
    words = sorted(found["keywords"], key=lambda word: -word["count"] * math.log(3 / word["pages"]))  # of 3 pages
    assert found["main"] == [word["word"] for word in words[:3]]
    assert found["keywords"][0] == {"word": "chess", "relevance": 1.25, "pages": 2, "count": 1}


def test_nothing_to_show(web: Path) -> None:
    ran = run("keywords", "--page", EMPTY, "-i", web, "-q")
    assert (ran.code, ran.out) == (1, f"{EMPTY}  main: none\n")
    assert ran.err == f"cocite: No words are known for {EMPTY}, so it has no keywords\n"


def test_a_vocabulary_of_one(place: Path) -> None:
    make(place / "web.cocite", [Page(CHESS, text="chess")])
    ran = run("keywords", "chess", "-i", place / "web.cocite", "-q")
    assert (ran.code, ran.out) == (1, "similar  none\nlogical  none\n")
    assert ran.err == "cocite: No other keyword is related to chess; try others\n"
    assert (
        run("keywords", "--page", CHESS, "-i", place / "web.cocite", "-q").out
        == f"{CHESS}  main: chess\n0\tchess\t1×\t1 page\n"
    )


def test_unknown_words(web: Path) -> None:
    ran = run("keywords", "chess", "gambits", "-i", web, "-q")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "cocite: Unknown keyword 'gambits'; did you mean gambit?\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "Nothing to ask about: give words, or a page"),
        (["chess", "--page", CHESS], "Give either words or a page, not both"),
        (["chess", "--per-page", "5"], "--per-page needs --make"),
        (["chess", "--alpha", "1.5"], "--alpha must be a number from 0 to 1, not 1.5"),
        (["chess", "--beta", "nan"], "--beta must be a number from 0 to 1, not nan"),
        (["chess", "--beside", "luck"], "--beside must be one of support, information, not 'luck'"),
        (["?!"], "'?!' has no word that could be a keyword: give at least two letters"),
        (["--make", "--per-page", "0"], "--per-page is 0: give a number from 1 to 1000"),
    ],
)
def test_wrong_use(web: Path, arguments: list[str], error: str) -> None:
    ran = run("keywords", *arguments, "-i", web, "-q")
    assert (ran.code, ran.out, ran.err) == (2, "", f"cocite: {error}\n")


def test_making_anew(web: Path) -> None:
    ran = run("keywords", "--make", "--per-page", "1", "-i", web, "-q")
    assert (ran.code, ran.out) == (0, f"{web}  2 keywords of 3 pages\n")
    made = json.loads(run("keywords", "--make", "--json", "-i", web).out)
    assert made == {"store": str(web), "keywords": 4, "pages": 3, "per_page": 20}


def test_from_python(web: Path) -> None:
    store = cocite.open(web)
    found = store.keywords("chess", k=2)
    assert [(keyword.word, keyword.relevance) for keyword in found.similar] == [("gambit", 1.0), ("shogi", 0.5)]
    assert store.keywords.of_page(SHOGI).main == ["shogi", "club"]  # club is on two of three pages
    assert sorted(side.stem for side in (web / "side").glob("*.json")) == ["keywords", "relevance"]  # for the next time
    with pytest.raises(UnknownWord) as raised:
        store.keywords(["ches"])
    assert raised.value.nearest == ["chess"]
    with pytest.raises(BadParameter, match="Nothing to ask about: give words, or a page"):
        store.keywords([])
