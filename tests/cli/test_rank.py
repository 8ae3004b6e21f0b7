"""cocite rank: what it prints, keeps and refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cocite.graph.store import Graph
from cocite.related.ranks import pagerank
from tests.cli.conftest import LONELY, NEWS, OLD, PAGES, run
from tests.graph.webs import make
from tests.related.ranks.test_kept import all_kept


@pytest.fixture
def own(store: Path, place: Path) -> Path:
    """A copy of the store, beside which ranks may be kept."""
    return Path(shutil.copytree(store, place / "web.cocite"))


def test_rank(own: Path) -> None:
    ran = run("rank", "-i", own, "--by", "pagerank", "-k", "2", "-q")
    assert ran.code == 0, ran.err
    head, blank, *rows = ran.out.splitlines()
    assert head.startswith("pagerank  9 pages, ")
    assert " rounds, residual " in head
    assert blank == ""
    assert [row.split("\t")[0] for row in rows] == ["1", "2"]
    assert rows[0].split("\t")[2] == NEWS
    assert all_kept(Graph(own)) == {"pagerank": True}


def test_json_and_no_keep(own: Path) -> None:
    ran = run("rank", "-i", own, "--by", "hubrank(bias=authorities)", "--json", "--no-keep")
    found = json.loads(ran.out)
    assert found["rank"] == "hubrank"
    assert found["params"]["bias"] == "authorities"
    assert found["converged"]
    assert found["residual"] <= 1e-8
    assert not found["kept"]
    assert [page["rank"] for page in found["top"]] == list(range(1, len(found["top"]) + 1))
    assert {page["url"] for page in found["top"]} >= {NEWS}
    assert LONELY not in {page["url"] for page in found["top"]}  # it has neither links nor a share of E
    assert all_kept(Graph(own)) == {}


def test_pages_that_were_never_read_are_named_by_links(own: Path) -> None:
    ran = run("rank", "-i", own, "--json", "--no-keep")
    titles = {page["url"]: page["title"] for page in json.loads(ran.out)["top"]}
    assert titles[NEWS] in ("The News", "news")  # what its links say


def test_a_wrong_name_lists_the_ranks(own: Path) -> None:
    ran = run("rank", "-i", own, "--by", "hubrang")
    assert (ran.code, ran.out) == (2, "")
    known = "hits, hubrank, pagerank, randomized_hits, trustrank"
    assert ran.err == f"cocite: Unknown rank 'hubrang'; did you mean hubrank? Available: {known}\n"


def test_too_few_rounds_are_reported(own: Path) -> None:
    ran = run("rank", "-i", own, "--by", "randomized_hits(rounds=2)", "-q")
    assert "The tolerance was not reached" in ran.out
    assert OLD not in ran.out  # it leads to another page


def test_nothing_to_rank(place: Path) -> None:
    make(place / "web.cocite", [PAGES[3]])
    ran = run("rank", "-i", place / "web.cocite", "--by", "hits", "-q")
    assert ran.code == 1
    assert "No page has a value: the store has no links" in ran.err


def test_interrupted(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {file: file.read_bytes() for file in own.rglob("*") if file.is_file()}
    monkeypatch.setattr(pagerank, "compute", interrupt)
    ran = run("rank", "-i", own, "--by", "pagerank")
    assert ran.code == 130
    assert ran.err.endswith("cocite: Interrupted; nothing was changed\n")
    assert {file: file.read_bytes() for file in own.rglob("*") if file.is_file()} == before


def test_info_lists_stored_ranks(own: Path) -> None:
    assert "ranks" not in run("info", own).out
    run("rank", "-i", own, "--by", "hubrank", "-q")
    run("rank", "-i", own, "--by", "hits(of=hubs)", "-q")
    assert json.loads(run("info", own, "--json").out)["ranks"] == {"hits(of=hubs)": True, "hubrank": True}
    assert "  ranks kept\thits(of=hubs), hubrank" in run("info", own).out.splitlines()


def test_a_store_that_cannot_be_written(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "side")

    monkeypatch.setattr("cocite.related.ranks.write_side", refuse)
    ran = run("rank", "-i", own, "--by", "pagerank", "--json")
    assert ran.code == 2, "what was asked for was not done"
    shown = json.loads(ran.out)
    assert shown["kept"] is False
    assert shown["top"], "but nothing that was worked out is lost"
    assert "Not kept, so other commands won't find this rank: side: permission denied; check" in ran.err
    assert run("rank", "-i", own, "--by", "pagerank", "--no-keep").code == 0
