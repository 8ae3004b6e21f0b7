"""Layers on disk: what is written, merged, compacted, and what happens if one is missing or damaged."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cocite.errors import BadStore
from cocite.graph.build import merge_layers
from cocite.graph.build.maintain import compact, remove, rewrite
from cocite.graph.changes.layers import Layer, LayeredArrays, layer_bytes, layers_since, pages_in
from cocite.graph.check import check
from cocite.graph.generation import read_current, read_pointer
from cocite.graph.mapping import GRAIN_BYTES, FilePart, joined
from cocite.graph.store import Graph
from cocite.sources.records import ReadReport
from tests.graph.compare import assert_same
from tests.graph.naive import Naive
from tests.graph.webs import Records, extend, files_of, long_lists, make, page

A, B, C, D, E = (f"https://{name}.example/" for name in "abcde")


@pytest.fixture
def store(place: Path) -> Path:
    """A store with two layers."""
    path = place / "web.cocite"
    make(path, [page(A, B, C), page(D, C)])
    extend(path, [page("https://bb.example/", A, E)])
    extend(path, [page(B, E, "https://aa.example/")])
    return path


def test_a_commit_leaves_the_base_as_it_is(place: Path) -> None:
    path = place / "s"
    make(path, [page(A, B, C), page(D, C)])
    before = files_of(path)
    extend(path, [page(E, A)])
    assert files_of(path) == before
    assert len(read_pointer(path)[2]) == 1
    extend(path, [page(E, A)])
    assert len(read_pointer(path)[2]) == 1, "the same again changes nothing, so nothing is written"


def test_readers_keep_what_they_opened(store: Path) -> None:
    graph = Graph(store)
    extend(store, [page(A, D)])
    compact(store)
    assert [graph.address(int(target)) for target in graph.links_from(graph.find(A)).targets] == [B, C]
    assert graph.title(0) == ""
    with pytest.raises(BadStore, match="changed meanwhile"):
        pickle.loads(pickle.dumps(graph))


def test_a_graph_is_pickled_as_it_was_before_later_layers(store: Path) -> None:
    graph = Graph(store)
    raw = pickle.dumps(graph)
    extend(store, [page(A, D)])
    again = pickle.loads(raw)
    assert again.manifest["id"] == graph.manifest["id"]
    assert len(again.links_from(again.find(A)).targets) == 2


def test_compaction_gives_the_store_that_a_rewrite_gives(place: Path, store: Path) -> None:
    other = place / "other.cocite"
    make(other, [page(A, B, C), page(D, C)])
    rewrite([Records([page("https://bb.example/", A, E)])], other, ReadReport())
    rewrite([Records([page(B, E, "https://aa.example/")])], other, ReadReport())
    assert check(store) == []
    compact(store)
    assert files_of(store) == files_of(other)
    assert "layers" not in read_current(store)[1]
    assert not list(store.glob("*.layer"))


def test_many_commits_are_merged(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_layers, "MAX_LAYERS", 3)
    path, truth = place / "s", Naive([page(A, B, C), page(D, C)])
    make(path, [page(A, B, C), page(D, C)])
    for number in range(12):
        step = [page(f"https://p{number * 7 % 12}.example/", A, E, B, title=f"T{number}"), page(C, A, partial=True)]
        truth = truth.add(step)
        extend(path, step)
        assert len(read_pointer(path)[2]) <= 3
    remove([E], path)
    assert_same(Graph(path), truth.remove([E]))
    assert check(path) == []
    assert len(list(path.glob("*.layer"))) == len(read_pointer(path)[2])


@pytest.mark.parametrize("most", [1, 99])
def test_chosen_parents_come_change_and_go(place: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A layer has the rows that changed: most pages that get a link keep theirs, others lose them or get new ones."""
    monkeypatch.setattr(merge_layers, "MAX_LAYERS", most)
    path, links = place / "s", 3 * 40
    parents = [f"https://p{n}.example/" for n in range(40)]
    with long_lists():
        make(path, [page(each, A, B, C) for each in parents])
        before = {kind: Graph(path).links.stored_parents(kind).page.tolist() for kind in ("best", "sample")}
        assert len(before["best"]) == len(before["sample"]) == 3
        extend(path, [page("https://zzz.example/", A)])  # nobody links to it, so it is none of the best
        assert check(path) == []
        assert not len(Graph(path).arrays.layers[-1]["best.page"])
        extend(path, [page(A, *parents[5:9]), page(E, *parents[7:11])])  # parents have other in-degrees
        assert check(path) == []
        for some in (parents[:20], parents[20:38]):
            extend(path, [page(each, B) for each in some])  # A and C lose links, in the end almost all
            assert check(path) == []
        stored = Graph(path).links.stored_parents("best")
        assert [Graph(path).address(int(number)) for number in stored.page] == [B]
        extend(path, [page(each, A, B, C) for each in parents])
        assert check(path) == [] and len(Graph(path).links) == links + 9
        compact(path)
        assert check(path) == []


def test_a_source_that_is_added_again_is_one_source(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a store that is written to for days had a manifest of megabytes."""
    monkeypatch.setattr(merge_layers, "MAX_LAYERS", 2)
    path = place / "s"
    make(path, [page(A, B)])
    for number in range(4):
        extend(path, [page(f"https://p{number}.example/", B, C)])
    assert [each["records"] for each in Graph(path).manifest["sources"]] == [5]
    compact(path)
    assert [(each["records"], each["links"]) for each in Graph(path).manifest["sources"]] == [(5, 9)]


def test_pages_with_new_texts_since_a_state(store: Path) -> None:
    graph = Graph(store)
    base, first, now = graph.arrays.base.manifest["id"], *(layer.manifest["id"] for layer in layers(graph))
    newer = [layers_since(graph.arrays, state) for state in (base, first, now, "unknown")]
    changed = [None if each is None else pages_in(each, "record.page") for each in newer]
    names = [None if each is None else {graph.address(int(one)) for one in each} for each in changed]
    assert names == [{"https://bb.example/", B}, {B}, set(), None]


def layers(graph: Graph) -> list[Layer]:
    assert isinstance(graph.arrays, LayeredArrays)
    return graph.arrays.layers


def test_a_missing_layer(store: Path) -> None:
    (store / read_pointer(store)[2][0].file).unlink()
    with pytest.raises(BadStore, match=r"layer is missing: copy it from a backup, or build the store again"):
        Graph(store)
    with pytest.raises(BadStore, match="is missing"):
        read_current(store)


def test_a_damaged_layer(store: Path) -> None:
    name = read_pointer(store)[2][0].file
    raw = bytearray((store / name).read_bytes())
    for place in (3, 40, len(raw) - 3):
        raw[place] ^= 1
        (store / name).write_bytes(raw)
        with pytest.raises(BadStore, match="is damaged"):
            Graph(store)
        raw[place] ^= 1
    (store / name).write_bytes(raw[:-100])
    with pytest.raises(BadStore, match="is damaged"):
        Graph(store)


@pytest.mark.parametrize(
    ("number", "advice"),
    [(99, "this cocite reads up to 5: upgrade"), (4, "this cocite reads layers of format 5: build")],
)
def test_a_layer_of_another_format(store: Path, number: int, advice: str) -> None:
    graph = Graph(store)
    [_, newest], folder = layers(graph), read_pointer(store)[0].name
    parts, checksum = layer_bytes(newest.manifest | {"format": number}, newest.arrays)
    (store / f"{folder}-000009.layer").write_bytes(b"".join(map(bytes, parts)))
    line = f"{folder}-000009.layer {checksum}\n"
    (store / "CURRENT").write_text((store / "CURRENT").read_text().splitlines(True)[0] + line)
    with pytest.raises(BadStore, match=f"has format {number}, {advice}"):
        Graph(store)


def test_what_a_killed_commit_leaves_is_ignored_and_removed(store: Path) -> None:
    folder = read_pointer(store)[0].name
    (store / f"{folder}-000009.layer").write_bytes(b"half")
    (store / "CURRENT.new").write_bytes(b"half")
    before = Graph(store).manifest["id"]
    extend(store, [page(E, D)])
    assert Graph(store).manifest["id"] != before
    assert not (store / f"{folder}-000009.layer").exists()


def test_joined_arrays(tmp_path: Path) -> None:
    values = np.arange(5000, dtype=np.uint32)
    (tmp_path / "one.bin").write_bytes(values.tobytes())
    (tmp_path / "two.bin").write_bytes(bytes(GRAIN_BYTES) + values.tobytes())
    one, two = FilePart(tmp_path / "one.bin", 0, values), FilePart(tmp_path / "two.bin", GRAIN_BYTES, values)
    grown, places = joined(values.dtype, [one], 3)
    assert places == [0]
    grown[7], grown[-1] = 1, 9
    assert grown.tolist() == [*range(7), 1, *range(8, 5000), 0, 0, 9]
    both, places = joined(values.dtype, [one, two, FilePart(None, 0, values[:3]), FilePart(tmp_path / "no", 0, values)])
    for start, part in zip(places, (values, values, values[:3], values), strict=True):
        assert np.array_equal(both[start : start + len(part)], part)
    assert (tmp_path / "one.bin").read_bytes() == values.tobytes(), "writing makes a private copy"


def test_dates_of_the_future_and_clocks_that_go_backwards(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://clock.example/"
    extend(store, [page(url, "https://one.example/", captured="2095-01-01")])
    assert Graph(store).facts.captured(Graph(store).find(url)) > 3_900_000_000
    extend(store, [page(url, "https://two.example/", captured="2026-01-01")])
    graph = Graph(store)
    assert [graph.address(int(at)) for at in graph.links_from(graph.find(url)).targets] == ["https://one.example/"]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Clock:
            return cls(1971, 1, 1, tzinfo=UTC)

    monkeypatch.setattr("cocite.graph.build.commit.datetime", Clock)
    extend(store, [page(url, "https://three.example/")])
    graph = Graph(store)
    assert graph.manifest["built"].startswith("1971") or graph.arrays.layers[-1].manifest["built"].startswith("1971")
    assert [graph.address(int(at)) for at in graph.links_from(graph.find(url)).targets] == ["https://three.example/"]
    assert check(store) == []


def test_a_page_that_comes_twice_in_one_commit(store: Path) -> None:
    url = "https://twice.example/"
    extend(
        store,
        [
            page(url, "https://new.example/", captured="2021-01-01"),
            page(url, "https://old.example/", captured="2020-01-01"),
        ],
    )
    graph = Graph(store)
    assert [graph.address(int(at)) for at in graph.links_from(graph.find(url)).targets] == ["https://new.example/"]
    assert graph.get("https://old.example/") is None
    assert check(store) == []


def test_names_of_new_pages_alone_can_be_read(store: Path) -> None:
    """As compaction does, when there are more new pages than it reads at a time."""
    extend(store, [page(f"https://more{n}.example/", f"https://other{n}.example/") for n in range(40)])
    graph = Graph(store)
    first = graph.arrays.base.pages + 3
    data, offsets = graph.names.keys(first, graph.pages - first)
    ends = offsets.tolist()
    keys = [data[start:end].tobytes() for start, end in pairwise(ends)]
    assert keys == [graph.names.key(number) for number in range(first, graph.pages)]
