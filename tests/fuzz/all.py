"""Fuzz every target in turn, and log how much was tried in all.

    python -m tests.fuzz.all [--fast] [--seconds 60] [--rounds 1] [--found fuzz-found] [--log docs/lab/fuzzing.md]
        [TARGET]...

The log counts what is in the folder, also of earlier runs; `--rounds 0` only writes it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

from tests.faults.dying import finished, fork
from tests.fuzz.run import CASES, fuzz, fuzz_fast, keep_tried, load_targets
from tests.fuzz.seeds import SEEDS

HEAD = """# Fuzzing, the last run

`make fuzz` feeds every reader of strangers' input with variations of small examples. A reader may raise only the errors
that it documents, and its results are checked. First atheris makes the variations, guided by code coverage, and keeps
those that reach something new. Then these are changed further without guidance, in the same process and without
instrumentation: this tries ten to a hundred times as many.

- `request` is whatever a client may send: bytes go through the connection, the parser, the routes and the answer, in
  one process. Every route has an example. A reply of 500 is a failure, and so is an answer that doesn't come.
- `kernels` changes bits in the arrays of a graph in memory, and asks a method, computes a rank, or runs another
  operation that reads links. It must answer or refuse.
- `layers` does the same with a graph that has layers, most of the time in an array of a layer.
- `store` damages the files of a store with layers and its side data: `check` must find the damage, and every file is
  read each time. `captures` damages a store that keeps all captures, and reads them as of every day.

Time and memory are oracles, too. An input fails if it takes over 1 s + 60 µs per byte of processor time in each of
three tries, or over 256 MiB + 2 kB per byte of memory beyond the peak of the last 256 inputs. One input in 200 has a
short piece repeated up to 64 kB, some up to 1 MB: the column `large` counts inputs of more than 4 kB.

When a failure is fixed, its input goes to `tests/fuzz/cases`, and every test run tries it again.

Not tried: inputs of over 1 MB, several requests at once (`make attack` has those), kernels compiled with bounds checked
(`tests/graph/test_noise.py` has those), and memory of native libraries that take it and give it back in a process of
their own.

"""


def main() -> None:
    """All targets; ends with 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", help=f"{', '.join(SEEDS)}; all, if none is given")
    parser.add_argument("--fast", action="store_true", help="without atheris")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    if options.rounds:
        importlib.import_module("tests.fuzz.targets") if options.fast else load_targets()
    failed, run = 0, fuzz_fast if options.fast else fuzz
    for _ in range(options.rounds):
        for target in options.target or SEEDS:
            log = options.found / "logs" / f"{target}.log"
            if code := finished(fork(partial(run, target, options.seconds, options.found), partial(say_into, log))):
                failed += 1
                if options.fast:
                    keep_tried(target, options.found)
                print(f"{target} ended with {code}:\n{log.read_text(errors='replace')[-3000:]}", flush=True)
    text = table(options.found)
    print(text)
    if options.log:
        where = f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}: "
        options.log.write_text(HEAD + where + text, encoding="utf-8")
    sys.exit(min(failed, 1))


def say_into(log: Path) -> None:
    """Write what this process says to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)


def table(found: Path) -> str:
    """The counts of all runs, and how many inputs failed when they were first tried."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for file in sorted((found / "counts").glob("*.json")):
        about = json.loads(file.read_text())
        sums[about.pop("target")].update(about)
    rows = ["| target | inputs tried | large | megabytes | seconds | failures | cases kept |"]
    rows.append("|---" + "|---:" * 6 + "|")
    for target in SEEDS:
        sum_, cases = sums[target], len(list((CASES / target).glob("*")))
        failures = len(list(found.glob(f"{target}-crash-*")))
        tried = f"{sum_['inputs']:,} | {sum_['large']:,} | {sum_['bytes'] / 1e6:,.0f} | {sum_['seconds']:,.0f}"
        rows.append(f"| {target} | {tried} | {failures} | {cases} |")
    total = sum(each["inputs"] for each in sums.values())
    return f"**{total:,} inputs**.\n\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
