"""`cocite hubs`: what it finds, what it says of its way, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.graph.webs import make, page
from tests.surfaces.conftest import LONELY, run

HUB, START = "https://hub.example/", "https://start.example/"
MANY = [f"https://page{n}.example/" for n in range(8)]


@pytest.fixture(scope="module")
def hubs(fast_root: Path) -> Path:
    """A hub that links to eight pages and to the start page; a page that links only to the start page."""
    path = fast_root / "hubs" / "web.cocite"
    path.parent.mkdir()
    make(
        path,
        [
            page(HUB, START, *MANY),
            page("https://poor.example/", START),
            page(START, MANY[0]),
            page(LONELY),
        ],
    )
    return path


def test_hubs(hubs: Path) -> None:
    ran = run("hubs", START, "-i", hubs, "--by", "out_degree")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].split("\t")[1:] == [HUB]
    assert ran.out.splitlines()[2].split("\t")[1:] == ["https://poor.example/"]  # the first extension is not filtered
    assert "pages explored " in ran.out
    ran = run("hubs", START, "-i", hubs, "--by", "out_degree", "--untrimmed", "--json")
    found = json.loads(ran.out)
    assert (found["method"], found["answers"][0]["url"], found["answers"][0]["score"]) == ("hubfinder", HUB, 9)
    assert found["untrimmed"]["explored"] >= len(MANY) + 2  # everything but the start page and the lonely one


def test_authorities(hubs: Path) -> None:
    ran = run("hubs", START, "-i", hubs, "--authorities", "--by", "in_degree", "-k", "1")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].split("\t")[1:] == [MANY[0]]


def test_what_is_refused(hubs: Path) -> None:
    assert run("hubs", LONELY, "-i", hubs, "--by", "out_degree").code == 1
    assert run("hubs", "https://nowhere.example/", "-i", hubs).code == 3
    ran = run("hubs", START, "-i", hubs, "--by", "beauty")
    assert ran.code == 2
    assert "beauty" in ran.err
    assert "hubrank" in ran.err
    assert run("hubs", START, "-i", hubs, "--rounds", "9").code == 2
