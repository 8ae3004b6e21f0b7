"""What a server counts, in the text format of Prometheus.

Every worker counts in a row of its own in memory that all of them share, so that whichever is asked can add up all. A
row belongs to one process, whose event loop alone writes it: there is nothing to lock. Reading a row while it is
written can be off by the one event that is being counted.
"""

from __future__ import annotations

import mmap
import os
import resource
import sys
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

ROUTES = (
    "related", "unseen", "search", "compare", "hubs", "communities", "keywords", "links", "methods", "store",
    "page", "static", "docs", "health", "metrics", "other",
)  # fmt: skip
STATUSES = (200, 204, 303, 304, 400, 404, 405, 422, 500, 503)
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LEVELS = ("idle", "usual", "busy", "swamped")
COUNTERS = {
    "cache_hits": "Answers that came from the cache.",
    "cache_misses": "Answers that had to be worked out.",
    "cache_evictions": "Answers that were dropped from the cache to make room.",
    "shared": "Requests that waited for the same question of another one.",
    "not_modified": "Requests whose ETag still held.",
    "shed": "Requests sent away since too many were waiting.",
    "timeouts": "Requests that were not answered in time.",
    "failures": "Faults of the server itself.",
    "switches": "Times that a new generation took the place of the one before.",
}
GAUGES = {
    "cache_bytes": "Bytes that the cache holds.",
    "cache_answers": "Answers that the cache holds.",
    "running": "Questions that threads are working on.",
    "waiting": "Questions that wait for a thread.",
    "resident_bytes": "Memory of all workers.",
    "workers": "Workers that are serving.",
}


def _layout() -> dict[tuple[str, str], int]:
    """Where each number stands in a row: (name, labels) → place."""
    names = [("requests_total", f'route="{r}",status="{s}"') for r in ROUTES for s in STATUSES]
    for route in ROUTES:
        names += [("request_seconds_bucket", f'route="{route}",le="{le}"') for le in (*BUCKETS, "+Inf")]
        names += [("request_seconds_sum", f'route="{route}"'), ("request_seconds_count", f'route="{route}"')]
    names += [(f"{name}_total", "") for name in COUNTERS] + [(name, "") for name in GAUGES]
    names += [("answers_total", f'level="{level}"') for level in LEVELS] + [("cpu_seconds_total", "")]
    return {name: at for at, name in enumerate(names)}


_PLACE = _layout()
_ROW = len(_PLACE)
_REQUEST = {(r, s): _PLACE["requests_total", f'route="{r}",status="{s}"'] for r in ROUTES for s in STATUSES}
_FIRST_BUCKET = {r: _PLACE["request_seconds_bucket", f'route="{r}",le="{BUCKETS[0]}"'] for r in ROUTES}
_SUM = {r: _PLACE["request_seconds_sum", f'route="{r}"'] for r in ROUTES}
_COUNT = {r: _PLACE["request_seconds_count", f'route="{r}"'] for r in ROUTES}
_BUCKETS = len(BUCKETS)


class Shared:
    """The rows of all workers. Made before workers are, which inherit it."""

    def __init__(self, workers: int = 1) -> None:
        self._memory = mmap.mmap(-1, max(1, workers) * _ROW * 8)
        self._rows = np.frombuffer(self._memory, np.float64).reshape(-1, _ROW)

    def row(self, worker: int) -> NDArray[np.float64]:
        """The row of one worker; what it held of the present, but not its counts, is forgotten."""
        found: NDArray[np.float64] = self._rows[worker]
        found[[_PLACE[name, ""] for name in GAUGES]] = 0.0
        return found

    def sums(self) -> list[float]:
        """All rows added up."""
        found: list[float] = self._rows.sum(axis=0).tolist()
        return found


class Metrics:
    """The counts of one worker, and the text about all of them."""

    def __init__(self, shared: Shared, worker: int = 0) -> None:
        self._shared, self._row = shared, shared.row(worker)
        self._cpu = float(self._row[_PLACE["cpu_seconds_total", ""]])  # of processes that had this row before

    def request(self, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        row = self._row
        at = _REQUEST.get((route, status))
        row[_REQUEST[route, 500 if status >= 500 else 400] if at is None else at] += 1
        row[_FIRST_BUCKET[route] + bisect_left(BUCKETS, seconds)] += 1
        row[_SUM[route]] += seconds
        row[_COUNT[route]] += 1

    def count(self, name: str, by: float = 1) -> None:
        """One more of a counter."""
        self._row[_PLACE[f"{name}_total", ""]] += by

    def answered(self, level: str) -> None:
        """An answer was worked out under the limits of a level."""
        self._row[_PLACE["answers_total", f'level="{level}"']] += 1

    def set(self, name: str, value: float) -> None:
        """The present value of a gauge."""
        self._row[_PLACE[name, ""]] = value

    def look_at_process(self) -> None:
        """Note the memory and the time of this process."""
        self.set("resident_bytes", resident_bytes())
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._row[_PLACE["cpu_seconds_total", ""]] = self._cpu + used.ru_utime + used.ru_stime

    def text(self, about: dict[str, str], numbers: dict[str, float]) -> str:
        """Everything, added up over all workers. `about` are labels of the store, `numbers` its sizes."""
        self.look_at_process()
        return "".join(self._lines(about, numbers))

    def _lines(self, about: dict[str, str], numbers: dict[str, float]) -> Iterator[str]:
        sums = self._shared.sums()
        yield from _family("requests_total", "counter", "Requests by route and status.")
        for (name, labels), at in _PLACE.items():
            if name == "requests_total" and sums[at]:
                yield _sample(name, labels, sums[at])
        yield from _family("request_seconds", "histogram", "Time from a request to its answer.")
        for route in ROUTES:
            if sums[_COUNT[route]]:
                yield from self._histogram(route, sums)
        for kind, names in (("counter", COUNTERS), ("gauge", GAUGES)):
            for name, meaning in names.items():
                full = f"{name}_total" if kind == "counter" else name
                yield from _family(full, kind, meaning)
                yield _sample(full, "", sums[_PLACE[full, ""]])
        yield from _family("answers_total", "counter", "Answers worked out, by the load that their limits were for.")
        for labels in (f'level="{level}"' for level in LEVELS):
            yield _sample("answers_total", labels, sums[_PLACE["answers_total", labels]])
        yield from _family("cpu_seconds_total", "counter", "Processor time of all workers.")
        yield _sample("cpu_seconds_total", "", sums[_PLACE["cpu_seconds_total", ""]])
        yield from _family("store_info", "gauge", "The store that answers.")
        yield _sample("store_info", ",".join(f'{name}="{value}"' for name, value in about.items()), 1)
        for name, value in numbers.items():
            yield from _family(name, "gauge", f"{name.replace('_', ' ').capitalize()}.")
            yield _sample(name, "", value)

    def _histogram(self, route: str, sums: list[float]) -> Iterator[str]:
        first, total = _FIRST_BUCKET[route], 0.0
        for at, le in enumerate((*BUCKETS, "+Inf")):
            total += sums[first + at]
            yield _sample("request_seconds_bucket", f'route="{route}",le="{le}"', total)
        yield _sample("request_seconds_sum", f'route="{route}"', sums[_SUM[route]])
        yield _sample("request_seconds_count", f'route="{route}"', sums[_COUNT[route]])


def _family(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP cocite_{name} {meaning}\n# TYPE cocite_{name} {kind}\n"


def _sample(name: str, labels: str, value: float) -> str:
    number = str(int(value)) if value == int(value) else repr(round(value, 9))
    return f"cocite_{name}{{{labels}}} {number}\n" if labels else f"cocite_{name} {number}\n"


def resident_bytes() -> int:
    """The memory of this process that is in RAM."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - read at every scrape
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: the most that it ever was
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
