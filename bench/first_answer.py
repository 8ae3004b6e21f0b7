"""From a fresh checkout to the first answer: `python bench/first_answer.py [--write docs/lab/first-answer.md]`.

Copies the checkout, makes a virtual environment, downloads the libraries, installs them, runs `cocite demo`, then asks
again. Downloads are timed apart: they depend on the network. Seconds are wall and processor time (user + system): the
latter changes less when other programs run. Of repeated commands the fastest run counts.
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


def steps(place: Path, python: str) -> list[tuple[str, float, float]]:
    """Every step from the checkout to the first answer, and further answers, with their seconds."""
    checkout, wheels, venv = place / "cocite", place / "wheels", place / "cocite" / ".venv"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "data")
    shutil.copytree(ROOT, checkout, ignore=ignored)
    home = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"), "PIP_NO_INPUT": "1"}
    home.pop("PYTHONDONTWRITEBYTECODE", None)
    run = {"env": home, "cwd": checkout}
    pip = [venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "-q"]
    cocite = venv / "bin" / "cocite"
    found = [("make the virtual environment", *timed([python, "-m", "venv", venv], **run))]
    needed = [".", "hatchling", "editables"]
    found.append(("download the libraries", *timed([*pip, "download", "-d", wheels, *needed], **run)))
    local = ["--no-index", "--find-links", wheels]
    found.append(("install them", *timed([*pip, "install", "--no-compile", *local, "-e", "."], **run)))
    found.append(("cocite demo, the first time", *timed([cocite, "demo"], **run)))
    store = next((place / "cache" / "cocite").glob("sample-*.cocite"))
    asking = {"env": {**home, "COCITE_INDEX": str(store)}, "cwd": place}
    for name, command in (
        ("cocite related nytimes.com, warm", ["related", "nytimes.com"]),
        ("cocite --help", ["--help"]),
        ("cocite related --help", ["related", "--help"]),
    ):
        times = [timed([cocite, *command], **asking) for _ in range(RUNS)]
        found.append((name, min(wall for wall, _ in times), min(cpu for _, cpu in times)))
    return found


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


def report(found: list[tuple[str, float, float]], sizes: list[tuple[str, float, float]], whole: float) -> str:
    """The results as a page."""
    lines = ["# From a fresh checkout to the first answer", ""]
    lines += [f"Made by `python bench/first_answer.py` on {os.cpu_count()} cores, which other programs used as well."]
    lines += [f"Commands are the fastest of {RUNS} runs. Processor time is user + system, of all processes.", ""]
    lines += ["| step | wall s | processor s |", "|---|---|---|"]
    lines += [f"| {name} | {wall:.2f} | {cpu:.2f} |" for name, wall, cpu in found]
    lines += ["", f"The virtual environment has {whole:,.0f} MB. What each dependency costs:", ""]
    lines += ["| dependency | MB | MB that go without it |", "|---|---|---|"]
    lines += [f"| {name} | {own:.1f} | {only:.1f} |" for name, own, only in sizes]
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print, and perhaps write a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write a page of Markdown")
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cocite-first-") as folder:
        place = Path(folder)
        found = steps(place, given.python)
        whole = sum(file.stat().st_size for file in (place / "cocite" / ".venv").rglob("*") if file.is_file()) / 1e6
        page = report(found, dependencies(place), whole)
    print(page)
    if given.write:
        given.write.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
