"""Collections become stores and judgements: small ones written here, and the real ones where they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from cocite.errors import BadSource
from cocite.evaluate.evaluation import in_store
from cocite.evaluate.judgements import Judgements
from cocite.graph.clicks import open_clicks
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import datasets


def zipped(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Every collection, with a few pages each."""
    zipped(
        tmp_path / "awesome" / "pages.jsonl.gz",
        json.dumps({"url": "https://list.example/", "links": ["https://a.example/", "https://b.example/"]}),
    )
    zipped(tmp_path / "awesome" / "judgements.dev.tsv.gz", "a.example\tb.example", "a.example\tz.example")
    wiki = tmp_path / "wikispeedia"
    zipped(wiki / "articles.tsv.gz", "id\tarticle", "0\tÅland", "1\tFinland", "2\tGold")
    zipped(wiki / "links.tsv.gz", "source\ttarget", "0\t1", "1\t0", "1\t2")
    zipped(wiki / "text_lead.jsonl.gz", json.dumps({"id": 0, "article": "Åland", "text": "islands"}))
    zipped(wiki / "categories.tsv.gz", "id\tcategory", "0\tCountries", "1\tCountries", "1\tNorth", "2\tMetals")
    zipped(wiki / "paths_finished.tsv.gz", "article ids", "0 1 2", "1 0 1")
    papers = tmp_path / "citations"
    papers.mkdir()
    for name in ("citeseer", "cora"):
        save_npz(papers / f"{name}.words.npz", csr_matrix(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])))
        (papers / f"{name}.edges.tsv").write_text("a\tb\n0\t1\n")
        (papers / f"{name}.labels.tsv").write_text("id\tclass\n0\t4\n1\t4\n2\t-1\n")
    pages = [
        {"url": "http://cs.one.edu/~ann/index.html", "class": "student", "words": [3, 5]},
        {"url": "http://cs.two.edu/ben", "class": "student", "words": [5]},
        {"url": "http://cs.two.edu/course", "class": "course", "words": []},
    ]
    zipped(tmp_path / "webkb" / "pages.jsonl.gz", *map(json.dumps, pages))
    (tmp_path / "webkb" / "links.tsv").write_text(
        "source\ttarget\tuniv\nhttp://cs.one.edu/~ann/index.html\thttp://cs.two.edu/ben\tone\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("name", "pages", "right"),
    [
        ("awesome", 3, {"a.example": {"b.example", "z.example"}}),
        (
            "wikispeedia",
            3,
            {
                "wikispeedia.example/wiki/%C3%85land": {"wikispeedia.example/wiki/Finland"},
                "wikispeedia.example/wiki/Finland": {"wikispeedia.example/wiki/%C3%85land"},
            },
        ),
        ("citeseer", 3, {"name:0": {"name:1"}, "name:1": {"name:0"}}),
        ("cora", 3, {"name:0": {"name:1"}, "name:1": {"name:0"}}),
        ("webkb", 3, {"cs.one.edu/~ann": {"cs.two.edu/ben"}, "cs.two.edu/ben": {"cs.one.edu/~ann"}}),
    ],
)
def test_stores_and_judgements(data: Path, place: Path, name: str, pages: int, right: dict[str, set[str]]) -> None:
    """A page alone in its class is not a query; a page is never right for itself; the store knows what is judged."""
    found = datasets.read(name, data)
    assert {query: found.judgements.right(query) for query in found.judgements.ratings} == right
    graph = datasets.make(found, place / "web.cocite")
    assert graph.pages == pages
    judged, numbers = in_store(graph, found.judgements, ReadReport())
    assert set(judged.ratings) == set(numbers) == set(right)


def test_contents_of_the_stores(data: Path, place: Path) -> None:
    graph = datasets.make(datasets.read("cora", data), place / "cora.cocite")
    one, other = graph.find("name:0"), graph.find("name:1")
    assert graph.links_from(one).targets.tolist() == [other]  # both ways
    assert graph.links_from(other).targets.tolist() == [one]
    words = Web(graph.path).keywords
    assert sorted(words.words[number] for number, _ in words.ordered(other)) == ["w1", "w2"]
    graph = datasets.make(datasets.read("wikispeedia", data), place / "wiki.cocite", search=False)
    island, finland = graph.find(datasets.WIKI + "Åland"), graph.find(datasets.WIKI + "Finland")
    clicks = open_clicks(graph)
    assert clicks.total == 4  # 0 → 1 → 2 and 1 → 0 → 1
    assert clicks.after(island).pages.tolist()[:1] == [finland]
    some = datasets.wikispeedia(data, lambda game: game[0] == "0")
    assert [trail.pages for trail in some.trails] == [[datasets.WIKI + name for name in ("Åland", "Finland", "Gold")]]


def test_a_page_of_several_groups() -> None:
    """b is with a in one group and with c in another; d is alone."""
    found = datasets.same_group({"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": ["z"]})
    assert {query: found.right(query) for query in found.ratings} == {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}


def test_queries_by_hash() -> None:
    """The same ones whatever else is judged, in whatever order."""
    every = {f"page{n}": {"right": 1.0} for n in range(50)}
    some = datasets.some_queries(Judgements(every), 10)
    assert len(some) == 10
    turned = dict(reversed(list(every.items())))
    assert list(datasets.some_queries(Judgements(turned), 10).ratings) == list(some.ratings)
    fewer = {query: of for query, of in every.items() if query in some.ratings or query > "page3"}
    assert set(datasets.some_queries(Judgements(fewer), 10).ratings) == set(some.ratings)
    assert set(datasets.some_queries(Judgements(every), 0).ratings) == set(every)


def test_missing_data(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="Unknown collection 'beauty'; there are awesome"):
        datasets.read("beauty", data)
    for name in datasets.READERS:
        if not name.endswith("-docs") and not name.startswith("planted-"):  # from packages, and generated
            with pytest.raises(BadSource, match=name.removesuffix("-links")):
                datasets.read(name, tmp_path / "nowhere")
    (data / "webkb" / "pages.jsonl.gz").write_bytes(gzip.compress(b'{"url": 5}\n'))
    with pytest.raises(BadSource, match="does not have webkb: give the folder that has webkb/"):
        datasets.read("webkb", data)


@pytest.mark.parametrize(
    ("name", "queries"), [("wikispeedia", 4598), ("citeseer", 3312), ("cora", 2708), ("webkb", 876)]
)
def test_the_real_ones(shared: Path, name: str, queries: int) -> None:
    assert len(datasets.read(name, shared / "data").judgements) == queries
