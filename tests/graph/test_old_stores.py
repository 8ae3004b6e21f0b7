"""Stores of older versions are opened, found whole, and answer as a store built today."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from cocite.graph.arrays import TEXT_COLUMNS
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.results.ask import ask, question
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from tests.graph.webs import files_of

STORES = Path(__file__).parent / "stores"
RECORDS = STORES / "records.jsonl.gz"
"""The page records of which every store here was built."""
BEFORE_7 = {"out.base", "out.offset", "in.base", "in.offset", "repeat.page", "repeat.target", "repeat.attribute"}
SINCE = {f"{name}.{part}" for name in ("out", "in", "repeat") for part in ("bounds", "far")}
SINCE |= {"repeat.words", "removed.digest"}
METHODS = ("cocitation", "companion", "auto", "simrank", "proximity")


@pytest.fixture(scope="module", params=sorted(file.name for file in STORES.glob("*.tar.gz")))
def old(request: pytest.FixtureRequest, fast_root: Path) -> Path:
    with tarfile.open(STORES / request.param) as archive:
        archive.extractall(fast_root / "old", filter="data")
    return fast_root / "old" / f"{request.param.removesuffix('.tar.gz')}.cocite"


@pytest.fixture(scope="module")
def new(fast_root: Path) -> Path:
    report, path = ReadReport(), fast_root / "new.cocite"
    build([open_source(str(RECORDS), report)], path, report, BuildOptions(threads=2))
    return path


def test_an_old_store_opens_and_has_no_faults(old: Path) -> None:
    assert check(old) == []
    graph = Graph(old)
    assert (graph.pages, len(graph.links), graph.manifest["format"]) == (1238, 1581, 1)
    page = graph.find("dated.example")
    assert (graph.title(page), graph.facts.language(page), graph.headings(page)) == (
        "Newer",
        "en",
        ["One", "Two", "Three"],
    )
    assert graph.find("old.example") != graph.names.find_canonical("old.example")
    assert (
        len(graph.links.read_repeats(np.arange(graph.pages))[1])
        and len(graph.array("near.page"))
        and len(graph.array("out.weight"))
    )


def test_has_the_arrays_of_a_store_built_today(old: Path, new: Path) -> None:
    kept, made = (set(Graph(path).manifest["arrays"]) for path in (old, new))
    assert (kept - made, made - kept) == (BEFORE_7, SINCE)
    packed = {
        f"{name}.{part}.bin" for name in TEXT_COLUMNS for part in ("data", "offset")
    }  # as zstd's version packs them
    changed = {"look_up.page.bin", *(f"{name}.bin" for name in BEFORE_7 | SINCE)}
    before, after = (
        {name: data for name, data in files_of(path).items() if name not in packed | changed} for path in (old, new)
    )
    assert before == after
    one, other = Graph(old), Graph(new)
    for mine, others in (one.out, other.out), (one.into, other.into), (one.links.repeats, other.links.repeats):
        assert np.array_equal(mine.bounds, others.bounds) and np.array_equal(mine.far, others.far)
        assert np.array_equal(mine.words[: len(others.words) - 1], others.words[:-1])
    assert all(one.find(other.address(page)) == other.alias_target(page) for page in range(1238))
    for name in TEXT_COLUMNS:
        assert list(one.texts.column(name).items()) == list(other.texts.column(name).items())


@pytest.mark.parametrize("name", METHODS)
def test_answers_as_a_store_built_today(old: Path, new: Path, name: str) -> None:
    webs = Web(old), Web(new)
    graph = webs[0].graph
    for page in sorted(range(graph.pages), key=lambda page: -int(graph.in_degree[page]))[:5]:
        url = graph.address(page)
        before, after = (
            [(each.url, each.score) for each in ask(web, question(web.graph, [url]), method(name), 10)] for web in webs
        )
        assert before == after
        assert name == "simrank" or before
