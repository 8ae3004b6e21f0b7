"""Compare two versions of cocite in one run: questions, builds, the service, and the size of the code.

    python bench/versions.py OTHER_SRC [--store STORE] [--plain STORE] [--large STORE] [--data FOLDER] [--rounds 5]
                             [--serve SECONDS]

OTHER_SRC is the `src` folder of the other version; packages that only it needs may follow, after a colon.
`--other-store` and `--other-plain` are the same stores built by it, for versions whose formats or word vectors differ.
Both versions are used through `import cocite`, in processes that take turns; questions are measured in processor time.
× = this version's time ÷ the other's: below 1 this one is faster.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import cycle
from pathlib import Path
from typing import Any

from load import flat_out
from serve import HOST, TIMEOUT, Mix, free_port, processor, running
from tables import show

METHODS = ("auto", "cocitation", "companion", "proximity", "lli", "kleinberg", "walk", "semantic", "block_simrank")
SLOW_METHOD_PAGES = {"semantic": 20, "block_simrank": 10, "kleinberg": 50}
HERE = Path(__file__).parents[1] / "src"
JUDGEMENTS = Path(__file__).parents[2] / "shared" / "data" / "awesome" / "judgements.dev.tsv.gz"
QUESTIONS = """
import json, statistics, sys, time
import cocite
import numpy as np
web, plans = cocite.open(sys.argv[1]), json.loads(sys.argv[2])
degree, medians = web.graph.in_degree, []
for call, explain, count, low, high in plans:
    pages = np.flatnonzero((degree >= low) & (degree < high))
    urls = [web.graph.address(int(page)) for page in np.random.default_rng(1).permutation(pages)[:count]]
    for url in urls[:50]:
        web.related(url, call, k=10, explain=bool(explain))
    times = []
    for url in urls:
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            web.related(url, call, k=10, explain=bool(explain))
            best = min(best, time.process_time() - began)
        times.append(1000 * best)
    medians.append(statistics.median(times))
print(json.dumps(medians))
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
import json, resource, sys, time
began = time.perf_counter()
import cocite
cocite.build([sys.argv[1]], sys.argv[2])
used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([time.perf_counter() - began, sum(each.ru_utime + each.ru_stime for each in used)]))
"""
SERVE = """
import sys
try:
    from cocite.cli import main
except ImportError:
    from cocite.surfaces.cli import main  # 0.1.0
main()
"""


def environment_of(source: Path) -> dict[str, str]:
    """The environment that imports a version."""
    return {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}


def run(source: Path, code: str, *arguments: object) -> list[float]:
    """Run a script with one version; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=environment_of(source), capture_output=True, text=True
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


def serve(source: Path, store: Path, mix: Mix, seconds: float) -> list[float]:
    """Answers a second of a server with one worker, and milliseconds of processor time for each: computed, cached."""
    port, found = free_port(), []
    command = [sys.executable, "-c", SERVE, "serve", "-i", str(store), "--port", str(port)]
    with running(command, port, "/healthz", environment=environment_of(source)) as process:
        few = mix.few()
        asyncio.run(flat_out(HOST, port, mix.targets(), 8, 3.0, TIMEOUT))  # load kernels
        asyncio.run(flat_out(HOST, port, cycle(few), 8, 8.0, TIMEOUT))  # into the cache
        for targets in (mix.targets(), cycle(few)):
            used = processor(process)
            done = asyncio.run(flat_out(HOST, port, targets, 8, seconds, TIMEOUT))
            found += [done.rate, 1e3 * (processor(process) - used) / max(1, done.statuses[200])]
    return found


def compare_builds(other: Path, data: Path, rounds: int) -> list[list[str]]:
    """Build a store in turns: the medians of wall and processor seconds, imports included."""
    times: dict[Path, list[list[float]]] = {other: [], HERE: []}
    with tempfile.TemporaryDirectory(dir=data.parent) as folder:
        store = Path(folder) / "web.cocite"
        for source in (*times, *(source for _ in range(rounds) for source in times)):
            times[source].append(run(source, BUILD, data, store))
            shutil.rmtree(store)
    # The first build of each compiles its kernels.
    before, after = ([statistics.median(each) for each in zip(*kept[1:], strict=True)] for kept in times.values())
    return [[data.name, name, f"{old:.2f}", f"{new:.2f}", ratio(old, new)]
            for name, old, new in zip(("wall", "processor"), before, after, strict=True)]  # fmt: skip


def ratio(before: float, after: float) -> str:
    """This version's figure ÷ the other's."""
    return f"{after / before:.2f} ×"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the src folder of the other version")
    parser.add_argument("--store", type=Path, help="a store with texts")
    parser.add_argument("--other-store", type=Path, help="the same for the other version (default: STORE)")
    parser.add_argument("--plain", type=Path, help="a store without sections and texts")
    parser.add_argument("--other-plain", type=Path, help="the same for the other version (default: PLAIN)")
    parser.add_argument("--serve", type=float, metavar="SECONDS", help="measure the service, as long for each figure")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--large", type=Path, help="a store of links only")
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="sources to build a store of each from")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rows: list[list[Any]] = []
    other_store = asked.other_store or asked.store
    others = {asked.store: other_store, asked.plain: asked.other_plain or asked.plain}
    plans = [(asked.store, call, explain, SLOW_METHOD_PAGES.get(call, 200), least, 1 << 30) for call in asked.methods
             for least in (2, 20) for explain in (1, 0)]  # fmt: skip
    plans += [(asked.plain, "auto", explain, 200, 1, 1 << 30) for explain in (1, 0)]
    plans += [(asked.large, call, 0, 100, *bounds) for call in ("cocitation", "companion", "extended_cocitation", "lli",
              "proximity", "kleinberg") for bounds in ((100, 1000), (2000, 1 << 30))]  # fmt: skip
    for store in dict.fromkeys(plan[0] for plan in plans if plan[0] is not None):
        asking = [plan[1:] for plan in plans if plan[0] == store]
        stores = (others.get(store, store), store)
        before, after = in_turns(asked.other, asked.rounds, QUESTIONS, stores, json.dumps(asking))
        for (call, explain, _, least, _), old, new in zip(asking, before, after, strict=True):
            times = [f"{old:.2f}", f"{new:.2f}", ratio(old, new)]
            rows.append([store.name, call, "yes" if explain else "no", least, *times])
    if rows:
        show("Questions", ["store", "method", "reasons", "in-links ≥", "before, ms", "after, ms", "×"], rows)
    if asked.store is not None:
        counted = [[call, *map(int, run(asked.other, CALLS, other_store, call)), *map(int, run(HERE, CALLS, asked.store,
                   call))] for call in ("auto", "cocitation", "companion")]  # fmt: skip
        show("One question", ["method", "calls before", "files before", "calls", "files"], counted)
    if asked.serve and asked.store is not None:
        mix = Mix(asked.store, JUDGEMENTS)
        served: list[list[list[float]]] = [[], []]
        for _ in range(asked.rounds):
            for some, source, store in zip(served, (asked.other, HERE), (other_store, asked.store), strict=True):
                some.append(serve(source, store, mix, asked.serve))
        names = ("computed answers/s", "ms of processor each", "cached answers/s", "ms of processor each")
        medians = [[statistics.median(each) for each in zip(*some, strict=True)] for some in served]
        figures = [[name, f"{before:.2f}", f"{after:.2f}", ratio(before, after)]
                   for name, before, after in zip(names, *medians, strict=True)]  # fmt: skip
        show("Service, one worker, 8 connections", ["", "before", "after", "after ÷ before"], figures)
    if asked.data:
        built = [row for data in asked.data for row in compare_builds(asked.other, data, asked.rounds)]
        show("Building", ["source", "seconds of", "before", "after", "×"], built)


if __name__ == "__main__":
    main()
