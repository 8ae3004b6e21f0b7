"""The numerical experiment of Hou & Zhang 2003, §4, on the awesome lists: Table 8, Fig. 4 and a sweep of ε.

    python -m research.latent_linkage_tables [--page ADDRESS] [--figure FILE] [--queries 0] [--sweep 0]

Builds a store of ../shared/data/awesome in a temporary folder, prints the figures of ten siblings of a page, and draws
them. Then it compares bcp, dd and sim on many pages: what they distinguish, how far they agree, and which is right
where only one of two pages is judged as related. Last, P@10 / MAP@10 for each ε.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.tables import show
from cocite.python import build
from cocite.related.methods import lli
from cocite.web import Web
from research.latent_linkage import EPSILONS, FIRST, LinkageExperiment, epsilon_sweep, experiment
from research.linkage_figure import draw
from research.readings import judged
from research.reproduce.hou_2003 import BACK, agreement, pairs

SHARED = Path(__file__).parents[2] / "shared"
PAGES = SHARED / "data" / "awesome" / "pages.jsonl.gz"
JUDGEMENTS = SHARED / "data" / "awesome" / "judgements.dev.tsv.gz"
JUDGE = SHARED / "judge" / "judge.py"
FIGURE = Path(__file__).parents[1] / "docs" / "lab" / "figures" / "latent-linkage.svg"
Judgements = Mapping[str, list[str]]


def one_page(found: LinkageExperiment, web: Web, figure: Path) -> None:
    """Table 8, the densities, the sweep and the figure of one page."""
    side = found.back
    rows = [found.row(side, at) for at in side.spread(10, 2)]
    table = [
        (f"P{n}", row.address, row.shared, f"{row.bcp:.3f}", f"{row.dd:.3f}", f"{row.sim:.3f}")
        for n, row in enumerate(rows, 1)
    ]
    about = f"{found.used}: {len(side.pages)} siblings, {len(side.groups)} merged parents, k = {side.k} of {side.rank}"
    show(about, ("", "page", "b", "bcp", "dd", "sim"), table)
    parents = [(each.addresses[0], f"{each.bd:.3f}") for each in found.densities() if each.side == "back"]
    show("merged parents, the densest and the sparsest three", ("parent", "bd"), parents[:3] + parents[-3:])
    show("distinct values", ("figure", "values"), [*side.told_apart().items(), ("rows of A", side.patterns)])
    steps = [
        (step.epsilon, step.back_k, step.answers, step.above, step.values, step.first_kept, f"{step.moved:.3f}")
        for step in epsilon_sweep(web, found.used)
    ]
    show("sweep of ε", ("ε", "k", "answers", "sim ≥ 0.5", "values", "of the first ten", "moved"), steps)
    figure.parent.mkdir(parents=True, exist_ok=True)
    figure.write_text(draw(found), encoding="utf-8")


def many_pages(web: Web, judgements: Judgements, least: int) -> None:
    """The paper's claims about pages by number of merged parents, and whether LLI distinguishes them correctly."""
    told: dict[str, int] = defaultdict(int)
    shares: dict[str, list[float]] = defaultdict(list)
    ends = {"k = 1": 0, "k = rank": 0, "pages": 0}
    for query, relevant in judgements.items():
        side = experiment(web, query, BACK).back
        if not len(side.pages) or len(side.groups) < least:
            continue
        ends["pages"] += 1
        ends["k = 1"] += side.k == 1
        ends["k = rank"] += side.k == side.rank
        for name, count in [*side.told_apart().items(), ("rows of A", side.patterns)]:
            told[name] += count
        known = [page for text in relevant if (page := web.graph.get(text)) is not None]
        for name, by, value, equal in pairs(side, np.isin(side.pages, known).astype(float)):
            share, count = agreement(by, value, equal)
            if count:
                shares[name].append(share)
    show(f"query pages with {least} merged parents or more", list(ends), [list(ends.values())])
    every = told["rows of A"]
    show("distinct values", ("figure", "values", "share"), [(n, c, f"{c / every:.3f}") for n, c in told.items()])
    rows = [
        (name, len(of), f"{np.mean(of):.3f}", f"± {np.std(of) / len(of) ** 0.5:.3f}") for name, of in shares.items()
    ]
    header = ("pairs", "query pages", "share", "standard error")
    show("pairs of pages in this order, mean share over query pages", header, rows)


def sweep(web: Web, judgements: Judgements) -> None:
    """P@10 / MAP@10 of LLI for each ε."""
    rows = []
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as kept:
        kept.writelines(f"{query}\t{page}\n" for query, relevant in judgements.items() for page in relevant)
        kept.flush()
        for epsilon in EPSILONS:
            params = replace(BACK, epsilon=epsilon)
            run, ends = [], np.zeros(3, int)
            for query in judgements:
                scores = lli.relate(web, [web.graph.find(query)], params)
                k, rank = scores.facts["back k"], scores.facts["back rank"]
                ends += (k == 1, k == rank, 1 < k < rank - 2)
                ranked = scores.ranked(web.graph.in_degree, first=2 * FIRST)
                found = [page for _, (page, _) in zip(range(2 * FIRST), ranked, strict=False)]
                run += [f"{query}\t{at}\t{web.graph.address(page)}\n" for at, page in enumerate(found, 1)]
            rows.append((epsilon, *ends, judged(JUDGE, Path(kept.name), iter(run))))
    show(f"LLI by ε, {len(judgements)} queries", ("ε", "k = 1", "k = rank", "1 < k < rank − 2", "P@10 / MAP@10"), rows)


def read_judgements(web: Web, most: int) -> Judgements:
    """Evenly spaced queries that the store knows, with the pages related to each; 0 is all."""
    judgements: dict[str, list[str]] = defaultdict(list)
    with gzip.open(JUDGEMENTS, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, relevant = line.rstrip("\n").partition("\t")
            judgements[query].append(relevant)
    queries = [query for query in judgements if web.graph.get(query) is not None]
    most = min(most or len(queries), len(queries))
    return {query: judgements[query] for query in (queries[i * len(queries) // most] for i in range(most))}


def main() -> None:
    """Everything, in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", default="https://www.wireshark.org/")
    parser.add_argument("--figure", type=Path, default=FIGURE)
    parser.add_argument("--queries", type=int, default=0, help="pages of the claims, evenly spaced; 0 is all")
    parser.add_argument("--sweep", type=int, default=0, help="pages of the sweep of ε, evenly spaced; 0 is all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build([PAGES], Path(folder) / "awesome.cocite")
        web = Web(Path(folder) / "awesome.cocite")
        one_page(experiment(web, options.page), web, options.figure)
        for least in (1, 10):
            many_pages(web, read_judgements(web, options.queries), least)
        sweep(web, read_judgements(web, options.sweep))


if __name__ == "__main__":
    main()
