"""`cocite warm`: after it, no build and no question compiles."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from cocite import kernels
from cocite.warm import steps, warm
from tests.cli.conftest import run
from tests.conftest import long

ELSEWHERE = {
    "cocite.kernels.addresses.webgraph_text": "web graphs as text",
    "cocite.kernels.codec.bvgraph": "compressed web graphs",
    "cocite.kernels.addresses.key_hashes": "suggestions for an unknown page",
    "cocite.kernels.related.hubs_authorities": "kernels of kernels, whose names Python functions have, too",
    "cocite.kernels.related.listings.find_between": "results that link to a page in between, which the tiny web lacks",
}
"""Kernels that `warm` doesn't run, by module or by name."""


def kernels_called_from_python() -> dict[str, Dispatcher]:
    """Every kernel that a module outside `kernels/` names; others are called by kernels."""
    folder = Path(kernels.__file__).parent
    sources = [file.read_text("utf-8") for file in folder.parent.rglob("*.py") if folder not in file.parents]
    named = set(re.findall(r"\w+", " ".join(sources)))
    found = {}
    for module in pkgutil.walk_packages(kernels.__path__, "cocite.kernels."):
        for name, value in vars(importlib.import_module(module.name)).items():
            own = isinstance(value, Dispatcher) and value.py_func.__module__ == module.name
            if own and name in named and not value.targetoptions.get("forceinline"):
                found[f"{module.name}.{name}"] = value
    return found


@pytest.mark.timeout(900)  # on a machine where nothing is compiled yet
def test_the_steps_call_every_kernel(place: Path) -> None:
    for _, work in steps(place):
        work()
    unused = {name for name, kernel in kernels_called_from_python().items() if not kernel.overloads}
    assert not {name for name in unused if not {name, name.rpartition(".")[0]} & ELSEWHERE.keys()}


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
