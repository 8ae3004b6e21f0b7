"""Remove compiled code that is out of date, and no more than that.

Numba notices when a kernel's own file changes, but not when a function that was inlined into it does. So a file's
compiled code is kept only while that file, and every file of kernels that it imports, directly or through others, has
the content it was compiled from.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BOUNDS_CACHE = ROOT / ".pytest_cache" / "bounds-checked"
"""Compiled code with NUMBA_BOUNDSCHECK=1: Numba's cache does not tell it from the other."""
FOLDERS = [ROOT / "src" / "cocite", ROOT / "bench", ROOT / "tests"]
KEPT = ROOT / ".pytest_cache" / "kernels.json"
KERNEL = re.compile(rb"^@(lean_)?(kernel|inline)\b", re.MULTILINE)
POLICY = "cocite.kernels.jit"


def module_of(file: Path) -> str:
    """The full name of a module."""
    inside = file.relative_to(ROOT / "src" if ROOT / "src" in file.parents else ROOT).with_suffix("")
    return ".".join(part for part in inside.parts if part != "__init__")


def imported(source: bytes) -> set[str]:
    """Every name that a file imports, and the modules that they may be in."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def fingerprints() -> dict[str, str]:
    """For each module with kernels, a digest of all that its compiled code may come from."""
    files = {module_of(file): file for folder in FOLDERS for file in folder.rglob("*.py")}
    sources = {module: file.read_bytes() for module, file in files.items()}
    sources = {module: source for module, source in sources.items() if KERNEL.search(source) or module == POLICY}
    needs = {module: (imported(source) | {POLICY}) & set(sources) for module, source in sources.items()}
    result = {}
    for module in sources:
        closure, todo = {module}, [module]
        while todo:
            new = needs[todo.pop()] - closure
            closure |= new
            todo += new
        result[module] = hashlib.blake2b(b"\0".join(sources[each] for each in sorted(closure))).hexdigest()
    return result


def forget_stale_kernels() -> None:
    """Remove the compiled code of modules that changed since it was compiled, or that import one that did."""
    now = fingerprints()
    try:
        before: dict[str, str] = json.loads(KEPT.read_text("utf-8"))
    except (OSError, ValueError):
        before = {}
    for folder in (*FOLDERS, BOUNDS_CACHE):
        for file in (file for ending in ("nbi", "nbc") for file in folder.rglob(f"*.{ending}")):
            name = file.name.split(".")[0]  # of the module, without its folders
            if any(before.get(module) != digest for module, digest in now.items() if module.split(".")[-1] == name):
                file.unlink(missing_ok=True)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(now, indent=1), "utf-8")


def changed_since(stamp: Path) -> bool:
    """Whether kernels changed since `stamp` was written by `write_stamp`."""
    return not stamp.exists() or stamp.read_text("utf-8") != _all_of_them()


def write_stamp(stamp: Path) -> None:
    """Write down which kernels there are now."""
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(_all_of_them(), "utf-8")


def _all_of_them() -> str:
    return hashlib.blake2b(json.dumps(fingerprints(), sort_keys=True).encode()).hexdigest()
