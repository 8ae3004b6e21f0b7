"""Answers for many pages at once: every page of a store, or those of a list, on all cores.

The pages are done in parts, each written whole and under its final name only when it is complete; a batch that was
interrupted goes on where it was. Workers are processes that map the same store: they share its memory, and not a lock.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.all_addresses import mapped_addresses
from cocite.graph.store import Graph
from cocite.methods import method as method_of
from cocite.web import Web

PART = 20_000
"""Pages of a part: some seconds of work, which is what an interruption may cost."""
PLAN = "batch.json"
SCHEMA = pa.schema([("query", pa.string()), ("rank", pa.int32()), ("url", pa.string()), ("score", pa.float64())])

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Plan:
    """What a batch does; a batch with another plan must not go on in its place."""

    store: str
    method: str
    k: int
    pages: int
    queries: str  # a checksum of the pages asked about
    part: int


class Done(NamedTuple):
    """How a batch ended."""

    pages: int
    answered: int
    answers: int
    parts: int
    kept: int  # parts that were there from an earlier run


class Part(NamedTuple):
    """The answers to some pages: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: NDArray[np.uint32]
    scores: NDArray[np.float64]


def batch(
    graph: Graph,
    call: str,
    output: Path,
    *,
    k: int = 10,
    queries: Sequence[int] | None = None,
    processes: int | None = None,
    part: int = PART,
    progress: Progress = lambda stage, done, total: None,
) -> Done:
    """Answer for pages (all that have links, if none are given), into a folder of Parquet files or one TSV file."""
    asked = linked_pages(graph) if queries is None else np.array(list(dict.fromkeys(queries)), np.uint32)
    method = method_of(call)
    checksum = f"{int(np.bitwise_xor.reduce(asked.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), initial=0)):x}"
    plan = Plan(str(graph.manifest["id"]), str(method), k, len(asked), checksum, part)
    flat = output.suffix == ".tsv"
    folder = output.with_name(output.name + ".parts") if flat else output
    starts = range(0, len(asked), part)
    names = [f"part-{number:05d}.{'tsv' if flat else 'parquet'}" for number in range(len(starts))]
    _prepare(folder, output, plan, flat)
    missing = [i for i, name in enumerate(names) if not (folder / name).exists()]
    answered = answers = 0
    if missing:
        progress("answering pages", part * (len(names) - len(missing)), len(asked))
        with _addresses(graph, output, len(asked) * (k + 1), progress) as addresses:
            for i, found in _work(
                graph, call, k, [(i, asked[starts[i] : starts[i] + part]) for i in missing], processes
            ):
                queried = asked[starts[i] : starts[i] + part]
                _write(folder / names[i], _table(addresses, queried, found), flat)
                answered += int(np.count_nonzero(found.counts))
                answers += len(found.pages)
                progress("answering pages", len(queried), len(asked))
    if flat:
        _join(output, folder, names)
    return Done(len(asked), answered, answers, len(names), len(names) - len(missing))


class _OneByOne:
    """The addresses of pages, read when they are asked for: for a batch of few pages of a large store."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def take(self, pages: pa.Array) -> pa.Array:
        """As of an Arrow array."""
        return pa.array([" ".join(self._graph.address(page).split()) for page in pages.to_pylist()], pa.string())


def _addresses(graph: Graph, output: Path, wanted: int, progress: Progress) -> AbstractContextManager[Any]:
    """All addresses, if many are wanted."""
    return nullcontext(_OneByOne(graph)) if wanted < graph.pages // 10 else mapped_addresses(graph, output, progress)


def linked_pages(graph: Graph) -> NDArray[np.uint32]:
    """All pages with links in or out."""
    return np.flatnonzero((np.asarray(graph.in_degree) > 0) | (np.asarray(graph.out_degree) > 0)).astype(np.uint32)


def _prepare(folder: Path, output: Path, plan: Plan, flat: bool) -> None:
    """Make the folder of parts, or see that the one that is there is of the same plan."""
    if flat and output.exists():
        raise BadParameter(f"{output} is there already: remove it, or choose another place")
    written = json.dumps(asdict(plan), indent=1)
    if folder.exists():
        try:
            same = (folder / PLAN).read_text() == written
        except OSError:
            same = False
        if not same:
            raise BadParameter(f"{folder} holds something else than this batch: remove it, or choose another place")
        return
    folder.mkdir(parents=True)
    _atomically(folder / PLAN, lambda path: path.write_text(written))


def _work(
    graph: Graph, call: str, k: int, parts: list[tuple[int, NDArray[np.uint32]]], processes: int | None
) -> Iterator[tuple[int, Part]]:
    """Every part's answers, in the order in which they are ready."""
    count = min(processes or os.cpu_count() or 1, len(parts))
    if count == 1:
        web, method = Web(graph.path), method_of(call)
        for i, pages in parts:
            yield i, answer(web, method.relate, pages, k)
        return
    waiting = iter(parts)
    pool = ProcessPoolExecutor(
        count, get_context("spawn"), _open, (str(graph.path.absolute()), plan_id(graph), call, k)
    )
    try:
        running: dict[Future[Part], int] = {}
        while True:
            for i, pages in islice(waiting, 2 * count - len(running)):
                running[pool.submit(_answer, pages)] = i
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def plan_id(graph: Graph) -> str:
    """The generation that workers must open."""
    return str(graph.manifest["id"])


def answer(web: Web, relate: Callable[..., object], pages: NDArray[np.uint32], k: int) -> Part:
    """The k best answers for every page."""
    in_degree = web.graph.in_degree
    counts = np.zeros(len(pages), np.int32)
    found: list[tuple[int, float]] = []
    for i, page in enumerate(pages.tolist()):
        before = len(found)
        found.extend(islice(relate(web, [page]).ranked(in_degree, k), k))  # type: ignore[attr-defined]
        counts[i] = len(found) - before
    return Part(
        counts, np.array([page for page, _ in found], np.uint32), np.array([score for _, score in found], np.float64)
    )


_worker: tuple[Web, Callable[..., object], int] | None = None


def _open(path: str, generation: str, call: str, k: int) -> None:
    """Once in every worker."""
    global _worker
    web = Web(path)
    if plan_id(web.graph) != generation:
        raise BadParameter(f"{path} was changed meanwhile by another command: start the batch again")
    _worker = web, method_of(call).relate, k


def _answer(pages: NDArray[np.uint32]) -> Part:
    assert _worker is not None
    web, relate, k = _worker
    return answer(web, relate, pages, k)


def _table(addresses: Any, queried: NDArray[np.uint32], found: Part) -> pa.Table:
    ends = np.cumsum(found.counts)
    ranks = np.arange(len(found.pages)) - np.repeat(ends - found.counts, found.counts) + 1
    texts = [
        addresses.take(pa.array(pages)).cast(pa.string()) for pages in (np.repeat(queried, found.counts), found.pages)
    ]
    return pa.table([texts[0], pa.array(ranks, pa.int32()), texts[1], pa.array(found.scores)], schema=SCHEMA)


def _write(path: Path, table: pa.Table, flat: bool) -> None:
    if not flat:
        _atomically(path, lambda to: pq.write_table(table, to, compression="zstd"))
        return
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    text = "".join(f"{query}\t{rank}\t{url}\t{score:g}\n" for query, rank, url, score in rows)
    _atomically(path, lambda to: to.write_text(text, encoding="utf-8"))


def _atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file so that it is there whole, or not at all."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        write(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _join(output: Path, folder: Path, names: list[str]) -> None:
    def write(path: Path) -> None:
        with path.open("wb") as out:
            for name in names:
                with (folder / name).open("rb") as part:
                    shutil.copyfileobj(part, out)

    _atomically(output, write)
    shutil.rmtree(folder)
