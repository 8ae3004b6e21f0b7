"""BVGraphs on disk: a real one, round trips in every format, and files that are not what they seem."""

from __future__ import annotations

import random
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.errors import BadParameter, BadSource
from cocite.sources.webgraphs import bvgraph
from cocite.sources.webgraphs.bvgraph import BVGraph, read_properties
from tests.sources.bvgraph_reader import read_lists
from tests.sources.bvgraph_writer import Format, write_graph

CNR = Path(__file__).parents[3] / "shared" / "data" / "webgraph" / "cnr-2000"
FUNCTION_FIXTURES = [HealthCheck.function_scoped_fixture]


@pytest.fixture(scope="module")
def cnr() -> BVGraph:
    if not CNR.with_suffix(".graph").exists():
        pytest.skip("the graph cnr-2000 is not in ../shared/data/webgraph")
    return BVGraph(CNR)


def all_lists(graph: BVGraph, nodes_per_batch: int = 1 << 16) -> list[list[int]]:
    lists = []
    for first, degrees, successors in graph.batches(nodes_per_batch):
        assert first == len(lists)
        assert len(successors) == degrees.sum()
        lists += [part.tolist() for part in np.split(successors, np.cumsum(degrees)[:-1])]
    return lists


# A real graph


def test_cnr_2000_is_read_whole(cnr: BVGraph) -> None:
    assert (cnr.nodes, cnr.arcs) == (325_557, 3_216_152)
    nodes = links = 0
    for first, degrees, successors in cnr.batches(50_000):
        assert first == nodes
        nodes += len(degrees)
        links += len(successors)
        assert successors.max() < cnr.nodes
        opens = np.zeros(len(successors) + 1, np.bool_)
        opens[np.cumsum(degrees) - degrees] = True  # the first of a list need not be more than the last of another
        assert ((np.diff(successors.astype(np.int64)) > 0) | opens[1:-1]).all()
    assert (nodes, links) == (325_557, 3_216_152)


def test_cnr_2000_by_the_slow_reader(cnr: BVGraph) -> None:
    data = CNR.with_suffix(".graph").read_bytes()
    lists = [
        found.tolist()
        for _, degrees, successors in islice(cnr.batches(400), 50)
        for found in np.split(successors, np.cumsum(degrees)[:-1])
    ]
    assert len(lists) > 400
    assert lists[:400] == list(read_lists(data, 400))


# Round trips


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """Lists with runs, copies of earlier lists and scattered numbers, as graphs of the web have them."""
    nodes = draw(st.integers(1, 30))
    lists: list[list[int]] = []
    for node in range(nodes):
        found = set(draw(st.lists(st.integers(0, nodes - 1), max_size=4)))
        for _ in range(draw(st.integers(0, 2))):
            start = draw(st.integers(0, nodes - 1))
            found |= set(range(start, min(nodes, start + draw(st.integers(1, 9)))))
        if node and draw(st.booleans()):
            found |= set(lists[draw(st.integers(max(0, node - 8), node - 1))])
        lists.append(sorted(found) if draw(st.integers(0, 4)) else [])
    return lists


JAVA = {
    "OUTDEGREES": ["GAMMA", "DELTA"],
    "BLOCKS": ["GAMMA", "DELTA", "UNARY"],
    "RESIDUALS": ["GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB"],
    "REFERENCES": ["UNARY", "GAMMA", "DELTA"],
    "BLOCK_COUNT": ["UNARY", "GAMMA", "DELTA"],
    "OFFSETS": ["GAMMA", "DELTA"],
}
ANY = ["UNARY", "GAMMA", "DELTA", "ZETA", "ZETA1", "ZETA5", "PI1", "PI2", "PI4"]
RUST = dict.fromkeys(["OUTDEGREES", "BLOCKS", "RESIDUALS", "REFERENCES", "INTERVALS"], ANY)
WIDE = {part: [*ANY, "NIBBLE"] for part in [*RUST, "BLOCK_COUNT", "OFFSETS"]}


@st.composite
def formats(draw: st.DrawFn) -> Format:
    rust = draw(st.booleans())
    choices = RUST if rust else draw(st.sampled_from([JAVA, WIDE]))
    parts = draw(st.lists(st.sampled_from(sorted(choices)), unique=True))
    return Format(
        codes={part: draw(st.sampled_from(choices[part])) for part in parts},
        window=draw(st.sampled_from([0, 1, 2, 7, 20])),
        chain=draw(st.sampled_from([0, 1, 3, 1000])),
        shortest=draw(st.sampled_from([0, 1, 2, 4, 7])),
        k=draw(st.integers(1, 7)),
        rust=rust,
        little=rust and draw(st.booleans()),
    )


@given(graphs(), formats(), st.integers(1, 40), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=120, deadline=None, suppress_health_check=FUNCTION_FIXTURES)
def test_every_format_comes_back(
    tmp_path: Path, lists: list[list[int]], how: Format, nodes_per_batch: int, offsets: bool, seed: int
) -> None:
    choice = random.Random(seed)
    base = tmp_path / "some.graph of dots.v2"
    base.with_name(base.name + ".offsets").unlink(missing_ok=True)
    write_graph(lists, base, how, offsets=offsets, choose=lambda node, some, _: choice.choice([0, *some, *some]))
    graph = BVGraph(base)
    assert (graph.nodes, graph.arcs) == (len(lists), sum(map(len, lists)))
    assert all_lists(graph, nodes_per_batch) == lists


def test_room_grows_with_the_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bvgraph, "CHUNK_LINKS", 1)
    lists = [list(range(0, 3 * i, 3)) for i in range(60)] + [[]] * 140
    write_graph(lists, tmp_path / "g")
    assert all_lists(BVGraph(tmp_path / "g")) == lists


def test_chains_of_references_of_any_length(tmp_path: Path) -> None:
    lists = [sorted({*range(0, 40, 2), 41 + i}) for i in range(50)] + [[]] * 60
    write_graph(lists, tmp_path / "g", Format(chain=1000), choose=lambda node, some, _: 1 if some else 0)
    assert all_lists(BVGraph(tmp_path / "g")) == lists


def test_a_graph_without_nodes_or_links(tmp_path: Path) -> None:
    write_graph([], tmp_path / "none")
    assert list(BVGraph(tmp_path / "none").batches()) == []
    write_graph([[], []], tmp_path / "two")
    assert all_lists(BVGraph(tmp_path / "two")) == [[], []]


# Wrong use, wrong files


def test_batches_of_no_nodes(tmp_path: Path) -> None:
    write_graph([[1], []], tmp_path / "g")
    with pytest.raises(BadParameter, match="at least 1"):
        list(BVGraph(tmp_path / "g").batches(0))


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="into one folder"):
        BVGraph(tmp_path / "g")
    write_graph([[1], []], tmp_path / "g")
    (tmp_path / "g.graph").unlink()
    with pytest.raises(BadSource, match=r"g\.graph.*into one folder"):
        BVGraph(tmp_path / "g")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nodes=4294967296", "exceed the 4,294,967,295 of a store"),
        ("nodes=many", "is not a count"),
        ("nodes=-3", "is not a count"),
        ("arcs=", "is not a count"),
        ("arcs=10", "is damaged"),  # more than nodes squared
        ("nodes=100000\narcs=1", "too short"),
        ("windowsize=1000000", "is damaged"),
        ("version=2", "convert it to version 0 or 1"),
        ("endianness=middle", "must be big or little"),
        ("graphclass=it.unimi.dsi.webgraph.EFGraph", "class EFGraph"),
        ("compressionflags=RESIDUALS_SKEWED_GOLOMB", "SKEWED_GOLOMB"),
        ("compressionflags=RESIDUALS_MAGIC", "MAGIC"),
        ("compressionflags=RESIDUALS_ZETA99", "ZETA99"),
        ("compressionflags=LABELS_GAMMA", "LABELS_GAMMA"),
        ("zetak=0", "code ZETA "),
        ("endianness=little\ncompressionflags=RESIDUALS_NIBBLE", "NIBBLE"),
    ],
)
def test_properties_that_cannot_be_used(tmp_path: Path, line: str, message: str) -> None:
    write_graph([[1, 2], [0], []], tmp_path / "g")
    with (tmp_path / "g.properties").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(BadSource, match=message):
        BVGraph(tmp_path / "g")


def test_properties_as_java_may_write_them(tmp_path: Path) -> None:
    (tmp_path / "g.properties").write_text(
        "! a comment\ngraphclass=class it.unimi.dsi.big.webgraph.BVGraph\nnodes\\=ignored\nnodes = 12\narcs: 30\n"
        "compressionflags=OUTDEGREES_DELTA | RESIDUALS_GAMMA\n"
    )
    found = read_properties(tmp_path / "g.properties")
    assert (found.nodes, found.arcs, found.window, found.min_interval) == (12, 30, 7, 4)
    assert (found.codes["OUTDEGREES"], found.codes["RESIDUALS"], found.codes["REFERENCES"]) == (1, 2, 5)


def test_counts_are_checked_against_the_graph(tmp_path: Path) -> None:
    lists = [[1, 2], [0], [], [0, 3]] * 5
    for name, old, new, message in [
        ("more", "arcs=25", "arcs=26", "has 25 links, not 26 as in .properties"),
        ("fewer", "arcs=25", "arcs=24", "damaged"),
        ("long", "nodes=20", "nodes=24", "damaged"),
        ("short", "nodes=20\narcs=25", "nodes=12\narcs=15", "is longer than its 12 nodes"),
    ]:
        write_graph(lists, tmp_path / name)
        file = tmp_path / f"{name}.properties"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        with pytest.raises(BadSource, match=message):
            all_lists(BVGraph(tmp_path / name))


@given(graphs(), formats(), st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=FUNCTION_FIXTURES)
def test_damage_gives_an_error_or_sane_lists(
    tmp_path: Path, lists: list[list[int]], how: Format, data: st.DataObject
) -> None:
    base = tmp_path / "g"
    write_graph(lists, base, how)
    for _ in range(data.draw(st.integers(1, 3))):
        content = bytearray(base.with_suffix(".graph").read_bytes())
        if content:
            at = data.draw(st.integers(0, len(content) - 1))
            content[at] ^= data.draw(st.integers(1, 255))
            if data.draw(st.booleans()):
                del content[at:]
        base.with_suffix(".graph").write_bytes(content)
    read = []
    try:
        graph = BVGraph(base)
        read += all_lists(graph)
    except BadSource as error:
        assert "\n" not in str(error)
    for successors in read:
        assert all(a < b for a, b in pairwise([-1, *successors, len(lists)]))
