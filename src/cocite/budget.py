"""The work that a question may take: links that kernels decode. Whoever asks can also cancel it.

A budget belongs to a thread. Without one nothing is limited, as on the command line and in Python; Ctrl-C on a command
line cancels `NO_LIMIT`. Kernels get the budget with the lists of links, and stop as if a list were damaged; `stopped`
then says what has really happened.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cocite.errors import TooMuchWork

NOT_LIMITED, LIMITED, CANCELLED = range(3)
LEFT, STATE = range(2)
"""Cells of a budget: links that may still be decoded, and one of the three states."""
NO_LIMIT: NDArray[np.int64] = np.array([0, NOT_LIMITED], np.int64)
Budget = NDArray[np.int64]
LINKS_PER_SECOND = 2_000_000
"""Links that a question may read for each second of its time limit; a walk reads 1 to 5 million a second."""
STEP_ASIDE_EVERY_SECONDS, STEP_ASIDE_SECONDS, MAX_ASIDE_SECONDS = 0.002, 0.0001, 0.006
"""How often a thread lets others go first, how long it sleeps at least, and how long it waits for them at most.

A short question takes 3 to 5 ms. If there is always one, a thread that steps aside still works for a quarter of the
time.
"""


class _Own(threading.local):
    budget: Budget = NO_LIMIT
    wait_for_others: Callable[[float], object] | None = None  # wait until they have ended, for some seconds at most
    again = 0.0  # when it steps aside again


_own = _Own()


def new_budget(links: int) -> Budget:
    """A budget of this many links."""
    return np.array([links, LIMITED], np.int64)


def budget_for(seconds: float) -> Budget:
    """The budget of a question with a time limit."""
    return new_budget(int(seconds * LINKS_PER_SECOND))


def current() -> Budget:
    """The budget of this thread."""
    return _own.budget


@contextmanager
def limited(budget: Budget) -> Iterator[None]:
    """Work within a budget."""
    before, _own.budget = _own.budget, budget
    try:
        yield
    finally:
        _own.budget = before


def step_aside(wait_for_others: Callable[[float], object] = lambda _: None) -> None:
    """From now on, let other threads of this process go first where this thread calls `spend`.

    A thread that calls NumPy in a loop gives the interpreter away and takes it back before another thread has woken up.
    The other one then waits for 30 to 50 ms: it asks for the interpreter only after an interval without such a chance.
    Two threads that take turns are each half as fast, so this one also waits until the others have ended.
    """
    _own.wait_for_others = wait_for_others


def cancel(budget: Budget) -> None:
    """Stop the work within a budget soon; any thread may."""
    budget[STATE] = CANCELLED


def spend(links: float = 0) -> None:
    """Take work that no kernel counts from the budget, at least as a place to stop. Raises TooMuchWork."""
    budget = _own.budget
    if _own.wait_for_others is not None and time.monotonic() > _own.again:
        time.sleep(STEP_ASIDE_SECONDS)
        _own.wait_for_others(MAX_ASIDE_SECONDS)
        _own.again = time.monotonic() + STEP_ASIDE_EVERY_SECONDS
    if budget[STATE] == LIMITED:
        budget[LEFT] -= int(links)
    if error := stopped():
        raise error


def stopped() -> TooMuchWork | None:
    """The error if this thread's work was cancelled, or has spent its budget."""
    budget = _own.budget
    if budget[STATE] == CANCELLED:
        return TooMuchWork("Cancelled: nobody waits for the answer any more; ask again")
    if budget[STATE] == LIMITED and budget[LEFT] < 0:
        return TooMuchWork(
            "This question needs more work than the server allows: ask about fewer pages, or lower the method's limits"
        )
    return None
