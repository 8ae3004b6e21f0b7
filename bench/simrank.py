"""SimRank: the time of one page, the distance from the exact result, and the time of networkx.

    python bench/simrank.py [--folder /tmp/simrank] [--pages 1000000] [--queries 100] [--without-rivals]

Graphs are those of generate.py with every page's first half of links, some ten a page, and are made once in the folder.

1. Time of one question, the 50 best results without reasons, on the large graph: random pages, and those with the most
   in-links. The bound is on the error of a score, at 99 %. "CPU" is the time of one core: on an idle machine, the time.
2. The same questions on a graph small enough for exact scores. Overlap is the share of the 50 results that are, by
   their exact scores, among the 50 best; a tie with the last of them counts. Error is the largest of any page.
3. All pairs, compared with networkx `simrank_similarity`, which must converge before the tenth round. It gets a coarse
   tolerance, so it makes fewer rounds than `all_pairs`.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cocite.python import build
from cocite.related.methods import Method, method
from cocite.related.methods.simrank import all_pairs, similarity_of
from cocite.web import Web
from generate import generate
from tables import show

BEST = 50
EXACT_PAGES = 6000
RIVAL_PAGES = (500, 1000, 2000)
TOLERANCE = 0.15


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/simrank"))
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--without-rivals", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    time_large(half_web(options.folder, options.pages), options.queries)
    compare_exact(half_web(options.folder, EXACT_PAGES), options.queries)
    if not options.without_rivals:
        time_rivals(options.folder)


def half_web(folder: Path, pages: int) -> Web:
    """A store of a generated web with half of its links; built if it doesn't exist."""
    store, records = folder / f"{pages}.cocite", folder / f"{pages}.parquet"
    if not store.exists():
        batches = map(half, generate(pages))
        first = next(batches)
        with pa.parquet.ParquetWriter(records, first.schema, compression="zstd", compression_level=1) as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)
        build([str(records)], str(store))
        records.unlink()
    return Web(store)


def half(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Page records with the first half of the links of each."""
    links = batch.column("links")
    starts = links.offsets.to_numpy()
    counts = np.diff(starts)
    kept = (counts + 1) // 2
    owner = np.repeat(np.arange(len(counts)), counts)
    chosen = np.flatnonzero(np.arange(len(owner)) + starts[0] - starts[owner] < kept[owner]) + starts[0]
    ends = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
    return pa.RecordBatch.from_pydict(
        {
            "url": batch.column("url"),
            "links": pa.ListArray.from_arrays(pa.array(ends), links.values.take(pa.array(chosen))),
        }
    )


def chosen(web: Web, count: int) -> dict[str, list[int]]:
    """Query pages by kind."""
    degree = np.asarray(web.graph.in_degree).astype(np.int64)
    rng = np.random.default_rng(1)
    linked = np.flatnonzero(degree > 0)
    return {
        "random pages": rng.choice(linked, min(count, len(linked)), replace=False).tolist(),
        "pages with one in-link": rng.choice(np.flatnonzero(degree == 1), count // 4).tolist(),
        "most in-links": np.argsort(-degree, kind="stable")[: count // 4].tolist(),
    }


class Timed(NamedTuple):
    """The best results of a question, the bound, milliseconds, and CPU milliseconds."""

    best: list[tuple[int, float]]
    bound: float
    clock: float
    cpu: float


def timed(web: Web, asked: Method, page: int) -> Timed:
    """Run a question and measure it."""
    began, used = time.perf_counter(), time.process_time()
    found = asked.relate(web, [page])
    best = list(islice(found.ranked(web.graph.in_degree), BEST))
    clock, cpu = time.perf_counter() - began, time.process_time() - used
    return Timed(best, found.facts["error"], clock * 1e3, cpu * 1e3)


def time_large(web: Web, queries: int) -> None:
    """One question on a large web."""
    rows = []
    for draws in (20_000, 50_000, 200_000):
        asked = method(f"simrank(draws={draws})")
        for name, pages in chosen(web, queries).items():
            timed(web, asked, pages[0])  # compiled, and mapped
            runs = [timed(web, asked, page) for page in pages]
            cpu = [run.cpu for run in runs]
            last = [run.best[-1][1] for run in runs if len(run.best) == BEST]
            rows.append(
                [f"{draws:,} draws, {name}", f"{np.median([run.clock for run in runs]):.0f}", f"{np.median(cpu):.0f}",
                 f"{np.percentile(cpu, 95):.0f}", f"{max(cpu):.0f}", f"{np.median([run.bound for run in runs]):.4f}",
                 f"{np.median(last):.4f}"]
            )  # fmt: skip
    pairs = chosen(web, queries)["random pages"]
    began, used = time.perf_counter(), time.process_time()
    bounds = [similarity_of(web, a, b)[1] for a, b in pairwise(pairs)]
    spent = [each * 1e3 / len(bounds) for each in (time.perf_counter() - began, time.process_time() - used)]
    rows.append(["two pages", f"{spent[0]:.0f}", f"{spent[1]:.0f}", "", "", f"{np.median(bounds):.4f}", ""])
    header = ["SimRank of one page", "ms, median", "CPU, median", "95 %", "max", "bound", "50th score"]
    show(f"{web.graph.pages:,} pages, {len(web.graph.links):,} links, 50 best results for one page", header, rows)


def links_in(web: Web) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """All links by target."""
    lists = [web.graph.links_to(page) for page in range(web.graph.pages)]
    return np.concatenate([[0], np.cumsum([len(each) for each in lists])]), np.concatenate(lists)


def compare_exact(web: Web, queries: int) -> None:
    """Overlap and error compared with all pairs."""
    began = time.perf_counter()
    exact = all_pairs(*links_in(web), web.graph.pages)
    print(f"\nall pairs of {web.graph.pages:,} pages: {time.perf_counter() - began:.1f} s")
    rows = []
    for draws in (20_000, 50_000, 200_000):
        asked = method(f"simrank(exact=0, draws={draws})")
        for name, pages in chosen(web, queries).items():
            overlaps, errors, bounds = [], [], []
            for page in pages:
                truth = exact[page].copy()
                truth[page] = 0.0
                found = asked.relate(web, [page])
                values = np.zeros(len(truth))
                values[found.pages] = found.values
                values[page] = 0.0
                best = [answer for answer, _ in islice(found.ranked(web.graph.in_degree), BEST)]
                wanted = min(BEST, int(np.count_nonzero(truth)))
                least = np.sort(truth)[-max(1, wanted)] * (1 - 1e-6)
                overlaps.append(sum(truth[answer] >= least for answer in best) / max(1, wanted))
                errors.append(np.abs(values - truth).max())
                bounds.append(found.facts["error"])
            rows.append(
                [f"{draws:,} draws, {name}", f"{np.mean(overlaps):.3f}", f"{min(overlaps):.2f}",
                 f"{np.mean(errors):.4f}", f"{max(errors):.4f}", f"{np.median(bounds):.4f}",
                 f"{np.mean(np.array(errors) <= bounds):.2f}"]
            )  # fmt: skip
    header = ["compared with exact scores", "overlap, mean", "min", "error, mean", "max", "bound", "within"]
    show(f"{web.graph.pages:,} pages, {len(web.graph.links):,} links", header, rows)


def time_rivals(folder: Path) -> None:
    """All pairs, compared with networkx."""
    import networkx

    rows = []
    for pages in RIVAL_PAGES:
        web = half_web(folder, pages)
        starts, links = links_in(web)
        all_pairs(starts[:2], links[: starts[1]] * 0, 1)
        began = time.process_time()
        all_pairs(starts, links, pages)
        middle = time.process_time()
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(pages))
        graph.add_edges_from(zip(links.tolist(), np.repeat(np.arange(pages), np.diff(starts)).tolist(), strict=True))
        ready = time.process_time()
        networkx.simrank_similarity(graph, importance_factor=0.8, max_iterations=10, tolerance=TOLERANCE)
        ended = time.process_time()
        one = method("simrank(exact=0)")
        times = [timed(web, one, page).cpu for page in chosen(web, 20)["random pages"]]
        rows.append(
            [f"{pages:,}", f"{len(links):,}", f"{ended - ready:.1f}", f"{middle - began:.3f}",
             f"{(ended - ready) / (middle - began):.0f}", f"{np.median(times):.0f}"]
        )  # fmt: skip
    header = ["pages", "links", "networkx, s", "all_pairs, s", "times", "one page, ms"]
    show("SimRank of all pairs, CPU time", header, rows)


if __name__ == "__main__":
    main()
