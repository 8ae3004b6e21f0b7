"""So much work at once, so much waiting, the rest sent away."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time

import pytest
from numba.core.compiler_lock import global_compiler_lock

from cocite import budget
from cocite.serving import threads as module
from cocite.serving.threads import MAX_REFUSALS, RefusedRequest, WorkQueue, run_in_thread


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_results_and_errors_of_work_are_passed_on() -> None:
    async def work() -> int:
        gate = WorkQueue("t", 1, 1)
        with pytest.raises(ZeroDivisionError):
            await gate.run(lambda: 1 // 0, 1.0)
        found = await gate.run(lambda: 7, 1.0)
        await settled()
        assert (gate.running, gate.waiting) == (0, 0)
        gate.close()
        return found

    assert asyncio.run(work()) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="a priority belongs to a process")
def test_threads_may_have_a_lower_priority() -> None:
    async def work() -> list[int]:
        own, nice = WorkQueue("own", 1, 9), WorkQueue("nice", 1, 9, nice=3)
        found = [await queue.run(lambda: os.getpriority(os.PRIO_PROCESS, 0), 5.0) for queue in (own, nice)]
        own.close()
        nice.close()
        return [priority - os.getpriority(os.PRIO_PROCESS, 0) for priority in found]

    assert asyncio.run(work()) == [0, 3]


def test_slow_threads_wait_for_the_quick_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow question that steps aside goes on when the quick ones have ended."""
    monkeypatch.setattr(budget, "MAX_ASIDE_SECONDS", 20.0)

    async def work() -> list[str]:
        done, spending = list[str](), threading.Event()
        quick = WorkQueue("quick", 1, 9)
        slow = WorkQueue("slow", 1, 9, nice=1, first=quick)

        def short() -> None:
            spending.wait(20.0)
            time.sleep(0.05)
            done.append("quick")

        def long() -> None:
            spending.set()
            budget.spend()
            done.append("slow")

        await asyncio.gather(quick.run(short, 30.0), slow.run(long, 30.0))
        await slow.run(budget.spend, 30.0)  # nobody to wait for
        quick.close()
        slow.close()
        return done

    assert asyncio.run(work()) == ["quick", "slow"]


def test_in_order_of_arrival() -> None:
    async def work() -> list[int]:
        gate, done = WorkQueue("t", 1, 10), list[int]()
        await asyncio.gather(*(gate.run(lambda n=n: done.append(n), 5.0) for n in range(6)))  # type: ignore[misc]
        gate.close()
        return done

    assert asyncio.run(work()) == list(range(6))


def test_a_further_thread_begins_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short work is done by one thread; while long work goes on, others begin."""
    monkeypatch.setattr(module, "LONG_QUESTION_SECONDS", 0.05)
    go = threading.Event()

    async def work() -> tuple[int, int, int]:
        gate = WorkQueue("t", 2, 10)
        tasks = [asyncio.create_task(gate.run(lambda: go.wait(10), 10.0)) for _ in range(3)]
        await asyncio.sleep(0.01)
        early = gate.running
        await asyncio.sleep(0.1)
        late, waiting = gate.running, gate.waiting
        go.set()
        await asyncio.gather(*tasks)
        await settled()
        assert (gate.running, gate.waiting) == (0, 0)
        gate.close()
        return early, late, waiting

    assert asyncio.run(work()) == (1, 2, 1)


def test_clients_take_turns_by_the_time_that_they_used() -> None:
    go, done = threading.Event(), list[str]()

    async def work() -> list[str]:
        gate = WorkQueue("t", 1, 100)
        await gate.run(lambda: time.sleep(0.03), 5.0, "greedy")
        first = asyncio.create_task(gate.run(lambda: go.wait(10), 10.0, "other"))
        await settled()
        names = ["greedy"] * 10 + ["honest"] * 2
        tasks = [asyncio.create_task(gate.run(lambda n=n: done.append(n), 10.0, n)) for n in names]  # type: ignore[misc]
        await settled()
        go.set()
        await asyncio.gather(first, *tasks)
        gate.close()
        return done

    assert asyncio.run(work())[:2] == ["honest"] * 2


def test_whoever_fills_the_queue_makes_room() -> None:
    go = threading.Event()

    async def work() -> None:
        gate = WorkQueue("t", 1, 4)
        first = asyncio.create_task(gate.run(lambda: go.wait(10), 10.0, "greedy"))
        await settled()
        greedy = [asyncio.create_task(gate.run(lambda: None, 10.0, "greedy")) for _ in range(4)]
        await settled()
        assert gate.refuses("greedy") and not gate.refuses("honest")
        honest = [asyncio.create_task(gate.run(lambda: 7, 10.0, "honest")) for _ in range(3)]
        await settled()
        assert [task.done() for task in greedy] == [False, False, True, True]
        assert all(isinstance(task.exception(), RefusedRequest) for task in greedy[2:])
        assert isinstance(honest[2].exception(), RefusedRequest)  # both have two now
        go.set()
        assert await honest[0] == await honest[1] == 7
        await asyncio.gather(first, *greedy[:2])
        gate.close()

    asyncio.run(work())


def test_who_must_wait_is_refused_unread_while_many_wait() -> None:
    go = threading.Event()

    async def work() -> None:
        gate = WorkQueue("t", 1, 4)
        tasks = [asyncio.create_task(gate.run(lambda: go.wait(10), 10.0, "greedy")) for _ in range(5)]
        await settled()
        for refusals in range(MAX_REFUSALS):
            assert not gate.must_wait("greedy"), refusals  # who is refused once may still ask something quick
            with pytest.raises(RefusedRequest) as refused:
                await gate.run(lambda: None, 10.0, "greedy")
            assert refused.value.retry_after == 1
        assert gate.must_wait("greedy") and not gate.must_wait("honest")
        until = gate._again["greedy"][0]
        gate.refusal("greedy")
        assert gate._again["greedy"][0] == until  # who asks all the time waits no longer for it
        for task in tasks[2:]:
            task.cancel()
        await settled()
        assert not gate.must_wait("greedy")  # less than half of the queue is full
        go.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        gate.close()

    asyncio.run(work())


def test_a_cancelled_request_leaves_the_queue() -> None:
    go = threading.Event()

    async def work() -> None:
        gate = WorkQueue("t", 1, 2)
        first = asyncio.create_task(gate.run(lambda: go.wait(10), 10.0))
        await settled()
        with pytest.raises(TimeoutError):
            await gate.run(lambda: None, 0.01)
        second, third = (asyncio.create_task(gate.run(lambda: None, 10.0)) for _ in range(2))
        await settled()
        assert (gate.waiting, gate.full) == (2, True)
        with pytest.raises(RefusedRequest) as refused:
            await gate.run(lambda: None, 10.0)
        assert refused.value.retry_after == 1
        third.cancel()
        await settled()
        assert gate.waiting == 1
        go.set()
        await asyncio.gather(first, second)
        await settled()
        assert (gate.running, gate.waiting) == (0, 0)
        gate.close()
        with pytest.raises(RefusedRequest):
            await gate.run(lambda: None, 1.0)
        assert gate.running == 0

    asyncio.run(work())


def test_time_does_not_count_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that has to wait for that, in the queue or in a thread, isn't too slow."""
    go = threading.Event()

    async def work() -> None:
        gate = WorkQueue("t", 1, 2)
        monkeypatch.setattr(module.compiling, "threads", 1)
        first = asyncio.create_task(gate.run(lambda: go.wait(10), 0.01))
        second = asyncio.create_task(gate.run(lambda: "answer", 0.01))
        waited = asyncio.create_task(module.wait_for((first,), 0.01))
        await asyncio.sleep(0.1)
        assert not second.done() and not waited.done()
        go.set()
        assert await second == "answer" and await waited == {first}
        go.clear()
        third = asyncio.create_task(gate.run(lambda: go.wait(10), 0.01))
        await settled()
        monkeypatch.setattr(module.compiling, "threads", 0)
        monkeypatch.setattr(module.compiling, "elsewhere", lambda: True)
        waited = asyncio.create_task(module.wait_for((third,), 0.01))
        await asyncio.sleep(0.1)
        assert not waited.done()
        monkeypatch.setattr(module.compiling, "elsewhere", lambda: False)
        assert await waited == set()
        assert await module.wait_for((third,), 0.01) == set()
        with pytest.raises(TimeoutError):
            await gate.run(lambda: None, 0.01)
        go.set()
        gate.close()

    asyncio.run(work())


def test_compiling_is_noticed() -> None:
    assert module.compiling.threads == 0
    with global_compiler_lock:  # Numba compiles, and loads from its cache, with this lock
        assert module.compiling.threads == 1
    assert module.compiling.threads == 0


def test_what_kernels_leave_is_set_aside_once() -> None:
    try:
        gc.unfreeze()
        with global_compiler_lock:
            module.compiling.set_aside()
            assert not gc.get_freeze_count(), "it may still be compiling"
        module.compiling.set_aside()
        aside = gc.get_freeze_count()
        assert aside > 1000
        kept = [[] for _ in range(100)]  # type: ignore[var-annotated]
        module.compiling.set_aside()
        assert gc.get_freeze_count() <= aside < gc.get_freeze_count() + len(kept)
    finally:
        gc.unfreeze()


def test_advice_grows_with_the_queue() -> None:
    async def work() -> list[int]:
        gate = WorkQueue("t", 2, 1000)
        gate.seconds, found = 0.5, []
        for waiting in (0, 10, 100, 1000):
            gate._waiting.clear()
            gate._waiting.extend([asyncio.get_running_loop().create_future() for _ in range(waiting)])
            found.append(gate.retry_after())
        gate._waiting.clear()
        gate.close()
        return found

    assert asyncio.run(work()) == [1, 3, 25, 60]


def test_time_is_learnt() -> None:
    async def work() -> float:
        gate = WorkQueue("t", 1, 1)
        for _ in range(3):
            await gate.run(lambda: time.sleep(0.05), 5.0)
        gate.close()
        return gate.seconds

    assert asyncio.run(work()) > 0.006


def test_long_work_aside() -> None:
    """It does not wait for the gate, and no program waits for it to end."""

    async def work() -> tuple[str, bool]:
        name, daemon = await run_in_thread(lambda: (threading.current_thread().name, threading.current_thread().daemon))
        with pytest.raises(KeyError):
            await run_in_thread(lambda: {}["x"])
        return name, daemon

    assert asyncio.run(work()) == ("cocite-background", True)
    gate = WorkQueue("end", 2, 1)
    own = [each for each in threading.enumerate() if each.name.startswith("cocite-end")]
    assert [each.daemon for each in own] == [True, True]
    gate.close()
    for each in own:
        each.join(5)
        assert not each.is_alive()


def test_the_thread_continues_when_its_request_is_cancelled() -> None:
    go, done = threading.Event(), threading.Event()

    async def work() -> None:
        gate = WorkQueue("t", 1, 1)
        task = asyncio.create_task(gate.run(lambda: (go.wait(10), done.set()), 10.0))
        await asyncio.sleep(0.01)
        task.cancel()
        await settled()
        assert gate.running == 1  # its thread is busy all the same
        go.set()
        for _ in range(500):
            await asyncio.sleep(0.01)
            if not gate.running:
                break
        assert (gate.running, done.is_set()) == (0, True)
        gate.close()

    asyncio.run(work())
