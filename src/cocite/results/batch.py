"""Results for many pages: every page of a store, or those of a list, on all cores.

Pages are answered in parts. Each part gets its final name only when it is complete, so an interrupted batch resumes
with the missing parts.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
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
from cocite.graph.generation import Progress, sync_folder
from cocite.graph.names import addresses as addresses_of
from cocite.graph.names import mapped_addresses
from cocite.graph.store import Graph
from cocite.parameters import Parameter, values_of
from cocite.related.methods import method as method_of
from cocite.results.ask import check_k
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.workers import BatchPart, BatchTask, answer_all_pairs, answer_parts, check_all_pairs
from cocite.web import known_pages

PART_PAGES = 20_000
"""Some seconds of work, which is what an interruption may cost."""
PLAN = "_batch.json"
"""Readers of Parquet folders ignore names that begin with an underscore."""
UNFINISHED = ".unfinished"
COPY_BYTES = 1 << 20
_PROCESSES = Parameter(name="processes", help="Number of processes", type=int, default=1, minimum=1, maximum=256)
SCHEMA = pa.schema([("query", pa.string()), ("rank", pa.int32()), ("url", pa.string()), ("score", pa.float64())])


@dataclass(frozen=True)
class Plan:
    """What a batch does; only a batch with an equal plan may resume it."""

    store: str
    method: str
    k: int
    pages: int
    queries: str  # checksum of the query pages
    part: int
    stop: str  # checksum of the stop pages
    filters: dict[str, Any]
    version: str  # results may differ between versions

    def text(self) -> str:
        """As it is written."""
        return json.dumps(asdict(self), indent=1)

    def agrees(self, path: Path) -> bool:
        """Whether a file contains this plan."""
        try:
            return bool(json.loads(path.read_text(encoding="utf-8")) == json.loads(self.text()))
        except (OSError, ValueError):
            return False


class BatchSummary(NamedTuple):
    """Summary of a finished batch."""

    pages: int
    answered: int
    answers: int
    parts: int
    kept: int  # parts from an earlier run


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
    part: int = PART_PAGES,
    progress: Progress = lambda stage, done, total: None,
) -> BatchSummary:
    """Write the results for pages (default: all with links) to a folder of Parquet files or to one TSV file.

    With `together`, all pairs of pages are compared at once: for integrated similarity only.
    """
    if output.suffix not in (".parquet", ".tsv"):
        raise BadParameter(f"Unknown output format {output.suffix!r}: {output} must end in .parquet or .tsv")
    processes = None if processes is None else int(_PROCESSES.check(processes))
    asked = linked_pages(graph) if queries is None else np.array(list(dict.fromkeys(queries)), np.uint32)
    method = method_of(call)
    stop = known_pages(graph, getattr(method.params, "stop", ()))
    task = BatchTask(graph.path.absolute(), str(graph.manifest["id"]), call, stop, check_k(k), filters)
    if together:
        check_all_pairs(method, graph.pages)
        if filters != NO_FILTERS:
            raise BadParameter("All pairs at once works without filters: leave out one or the other.")
    way = f"{method}, all pages at once" if together else str(method)
    plan = Plan(
        task.generation, way, task.k, len(asked), _checksum(asked), part, _checksum(stop), values_of(filters),
        __version__,
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
        to_do = [(i, parts[i]) for i in missing]
        with (
            _addresses(graph, folder / PLAN, len(asked) * (task.k + 1), progress) as addresses,
            closing(
                answer_all_pairs(task, to_do, processes, progress) if together else answer_parts(task, to_do, processes)
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
    return BatchSummary(len(asked), answered, answers, len(names), len(kept))


def _checksum(pages: NDArray[np.uint32]) -> str:
    return blake2b(pages.astype("<u4").tobytes(), digest_size=16).hexdigest()


def _tally(path: Path, flat: bool) -> tuple[int, int]:
    """The pages with results, and the results, of a finished part."""
    if flat:
        with path.open("rb") as file:
            ranks = [line.split(b"\t")[1] == b"1" for line in file]
        return sum(ranks), len(ranks)
    ranks = pq.read_table(path, columns=["rank"])["rank"].to_numpy()
    return int(np.count_nonzero(ranks == 1)), len(ranks)


class _LazyAddresses:
    """Addresses read when needed, for a batch of few pages of a large store."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def take(self, pages: pa.Array) -> pa.Array:
        """Like `pyarrow.Array.take`."""
        return pa.array([next(addresses_of(self._graph, page, 1)) for page in pages.to_pylist()], pa.string())


def _addresses(graph: Graph, beside: Path, wanted: int, progress: Progress) -> AbstractContextManager[Any]:
    """All addresses, if many are needed."""
    return (
        nullcontext(_LazyAddresses(graph)) if wanted < graph.pages // 10 else mapped_addresses(graph, beside, progress)
    )


def linked_pages(graph: Graph) -> NDArray[np.uint32]:
    """All pages with in-links or out-links."""
    return np.flatnonzero((np.asarray(graph.in_degree) > 0) | (np.asarray(graph.out_degree) > 0)).astype(np.uint32)


def _prepare(folder: Path, output: Path, plan: Plan, joined: list[str]) -> None:
    """Make the folder of parts, or check that an existing one has the same plan.

    `joined` are the parts of a single output file. That file may exist if it consists of exactly these parts: an
    earlier run was killed after joining them and before deleting them.
    """
    shutil.rmtree(_dropped(folder), ignore_errors=True)  # of a killed run
    if joined and output.exists() and not (plan.agrees(folder / PLAN) and _is_joined(output, folder, joined)):
        raise BadParameter(f"{output} already exists: remove it, or choose another place")
    if folder.exists() and not plan.agrees(folder / PLAN) and not _is_empty(folder):
        raise BadParameter(f"{folder} contains something other than this batch: remove it, or choose another place")
    folder.mkdir(parents=True, exist_ok=True)
    _sync(folder.parent)
    for left in folder.glob(".cocite-export-*"):  # of a killed run
        shutil.rmtree(left, ignore_errors=True)
    if not (folder / PLAN).exists():
        _atomically(folder / PLAN, lambda path: path.write_text(plan.text(), encoding="utf-8"))


def _is_empty(folder: Path) -> bool:
    """Whether a folder contains nothing, apart from the unfinished plan of a killed run."""
    return folder.is_dir() and all(each.name == f".{PLAN}{UNFINISHED}" for each in folder.iterdir())


def _table(addresses: Any, queried: NDArray[np.uint32], found: BatchPart) -> pa.Table:
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
    """Write a file completely or not at all."""
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
    """Make a new file name durable."""
    with suppress(PermissionError):  # a folder may be writable but not listable
        sync_folder(folder)


def _join(output: Path, folder: Path, names: list[str]) -> None:
    def write(path: Path) -> None:
        with path.open("wb") as out:
            for name in names:
                with (folder / name).open("rb") as part:
                    shutil.copyfileobj(part, out)

    _atomically(output, write)


def _is_joined(output: Path, folder: Path, names: list[str]) -> bool:
    """Whether a file consists of exactly these parts."""
    try:
        with output.open("rb") as whole:
            for name in names:
                with (folder / name).open("rb") as part:
                    while piece := part.read(COPY_BYTES):
                        if whole.read(len(piece)) != piece:
                            return False
            return not whole.read(1)
    except OSError:
        return False


def _drop(folder: Path) -> None:
    """Delete a folder of parts. It is renamed first, so that a killed run never leaves half of it."""
    folder.rename(_dropped(folder))
    shutil.rmtree(_dropped(folder))


def _dropped(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.dropped")
