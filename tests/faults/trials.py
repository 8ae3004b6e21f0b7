"""Kill every job that writes, fill its disk, and change bytes of its files; log the results.

    python -m tests.faults.trials [--times 40] [--flips 20] [--seed 1] [--log docs/lab/faults.md] [JOB]...

After every kill `check` must find no damage, and the store must have the old or the new pages and links, never a
mixture. Its side data must belong to the same pages, or be reported as stale or missing. The same command, run again,
must give the result of an undisturbed run, and leave nothing else behind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults.dying import VISIBLE, count_calls, killed_after, killed_at, moments
from tests.faults.flips import Flipped, flip_all
from tests.faults.full import Refused, on_a_small_disk
from tests.faults.jobs import Job, jobs, serve_and_kill, trial, undisturbed
from tests.faults.model import with_store
from tests.graph.webs import long_lists

HEAD = """# Fault trials, the last run

`make faults` kills every command that writes, and checks what remains. It sends SIGKILL before every fsync, rename and
unlink of the process, after every rename, and at uniformly random times. The store has data in every array (lists
count as long from a few links on), a stored rank, clicks, keywords, word vectors and a search index. `first` is a build
without an old store.

After every kill, the store passes `check` and has either the old or the new pages and links, with all their data. No
clicks are lost. All other side data belongs to the same pages, or is reported as stale or missing. The same command,
run again, ends like an undisturbed run: the content id and the side data are the same, a search finds the words of new
pages and none of removed ones, and no temporary files remain. A batch keeps its finished parts. Native libraries write
some files by themselves (DuckDB's temporary files, the search index); only the random times interrupt these.

Then every job runs on its own small disk (tmpfs) of random size. It ends with a message about the full disk, never with
a signal, and the store is checked in the same way. Then bytes of every file are changed, one at a time. `check` finds
the change, every question ends with an answer or an error message, and `add` either fails or gives the same result as
on an undamaged store.

Other trials have programs of their own.

- `python -m tests.faults.power` simulates power loss: a disk that drops, reorders and tears whatever was not synced.
  Each job is recorded once, and thousands of crashes are made from the record. The store must be old or new, and new if
  the command had ended. It found two missing syncs of side data: a description could outlive its folder.
- `python -m tests.faults.computing` changes bits of arrays in memory and computes ranks, hubs, walks, SimRank and every
  other method, each trial in a process with limits of time and memory. It must answer or refuse, never crash.
- `python -m tests.faults.failing` lets each call that opens, syncs, renames or removes a file, or allocates an array,
  fail once. The command must end with a message, and the store must be old or new.

What is promised: opening a store verifies its manifest and its smallest arrays, 1 MiB together. `add`, `remove` and
`check` verify every byte. A server verifies every byte in the background after it has opened a store, with at most 1/41
of a core, and before it switches to a new generation. It refuses to answer from damaged arrays, and closes damaged side
data. A command that asks a large store one question may read a changed byte before anybody has verified it.

Not tried: a real disk without power, file systems that reorder a rename within one folder, and writes by DuckDB and the
search index between two recorded calls, of which only the state at the next call is known.

"""


MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
"""Faster than a disk, and as good: what a killed process has written stays visible in either."""


class Row(NamedTuple):
    """One line of the log."""

    job: str
    how: str
    trials: int
    old: int
    new: int


def at_every_call(job: Job, model: Path, every: int = 1) -> list[Row]:
    """Kill a job before each of its calls, and after each call with a visible effect (or each `every`-th)."""
    old, new, names, _ = undisturbed(job, model)
    with trial(model) as place:
        calls = count_calls(job.work(place))
    renames = [number for number, name in enumerate(calls) if name in VISIBLE]
    rows = []
    for after, numbers in ((False, list(range(len(calls)))), (True, renames)):
        kept: Counter[str] = Counter()
        for number in numbers[::every]:
            with trial(model) as place:
                code = killed_at(job.work(place), number, after)
                if code != -9:
                    raise AssertionError(f"{job.name} should have been killed at call {number}, but ended with {code}")
                kept[job.prove(place, old, new, names)] += 1
        called = "renames" if after else f"calls of {', '.join(sorted(set(calls)))}"
        which = "each" if every == 1 else f"every {every}th"
        how = f"{'after' if after else 'before'} {which} of {len(numbers)} {called}"
        rows.append(Row(job.name, how, kept.total(), kept["old"], kept["new"]))
    return rows


def at_random(job: Job, model: Path, times: int, seed: int) -> Row:
    """Kill a job at uniformly random times within its usual duration."""
    old, new, names, took = undisturbed(job, model)
    kept: Counter[str] = Counter()
    deaths = 0
    for moment in moments(times, took, seed):
        with trial(model) as place:
            deaths += killed_after(job.work(place), moment) < 0
            kept[job.prove(place, old, new, names)] += 1
    ended = f"; {times - deaths} runs had ended before" if deaths < times else ""
    return Row(job.name, f"at {times} random times within its {took:.1f} s{ended}", deaths, kept["old"], kept["new"])


def server_at_random(model: Path, times: int, seed: int) -> Row:
    """Kill a server while it answers and the store is added to; `serve_and_kill` checks that the add is complete."""
    for moment in moments(times, 2.0, seed):
        with trial(model) as place:
            serve_and_kill(place, moment)
    return Row("serve", "at random times, while it answers and the store is added to", times, 0, times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials, print a table, write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*(job.name for job in jobs()), "serve", "flips"]
    parser.add_argument("job", nargs="*", help=f"{', '.join(every)}; all, if none is given")
    parser.add_argument("--times", type=int, default=40, help="random times for each job")
    parser.add_argument("--every", type=int, default=1, help="kill at each call of this distance only")
    parser.add_argument("--flips", type=int, default=20, help="changes of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    chosen = [name for name in every if not options.job or name in options.job]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cocite-faults-", dir=MEMORY) as folder, long_lists():
        model = Path(folder) / "model"
        model.mkdir()
        with_store(model)
        rows = list(deaths(model, chosen, options.times, options.seed, options.every))
        changed = flip_all(model, options.flips, options.seed) if "flips" in chosen else []
    names = [job.name for job in jobs() if job.name in chosen]
    try:
        full = on_a_small_disk([*names, "--times", max(1, options.times // 2), "--seed", options.seed]) if names else []
        small = table("Disks of random size", full)
    except RuntimeError as error:
        small = f"\nNo trial of a full disk: {error}.\n"
    took = time.perf_counter() - started
    text = written(rows, took) + small + table("Changed bytes", changed)
    print(text)
    if options.log:
        options.log.write_text(HEAD + text, encoding="utf-8")


def deaths(model: Path, chosen: list[str], times: int, seed: int, every: int) -> Iterator[Row]:
    """Kill every chosen job in every way."""
    makers: list[Callable[[], list[Row]]] = []
    for job in jobs():
        if job.name in chosen:
            makers.append(partial(at_every_call, job, model, every))
            makers.append(lambda job=job: [at_random(job, model, times, seed)])  # type: ignore[misc]
    if "serve" in chosen:
        makers.append(lambda: [server_at_random(model, max(1, times // 4), seed)])
    for make in makers:
        for row in make():
            print(
                f"{row.job:8} {row.trials:4} kills {row.how}; old state after {row.old}, new state after {row.new}",
                flush=True,
            )
            yield row


def table(title: str, rows: Sequence[Refused | Flipped]) -> str:
    """The results of full disks, or of changed bytes, as a table."""
    if not rows:
        return ""
    head = [name.replace("_", " ") for name in rows[0]._fields]
    lines = [
        f"\n**{title[:1].upper()}{title[1:]}**\n",
        f"| {' | '.join(head)} |",
        "|---" + "|---:" * (len(head) - 1) + "|",
    ]
    lines += [f"| {row[0]} | {' | '.join(f'{value:,}' for value in row[1:])} |" for row in rows]
    return "\n".join(lines) + "\n"


def written(rows: list[Row], took: float) -> str:
    """The results of kills as a table."""
    total = sum(row.trials for row in rows)
    where = f"{time.strftime('%Y-%m-%d')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores"
    head = f"{where}: **{total} kills, nothing lost, nothing half-written**, {took / 60:.0f} minutes.\n\n"
    lines = ["| job | killed | kills | old state after | new state after |", "|---|---|---:|---:|---:|"]
    lines += [f"| {row.job} | {row.how} | {row.trials} | {row.old} | {row.new} |" for row in rows]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
