"""Time of a question against the in-links of the page, beside SciPy, and the least that memory allows.

    python bench/in_links.py STORE [--write docs/lab/figures/in-links.svg]

Pages are grouped by in-links, three groups to a power of ten, and a time is the median of a group. Each page is asked
of all programs in turn, on one thread, warm. Counting means: all parents, whole pages, as in bench/related.py; cocite
and SciPy must count the same.

The limit is what counting can't do without: the bytes of the parents' lists, and one counter of 4 bytes for each link
that is read, divided by the speed at which this machine copies memory. It is a bound for lists that lie one after
another. Those of a page's parents lie anywhere, and each is at least one cache line that somebody has to wait for.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from cocite.evaluate.chart import ChartCurve, chart, log_axis
from cocite.graph.store import Graph
from cocite.kernels.codec.layer_rows import bits_of_lists
from cocite.related.methods import method
from cocite.web import Web
from related import ask
from related_rivals import cocite_itself, matrices, scipy_product, scipy_rows
from tables import show

STEPS = [round(10 ** (n / 3)) for n in range(3, 20)]
"""Groups of in-links begin here."""
QUESTIONS, MIN_QUESTIONS = 40, 5
BANDWIDTH_BYTES, COUNTER_BYTES, ROUNDS = 1 << 28, 4, 5
METHODS = ("cocitation", "companion", "auto")


def bandwidth() -> float:
    """Bytes a second that are read and written when a large array is copied."""
    source, target = np.ones(BANDWIDTH_BYTES, np.uint8), np.zeros(BANDWIDTH_BYTES, np.uint8)
    return 2 * BANDWIDTH_BYTES / min(seconds_of(lambda: np.copyto(target, source)) for _ in range(ROUNDS))


def seconds_of(run: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def bytes_read(graph: Graph, page: int) -> int:
    """Bytes of the lists of a page's parents, and of a counter for each of their links."""
    parents = np.asarray(graph.links_to(page)).astype(np.int64)
    lists = graph.links.out
    bits = int(bits_of_lists(lists, parents.astype(np.uint32)))
    return bits // 8 + COUNTER_BYTES * int(lists.degree[parents].astype(np.int64).sum())


def main() -> None:
    """Print the table; with --write also draw the chart."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("store", type=Path)
    options.add_argument("--write", type=Path, help="draw the chart into this file")
    given = options.parse_args()
    web = Web(given.store)
    graph, speed = web.graph, bandwidth()
    links, into = matrices(graph)
    counting = [cocite_itself(web), scipy_rows(links, into), scipy_product(links, into)]
    named = dict.fromkeys(["counting, cocite", *(rival.name for rival in counting[1:]), *METHODS], (0.0, 0.0))
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in [*named, "limit of memory"]}
    rows = []
    for low, high in pairwise(STEPS):
        fitting = np.flatnonzero((graph.in_degree >= low) & (graph.in_degree < high))
        pages = np.random.default_rng(low).permutation(fitting)[:QUESTIONS].tolist()
        if len(pages) < MIN_QUESTIONS:
            continue
        times: dict[str, list[float]] = {name: [] for name in curves}
        for page in pages:
            counted = [rival.counts(page) for rival in counting]
            same = [dict(zip(each[0].tolist(), each[1].tolist(), strict=True)) for each in counted]
            for each in same:
                each.pop(page, None)
            assert same[0] == same[1] == same[2], f"other counts for page {page}"
            for name, rival in zip(named, counting, strict=False):
                times[name].append(min(seconds_of(partial(rival.counts, page)) for _ in range(2)))
            for name in METHODS:
                how = method(name)
                ask(web, how, page)
                times[name].append(min(seconds_of(partial(ask, web, how, page)) for _ in range(2)))
            times["limit of memory"].append(bytes_read(graph, page) / speed)
        middle = statistics.median(int(graph.in_degree[page]) for page in pages)
        medians = {name: 1000 * statistics.median(each) for name, each in times.items()}
        for name, value in medians.items():
            curves[name].append((middle, value))
        rows.append([f"{low:,} to {high - 1:,}", len(pages), *(f"{value:.3g}" for value in medians.values())])
    show(f"Milliseconds by in-links, {len(graph.links):,} links", ["in-links", "pages", *curves], rows)
    print(f"\nmemory: {speed / 1e9:.1f} GB/s")
    if given.write:
        points = [point for curve in curves.values() for point in curve]
        x = log_axis("in-links of the page", min(x for x, _ in points), max(x for x, _ in points))
        y = log_axis("milliseconds", min(y for _, y in points), max(y for _, y in points))
        note = f"{len(graph.links):,} links, median of up to {QUESTIONS} pages, one thread"
        drawn = [ChartCurve(name, each) for name, each in curves.items()]
        given.write.write_text(chart("Time of a question by the in-links of the page", note, drawn, x, y))


if __name__ == "__main__":
    main()
