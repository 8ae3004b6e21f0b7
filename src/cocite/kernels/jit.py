"""The one compile policy of all hot loops.

Kernels take arrays and numbers and return arrays or numbers. They are compiled at first use (eager signatures would
reject the read-only arrays of a mapped store), kept on disk, and run without the GIL, so threads scale.
`NUMBA_BOUNDSCHECK=1` makes every kernel check its indices; one test run uses it.

All loops of a first run take Numba some 20 s of one core. A third of that was saved by not making what nobody calls
(functions for C, and for Python where only other kernels call) and by not collecting garbage meanwhile.
"""

import gc
import itertools
import os
import threading
import warnings
from typing import Any

import numba
from numba.core import bytecode, event
from numba.experimental import function_type  # noqa: F401 - if left to Numba, loaded beneath other threads' calls
from numba.np import linalg


def _load_array_functions() -> None:
    """Load Numba's array functions without SciPy's linear algebra, a fifth of a second that no kernel needs.

    Numba imports it only to see whether it is there, and it is: SciPy is among our dependencies. Whoever compiles
    a matrix product in the same process still has it imported then.
    """
    ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        from numba.np import arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = ensure_blas


_load_array_functions()


def _number_apart() -> None:
    """Number what is compiled from a random start on, in this process and in each that it forks.

    Numba tells functions of one name apart by a number that begins at 1 in every process: those inside np.sort and
    np.argsort are called alike. Of two with one name and number the first that is loaded is called by both. Loops that
    had been kept by different processes met so: np.argsort called the sort of np.sort, and gave places that are none.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6)))


_number_apart()
os.register_at_fork(after_in_child=_number_apart)

_njit: Any = numba.njit  # its types know only some of its options


def _can_be_kept() -> bool:
    """Whether there is a place on disk for compiled loops. A service that may write nowhere compiles at every start."""
    try:
        _njit(cache=True)(_can_be_kept)
    except RuntimeError:
        warnings.warn(
            "compiled loops cannot be kept, which costs half a minute each time: "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=1,
        )
        return False
    return True


KEPT = _can_be_kept()
kernel: Any = _njit(cache=KEPT, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
_inlined: Any = _njit(
    cache=KEPT, nogil=True, error_model="numpy", inline="never", forceinline=True,
    no_cfunc_wrapper=True, no_cpython_wrapper=True,
)  # fmt: skip


def inline(function: Any) -> Any:
    """For small functions called from other kernels' inner loops: always inlined by LLVM, never called from Python.

    Numba would crash on a call from Python, so it does not get to know of one.
    """

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{function.__name__} is inlined into kernels: call one of these")

    made = _inlined(function)
    made._insert, made._compile_for_args = (lambda *_, **__: None), refuse
    return made


class _NoCollection(event.Listener):
    """No garbage collection while a loop is compiled or loaded: there is none to speak of, and much to look through."""

    def __init__(self) -> None:
        self._lock, self._compiling, self._wanted = threading.Lock(), 0, False

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._compiling == 0:
                self._wanted = gc.isenabled()
                gc.disable()
            self._compiling += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._compiling -= 1
            if self._compiling == 0 and self._wanted:
                gc.enable()


event.register("numba:compiler_lock", _NoCollection())
