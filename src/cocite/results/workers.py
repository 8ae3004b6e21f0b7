"""Results for parts of a batch: page by page in several processes, or all pairs of pages at once.

The processes map the same store, so they share its memory.

All pairs at once is for integrated similarity, and takes minutes where page by page takes hours. It considers fewer
candidates: `neighbourhood/all_alike.py` lists its limits. The parameters `candidates`, `reach`, `postings` and `alike`
apply to single queries only.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore, CociteError
from cocite.graph.generation import Progress
from cocite.processes import in_processes
from cocite.related.methods import Method
from cocite.related.methods import method as method_of
from cocite.related.methods.integrated import Params as IntegratedParams
from cocite.related.neighbourhood.all_alike import all_alike
from cocite.related.neighbourhood.page_similarity import counted_links, likeness_of
from cocite.related.neighbourhood.scores import Scores
from cocite.results.filters import NO_FILTERS, Filters, best_answers
from cocite.web import Web

CHUNK_PAGES, CHUNK_RESULTS = 4096, 1 << 22
"""Pages answered together, and the maximum number of their results: their parents and all results are in memory."""
MAX_ALL_PAIRS_PAGES = 1_000_000
"""The 200 pages with the most similar words are kept for every page: 1.6 GB for a million."""
SPARE_RESULTS = 10
"""Extra results per page for all pairs, since equal scores are ordered by in-links afterwards."""


class BatchPart(NamedTuple):
    """The results for some pages: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: NDArray[np.uint32]
    scores: NDArray[np.float64]


PartPages = list[tuple[int, NDArray[np.uint32]]]
"""Numbers of parts, with their pages."""


@dataclass(frozen=True)
class BatchTask:
    """What every process of a batch needs."""

    store: Path
    generation: str
    call: str
    k: int
    filters: Filters

    @cached_property
    def opened(self) -> tuple[Web, Method]:
        """The store, checked to be the generation with which the batch began, and the method."""
        web, method = Web(self.store), method_of(self.call)
        if str(web.graph.manifest["id"]) != self.generation:
            raise BadStore(f"{self.store} was changed by another command: start the batch again, in another place")
        return web, method

    def answer(self, pages: NDArray[np.uint32]) -> BatchPart:
        """The results for some pages."""
        return answer(*self.opened, pages, self.k, self.filters)


def answer_parts(task: BatchTask, parts: PartPages, processes: int | None) -> Generator[tuple[int, BatchPart]]:
    """The results of every part, in order of completion."""
    count = min(processes or os.cpu_count() or 1, len(parts))
    try:
        for at, found in in_processes(task.answer, [pages for _, pages in parts], count):
            yield parts[at][0], found
    except BrokenProcessPool as error:
        raise CociteError(
            "A batch process was killed, perhaps because memory ran out. Finished parts are kept: "
            "run the batch again with fewer processes."
        ) from error


def answer(web: Web, method: Method, pages: NDArray[np.uint32], k: int, filters: Filters = NO_FILTERS) -> BatchPart:
    """The k best results for every page."""
    method = method.trusting(filters.trust)
    chunk = max(1, min(CHUNK_PAGES, CHUNK_RESULTS // max(1, k)))
    parts = [_answer_chunk(web, method, pages[at : at + chunk], k, filters) for at in range(0, len(pages), chunk)]
    return BatchPart(*(np.concatenate(column) for column in zip(_collect([]), *parts, strict=True)))


def _answer_chunk(web: Web, method: Method, pages: NDArray[np.uint32], k: int, filters: Filters) -> BatchPart:
    """All pages at once if the method can; pages that may need a shorter address are answered one by one."""
    best = method.best_of_each(web, pages, k) if filters == NO_FILTERS else None

    def one_by_one(left: NDArray[np.uint32]) -> BatchPart:
        return _collect(best_answers(web.graph, method.relate(web, [p]), [p], k, filters) for p in left.tolist())

    if best is None:
        return one_by_one(pages)
    left = np.flatnonzero(~best.enough)
    single, counts = one_by_one(pages[left]), best.counts.copy()
    found, scores = (np.split(each, np.cumsum(best.counts)[:-1]) for each in best[1:3])
    own_found, own_scores = (np.split(each, np.cumsum(single.counts)[:-1]) for each in single[1:])
    counts[left] = single.counts
    for at, own, values in zip(left.tolist(), own_found, own_scores, strict=False):
        found[at], scores[at] = own, values
    return BatchPart(counts, np.concatenate(found), np.concatenate(scores))


def _collect(results: Iterable[Iterable[tuple[int, float]]]) -> BatchPart:
    found = [list(some) for some in results]
    pages, scores = zip(*chain.from_iterable(found), strict=True) if any(found) else ((), ())
    counts = np.array(list(map(len, found)), np.int32)
    return BatchPart(counts, np.array(pages, np.uint32), np.array(scores, np.float64))


def check_all_pairs(method: Method, pages: int) -> IntegratedParams:
    """The parameters of a method that can compare all pairs at once; raises BadParameter for other methods."""
    params = method.params
    if not isinstance(params, IntegratedParams):
        raise BadParameter(f"All pairs at once works with the method integrated, not with {method.name}.")
    if params.rarity or params.steps:
        raise BadParameter("All pairs at once works with integrated without rarity and steps: leave them out.")
    if pages > MAX_ALL_PAIRS_PAGES:
        limit = f"up to {MAX_ALL_PAIRS_PAGES:,} pages; this store has {pages:,}"
        raise BadParameter(f"All pairs at once works for {limit}. Give a list of pages instead.")
    return params


def answer_all_pairs(
    task: BatchTask, parts: PartPages, threads: int | None, progress: Progress
) -> Generator[tuple[int, BatchPart]]:
    """The results of every part, after comparing all pages of the store."""
    web, method = task.opened
    web.progress, params = progress, check_all_pairs(method, web.graph.pages)
    words = likeness_of(web, params.alpha)
    links = counted_links(web, words, params)
    found = all_alike(words, links, task.k + SPARE_RESULTS, params.mix, threads=threads, progress=progress)

    def best(page: int) -> Iterator[tuple[int, float]]:
        known = found.values[page] > 0
        pages, values = found.pages[page][known], found.values[page][known]
        scores = Scores(pages, values, [page], np.array([page], np.uint32))
        return best_answers(web.graph, scores, [page], task.k)

    for i, pages in parts:
        yield i, _collect(best(page) for page in pages.tolist())
