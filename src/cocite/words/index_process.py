"""Make the search index of a store in a process of its own: python -P -m cocite.words.index_process STORE MEMORY

`renew_search` starts it. It ends as soon as the process that started it is gone.
"""

import os
import sys
import threading
from pathlib import Path

from cocite.graph.store import Graph
from cocite.words.search import build_search


def end_with_parent() -> None:
    """End as soon as the process that started this one is gone."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    build_search(Graph(Path(sys.argv[1])), memory=int(sys.argv[2]))
    os._exit(0)
