"""Compile what kernels call as parts of the kernel that Python calls, to machine code once.

Numba makes machine code of every function, and links a function's code into all that call it, where it is optimised
and made machine code again. So a helper that is four calls below a kernel was compiled five times, and each had a
wrapper for Python that nobody calls. Here only the kernel that Python calls becomes machine code. What it calls, with
NumPy's functions, stays LLVM code that is linked into it: a *part*. That saves a third of the time of compiling.

Only kernels of this package and what they call change; other users of Numba in a process don't notice. This relies on
private names of Numba, so tests/kernels/test_parts.py covers them.
"""

import threading
from typing import Any

from llvmlite import binding
from numba.core import dispatcher, sigutils
from numba.core.caching import Cache
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher, _DispatcherBase
from numba.core.environment import lookup_environment

from cocite.kernels.bundles import PACKAGE

ENVIRONMENT = "_ZN08NumbaEnv"
"""Variables of LLVM code that point to the environment of a function, by the beginning of their names."""
_FunctionCompiler: Any = vars(dispatcher)["_FunctionCompiler"]


class Part:
    """The entry point of a function that has none, because it is only a part of others."""


class _Depth(threading.local):
    """How many functions this thread is compiling, one called by the other; 0 too if the outermost isn't ours."""

    value = 0


_depth = _Depth()
_compile, _add_overload, _save_overload = Dispatcher.compile, _DispatcherBase.add_overload, Cache.save_overload
_get_executable, _customize_flags = CPUContext.get_executable, _FunctionCompiler._customize_flags
_finalize, _module_for_linking = CPUCodeLibrary.finalize, CPUCodeLibrary._get_module_for_linking
_add_linking_library = CPUCodeLibrary.add_linking_library


def compile_counting(self: Any, signature: Any) -> Any:
    """`Dispatcher.compile`, which replaces a part by a function with machine code if Python calls it now."""
    if not _depth.value and not self.py_func.__module__.startswith(PACKAGE):
        return _compile(self, signature)
    with global_compiler_lock:
        types = tuple(sigutils.normalize_signature(signature)[0])
        if not _depth.value and types in self.overloads and isinstance(self.overloads[types].entry_point, Part):
            del self.overloads[types]
        _depth.value += 1
        try:
            return _compile(self, signature)
        finally:
            _depth.value -= 1


def without_wrappers(self: Any, flags: Any) -> Any:
    """`_customize_flags`: parts need no wrappers for calls from Python and C."""
    flags = _customize_flags(self, flags)
    if _depth.value > 1:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def executable_or_part(self: Any, library: Any, described: Any, environment: Any) -> Any:
    """`CPUContext.get_executable`: machine code, unless this is a part."""
    if _depth.value > 1:
        return Part()
    function = _get_executable(self, library, described, environment)
    if _depth.value:
        for variable in library._final_module.global_variables:
            linked = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if linked is not None:
                library.codegen.set_env(variable.name, linked)
    return function


def add_unless_part(self: Any, compiled: Any) -> None:
    """`add_overload`: Python can't call a part."""
    if isinstance(compiled.entry_point, Part):
        self.overloads[tuple(compiled.signature.args)] = compiled
    else:
        _add_overload(self, compiled)


def save_unless_part(self: Any, signature: Any, compiled: Any) -> None:
    """`save_overload`: the kernels that have a part are cached."""
    if not isinstance(compiled.entry_point, Part):
        _save_overload(self, signature, compiled)


def parts_of(library: Any) -> list[Any]:
    """All libraries to link into a library. One with machine code has its own parts.

    Each comes before what it calls: LLVM doesn't link a function that nothing calls yet.
    """
    seen, ordered = set[Any](), list[Any]()

    def add(caller: Any) -> None:
        for each in caller._linking_libraries:
            if each not in seen:
                seen.add(each)
                if not each._finalized:
                    add(each)
                ordered.append(each)

    add(library)
    return ordered[::-1]


def add_unfinished(self: Any, library: Any) -> None:
    """`add_linking_library`, without making machine code of the other library."""
    if _depth.value:
        self._linking_libraries.append(library)
    else:
        _add_linking_library(self, library)


def finalize_with_parts(self: Any) -> None:
    """`CPUCodeLibrary.finalize`, for libraries whose parts may not be linked yet."""
    self._linking_libraries, self._shared_module = parts_of(self), None  # of before: it lacks the parts
    _depth.value += 1  # parts stay parts
    try:
        _finalize(self)
    finally:
        _depth.value -= 1


def module_for_linking(self: Any) -> Any:
    """`_get_module_for_linking`, without making machine code."""
    if self._finalized or not _depth.value:
        return _module_for_linking(self)
    if self._shared_module is None:
        module = self._final_module.clone()
        for function in module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module = module
    return self._shared_module


def install() -> None:
    """Let Numba compile this way."""
    changed: dict[Any, dict[str, Any]] = {
        Dispatcher: {"compile": compile_counting},
        _DispatcherBase: {"add_overload": add_unless_part},
        Cache: {"save_overload": save_unless_part},
        CPUContext: {"get_executable": executable_or_part},
        _FunctionCompiler: {"_customize_flags": without_wrappers},
        CPUCodeLibrary: {
            "add_linking_library": add_unfinished,
            "finalize": finalize_with_parts,
            "_get_module_for_linking": module_for_linking,
        },
    }
    for owner, functions in changed.items():
        for name, function in functions.items():
            setattr(owner, name, function)
