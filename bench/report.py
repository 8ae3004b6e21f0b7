"""Run all benchmarks, write every table to docs/benchmarks.md, and the README's table of figures anew.

    python bench/report.py [--only NAME]... [--kept]

What each benchmark prints is kept in bench/data/report; `--only` runs some again and takes the others from there, and
`--kept` runs none. The README's lines are chosen in FIGURES below: a row and column of a table, and rivals from the
same run with their ratio to ours. A figure whose benchmark was not run is left out, and the README says so.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tables import machine

ROOT = Path(__file__).parents[1]
BENCH = Path(__file__).parent
KEPT = BENCH / "data" / "report"
SHARED = ROOT.parent / "shared" / "data"
BEGIN, END = "<!-- figures by bench/report.py -->", "<!-- end of figures -->"
STANDARD, MEDIUM, AWESOME = "bench/data/standard", "bench/data/medium", "bench/data/awesome.cocite"

STEPS: dict[str, list[list[str]]] = {
    "web": [["bench/generate.py", "-o", STANDARD], ["bench/generate.py", "--pages", "500000", "-o", MEDIUM]],
    "build": [["bench/build.py", STANDARD, "--no-rival", "--keep", f"{STANDARD}.cocite"]],
    "rival build": [["bench/build.py", MEDIUM, "--keep", f"{MEDIUM}.cocite"]],
    "release": [["bench/release.py", f"{MEDIUM}.cocite"]],
    "sizes": [["bench/sizes.py", "../shared/data/webgraph/cnr-2000"]],
    "BVGraph": [["bench/bvgraph.py"]],
    "WARC": [["bench/warc_reading.py"]],
    "look-up": [["bench/look_up.py", f"{STANDARD}.cocite"]],
    "related": [["bench/related.py", f"{STANDARD}.cocite", f"{MEDIUM}.cocite"]],
    "ranks": [["bench/ranks.py", f"{STANDARD}.cocite"]],
    "hubs": [["bench/hubs.py", f"{STANDARD}.cocite", "--sets", "10"]],
    "relevance": [["bench/relevance.py"]],
    "integrated": [["bench/integrated.py"]],
    "simrank": [["bench/simrank.py"]],
    "serve": [["bench/serve.py", AWESOME]],
    "site": [["bench/site.py"]],
    "Spark": [["bench/spark.py", MEDIUM, f"{MEDIUM}.cocite"]],
}


class Table(NamedTuple):
    """A table that a benchmark printed."""

    title: str
    header: list[str]
    rows: list[list[str]]

    def cell(self, row: str, column: str) -> str | None:
        """The cell of the first row of which some cells begin with the given words, joined by &."""
        wanted = row.split(" & ")
        for cells in self.rows:
            if all(any(cell.startswith(each) for cell in cells) for each in wanted):
                return cells[self.header.index(column)] if column in self.header else None
        return None


class Cell(NamedTuple):
    """Where a figure stands: the beginning of a title, of cells of a row (joined by &), and a column."""

    table: str
    row: str
    column: str


@dataclass(frozen=True)
class Figure:
    """A line of the README's table."""

    what: str
    step: str
    ours: Cell
    unit: str
    rivals: tuple[tuple[str, Cell], ...] = ()


METHODS, RIVALS, HITS = "Methods, one thread", "Parents in common", "HITS on Companion"
MANY, SOME = "2,000 or more", "100 to 1,000"


def of_method(name: str, links: str) -> Cell:
    """The median time of a method."""
    return Cell(METHODS, f"{name} & {links}", "ms, median")


FIGURES = [
    Figure("standard graph, Parquet → store", "build", Cell("Building", "cocite", "M links/s"), "M links/s"),
    Figure("… memory at its peak", "build", Cell("Building", "cocite", "peak GiB"), "GiB"),
    Figure("… verified completely (`check`)", "build", Cell("Passes", "(check)", "seconds"), "s"),
    Figure("10 M links, the same job", "rival build", Cell("Building", "cocite", "seconds"), "s",
           (("DuckDB alone, sorting both directions into Parquet, nothing encoded or derived",
             Cell("Building", "DuckDB", "seconds")),)),
    Figure("a store, bits a link in all", "build", Cell("Size", "all", "bits/link"), "bits"),
    Figure("`find` of a canonical key, compiled", "look-up", Cell("find", "cocite, from compiled", "µs"), "µs"),
    Figure("`find` of any spelling, from Python", "look-up", Cell("find", "cocite, from Python, as", "µs"), "µs",
           (("marisa-trie, one spelling only", Cell("find", "marisa", "µs")),
            ("SQLite, one spelling only", Cell("find", "SQLite", "µs")))),
    Figure(f"`cocitation`, pages with {MANY} links in", "related", of_method("cocitation", MANY), "ms",
           (("SciPy, row of AᵀA", Cell(RIVALS, f"SciPy, row & {MANY}", "ms, median")),
            ("SciPy, parents' rows and `np.unique`", Cell(RIVALS, f"SciPy, rows & {MANY}", "ms, median")),
            ("DuckDB self-join", Cell(RIVALS, f"DuckDB & {MANY}", "ms, median")),
            ("igraph", Cell(RIVALS, f"igraph & {MANY}", "ms, median")))),
    Figure(f"… with {SOME}", "related", of_method("cocitation", SOME), "ms",
           (("SciPy, row of AᵀA", Cell(RIVALS, f"SciPy, row & {SOME}", "ms, median")),
            ("SciPy, parents' rows and `np.unique`", Cell(RIVALS, f"SciPy, rows & {SOME}", "ms, median")),
            ("DuckDB self-join", Cell(RIVALS, f"DuckDB & {SOME}", "ms, median")))),
    Figure(f"`companion`, pages with {MANY} links in", "related", of_method("companion", MANY), "ms",
           (("networkx, HITS alone on its vicinity graph", Cell(HITS, f"networkx, hits & {MANY}", "ms, median")),)),
    Figure(f"… with {SOME}", "related", of_method("companion", SOME), "ms"),
    Figure("PageRank of the standard graph", "ranks", Cell("PageRank", "cocite", "s, best"), "s",
           (("networkit", Cell("PageRank", "networkit", "s, best")),)),
    Figure("answers from the service's cache", "serve", Cell("answers from the cache", "cocite serve, 1", "requests/s"),
           "a second", (("a bare FastAPI on granian", Cell("answers from the cache", "bare FastAPI", "requests/s")),)),
    Figure("SimRank of one page, 10 M links", "simrank",
           Cell("1,000,000 pages", "50,000 draws, random", "ms, median"), "ms"),
]  # fmt: skip


def tables_in(text: str) -> list[Table]:
    """All tables that a benchmark printed."""
    found = []
    for match in re.finditer(r"^(?P<title>\S[^\n]*) \([^\n]*\)\n\n(?P<table>(?:\|[^\n]*\n?)+)", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in match["table"].splitlines()]
        found.append(Table(match["title"], [cell.strip(" |") for cell in lines[0]], lines[2:]))
    return found


def number(text: str) -> float | None:
    """A figure as it was printed."""
    found = re.match(r"[\d,.]+", text.strip())
    return float(found[0].replace(",", "")) if found else None


def look_up(tables: Sequence[Table], cell: Cell) -> str | None:
    """The figure that stands there, if it does."""
    for table in tables:
        if table.title.startswith(cell.table) and (found := table.cell(cell.row, cell.column)):
            return found
    return None


def lines_of(outputs: dict[str, str]) -> list[str]:
    """The README's table."""
    lines = ["| what | cocite | beside it, in the same run |", "|---|---:|---|"]
    missing = []
    for figure in FIGURES:
        tables = tables_in(outputs.get(figure.step, ""))
        ours = look_up(tables, figure.ours)
        if ours is None:
            missing.append(figure.what)
            continue
        lines.append(f"| {figure.what} | {ours} {figure.unit} | {beside(tables, figure, number(ours))} |")
    if missing:
        lines += ["", f"Not measured this time: {'; '.join(missing)}."]
    return lines


def beside(tables: Sequence[Table], figure: Figure, ours: float | None) -> str:
    """Rivals, each with how many times ours it is; ahead of us in bold."""
    said = []
    for name, cell in figure.rivals:
        text = look_up(tables, cell)
        theirs = number(text) if text else None
        if text is None or theirs is None or not ours:
            continue
        more = figure.unit == "a second"
        ratio = theirs / ours
        words = f"{name} {text} (× {f'{ratio:,.0f}' if ratio >= 10 else f'{ratio:.2g}'})"
        said.append(f"**{words}**" if (theirs > ours if more else theirs < ours) else words)
    return "; ".join(said)


def run(name: str) -> str:
    """Run the scripts of a step; what they printed."""
    if name == "serve" and not (ROOT / AWESOME).exists():
        lists = SHARED / "awesome" / "pages.jsonl.gz"
        if not lists.exists():
            return ""
        program = Path(sys.executable).with_name("cocite")
        subprocess.run([program, "build", "-q", lists, "-o", AWESOME], cwd=ROOT, check=True)
    printed = ""
    for words in STEPS[name]:
        if name == "web" and (ROOT / words[words.index("-o") + 1]).exists():
            continue
        print(f"{name}: {' '.join(words)}", flush=True)
        done = subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        printed += done.stdout
        if done.returncode:
            printed += f"\nended with {done.returncode}\n"
            print(f"{name} ended with {done.returncode}", flush=True)
    return printed


def main() -> None:
    """Run, keep, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(STEPS), help="run these only; may be repeated")
    parser.add_argument("--kept", action="store_true", help="run nothing, write from what was kept")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    outputs = {}
    for name in STEPS:
        file = KEPT / f"{name.replace(' ', '-')}.txt"
        if not options.kept and (not options.only or name in options.only):
            file.write_text(run(name), encoding="utf-8")
        outputs[name] = file.read_text(encoding="utf-8") if file.exists() else ""
    head = f"# Benchmarks, the last run\n\n{machine()}. Written by `python bench/report.py`.\n"
    texts = [f"\n## {name}\n\n{text.strip()}\n" for name, text in outputs.items() if text.strip()]
    (ROOT / "docs" / "benchmarks.md").write_text(head + "".join(texts), encoding="utf-8")
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"README.md has no {BEGIN} … {END}")
    table = "\n".join([f"Measured on {machine()}.", "", *lines_of(outputs)])
    readme.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
