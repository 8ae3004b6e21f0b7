"""Does a reading history predict the next page? Wikispeedia's click paths, as `research.next_page_tables` divides them.

    python -m research.recommend_tables [FOLDER] [--part dev|test]

Before each click on a page that the player hasn't visited, the pages so far are a reading history, in their order. All
other articles are ranked by the weighted mean of their scores for these pages, as `cocite recommend` does it. Rank r
of the page that was clicked counts 1/r; a page that isn't returned counts 0. `--part dev` compares decays and scales;
`--part test` compares the recommender with links, words and popularity alone on games that chose nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.tables import show
from cocite.related import methods
from cocite.results.history import find_history, relate_history
from cocite.results.visits import Visit, weights_of
from cocite.web import Web
from research.next_page import Ranks, Steps, compare, measures
from research.next_page_tables import DATA, read

METHODS = {
    "usage, links and words": "whats_related(near=false)",
    "links and words": "whats_related(near=false, usage=0)",
    "links alone": "whats_related(near=false, usage=0, words=0)",
    "words alone": "whats_related(usage=0, links=0)",
    "auto": "auto(usage=0)",
    "auto with clicks": "auto",
}
CHOOSING_PATHS = 1500
"""Paths that compare decays and scales: differences of 0.01 are clear."""
DECAYS = (1.0, 0.8, 0.5, 0.3, 0.15, 0.0)
Matrix = NDArray[np.float32]


class Readings(NamedTuple):
    """Histories, each with the page that was read next."""

    path: NDArray[np.int64]
    histories: list[list[int]]
    following: NDArray[np.int64]


def readings_of(paths: Sequence[Sequence[int]]) -> Readings:
    """Every click of some paths on a page that wasn't read before."""
    found = [
        (number, list(path[:at]), path[at])
        for number, path in enumerate(paths)
        for at in range(1, len(path))
        if path[at] not in path[:at]
    ]
    number, histories, following = zip(*found, strict=True)
    return Readings(np.array(number), list(histories), np.array(following))


def scores_of_all(web: Web, call: str) -> Matrix:
    """The scores of all pages for each page."""
    method, found = methods.method(call), np.zeros((web.graph.pages, web.graph.pages), np.float32)
    for page in range(web.graph.pages):
        scores = method.relate(web, [page])
        found[page, scores.pages] = scores.values
        found[page, scores.excluded] = 0
    return found


def by_history(readings: Readings, scores: Matrix, decay: float) -> Iterator[NDArray[np.float64]]:
    """The scores of all pages for each history: each page counts `decay` times as much as the next."""
    for history in readings.histories:
        weights = np.array([decay ** (len(history) - 1 - at) for at in range(len(history))])
        yield weights @ scores[history]


def ranks_of(web: Web, readings: Readings, scored: Iterator[NDArray[np.float64]]) -> Ranks:
    """The rank of the page that was read next; of equal scores, the most linked page first."""
    degree, ranks = web.graph.in_degree[:], np.full(len(readings.following), np.inf)
    for at, (history, page, values) in enumerate(zip(readings.histories, readings.following, scored, strict=True)):
        values = values.copy()
        values[history] = 0
        if values[page] > 0:
            equal = values == values[page]
            ranks[at] = 1 + np.count_nonzero(values > values[page]) + np.count_nonzero(equal & (degree > degree[page]))
    return ranks


def visits(web: Web, paths: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """How often each page was visited."""
    return np.bincount([page for path in paths for page in path], minlength=web.graph.pages).astype(float)


def check(web: Web, scores: Matrix, call: str, decay: float) -> None:
    """Check that the recommender itself returns what is measured here."""
    pages = [int(page) for page in np.argsort(-web.graph.in_degree[:])[100:103]]
    weighed = weights_of([Visit(web.graph.address(page)) for page in pages], decay=decay)
    found = relate_history(web, find_history(web.graph, weighed, "none"), methods.method(call))
    weights = np.array([decay**2, decay, 1.0])
    expected = weights / weights.sum() @ scores[pages].astype(float)
    kept = ~np.isin(found.pages, found.excluded)
    assert np.allclose(found.values[kept], expected[found.pages[kept]], rtol=1e-4), "this isn't what is served"


def choose(web: Web, readings: Readings, matrices: Mapping[str, Matrix]) -> None:
    """Print the quality of decays and scales on the part that chooses them."""
    scales: dict[str, Callable[[Matrix], Matrix]] = {
        "scores": lambda scores: scores,
        "÷ maximum": lambda scores: scores / np.maximum(scores.max(axis=1, keepdims=True), 1e-30),
        "÷ sum": lambda scores: scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-30),
    }
    rows = []
    for name, matrix in matrices.items():
        for scale, scaled in scales.items():
            scores = scaled(matrix)
            found = [measures(ranks_of(web, readings, by_history(readings, scores, decay)))["MRR"] for decay in DECAYS]
            rows.append([name, scale, *(f"{value:.4f}" for value in found)])
    show("Decays on dev, MRR", ["", "scale", *(f"{decay:g}" for decay in DECAYS)], rows)


def report(
    web: Web, readings: Readings, matrices: Mapping[str, Matrix], seen: NDArray[np.float64], decay: float
) -> None:
    """Print the comparison."""
    found: dict[str, Ranks] = {}
    for name, matrix in matrices.items():
        for how, value in ((f"decay {decay:g}", decay), ("all pages alike", 1.0), ("last page only", 0.0)):
            found[f"{name}, {how}"] = ranks_of(web, readings, by_history(readings, matrix, value))
    for name, values in (("popularity: in-links", web.graph.in_degree[:].astype(float)), ("popularity: visits", seen)):
        found[name] = ranks_of(web, readings, (values for _ in readings.histories))
    steps = Steps(readings.path, readings.path, readings.following)
    (_, first), *_ = found.items()
    rows = []
    for name, ranks in found.items():
        row = [name, *(f"{value:.4f}" for value in measures(ranks).values())]
        if ranks is not first:
            d = compare(steps, first, ranks)
            row += [f"{d.mean:+.4f} ({d.low:+.4f} to {d.high:+.4f})", f"{d.better:,} : {d.worse:,}"]
            row += [f"{d.bootstrap:.1g}", f"{d.wilcoxon:.1g}" if d.wilcoxon else "< 1e-300"]
        rows.append(row + [""] * (9 - len(row)))
    clicks = f"{len(readings.path):,} clicks of {len(set(readings.path.tolist())):,} paths"
    header = ["", "MRR", "hits@1", "hits@5", "hits@10", "first row better by (95 %)", "paths better : worse"]
    show(f"The next page, {clicks}", [*header, "p bootstrap", "p Wilcoxon"], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--decay", type=float, default=0.3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        web, paths = read(options.folder, Path(folder))
        matrices = {name: scores_of_all(web, call) for name, call in METHODS.items()}
        name, call = next(iter(METHODS.items()))
        check(web, matrices[name], call, options.decay)
        readings = readings_of(paths[options.part][: CHOOSING_PATHS if options.part == "dev" else None])
        if options.part == "dev":
            choose(web, readings, matrices)
        else:
            report(web, readings, matrices, visits(web, paths["train"]), options.decay)


if __name__ == "__main__":
    main()
