"""The numerical experiment of Hou & Zhang 2002, §4, on any base set: how well NPEA tells noise.

With labels for the pages outside the root set, noise and *suspected* (on topic, but linked with one root page at most):

    NPFR = filtered noise pages / noise pages            NPFP = filtered noise pages / filtered pages
    SPFP = filtered suspected pages / filtered pages     EFP  = NPFP + SPFP

`sweep` is Table 1 for any δ. `falls` is Tables 4 and 5 and Fig. 3: how much of their measure pages lose when δ falls
from 0.5 to 0.3, which the paper finds to be 99.6 % for noise and 24 % for pages on topic.

Labels are those of the paper, by the words that were asked for, or come from a file of `page<TAB>noise` and
`page<TAB>topic`; pages that it does not name are left out of all rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadSource, UnknownPage
from cocite.graph.store import Graph
from cocite.related.methods.community import BaseSet
from cocite.related.neighbourhood.npea import MEASURES, Marks
from cocite.related.neighbourhood.weigh import Edges, iterate
from cocite.sources.compressed import open_lines
from cocite.sources.records import ReadReport
from cocite.words.query import forms
from cocite.words.tokens import words_of

LABELS = ("noise", "topic")
DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Labels(NamedTuple):
    """What the pages of a base set are, by node; root pages are neither."""

    noise: Marks
    suspected: Marks
    known: Marks | None = None  # pages that have a label; None: all outside the root set


def labels_of(base: BaseSet, noise: Marks, known: Marks | None = None) -> Labels:
    """Labels from what is known to be noise: the rest is suspected where it has one link to the root set at most."""
    labelled = ~base.root if known is None else ~base.root & known
    return Labels(noise & labelled, ~noise & labelled & (base.linkage.ties <= 1), labelled)


def labels_by_words(base: BaseSet, words: dict[int, set[str]], query: str) -> Labels:
    """The paper's own labels: a page that has none of the query's words is noise.

    `words` has the words of each page, by `words_of_pages`; a page without words is noise too.
    """
    asked = {form for word in words_of(query) for (form,) in forms((word,))}
    pages = base.edges.pages.tolist()
    return labels_of(base, np.array([not asked & words.get(page, set()) for page in pages], np.bool_))


def read_labels(path: Path, base: BaseSet, report: ReadReport) -> Labels:
    """Labels of a file; raises BadSource if it names no page of the base set outside the root set."""
    pages, graph = base.edges.pages, base.view.graph
    noise, known = np.zeros(len(pages), np.bool_), np.zeros(len(pages), np.bool_)
    for number, raw in enumerate(open_lines(path, report), 1):
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        if not line or line.startswith("#"):
            continue
        name, _, label = line.rpartition("\t")
        if label.strip().lower() not in LABELS:
            report.skip("label that is neither noise nor topic", line)
            continue
        try:
            page = graph.find(name.strip())
        except (BadAddress, UnknownPage):
            report.skip("page that is not in this store", name)
            continue
        at = int(np.searchsorted(pages, page))
        if at == len(pages) or pages[at] != page:
            report.skip("page that is not in the base set", name)
            continue
        noise[at], known[at] = label.strip().lower() == "noise", True
    if not (known & ~base.root).any():
        raise BadSource(f"{path} labels no page of the base set: a row is page<TAB>noise or page<TAB>topic")
    return labels_of(base, noise, known)


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


def filtering(base: BaseSet, labels: Labels, npea: str, delta: float) -> Filtering:
    """What NPEA filters from a base set, by label."""
    found = base.linkage.measured(replace(base.params, npea=npea, delta=delta))
    gone = ~found.keep if labels.known is None else ~found.keep & labels.known
    filtered, noise, suspected = (int(np.count_nonzero(gone & mark)) for mark in (gone, *labels[:2]))
    shares = noise / max(1, int(labels.noise.sum())), noise / max(1, filtered), suspected / max(1, filtered)
    return Filtering(npea, delta, found.k, found.threshold, filtered, noise, suspected, *shares)


def sweep(base: BaseSet, labels: Labels, deltas: Sequence[float] = DELTAS) -> list[Filtering]:
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


def falls(base: BaseSet, labels: Labels, deltas: tuple[float, float] = (0.5, 0.3)) -> list[Fall]:
    """Every page that has a label, with its measures; noise first, as in Fig. 3."""
    large, small = (base.linkage.measured(replace(base.params, npea="avg", delta=delta)).measure for delta in deltas)
    outside = np.flatnonzero(~base.root if labels.known is None else labels.known)
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
