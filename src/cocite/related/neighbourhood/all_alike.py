"""The most similar pages of every page by integrated similarity, computed for all pages together.

Zhao et al. (2016, §6.3.1) compared all pairs of 100,000 pages in about a month. Here a page is compared only with pages
that an index finds, within these limits:

1. By words, a page is compared with the `candidates` best pages that have one of its keywords, or one of the `reach`
   words most similar to each. Rare words are looked up first, until `postings` pages are read.
2. The `near` most similar of these are kept for each page. When linked pages are matched, pages that are not kept count
   as similar by 0.6 of the lowest kept value; if fewer were found, as not similar.
3. By words and links, a page is compared with the `candidates` best of the pages kept for it and of the pages linked
   with the `alike` pages most similar to each page linked with it.

Sim_s of compared pages is exact; Sim_l is exact except for point 2.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.generation import Progress, no_progress
from cocite.kernels.interpreted import Threads
from cocite.kernels.related import all_alike as kernels
from cocite.kernels.words.best_matches import Similarities, as_whole, match_space
from cocite.related.neighbourhood.page_similarity import LinksInMemory
from cocite.words.likeness import Likeness
from cocite.words.relevance import in_parts, ranges

CHUNK_PAGES = 256
SHARE_OF_OTHERS = 0.6
"""Similarity of linked pages that are not kept, as a share of the lowest kept value (docs/lab/integrated.md)."""


@dataclass(frozen=True)
class SearchLimits:
    """How many candidates are considered, and how many kept."""

    candidates: int = 400
    reach: int = 3
    postings: int = 100_000
    near: int = 200
    alike: int = 20


class AllAlike(NamedTuple):
    """The pages most similar to each page, best first, a row each; unused entries have value 0."""

    pages: NDArray[np.uint32]
    values: NDArray[np.float64]


def all_alike(
    words: Likeness,
    links: LinksInMemory,
    k: int = 20,
    mix: float = 0.5,
    limits: SearchLimits | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> AllAlike:
    """The k pages of highest integrated similarity to every page."""
    limits, pages = limits or SearchLimits(), words.pages
    vocabulary = vocabulary_of(words, limits.reach)
    bounds = kernels.CandidateLimits(limits.candidates, limits.postings, min(limits.alike, limits.near))
    near = no_similar(pages, limits.near)
    web = kernels.LinkedWeb(links.out, links.into, near, SHARE_OF_OTHERS, mix)
    found = AllAlike(np.zeros((pages, k), np.uint32), np.zeros((pages, k), np.float64))
    best = kernels.MostSimilar(*found)
    widest = int(words.sizes.max(initial=1))
    longest = int(max(np.diff(links.out.starts).max(initial=1), np.diff(links.into.starts).max(initial=1)))
    rooms: list[kernels.PageSpace] = []  # one for each thread

    def new_room() -> kernels.PageSpace:
        for_words = match_space(len(words.relevance.frequency), limits.candidates * widest, widest)
        for_links = match_space(pages, limits.candidates * longest, longest)
        return kernels.PageSpace(for_words, for_links, np.zeros(pages), np.empty(pages + 1, np.uint32))

    def in_chunks(stage: str, work: Callable[[int, int, kernels.PageSpace], bool]) -> None:
        def chunk(first: int) -> int:
            room, last = rooms.pop() if rooms else new_room(), min(pages, first + CHUNK_PAGES)
            if not work(first, last, room):
                raise BadParameter("a page has too many keywords or links for all pairs at once: limit them")
            rooms.append(room)
            return last - first

        with Threads(threads or min(8, os.cpu_count() or 1)) as pool:
            for done in pool.map(chunk, range(0, pages, CHUNK_PAGES)):
                progress(stage, done, pages)

    in_chunks(
        "comparing pages by words", lambda a, b, room: kernels.alike_by_words(a, b, vocabulary, bounds, room, near)
    )
    in_chunks(
        "comparing pages by words and links",
        lambda a, b, room: kernels.alike_by_both(a, b, vocabulary, web, bounds, room, best),
    )
    return found


def no_similar(members: int, most: int) -> kernels.MostSimilar:
    """Room for what is most similar to each member."""
    return kernels.MostSimilar(np.zeros((members, most), np.uint32), np.zeros((members, most), np.int32))


def vocabulary_of(words: Likeness, reach: int) -> kernels.PageKeywords:
    """The words, r_s of all pairs that occur together, and the `reach` words most similar to each, computed once."""
    similar, starts = words.relevance.similar, words.relevance.both.starts
    whole, leading = np.empty(len(similar), np.int32), no_similar(len(starts) - 1, reach)
    known = Similarities(starts[:-1], starts[1:], words.relevance.both.other, whole)

    def some(first: int, last: int) -> None:
        as_whole(similar[starts[first] : starts[last]], whole[starts[first] : starts[last]])
        kernels.most_similar_words(first, last, known, leading)

    in_parts(ranges(starts), some)
    return kernels.PageKeywords(words.words, words.relevance.pages_of, known, leading, words.unmet)
