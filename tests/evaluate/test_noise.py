"""NPFR, NPFP, SPFP and EFP by hand; noise planted in generated base sets is found, and HITS drifts no more."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.evaluate.noise import (
    BY_WORDS,
    Fall,
    drift,
    falls,
    filtering,
    labels_by_words,
    labels_of,
    mean_rate,
    noise_report,
    read_labels,
    sweep,
)
from cocite.operations.words.communities import root_set
from cocite.related.methods.community import BaseSet, Params
from cocite.related.neighbourhood.view import GraphView
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from cocite.words.search import SEARCH
from research import datasets
from research.planted import Planted, pages_of, planted
from tests.graph.webs import examples, make, page

DENSITIES, SEEDS = (0.05, 0.1, 0.3), (1, 2, 3)
WHOLE = Params(window=0, in_links=1000)


def base_of(place: Path, found: Planted, params: Params = WHOLE) -> BaseSet:
    make(place / "web.cocite", found.pages)
    graph = Web(place / "web.cocite").graph
    root = pages_of(graph, found.root).tolist()
    return BaseSet(GraphView(graph, root, params), [root], params)


def again(base: BaseSet, params: Params) -> BaseSet:
    """The same base set with other parameters."""
    root = base.edges.pages[base.root].tolist()
    return BaseSet(base.view, [root], params)


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_planted_noise_is_eliminated(density: float, seed: int, fast_root: Path) -> None:
    """With either basis NPFR ≥ 0.95 and EFP ≥ 0.9; without NPEA HITS drifts into the noise, with it not at all.

    NPEA does not see links among noise pages: of the nine, three differ in their rates, all of them in drift.
    """
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        found = planted(density, seed)
        base = base_of(Path(folder), found)
        noise = pages_of(base.view.graph, found.noise)
        labels = labels_of(base, np.isin(base.edges.pages, noise))
        assert int(labels.noise.sum()) == 200 and len(base.root) == 700
        assert drift(base.edges, noise) >= 0.4
        for basis in ("svd", "root"):
            cleaned = again(base, replace(WHOLE, basis=basis))
            result = filtering(cleaned, labels, "avg", 0.5)
            assert result.npfr >= 0.95 and result.efp >= 0.9
            assert drift(cleaned.rest, noise) == 0.0


def test_noise_through_few_doors_is_missed_as_published(place: Path) -> None:
    """Where NPEA as published fails: noise through three root pages is a strong direction of A, and the projection
    pairs it with the strongest of S, with which it has nothing to do."""
    found = planted(0.1, 1, doors=3)
    base = base_of(place, found)
    noise = pages_of(base.view.graph, found.noise)
    labels = labels_of(base, np.isin(base.edges.pages, noise))
    assert filtering(base, labels, "avg", 0.5).npfr == 0.0
    other = again(base, replace(WHOLE, basis="root"))
    result = filtering(other, labels, "avg", 0.5)
    assert result.npfr == 1.0 and result.efp >= 0.95
    assert (drift(base.rest, noise), drift(other.rest, noise)) == (0.7, 0.0)


def test_the_same_seed_gives_the_same_pages() -> None:
    assert planted(0.1, 5).pages == planted(0.1, 5).pages
    assert planted(0.1, 5).pages != planted(0.1, 6).pages
    small = planted(1.0, 0, root=3, topic=2, noise=2, doors=50)
    assert len(small.pages) == 7 and small.root == [f"https://root{n}.example/" for n in range(3)]


# ------------------------------------------------------------------------------------------------------------- by hand

R, T, S, N, M = ("https://" + name + ".example/" for name in ("r", "topic", "suspect", "noise", "more-noise"))
R2, L = "https://r2.example/", "https://list.example/"
HAND = [page(R, T, S, N), page(R2, T), page(M, R)]
"""Root pages R and R2, not linked: c = 1. A: T (1, 1), S, N and M (1, 0): k = 1, as AᵀA = [[4, 1], [1, 1]] has the
roots (5 ± √13)/2, singular values 2.074 and 0.835, a fall of 0.6. v = (0.957, 0.290): measures 1.247 and 0.957."""


def by_hand(place: Path) -> BaseSet:
    return base_around(place, HAND)


def base_around(place: Path, pages: list[Page]) -> BaseSet:
    make(place / "web.cocite", pages)
    graph = Web(place / "web.cocite").graph
    root = pages_of(graph, [R, R2]).tolist()
    return BaseSet(GraphView(graph, root, WHOLE), [root], WHOLE)


def test_rates_by_hand(place: Path) -> None:
    base = by_hand(place)
    noise = np.isin(base.edges.pages, pages_of(base.view.graph, [N, M]))
    labels = labels_of(base, noise)
    suspected = base.edges.pages[labels.suspected].tolist()
    assert [base.view.graph.address(each) for each in suspected] == [S]
    result = filtering(base, labels, "avg", 0.5)
    # Three pages are filtered: both noise pages, and the suspected one.
    assert (result.filtered, result.noise, result.suspected, result.k) == (3, 2, 1, 1)
    assert (result.npfr, result.npfp, result.spfp) == pytest.approx((1.0, 2 / 3, 1 / 3))
    assert result.efp == pytest.approx(1.0)
    none = filtering(base, labels, "avg", 0.9)  # k = 2: measures √2 and 1, and 1 is enough
    assert (none.filtered, none.npfr, none.npfp, none.efp) == (0, 0.0, 0.0, 1.0)


def test_a_sweep_has_every_threshold_for_every_delta(place: Path) -> None:
    base = by_hand(place)
    labels = labels_of(base, np.zeros(len(base.root), np.bool_))
    found = sweep(base, labels, (0.3, 0.9))
    assert [(each.npea, each.delta, each.filtered) for each in found] == [
        *((name, 0.3, 3) for name in ("avg", "max", "min")),
        *((name, 0.9, 0) for name in ("avg", "max", "min")),
    ]
    assert all(each.npfr == 0.0 for each in found)  # there is no noise to find


def test_falls_by_hand(place: Path) -> None:
    """From δ = 0.9 to 0.5 the measure of N falls from 1 to 0.957, that of T from √2 to 1.247."""
    base = by_hand(place)
    noise = np.isin(base.edges.pages, pages_of(base.view.graph, [N, M]))
    found = falls(base, labels_of(base, noise), (0.9, 0.5))
    assert [each.noise for each in found] == [True, True, False, False]
    told = {base.view.graph.address(each.page): each for each in found}
    assert (told[N].large, told[N].small) == pytest.approx((1.0, 0.957), abs=5e-4)
    assert (told[T].large, told[T].small) == pytest.approx((2**0.5, 1.247), abs=5e-4)
    assert mean_rate(found[:2]) == pytest.approx(0.043, abs=5e-4)
    assert Fall(0, True, 0.0, 0.0).rate == 0.0 and mean_rate([]) == 0.0


def test_labels_look_at_the_whole_text_of_a_page(place: Path) -> None:
    """Noise contains no query term (Hou & Zhang 2002, §4): the text counts, a link's text only if nothing else does.

    S has the word after 5,000 characters of text. N was fetched and has not the word, though a link to it does. T was
    never fetched, and the heading above a link to it has the word. L is a list, and one of its links has the word. M
    has none.
    """
    pages = [
        Page(R, links=[Link(T, "Home", 0), Link(S, "Beer", 1), Link(N, "Harvard beer", 1)], headings=["Harvards", ""]),
        Page(R2, links=[Link(T, "Home")]), Page(M, links=[Link(R, "Root")]),
        Page(L, links=[Link(R, "Harvard"), Link(R2, "Yale")]),
        Page(S, "Elektronik", text="word " * 1000 + "Harvard."), Page(N, "Beer", text="A beer company"),
    ]  # fmt: skip
    base = base_around(place, pages)
    graph, labels = base.view.graph, labels_by_words(base, "Harvard!")
    assert {graph.address(each) for each in base.edges.pages[labels.noise]} == {N, M}
    assert {graph.address(each) for each in base.edges.pages[labels.suspected]} == {S}
    assert not labels_by_words(base, "go a").noise[base.edges.pages == graph.find(N)]  # short words count, too


TERMS = st.sampled_from(("war", "Wars", "wär", "peace", "x", ""))


@examples(40)
@given(
    title=TERMS,
    text=st.lists(TERMS, max_size=4),
    heading=TERMS,
    own=TERMS,
    anchor=TERMS,
    above=TERMS,
    fill=st.integers(0, 300),
)
def test_labels_as_one_would_read_the_pages(
    title: str, text: list[str], heading: str, own: str, anchor: str, above: str, fill: int, fast_root: Path
) -> None:
    """A literal reading: all words of the page if it has any, else those of its title and of the link to it."""
    page_text = " ".join(["and " * fill, *text]).strip()
    pages = [
        Page(R, links=[Link(T, anchor, 0)], headings=[above]), Page(R2, links=[Link(R)]),
        Page(T, title, text=page_text, links=[Link(R2, own, 0)], headings=[heading]),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        base = base_around(Path(folder), pages)
        noise = labels_by_words(base, "war").noise[base.edges.pages == base.view.graph.find(T)]
    read = [heading, own, page_text]
    read = [title, *read] if any(read) else [title, anchor, above]
    words = " ".join(read).lower().replace("ä", "a").split()
    assert noise.tolist() == [not {"war", "wars"} & set(words)]


def test_447_pages_of_an_encyclopedia_have_the_word_war(shared: Path, place: Path) -> None:
    """200 of them are the root set; the others are on topic, though neither their titles nor links have the word."""
    datasets.make(datasets.read("wikispeedia", shared / "data"), place / "wiki.cocite", search=False)
    web, params = Web(place / "wiki.cocite"), Params(window=0, unit="none")
    web.search = SEARCH.ready(web.graph)
    root = root_set(web, "war", [], params)[0]
    base = BaseSet(GraphView(web.graph, root, params), [root], params)
    labels = labels_by_words(base, "war")
    assert int((labels.known & ~labels.noise).sum()) + len(root) == 447


def test_labels_of_a_file(place: Path) -> None:
    """Pages without a label are ignored in all rates: of the filtered pages N, M and S, only N and S count."""
    base = by_hand(place)
    file = place / "labels.tsv"
    file.write_text(
        f"\ufeff# remarks\n{N}\tnoise\nsuspect.example\t Topic\n{R}\tnoise\nhttps://nowhere.example/\tnoise\n"
        f"{T}\tperhaps\nno tab\n\n"
    )
    report = ReadReport()
    labels = read_labels(file, base, report)
    assert labels.known is not None and labels.known.sum() == 2
    assert dict(report.skipped) == {
        "page that is not in this store": 1,
        "label that is neither noise nor topic": 2,
    }
    result = filtering(base, labels, "avg", 0.5)
    assert (result.filtered, result.noise, result.suspected, result.npfr) == (2, 1, 1, 1.0)
    assert (result.npfp, result.spfp, result.efp) == (0.5, 0.5, 1.0)
    assert [each.noise for each in falls(base, labels)] == [True, False]
    file.write_text(f"{R}\tnoise\n")
    with pytest.raises(BadSource, match="labels no page of the base set: a row is page<TAB>noise"):
        read_labels(file, base, ReadReport())


def test_a_report_has_all_tables(place: Path) -> None:
    base = by_hand(place)
    noise = np.isin(base.edges.pages, pages_of(base.view.graph, [N, M]))
    told = noise_report(base, labels_of(base, noise), "hand", (0.5, 0.9))
    head, rows = told.table_1()
    assert dict(zip(head, rows[0], strict=True)) == {
        "δ": "0.5", "k": 1, "c": "avg", "threshold": "1.000", "filtered": 3, "noise": 2, "suspected": 1,
        "NPFR": "1.00", "NPFP": "0.67", "SPFP": "0.33", "EFP": "1.00",
    }  # fmt: skip
    assert len(rows) == 6
    head, rows = told.tables_4_5()
    assert head == ["", "δ = 0.5", "δ = 0.3", "decrease", "page"]
    assert [(row[0], row[4]) for row in rows] == [
        ("noise", M), ("noise", N), ("all noise", "medians, mean decrease of 2"),
        ("topic", T), ("topic", S), ("all topic", "medians, mean decrease of 2"),
    ]  # fmt: skip
    found = told.to_dict()
    assert found["table_1"][0]["efp"] == pytest.approx(1.0) and len(found["measures"]) == 4
    assert found["labels"] == {"by": "hand", "noise": 2, "suspected": 1, "labelled": 4}
    assert told.about.startswith(
        "6 pages, 2 of them in the root set. Labels by hand: 2 noise, 2 on topic, 1 of them suspected"
    )
    assert "whatever their topic" not in told.about
    assert told.section().count("<table>") == 2 and "<svg" in told.section()
    # HITS finds T, cited by both root pages, and R; N and M stand below them.
    assert told.drift == (drift(base.edges, base.edges.pages[noise]), drift(base.rest, base.edges.pages[noise]))
    assert told.drift[1] == 0.0


def test_words_of_root_pages_only_are_reported(place: Path) -> None:
    base = by_hand(place)
    told = noise_report(base, labels_by_words(base, "harvard"), BY_WORDS, (0.5,))
    assert (
        told.to_dict()["labels"]["noise"] == 4 == told.to_dict()["labels"]["labelled"]
        and "whatever their topic" in told.about
    )


def test_no_links_no_drift(place: Path) -> None:
    make(place / "web.cocite", [page(R), page(N)])
    graph = Web(place / "web.cocite").graph
    base = BaseSet(GraphView(graph, [0], WHOLE), [[0, 1]], WHOLE)
    assert drift(base.edges, np.array([1], np.uint32)) == 0.0
