"""What verifying every checksum in the background costs the questions that are answered meanwhile.

    python bench/verifying.py STORE [--questions 200] [--rounds 15]

Asks the same questions in turns: alone, while a thread verifies the store again and again with the pauses that a server
makes, and while it does so without pauses. The table has the processor time of questions and verification together, as
ratios to that of the questions alone.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
import time
from pathlib import Path

from cocite.http.watcher import VERIFY_PAUSE
from cocite.operations.pages.related import Related
from cocite.snapshot import Snapshot
from tables import show


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    web, verified = Snapshot(options.store), Snapshot(options.store)
    web.open_parts()
    verified.open_parts()
    chosen = random.Random(1)
    pages = [page for page in range(web.graph.pages) if web.graph.in_degree[page] > 1]
    questions = [Related(urls=(web.graph.address(chosen.choice(pages)),)) for _ in range(options.questions)]
    pauses = {"alone": None, "verified as by a server": VERIFY_PAUSE, "verified without pauses": 0.0}
    seconds: dict[str, list[float]] = {name: [] for name in pauses}
    for number in range(options.rounds + 1):
        for name, pause in pauses.items():
            took = ask(web, questions, verified, pause)
            if number:  # the first round compiles
                seconds[name].append(took)
    alone = seconds["alone"]
    rows = [
        [name, f"{1e3 * statistics.median(found) / len(questions):.2f}", *ratios(found, alone)]
        for name, found in seconds.items()
    ]
    show(
        "Questions beside a verification", ["questions", "ms each", "median ratio to alone", "lowest", "highest"], rows
    )


def ratios(found: list[float], alone: list[float]) -> list[str]:
    """The median, lowest and highest ratio of a round to the same round alone."""
    ordered = sorted(one / other for one, other in zip(found, alone, strict=True))
    return [f"{each:.3f}" for each in (statistics.median(ordered), ordered[0], ordered[-1])]


def ask(web: Snapshot, questions: list[Related], verified: Snapshot, pause: float | None) -> float:
    """The processor time of all questions and of a thread that verifies a store meanwhile."""
    ended = threading.Event()

    def verify() -> None:
        while not ended.is_set():
            assert verified.damaged_files(pause or 0.0, ended.is_set) == []

    thread = threading.Thread(target=verify)
    if pause is not None:
        thread.start()
    began = time.process_time()
    for question in questions:
        question.run(web)
    took = time.process_time() - began
    ended.set()
    if thread.ident is not None:
        thread.join()
    return took


if __name__ == "__main__":
    main()
