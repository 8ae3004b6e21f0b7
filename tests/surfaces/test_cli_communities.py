"""cocite communities, as people and programs see it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from tests.answers.test_communities import PAGES, site
from tests.graph.webs import make
from tests.surfaces.conftest import NASTY, run


@pytest.fixture(scope="module")
def topics(fast_root: Path) -> Iterator[Path]:
    pages = deepcopy(PAGES)
    pages[0].links[0].text = NASTY
    make(fast_root / "topics.cocite", pages)
    yield fast_root / "topics.cocite"


def test_words(topics: Path) -> None:
    done = run("communities", "makers", "of", "cars", "-i", topics)
    assert done.code == 0 and "principal" in done.out and "motor" in done.out
    lines = done.out.splitlines()
    assert [line.split("\t")[-1] for line in lines if "\thttps://fast" in line or "\thttps://slow" in line][:2] == [
        site("fast"),
        site("slow"),
    ]
    assert "in all" in lines[-1] and lines[-1].endswith("ms")


def test_pages_and_noise(topics: Path) -> None:
    names = ("papers0", "papers1", "papers2", "post", "globe", "times")
    pages = [part for name in names for part in ("--page", site(name))]
    done = run("communities", *pages, "-i", topics, "-m", "community(npea=max, basis=root)", "-k", "2")
    assert done.code == 0
    assert "noise around it, the first of 8" in done.out
    assert "linked with 1 of 6 root pages" in done.out and "8 eliminated below" in done.out
    assert "\x1b" not in done.out


def test_side_by_side(topics: Path) -> None:
    names = ("papers0", "papers1", "papers2", "post", "globe", "times")
    pages = [part for name in names for part in ("--page", site(name))]
    done = run("communities", *pages, "-i", topics, "-m", "community(npea=max, basis=root)", "--no-npea")
    assert done.code == 0 and "with NPEA: principal" in done.out and "without: principal" in done.out
    assert "− Buy now" in done.out  # what NPEA takes away


def test_json(topics: Path) -> None:
    done = run("communities", "newspapers", "-i", topics, "--json", "--no-npea")
    told = json.loads(done.out)
    assert told["query"] == "newspapers" and told["communities"][0]["hubs"]
    assert {"base_set", "without_npea"} <= set(told)
    assert "without_npea" not in json.loads(run("communities", "newspapers", "-i", topics, "--json").out)


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ((), 2, "nothing to look for: give some words, or pages by --page"),
        (("",), 2, "nothing to look for"),
        (("?!",), 2, "no word"),
        (("zebra",), 1, "no page has any of the words 'zebra'"),
        (("--page", "https://nowhere.example/"), 3, "not in this store"),
        (("cars", "-m", "companion"), 2, "by the method community, not companion"),
        (("cars", "-m", "community(delta=7)"), 2, "delta is a number"),
        (("cars", "-k", "-1"), 2, "k is a whole number"),
        (("--page", site("fast"), "-m", "community(in_links=0)"), 1, "no link between two sites around"),
    ],
)
def test_failures(topics: Path, args: tuple[str, ...], code: int, says: str) -> None:
    done = run("communities", *args, "-i", topics)
    assert (done.code, len(done.err.strip().splitlines()[-1:])) == (code, 1)
    assert says in done.err
