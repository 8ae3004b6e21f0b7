"""The experiment of Hou & Zhang 2002, §4, on one base set, told in tables, as HTML and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

from cocite.evaluate.evaluation import Table
from cocite.evaluate.noise import DELTAS, Fall, Filtering, Labels, drift, falls, mean_rate, sweep
from cocite.evaluate.noise_figure import draw, spread
from cocite.evaluate.report import table_as_html
from cocite.related.methods.community import BaseSet
from cocite.results.naming import Titles

COMPARED = (0.5, 0.3)
"""The values of δ that Tables 4 and 5 compare."""
EACH = 10
"""Noise pages and pages on topic that they name."""
BY_WORDS = "the words"
CAUTION = (
    " Every page that has a word is in the root set, so that all others are labelled as noise, whatever they are about:"
    " ask for words that many more pages have, or give labels."
)
KINDS = {True: "noise", False: "topic"}


@dataclass(frozen=True)
class NoiseReport:
    """How well NPEA tells noise in one base set."""

    labels: str  # where they come from
    pages: int  # of the base set
    root: int
    labelled: int
    noise: int
    suspected: int
    rows: tuple[Filtering, ...]  # Table 1
    told: tuple[Fall, ...]  # every labelled page
    names: dict[int, str]  # of those that Tables 4 and 5 name
    drift: tuple[float, float]  # the share of noise among the first hubs and authorities, without NPEA and with it

    @property
    def about(self) -> str:
        """What was measured, in a sentence."""
        return (
            f"{self.pages:,} pages, {self.root:,} of them the root set; labels by {self.labels}: {self.noise:,} noise, "
            f"{self.labelled - self.noise:,} on topic, {self.suspected:,} of these suspected (linked with one root "
            f"page at most). Noise among the first ten hubs and authorities of HITS: {self.drift[0]:.0%} without NPEA, "
            f"{self.drift[1]:.0%} with it.{CAUTION if self.labels == BY_WORDS and self.noise == self.labelled else ''}"
        )

    def table_1(self) -> Table:
        """What is filtered for every δ and every threshold."""
        head = ["δ", "k", "c", "threshold", "filtered", "noise", "suspected", "NPFR", "NPFP", "SPFP", "EFP"]
        rows: list[list[object]] = []
        for each in self.rows:
            counts = [each.filtered, each.noise, each.suspected]
            rates = [f"{rate:.2f}" for rate in (each.npfr, each.npfp, each.spfp, each.efp)]
            rows.append([f"{each.delta:g}", each.k, each.npea, f"{each.threshold:.3f}", *counts, *rates])
        return head, rows

    def tables_4_5(self) -> Table:
        """Pages with their measures for a large δ and a small one, and what all labelled pages do on average."""
        rows: list[list[object]] = []
        for noise, kind in KINDS.items():
            of = [fall for fall in self.told if fall.noise is noise]
            rows += [
                [kind, f"{fall.large:.3f}", f"{fall.small:.3f}", f"{fall.rate:.0%}", self.names[fall.page]]
                for fall in spread(of, EACH)
            ]
            if of:
                both = [f"{median(getattr(fall, name) for fall in of):.3f}" for name in ("large", "small")]
                rows.append([f"all {kind}", *both, f"{mean_rate(of):.0%}", f"medians, mean decrease of {len(of):,}"])
        return ["", *(f"δ = {delta:g}" for delta in COMPARED), "decrease", "page"], rows

    def figure(self, title: str = "Measures of noise and of pages on topic") -> str:
        """Fig. 3, as SVG."""
        return draw(title, self.told, COMPARED, EACH)

    def section(self) -> str:
        """A part of a page of HTML."""
        return (
            f'<section id="experiment"><h2>How well noise is told</h2><p class="facts">{escape(self.about)}</p>'
            f"{table_as_html(self.table_1())}{table_as_html(self.tables_4_5())}"
            f'<div class="chart">{self.figure()}</div></section>'
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        named = [fall for noise in KINDS for fall in spread([f for f in self.told if f.noise is noise], EACH)]
        return {
            "labels": {"by": self.labels, "noise": self.noise, "suspected": self.suspected, "labelled": self.labelled},
            "drift": {"without_npea": self.drift[0], "with_npea": self.drift[1]},
            "table_1": [{**each._asdict(), "efp": each.efp} for each in self.rows],
            "measures": [
                {"page": self.names[fall.page], "label": KINDS[fall.noise], "large": fall.large, "small": fall.small,
                 "decrease": fall.rate}
                for fall in named
            ],
            "mean_decrease": {
                kind: mean_rate([fall for fall in self.told if fall.noise is noise]) for noise, kind in KINDS.items()
            },
        }  # fmt: skip


def noise_report(base: BaseSet, labels: Labels, by: str, deltas: Sequence[float] = DELTAS) -> NoiseReport:
    """The experiment on a base set with labels."""
    told = tuple(falls(base, labels, COMPARED))
    graph, titles = base.view.graph, Titles(base.view.graph)
    named = {fall.page for noise in KINDS for fall in spread([f for f in told if f.noise is noise], EACH)}
    noise = base.edges.pages[labels.noise]
    return NoiseReport(
        labels=by,
        pages=len(base.root),
        root=int(base.root.sum()),
        labelled=len(told),
        noise=int(labels.noise.sum()),
        suspected=int(labels.suspected.sum()),
        rows=tuple(sweep(base, labels, deltas)),
        told=told,
        names={page: titles.of(page) or graph.address(page) for page in sorted(named)},
        drift=(drift(base.edges, noise), drift(base.rest, noise)),
    )
