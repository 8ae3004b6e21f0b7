"""Compile every kernel ahead, by building a small web and asking it everything once.

Numba compiles a kernel when it is first called, for the types of its arguments, and caches it on disk. So compiling
ahead means calling: `warm` builds a made-up store of 2,500 pages, and calls every rank, method and operation on it.

Numba compiles one kernel at a time in a process, so two processes share the work. A first build also starts a second
process, which compiles what the build needs last and what the first answer needs, by calling it with empty arrays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

TINY_PAGES, TINY_TARGETS, TINY_LINKS = 2_500, 600, 14
"""Enough for every branch of a build: sampled parents (2,000 in-links), entry points of long lists (512 links)."""
LOOK_UPS = 1_001
"""More than a store does in Python before it compiles its look-up."""
Progress = Callable[[str, int, int], object]
Step = tuple[str, Callable[[], object]]


class SecondProcess:
    """A process that compiles what the first needs later, so that it is cached when the first gets there.

    Nothing depends on it: if it fails, the first process compiles everything itself.
    """

    command: Sequence[str] = (sys.executable, "-m", "cocite.warm")

    def __init__(self, *arguments: str) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._arguments = arguments

    def start(self) -> None:
        """Start it, if it isn't running and there is a second core."""
        if self.process is None and (os.cpu_count() or 1) > 1:
            command = [*self.command, *self._arguments]
            nowhere, pipe = subprocess.DEVNULL, subprocess.PIPE
            with suppress(OSError):  # in its own session, so that Ctrl-C reaches it only through the first process
                self.process = subprocess.Popen(
                    command, stdin=nowhere, stdout=pipe, stderr=nowhere, start_new_session=True
                )

    def wait(self, compiling: Callable[[str], object] = lambda _: None) -> None:
        """Wait until it is done: else both processes would compile the same kernels, side by side.

        Calls `compiling` with the name of each kernel.
        """
        if self.process and self.process.stdout:
            for line in self.process.stdout:
                if line.rstrip() == b"ready":
                    break
                compiling(line.decode().strip())

    def __enter__(self) -> SecondProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()


def warm(progress: Progress) -> None:
    """Compile every kernel that builds and answers use. `progress` gets the name, number and total of each step."""
    with (
        tempfile.TemporaryDirectory(prefix="cocite-warm-") as folder,
        SecondProcess() as answers,
        SecondProcess(folder) as others,
    ):
        answers.start()
        (name, build), *rest = steps(Path(folder))
        progress(name, 0, len(rest) + 1)
        build()
        answers.wait()
        others.start()
        for done, (name, work) in enumerate(unclaimed(rest, Path(folder)), 1):
            progress(name, done, len(rest) + 1)
            work()
        others.wait()
        progress("done", len(rest) + 1, len(rest) + 1)


def unclaimed(todo: Iterable[Step], folder: Path) -> Iterator[Step]:
    """The steps that no other process has begun. Each is claimed by a file, just before it is returned."""
    for name, work in todo:
        with suppress(FileExistsError), (folder / f"{name}.claimed").open("x"):
            yield name, work


def compile_rest(folder: Path) -> None:
    """Take steps from the last one backwards, while the first process takes them from the first one on."""
    _, *rest = steps(folder)
    for _, work in unclaimed(reversed(rest), folder):
        work()
    print("ready", flush=True)


def steps(folder: Path) -> Iterator[Step]:
    """What to call, with a name to show; the first builds the store that the others ask."""
    import cocite
    from cocite.errors import CociteError
    from cocite.graph.check import check
    from cocite.related import methods, ranks

    store = folder / "tiny.cocite"
    page, other = address(0), address(1)

    @cache
    def opened() -> Any:
        return cocite.open(store)

    def build() -> None:
        records = folder / "pages.jsonl"
        records.write_text("".join(json.dumps(record) + "\n" for record in tiny_web()), "utf-8")
        cocite.build([records], store)
        cocite.build([records], store, adding=True)

    def call(work: Callable[[Any], object]) -> Callable[[], None]:
        def run() -> None:
            with suppress(CociteError):  # "nothing related" is a good enough answer
                work(opened())

        return run

    def ranked(name: str, web: Any) -> None:
        web.rank(name)

    def related(name: str, web: Any) -> None:
        web.related(page, name)
        web.related([page, other], name)

    yield "building a store", build
    yield "finding pages", call(lambda web: [web.graph.get(page) for _ in range(LOOK_UPS)])
    for name in ranks.names():
        yield f"rank {name}", call(partial(ranked, name))
    for name in methods.names():
        yield f"method {name}", call(partial(related, name))
    yield "links by keywords", call(partial(related, "link_similarity(theta=0.1)"))
    yield "recommendations", call(lambda web: web.related(history={page: 2.0, other: 1.0}))
    yield "hubs", call(lambda web: web.hubs([page, other]))
    yield "communities", call(lambda web: web.communities("word1"))
    yield (
        "clusters",
        call(lambda web: [web.cluster([address(n) for n in range(9)], by=by) for by in ("lli", "integrated")]),
    )
    yield "keywords", call(lambda web: (web.keywords("word1"), web.keywords.of_page(page)))
    yield "search", call(lambda web: web.search("word1 word2"))
    yield "similarity", call(lambda web: web.similarity(page, other))
    yield "batch", call(lambda web: web.batch(folder / "all.tsv", "cocitation", processes=1))
    yield "all pairs", call(lambda web: web.batch(folder / "pairs.tsv", "integrated", all_pairs=True, processes=1))
    yield "unknown pages", call(lambda web: web.related("https://site1.example/pag1"))
    yield "checking a store", lambda: check(store)


def address(n: int) -> str:
    """The address of the n-th page that the made-up lists link to."""
    return f"https://site{n % 50}.example/page{n}"


def anchor(n: int) -> str:
    """The text of links to that page; every other of the first ones has the name of the one before."""
    number = n // 2 if n < 10 else n
    return f"word{number % 40} name{number}"


def tiny_web() -> Iterator[dict[str, Any]]:
    """Page records of a made-up web: lists in sections, two popular pages, copies, pages of the same name, and text."""
    for n in range(TINY_PAGES):
        targets = [0, 1, *((n * 7 + k * k) % TINY_TARGETS for k in range(TINY_LINKS - 2))] if n else range(TINY_TARGETS)
        links = [
            {"url": address(k), "text": f"word{k // 2 % 40} name{k // 2}", "block": at // 5}
            for at, k in enumerate(targets)
        ]
        text = " ".join(f"word{(n * k) % 97}" for k in range(1, 12))
        yield {
            "url": f"https://list{n}.example/",
            "title": f"List {n}",
            "text": text,
            "links": links,
            "headings": ["A", "B"],
        }
    for n in range(TINY_TARGETS):
        text = " ".join(f"word{(n + k) % 97}" for k in range(12))
        yield {
            "url": address(n),
            "title": f"Page {n}",
            "text": text,
            "links": [address((n * k) % TINY_TARGETS) for k in (3, 5)],
        }
    yield {"url": "https://moved.example/", "redirect": address(2), "links": ["https://bücher.example/ä b?c=d"]}
    yield {"url": "https://moved2.example/", "redirect": "https://moved.example/"}


def compile_answers() -> None:
    """Call what a build needs last, and what an answer and a look-up need, with empty arrays like a mapped store's."""
    import numpy as np

    from cocite.errors import CociteError
    from cocite.graph.build.near_duplicates import near_duplicate_groups
    from cocite.kernels.codec.look_up import find
    from cocite.kernels.codec.name_codec import LONGEST_KEY
    from cocite.operations import DEFAULT_METHOD
    from cocite.related.methods import method
    from cocite.related.neighbourhood.scores import NO_TIES, Scores
    from cocite.related.neighbourhood.view import NO_PAGES

    web = empty_web()
    graph, chosen, nothing = web.graph, method(DEFAULT_METHOD), Scores(NO_PAGES, NO_TIES, [0], NO_PAGES)
    near_duplicate_groups(graph.out, graph.out.degree)
    for work in (
        lambda: chosen.relate(web, [0]),
        lambda: list(nothing.ranked(graph.in_degree)),
        lambda: chosen.explain(web, nothing, np.zeros(1, np.uint32)),
    ):
        with suppress(CociteError):  # an empty store has no answer, and everything was called when that shows
            work()
    print("ready", flush=True)
    find(graph.names.index, graph.array("page.kind"), np.empty(LONGEST_KEY, np.uint8))


def empty_web() -> Any:
    """A store of one page and no links; its arrays are read-only, as mapped ones are."""
    import numpy as np

    from cocite.graph.arrays import TYPE_OF
    from cocite.graph.store import Graph
    from cocite.web import Web

    def mapped(name: str) -> Any:
        array = np.zeros({"out.offset": 2, "in.offset": 2, "look_up.start": 3}.get(name, 1), TYPE_OF[name])
        array.flags.writeable = False
        return array

    arrays = {name: mapped(name) for name in TYPE_OF if "." not in name or name.partition(".")[0] not in ("alias",)}
    web = Web(Graph.from_arrays(arrays))
    web.__dict__["vectors"] = empty_vectors()
    return web


def empty_vectors() -> Any:
    """Word vectors of one page with one word, read-only like mapped ones."""
    import numpy as np

    from cocite.kernels.words.word_vectors import Sparse
    from cocite.words.stored import Vocabulary
    from cocite.words.vectors import Vectors

    starts, ids, weights = np.arange(2), np.zeros(1, np.uint32), np.ones(1, np.uint16)
    for array in (starts, ids, weights):
        array.flags.writeable = False
    rows = Sparse(starts, ids, weights)
    return Vectors(rows, rows, weights, Vocabulary.of(["word"]), rows, rows, np.zeros(1, np.uint8))


if __name__ == "__main__":
    from cocite.kernels.jit import watch

    with watch(lambda kernel: print(kernel, flush=True)):
        compile_rest(Path(sys.argv[1])) if len(sys.argv) > 1 else compile_answers()
