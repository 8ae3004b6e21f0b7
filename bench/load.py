"""A small HTTP client that sends requests at a given rate, or as fast as answers arrive, and records the outcomes.

Requests are GETs over persistent connections. At a given rate each is sent at its time, whether or not earlier ones
have been answered, as independent clients do; latency counts from that time. A request takes some 60 µs of one core.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """The outcome of some requests."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)  # of those that were answered with 200
    others: list[float] = field(default_factory=list)  # of the rest

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.statuses[200] / max(self.seconds, 1e-9)

    def percentile(self, share: float) -> float:
        """Milliseconds within which this share was answered."""
        ordered = sorted(self.latencies)
        return 1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Connection:
    """One persistent connection."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, target: str, timeout: float) -> int:
        """Send a request; return the status, 0 if the connection broke, -1 on a time-out."""
        try:
            async with asyncio.timeout(timeout):
                if self._writer is None:
                    self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
                assert self._reader is not None
                self._writer.write(f"GET {target} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
                head = await self._reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                await self._reader.readexactly(length)
                return int(head[9:12])
        except TimeoutError:
            self.close()
            return -1
        except (OSError, asyncio.IncompleteReadError, ValueError):
            self.close()
            return 0

    def close(self) -> None:
        """Drop the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def at_rate(
    host: str, port: int, targets: Iterator[str], rate: float, seconds: float, timeout: float, connections: int = 400
) -> Outcome:
    """Send a number of requests a second."""
    free = [Connection(host, port) for _ in range(connections)]
    done, tasks = Outcome(), set[asyncio.Task[None]]()
    began = time.perf_counter()

    async def one(due: float, target: str) -> None:
        connection = free.pop() if free else Connection(host, port)
        note(done, await connection.get(target, timeout), time.perf_counter() - due)
        free.append(connection)

    sent = 0
    while (now := time.perf_counter() - began) < seconds:
        while sent < now * rate:
            task = asyncio.create_task(one(began + sent / rate, next(targets)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    done.seconds = time.perf_counter() - began
    for connection in free:
        connection.close()
    return done


async def flat_out(
    host: str, port: int, targets: Iterator[str], connections: int, seconds: float, timeout: float
) -> Outcome:
    """Send the next request as soon as a response has arrived, over a number of connections."""
    done, began = Outcome(), time.perf_counter()

    async def one() -> None:
        connection = Connection(host, port)
        while time.perf_counter() - began < seconds:
            due = time.perf_counter()
            note(done, await connection.get(next(targets), timeout), time.perf_counter() - due)
        connection.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    done.seconds = time.perf_counter() - began
    return done


def note(done: Outcome, status: int, took: float) -> None:
    """Record one answer."""
    done.statuses[status] += 1
    (done.latencies if status == 200 else done.others).append(took)
