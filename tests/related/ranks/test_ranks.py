"""Ranks against slow truths, truths by theory, and other programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import svds

from cocite.errors import BadParameter
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.export.libraries import to_scipy
from cocite.graph.store import Graph
from cocite.related import ranks
from cocite.related.ranks import _iteration
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.conftest import long
from tests.graph.webs import examples
from tests.related.methods.test_layers import history
from tests.related.ranks import naive_ranks
from tests.related.ranks.webs import graphs, matrix_of
from tests.webs import numbered_graph

EXACT = "tolerance=1e-13, rounds=3000"


def every_rank(graph: Graph, **given: Any) -> list[ranks.Rank]:
    """All ranks with some parameters; the one that starts from pages starts from one with links."""
    seed = graph.address(int(graph.out_degree.argmax()))
    return [
        ranks.rank(name, {**given, **({"seeds": (seed,)} if name == "trustrank" else {})}) for name in ranks.names()
    ]


def values(graph: Graph, call: str, threads: int = 2) -> Any:
    ranked = ranks.rank(call).compute(graph, threads=threads)
    assert ranked.values.shape == (graph.pages,)
    assert np.isfinite(ranked.values).all()
    return ranked.values


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small webs are cut into several blocks, lanes and ranges."""
    monkeypatch.setattr(_iteration, "BLOCK_LINKS", 12)
    monkeypatch.setattr(_iteration, "RANGE_PAGES", 5)
    monkeypatch.setattr(_iteration, "LANES", 3)


def compare(graph: Graph) -> None:
    links = matrix_of(graph)
    jump = 0.15 if graph.pages % 2 else 0.5
    call = f"jump={jump}, {EXACT}"
    assert values(graph, f"pagerank({call})") == pytest.approx(naive_ranks.pagerank(links, jump), abs=1e-9)
    for bias in ("hubs", "authorities"):
        for transposed in (False, True):
            wanted = naive_ranks.hubrank(links, jump, bias, transposed)
            own = f"bias={bias}, transposed={transposed}, {call}"
            assert values(graph, f"hubrank({own})") == pytest.approx(wanted, abs=1e-9)
    authorities, hubs = naive_ranks.randomized_hits(links, jump)
    assert values(graph, f"randomized_hits({call})") == pytest.approx(authorities, abs=1e-9)
    assert values(graph, f"randomized_hits(of=hubs, {call})") == pytest.approx(hubs, abs=1e-9)
    authorities, hubs, gap = naive_ranks.hits(links)
    if gap > 1e-3:
        assert values(graph, f"hits({EXACT})") == pytest.approx(authorities, abs=1e-8)
        assert values(graph, f"hits(of=hubs, {EXACT})") == pytest.approx(hubs, abs=1e-8)


@examples(25)
@given(web=graphs(), cut=st.booleans())
def test_ranks_equal_the_slow_truth(web: tuple[int, list[tuple[int, int]]], cut: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if cut:
            patched.setattr(_iteration, "BLOCK_LINKS", 12)
            patched.setattr(_iteration, "RANGE_PAGES", 5)
            patched.setattr(_iteration, "LANES", 3)
        compare(numbered_graph(*web))


# Truths by theory


def test_on_a_cycle_all_are_equal() -> None:
    graph = numbered_graph(7, [(n, (n + 1) % 7) for n in range(7)])
    for name in ("pagerank", "hubrank", "hubrank(bias=authorities, transposed=true)", "randomized_hits"):
        assert values(graph, name) == pytest.approx(np.ones(7), abs=1e-7)
    assert values(graph, "hits") == pytest.approx(np.full(7, 7**-0.5))


def test_a_star() -> None:
    """Four leaves link to the centre, which links to none: leaf x, centre x + 4 · 0.85 x, mean 1."""
    graph = numbered_graph(5, [(n, 0) for n in range(1, 5)])
    leaf = 5 / (5 + 4 * 0.85)
    assert values(graph, f"pagerank({EXACT})") == pytest.approx([4.4 * leaf, leaf, leaf, leaf, leaf], abs=1e-10)
    assert values(graph, "hits") == pytest.approx([1, 0, 0, 0, 0], abs=1e-12)
    assert values(graph, "hits(of=hubs)") == pytest.approx([0, 0.5, 0.5, 0.5, 0.5])
    # E is 5/4 for each leaf and 0 for the centre: all that there is was once at a leaf, 1 : 0.85 of it.
    assert values(graph, f"hubrank({EXACT})") == pytest.approx([5 * 0.85 / 1.85, *[5 / 4 / 1.85] * 4], abs=1e-10)


def test_a_chain_that_ends() -> None:
    """Each page has its own share and 0.85 of what the one before has; the end spreads evenly: 1, 1.85, 2.5725."""
    graph = numbered_graph(3, [(0, 1), (1, 2)])
    chain = np.array([1, 1.85, 1 + 0.85 * 1.85])
    assert values(graph, f"pagerank({EXACT})") == pytest.approx(3 * chain / chain.sum(), abs=1e-10)


def test_the_example_of_two_hubs() -> None:
    """HubRank lifts a page with many links out that nobody links to, above those it links to; PageRank does not."""
    graph = numbered_graph(7, [(0, n) for n in range(1, 6)] + [(6, 1)])
    assert values(graph, "pagerank").argsort()[0] in (0, 6)
    assert values(graph, "hubrank").argmax() == 0


def test_a_web_without_links() -> None:
    graph = numbered_graph(3, [])
    for name in ("pagerank", "hubrank", "hubrank(transposed=yes)", "randomized_hits"):
        assert values(graph, name).tolist() == pytest.approx([1, 1, 1])
    assert values(graph, "hits").tolist() == [0, 0, 0]


# Other programs, on real webs


@pytest.fixture(scope="module", params=["polblogs/links.tsv", pytest.param("webgraph/cnr-2000", marks=long)])
def real(request: pytest.FixtureRequest, shared: Path, fast_root: Path) -> Graph:
    return build_real(shared / "data" / request.param, fast_root / f"{Path(request.param).stem}.cocite")


def build_real(source: Path, path: Path) -> Graph:
    report = ReadReport()
    build([open_source(str(source), report)], path, report, BuildOptions())
    return Graph(path)


def test_real_webs_as_igraph_and_scipy_have_them(real: Graph) -> None:
    igraph = pytest.importorskip("igraph")
    links = to_scipy(real).astype(np.float64)
    other = igraph.Graph(n=real.pages, edges=np.column_stack(links.nonzero()), directed=True)
    assert values(real, f"pagerank({EXACT})") / real.pages == pytest.approx(np.array(other.pagerank()), abs=1e-8)
    wanted = np.array(other.personalized_pagerank(reset=real.out_degree.tolist()))
    assert values(real, f"hubrank({EXACT})") / real.pages == pytest.approx(wanted, abs=1e-8)
    hubs, _, authorities = svds(links, k=1, tol=0, v0=np.ones(real.pages))
    assert values(real, f"hits({EXACT})") == pytest.approx(np.abs(authorities[0]), abs=1e-8)
    assert values(real, f"hits(of=hubs, {EXACT})") == pytest.approx(np.abs(hubs[:, 0]), abs=1e-8)


def test_blogs_as_networkx_has_them(shared: Path, place: Path) -> None:
    graph = build_real(shared / "data" / "polblogs" / "links.tsv", place / "web.cocite")
    other = nx.from_scipy_sparse_array(to_scipy(graph), create_using=nx.DiGraph)
    exact = {"tol": 1e-14, "max_iter": 1000}

    def list_of(found: dict[int, float]) -> list[float]:
        return [found[page] for page in range(graph.pages)]

    assert values(graph, f"pagerank({EXACT})") / graph.pages == pytest.approx(
        list_of(nx.pagerank(other, **exact)), abs=1e-8
    )
    for bias, degree in (("hubs", graph.out_degree), ("authorities", graph.in_degree)):
        wanted = nx.pagerank(other, personalization=dict(enumerate(degree.tolist())), **exact)
        assert values(graph, f"hubrank(bias={bias}, {EXACT})") / graph.pages == pytest.approx(list_of(wanted), abs=1e-8)
        turned = nx.pagerank(other.reverse(), personalization=dict(enumerate(degree.tolist())), **exact)
        found = values(graph, f"hubrank(bias={bias}, transposed=yes, {EXACT})")
        assert found / graph.pages == pytest.approx(list_of(turned), abs=1e-8)
    hubs, authorities = nx.hits(other, max_iter=1000, tol=1e-14)
    for of, wanted in (("hubs", hubs), ("authorities", authorities)):
        found = values(graph, f"hits(of={of}, {EXACT})")
        assert found / found.sum() == pytest.approx(list_of(wanted), abs=1e-8)


# How they are worked out


def test_the_same_for_any_number_of_threads(small_blocks: None) -> None:
    random = np.random.default_rng(5)
    graph = numbered_graph(200, [(a, b) for a, b in random.integers(0, 200, (900, 2)).tolist() if a != b])
    for rank in every_rank(graph):
        one, two, five = (rank.compute(graph, threads=threads).values for threads in (1, 2, 5))
        assert np.isfinite(one).all() and one.any()
        assert one.tolist() == two.tolist() == five.tolist()


def test_the_same_whatever_is_kept_in_memory(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    graph = numbered_graph(200, [(a, b) for a, b in random.integers(0, 200, (900, 2)).tolist() if a != b])
    with _iteration.RankWorkers(graph, 1) as workers:
        blocks = _iteration.Blocks(workers, graph.into)
        all_bytes = sum(sum(each.nbytes for each in blocks.links(n, blocks.scratch())) for n in range(len(blocks)))
    everything = [rank.compute(graph).values.tolist() for rank in every_rank(graph)]
    for memory in (0, 8 * (all_bytes // 2)):
        monkeypatch.setattr(_iteration, "machine_bytes", lambda memory=memory: memory)
        with _iteration.RankWorkers(graph, 1) as workers:
            blocks = _iteration.Blocks(workers, graph.into)
            for n in range(len(blocks)):
                blocks.links(n, blocks.scratch())
            kept = [sum(each.nbytes for each in links) for links in blocks.kept if links is not None]
        assert sum(kept) <= memory // 8 and bool(kept) == bool(memory)
        assert [rank.compute(graph).values.tolist() for rank in every_rank(graph)] == everything


def test_pages_that_are_gone_have_no_part() -> None:
    """On a store with layers, ranks are those of a store that was built at once."""
    gone = 0
    for seed in range(8):
        layered, whole = history(seed)
        order, gone = layered.names.in_order(), gone + layered.pages - len(layered)
        for rank in every_rank(whole, tolerance=1e-12):
            found, wanted = rank.compute(layered).values, rank.compute(whole).values
            assert found[order] == pytest.approx(wanted, abs=1e-6), (seed, rank)
            assert found.sum() == pytest.approx(found[order].sum()), "what is gone has nothing"
    assert gone


def test_rounds_and_residual_are_reported() -> None:
    random = np.random.default_rng(6)
    graph = numbered_graph(100, [(a, b) for a, b in random.integers(0, 100, (400, 2)).tolist() if a != b])
    for rank in every_rank(graph):
        for rounds in (1, 2, 3, 5):
            few = replace(rank, params=replace(rank.params, rounds=rounds, tolerance=1e-12)).compute(graph)
            assert (few.rounds, few.converged) == (rounds, False)
        assert few.residual > 1e-12
        read = Counter[str]()
        many = rank.compute(graph, lambda stage, links, _, read=read: read.update({stage: links}))
        assert many.converged
        assert many.residual <= 1e-8
        assert 2 < many.rounds < 200
        assert read["ranking by links"] >= len(graph.links)
    exact = naive_ranks.pagerank(matrix_of(graph))
    for tolerance in (1e-3, 1e-6, 1e-9):
        found = ranks.rank(f"pagerank(tolerance={tolerance})").compute(graph)
        assert np.abs(found.values - exact).sum() / graph.pages <= found.residual / 0.15


@pytest.mark.parametrize(
    "call, message",
    [
        ("pagerang", f"Unknown rank 'pagerang'; did you mean pagerank? Available: {', '.join(ranks.names())}"),
        ("pagerank(bias=hubs)", "pagerank has no parameter 'bias'; it has tolerance, rounds, jump"),
        ("hubrank(bias=all)", "bias must be one of hubs, authorities, not 'all'"),
        ("pagerank(jump=0)", "jump must be a number from 0.001 to 0.999, not 0"),
        ("pagerank(tolerance=nan)", "tolerance must be a number from 1e-14 to 1, not nan"),
    ],
)  # fmt: skip
def test_wrong_names_and_parameters(call: str, message: str) -> None:
    with pytest.raises(BadParameter) as raised:
        ranks.rank(call)
    assert str(raised.value) == message
