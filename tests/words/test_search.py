"""Full text search: results, their order, and failures."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocite
from cocite.cli.tasks.demo import build_sample
from cocite.errors import BadParameter, BadStore
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.words import search as module
from cocite.words.documents import MAX_TEXT_CHARACTERS, address_words
from cocite.words.search import SEARCH, renew_search
from cocite.words.tokens import forms
from tests.graph.webs import examples, extend, make
from tests.words.webs import webs

TITLE, ANCHOR, AROUND, HEADING, TEXT, ADDRESS = (f"https://{name}.example/" for name in "tawhxz")
ADDRESS += "Falcon_peregrine%C3%A9"
PAGES = [
    Page(TITLE, "Falcon", text="other words"),
    Page(HEADING, "one", headings=["Birds", "Falcon"], text="other words"),
    Page(TEXT, "two", text="the falcon flies"),
    Page(
        "https://list.example/",
        "List",
        links=[
            Link(ANCHOR, "Falcon", 0),
            Link(AROUND, "here", 0, context="a falcon at sea"),
            Link(ADDRESS, "there", 0),
            Link("https://chess.example/", "Opening", 1),
        ],
        headings=["Links", "Royal games"],
    ),
    Page("https://hidden.example/", "Falcon hidden", noindex=True),
    Page("https://old.example/", redirect=TITLE),
]


@pytest.fixture(scope="module")
def graph(fast_root: Path) -> Iterator[Graph]:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "w", PAGES)
        graph = Graph(Path(folder) / "w")
        SEARCH.build(graph)
        yield graph


@pytest.fixture
def own(graph: Graph, place: Path) -> Graph:
    """A copy that may be changed."""
    return Graph(shutil.copytree(graph.path, place / "w"))


def found(graph: Graph, query: str, k: int = 10) -> list[str]:
    return [graph.address(page) for page, _ in SEARCH.open(graph).search(query, k).hits]


def test_fields_by_weight(graph: Graph) -> None:
    assert sorted(found(graph, "falcon")) == sorted([TITLE, ANCHOR, AROUND, HEADING, TEXT, ADDRESS])
    assert found(graph, "falcon")[0] in (TITLE, ANCHOR)
    assert found(graph, "falcon")[-1] == ADDRESS


def test_words_of_an_address_in_any_script(graph: Graph) -> None:
    assert found(graph, "peregrinee") == [ADDRESS]
    assert found(graph, "list example") == ["https://list.example/"]
    assert address_words("https://www2.a.example/%E9%9F%B3_%FF/www.") == "a.example/音 \ufffd/www."


def test_the_heading_of_a_link_describes_its_page(graph: Graph) -> None:
    assert found(graph, "royal opening") == ["https://chess.example/"]


def test_phrases(graph: Graph) -> None:
    assert found(graph, '"falcon flies"') == [TEXT]
    assert found(graph, '"flies falcon"')  # no page has the phrase: those that have its words
    assert SEARCH.open(graph).search('"flies falcon"', 10).matched == 0


def test_all_words_else_the_most_of_them(graph: Graph) -> None:
    assert found(graph, "falcon flies") == [TEXT]
    several = SEARCH.open(graph).search("falcon flies nonsense", 10)
    assert [graph.address(page) for page, _ in several.hits] == [TEXT]
    assert (several.matched, several.total) == (2, 3)


def test_a_plural_s_does_not_matter_in_words_but_in_phrases(graph: Graph) -> None:
    assert sorted(found(graph, "falcons")) == sorted(found(graph, "falcon"))
    assert (
        found(graph, "royal game") == found(graph, "royal games") == ["https://chess.example/", "https://list.example/"]
    )
    assert SEARCH.open(graph).search('"royal game"', 10).matched == 0
    assert forms(("glass",)) == [("glass",)]
    assert forms(("is",)) == [("is",)]
    assert forms(("games",)) == [("games",), ("game",)]


def test_how_many(graph: Graph) -> None:
    assert len(found(graph, "falcon", 2)) == 2
    assert found(graph, "falcon", 2) == found(graph, "falcon", 10**12)[:2]
    assert found(graph, "falcon", 0) == []


@pytest.mark.parametrize("query", ["", "  ", "!?", '""', "\x00"])
def test_no_word_at_all(graph: Graph, query: str) -> None:
    with pytest.raises(BadParameter, match="No word to search for"):
        SEARCH.open(graph).search(query, 10)


@given(st.text(max_size=40) | st.text("ab \"“”\\:()[]{}^~*?+-/!&|<>=,.'#", max_size=20))
def test_no_query_raises_an_error(graph: Graph, query: str) -> None:
    with suppress(BadParameter):
        assert len(SEARCH.open(graph).search(query, 3).hits) <= 3


def test_nothing_fits(graph: Graph) -> None:
    assert found(graph, "nonsense") == []


def test_equal_scores_by_links_in_then_by_address(place: Path) -> None:
    names = [f"https://{i:03d}.example/x" for i in range(200)]
    pages = [Page(name, "same") for name in names]
    make(place / "w", [*pages, Page("https://list.example/", links=[Link(names[150]), Link(names[120])])])
    graph = Graph(place / "w")
    SEARCH.build(graph)
    assert found(graph, "same", 5) == [names[120], names[150], names[0], names[1], names[2]]


def test_popularity_counts_by_the_logarithm(place: Path) -> None:
    pages = [Page(f"https://{i}.example/", "same") for i in (1, 2)]
    fans = [Page(f"https://fan{i}.example/", "fan", links=[Link("https://1.example/")]) for i in range(7)]
    make(place / "w", [*pages, *fans])
    graph = Graph(place / "w")
    SEARCH.build(graph)
    (_, more), (_, less) = SEARCH.open(graph).search("same", 2).hits
    assert more / less == pytest.approx(1 + module.POPULARITY * 3, rel=1e-4)  # log2(1 + 7) = 3


@examples(8)
@given(webs(), st.sampled_from(["alpha", "gamma ray", '"gamma ray" beta', "音乐", "c++", "example"]))
def test_the_same_every_time_and_in_any_memory(fast_root: Path, pages: list[Page], query: str) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "w", pages)
        graph = Graph(Path(folder) / "w")
        SEARCH.build(graph)
        once = SEARCH.open(graph).search(query, 5).hits
        SEARCH.build(graph, memory=100)  # many ranges of targets
        assert SEARCH.open(graph).search(query, 5).hits == once


def test_hostile_texts(place: Path) -> None:
    long = "a" * (MAX_TEXT_CHARACTERS + 100)
    texts = ["\x00", "\u202e" * 1000, long, "é" * 70_000, "x " * 300_000 + "last", "\n\t\r \ufffe\uffff"]
    make(place / "w", [Page(f"https://{i}.example/", text, text=text, headings=[text]) for i, text in enumerate(texts)])
    graph = Graph(place / "w")
    assert SEARCH.build(graph).pages == graph.pages
    assert found(graph, "last") == ["https://4.example/"]


def test_opaque_names_can_be_found(place: Path) -> None:
    make(place / "w", [Page("name:Ada Lovelace", links=[Link("name:Babbage")])])
    graph = Graph(place / "w")
    assert renew_search(graph.path, wanted=True) is None  # there is no text
    with pytest.raises(BadStore, match="cocite search --make -i"):
        SEARCH.open(graph)
    assert [graph.address(page) for page, _ in SEARCH.ready(graph).search("lovelace", 3).hits] == ["Ada Lovelace"]


def test_a_changed_store_has_a_stale_index(own: Graph) -> None:
    extend(own.path, [Page("https://new.example/", "Falcon of the year")])
    graph = Graph(own.path)
    with pytest.raises(BadStore, match=r"before the store was changed.*cocite search --make"):
        SEARCH.open(graph)
    with pytest.raises(BadStore, match=r"Another command changed .* meanwhile: run this one again"):
        SEARCH.build(own)  # page numbers of the old generation
    assert renew_search(own.path, wanted=True) is not None
    assert "https://new.example/" in found(graph, "falcon")


def test_an_index_that_is_not_wanted_any_more_goes(own: Graph) -> None:
    assert renew_search(own.path, wanted=False) is None
    assert not [file for file in (own.path / "side").iterdir() if not file.name.startswith(".")]
    with pytest.raises(BadStore, match="no search index"):
        SEARCH.open(own)


def test_ready_search_builds_the_index_only_if_needed(own: Graph) -> None:
    before = SEARCH.open(own).side.folder
    assert SEARCH.ready(own).pages == SEARCH.open(own).pages
    assert SEARCH.open(own).side.folder == before
    renew_search(own.path, wanted=False)
    assert SEARCH.ready(own).search("falcon", 3).hits == SEARCH.open(own).search("falcon", 3).hits


def test_a_process_of_its_own_makes_the_same_index(own: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it fails, this process makes the index, or says why it can't."""
    queries = ("password manager", "python", "notes", "example")
    expected = [SEARCH.build(own).search(query, 10) for query in queries]
    monkeypatch.setattr(module, "MIN_PROCESS_BYTES", 0)
    monkeypatch.setattr(module, "usable_cores", lambda: 2)
    for executable in (sys.executable, shutil.which("false") or "/bin/false"):
        renew_search(own.path, wanted=False)
        monkeypatch.setattr(sys, "executable", executable)
        assert renew_search(own.path, wanted=True) is not None
        made = SEARCH.open(own)
        assert [made.search(query, 10) for query in queries] == expected


def test_damage_is_reported(own: Graph) -> None:
    files = sorted(file for file in SEARCH.open(own).side.folder.iterdir() if file.suffix != ".lock")
    assert len(files) > 5
    for file in files:
        raw = file.read_bytes()
        for wrong in (raw[:-1], bytes([raw[0] ^ 1]) + raw[1:], None):
            file.unlink()
            if wrong is not None:
                file.write_bytes(wrong)
            with pytest.raises(BadStore, match=r"damaged: make it again with cocite search --make"):
                SEARCH.open(own)
            file.write_bytes(raw)
    assert SEARCH.open(own).search("falcon", 1).hits


def test_an_index_of_another_version_is_refused(own: Graph) -> None:
    with pytest.raises(BadStore, match="another version"):
        replace(module.SEARCH, version=module.SEARCH.version + 1).open(own)


def test_failing_leaves_the_old_index(own: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    before = found(own, "falcon")
    with pytest.raises(KeyboardInterrupt):
        SEARCH.build(own, progress=stop)
    assert found(own, "falcon") == before
    assert len(list((own.path / "side").glob("search-*"))) == 1


KILLED = """
import sys, time
from cocite.graph.store import Graph
from cocite.words.search import SEARCH
def wait(stage, done, total):
    if stage == "indexing pages":
        print(stage, flush=True)
        time.sleep(60)
SEARCH.build(Graph(sys.argv[1]), progress=wait)
"""


def test_killed_while_indexing_the_store_is_intact(own: Graph) -> None:
    before = found(own, "falcon")
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(own.path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"indexing pages\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not list(check(own.path))
    assert found(own, "falcon") == before
    SEARCH.build(own)  # the lock went with its holder, and so does what was left behind
    assert found(own, "falcon") == before
    assert len(list((own.path / "side").glob("search-*"))) == 1


def test_two_at_once(own: Graph) -> None:
    renew_search(own.path, wanted=False)
    code = "import sys; from cocite.graph.store import Graph; from cocite.words.search import SEARCH\n"
    code += "print(len(SEARCH.ready(Graph(sys.argv[1])).search('falcon', 10).hits))"
    both = [subprocess.Popen([sys.executable, "-c", code, str(own.path)], stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [b"6\n", b"6\n"]
    assert len(list((own.path / "side").glob("search-*"))) == 1


def test_the_sample(fast_root: Path) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        build_sample(Path(folder) / "w", lambda *_: None)
        graph = Graph(Path(folder) / "w")
        SEARCH.build(graph)
        assert found(graph, "new york times", 1) == ["https://www.nytimes.com/"]
        assert found(graph, "bmw", 1) == ["https://www.bmw.com/"]
        assert found(graph, "marias reading room", 1) == ["https://marias-reading-room.example/newspapers"]


def test_some_awesome_lists(fast_root: Path, shared: Path) -> None:
    source = shared / "data" / "awesome" / "pages.jsonl.gz"
    if not source.exists():
        pytest.skip(f"needs {source}")
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        some = Path(folder) / "some.jsonl"
        with gzip.open(source, "rb") as lines:
            some.write_bytes(b"".join(islice(lines, 0, None, 18)))
        cocite.build([some], Path(folder) / "w")
        graph = Graph(Path(folder) / "w")
        best = {"1password.com", "bitwarden.com", "padloc.app", "vaultwarden", "keepassxc.org", "proton.me/pass"}
        assert found_names(best, found(graph, "password manager")) >= 5
        best = {"pelican", "mkdocs", "nikola", "makesite", "Wyam", "lektor"}
        assert found_names(best, found(graph, "static site generator")) >= 5


def found_names(names: set[str], addresses: list[str]) -> int:
    """How many of the names some address has in it."""
    return sum(any(name in address for address in addresses) for name in names)
