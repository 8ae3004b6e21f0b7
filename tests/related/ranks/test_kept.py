"""Ranks kept beside a store: found again, refused when stale or damaged, and never half written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shlex import quote, split

import numpy as np
import pytest

import cocite
from cocite.errors import BadStore
from cocite.graph.build.maintain import compact
from cocite.graph.side import list_sides
from cocite.graph.store import Graph
from cocite.operations.store.info import describe
from cocite.related import ranks
from cocite.related.ranks import pagerank
from cocite.web import Web
from tests.graph.webs import extend, make, page


def all_kept(graph: Graph) -> dict[str, bool]:
    """The ranks stored beside a store, and whether each is of this generation."""
    return {str(about["rank"]): fresh for about, fresh in list_sides(graph.path, graph.manifest["id"], "rank_")}


@pytest.fixture
def graph(place: Path) -> Graph:
    links = {0: [1], 1: [2], 2: [0], 3: [0], 4: [0]}
    make(place / "web.cocite", [page(f"name:{n:05d}", *(f"name:{m:05d}" for m in to)) for n, to in links.items()])
    return Graph(place / "web.cocite")


def files(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_kept_by_name_and_parameters(graph: Graph) -> None:
    for call in ("hubrank", "hubrank(bias=authorities)", "hits"):
        with pytest.raises(BadStore) as raised:
            ranks.kept(graph, call)
        again = f"cocite rank -i {graph.path} --by {quote(call)}"
        assert str(raised.value) == f"{graph.path} has no {call} yet: make it with {again}"
        wanted = ranks.rank(call)
        found = wanted.compute(graph)
        wanted.keep(graph, found)
        again_found = ranks.kept(Graph(graph.path), call)
        assert again_found.values.tolist() == found.values.tolist()
        assert (again_found.rounds, again_found.residual) == (found.rounds, found.residual)
    assert all_kept(graph) == {"hubrank": True, "hubrank(bias=authorities)": True, "hits": True}


def test_commands_are_quoted_for_the_shell(place: Path) -> None:
    make(place / "my web; rm -rf.cocite", [page("https://a.example/", "https://b.example/")])
    graph = Graph(place / "my web; rm -rf.cocite")
    with pytest.raises(BadStore) as raised:
        ranks.kept(graph, "hubrank(bias=authorities)")
    command = str(raised.value).partition("make it with ")[2]
    assert split(command) == ["cocite", "rank", "-i", str(graph.path), "--by", "hubrank(bias=authorities)"]


def test_lagging_after_add(graph: Graph) -> None:
    """Pages keep their numbers, so an older rank is used; it says that it lags, and new pages have no value."""
    wanted = ranks.rank("pagerank")
    before = wanted.compute(graph)
    wanted.keep(graph, before)
    assert not ranks.kept(graph, "pagerank").lagging
    for name in ("name:00009", "name:00007"):
        extend(graph.path, [page(name, "name:00000")])
        found, info = ranks.kept(Graph(graph.path), "pagerank"), describe(graph.path)
        assert found.lagging
        assert found.values[:5].tolist() == before.values.tolist()
        assert not found.values[5:].any()
        assert (info["ranks"], info["lagging_ranks"]) == ({"pagerank": False}, ["pagerank"])
    changed = Graph(graph.path)
    wanted.keep(changed, wanted.compute(changed))
    found, info = ranks.kept(changed, "pagerank"), describe(graph.path)
    assert not found.lagging
    assert found.values.tolist() == wanted.compute(changed).values.tolist()
    assert len(found.values) == 7 and found.values.all()
    assert (info["ranks"], info["lagging_ranks"]) == ({"pagerank": True}, [])


def test_stale_after_a_rewrite(graph: Graph) -> None:
    """Pages get other numbers, so an older rank is refused."""
    wanted = ranks.rank("pagerank")
    wanted.keep(graph, wanted.compute(graph))
    extend(graph.path, [page("name:00009", "name:00000")])
    compact(graph.path)
    changed = Graph(graph.path)
    with pytest.raises(
        BadStore, match=r"made before the store was changed: make it again with cocite rank .* --by pagerank"
    ):
        ranks.kept(changed, "pagerank")
    assert all_kept(changed) == {"pagerank": False}
    wanted.keep(changed, wanted.compute(changed))
    assert len(ranks.kept(changed, "pagerank").values) == 6


def test_a_web_uses_stored_ranks_and_computes_missing_ones(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    web = Web(graph.path)
    first = web.rank("pagerank")
    assert web.rank("pagerank()") is first
    assert all_kept(graph) == {}
    wanted = ranks.rank("pagerank")
    wanted.keep(graph, wanted.compute(graph))
    monkeypatch.setattr(pagerank, "compute", None)
    assert Web(graph.path).rank("pagerank").values.tolist() == first.values.tolist()


def test_a_failure_leaves_the_store_as_it_was(graph: Graph) -> None:
    wanted = ranks.rank("pagerank")
    wanted.keep(graph, wanted.compute(graph))
    before = files(graph.path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ranks.names():
        seeds = {"seeds": ("name:00000",)} if name == "trustrank" else {}
        with pytest.raises(KeyboardInterrupt):
            ranks.rank(name, seeds).compute(graph, interrupt)
    assert files(graph.path) == before


def test_damage_is_noticed(graph: Graph) -> None:
    wanted = ranks.rank("pagerank")
    wanted.keep(graph, wanted.compute(graph))
    data = next((graph.path / "side").glob("rank_pagerank-*/values.bin"))
    data.write_bytes(data.read_bytes()[:-8])
    with pytest.raises(BadStore):
        ranks.kept(graph, "pagerank")
    (graph.path / "side" / "rank_pagerank.json").write_text("{}")
    with pytest.raises(BadStore, match="is damaged: make it again with cocite rank"):
        ranks.kept(graph, "pagerank")


def test_damaged_links_are_noticed(graph: Graph) -> None:
    words = next(graph.path.glob("g*/in.words.bin"))
    whole = words.read_bytes()
    told = 0
    for at in range(len(whole)):
        words.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        for name in ranks.names():
            try:
                found = ranks.rank(name).compute(Graph(graph.path))
            except BadStore as error:
                told += "run cocite check" in str(error)
            else:
                assert np.isfinite(found.values).all()
    assert told


def test_from_python(graph: Graph) -> None:
    web = cocite.open(graph.path)
    best = web.rank("pagerank").top(2)
    assert [(page.rank, page.url) for page in best] == [(1, "00000"), (2, "00001")]
    assert best[0].value > best[1].value
    assert len(web.rank("hubrank").top()) == 5
    with pytest.raises(cocite.BadParameter, match="k must be a whole number from 1 to"):
        web.rank("hits").top(0)
    for wrong in ("a", None, 2.5, [3]):
        with pytest.raises(cocite.BadParameter, match="k must be a whole number"):
            web.rank("hits").top(wrong)  # type: ignore[arg-type]


def test_many_at_once_leave_one_whole(graph: Graph) -> None:
    wanted = ranks.rank("pagerank")
    ranked = wanted.compute(graph)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: wanted.keep(Graph(graph.path), ranked), range(40)))
    assert ranks.kept(graph, "pagerank").values.tolist() == ranked.values.tolist()
    assert len(list((graph.path / "side").glob("rank_pagerank-*"))) == 1


def test_a_damaged_rank_is_computed_again(graph: Graph) -> None:
    expected = Web(graph.path).rank("pagerank").values.tolist()
    wanted = ranks.rank("pagerank")
    wanted.keep(graph, wanted.compute(graph))
    (graph.path / "side" / "rank_pagerank.json").write_text("{}")
    assert Web(graph.path).rank("pagerank").values.tolist() == expected
