"""Kill a worker process while Spark jobs run, and compare their answers with a store of one machine.

    python bench/spark_workers.py [--pages 20000] [--folder /tmp/spark-workers]

A standalone master and two workers run on loopback. A web of `generate.py` is made into shards, ranks and related pages
by all three methods. In `store`, and again in `related -m cocitation`, a worker is killed (SIGKILL, with its executor)
while the step named below runs, and a new one is started after the job. Every page's results must be those of the store
that `cocite build` makes of the same records. The program fails if a result differs, or if a killed worker wasn't lost
while its job ran.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cocite.python import build
from cocite.spark import session
from cocite.spark.rank import write_rank
from cocite.spark.related import write_related
from cocite.spark.store import write_store
from generate import world_of, write
from spark import compare, compare_ranks
from tables import show

METHODS = ("cocitation", "proximity", "extended_cocitation")
KILL_AT = {"store": "links", "related -m cocitation": "answers"}
KILL_AFTER_SECONDS = 1.0
WAIT_SECONDS = 120
KEPT = [f"spark.{name}=false" for name in ("ui.enabled", "sql.adaptive.enabled")]


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A master and its workers, each a process group of its own."""

    def __init__(self, folder: Path, workers: int) -> None:
        import pyspark

        self.folder, self.running = folder, list[subprocess.Popen[bytes]]()
        self.program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        port = free_port()
        self.address, self.workers = f"spark://127.0.0.1:{port}", list[subprocess.Popen[bytes]]()
        self._start("master.Master", "--port", str(port))
        for _ in range(workers):
            self.add_worker()

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        ports = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
        command = [str(self.program), f"org.apache.spark.deploy.{name}", *ports, *arguments]
        with (self.folder / f"{name}-{len(self.running)}.log").open("wb") as log:
            place = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
            made = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=place)
        self.running.append(made)
        return made

    def add_worker(self) -> None:
        """Start a worker of one core."""
        place = self.folder / f"worker-{len(self.running)}"
        own = ("--cores", "1", "--memory", "1g", "--work-dir", str(place))
        self.workers.append(self._start("worker.Worker", *own, self.address))

    def kill_worker(self) -> None:
        """Kill the first worker, with its executor."""
        os.killpg(self.workers.pop(0).pid, signal.SIGKILL)

    def stop(self) -> None:
        """End all processes."""
        for each in self.running:
            try:
                os.killpg(each.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            each.wait()


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster, ended with the context."""
    made = Cluster(folder, workers)
    try:
        yield made
    finally:
        made.stop()


def executors(spark: Any) -> int:
    """The executors that the driver knows, without itself."""
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def wait_for_executors(spark: Any, count: int) -> None:
    """Wait for this number of executors. Raises SystemExit if that takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while executors(spark) != count:
        if time.monotonic() > deadline:
            raise SystemExit(f"{executors(spark)} executors instead of {count}")
        time.sleep(0.2)


def run_job(
    spark: Any, workers: Cluster, name: str, job: Callable[[Callable[[str], None]], dict[str, Any]]
) -> tuple[float, str]:
    """Run a job on two workers; in jobs of KILL_AT, kill one. Returns (seconds, the step of the kill)."""
    wait_for_executors(spark, 2)
    killed = list[str]()

    def on_step(step: str) -> None:
        if step == KILL_AT.get(name) and not killed:
            killed.append(step)
            threading.Timer(KILL_AFTER_SECONDS, workers.kill_worker).start()

    started = time.monotonic()
    job(on_step)
    took = time.monotonic() - started
    if name in KILL_AT:
        if not killed or executors(spark) != 1:
            raise SystemExit(f"{name}: no worker was lost while it ran; choose more pages")
        workers.add_worker()
    return took, "".join(killed)


def main() -> None:
    """Run all jobs, compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/spark-workers"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    records, store, shards = (given.folder / name for name in ("records", "web.cocite", "shards"))
    write(world_of(given.pages, 1), records)
    build([str(records)], str(store))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    rows = list[list[Any]]()
    with cluster(given.folder) as workers:
        settings = session.parse_settings([*KEPT, "spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1"])
        spark = session.start("workers", workers.address, settings)
        try:
            took, killed = run_job(
                spark, workers, "store", lambda step: write_store(spark, str(records), str(shards), step)
            )
            rows.append(["store", f"{took:.0f}", killed, ""])
            folder = given.folder / "rank"
            took, killed = run_job(
                spark, workers, "rank", lambda step: write_rank(spark, str(shards), str(folder), on_step=step)
            )
            rows.append(["rank", f"{took:.0f}", killed, compare_ranks(store, folder / "rank")])
            for method in METHODS:
                place, name = given.folder / method, f"related -m {method}"
                took, killed = run_job(
                    spark, workers, name,
                    lambda step, place=place, method=method: write_related(
                        spark, str(shards), str(place), method, on_step=step
                    ),
                )  # fmt: skip
                rows.append([name, f"{took:.0f}", killed, compare(store, place / "related", method)])
        finally:
            spark.stop()
    show(f"{given.pages:,} pages, two workers", ["job", "seconds", "a worker killed during", "pages that differ"], rows)
    if any(row[-1] for row in rows):
        raise SystemExit("Some results differ")


if __name__ == "__main__":
    main()
