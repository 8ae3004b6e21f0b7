"""Fuzz every target, one after another, with a log of how much was tried.

python -m tests.fuzz.all [--seconds 60] [--log docs/lab/fuzzing.md]
"""

from __future__ import annotations

import argparse
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.run import CASES
from tests.fuzz.seeds import SEEDS

HEAD = """# Fuzzing, the last run

`make fuzz` feeds every reader of strangers' input with variations of small examples. atheris makes them, guided by code
coverage. A reader may raise only the errors that it documents, and its results are checked. `store` damages the files
of a store and its side data: `check` must find the damage, and every file is read each time. When a failure is fixed,
its input goes to `tests/fuzz/cases`, and every test run tries it again.

`python -m tests.fuzz.growth` has time and memory as oracles: it repeats short pieces in the seeds up to 64 kB. An input
fails if it takes over 1 s + 60 µs per byte of processor time, or over 256 MiB + 2 kB per byte. It found an address of
blanks that took quadratic time. Not tried: inputs of over 64 kB, routes of the HTTP server (`make attack` has those),
and memory of native libraries that give it back before the process is measured.

"""
LONGER = {"store": 5}
"""Times the usual duration: an input takes a tenth of a second and more, because the whole store is read for each."""


def main() -> None:
    """All targets; ends with 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    rows = ["| reader | inputs tried | seconds | cases kept | result |", "|---|---:|---:|---:|---|"]
    failed = 0
    for target in SEEDS:
        seconds = options.seconds * LONGER.get(target, 1)
        command = [sys.executable, "-m", "tests.fuzz.run", target, "--seconds", str(seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        failed += done.returncode != 0
        tried = re.search(r"Done (\d+) runs in (\d+) second", done.stdout)
        cases = len(list((CASES / target).glob("*")))
        result = "nothing failed" if not done.returncode else f"**failed**, ended with {done.returncode}"
        counts = f"{int(tried[1]):,} | {tried[2]}" if tried else "| "
        rows.append(f"| {target} | {counts} | {cases} | {result} |")
        print(rows[-1], flush=True)
        if done.returncode:
            print(done.stdout[-3000:], flush=True)
    where = f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}.\n\n"
    if options.log:
        options.log.write_text(HEAD + where + "\n".join(rows) + "\n", encoding="utf-8")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
