"""Kill every job that writes, at every fsync and rename and at random times, and fill its disk; a log of what held.

    python -m tests.faults.trials [--times 40] [--seed 1] [--log docs/faults.md] [JOB]...

After every death `check` must find the store whole and it must hold the old or the new links, never something between;
the same command, run again, must give what an undisturbed run gives, and leave nothing else behind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.faults.dying import count_calls, killed_after, killed_at, moments
from tests.faults.full import Refused, on_a_small_disk
from tests.faults.jobs import Job, jobs, serve_and_kill, trial, undisturbed, with_store

HEAD = """# Fault trials, the last run

`make faults` kills everything that writes and looks at what is left: by SIGKILL before and after every fsync and rename
of the process, and at uniformly random times. After every death the store passes `check` and holds the old or the new
links; the same command, run again, ends as if nothing had happened and leaves no litter. A batch keeps its finished
parts. What native libraries write by themselves (DuckDB's temporary files, search indexes) is reached by the random
times only. Then every job is run on a disk of its own (tmpfs) with random room: it ends with a message that says so,
never by a signal, and what the store holds is proven in the same way.

"""


class Row(NamedTuple):
    """One line of the log."""

    job: str
    how: str
    trials: int
    old: int
    new: int


def at_every_call(job: Job, model: Path, every: int = 1) -> list[Row]:
    """Killed before and after each of its calls (or each `every`-th)."""
    old, new, names, _ = undisturbed(job, model)
    with trial(model) as place:
        calls = count_calls(job.work(place), place.parent / "calls.json")
    rows = []
    for after in (False, True):
        kept: Counter[str] = Counter()
        for number in range(0, len(calls), every):
            with trial(model) as place:
                code = killed_at(job.work(place), number, after)
                if code != -9:
                    raise AssertionError(f"{job.name} was to die at call {number}, and ended with {code}")
                kept[job.prove(place, old, new, names)] += 1
        how = f"{'after' if after else 'before'} each of {len(calls)} calls of fsync and rename"
        rows.append(Row(job.name, how, kept.total(), kept["old"], kept["new"]))
    return rows


def at_random(job: Job, model: Path, times: int, seed: int) -> Row:
    """Killed at uniformly random times of its usual duration."""
    old, new, names, took = undisturbed(job, model)
    kept: Counter[str] = Counter()
    deaths = 0
    for moment in moments(times, took, seed):
        with trial(model) as place:
            deaths += killed_after(job.work(place), moment) < 0
            kept[job.prove(place, old, new, names)] += 1
    ended = f", of which {times - deaths} had ended by themselves" if deaths < times else ""
    return Row(job.name, f"at {times} random times within its {took:.1f} s{ended}", deaths, kept["old"], kept["new"])


def server_at_random(model: Path, times: int, seed: int) -> Row:
    """A server, killed while it answers and the store is added to; `serve_and_kill` proves that the add was whole."""
    for moment in moments(times, 2.0, seed):
        with trial(model) as place:
            serve_and_kill(place, moment)
    return Row("serve", "at random times, under questions, during an add", times, 0, times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials, print a table, write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="build, add, remove, rank, batch, serve; all, if none is given")
    parser.add_argument("--times", type=int, default=40, help="random times for each job")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    chosen = set(options.job)
    rows: list[Row] = []
    started = time.perf_counter()

    def add(make: Callable[[], list[Row]]) -> None:
        for row in make():
            rows.append(row)
            print(f"{row.job:8} {row.trials:4} deaths {row.how}; held the old {row.old}, the new {row.new}", flush=True)

    with tempfile.TemporaryDirectory(prefix="cocite-faults-") as folder:
        model = Path(folder) / "model"
        model.mkdir()
        with_store(model)
        for job in jobs():
            if not chosen or job.name in chosen:
                add(lambda job=job: at_every_call(job, model))  # type: ignore[misc]
                add(lambda job=job: [at_random(job, model, options.times, options.seed)])  # type: ignore[misc]
        if not chosen or "serve" in chosen:
            add(lambda: [server_at_random(model, max(1, options.times // 4), options.seed)])
    names = [job.name for job in jobs() if not chosen or job.name in chosen]
    try:
        full = on_a_small_disk([*names, "--times", max(1, options.times // 2), "--seed", options.seed]) if names else []
        for each in full:
            print(f"{each.job:8} {each.refused:4} of {each.sizes} refused on a full disk", flush=True)
        small = written_full(full)
    except RuntimeError as error:
        small = f"\nNo trial of a full disk: {error}.\n"
    took = time.perf_counter() - started
    if options.log:
        options.log.write_text(HEAD + written(rows, took) + small, encoding="utf-8")


def written_full(rows: list[Refused]) -> str:
    """The table of full disks."""
    lines = ["", "| job | disks of random room | enough is, KiB | refused | then held the old | the new |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    lines += [
        f"| {row.job} | {row.sizes} | {row.enough >> 10:,} | {row.refused} | {row.old} | {row.new} |" for row in rows
    ]
    return "\n".join(lines) + "\n"


def written(rows: list[Row], took: float) -> str:
    """The table of deaths."""
    total = sum(row.trials for row in rows)
    where = f"{time.strftime('%Y-%m-%d')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores"
    head = f"{where}: **{total} deaths, nothing lost, nothing half-written**, {took / 60:.0f} minutes.\n\n"
    lines = ["| job | killed | deaths | then held the old | the new |", "|---|---|---:|---:|---:|"]
    lines += [f"| {row.job} | {row.how} | {row.trials} | {row.old} | {row.new} |" for row in rows]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
