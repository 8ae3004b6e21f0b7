"""Kill every job that writes, cut its power, let its calls fail, fill its disk, change bytes; log the results.

    python -m tests.faults.trials [--part PART]... [--results FILE] [--seed 1] [--log docs/lab/faults.md] [JOB]...

Parts and jobs can run one at a time: the log has the results of all that are in FILE, each with its date.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.computing import compute_all
from tests.faults.damaged import damage_all
from tests.faults.dying import VISIBLE, count_calls, killed_after, killed_at, moments
from tests.faults.failing import Site, fail_all, failing_jobs
from tests.faults.flips import flip_all
from tests.faults.full import on_a_small_disk
from tests.faults.jobs import Job, free_port, jobs, serve_and_kill, trial, undisturbed
from tests.faults.living import WrittenServer, post_trials
from tests.faults.model import with_store
from tests.faults.power import lose_power
from tests.graph.webs import long_lists

HEAD = """# Fault trials, the last run

`make faults` kills every command that writes, cuts its power, fills its disk, lets its calls fail, and changes bytes of
what it has written. Then it checks what remains. The store has data in every array (lists count as long from a few
links on), a stored rank, clicks, keywords, word vectors and a search index. `first` is a build without an old store.

What must hold after each of these: the store passes `check` and has either the old or the new pages and links, with all
their data. No clicks are lost. All other side data belongs to the same pages, or is reported as stale or missing. What
a command has acknowledged is there.

**Kills.** SIGKILL before every fsync, rename and unlink of the process, after every rename, and at uniformly random
times. The same command, run again, ends like an undisturbed run: the content id and the side data are the same, a
search finds the words of new pages and none of removed ones, and no temporary files remain (but a hidden `.part` file
of a killed export). A batch keeps its finished parts. Native libraries write some files by themselves (DuckDB's
temporary files, the search index); only the random times interrupt these.

**Power loss.** A simulated disk drops, reorders and tears whatever was not synced. Each job is recorded once, and
hundreds of crashes are made from the record, a quarter of them after the command had ended. It has found six places
where a name or a file was not synced: descriptions of side data, exports, files of sites, of studies and of runs. After
a crash between the switch of `install` and its clicks, the destination has the new pages without the clicks. They are
still in the store that was copied, and the same command brings them when it is run again.

**Failing calls.** Each call site (the last three lines of our code that lead to the call) that opens, syncs, renames,
removes or maps a file, allocates an array, or starts a process, fails once. The command must end with one line that
says why, or succeed all the same. `site` leaves out a page that it can't read, and says so: this trial lists that as
"did nothing". `build` skips a file or a folder that it can't read, and its summary counts it: the new state.

**Disks of random size.** Every job on its own small disk (tmpfs). It ends with a message about the full disk, never
with a signal.

**Changed bytes.** Bytes of every file are changed, one at a time. `check` finds the change, every question ends with
an answer or an error message, and `add` either fails or gives the same result as on an undamaged store.

**Commands on changed bits.** Bits of every array, of the store, of its layer and of its side data, are changed under
checksums that fit, so that nothing refuses the store at its door. So are the arrays of the history of another store.
Commands that read, compute, export or write then end with an answer
or with one line that says why: no crash, no traceback, no lack of memory with 2 GB more than they have at the start.

**Computing on changed bits.** The same in memory, half of the time with layers: every rank, every method and every
operation that reads links answers or refuses, each trial in a process with limits of time and memory.

What is promised: opening a store verifies its manifest and its smallest arrays, 1 MiB together. `add`, `remove` and
`check` verify every byte. A server verifies every byte in the background after it has opened a store, with at most 1/41
of a core, and before it switches to a new generation. It refuses to answer from damaged arrays, and closes damaged side
data. A command that asks a large store one question may read a changed byte before anybody has verified it.

`add`, `remove` and `clicks` write layers. `merge` is an `add` that merges layers, `compact` folds them in, `history`
and `history_add` keep all captures. `post` writes to a server over HTTP: at every other call of its process that
writes, only that process dies, else the whole server; then another server starts, gets the requests that were not
acknowledged, and must have all. `post_compacting` compacts between requests.

Not tried: a real disk without power, file systems that reorder a rename within one folder, writes by DuckDB and the
search index between two recorded calls (only the state at the next call is known), failing calls inside native
libraries (Arrow, DuckDB, tantivy), and failing writes to an open file other than by a full disk.

"""


MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
"""Faster than a disk, and as good: what a killed process has written stays visible in either."""


class Row(NamedTuple):
    """One line of the log."""

    job: str
    killed: str
    kills: int
    old_state_after: int
    new_state_after: int


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


PARTS = {
    "kills": "Kills",
    "power": "Power loss",
    "failures": "Failing calls",
    "disks": "Disks of random size",
    "bytes": "Changed bytes",
    "commands": "Commands on changed bits",
    "computing": "Computing on changed bits",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials, print tables, write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="the jobs that are tried; all, if none is given")
    parser.add_argument("--part", action="append", choices=PARTS, help="run only these trials; may be repeated")
    parser.add_argument("--times", type=int, default=40, help="random times for each job")
    parser.add_argument("--every", type=int, default=1, help="kill, or fail, at each call of this distance only")
    parser.add_argument("--crashes", type=int, default=6000, help="losses of power, in all")
    parser.add_argument("--flips", type=int, default=20, help="changes of each file")
    parser.add_argument("--rounds", type=int, default=5, help="changes of each array that commands read")
    parser.add_argument("--trials", type=int, default=2000, help="computations on changed bits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="a file with the results of earlier parts, which is added to")
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    known = json.loads(options.results.read_text()) if options.results and options.results.exists() else {}
    with tempfile.TemporaryDirectory(prefix="cocite-faults-", dir=MEMORY) as folder, long_lists():
        model = Path(folder) / "model"
        model.mkdir()
        with_store(model)
        for part in options.part or PARTS:
            started = time.perf_counter()
            about = known[part] = started_again(known.get(part, {}), options.job)
            earlier = about["minutes"]
            tried = {tuple(site) for site in about["sites"]}
            for row in run_part(part, model, options, tried):
                about["sites"] = sorted(tried)
                about["rows"].append(row._asdict() if isinstance(row, tuple) else str(row))
                about["minutes"] = round(earlier + (time.perf_counter() - started) / 60, 1)
                print(row, f"{about['minutes']} minutes", flush=True)
                keep(known, options.results)  # a killed run leaves what it has found
            about["complete"] = not options.job or {job_of(row) for row in about["rows"]} >= names_of(part)
            keep(known, options.results)
    if options.log:
        options.log.write_text(HEAD + written(known), encoding="utf-8")
    sys.exit(any(isinstance(row, str) for about in known.values() for row in about["rows"]))


def started_again(before: dict[str, Any], chosen: list[str]) -> dict[str, Any]:
    """The results of a part, to be added to: without those of the chosen jobs, or empty if all run again."""
    rows = [row for row in before.get("rows", []) if chosen and job_of(row) not in chosen]
    minutes = before["minutes"] if rows else 0.0
    sites = before["sites"] if rows else []  # call sites that need not fail again
    return {"date": time.strftime("%Y-%m-%d"), "complete": False, "minutes": minutes, "rows": rows, "sites": sites}


def job_of(row: dict[str, Any] | str) -> str:
    """The job that a row is about: texts begin with it."""
    return row.partition(",")[0] if isinstance(row, str) else str(next(iter(row.values())))


def names_of(part: str) -> set[str]:
    """The jobs of a part."""
    if part == "failures":
        return {job.name for job in failing_jobs()}
    return {job.name for job in jobs()} | ({"serve", "post", "post_compacting"} if part == "kills" else set())


def keep(known: dict[str, Any], results: Path | None) -> None:
    """Write the results so far, if a file is named."""
    if results:
        results.write_text(json.dumps(known, indent=1))


def run_part(part: str, model: Path, options: argparse.Namespace, tried: set[Site]) -> Iterator[NamedTuple | str]:
    """The rows of one table; texts say what has failed, or why nothing was tried. `tried` are known call sites."""
    chosen, seed = options.job, options.seed
    if part == "kills":
        yield from deaths(model, chosen, options.times, seed, options.every)
    elif part == "power":
        yield from lose_power(model, chosen, options.crashes, seed)
    elif part == "failures":
        yield from fail_all(model, chosen, options.every, tried)
    elif part == "disks":
        try:
            yield from on_a_small_disk([*chosen, "--times", max(1, options.times // 2), "--seed", seed])
        except RuntimeError as error:
            yield f"No trial of a full disk: {error}"
    elif part == "bytes":
        yield from flip_all(model, options.flips, seed)
    elif part == "commands":
        yield from damage_all(model, options.rounds, seed, chosen, options.every)
    else:
        yield from compute_all(options.trials, seed)


def deaths(model: Path, chosen: list[str], times: int, seed: int, every: int) -> Iterator[Row]:
    """Kill every chosen job in every way."""
    makers: list[Callable[[], list[Row]]] = []
    for job in jobs():
        if not chosen or job.name in chosen:
            makers.append(partial(at_every_call, job, model, every))
            makers.append(lambda job=job: [at_random(job, model, times, seed)])  # type: ignore[misc]
    if not chosen or "serve" in chosen:
        makers.append(lambda: [server_at_random(model, max(1, times // 4), seed)])
    names = [name for name in ("post", "post_compacting") if not chosen or name in chosen]
    makers += [partial(written_to, name, model, times, seed, every) for name in names]
    for make in makers:
        yield from make()


def written_to(name: str, model: Path, times: int, seed: int, every: int) -> list[Row]:
    """Kill a server that is written to, which merges layers, or compacts the store in between."""
    written = WrittenServer(model, trial, free_port, name == "post_compacting")
    rows = post_trials(written, times, seed, every)
    return [Row(name, how, kept.total(), kept["old"], kept["new"]) for how, kept in rows]


def written(known: dict[str, Any]) -> str:
    """The results as tables."""
    where = f"Python {sys.version.split()[0]}, {os.cpu_count()} cores"
    texts = []
    for part, title in PARTS.items():
        if part not in known:
            texts.append(f"**{title}**: not run.\n")
            continue
        about, rows = known[part], [row for row in known[part]["rows"] if isinstance(row, dict)]
        said = "".join(f"\n- {row}\n" for row in about["rows"] if isinstance(row, str))
        counted = next(
            (
                name
                for name in ("kills", "crashes", "call_sites", "disks", "flips", "trials")
                if rows and name in rows[0]
            ),
            "",
        )
        total = f"{sum(row[counted] for row in rows):,} {counted.replace('_', ' ')}, " if counted else ""
        ended = "" if about["complete"] else " The run was ended before it had tried everything."
        took = f", {about['minutes']:g} minutes" if about["minutes"] else ""
        texts.append(f"**{title}**: {total}{about['date']}, {where}{took}.{ended}\n{said}")
        if rows:
            texts.append(table(rows))
    return "\n".join(texts)


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a table; numbers are aligned to the right."""
    numbers = [isinstance(value, int) for value in rows[0].values()]
    lines = [
        f"| {' | '.join(name.replace('_', ' ') for name in rows[0])} |",
        "|" + "|".join("---:" if number else "---" for number in numbers) + "|",
    ]
    lines += [f"| {' | '.join(f'{v:,}' if isinstance(v, int) else v for v in row.values())} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
