"""Spark's jobs compared with the store: time, shuffle volume, and whether ranks and the first ten results are the same.

    python bench/spark.py RECORDS STORE [-m rank] [-m METHOD] [--work FOLDER] [--master local[2]] [--conf KEY=VALUE]

RECORDS are page records as Parquet (bench/generate.py), STORE is what `cocite build` made of them. The jobs `store`,
`rank` (PageRank) and `related` run as commands of their own; shuffle volume is what tasks wrote for other tasks, from
Spark's event log. 10,000 pages, chosen at random but always the same, are queried in the store, and every result
must be the same: page, rank and score. Of PageRank, values that differ by more than a millionth are counted.

    for pages in 500000 2500000 5000000; do                              # 10, 50 and 100 M links
        python bench/generate.py --pages $pages -o web-$pages && cocite build web-$pages -o web-$pages.cocite
        python bench/spark.py web-$pages web-$pages.cocite
    done
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np

from cocite.graph.names import CONTROL
from cocite.graph.store import Graph
from cocite.operations.pages.batch import linked_pages
from cocite.related import ranks
from cocite.related.methods import method
from cocite.results.workers import answer
from cocite.web import Web
from tables import show

ASKED, TOP = 10_000, 10
JOBS = ("rank", "cocitation", "proximity", "extended_cocitation")
GIGA = 1e9


def run(job: str, arguments: list[str], work: Path, master: str, conf: list[str]) -> dict[str, float]:
    """A job as a command: seconds, and bytes of its shuffles."""
    log = Path(tempfile.mkdtemp(dir=work))
    settings = [
        "spark.eventLog.enabled=true",
        f"spark.eventLog.dir={log}",
        "spark.eventLog.rolling.enabled=false",
        "spark.eventLog.compress=false",
        *conf,
    ]
    options = [option for setting in settings for option in ("--conf", setting)]
    started = time.monotonic()
    command = [sys.executable, "-c", "from cocite.cli import main; main()", "spark", job, *arguments]
    subprocess.run([*command, "--master", master, *options], check=True)
    return {"seconds": time.monotonic() - started, **shuffled(log)}


def shuffled(log: Path) -> dict[str, float]:
    """What the tasks of a job wrote for other tasks, and what they spilled, in GB."""
    found: Counter[str] = Counter()
    for file in log.iterdir():
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                    metrics = json.loads(line).get("Task Metrics") or {}
                    found["shuffle"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                    found["spilled"] += metrics.get("Disk Bytes Spilled", 0)
    return {name: found[name] / GIGA for name in ("shuffle", "spilled")}


def compare(store: Path, related: Path, call: str) -> int:
    """The number of query pages with different results in the store."""
    web = Web(store)
    graph: Graph = web.graph
    linked = linked_pages(graph)
    pages = np.sort(np.random.default_rng(1).permutation(linked)[:ASKED])
    found = answer(web, method(call), pages, TOP)
    ends = np.cumsum(found.counts)

    def address(page: int) -> str:
        return CONTROL.sub(" ", graph.address(page))

    mine = {
        address(page): [
            (rank, address(other), score)
            for rank, (other, score) in enumerate(
                zip(found.pages[end - count : end].tolist(), found.scores[end - count : end].tolist(), strict=True), 1
            )
        ]
        for page, end, count in zip(pages.tolist(), ends.tolist(), found.counts.tolist(), strict=True)
    }
    with duckdb.connect() as database:
        database.execute("CREATE TABLE asked (query VARCHAR)")
        database.executemany("INSERT INTO asked VALUES (?)", [[query] for query in mine])
        rows = database.execute(
            "SELECT query, rank, url, score FROM read_parquet(?) SEMI JOIN asked USING (query) ORDER BY query, rank",
            [str(related / "*.parquet")],
        ).fetchall()
    theirs: dict[str, list[tuple[int, str, float]]] = {query: [] for query in mine}
    for query, *rest in rows:
        theirs[query].append(tuple(rest))
    return sum(theirs[query] != mine[query] for query in mine)


def compare_ranks(store: Path, folder: Path) -> int:
    """The number of pages whose PageRank in the store differs by more than a millionth of it."""
    mine = ranks.rank("pagerank").compute(Graph(store)).values
    rows = "SELECT number, value FROM read_parquet(?) ORDER BY number"
    with duckdb.connect() as database:
        theirs = database.execute(rows, [str(folder / "*.parquet")]).fetchnumpy()
    if not np.array_equal(theirs["number"], np.arange(len(mine))):
        raise SystemExit(f"{folder} does not hold every page once")
    return int((~np.isclose(theirs["value"], mine, rtol=1e-6, atol=0)).sum())


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("-m", "--method", action="append", help="rank or a method; all four, if none is given")
    parser.add_argument(
        "--work", type=Path, help="folder for shards and results; kept, with the figures of finished jobs"
    )
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--conf", action="append", default=[])
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="cocite-bench-spark-"))
    work.mkdir(exist_ok=True)
    graph, rows = Graph(given.store), []
    shards = work / "shards"
    noted = work / "figures.json"
    figures: dict[str, dict[str, float]] = json.loads(noted.read_text()) if noted.exists() else {}
    for name in ("store", *(given.method or JOBS)):
        if name in figures:
            continue
        folder = shards if name == "store" else work / f"{name.partition('(')[0]}-{len(figures)}"
        if name == "store":
            job = run("store", [str(given.records), "-o", str(shards)], work, given.master, given.conf)
        elif name == "rank":
            job = run("rank", [str(shards), "-o", str(folder)], work, given.master, given.conf)
            job |= {"differ": compare_ranks(given.store, folder / "rank"), "asked": graph.pages}
        else:
            arguments = [str(shards), "-o", str(folder), "-m", name, "-k", str(TOP)]
            job = run("related", arguments, work, given.master, given.conf)
            job |= {"differ": compare(given.store, folder / "related", name), "asked": ASKED}
        written = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        figures[name] = {**job, "written": written / GIGA}
        noted.write_text(json.dumps(figures))
    for name, job in figures.items():
        differ = "" if "differ" not in job else f"{job['differ']:,.0f} of {job['asked']:,.0f}"
        rows.append(
            [name, f"{len(graph.links):,}", f"{job['seconds']:,.0f}", f"{job['shuffle']:.2f}", f"{job['spilled']:.2f}",
             f"{job['shuffle'] * GIGA / max(1, len(graph.links)):.1f}", f"{job['written']:.2f}", differ]
        )  # fmt: skip
    show(
        "Related pages by Spark",
        ["job", "links", "seconds", "shuffle GB", "spilled GB", "bytes per link", "written GB", "pages that differ"],
        rows,
    )
    if given.work is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
