"""The rules for kernels of docs/ARCHITECTURE.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from cocite import kernels

FOLDER = Path(kernels.__file__).parent
FILES = {file.relative_to(FOLDER).as_posix(): ast.parse(file.read_text("utf-8")) for file in FOLDER.rglob("*.py")}
DECORATORS = {"kernel", "inline", "lean_kernel", "lean_inline"}
MAX_PARAMETERS = 8


def compiled() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every compiled function, with its place."""
    for name, tree in FILES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and {ast.unparse(each) for each in node.decorator_list} & DECORATORS:
                yield f"{name}:{node.lineno}: {node.name}", node


def test_kernels_take_few_parameters() -> None:
    found = dict(compiled())
    assert len(found) > 150, "kernels are no longer recognised"
    assert [where for where, node in found.items() if len(node.args.args) > MAX_PARAMETERS] == []


def test_packed_fields_are_read_by_accessors() -> None:
    layout = {"BLOCK_BITS", "BLOCK_MASK"}
    for where, node in compiled():
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        assert where.startswith("codec/attributes.py") or not names & layout, where


def test_no_module_keeps_state() -> None:
    for name, tree in FILES.items():
        assert not any(isinstance(node, ast.Global) for node in ast.walk(tree)), name


def test_only_jit_compiles() -> None:
    for name, tree in FILES.items():
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert name == "jit.py" or not used & {"njit", "jit", "vectorize"}, name


def test_kernels_make_no_lent_tuples() -> None:
    """Nobody would count the references to the arrays of one: see kernels/bundles.py."""
    classes = [node for tree in FILES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    lent = {each.name for each in classes if "lent" in map(ast.unparse, each.decorator_list)}
    assert {"Lists", "CountedWeb"} <= lent
    for where, node in compiled():
        called = {ast.unparse(each.func).rpartition(".")[2] for each in ast.walk(node) if isinstance(each, ast.Call)}
        assert not called & (lent | {"_replace", "_make"}), where
