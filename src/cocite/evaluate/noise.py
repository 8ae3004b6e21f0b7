"""How well NPEA recognises noise: the experiment of Hou & Zhang 2002, §4, on any base set.

With labels for the pages outside the root set, noise and *suspected* (on topic, but linked with at most one root page):

    NPFR = filtered noise pages / noise pages            NPFP = filtered noise pages / filtered pages
    SPFP = filtered suspected pages / filtered pages     EFP  = NPFP + SPFP

`sweep` is Table 1 for any δ. `falls` is Tables 4 and 5 and Fig. 3: how much of their measure pages lose when δ falls
from 0.5 to 0.3. In the paper that is 99.6 % for noise and 24 % for pages on topic.

Labels follow the query's words, as in the paper, or come from a file of `page<TAB>noise` and `page<TAB>topic` rows;
pages without a label are ignored in all rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadSource, UnknownPage
from cocite.evaluate import render
from cocite.evaluate.chart import ChartCurve, chart, even_axis, named_axis
from cocite.evaluate.evaluation import Table
from cocite.kernels.related.hubs_authorities import Edges
from cocite.related.methods.community import BaseSet
from cocite.related.neighbourhood.hits import iterate
from cocite.related.neighbourhood.npea import ROOT_STATISTICS, Marks
from cocite.results.community_words import have_words
from cocite.results.naming import titles_of
from cocite.sources.compressed import open_lines
from cocite.sources.records import ReadReport

NOISE_LABELS = ("noise", "topic")
DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COMPARED_DELTAS = (0.5, 0.3)
NAMED_PAGES = 10
"""Pages of each label in Tables 4 and 5, and in Fig. 3."""
BY_WORDS = "the words"
ALL_NOISE = (
    " Every page with one of the words is in the root set. So all other pages are labelled as noise, whatever their"
    " topic: search for words that many more pages have, or give labels."
)


class Labels(NamedTuple):
    """Labels of the pages of a base set, by node; root pages have none."""

    noise: Marks
    suspected: Marks
    known: Marks


def labels_of(base: BaseSet, noise: Marks, known: Marks | None = None) -> Labels:
    """Labels from the noise pages: the others are suspected if they have at most one link with the root set."""
    labelled = ~base.root if known is None else ~base.root & known
    return Labels(noise & labelled, ~noise & labelled & (base.linkage.ties <= 1), labelled)


def labels_by_words(base: BaseSet, query: str) -> Labels:
    """The paper's labels: a page without any word of the query is noise."""
    return labels_of(base, ~have_words(base.view.graph, base.edges, query))


def read_labels(path: Path, base: BaseSet, report: ReadReport) -> Labels:
    """Labels from a file; raises BadSource if it has none for a page of the base set outside the root set."""
    pages, graph = base.edges.pages, base.view.graph
    noise, known = np.zeros(len(pages), np.bool_), np.zeros(len(pages), np.bool_)
    for number, raw in enumerate(open_lines(path, report), 1):
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        if not line or line.startswith("#"):
            continue
        name, _, label = line.rpartition("\t")
        if label.strip().lower() not in NOISE_LABELS:
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
        """Efficient filtering percentage; 1 if nothing was filtered, since nothing was filtered wrongly."""
        return self.npfp + self.spfp if self.filtered else 1.0


def filtering(base: BaseSet, labels: Labels, npea: str, delta: float) -> Filtering:
    """The pages that NPEA filters from a base set, by label."""
    found = base.linkage.measured(replace(base.params, npea=npea, delta=delta))
    gone = ~found.keep & labels.known
    filtered, noise, suspected = (int(np.count_nonzero(gone & mark)) for mark in (gone, *labels[:2]))
    shares = noise / max(1, int(labels.noise.sum())), noise / max(1, filtered), suspected / max(1, filtered)
    return Filtering(npea, delta, found.k, found.threshold, filtered, noise, suspected, *shares)


def sweep(base: BaseSet, labels: Labels, deltas: Sequence[float] = DELTAS) -> list[Filtering]:
    """Table 1: maxAlgo, avgAlgo and minAlgo for each δ."""
    return [filtering(base, labels, npea, delta) for delta in deltas for npea in ROOT_STATISTICS]


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


def falls(base: BaseSet, labels: Labels, deltas: tuple[float, float] = COMPARED_DELTAS) -> list[Fall]:
    """The measures of every labelled page; noise first, as in Fig. 3."""
    large, small = (base.linkage.measured(replace(base.params, npea="avg", delta=delta)).measure for delta in deltas)
    labelled = np.flatnonzero(labels.known)
    order = labelled[np.argsort(~labels.noise[labelled], kind="stable")]
    return [Fall(int(base.edges.pages[at]), bool(labels.noise[at]), float(large[at]), float(small[at])) for at in order]


def mean_rate(of: Sequence[Fall]) -> float:
    """The average decrease rate of some pages."""
    return sum(each.rate for each in of) / max(1, len(of))


def spread(of: Sequence[Fall], count: int = NAMED_PAGES) -> list[Fall]:
    """Some pages, evenly spaced from the highest measure to the lowest."""
    ordered = sorted(of, key=lambda fall: (-fall.large, fall.page))
    chosen = min(count, len(ordered))
    return [ordered[at * (len(ordered) - 1) // max(1, chosen - 1)] for at in range(chosen)]


def drift(edges: Edges, noise: NDArray[np.uint32], first: int = 10) -> float:
    """The share of noise among the first authorities and hubs of HITS on a graph."""
    done = iterate(edges, False, 200)
    best = [edges.pages[np.argsort(-values, kind="stable")[:first]] for values in (done.authorities, done.hubs)]
    return float(np.isin(np.concatenate(best), noise).mean()) if len(edges.ends) else 0.0


@dataclass(frozen=True)
class NoiseReport:
    """The experiment on one base set: as tables, SVG, HTML and JSON."""

    by: str  # where the labels come from
    base: BaseSet
    labels: Labels
    table: Sequence[Filtering]
    falls: dict[str, list[Fall]]  # by label
    drift: tuple[float, float]  # without NPEA, and with it

    @property
    def about(self) -> str:
        """What was measured, in a few sentences."""
        noise, topic, suspected = len(self.falls["noise"]), len(self.falls["topic"]), int(self.labels.suspected.sum())
        return (
            f"{len(self.base.root):,} pages, {int(self.base.root.sum()):,} of them in the root set. Labels by"
            f" {self.by}: {noise:,} noise, {topic:,} on topic, {suspected:,} of them suspected (linked with at most one"
            f" root page). Noise among the first ten hubs and authorities of HITS: {self.drift[0]:.0%} without NPEA,"
            f" {self.drift[1]:.0%} with it.{ALL_NOISE if self.by == BY_WORDS and not topic else ''}"
        )

    def table_1(self) -> Table:
        """The pages filtered for every δ and every threshold."""
        head = ["δ", "k", "c", "threshold", "filtered", "noise", "suspected", "NPFR", "NPFP", "SPFP", "EFP"]
        return head, [
            [f"{each.delta:g}", each.k, each.npea, f"{each.threshold:.3f}", each.filtered, each.noise, each.suspected,
             *(f"{rate:.2f}" for rate in (each.npfr, each.npfp, each.spfp, each.efp))]
            for each in self.table
        ]  # fmt: skip

    def tables_4_5(self) -> Table:
        """The measures of some pages for a large δ and a small one, and the averages of all labelled pages."""
        rows: list[list[object]] = []
        for kind, of in self.falls.items():
            rows += [
                [kind, f"{fall.large:.3f}", f"{fall.small:.3f}", f"{fall.rate:.0%}", self._name(fall.page)]
                for fall in spread(of)
            ]
            if of:
                both = [f"{median(getattr(fall, name) for fall in of):.3f}" for name in ("large", "small")]
                rows.append([f"all {kind}", *both, f"{mean_rate(of):.0%}", f"medians, mean decrease of {len(of):,}"])
        return ["", *(f"δ = {delta:g}" for delta in COMPARED_DELTAS), "decrease", "page"], rows

    def _name(self, page: int) -> str:
        graph = self.base.view.graph
        return titles_of(graph).of(page) or graph.address(page)

    def section(self) -> str:
        """A section of an HTML page."""
        return render("noise.html", report=self, figure=draw([*self.falls["noise"], *self.falls["topic"]]))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        noise, suspected, known = (int(mark.sum()) for mark in self.labels)
        return {
            "labels": {"by": self.by, "noise": noise, "suspected": suspected, "labelled": known},
            "drift": {"without_npea": self.drift[0], "with_npea": self.drift[1]},
            "table_1": [{**each._asdict(), "efp": each.efp} for each in self.table],
            "measures": [
                {"page": self._name(fall.page), "label": kind, "large": fall.large, "small": fall.small,
                 "decrease": fall.rate}
                for kind, of in self.falls.items() for fall in spread(of)
            ],
            "mean_decrease": {kind: mean_rate(of) for kind, of in self.falls.items()},
        }  # fmt: skip


def noise_report(base: BaseSet, labels: Labels, by: str, deltas: Sequence[float] = DELTAS) -> NoiseReport:
    """Run the experiment on a base set with labels."""
    every, noise = falls(base, labels), base.edges.pages[labels.noise]
    by_label = {kind: [fall for fall in every if fall.noise is (kind == "noise")] for kind in NOISE_LABELS}
    both = drift(base.edges, noise), drift(base.rest, noise)
    return NoiseReport(by, base, labels, sweep(base, labels, deltas), by_label, both)


def draw(of: Sequence[Fall], title: str = "Measures of noise and of pages on topic", count: int = NAMED_PAGES) -> str:
    """Fig. 3 as SVG: noise pages on the left, pages on topic on the right, evenly spaced by their measure."""
    both = [[fall for fall in of if fall.noise is noise] for noise in (True, False)]
    sides = [spread(each, count) for each in both]
    shown = [fall for side in sides for fall in side]
    curves = [
        ChartCurve(f"δ = {delta:g}", [(at + 0.5, fall[place]) for at, fall in enumerate(shown)])
        for delta, place in zip(COMPARED_DELTAS, (2, 3), strict=True)
    ]
    names = [f"{'N' if fall.noise else 'T'}{at}" for side in sides for at, fall in enumerate(side, 1)]
    return chart(
        title,
        f"the measure of noise falls by {mean_rate(both[0]):.0%} on average, that of pages on topic by "
        f"{mean_rate(both[1]):.0%}",
        curves,
        named_axis("noise pages (N), pages on topic (T)", names),
        even_axis("measure", 0, max((max(fall.large, fall.small) for fall in shown), default=1.0) or 1.0),
    )
