"""Attacks by damaged stores: computations refuse them, within bounded time and memory, and never crash."""

from __future__ import annotations

import errno
import os
import random
import resource
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from cocite.errors import BadStore
from cocite.graph.build.scratch import affordable_memory
from cocite.graph.check import check
from cocite.graph.generation import cannot_read, read_current
from cocite.graph.store import Graph
from cocite.related.ranks import _iteration, rank
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.conftest import long
from tests.faults.computing import attempt, damage, intact, limited, relate_by, warm
from tests.faults.dying import in_child
from tests.fuzz.store import is_found
from tests.graph.damage import rewrite_manifest
from tests.graph.webs import make, page


def even_graph() -> Graph:
    """Four hundred pages with nine links each."""
    dice = random.Random(3)
    names = [f"https://site{n % 40}.example/page{n}" for n in range(400)]
    return Graph.from_records([Page(name, links=[Link(url) for url in dice.sample(names, 9)]) for name in names])


def changed(graph: Graph, name: str, at: int, mask: int) -> Graph:
    """A graph with one changed number."""
    values = graph.array(name).copy()
    values[at] ^= values.dtype.type(mask)
    return Graph.from_arrays({**graph.arrays, name: np.frombuffer(values.tobytes(), values.dtype)}, graph.manifest)


def test_one_flipped_bit_of_an_offset_does_not_crash_a_rank() -> None:
    """A list in the middle of a block that begins far outside: this was a segmentation fault."""
    graph = even_graph()

    def refused() -> bool:
        with patch.object(_iteration, "BLOCK_LINKS", 300):
            rank("pagerank").compute(graph)
            for at in range(1, 60, 7):
                with pytest.raises(BadStore, match="damaged"):
                    rank("pagerank").compute(changed(graph, "in.bounds", at, 1 << 41))
        return True

    assert in_child(refused, "a rank of a damaged store")


@pytest.mark.parametrize("method", ["community", "companion", "kleinberg", "walk", "simrank", "hubfinder"])
def test_a_huge_degree_is_refused_before_memory_is_allocated(method: str) -> None:
    graph = intact()
    for name in ("out.degree", "in.degree"):
        values = np.full(graph.pages, 0xF0000000, np.uint32)
        lying = Graph.from_arrays({**graph.arrays, name: np.frombuffer(values.tobytes(), np.uint32)}, graph.manifest)

        def ask_it(lying: Graph = lying) -> str:
            try:
                relate_by(method)(lying)
            except BadStore:
                return "refused"
            return "answered"

        assert in_child(ask_it, f"{method} with a wrong {name}") in ("refused", "answered")


def test_computing_on_changed_bits() -> None:
    """A few trials of `python -m tests.faults.computing`."""
    intact()
    for chosen in ("rank pagerank", "rank hits", "method cocitation", "links"):
        ended = in_child(lambda chosen=chosen: [attempt(seed, chosen) for seed in range(40)], chosen)
        assert {how for each in ended for how in each.values()} == {"answered", "refused"}


@long
def test_computing_on_changed_bits_at_length() -> None:
    warm()
    for seed in range(500):
        assert in_child(lambda seed=seed: limited(seed), f"seed {seed}")


def test_damage_changes_bits() -> None:
    said, graph = damage(intact(), random.Random(1))
    assert said
    assert any(not np.array_equal(graph.array(name), values) for name, values in intact().arrays.items())


@pytest.mark.parametrize(
    ("field", "value"),
    [("pages", "many"), ("pages", None), ("pages", -1), ("pages", 1 << 70), ("pages", True), ("links", []),
     ("links", 1.5), ("id", 7), ("arrays", {"../../x": {"type": "<u4", "length": 0}}), ("sources", "none"),
     ("arrays", {"fingerprint": {"type": 8, "length": 0}}), ("arrays", {"fingerprint": {"type": "<u8", "length": "1"}}),
     ("arrays", {"fingerprint": {"type": "O", "length": 4}}), ("sites", {}), ("format", "one"), ("format", [])],
)  # fmt: skip
def test_a_manifest_with_other_types_is_refused(place: Path, field: str, value: Any) -> None:
    store = place / "web.cocite"
    make(store, [page("https://a.example/", "https://b.example/")])
    _, manifest = read_current(store)
    rewrite_manifest(store, {**manifest, field: value})
    with pytest.raises(BadStore, match=r"build the store again|build it again|upgrade"):
        Web(store)
    assert is_found(store)


def test_too_few_file_descriptors_are_not_damage(place: Path) -> None:
    store = place / "web.cocite"
    make(store, [page("https://a.example/", "https://b.example/")])

    def opened_with_few() -> list[str]:
        opened = len(list(Path("/proc/self/fd").iterdir()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 8, opened + 8))
        said = []
        for work in (Graph, check):
            with pytest.raises(BadStore) as refused:
                work(store)
            said.append(str(refused.value))
        return said

    for said in in_child(opened_with_few):
        assert "Too many open files" in said
        assert "ulimit -n" in said
        assert "damaged" not in said
        assert "build" not in said


def test_a_build_without_address_space_is_refused(place: Path) -> None:
    """With 1.5 GB of address space, DuckDB crashed while it sorted, or LLVM while it compiled."""

    def affordable(more: int) -> int:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + more, taken + more))
        return affordable_memory(4 << 30)

    assert 1 << 30 <= in_child(lambda: affordable(3 << 30)) <= 2 << 30
    assert in_child(lambda: affordable(16 << 30)) == 4 << 30
    with pytest.raises(AssertionError, match=r"BadStore: the limit of address space is too low .* ulimit -v \d+"):
        in_child(lambda: affordable(1 << 30))


def test_only_a_missing_file_is_damage() -> None:
    missing = cannot_read(Path("x.bin"), FileNotFoundError(errno.ENOENT, "No such file"))
    assert "damaged" in str(missing)
    for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EIO):
        assert "damaged" not in str(cannot_read(Path("x.bin"), OSError(number, os.strerror(number))))
