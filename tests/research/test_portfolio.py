"""The portfolio: baselines by hand on a small web, time limits, and tables of contents."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from cocite.evaluate.evaluation import Evaluation
from cocite.evaluate.judgements import Judgements, Run
from cocite.graph.store import Graph
from cocite.web import Web
from research import doc_sites, quality, rivals

LINKS = [("p", "u"), ("p", "s"), ("q", "u"), ("q", "s"), ("q", "t"), ("u", "x"), ("t", "x")]


@pytest.fixture
def web() -> Web:
    return Web(Graph.from_links([(f"name:{a}", f"name:{b}") for a, b in LINKS]))


def scores(web: Web, rival: str, page: str) -> dict[str, float]:
    graph = web.graph
    (row,) = rivals.RIVALS[rival](rivals.Matrices(web), [graph.find(f"name:{page}")])
    return {graph.address(number): value for number, value in enumerate(row.tolist())}


def test_scipy_baseline(web: Web) -> None:
    """u and s have p (2 links) and q (3 links) as parents; u and t have q, and the child x (2 in-links)."""
    found = scores(web, "scipy", "u")
    assert found["s"] == pytest.approx((1 / math.log(4) + 1 / math.log(5)) / math.sqrt(2 * 2))
    assert found["t"] == pytest.approx(1 / math.log(5) / math.sqrt(2 * 1) + 1 / math.log(4))


def test_jaccard(web: Web) -> None:
    """u's neighbours are p, q, x; those of s p and q; those of t q and x."""
    found = scores(web, "jaccard", "u")
    assert found["s"] == found["t"] == pytest.approx(2 / 3)


def test_rp3beta_divides_by_popularity(web: Web) -> None:
    """From u by p or q, which are one section each, to s (2 in-links) and t (1)."""
    found = scores(web, "rp3beta", "u")
    assert found["s"] == pytest.approx((1 / 2 + 1 / 3) / 2**0.6)
    assert found["t"] == pytest.approx(1 / 3)


def test_the_best_are_without_the_page_itself(web: Web) -> None:
    graph = web.graph
    (best,) = rivals.best(web, "scipy", [graph.find("name:u")], 10)
    assert [graph.address(page) for page in best] == ["t", "s"]


def test_a_method_over_its_time_limit_is_in_the_table() -> None:
    """simrank has results on one collection, and took too long on the other: no figures there, and no test."""
    judged = Judgements({"q": {"a": 1}})
    auto, simrank = Run("auto", {"q": ["a"]}), Run("simrank", {"q": ["b"]})
    found = {"small": Evaluation(judged, [auto, simrank]), "large": Evaluation(judged, [auto])}
    rows = quality.overview(found, {name: quality.tests(each, "auto") for name, each in found.items()}, seconds=15)
    assert list(rows) == [
        ["auto", "0.1000 / 1.0000 ·", "0.1000 / 1.0000 ·"],
        ["simrank", "0.0000 / 0.0000 =", "over 15 s"],
    ]


def test_sections_of_tables_of_contents(tmp_path: Path) -> None:
    (tmp_path / "git.html").write_text(
        "<h2>Main</h2><dl><dt><a href=git-add.html>add</a></dt><dt><a href=git-rm.html>rm</a></dt></dl>"
        "<h3>Plumbing</h3><dl><dt><a href=git-cat-file.html>cat</a></dt><dt><a href=http://x.example/>x</a></dt></dl>"
    )
    assert doc_sites.git_sections(tmp_path) == {
        "git-add.html": "Main", "git-rm.html": "Main", "git-cat-file.html": "Plumbing"
    }  # fmt: skip
    up = '<div class=navheader><a accesskey="u" href="{}">Up</a></div>'
    for name, above in (("sql-select", "sql"), ("sql-insert", "sql"), ("intro", "index")):
        (tmp_path / f"{name}.html").write_text(up.format(f"{above}.html"))
    found = doc_sites.postgresql_sections(tmp_path)
    assert found["sql-select.html"] == found["sql-insert.html"] == "sql.html"
    assert found["intro.html"] == "index.html"
