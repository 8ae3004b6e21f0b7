"""How much HubFinder explores and what it loses, compared with the same extension without trimming.

    python bench/hubs.py STORE [--sets 50] [--pages 20] [--rounds 3] [--by hubrank]

Start sets are random pages that have links. Both ways use the same criterion and number of rounds. "Explored" counts
pages that are kept and whose links are followed, "met" all candidates. "Found" is the share of the untrimmed
extension's fifty best pages that are among HubFinder's fifty best.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from cocite.related.methods.hubfinder import Params, explore
from cocite.web import Web
from tables import show

BEST = 50


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--by", default="hubrank")
    parser.add_argument("--alpha", type=float, default=2.0)
    parser.add_argument("--kind", default="hubs")
    options = parser.parse_args()
    web = Web(options.store)
    graph = web.graph
    web.rank(options.by) if options.by not in ("out_degree", "in_degree") else None
    linked = np.flatnonzero((np.asarray(graph.in_degree) > 0) & (np.asarray(graph.out_degree) > 0))
    rng = np.random.default_rng(1)
    rows = []
    for rounds in range(1, options.rounds + 1):
        params = Params(rounds=rounds, criterion=options.by, alpha=options.alpha, kind=options.kind)
        shares, found, times = [], [], []
        for _ in range(options.sets):
            seeds = [int(page) for page in rng.choice(linked, options.pages, replace=False)]
            began = time.perf_counter()
            trimmed = explore(web, seeds, params)
            middle = time.perf_counter()
            whole = explore(web, seeds, replace(params, trim=False, filter_degree=False))
            ended = time.perf_counter()
            shares.append(trimmed.explored / max(1, whole.explored))
            found.append(overlap(trimmed, whole))
            times.append(
                (
                    (middle - began) * 1e3,
                    (ended - middle) * 1e3,
                    trimmed.explored,
                    whole.explored,
                    sum(step["met"] for step in trimmed.steps),
                )
            )
        median = np.median(times, axis=0)
        counts = [f"{median[2]:,.0f}", f"{median[4]:,.0f}", f"{median[3]:,.0f}"]
        agreement = [f"{np.median(shares):.3f}", f"{max(shares):.3f}", f"{np.median(found):.2f}", f"{min(found):.2f}"]
        rows.append([str(rounds), *counts, *agreement, f"{median[0]:.0f}", f"{median[1]:.0f}"])
    header = [
        "σ",
        "explored",
        "met",
        "untrimmed",
        "share, median",
        "worst",
        "found, median",
        "worst",
        "ms",
        "ms untrimmed",
    ]
    show(
        f"HubFinder by {options.by}, {options.sets} start sets of {options.pages}: {graph.pages:,} pages", header, rows
    )


def overlap(trimmed: object, whole: object) -> float:
    """The share of the best pages of the second that are among the best of the first."""
    best = [
        set(each.pages[np.lexsort((each.pages, -each.values))][:BEST].tolist())  # type: ignore[attr-defined]
        for each in (trimmed, whole)
    ]
    return len(best[0] & best[1]) / max(1, len(best[1]))


if __name__ == "__main__":
    main()
