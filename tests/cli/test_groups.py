"""`cocite cluster` and `cocite related --group`: named groups, for people and machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cocite.sources.records import Link, Page
from tests.cli.conftest import run
from tests.graph.webs import make

CARS, PAPERS = ["https://bmw.example/", "https://audi.example/", "https://fiat.example/"], [
    "https://times.example/", "https://monde.example/", "https://pais.example/"]  # fmt: skip


@pytest.fixture(scope="module")
def lists(fast_root: Path) -> Path:
    """Three lists of cars and newspapers."""
    path = fast_root / "lists" / "web.cocite"
    path.parent.mkdir()
    make(
        path,
        [
            Page(
                f"https://list{n}.example/",
                links=[Link(each, block=0) for each in CARS] + [Link(each, block=1) for each in PAPERS],
                headings=["Cars", "Newspapers"],
            )
            for n in range(3)
        ],
    )
    return path


def test_cluster(lists: Path, tmp_path: Path) -> None:
    listed = tmp_path / "pages.txt"
    listed.write_text("\n".join(["# mine", *PAPERS]))
    ran = run("cluster", *CARS, "--file", listed, "-i", lists)
    assert ran.code == 0, ran.err
    assert [line for line in ran.out.splitlines() if not line.startswith(" ")] == [
        "cars  3 pages", "newspapers  3 pages"
    ]  # fmt: skip
    found = json.loads(run("cluster", *CARS, *PAPERS, "-i", lists, "--json").out)
    assert [(each["keywords"], [page["url"] for page in each["pages"]]) for each in found["groups"]] == [
        (["cars"], CARS), (["newspapers"], PAPERS),
    ]  # fmt: skip


def test_cluster_refuses(lists: Path) -> None:
    ran = run("cluster", "-i", lists)
    assert (ran.code, ran.err) == (2, "cocite: No pages to group: give addresses, or --file FILE\n")
    ran = run("cluster", CARS[0], "https://nowhere.example/", "-i", lists)
    assert ran.code == 3
    assert "is not in this store" in ran.err


def test_a_file_with_unknown_pages(lists: Path, tmp_path: Path) -> None:
    listed = tmp_path / "pages.txt"
    listed.write_text("\n".join(["https://nowhere.example/", "http://", *CARS]))
    ran = run("cluster", "--file", listed, "-i", lists)
    assert ran.code == 0
    assert ran.err == "cocite: Not in this store: 2 pages, such as https://nowhere.example/, http://\n"
    assert ran.out.startswith("cars  3 pages\n")
    listed.write_text("https://nowhere.example/\n")
    assert run("cluster", "--file", listed, "-i", lists).code == 3


def test_related_in_groups(lists: Path) -> None:
    ran = run("related", CARS[0], "-i", lists, "-m", "companion", "--group")
    assert ran.code == 0, ran.err
    heads = [line for line in ran.out.splitlines() if line.endswith("pages")]
    assert heads == ["cars  2 pages", "newspapers  3 pages"]
    found = json.loads(run("related", CARS[0], "-i", lists, "-m", "companion", "--group", "--json").out)
    assert [(each["keywords"], each["ranks"]) for each in found["groups"]] == [
        (["cars"], [1, 2]), (["newspapers"], [3, 4, 5]),
    ]  # fmt: skip
    assert "groups" not in json.loads(run("related", CARS[0], "-i", lists, "--json").out)
    ran = run("related", CARS[0], "-i", lists, "--group", "--csv")
    assert (ran.code, ran.err) == (2, "cocite: --group has no table: leave out --csv and --tsv, or give --json\n")


def test_by_integrated_similarity(lists: Path) -> None:
    ran = run("cluster", *CARS, *PAPERS, "-i", lists, "--by", "integrated", "--json")
    assert ran.code == 0, ran.err
    (one,) = json.loads(ran.out)["groups"]  # the same lists cite all of them, and these have all the words
    assert [page["url"] for page in one["pages"]] == [*CARS, *PAPERS]
    ran = run("related", CARS[0], "-i", lists, "-m", "companion", "--group", "--by", "integrated", "--json")
    assert sorted(rank for each in json.loads(ran.out)["groups"] for rank in each["ranks"]) == [1, 2, 3, 4, 5]
    ran = run("cluster", *CARS, "-i", lists, "--by", "colour")
    assert (ran.code, ran.err) == (2, "cocite: --by must be one of lli, integrated, not 'colour'\n")
    ran = run("related", CARS[0], "-i", lists, "--by", "integrated")
    assert (ran.code, ran.err) == (2, "cocite: --by needs --group: give both, or leave it out\n")
