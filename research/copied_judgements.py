"""P@10 of methods, by how much the judged pages of a query resemble a section that the store has.

    python -m research.copied_judgements [-m METHOD]...

Judgements of the awesome lists come from lists that the store doesn't have. Some of these are copies of lists that it
has. There, counting copies several times predicts the judgements: that is no quality. So the queries are split by the
highest resemblance (shared ÷ all links) of the query with its judged pages and a section that lists the query.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from bench.tables import show
from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.related.methods import method
from cocite.sources.page_records import read_jsonl
from cocite.sources.records import ReadReport
from research import datasets
from research.attacks import Pages, store
from research.quality import DATA, STORES
from research.reproduce.data import canonical_or_none

BORDERS = (0.0, 0.1, 0.2, 0.3, 0.5, 1.01)


def resemblances(pages: Pages, judged: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """For each query the highest resemblance of what is judged and a section that lists the query."""
    listing = defaultdict[str, list[set[str]]](list)
    for page in pages:
        sections = defaultdict[int | None, set[str]](set)
        for link in page.links:
            if (url := canonical_or_none(link.url)) is not None:
                sections[link.block].add(url)
        for section in sections.values():
            for url in section:
                listing[url].append(section)
    found = {}
    for query, ratings in judged.items():
        right = {query, *(url for url, rating in ratings.items() if rating > 0)}
        found[query] = max((len(right & section) / len(right | section) for section in listing[query]), default=0.0)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--method", dest="methods", action="append")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=STORES)
    options = parser.parse_args(arguments)
    calls = options.methods or ["auto(copies=false)", "auto"]
    pages = list(read_jsonl(options.data / "awesome" / "pages.jsonl.gz", ReadReport()))
    web = store(pages, options.stores / "attacked" / "clean.cocite", again=False)
    judged, numbers = in_store(web.graph, datasets.read("awesome", options.data).judgements, ReadReport())
    alike, values = resemblances(pages, judged.ratings), list[dict[str, float]]()
    for call in calls:
        (run,) = ask_methods(web, [method(call)], numbers)
        names = [query for query in numbers if query in run.answers]
        scores = Evaluation(judged, [run]).values(run, measures.precision, names)
        values.append(dict(zip(names, scores, strict=True)))
    rows = []
    for low, high in pairwise(BORDERS):
        some = [query for query, value in alike.items() if low <= value < high and query in values[0]]
        rows.append(
            [f"{low} to {min(high, 1.0)}", str(len(some)), *(f"{fmean(v[q] for q in some):.4f}" for v in values)]
        )
    show("P@10 by the resemblance of judgements and a section of the store", ("resemblance", "queries", *calls), rows)


if __name__ == "__main__":
    main()
