"""Hou & Zhang 2002: NPEA on base sets with noise planted as the paper describes it, and on one found by words."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from statistics import fmean, median

import numpy as np

from cocite.evaluate.noise import Labels, drift, falls, filtering, labels_by_words, labels_of, mean_rate
from cocite.graph.build.passes import BuildOptions, build
from cocite.operations.words.communities import root_set
from cocite.related.methods.community import BaseSet, Params
from cocite.related.neighbourhood.hits import iterate
from cocite.related.neighbourhood.view import GraphView
from cocite.sources.records import ReadReport
from cocite.web import Web
from research.datasets import Held
from research.planted import pages_of, planted
from research.reproduce.claims import Figures
from research.reproduce.data import Data

WHOLE = Params(window=0, in_links=1000)
SEEDS = range(1, 6)
LARGE, SMALL = 0.5, 0.3
"""The values of δ that the paper compares."""
WORD = "python"
"""A word on many more pages than the root set has."""
ROUNDS, PRECISION = 20, 1e-4


@lru_cache(1)
def planted_sets() -> list[tuple[BaseSet, Labels]]:
    """Base sets of 700 pages with densely linked noise; each noise page is linked with one root page."""
    return list(_planted())


def _planted() -> Iterator[tuple[BaseSet, Labels]]:
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            made = planted(0.2, seed)
            path = Path(folder) / f"{seed}.cocite"
            build([Held("planted", made.pages)], path, ReadReport(), BuildOptions(text=False))
            graph = Web(path).graph
            root = pages_of(graph, made.root).tolist()
            base = BaseSet(GraphView(graph, root, WHOLE), [root], WHOLE)
            yield base, labels_of(base, np.isin(base.edges.pages, pages_of(graph, made.noise)))


def by_words(data: Data) -> tuple[BaseSet, Labels]:
    """The paper's own experiment with another word: noise is the pages without it."""
    web, params = data.web("awesome"), Params(window=0)
    root = root_set(web, WORD, [], params)[0]
    base = BaseSet(GraphView(web.graph, root, params), [root], params)
    return base, labels_by_words(base, WORD)


def table_1(data: Data) -> Figures:
    """NPFR and EFP of the three thresholds, for a large δ and a small one, means over the planted sets."""
    found: dict[str, float] = {}
    for npea in ("max", "avg", "min"):
        for name, delta in (("large", LARGE), ("small", SMALL)):
            rows = [filtering(base, labels, npea, delta) for base, labels in planted_sets()]
            found |= {f"{npea}_{name}_npfr": fmean(row.npfr for row in rows)}
            found |= {f"{npea}_{name}_efp": fmean(row.efp for row in rows)}
            found |= {f"{npea}_{name}_filtered": fmean(row.filtered for row in rows)}
    found["better_rate"] = found["avg_large_npfr"] - found["min_large_npfr"]
    found["min_over_avg"] = found["min_small_efp"] - found["avg_small_efp"]
    found["fewer"] = found["avg_small_filtered"] - found["avg_large_filtered"]
    return found


def words(data: Data) -> Figures:
    """The same for one threshold on the base set of a word."""
    base, labels = by_words(data)
    row = filtering(base, labels, "avg", LARGE)
    return {"npfr": row.npfr, "efp": row.efp, "noise": float(labels.noise.sum()), "pages": float(len(base.root))}


def ranges(data: Data) -> Figures:
    """How much the number of filtered pages varies within δ ≥ 0.4, and within δ ≤ 0.3."""
    spread: dict[str, list[float]] = {"large": [], "small": []}
    for base, labels in planted_sets():
        for name, deltas in (("large", (0.4, 0.5, 0.7, 0.9)), ("small", (0.1, 0.2, 0.3))):
            counts = [filtering(base, labels, "avg", delta).filtered for delta in deltas]
            spread[name].append((max(counts) - min(counts)) / max(1, max(counts)))
    return {name: median(values) for name, values in spread.items()}


def losses(data: Data) -> Figures:
    """How much of their measure noise pages and topic pages lose when δ falls (Tables 4 and 5)."""
    found: dict[str, float] = {}
    for name, sets in (("planted", planted_sets()), ("words", [by_words(data)])):
        told = [falls(base, labels, (LARGE, SMALL)) for base, labels in sets]
        for kind, noise in (("noise", True), ("topic", False)):
            found[f"{name}_{kind}"] = fmean(mean_rate([each for each in of if each.noise == noise]) for of in told)
    return found | {"difference": found["planted_noise"] - found["planted_topic"]}


def drifting(data: Data) -> Figures:
    """Noise among the first ten hubs and authorities of HITS, without NPEA and with it (Tables 6 and 7)."""
    shares = [(drift(base.edges, base.edges.pages[labels.noise]), drift(base.rest, base.edges.pages[labels.noise]))
              for base, labels in planted_sets()]  # fmt: skip
    return {"before": fmean(before for before, _ in shares), "after": fmean(after for _, after in shares)}


def rounds(data: Data) -> Figures:
    """The share of base sets on which HITS changes by less than 1e-4 after 20 rounds, and the largest such change."""
    left = [iterate(base.edges, False, ROUNDS).residual for base, _ in [*planted_sets(), by_words(data)]]
    return {"within": fmean(each <= PRECISION for each in left), "worst": max(left)}
