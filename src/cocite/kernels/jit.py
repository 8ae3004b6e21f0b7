"""Everything about compiling: one policy for all kernels, their cache on disk, and what to show while it happens.

Kernels are compiled at first use (eager signatures would reject the read-only arrays of a mapped store), cached on
disk, and run without the GIL, so threads scale. `NUMBA_BOUNDSCHECK=1` makes every kernel check its indices. `parts` and
`bundles` make compiling cheaper, and garbage collection pauses meanwhile. `cocite/warm.py` compiles everything ahead.
"""

import gc
import itertools
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import bytecode, caching, event
from numba.core.runtime.context import NRTContext
from numba.core.runtime.nrt import rtsys
from numba.experimental import function_type  # noqa: F401 - Numba would import it while other threads run kernels
from numba.np import linalg

from cocite.kernels import bundles, interpreted

FIRST_RUN_NOTE = "Compiling what this needs, once. `cocite warm` compiles everything ahead."


TRIED_VERSIONS = ((0, 68),)
"""Versions of Numba whose private names `parts` and `bundles` know. With others, compiling takes half as long again."""


def _load_array_functions() -> None:
    """Import Numba's array functions without SciPy's linear algebra, which takes 0.2 s and which no kernel uses.

    Numba imports it only to see whether it is installed. Compiling a matrix product still imports it.
    """
    ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        from numba.np import arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = ensure_blas


def _number_from_random_start() -> None:
    """Number compiled functions from a random start, in this process and in each fork.

    Numba's numbers begin at 1 in every process. Two functions that different processes cached can have the same name
    and number, and a process that loads both calls the first for either: np.argsort returned wrong positions.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6)))


def _load_without_registries() -> None:
    """Load cached kernels without Numba's tables of how to compile: filling them took 0.1 s of every command.

    Numba fills them again before it compiles, so only its run-time system is needed here.
    """

    def load_overload(cache: Any, signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    caching.Cache.load_overload = load_overload  # type: ignore[method-assign]


def _skip_fields_without_references() -> None:
    """Where Numba counts the references to a tuple of arrays, read only what is counted of each array.

    Numba reads all nine fields, so half of the code that it writes for our kernels was reading of fields.
    """

    def get_meminfos(self: Any, builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
        models = self._context.data_model_manager
        model = models[kind]
        found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
        for each, getter in model.traverse(builder):
            if models[each].contains_nrt_meminfo():
                found += get_meminfos(self, builder, each, getter(value))
        return found

    NRTContext.get_meminfos = get_meminfos  # type: ignore[method-assign]


_load_array_functions()
_load_without_registries()
if numba.version_info.short in TRIED_VERSIONS:
    from cocite.kernels import parts

    _skip_fields_without_references()
    parts.install()
    bundles.install()
_number_from_random_start()
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_number_from_random_start)

_njit: Any = numba.njit  # its type stubs lack some options


def _has_cache_folder() -> bool:
    """Whether compiled kernels can be cached on disk. A service without a writable folder compiles at every start."""
    try:
        _njit(cache=True)(_has_cache_folder)
    except RuntimeError:
        warnings.warn(
            "No folder for compiled kernels, so every start compiles for half a minute: "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=1,
        )
        return False
    return True


CACHED = _has_cache_folder()
_config: Any = numba.config
CHECKED = bool(_config.BOUNDSCHECK)  # whether kernels check their indices
_policy: dict[str, Any] = {"cache": CACHED, "nogil": True, "error_model": "numpy"}
_inlined: Any = _njit(**_policy, inline="never", forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _is_on_disk(compiled: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether the machine code of a kernel, for the types of these arguments, can be loaded."""
    if not (CACHED and (kept := compiled._cache._cache_file._load_index())):
        return False
    signature = tuple(map(compiled.typeof_pyval, arguments))
    return compiled._cache._index_key(signature, compiled.targetctx.codegen()) in kept


def _or_interpreted(**options: Any) -> Callable[[Any], Any]:
    """A decorator for functions that Python calls: compiled, unless they aren't yet and `interpreted` is active."""

    def decorate(function: Any) -> Any:
        compiled = _njit(**_policy, **options)(function)
        compile_for = compiled._compile_for_args

        def choose(*arguments: Any, **named: Any) -> Any:
            if interpreted.is_active() and not _is_on_disk(compiled, arguments):
                return interpreted.as_python(compiled)
            return compile_for(*arguments, **named)

        compiled._compile_for_args = choose  # Numba calls what this returns, with the same arguments
        return compiled

    return decorate


kernel: Any = _or_interpreted(no_cfunc_wrapper=True)
# Without reference counts, which Numba keeps around every call that passes an array: a quarter of the time of
# `kernels/addresses/plain.py`. Only for kernels that allocate nothing.
lean_kernel: Any = _or_interpreted(_nrt=False)
lean_inline: Any = _njit(**_policy, _nrt=False, forceinline=True)


def inline(function: Any) -> Any:
    """Decorate a small function for the inner loops of kernels: LLVM always inlines it, Python can't call it.

    Numba would crash on a call from Python, so such a call raises a TypeError instead.
    """

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{function.__name__} is inlined into kernels: call one of them instead")

    compiled = _inlined(function)
    compiled._insert, compiled._compile_for_args = (lambda *_, **__: None), refuse
    return compiled


class _PauseCollection(event.Listener):
    """Pause garbage collection while Numba compiles or loads: it would find little and search much."""

    def __init__(self) -> None:
        self._lock, self._depth, self._was_enabled = threading.Lock(), 0, False

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._depth == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._was_enabled:
                gc.enable()


event.register("numba:compiler_lock", _PauseCollection())


class Compilation(event.Listener):
    """What was compiled in a `watch`. Loading a kernel from the cache doesn't count."""

    def __init__(self, started: Callable[[str], object]) -> None:
        self.kernels, self.seconds = 0, 0.0
        self._started, self._lock, self._depth, self._since = started, threading.Lock(), 0, 0.0

    def on_start(self, event: Any) -> None:
        with self._lock:  # several threads may reach kernels that aren't compiled yet
            self._depth += 1
            if self._depth > 1:  # a kernel that another one calls
                return
            self._since = time.monotonic()
            self.kernels += 1
        name = event.data["dispatcher"].py_func.__name__
        logging.getLogger("cocite.kernels").debug("Compiling %s", name)
        self._started(name)

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self.seconds += time.monotonic() - self._since


@contextmanager
def watch(started: Callable[[str], object]) -> Iterator[Compilation]:
    """Call `started` with the name of each kernel that is compiled in this context, and add up the time."""
    compilation = Compilation(started)
    with event.install_listener("numba:compile", compilation):
        yield compilation


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """A function that returns the milliseconds since the start, without compiling and loading kernels.

    A process spends that time once, 0.1 to 20 s, and Numba holds its compiler lock meanwhile.
    """
    waiting = event.TimingListener()
    with event.install_listener("numba:compiler_lock", waiting):
        began = time.perf_counter()

        def passed() -> float:
            waited = waiting.duration if waiting.done else 0.0
            return max(0.0, time.perf_counter() - began - waited) * 1e3

        yield passed
