"""How kernels pass named tuples of arrays: whole, and without counting references to those that only Python makes.

Numba passes each of the seven fields of each array apart, and counts a reference to each array wherever a tuple gets a
name. With the thirty arrays of a store's links, that was most of the code which LLVM had to optimise. Here a tuple is
one argument. A `lent` tuple belongs to the caller in Python, who keeps its arrays until the call returns. So kernels
count references only to the arrays that they take out of it. Kernels can't make lent tuples, nor return them to Python.

Only named tuples of this package change. This relies on private names of Numba.
"""

from typing import Any, TypeVar

from numba.core import types
from numba.core.caching import Cache
from numba.core.datamodel.registry import default_manager
from numba.core.pythonapi import NativeValue, PythonAPI

PACKAGE = __name__.partition(".")[0] + "."
CALL_VERSION = 1
"""How functions pass arguments. Code that is cached with another version can't be linked."""
_lent: set[type] = set()
Kind = TypeVar("Kind", bound=type)
_index_key = Cache._index_key
_to_native_value, _from_native_value = PythonAPI.to_native_value, PythonAPI.from_native_value


def lent(kind: Kind) -> Kind:
    """Mark a class of named tuples that only Python makes. A decorator."""
    _lent.add(kind)
    return kind


def is_lent(kind: Any) -> bool:
    """Whether a type of Numba is a lent tuple."""
    return isinstance(kind, types.BaseNamedTuple) and getattr(kind, "instance_class", None) in _lent


def _whole(model: Any) -> Any:
    """The data model for the named tuples of this package; others keep Numba's, `model`."""

    class Whole(model):  # type: ignore[misc]
        def get_argument_type(self) -> Any:
            return self.get_value_type()

        def as_argument(self, builder: Any, value: Any) -> Any:
            return value

        def from_argument(self, builder: Any, value: Any) -> Any:
            return value

        def traverse(self, builder: Any) -> Any:
            return [] if is_lent(self._fe_type) else super().traverse(builder)

    def choose(models: Any, kind: Any) -> Any:
        return (Whole if kind.instance_class.__module__.startswith(PACKAGE) else model)(models, kind)

    return choose


def to_native_releasing(self: Any, kind: Any, value: Any) -> Any:
    """`to_native_value`: what a lent tuple refers to is released after the call."""
    native = _to_native_value(self, kind, value)
    if not is_lent(kind) or not self.context.enable_nrt:
        return native
    release_inner = native.cleanup

    def release() -> None:
        if release_inner is not None:
            release_inner()
        for at, each in enumerate(kind):
            self.context.nrt.decref(self.builder, each, self.builder.extract_value(native.value, at))

    return NativeValue(native.value, is_error=native.is_error, cleanup=release)


def from_native_refusing(self: Any, kind: Any, value: Any, *more: Any, **options: Any) -> Any:
    """`from_native_value`: lent tuples refer to what isn't theirs."""
    if is_lent(kind):
        raise TypeError(f"kernels can't return a {kind.instance_class.__name__}: it is lent to them")
    return _from_native_value(self, kind, value, *more, **options)


def index_key_of_version(self: Any, signature: Any, codegen: Any) -> Any:
    """`_index_key`, with the version of calls."""
    key = _index_key(self, signature, codegen)
    return (*key, CALL_VERSION) if self._py_func.__module__.startswith(PACKAGE) else key


def install() -> None:
    """Let Numba pass named tuples this way."""
    for kind in (types.NamedTuple, types.NamedUniTuple):
        default_manager._handlers[kind] = _whole(default_manager._handlers[kind])
    changed: Any = PythonAPI
    changed.to_native_value, changed.from_native_value = to_native_releasing, from_native_refusing
    changed = Cache
    changed._index_key = index_key_of_version
