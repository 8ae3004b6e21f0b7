"""How fast the methods are compared with other programs that count the same, on two threads, and in how much memory.

    python bench/related.py STORE [SMALLER ...]

Everything is warm, and on one thread unless a table says otherwise. Milliseconds are processor time. Rivals of
Cocitation count the parents that a page shares with every other page, from all parents and whole pages; so does cocite
in this comparison, and the counts must be equal. Both then take the ten pages that share most. Passes over the
questions take turns. Loading isn't measured. igraph needs the most memory to load, and uses the first store that
fits. The smaller stores also show whether the memory of a question grows with the store.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for LLI's eigenvectors; read when NumPy and SciPy are loaded

import numpy as np
import psutil

from cocite.graph.store import Graph
from cocite.kernels.related.hubs_authorities import Edges
from cocite.related.methods import Method, companion, method
from cocite.related.neighbourhood.hits import edges_among, iterate
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import GraphView
from cocite.web import Web
from related_rivals import (
    PLAIN,
    Counts,
    Rival,
    cocite_itself,
    digraph,
    duckdb_join,
    igraph_cocitation,
    matrices,
    scipy_product,
    scipy_rows,
)
from tables import show

METHODS = ("cocitation", "companion", "extended_cocitation", "lli", "proximity", "kleinberg")
IN_1999 = {"companion": "109", "cocitation": "195"}  # mean ms of 50 and 58 pages, Dean & Henzinger 1999, §4.3
GROUPS = {"2,000 or more": (2000, 1 << 32), "100 to 1,000": (100, 1000)}
QUESTIONS, TIMES, MORE_TIMES, TOP = 400, 3, 7, 10
IGRAPH_NEEDS = 200  # bytes a link while it loads: 190 were measured
Rows = list[list[object]]


def questions(graph: Graph, group: str, most: int = QUESTIONS) -> list[int]:
    """Pages with a range of in-links, a random choice that is always the same."""
    least, greatest = GROUPS[group]
    fitting = np.flatnonzero((graph.in_degree >= least) & (graph.in_degree <= greatest))
    chosen: list[int] = np.random.default_rng(1).permutation(fitting)[:most].tolist()
    return chosen


def grouped(graph: Graph, most: int = QUESTIONS) -> Iterator[tuple[str, list[int]]]:
    """The pages of each group that the store has any of."""
    for group in GROUPS:
        if pages := questions(graph, group, most):
            yield group, pages


def ask(web: Web, how: Method, page: int) -> Scores:
    """One question, answered as far as the first ten."""
    scores = how.relate(web, [page])
    for _ in islice(scores.ranked(web.graph.in_degree, TOP, web.graph.order), TOP):
        pass
    return scores


def milliseconds(work: Callable[[int], object], pages: Sequence[int], times: int = TIMES) -> list[float]:
    """The processor time of each page: the median of several passes over all pages, after one that isn't measured."""
    return in_turns([work], pages, times)[0]


def in_turns(works: Sequence[Callable[[int], object]], pages: Sequence[int], times: int = TIMES) -> list[list[float]]:
    """`milliseconds` of several kinds of work, one pass of each after the other."""
    passes: list[list[list[float]]] = [[] for _ in works]
    for _ in range(times + 1):
        for work, done in zip(works, passes, strict=True):
            taken = []
            for page in pages:
                start = time.process_time()
                work(page)
                taken.append((time.process_time() - start) * 1e3)
            done.append(taken)
    return [[statistics.median(each) for each in zip(*done[1:], strict=True)] for done in passes]


def speed(web: Web, most: int = QUESTIONS) -> Rows:
    """A row for each method and group of pages."""
    rows: Rows = []
    for name in METHODS:
        how = method(name)
        for group, pages in grouped(web.graph, most):
            taken = milliseconds(partial(ask, web, how), pages)
            scores = [how.relate(web, [page]) for page in pages]
            sizes = [f"{np.median([len(each.pages) for each in scores]):,.0f}"]
            for fact in ("edges", "rounds"):
                known = [each.facts[fact] for each in scores if fact in each.facts]
                sizes.append(f"{np.median(known):,.0f}" if known else "")
            times = [f"{np.median(taken):.2f}", f"{np.percentile(taken, 99):.2f}"]
            rows.append([name, group, len(pages), *times, IN_1999.get(name, ""), *sizes])
    return rows


# --------------------------------------------------------------------------------------------------------------- rivals


def best(of: Rival, page: int) -> list[tuple[int, int]]:
    """The ten pages that share most parents with a page."""
    pages, counts = of.counts(page)
    first = np.argpartition(counts, -min(TOP + 1, len(counts)))[-TOP - 1 :]  # the page itself may be one
    first = first[np.argsort(-counts[first])]
    found = list(zip(pages[first].tolist(), counts[first].tolist(), strict=True))
    return [each for each in found if each[0] != page][:TOP]


def check_same(page: int, one: Counts, other: Counts) -> None:
    """Whatever the order, both must have the same pages with the same counts."""
    sides = []
    for pages, counts in (one, other):
        order = np.argsort(pages)
        order = order[(pages[order] != page) & (counts[order] > 0)]
        sides.append((pages[order], counts[order]))
    if not all(np.array_equal(a, b) for a, b in zip(*sides, strict=True)):
        raise AssertionError(f"page {page}: the counts differ")


def race(web: Web, rival: Rival) -> Rows:
    """A row for each group of pages: a rival's time and ours for the same questions, after comparing all counts.

    The last columns are the method of that name, which reads only 2,000 parents and windows of 8 links.
    """
    own, own_way, rows = cocite_itself(web), method(PLAIN), Rows()
    for group, pages in grouped(web.graph, rival.most):
        for page in pages:
            check_same(page, own.counts(page), rival.counts(page))
        times = MORE_TIMES if rival.most > 10 else 1
        works = (partial(best, rival), partial(ask, web, own_way), partial(ask, web, method("cocitation")))
        its, mine, short = (float(np.median(each)) for each in in_turns(works, pages, times))
        figures = [f"{its:.2f}", f"{mine:.2f}", f"{its / mine:.2f}", f"{short:.2f}", f"{its / short:.2f}"]
        rows.append([rival.name, f"{len(web.graph.links):,}", group, len(pages), *figures])
    return rows


def races(web: Web, smaller: Sequence[Web]) -> Rows:
    """All rivals that count."""
    links, into = matrices(web.graph)
    rows = race(web, scipy_product(links, into)) + race(web, scipy_rows(links, into))
    with duckdb_join(links, into) as rival:
        rows += race(web, rival)
    del links, into, rival
    gc.collect()
    room = psutil.virtual_memory().available // IGRAPH_NEEDS
    fitting = next((each for each in (web, *smaller) if len(each.graph.links) <= room), None)
    return rows + (race(fitting, igraph_cocitation(fitting.graph)) if fitting else [])


def vicinity(web: Web, page: int) -> Edges:
    """The graph that Companion iterates on."""
    params = method("companion").params
    view = GraphView(web.graph, [page], params)
    around = companion.gather(view, page, params)
    return edges_among(view, around.pages, around.parents)


def hits(web: Web, most: int = 10) -> Rows:
    """networkx on the same vicinity graphs, every edge counting 1, after comparing the authorities."""
    import networkx as nx

    rows: Rows = []
    for group, pages in grouped(web.graph, most):
        edges = {page: vicinity(web, page) for page in pages}
        made = {page: digraph(edges[page]) for page in pages}
        for page in pages:
            check_alike(page, edges[page], nx.hits(made[page])[1])
        contests: dict[str, Callable[[int], object]] = {
            "cocite, a whole Companion query": partial(ask, web, method("companion")),
            "cocite, iteration alone": lambda page, of=edges: iterate(of[page], weighted=False, rounds=200),  # type: ignore[misc]
            "networkx, DiGraph from edges, hits": lambda page, of=edges: nx.hits(digraph(of[page])),  # type: ignore[misc]
            "networkx, hits alone": lambda page, of=made: nx.hits(of[page]),  # type: ignore[misc]
        }
        taken = {name: float(np.median(milliseconds(work, pages))) for name, work in contests.items()}
        whole = next(iter(taken.values()))
        rows += [[name, group, len(pages), f"{each:.2f}", f"{each / whole:.2f}"] for name, each in taken.items()]
    return rows


def check_alike(page: int, edges: Edges, theirs: dict[int, float]) -> None:
    """The authorities must point the same way, as far as iterations that stop at 1e-8 can."""
    mine = iterate(edges, weighted=False, rounds=1000).authorities
    values = np.array([theirs.get(node, 0.0) for node in range(len(mine))])
    if values @ mine < (1 - 1e-6) * np.linalg.norm(values) * np.linalg.norm(mine):
        raise AssertionError(f"page {page}: the authorities differ")


# ------------------------------------------------------------------------------------------------------ threads, memory


def threads(web: Web, most: int = QUESTIONS, times: int = 5) -> Rows:
    """Questions a second on one thread and on two; runs take turns, the best of each counts.

    One by one, Python's work between kernels holds its lock; `batch` sends many at once.
    """
    rows: Rows = []

    def many(how: Method, part: Sequence[int]) -> None:
        how.best_of_each(web, np.array(part, np.uint32), TOP)

    def one_by_one(how: Method, part: Sequence[int]) -> None:
        for page in part:
            ask(web, how, page)

    for name, work in (("cocitation", one_by_one), ("cocitation, many at once", many), ("companion", one_by_one)):
        how = method(name.partition(",")[0])
        for group, pages in grouped(web.graph, most):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(times):
                for count, taken in seconds.items():
                    with ThreadPoolExecutor(count) as pool:
                        start = time.perf_counter()
                        list(pool.map(partial(work, how), [pages[i : i + 20] for i in range(0, len(pages), 20)]))
                        taken.append(time.perf_counter() - start)
            one, two = (len(pages) / min(taken) for taken in seconds.values())
            rows.append([name, group, len(pages), f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}"])
    return rows


def peak_growth(work: Callable[[], object]) -> int:
    """How many KiB more are in memory at the peak of a piece of work than before; Linux only.

    All allocations count, compiled code's too. The work runs twice, so that the store is in memory before.
    """
    work()
    ctypes.CDLL(None).malloc_trim(0)  # else what was freed before is used again and not seen
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.M)
    if found is None:
        raise SystemExit(f"/proc/self/status has no {field}: memory can be measured on Linux only")
    return int(found[1])


def memory(webs: Sequence[Web], most: int = 100) -> Rows:
    """The peak memory of a question, on stores of several sizes."""
    rows: Rows = []
    for name in METHODS:
        how = method(name)
        for web in webs:
            pages = questions(web.graph, "100 to 1,000", most)
            grown = [peak_growth(partial(ask, web, how, page)) for page in pages]
            if grown:
                figures = [f"{np.median(grown):,.0f}", f"{max(grown):,}"]
                rows.append([name, f"{len(web.graph.links):,}", len(pages), *figures])
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("smaller", nargs="*", help="smaller stores, for igraph and to compare memory with")
    parser.add_argument("--no-rivals", action="store_true", help="only the methods' own times, and threads")
    options = parser.parse_args()
    web, smaller = Web(options.store), [Web(path) for path in options.smaller]
    print(f"{web.graph.pages:,} pages, {len(web.graph.links):,} links")
    asked = ["in-links", "questions"]
    times = ["ms, median", "p99", "1999, mean", "nodes", "edges", "rounds"]
    show(f"Methods, one thread, first {TOP}", ["method", *asked, *times], speed(web))
    if not options.no_rivals:
        show(
            "Parents in common with every page, all counts the same",
            ["rival", "links", *asked, "ms, median", "cocite, the same", "ratio", "cocitation", "ratio"],
            races(web, smaller),
        )
        show("HITS on Companion's vicinity graph", ["program", *asked, "ms, median", "Companion = 1"], hits(web))
    show("Threads, questions a second", ["method", *asked, "one thread", "two", "ratio"], threads(web))
    show(
        "Memory of a question at its peak, pages with 100 to 1,000 in-links",
        ["method", "links", "questions", "KiB, median", "max"],
        memory([web, *smaller]),
    )


if __name__ == "__main__":
    main()
