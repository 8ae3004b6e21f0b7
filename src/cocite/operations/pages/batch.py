"""Find the related pages of every page, on all cores.

Pages are answered in parts. Each part gets its final name only when it is complete, so an interrupted batch resumes
with the missing parts.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from cocite import __version__
from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Graph, Operation, Progress, Web, operation
from cocite.operations.task import read_addresses
from cocite.parameters import parameter, values_of
from cocite.results.filters import NO_FILTERS, Filters
from cocite.system import make_folder, replacing

if TYPE_CHECKING:
    import pyarrow as pa

    from cocite.related.neighbourhood.view import Pages
    from cocite.results.workers import BatchPart

ENDLESS = 100_000_000
PART_PAGES = 20_000  # some seconds of work, which is what an interruption may cost
PLAN_FILE = "_batch.json"  # readers of Parquet folders ignore names that begin with an underscore
UNFINISHED = ".unfinished"


class BatchSummary(NamedTuple):
    """Summary of a finished batch."""

    pages: int
    answered: int
    answers: int
    parts: int
    kept: int  # parts from an earlier run
    unknown: int = 0  # query pages that the store doesn't have
    chopped: int = 0  # of other unknown ones, the nearest known shorter address was used
    output: str = ""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "seconds": round(self.seconds, 3)}


@operation(slow=True)
class Batch(Operation, Filters):
    """Find the related pages of every page, or of those of a file, on all cores.

    Rows are query, rank, url and score; a TSV file has them in this order, without a header. Rows for an address that
    isn't in the store are those of its nearest known shorter address. If it is interrupted, the same command continues.

    With --all-pairs, integrated similarity is computed for all pages at once, from words and links in memory. It looks
    at fewer pages than a single question: about 19 of the 20 best results are the same (docs/lab/integrated.md). If
    it is interrupted before the first part is written, it starts again.

    Examples:
        cocite batch -o related.parquet
        cocite batch -m cocitation -k 20 --queries pages.txt -o related.tsv
        cocite batch -m integrated --all-pairs -k 20 -o alike.parquet
    """

    output: str = parameter(
        "", "A folder of Parquet files, or one file if it ends in .tsv", metavar="PLACE", required=True,
        flags=("--output", "-o"),
    )  # fmt: skip
    method: str = shared.method()
    k: int = shared.k(help="Maximum number of results of each page")
    pages: tuple[str, ...] = parameter(
        (), "Only for these pages", max_items=ENDLESS, surfaces=("python",), on={"python": {"default": None}}
    )
    all_pairs: bool = parameter(False, "Compare all pages at once: integrated only, much faster, approximate")
    threads: int = parameter(
        0, "Number of processes (default: one per core)", minimum=0, maximum=256,
        on={"cli": {"default": None, "minimum": 1}, "python": {"name": "processes", "default": None, "minimum": 1}},
    )  # fmt: skip
    queries: str = shared.command_option(
        "", "Only for the pages of this file of addresses, one per line", metavar="FILE"
    )
    quiet: bool = shared.quiet()
    skip_unknown: bool = parameter(False, "Skip pages that the store doesn't have", surfaces=())
    interrupted = "Interrupted; finished parts are kept, and the same command continues from there"

    def on_surface(self, surface: str) -> Self:
        """Read the pages of a file; some of them may be unknown."""
        return replace(self, pages=tuple(read_addresses(self.queries)), skip_unknown=True) if self.queries else self

    def run(self, web: Web) -> BatchSummary:
        began = time.monotonic()
        pages, names, unknown = self._queries(web)
        if self.pages and not pages:
            raise BadParameter("None of the pages is in this store: check both")
        done = batch(
            web.graph, self.method, Path(self.output), k=self.k, queries=pages if self.pages else None, names=names,
            filters=self.filters, processes=self.threads or None, together=self.all_pairs, progress=web.progress,
        )  # fmt: skip
        chopped, seconds = sum(map(bool, names)), time.monotonic() - began
        return done._replace(unknown=unknown, chopped=chopped, output=self.output, seconds=seconds)

    def _queries(self, web: Web) -> tuple[list[int], list[str], int]:
        """The pages to answer, the addresses that were chopped to them, and how many addresses are unknown."""
        from cocite.related.methods import method
        from cocite.results.known import find_pages

        found = find_pages(web.graph, self.pages, method(self.method).chop, self.skip_unknown)
        pairs = zip(self.pages, found, strict=True)
        queries = dict.fromkeys((each.page, url if each.note else "") for url, each in pairs if each)
        return [page for page, _ in queries], [name for _, name in queries], found.count(None)


def batch(
    graph: Graph, call: str, output: Path, *, k: int = 10, queries: Sequence[int] | None = None,
    names: Sequence[str] = (), filters: Filters = NO_FILTERS, processes: int | None = None, together: bool = False,
    part: int = PART_PAGES, progress: Progress = lambda stage, done, total: None,
) -> BatchSummary:  # fmt: skip
    """Write the results for pages (default: all with links) to a folder of Parquet files or to one TSV file.

    `names` are addresses under which the results of the queries are written; for an empty one, the page's own. With
    `together`, all pairs of pages are compared at once: for integrated similarity only.
    """
    import numpy as np

    from cocite.graph.names import mapped_addresses
    from cocite.kernels.interpreted import expect
    from cocite.related.methods import method as method_of
    from cocite.results.workers import BatchTask, answer_all_pairs, answer_parts, check_all_pairs

    if output.suffix not in (".parquet", ".tsv"):
        raise BadParameter(f"Unknown output format {output.suffix!r}: {output} must end in .parquet or .tsv")
    if queries is None:
        asked = linked_pages(graph)
    else:
        asked = np.array(queries if names else list(dict.fromkeys(queries)), np.uint32)
    method = method_of(call)
    expect(questions=len(asked))
    if together:
        check_all_pairs(method, graph.pages)
        if filters != NO_FILTERS:
            raise BadParameter("All pairs at once works without filters: leave out one or the other.")
    task = BatchTask(graph.path.absolute(), str(graph.manifest["id"]), call, k, filters)
    plan = {
        "store": task.generation,
        "method": f"{method}, all pages at once" if together else str(method),
        "k": k,
        "pages": len(asked),
        "queries": blake2b(asked.astype("<u4").tobytes() + "\n".join(names).encode(), digest_size=16).hexdigest(),
        "part": part,
        "filters": values_of(filters),
        "version": __version__,  # results may differ between versions
    }
    flat = output.suffix == ".tsv"
    folder = output.with_name(output.name + ".parts") if flat else output
    parts = [asked[start : start + part] for start in range(0, max(1, len(asked)), part)]
    files = [folder / f"part-{number:05d}{output.suffix}" for number in range(len(parts))]
    _prepare(folder, output, plan, files if flat else [])
    missing = [i for i, file in enumerate(files) if not file.exists()]
    kept = sorted(set(range(len(parts))).difference(missing))
    tallies = [_tally(files[i]) for i in kept]
    if missing:
        few = len(asked) * (k + 1) < graph.pages // 10
        to_do = [(i, parts[i]) for i in missing]
        answer = partial(answer_all_pairs, progress=progress) if together else answer_parts
        with (
            nullcontext() if few else mapped_addresses(graph.names, folder / PLAN_FILE, progress) as addresses,
            closing(answer(task, to_do, processes)) as ready,
        ):
            progress("answering pages", sum(len(parts[i]) for i in kept), len(asked))
            for i, found in ready:
                _write(files[i], _table(graph, addresses, parts[i], found, names[i * part : (i + 1) * part]))
                tallies.append((int(np.count_nonzero(found.counts)), len(found.pages)))
                progress("answering pages", len(parts[i]), len(asked))
    if flat:
        if not output.exists():
            with replacing(output, UNFINISHED) as unfinished, unfinished.open("wb") as joined:
                for file in files:
                    with file.open("rb") as rows:
                        shutil.copyfileobj(rows, joined)
        _drop(folder)
    answered, answers = np.array(tallies).sum(axis=0).tolist()
    return BatchSummary(len(asked), answered, answers, len(files), len(kept))


def linked_pages(graph: Graph) -> Pages:
    """All pages with in-links or out-links."""
    import numpy as np

    return np.flatnonzero((np.asarray(graph.in_degree) > 0) | (np.asarray(graph.out_degree) > 0)).astype(np.uint32)


def _tally(file: Path) -> tuple[int, int]:
    """The pages with results, and the results, of a finished part."""
    if file.suffix == ".tsv":
        with file.open("rb") as rows:
            firsts = [line.split(b"\t")[1] == b"1" for line in rows]
    else:
        import pyarrow.parquet as pq

        firsts = (pq.read_table(file, columns=["rank"])["rank"].to_numpy() == 1).tolist()
    return sum(firsts), len(firsts)


def _prepare(folder: Path, output: Path, plan: dict[str, Any], joined: Sequence[Path]) -> None:
    """Make the folder of parts, or check that an existing one has the same plan.

    `joined` are the parts of a single output file. That file may exist if it consists of exactly these parts: an
    earlier run was killed after joining them and before deleting them.
    """
    shutil.rmtree(_dropped(folder), ignore_errors=True)  # of a killed run
    try:
        same = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8")) == json.loads(json.dumps(plan))
    except (OSError, ValueError):
        same = False
    if joined and output.exists() and not (same and _is_joined(output, joined)):
        raise BadParameter(f"{output} already exists: remove it, or choose another place")
    if folder.exists() and not same:
        unfinished_plan = f".{PLAN_FILE}{UNFINISHED}"  # of a killed run
        if not folder.is_dir() or any(each.name != unfinished_plan for each in folder.iterdir()):
            raise BadParameter(f"{folder} contains something other than this batch: remove it, or choose another place")
    make_folder(folder)
    for left in folder.glob(".cocite-export-*"):  # of a killed run
        shutil.rmtree(left, ignore_errors=True)
    if not same:
        with replacing(folder / PLAN_FILE, UNFINISHED) as unfinished:
            unfinished.write_text(json.dumps(plan, indent=1), encoding="utf-8")


def _table(
    graph: Graph, all_addresses: pa.Array | None, queried: Pages, found: BatchPart, names: Sequence[str]
) -> pa.Table:
    """Rows of a part. Without all addresses, each is read alone: for a batch of few pages of a large store."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from cocite.graph.names import addresses

    def addresses_of(pages: Pages) -> pa.Array:
        if all_addresses is not None:
            return all_addresses.take(pa.array(pages)).cast(pa.string())
        return pa.array([next(addresses(graph.names, page, 1)) for page in pages.tolist()], pa.string())

    starts = np.cumsum(found.counts) - found.counts
    ranks = np.arange(len(found.pages)) - np.repeat(starts, found.counts) + 1
    queries = addresses_of(np.repeat(queried, found.counts))
    if any(names):
        given = pa.array([name or None for name in names], pa.string())
        queries = pc.coalesce(given.take(pa.array(np.repeat(np.arange(len(names)), found.counts))), queries)
    columns = [queries, pa.array(ranks, pa.int32()), addresses_of(found.pages), pa.array(found.scores)]
    return pa.table(columns, names=["query", "rank", "url", "score"])


def _write(file: Path, table: pa.Table) -> None:
    with replacing(file, UNFINISHED) as unfinished:
        if file.suffix == ".tsv":
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            text = "".join(f"{query}\t{rank}\t{url}\t{score:g}\n" for query, rank, url, score in rows)
            unfinished.write_text(text, encoding="utf-8")
        else:
            import pyarrow.parquet as pq

            pq.write_table(table, unfinished, compression="zstd")


def _is_joined(output: Path, files: Iterable[Path]) -> bool:
    """Whether a file consists of exactly these parts."""

    try:
        with output.open("rb") as whole:
            for file in files:
                with file.open("rb") as part:
                    while chunk := part.read(1 << 20):
                        if whole.read(len(chunk)) != chunk:
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
