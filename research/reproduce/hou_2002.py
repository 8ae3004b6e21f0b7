"""Hou & Zhang 2002: NPEA on base sets with noise planted as the paper describes it, and on some found by words."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
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
WORDS = (
    "history", "north", "south", "life", "people", "government", "east", "american", "war", "central", "british",
    "language", "political", "european", "sea",
)  # fmt: skip
"""Of the words in the names of the encyclopedia's categories, those on the most pages: 355 to 1,030 of 4,604."""
WORD = "python"
"""A word on many more pages of the lists than the root set has."""
ROUNDS, PRECISION = 20, 1e-4
BaseSets = Sequence[tuple[BaseSet, Labels]]


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


def by_words(data: Data) -> BaseSets:
    """The paper's own experiment with other words: noise is the pages whose text doesn't have the word."""
    return _by_words(data.web("wikispeedia"))


@lru_cache(1)
def _by_words(web: Web) -> BaseSets:
    return [by_word(web, word) for word in WORDS]


def by_word(web: Web, word: str) -> tuple[BaseSet, Labels]:
    """The base set of a word."""
    params = Params(window=0)
    root = root_set(web, word, [], params)[0]
    base = BaseSet(GraphView(web.graph, root, params), [root], params)
    return base, labels_by_words(base, word)


def table_1(data: Data) -> Figures:
    """Table 1 on the planted sets."""
    return thresholds(planted_sets())


def table_1_words(data: Data) -> Figures:
    """Table 1 on base sets found by words, the EFP of dropping pages at random, and one word on the lists."""
    sets = by_words(data)
    found = thresholds(sets) | {
        "words": len(sets),
        "pages": fmean(len(base.root) for base, _ in sets),
        "noise": fmean(labels.noise.sum() for _, labels in sets),
        "chance_efp": fmean((labels.noise | labels.suspected).sum() / labels.known.sum() for _, labels in sets),
    }
    row = filtering(*by_word(data.web("awesome"), WORD), "avg", LARGE)
    return found | {"lists_npfr": row.npfr, "lists_efp": row.efp}


def thresholds(sets: BaseSets) -> dict[str, float]:
    """NPFR and EFP of the three thresholds, for a large δ and a small one: means over base sets."""
    found: dict[str, float] = {}
    for npea in ("max", "avg", "min"):
        for name, delta in (("large", LARGE), ("small", SMALL)):
            rows = [filtering(base, labels, npea, delta) for base, labels in sets]
            found |= {f"{npea}_{name}_npfr": fmean(row.npfr for row in rows)}
            found |= {f"{npea}_{name}_efp": fmean(row.efp for row in rows)}
            found |= {f"{npea}_{name}_filtered": fmean(row.filtered for row in rows)}
    found["better_rate"] = found["avg_large_npfr"] - found["min_large_npfr"]
    found["min_over_avg"] = found["min_small_efp"] - found["avg_small_efp"]
    found["fewer"] = found["avg_small_filtered"] - found["avg_large_filtered"]
    return found


def ranges(data: Data) -> Figures:
    """How much the number of filtered pages varies on planted sets within δ ≥ 0.4, and within δ ≤ 0.3."""
    return spread(planted_sets())


def ranges_words(data: Data) -> Figures:
    """The same on base sets found by words."""
    return spread(by_words(data))


def spread(sets: BaseSets) -> Figures:
    """By how much the largest number of filtered pages exceeds the smallest, medians over base sets."""
    found: dict[str, list[float]] = {"large": [], "small": []}
    for base, labels in sets:
        for name, deltas in (("large", (0.4, 0.5, 0.7, 0.9)), ("small", (0.1, 0.2, 0.3))):
            counts = [filtering(base, labels, "avg", delta).filtered for delta in deltas]
            found[name].append((max(counts) - min(counts)) / max(1, max(counts)))
    return {name: median(values) for name, values in found.items()}


def losses(data: Data) -> Figures:
    """How much of their measure noise pages and topic pages lose on planted sets when δ falls (Tables 4 and 5)."""
    return lost(planted_sets())


def losses_words(data: Data) -> Figures:
    """The same on base sets found by words."""
    return lost(by_words(data))


def lost(sets: BaseSets) -> Figures:
    """The mean loss of noise pages and of topic pages, and the difference."""
    told = [falls(base, labels, (LARGE, SMALL)) for base, labels in sets]
    noise, topic = (
        fmean(mean_rate([each for each in of if each.noise == kind]) for of in told) for kind in (True, False)
    )
    return {"noise": noise, "topic": topic, "difference": noise - topic}


def drifting(data: Data) -> Figures:
    """Noise among the first ten hubs and authorities of HITS on planted sets, without NPEA and with it."""
    return drifted(planted_sets())


def drifting_words(data: Data) -> Figures:
    """The same on base sets found by words."""
    return drifted(by_words(data))


def drifted(sets: BaseSets) -> Figures:
    """The share of noise without NPEA and with it (Tables 6 and 7)."""
    shares = [(drift(base.edges, base.edges.pages[labels.noise]), drift(base.rest, base.edges.pages[labels.noise]))
              for base, labels in sets]  # fmt: skip
    return {"before": fmean(before for before, _ in shares), "after": fmean(after for _, after in shares)}


def rounds(data: Data) -> Figures:
    """The share of base sets on which HITS changes by less than 1e-4 after 20 rounds, and the largest such change."""
    left = [iterate(base.edges, False, ROUNDS).residual for base, _ in [*planted_sets(), *by_words(data)]]
    return {"sets": len(left), "within": fmean(each <= PRECISION for each in left), "worst": max(left)}
