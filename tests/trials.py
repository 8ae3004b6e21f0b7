"""Run all tests, with those that are too long for `make test`, and log the results.

python -m tests.trials [--log docs/lab/trials.md]
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPARK = ["tests/spark", "tests/test_common_crawl.py"]
PACKAGE = ["tests/test_package.py"]
TRIALS = {
    "Spark: every job against the single machine, a page of a million parents, executors of 1 GB": SPARK,
    "the wheel and the sdist, installed afresh": PACKAGE,
    "all other tests: bounds of all arrays, browsers, notebooks, quality floors, every example of every property": [
        "tests",
        *(f"--ignore={each}" for each in SPARK + PACKAGE),
        *("-n", "logical", "--maxprocesses", "4", "--dist", "worksteal"),
    ],
}
HEAD = """# Long trials, the last run

`make trials` runs all tests, including those that `make test` skips because of their length. [Fault trials](faults.md)
and [fuzzing](fuzzing.md) have their own targets and logs.

"""


def main() -> None:
    """Run all, write the log, and fail if one did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    rows = ["| trial | result | minutes |", "|---|---|---:|"]
    failed = False
    for name, files in TRIALS.items():
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-v", "-rs", "--timeout", "1800", *files]
        code, last = follow(command, os.environ | {"COCITE_LONG": "1"})
        failed |= code != 0 or "passed" not in last  # where Java is missing, all are skipped
        result = re.sub(r" in [\d.]+s.*|=+ ?", "", last).strip()
        rows.append(f"| {name} | {result} | {(time.monotonic() - started) / 60:.0f} |")
    where = f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {os.cpu_count()} cores.\n\n"
    if options.log:
        options.log.write_text(HEAD + where + "\n".join(rows) + "\n", encoding="utf-8")
    sys.exit(failed)


def follow(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command and show its output; return its exit code and last line."""
    last = ""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


if __name__ == "__main__":
    main()
