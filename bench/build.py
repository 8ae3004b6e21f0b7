"""How fast a store is built, in how much memory, and how large it is.

    python bench/build.py [bench/data/standard] [--anchors] [--memory 4G]

The rival is the same job done with DuckDB alone: number the pages, sort both directions, write them as Parquet.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cocite.graph.names import CODED_NAMES
from tables import show

OURS = """
import json, sys, time
from pathlib import Path
from cocite.graph.build.passes import BuildOptions, build
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
data, out, memory, anchors = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "anchors"
report = ReadReport()
options = BuildOptions(anchors=anchors, text=anchors, memory=memory)
built = build([open_source(data, report)], Path(out), report, options)
start, before = time.perf_counter(), time.process_time()
from cocite.graph.check import check
faults = check(Path(out))
print(json.dumps({"pages": built.pages, "links": built.links, "bytes": built.bytes, "seconds": built.seconds,
                  "passes": built.passes, "check": time.perf_counter() - start, "faults": len(faults),
                  "not_measured": time.process_time() - before}))
"""
RIVAL = """
import json, sys, time, duckdb
data, out, memory = sys.argv[1], sys.argv[2], int(sys.argv[3])
start = time.perf_counter()
db = duckdb.connect()
db.execute(f"SET memory_limit='{memory >> 20}MiB'; SET threads=2; SET temp_directory='{out}.tmp'")
db.execute("SET preserve_insertion_order=false")
db.execute(f"CREATE TABLE raw AS SELECT url AS a, unnest(links).url AS b, unnest(links).block AS block, "
           f"generate_subscripts(links, 1) AS place FROM read_parquet('{data}/*.parquet')")
db.execute("CREATE TABLE names AS SELECT name, row_number() OVER (ORDER BY name) - 1 AS id FROM "
           "(SELECT a AS name FROM raw UNION SELECT b FROM raw)")
db.execute("CREATE TABLE e AS SELECT x.id AS a, y.id AS b, block, place FROM raw "
           "JOIN names x ON raw.a = x.name JOIN names y ON raw.b = y.name")
db.execute(f"COPY (SELECT * FROM e ORDER BY a, place) TO '{out}.out.parquet' (COMPRESSION zstd)")
db.execute(f"COPY (SELECT b, a FROM e ORDER BY b, a) TO '{out}.in.parquet' (COMPRESSION zstd)")
db.execute(f"COPY names TO '{out}.names.parquet' (COMPRESSION zstd)")
import os
size = sum(os.path.getsize(f"{out}.{x}.parquet") for x in ("out", "in", "names"))
links = db.execute("SELECT count(*) FROM e").fetchone()[0]
pages = db.execute("SELECT count(*) FROM names").fetchone()[0]
print(json.dumps({"pages": pages, "links": links, "bytes": size, "seconds": time.perf_counter() - start}))
"""


HEADER = ["build", "seconds", "M links/s", "processor s", "peak GiB", "disk GiB", "time, cocite = 1"]


def run(program: str, folder: Path, *arguments: str) -> tuple[dict[str, Any], float, float]:
    """The output of a program, and its peaks of memory (without mapped files) and of disk, in GiB.

    The output gets the processor seconds of the program and its processes as `processor`.
    """
    used = processor_seconds()
    before = shutil.disk_usage(folder).free
    child = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    peak = disk = 0.0

    def watch() -> None:
        nonlocal peak, disk
        process = psutil.Process(child.pid)
        while child.poll() is None:
            try:
                memory = process.memory_info()
                peak = max(peak, (memory.rss - memory.shared) / (1 << 30))
                disk = max(disk, (before - shutil.disk_usage(folder).free) / (1 << 30))
            except psutil.Error:
                return
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = child.communicate()
    watcher.join()
    if child.returncode:
        raise SystemExit(f"failed with exit code {child.returncode}")
    done = json.loads(output.splitlines()[-1])
    done["processor"] = processor_seconds() - used - done.get("not_measured", 0)
    return done, peak, disk


def processor_seconds() -> float:
    """Of all processes that were started here and have ended: they tell more than the clock on a busy machine."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_row(name: str, done: dict[str, Any], links: int, peak: float, disk: float, ratio: float) -> list[str]:
    """A line of the table."""
    seconds = done["seconds"]
    took = f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}"
    speed, processor = f"{links / seconds / 1e6:.2f}", f"{done['processor']:.1f}"
    return [name, took, speed, processor, f"{peak:.1f}", f"{disk:.1f}", f"{ratio:.2f}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="bench/data/standard")
    parser.add_argument("--anchors", action="store_true", help="keep anchor texts and page texts too")
    parser.add_argument("--memory", type=int, default=4 << 30, help="bytes that a build may use")
    parser.add_argument("--keep", help="keep the store here")
    parser.add_argument("--no-rival", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=Path(options.data).parent))
    try:
        out = options.keep or str(folder / "web.cocite")
        ours, peak, disk = run(
            OURS, folder, options.data, out, str(options.memory), "anchors" if options.anchors else ""
        )
        read = sum(count_links(file) for file in sorted(Path(options.data).glob("*.parquet")))
        rows = [build_row("cocite", ours, read, peak, disk, 1.0)]
        if not options.no_rival:
            rival, peak, disk = run(RIVAL, folder, options.data, str(folder / "rival"), str(options.memory))
            rows.append(build_row("DuckDB alone", rival, read, peak, disk, rival["seconds"] / ours["seconds"]))
        title = f"Building {options.data}: {ours['pages']:,} pages, {read:,} links read, {ours['links']:,} distinct"
        show(title, HEADER, rows)
        show(
            "Passes",
            ["pass", "seconds"],
            [[k, f"{v:.1f}"] for k, v in ours["passes"].items()] + [["(check)", f"{ours['check']:.1f}"]],
        )
        print(f"\nfaults found by check: {ours['faults']}")
        sizes(Path(out))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def count_links(file: Path) -> int:
    """Links in a Parquet file of page records, from its footer."""
    import pyarrow.parquet as pq

    metadata = pq.ParquetFile(file).metadata
    names = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    column = next(i for i, name in enumerate(names) if name.startswith("links") and name.endswith("url"))
    return sum(metadata.row_group(g).column(column).num_values for g in range(metadata.num_row_groups))


def sizes(store: Path) -> None:
    """Bits per link and bytes per page of the store's parts."""
    folder = store / (store / "CURRENT").read_text().split()[0]
    manifest = json.loads((folder / "manifest.json").read_text())
    links, pages = manifest["links"], manifest["pages"]
    groups = {
        "links out (order, blocks)": ("out.words", "out.code"),
        "links in": ("in.words", "in.code"),
        "offsets": ("out.bounds", "out.far", "in.bounds", "in.far"),
        "degrees": ("out.degree", "in.degree"),
        "repeated links": ("repeat.",),
        "ready-made parents, entry points, near-duplicates": ("best.", "sample.", ".long.", ".skip.", "near."),
        "names, both ways": CODED_NAMES,
        "fingerprints and look-up": ("fingerprint", "look_up"),
        "hosts, sites, kinds, spellings": ("page.", "host.", "site.", "name.spelling", "shown", "alias", "removed"),
        "texts": ("title", "headings", "text.", "anchors", "contexts"),
    }
    rows, rest = [], dict(manifest["arrays"])
    total = 0
    for group, parts in groups.items():
        names = [name for name in rest if any(name.startswith(p) or (p[0] == "." and p in name) for p in parts)]
        size = sum(rest[n]["length"] * np.dtype(rest[n]["type"]).itemsize for n in names)
        for name in names:
            del rest[name]
        total += size
        rows.append([group, f"{size:,}", f"{size * 8 / max(1, links):.2f}", f"{size / max(1, pages):.2f}"])
    rows.append(["all", f"{total:,}", f"{total * 8 / max(1, links):.2f}", f"{total / max(1, pages):.2f}"])
    show("Size", ["part", "bytes", "bits/link", "bytes/page"], rows)
    if rest:
        raise SystemExit(f"not counted: {sorted(rest)}")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    main()
