"""What every benchmark prints: a table, after a line with the machine and the date."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def machine() -> str:
    """This machine in one line."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    day = time.strftime("%Y-%m-%d")
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {day}"


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    print(f"\n{title} ({machine()})\n")
    print(line(cells[0]))
    print("|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|")
    for row in cells[1:]:
        print(line(row))


def microseconds(work: Callable[[], object], at_least: float = 0.5, times: int = 5) -> float:
    """Best time of a call in µs: the fastest of several runs, which take at least `at_least` seconds in all."""
    work()
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            work()
        if time.perf_counter() - start > at_least / times:
            break
        calls *= 2
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6
