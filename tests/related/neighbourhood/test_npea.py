"""NPEA against the literal reading with dense matrices, and against arithmetic by hand."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.related.methods.community import BaseSet, Params
from cocite.related.neighbourhood import npea
from cocite.related.neighbourhood.hits import Edges
from cocite.related.neighbourhood.npea import Elimination, Linkage, Measured
from cocite.related.neighbourhood.view import GraphView
from cocite.web import Web
from tests.graph.webs import make, page
from tests.related.methods import naive_community

Pair = tuple[int, int]


def edges_of(pairs: set[Pair], size: int) -> Edges:
    """A graph of so many nodes, each a unit of its own."""
    order = sorted(pairs)
    starts = np.searchsorted([source for source, _ in order], np.arange(size + 1)).astype(np.int64)
    ends = np.array([target for _, target in order], np.int32)
    return Edges(np.arange(size, dtype=np.uint32), np.arange(size, dtype=np.int32), size, starts, ends)


def measure(edges: Edges, root: npea.Marks, params: Elimination) -> Measured:
    """NPEA on the links of a base set."""
    return Linkage(edges, root).measured(params)


def marks(size: int, chosen: set[int]) -> npea.Marks:
    return np.isin(np.arange(size), list(chosen))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[set[Pair], int, set[int]]:
    """Links among a few pages, some of which are the root set."""
    size = draw(st.integers(1, 14))
    node = st.integers(0, size - 1)
    pairs = draw(st.sets(st.tuples(node, node), max_size=40))
    return {(a, b) for a, b in pairs if a != b}, size, draw(st.sets(node, min_size=1, max_size=7))


def well_apart(pairs: set[Pair], size: int, root: set[int]) -> bool:
    """Whether singular values are equal or well apart: in between, rounding alone decides on a basis."""
    linked = np.eye(size, dtype=bool)
    for a, b in pairs:
        linked[a, b] = linked[b, a] = True
    inside = marks(size, root)
    for matrix in (linked[np.ix_(inside, inside)], linked[np.ix_(~inside, inside)]):
        values = np.linalg.svd(matrix.astype(float), compute_uv=False)
        gaps = -np.diff(values)
        if not ((gaps < 1e-12) | (gaps > 1e-4)).all():
            return False
    return True


@given(
    graphs(),
    st.sampled_from(["avg", "max", "min"]),
    st.sampled_from([0.01, 0.2, 0.3, 0.5, 0.7, 1.0]),
    st.sampled_from(["svd", "root"]),
)
def test_the_literal_reading(graph: tuple[set[Pair], int, set[int]], threshold: str, delta: float, basis: str) -> None:
    pairs, size, root = graph
    assume(well_apart(*graph))
    found = measure(edges_of(pairs, size), marks(size, root), Elimination(npea=threshold, delta=delta, basis=basis))
    expected = naive_community.npea(pairs, range(size), root, delta, threshold, basis)
    if expected is None:
        assert found.keep.all() and (found.threshold, found.k) == (0.0, 0)
        return
    assert found.k == expected.k
    assert found.threshold == pytest.approx(expected.threshold)
    for node, true in expected.measures.items():
        assert found.measure[node] == pytest.approx(true, abs=1e-6)
        if abs(true - expected.threshold) > 1e-6:
            assert found.keep[node] == (true >= expected.threshold)
    assert found.keep[sorted(root)].all()


@given(graphs(), st.sampled_from(["avg", "max", "min"]), st.sampled_from(["svd", "root"]))
def test_invariants(graph: tuple[set[Pair], int, set[int]], threshold: str, basis: str) -> None:
    """No NaN; root pages stay; turning every link round changes nothing; min keeps what avg does, and avg what max."""
    pairs, size, root = graph

    def ask(npea: str, of: set[Pair] = pairs) -> Measured:
        return measure(edges_of(of, size), marks(size, root), Elimination(npea=npea, basis=basis))

    found = ask(threshold)
    assert np.isfinite(found.measure).all() and found.keep[sorted(root)].all()
    turned = ask(threshold, {(b, a) for a, b in pairs})
    assert turned.keep.tolist() == found.keep.tolist() and turned.measure == pytest.approx(found.measure, abs=1e-9)
    strict, middle, loose = ask("max").keep, ask("avg").keep, ask("min").keep
    assert not (strict & ~middle).any() and not (middle & ~loose).any()
    assert ask("off").keep.all()


@given(graphs(), st.sampled_from(["svd", "root"]))
def test_all_dimensions_are_kept_by_the_root_basis(graph: tuple[set[Pair], int, set[int]], basis: str) -> None:
    """With δ = 1, k is the rank of A; if S is the unit matrix, a page's measure is then √(its links to root pages)."""
    pairs, size, root = graph
    pairs = {(a, b) for a, b in pairs if not {a, b} <= root}
    found = measure(edges_of(pairs, size), marks(size, root), Elimination(delta=1.0, basis=basis))
    if found.threshold:
        outside = ~marks(size, root)
        assert found.measure[outside] == pytest.approx(np.sqrt(found.ties[outside]), abs=1e-7)
        assert found.keep.tolist() == (~outside | (found.ties >= 1)).tolist()


GOLDEN = (1 + sqrt(5)) / 2
HAND = {(0, 2), (2, 1), (3, 0)}
"""Root pages 0 and 1, not linked; 2 is linked with both, 3 with 0.

A = [[1, 1], [1, 0]]: singular values φ and 1/φ, a fall of 1/φ = 0.618, so k = 1 with δ = 0.5. v = (φ, 1)/√(φ² + 1).
S is the unit matrix, R' its rows, c = 1. R_2 = (φ + 1)/√(φ² + 1) = 1.376, R_3 = φ/√(φ² + 1) = 0.851.
"""


@pytest.mark.parametrize("basis", ["svd", "root"])
def test_by_hand(basis: str) -> None:
    found = measure(edges_of(HAND, 4), marks(4, {0, 1}), Elimination(basis=basis))
    length = sqrt(GOLDEN**2 + 1)
    assert found.measure == pytest.approx([1, 1, (GOLDEN + 1) / length, GOLDEN / length])
    assert found.keep.tolist() == [True, True, True, False]
    assert (found.threshold, found.k, found.rank, found.root_rank) == (1.0, 1, 2, 2)
    assert found.ties.tolist() == [0, 0, 2, 1]


def test_a_larger_delta_keeps_more_by_hand() -> None:
    """0.618 < 0.7, so k = 2: nothing is lost, and the measures are √2 and 1."""
    found = measure(edges_of(HAND, 4), marks(4, {0, 1}), Elimination(delta=0.7))
    assert found.measure == pytest.approx([1, 1, sqrt(2), 1])
    assert found.keep.all() and found.k == 2


def test_the_two_bases_by_hand() -> None:
    """Root pages 0, 1 and 2; 0 and 1 are linked. S has the singular values 2, 1 (and 0): t = 2, W = (1, 1, 0)/√2, e₂.

    3 and 4 are linked with 2 alone, 5 with 0 and 1. A has σ = √2 twice, so k = 2, and V in order of addresses is
    (1, 1, 0)/√2 and e₂. R₃ = (0, 1), R₅ = (√2, 0); R'₀ = R'₁ = (√2, 0), R'₂ = (0, 1); c = (2√2 + 1)/3 = 1.276.
    """
    found = measure(edges_of({(0, 1), (3, 2), (2, 4), (0, 5), (5, 1)}, 6), marks(6, {0, 1, 2}), Elimination())
    assert (found.k, found.root_rank) == (2, 2)
    assert found.threshold == pytest.approx((2 * sqrt(2) + 1) / 3)
    assert found.measure[3:] == pytest.approx([1, 1, 2])
    assert found.keep.tolist() == [True, True, True, False, False, True]
    root = measure(
        edges_of({(0, 1), (3, 2), (2, 4), (0, 5), (5, 1)}, 6), marks(6, {0, 1, 2}), Elimination(basis="root")
    )
    assert root.measure[3:] == pytest.approx([1, 1, 2])  # (1, 1, 0)·(1, 1, 0)/√2, twice


def test_max_and_min() -> None:
    """Lengths of root pages: √2, √2 and 1, as above."""
    graph = edges_of({(0, 1), (3, 2), (2, 4), (0, 5), (5, 1)}, 6), marks(6, {0, 1, 2})
    assert measure(*graph, Elimination(npea="max")).threshold == pytest.approx(sqrt(2))
    least = measure(*graph, Elimination(npea="min"))
    assert least.threshold == pytest.approx(1) and least.keep.all()


@pytest.mark.parametrize(
    ("pairs", "size", "root"),
    [
        (set(), 1, {0}),  # one page
        ({(0, 1)}, 2, {0, 1}),  # B = R
        ({(1, 2)}, 3, {0}),  # A = 0
        (set(), 5, {0, 3}),
    ],
)
def test_nothing_to_eliminate(pairs: set[Pair], size: int, root: set[int]) -> None:
    found = measure(edges_of(pairs, size), marks(size, root), Elimination())
    assert found.keep.all() and found.threshold == 0.0


def test_too_large_a_root_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npea, "MAX_ROOT_PAGES", 2)
    graph = edges_of({(0, 3)}, 4), marks(4, {0, 1, 2})
    with pytest.raises(BadParameter, match="NPEA takes up to 2 root pages, not 3: give fewer, or npea=off"):
        measure(*graph, Elimination())
    assert measure(*graph, Elimination(npea="off")).keep.all()
    assert measure(edges_of({(0, 1)}, 3), marks(3, {0, 1, 2}), Elimination()).keep.all()  # no work, no limit


def test_measures_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    pairs = {(int(a), int(b)) for a, b in random.integers(0, 60, (200, 2)) if a != b}
    graph = edges_of(pairs, 60), marks(60, set(range(12)))
    whole = measure(*graph, Elimination()).measure
    monkeypatch.setattr(npea, "CHUNK_NUMBERS", 30)
    assert measure(*graph, Elimination()).measure.tolist() == whole.tolist()


def test_as_a_filter_of_any_pages(place: Path) -> None:
    """HAND as a store: of pages 2 and 3 and one that has nothing to do with anything, 2 stays."""
    r0, r1, p2, p3, other = (f"https://{name}.example/" for name in ("a", "b", "c", "d", "e"))
    make(place / "web.cocite", [page(r0, p2), page(p2, r1), page(p3, r0), page(other, p3)])
    graph = Web(place / "web.cocite").graph
    root, pages = (np.array([graph.find(address) for address in of], np.uint32) for of in ((r1, r0), (other, p3, p2)))
    base = BaseSet(GraphView(graph, [], Params()), [root.tolist()], Params(), pages)
    found = base.measured
    assert [graph.address(each) for each in base.rest.pages] == [r0, r1, p2]
    assert (found.threshold, found.keep.tolist()) == (1.0, [True, True, True, False, False])


@given(case=graphs())
def test_one_decomposition_serves_all_parameters(case: tuple[set[Pair], int, set[int]]) -> None:
    """What was worked out for other parameters before changes nothing."""
    pairs, size, root = case
    edges, inside = edges_of(pairs, size), marks(size, root)
    linkage = npea.Linkage(edges, inside)
    for basis in ("svd", "root"):
        for delta in (0.2, 0.5, 0.9):
            for threshold in ("avg", "max", "min", "off"):
                params = Elimination(npea=threshold, delta=delta, basis=basis)
                one, other = linkage.measured(params), measure(edges, inside, params)
                assert one.keep.tolist() == other.keep.tolist() and one.measure.tolist() == other.measure.tolist()
                assert (one.k, one.rank, one.threshold) == (other.k, other.rank, other.threshold)
