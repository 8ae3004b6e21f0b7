"""Word vectors: what is in them, which pages they find, and what becomes of them when things go wrong."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadStore
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import SCALE, Sparse
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words import context_words, documents, make_vectors
from cocite.words.same_name import AnchorNames, name_in
from cocite.words.search import renew_search
from cocite.words.vectors import VECTORS, Vectors
from tests.graph.webs import examples, extend, make, page
from tests.related.methods import naive_auto
from tests.related.methods.naive_web import NaiveWeb, View
from tests.words.read import SharedTerms, most_similar, same_name_pages, shared_terms

A, B, C, D = (f"https://{name}.example/" for name in "abcd")
WORDS = ["chess", "gambit", "rook", "yacht", "sail", "mast", "anchor", "keel"]
STOP = ["the", "and"]


def made(place: Path, pages: list[Page]) -> Graph:
    make(place / "web.cocite", pages)
    return Graph(place / "web.cocite")


def shared(found: list[SharedTerms], vectors: Vectors) -> list[tuple[int, list[str]]]:
    return [(each.number, [vectors.words[term] for term in each.terms]) for each in found]


def words_of(found: Vectors, page: int) -> dict[str, float]:
    ids, weights = found.of(page)
    return {found.words[word]: weight for word, weight in zip(ids.tolist(), weights.tolist(), strict=True)}


def test_weights_by_hand(place: Path) -> None:
    """N = 3. chess: 2 pages, ln(4/3); rook: all 3, ln(4/4) = 0; sail: 1 page, nothing. C is known by a link alone."""
    graph = made(
        place,
        [
            Page(A, text="chess chess rook", links=[Link(C, "Chess", context="a rook")]),
            Page(B, text="sail rook"),
        ],
    )
    found = make_vectors.make_vectors(graph)
    one, two, three = (graph.find(url) for url in (A, B, C))
    # Words of weight 0 are skipped, and the rest has length 1; "rook", beside the link, describes c.
    assert words_of(found, one) == {"chess": 1.0}
    assert words_of(found, two) == {}
    assert words_of(found, three) == {"chess": 1.0}
    assert found.text_words[[one, two, three]].tolist() == [2, 2, 0]
    assert found.cosines(one, np.array([two, three], np.uint32)).tolist() == [0.0, 1.0]
    assert most_similar(found, one, 10).tolist() == [three]
    assert shared(shared_terms(found, one, np.array([three], np.uint32)), found) == [(1, ["chess"])]


def test_pages_that_exchange_links_share_words(place: Path) -> None:
    """a and c have no word in common; a ⇄ b, b has c's words. n = 1: b's vector is added with weight 1."""
    texts = {A: "chess", B: "yacht", C: "yacht", D: "chess"}
    pages = [Page(url, text=text) for url, text in texts.items()]
    pages[0].links, pages[1].links = [Link(B)], [Link(A)]
    graph = made(place, pages)
    found = make_vectors.make_vectors(graph)
    one, three = graph.find(A), np.array([graph.find(C)], np.uint32)
    assert words_of(found, one) == pytest.approx({"chess": math.sqrt(0.5), "yacht": math.sqrt(0.5)}, abs=2e-5)
    assert found.cosines(one, three)[0] == pytest.approx(math.sqrt(0.5), abs=2e-5)
    pages[1].links = []  # no exchange any more
    graph = made(place, pages)
    assert make_vectors.make_vectors(graph).cosines(graph.find(A), three)[0] == 0


def test_neighbours_count_less_the_more_text_a_page_has(place: Path) -> None:
    """36 words of its own: the weight is (30 / 36)⁶ = 0.335, which the shared word has beside a vector of length 1."""
    own = " ".join(f"word{n}" for n in range(36))
    pages = [Page(A, text=own, links=[Link(B)]), Page(B, text="yacht", links=[Link(A)])]
    pages += [Page(C, text="yacht"), Page(D, text=own)]
    graph = made(place, pages)
    found = words_of(make_vectors.make_vectors(graph), graph.find(A))
    assert found["yacht"] == pytest.approx(0.334898 / math.sqrt(1 + 0.334898**2), abs=2e-5)


@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=2, max_size=8),
    said=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(WORDS)), max_size=8),
    keep=st.sampled_from([2, 128]),
)
@examples(25)
def test_the_slow_truth(texts: list[list[str]], said: list[tuple[int, str]], keep: int, fast_root: Path) -> None:
    import tempfile

    urls = [f"https://p{n}.example/" for n in range(8)]
    pages = [Page(url, text=" ".join(words)) for url, words in zip(urls, texts, strict=False)]
    links = [Link(urls[to], word) for to, word in dict(said).items()]
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_vectors, "MAX_WORDS", keep)
        graph = made(Path(folder), [*pages, Page("https://list.example/", links=links)])
        expected_texts = {graph.find(page.url): list(words) for page, words in zip(pages, texts, strict=False)}
        anchors = {graph.find(urls[to]): [word] for to, word in dict(said).items()}
        truth, found = naive_auto.vectors(expected_texts, keep, anchors), make_vectors.make_vectors(graph)
        everything = np.arange(graph.pages, dtype=np.uint32)
        for one in range(graph.pages):
            assert words_of(found, one) == pytest.approx(truth.get(one, {}), abs=2e-5)
            cosines = [naive_auto.cosine(truth.get(one, {}), truth.get(other, {})) for other in range(graph.pages)]
            assert found.cosines(one, everything) == pytest.approx(cosines, abs=4e-4)
            assert set(most_similar(found, one, 100).tolist()) == {
                other for other, value in enumerate(cosines) if value > 0 and other != one
            }


def test_only_some_pages_are_compared(place: Path) -> None:
    """chess, in 3 pages, is rarer than yacht, in 4: it is read first, and there is no room for yacht."""
    texts = ["chess yacht", "chess", "chess", "yacht", "yacht", "yacht", "keel"]
    graph = made(place, [Page(f"https://p{n}.example/", text=text) for n, text in enumerate(texts)])
    found = make_vectors.make_vectors(graph)
    assert most_similar(found, graph.find("p0.example"), 9, room=4).tolist() == [
        graph.find("p1.example"),
        graph.find("p2.example"),
    ]
    assert most_similar(found, graph.find("p0.example"), 1, room=4).tolist() == [graph.find("p1.example")]
    # All of p3's words are on more pages than are compared: the first of them, rather than none.
    having = sorted(graph.find(f"p{n}.example") for n in (0, 3, 4, 5))[:3]
    assert set(most_similar(found, graph.find("p3.example"), 9, room=3).tolist()) == {*having} - {
        graph.find("p3.example")
    }


def test_they_are_stored_renewed_and_dropped(place: Path) -> None:
    path = place / "web.cocite"
    make(path, [Page(A, text="chess"), Page(B, text="chess")])
    with pytest.raises(BadStore, match="no index of word vectors"):
        VECTORS.open(Graph(path))
    VECTORS.ready(Graph(path))
    assert len(VECTORS.open(Graph(path)).words) == 1
    extend(path, [Page(C, text="yacht chess")])
    with pytest.raises(BadStore, match="before the store was changed"):
        VECTORS.open(Graph(path))
    renew_search(path, True)
    assert len(VECTORS.open(Graph(path)).words) == 2
    renew_search(path, False)
    with pytest.raises(BadStore, match="no index of word vectors"):
        VECTORS.open(Graph(path))
    assert Web(path).vectors is not None  # made again when they are needed


def test_a_store_without_texts_has_none(place: Path) -> None:
    make(place / "web.cocite", [page(A, B)])
    assert Web(place / "web.cocite").vectors is None


def test_damaged_ones_are_refused_or_harmless(place: Path) -> None:
    path = place / "web.cocite"
    pages = [Page(A, text="chess rook"), Page(B, text="chess rook"), Page(C, text="rook"), Page(D, text="keel")]
    pages[2].links, pages[3].links = [Link(A, "rook", 0), Link(D, "keel", 0)], [Link(B, "rook", 0), Link(C, "keel", 0)]
    make(path, pages)
    VECTORS.ready(Graph(path))
    for name in (
        "starts",
        "word.starts",
        "ids",
        "word.ids",
        "context.starts",
        "context.ids",
        "same_name.starts",
        "same_name.ids",
    ):
        file = next((path / "side").glob(f"vectors-*/{name}.bin"))
        whole = file.read_bytes()
        for at in range(0, len(whole), 3):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            found = VECTORS.open(Graph(path))
            for one in range(4):
                assert np.isfinite(found.cosines(one, np.arange(4, dtype=np.uint32))).all()
                assert (most_similar(found, one, 10) < 4).all()
                assert np.isfinite(found.cosines(one, np.arange(4, dtype=np.uint32), context=True)).all()
                assert (same_name_pages(found, one)[0] < 4).all()
        file.write_bytes(whole[:-2])
        with pytest.raises(BadStore):
            VECTORS.open(Graph(path))
        file.write_bytes(whole)


def as_dicts(matrix: Sparse) -> list[dict[int, float]]:
    rows = zip(matrix.starts[:-1].tolist(), matrix.starts[1:].tolist(), strict=True)
    return [dict(zip(matrix.ids[a:b].tolist(), (matrix.weights[a:b] / SCALE).tolist(), strict=True)) for a, b in rows]


@given(
    blocks=st.lists(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(WORDS)), max_size=5), min_size=1, max_size=6),
    texts=st.lists(st.lists(st.sampled_from([*WORDS, *STOP]), max_size=4), min_size=8, max_size=8),
    headings=st.lists(st.lists(st.sampled_from([*WORDS, *STOP, "unheard"]), max_size=3), min_size=6, max_size=6),
    small=st.booleans(),
)
@examples(25)
def test_the_slow_truth_of_names_and_context_words(
    blocks: list[list[tuple[int, str]]], texts: list[list[str]], headings: list[list[str]], small: bool, fast_root: Path
) -> None:
    """Each list has one block, which may have a heading, and calls pages by single words.

    With little memory, pages are read in small ranges and lists in small chunks.
    """
    import tempfile

    urls = [f"https://p{n}.example/" for n in range(8)]
    lists = [dict(block) for block in blocks]
    pages = [Page(url, text=" ".join(words)) for url, words in zip(urls, texts, strict=True)]
    pages += [
        Page(
            f"https://list{n}.example/",
            links=[Link(urls[to], word, block=0) for to, word in each.items()],
            headings=[" ".join(headings[n])],
        )
        for n, each in enumerate(lists)
    ]
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        graph = made(Path(folder), pages)
        number = [graph.find(url) for url in urls]
        called: dict[int, Counter[str]] = defaultdict(Counter)
        for each in lists:
            for to, word in each.items():
                called[number[to]][word] += 1
        own = {number[n]: list(words) for n, words in enumerate(texts)}
        own |= {graph.find(f"https://list{n}.example/"): headings[n] for n in range(len(lists))}
        anchors = {page: list(names.elements()) for page, names in called.items()}
        with pytest.MonkeyPatch.context() as patch:
            if small:
                patch.setattr(documents, "RANGE_PAGES", 2)
                patch.setattr(context_words, "CHUNK_PAGES", 3)
                patch.setattr(context_words, "LIST_CHUNK_PAGES", 2)
                patch.setattr(context_words, "CHUNK_LISTINGS", 3)
            found = make_vectors.make_vectors(graph, memory=1 if small else make_vectors.MEMORY_BYTES)
        named = naive_auto.same_name_pages(called)
        got = as_dicts(found.same_name)
        for one in range(graph.pages):
            assert got[one] == pytest.approx(named.get(one, {}), abs=2e-5)
        truth = naive_auto.vectors(own, 128, anchors)
        lengths = {page: naive_auto.of_length_1(vector) for page, vector in truth.items()}
        members = [[number[to] for to in each] for each in lists]
        all_words = {page: [*own.get(page, []), *anchors.get(page, [])] for page in {*own, *anchors}}
        rare = naive_auto.rarities(all_words)
        headed = [{word: rare[word] for word in headings[n]} for n in range(len(lists))]
        sources = [graph.find(f"https://list{n}.example/") for n in range(len(lists))]
        view = View(NaiveWeb.from_graph(graph), [], "site")
        counted = {page: naive_auto.counted_parents(view, page, view.parents(page), 2000, "lists") for page in number}
        counts = lambda page, n: counted[page].get(sources[n], 0.0)  # noqa: E731
        hashes = lambda page: int(graph.fingerprints[page])  # noqa: E731
        expected = naive_auto.context_words(members, lengths, named, headed, hashes, counts, STOP)
        several = {page for block in members if len(block) > 1 for page in block}
        for page in number:
            votes = math.ceil(sum(counted[page].values())) if page in several else graph.in_degree[page]
            assert found.votes[page] == votes
        for one, row in enumerate(as_dicts(found.context)):
            words = {found.words[word]: weight for word, weight in row.items()}
            assert words == pytest.approx(expected.get(one, {}), abs=1e-4)


def test_names_in_anchor_texts() -> None:
    assert [name_in(text) for text in ("Rook & Keel", "apache/airflow", "ab", "Documentation", "x" * 61, "…")] == [
        "rookkeel", "airflow", "", "", "", "",
    ]  # fmt: skip
    assert name_in("मुद्रा") != name_in("मदिरा")  # vowels are marks
    assert name_in("Café Rook") == name_in("Cafe\u0301 rook") == "caférook"


def test_a_name_of_many_pages_is_ignored() -> None:
    for many, found in ((16, 3), (17, 0)):
        names = AnchorNames()
        for number in range(many):
            names.add(number, [("rook", 1)], "")
        assert names.rows(many).same_name().nnz == found * many


def test_a_page_listed_by_its_language_does_not_have_the_name_of_the_language() -> None:
    """A list of clients calls one of them "Rust", by the language that it is for."""
    addresses = (
        "https://rust-lang.org/",
        "https://x.example/eventbus-rs",
        "https://y.example/rust",
        "https://z.example/",
    )
    names = AnchorNames()
    for number, address in enumerate(addresses):
        names.add(number, [("Rust", 2)], address)
    found = names.rows(len(addresses)).same_name()
    assert [found[[page]].indices.tolist() for page in range(4)] == [[2], [3], [0], [1]]
    for number in range(14):  # in all, too many pages have it
        names.add(4 + number, [("rust", 1)], f"https://other.example/{number}" + "/rust" * (number % 2))
    assert names.rows(18).same_name().nnz == 0


def test_first_pages_of_hosts(place: Path) -> None:
    graph = made(place, [Page(A, text="x"), Page(f"{A}b", text="x"), page("name:rook", B)])
    found = dict(zip((graph.address(n) for n in range(graph.pages)), make_vectors.homes(graph).tolist(), strict=True))
    assert found == {A: 1, f"{A}b": 0, B: 1, "rook": 0}


def test_a_heading_gives_context_words(place: Path) -> None:
    """Lists of pages without words, under the same heading: chess is on three pages of five, N + 1 = 6."""
    lists = [Page(f"https://l{n}.example/", links=[Link(f"{A}{n}", block=0), Link(f"{B}{n}", block=0)]) for n in (1, 2)]
    for each in lists:
        each.headings = ["Chess"]
    graph = made(place, [*lists, Page(C, text="chess"), Page(D, text="keel"), Page(f"{D}d", text="keel")])
    found = make_vectors.make_vectors(graph)
    one, two, other = (graph.find(url) for url in (f"{A}1", f"{A}2", D))
    assert found.cosines(one, np.array([two, other], np.uint32), context=True).tolist() == pytest.approx(
        [1.0, 0.0], abs=1e-4
    )
    assert shared(shared_terms(found, one, np.array([two], np.uint32), context=True), found) == [(1, ["chess"])]


def test_a_repeated_link_gives_context_words(place: Path) -> None:
    """A list has a page under Keels, and again under Chess with others: it has the context words of both."""
    links = [Link(f"{A}1", block=0), Link(f"{A}2", block=0), Link(f"{A}3", block=1), Link(f"{A}1", block=1)]
    texts = [Page(C, text="chess"), Page(D, text="keel"), Page(f"{D}d", text="keel"), Page(f"{C}c", text="chess")]
    graph = made(place, [Page(B, links=links, headings=["Keel", "Chess"]), *texts])
    found = make_vectors.make_vectors(graph)
    one, two, three = (graph.find(f"{A}{n}") for n in (1, 2, 3))
    alike = found.cosines(one, np.array([two, three], np.uint32), context=True)
    assert alike.tolist() == pytest.approx([math.sqrt(0.5)] * 2, abs=1e-4)
    assert shared(shared_terms(found, one, np.array([three], np.uint32), context=True), found) == [(1, ["chess"])]


def test_very_many_in_links_are_sampled(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a page in 40 lists about ten listings are read, always the same; others keep all of theirs."""
    texts = [Page(f"{A}{n}", text=WORDS[n % 4]) for n in range(40)]
    lists = [Page(f"{B}{n}", links=[Link(f"{A}{n}", block=0), Link(C, block=0)]) for n in range(40)]
    graph = made(place, [*texts, *lists])
    whole = make_vectors.make_vectors(graph)
    monkeypatch.setattr(context_words, "SAMPLE_LINKS", 10)
    added = list[int]()
    add = context_words.ListingFiles.add
    monkeypatch.setattr(
        context_words.ListingFiles, "add", lambda self, pages, *more: added.extend(pages) or add(self, pages, *more)
    )
    found, again = make_vectors.make_vectors(graph), make_vectors.make_vectors(graph)
    assert all(np.array_equal(one, two) for one, two in zip(found.context, again.context, strict=True))
    assert 2 <= added.count(graph.find(C)) <= 2 * 20
    rows, before = as_dicts(found.context), as_dicts(whole.context)
    assert all(rows[page] == before[page] for page in range(graph.pages) if page != graph.find(C))
    assert sum(weight**2 for weight in rows[graph.find(C)].values()) == pytest.approx(1, abs=1e-3)
