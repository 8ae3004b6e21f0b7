"""A Graph: finding, threads, processes, and stores that change under it."""

from __future__ import annotations

import gc
import pickle
import random
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.graph import arrays, names
from cocite.graph.generation import map_array
from cocite.graph.store import Graph
from cocite.pages.address import canonical
from cocite.pages.key import key
from cocite.sources.records import Link, Page
from tests.graph.webs import ADDRESSES, extend, make, page
from tests.pages.spellings import join

A, B, C = (f"https://{name}.example/" for name in "abc")


def some_web(turn: int = 0) -> list[Page]:
    """A web of which every turn has other links."""
    return [
        Page(
            url,
            f"Title {url}",
            links=[Link(ADDRESSES[(i * 7 + k * (turn + 1)) % len(ADDRESSES)], f"to {k}") for k in range(9)],
        )
        for i, url in enumerate(ADDRESSES)
    ]


def everything(graph: Graph) -> list[object]:
    """What a reader may ask, for comparing."""
    return [
        (
            graph.address(p),
            graph.links_from(p).targets.tolist(),
            graph.links_to(p).tolist(),
            graph.anchors(p),
            graph.title(p),
        )
        for p in range(graph.pages)
    ] + [graph.find(graph.canonical(p).removeprefix("name:")) for p in range(graph.pages)]


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Graph:
    make(fast_root / "store.cocite", some_web())
    return Graph(fast_root / "store.cocite")


@pytest.fixture(scope="module")
def strange(fast_root: Path) -> tuple[Graph, Graph, list[str]]:
    """A store of strange addresses, opened twice, and the addresses; the second always takes the compiled way."""
    choose = random.Random(7)
    texts = [join(choose) for _ in range(2000)]
    make(fast_root / "strange.cocite", [page("https://list.example/", *(t for t in texts if usable(t)))])
    compiled = Graph(fast_root / "strange.cocite")
    compiled.names._looked_up = names.PYTHON_LOOK_UPS
    return Graph(fast_root / "strange.cocite"), compiled, texts


def usable(text: str) -> bool:
    try:
        canonical(text)
    except BadAddress:
        return False
    return True


def test_the_compiled_way_finds_the_same(strange: tuple[Graph, Graph, list[str]]) -> None:
    plain, compiled, texts = strange
    unknown = [text + "x" for text in texts]
    for text in texts + unknown + ["https://" + "a" * 99_999, "https://\ud800.example/", "https://"]:
        plain.names._looked_up = 0
        assert compiled.get(text) == plain.get(text), text
    assert sum(compiled.get(text) is not None for text in texts) > 1000
    assert sum(compiled.get(text) is None for text in unknown) > 1000


def test_any_spelling_is_found(web: Graph) -> None:
    page = web.find("example.com")
    for spelling in (
        "https://example.com/",
        "HTTP://WWW.Example.com:80/index.html?utm_source=x#top",
        " example.com ",
        "//example.com",
    ):
        assert web.find(spelling) == page
    assert web.find("example.com/a?b=1&utm_source=https://x.example/") == web.find("https://example.com/a?b=1")
    assert web.find("12") == web.find("name:12")
    assert web.find("Ünïcode 名前") == web.find("name:Ünïcode 名前")
    assert web.find("nytimes.com/x") == web.find("https://www.nytimes.com/x")


def test_an_unknown_page_comes_with_near_ones(web: Graph) -> None:
    with pytest.raises(UnknownPage, match="did you mean") as caught:
        web.find("https://example.com/a/b/c")
    assert caught.value.nearest[0] == "https://example.com/a"
    assert web.get("https://example.com/a/b/c") is None


@given(
    st.text(max_size=40)
    | st.text(alphabet="ab:/?#.[]%()@ 名\ud800\x00", max_size=12)
    | st.binary(max_size=9).map(lambda b: b.decode("latin1"))
)
def test_any_text_is_found_or_unknown(web: Graph, text: str) -> None:
    try:
        assert 0 <= web.find(text) < web.pages
    except UnknownPage as error:
        assert "\n" not in str(error)
        assert all(
            web.get(near) is not None or web.get(near.removeprefix("name:")) is not None for near in error.nearest
        )
    except BadAddress as error:  # no address at all: empty, or with a scheme and unreadable
        assert "\n" not in str(error)
        assert not text.strip() or "://" in text


def test_pages_under_an_address(web: Graph) -> None:
    names = [web.canonical(p) for p in range(web.pages)]

    def under(prefix: str) -> set[str]:
        return {names[p] for p in web.names.pages_under(prefix)}

    assert under("example.com") == {name for name in names if name.startswith(("example.com", "blog.example.com"))}
    assert under("example.com/a") == {"example.com/a", "example.com/a?b=1", "example.com/a#!x/y"}
    assert under("example.com/~ann") == {"example.com/~ann", "example.com/~ann/x"}
    assert under("example.com:8080") == {"example.com:8080", "example.com:8080/~ann/y"}
    assert under("localhost") == {"localhost/c", "localhost:3000"}
    assert under("http://[::1]/") == {"[::1]:8000/b"}
    assert under("http://10.0.0.1/") == {"10.0.0.1/a"}
    assert under("amazonaws.com") == {name for name in names if name.endswith(("amazonaws.com", "amazonaws.com/k"))}
    assert under("https://co.uk/") == {"co.uk", "shop.co.uk"}
    assert under("a") == {"name:a"}
    assert under("a)b") == {"name:a)b"}
    assert under("Ada, Countess") == {"name:Ada, Countess"}
    assert under("unknown.example") == set()


def test_opaque_names_with_brackets_and_commas_have_nothing_under_them(place: Path) -> None:
    make(place / "s", [page("name:a,b)", "name:a,b,c", "name:a,b)c", "name:a,b", "name:a,b-")])
    graph = Graph(place / "s")
    assert [graph.canonical(p) for p in graph.names.pages_under("a,b)")] == ["name:a,b)"]


def test_domains_of_all_pages_are_worked_out_once(web: Graph) -> None:
    domains = web.units("domain")
    assert web.units("domain") is domains
    assert not domains.flags.writeable
    assert domains[web.find("blog.example.com/1")] == domains[web.find("example.com")]


def test_names_are_numbered_in_the_order_of_keys(web: Graph) -> None:
    keys = [key(web.canonical(p)).encode() for p in range(web.pages)]
    assert keys == sorted(keys)
    assert {web.canonical(p) for p in range(web.pages)} == {canonical(address) for address in ADDRESSES}


@pytest.mark.parametrize("number", [-1, 10**6, 2**32, -(2**40)])
def test_pages_that_do_not_exist(web: Graph, number: int) -> None:
    asked = (
        "links_from", "links_to", "weights_from", "canonical", "address", "title", "text", "headings",
        "anchors", "contexts", "facts.fetched", "facts.status", "facts.captured", "facts.language", "site",
    )  # fmt: skip
    for name in asked:
        with pytest.raises(BadParameter, match="no page"):
            attrgetter(name)(web)(number)


def test_numbers_of_any_kind_name_a_page(web: Graph) -> None:
    assert web.title(np.uint32(3)) == web.title(3)  # type: ignore[arg-type]
    assert web.links_from(np.int64(3)).targets.tolist() == web.links_from(3).targets.tolist()  # type: ignore[arg-type]


def test_units(web: Graph) -> None:
    assert len(web.units("host")) == len(web.units("domain")) == len(web.units("site")) == web.pages
    with pytest.raises(BadParameter, match="host, domain or site"):
        web.units("planet")


def test_all_links_in_steps(web: Graph) -> None:
    for step in (1, 7, 10**6):
        found = [
            (first + i, links.targets[starts[i] : starts[i + 1]].tolist())
            for first, starts, links in web.iter_links(step)
            for i in range(len(starts) - 1)
        ]
        assert found == [(p, web.links_from(p).targets.tolist()) for p in range(web.pages)]


def test_many_threads_read_the_same(web: Graph) -> None:
    truth = everything(web)
    fresh = Graph(web.path)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: everything(fresh), range(24)))
    assert all(result == truth for result in results)


def test_a_graph_goes_to_other_processes(web: Graph) -> None:
    assert everything(pickle.loads(pickle.dumps(web))) == everything(web)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(everything, [web] * 2)) == [everything(web)] * 2


def test_a_graph_is_not_pickled_into_another_generation(place: Path) -> None:
    make(place / "s", [page(A, B)])
    sent = pickle.dumps(Graph(place / "s"))
    make(place / "s", [page(C, B)])
    with pytest.raises(BadStore, match="meanwhile"):
        pickle.loads(sent)


def test_a_reader_keeps_its_generation(place: Path) -> None:
    make(place / "s", some_web())
    reader = Graph(place / "s")
    truth = everything(reader)
    late = Graph(place / "s")  # has read nothing yet when its files go
    for turn in range(1, 4):
        make(place / "s", some_web(turn))
        assert everything(reader) == truth
    assert everything(late) == truth
    assert everything(Graph(place / "s")) != truth
    shutil.rmtree(place / "s")
    assert everything(late) == truth
    del reader, late
    gc.collect()


def test_opening_while_the_store_is_replaced(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(place / "s", [page(A, B)])
    calls = 0

    def slow(file: Path, entry: dict[str, object]) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 5:  # a new generation comes, and the old one goes, while its files are being opened
            monkeypatch.undo()
            make(place / "s", [page(C, B)])
            monkeypatch.setattr(arrays, "map_array", map_array)
        return map_array(file, entry)

    monkeypatch.setattr(arrays, "map_array", slow)
    graph = Graph(place / "s")
    assert graph.get(C) is not None
    assert graph.manifest["generation"] == 2


def test_readers_while_the_store_is_rebuilt_and_added_to_again_and_again(place: Path) -> None:
    make(place / "s", some_web())
    with ThreadPoolExecutor(2) as pool:
        builds = pool.submit(lambda: [(extend if turn % 2 else make)(place / "s", some_web(turn)) for turn in range(6)])
        while not builds.done():
            assert len(everything(Graph(place / "s"))) == 2 * len({canonical(a) for a in ADDRESSES})
        builds.result()
