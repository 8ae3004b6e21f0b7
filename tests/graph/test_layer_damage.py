"""Layers that contradict themselves under checksums that fit: opening the store, or whoever uses them, refuses them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cocite.errors import BadStore
from cocite.graph.arrays import TYPE_OF
from cocite.graph.build.carry import Numbers, carry
from cocite.graph.changes.layer_lengths import contradictions
from cocite.graph.changes.layers import Layer, layer_bytes
from cocite.graph.check import check
from cocite.graph.generation import read_pointer
from cocite.graph.store import Graph
from tests.graph.damage import layered_web, read_all
from tests.graph.webs import extend, make, page, tight

Arrays = dict[str, np.ndarray]
WITHOUT_A_PARTNER = {
    "name.words", "site.page", "out.words", "in.words", "out.weight", "record.page", "best.page", "best.parent",
    "sample.page", "sample.parent", "repeat.words",
}  # fmt: skip
"""Arrays whose length says nothing, or only together with values: those are verified where they are used."""


@pytest.fixture(scope="module")
def whole(fast_root: Path) -> Path:
    place = fast_root / "layer-damage"
    place.mkdir()
    with tight():
        layered_web(place / "s")
    return place / "s"


def with_layer(whole: Path, place: Path, change: Callable[[dict[str, Any], Arrays], None], number: int = 0) -> Path:
    """A copy of a store, whose layer is changed; its checksums fit."""
    copy = Path(shutil.copytree(whole, place / f"copy{len(list(place.iterdir()))}"))
    name = read_pointer(copy)[2][number]
    layer = Layer.open(copy, name)
    manifest, arrays = dict(layer.manifest), {each: np.array(values) for each, values in layer.arrays.items()}
    change(manifest, arrays)
    parts, checksum = layer_bytes(manifest, arrays)
    (copy / name.file).unlink()
    (copy / name.file).write_bytes(b"".join(parts))
    (copy / "CURRENT").write_text((copy / "CURRENT").read_text().replace(name.digest, checksum))
    return copy


def refused(store: Path, match: str) -> None:
    """Both whoever opens it and `check` say what is wrong."""
    for work in (Graph, check):
        with pytest.raises(BadStore, match=match):
            work(store)


def test_layers_of_stores_do_not_contradict_themselves(whole: Path) -> None:
    layers = Graph(whole).arrays.layers
    assert len(layers) == 3 and not any(list(contradictions(layer)) for layer in layers)
    with tight():
        assert check(whole) == []
    arrays = {name for layer in layers for name in layer.arrays}
    assert {"best.parent", "sample.parent", "out.long.place", "near.page", "alias.target", "removed"} < arrays


def test_every_array_with_another_length_is_refused_or_harmless(whole: Path, place: Path) -> None:
    """Kernels trust the lengths of arrays: a short `out.start` ended the process."""
    accepted = set()
    for number, layer in enumerate(Graph(whole).arrays.layers):
        for name, values in layer.arrays.items():
            for more in (-1, 1) if len(values) > 1 else (1,):  # one that is absent reads as zeros

                def resize(_: dict[str, Any], arrays: Arrays, name: str = name, more: int = more) -> None:
                    own = arrays[name]
                    arrays[name] = own[:-1] if more < 0 else np.append(own, own[-1])

                copy = with_layer(whole, place, resize, number)
                try:
                    graph = Graph(copy)
                except BadStore as error:
                    assert "is damaged (" in str(error)
                    continue
                accepted.add(name)
                assert list(read_all(graph)) == []
    assert {name for name in accepted if not name.endswith((".pages", ".first", ".data"))} <= WITHOUT_A_PARTNER


def test_another_type_is_refused(whole: Path, place: Path) -> None:
    def as_bytes(_: dict[str, Any], arrays: Arrays) -> None:
        arrays["fact.page"] = arrays["fact.page"].astype(np.uint64)

    refused(with_layer(whole, place, as_bytes), r"layer is damaged \(fact.page\)")


@pytest.mark.parametrize(
    "field, value",
    [
        ("first", 0), ("first", -1), ("first", 1.5), ("new", 2**61), ("new", "1"), ("links", 2**60), ("format", 1e999),
        ("states", [[]]), ("states", 5), ("sources", ["x"]), ("sources", [{"records": "many"}]),
    ],
)  # fmt: skip
def test_another_manifest_is_refused(whole: Path, place: Path, field: str, value: object) -> None:
    refused(with_layer(whole, place, lambda manifest, _: manifest.update({field: value})), "is damaged")


@pytest.mark.parametrize("field", ["first", "new", "links", "sources", "format", "pages", "id"])
def test_a_manifest_that_lacks_something_is_refused(whole: Path, place: Path, field: str) -> None:
    refused(with_layer(whole, place, lambda manifest, _: manifest.pop(field)), "is damaged")


@pytest.mark.parametrize("compiled", [True, False])
def test_both_kinds_of_kernels_refuse_a_short_table(place: Path, compiled: bool) -> None:
    """Small stores are read by interpreted kernels, which found it, others by compiled ones, which died of it."""
    names = [f"https://a{n}.example/" for n in range(3000 if compiled else 30)]
    many = 12 if compiled else 3
    make(place / "s", [page(name, *names[n % 20 : n % 20 + many]) for n, name in enumerate(names)])
    extend(place / "s", [page("https://new.example/", *names[:5])])

    def cut(_: dict[str, Any], arrays: Arrays) -> None:
        arrays["out.start"] = arrays["out.start"][:2]
        arrays["out.page"] = np.zeros(4000, np.uint32)
        arrays["out.degree"] = np.ones(4000, np.uint32)

    refused(with_layer(place / "s", place, cut), r"layer is damaged \(out.start\)")


@pytest.mark.parametrize("name", ["fact.page", "out.page", "in.page", "out.start", "in.start", "name.before"])
def test_values_that_lead_outside_are_refused(whole: Path, place: Path, name: str) -> None:
    def outside(_: dict[str, Any], arrays: Arrays) -> None:
        arrays[name][-1] = np.iinfo(TYPE_OF[name]).max >> 1

    copy = with_layer(whole, place, outside)
    with suppress(BadStore):
        assert list(read_all(Graph(copy))) == []
    with pytest.raises(BadStore):
        graph = Graph(copy)
        _ = graph.out, graph.into, graph.array("page.kind"), graph.names.in_order()


def test_another_code_of_names_is_refused(whole: Path, place: Path) -> None:
    def no_code(_: dict[str, Any], arrays: Arrays) -> None:
        arrays["name.code"][:] = 1

    graph = Graph(with_layer(whole, place, no_code))
    for work in (graph.names.in_order, lambda: graph.names.key(graph.pages - 1), lambda: graph.get("new.example")):
        with pytest.raises(BadStore):
            work()


@pytest.mark.parametrize("name", ["host.domain", "page.host", "page.site"])
def test_tables_of_a_compaction_are_as_large_as_what_is_there(whole: Path, place: Path, name: str) -> None:
    """A table by domain had as many rows as the largest number says: gigabytes for one changed byte."""
    old = Graph(Graph(whole).arrays.base)
    numbers = Numbers.of(old, old)
    assert numbers is not None
    carry(old, Graph(whole), Graph(whole).arrays.layers, old, numbers)

    def high(_: dict[str, Any], arrays: Arrays) -> None:
        arrays[name][:] = 0xFFFFFFF0

    now = Graph(with_layer(whole, place, high))
    with pytest.raises(BadStore):
        carry(old, now, now.arrays.layers, old, numbers)
