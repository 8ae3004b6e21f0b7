"""Metrics for Prometheus, summed over all workers.

Each worker counts in its own row of memory that all of them share; the worker that is asked for /metrics adds up the
rows. Only the event loop of one process writes a row, so nothing is locked. prometheus_client writes the text; its
own counters for several processes take 5.5 µs a request (labels, a lock, files) against 1.3 µs here.
"""

from __future__ import annotations

import mmap
import os
import resource
import sys
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from cocite.http.api import routes
from cocite.http.questions import LOAD_LEVELS

ROUTES = (
    *(path.rpartition("/")[2] for path in routes()), "unseen", "page", "static", "docs", "health", "metrics", "other",
)  # fmt: skip
STATUSES = (200, 204, 303, 304, 400, 404, 405, 422, 500, 503)
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTERS = {
    "cache_hits": "Answers served from the cache.",
    "cache_misses": "Answers that had to be computed.",
    "cache_evictions": "Answers dropped from the cache to make room.",
    "shared": "Requests that waited for the same question asked by another request.",
    "not_modified": "Requests whose ETag was still valid.",
    "shed": "Requests rejected because the queue was full.",
    "timeouts": "Requests that were not answered in time.",
    "failures": "Internal errors.",
    "switches": "Times that a new generation of the store replaced the previous one.",
}
GAUGES = {
    "cache_bytes": "Size of the cache in bytes.",
    "cache_answers": "Answers in the cache.",
    "running": "Questions being computed.",
    "waiting": "Questions waiting for a thread.",
    "resident_bytes": "Memory of all workers in bytes.",
    "workers": "Running workers.",
}


def _layout() -> dict[tuple[str, str], int]:
    """The column of each number in a row: (name, labels) → column."""
    names = [("requests_total", f'route="{r}",status="{s}"') for r in ROUTES for s in STATUSES]
    for route in ROUTES:
        names += [("request_seconds_bucket", f'route="{route}",le="{le}"') for le in (*BUCKETS, "+Inf")]
        names += [("request_seconds_sum", f'route="{route}"'), ("request_seconds_count", f'route="{route}"')]
    names += [(f"{name}_total", "") for name in COUNTERS] + [(name, "") for name in GAUGES]
    names += [("answers_total", f'level="{level}"') for level in LOAD_LEVELS] + [("cpu_seconds_total", "")]
    return {name: at for at, name in enumerate(names)}


_PLACE = _layout()
_ROW = len(_PLACE)
_REQUEST = {(r, s): _PLACE["requests_total", f'route="{r}",status="{s}"'] for r in ROUTES for s in STATUSES}
_FIRST_BUCKET = {r: _PLACE["request_seconds_bucket", f'route="{r}",le="{BUCKETS[0]}"'] for r in ROUTES}
_SUM = {r: _PLACE["request_seconds_sum", f'route="{r}"'] for r in ROUTES}
_COUNT = {r: _PLACE["request_seconds_count", f'route="{r}"'] for r in ROUTES}
_BUCKETS = len(BUCKETS)
_CPU = _PLACE["cpu_seconds_total", ""]


class Shared:
    """The rows of all workers, created before the workers, which inherit it."""

    def __init__(self, workers: int = 1) -> None:
        self._memory = mmap.mmap(-1, max(1, workers) * _ROW * 8)
        self._rows = np.frombuffer(self._memory, np.float64).reshape(-1, _ROW)

    def row(self, worker: int) -> NDArray[np.float64]:
        """The row of one worker, with gauges set to 0: the counters of an earlier process go on."""
        found: NDArray[np.float64] = self._rows[worker]
        found[[_PLACE[name, ""] for name in GAUGES]] = 0.0
        return found

    def sums(self) -> list[float]:
        """The sum of all rows."""
        found: list[float] = self._rows.sum(axis=0).tolist()
        return found


class Metrics:
    """Counts for one worker, and writes the sums over all."""

    def __init__(self, shared: Shared, worker: int = 0) -> None:
        self._shared, self._row = shared, shared.row(worker)
        self._cpu = float(self._row[_CPU])  # of earlier processes with this row

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        row = self._row
        at = _REQUEST.get((route, status))
        row[_REQUEST[route, 500 if status >= 500 else 400] if at is None else at] += 1
        row[_FIRST_BUCKET[route] + bisect_left(BUCKETS, seconds)] += 1
        row[_SUM[route]] += seconds
        row[_COUNT[route]] += 1

    def count(self, name: str, by: float = 1) -> None:
        """Add to a counter."""
        self._row[_PLACE[f"{name}_total", ""]] += by

    def answered(self, level: str) -> None:
        """Count an answer that was computed at a load level."""
        self._row[_PLACE["answers_total", f'level="{level}"']] += 1

    def set(self, name: str, value: float) -> None:
        """Set a gauge."""
        self._row[_PLACE[name, ""]] = value

    def update_process(self) -> None:
        """Update memory and processor time of this process."""
        self.set("resident_bytes", resident_bytes())
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._row[_CPU] = self._cpu + used.ru_utime + used.ru_stime

    def text(self, about: dict[str, str], numbers: dict[str, float]) -> bytes:
        """All metrics in Prometheus's text format, summed over workers. `about` labels the store, `numbers` size it."""
        self.update_process()
        return generate_latest(_Collected(list(self._families(about, numbers))))

    def _families(self, about: dict[str, str], numbers: dict[str, float]) -> Iterator[Metric]:
        sums = self._shared.sums()
        requests = CounterMetricFamily("cocite_requests", "Requests by route and status.", labels=("route", "status"))
        for (route, status), at in _REQUEST.items():
            if sums[at]:
                requests.add_metric((route, str(status)), sums[at])
        yield requests
        seconds = HistogramMetricFamily("cocite_request_seconds", "Response time in seconds.", labels=("route",))
        for route in ROUTES:
            if sums[_COUNT[route]]:
                first = _FIRST_BUCKET[route]
                counts = accumulate(sums[first : first + _BUCKETS + 1])
                seconds.add_metric(
                    (route,), list(zip((*map(str, BUCKETS), "+Inf"), counts, strict=True)), sums[_SUM[route]]
                )
        yield seconds
        for name, help in COUNTERS.items():
            yield CounterMetricFamily(f"cocite_{name}", help, sums[_PLACE[f"{name}_total", ""]])
        for name, help in GAUGES.items():
            yield GaugeMetricFamily(f"cocite_{name}", help, sums[_PLACE[name, ""]])
        answers = CounterMetricFamily("cocite_answers", "Answers computed, by load level.", labels=("level",))
        for level in LOAD_LEVELS:
            answers.add_metric((level,), sums[_PLACE["answers_total", f'level="{level}"']])
        yield answers
        yield CounterMetricFamily("cocite_cpu_seconds", "Processor time of all workers.", sums[_CPU])
        store = GaugeMetricFamily("cocite_store_info", "The store in use.", labels=tuple(about))
        store.add_metric(tuple(about.values()), 1)
        yield store
        for name, value in numbers.items():
            yield GaugeMetricFamily(f"cocite_{name}", f"{name.replace('_', ' ').capitalize()}.", value)


class _Collected(NamedTuple):
    """What `generate_latest` reads of a registry. Nothing is registered: a collector would outlive its server."""

    families: list[Metric]

    def collect(self) -> list[Metric]:
        """The metric families."""
        return self.families


def resident_bytes() -> int:
    """Resident memory of this process."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - read at every scrape
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: its peak
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
