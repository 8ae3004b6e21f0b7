"""Judged collections in a folder beside the checkout: each becomes a store, and judgements of its pages.

    awesome       curated lists: right are pages that other lists put into one section          awesome/
    wikispeedia   encyclopedia articles: right are those of the same leaf category               wikispeedia/
    citeseer      papers: right are those of the same class                                      citations/
    cora          papers, likewise                                                               citations/
    webkb         pages of universities: right are those of the same class                       webkb/
    polblogs      political blogs: right are those of the same side                              polblogs/
    …-links       wikispeedia, citeseer, cora and webkb again, without any text or title
    …-docs        documentation sites: see research/doc_sites.py
    planted-…     generated webs of 1,500 and 2,000 pages with planted topics: right are those of the same topic

Names and numbers only identify pages: nothing of a judgement is in the store. Words with a number only are written
`w17`, and all of them count as keywords. Citations have no direction, so each is a link both ways. Papers have no
addresses, so they are opaque names, each a site of its own. All articles of Wikispeedia are on one site, as they were;
its store also has the click paths, unless others are given.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from cocite.errors import BadSource
from cocite.evaluate.judgements import Judgements, page_of, read_judgements
from cocite.graph.build.passes import BuildOptions, RecordSource, build
from cocite.graph.clicks import add_files
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.sources.clicks import Trail
from cocite.sources.open_source import open_source
from cocite.sources.records import Link, Page, ReadReport, batches
from cocite.words.keywords import KEYWORDS, MAX_PER_PAGE, PER_PAGE
from cocite.words.search import renew_search
from research import doc_sites
from research.citations import NO_CLASS, read_papers

WIKI = "https://wikispeedia.example/wiki/"
DOC_SITES = Path(__file__).parents[1] / "bench" / "data" / "docs"


@dataclass(frozen=True)
class Dataset:
    """A collection: the input of a store, and the right results."""

    name: str
    source: RecordSource
    judgements: Judgements
    keywords: int = PER_PAGE  # of a page, at most
    trails: Sequence[Trail] = ()  # how people went from page to page


@dataclass(frozen=True)
class Held:
    """Page records in memory, as a source."""

    spec: str
    pages: Sequence[Page]
    kind: str = "dataset"

    def records(self) -> Iterator[pa.RecordBatch]:
        """As a build reads them."""
        yield from batches(self.pages)


def read(name: str, folder: Path) -> Dataset:
    """A collection from a folder that has all of them; raises BadSource if it is missing."""
    if name not in READERS:
        raise BadSource(f"Unknown collection {name!r:.100}; there are {', '.join(READERS)}")
    try:
        return READERS[name](folder)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise BadSource(f"{folder} does not have {name}: give the folder that has {PLACES[name]} ({error})") from error


def make(dataset: Dataset, store: Path, progress: Progress = no_progress, search: bool = True) -> Graph:
    """The store of a collection, with keywords, clicks and, by default, a search index."""
    report = ReadReport()
    options = BuildOptions()
    build([dataset.source], store, report, options, progress)
    renew_search(store, search, progress, options.memory // 4)
    graph = Graph(store)
    if dataset.keywords != PER_PAGE:  # as many as usual are chosen when they are first needed
        KEYWORDS.build(graph, per_page=dataset.keywords, progress=progress)
    if dataset.trails:
        add_files(graph, [(b"", dataset.trails)], report)
    return graph


def some_queries(judgements: Judgements, most: int) -> Judgements:
    """A number of the queries, chosen by the hash of their names; 0 is all."""
    chosen = sorted(judgements.ratings, key=lambda name: hashlib.blake2b(name.encode(), digest_size=8).digest())
    return Judgements({name: judgements.ratings[name] for name in chosen[: most or None]}, judgements.repeated)


def same_group(groups: Mapping[str, Iterable[str]]) -> Judgements:
    """Judgements by groups: pages that share a group are right for each other; a page alone in its groups has none."""
    members: dict[str, list[str]] = defaultdict(list)
    for page, of in groups.items():
        for group in of:
            members[group].append(page)
    together: dict[tuple[str, ...], dict[str, float]] = {}
    found = Judgements()
    for page, of in groups.items():
        key = tuple(sorted(of))
        if key not in together:  # one for all pages of the same groups: classes have hundreds of pages
            together[key] = dict.fromkeys((other for group in key for other in members[group]), 1.0)
        if len(together[key]) > 1:
            found.ratings[page] = together[key]
    return found


def awesome(folder: Path) -> Dataset:
    """Curated lists, judged by other lists."""
    report, here = ReadReport(), (folder / "awesome").resolve(strict=True)  # else it might be an address to crawl
    source = open_source(str(here / "pages.jsonl.gz"), report)
    return Dataset("awesome", source, read_judgements(here / "judgements.dev.tsv.gz", report))


def wikispeedia(folder: Path, wanted: Callable[[Sequence[str]], bool] = lambda game: True) -> Dataset:
    """Articles, judged by category, with the click paths that `wanted` accepts by their numbers of articles."""
    here, names = folder / "wikispeedia", article_names(folder)
    links: dict[int, list[Link]] = defaultdict(list)
    for source, target in _table(here / "links.tsv.gz"):
        links[int(source)].append(Link(WIKI + names[int(target)]))
    texts: dict[int, str] = {}
    with gzip.open(here / "text_lead.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts[record["id"]] = record["text"]
    pages = [
        Page(WIKI + name, name.replace("_", " "), texts.get(number, ""), links[number])
        for number, name in enumerate(names)
    ]
    groups: dict[str, set[str]] = defaultdict(set)
    for number, category in _table(here / "categories.tsv.gz"):
        groups[page_of(WIKI + names[int(number)])].add(category)
    played = (game for game in games(folder) if len(game) > 1 and wanted(game))
    trails = [trail_of([names[int(number)] for number in game]) for game in played]
    return Dataset("wikispeedia", Held("wikispeedia", pages), same_group(groups), trails=trails)


def article_names(folder: Path) -> list[str]:
    """The articles of Wikispeedia by number."""
    return [name for _, name in _table(folder / "wikispeedia" / "articles.tsv.gz")]


def games(folder: Path) -> Iterator[list[str]]:
    """The click paths of Wikispeedia, as numbers of articles."""
    for (path,) in _table(folder / "wikispeedia" / "paths_finished.tsv.gz"):
        yield path.split()


def trail_of(path: Sequence[str]) -> Trail:
    """A path of articles, as clicks."""
    return Trail([WIKI + name for name in path], list(pairwise(range(len(path)))))


def citations(name: str, folder: Path) -> Dataset:
    """Papers, judged by class."""
    papers = read_papers(folder / "citations", name)
    words, links, classes = papers.words, papers.links, papers.classes.tolist()
    pages = [
        Page(
            f"name:{number}",
            text=_written(words.columns[words.starts[number] : words.starts[number + 1]].tolist()),
            links=[
                Link(f"name:{to}") for to in links.columns[links.starts[number] : links.starts[number + 1]].tolist()
            ],
        )
        for number in range(len(papers))
    ]
    groups = {f"name:{number}": [str(of)] for number, of in enumerate(classes) if of != NO_CLASS}
    return Dataset(name, Held(name, pages), same_group(groups), MAX_PER_PAGE)


def webkb(folder: Path) -> Dataset:
    """Pages of universities, judged by class across universities."""
    here = folder / "webkb"
    links: dict[str, list[Link]] = defaultdict(list)
    for source, target, _ in _table(here / "links.tsv", plain=True):
        links[source].append(Link(target))
    with gzip.open(here / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = list(map(json.loads, lines))
    pages = [Page(record["url"], text=_written(record["words"]), links=links[record["url"]]) for record in records]
    groups = {page_of(record["url"]): [str(record["class"])] for record in records}
    return Dataset("webkb", Held("webkb", pages), same_group(groups), MAX_PER_PAGE)


def polblogs(folder: Path) -> Dataset:
    """Political blogs, judged by side."""
    here = folder / "polblogs"
    links: dict[str, list[Link]] = defaultdict(list)
    for source, target in _table(here / "links.tsv", plain=True):
        links[source].append(Link(f"name:{target}"))
    sides = {number: side for number, _, side, *_ in _table(here / "nodes.tsv", plain=True)}
    pages = [Page(f"name:{number}", links=links[number]) for number in sides]
    return Dataset("polblogs", Held("polblogs", pages), same_group({f"name:{n}": [side] for n, side in sides.items()}))


def links_only(name: str, folder: Path) -> Dataset:
    """A collection without texts, titles and clicks."""
    whole = read(name, folder)
    assert isinstance(whole.source, Held)
    pages = [Page(page.url, links=page.links) for page in whole.source.pages]
    return Dataset(f"{name}-links", Held(f"{name}-links", pages), whole.judgements)


def docs(name: str, folder: Path) -> Dataset:
    """A documentation site, judged by its table of contents; packages are kept under bench/data/docs."""
    cleaned, base, judgements = doc_sites.prepare(name, DOC_SITES)
    return Dataset(name, open_source(str(cleaned), ReadReport(), base=base), judgements)


def planted(name: str, folder: Path, *, pages: int, topics: int, links: int, own: float) -> Dataset:
    """A web with a topic for each page: a share `own` of its links goes there, the others to whatever is popular."""
    random = np.random.default_rng(1)
    popular = random.permutation(1 / np.arange(1.0, pages + 1) ** 1.2)
    topic = random.integers(0, topics, pages)
    found = []
    for number, total in enumerate(random.poisson(links, pages).tolist()):
        inside = random.binomial(total, own)
        same = np.flatnonzero(topic == topic[number])
        targets = [
            *random.choice(same, inside, p=np.sqrt(popular[same]) / np.sqrt(popular[same]).sum()),
            *random.choice(pages, total - inside, p=popular / popular.sum()),
        ]
        random.shuffle(targets)
        found.append(Page(f"name:{number}", links=[Link(f"name:{target}") for target in targets]))
    groups = {f"name:{number}": [str(of)] for number, of in enumerate(topic.tolist())}
    return Dataset(name, Held(name, found), same_group(groups))


def _table(path: Path, plain: bool = False) -> Iterator[list[str]]:
    """The rows of a table below its header."""
    with path.open(encoding="utf-8") if plain else gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")


def _written(numbers: Iterable[int]) -> str:
    return " ".join(f"w{number}" for number in numbers)


READERS: dict[str, Callable[[Path], Dataset]] = {
    "awesome": awesome,
    "wikispeedia": wikispeedia,
    "citeseer": partial(citations, "citeseer"),
    "cora": partial(citations, "cora"),
    "webkb": webkb,
    "wikispeedia-links": partial(links_only, "wikispeedia"),
    "citeseer-links": partial(links_only, "citeseer"),
    "cora-links": partial(links_only, "cora"),
    "webkb-links": partial(links_only, "webkb"),
    "polblogs": polblogs,
    **{name: partial(docs, name) for name in doc_sites.SITES},
    "planted-sparse": partial(planted, "planted-sparse", pages=2000, topics=60, links=4, own=0.6),
    "planted-dense": partial(planted, "planted-dense", pages=1500, topics=40, links=40, own=0.35),
}
PLACES = {name: "citations/" if name.startswith(("citeseer", "cora")) else f"{name.split('-')[0]}/" for name in READERS}
