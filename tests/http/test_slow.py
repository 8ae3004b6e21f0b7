"""The process that answers slow questions: the same answers, ended and cancelled questions, editions, its own end."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cocite.budget import CANCELLED, STATE, budget_for, cancel, spend
from cocite.errors import TooMuchWork, TooSoon, UnknownPage
from cocite.http import slow
from cocite.http.questions import NORMAL, OperationQuestion
from cocite.http.responses import Reply
from cocite.http.service import reply_of
from cocite.http.slow import SlowProcess
from cocite.log import Log
from cocite.operations.pages.related import Related
from cocite.serving.threads import RefusedRequest
from cocite.snapshot import Snapshot
from tests.http.conftest import Asking, Response
from tests.http.test_run import lines, serving
from tests.http.test_store import EAGLE, add_eagle

START_SECONDS = 60.0
BUDGET = budget_for(10.0)
LONG_PATH = 100 * "a"
SLOW_TARGETS = (
    "/api/related?url=robin.example&method=walk",
    "/api/related?url=robin.example&k=500&format=csv",
    "/api/compare?url=robin.example",
    "/api/hubs?url=robin.example",
    "/api/keywords?url=robin.example",
    "/api/communities?q=birds",
    "/api/related?url=nobody.example&k=500",
    "/compare?url=robin.example",
    "/?url=robin.example&k=200&method=walk",
    f"/api/related?{'&'.join(f'url=https://x{n}.example/{LONG_PATH}' for n in range(40))}&url=robin.example",
)


def fail(error: Exception, *_: Any) -> None:
    """Work that raises an error."""
    raise error


def fail_soon(*_: Any) -> None:
    """Work that raises an error that can't be sent."""
    raise TooSoon("wait", 5)


def lock(*_: Any) -> Any:
    """Work whose result can't be sent."""
    return threading.Lock()


def sleep(*_: Any) -> None:
    """Work that doesn't see that it is cancelled."""
    time.sleep(START_SECONDS)


def end(*_: Any) -> None:
    """Work that ends the process, as a lack of memory would."""
    os.kill(os.getpid(), signal.SIGKILL)


def forever(*_: Any) -> None:
    """Work that ends when it is cancelled."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        spend(1)


def who(*_: Any) -> int:
    """The process that works."""
    return os.getpid()


def edition(web: Snapshot, *_: Any) -> str:
    """The edition that is worked with."""
    return web.edition


def wait_until(condition: Callable[[], Any]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@pytest.fixture
def process(own: Path) -> Iterator[SlowProcess]:
    """A process that is ready."""
    started = SlowProcess(own, 2, False, Log())
    assert started.run(who, None, BUDGET)
    yield started
    started.close()


def test_work_is_done_elsewhere_with_its_errors(process: SlowProcess) -> None:
    found = process.run(who, None, BUDGET)
    assert found is not None and found[0] != os.getpid()
    with pytest.raises(UnknownPage, match="none") as raised:
        process.run(partial(fail, UnknownPage("none", ["near"])), None, BUDGET)
    assert raised.value.nearest == ["near"]
    with pytest.raises(RuntimeError, match="wait"):  # it can't be sent
        process.run(fail_soon, None, BUDGET)
    wait_until(lambda: process.used[0] > 10_000_000 and process.used[1] > 0)


def test_cancelled_work_ends(process: SlowProcess) -> None:
    budget = budget_for(10.0)
    cancel(budget)
    with pytest.raises(TooMuchWork, match="Cancelled"):
        process.run(forever, None, budget)
    assert budget[STATE] == CANCELLED and process.run(who, None, BUDGET)


def test_work_has_a_budget(process: SlowProcess) -> None:
    with pytest.raises(TooMuchWork, match="more work"):
        process.run(forever, None, budget_for(0.001))


def test_each_edition_has_its_answers(process: SlowProcess, own: Path) -> None:
    def opened() -> Snapshot:
        web = Snapshot(own)
        web.open_parts()
        return web

    before = opened()
    assert process.run(edition, before, BUDGET) == (before.edition,)
    add_eagle(own)
    after = opened()
    assert process.run(edition, before, BUDGET) == (before.edition,)  # whoever still has it gets its answers
    assert process.run(edition, after, BUDGET) == (after.edition,)
    for _ in range(2):
        assert process.run(edition, before, BUDGET) is None  # the server answers that itself
    assert process.run(edition, after, BUDGET) == (after.edition,)


def test_ranks_that_only_the_server_has_are_sent(process: SlowProcess, own: Path) -> None:
    web = Snapshot(own)
    web.open_parts()
    found = process.run(edition, web, BUDGET)
    assert found == (web.edition,) and not web.ranks
    web.build_parts(lambda *_, **__: None)
    ranks = web.ranks
    assert len(ranks) == 2
    for known in (dict(list(ranks.items())[:1]), ranks):
        web._parts = {name: part for name, part in web._parts.items() if name not in ranks} | known
        web._update_edition()
        assert process.run(edition, web, BUDGET) == (web.edition,)


def test_work_that_kills_it_is_not_tried_by_the_server(process: SlowProcess) -> None:
    with pytest.raises(RefusedRequest, match="ended"):
        process.run(end, None, BUDGET)
    assert process.run(who, None, BUDGET)  # it starts again
    for work in (end, who):  # twice within a minute: it isn't started for another one
        with pytest.raises(RefusedRequest, match="ended") as raised:
            process.run(work, None, BUDGET)
        assert raised.value.retry_after in (59, 60)


def test_a_death_that_nobody_waited_for_costs_no_question(process: SlowProcess) -> None:
    [pid] = process.run(who, None, BUDGET) or [0]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: process._running and process._running.is_gone)
    found = process.run(who, None, BUDGET)
    assert found and found[0] != pid


def test_a_process_that_hangs_is_killed(process: SlowProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    [pid] = process.run(who, None, BUDGET) or [0]
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(slow, "HUNG_SECONDS", 1.0)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(process.run, who, None, BUDGET)
        until = time.monotonic() + START_SECONDS
        while not asked.done() and time.monotonic() < until:
            process.look()
            time.sleep(0.1)
        with pytest.raises(RefusedRequest, match="ended"):
            asked.result()
    assert is_gone(pid)


def test_cancelled_work_that_goes_on_is_killed(process: SlowProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = budget_for(10.0)
    cancel(budget)
    process.run(who, None, BUDGET)
    wait_until(lambda: not process._is_loading())
    monkeypatch.setattr(slow, "HUNG_SECONDS", 0.5)
    with pytest.raises(RefusedRequest, match="ended"):
        process.run(sleep, None, budget)


def test_what_can_not_be_sent_is_said(process: SlowProcess) -> None:
    assert process.run(lambda *_: 1, None, BUDGET) is None  # nobody can import it: the server does it
    with pytest.raises(RuntimeError, match="pickle"):
        process.run(lock, None, BUDGET)
    assert process.run(who, None, BUDGET)


def test_it_ends_when_nobody_asks(process: SlowProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    [pid] = process.run(who, None, BUDGET) or [0]
    wait_until(lambda: process.used[1])
    process.look()
    assert process.run(who, None, BUDGET) == (pid,)
    monkeypatch.setattr(slow, "IDLE_SECONDS", 0.0)
    process.look()
    wait_until(lambda: is_gone(pid))
    monkeypatch.undo()
    assert process.run(who, None, BUDGET) not in (None, (pid,))
    assert process.used[1] > 0


def test_files_that_were_lost_and_are_back_are_read_again(process: SlowProcess, own: Path) -> None:
    question = OperationQuestion.of(Related(urls=("https://robin.example/",), method="cocitation", k=200))
    files = {file: file.read_bytes() for file in (own / "g000001").glob("*.bin")}

    def status() -> int:
        [reply] = process.run(partial(reply_of, question, NORMAL, b"x"), None, BUDGET) or [Reply(0, b"")]
        return int(reply.status)

    assert status() == 200
    for file in files:
        os.truncate(file, 0)
    assert status() in (200, 503)  # the first page of a file may be in use
    for file, content in files.items():
        file.write_bytes(content)
    status()
    assert status() == 200


def test_without_a_store_the_server_answers(own: Path) -> None:
    started = SlowProcess(own / "missing", 1, False, Log())
    assert started.run(who, None, BUDGET) is None
    assert started.run(who, None, BUDGET) is None
    started.close()
    with pytest.raises(RefusedRequest, match="shutting down"):
        started._start_at = 0.0
        started.run(who, None, BUDGET)


def test_it_does_not_outlive_a_server_that_stops_while_it_starts(own: Path) -> None:
    started = SlowProcess(own, 1, False, Log())
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(started.run, who, None, BUDGET)
        wait_until(lambda: started._running or asked.done())
        running = started._running
        started.close()
        with suppress(RefusedRequest):
            asked.result()
    assert running is None or is_gone(running.process.pid)


def test_answers_are_those_of_the_server_itself(own: Path) -> None:
    """Each kind of question can be sent, and its reply comes back whole."""
    server, other = Asking(own), Asking(own)
    other.service.start_slow_process()
    assert other.service.slow_process is not None
    ask, asked = other.service.slow_process.run, []

    def counted(*work: Any) -> Any:
        asked.append(done := ask(*work))
        return done

    other.service.slow_process.run = counted
    wait_until(lambda: ask(who, None, BUDGET))
    try:
        for target in SLOW_TARGETS:
            asked.clear()
            ours, theirs = server.get(target), other.get(target)
            assert asked and all(asked), target
            assert (theirs.status, without_times(theirs)) == (ours.status, without_times(ours))
            assert theirs.headers.keys() == ours.headers.keys()
    finally:
        server.close()
        other.close()


def without_times(response: Response) -> str:
    """The body, without how long it took."""
    return re.sub(r'"milliseconds":[\d.]+|[\d.]+ ms', "", response.text)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_a_server_starts_it_goes_on_without_it_and_takes_it_along(own: Path, place: Path) -> None:
    with serving(own, place) as (server, log):
        numbers = iter(range(101, 1000))

        def ask() -> bytes:
            found: bytes = server.get(f"/api/related?url=robin.example&k={next(numbers)}&method=cocitation")
            return found

        def pids() -> list[int]:
            return [line["process"] for line in lines(log) if line["event"] == "slow questions" and "process" in line]

        server.get("/api/related?url=robin.example")
        assert pids() == []  # nobody has asked for it
        wait_until(lambda: ask() and pids())
        [first] = pids()
        assert b"wren" in ask()
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: is_gone(first))
        time.sleep(1.0)  # its other threads end after the first
        assert b"wren" in ask()
        add_eagle(own)
        wait_until(lambda: EAGLE.encode() in ask())
    with serving(own, place) as (server, log):
        wait_until(lambda: ask() and pids())
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        assert is_gone(pids()[0])
    with serving(own, place) as (server, log):
        wait_until(lambda: ask() and pids())
        server.process.kill()
        wait_until(lambda: is_gone(pids()[0]))


def is_gone(process: int) -> bool:
    """Whether a process has ended."""
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
