"""What an identity that nobody can forge costs: builds, look-ups and questions of two versions, in turns.

    python bench/identity.py OTHER_SRC DATA [--rounds 5] [--anchors] [--no-questions]

OTHER_SRC is the `src` folder of the version before. Seconds are those of the processor, of all threads: on a machine
that others use too, they vary less than those of the clock, which are shown as well. × = after ÷ before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tables import show

HERE = Path(__file__).parents[1] / "src"
BUILD = """
import json, os, sys, time
from pathlib import Path
from cocite.graph.build.passes import BuildOptions, build
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
data, out, anchors = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "anchors"
report, options = ReadReport(), BuildOptions(anchors=anchors, text=anchors, threads=2)
used = sum(os.times()[:4])
built = build([open_source(data, report)], out, report, options)
print(json.dumps({"build, processor s": sum(os.times()[:4]) - used, "build, clock s": built.seconds}))
"""
QUESTIONS = """
import json, statistics, sys, time
import numpy as np
import cocite
web = cocite.open(sys.argv[1])
graph, random = web.graph, np.random.default_rng(1)
urls = [graph.address(int(page)) for page in random.permutation(graph.pages)[:20_000]]

def best(work, rounds):
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)

for url in urls[:3000]:
    graph.get(url)
found = {"look-up, µs": best(lambda: [graph.get(url) for url in urls], 5) / len(urls) * 1e6}
asked = [graph.address(int(page)) for page in random.permutation(np.flatnonzero(graph.in_degree[:] >= 20))[:60]]
for call in ("cocitation", "companion", "proximity", "extended_cocitation"):
    for url in asked:
        web.related(url, call, k=10, explain=False)
    times = [best(lambda: web.related(url, call, k=10, explain=False), 4) for url in asked]
    found[f"{call}, ms"] = statistics.median(times) * 1e3
print(json.dumps(found))
"""


def run(source: Path, code: str, *arguments: object) -> dict[str, float]:
    """Run a script with one version; return its output."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the src folder of the version before")
    parser.add_argument("data", help="page records")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--anchors", action="store_true", help="keep texts too")
    parser.add_argument("--no-questions", action="store_true")
    asked = parser.parse_args()
    results: dict[Path, list[dict[str, float]]] = {asked.other: [], HERE: []}
    with tempfile.TemporaryDirectory(prefix="cocite-identity-") as folder:
        for number in range(asked.rounds + 1):  # the first compiles, and doesn't count
            for source, kept in results.items():
                store = Path(folder) / f"{source is HERE}-{number}.cocite"
                found = run(source, BUILD, asked.data, store, "anchors" if asked.anchors else "")
                found |= {} if asked.no_questions else run(source, QUESTIONS, store)
                kept += [found] if number else []
    rows: list[list[Any]] = []
    for name in results[HERE][0]:
        before, after = (statistics.median(each[name] for each in kept) for kept in results.values())
        rows.append([name, f"{before:.2f}", f"{after:.2f}", f"{after / before:.3f}"])
    show(f"{asked.data}, medians of {asked.rounds} rounds", ["", "before", "after", "×"], rows)


if __name__ == "__main__":
    main()
