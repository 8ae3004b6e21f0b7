"""Chirita, Olmedilla & Nejdl 2004: HubRank against PageRank, and HubFinder against the extension without trimming."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cocite.related.methods.hubfinder import Explored, Params, explore
from cocite.web import Web
from research.reproduce.claims import Figures
from research.reproduce.data import Data, correlation, timed

CRAWL = "cnr"
SETS, PAGES, ROUNDS = 10, 20, 3
"""Start sets, the pages of each, and σ."""
BEST = 50


def hubfinder(data: Data) -> Figures:
    """How much HubFinder explores, how many of the best pages it finds, and its time, by rounds.

    Both it and the extension without trimming end with a final trim, and their times include it (§5).
    """
    web = data.web(CRAWL)
    web.rank("hubrank")
    found: dict[str, float] = {}
    starts = start_sets(data)
    for rounds in range(1, ROUNDS + 1):
        params = Params(rounds=rounds)
        untrimmed = replace(params, trim=False, filter_degree=False)
        shares, common, spent = [], [], []
        for seeds in starts:
            ours, (trimmed, found_by_it) = timed(partial(trimmed_to_best, web, seeds, params))
            theirs, (whole, found_by_all) = timed(partial(trimmed_to_best, web, seeds, untrimmed))
            spent.append(ours / theirs)
            shares.append(trimmed.explored / max(1, whole.explored))
            common.append(len(found_by_it & found_by_all) / BEST)
            data.progress("asking hubfinder", 1, ROUNDS * SETS)
        found |= {f"share_{rounds}": float(np.median(shares)), f"common_{rounds}": float(np.median(common))}
        found[f"time_{rounds}"] = float(np.median(spent))
    found["first_fall"] = 1 - found["share_1"]
    found["later_fall"] = found["share_2"] - found["share_3"]
    return found


def out_degree(data: Data) -> Figures:
    """HubFinder with and without the filter on out-links."""
    web = data.web(CRAWL)
    web.rank("hubrank")
    ratios, inside = [], []
    for seeds in start_sets(data):
        filtered, plain = (explore(web, seeds, Params(filter_degree=on)) for on in (True, False))
        ratios.append(plain.explored / max(1, filtered.explored))
        inside.append(float(np.isin(filtered.pages, plain.pages).mean()))
    return {"times_fewer": float(np.median(ratios)), "subset": float(np.median(inside))}


def start_sets(data: Data) -> list[list[int]]:
    """Random pages that have links both ways."""
    graph, rng = data.web(CRAWL).graph, np.random.default_rng(1)
    linked = np.flatnonzero((graph.in_degree > 0) & (graph.out_degree > 0))
    return [rng.choice(linked, PAGES, replace=False).tolist() for _ in range(SETS)]


def trimmed_to_best(web: Web, seeds: list[int], params: Params) -> tuple[Explored, set[int]]:
    """What was explored, and what the final trim leaves."""
    found = explore(web, seeds, params)
    return found, best(found)


def best(found: Explored) -> set[int]:
    """The pages of highest value."""
    order = np.lexsort((found.pages, -found.values))
    return set(found.pages[order][:BEST].tolist())


def hubrank(data: Data) -> Figures:
    """The ranks of pages by HubRank and by PageRank, as shares of all pages: 0 is the first."""
    web = data.web(CRAWL)
    degree = web.graph.out_degree.astype(np.float64)
    by_page, by_hub = (places(web.rank(name).values) for name in ("pagerank", "hubrank"))
    risen = by_page - by_hub  # above 0: better by HubRank
    strong = by_page < 0.01
    hubs, none = degree >= np.quantile(degree, 0.95), degree == 0
    poor = by_page > 0.5
    middle = (by_page >= 0.25) & (by_page <= 0.75)
    return {
        "strong_stay": float((by_hub[strong] < 0.1).mean()),
        "authorities_fall": float((risen[strong & none] < 0).mean()) if (strong & none).any() else 0.0,
        "authorities": float(np.count_nonzero(strong & none)),
        "average_by_hub": correlation(degree[middle], risen[middle]),
        "new_hubs_rise": float(np.median(risen[poor & hubs])),
        "poor_low": float(np.median(by_hub[poor & (degree <= np.median(degree))])),
    }


def places(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place of each page by a rank, from 0 for the first to 1; ties share a place."""
    _, inverse, counts = np.unique(-values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    found: NDArray[np.float64] = ((ends - (counts + 1) / 2) / len(values))[inverse]
    return found
