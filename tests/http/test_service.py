"""What stands between a question and its answer: cache, ETags, the same question at once, load, time-outs."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from cocite.budget import CANCELLED, LIMITED, STATE, Budget, current
from cocite.http.questions import BUSY, IDLE, NORMAL, SWAMPED, OperationQuestion
from cocite.http.responses import reply_to
from cocite.http.service import Service
from cocite.http.settings import MAX_READ_AT_ONCE_BYTES
from cocite.operations.pages.related import Related
from cocite.related.methods import method
from cocite.serving.threads import MAX_REFUSALS, RefusedRequest
from cocite.snapshot import Snapshot
from tests.http.conftest import Asking, Plain, Response

ROBIN = "https://robin.example/"
RELATED = f"/api/related?url={ROBIN}"


@pytest.fixture
def server(made: Path) -> Any:
    found = Asking(made, timeout=5.0)
    yield found
    found.close()


def counted(server: Asking, name: str) -> float:
    """A counter of the server."""
    text = server.get("/metrics").text
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(f"cocite_{name} ")))


def at_load(server: Asking, monkeypatch: pytest.MonkeyPatch, load: int) -> None:
    """Have the server think that it is so loaded."""
    monkeypatch.setattr(Service, "load", lambda self: load)


def test_a_repeated_question_gets_the_same_answer(server: Asking) -> None:
    first, again = server.get(RELATED), server.get(RELATED)
    assert first.body == again.body  # with its milliseconds: nothing was worked out again
    assert first.headers["etag"] == again.headers["etag"]
    assert (counted(server, "cache_misses_total"), counted(server, "cache_hits_total")) == (1, 1)
    other = server.get(f"{RELATED}&k=10")  # spelled otherwise, the same question
    assert other.body == first.body
    assert counted(server, "cache_misses_total") == 1


def test_an_etag_saves_sending_the_answer(server: Asking) -> None:
    etag = server.get(RELATED).headers["etag"]
    for given in (etag, etag.removeprefix("W/"), f'"other", {etag}', "*"):
        answer = server.get(RELATED, if_none_match=given)
        assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", etag)
        assert "content-length" not in answer.headers
    assert server.get(RELATED, if_none_match='W/"other"').status == 200


def test_an_etag_is_valid_after_the_answer_left_the_cache(server: Asking) -> None:
    etag = server.get(RELATED).headers["etag"]
    server.service.cache.clear()
    assert server.get(RELATED, if_none_match=etag).status == 304
    assert counted(server, "cache_misses_total") == 1


def test_not_found_is_cached_too(server: Asking) -> None:
    for _ in range(2):
        missing = server.get("/api/related?url=nowhere.example")
        assert missing.status == 404
    assert counted(server, "cache_misses_total") == 1
    for given in (missing.headers["etag"], "*"):  # what is not there has not been had
        assert server.get("/api/related?url=nowhere.example", if_none_match=given).status == 404
        server.service.cache.clear()
        assert server.get("/api/related?url=nowhere.example", if_none_match=given).status == 404


def test_unavailable_parts_are_not_cached(server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(server.service.web._parts, "search")
    broken = server.get("/api/search?q=birds")
    assert (broken.status, broken.headers["cache-control"]) == (503, "no-store")
    assert int(broken.headers["retry-after"]) > 0
    monkeypatch.undo()
    assert server.get("/api/search?q=birds").status == 200


def test_fewer_parents_when_busy_are_reported(server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """ROBIN has 6 parents: 2,000, or 500 when busy, change nothing; of 4 by name, 1 is left when busy."""
    target = f"{RELATED}&method=companion"
    monkeypatch.setattr("cocite.http.questions.PARENT_FACTORS", (2.0, 1.0, 1 / 500, 1 / 1000))
    at_load(server, monkeypatch, NORMAL)
    usual = server.get(target)
    assert (usual.json["params"]["parents"], "limits" in usual.json) == (2000, False)
    server.service.cache.clear()
    at_load(server, monkeypatch, BUSY)
    busy = server.get(target)
    assert busy.json["limits"] == {"load": "busy", "parents": 4}
    assert busy.json["params"]["parents"] == 4
    assert busy.headers["etag"] != usual.headers["etag"]
    at_load(server, monkeypatch, SWAMPED)
    assert server.get(target).body == busy.body  # a fuller answer that is kept is better than a new, poorer one
    server.service.cache.clear()
    swamped = server.get(target)
    assert swamped.json["limits"] == {"load": "swamped", "parents": 2, "reasons": False}
    assert [each["reasons"] for each in swamped.json["answers"]] == [[]] * len(swamped.json["answers"])
    at_load(server, monkeypatch, BUSY)
    assert server.get(target).json["limits"]["load"] == "busy"  # never the poorer one
    at_load(server, monkeypatch, IDLE)
    idle = server.get(target)
    assert "limits" not in idle.json  # there are not so many parents that more could be taken
    assert untimed(idle) == untimed(usual)
    at_load(server, monkeypatch, SWAMPED)
    assert server.get(target).body == idle.body
    assert server.get(target, if_none_match=swamped.headers["etag"]).status == 200


def test_fewer_parents_are_reported_in_files_and_pictures_too(server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    at_load(server, monkeypatch, SWAMPED)
    for target in (f"{RELATED}&format=csv", f"/picture?url={ROBIN}&format=gexf"):
        assert server.get(target).headers["cocite-limits"] == '{"load":"swamped","reasons":false}'
    for target in (f"/?url={ROBIN}", f"/picture?url={ROBIN}"):
        assert "The server is busy" in server.get(target).text
    at_load(server, monkeypatch, NORMAL)
    assert "cocite-limits" not in server.get(f"{RELATED}&format=csv").headers
    assert "The server is busy" not in server.get(f"/picture?url={ROBIN}").text


def untimed(answer: Response) -> Any:
    return {name: value for name, value in answer.json.items() if name != "milliseconds"}


def parents_at(asked: OperationQuestion, web: Snapshot, load: int) -> int:
    found: int = method(asked.at(web.graph, load).method).params.parents  # type: ignore[attr-defined]
    return found


def test_more_parents_when_idle(made: Path) -> None:
    asked, web = OperationQuestion.of(Related(urls=(ROBIN,), method="companion")), Snapshot(made)
    few = OperationQuestion.of(Related(urls=(ROBIN,), method="companion(parents=3)"))
    assert [parents_at(asked, web, load) for load in (IDLE, NORMAL)] == [2000, 2000]
    object.__setattr__(asked, "parents", lambda graph: 10**6)
    parents = [parents_at(asked, web, load) for load in (IDLE, NORMAL, BUSY, SWAMPED)]
    assert parents == [4000, 2000, 500, 100]
    assert {parents_at(few, web, load) for load in range(4)} == {3}  # asked for by name
    assert len(set(asked.keys(web))) == 4


def test_without_adapting(made: Path) -> None:
    server = Asking(made, adapt=False)
    assert server.service.load() == NORMAL
    server.close()


def test_load_follows_the_queue(server: Asking) -> None:
    gate = server.service.quick
    loads = []
    for running, waiting in ((0, 0), (1, 0), (1, 1), (2, 8 * gate.threads), (2, gate.queue // 2)):
        gate.running = running
        gate._waiting.extend([None] * (waiting - len(gate._waiting)))  # type: ignore[list-item]
        loads.append(server.service.load())
    gate.running = 0
    gate._waiting.clear()
    assert loads == [IDLE, IDLE, NORMAL, BUSY, SWAMPED]


class Slow:
    """Questions that take until they are let go."""

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Semaphore(0)
        self.times = 0
        self.budgets: list[Budget] = []

    def question(self, number: int, slow: bool = False) -> Plain:
        def find(_: Snapshot) -> dict[str, int]:
            self.times += 1
            self.budgets.append(current())
            self.begun.release()
            assert self.go.wait(20)
            return {"number": number}

        return Plain("store", (number,), find, slow)


def test_the_same_question_at_once_is_worked_on_once(server: Asking) -> None:
    slow = Slow()

    async def both() -> list[bytes]:
        tasks = [asyncio.create_task(server.service.answer(slow.question(1))) for _ in range(5)]
        await asyncio.to_thread(slow.begun.acquire)
        slow.go.set()
        return [(await task).body for task in tasks]

    assert server.run(both()) == [b'{"number":1}'] * 5
    assert slow.times == 1
    assert counted(server, "shared_total") == 4


def test_a_timeout_is_reported_and_the_work_is_cancelled(made: Path) -> None:
    server, slow = Asking(made, timeout=0.05), Slow()
    with pytest.raises(RefusedRequest) as caught:
        server.run(server.service.answer(slow.question(1)))
    reply = reply_to(caught.value)
    assert (reply.status, caught.value.kind) == (503, "Timeout")
    assert dict(reply.extra)[b"retry-after"] == b"2"
    assert not server.service._pending
    assert [int(each[STATE]) for each in slow.budgets] == [CANCELLED]
    slow.go.set()
    server.close()


def test_work_is_cancelled_when_the_last_client_has_gone(made: Path) -> None:
    server, slow = Asking(made, timeout=20.0), Slow()

    async def leave() -> list[int]:
        loop, states = asyncio.get_running_loop(), list[int]()
        gone = [loop.create_future() for _ in range(2)]
        tasks = [asyncio.create_task(server.service.answer(slow.question(1), client="a", lost=each)) for each in gone]
        await asyncio.to_thread(slow.begun.acquire)
        for each, task in zip(gone, tasks, strict=True):
            each.set_result(None)
            with pytest.raises(RefusedRequest, match="went away"):
                await task
            states.append(int(slow.budgets[0][STATE]))
        again = asyncio.create_task(server.service.answer(slow.question(1)))  # begins anew
        await asyncio.sleep(0.05)
        slow.go.set()
        assert (await again).status == 200
        return states

    assert server.run(leave()) == [LIMITED, CANCELLED]
    assert slow.times == 2
    server.close()


def test_too_many_requests_are_rejected_and_it_recovers(made: Path) -> None:
    server, slow = Asking(made, threads=1, queue=3, timeout=20.0), Slow()
    kept = server.get(RELATED)

    async def crowd() -> tuple[list[int], Response, Response, list[int]]:
        tasks = [asyncio.create_task(server.service.answer(slow.question(n), client="192.0.2.1")) for n in range(8)]
        await asyncio.sleep(0.1)
        refused = [task.exception().status for task in tasks if task.done()]  # type: ignore[union-attr]
        at_once = await server.ask("GET", f"{RELATED}&k=7"), await server.ask("GET", RELATED)
        slow.go.set()
        done = [
            (await task).status for task in tasks if not isinstance(task.done() and task.exception(), RefusedRequest)
        ]
        return refused, *at_once, done

    refused, new, same, done = server.run(crowd())
    assert (refused, done) == ([503] * 4, [200] * 4)  # one at work, three waiting
    assert (new.status, new.json["error"]["kind"]) == (503, "Busy")
    assert int(new.headers["retry-after"]) >= 1
    assert same.body == kept.body  # what is kept is given whatever the load
    assert server.get(f"{RELATED}&k=7").status == 200
    assert counted(server, "shed_total") == 5
    server.close()


def test_long_questions_do_not_hold_up_quick_ones(made: Path) -> None:
    server, slow = Asking(made, threads=2, timeout=20.0), Slow()

    async def both() -> int:
        tasks = [asyncio.create_task(server.service.answer(slow.question(n, slow=True))) for n in range(4)]
        await asyncio.to_thread(slow.begun.acquire)
        answer = await server.ask("GET", RELATED)
        slow.go.set()
        await asyncio.gather(*tasks)
        return answer.status

    assert server.run(both()) == 200
    server.close()


def test_an_internal_error_is_logged_but_not_shown(server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret of the server")

    monkeypatch.setattr("cocite.operations.words.search.SearchPages.run", broken)
    answer = server.get("/api/search?q=birds")
    assert (answer.status, answer.json["error"]["kind"]) == (500, "Fault")
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
    page = server.get("/search?q=birds")
    assert (page.status, page.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "Internal error" in page.text and "secret" not in page.text
    fault = next(line for line in server.log if line["event"] == "fault")
    assert "secret of the server" in fault["trace"]
    assert counted(server, "failures_total") == 2
    monkeypatch.undo()
    assert server.get("/api/search?q=birds").status == 200


def test_every_request_is_a_line_of_json(server: Asking) -> None:
    server.get(f"{RELATED}&x=%0A%22")
    server.get(RELATED)
    server.get(RELATED)
    lines = [line for line in server.log if line["event"] == "request"]
    assert [(line["status"], line["cached"]) for line in lines] == [(422, False), (200, False), (200, True)]
    assert lines[0]["path"] == "/api/related"
    assert lines[0]["client"] == "192.0.2.1"
    assert all(line["time"].endswith("Z") and line["ms"] >= 0 for line in lines)


def test_quiet_logs_what_fails(made: Path) -> None:
    server = Asking(made, quiet=True)
    server.get(RELATED)
    server.get("/nowhere")
    assert [line["status"] for line in server.log if line["event"] == "request"] == [404]
    server.close()


def test_answers_of_an_old_generation_are_not_cached(server: Asking) -> None:
    slow = Slow()

    async def across() -> int:
        task = asyncio.create_task(server.service.answer(slow.question(1)))
        await asyncio.to_thread(slow.begun.acquire)
        server.service.web.edition = "another"
        slow.go.set()
        await task
        return len(server.service.cache)

    assert server.run(across()) == 0


def test_large_answers_are_compressed_in_the_thread(server: Asking) -> None:
    large = Plain("store", ("large",), lambda _: {"text": "x" * 100_000})
    reply = server.run(server.service.answer(large))
    assert reply.gzipped is not None and len(reply.gzipped) < 1000
    assert server.service.cache.bytes > 100_000


def test_a_small_cache_stays_small(made: Path) -> None:
    server = Asking(made, cache=100_000)
    for k in range(200):
        server.get(f"{RELATED}&k={k}")
    assert server.service.cache.bytes <= 100_000
    assert len(server.service.cache) < 200
    assert counted(server, "cache_evictions_total") > 0
    server.close()


@pytest.mark.parametrize(
    ("asked", "slow"),
    [
        ({}, False),
        ({"method": "companion(parents=500)"}, False),
        ({"method": "companion(parents=2001)"}, True),
        ({"method": "auto(best=100)"}, True),
        ({"method": "cocitation(seed=7)"}, True),
        ({"method": "cocitation(unit=host)"}, False),
        ({"method": "walk"}, True),
        ({"k": 101}, True),
        ({"urls": tuple(f"https://p{n}.example/" for n in range(6))}, True),
        ({"trust": ("example.com",)}, True),
    ],
)
def test_questions_that_read_more_than_usual_are_slow(asked: dict[str, Any], slow: bool) -> None:
    """They have threads of their own, so others don't wait for them."""
    assert OperationQuestion.of(Related(**{"urls": ("https://p.example/",), **asked})).slow == slow


def test_long_requests_wait_with_slow_questions(made: Path) -> None:
    """What is refused is refused before it is read."""
    server, slow = Asking(made, threads=1, queue=4, timeout=5.0), Slow()

    async def work() -> None:
        service = server.service
        first = asyncio.create_task(service.answer(slow.question(0, True), client="greedy"))
        await asyncio.to_thread(slow.begun.acquire)
        second = asyncio.create_task(service.answer(slow.question(1, True), client="greedy"))
        await asyncio.sleep(0.05)
        assert service.slow.full
        long = b"/api/related?url=" + b"x" * MAX_READ_AT_ONCE_BYTES
        assert service.refusing(long, "greedy") is service.slow
        assert service.refusing(b"/api/related?url=x", "greedy") is None  # the quick threads are free
        for number in range(2, 2 + MAX_REFUSALS):
            assert service.refusing(b"/api/related?url=x", "greedy") is None
            with pytest.raises(RefusedRequest):
                await service.answer(slow.question(number, True), client="greedy")
        assert service.refusing(b"/api/related?url=x", "greedy") is service.slow  # it must wait
        assert service.refusing(b"/api/related?url=x", "honest") is None
        slow.go.set()
        await asyncio.gather(first, second)

    server.run(work())
    server.close()
