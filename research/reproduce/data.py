"""Data of the experiments: the collections as stores, built once, and methods run on the judged pages of one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadSource, BadStore
from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.evaluate.judgements import Judgements, Run
from cocite.evaluate.significance import compare
from cocite.graph.build.passes import BuildOptions, RecordSource, build
from cocite.graph.generation import Progress
from cocite.pages.address import canonical
from cocite.related.methods import Method, method
from cocite.sources.open_source import open_source
from cocite.sources.page_records import read_jsonl
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from research import datasets

SEED = 1
T = TypeVar("T")


@dataclass
class Data:
    """The folder that has all collections, and one for the stores made of them."""

    folder: Path
    stores: Path
    progress: Progress = lambda *_: None
    _webs: dict[str, Web] = field(default_factory=dict)
    _judged: dict[str, tuple[Judgements, dict[str, int]]] = field(default_factory=dict)
    _runs: dict[tuple[str, str, int], Run] = field(default_factory=dict)

    def web(self, name: str) -> Web:
        """The store of a collection, built if it doesn't exist or can't be opened."""
        if name not in self._webs:
            path = self.stores / f"{name}.cocite"
            with suppress(BadStore):
                self._webs[name] = Web(path)
            if name not in self._webs:
                self.stores.mkdir(parents=True, exist_ok=True)
                if name in datasets.READERS:
                    datasets.make(datasets.read(name, self.folder), path, self.progress)
                else:
                    options = BuildOptions(anchors=False, text=False)
                    build([self._links(name)], path, ReadReport(), options, self.progress)
                self._webs[name] = Web(path)
            self._webs[name].progress = self.progress
        return self._webs[name]

    def _links(self, name: str) -> RecordSource:
        """Collections of links alone."""
        if name in CHANGED or name == "forgotten":
            path = self.folder / "awesome" / "pages.jsonl.gz"
            if not path.exists():
                raise BadSource(f"there is no {path}: give the folder that has all collections")
            pages = list(read_jsonl(path, ReadReport()))
            if name == "forgotten":
                return datasets.Held(name, forgotten(pages, datasets.read("awesome", self.folder).judgements.ratings))
            return datasets.Held(name, CHANGED[name](pages))
        path = self.folder / "webgraph" / f"{name}-2000.graph"
        if not path.exists():
            raise BadSource(f"there is no {path}: give the folder that has all collections")
        return open_source(str(path), ReadReport())

    def judged(self, name: str, store: str = "") -> tuple[Judgements, dict[str, int]]:
        """The judgements of a collection by the names of its store (or of another one of the same pages)."""
        store = store or name
        if store not in self._judged:
            judgements = datasets.read(name, self.folder).judgements
            self._judged[store] = in_store(self.web(store).graph, judgements, ReadReport())
        return self._judged[store]

    def asked(self, name: str, how: str | Method, most: int = 0, store: str = "") -> Evaluation:
        """A method on the judged pages of a collection, or on a number of them chosen by hash."""
        chosen = method(how) if isinstance(how, str) else how
        judged, numbers = self.judged(name, store)
        some = datasets.some_queries(judged, most)
        key = store or name, str(chosen), most
        if key not in self._runs:
            queries = {query: numbers[query] for query in some.ratings if query in numbers}
            (self._runs[key],) = ask_methods(self.web(store or name), [chosen], queries, progress=self.progress)
        return Evaluation(some, [self._runs[key]])

    def beside(self, name: str, one: str | Method, other: str | Method, most: int = 0) -> Beside:
        """Two methods on the same judged pages."""
        return Beside.of(self.asked(name, one, most), self.asked(name, other, most))


@dataclass(frozen=True)
class Beside:
    """Two methods on the same queries: precision at 10 of each, and the difference of average precision, tested."""

    first: float
    second: float
    gap: float
    p: float  # Wilcoxon's signed ranks

    @classmethod
    def of(cls, one: Evaluation, other: Evaluation, queries: Sequence[str] | None = None) -> Beside:
        """The first run of each, on all queries or on some."""
        asked = list(one.queries if queries is None else queries)
        runs = [(found, found.runs[0]) for found in (one, other)]
        first, second = (found.mean(run, measures.precision, asked) for found, run in runs)
        values, others = (found.values(run, measures.average_precision, asked) for found, run in runs)
        tested = compare(values, others)
        return cls(first, second, tested.difference, tested.signed_rank)

    def named(self, one: str, other: str) -> dict[str, float]:
        """As figures."""
        return {one: self.first, other: self.second, "gap": self.gap, "p": self.p}


def shuffled(pages: list[Page]) -> list[Page]:
    """Shuffle the links of each page: the loss shows the value of their order."""
    rng = random.Random(SEED)
    for page in pages:
        rng.shuffle(page.links)
        for link in page.links:
            link.block = None
    return pages


def mirrored(pages: list[Page], lists: int = 40, copies: int = 10) -> list[Page]:
    """Some lists, mirrored on other sites."""
    return [
        *pages,
        *(
            replace(page, url=f"https://mirror{copy}.example/{at}")
            for at, page in enumerate(some_lists(pages, lists))
            for copy in range(copies)
        ),
    ]


def some_lists(pages: list[Page], lists: int) -> list[Page]:
    """Lists that can be near-duplicates, evenly spaced by length."""
    long = sorted((page for page in pages if len(page.links) > 20), key=lambda page: (len(page.links), page.url))
    return long[:: max(1, len(long) // lists)][:lists]


FARM_PAGE = "advert.example"
"""Part of the address of each page that a link farm advertises."""


def farmed(pages: list[Page], lists: int = 40, copies: int = 10, adverts: int = 10) -> list[Page]:
    """The same lists, each taken over by a link farm: a site whose pages link to the list's pages and to adverts.

    Each page of a farm has three quarters of the list's links, chosen at random, so that no two are near-duplicates.
    Between them are links to the farm's ten adverts, each on a site of its own.
    """
    rng, found = random.Random(SEED), list(pages)
    for farm, page in enumerate(some_lists(pages, lists)):
        spam = [Link(f"https://{farm}-{n}.{FARM_PAGE}/") for n in range(adverts)]
        for copy in range(copies):
            links = [link for link in page.links if rng.random() < 0.75]
            mixed = [
                each for n, link in enumerate(links) for each in (link, replace(spam[n % adverts], block=link.block))
            ]
            found.append(replace(page, url=f"https://farm{farm}.example/{copy}", links=mixed))
    return found


def forgotten(pages: list[Page], judged: Collection[str], share: float = 10 / 59) -> list[Page]:
    """The lists without links to some judged pages below a host: then the store doesn't have them.

    Ten of the 59 pages of 1999 had no in-links (Dean & Henzinger 1999, Table 4), most of them deep in a site.
    """
    deep = sorted(page for page in judged if "/" in page)
    gone = set(random.Random(SEED).sample(deep, min(len(deep), round(share * len(judged)))))
    return [
        replace(page, links=[link for link in page.links if canonical_or_none(link.url) not in gone]) for page in pages
    ]


def canonical_or_none(url: str) -> str | None:
    """The canonical spelling of an address, if it is valid."""
    try:
        return canonical(url)
    except BadAddress:
        return None


CHANGED: Mapping[str, Callable[[list[Page]], list[Page]]] = {
    "shuffled": shuffled,
    "mirrored": mirrored,
    "farmed": farmed,
}
"""Stores of the awesome lists, changed to measure what matters in them."""


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of this thread alone, the shortest of five runs because other work doesn't count; and the result."""
    best = np.inf
    for _ in range(5):
        began = time.thread_time()
        result = work()
        best = min(best, (time.thread_time() - began) * 1e3)
    return best, result


Numbers = Sequence[float] | NDArray[np.float64]


def straight(x: Numbers, y: Numbers) -> float:
    """How much of y a straight line in x explains: the square of Pearson's correlation."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def correlation(x: Numbers, y: Numbers) -> float:
    """Spearman's: 1 if the greater x always has the greater y; 0 if all are the same."""
    from scipy.stats import spearmanr

    return float(spearmanr(x, y).statistic) if len({*x}) > 1 and len({*y}) > 1 else 0.0
