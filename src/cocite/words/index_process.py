"""Make the search index of a store in a process of its own: python -P -m cocite.words.index_process STORE MEMORY

Word vectors are made meanwhile. Both take seconds of Python for 10,000 pages with texts, so threads would not do.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cocite.graph.store import Graph
from cocite.system import usable_cores

MIN_TEXT_BYTES = 2 << 20
"""Compressed texts of a store; an index of fewer is made in less time than a process takes to start."""


def is_worth_a_process(graph: Graph) -> bool:
    """Whether a second process would make words sooner."""
    texts = sum(len(graph.array(f"{name}.data")) for name in ("text", "anchors", "contexts"))
    return texts >= MIN_TEXT_BYTES and usable_cores() > 1 and bool(sys.executable)


@contextmanager
def index_process(path: Path, memory: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that makes the index. It ends with this one, or with the block."""
    command = [sys.executable, "-P", "-m", __name__, str(path.absolute()), str(memory)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def end_with_parent() -> None:
    """End as soon as the process that started this one is gone."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    from cocite.words.search import build_search

    threading.Thread(target=end_with_parent, daemon=True).start()
    build_search(Graph(Path(sys.argv[1])), memory=int(sys.argv[2]))
    os._exit(0)
