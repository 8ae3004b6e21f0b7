"""`cocite warm`: after it, no build and no question compiles."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from cocite import kernels
from cocite.kernels.interpreted import always_compiling
from cocite.warm import steps, warm
from tests.cli.conftest import run
from tests.conftest import long

INSIDE = {"cocite.kernels.addresses.plain.key_plain", "cocite.kernels.codec.look_up._find"}
"""Kernels that Python functions of their own module call."""


def used_by_python() -> set[str]:
    """What modules outside `kernels/` import of it, or use of its modules, by full name."""
    folder, found = Path(kernels.__file__).parent, set(INSIDE)
    for file in folder.parent.rglob("*.py"):
        if folder in file.parents:
            continue
        modules, tree = {}, ast.parse(file.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cocite.kernels"):
                names = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                modules |= names
                found |= set(names.values())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                found.add(f"{modules[node.value.id]}.{node.attr}")
    return found


def kernels_called_from_python() -> dict[str, Dispatcher]:
    """Every kernel that Python calls; others are called by kernels."""
    found, used = {}, used_by_python()
    for module in pkgutil.walk_packages(kernels.__path__, "cocite.kernels."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Dispatcher) and f"{module.name}.{name}" in used:
                found[f"{module.name}.{name}"] = value
    return found


@pytest.mark.timeout(900)  # on a machine where nothing is compiled yet
def test_the_steps_call_every_kernel(place: Path) -> None:
    with always_compiling():
        for _, work in steps(place):
            work()
    called = kernels_called_from_python()
    assert len(called) > 60, "kernels are no longer recognised"
    assert not {name for name, kernel in called.items() if not kernel.overloads}


@long
def test_nothing_is_left_to_compile(place: Path) -> None:
    """In a fresh cache: the demo and a comparison of all methods load everything from disk."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place / "cache"), "XDG_CACHE_HOME": str(place / "home")}
    code = "from cocite.warm import warm; warm(lambda *_: None)"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    code = "import sys; sys.argv = ['cocite', 'demo']; from cocite.kernels.jit import watch; from cocite import cli\n"
    code += "with watch(print): cli.app(standalone_mode=False)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stderr.count("Compiling") == 0


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.warm.steps", lambda folder: [("one", lambda: None), ("two", lambda: None)])
    monkeypatch.setattr("cocite.warm.SecondProcess.start", lambda self: None)
    ran = run("warm")
    assert ran.code == 0
    assert ran.err.splitlines()[:2] == ["1 of 2: one", "2 of 2: two"]
    assert ran.err.splitlines()[2].startswith("Compiled 0 kernels in ")
    assert run("warm", "--quiet").err == ""
    shown: list[tuple[str, int, int]] = []
    warm(lambda *step: shown.append(step))
    assert shown == [("one", 0, 2), ("two", 1, 2), ("done", 2, 2)]
