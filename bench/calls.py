"""How many compiled calls a question takes, and how long Python's lock is held for it.

    python bench/calls.py STORE [--method METHOD ...]

A kernel gives the lock up when it begins to work and takes it back at its end. Here compiled code calls functions of
this script for both, which count, and read the processor time of the thread. The lock is held for whatever isn't
between two of them. `ten` are the ten best pages, `reasons` what `cocite related` answers, with titles and evidence.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import carray, cfunc, types
from numba.extending import intrinsic

CALLS, OUTSIDE, SINCE, SECONDS, NANOSECONDS = range(5)
state = np.zeros(8, np.int64)
library = ctypes.CDLL(None)
give_up, take_back, read_clock = library.PyEval_SaveThread, library.PyEval_RestoreThread, library.clock_gettime
give_up.restype, give_up.argtypes = ctypes.c_void_p, []
take_back.restype, take_back.argtypes = None, [ctypes.c_void_p]
read_clock.restype, read_clock.argtypes = ctypes.c_int, [ctypes.c_int, ctypes.c_void_p]
THREAD_TIME = 3  # Linux's clock of the processor time of a thread


def pointer(cell: int) -> Any:
    """A compiled function that returns the address of a cell of `state`."""
    place = state.ctypes.data + cell * state.itemsize

    @intrinsic
    def address(context: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(ir.Constant(ir.IntType(64), place), context.get_value_type(types.voidptr))

        return types.voidptr(), emit

    return address


all_cells, clock = pointer(0), pointer(SECONDS)


@cfunc(types.voidptr())
def giving_up() -> Any:  # pragma: no cover - compiled
    """Give Python's lock up, and note when."""
    thread = give_up()
    cells = carray(all_cells(), 8, np.int64)
    read_clock(THREAD_TIME, clock())
    cells[CALLS] += 1
    cells[SINCE] = cells[SECONDS] * 1_000_000_000 + cells[NANOSECONDS]
    return thread


@cfunc(types.void(types.voidptr))
def taking_back(thread: Any) -> None:  # pragma: no cover - compiled
    """Take Python's lock back, and add the time without it."""
    cells = carray(all_cells(), 8, np.int64)
    read_clock(THREAD_TIME, clock())
    cells[OUTSIDE] += cells[SECONDS] * 1_000_000_000 + cells[NANOSECONDS] - cells[SINCE]
    take_back(thread)


binding.add_symbol("PyEval_SaveThread", giving_up.address)  # before any kernel is loaded
binding.add_symbol("PyEval_RestoreThread", taking_back.address)


def main() -> None:
    """Print the table."""
    import time

    from cocite.related.methods import method
    from cocite.results.ask import Question
    from cocite.results.ask import ask as answer
    from cocite.web import Web
    from related import METHODS, ask, grouped
    from tables import show

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--method", action="append", help="instead of all fast ones")
    parser.add_argument("--questions", type=int, default=50)
    options = parser.parse_args()
    web, rows = Web(options.store), list[list[object]]()
    for name in options.method or (*METHODS, "whats_related"):
        how = method(name)
        kinds: dict[str, Callable[[int], object]] = {
            "ten": lambda page, how=how: ask(web, how, page),  # type: ignore[misc]
            "reasons": lambda page, how=how: answer(web, Question((str(page),), (page,)), how),  # type: ignore[misc]
        }
        for group, pages in grouped(web.graph, options.questions):
            for kind, work in kinds.items():
                found = np.zeros((6, len(pages), 3))
                for taken in found:
                    for row, page in zip(taken, pages, strict=True):
                        state[:] = 0
                        start = time.thread_time_ns()
                        work(page)
                        whole = time.thread_time_ns() - start
                        row[:] = state[CALLS], whole / 1e6, (whole - state[OUTSIDE]) / 1e6
                calls, whole, held = np.median(np.median(found[1:], axis=0), axis=0)
                rows.append([name, group, kind, len(pages), f"{calls:.0f}", f"{whole:.2f}", f"{held:.3f}"])
    header = ["method", "in-links", "what", "questions", "compiled calls", "ms, median", "ms with Python's lock"]
    show("Compiled calls of a question, and how long it holds Python's lock", header, rows)


if __name__ == "__main__":
    main()
