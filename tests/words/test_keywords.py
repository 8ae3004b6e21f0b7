"""Keywords: which words a page has, and what becomes of them when things go wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import cocite
from cocite.errors import BadParameter, BadStore, UnknownWord
from cocite.graph.side import faults_of_sides
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.keywords import KEYWORDS, KeywordIndex, make_keywords
from cocite.words.relevance import RELEVANCE, links_of
from tests.graph.webs import examples, extend, make
from tests.words import naive_words
from tests.words.webs import webs

A, B, C = (f"https://{name}.example/" for name in "abc")


def made(place: Path, pages: Sequence[Page]) -> Graph:
    make(place / "web.cocite", pages)
    return Graph(place / "web.cocite")


def words_of_page(graph: Graph, keywords: KeywordIndex, url: str) -> dict[str, int]:
    return {keywords.words[word]: count for word, count in keywords.ordered(graph.find(url))}


def test_the_most_frequent_words_of_a_text(place: Path) -> None:
    text = "The chess club: chess for all, and the gambit of the gambit season. Endgame"
    graph = made(place, [Page(A, "Chess club", text=text, headings=["Gambit"])])
    keywords = make_keywords(graph)
    # chess: title, text twice; gambit: heading, text twice; club: title, text. Others stand once, or are stop words.
    assert words_of_page(graph, keywords, A) == {"chess": 3, "gambit": 3, "club": 2, "endgame": 1, "season": 1}
    assert keywords.ids.tolist() == sorted(keywords.ids.tolist())
    assert list(keywords.words) == ["chess", "club", "endgame", "gambit", "season"]
    assert (keywords.find("CHESS"), keywords.find("chess club")) == ([0], [0, 1])
    with pytest.raises(UnknownWord):
        keywords.find("the")


def test_ties_go_to_what_appears_first(place: Path) -> None:
    graph = made(place, [Page(A, "zebra", text="walrus yak vole"), Page(B, text="stop")])
    assert set(words_of_page(graph, make_keywords(graph, per_page=2), A)) == {"zebra", "walrus"}
    assert len(make_keywords(graph, per_page=1).words) == 1 + ("stop" in make_keywords(graph, 1).words)


def test_anchor_texts_of_a_page_without_text(place: Path) -> None:
    lists = [
        Page(A, links=[Link(C, "Chess engine", 0)], headings=["Games"]),
        Page(B, links=[Link(C, "chess", 0)], headings=["games"]),
    ]
    graph = made(place, [*lists, Page(C, "Own title", text="")])
    assert words_of_page(graph, make_keywords(graph), C) == {"chess": 2, "games": 2, "engine": 1}


def test_words_of_one_lists_headings_are_no_keywords(place: Path) -> None:
    """As in a book of lists: its name is above every section."""
    book = Page(A, links=[Link(C, "KeePassXC", 0)], headings=["Book of secrets (chapters) / Vaults"])
    other = Page(B, links=[Link(C, "a vault", 0)], headings=["Vaults"])
    graph = made(place, [book, other])
    assert words_of_page(graph, make_keywords(graph), C) == {"vaults": 2, "keepassxc": 1, "vault": 1}


def test_stop_words_of_the_lists_languages(place: Path) -> None:
    """A German and an English list; `aus` is a stop word of the one."""
    german = ["Aus dem Ausland und der Welt", "Was wir sonst noch gern lesen", "Das war auch nicht schlecht"]
    lists = [
        Page(A, links=[Link(C, "Aus der Zeitung", 0), Link(B, "x", 1), Link(B, "y", 2)], headings=german),
        Page("https://d.example/", links=[Link(C, "Times of the day", 0), Link(B, "aus", 0)], headings=["News"]),
    ]
    graph = made(place, lists)
    keywords = make_keywords(graph)
    assert set(words_of_page(graph, keywords, C)) == {"times", "day", "zeitung"}
    assert not {"aus", "der", "wir", "und", "noch", "sonst"} & set(keywords.words)


def test_title_and_headings_where_there_is_nothing_else(place: Path) -> None:
    graph = made(place, [Page(A, "Endgame tables"), Page(B, "Chess", text="the and of", headings=["Rook"])])
    keywords = make_keywords(graph)
    assert words_of_page(graph, keywords, A) == {"endgame": 1, "tables": 1}
    assert words_of_page(graph, keywords, B) == {"chess": 1, "rook": 1}


def test_pages_without_words(place: Path) -> None:
    pages = [
        Page(A, text="the of and"),
        Page(B, links=[Link(C)]),
        Page("https://d.example/", noindex=True, text="chess"),
    ]
    keywords = make_keywords(made(place, pages))
    assert keywords.starts.tolist() == [0] * (len(pages) + 2)
    assert (len(keywords.words), len(keywords.ids), keywords.words.find("chess")) == (0, 0, None)
    with pytest.raises(UnknownWord, match="Unknown keyword 'chess'; try another word"):
        keywords.find("chess")


def test_stop_words_of_the_language(place: Path) -> None:
    german = "Die Eröffnung der Partie war nicht das Ende, und wir haben es auch so gesehen"
    graph = made(place, [Page(A, text=german), Page(B, text="die war", lang="de"), Page(C, text="die war", lang="en")])
    keywords = make_keywords(graph)
    assert "eroffnung" in words_of_page(graph, keywords, A)
    assert not {"die", "war", "und", "auch"} & set(words_of_page(graph, keywords, A))
    assert words_of_page(graph, keywords, B) == {}
    assert words_of_page(graph, keywords, C) == {"die": 1, "war": 1}


def test_english_stop_words_of_a_text_in_another_language(place: Path) -> None:
    text = "Der Satz von Gauß und die Kurve: the theorem of Gauss is about the curve, and the proof is with the curve."
    graph = made(place, [Page(A, text=text, lang="de")])
    found = set(words_of_page(graph, make_keywords(graph), A))
    assert {"kurve", "curve"} <= found and not {"the", "of", "is", "and", "with", "about", "der", "und"} & found


def test_other_scripts(place: Path) -> None:
    pages = [Page(A, text="数据库的设计 一个 数据"), Page(B, text="شطرنج من شطرنج"), Page(C, text="שחמט של שחמט")]
    graph = made(place, pages)
    keywords = make_keywords(graph)
    assert words_of_page(graph, keywords, A) == {"数据": 2, "据库": 1, "设计": 1}
    assert words_of_page(graph, keywords, B) == {"شطرنج": 2}
    assert words_of_page(graph, keywords, C) == {"שחמט": 2}
    assert keywords.find("数据库") == [keywords.words.find("数据"), keywords.words.find("据库")]


@given(webs())
@examples(12)
def test_every_page_has_its_most_frequent_words(place_of_webs: Path, web: list[Page]) -> None:
    path = place_of_webs / "web.cocite"
    make(path, web)
    graph = Graph(path)
    keywords = make_keywords(graph, per_page=3)
    assert keywords.frequency.tolist() == np.bincount(keywords.ids, minlength=len(keywords.words)).tolist()
    for page in range(graph.pages):
        expected = naive_words.keyword_counts(graph, page)
        found = {keywords.words[word]: count for word, count in keywords.ordered(page)}
        assert sorted(found.values(), reverse=True) == sorted(expected.values(), reverse=True)[:3]
        assert found.items() <= expected.items()


@pytest.fixture(scope="module")
def place_of_webs(fast_root: Path) -> Path:
    folder = fast_root / "keywords"
    folder.mkdir()
    return folder


def test_stored_and_opened_again(place: Path) -> None:
    graph = made(place, [Page(A, text="chess club", links=[Link(B)]), Page(B, text="chess engine")])
    with pytest.raises(
        BadStore, match=r"has no keyword index yet: make it with cocite keywords --make -i .*web.cocite"
    ):
        KEYWORDS.open(graph)
    fresh, kept = make_keywords(graph), KEYWORDS.ready(graph)
    for name in ("starts", "ids", "counts", "frequency"):
        assert getattr(kept, name).tolist() == getattr(fresh, name).tolist()
    assert list(kept.words) == list(fresh.words)
    assert KEYWORDS.ready(graph).made == kept.made != KEYWORDS.build(graph, per_page=1).made
    assert KEYWORDS.open(graph).per_page == 1
    assert list(faults_of_sides(graph)) == []


def test_relevance_stored_and_opened_again(place: Path) -> None:
    graph = made(
        place, [Page(A, text="chess club", links=[Link(B)]), Page(B, text="chess engine"), Page(C, text="yak")]
    )
    fresh = Web(graph.path)
    keywords = KEYWORDS.ready(graph)
    with pytest.raises(BadStore, match="has no keyword relevance yet: make it with cocite keywords --make"):
        RELEVANCE.open(graph, keywords)
    kept = RELEVANCE.ready(graph, keywords)
    numbers = range(len(keywords.words))
    assert [[kept.all_similar(a)[b] for a in numbers] for b in numbers] == [
        [fresh.relevance.all_similar(a)[b] for a in numbers] for b in numbers
    ]
    assert (kept.pages, kept.support, kept.mutual) == (3, fresh.relevance.support, fresh.relevance.mutual)
    again = KEYWORDS.build(graph, per_page=1)
    with pytest.raises(BadStore, match="is of other keywords: make it again with"):
        RELEVANCE.open(graph, again)
    assert RELEVANCE.build(graph, again).pages == 3
    rows = links_of(graph)
    assert (rows.starts.tolist(), rows.columns.tolist()) == ([0, 1, 1, 1], [graph.find(B)])


def test_after_a_change_they_are_stale_and_go(place: Path) -> None:
    path = place / "web.cocite"
    cocite.build([write(place, Page(A, text="chess"))], path)
    RELEVANCE.build(Graph(path), KEYWORDS.build(Graph(path)))
    extend(path, [Page(B, text="shogi")])
    with pytest.raises(BadStore, match=r"the keywords of .* was made before the store was changed: make it again with"):
        KEYWORDS.open(Graph(path))
    cocite.build([write(place, Page(C, text="checkers"))], path, adding=True)
    assert not list((path / "side").glob("keywords*")) + list((path / "side").glob("relevance*"))
    assert list(Web(path).keywords.words) == ["checkers", "chess", "shogi"]


def write(place: Path, page: Page) -> Path:
    file = place / "pages.jsonl"
    file.write_text(json.dumps({"url": page.url, "text": page.text}) + "\n")
    return file


@pytest.mark.parametrize("array", ["starts", "ids", "counts", "words.starts"])
def test_damage_is_refused(place: Path, array: str) -> None:
    graph = made(place, [Page(A, text="chess club"), Page(B, text="chess engine")])
    KEYWORDS.build(graph)
    (file,) = (graph.path / "side").glob(f"keywords-*/{array}.bin")
    file.write_bytes(b"\xff" * file.stat().st_size if array != "counts" else b"")
    with pytest.raises(BadStore, match="damaged"):
        KEYWORDS.open(graph)


def test_damaged_relevance_is_refused(place: Path) -> None:
    graph = made(place, [Page(A, text="chess club"), Page(B, text="chess engine")])
    keywords = KEYWORDS.build(graph)
    RELEVANCE.build(graph, keywords)
    for file in (graph.path / "side").glob("relevance-*/*.bin"):
        if "times" in file.name or not file.stat().st_size:
            continue
        before = file.read_bytes()
        file.write_bytes(b"\xfe" * len(before))
        with pytest.raises(BadStore, match="damaged"):
            RELEVANCE.open(graph, keywords)
        file.write_bytes(before)
    assert RELEVANCE.open(graph, keywords).pages == 2


@pytest.mark.parametrize("per_page", [0, -1, 1001])
def test_a_number_of_keywords_that_makes_no_sense(place: Path, per_page: int) -> None:
    with pytest.raises(BadParameter, match=r"per_page is .*: give a number from 1 to 1000"):
        make_keywords(made(place, [Page(A)]), per_page)
