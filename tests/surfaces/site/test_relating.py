"""Which pages are related, on sites small enough to work out by hand."""

from __future__ import annotations

from math import e, log

import numpy as np
import pytest

from cocite.site.reading import Read
from cocite.site.relating import (
    DIRECT,
    TOGETHER,
    Site,
    by_links,
    common_parts,
    content_links,
    own_title,
    relate,
    resolved,
    vectors,
)


def site(*words: str, links: dict[int, list[tuple[int, str, int]]] | None = None, lang: str = "") -> Site:
    reads = [Read(title=f"P{at}", words=dict.fromkeys(each.split(), 1), lang=lang) for at, each in enumerate(words)]
    return Site(reads, [(links or {}).get(at, []) for at in range(len(reads))])


def nobody(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


def asked(site: Site, k: int = 3, hidden: tuple[int, ...] = ()) -> list[list[int]]:
    flags = np.isin(np.arange(len(site.reads)), hidden)
    return [[page for page, _ in some] for some in relate(site, k, flags, nobody)[0]]


def test_vectors_weigh_rare_words_more() -> None:
    matrix, words = vectors(site("a b", "a b", "a c", "c d").reads)
    assert words == ["a", "b", "c", "d"]
    rarity = {"a": log(5 / 3.5), "b": log(5 / 2.5), "c": log(5 / 2.5), "d": log(5 / 1.5)}
    length = (rarity["a"] ** 2 + rarity["b"] ** 2) ** 0.5
    assert matrix.toarray()[0] == pytest.approx([rarity["a"] / length, rarity["b"] / length, 0, 0])
    length = (rarity["c"] ** 2 + rarity["d"] ** 2) ** 0.5
    assert matrix.toarray()[3] == pytest.approx(
        [0, 0, rarity["c"] / length, 0]
    )  # d, on one page only, compares nothing


def test_words_decide() -> None:
    found = asked(site("robin wren nest", "robin wren egg", "engine wheel oil", "engine wheel road"))
    assert found == [[1], [0], [3], [2]]


def test_equal_scores_come_in_the_order_of_pages() -> None:
    assert asked(site("robin", "robin", "robin", "oil", "oil", "oil"))[1] == [0, 2]


def test_what_links_say() -> None:
    direct, linked = by_links([[(1, 0), (1, 0), (2, 1)], [], [(3, 0), (1, 0)], []])
    one = DIRECT * (1 + log(2)) / (log(e + 2 - 1) * log(e + 2 - 1))  # two links to 1, which two pages link to
    both = TOGETHER * 1 / 2  # 3 and 1 stand in one group of page 2
    assert direct.toarray()[0, 1] == pytest.approx(one) and direct.toarray()[1, 0] == pytest.approx(one)
    assert direct.toarray()[1, 3] == pytest.approx(both)
    assert linked.toarray().tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]


def test_a_link_in_the_text_counts_and_is_told() -> None:
    made = site("robin wren", "robin oil", "robin oil", links={0: [(2, "wheels", 0)]})
    found, tell = relate(made, 2, np.zeros(3, np.bool_), nobody)
    assert [[page for page, _ in some] for some in found] == [[2], [2], [1, 0]]
    assert tell(0, 2) == (("robin",), "to") and tell(2, 0) == (("robin",), "from")
    assert tell(2, 1) == (("oil", "robin"), "")


def test_navigation_does_not_count() -> None:
    pages = 20
    menu = [(0, "start", 0), (1, "about", 0), (2, "shop", 0)]
    links = {at: [link for link in menu if link[0] != at] + [((at + 1) % pages, "next", 1)] for at in range(pages)}
    links[5] = [*links[5], (9, "see there", 2)]
    kept = content_links(site(*["x"] * pages, links=links))
    assert {at: some for at, some in enumerate(kept) if some} == {5: [(9, 2)]}


def test_a_side_bar_without_markup_does_not_count_either() -> None:
    bar = [(7, "seven", 0), (8, "eight", 0), (9, "nine", 0)]
    kept = content_links(site(*["x"] * 200, links=dict.fromkeys((1, 2, 3), bar)))
    assert not any(kept)


def test_hidden_pages_and_other_languages_are_nobodys() -> None:
    assert asked(site("robin a", "robin a", "robin a", "b", "b"), hidden=(1,))[0] == [2]
    made = site("robin a", "robin a", "robin a", "b c", "b c")
    reads = [read._replace(lang=lang) for read, lang in zip(made.reads, ("de", "en", "de", "", "en"), strict=True)]
    assert asked(Site(reads, made.links)) == [[2], [], [0], [4], [3]]


def test_tables_of_contents_are_nobodys_unless_there_is_nothing_else() -> None:
    made = site("robin wren", "robin wren", "robin wren", "oil", "oil", "oil", "oil")
    links = [("/x", str(at), at) for at in range(20)]
    reads = [made.reads[0], made.reads[1]._replace(linked=0.9, links=links), *made.reads[2:]]
    assert asked(Site(reads, made.links))[0] == [2]
    reads = [read._replace(linked=0.9, links=links) for read in made.reads]
    assert asked(Site(reads, made.links))[0] == [1, 2]


def test_links_are_resolved_to_pages_of_the_site() -> None:
    reads = [Read(links=[("/b", "b", 0), ("/gone", "gone", 0), ("/a", "self", 1)]), Read()]
    assert resolved(reads, {"/a": 0, "/b": 1}).links == [[(1, "b", 0)], []]


def test_titles_without_the_name_of_the_site() -> None:
    titles = ["Install — Birds 2.0", "FAQ — Birds 2.0", "Birds 2.0", "Songs - and calls — Birds 2.0"]
    parts = common_parts(titles)
    assert parts == {"Birds 2.0"}
    found = [own_title(Read(title=title, heading="Start"), parts, "/x") for title in titles]
    assert found == ["Install", "FAQ", "Start", "Songs - and calls"]
    assert own_title(Read(), parts, "/x") == "/x"


def test_a_site_of_one_page_or_none() -> None:
    assert asked(site("alone")) == [[]]
    assert asked(site()) == []
