"""Each folder imports only from folders above it: the list in docs/ARCHITECTURE.md, enforced.

Precisely: what runs when a module is imported goes upwards, or stays in its folder, and never in a circle. Inside
functions the same holds, but for compiled loops, which pages and sources may fetch when they need one.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "cocite"
ORDER = (
    "errors", "system", "processes", "budget", "log", "text", "parameters", "plugins", "registry", "pages", "sources",
    "kernels", "graph", "words",
    "related.ranks", "web", "related.evidence", "related.neighbourhood", "related.methods", "related", "snapshot",
    "results", "evaluate", "site", "spark", "operations", "warm", "serving", "front ends", "sample", "__main__",
)  # fmt: skip
FRONT_ENDS = ("cli", "http", "mcp", "generators", "python")
STARTED = {("cli", "http.access"), ("cli", "http.run"), ("cli", "http.settings"), ("cli", "mcp.run")}
"""What one front end may use of another: `cocite serve` and `cocite mcp` start the servers."""
LAZILY = {("pages", "kernels"), ("sources", "kernels")}
FRONT_DOOR = "__init__"
"""The package itself holds errors and the version; what it offers beyond is imported when asked for."""


class Import(NamedTuple):
    """One module that another needs."""

    user: str
    used: str
    lazy: bool
    line: int


def module_name(file: Path) -> str:
    """`graph.store` of src/cocite/graph/store.py; the package itself is `__init__`."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(SOURCE.rglob("*.py"))}


def imports_of(name: str) -> Iterator[Import]:
    """What a module imports of cocite, at once or lazily; imports for type checkers count as neither."""

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.Import):
                yield from (named(alias.name, lazy, child.lineno) for alias in child.names if is_ours(alias.name))
            elif isinstance(child, ast.ImportFrom):
                assert not child.level, f"{MODULES[name]}:{child.lineno}: write imports in full"
                if is_ours(child.module or ""):
                    for alias in child.names:
                        inner = f"{child.module}.{alias.name}".removeprefix("cocite.")
                        whole = f"cocite.{inner}" if inner in MODULES else child.module or ""
                        yield named(whole, lazy, child.lineno)
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, lazy or inside)

    def named(module: str, lazy: bool, line: int) -> Import:
        used = module.removeprefix("cocite").removeprefix(".") or FRONT_DOOR
        return Import(name, used, lazy, line)

    return walk(ast.parse(MODULES[name].read_text("utf-8")), False)


def is_ours(module: str) -> bool:
    return module == "cocite" or module.startswith("cocite.")


def layer(name: str) -> str:
    """The longest entry of ORDER that a module is under."""
    parts = name.split(".")
    if parts[0] in FRONT_ENDS:
        return "front ends"
    return next((".".join(parts[:n]) for n in (2, 1) if ".".join(parts[:n]) in ORDER), parts[0])


@cache
def all_imports() -> list[Import]:
    """The imports of all modules."""
    return [found for name in MODULES for found in imports_of(name)]


def test_every_module_has_a_place_in_the_order() -> None:
    assert {layer(name) for name in MODULES} - {FRONT_DOOR} <= set(ORDER)
    assert len(all_imports()) > 100, "imports are no longer recognised"


def test_the_layout_in_the_docs_is_the_order() -> None:
    text = (SOURCE.parents[1] / "docs" / "ARCHITECTURE.md").read_text("utf-8")
    rows = text.partition("\nsrc/cocite/\n")[2].partition("\nresearch/")[0].split("\n")
    paths = [path for row in rows for path in row.strip().partition("  ")[0].split()]
    shown = [path.removesuffix(".py").removesuffix("/").replace("/", ".") for path in paths]
    order = [each for name in ORDER for each in (FRONT_ENDS if name == "front ends" else [name])]
    assert shown == [name for name in order if name != "related"]  # which has only its folders


def test_imports_go_upwards() -> None:
    for found in all_imports():
        where = f"{MODULES[found.user]}:{found.line}: {found.user} imports {found.used}"
        user, used = layer(found.user), layer(found.used)
        if FRONT_DOOR in (user, used):
            assert used in (FRONT_DOOR, "errors") or found.lazy, where
        elif (user, used) in LAZILY:
            assert found.lazy, f"{where}: do that inside the function that needs it, importing must be cheap"
        else:
            assert ORDER.index(used) <= ORDER.index(user), f"{where}: imports go upwards only"


def test_front_ends_do_not_import_each_other() -> None:
    for found in all_imports():
        user, used = found.user.partition(".")[0], found.used.partition(".")[0]
        if user in FRONT_ENDS and used in FRONT_ENDS and user != used:
            where = f"{MODULES[found.user]}:{found.line}: {found.user} imports {found.used}"
            assert (user, found.used) in STARTED and found.lazy, f"{where}: put what both need into results/"


def test_no_circle_of_imports() -> None:
    needs: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in all_imports():
        if not found.lazy and found.used != found.user:
            needs[found.user].add(found.used)
    order = list(TopologicalSorter(needs).static_order())
    assert order.index("errors") < order.index("python")


def test_errors_need_nothing() -> None:
    assert list(imports_of("errors")) == []


def test_importing_cocite_is_cheap() -> None:
    code = "import cocite, sys; print(sorted({'numba', 'numpy', 'duckdb', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
