"""Processor time of one computed answer of the service, from the bytes of a request to its JSON, in one thread.

    python bench/answer.py STORE [--other OTHER_SRC] [--judgements J.tsv.gz] [--questions 400] [--rounds 3]

The questions are those of serve.py: judged queries and the 500 best-cited pages, each by Companion and by the default
method, ten results with reasons. With --other, the `src` folder of another version, both take turns in processes of
their own. "Kernels" is the time inside compiled calls, with what Numba does around them; "Python" is the rest: the
interpreter is locked then. "Calls" are Python functions called for an answer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from serve import Mix
from tables import show

HERE = Path(__file__).parents[1] / "src"
QUESTIONS = """
import gc, json, sys, time
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from cocite.http.questions import NORMAL, OperationQuestion
from cocite.operations.pages.related import Related
from cocite.snapshot import Snapshot

web, queries = Snapshot(Path(sys.argv[1])), json.loads(sys.argv[2])
web.open_parts()
edition = web.edition
spent = 0.0


def timed(kernel):
    def call(*arguments):
        global spent
        began = time.thread_time()
        try:
            return kernel(*arguments)
        finally:
            spent += time.thread_time() - began
    return call


def answer(query):
    question = OperationQuestion.read(Related, query.encode())
    question.keys(web)
    return question.work(web, NORMAL)


def passes(work):
    for method, some in queries.items():
        yield method, [work(query) for query in some]


def cost(query):
    began = time.process_time()
    answer(query)
    return time.process_time() - began


def apart(query):
    global spent
    spent, began = 0.0, time.thread_time()
    answer(query)
    return spent, time.thread_time() - began - spent


def calls(query):
    number = 0
    def count(frame, event, argument):
        nonlocal number
        number += event == "call"
    sys.setprofile(count)
    answer(query)
    sys.setprofile(None)
    return number


for _ in passes(answer):  # load kernels, and fill the caches of names
    pass
gc.collect()
gc.freeze()  # as the server does
best = {method: [1e9] * len(some) for method, some in queries.items()}
for _ in range(3):
    for method, times in passes(cost):
        best[method] = list(map(min, best[method], times))
found = {method: {"cpu": times} for method, times in best.items()}
for method, numbers in passes(calls):
    found[method]["calls"] = numbers
for name, module in list(sys.modules.items()):
    if name.startswith("cocite"):
        for key, value in list(vars(module).items()):
            if isinstance(value, Dispatcher) and value.overloads:
                setattr(module, key, timed(value))
for method, times in passes(apart):
    found[method]["kernels"], found[method]["python"] = zip(*times)
print(json.dumps(found))
"""


def measure(source: Path, store: Path, queries: dict[str, list[str]]) -> dict[str, dict[str, list[float]]]:
    """What one process measures with a version, by method."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", QUESTIONS, str(store), json.dumps(queries)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr[-2000:]}")
    found: dict[str, dict[str, list[float]]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--other", type=Path, help="the src folder of another version")
    parser.add_argument("--judgements", type=Path, default=Path("../shared/data/awesome/judgements.dev.tsv.gz"))
    parser.add_argument("--questions", type=int, default=400, help="questions by each method")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    mix, queries = Mix(options.store, options.judgements), dict[str, list[str]]()
    targets = mix.targets()
    while len(queries) < len(mix.methods) or min(map(len, queries.values())) < options.questions:
        query = next(targets).partition("?")[2]
        method = query.partition("&method=")[2].partition("&")[0]
        some = queries.setdefault(method, [])
        if len(some) < options.questions:
            some.append(query)
    sources = {"other": options.other, "this": HERE} if options.other else {"this": HERE}
    rounds = [
        {name: measure(source, options.store, queries) for name, source in sources.items()}
        for _ in range(options.rounds)
    ]
    rows = []
    for method in queries:
        for name in sources:
            cells = [
                statistics.median(statistics.mean(each[name][method][what]) for each in rounds)
                for what in ("cpu", "kernels", "python", "calls")
            ]
            medians = statistics.median(statistics.median(each[name][method]["cpu"]) for each in rounds)
            times = (f"{1e3 * each:.3f}" for each in (cells[0], medians, *cells[1:3]))
            rows.append([method, name, *times, f"{cells[3]:,.0f}"])
    header = ["method", "version", "CPU, ms", "median", "kernels, ms", "Python, ms", "calls"]
    show("One computed answer, means of all questions", header, rows)


if __name__ == "__main__":
    main()
