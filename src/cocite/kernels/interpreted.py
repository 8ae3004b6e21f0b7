"""Run kernels as the Python that they are written in: a few thousand links take a second, compiling half a minute.

Compiled code computes with 64 bits: small integers don't overflow, `uint64` wraps around, and a division by zero gives
infinity. So that Python gives the same, a kernel gets other globals here: other kernels as Python, types that convert
as Numba's do, NumPy's floats, and a NumPy that makes `Narrow` arrays of small integers.
"""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from threading import RLock
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

from cocite.kernels import instructions

Output = TypeVar("Output")
KERNELS = __name__.rpartition(".")[0] + "."
SMALL_ITEMS = 20_000
"""Pages and links. For more, interpreting takes longer than compiling."""
QUESTION_ITEMS = 200
"""Interpreting a question takes about as long as building a store of this size."""


@dataclass
class Workload:
    """How many pages and links are worked on, so far as is known. Threads may share it."""

    items: float = 0.0

    @property
    def is_small(self) -> bool:
        """Whether interpreting is worth while."""
        return self.items <= SMALL_ITEMS

    def count_question(self) -> None:
        """Note a question: for many, kernels are worth compiling."""
        self.items += QUESTION_ITEMS

    def expect(self, items: float) -> None:
        """Work on this many pages and links follows."""
        self.items = max(self.items, items)


_workload: ContextVar[Workload | None] = ContextVar("workload", default=None)


@contextmanager
def interpreting(workload: Workload | None = None) -> Iterator[None]:
    """Interpret kernels whose machine code isn't there, as long as the workload is small."""
    token = _workload.set(workload or Workload())
    try:
        yield
    finally:
        _workload.reset(token)


def always_compiling() -> AbstractContextManager[None]:
    """Interpret nothing in this context."""
    return interpreting(Workload(math.inf))


def unless_decided(workload: Workload) -> AbstractContextManager[None]:
    """`interpreting`, unless a context around this one has decided."""
    return interpreting(workload) if _workload.get() is None else nullcontext()


def expect(items: float = 0, questions: int = 0) -> None:
    """Work on this many pages and links, or questions, follows in this context."""
    if (workload := _workload.get()) is not None:
        workload.expect(max(items, questions * QUESTION_ITEMS))


def expecting(items: float) -> AbstractContextManager[None]:
    """Like `expect`, for one step."""
    return interpreting(Workload(items)) if is_active() else nullcontext()


def is_active() -> bool:
    """Whether kernels are interpreted here."""
    workload = _workload.get()
    return workload is not None and workload.is_small


class Threads(ThreadPoolExecutor):
    """Threads that interpret kernels if whoever gives them work does."""

    def submit(self, work: Callable[..., Output], /, *arguments: Any, **options: Any) -> Future[Output]:
        """Have work done soon."""
        return super().submit(copy_context().run, work, *arguments, **options)


# ------------------------------------------------------------------------------------------------------ numbers, arrays


class Narrow(np.ndarray[Any, Any]):
    """An array of integers below 64 bits, of int64 or of bool, whose items are Python's."""

    def __getitem__(self, place: Any, _get: Any = np.ndarray.__getitem__, _array: Any = np.ndarray) -> Any:
        if type(place) is int and self.ndim == 1:
            return self.item(place)
        item = _get(self, place)
        return item if isinstance(item, _array) else item.item()

    def __setitem__(self, place: Any, item: Any, _set: Any = np.ndarray.__setitem__) -> None:
        try:
            _set(self, place, item)
        except OverflowError:
            _set(self, place, _INTEGERS[self.dtype.name](item))

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            kwargs["out"] = tuple(map(_plain, kwargs["out"]))
        return _python_array(getattr(ufunc, method)(*map(_plain, inputs), **kwargs))

    def astype(self, *arguments: Any, **options: Any) -> Any:
        """An array of another type, which may not be narrow."""
        return _python_array(_plain(self).astype(*arguments, **options))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist()) if self.ndim == 1 else super().__iter__()


_NARROW = frozenset("bBhHiIlq?")  # as `np.dtype.char`


def _integer(name: str) -> Any:
    """A function that converts a number as Numba's type of this name does. It serves as a type of NumPy's, too."""
    kind = np.dtype(name)
    bits, signed = 8 * kind.itemsize, kind.kind == "i"
    low, high, mask = (-1 << bits - 1, 1 << bits - 1, (1 << bits) - 1) if signed else (0, 1 << bits, (1 << bits) - 1)

    def wrapped(given: Any) -> int:
        try:
            number = int(given)
        except (OverflowError, ValueError):  # infinity, or no number
            number = -1 << 63
        return number if low <= number < high else ((number - low) & mask) + low

    def word(number: Any, of: Any = np.uint64) -> Any:
        return number if type(number) is of else of(int(number) & mask)

    convert: Any = word if name == "uint64" else wrapped
    convert.dtype = kind
    return convert


def _plain(value: Any) -> Any:
    """An array as NumPy's own."""
    return value.view(np.ndarray) if isinstance(value, Narrow) else value


def _python_array(value: Any) -> Any:
    """An array whose items don't overflow."""
    if not isinstance(value, np.ndarray):
        return value
    return value.view(Narrow) if value.dtype.char in _NARROW else _plain(value)


def _of_c_library(name: str) -> Callable[[Any], Any]:
    """A function of one number, as the C library computes it. NumPy has its own, with other last bits."""
    ours, theirs = getattr(math, name), getattr(np, name)
    return lambda number: np.float64(ours(number)) if 0 < number < math.inf else theirs(number)


class _NumPy:
    """NumPy, as kernels use it."""

    def __init__(self, integers: dict[str, Any]) -> None:
        vars(self).update(integers, log=_of_c_library("log"), log10=_of_c_library("log10"))

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        if callable(value) and not isinstance(value, type):
            function = value

            def value(*arguments: Any, **options: Any) -> Any:
                return _python_array(function(*arguments, **options))

        vars(self)[name] = value
        return value


_INTEGERS = {f"{sign}int{bits}": _integer(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
_INTEGERS["intp"] = _INTEGERS["int64"]
_OTHER_NAMES: dict[int, Any] = {
    id(np): _NumPy(_INTEGERS),
    id(numba.float32): np.float32,
    **{id(getattr(numba, name)): integer for name, integer in _INTEGERS.items()},
    **{id(intrinsic): python for intrinsic, python in instructions.IN_PYTHON},
}


# ----------------------------------------------------------------------------------------------------------- functions

_functions: dict[Any, Any] = {}
_names: dict[int, Any] = {}
_making = RLock()
"""While a module's functions are made, none of them can be called."""


def _function(kernel: Any) -> Any:
    """A kernel as Python."""
    function = kernel.py_func
    if function not in _functions:
        constants = tuple(np.float64(each) if type(each) is float else each for each in function.__code__.co_consts)
        code, defaults = function.__code__.replace(co_consts=constants), _converted(function.__defaults__)
        made = FunctionType(code, vars(_module(function.__globals__)), function.__name__, defaults)
        _functions.setdefault(function, made)  # or was made while its module was
    return _functions[function]


def _module(names: dict[str, Any]) -> SimpleNamespace:
    """The names of a module, for Python."""
    if id(names) not in _names:
        _names[id(names)] = made = SimpleNamespace()  # which the module's own functions get, before it is complete
        vars(made).update({name: _converted(value) for name, value in names.items()})
    known: SimpleNamespace = _names[id(names)]
    return known


def _converted(value: Any) -> Any:
    """An argument or a name of a kernel, for Python."""
    if isinstance(value, tuple):
        return _each(value, _converted)
    if isinstance(value, Dispatcher):
        return _function(value)
    if isinstance(value, ModuleType) and value.__name__.startswith(KERNELS):
        return _module(vars(value))
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, np.generic) and value.dtype.char in _NARROW:
        return value.item()
    return _OTHER_NAMES.get(id(value), _python_array(value))


def _given_back(value: Any) -> Any:
    """What a kernel returned, as it would be compiled."""
    if isinstance(value, tuple):
        return _each(value, _given_back)
    return value.item() if isinstance(value, np.generic) else _plain(value)


def _each(items: Any, convert: Callable[[Any], Any]) -> Any:
    """A tuple of converted items, of the same class."""
    made = map(convert, items)
    return type(items)(*made) if hasattr(items, "_fields") else tuple(made)


def as_python(kernel: Any) -> Callable[..., Any]:
    """A kernel as a Python function of the same arguments."""
    with _making:
        function = _function(kernel)

    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return _given_back(function(*_converted(arguments)))

    return run
