"""What compiling for the first answer costs, by kernel: `python bench/compiling.py [--write docs/lab/compiling.md]`.

Calls what `cocite demo` compiles for its first answer, in a process of its own with an empty cache, and adds up the
processor time of each kernel with all that it calls. The parts of a kernel are compiled once, by the first that calls
them.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

CHILD = "--in-this-process"


def compile_all() -> None:
    """Compile, and print the seconds of each kernel that Python calls, and of all."""
    began = time.process_time()
    from numba.core import event

    seconds, functions, instructions = Counter[str](), Counter[str](), Counter[str]()
    started: list[tuple[str, float]] = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            started.append((event.data["dispatcher"].py_func.__name__, time.process_time()))
            functions[started[0][0]] += 1

        def on_end(self, event: Any) -> None:
            name, since = started.pop()
            if not started:
                seconds[name] += time.process_time() - since

    from numba.core.codegen import CPUCodeLibrary

    from cocite.warm import compile_answers

    add_module = CPUCodeLibrary.add_ir_module

    def add_and_count(self: Any, module: Any) -> None:
        lines = sum(len(block.instructions) for function in module.functions for block in function.blocks)
        instructions[started[0][0] if started else "others"] += lines
        add_module(self, module)

    CPUCodeLibrary.add_ir_module = add_and_count
    with event.install_listener("numba:compile", Listener()), tempfile.TemporaryDirectory() as folder:
        compile_answers(Path(folder))
    for name, spent in seconds.most_common():
        print(f"{name}\t{functions[name]}\t{instructions[name]}\t{spent:.2f}")
    print(f"all\t{functions.total()}\t{instructions.total()}\t{time.process_time() - began:.2f}")


def main() -> None:
    """Measure, print, and perhaps write a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write a page of Markdown")
    parser.add_argument(CHILD, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_this_process:
        compile_all()
        return
    with tempfile.TemporaryDirectory(prefix="cocite-compiling-") as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, __file__, CHILD]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = ["# Compiling for the first answer", ""]
    lines += [f"Made by `python bench/compiling.py` with Python {platform.python_version()}, on one core.", ""]
    lines += ["| kernel that Python calls | functions | LLVM instructions before optimising | processor s |"]
    lines += ["|---|---:|---:|---:|"]
    rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    lines += [f"| {name} | {int(n):,} | {int(code):,} | {spent} |" for name, n, code, spent in rows]
    page = "\n".join([*lines, ""])
    print(page)
    if given.write:
        given.write.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
