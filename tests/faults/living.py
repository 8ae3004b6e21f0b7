"""Deaths of a store that changes: merged layers, stores with history, and servers that are written to."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from cocite.graph.build import maintain, merge_layers
from cocite.graph.changes import dates
from cocite.graph.changes.history import history_of
from cocite.graph.store import Graph
from cocite.http import writer, writes
from cocite.http.writes import COMPACTING
from tests.faults.dying import CALLS, _replace, command, end_all, finished, fork, in_child, moments
from tests.faults.model import ABSENT, STALE, content, look, names_of, store, word
from tests.graph.webs import long_lists

KEY = "a-key-for-the-trials-of-writing-0123456789"
MAX_LAYERS = 1  # so that every second commit merges
REQUEST_SECONDS = 60.0


def look_at_all_dates(place: Path) -> dict[str, Any]:
    """What a store holds, now and on each date of its history."""
    found = look(place)
    if found["content"] == ABSENT:
        return found
    history = history_of(Graph(store(place)))
    assert history is not None, "it has lost its history"
    graphs = {date: dates._build(history, 1 + n, None, lambda *_: None) for n, date in enumerate(history.dates)}
    return found | {"dates": {date: content(graph, names_of(graph)) for date, graph in graphs.items()}}


def merging(work: Callable[[], object]) -> Callable[[], object]:
    """The same work, which merges layers."""

    def run() -> None:
        merge_layers.MAX_LAYERS = MAX_LAYERS
        work()

    return run


# ---------------------------------------------------------------------------------- servers that are written to


@dataclass(frozen=True)
class Sent:
    """A request to write."""

    verb: str
    target: str
    body: bytes = b""

    def send(self, port: int) -> int:
        """Send it; the status, 0 if the server died."""
        about = {"Authorization": f"Bearer {KEY}", "Idempotency-Key": self.target + self.body.hex()[:40]}
        request = urllib.request.Request(f"http://127.0.0.1:{port}{self.target}", self.body or None, about)
        request.method = self.verb
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0


def sent() -> list[Sent]:
    """What is sent, in this order: pages with new and old targets, clicks, a removal, and pages again."""

    def pages(first: int) -> Sent:
        links = [{"url": f"https://site{n}.example/", "text": word(first), "block": 0} for n in range(first, first + 4)]
        links.append({"url": f"https://fresh{first}.example/", "text": "a new page", "block": 1})
        records = [
            {"url": f"https://sent{n}.example/", "title": f"Sent {n}", "text": f"{word(n % 30)} was sent. " * 3,
             "headings": ["One", "Two"], "links": links, "captured": "2026-03-03"}
            for n in range(first, first + 3)
        ]  # fmt: skip
        return Sent("POST", "/api/pages", "".join(json.dumps(record) + "\n" for record in records).encode())

    clicks = b"https://site1.example/\thttps://site2.example/\t5\nhttps://site3.example/\thttps://site7.example/\t2\n"
    removal = Sent("DELETE", "/api/pages?url=https://sent1.example/")
    return [pages(1), Sent("POST", "/api/clicks", clicks), removal, pages(5)]


class Server:
    """A server that is written to. It dies at the n-th call of its process that writes, or when it is ended.

    At every other call only that process dies, and the server lives on.
    """

    def __init__(self, place: Path, port: int, death: int = -1, compacts: bool = False) -> None:
        self.port = port

        def prepare() -> None:
            os.environ["COCITE_SERVE_WRITE_KEY"] = KEY
            (place / "tmp").mkdir(exist_ok=True)
            tempfile.tempdir = str(place / "tmp")  # what was sent, and is left by a kill
            maintain.MIN_COMPACT_BYTES, maintain.COMPACT_SHARE = (1, 1 << 20) if compacts else (1 << 40, 2)
            writer.STARTING = f"from tests.faults.living import write_and_die; write_and_die({str(place)!r}, {death})"
            writes.COMPACTING = (
                f"from tests.graph.webs import long_lists; kept = long_lists(); kept.__enter__(); {COMPACTING}"
            )

        self._process = fork(command("serve", "-i", store(place), "--port", port), prepare)
        self._ended = False

    def wait(self) -> bool:
        """Until it answers; False if it died before."""
        until = time.monotonic() + REQUEST_SECONDS
        while time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5):
                return True
            done, _ = os.waitpid(self._process, os.WNOHANG)
            if done:
                self._ended = True
                return False
            time.sleep(0.02)
        raise AssertionError("the server doesn't answer")

    def end(self) -> None:
        """Kill it, if it is alive, with its compaction."""
        if not self._ended:
            self._ended = True
            end_all(self._process)


def write_and_die(place: str, death: int) -> None:
    """The process of a server that writes. Before its n-th call it kills itself, or the server, too.

    With 0, it counts the calls.
    """
    kept, calls = long_lists(), 0
    kept.__enter__()
    merge_layers.MAX_LAYERS = MAX_LAYERS

    def count(name: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == death:
            os.kill(os.getpid() if death % 2 else 0, signal.SIGKILL)
        if death == 0:
            (Path(place) / "calls").write_text(str(calls))
        return call(*args, **options)

    for name in CALLS if death >= 0 else ():
        _replace(name, count)
    writer.main()


def state(place: Path, words: bool = True) -> dict[str, Any]:
    """What a store holds, by the names of pages: after compaction they have other numbers, and other words."""

    def found() -> dict[str, Any]:
        whole = look(place)
        links, again, pages, removed = whole["content"]
        of_pages = [
            [targets[low:high], blocks[low:high], flags[low:high]]
            for starts, targets, blocks, flags in again
            for low, high in pairwise(starts)
        ]
        graph = Graph(store(place))
        there = {graph.address(page) for page in graph.names.in_order().tolist()}  # others are gone
        pages = [page for page in pages if page[0] in there]
        own = [sorted(links), sorted(json.dumps(each) for each in of_pages if each[0]), sorted(pages), sorted(removed)]
        kept = {name: whole[name] for name in ("search", *(("vectors", "keywords") if words else ()))}
        return {"content": own, "clicks": sorted(whole["clicks"]), **kept}

    whole: dict[str, Any] = in_child(found)
    return whole


@dataclass
class WrittenServer:
    """The states of a store after each request that a server gets."""

    model: Path
    trial: Callable[[Path], Any]
    port: Callable[[], int]
    compacts: bool = False

    def __post_init__(self) -> None:
        self.states, self.calls = list[dict[str, Any]](), 0
        with self.trial(self.model) as place:
            self.states.append(state(place, not self.compacts))
            server = Server(place, self.port(), 0)
            began = time.monotonic()
            try:
                assert server.wait()
                for request in sent():
                    assert (status := request.send(server.port)) == 200, status
                    self.states.append(state(place, not self.compacts))
                self.calls = int((place / "calls").read_text())
            finally:
                server.end()
            self.seconds = time.monotonic() - began

    def die(self, death: int = -1, moment: float = 0.0) -> str:
        """Write to a server that dies; then look, start another, send the rest, and look again."""
        requests, acknowledged = sent(), 0
        with self.trial(self.model) as place:
            server = Server(place, self.port(), max(death, -1), self.compacts)
            killer = fork(partial(self._kill_later, server, moment)) if moment else 0
            try:
                if server.wait():
                    for request in requests:
                        if request.send(server.port) != 200:
                            break
                        acknowledged += 1
                    else:
                        if self.compacts:
                            time.sleep(0.3)
            finally:
                if killer:
                    finished(killer)
                server.end()
            which = self._which(state(place, not self.compacts), acknowledged)
            again = Server(place, self.port(), compacts=self.compacts)
            try:
                assert again.wait()
                for number, request in enumerate(requests[acknowledged:], acknowledged):
                    status = request.send(again.port)
                    known = request.verb == "DELETE" and which > number and status == 404
                    assert status == 200 or known, f"request {number}, sent again, got {status}"
            finally:
                again.end()
            end = state(place, not self.compacts)
            unlike = [name for name, value in end.items() if value != self.states[-1][name]]
            assert not [name for name in unlike if end[name] not in (STALE, ABSENT)], f"at the end: {unlike}"
            assert not unlike or self.compacts, f"stale at the end: {unlike}"
        return "old" if which == acknowledged else "new"

    @staticmethod
    def _kill_later(server: Server, moment: float) -> None:
        time.sleep(moment)
        with suppress(ProcessLookupError):
            os.killpg(server._process, signal.SIGKILL)

    def _which(self, found: dict[str, Any], acknowledged: int) -> int:
        """How many requests the store has: those that were acknowledged, and maybe one more."""
        for number in (acknowledged, acknowledged + 1):
            wanted = self.states[min(number, len(self.states) - 1)]
            unlike = [name for name in found if found[name] != wanted[name]]
            if all(found[name] in (STALE, ABSENT) and name not in ("content", "clicks") for name in unlike):
                if number == acknowledged and unlike:
                    raise AssertionError(f"acknowledged, but {unlike} is stale")
                return number
        raise AssertionError(f"{acknowledged} requests were acknowledged, and the store has something else: {unlike}")


def post_trials(written: WrittenServer, times: int, seed: int, every: int) -> Iterator[tuple[str, Counter[str]]]:
    """Kill a server that is written to: at each of its calls, and at random times."""
    if not written.compacts:
        numbers = range(1, written.calls + 1, every)
        yield f"before each of {len(numbers)} calls of a server", Counter(written.die(n) for n in numbers)
    times_of_death = moments(times, written.seconds, seed)
    yield f"at {times} random times", Counter(written.die(moment=max(0.01, each)) for each in times_of_death)
