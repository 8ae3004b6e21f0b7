"""Constants of `auto` can be changed from outside, and the tables that show what each is worth."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from cocite.related.methods import method
from cocite.sources.records import Link, Page
from cocite.web import Web
from research import datasets, sensitivity
from research.sensitivity import LIMITS, WEIGHTS, Constant
from tests.webs import make_web

SITES = 30
LISTED = "https://site0.example/"


def pages(sections: bool) -> list[Page]:
    """Lists of sites and of their repositories, which have the same names, in sections or not; some link to others."""
    chance, found = random.Random(1), []
    for number in range(60):
        chosen = [0, *chance.sample(range(1, SITES), 12)]
        listed = [(f"https://site{n}.example/", f"Project {n}", at // 5) for at, n in enumerate(chosen)]
        listed = listed[number % 6 == 0 :]  # the first one's repository alone
        listed += [(f"https://code.example/{n}", f"Project {n}", at) for at, n in enumerate(chosen[:3])]
        listed += [(f"https://list{chance.randrange(60)}.example/", "", 3) for _ in range(3)]
        links = [Link(url, text=text, block=block if sections else None) for url, text, block in listed]
        headings = [f"topic{n}" for n in range(4)] if sections else []
        found.append(Page(f"https://list{number}.example/", links=links, headings=headings))
    for number in range(SITES):
        links = [Link(f"https://site{(number + 1) % SITES}.example/"), Link("https://portal.example/")]
        found.append(Page(f"https://site{number}.example/", text=f"word{number % 5} word{number % 7}", links=links))
    return found


@pytest.fixture(scope="module")
def webs() -> list[Web]:
    return [make_web(pages(sections)) for sections in (True, False)]


def scores(webs: list[Web], call: str) -> list[list[tuple[int, float]]]:
    found = []
    for web in webs:
        asked = [web.graph.find(LISTED)]
        found.append(list(method(call).relate(web, asked).ranked(web.graph.in_degree)))
    return found


@pytest.mark.parametrize(
    "constant", [each for each in (*WEIGHTS, *LIMITS) if each.name != "usage"], ids=lambda each: each.name
)
def test_every_constant_takes_effect(webs: list[Web], constant: Constant) -> None:
    """Scores change with it, though kernels are compiled already; and come back with its own value."""
    before = scores(webs, "auto")
    more = 100 if constant.name == "MIN_SAMPLE" else 1 / constant.value if constant in LIMITS else 0.25
    with constant.set_to(constant.times(more)) as call:
        assert scores(webs, call) != before
    assert scores(webs, "auto") == before


def test_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Two small collections, two constants."""
    kinds = {
        name: partial(datasets.planted, name, pages=60, topics=topics, links=5, own=0.6)
        for name, topics in (("one", 3), ("two", 4))
    }
    monkeypatch.setattr(datasets, "READERS", kinds)
    arguments = ["--queries", "8", "--data", str(tmp_path), "--stores", str(tmp_path / "stores")]
    arguments += ["--kept", str(tmp_path / "kept" / "all.json"), "--constant", "DIRECT", "--constant", "best"]
    sensitivity.main(arguments)
    first = capsys.readouterr().out
    for row in ("as in auto", "DIRECT", "best", "0.125", "0.5", "2", "10", "one", "two", "mean"):
        assert row in first
    sensitivity.main(arguments)  # from what is kept
    assert capsys.readouterr().out == first
