"""The most similar pages of every page, by words and links together: the integrated similarity of all pairs.

Zhao et al. (2016, section 6.3) compared 100,000 pages each with each in about a month. Here pages are compared only
with pages that an index leads to. All that is left out, with the limit that leaves it out:

1. By words, a page is compared with the `candidates` best of the pages that have one of its keywords or of the `reach`
   words most like each; words are looked up from the rarest on, until `postings` pages were read.
2. Of these the `near` most alike are kept for each page. Where linked pages are matched, those that are not kept count
   as alike by 0.6 of the least that is kept; if fewer were found, as not alike at all.
3. By words and links, a page is compared with the `candidates` best of the pages kept for it, and of the pages linked
   with the `alike` pages most like each page linked with it.

Sim_s of pages that are compared is exact, Sim_l but for the second point.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.generation import Progress
from cocite.kernels.related.all_alike import Limits, Near, Room, Vocabulary, alike_by_both, alike_by_words
from cocite.kernels.words.best_matches import Known, as_whole, scratch
from cocite.related.neighbourhood.linked import HeldLinks
from cocite.words.likeness import Likeness
from cocite.words.pair_counts import in_parts, ranges

BLOCK = 256
"""Pages that a thread does at a time."""
REST = 0.6
"""Linked pages that are not kept are as alike as this part of the least that is kept (docs/integrated.md)."""
BY_WORDS, BY_BOTH = "comparing pages by words", "comparing pages by words and links"


@dataclass(frozen=True)
class Looking:
    """Where to look, and what is kept."""

    candidates: int = 400
    reach: int = 3
    postings: int = 100_000
    near: int = 200
    alike: int = 20


@dataclass(frozen=True)
class AllAlike:
    """The pages most like each page, best first, a row each; where there are fewer, values are 0."""

    pages: NDArray[np.uint32]
    values: NDArray[np.float64]


def all_alike(
    words: Likeness,
    links: HeldLinks,
    k: int = 20,
    mix: float = 0.5,
    looking: Looking | None = None,
    threads: int | None = None,
    progress: Progress = lambda stage, done, total: None,
) -> AllAlike:
    """The k pages of highest integrated similarity to every page."""
    looking = looking or Looking()
    vocabulary = vocabulary_of(words)
    limits = Limits(looking.candidates, looking.reach, looking.postings, min(looking.alike, looking.near))
    pages, widest = words.pages, int(words.sizes.max(initial=1))
    near = Near(np.zeros((pages, looking.near), np.uint32), np.zeros((pages, looking.near), np.int32))

    def by_words(first: int, last: int, room: Room) -> bool:
        return bool(alike_by_words(first, last, vocabulary, limits, room, near))

    longest = int(max(np.diff(links.out.starts).max(initial=1), np.diff(links.into.starts).max(initial=1)))
    found = AllAlike(np.zeros((pages, k), np.uint32), np.zeros((pages, k), np.float64))

    def by_both(first: int, last: int, room: Room) -> bool:
        sets = (vocabulary, links.out, links.into, near, REST, mix, limits, room)
        return bool(alike_by_both(first, last, *sets, found.pages, found.values))

    def room() -> Room:
        per_page = looking.candidates * longest
        return Room(
            scratch(len(words.relevance.frequency), looking.candidates * widest, widest),
            scratch(pages, per_page, longest),
            np.zeros(pages),
            np.empty(pages, np.uint32),
        )

    for stage, work in ((BY_WORDS, by_words), (BY_BOTH, by_both)):
        in_blocks(pages, work, room, threads, partial(progress, stage))
    return found


def vocabulary_of(words: Likeness) -> Vocabulary:
    """What the loops know of words: r_s of all pairs that meet, worked out once."""
    similar = words.relevance.similar
    whole = np.empty(len(similar.value), np.int32)
    in_parts(
        ranges(similar.starts),
        lambda a, b: as_whole(
            similar.value[similar.starts[a] : similar.starts[b]], whole[similar.starts[a] : similar.starts[b]]
        ),
    )
    known = Known(similar.starts[:-1], similar.starts[1:], similar.other, whole)
    return Vocabulary(words.words, words.relevance.pages_of, known, words.unmet)


def in_blocks(
    pages: int,
    work: Callable[[int, int, Room], bool],
    room: Callable[[], Room],
    threads: int | None,
    progress: Callable[[int, int | None], None],
) -> None:
    """All pages, in blocks, on all cores or by so many threads."""
    spare: list[Room] = []

    def block(first: int) -> int:
        space = spare.pop() if spare else room()
        last = min(pages, first + BLOCK)
        if not work(first, last, space):
            raise BadParameter("a page has too many keywords or links to be compared at once: leave some out")
        spare.append(space)
        return last - first

    with ThreadPoolExecutor(threads or min(8, os.cpu_count() or 1)) as pool:
        for done in pool.map(block, range(0, pages, BLOCK)):
            progress(done, pages)
