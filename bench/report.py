"""Run all benchmarks; write every table to docs/lab/benchmarks.md, a summary above them, and the README's figures.

    python bench/report.py [--only NAME]... [--kept]

docs/lab/benchmarks.md keeps the output of each benchmark; `--only` runs some again and uses the kept output of the
others, and `--kept` runs none. FIGURES below chooses the lines of the summary: a row and column of a table, and rivals
from the same run with their ratio to ours. Five of them are the README's. If a benchmark didn't run or failed, its
figures are skipped, and the summary mentions it; the same goes for quality without ../shared. A figure of another day
or machine is marked. Benchmarks of speed come first; nothing else should run on the machine then. The exit code is 1 if
one failed. Two runs take hours and aren't included: a web of 510 M links, and Spark on 50 and 100 M links (build.py and
spark.py do them; docs/lab/capacity.md and docs/lab/spark.md have the figures).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tables import machine

ROOT = Path(__file__).parents[1]
BENCH = Path(__file__).parent
REPORT = ROOT / "docs" / "lab" / "benchmarks.md"
SHARED = ROOT.parent / "shared" / "data"
SUMMARY = """The standard graph is a generated web of 5 M pages and 100 M links with text addresses. × is a rival's
figure divided by ours. A rival that wins is in bold. SciPy counts from 1.6 GB of plain arrays in memory, cocite from a
store of 0.7 GB on disk. [Figures of other days and scripts](other-figures.md) are on a page of their own.
"""
BEGIN, END = "<!-- figures by bench/report.py -->", "<!-- end of figures -->"
STANDARD, MEDIUM, AWESOME = "bench/data/standard", "bench/data/medium", "bench/data/awesome.cocite"
FAILED = "ended with"
SIGNS = " ▲▼△▽=·"  # of a test of significance
LISTS = "../shared/data/awesome"
QUICK = (
    "auto", "proximity", "cocitation", "companion", "extended_cocitation", "lli", "kleinberg", "semantic", "integrated",
    "whats_related",
)  # fmt: skip
"""Methods whose quality is measured: on some collections the others take seconds per question."""
BASELINES = ("scipy", "jaccard", "pagerank", "rp3beta", "tfidf")
"""What others would write in a few lines: research/rivals.py."""

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
    "integrated": [["bench/integrated.py", "--sample", "40"]],
    "simrank": [["bench/simrank.py"]],
    "serve": [["bench/serve.py", AWESOME]],
    "page": [["bench/page.py", AWESOME]],
    "site": [["bench/site.py"]],
    "Spark": [["bench/spark.py", MEDIUM, f"{MEDIUM}.cocite"]],
    "quality": [["-m", "research.quality", "--queries", "200", *(word for name in QUICK for word in ("-m", name))]],
    "rivals": [["-m", "research.quality", "--only", "awesome", "--queries", "300",
                *(word for name in ("auto", *BASELINES) for word in ("-m", name))]],
    "folds": [["-m", "research.folds", "--queries", "500"]],
    "readings": [["-m", "research.readings", "--store", AWESOME, "--judgements", f"{LISTS}/judgements.dev.tsv.gz",
                  "--judge", "../shared/judge/judge.py", "--queries", "500"]],
    "groups": [["-m", "research.groups", AWESOME]],
    "communities": [["-m", "research.community_tables", "--store", AWESOME]],
    "citations": [["-m", "research.citation_tables"]],
    "latent linkage": [["-m", "research.latent_linkage_tables", "--figure", "bench/data/latent-linkage.svg",
                        "--queries", "300", "--sweep", "200"]],
    "next page": [["-m", "research.next_page_tables"]],
}  # fmt: skip
OF_SHARED = {"sizes", "BVGraph", "WARC", "serve", "page", *list(STEPS)[list(STEPS).index("quality") :]}
COPIED = Path("/usr/share/doc/python3.11/html")
"""Pages that bench/site.py makes its site of, with those of other packages."""


class Table(NamedTuple):
    """A table that a benchmark printed."""

    title: str
    header: list[str]
    rows: list[list[str]]

    def cell(self, row: str, column: str) -> str | None:
        """The cell of the first row with cells that begin with the given words, joined by &."""
        wanted = row.split(" & ")
        for cells in self.rows:
            if all(any(cell.startswith(each) for cell in cells) for each in wanted):
                return cells[self.header.index(column)] if column in self.header else None
        return None


class Cell(NamedTuple):
    """The place of a figure: the beginning of a title, of cells of a row (joined by &), and a column."""

    table: str
    row: str
    column: str


class Rival(NamedTuple):
    """The place of a rival's figure, and of ours if it was measured again with it."""

    name: str
    theirs: Cell
    ours: Cell | None = None


@dataclass(frozen=True)
class Figure:
    """A line of the summary; `more` is better, or less. A line with a `readme` is in the README under that name."""

    what: str
    step: str
    ours: Cell
    unit: str
    rivals: tuple[Rival, ...] = ()
    more: bool = False
    readme: str = ""


METHODS, SHARED_PARENTS, HITS = "Methods, one thread", "Parents in common", "HITS on Companion"
MANY, SOME = "2,000 or more", "100 to 1,000"


def of_method(name: str, links: str) -> Cell:
    """The median time of a method."""
    return Cell(METHODS, f"{name} & {links}", "ms, median")


def same_counts(links: str) -> tuple[Rival, ...]:
    """Rivals that count the same, each with our time for its questions."""
    programs = {
        "SciPy, row of AᵀA": "SciPy, row of",
        "SciPy, parents' rows and `np.unique`": "SciPy, rows",
        "DuckDB self-join": "DuckDB",
        "igraph": "igraph",
    }
    cells = {name: Cell(SHARED_PARENTS, f"{row} & {links}", "ms, median") for name, row in programs.items()}
    return tuple(Rival(name, cell, cell._replace(column="cocite, the same")) for name, cell in cells.items())


FIGURES = [
    Figure("`auto`, P@10 on 300 judged pages of link lists", "rivals", Cell("awesome", "auto", "P@10"), "",
           tuple(Rival(name, Cell("awesome", row, "P@10")) for name, row in
                 (("SciPy, shared parents and children", "scipy"), ("Jaccard", "jaccard"), ("RP3β", "rp3beta"),
                  ("personalised PageRank", "pagerank"))), more=True,
           readme="Right results in the first 10 (P@10), 300 judged pages of 793 link lists"),
    Figure("standard graph, Parquet → store", "build", Cell("Building", "cocite", "M links/s"), "M links/s", more=True),
    Figure("… memory at its peak", "build", Cell("Building", "cocite", "peak GiB"), "GiB"),
    Figure("… verified completely (`check`)", "build", Cell("Passes", "(check)", "seconds"), "s"),
    Figure("10 M links, the same job", "rival build", Cell("Building", "cocite", "seconds"), "s",
           (Rival("DuckDB alone, sorting both directions into Parquet, nothing encoded or derived",
                  Cell("Building", "DuckDB", "seconds")),), readme="Build a store of 10 M links"),
    Figure("a store, bits a link in all", "build", Cell("Size", "all", "bits/link"), "bits"),
    Figure("cnr-2000, lists of links out", "sizes", Cell("cnr-2000", "cocite, links out", "lists"), "bits a link",
           (Rival("WebGraph", Cell("cnr-2000", "WebGraph", "lists")),
            Rival("gzip of plain arrays", Cell("cnr-2000", "gzip", "lists")))),
    Figure("names of the standard graph, both ways", "look-up", Cell("Size of names", "cocite names", "bytes/page"),
           "bytes a page", (Rival("marisa-trie", Cell("Size of names", "marisa", "bytes/page")),
                            Rival("SQLite", Cell("Size of names", "SQLite", "bytes/page")))),
    Figure("web archives, pages with links, sections and main text", "WARC",
           Cell("Reading", "links + blocks + main text", "cocite"), "a second and core",
           (Rival("a walk over lexbor's tree", Cell("Reading", "links + blocks + main text", "tree walk")),),
           more=True),
    Figure("a BVGraph, all lists in order", "BVGraph", Cell("Reading", "all lists", "cocite"), "M links/s",
           (Rival("plain Python", Cell("Reading", "all lists", "plain Python")),), more=True),
    Figure("`find` of a canonical key, compiled", "look-up", Cell("find", "cocite, from compiled", "µs"), "µs"),
    Figure("`find` of any spelling, from Python", "look-up", Cell("find", "cocite, from Python, as", "µs"), "µs",
           (Rival("marisa-trie, one spelling only", Cell("find", "marisa", "µs")),
            Rival("SQLite, one spelling only", Cell("find", "SQLite", "µs")))),
    Figure(f"parents in common with every page, for pages with {MANY} links in", "related",
           Cell(SHARED_PARENTS, f"SciPy, rows & {MANY}", "cocite, the same"), "ms", same_counts(MANY),
           readme=f"Count common parents, for a page with {MANY} in-links of 100 M"),
    Figure(f"… with {SOME}", "related",
           Cell(SHARED_PARENTS, f"SciPy, rows & {SOME}", "cocite, the same"), "ms", same_counts(SOME)),
    Figure(f"`cocitation`, which reads windows, pages with {MANY} links in", "related", of_method("cocitation", MANY),
           "ms"),
    Figure(f"… with {SOME}", "related", of_method("cocitation", SOME), "ms"),
    Figure(f"`companion`, pages with {MANY} links in", "related", of_method("companion", MANY), "ms",
           tuple(Rival(name, Cell(HITS, f"{row} & {MANY}", "ms, median"),
                       Cell(HITS, f"cocite, a whole & {MANY}", "ms, median"))
                 for name, row in (("networkx, HITS alone on its vicinity graph", "networkx, hits"),
                                   ("… and building that graph", "networkx, DiGraph"))),
           readme="`companion` (Dean & Henzinger 1999), likewise"),
    Figure(f"… with {SOME}", "related", of_method("companion", SOME), "ms"),
    Figure("PageRank of the standard graph", "ranks", Cell("PageRank", "cocite", "s, best"), "s",
           tuple(Rival(name, Cell("PageRank", name, "s, best"))
                 for name in ("networkit", "igraph", "scikit-network")),
           readme="PageRank of 5 M pages, 100 M links"),
    Figure("SimRank of one page, 10 M links", "simrank",
           Cell("1,000,000 pages", "50,000 draws, random", "ms, median"), "ms"),
    Figure("SimRank of all pairs of 2,000 pages", "simrank",
           Cell("SimRank of all pairs", "2,000", "all_pairs, s"), "s",
           (Rival("networkx", Cell("SimRank of all pairs", "2,000", "networkx, s")),)),
    Figure("answers from the service's cache, one worker", "serve",
           Cell("answers from the cache", "cocite serve, 1", "requests/s"), "a second",
           (Rival("a bare FastAPI on granian", Cell("answers from the cache", "bare FastAPI", "requests/s")),),
           more=True),
    Figure("`auto`, P@10 / MAP@10 on 200 judged pages of link lists", "quality",
           Cell("P@10 / MAP@10", "auto", "awesome"), "",
           tuple(Rival(f"`{name}`", Cell("P@10 / MAP@10", name, "awesome"))
                 for name in ("proximity", "cocitation", "companion", "lli")), more=True),
    Figure("Spark, `related` of every page of 10 M links, local", "Spark",
           Cell("Related pages by Spark", "cocitation", "seconds"), "s"),
    Figure("… pages whose answers differ from the store's", "Spark",
           Cell("Related pages by Spark", "cocitation", "pages that differ"), ""),
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
    """The figure at that place, if there is one."""
    for table in tables:
        if table.title.startswith(cell.table) and (found := table.cell(cell.row, cell.column)):
            return found
    return None


def lines_of(outputs: dict[str, str], readme: bool = False) -> list[str]:
    """The table of the summary, or of the README."""
    lines = ["| what | cocite | beside it, in the same run |", "|---|---:|---|"]
    missing, most = [], when(outputs)
    for figure in FIGURES:
        name = figure.readme if readme else figure.what
        text = outputs.get(figure.step, "")
        tables = [] if has_failed(text) else tables_in(text)
        ours = look_up(tables, figure.ours)
        if ours is None and name:
            missing.append(name)
        if ours is None or not name:
            continue
        is_usual = most in captions(text) or not figure.unit  # quality is the same on any machine
        other = "" if is_usual else f" ({captions(text)[-1]})"
        said = f"{ours.rstrip(SIGNS)} {figure.unit}".strip()
        lines.append(f"| {name}{other} | {said} | {beside(tables, figure)} |")
    if missing:
        lines += ["", f"Not measured this time: {'; '.join(missing)}."]
    return lines


def captions(text: str) -> list[str]:
    """The machines and days that a benchmark's tables name."""
    return re.findall(r"^\S.* \((.+, \d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)


def when(outputs: dict[str, str]) -> str:
    """The machine and day of most benchmarks; the newest if there are several."""
    found = [each for text in outputs.values() for each in set(captions(text))]
    return max(found, key=lambda each: (found.count(each), each.rpartition(", ")[2]), default=machine())


def has_failed(text: str) -> bool:
    """Whether a script of a step failed."""
    return re.search(rf"^{FAILED} -?\d+$", text, re.MULTILINE) is not None


def beside(tables: Sequence[Table], figure: Figure) -> str:
    """Rivals, each with the ratio of its figure to ours; bold if it is better."""
    said = []
    for rival in figure.rivals:
        text = look_up(tables, rival.theirs)
        theirs = number(text) if text else None
        ours = number(look_up(tables, rival.ours or figure.ours) or "")
        if text is None or theirs is None or not ours:
            continue
        ratio = theirs / ours
        words = f"{rival.name} {text.rstrip(SIGNS)} (× {f'{ratio:,.0f}' if ratio >= 10 else f'{ratio:.2g}'})"
        said.append(f"**{words}**" if (theirs > ours if figure.more else theirs < ours) else words)
    return "; ".join(said)


def run(name: str) -> str:
    """Run the scripts of a step; return their output."""
    if name in OF_SHARED and not SHARED.is_dir():
        return f"not run: it needs {SHARED.relative_to(ROOT.parent)} beside the checkout\n"
    if name == "site" and not COPIED.is_dir():
        return "not run: it needs Debian's packages python3-doc, sqlite3-doc and postgresql-doc\n"
    printed = ""
    if name == "web" and SHARED.is_dir():  # always rebuilt: an old store isn't this version's
        lists = SHARED / "awesome" / "pages.jsonl.gz"
        program = Path(sys.executable).with_name("cocite")
        subprocess.run([program, "build", "-q", lists, "-o", AWESOME], cwd=ROOT, check=True)
    for words in STEPS[name]:
        if name == "web" and (ROOT / words[words.index("-o") + 1]).exists():
            continue
        done = subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        printed += f"`python {' '.join(words)}`\n{done.stdout}"
        if done.returncode:
            printed += f"\n{FAILED} {done.returncode}\n"
            print(f"{name} ended with {done.returncode}", flush=True)
    return printed


def main() -> None:
    """Run, keep, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(STEPS), help="run these only; may be repeated")
    parser.add_argument("--kept", action="store_true", help="run nothing, write from the outputs of the last run")
    options = parser.parse_args()
    outputs = kept()
    began = time.monotonic()
    for place, name in enumerate(STEPS, 1):
        if not options.kept and (not options.only or name in options.only):
            print(f"{(time.monotonic() - began) / 60:3.0f} min: {name}, {place} of {len(STEPS)}", flush=True)
            outputs[name] = run(name)
            write(outputs)
    write(outputs)
    print(f"{(time.monotonic() - began) / 60:3.0f} min: docs/lab/benchmarks.md and README.md are written")
    failed = [name for name, text in outputs.items() if has_failed(text)]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def kept() -> dict[str, str]:
    """The outputs of the last run, by step."""
    text = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    found = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    return {name: found[name].strip() + "\n" for name in STEPS if name in found}


def write(outputs: dict[str, str]) -> None:
    """docs/lab/benchmarks.md and the README's table."""
    REPORT.write_text(report_of(outputs), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_figures(readme.read_text(encoding="utf-8"), outputs), encoding="utf-8")


def report_of(outputs: dict[str, str]) -> str:
    """docs/lab/benchmarks.md: a summary, and all tables."""
    head = f"# Benchmarks, the last run\n\n{when(outputs)}. Written by `python bench/report.py`.\n\n{SUMMARY}\n"
    texts = [f"\n## {name}\n\n{text.strip()}\n" for name in STEPS if (text := outputs.get(name, "")).strip()]
    return head + "\n".join(lines_of(outputs)) + "\n" + "".join(texts)


def with_figures(readme: str, outputs: dict[str, str]) -> str:
    """The README with these figures."""
    before, _, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"README.md has no {BEGIN} … {END}")
    table = "\n".join(lines_of(outputs, readme=True))
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


if __name__ == "__main__":
    main()
