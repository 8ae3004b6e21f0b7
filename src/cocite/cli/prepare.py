"""Compiling with two processes instead of one, in the first build on a machine.

Numba compiles one loop at a time, in the order in which a build comes to them. The last of them, which find
near-duplicates, and those of the first look-up and the first answer take more than half of the time in a small web. So
when a build finds that it has to compile, a second process compiles those, and they are in Numba's cache on disk when
the first comes to them. It says when all loops of an answer are there: a first process that is ready earlier waits,
since both would else compile the same ones, side by side. Nothing depends on it: if it fails, the first process
compiles everything itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

COMMAND = [sys.executable, "-m", "cocite.cli.prepare"]


@contextmanager
def helper() -> Iterator[Callable[[], list[subprocess.Popen[bytes]]]]:
    """A function that starts the second process, which ends with the context at the latest."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> list[subprocess.Popen[bytes]]:
        if not started and (os.cpu_count() or 1) > 1:
            nowhere, pipe = subprocess.DEVNULL, subprocess.PIPE
            with suppress(OSError):
                # In a session of its own, so that Ctrl-C reaches it through the first process only.
                started.append(
                    subprocess.Popen(COMMAND, stdin=nowhere, stdout=pipe, stderr=nowhere, start_new_session=True)
                )
        return started

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.communicate()


def wait_for_answers(started: list[subprocess.Popen[bytes]]) -> None:
    """Until the second process, if there is one, has compiled what an answer needs, or has ended."""
    for process in started:
        if process.stdout:
            process.stdout.readline()


def compile_late() -> None:
    """Call what a build needs last, and questions and look-ups after it, with empty arrays like a mapped store's."""
    import numpy as np

    from cocite.graph.build.derive import near_duplicate_pairs
    from cocite.kernels.codec.look_up import find
    from cocite.kernels.codec.name_codec import LONGEST_KEY

    web = empty_web()
    graph = web.graph
    near_duplicate_pairs(graph.out, graph.out.degree)
    ask_about_nothing(web)
    print("answers", flush=True)
    find(graph.names.coded, graph.array("page.kind"), np.empty(LONGEST_KEY, np.uint8))


def ask_about_nothing(web: Any) -> None:
    """A question to an empty store ends in an error, after everything it needs was called."""
    from cocite.errors import CociteError
    from cocite.related.methods import method
    from cocite.related.neighbourhood.scores import NO_TIES, Scores
    from cocite.related.neighbourhood.view import NO_PAGES
    from cocite.results import DEFAULT_METHOD
    from cocite.results.explain import Explainer

    chosen, graph = method(DEFAULT_METHOD), web.graph
    nothing = Scores(NO_PAGES, NO_TIES, [], NO_PAGES)
    for work in (
        lambda: chosen.relate(web, [0]),
        lambda: list(nothing.ranked(graph.in_degree)),
        lambda: Explainer(web, [0], chosen.params).reasons(0),
    ):
        with suppress(CociteError):
            work()


def empty_web() -> Any:
    """A store of one page and no links; its arrays are read-only, as mapped ones are."""
    import numpy as np

    from cocite.graph.arrays import TYPE_OF, Arrays
    from cocite.graph.huffman import LONGEST
    from cocite.graph.store import Graph
    from cocite.kernels.codec.lists import Lists
    from cocite.kernels.codec.look_up import Names
    from cocite.web import Web

    def mapped(name: str) -> Any:
        array = np.zeros({"out.offset": 2, "in.offset": 2, "look_up.start": 3}.get(name, 1), TYPE_OF[name])
        array.flags.writeable = False
        return array

    table = np.zeros(1 << LONGEST, np.uint32)
    web = Web.__new__(Web)
    arrays = {name: mapped(name) for name in TYPE_OF if "." not in name or name.partition(".")[0] not in ("alias",)}
    names = [arrays[name] for name in ("fingerprint", "look_up.start", "look_up.page")]
    graph = Graph(Arrays(arrays, {"id": "", "pages": 1}))
    graph.names.__dict__["coded"] = Names(arrays["name.words"], arrays["name.block"], table, table, *names)
    for way, name in (("out", "out"), ("into", "in")):
        words, base, offset, degree = (arrays[f"{name}.{part}"] for part in ("words", "base", "offset", "degree"))
        graph.__dict__[way] = Lists(words, base, offset, degree, table)
    web.graph = graph
    web.__dict__["vectors"] = vectors_of_nothing()
    return web


def vectors_of_nothing() -> Any:
    """Word vectors of one page of one word, read-only like mapped ones."""
    import numpy as np

    from cocite.kernels.words.word_vectors import Sparse
    from cocite.words.vectors import Vectors
    from cocite.words.vocabulary import Vocabulary

    starts, ids, weights = np.arange(2), np.zeros(1, np.uint32), np.ones(1, np.uint16)
    for array in (starts, ids, weights):
        array.flags.writeable = False
    rows = Sparse(starts, ids, weights)
    return Vectors(rows, rows, weights, Vocabulary.of(["word"]), rows, rows, np.zeros(1, np.uint8))


if __name__ == "__main__":
    compile_late()
