"""What may have been meant by an unknown address."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.nearest import IN_HOST, WINDOW_PAGES, chopped, edits, other_suffixes
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from tests.graph.webs import make, page

TIMES, POST, AIR = "https://www.nytimes.com/", "https://www.washingtonpost.com/", "https://www.lufthansa.com/"
DEEP = "https://www.deep.example/a/links.html"
SITE = [f"https://site.example/{name}" for name in ("", "news/", "news/one", "news/two", "about")]


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Graph:
    lists = [page(f"https://list{i}.example/", TIMES, AIR, DEEP, *SITE[i:]) for i in range(5)]
    moved = Page("https://oldtimes.example/", redirect=TIMES)
    names = page("name:Ada Lovelace", "name:Charles Babbage", POST)
    make(fast_root / "nearest.cocite", [*lists, moved, names])
    return Graph(fast_root / "nearest.cocite")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("nytimes.co", TIMES),  # a letter too few at the end
        ("nytmes.com", TIMES),  # and in the middle
        ("nyytimes.com", TIMES),  # too many
        ("nytimez.com", TIMES),  # wrong
        ("ntyimes.com", TIMES),  # two exchanged
        ("https://www.nytimes.cm/", TIMES),
        ("lufthansa", AIR),  # a name without a suffix
        ("Lufthansa", AIR),
        ("lufthansa.de", AIR),  # under another suffix
        ("shop.lufthansa.co.uk", AIR),
        ("nytmes.com/section/none", TIMES),  # the path is unknown too
        ("dep.example/a/links.html", DEEP),  # of that host only a page below it is known
        ("deep.example/a/link.html", DEEP),
        ("deep.example/a/lniks.html", DEEP),
        ("oldtimess.example", TIMES),  # an alias leads on
        ("Ada Lovelac", "Ada Lovelace"),
        ("ada lovelace", "Ada Lovelace"),
    ],
)
def test_the_likely_address_comes_first(web: Graph, asked: str, meant: str) -> None:
    assert web.get(asked) is None
    assert web.names.nearest(asked)[:1] == [meant]


def test_shorter_addresses_then_the_most_cited_beside_it(web: Graph) -> None:
    # Links in: / 1, news/ 2, news/one 3, news/two 4, about 5.
    assert web.names.nearest("site.example/news/three/x") == [SITE[i] for i in (1, 0, 3, 2, 4)]
    assert web.names.nearest("site.example/none") == [SITE[0], SITE[4], SITE[3], SITE[2], SITE[1]]
    assert web.names.nearest("site.example/none", limit=2) == [SITE[0], SITE[4]]


def test_a_host_with_deeper_pages_only(web: Graph) -> None:
    assert web.names.nearest("deep.example") == [DEEP]


@pytest.mark.parametrize(
    "asked", ["", " ", "http://", "http://[", "mailto:x", "☃", "x" * 5000, "a.", "nothing.alike.example"]
)
def test_no_similar_address(web: Graph, asked: str) -> None:
    assert web.names.nearest(asked) == []


@given(st.text(max_size=60) | st.text(alphabet="ab:/?#.[]%()@ 名\ud800\x00\x03", max_size=30))
def test_any_text_gives_known_pages_and_no_error(web: Graph, text: str) -> None:
    found = web.names.nearest(text)
    assert len(found) <= 5
    assert all(web.get(address) is not None for address in found)


def test_of_very_many_pages_those_around_are_looked_at(place: Path) -> None:
    links = [Link(f"https://big.example/{i:05}") for i in range(3 * WINDOW_PAGES)]
    cited = [page(f"https://l{i}.example/", f"https://big.example/{6000:05}") for i in range(3)]
    make(place / "s", [Page("https://hub.example/", links=links), *cited])
    assert Graph(place / "s").names.nearest("big.example/06001x1x1")[0] == "https://big.example/06000"


def test_edits_of_a_word() -> None:
    found = list(edits("abcd", "ax"))
    assert {"bcd", "acd", "abd", "abc"} <= set(found), "deletions"
    assert {"bacd", "acbd", "abdc"} <= set(found), "exchanges"
    assert {"xabcd", "axbcd", "abxcd", "abcxd", "abcdx"} <= set(found), "insertions"
    assert {"xbcd", "axcd", "abxd", "abcx", "aacd"} <= set(found), "replacements"
    # 4 deletions, 3 exchanges, 5 · 2 insertions, 4 · 2 replacements less the one that would change nothing
    assert len(found) == 4 + 3 + 10 + 7
    assert list(edits("abc", IN_HOST)) == [] == list(edits("a" * 33, IN_HOST))


def test_shorter_addresses() -> None:
    assert list(chopped("a.example:81/b/c?d=e/f")) == [
        "a.example:81/b/c", "a.example:81/b", "a.example:81",
    ]  # fmt: skip
    assert len(list(chopped("a.example" + "/x" * 2000))) == 13
    assert list(other_suffixes("10.0.0.1")) == []
    assert next(other_suffixes("news.bbc.co.uk")) == "bbc.com"
