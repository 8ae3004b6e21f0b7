"""Held-out clicks as judges: ranks, measures and tests worked out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cocite.graph.store import Graph
from cocite.related.neighbourhood.scores import Scores
from research.next_page import compare, measures, part_of, ranks_of, steps_of
from tests.graph.webs import make, page

A, B, C, D, E = (f"https://{letter}.example/" for letter in "abcde")


def test_parts_are_settled_by_first_and_last_page() -> None:
    assert part_of("1", "2") == part_of("1", "2")
    parts = Counter(part_of(str(n), str(n * n)) for n in range(4000))
    assert set(parts) == {"train", "dev", "test"}
    assert 1900 < parts["train"] < 2100
    assert 900 < parts["dev"] < 1100


def test_steps() -> None:
    steps = steps_of([[1, 2, 3], [4], [], [5, 5, 6]])
    assert list(zip(*(column.tolist() for column in steps), strict=True)) == [(0, 1, 2), (0, 2, 3), (3, 5, 6)]
    assert len(steps_of([]).path) == 0


def test_ranks(place: Path) -> None:
    make(place / "web.cocite", [page(A, B, C, D), page(E, D, A)])
    graph = Graph(place / "web.cocite")
    a, b, c, d, e = (graph.find(url) for url in (A, B, C, D, E))

    def relate(asked: int) -> Scores:
        """e before b, and nothing else."""
        return Scores(np.array([b, e], np.uint32), np.array([1.0, 2.0]), [asked], np.array([asked], np.uint32))

    found = ranks_of(graph, steps_of([[a, b], [a, c], [a, d], [a, e]]), relate)
    assert found.among_all.tolist() == [2, np.inf, np.inf, 1]
    # among the links of a: b is named; then d, which has two links in; then c. a does not link to e.
    assert found.among_links.tolist() == [1, 3, 2, np.inf]
    assert measures(found.among_links) == {
        "MRR": pytest.approx((1 + 1 / 3 + 1 / 2 + 0) / 4),
        "hits@1": 0.25,
        "hits@5": 0.75,
        "hits@10": 0.75,
    }


def test_differences_are_of_paths() -> None:
    steps = steps_of([[1, 2, 3, 4], [5, 6]])
    # path 0: 1 - 1/2 in each of its three clicks; path 1: 1/2 - 1
    found = compare(steps, np.array([1.0, 1, 1, 2]), np.array([2.0, 2, 2, 1]))
    assert found.mean == 0
    assert (found.better, found.worse) == (1, 1)
    assert found.low == -0.5
    assert found.high == 0.5
    assert found.bootstrap > 0.2


def test_chance_and_no_chance() -> None:
    steps, rng = steps_of([[n, n + 1] for n in range(0, 800, 2)]), np.random.default_rng(3)
    other = rng.integers(1, 10, 400).astype(float)
    clear = compare(steps, np.maximum(1, other - 1), other)
    assert clear.low > 0
    assert clear.bootstrap == 2 / 10_000
    assert clear.wilcoxon < 1e-20
    assert clear.worse == 0
    chance = compare(steps, rng.permutation(other), other)
    assert chance.low < 0 < chance.high
    assert chance.wilcoxon > 0.01
    assert compare(steps, other, other) == (0, 0, 0, 1, 1, 0, 0)
    never = np.full(400, np.inf)
    assert compare(steps, never, never).mean == 0
