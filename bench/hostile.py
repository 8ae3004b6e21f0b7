"""Honest clients beside hostile ones: what the honest ones notice, and what memory does.

    python bench/hostile.py STORE --minutes 60      # an hour, as docs/lab/hostile.md reports it
    python bench/hostile.py STORE --minutes 2       # a look
    python bench/hostile.py STORE --minutes 0.5 --each      # one kind of hostile client after the other

It starts `cocite serve` on loopback and measures its capacity: questions a second that it answers, each about another
page. An honest client then asks a tenth of that, first alone, then beside hostile clients, then alone again. Hostile
clients send three times the capacity of expensive questions, and beside them idle and slow connections, huge requests,
HEAD and pipelined requests. Every kind of client has an address of its own (127.0.0.2 and on: Linux). Hostile clients
are another process, of a lower priority, since in practice they are other machines. What they take
from the server's cores shows beside a burner: a process that uses as much processor time and never talks to the
server. Give it the whole machine.

Memory is reported apart: anonymous (what the server itself allocates), mapped (files, which the system may drop at any
time), and the cache, which may fill up to its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psutil

from cocite.web import Web

HONEST, IDLE, SLOW, HUGE, HEADS, PIPELINED, *GREEDY = (f"127.0.0.{n}" for n in range(2, 14))
HONEST_SHARE, HOSTILE_FACTOR = 0.1, 3.0
IDLE_CONNECTIONS, SLOW_CONNECTIONS = 400, 100
EXPENSIVE = ("walk(least=1e-6,restart=0.05)", "simrank(draws=200000)", "prank(pages=2000,rounds=40)",
             "lli(parents=800)", "integrated", "auto(best=100)", "hubfinder(rounds=5)",
             "companion(parents=8000,window=200)")  # fmt: skip
KINDS = ("greedy", "huge", "heads", "pipelined", "idle", "slow")
TIMEOUT_SECONDS = 30.0
SAMPLE_SECONDS = 10.0
MAX_SAMPLES_SHOWN = 30
HOSTILE_NICE = 19
MIN_QUIET_SECONDS, MAX_QUIET_SECONDS = 20.0, 60.0


@dataclass
class Seen:
    """What one kind of client got."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of answers with status 200
    at: list[float] = field(default_factory=list)  # when these were asked

    def quantile(self, share: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.seconds)
        return 1e3 * ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

    def by_minutes(self, minutes: float) -> list[float]:
        """p99 of each period of some minutes."""
        periods: dict[int, Seen] = {}
        for at, seconds in zip(self.at, self.seconds, strict=True):
            periods.setdefault(int((at - self.at[0]) / minutes / 60), Seen()).seconds.append(seconds)
        return [round(each.quantile(0.99), 1) for _, each in sorted(periods.items())]

    def row(self) -> dict[str, object]:
        """For the report."""
        shown = {f"p{100 * share:g}": round(self.quantile(share), 1) for share in (0.5, 0.9, 0.99, 0.999)}
        return {"statuses": dict(self.statuses), **shown}


class Client:
    """Asks one server from one address, over connections that are kept."""

    def __init__(self, port: int, source: str) -> None:
        self.port, self.source, self.seen = port, source, Seen()
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.source, 0), limit=1 << 24)

    async def connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A kept connection that the server has not closed, or a new one."""
        while self._free:
            reader, writer = self._free.pop()
            if not reader.at_eof() and not writer.is_closing() and reader.exception() is None:
                return reader, writer
            writer.close()
        return await self.connect()

    async def ask(self, target: str, method: str = "GET", body: bytes = b"") -> None:
        """One request; what came of it is in `seen`."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                reader, writer = await self.connection()
                length = f"content-length: {len(body)}\r\n" if body else ""
                writer.write(f"{method} {target} HTTP/1.1\r\nhost: localhost\r\n{length}\r\n".encode() + body)
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                await reader.readexactly(0 if method == "HEAD" else size)
            writer.close() if b"connection: close" in head else self._free.append((reader, writer))
            status = head[9:12].decode()
        except TimeoutError:
            status = "timeout"
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            status = "broken"
        self.seen.statuses[status] += 1
        if status == "200":
            self.seen.seconds.append(time.perf_counter() - began)
            self.seen.at.append(began)

    async def at_rate(self, targets: Iterator[str], rate: float, seconds: float) -> None:
        """Send `rate` requests a second, whether or not the earlier ones were answered."""
        began, tasks = time.perf_counter(), set[asyncio.Task[None]]()
        for number in itertools.count():
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            if time.perf_counter() - began > seconds:
                break
            if len(tasks) < 1000:
                task = asyncio.create_task(self.ask(next(targets)))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)


async def stall(port: int, source: str, start: bytes, more: bytes, until: float, seen: Counter[str]) -> None:
    """A connection that begins a request and never ends it; it is opened again when the server closes it."""
    client = Client(port, source)
    while time.perf_counter() < until:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            reader, writer = await client.connect()
            seen["connections"] += 1
            writer.write(start)
            while time.perf_counter() < until and not reader.at_eof():
                writer.write(more)
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        if not await reader.read(1 << 16):
                            break
            writer.close()
        await asyncio.sleep(0.2)


async def repeat(client: Client, work: Iterator[tuple[str, str, bytes]], until: float) -> None:
    """One request after another."""
    for method, target, body in work:
        if time.perf_counter() > until:
            break
        await client.ask(target, method, body)
        await asyncio.sleep(0.01)


async def pipeline(port: int, until: float, seen: Counter[str]) -> None:
    """Thousands of requests in one go."""
    client = Client(port, PIPELINED)
    while time.perf_counter() < until:
        with suppress(OSError, TimeoutError):
            reader, writer = await client.connect()
            seen["connections"] += 1
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" * 2000)
            async with asyncio.timeout(5.0):
                while await reader.read(1 << 16):
                    pass
            writer.close()
        await asyncio.sleep(0.2)


async def hostile(
    port: int, urls: list[str], rate: float, seconds: float, kinds: Sequence[str]
) -> dict[str, Counter[str]]:
    """Hostile clients of some kinds; the statuses that they got."""
    until, draw = time.perf_counter() + seconds, random.Random(2)
    greedy, huge, heads = [Client(port, name) for name in GREEDY], Client(port, HUGE), Client(port, HEADS)
    stalled = {IDLE: Counter[str](), SLOW: Counter[str](), PIPELINED: Counter[str]()}

    def expensive() -> Iterator[str]:
        for number in itertools.count():
            some = "&".join(f"url={quote(url, safe='')}" for url in draw.sample(urls, draw.choice((1, 5, 50))))
            yield f"/api/related?{some}&k={1 + number % 1000}&method={quote(EXPENSIVE[number % len(EXPENSIVE)])}"

    def huge_requests() -> Iterator[tuple[str, str, bytes]]:
        for number in itertools.count():
            long = "&".join(f"url=https://x{n}.example/{'a/' * 550}{number}" for n in range(50))
            yield from (("GET", f"/{path}?{long}", b"") for path in ("api/related", "", "compare"))
            record = json.dumps({"url": f"https://n{number}.example/", "text": "word " * 190_000})
            yield "POST", "/api/related", record.encode()

    head_requests = (("HEAD", path, b"") for path in itertools.cycle(("/", "/docs", "/metrics", "/api/store", "/no")))
    get = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"
    work = {
        "greedy": [each.at_rate(expensive(), rate / len(GREEDY), seconds) for each in greedy],
        "huge": [repeat(huge, huge_requests(), until)],
        "heads": [repeat(heads, head_requests, until)],
        "pipelined": [pipeline(port, until, stalled[PIPELINED])],
        "idle": [stall(port, IDLE, get + b"\r\n", b"", until, stalled[IDLE]) for _ in range(IDLE_CONNECTIONS)],
        "slow": [stall(port, SLOW, get + b"x: ", b"x", until, stalled[SLOW]) for _ in range(SLOW_CONNECTIONS)],
    }
    await asyncio.gather(*(each for kind in kinds for each in work[kind]))
    for kind in set(work) - set(kinds):
        for each in work[kind]:
            each.close()
    asked = {each.source: each.seen.statuses for each in (*greedy, huge, heads)}
    return {source: counts for source, counts in (asked | stalled).items() if counts}


def attack(into: Any, *args: Any) -> None:
    """In a process of its own: all hostile clients; what they got, and the cores they used, go into a queue."""
    os.nice(HOSTILE_NICE)
    began = time.perf_counter(), time.process_time()
    got = asyncio.run(hostile(*args))
    into.put((got, (time.process_time() - began[1]) / (time.perf_counter() - began[0])))


def burn(cores: float, seconds: float) -> None:
    """In a process of its own: use as much of a core as the hostile clients did, without a word to the server."""
    os.nice(HOSTILE_NICE)
    began = time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        if time.process_time() > cores * passed:
            time.sleep(0.001)


class Memory(NamedTuple):
    """Memory of the server, in megabytes, as of a time after the start."""

    seconds: float
    anonymous: int
    mapped: int
    cache: int


def processor_seconds(process: psutil.Process) -> float:
    """Processor time of the server's processes."""
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children()))


async def sample(port: int, process: psutil.Process, began: float) -> Memory:
    """The memory of the server's processes now (Linux)."""
    of = Counter[str]()
    for each in (process, *process.children()):  # slow questions have a process of their own
        with suppress(OSError):
            for line in (Path("/proc") / str(each.pid) / "status").read_text().splitlines():
                name, _, value = line.partition(":")
                of[name] += int(value.split()[0]) >> 10 if name.startswith("Rss") else 0
    cache = 0
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(TIMEOUT_SECONDS):
            reader, writer = await Client(port, HONEST).connect()
            writer.write(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n")
            found = (await reader.read()).partition(b"\ncocite_cache_bytes ")[2].partition(b"\n")[0]
            cache = int(float(found or 0)) >> 20
            writer.close()
    return Memory(round(time.perf_counter() - began, 1), of["RssAnon"], of["RssFile"], cache)


@asynccontextmanager
async def serving(store: str, log: str, cache: str) -> AsyncIterator[tuple[int, psutil.Process]]:
    """A server, from when it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(log, "wb") as errors:  # noqa: PTH123
        command = [
            sys.executable,
            "-m",
            "cocite",
            "serve",
            "-i",
            store,
            "--port",
            str(port),
            "--quiet",
            "--cache",
            cache,
        ]
        process = subprocess.Popen(command, stderr=errors)
    try:
        client = Client(port, HONEST)
        while process.poll() is None and not client.seen.statuses["200"]:
            await asyncio.sleep(0.5)
            await client.ask("/healthz")
        if process.poll() is None:
            yield port, psutil.Process(process.pid)
        if process.poll() is not None:
            raise SystemExit(f"the server died: {process.returncode}; see {log}")
    finally:
        process.terminate()
        process.wait()


async def measure(store: str, minutes: float, log: str, cache: str, each: bool, capacity: float) -> dict[str, object]:
    """The whole trial."""
    web = Web(Path(store))
    pages = [page for page in range(web.graph.pages) if web.graph.in_degree[page] > 1]
    random.Random(1).shuffle(pages)
    urls = [web.graph.address(page) for page in pages[:20_000]]
    del web
    targets = (f"/api/related?url={quote(url, safe='')}&k={k}" for k in range(10, 1000) for url in urls)
    context = multiprocessing.get_context("spawn")
    async with serving(store, log, cache) as (port, process):
        await Client(port, HONEST).at_rate(targets, 20, 20)  # warm
        if not capacity:
            done, until = [Client(port, HONEST) for _ in range(8)], time.perf_counter() + 10
            await asyncio.gather(*(repeat(one, (("GET", t, b"") for t in targets), until) for one in done))
            capacity = sum(one.seen.statuses["200"] for one in done) / 10
        rate, memory, began = max(2.0, HONEST_SHARE * capacity), list[Memory](), time.perf_counter()

        async def watch() -> None:
            while True:
                memory.append(await sample(port, process, began))
                await asyncio.sleep(SAMPLE_SECONDS)

        quiet, alone = Client(port, HONEST), min(MAX_QUIET_SECONDS, max(MIN_QUIET_SECONDS, 6 * minutes))
        await quiet.at_rate(targets, rate, alone)
        watching, turns = asyncio.create_task(watch()), {}
        for kinds in [(kind,) for kind in KINDS] if each else [KINDS]:
            honest, beside, before = Client(port, HONEST), Client(port, HONEST), processor_seconds(process)
            into = context.Queue()
            args = (into, port, urls, HOSTILE_FACTOR * capacity, 60 * minutes, kinds)
            attackers = context.Process(target=attack, args=args)
            attackers.start()
            await asyncio.sleep(2)  # they start
            await honest.at_rate(targets, rate, 60 * minutes - 2)
            used = (processor_seconds(process) - before) / minutes / 60
            got, burnt = await asyncio.to_thread(into.get)
            attackers.join()
            await quiet.at_rate(targets, rate, alone)
            burner = context.Process(target=burn, args=(burnt, alone))
            burner.start()
            await beside.at_rate(targets, rate, alone)
            burner.join()
            turns[" ".join(kinds)] = honest, beside, used, burnt, got
        watching.cancel()
    shown = memory[:: max(1, len(memory) // MAX_SAMPLES_SHOWN)]
    return {
        "capacity": round(capacity, 1), "honest_rate": round(rate, 1), "minutes": minutes,
        "load": [round(one, 1) for one in os.getloadavg()], "quiet": quiet.seen.row(),
        "attacked": {
            kinds: {
                **honest.seen.row(), "p99_ratio": round(honest.seen.quantile(0.99) / quiet.seen.quantile(0.99), 2),
                "p99_ratio_to_burner": round(honest.seen.quantile(0.99) / beside.seen.quantile(0.99), 2),
                "p99_by_five_minutes": honest.seen.by_minutes(5),
                "server_cores": round(used, 2), "hostile_cores": round(burnt, 2),
                "beside_a_burner": beside.seen.row(),
                "hostile": {source: dict(counts) for source, counts in got.items()},
            }
            for kinds, (honest, beside, used, burnt, got) in turns.items()
        },
        "memory_mb": {
            name: {"first": first, "last": last, "greatest": max(every)}
            for name, every in zip(Memory._fields[1:], list(zip(*memory, strict=True))[1:], strict=True)
            for first, last in [(every[0], every[-1])]
        },
        "memory_mb_over_time": [" ".join(map(str, each)) for each in shown],
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--minutes", type=float, default=2.0, help="of each attack")
    parser.add_argument("--each", action="store_true", help="one kind of hostile client at a time")
    parser.add_argument("--capacity", type=float, default=0.0, help="questions a second; measured, if not given")
    parser.add_argument("--cache", default="256M", help="of the server; a small one is full soon")
    parser.add_argument("--log", default="hostile.log", help="the log of the server")
    given = parser.parse_args()
    print(
        json.dumps(
            asyncio.run(measure(given.store, given.minutes, given.log, given.cache, given.each, given.capacity)),
            indent=1,
        )
    )
