"""Zhao et al. 2016: the worked example, CiteSeer, and the claims about sides, pruning and time."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.evaluate.measures import average_precision
from cocite.kernels.words.keyword_pairs import Rows
from cocite.related.neighbourhood.page_similarity import all_links, likeness_of, strong_links
from research import citations
from research.citations import CUTOFFS, Papers, both_ways, by_links, measured
from research.reproduce.claims import Figures
from research.reproduce.data import Beside, Data

AT = citations.AT
MOST = 150
THETAS = (0.2, 0.4, 0.6, 0.8)
TUNED, TESTED = 100, 300
"""Pages on which θ is chosen, and others on which it is tested."""


def example(data: Data) -> Figures:
    """Table 1: Apple and Microsoft, each with two products, alike as given."""
    apple, microsoft, iphone, macbook, lumia, surface = range(6)
    alike = np.eye(6)
    for one, other, value in (
        (iphone, lumia, 0.7),
        (iphone, surface, 0.1),
        (macbook, lumia, 0.2),
        (macbook, surface, 0.6),
    ):
        alike[one, other] = alike[other, one] = value
    ends = np.array([[apple, apple, microsoft, microsoft], [iphone, macbook, lumia, surface]])
    links = both_ways(ends, 6)
    return {"value": float(by_links(Papers("", links, 6, links, np.zeros(6, np.int64)), alike)[apple, microsoft])}


@lru_cache(1)
def citeseer(folder: Path) -> citations.Reproduction:
    """SimRank, semantic, link and integrated similarity on CiteSeer."""
    return citations.reproduce(citations.read_papers(folder / "citations", "citeseer"))


def gains(data: Data) -> Figures:
    """Integrated similarity over SimRank, at each N, and at 10 over its two parts."""
    done = citeseer(data.folder)
    found: dict[str, float] = {}
    for what in ("precision", "recall", "f"):
        of = {first: done.gain(what, first) for first in CUTOFFS}
        found |= {f"{what}_{first}": gain for first, gain in of.items()} | {f"{what}_least": min(of.values())}
    for name in ("simrank", "semantic", "link_similarity", "integrated"):
        found[name] = done.at(name).precision
    return found | {"over_parts": found["integrated"] - max(found["semantic"], found["link_similarity"])}


def reach(data: Data) -> Figures:
    """How few papers have a SimRank above 0."""
    papers = citeseer(data.folder).papers
    similar = citations.simrank(papers) >= citations.LEAST
    np.fill_diagonal(similar, False)
    return {"found": float(np.minimum(AT, similar.sum(axis=1)).mean() / AT), "pairs": float(similar.mean())}


def seconds(data: Data) -> Figures:
    """CPU seconds for all pairs of CiteSeer."""
    took = citeseer(data.folder).seconds
    ours = sum(took[name] for name in ("semantic", "link_similarity", "integrated"))
    return {"simrank": took["simrank"], "ours": ours, "ratio": took["simrank"] / ours}


def sides(data: Data) -> Figures:
    """Link similarity with in-links and out-links separate, and with all linked pages in one set, on WebKB."""
    papers, ends = as_papers(data, "webkb")
    words = citations.semantic(papers)
    outs, ins = one_way(ends, len(papers)), one_way(ends[::-1], len(papers))
    total, weight = np.zeros_like(words), np.zeros_like(words)
    for links in (outs, ins):
        some = np.diff(links.starts) > 0
        known = some[:, None] | some[None, :]  # a side on which neither page has links doesn't count in the mean
        total += known * by_links(replace(papers, links=links), words)
        weight += known
    both = {"apart": total / np.maximum(1, weight), "together": by_links(papers, words)}
    found = {name: measured(name, of, papers.classes, (AT,))[0].precision for name, of in both.items()}
    return found | {"gain": found["apart"] - found["together"]}


def as_papers(data: Data, name: str) -> tuple[Papers, NDArray[np.int64]]:
    """A collection that is judged by class, as papers, and its links with their direction."""
    web, (judged, numbers) = data.web(name), data.judged(name)
    graph, words = web.graph, web.keywords
    ends = np.array([(page, to) for page in range(graph.pages) for to in graph.links_from(page).targets], np.int64)
    ends = ends[ends[:, 0] != ends[:, 1]].T
    classes, known = np.full(graph.pages, citations.NO_CLASS), dict[frozenset[str], int]()
    for query, page in numbers.items():
        classes[page] = known.setdefault(frozenset(judged.ratings[query]), len(known))
    own = Rows(np.asarray(words.starts), np.asarray(words.ids))
    return Papers(name, own, len(words.frequency), both_ways(ends, graph.pages), classes), ends


def one_way(ends: NDArray[np.int64], count: int) -> Rows:
    """The links of each page in their direction, ascending."""
    order = np.lexsort((ends[1], ends[0]))
    starts = np.searchsorted(ends[0][order], np.arange(count + 1)).astype(np.int64)
    return Rows(starts, ends[1][order].astype(np.uint32))


def pruning(data: Data) -> Figures:
    """Link similarity with and without weak links, on the encyclopedia; θ is chosen on other pages."""
    place = "wikispeedia"
    tried = {theta: data.asked(place, f"link_similarity(theta={theta})", TUNED) for theta in THETAS}
    theta = max(tried, key=lambda each: tried[each].mean(tried[each].runs[0], average_precision, tried[each].queries))
    one, other = (data.asked(place, f"link_similarity(theta={of})", TUNED + TESTED) for of in (theta, 0))
    tuned = set(tried[theta].queries)
    found = Beside.of(one, other, [query for query in one.queries if query not in tuned])
    web = data.web(place)
    links = all_links(web.graph)
    strong = strong_links(likeness_of(web, 0.5), links, theta, 0.5)
    return found.named("pruned", "all") | {"theta": theta, "dropped": 1 - len(strong.columns) / len(links.columns)}


def mixing(data: Data) -> Figures:
    """Integrated similarity compared with its two parts for related pages, on judged lists and on the encyclopedia."""
    found: dict[str, float] = {}
    for place in ("awesome", "wikispeedia"):
        for part in ("semantic", "link_similarity"):
            two = data.beside(place, "integrated", part, MOST)
            found |= {f"{place}_integrated": two.first, f"{place}_{part}": two.second, f"{place}_{part}_gap": two.gap}
    return found
