"""Lists at their true limits: of a long parent a part is read, of many parents some are kept ready."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cocite.related import methods
from cocite.related.evidence import reasons_of
from cocite.results.naming import titles_of
from cocite.web import Web
from tests.conftest import long
from tests.kernel_cache import BOUNDS_CACHE, ROOT
from tests.related.methods import naive
from tests.related.methods.long_web import (
    CASES,
    CHILD,
    CHILD_PARENTS,
    LONG_LIST_LINKS,
    PARENTS,
    QUERY,
    SMALLER,
    TARGETS,
    answers,
    built,
    words_and_links,
)
from tests.related.methods.naive import NaiveWeb
from tests.related.methods.test_methods import OWN, fast, same
from tests.related.proof import Proof, view_of

SEED = 109
"""With which both long parents are among the first sixty."""


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Web:
    return built(fast_root)


@pytest.fixture(scope="module")
def truth(web: Web) -> NaiveWeb:
    return NaiveWeb.from_graph(web.graph)


def test_the_lists_are_long_enough(web: Web) -> None:
    graph = web.graph
    query, child = graph.find(QUERY), graph.find(CHILD)
    assert graph.in_degree[query] == PARENTS + 1
    assert graph.in_degree[child] == CHILD_PARENTS
    assert query in graph.array("sample.page")
    assert child in graph.array("best.page")
    assert sorted(graph.out_degree)[-2:] == [LONG_LIST_LINKS, LONG_LIST_LINKS]


def stop_pages(web: Web, given: dict[str, Any]) -> set[int]:
    degree = given.get("stop_degree", 0)
    popular = {page for page in range(web.graph.pages) if degree and web.graph.in_degree[page] >= degree}
    return popular | {web.graph.find(url) for url in given.get("stop", ())}


@pytest.mark.parametrize("name", list(OWN))
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_slow_truth_of_long_lists(web: Web, truth: NaiveWeb, name: str, case: int) -> None:
    urls, given = CASES[case]
    seeds = [web.graph.find(url) for url in urls]
    parameters = {**SMALLER.get(name, {}), **given}
    rest = {key: value for key, value in parameters.items() if key not in ("stop", "stop_degree")}
    if name == "auto":
        rest["texts"] = bool(web.graph.texts)
        if given.get("merge", True) is True:
            assert web.vectors is not None
            rest["votes"] = dict(enumerate(web.vectors.votes.tolist()))
    expected = getattr(naive, name)(truth, seeds, stop=stop_pages(web, given), **rest)
    found, used = fast(web, name, seeds, parameters)
    assert used == expected.used
    assert len(found) > 10 or given
    same(found, list(expected))


@pytest.mark.parametrize("window", [4095, 4096, 5000, 5999, 0])
def test_windows_on_a_long_parent(web: Web, truth: NaiveWeb, window: int) -> None:
    seeds = [web.graph.find(QUERY)]
    parameters: dict[str, Any] = {"parents": 60, "window": window, "seed": SEED, "chop": "none"}
    chosen = naive.View(truth, seeds, "none", seed=SEED).random_parents(seeds[0], 60)
    assert {web.graph.find(f"https://long{n}.example/") for n in range(2)} < set(chosen)
    found, _ = fast(web, "cocitation", seeds, parameters)
    same(found, list(naive.cocitation(truth, seeds, **parameters)))


@pytest.mark.parametrize("given", [{}, {"rel": "follow"}, {"stop": [TARGETS[2999]]}], ids=str)
def test_evidence_far_away_on_a_long_parent(web: Web, truth: NaiveWeb, given: dict[str, Any]) -> None:
    """In front of, and behind, what is read of a long list; in its own block and in that of the page."""
    graph = web.graph
    query = graph.find(QUERY)
    method = methods.method("companion", {"parents": 3000, **given})
    params, scores = method.params, method.relate(web, [query])
    proof = Proof(graph, view_of(graph, truth, [query], params, stop_pages(web, given)), [query], 3000)
    blocks = set()
    for url in (
        TARGETS[2999], TARGETS[3001], TARGETS[2000], TARGETS[1999], TARGETS[101], TARGETS[4001], TARGETS[5999],
        "https://v0.example/", "https://v2999.example/", TARGETS[3], CHILD, "https://long0.example/",
    ):  # fmt: skip
        page = graph.find(url)
        reasons = reasons_of(titles_of(graph), method.explain(web, scores, np.array([page], np.uint32))[0])
        assert reasons or url == "https://long0.example/" or "stop" in given
        proof.prove(page, reasons)
        blocks |= {(reason.by, reason.block) for reason in reasons if (reason.distance or 0) > 1000}
    assert {("https://long0.example/", None), ("https://long1.example/", "All")} <= blocks


@long
def test_no_damage_ends_the_process(web: Web) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.related.methods.damage", web.graph.path], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == []


@long
@pytest.mark.timeout(900)  # the first run compiles everything with bounds checked
def test_methods_with_bounds_checked(web: Web) -> None:
    """No loop reads or writes beside its arrays, and what it gives is the same."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BOUNDS_CACHE)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.related.methods.long_web", web.graph.path],
        capture_output=True, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == json.loads(json.dumps([answers(web), words_and_links()]))
