"""From a fresh checkout to the first answer: `python bench/first_answer.py [OTHER …] [--write FILE]`.

Downloads the libraries, copies the checkout, then does what its `make demo` does: makes a virtual environment, installs
the libraries, runs `cocite demo`. Then it asks again. OTHER are checkouts of other versions, measured in the same run,
in turns. Nothing is compiled beforehand in any of the copies. Downloads are timed apart: they depend on the network.
Seconds are wall and processor time (user + system): the latter changes less when other programs run. Of repeated
commands the fastest run counts. `--wheels` keeps the downloaded libraries for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
RUNS = 7
SIZES = """
import importlib.metadata as m, json
def size(d): return sum(p.stat().st_size for f in d.files or () if (p := d.locate_file(f)).is_file())
print(json.dumps({d.name.lower().replace('_', '-'): [size(d), d.requires or []] for d in m.distributions()}))
"""


def timed(command: Sequence[str | Path], **options: object) -> tuple[float, float]:
    """Wall and processor seconds of a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    found = ended - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(*command[:6], f"…: {found[0]:.1f} s, {found[1]:.1f} s of processor time", file=sys.stderr, flush=True)
    return found


def download(checkouts: Sequence[Path], wheels: Path, python: str) -> tuple[str, float, float]:
    """Download the libraries of all checkouts."""
    needed: list[str | Path] = [*checkouts, "hatchling", "editables"]
    times = [timed([python, "-m", "pip", "download", "-q", "-d", wheels, each]) for each in needed]
    return "download the libraries", sum(wall for wall, _ in times), sum(cpu for _, cpu in times)


def steps(root: Path, place: Path, wheels: Path, python: str) -> list[tuple[str, float, float]]:
    """Every step from a checkout to the first answer, and further answers, with their seconds."""
    checkout, venv = place / "cocite", place / "cocite" / ".venv"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "data")
    shutil.copytree(root, checkout, ignore=ignored)
    home = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"), "PIP_NO_INPUT": "1", "PYTHON": python}
    home |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "NUMBA_CACHE_DIR"):
        home.pop(name, None)
    run = {"env": home, "cwd": checkout}
    cocite = venv / "bin" / "cocite"
    found = [("make the virtual environment", *timed(["make", "-s", venv.relative_to(checkout) / ".created"], **run))]
    found.append(("install the libraries", *timed(["make", "-s", venv.relative_to(checkout) / ".installed"], **run)))
    found.append(("cocite demo, the first time", *timed([cocite, "demo"], **run)))
    found.append(("all of these", sum(wall for _, wall, _ in found), sum(cpu for *_, cpu in found)))
    store = next((place / "cache" / "cocite").glob("sample-*.cocite"))
    for name, command in (
        ("cocite related nytimes.com, warm", ["related", "nytimes.com", "-i", store]),
        ("cocite --help", ["--help"]),
        ("cocite related --help", ["related", "--help"]),
    ):
        times = [timed([cocite, *command], env=home, cwd=place) for _ in range(RUNS)]
        found.append((name, min(wall for wall, _ in times), min(cpu for _, cpu in times)))
    return found


def measured(
    checkouts: Sequence[Path], place: Path, wheels: Path, python: str, rounds: int
) -> list[list[tuple[str, float, float]]]:
    """The steps of each checkout, measured in turns: the medians."""
    rows: list[list[list[tuple[str, float, float]]]] = [[] for _ in checkouts]
    for number in range(rounds):
        for at, root in enumerate(checkouts):
            folder = place / f"{at}-{number}"
            folder.mkdir()
            rows[at].append(steps(root, folder, wheels, python))
            if at or number:  # the first one's environment is looked at below
                shutil.rmtree(folder)
    return [
        [(same[0][0], median(wall for _, wall, _ in same), median(cpu for _, _, cpu in same))
         for same in zip(*runs, strict=True)] for runs in rows
    ]  # fmt: skip


def dependencies(place: Path) -> list[tuple[str, float, float]]:
    """Direct dependencies with their size in MB, alone and with what only they need."""
    python = place / "cocite" / ".venv" / "bin" / "python"
    sizes: dict[str, tuple[int, list[str]]] = json.loads(subprocess.check_output([python, "-c", SIZES], text=True))
    needs = {
        name: {canonical(each) for each in requires if "extra ==" not in each} for name, (_, requires) in sizes.items()
    }
    direct = sorted(needs["cocite"] & set(sizes))

    def reached(roots: set[str]) -> set[str]:
        seen: set[str] = set()
        while roots:
            seen |= roots
            roots = {other for each in roots for other in needs.get(each, ()) if other in sizes} - seen
        return seen

    found = []
    for name in direct:
        only = reached({name}) - reached(set(direct) - {name})
        found.append((name, sizes[name][0] / 1e6, sum(sizes[each][0] for each in only) / 1e6))
    return sorted(found, key=lambda row: -row[2])


def canonical(requirement: str) -> str:
    """The name of a requirement."""
    name = requirement.split(";")[0].strip()
    for mark in "[<>=!~ (":
        name = name.split(mark)[0]
    return name.lower().replace("_", "-")


def report(
    names: Sequence[str], steps: Sequence[list[tuple[str, float, float]]], downloaded: tuple[str, float, float],
    sizes: list[tuple[str, float, float]], whole: float,
) -> str:  # fmt: skip
    """The results as a page."""
    lines = ["# From a fresh checkout to the first answer", ""]
    lines += [
        f"Made by `python bench/first_answer.py` on {os.cpu_count()} cores. Commands are the fastest of {RUNS} runs."
    ]
    lines += ["Processor time is user + system, of all processes.", ""]
    head = [f"{name}: {kind}" for kind in ("wall s", "processor s") for name in names]
    lines += [f"| step | {' | '.join(head)} |", "|---|" + "---:|" * len(head)]
    for same in zip(*steps, strict=True):
        figures = [f"{each[at]:.2f}" for at in (1, 2) for each in same]
        lines.append(f"| {same[0][0]} | {' | '.join(figures)} |")
    lines += ["", f"Downloading the libraries took {downloaded[1]:.0f} s, and {downloaded[2]:.1f} s of processor time."]
    lines += ["", f"The virtual environment has {whole:,.0f} MB. What each dependency costs:", ""]
    lines += ["| dependency | MB | MB that go without it |", "|---|---|---|"]
    lines += [f"| {name} | {own:.1f} | {only:.1f} |" for name, own, only in sizes]
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print, and perhaps write a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("others", type=Path, nargs="*", metavar="OTHER", help="checkouts of other versions")
    parser.add_argument("--write", type=Path, help="also write a page of Markdown")
    parser.add_argument("--wheels", type=Path, help="folder of the downloaded libraries; not downloaded if it exists")
    parser.add_argument("--rounds", type=int, default=1, help="number of runs of each version")
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    checkouts = [ROOT, *(other.resolve() for other in given.others)]
    with tempfile.TemporaryDirectory(prefix="cocite-first-") as folder:
        place = Path(folder)
        wheels = (given.wheels or place / "wheels").resolve()
        downloaded = ("", 0.0, 0.0) if wheels.is_dir() else download(checkouts, wheels, given.python)
        found = measured(checkouts, place, wheels, given.python, given.rounds)
        first = place / "0-0"
        whole = sum(file.stat().st_size for file in (first / "cocite" / ".venv").rglob("*") if file.is_file()) / 1e6
        page = report([each.name for each in checkouts], found, downloaded, dependencies(first), whole)
    print(page)
    if given.write:
        given.write.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
