"""NPEA and communities: planted noise, political blogs, twenty queries on the awesome lists.

    python -m research.community_tables [--store STORE] [--figures FOLDER]

Needs ../shared. Without --store a store of ../shared/data/awesome is built in a temporary folder. The tables of
docs/lab/communities.md come from here.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.tables import show
from cocite.evaluate.noise import BY_WORDS, Labels, draw, drift, filtering, labels_by_words, labels_of, noise_report
from cocite.graph.build.passes import BuildOptions
from cocite.graph.build.passes import build as build_store
from cocite.operations.words.communities import find, root_set
from cocite.python import build
from cocite.related.methods.community import BaseSet, Params, communities
from cocite.related.neighbourhood.view import GraphView
from cocite.results.community_words import words_of_pages
from cocite.sources.records import Page, ReadReport, batch
from cocite.web import Web
from cocite.words.tokens import words_of
from research.planted import pages_of, planted

SHARED = Path(__file__).parents[2] / "shared" / "data"
FRESH = (
    "3d printing", "text editor", "weather api", "recipes", "climate change", "note taking", "video editing",
    "job interview", "raspberry pi projects", "graph database", "photography", "machine translation", "privacy",
    "css animation", "mental health", "unit testing", "pixel art", "music theory", "network monitoring", "web fonts",
)  # fmt: skip
"""Queries that we hadn't looked at when we chose the weights by words."""
QUERIES = (
    "password manager", "static site generator", "football", "typography", "chess", "home automation",
    "machine learning course", "vim plugin", "color palette", "podcast", "map tiles", "speech recognition",
    "open source games", "regular expressions", "bioinformatics", "quantum computing", "web scraping",
    "keyboard layout", "stock market data", "rss reader",
)  # fmt: skip
HARDER: dict[str, dict[str, Any]] = {
    "each noise page linked with any one of 100 root pages": {},
    "… to one of 40": {"doors": 40},
    "… to one of 10": {"doors": 10},
    "… to one of 3": {"doors": 3},
    "… all to the same": {"doors": 1},
    "root pages with few links (0.1 each)": {"links_in_root": 0.1},
    "root pages with many links (1.5 each)": {"links_in_root": 1.5},
    "topic pages linked with 8 root pages each": {"ties": 8.0},
}
SEEDS, DENSITIES = range(1, 21), (0.05, 0.1, 0.3)
WHOLE = Params(window=0, in_links=1000)


class Pages:
    """Page records as a source."""

    spec, kind, size_bytes = "planted", "records", 0

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    def records(self) -> Any:
        """All at once."""
        yield batch(list(self.pages))


def planted_base(folder: Path, density: float, seed: int, **more: Any) -> tuple[BaseSet, Any]:
    """A base set with noise planted in it, and the noise."""
    found = planted(density, seed, **more)
    path = folder / f"{density}-{seed}-{'-'.join(map(str, more.values()))}.cocite"
    build_store([Pages(found.pages)], path, ReadReport(), BuildOptions(text=False))
    graph = Web(path).graph
    root = pages_of(graph, found.root).tolist()
    return BaseSet(GraphView(graph, root, WHOLE), [root], WHOLE), pages_of(graph, found.noise)


def planted_noise(folder: Path) -> None:
    """Twenty base sets of three densities, two bases, from the plain case to harder ones.

    NPEA doesn't read links among noise pages, so the density changes drift and nothing else. Every base set has its
    own seed.
    """
    rows = []
    for name, more in HARDER.items():
        results: dict[str, list[tuple[float, float, float, float]]] = {"svd": [], "root": []}
        for seed in SEEDS:
            base, noise = planted_base(folder, DENSITIES[seed % len(DENSITIES)], seed, **more)
            labels = labels_of(base, np.isin(base.edges.pages, noise))
            for basis, of in results.items():
                other = BaseSet(base.view, [base.edges.pages[base.root].tolist()], replace(WHOLE, basis=basis))
                one = filtering(other, labels, "avg", 0.5)
                of.append((one.npfr, one.efp, drift(base.edges, noise), drift(other.rest, noise)))
        for basis, of in results.items():
            npfr, efp, before, after = (sorted(values) for values in zip(*of, strict=True))
            good = sum(a >= 0.95 and b >= 0.9 for a, b, _, _ in of)
            cells = f"{npfr[0]:.2f} / {median(npfr):.2f}", f"{efp[0]:.2f} / {median(efp):.2f}"
            rows.append((name, basis, *cells, f"{median(before):.2f}", f"{median(after):.2f}", f"{good} of {len(of)}"))
    head = ("planted", "basis", "NPFR worst / median", "EFP worst / median", "drift without", "with", "both good")
    show("noise planted in a base set of 700 pages, 20 times", head, rows)


def experiment(base: BaseSet, labels: Labels, title: str, by: str, figure: Path | None = None) -> None:
    """The δ sweep, Tables 4 and 5, and Fig. 3."""
    found = noise_report(base, labels, by, (0.1, 0.3, 0.4, 0.5, 0.7, 0.9))
    print(f"\n{title}: {found.about}")
    show("Table 1", *found.table_1())
    show("Tables 4 and 5", *found.tables_4_5())
    if figure:
        figure.write_text(draw([*found.falls["noise"], *found.falls["topic"]], title), encoding="utf-8")


def blogs(folder: Path) -> None:
    """Communities of political blogs, compared with their sides afterwards."""
    build([SHARED / "polblogs" / "links.tsv"], folder / "polblogs.cocite")
    web = Web(folder / "polblogs.cocite")
    graph = web.graph
    with (SHARED / "polblogs" / "nodes.tsv").open(encoding="utf-8") as lines:
        side = {row[0]: int(row[2]) for row in list(csv.reader(lines, delimiter="\t"))[1:]}
    sides = np.array([side[graph.address(page)] for page in range(graph.pages)])
    degree = graph.in_degree.astype(np.int64) + graph.out_degree
    best = np.argsort(-degree, kind="stable")
    rows = []
    for name, root, params in (
        *((f"all, {n} vectors", best, Params(vectors=n)) for n in (2, 3, 4, 5, 6, 8)),
        *((f"200 most linked, npea={npea}, {basis}", best[:200], Params(vectors=2, npea=npea, basis=basis))
          for npea, basis in (("off", "svd"), ("min", "svd"), ("avg", "svd"), ("avg", "root"))),
    ):  # fmt: skip
        started = time.perf_counter()
        found = communities(web, root.tolist(), params)
        took = time.perf_counter() - started
        counts = [np.bincount(sides[each.members], minlength=2) for each in found]
        covered, pure = sum(int(each.sum()) for each in counts), sum(int(each.max()) for each in counts)
        gone = len(found.base.root) - len(found.base.rest.pages)
        rows.append(
            (name, len(found), gone, f"{pure / covered:.1%}", f"{covered / graph.pages:.1%}", f"{took * 1e3:.0f}")
        )
    show("political blogs", ("root set", "communities", "eliminated", "purity", "covered", "ms"), rows)


SETTINGS = {
    "as given": Params(),
    "off_topic=0": Params(off_topic=0.0),
    "off_topic=0.3": Params(off_topic=0.3),
    "off_topic=1": Params(off_topic=1.0),
    "window=0": Params(window=0),
    "npea=off": Params(npea="off"),
    "basis=root": Params(basis="root"),
    "weighted": Params(weighted=True),
    "window=0, off_topic=1: as published": Params(window=0, off_topic=1.0),
    "window=0, off_topic=1, npea=off: Kleinberg's HITS": Params(window=0, off_topic=1.0, npea="off"),
}


def queries(web: Web, title: str, asked: Sequence[str]) -> None:
    """The authorities for words, and how many of the first eight have a word of the query.

    A page's words are the same for all settings: those of the largest base set. As published, communities are in the
    order of singular values; even so, the first one shown is used.
    """
    rows = []
    totals: dict[str, list[float]] = {name: [] for name in SETTINGS}
    shown = empty = 0
    for query in asked:
        base = base_for(web, query, Params(window=0))
        words, wanted = words_of_pages(web.graph, base.edges), set(words_of(query))
        for name, params in SETTINGS.items():
            found = find(web, query, [], params, 8)
            first = found[0].authorities if len(found) else ()
            totals[name].append(sum(bool(wanted & words.get(each.page, set())) for each in first) / max(1, len(first)))
            if name == "as given":
                shown, empty = shown + len(found), empty + sum(each.pages == 0 for each in found)
                names = ", ".join((each.title or each.url)[:32] for each in first)
                keywords = " ".join(found[0].keywords[:5]) if len(found) else ""
                sizes = f"{found.root} / {found.base} / {found.eliminated}"
                vector = f"{found[0].vector}{'−' if found[0].end == 'negative' else ''}" if len(found) else ""
                time_ = f"{found.milliseconds:.0f}"
                rows.append((query, sizes, vector, keywords, names, f"{totals[name][-1]:.0%}", time_))
    head = ("query", "root / base / eliminated", "vector", "keywords", "authorities", "have a word", "ms")
    show(f"first communities for words, {title}; {shown} shown in all, {empty} of them empty", head, rows)
    means = [(name, f"{np.mean(of):.0%}", f"{sum(share < 0.5 for share in of)}") for name, of in totals.items()]
    show("first eight authorities that have a word of the query", ("parameters", "mean", "queries below half"), means)


def base_for(web: Web, query: str, params: Params) -> BaseSet:
    """The base set of some words."""
    root = root_set(web, query, [], params)[0]
    return BaseSet(GraphView(web.graph, root, params), [root], params)


def by_words(web: Web, query: str, figure: Path | None = None) -> None:
    """The paper's experiment with its own labels: noise is the pages with none of the words.

    It needs a word on many more pages than the root set has: otherwise all of them are in it.
    """
    base = base_for(web, query, Params(window=0))
    labels = labels_by_words(base, query)
    experiment(base, labels, f"awesome lists, {query!r}", BY_WORDS, figure)


def main() -> None:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a store of the awesome lists, with its search index")
    parser.add_argument("--figures", type=Path, help="a folder to draw Fig. 3 into")
    given = parser.parse_args()
    figures = given.figures
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted_noise(folder)
        base, noise = planted_base(folder, 0.2, 1)
        labels = labels_of(base, np.isin(base.edges.pages, noise))
        experiment(base, labels, "planted, density 0.2", "planting", figures and figures / "noise-planted.svg")
        blogs(folder)
        store = given.store
        if store is None:
            store = folder / "awesome.cocite"
            build([SHARED / "awesome" / "pages.jsonl.gz"], store)
        web = Web(store)
        queries(web, "used to choose settings", QUERIES)
        queries(web, "not looked at before", FRESH)
        by_words(web, "python", figures and figures / "noise-python.svg")


if __name__ == "__main__":
    main()
