"""The numerical experiment of Hou & Zhang 2002, §4, on any base set: how well NPEA tells noise.

With labels for the pages outside the root set, noise and *suspected* (on topic, but linked with one root page at most):

    NPFR = filtered noise pages / noise pages            NPFP = filtered noise pages / filtered pages
    SPFP = filtered suspected pages / filtered pages     EFP  = NPFP + SPFP

`sweep` is Table 1 for any δ. `falls` is Tables 4 and 5 and Fig. 3: how much of their measure pages lose when δ falls
from 0.5 to 0.3, which the paper finds to be 99.6 % for noise and 24 % for pages on topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.methods.community import Base
from cocite.neighbourhood.npea import MEASURES, Marks, measure
from cocite.neighbourhood.weigh import Edges, iterate
from cocite.words.tokens import words_of

DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Labels(NamedTuple):
    """What the pages of a base set are, by node; root pages are neither."""

    noise: Marks
    suspected: Marks


def labels_of(base: Base, noise: Marks) -> Labels:
    """Labels from what is known to be noise: the rest is suspected where it has one link to the root set at most."""
    outside = ~base.root
    ties = measure(base.edges, base.root, replace(base.params, npea="off")).ties
    return Labels(noise & outside, ~noise & outside & (ties <= 1))


def labels_by_words(base: Base, words: dict[int, set[str]], query: str) -> Labels:
    """The paper's own labels: a page that has none of the query's words is noise.

    `words` has the words of each page (`answers.telling.page_words`); a page of which nothing is known is noise too.
    """
    asked = set(words_of(query))
    pages = base.edges.pages.tolist()
    return labels_of(base, np.array([not asked & words.get(page, set()) for page in pages], np.bool_))


class Filtering(NamedTuple):
    """A column of Table 1."""

    npea: str
    delta: float
    k: int
    threshold: float
    filtered: int
    noise: int  # filtered noise pages
    suspected: int  # filtered suspected pages
    npfr: float
    npfp: float
    spfp: float

    @property
    def efp(self) -> float:
        """Efficient filtering percentage; 1 where nothing was filtered: then nothing was filtered wrongly."""
        return self.npfp + self.spfp if self.filtered else 1.0


def filtering(base: Base, labels: Labels, npea: str, delta: float) -> Filtering:
    """What NPEA filters from a base set, by label."""
    found = measure(base.edges, base.root, replace(base.params, npea=npea, delta=delta))
    gone = ~found.keep
    filtered, noise, suspected = (int(np.count_nonzero(gone & mark)) for mark in (gone, *labels))
    shares = noise / max(1, int(labels.noise.sum())), noise / max(1, filtered), suspected / max(1, filtered)
    return Filtering(npea, delta, found.k, found.threshold, filtered, noise, suspected, *shares)


def sweep(base: Base, labels: Labels, deltas: Sequence[float] = DELTAS) -> list[Filtering]:
    """Table 1: maxAlgo, avgAlgo and minAlgo for each δ."""
    return [filtering(base, labels, npea, delta) for delta in deltas for npea in MEASURES]


class Fall(NamedTuple):
    """A column of Table 4 or 5: the measure of a page with a large δ and with a small one."""

    page: int
    noise: bool
    large: float
    small: float

    @property
    def rate(self) -> float:
        """The share of its measure that the page loses."""
        return 1 - self.small / self.large if self.large > 0 else 0.0


def falls(base: Base, labels: Labels, deltas: tuple[float, float] = (0.5, 0.3)) -> list[Fall]:
    """Every page outside the root set with its measures; noise first, as in Fig. 3."""
    large, small = (measure(base.edges, base.root, replace(base.params, npea="avg", delta=d)).measure for d in deltas)
    outside = np.flatnonzero(~base.root)
    order = outside[np.argsort(~labels.noise[outside], kind="stable")]
    return [Fall(int(base.edges.pages[at]), bool(labels.noise[at]), float(large[at]), float(small[at])) for at in order]


def mean_rate(of: Sequence[Fall]) -> float:
    """The average decrease rate of some pages."""
    return sum(each.rate for each in of) / max(1, len(of))


def drift(edges: Edges, noise: NDArray[np.uint32], first: int = 10) -> float:
    """The share of noise among the first authorities and hubs of HITS on a graph."""
    done = iterate(edges, False, 200)
    best = [edges.pages[np.argsort(-values, kind="stable")[:first]] for values in (done.authorities, done.hubs)]
    return float(np.isin(np.concatenate(best), noise).mean()) if len(edges.ends) else 0.0


def pages_of(graph: Graph, addresses: Sequence[str]) -> NDArray[np.uint32]:
    """The page numbers of addresses."""
    return np.array([graph.find(address) for address in addresses], np.uint32)
