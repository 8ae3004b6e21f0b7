"""How many requests `cocite serve` answers, how soon, and what it does when there are too many.

    python bench/serve.py STORE [--judgements J.tsv.gz] [--seconds 10] [--workers 1 2] [--soak MINUTES]

The mix is every judged query that the store has and the 500 best-cited pages, each by Companion and by the default
method. A pass sends each once, and the next pass requests one result more, so that none is in the cache. The load comes
from the same machine: `wrk` for cached answers (Debian has it), bench/load.py for the rest. The rival is a bare FastAPI
route on granian that sends the bytes of one answer.

--soak MINUTES sends 100 requests a second, half answered from the cache, and prints the server's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np
import psutil

from cocite.graph.store import Graph
from cocite.operations import DEFAULT_METHOD
from load import Outcome, at_rate, flat_out
from tables import show

HOST = "127.0.0.1"
BEST_CITED = 500
CACHED, CONNECTIONS = 500, 32
TIMEOUT = 5.0
SOAKING = 100
"""Requests per second of a long run."""
BIN = Path(sys.executable).parent
RIVAL = """
from pathlib import Path
from fastapi import FastAPI
from fastapi.responses import Response
BODY = Path(__file__).with_name("body.json").read_bytes()
app = FastAPI()
@app.get("/api/related")
async def related(url: str, k: int = 10) -> Response:
    return Response(BODY, media_type="application/json")
"""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--judgements", type=Path, default=Path("../shared/data/awesome/judgements.dev.tsv.gz"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--soak", type=float, metavar="MINUTES", default=0.0)
    options = parser.parse_args()
    mix = Mix(options.store, options.judgements)
    print(f"{len(mix.pages):,} pages by {' and '.join(mix.methods)}; {options.seconds:g} s each")
    if options.soak:
        soak(options.store, mix, options.soak)
        return
    from_cache(options.store, mix, options.seconds, options.workers)
    for workers in options.workers:
        worked_out(options.store, mix, options.seconds, workers)


class Mix:
    """The requests."""

    def __init__(self, store: Path, judgements: Path) -> None:
        graph = Graph(store)
        judged: dict[str, None] = {}
        if judgements.exists():
            with gzip.open(judgements, "rt") as file:
                judged = dict.fromkeys(line.split("\t")[0] for line in file)
        known = [query for query in judged if graph.get(query) is not None]
        best = np.argsort(-graph.in_degree.astype(np.int64), kind="stable")[:BEST_CITED].tolist()
        self.pages = [*known, *(graph.address(page) for page in best)]
        self.methods = list(dict.fromkeys(("companion", DEFAULT_METHOD)))
        self._pass = 0

    def targets(self) -> Iterator[str]:
        """Requests without end, none twice."""
        while True:
            k = 10 + self._pass
            self._pass += 1
            asked = [(page, method) for page in self.pages for method in self.methods]
            random.Random(k).shuffle(asked)
            yield from (target(page, method, k) for page, method in asked)

    def few(self) -> list[str]:
        """Some requests, the same each time."""
        chosen = random.Random(0).sample(self.pages, min(CACHED, len(self.pages)))
        return [target(page, self.methods[at % len(self.methods)], 10) for at, page in enumerate(chosen)]


def target(page: str, method: str, k: int) -> str:
    """A request."""
    return f"/api/related?url={quote(page, safe='')}&method={method}&k={k}"


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: list[str], port: int, path: str, folder: Path | None = None, environment: dict[str, str] | None = None,
    log: Path | None = None,
) -> Iterator[int]:  # fmt: skip
    """Start a server and wait until it answers; yield its process. Its log is thrown away, if it has no file."""
    with (log or Path(os.devnull)).open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, env=environment)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit(f"{command[0]} did not start")
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def cocite(store: Path, workers: int, *more: str) -> Iterator[tuple[int, int]]:
    """Start `cocite serve`; yield its port and its process."""
    port = free_port()
    command = [str(BIN / "cocite"), "serve", "-i", str(store), "--port", str(port), "--workers", str(workers)]
    with running([*command, "--timeout", str(TIMEOUT), *more], port, "/healthz") as process:
        for _ in range(600):
            with urllib.request.urlopen(f"http://{HOST}:{port}/metrics") as answer:
                if f"cocite_workers {workers}\n" in answer.read().decode():
                    break
            time.sleep(0.1)
        yield port, process


def from_cache(store: Path, mix: Mix, seconds: float, workers: list[int]) -> None:
    """Measure cached answers, compared with a bare route."""
    if shutil.which("wrk") is None:
        print("no wrk here (apt-get install wrk): answers from the cache are not measured")
        return
    rows = []
    few, body = mix.few(), b""
    for number in workers:
        with cocite(store, number) as (port, _):
            for each in few * (2 * number):  # until every worker has cached each
                with urllib.request.urlopen(f"http://{HOST}:{port}{each}") as answer:
                    body = answer.read()
            rows.append([f"cocite serve, {number} worker{'s' * (number > 1)}", *wrk(port, few, seconds)])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bare.py").write_text(RIVAL)
        (Path(folder) / "body.json").write_bytes(body)
        for number in workers:
            port = free_port()
            command = [str(BIN / "granian"), "--interface", "asgi", "--port", str(port), "--no-log", "bare:app"]
            command += ["--workers", str(number)]
            with running(command, port, "/api/related?url=x", Path(folder)):
                name = f"bare FastAPI on granian, {number} worker{'s' * (number > 1)}"
                rows.append([name, *wrk(port, few, seconds)])
    show(
        f"answers from the cache, {len(few)} requests, {CONNECTIONS} connections, {len(body):,} bytes",
        ["server", "requests/s", "p50, ms", "p99, ms", "errors"],
        rows,
    )


def wrk(port: int, targets: list[str], seconds: float) -> list[str]:
    """Requests a second, percentiles and errors, by wrk."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        paths = ",".join(json.dumps(each) for each in targets)
        script.write(
            f"local t, i = {{{paths}}}, 0\nrequest = function() i = i % #t + 1 return wrk.format('GET', t[i]) end\n"
        )
        script.flush()
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{int(seconds)}s", "--latency", "-s", script.name]
        told = subprocess.run([*command, f"http://{HOST}:{port}"], capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", told)[1])  # type: ignore[index]
    parts = {share: milliseconds(told, share) for share in ("50", "99")}
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)", told)
    lost = re.search(r"Socket errors: (.*)", told)
    return [f"{rate:,.0f}", parts["50"], parts["99"], f"{errors[1] if errors else 0}{' ' + lost[1] if lost else ''}"]


def milliseconds(told: str, share: str) -> str:
    """A percentile as wrk prints it, in milliseconds."""
    number, unit = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", told).groups()  # type: ignore[union-attr]
    return f"{float(number) * {'us': 1e-3, 'ms': 1, 's': 1e3}[unit]:.1f}"


def worked_out(store: Path, mix: Mix, seconds: float, workers: int) -> None:
    """Measure computed answers: at full load, at half of that, at three times that, and afterwards."""
    rows = []
    with cocite(store, workers) as (port, process):
        targets = mix.targets()
        asyncio.run(flat_out(HOST, port, targets, 8, 3.0, TIMEOUT))  # compile and fill caches
        used = processor(process)
        full = asyncio.run(flat_out(HOST, port, targets, 8 * workers, seconds, TIMEOUT))
        used = processor(process) - used
        rows.append(["full load, 8 connections per worker", *row(full)])
        for name, factor in (("half of that", 0.5), ("three times that", 3.0), ("half again, immediately", 0.5)):
            done = asyncio.run(at_rate(HOST, port, targets, full.rate * factor, seconds, 2 * TIMEOUT))
            rows.append([f"{name}: {full.rate * factor:,.0f}/s", *row(done)])
        memory = sum(each.memory_info().rss for each in family(process))
    each, cores = 1e3 * used / max(1, full.statuses.total()), used / full.seconds
    about = f"at full load {each:.1f} ms of CPU each, {cores:.2f} cores; memory at the end {memory / 1e6:,.0f} MB"
    show(
        f"computed answers, {workers} worker{'s' * (workers > 1)}: {about}",
        ["load", "answered/s", "p50, ms", "p99, ms", "longest, ms", "503", "503 p99, ms", "other"],
        rows,
    )


def row(done: Outcome) -> list[str]:
    """An outcome as cells."""
    refused = Outcome(latencies=done.others)
    other = sum(count for status, count in done.statuses.items() if status not in (200, 503))
    shed = f"{done.statuses[503] / max(1, done.statuses.total()):.0%}"
    late = f"{refused.percentile(0.99):.1f}" if done.others else ""
    times = [f"{done.percentile(share):.1f}" for share in (0.5, 0.99, 1.0)]
    return [f"{done.rate:,.0f}", *times, shed, late, str(other)]


def processor(process: int) -> float:
    """Seconds of processor that a server has used."""
    return float(sum(sum(each.cpu_times()[:2]) for each in family(process)))


def family(process: int) -> list[psutil.Process]:
    """A process and those that it started."""
    parent = psutil.Process(process)
    return [parent, *parent.children(recursive=True)]


def soak(store: Path, mix: Mix, minutes: float) -> None:
    """Measure memory under a long load, half from a cache that is soon full."""
    rows = []
    with cocite(store, 1, "--cache", "64M") as (port, process):
        few, fresh = mix.few(), mix.targets()

        def both() -> Iterator[str]:
            while True:
                yield random.choice(few)
                yield next(fresh)

        targets, began = both(), time.monotonic()
        while (passed := (time.monotonic() - began) / 60) < minutes:
            done = asyncio.run(at_rate(HOST, port, targets, SOAKING, 30.0, TIMEOUT))
            memory = sum(each.memory_info().rss for each in family(process))
            wrong = done.statuses.total() - done.statuses[200]
            rows.append(
                [
                    f"{passed:.1f}",
                    f"{done.rate:,.0f}",
                    f"{done.percentile(0.99):.1f}",
                    str(wrong),
                    f"{memory / 1e6:,.1f}",
                ]
            )
            print(rows[-1], flush=True)
    show("a long load, half from the cache", ["minute", "answered/s", "p99, ms", "not 200", "memory, MB"], rows)


if __name__ == "__main__":
    main()
