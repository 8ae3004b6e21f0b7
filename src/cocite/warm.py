"""Compile every kernel ahead: build a made-up store of 3,100 pages, and call every rank, method and operation on it.

Numba compiles a kernel when it is first called, for the types of its arguments, and caches it on disk. It compiles one
kernel at a time in a process, so two processes share the work. A first build also starts a second process, which
compiles what the build needs last and what the first answer needs, by calling it with empty arrays.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, Self

import cocite
from cocite.errors import CociteError

TINY_LISTS, TINY_TARGETS, TINY_LINKS = 2_500, 600, 14
"""Enough for every branch of a build: sampled parents (2,000 in-links), entry points of long lists (512 links)."""
LOOK_UPS = 1_001
"""More than a store does in Python before it compiles its look-up."""
TINY_GRAPH = {
    "vertices.txt": b"0\tcom.a\n1\tcom.b\n2\tcom.c\n",
    "edges.txt": b"0\t1\n0\t2\n",
    "bv/bv.properties": b"graphclass=BVGraph\nnodes=3\narcs=2\nwindowsize=7\nminintervallength=4\ncompressionflags=\n",
    # node 0 links to 1 and 2: outdegree, reference, intervals, residuals
    "bv/bv.graph": bytes([0b01111101, 0b11001100]),
    "bv/bv.offsets": bytes([0b10001101, 0b01001000]),  # 0, then 12, 1 and 1 bits more, in γ
}
"""A web graph of three vertices: as text, and in WebGraph's format."""
Progress = Callable[[str, int, int], object]
Step = tuple[str, Callable[[], object]]


class SecondProcess:
    """A process that compiles what the first needs later. If it fails, the first compiles everything itself."""

    command: Sequence[str] = (sys.executable, "-m", "cocite.warm")

    def __init__(self, folder: Path | None = None) -> None:
        """It compiles what an answer needs, or all steps that work in a folder."""
        self.process: Popen[bytes] | None = None
        self._arguments = ["answers"] if folder is None else ["rest", str(folder)]

    def start(self) -> None:
        """Start it, if it isn't running and there is a second core."""
        if self.process is None and (os.cpu_count() or 1) > 1:
            command = [*self.command, *self._arguments]
            with suppress(OSError):  # in its own session, so that Ctrl-C reaches it only through the first process
                self.process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True)

    def wait(self) -> None:
        """Wait until it is done, or both would compile the same kernels."""
        if self.process and self.process.stdout:
            self.process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()


def warm(progress: Progress) -> None:
    """Compile every kernel that builds and answers use. `progress` gets the name, number and total of each step."""
    from cocite.kernels.interpreted import always_compiling

    with (
        always_compiling(),
        tempfile.TemporaryDirectory(prefix="cocite-warm-") as folder,
        SecondProcess() as answers,
        SecondProcess(Path(folder)) as others,
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
    from cocite.kernels.interpreted import always_compiling

    _, *rest = steps(folder)
    with always_compiling():
        for _, work in unclaimed(reversed(rest), folder):
            work()
    print("ready", flush=True)


def steps(folder: Path) -> Iterator[Step]:
    """What to call, with a name to show; the first builds the store that the others ask."""
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
        more = folder / "more.jsonl"
        more.write_text(json.dumps({"url": "https://more.example/", "title": "word1", "links": [page]}), "utf-8")
        cocite.build([more], store, adding=True)

    def call(work: Callable[[Any], object]) -> Callable[[], None]:
        def run() -> None:
            with suppress(CociteError):  # "nothing related" is a good enough answer
                work(opened())

        return run

    def related(name: str, web: Any) -> None:
        web.related(page, name)
        web.related([page, other], name)

    yield "building a store", build
    yield "finding pages", call(lambda web: [web.graph.get(page) for _ in range(LOOK_UPS)])
    for name in ranks.names():
        yield f"rank {name}", call(partial(lambda name, web: web.rank(name), name))
    for name in methods.names():
        yield f"method {name}", call(partial(related, name))
    others: dict[str, Callable[[Any], object]] = {
        "links by keywords": partial(related, "link_similarity(theta=0.1)"),
        "links through a page": lambda web: [web.related("https://chain0.example/", name) for name in ("walk", "auto")],
        "recommendations": lambda web: web.related(history={page: 2.0, other: 1.0}),
        "hubs": lambda web: web.hubs([page, other]),
        "communities": lambda web: web.communities("word1"),
        "clusters": lambda web: [web.cluster([address(n) for n in range(9)], by=by) for by in ("lli", "integrated")],
        "keywords": lambda web: (web.keywords("word1"), web.keywords.of_page(page)),
        "search": lambda web: web.search("word1 word2"),
        "similarity": lambda web: web.similarity(page, other),
        "batch": lambda web: web.batch(folder / "all.tsv", "cocitation", processes=1),
        "all pairs": lambda web: web.batch(folder / "pairs.tsv", "integrated", all_pairs=True, processes=1),
        "unknown pages": lambda web: web.related("https://site1.example/pag1"),
    }
    for name, work in others.items():
        yield name, call(work)
    yield "words of two pages", call(compare_words)
    yield "parts of a web", call(choose_from_pool)
    yield "pieces of names", split_names
    yield "names in order", order_names
    yield "checking a store", lambda: check(store)
    yield "clicks", lambda: count_clicks(store, folder)
    yield "captures", lambda: keep_captures(folder)
    yield "web graphs", lambda: read_graphs(folder)


def count_clicks(store: Path, folder: Path) -> None:
    """Count a click, and ask for what is related by it."""
    from cocite.graph.generation import no_progress
    from cocite.operations.store.clicks import CountClicks

    clicks = folder / "clicks.tsv"
    clicks.write_text(f"{address(0)}\t{address(1)}\n", "utf-8")
    CountClicks(files=(str(clicks),), index=str(store), quiet=True).do(no_progress)
    cocite.open(store).related(address(0))


def keep_captures(folder: Path) -> None:
    """Build a store that keeps captures, and open it as of a date."""
    records = folder / "captures.jsonl"
    dates = ("2009-06-01", "2024-06-01")
    captures = [{**record, "captured": date} for record in tiny_web() for date in dates]
    records.write_text("".join(json.dumps(record) + "\n" for record in captures), "utf-8")
    cocite.build([records], folder / "captures.cocite", history=True, text=False)
    cocite.open(folder / "captures.cocite").as_of("2009")


def compare_words(web: Any) -> None:
    """Compare the words of pages, as a site does."""
    import numpy as np

    web.vectors.cosines(0, np.arange(2, dtype=np.uint32))


def choose_from_pool(web: Any) -> None:
    """Choose among the parents that a part of a web has, as Spark does; its arrays are in memory, not mapped."""
    import numpy as np

    from cocite.kernels.related.pools import in_order_of_choice
    from cocite.related.neighbourhood.view import HASH_SEED

    in_order_of_choice(np.arange(2, dtype=np.uint32), 0, np.array(web.graph.fingerprints), HASH_SEED)


def split_names() -> None:
    """Learn the pieces of names, as a build of a large store does."""
    import numpy as np

    from cocite.graph.build.name_pieces import learn_pieces, some_of

    keys = [f"com,example)/{n}".encode() for n in range(32)]
    learn_pieces(some_of(np.frombuffer(b"".join(keys), np.uint8), np.cumsum([0, *map(len, keys)])))


def order_names() -> None:
    """Sort names, as a build of more than a few does."""
    import numpy as np

    from cocite.graph.build.scratch import Workers
    from cocite.graph.build.sort_names import sorted_rows
    from cocite.kernels.build.sort_texts import Texts

    with Workers(0) as workers:
        sorted_rows(Texts(np.full(24, 97, np.uint8), np.array([0, 8, 16]), np.arange(2, dtype=np.uint64)), workers)


def read_graphs(folder: Path) -> None:
    """Read a web graph as text, and in WebGraph's format."""
    from cocite.sources.records import ReadReport
    from cocite.sources.webgraphs.webgraph import read_webgraph_release

    (folder / "bv").mkdir()  # apart from the names, so that its vertices are numbered
    for name, content in TINY_GRAPH.items():
        (folder / name).write_bytes(content)
    for name in ("edges.txt", "bv/bv.graph"):
        list(read_webgraph_release(folder / name, ReadReport()))


def address(n: int) -> str:
    """The address of the n-th page that the made-up lists link to."""
    return f"https://site{n % 50}.example/page{n}"


def tiny_web() -> Iterator[dict[str, Any]]:
    """Page records of a made-up web: lists in sections, popular pages, copies, pages of the same name, and text."""
    for n in range(TINY_LISTS):
        targets = [0, 1, *((n * 7 + k * k) % TINY_TARGETS for k in range(TINY_LINKS - 2))] if n else range(TINY_TARGETS)
        links = [
            {"url": address(k), "text": f"word{k // 2 % 40} name{k // 2}", "block": at // 5}
            for at, k in enumerate(targets)
        ]
        text = " ".join(f"word{(n * k) % 97}" for k in range(1, 12))
        page = {"url": f"https://list{n}.example/", "title": f"List {n}", "text": text}
        yield {**page, "links": links, "headings": ["A", "B"]}
    for n in range(TINY_TARGETS):
        text = " ".join(f"word{(n + k) % 97}" for k in range(12))
        links = [{"url": address((n * k) % TINY_TARGETS)} for k in (3, 5)]
        yield {"url": address(n), "title": f"Page {n}", "text": text, "links": links}
    for n in (1, 2):  # a chain, whose end is related to its start only through the page between
        yield {"url": f"https://chain{n}.example/", "links": [f"https://chain{n - 1}.example/", "https://end.example/"]}
    # Is like chain1, and not linked with it.
    yield {"url": "https://chain3.example/", "links": ["https://end.example/"]}
    yield {"url": "https://moved.example/", "redirect": address(2), "links": ["https://bücher.example/ä b?c=d"]}
    yield {"url": "https://moved2.example/", "redirect": "https://moved.example/"}


def compile_answers() -> None:
    """Call what a build needs last, and what an answer needs, with empty arrays like a mapped store's."""
    import numpy as np

    from cocite.graph.build.derive import near_duplicate_groups
    from cocite.kernels.codec.look_up import find_key
    from cocite.kernels.codec.name_codec import MAX_KEY_BYTES
    from cocite.operations import DEFAULT_METHOD
    from cocite.related.methods import method
    from cocite.related.neighbourhood.scores import NO_TIES, Scores
    from cocite.related.neighbourhood.view import NO_PAGES

    web = empty_web()
    graph, chosen, nothing = web.graph, method(DEFAULT_METHOD), Scores(NO_PAGES, NO_TIES, [0], NO_PAGES)

    near_duplicate_groups(graph.out, graph.into)
    with suppress(CociteError):  # an empty store has no answer, and everything was called when that shows
        chosen.relate(web, [0])
    list(nothing.ranked(graph.in_degree, order=graph.order))
    chosen.explain(web, nothing, np.zeros(1, np.uint32))
    print("ready", flush=True)
    find_key(graph.names.index, graph.array("page.kind"), np.empty(MAX_KEY_BYTES, np.uint8))


def empty_web() -> Any:
    """A store of one page with one word and no links; its arrays are read-only, as mapped ones are."""
    import numpy as np

    from cocite.graph.arrays import TYPE_OF
    from cocite.graph.store import Graph
    from cocite.kernels.words.word_vectors import Sparse
    from cocite.web import Web
    from cocite.words.stored import Vocabulary
    from cocite.words.vectors import Vectors

    def mapped(array: Any) -> Any:
        array.flags.writeable = False
        return array

    sizes = {"out.bounds": 3, "in.bounds": 3, "look_up.start": 3, "name.code": 515}
    kept = {name: kind for name, kind in TYPE_OF.items() if not name.startswith("alias.")}
    web = Web(Graph.from_arrays({name: mapped(np.zeros(sizes.get(name, 1), kind)) for name, kind in kept.items()}))
    weights, home = mapped(np.ones(1, np.uint16)), mapped(np.zeros(1, np.uint8))
    rows = Sparse.of(mapped(np.arange(2)), mapped(np.zeros(1, np.uint32)), weights)
    rarity, votes = mapped(np.zeros(1)), mapped(np.ones(1, np.uint32))
    vectors = Vectors(rows, rows, weights, Vocabulary.of(["word"]), home, rows, rows, home, rarity, votes)
    web.__dict__["vectors"] = vectors
    return web


if __name__ == "__main__":
    compile_rest(Path(sys.argv[2])) if sys.argv[1] == "rest" else compile_answers()
