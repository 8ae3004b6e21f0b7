"""Compaction beside commits. tests/related/methods/test_layer_sequences.py compares what comes out."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cocite import build
from cocite.errors import BadStore, LockedStore
from cocite.graph import clicks, side
from cocite.graph.build import compaction
from cocite.graph.build.maintain import compact, rewrite
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.generation import merged_sources, new_generation, no_progress, read_pointer, subtracted_sources
from cocite.graph.store import Graph
from cocite.operations.store.build import Add, Compact
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport
from cocite.words import search, stored
from tests.graph.trails import add_clicks
from tests.graph.webs import Records, extend, make, page

A, B, C, D = (f"https://{name}.example/" for name in "abcd")


@pytest.fixture
def store(place: Path) -> Path:
    """A store of two pages."""
    make(place / "web.cocite", [page(A, B)])
    return place / "web.cocite"


def test_two_compactions_of_one_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is refused; commits go on, and leave the first alone. What a killed one left goes with a commit."""
    folder = store / f"compact-{os.getpid()}"
    with compaction.linked_copy(store) as copy:
        assert copy.parent == folder
        with pytest.raises(LockedStore, match="another command is compacting"), compaction.linked_copy(store):
            pass
        extend(store, [page(C, A)])
        assert folder.exists()
        with pytest.raises(LockedStore, match="another command is compacting"):
            compact(store)
        monkeypatch.setattr(compaction, "LOCKED_SECONDS", 0.0)
        with new_generation(store), pytest.raises(LockedStore, match="another build"):
            compact(store)
    assert not folder.exists()
    (store / "compact-1" / "web").mkdir(parents=True)
    (store / "compact-1" / "lock").touch()
    extend(store, [page(D, A)])
    assert not (store / "compact-1").exists()


def test_a_store_that_stays_locked_is_left_as_it_was(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compaction doesn't wait without end for whoever hangs with the store locked."""
    extend(store, [page(C, A)])
    state, held = Graph(store).manifest["id"], list[Any]()

    def lock(_: Path) -> None:
        held.append(new_generation(store))
        held[0].__enter__()

    monkeypatch.setattr(compaction, "SWITCH_SECONDS", 0.0)
    with pytest.raises(LockedStore, match="another build"):
        compact(store, prepare=lock)
    held[0].__exit__(None, None, None)
    assert Graph(store).manifest["id"] == state and not list(store.glob("compact-*")) and check(store) == []


@pytest.mark.parametrize("name", [".", ".."])
def test_a_store_may_have_any_name(store: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (store / "side").mkdir(exist_ok=True)
    monkeypatch.chdir(store / "side" if name == ".." else store)
    extend(store, [page(C, A)])
    compact(Path(name), prepare=lambda _: extend(store, [page(D, A)]))
    assert {Graph(store).address(each) for each in range(4)} == {A, B, C, D} and check(store) == []


def test_a_commit_while_a_compaction_begins(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are linked after the store is unlocked; if they are gone by then, the compaction is refused."""
    extend(store, [page(C, A)])
    link = side.link_or_copy

    def built_anew(source: Path, target: Path) -> None:
        if source.name == "manifest.json":
            rewrite([Records([page(D, A)])], store, ReadReport())
        link(source, target)

    monkeypatch.setattr(compaction, "link_or_copy", built_anew)
    with pytest.raises(LockedStore, match="changed meanwhile"):
        compact(store)
    assert not list(store.glob("compact-*")) and check(store) == []


def test_a_disk_that_is_full_when_it_begins(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")

    monkeypatch.setattr(compaction, "link_or_copy", full)
    with pytest.raises(BadStore, match="free some space"):
        compact(store)


def test_what_a_killed_command_left_beside_words_stays_away(store: Path) -> None:
    def leave(copy: Path) -> None:
        (copy / "side" / "search-0123abcd").mkdir(parents=True)

    extend(store, [page(C, A)])
    compact(store, prepare=leave)
    assert not read_pointer(store)[2] and check(store) == []


def test_clicks_that_are_counted_when_it_ends_are_kept(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the switch and the renewal of clicks, somebody adds a page and counts a click on a link to it."""
    add_clicks(Graph(store), [Trail([A, B], [(0, 1)], 3)], ReadReport())
    only_one, counted = side.only_one, list[int]()

    @contextmanager
    def first(graph: Graph, name: str, what: str) -> Iterator[None]:
        if not counted and not read_pointer(store)[2] and read_pointer(store)[0].name != "g000001":
            counted.append(5)
            extend(store, [page(D, A)])
            add_clicks(Graph(store), [Trail([A, D], [(0, 1)], 5)], ReadReport())
        with only_one(graph, name, what):
            yield

    extend(store, [page(C, A)])
    monkeypatch.setattr(clicks, "only_one", first)
    compact(store)
    assert counted and open_clicks(Graph(store)).total == 8


def test_words_of_a_commit_during_the_switch(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever renews words and finds another store begins again, instead of making all of them for an old one."""
    store, records = place / "web.cocite", place / "pages.jsonl"

    def add(number: int) -> None:
        text = json.dumps({"url": f"https://new{number}.example/", "title": f"new {number}", "links": [A]})
        records.write_text(text + "\n")
        Add(sources=(str(records),), kind="records", sent=True, index=str(store), quiet=True).do(no_progress)

    pages = [{"url": f"https://p{n}.example/", "title": f"page {n} of birds", "links": [A, B]} for n in range(20)]
    records.write_text("".join(json.dumps(each) + "\n" for each in pages))
    build([records], store)
    add(1)
    followed, store_words, compacted, made = search.followed, stored.WordData._store, list[str](), list[str]()

    def late(kind: Any, graph: Graph, changes: Any) -> bool:
        if not compacted and graph.path == store:
            compacted.append("now")
            Compact(index=str(store), quiet=True).do(no_progress)
            made.clear()
        return followed(kind, graph, changes)

    def counted(self: Any, graph: Graph, *args: Any, **options: Any) -> Any:
        made.append(self.name)
        return store_words(self, graph, *args, **options)

    monkeypatch.setattr(search, "followed", late)
    monkeypatch.setattr(stored.WordData, "_store", counted)
    add(2)
    assert compacted and made == []
    graph = Graph(store)
    for name in ("search", "vectors"):
        words = side.read_side(graph, name, "")
        assert words is not None and words.generation == graph.manifest["id"]
    add(3)
    assert made == [] and check(store) == []


def test_a_store_that_was_built_anew_meanwhile_is_not_replaced(store: Path) -> None:
    extend(store, [page(C, A)])
    with pytest.raises(LockedStore, match="changed meanwhile"):
        compact(store, prepare=lambda _: rewrite([Records([page(D, A)])], store, ReadReport()))
    assert Graph(store).get(D) is not None and check(store) == []


def test_a_disk_without_links(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", link)
    extend(store, [page(C, A)])
    compact(store)
    assert Graph(store).manifest.get("layers", 0) == 0 and check(store) == []


def test_what_is_committed_beside_a_compaction_is_one_layer(store: Path) -> None:
    extend(store, [page(C, A, title="Sea")])

    def beside(_: Path) -> None:
        extend(store, [page(D, A, C, title="Dee")])
        extend(store, [page(A, D, title="Ay")])

    compact(store, prepare=beside)
    graph = Graph(store)
    assert check(store) == []
    assert len(read_pointer(store)[2]) == 1
    assert [graph.title(graph.find(each)) for each in (A, C, D)] == ["Ay", "Sea", "Dee"]
    assert [graph.address(int(each)) for each in graph.links_from(graph.find(A)).targets] == [D]
    assert sum(source["records"] for source in graph.manifest["sources"]) == 4
    compact(store)
    assert len(graph) == len(Graph(store)) == 3 and not read_pointer(store)[2]  # nothing links to B any more


def test_sources_are_counted_once() -> None:
    one, two = ({"source": name, "kind": "records", "records": 2, "links": 5} for name in "ab")
    more = merged_sources([one, two, one])
    assert merged_sources([one, *subtracted_sources(more, [one])]) == more
    assert subtracted_sources([one], [one]) == []
