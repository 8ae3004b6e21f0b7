"""Integrated similarity and SimRank on CiteSeer (Zhao et al. 2016, Fig. 5), and a better setting chosen on Cora.

    python -m research.citation_tables [--figures docs/lab/figures] [--choose]

The tables of docs/lab/integrated.md come from here. `--choose` tries a grid of settings on Cora, as it is and with two
kinds of worse links, and the best of them on CiteSeer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.tables import show
from research import citations, latent_words
from research.citations import Measured

DATA = Path(__file__).parents[2] / "shared" / "data" / "citations"


def table(title: str, rows: Sequence[Measured]) -> None:
    """Measures of similarities."""
    cells = [
        [row.measure, row.first, *(f"{value:.4f}" for value in (row.precision, row.recall, row.f, row.usual_recall))]
        for row in rows
    ]
    show(title, ("", "N", "precision", "recall", "F", "usual recall"), cells)


def choose(folder: Path) -> None:
    """The grid on Cora, and the best setting on CiteSeer."""
    tried = citations.try_settings(citations.read_papers(folder, "cora"))
    setting = citations.best_setting(tried)
    best = sorted(tried, key=lambda each: -sum(tried[each]))[:10]
    rows = [[each.name, *(f"{value:.4f}" for value in tried[each])] for each in (citations.Setting(), *best)]
    show(f"Cora, precision at {citations.AT}", ("setting", "as it is", "half of the links", "wrong links"), rows)
    citeseer = citations.read_papers(folder, "citeseer")
    table("CiteSeer", citations.with_setting(citeseer, setting))
    latent, reached = latent_words.choose(citations.read_papers(folder, "cora"))
    best_latent = sorted(reached, key=lambda each: -sum(reached[each]))[:5]
    rows = [[each.name, *(f"{value:.4f}" for value in reached[each])] for each in best_latent]
    show(f"Cora, precision at {citations.AT}", ("variant", "as it is", "half of the links", "wrong links"), rows)
    table("CiteSeer", latent_words.report(citeseer, latent))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--figures", type=Path, help="draw Fig. 5 into this folder")
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    if options.choose:
        choose(options.data)
        return
    found = citations.reproduce(citations.read_papers(options.data, "citeseer"))
    table("CiteSeer", found.rows)
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        for name, picture in citations.figures(found):
            (options.figures / f"citeseer-{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
