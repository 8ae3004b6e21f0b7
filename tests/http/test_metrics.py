"""What is counted, and the sum over workers."""

from __future__ import annotations

import os
import re

from cocite.http.metrics import BUCKETS, Metrics, SharedCounters
from tests.http.conftest import Asking

SAMPLE = re.compile(r'cocite_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+')


def samples(text: bytes) -> dict[str, float]:
    """All numbers by name and labels."""
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in lines), [line for line in lines if not SAMPLE.fullmatch(line)]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_requests_by_route_status_and_time() -> None:
    metrics = Metrics(SharedCounters(1))
    for seconds in (0.0005, 0.001, 0.02, 99.0):
        metrics.request("related", 200, seconds)
    metrics.request("related", 503, 0.1)
    metrics.request("search", 418, 0.1)  # a status without a place of its own
    metrics.request("search", 599, 0.1)
    found = samples(metrics.text({"id": "x"}, {"store_pages": 5}))
    assert found['cocite_requests_total{route="related",status="200"}'] == 4
    assert found['cocite_requests_total{route="related",status="503"}'] == 1
    assert found['cocite_requests_total{route="search",status="400"}'] == 1
    assert found['cocite_requests_total{route="search",status="500"}'] == 1
    buckets = [found[f'cocite_request_seconds_bucket{{le="{le}",route="related"}}'] for le in (*BUCKETS, "+Inf")]
    assert buckets == [2, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5]
    assert found['cocite_request_seconds_count{route="related"}'] == 5
    assert abs(found['cocite_request_seconds_sum{route="related"}'] - 99.1215) < 1e-6
    assert (found['cocite_store_info{id="x"}'], found["cocite_store_pages"]) == (1, 5)


def test_the_sum_over_workers() -> None:
    """Workers are processes that inherit the rows; one that dies is replaced by one that counts on."""
    shared = SharedCounters(2)
    first = Metrics(shared, 0)
    first.count("shed", 3)
    first.set("waiting", 2)
    first.set("workers", 1)
    child = os.fork()
    if child == 0:
        try:
            second = Metrics(shared, 1)
            second.count("shed", 4)
            second.set("waiting", 5)
            second.set("workers", 1)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    found = samples(first.text({}, {}))
    assert (found["cocite_shed_total"], found["cocite_waiting"], found["cocite_workers"]) == (7, 7, 2)
    again = Metrics(shared, 1)
    again.count("shed")
    found = samples(first.text({}, {}))
    assert (found["cocite_shed_total"], found["cocite_waiting"], found["cocite_workers"]) == (8, 2, 1)


def test_every_family_has_a_type_and_a_meaning() -> None:
    metrics = Metrics(SharedCounters(1)).text({"id": "x"}, {"store_pages": 1})
    text = metrics.decode()
    typed = set(re.findall(r"# TYPE (\S+) ", text))
    assert set(re.findall(r"# HELP (\S+) .+", text)) == typed
    families = {name.partition("{")[0] for name in samples(metrics)}
    assert families <= typed | {f"cocite_request_seconds_{part}" for part in ("bucket", "sum", "count")}
    assert all(name.endswith("_total") for name in re.findall(r"# TYPE (\S+) counter", text))


def test_the_metrics_of_a_server(asking: Asking) -> None:
    asking.get("/api/related?url=robin.example&k=55")
    asking.get("/api/related?url=robin.example&k=55")
    answer = asking.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.body)
    assert found["cocite_cache_hits_total"] >= 1
    assert found["cocite_store_pages"] == 13
    assert found["cocite_resident_bytes"] > 1e7
    assert found["cocite_cpu_seconds_total"] > 0
    assert found['cocite_requests_total{route="related",status="200"}'] >= 2
