"""Fifth pass of a build: what queries need of long lists, computed once.

Entry points into long lists, the best and a sample of the parents of popular pages, and near-duplicates.
kernels/build/near_duplicates.py has the rule of those; `GraphView` (related/neighbourhood/view.py) applies it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.build.scratch import Workers
from cocite.graph.generation import Progress
from cocite.kernels.build import near_duplicates, parents
from cocite.kernels.codec.lists import Lists

LONG_LIST_LINKS = 512  # lists of more links have entry points, one every SKIP_LINKS links
SKIP_LINKS = 128
MANY_PARENTS, BEST_PARENTS = 256, 201  # with more links in, the best parents, by in-degree, are stored
SAMPLE_PARENTS = 2000  # pages with more links in have this many parents stored, those of smallest hash
HASH_SEED = np.uint64(42)  # of that hash; the seed of Spark's xxhash64, so that a cluster chooses the same parents
POPULAR_PAGES, SKETCHED_PAGES = 256, 1 << 16  # pages whose parents are chosen, and whose links are sketched, at a time
Pages = NDArray[np.uint32]
Parts = Iterator[tuple[str, NDArray[Any]]]  # values to append to arrays, by name


class Sketches(NamedTuple):
    """What tells the lists of some pages apart, and the rarest links of each: rows of (link, place of its page)."""

    hash: NDArray[np.uint64]
    sketch: NDArray[np.uint64]
    token: Pages
    place: NDArray[np.uint32]


def derive(out: Lists, into: Lists, fingerprints: NDArray[np.uint64], workers: Workers, progress: Progress) -> Parts:
    """Entry points, chosen parents and near-duplicates of the links."""
    every = np.arange(len(out.degree), dtype=np.uint32)
    groups = workers.submit(near_duplicate_groups, out, into, sketch_pages(out, into, every, workers.in_order))
    yield from entry_points("out", out)
    yield from entry_points("in", into)

    def best(pages: Pages) -> Pages:
        chosen = np.zeros((len(pages), BEST_PARENTS), np.uint32)
        verify(parents.best_of_all(into, pages, parents.ALL_PARENTS, BEST_PARENTS, chosen))
        return chosen.ravel()

    def sample(pages: Pages) -> Pages:
        chosen = np.zeros((len(pages), SAMPLE_PARENTS), np.uint32)
        among, seed = parents.ALL_PARENTS, HASH_SEED
        verify(parents.sample_of_all(into, pages, among, fingerprints, seed, SAMPLE_PARENTS, chosen))
        return chosen.ravel()

    for name, choose, min_parents in (("best", best, MANY_PARENTS), ("sample", sample, SAMPLE_PARENTS)):
        popular = np.flatnonzero(into.degree > min_parents).astype(np.uint32)
        yield f"{name}.page", popular
        yield f"{name}.parent", np.zeros(0, np.uint32)
        # Nothing to choose, nothing to compile: small webs start faster.
        chunks = np.array_split(popular, max(1, len(popular) // POPULAR_PAGES)) if len(popular) else []
        for chunk, chosen in zip(chunks, workers.in_order(choose, chunks), strict=True):
            yield f"{name}.parent", chosen
            progress("choosing parents", len(chunk), None)
    members, representatives = groups.result()
    yield "near.page", members
    yield "near.representative", representatives


def entry_points(name: str, lists: Lists) -> Parts:
    """Entry points into long lists; for links out also their targets in order, with their places."""
    return entry_points_of(name, lists, np.flatnonzero(lists.degree > LONG_LIST_LINKS).astype(np.uint32))


def entry_points_of(name: str, lists: Lists, pages: Pages) -> Parts:
    """Entry points into the lists of some pages, which are all long."""
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


def near_duplicate_groups(out: Lists, into: Lists, sketched: Sketches | None = None) -> tuple[Pages, Pages]:
    """All pages that have near-duplicates, ascending, and the representative of each."""
    groups = compare_lists(out, into, np.arange(len(out.degree), dtype=np.uint32), sketched)
    members = np.flatnonzero(np.bincount(groups, minlength=len(groups))[groups] > 1).astype(np.uint32)
    groups = groups[members]
    best = np.lexsort((address_keys(into, members), ~into.degree[members], groups))  # highest in-degree, then address
    firsts, begin = np.unique(groups[best], return_index=True)
    return members, members[best[begin[np.searchsorted(firsts, groups)]]]


def address_keys(lists: Lists, pages: Pages) -> NDArray[np.uint64]:
    """Numbers that order pages by address: `address_key` of kernels/codec/lists.py for many."""
    keys: NDArray[np.uint64] = (pages.astype(np.uint64) + np.uint64(1)) << np.uint64(32)
    new = pages >= len(lists.degree) - len(lists.order)
    keys[new] = lists.order[pages[new].astype(np.int64) - (len(lists.degree) - len(lists.order))]
    return keys


def sketch_pages(out: Lists, into: Lists, pages: Pages, in_order: Callable[..., Iterable[None]] = map) -> Sketches:
    """Sketch the lists of pages; `in_order` applies a function to several chunks of pages."""
    n, degrees = len(pages), out.degree[pages].astype(np.int64)
    longest = max(1, int(degrees.max(initial=0)))
    rows = np.append(0, np.cumsum((degrees // 20 + 1) * (degrees >= near_duplicates.MIN_PREFIX_LINKS)))
    hashes, sketches, places = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(rows[-1], np.uint32)
    tokens = np.zeros_like(places)

    def sketch(first: int) -> None:
        some = slice(first, min(first + SKETCHED_PAGES, n))
        own = slice(rows[some.start], rows[some.stop])
        values, room = (hashes[some], sketches[some]), (tokens[own], places[own])
        verify(near_duplicates.sketch_lists(out, into.degree, pages[some], *values, *room, longest))
        places[own] += np.uint32(first)

    for _ in in_order(sketch, range(0, n, SKETCHED_PAGES)):
        pass
    return Sketches(hashes, sketches, tokens, places)


def compare_lists(out: Lists, into: Lists, pages: Pages, sketched: Sketches | None = None) -> NDArray[np.uint32]:
    """The near-duplicate group of each of some pages, which ascend: the place of one of its members."""
    degrees, parent = out.degree[pages], np.arange(len(pages), dtype=np.uint32)
    hashes, sketches, tokens, places = sketched or sketch_pages(out, into, pages)
    compared, max_links = near_duplicates.Compared(pages, sketches, parent), max(1, int(degrees.max(initial=0)))
    eligible = np.flatnonzero(hashes).astype(np.uint32)
    by_hash = eligible[np.argsort(hashes[eligible], kind="stable")]
    verify(near_duplicates.unite_alike(out, into, hashes[by_hash], by_hash, 1, compared, max_links))
    # Of pages with equal links, one is compared with the others.
    first_of_equals = parent[places] == places
    tokens, places = tokens[first_of_equals], places[first_of_equals]
    order, most = np.lexsort((places, degrees[places], tokens)), near_duplicates.MAX_COMPARED_PAGES
    verify(near_duplicates.unite_alike(out, into, tokens[order], places[order], most, compared, max_links))
    roots = parent[parent]
    while (roots != parent).any():
        parent, roots = roots, roots[roots]
    return parent


def verify(result: int) -> int:
    """The result of a kernel. Raises BadStore for what it reports as damage: here, a fault of the disk, or a bug."""
    if result < 0:
        raise BadStore("the links just written cannot be read back: check the disk, and build again")
    return int(result)
