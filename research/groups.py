"""Groups of pages compared with the topics that people put them into: purity, agreement, and time.

    python -m research.groups STORE [--sets 100] [--topics 4] [--pages 8]

STORE is one of ../shared/data/awesome. A topic is a page of the judgements with the pages that lists outside the store
put into one section with it. A set is several random topics without a common page. Purity is the share of pages that
belong to their group's main topic; it rises with the number of groups. The adjusted Rand index, of correctly grouped
pairs, doesn't: 1 is perfect, 0 is chance.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from math import comb
from pathlib import Path
from statistics import mean, median

import numpy as np

from bench.tables import show
from cocite.errors import CociteError
from cocite.evaluate.judgements import read_judgements
from cocite.results.groups import WAYS, group_pages
from cocite.sources.records import ReadReport
from cocite.web import Web

JUDGED = Path(__file__).parents[2] / "shared" / "data" / "awesome" / "judgements.dev.tsv.gz"


def topics_of(web: Web, least: int) -> list[list[int]]:
    """The pages of each topic that the store knows, where there are enough."""
    judged = read_judgements(JUDGED, ReadReport())
    known: dict[str, int | None] = {}

    def find(name: str) -> int | None:
        if name not in known:
            try:
                known[name] = web.graph.find(name)
            except CociteError:
                known[name] = None
        return known[name]

    found = []
    for query in sorted(judged.ratings):
        pages = {find(name) for name in (query, *judged.right(query))} - {None}
        if len(pages) >= least:
            found.append(sorted(page for page in pages if page is not None))
    return found


def draw(topics: list[list[int]], count: int, size: int, random: np.random.Generator) -> dict[int, int]:
    """Pages of some topics without a common page, each with the number of its topic."""
    chosen: dict[int, int] = {}
    number = 0
    while number < count:
        whole = topics[int(random.integers(len(topics)))]
        if not set(whole) & set(chosen):
            chosen |= dict.fromkeys(sorted(random.choice(whole, size, replace=False).tolist()), number)
            number += 1
    return chosen


def purity(groups: Sequence[Sequence[int]], topic: dict[int, int]) -> float:
    """The share of pages that are of their group's main topic."""
    return sum(Counter(topic[page] for page in group).most_common(1)[0][1] for group in groups) / len(topic)


def agreement(groups: Sequence[Sequence[int]], topic: dict[int, int]) -> float:
    """The adjusted Rand index."""
    both = sum(comb(n, 2) for group in groups for n in Counter(topic[page] for page in group).values())
    rows, columns = (
        sum(comb(len(group), 2) for group in groups),
        sum(comb(n, 2) for n in Counter(topic.values()).values()),
    )
    chance = rows * columns / comb(len(topic), 2)
    return (both - chance) / max(1e-12, (rows + columns) / 2 - chance)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--topics", type=int, default=4)
    parser.add_argument("--pages", type=int, default=8)
    given = parser.parse_args()
    web = Web(given.store)
    topics = topics_of(web, given.pages)
    random = np.random.default_rng(1)
    sets = [draw(topics, given.topics, given.pages, random) for _ in range(given.sets)]
    rows, agreements = [], {}
    for by in WAYS:
        group_pages(web, list(sets[0]), by=by)  # compiled and opened
        pure, agreed, counts, took = [], [], [], []
        for topic in sets:
            started = time.perf_counter()
            groups = [group.pages for group in group_pages(web, list(topic), by=by)]
            took.append((time.perf_counter() - started) * 1e3)
            pure.append(purity(groups, topic))
            agreed.append(agreement(groups, topic))
            counts.append(len(groups))
        agreements[by] = agreed
        rows.append([by, f"{mean(pure):.3f}", f"{mean(agreed):.3f}", f"{mean(counts):.1f}", f"{median(took):.0f}"])
    better = [sum(a > b for a, b in zip(agreements[one], agreements[other], strict=True))
              for one, other in (WAYS, WAYS[::-1])]  # fmt: skip
    head = ["by", "purity", "adjusted Rand", "groups", "ms"]
    what = f"{given.sets} sets of {given.topics} topics, {given.pages} pages each, of {len(topics):,} topics"
    show(f"{what}; {WAYS[0]} agrees better in {better[0]}, {WAYS[1]} in {better[1]}", head, rows)


if __name__ == "__main__":
    main()
