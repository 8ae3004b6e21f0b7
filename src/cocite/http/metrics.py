"""Metrics for Prometheus, summed over all workers.

Each worker counts in its own row of memory that all of them share; the worker that is asked for /metrics adds up the
rows. Only the event loop of one process writes a row, so nothing is locked. prometheus_client writes the text; its
own counters for several processes take 5.5 µs a request (labels, a lock, files) against 1.3 µs here.
"""

import mmap
import time
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, product
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from cocite.http.questions import LOAD_LEVELS, route_name, routes
from cocite.system import resident_bytes

ROUTE_LABELS = (
    *map(route_name, routes().values()), "unseen", "similar", "write", "page", "static", "docs", "health", "metrics",
    "other",
)  # fmt: skip
STATUSES = (200, 204, 303, 304, 400, 401, 404, 405, 422, 429, 500, 503)
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
    "cpu_seconds": "Processor time of all workers.",
}
GAUGES = {
    "cache_bytes": "Size of the cache in bytes.",
    "cache_answers": "Answers in the cache.",
    "running": "Questions being computed.",
    "waiting": "Questions waiting for a thread.",
    "resident_bytes": "Memory of all workers in bytes.",
    "workers": "Running workers.",
}
HISTOGRAM_COLUMNS = len(BUCKETS) + 2
"""Of a route: the buckets, those above all, and the sum of seconds."""
_NAMES = [*COUNTERS, *GAUGES, *LOAD_LEVELS, *product(ROUTE_LABELS, STATUSES)]
_NAMES += product(ROUTE_LABELS, range(HISTOGRAM_COLUMNS))
_COLUMN = {name: at for at, name in enumerate(_NAMES)}
_FIRST_BUCKET = {route: _COLUMN[route, 0] for route in ROUTE_LABELS}


class SharedCounters:
    """The rows of all workers, created before the workers, which inherit it."""

    def __init__(self, workers: int = 1) -> None:
        memory = mmap.mmap(-1, max(1, workers) * len(_NAMES) * 8)
        self.rows: NDArray[np.float64] = np.frombuffer(memory, np.float64).reshape(-1, len(_NAMES))


class Metrics:
    """Counts for one worker, and writes the sums over all. The counters of an earlier process go on."""

    def __init__(self, shared: SharedCounters, worker: int = 0) -> None:
        self._rows, self._row = shared.rows, shared.rows[worker]
        for name in GAUGES:
            self.set(name, 0.0)
        self.beside = 0, 0.0  # memory and processor time of the process for slow questions
        self._cpu = float(self._row[_COLUMN["cpu_seconds"]])  # of earlier processes with this row

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        at = _COLUMN.get((route, status))
        self._row[_COLUMN[route, 500 if status >= 500 else 400] if at is None else at] += 1
        first = _FIRST_BUCKET[route]
        self._row[first + bisect_left(BUCKETS, seconds)] += 1
        self._row[first + HISTOGRAM_COLUMNS - 1] += seconds

    def count(self, name: str, by: float = 1) -> None:
        """Add to a counter, or to the answers of a load level."""
        self._row[_COLUMN[name]] += by

    def set(self, name: str, value: float) -> None:
        """Set a gauge."""
        self._row[_COLUMN[name]] = value

    def update_process(self) -> None:
        """Update memory and processor time of this process, and of the one beside it."""
        memory, seconds = self.beside
        self.set("resident_bytes", resident_bytes() + memory)
        self.set("cpu_seconds", self._cpu + time.process_time() + seconds)

    def text(self, about: dict[str, str], numbers: dict[str, float]) -> bytes:
        """All metrics in Prometheus's text format, summed over workers. `about` labels the store, `numbers` size it."""
        self.update_process()
        families = list(self._families(about, numbers))
        # What `generate_latest` reads of a registry. Nothing is registered: a collector would outlive its server.
        return generate_latest(SimpleNamespace(collect=lambda: families))

    def _families(self, about: dict[str, str], numbers: dict[str, float]) -> Iterator[Metric]:
        sums: list[float] = self._rows.sum(axis=0).tolist()
        requests = CounterMetricFamily("cocite_requests", "Requests by route and status.", labels=("route", "status"))
        seconds = HistogramMetricFamily("cocite_request_seconds", "Response time in seconds.", labels=("route",))
        for route in ROUTE_LABELS:
            for status in STATUSES:
                if number := sums[_COLUMN[route, status]]:
                    requests.add_metric((route, str(status)), number)
            *counts, total = sums[_FIRST_BUCKET[route] :][:HISTOGRAM_COLUMNS]
            if any(counts):
                up_to = zip((*map(str, BUCKETS), "+Inf"), accumulate(counts), strict=True)
                seconds.add_metric((route,), list(up_to), total)
        answers = CounterMetricFamily("cocite_answers", "Answers computed, by load level.", labels=("level",))
        for level in LOAD_LEVELS:
            answers.add_metric((level,), sums[_COLUMN[level]])
        store = GaugeMetricFamily("cocite_store_info", "The store in use.", labels=tuple(about))
        store.add_metric(tuple(about.values()), 1)
        yield from (requests, seconds, answers, store)
        for name, help in COUNTERS.items():
            yield CounterMetricFamily(f"cocite_{name}", help, sums[_COLUMN[name]])
        gauges = {name: (help, sums[_COLUMN[name]]) for name, help in GAUGES.items()}
        gauges |= {name: (f"{name.replace('_', ' ').capitalize()}.", value) for name, value in numbers.items()}
        for name, (help, value) in gauges.items():
            yield GaugeMetricFamily(f"cocite_{name}", help, value)
