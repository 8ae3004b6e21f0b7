"""Answers for many pages at once: every page of a store, or those of a list, on all cores.

The pages are done in parts, each written whole and under its final name only when it is complete; a batch that was
interrupted goes on where it was.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.graph.all_addresses import addresses as addresses_of
from cocite.graph.all_addresses import mapped_addresses
from cocite.graph.generation import Progress, sync_folder
from cocite.graph.store import Graph
from cocite.parameters import Parameter
from cocite.related.methods import method as method_of
from cocite.related.neighbourhood.view import stop_pages
from cocite.results.all_pairs import all_pairs, check_all_pairs
from cocite.results.ask import check_k
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.workers import Part, Task, answer_parts, gathered, open_task

PART = 20_000
"""Pages of a part: some seconds of work, which is what an interruption may cost."""
PLAN = "_batch.json"
"""Readers of Parquet folders pass over names that begin with an underscore."""
UNFINISHED = ".unfinished"
PIECE = 1 << 20
_PROCESSES = Parameter(
    name="processes", help="Processes that share the work", type=int, default=1, minimum=1, maximum=256
)
SCHEMA = pa.schema([("query", pa.string()), ("rank", pa.int32()), ("url", pa.string()), ("score", pa.float64())])


@dataclass(frozen=True)
class Plan:
    """What a batch does; a batch with another plan must not go on in its place."""

    store: str
    method: str
    k: int
    pages: int
    queries: str  # a checksum of the pages asked about
    part: int
    stop: str  # a checksum of the pages of the stop list, which may be a file
    filters: dict[str, Any]
    version: str  # another one may answer otherwise

    def agrees(self, path: Path) -> bool:
        """Whether a file holds this plan."""
        try:
            return bool(json.loads(path.read_text(encoding="utf-8")) == asdict(self))
        except (OSError, ValueError):
            return False


class Done(NamedTuple):
    """How a batch ended."""

    pages: int
    answered: int
    answers: int
    parts: int
    kept: int  # parts that were there from an earlier run


def batch(
    graph: Graph,
    call: str,
    output: Path,
    *,
    k: int = 10,
    queries: Sequence[int] | None = None,
    filters: Filters = NO_FILTERS,
    processes: int | None = None,
    together: bool = False,
    part: int = PART,
    progress: Progress = lambda stage, done, total: None,
) -> Done:
    """Answer for pages (all that have links, if none are given), into a folder of Parquet files or one TSV file.

    With `together`, all pages of the store are compared at once: integrated similarity only (`all_pairs.py`).
    """
    if output.suffix not in (".parquet", ".tsv"):
        raise BadParameter(f"{output} ends in neither .parquet nor .tsv: give one of them")
    processes = None if processes is None else int(_PROCESSES.check(processes))
    asked = linked_pages(graph) if queries is None else np.array(list(dict.fromkeys(queries)), np.uint32)
    method = method_of(call)
    stop = stop_pages(graph, getattr(method.params, "stop", ()))
    task = Task(graph.path.absolute(), str(graph.manifest["id"]), call, stop, check_k(k), filters)
    if together:
        check_all_pairs(method, graph.pages)
        if filters != NO_FILTERS:
            raise BadParameter("all pages at once: then answers are not filtered; leave out one or the other")
    way = f"{method}, all pages at once" if together else str(method)
    plan = Plan(
        task.generation, way, task.k, len(asked), _checksum(asked), part, _checksum(stop), asdict(filters), __version__
    )  # fmt: skip
    flat = output.suffix == ".tsv"
    folder = output.with_name(output.name + ".parts") if flat else output
    parts = [asked[start : start + part] for start in range(0, max(1, len(asked)), part)]
    names = [f"part-{number:05d}.{'tsv' if flat else 'parquet'}" for number in range(len(parts))]
    _prepare(folder, output, plan, names if flat else [])
    missing = [i for i, name in enumerate(names) if not (folder / name).exists()]
    kept = sorted(set(range(len(parts))).difference(missing))
    tallies = [_tally(folder / names[i], flat) for i in kept]
    if missing:
        with (
            _addresses(graph, folder / PLAN, len(asked) * (task.k + 1), progress) as addresses,
            closing(
                _answer_together(task, [(i, parts[i]) for i in missing], processes, progress)
                if together
                else answer_parts(task, [(i, parts[i]) for i in missing], processes)
            ) as ready,
        ):
            progress("answering pages", sum(len(parts[i]) for i in kept), len(asked))
            for i, found in ready:
                _write(folder / names[i], _table(addresses, parts[i], found), flat)
                tallies.append((int(np.count_nonzero(found.counts)), len(found.pages)))
                progress("answering pages", len(parts[i]), len(asked))
    if flat:
        if not output.exists():
            _join(output, folder, names)
        _drop(folder)
    answered, answers = np.array(tallies).sum(axis=0).tolist()
    return Done(len(asked), answered, answers, len(names), len(kept))


def _answer_together(
    task: Task, parts: list[tuple[int, NDArray[np.uint32]]], threads: int | None, progress: Progress
) -> Generator[tuple[int, Part], None, None]:
    """Every part's answers, after all pages were compared."""
    web, method = open_task(task)
    web.progress = progress
    found = all_pairs(web, check_all_pairs(method, web.graph.pages), task.k, threads, progress)
    for i, pages in parts:
        yield i, gathered(found.best(page) for page in pages.tolist())


def _checksum(pages: NDArray[np.uint32]) -> str:
    return blake2b(pages.astype("<u4").tobytes(), digest_size=16).hexdigest()


def _tally(path: Path, flat: bool) -> tuple[int, int]:
    """How many pages have answers in a part that is there already, and how many."""
    if flat:
        with path.open("rb") as file:
            ranks = [line.split(b"\t")[1] == b"1" for line in file]
        return sum(ranks), len(ranks)
    ranks = pq.read_table(path, columns=["rank"])["rank"].to_numpy()
    return int(np.count_nonzero(ranks == 1)), len(ranks)


class _OneByOne:
    """The addresses of pages, read when they are asked for: for a batch of few pages of a large store."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def take(self, pages: pa.Array) -> pa.Array:
        """As of an Arrow array."""
        return pa.array([next(addresses_of(self._graph, page, 1)) for page in pages.to_pylist()], pa.string())


def _addresses(graph: Graph, beside: Path, wanted: int, progress: Progress) -> AbstractContextManager[Any]:
    """All addresses, if many are wanted."""
    return nullcontext(_OneByOne(graph)) if wanted < graph.pages // 10 else mapped_addresses(graph, beside, progress)


def linked_pages(graph: Graph) -> NDArray[np.uint32]:
    """All pages with links in or out."""
    return np.flatnonzero((np.asarray(graph.in_degree) > 0) | (np.asarray(graph.out_degree) > 0)).astype(np.uint32)


def _prepare(folder: Path, output: Path, plan: Plan, joined: list[str]) -> None:
    """Make the folder of parts, or see that the one that is there is of the same plan.

    `joined` are the parts that are to become one file; that file may be there if it is these, joined by a run that was
    killed before it had dropped them.
    """
    shutil.rmtree(_dropped(folder), ignore_errors=True)  # by a run that was killed
    if joined and output.exists() and not (plan.agrees(folder / PLAN) and _is_joined(output, folder, joined)):
        raise BadParameter(f"{output} is there already: remove it, or choose another place")
    if folder.exists() and not plan.agrees(folder / PLAN) and not _vacant(folder):
        raise BadParameter(f"{folder} holds something else than this batch: remove it, or choose another place")
    folder.mkdir(parents=True, exist_ok=True)
    _sync(folder.parent)
    for left in folder.glob(".cocite-export-*"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    if not (folder / PLAN).exists():
        _atomically(folder / PLAN, lambda path: path.write_text(json.dumps(asdict(plan), indent=1), encoding="utf-8"))


def _vacant(folder: Path) -> bool:
    """Whether a folder has nothing in it but what a run that was killed at its start leaves."""
    return folder.is_dir() and all(each.name == f".{PLAN}{UNFINISHED}" for each in folder.iterdir())


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
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        write(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Have a new name in a folder on disk."""
    with suppress(PermissionError):  # a folder that may be written to, but not listed
        sync_folder(folder)


def _join(output: Path, folder: Path, names: list[str]) -> None:
    def write(path: Path) -> None:
        with path.open("wb") as out:
            for name in names:
                with (folder / name).open("rb") as part:
                    shutil.copyfileobj(part, out)

    _atomically(output, write)


def _is_joined(output: Path, folder: Path, names: list[str]) -> bool:
    """Whether a file holds these parts, one after another, and nothing else."""
    try:
        with output.open("rb") as whole:
            for name in names:
                with (folder / name).open("rb") as part:
                    while piece := part.read(PIECE):
                        if whole.read(len(piece)) != piece:
                            return False
            return not whole.read(1)
    except OSError:
        return False


def _drop(folder: Path) -> None:
    """Remove a folder of parts that are not needed any more: at once for whoever looks, whenever this is killed."""
    folder.rename(_dropped(folder))
    shutil.rmtree(_dropped(folder))


def _dropped(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.dropped")
