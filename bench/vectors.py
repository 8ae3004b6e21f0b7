"""Measure how long the word vectors and context words of a store take to make, and their peak memory.

    python bench/generate.py --pages 1600000 --anchors -o bench/data/anchors
    cocite build bench/data/anchors -o bench/data/anchors.cocite --no-text
    python bench/vectors.py bench/data/anchors.cocite

Each stage has its processor seconds, since two cores are often shared, and the most memory that the process had until
its end, without mapped files.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import defaultdict

import psutil

from cocite.graph.store import Graph
from cocite.words.make_vectors import make_vectors
from tables import show


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    graph = Graph(parser.parse_args().store)
    seconds, peaks, peak = defaultdict[str, float](float), dict[str, float](), 0.0
    began, done = time.process_time(), threading.Event()

    def progress(name: str, count: int, total: int) -> None:
        nonlocal began
        now = time.process_time()
        seconds[name] += now - began
        peaks[name], began = peak, now

    def watch() -> None:
        nonlocal peak
        process = psutil.Process()
        while not done.wait(0.05):
            memory = process.memory_info()
            peak = max(peak, (memory.rss - memory.shared) / (1 << 30))

    watcher = threading.Thread(target=watch)
    watcher.start()
    made = make_vectors(graph, progress)
    progress("neighbours, and the matrix by word", 0, 0)
    done.set()
    watcher.join()
    show(
        f"{graph.pages:,} pages, {len(graph.links):,} links; {len(made.words):,} words; {len(made.pages.ids):,} in "
        f"vectors, {len(made.context.ids):,} in context words",
        ("stage", "s", "GiB"),
        [[name, f"{each:.1f}", f"{peaks[name]:.2f}"] for name, each in seconds.items()],
    )


if __name__ == "__main__":
    main()
