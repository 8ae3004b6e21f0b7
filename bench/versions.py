"""Compare two versions of cocite in one run: questions, builds, the service, and the size of the code.

    python bench/versions.py OTHER_SRC [--store STORE] [--large STORE] [--data FOLDER] [--rounds 5]

OTHER_SRC is the `src` folder of the other version. `--other-store` is a copy of STORE for it, for versions whose word
vectors differ: each would rebuild them every time. Both versions are used through `import cocite`, in processes that
take turns. × = this version's time ÷ the other's: below 1 this one is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tables import show

METHODS = ("auto", "cocitation", "companion", "proximity", "lli", "kleinberg", "walk", "semantic", "block_simrank")
SLOW_METHOD_PAGES = {"semantic": 20, "block_simrank": 10, "kleinberg": 50}
HERE = Path(__file__).parents[1] / "src"
QUESTIONS = """
import json, statistics, sys, time
import cocite
store, call, explain, count, low, high = sys.argv[1], sys.argv[2], sys.argv[3] == "1", *map(int, sys.argv[4:7])
web = cocite.open(store)
graph = web.graph
import numpy as np
degree = graph.in_degree
pages = np.flatnonzero((degree >= low) & (degree < high))
pages = np.random.default_rng(1).permutation(pages)[:count]
urls = [graph.address(int(page)) for page in pages]
for url in urls:
    web.related(url, call, k=10, explain=explain)
times = []
for url in urls:
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        web.related(url, call, k=10, explain=explain)
        best = min(best, time.perf_counter() - began)
    times.append(1000 * best)
print(json.dumps([statistics.median(times), statistics.fmean(times)]))
"""
CALLS = """
import json, sys
import cocite
store, call = sys.argv[1:3]
web = cocite.open(store)
graph = web.graph
import numpy as np
page = int(np.argsort(-graph.in_degree.astype(np.int64), kind="stable")[20])
url = graph.address(page)
for _ in range(3):
    web.related(url, call, k=10)
calls, files = 0, set()
def count(frame, event, argument):
    global calls
    if event == "call":
        calls += 1
        if "cocite" in frame.f_code.co_filename:
            files.add(frame.f_code.co_filename)
sys.setprofile(count)
web.related(url, call, k=10)
sys.setprofile(None)
print(json.dumps([calls, len(files)]))
"""
BUILD = """
import json, sys, time
import cocite
began = time.perf_counter()
cocite.build([sys.argv[1]], sys.argv[2])
print(json.dumps([time.perf_counter() - began]))
"""


def run(source: Path, code: str, *arguments: object) -> list[float]:
    """Run a script with one version; return its output."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{source}: {done.stderr[-2000:]}")
    found: list[float] = json.loads(done.stdout)
    return found


def in_turns(
    other: Path, rounds: int, code: str, stores: tuple[Path, Path], *arguments: object
) -> tuple[list[float], list[float]]:
    """The medians of what both versions print, run in turns: the other version's, then this one's."""
    results: tuple[list[list[float]], list[list[float]]] = ([], [])
    for _ in range(rounds):
        for source, store, kept in zip((other, HERE), stores, results, strict=True):
            kept.append(run(source, code, store, *arguments))
    before, after = ([statistics.median(each) for each in zip(*kept, strict=True)] for kept in results)
    return before, after


def ratio(before: float, after: float) -> str:
    """This version's figure ÷ the other's."""
    return f"{after / before:.2f} ×"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the src folder of the other version")
    parser.add_argument("--store", type=Path, help="a store with texts")
    parser.add_argument("--other-store", type=Path, help="the same for the other version (default: STORE)")
    parser.add_argument("--large", type=Path, help="a store of links only")
    parser.add_argument("--data", type=Path, help="page records to build a store from")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rows: list[list[Any]] = []
    other_store = asked.other_store or asked.store
    plans = [(asked.store, call, explain, SLOW_METHOD_PAGES.get(call, 200), 20, 1 << 30) for call in METHODS
             for explain in (1, 0)]  # fmt: skip
    plans += [(asked.large, call, 0, 100, *bounds) for call in ("cocitation", "companion", "extended_cocitation", "lli",
              "proximity", "kleinberg") for bounds in ((100, 1000), (2000, 1 << 30))]  # fmt: skip
    for store, call, explain, *rest in plans:
        if store is not None:
            stores = (other_store if store == asked.store else store, store)
            before, after = in_turns(asked.other, asked.rounds, QUESTIONS, stores, call, explain, *rest)
            rows.append([store.name, call, "yes" if explain else "no", rest[1], f"{before[0]:.2f}", f"{after[0]:.2f}",
                         ratio(before[0], after[0])])  # fmt: skip
    show("Questions", ["store", "method", "reasons", "in-links ≥", "before, ms", "after, ms", "×"], rows)
    if asked.store is not None:
        counted = [[call, *map(int, run(asked.other, CALLS, other_store, call)), *map(int, run(HERE, CALLS, asked.store,
                   call))] for call in ("auto", "cocitation", "companion")]  # fmt: skip
        show("One question", ["method", "calls before", "files before", "calls", "files"], counted)
    if asked.data is not None:
        folder = Path(tempfile.mkdtemp(dir=asked.data.parent))
        try:
            times: dict[Path, list[float]] = {asked.other: [], HERE: []}
            for number in range(asked.rounds):
                for source, kept in times.items():
                    store = folder / f"{number}.cocite"
                    kept += run(source, BUILD, asked.data, store)
                    shutil.rmtree(store)
            before_, after_ = (statistics.median(each) for each in times.values())
            show(
                "Building",
                ["before, s", "after, s", "×"],
                [[f"{before_:.1f}", f"{after_:.1f}", ratio(before_, after_)]],
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
