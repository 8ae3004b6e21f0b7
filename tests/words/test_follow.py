"""Words that follow layers: what is made of changed pages is what a store made at once would have."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from cocite.errors import BadStore
from cocite.graph.build.maintain import compact, remove
from cocite.graph.side import is_being_made, only_one
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import MAX_SAME_NAME, SCALE, Sparse
from cocite.sources.records import Link, Page
from cocite.words import changes
from cocite.words.changes import ChangedPages, growth_level
from cocite.words.follow_vectors import changed_rows, stored_rows
from cocite.words.keywords import KEYWORDS
from cocite.words.make_vectors import make_vectors
from cocite.words.relevance import RELEVANCE
from cocite.words.search import SEARCH, SearchIndex, renew_search
from cocite.words.vectors import VECTORS
from tests.graph.webs import examples, extend, make
from tests.words.read import most_similar, same_name_pages
from tests.words.webs import webs

TOPICS = ["password", "manager", "falcon", "opening", "river", "bridge", "engine", "garden", "violin", "harbour"]
SITES = [f"https://site{n}.example/" for n in range(60)]
LISTS = [f"https://list{n}.example/" for n in range(8)]


def everything(graph: Graph) -> ChangedPages:
    """As if all pages had changed."""
    changed = ChangedPages(graph, [])
    changed.__dict__["pages"] = np.arange(graph.pages)
    return changed


@examples(8)
@given(webs())
def test_rows_of_changed_pages_are_those_of_all(pages: list[Page]) -> None:
    graph = Graph.from_records(pages)
    whole = make_vectors(graph)
    made = changed_rows(graph, whole, everything(graph))
    every = np.arange(graph.pages)
    assert made["text_words"].tolist() == whole.text_words.tolist()
    assert made["home"].tolist() == whole.home.tolist()
    assert made["votes"].tolist() == whole.votes.tolist()
    for name, stored in (("own", whole.pages), ("context", whole.context)):
        ours = stored_rows(
            Sparse.of(*(made[f"{name}.{part}"] for part in ("starts", "ids", "weights"))), every, 1 << 20
        )
        theirs = stored_rows(stored, every, 1 << 20)
        assert abs(ours - theirs).max() * SCALE < 4, name  # rounded twice


def page_of(draw: random.Random, url: str) -> Page:
    """A page with words; sites don't link to others: the words of pages that link to each other lag."""
    words = " ".join(draw.choices(TOPICS, k=draw.randrange(12)))
    links = [
        Link(target, draw.choice(TOPICS), at // 3, context=draw.choice(TOPICS))
        for at, target in enumerate(draw.sample(SITES, 0 if url in SITES else draw.randrange(1, 9)))
    ]
    return Page(url, draw.choice(TOPICS), words, links, headings=draw.choices(TOPICS, k=3))


def history(store: Path, seed: int) -> Graph:
    """A store with words that was changed several times; its words have followed each time."""
    draw = random.Random(seed)
    make(store, [page_of(draw, url) for url in (*LISTS, *SITES)])
    renew_search(store, wanted=True)
    KEYWORDS.ready(Graph(store))
    RELEVANCE.ready(Graph(store), KEYWORDS.open(Graph(store)))
    for turn in range(4):
        before = Graph(store)
        if turn == 2:
            remove([draw.choice(LISTS)], store)
        else:
            new = [page_of(draw, f"https://new{seed}-{turn}.example/{at}") for at in range(draw.randrange(3))]
            extend(store, [page_of(draw, url) for url in draw.sample([*LISTS, *SITES[:20]], 2)] + new)
        if draw.random() < 0.7 or turn == 3:  # else the next one has more to follow
            assert renew_search(store, wanted=True) is not None
            assert Graph(store).manifest["id"] != before.manifest["id"]
    return Graph(store)


@pytest.mark.parametrize("seed", range(2))
def test_words_follow_any_changes(fast_root: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_CHANGED_SHARE", 0)
    monkeypatch.setattr("cocite.words.same_name.MAX_NAME_PAGES", 1000)  # which are ignored lags
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        graph = history(Path(folder) / "w", seed)
        followed = SEARCH.open(graph)
        assert len(list(followed.side.folder.glob("*.fast"))) > 1, "it was made anew"
        vectors, keywords = VECTORS.open(graph), KEYWORDS.open(graph)
        copy = Path(shutil.copytree(graph.path, Path(folder) / "copy"))
        shutil.rmtree(copy / "side")
        fresh = Graph(copy)
        index: SearchIndex = SEARCH.build(fresh)
        assert followed.pages == index.pages
        for word in (*TOPICS, "site1", "new"):
            pages = [{page for page, _ in each.search(word, 200).hits} for each in (followed, index)]
            assert pages[0] == pages[1], word
        whole, chosen = VECTORS.ready(fresh), KEYWORDS.ready(fresh)
        assert vectors.text_words.tolist() == whole.text_words.tolist()
        assert vectors.home.tolist() == whole.home.tolist()
        for page in range(graph.pages):
            rows = [same_name_pages(each, page) for each in (vectors, whole)]
            named = [dict(zip(pages.tolist(), cosines.tolist(), strict=True)) for pages, cosines in rows]
            assert sorted(named[0].values()) == pytest.approx(sorted(named[1].values()), abs=1e-3), page
            least = min(named[1].values(), default=0) if len(named[1]) == MAX_SAME_NAME else 0
            assert {at for at, cosine in named[1].items() if cosine > least + 1e-3} <= {*named[0]}, page
            words = [{each.words[at] for at in each.of(page)[0].tolist()} for each in (vectors, whole)]
            assert words[0] ^ words[1] <= unsure(vectors, whole), page
            known = [{each.words[at]: count for at, count in each.ordered(page)} for each in (keywords, chosen)]
            assert {word: known[1][word] for word in known[1] if keywords.words.find(word) is not None} == known[0]
            similar = most_similar(vectors, page, 10)
            assert not [each for each in similar.tolist() if not graph.names.exists(each)]
        RELEVANCE.open(graph, keywords)  # it lags


def unsure(vectors: object, whole: object) -> set[str]:
    """Words that one of two vocabularies lacks, or that count nothing there."""
    names = [
        {word for at, word in enumerate(each.words) if each.rarity[at] > 0}  # type: ignore[attr-defined]
        for each in (vectors, whole)
    ]
    return names[0] ^ names[1]


def test_parts_are_merged_and_compaction_drops_them(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.words.vectors.MAX_PARTS", 3)
    draw, store = random.Random(5), place / "w"
    make(store, [page_of(draw, url) for url in (*LISTS, *SITES)])
    renew_search(store, wanted=True)
    for at in range(6):
        extend(store, [page_of(draw, f"https://new.example/{at}")])
        renew_search(store, wanted=True)
        assert len(list(VECTORS.find(Graph(store)).side.folder.glob("*.npz"))) <= 4
    assert VECTORS.open(Graph(store)).recent is not None
    compact(store)
    renew_search(store, wanted=True)
    assert VECTORS.open(Graph(store)).recent is None


def test_the_page_that_was_added_is_similar_at_once(place: Path) -> None:
    draw, store = random.Random(6), place / "w"
    make(store, [page_of(draw, url) for url in (*LISTS, *SITES)])
    renew_search(store, wanted=True)
    extend(store, [Page("https://new.example/", "violin harbour", "violin harbour violin harbour")])
    renew_search(store, wanted=True)
    graph, page = Graph(store), Graph(store).find("https://new.example/")
    similar = most_similar(VECTORS.open(graph), page, 5)
    assert len(similar)
    assert page in most_similar(VECTORS.open(graph), int(similar[0]), graph.pages).tolist()
    assert [hit for hit, _ in SEARCH.open(graph).search('"violin harbour violin"', 3).hits] == [page]


def test_a_damaged_part_is_reported_and_made_anew(place: Path) -> None:
    draw, store = random.Random(7), place / "w"
    make(store, [page_of(draw, url) for url in (*LISTS, *SITES)])
    renew_search(store, wanted=True)
    extend(store, [page_of(draw, "https://new.example/")])
    renew_search(store, wanted=True)
    [part] = VECTORS.find(Graph(store)).side.folder.glob("*.npz")
    raw = part.read_bytes()
    for wrong in (raw[:-1], raw[:99] + bytes([raw[99] ^ 1]) + raw[100:], b""):
        part.write_bytes(wrong)
        with pytest.raises(BadStore, match=r"damaged: make it again with cocite search --make"):
            VECTORS.open(Graph(store))
    extend(store, [page_of(draw, "https://new.example/2")])
    renew_search(store, wanted=True)
    assert VECTORS.open(Graph(store)).recent is None


def test_popular_pages_follow_when_their_links_have_grown() -> None:
    assert [growth_level(n) for n in range(17)] == list(range(17))
    steps = [growth_level(n) for n in range(1, 3000)]
    assert steps == sorted(steps)
    assert all(growth_level(n) < growth_level(n + n // 20 + 1) for n in range(1, 3000))
    assert growth_level(1000) == growth_level(1010)


def test_old_keywords_of_another_version_are_not_followed(place: Path) -> None:
    make(place / "w", [Page("https://a.example/", "One", "two three")])
    assert not KEYWORDS.catch_up(Graph(place / "w"), {})


def test_a_change_does_not_wait_for_keywords_that_are_being_made(place: Path) -> None:
    draw, store = random.Random(8), place / "w"
    make(store, [page_of(draw, url) for url in (*LISTS, *SITES)])
    renew_search(store, wanted=True)
    graph = Graph(store)
    assert not is_being_made(graph, "keywords")
    with only_one(graph, "keywords", "the keywords"):
        assert is_being_made(graph, "keywords")
        extend(store, [page_of(draw, "https://new.example/")])
        assert renew_search(store, wanted=True) is not None
    assert not is_being_made(graph, "keywords")
    assert KEYWORDS.ready(Graph(store)).starts[-1] > 0


def test_a_store_without_words_gets_some_later(place: Path) -> None:
    """Its vectors have no words that a new page could be compared with, so they are made anew."""
    store = place / "w.cocite"
    make(store, [Page(f"https://p{n}.example/", title="…") for n in range(9)])
    for n in range(2):
        extend(store, [Page(f"https://new{n}.example/", title="Herons and storks", text="herons storks")])
        renew_search(store, True)
    assert len(VECTORS.open(Graph(store)).words)
    assert len(SEARCH.open(Graph(store)).search("herons", 5).hits) == 2


def test_what_a_command_left_that_died_before_it_removed_old_words_is_removed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place / "w.cocite"
    make(store, [Page(f"https://p{n}.example/", title=f"Herons {n}", text="herons storks") for n in range(9)])
    renew_search(store, True)
    extend(store, [Page("https://new.example/", title="Storks", text="storks")])
    with monkeypatch.context() as dying:
        dying.setattr("cocite.graph.side.remove_others", lambda *_: None)
        renew_search(store, True)
    assert len(list((store / "side").glob("vectors-*"))) == 2
    renew_search(store, True)
    assert [len(list((store / "side").glob(f"{name}-*"))) for name in ("vectors", "search")] == [1, 1]
