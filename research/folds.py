"""How good `auto` is on queries that didn't choose its weights: cross-validation by topic.

    python -m research.folds [--folds 5] [--divisions 10] [--queries 0] [--processes 2]

Queries of the link lists that share right results have the same topic (communities of queries and right results, by
Louvain's method), and a topic is in one fold. In random folds, queries of one section would be on both sides. For each
fold, the weights that are best on the others by MAP@10 are tested on it. Topics can be found in many ways, so this is
repeated for several divisions; the first is shown fold by fold. The last rows have all folds together: for the first
division, as the mean of all, and with the weights of `auto`.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from bench.tables import show
from cocite.evaluate import measures
from cocite.evaluate.evaluation import in_store
from cocite.evaluate.judgements import Judgements
from cocite.related.methods import method
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import datasets
from research.quality import DATA, STORES
from research.reproduce.data import Data

WEIGHTS = {
    "words": (0.5, 0.7, 1.0),
    "context": (0.3, 0.6, 1.0),
    "names": (0.3, 0.5, 0.7),
    "near": (0.06, 0.12, 0.2),
}
ALONE = {"popularity": (0.1, 0.25), "elsewhere": (0.05, 0.2)}
"""Changed one at a time; the other weights are those of `auto`."""
CALLS = [
    f"auto({', '.join(f'{a}={b}' for a, b in zip(WEIGHTS, each, strict=True))})" for each in product(*WEIGHTS.values())
] + [f"auto({name}={value})" for name, values in ALONE.items() for value in values]

web: Web
Values = NDArray[np.float64]


def main() -> None:
    """Print the table."""
    global web
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--divisions", type=int, default=10)
    parser.add_argument("--queries", type=int, default=0, help="number of queries, chosen by hash; 0 is all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=STORES)
    options = parser.parse_args()
    web = Data(options.data, options.stores).web("awesome")
    wanted = datasets.some_queries(datasets.read("awesome", options.data).judgements, options.queries)
    judged, numbers = in_store(web.graph, wanted, ReadReport())
    values(judged, numbers, "auto", 1)  # build what is built once
    with get_context("fork").Pool(options.processes) as pool:
        found = np.array(pool.map(partial(values, judged, numbers), ["auto", *CALLS], chunksize=1))
    own, tried = found[0], found[1:]
    rows, divided = [], []
    for division in range(1, options.divisions + 1):
        fold, total = topics(judged, list(numbers), division) % options.folds, np.zeros(own.shape)
        for each in range(options.folds):
            test = fold == each
            best = int(tried[:, 1, ~test].mean(axis=1).argmax())
            total[:, test] = tried[best][:, test]
            if division == 1:
                rows.append([f"fold {each + 1}, {test.sum():,} queries", CALLS[best], *figures(tried[best][:, test])])
        divided.append(total)
    rows.append([f"all folds, {len(numbers):,} queries", "each fold's own", *figures(divided[0])])
    rows.append([f"the same, {options.divisions} divisions", "each fold's own", *figures(np.mean(divided, axis=0))])
    rows.append(["all queries", "those of auto", *figures(own)])
    show(
        f"auto, weights chosen from {len(CALLS)} settings on the other folds",
        ("tested on", "weights", "P@10", "MAP@10"),
        rows,
    )


def values(judged: Judgements, numbers: dict[str, int], call: str, most: int | None = None) -> Values:
    """P@10 and average precision of every query, in two rows."""
    rows = []
    for query, page in list(numbers.items())[:most]:
        answers = ask(web, Question(("",), (page,)), method(call), measures.DEPTH, NO_FILTERS, explained=False)
        pages = [web.graph.canonical(each.page) for each in answers]
        rows.append([of(pages, judged.right(query)) for of in (measures.precision, measures.average_precision)])
    return np.array(rows).T


def topics(judged: Judgements, queries: list[str], seed: int) -> NDArray[np.int64]:
    """A number for the topic of each query; larger topics have smaller numbers, so that folds have similar sizes."""
    graph = nx.Graph((query, page) for query in queries for page in sorted(judged.right(query)))
    found = sorted(nx.community.louvain_communities(graph, resolution=3, seed=seed), key=len, reverse=True)
    of = {page: number for number, pages in enumerate(found) for page in pages}
    return np.array([of[query] for query in queries])


def figures(found: Values) -> list[str]:
    """Means as text."""
    return [f"{each:.4f}" for each in found.mean(axis=1)]


if __name__ == "__main__":
    main()
