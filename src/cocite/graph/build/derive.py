"""Fifth pass of a build: what queries need of long lists, computed once.

Entry points into long lists, the best and a sample of the parents of popular pages, and near-duplicates.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.near_duplicates import near_duplicate_groups, verify
from cocite.graph.build.scratch import Workers
from cocite.graph.generation import Progress
from cocite.kernels.build import parents
from cocite.kernels.codec.lists import Lists

LONG_LIST_LINKS = 512  # lists of more links have entry points, one every SKIP_LINKS links
SKIP_LINKS = 128
MANY_PARENTS, BEST_PARENTS = 256, 201
"""Pages with more than MANY_PARENTS links in have their BEST_PARENTS parents of highest in-degree stored."""
SAMPLE_PARENTS = 2000  # pages with more links in have this many parents stored, those of smallest hash
HASH_SEED = np.uint64(42)  # of that hash; the seed of Spark's xxhash64, so that a cluster chooses the same parents
CHUNK_PAGES = 256
Parts = Iterator[tuple[str, NDArray[Any]]]  # values to append to arrays, by name


def derive(out: Lists, into: Lists, fingerprints: NDArray[np.uint64], workers: Workers, progress: Progress) -> Parts:
    """Entry points, chosen parents and near-duplicates of the links."""
    groups = workers.submit(near_duplicate_groups, out, into.degree)
    yield from entry_points("out", out)
    yield from entry_points("in", into)

    def best(pages: NDArray[np.uint32]) -> NDArray[np.uint32]:
        chosen = np.zeros((len(pages), BEST_PARENTS), np.uint32)
        verify(parents.best_of_all(into, pages, into.degree, BEST_PARENTS, chosen))
        return chosen.ravel()

    def sample(pages: NDArray[np.uint32]) -> NDArray[np.uint32]:
        chosen = np.zeros((len(pages), SAMPLE_PARENTS), np.uint32)
        verify(parents.sample_of_all(into, pages, fingerprints, HASH_SEED, SAMPLE_PARENTS, chosen))
        return chosen.ravel()

    for name, choose, min_parents in (("best", best, MANY_PARENTS), ("sample", sample, SAMPLE_PARENTS)):
        popular = np.flatnonzero(into.degree > min_parents).astype(np.uint32)
        yield f"{name}.page", popular
        yield f"{name}.parent", np.zeros(0, np.uint32)
        # Nothing to choose, nothing to compile: small webs start faster.
        chunks = np.array_split(popular, max(1, len(popular) // CHUNK_PAGES)) if len(popular) else []
        for chunk, chosen in zip(chunks, workers.in_order(choose, chunks), strict=True):
            yield f"{name}.parent", chosen
            progress("choosing parents", len(chunk), None)
    members, representatives = groups.result()
    yield "near.page", members
    yield "near.representative", representatives


def entry_points(name: str, lists: Lists) -> Parts:
    """Entry points into long lists; for links out also their targets in order, with their places."""
    pages = np.flatnonzero(lists.degree > LONG_LIST_LINKS).astype(np.uint32)
    degrees = lists.degree[pages].astype(np.int64)
    firsts = np.append(0, np.cumsum(-(-degrees // SKIP_LINKS)))
    points, links = int(firsts[-1]), int(degrees.sum()) if name == "out" else 0
    made = parents.SkipPoints(*(np.zeros(size, np.uint32) for size in (points, points, points, links, links)))
    if points:
        verify(parents.skip_points(lists, pages, SKIP_LINKS, made, name == "out"))
    yield f"{name}.long.page", pages
    yield f"{name}.long.first", firsts.astype(np.uint64)
    yield f"{name}.skip.bit", made.bit
    yield f"{name}.skip.before", made.before
    if name == "out":
        yield "out.skip.attribute", made.attribute
        yield "out.long.link", np.append(0, np.cumsum(degrees)).astype(np.uint64)
        yield "out.long.target", made.target
        yield "out.long.place", made.place
