"""PageRank of a store: seconds to the same residual, and memory, for cocite, networkit, igraph and scikit-network.

    python bench/ranks.py STORE [--times 3]

Every program runs in a process of its own, one after another, on all cores that it can use; loading the links into it
is not measured. Then SciPy applies one step of the power iteration to its scores, which sum to 1: the residual is the
sum of absolute changes. Programs with a tolerance get the loosest one that leads below RESIDUAL.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tables import show

RESIDUAL = 1e-8
FOLLOW = 0.85

Scores = NDArray[np.float64]
Run = Callable[[], tuple[Scores, int]]


def export(store: str, folder: Path) -> None:
    """The links as arrays that rivals can load."""
    from cocite.graph.store import Graph

    graph = Graph(store)
    targets = np.lib.format.open_memmap(folder / "targets.npy", "w+", np.uint32, (len(graph.links),))  # type: ignore[no-untyped-call]
    done = 0
    for _, _, links in graph.iter_links():
        targets[done : done + len(links.targets)] = links.targets
        done += len(links.targets)
    np.save(folder / "degree.npy", graph.out_degree)


def load(folder: Path) -> tuple[int, NDArray[np.uint32], NDArray[np.uint32]]:
    """(Pages, links out of each page, the pages they lead to)."""
    degree = np.load(folder / "degree.npy")
    return len(degree), degree, np.load(folder / "targets.npy")


def matrix(folder: Path) -> Any:
    """Row = source, column = target, of ones."""
    from scipy.sparse import csr_matrix

    pages, degree, targets = load(folder)
    rows = np.append(0, np.cumsum(degree, dtype=np.int64)).astype(np.int32)
    return csr_matrix((np.ones(len(targets)), targets.astype(np.int32), rows), shape=(pages, pages))


def ours(store: str, _: Path) -> Run:
    """cocite, from the encoded links."""
    from cocite.graph.store import Graph
    from cocite.related import ranks

    graph, rank = Graph(store), ranks.rank(f"pagerank(tolerance={RESIDUAL})")

    def run() -> tuple[Scores, int]:
        found = rank.compute(graph)
        return found.values / graph.pages, found.rounds

    return run


def networkit(_: str, folder: Path) -> Run:
    """networkit's power iteration, on all cores."""
    import networkit as nk

    pages, degree, targets = load(folder)
    sources = np.repeat(np.arange(pages, dtype=np.uint64), degree)
    graph = nk.GraphFromCoo((sources, targets.astype(np.uint64)), n=pages, directed=True)
    assert graph.numberOfEdges() == len(targets)
    del sources, targets

    def run() -> tuple[Scores, int]:
        how = nk.centrality.PageRank(
            graph, FOLLOW, RESIDUAL, distributeSinks=nk.centrality.SinkHandling.DistributeSinks
        )
        how.norm = nk.centrality.Norm.L1_NORM
        how.run()
        return np.array(how.scores()), how.numberOfIterations()

    return run


def igraph(_: str, folder: Path) -> Run:
    """igraph's PRPACK, Gauss-Seidel on one core; its tolerance of 1e-10 cannot be changed."""
    import igraph as ig

    pages, degree, targets = load(folder)
    edges = np.empty((len(targets), 2), np.int64)
    edges[:, 0] = np.repeat(np.arange(pages, dtype=np.int64), degree)
    edges[:, 1] = targets
    graph = ig.Graph(n=pages, edges=edges, directed=True)
    del edges, targets
    return lambda: (np.array(graph.pagerank(damping=FOLLOW)), 0)


def scikit_network(_: str, folder: Path) -> Run:
    """scikit-network's power iteration, on one core. It treats dead ends differently: its scores aren't PageRank's."""
    from sknetwork.ranking import PageRank

    links = matrix(folder)
    return lambda: (PageRank(FOLLOW, "piteration", 1000, RESIDUAL).fit_predict(links), 0)


def scikit_network_bicgstab(_: str, folder: Path) -> Run:
    """scikit-network's other solver, on one core; its tolerance is of the 2-norm, and this one is loose enough."""
    from sknetwork.ranking import PageRank

    links = matrix(folder)
    return lambda: (PageRank(FOLLOW, "bicgstab", 1000, 1e-12).fit_predict(links), 0)


PROGRAMS: dict[str, Callable[[str, Path], Run]] = {
    "cocite": ours,
    "networkit": networkit,
    "igraph": igraph,
    "scikit-network": scikit_network,
    "scikit-network, bicgstab": scikit_network_bicgstab,
}


def status(field: str) -> int:
    """A figure of this process in KiB."""
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.M)
    assert found is not None
    return int(found[1])


def measure(name: str, store: str, folder: Path, times: int) -> None:
    """Run one program in this process; print the result as JSON."""
    run = PROGRAMS[name](store, folder)
    if name == "cocite":
        run()  # compiled now, and the store in memory
    loaded = status("RssAnon")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    took, worked = [], []
    for _ in range(times):
        start, working = time.perf_counter(), time.process_time()
        values, rounds = run()
        took.append(time.perf_counter() - start)
        worked.append(time.process_time() - working)
    np.save(folder / "scores.npy", values)
    memory = {"loaded": loaded, "grown": status("VmHWM") - before}
    print(json.dumps({"seconds": took, "worked": worked, "rounds": rounds, **memory}))


def residual(into: Any, degree: NDArray[np.uint32], scores: Scores) -> float:
    """The sum of absolute changes in one more step of the power iteration."""
    pages = len(scores)
    scores = scores / scores.sum()
    stepped = FOLLOW * (into @ (scores / np.maximum(degree, 1)))
    stepped += (FOLLOW * scores[degree == 0].sum() + 1 - FOLLOW) / pages
    return float(np.abs(stepped - scores).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), help="some of the programs")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], options.store, Path(options.measure[1]), options.times)
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export(options.store, folder)
        pages, degree, targets = load(folder)
        for program in options.only:
            child = [sys.executable, __file__, options.store, "--times", str(options.times), "--measure", program, name]
            done = subprocess.run(child, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            into = matrix(folder).T.tocsr()
            left = residual(into, degree, np.load(folder / "scores.npy"))
            del into
            times = [f"{min(found['seconds']):.1f}", f"{max(found['seconds']):.1f}", f"{min(found['worked']):.1f}"]
            memory = [f"{found[part] / 1024:,.0f}" for part in ("loaded", "grown")]
            rows.append([program, *times, found["rounds"] or "", f"{left:.1e}", *memory])
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    head = [
        "program",
        "s, best",
        "worst",
        "of all cores",
        "rounds",
        "residual",
        "MiB before",
        "MiB more at peak",
    ]
    show(f"PageRank, {pages:,} pages, {len(targets):,} links, {options.times} runs each", head, rows)


if __name__ == "__main__":
    main()
