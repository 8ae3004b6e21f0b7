"""Write to a server at a given rate while questions are asked, and compare the answers' times with those before.

    python bench/sustained.py web.cocite                       # 2 minutes, 500 records and 100 questions a second
    python bench/sustained.py web.cocite --minutes 10 --records 500 --questions 100 --per-request 10

The store is copied first. New pages are lists of 20 links, taken from all links of the store, so popular pages get
most. Questions are about random pages that have links. First they are asked alone, then beside the writing, which a
process of its own does: making pages would hold up the clock of answers. Memory and processor time are those of the
server, and of its other processes: one writes, another compacts. At the end the store must have every page that was
acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import tempfile
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import psutil

from cocite.graph.generation import read_pointer
from cocite.graph.store import Graph
from load import Outcome, at_rate
from serve import BIN, HOST, free_port, running

KEY = "key-of-a-measurement-0123456789abcdef"
LINKS = 20
TIMEOUT = 60.0
ALONE_SECONDS, ROUND_SECONDS = 20.0, 10.0


@dataclass
class Written:
    """What was written."""

    board: Any  # shared: requests that were acknowledged and refused, and how long the last one waited
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: list[int] = field(default_factory=list)  # numbers of requests
    sent: int = 0


class Client:
    """Sends made-up pages, and makes questions."""

    def __init__(self, store: Path, per_request: int, seed: int = 1) -> None:
        graph, self._dice = Graph(store), np.random.default_rng(seed)
        self._per_request = per_request
        self._named, self._words = bool(graph.texts), len(graph.array("text.pages")) > 0  # as the store's pages
        targets = [links.targets for _, _, links in itertools.islice(graph.iter_links(), 64)]
        some = self._dice.choice(np.concatenate(targets), 50_000)
        self._addresses = [graph.address(page) for page in some.tolist()]
        asked = np.flatnonzero(graph.in_degree > 0)
        self._asked = [graph.address(page) for page in self._dice.choice(asked, 20_000).tolist()]

    @staticmethod
    def address(request: int, number: int) -> str:
        """The address of a page that is sent."""
        return f"https://list{request}.example/{number}"

    def body(self, request: int) -> bytes:
        """Some page records."""
        records = []
        for number in range(self._per_request):
            links = self._dice.integers(0, len(self._addresses), LINKS).tolist()
            record: dict[str, Any] = {"url": self.address(request, number)}
            record["links"] = [{"url": self._addresses[at], "block": place // 5} for place, at in enumerate(links)]
            if self._named:
                record["title"] = f"List {request} {number}"
            if self._words:
                record["text"] = " ".join(f"word{at % 3000}" for at in links)
            records.append(record)
        return "".join(json.dumps(record) + "\n" for record in records).encode()

    def questions(self) -> Iterator[str]:
        """Addresses of questions, without end."""
        while True:
            yield "/api/related?" + urllib.parse.urlencode({"url": random.choice(self._asked)})


async def post(port: int, body: bytes) -> tuple[int, float]:
    """Send page records; the status, 0 if the connection broke, and after how long to send them again."""
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(HOST, port)
            head = f"POST /api/pages HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n"
            writer.write(f"{head}Content-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n".encode())
            writer.write(body)
            answer = await reader.readuntil(b"\r\n\r\n")
            await reader.read()
            writer.close()
            return int(answer[9:12]), float(answer.lower().partition(b"retry-after: ")[2].partition(b"\r\n")[0] or 1)
    except (OSError, asyncio.IncompleteReadError, TimeoutError):
        return 0, 1.0


def write_apart(port: int, store: Path, options: argparse.Namespace, board: Any, results: Any) -> None:
    """In a process of its own: write, and note on the board how it goes."""
    done, client = Written(board=board), Client(store, options.per_request)
    asyncio.run(write(port, client, options.records / options.per_request, options.minutes * 60, done))
    results.put((done.statuses, done.acknowledged))


async def write(port: int, client: Client, rate: float, seconds: float, done: Written) -> None:
    """Send a number of requests a second, each at its time; a server that is busy is asked again, as it says."""
    tasks, began = set[asyncio.Task[None]](), time.perf_counter()

    async def one(number: int) -> None:
        body, start = client.body(number), time.perf_counter()
        status, after = await post(port, body)
        while status == 503 and time.perf_counter() - start < TIMEOUT:
            done.statuses[503] += 1
            done.board[1] += 1
            await asyncio.sleep(after * random.uniform(1, 1.5))  # as a client should: not all at once
            status, after = await post(port, body)
        done.statuses[status] += 1
        if status == 200:
            done.acknowledged.append(number)
            done.board[0], done.board[2] = len(done.acknowledged), time.perf_counter() - start

    while (now := time.perf_counter() - began) < seconds:
        while done.sent < now * rate:
            task = asyncio.create_task(one(done.sent))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            done.sent += 1
        await asyncio.sleep(0.005)
    await asyncio.gather(*tasks)


async def both(port: int, client: Client, options: argparse.Namespace, process: int, store: Path) -> None:
    """Ask alone, then ask and write, and print how it goes."""
    questions, apart = client.questions(), get_context("spawn")
    board, results = apart.Array("d", 3), apart.Queue()
    await at_rate(HOST, port, questions, options.questions, ALONE_SECONDS / 2, TIMEOUT)  # kernels are loaded
    before, _ = processor_times(process)
    alone = await at_rate(HOST, port, questions, options.questions, ALONE_SECONDS, TIMEOUT)
    own = (processor_times(process)[0] - before) / ALONE_SECONDS
    p50, p99 = (alone.percentile(share) for share in (0.5, 0.99))
    print(f"alone: {own:.2f} of a core, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {dict(alone.statuses)}")
    writer = apart.Process(target=write_apart, args=(port, store, options, board, results))
    writer.start()
    while not board[0]:  # it starts
        await asyncio.sleep(0.1)
    busy, began = Outcome(), time.perf_counter()
    print("second  answered p50 ms  p99 ms  pages acknowledged  refused  waiting s  layers", end="  ")
    print("MB: server, others  cores: server, others")
    while results.empty():
        before = processor_times(process)
        part = await at_rate(HOST, port, questions, options.questions, ROUND_SECONDS, TIMEOUT)
        busy.statuses.update(part.statuses)
        busy.latencies += part.latencies
        memory, compaction = memories(process)
        own, others = (now - then for now, then in zip(processor_times(process), before, strict=True))
        _, _, layers = read_pointer(store)
        print(
            f"{time.perf_counter() - began:6.0f} {part.statuses[200]:9} {part.percentile(0.5):6.1f} "
            f"{part.percentile(0.99):7.1f} {board[0] * options.per_request:12.0f} "
            f"{board[1]:12.0f} {board[2]:9.1f} {len(layers):8} {memory:9.0f} {compaction:9.0f} "
            f"{own / part.seconds:10.2f} {others / part.seconds:6.2f}",
            flush=True,
        )
    ratio = busy.percentile(0.99) / alone.percentile(0.99)
    print(f"beside writing: p50 {busy.percentile(0.5):.1f} ms, p99 {busy.percentile(0.99):.1f} ms: {ratio:.2f} x")
    statuses, acknowledged = results.get()
    writer.join()
    print(f"questions {dict(busy.statuses)}, writes {dict(statuses)}")
    graph = Graph(store)
    lost = sum(
        graph.get(client.address(request, number)) is None
        for request in acknowledged
        for number in range(options.per_request)
    )
    print(f"{len(acknowledged) * options.per_request:,} pages were acknowledged, {lost} of them are lost")


def processor_times(process: int) -> tuple[float, float]:
    """Seconds of processor time of a server, and of its other processes, also of those that have ended."""
    server = psutil.Process(process)
    own = server.cpu_times()
    others = own.children_user + own.children_system
    for each in server.children(recursive=True):
        try:
            others += sum(each.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return own.user + own.system, others


def memories(process: int) -> tuple[float, float]:
    """Megabytes of a server, and of its compaction."""
    server = psutil.Process(process)
    own = server.memory_info()
    others = 0
    for each in server.children(recursive=True):
        try:
            others += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return (own.rss - own.shared) / 1e6, others / 1e6


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--records", type=float, default=500.0, help="a second")
    parser.add_argument("--questions", type=float, default=100.0, help="a second")
    parser.add_argument("--per-request", type=int, default=10, help="records in a request")
    parser.add_argument("--log", type=Path, help="keep the server's log here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cocite-sustained-", dir=options.store.parent) as folder:
        store = Path(folder) / "web.cocite"
        copytree(options.store, store)
        client = Client(store, options.per_request)
        port = free_port()
        command = [str(BIN / "cocite"), "serve", "-i", str(store), "--port", str(port), "--timeout", str(TIMEOUT)]
        environment = {**os.environ, "COCITE_SERVE_WRITE_KEY": KEY}
        with running(command, port, "/healthz", environment=environment, log=options.log) as process:
            asyncio.run(both(port, client, options, process, store))


if __name__ == "__main__":
    main()
