"""Hou & Zhang 2003: Extended Cocitation and LLI on judged collections, and §4's numerical experiment on many pages."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.passes import BuildOptions, build
from cocite.related.methods import lli, method
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from research import datasets
from research.datasets import Held
from research.latent_linkage import LinkageSide, experiment
from research.reproduce.claims import Figures
from research.reproduce.data import Data

JUDGED, LINKED = "awesome", "wikispeedia"
MOST = 1000
BACK = lli.Params(children=0, merge=False, chop="none")
"""The paper presents the side of parents; here only lists have children."""
WELL = 10
"""Minimum number of merged parents of a page with many links."""
Values = NDArray[np.float64]


def shield(data: Data) -> Figures:
    """Fig. 3: three pages of one site, which link to each other's children on purpose; b of those with the page."""
    names = {name: f"https://spam.example/s{name}" for name in ("11", "12", "21", "22", "31", "32")}
    boosted = [names[name] for name in ("12", "22", "31")]
    own = (("11", "12"), ("21", "22"), ("31", "32"))
    pages = []
    for n, children in enumerate(own, 1):
        targets = dict.fromkeys(["https://u.example/", *(names[child] for child in children), *boosted])
        pages.append(Page(f"https://spam.example/p{n}", links=[Link(target) for target in targets]))
    with tempfile.TemporaryDirectory() as folder:
        build([Held("figure 3", pages)], Path(folder) / "web.cocite", ReadReport(), BuildOptions())
        web = Web(Path(folder) / "web.cocite")
        found = {}
        for name, unit in (("plain", "none"), ("merged", "site")):
            scores = method("extended_cocitation", {"unit": unit, "chop": "none"}).relate(
                web, [web.graph.find("u.example")]
            )
            values = {web.graph.address(page): score for page, score in scores.ranked(web.graph.in_degree)}
            found[name] = max(values[address] for address in boosted)
    return found


def extended(data: Data) -> Figures:
    """Extended Cocitation compared with Cocitation: on the lists, and where pages have children too."""
    lists = data.beside(JUDGED, "extended_cocitation", "cocitation", MOST).named("extended", "cocitation")
    wiki = data.beside(LINKED, "extended_cocitation(unit=none)", "cocitation", MOST).named("extended", "cocitation")
    return lists | {f"wiki_{name}": value for name, value in wiki.items()}


def children(data: Data) -> Figures:
    """Extended Cocitation with and without children."""
    both, parents = "extended_cocitation(unit=none)", "extended_cocitation(unit=none, children=0)"
    return data.beside(LINKED, both, parents, MOST).named("both", "parents")


def latent(data: Data) -> Figures:
    """LLI compared with Extended Cocitation."""
    lists = data.beside(JUDGED, "lli", "extended_cocitation", MOST).named("lli", "extended")
    wiki = data.beside(LINKED, "lli(unit=none)", "extended_cocitation(unit=none)", MOST).named("lli", "extended")
    return lists | {f"wiki_{name}": value for name, value in wiki.items()}


def numerical(data: Data) -> Figures:
    """bcp, dd and sim of the siblings of many pages (Table 8, Fig. 4)."""
    web, (judged, numbers) = data.web(JUDGED), data.judged(JUDGED)
    degree = web.graph.in_degree
    some = [query for query in datasets.some_queries(judged, MOST // 2).ratings if query in numbers]
    some += [query for query, page in numbers.items() if degree[page] >= WELL and query not in set(some)]
    sides = []
    for query in some:
        sides.append((query, experiment(web, web.graph.address(numbers[query]), BACK).back))
        data.progress("asking lli", 1, len(some))
    pages = {
        query: np.array([page for name in judged.right(query) if (page := web.graph.get(name)) is not None])
        for query in some
    }
    found: dict[str, float] = {}
    for name, chosen in (("", sides[: MOST // 2]), ("well_", [each for each in sides if len(each[1].groups) >= WELL])):
        told, shares, asked = summed(chosen, pages)
        every = max(1, told["rows of A"])
        found |= {f"{name}{figure}_apart": told[figure] / every for figure in ("bcp", "dd", "sim")}
        found |= {f"{name}{key}": value for key, value in shares.items()} | {f"{name}pages": asked}
    return found


def summed(
    sides: Sequence[tuple[str, LinkageSide]], right: Mapping[str, NDArray[np.integer]]
) -> tuple[Mapping[str, int], dict[str, float], int]:
    """What the figures distinguish, and how far they agree with each other and with judgements, by query page."""
    told: dict[str, int] = defaultdict(int)
    shares: dict[str, list[float]] = defaultdict(list)
    asked = 0
    for query, side in sides:
        if not len(side.pages):
            continue
        asked += 1
        for name, count in [*side.told_apart().items(), ("rows of A", side.patterns)]:
            told[name] += count
        for name, by, value, equal in pairs(side, np.isin(side.pages, right[query]).astype(float)):
            share, count = agreement(by, value, equal)
            if count:
                shares[name].append(share)
    return told, {name: float(np.mean(of)) for name, of in shares.items()}, asked


def pairs(side: LinkageSide, right: Values) -> list[tuple[str, Values, Values, Values | None]]:
    """(name, the figure that orders two pages, the one that should agree, the one that is equal)."""
    dd, sim = -side.dd.round(9), side.sim.round(6)
    return [
        ("sim_by_bcp", side.bcp, sim, None),
        ("sim_by_dd", dd, sim, None),
        ("sim_by_dd_equal", dd, sim, side.bcp),
        ("right_by_dd_equal", right, dd, side.bcp),
        ("right_by_sim_equal", right, sim, side.bcp),
        ("right_by_bcp", right, side.bcp, None),
        ("right_by_dd", right, dd, None),
        ("right_by_sim", right, sim, None),
    ]


def agreement(by: Values, value: Values, equal: Values | None = None) -> tuple[float, int]:
    """Of the pairs of pages with different `by` (and the same `equal`), the share that `value` orders alike; how many.

    A pair of the same value counts half.
    """
    chosen = by[:, None] > by[None, :]
    if equal is not None:
        chosen &= equal[:, None] == equal[None, :]
    count = int(np.count_nonzero(chosen))
    difference = np.sign(value[:, None] - value[None, :])[chosen]
    return (float((difference + 1).sum()) / 2 / count if count else 0.0), count
