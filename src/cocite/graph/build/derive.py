"""Fifth pass of a build: what queries need of long lists, computed once.

Entry points into long lists, the best and a sample of the parents of popular pages, and near-duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.build.workers import Workers
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.kernels.build import near_duplicates, parents
from cocite.kernels.codec.lists import Lists

LONG_LIST_LINKS = 512
"""Lists of more links have entry points, one every SKIP_LINKS links."""
SKIP_LINKS = 128
MANY_PARENTS, BEST_PARENTS = 256, 201
"""Pages with more than MANY_PARENTS links in have their BEST_PARENTS parents of highest in-degree kept ready."""
SAMPLE_PARENTS = 2000
"""Pages with more links in have as many parents, those of smallest hash, kept ready."""
SEED = 42
"""Of that hash; the seed of Spark's xxhash64, so that a cluster chooses the same parents."""
CHUNK_PAGES = 1 << 16


def derive(writer: Writer, workers: Workers, progress: Callable[[str, int, int | None], None]) -> None:
    """Write entry points, chosen parents and near-duplicates from the links just written."""
    out, into = (read_lists(writer, name) for name in ("out", "in"))
    fingerprints = writer.map("fingerprint")
    near = workers.submit(near_duplicate_pairs, out, into.degree)
    write_long(writer, "out", out)
    write_long(writer, "in", into)
    for name, more_than, keep in (("best", MANY_PARENTS, BEST_PARENTS), ("sample", SAMPLE_PARENTS, SAMPLE_PARENTS)):
        many = np.flatnonzero(into.degree > more_than).astype(np.uint32)
        writer.append(f"{name}.page", many)
        writer.append(f"{name}.parent", np.zeros(0, np.uint32))

        def work(some: NDArray[np.uint32], name: str = name, keep: int = keep) -> NDArray[np.uint32]:
            chosen = np.zeros((len(some), keep), np.uint32)
            if name == "best":
                done = parents.best_of_all(into, some, into.degree, keep, chosen)
            else:
                done = parents.sample_of_all(into, some, fingerprints, np.uint64(SEED), keep, chosen)
            whole(done)
            return chosen.ravel()

        # Nothing to choose, nothing to compile: small webs start faster.
        parts = np.array_split(many, max(1, len(many) // 256)) if len(many) else []
        for chosen in workers.in_order(work, parts):
            writer.append(f"{name}.parent", chosen)
            progress("choosing parents", len(chosen) // keep, None)
    members, representatives = near.result()
    writer.append("near.page", members)
    writer.append("near.representative", representatives)


def read_lists(writer: Writer, name: str) -> Lists:
    """One direction of the links, as far as it is written: all of it."""
    for part in ("words", "base", "offset", "degree", "code"):
        writer.finish(f"{name}.{part}")
    words, base, offset, degree = (writer.map(f"{name}.{part}") for part in ("words", "base", "offset", "degree"))
    return Lists(words, base, offset, degree, Code.from_lengths(writer.map(f"{name}.code")).table)


def whole(result: int) -> None:
    """Raise BadStore for what kernels report as damage: here, a fault of the disk, or a bug."""
    if result < 0:
        raise BadStore("the links just written cannot be read back: check the disk, and build again")


def write_long(writer: Writer, name: str, lists: Lists) -> None:
    """Entry points into long lists; for links out also their targets in order, with their places."""
    pages = np.flatnonzero(lists.degree > LONG_LIST_LINKS).astype(np.uint32)
    degrees = lists.degree[pages].astype(np.int64)
    firsts = np.append(0, np.cumsum(-(-degrees // SKIP_LINKS)))
    points, links = int(firsts[-1]), int(degrees.sum()) if name == "out" else 0
    made = parents.SkipPoints(*(np.zeros(size, np.uint32) for size in (points, points, points, links, links)))
    if points:
        whole(parents.skip_points(lists, pages, SKIP_LINKS, made, name == "out"))
    writer.append(f"{name}.long.page", pages)
    writer.append(f"{name}.long.first", firsts.astype(np.uint64))
    writer.append(f"{name}.skip.bit", made.bit)
    writer.append(f"{name}.skip.before", made.before)
    if name == "out":
        writer.append("out.skip.attribute", made.attribute)
        writer.append("out.long.link", np.append(0, np.cumsum(degrees)).astype(np.uint64))
        writer.append("out.long.target", made.target)
        writer.append("out.long.place", made.place)


def near_duplicate_pairs(out: Lists, in_degree: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """(pages that have near-duplicates, the representative of each), see kernels/near_duplicates.py."""
    n = len(out.degree)
    longest = int(out.degree.max(initial=0))
    hashes, sketches = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    rows = int(near_duplicates.count_prefixes(out.degree, 0, n))
    tokens, pages = np.zeros(rows, np.uint32), np.zeros(rows, np.uint32)
    at = 0
    for first, count in ranges(n):
        some = near_duplicates.sketch_lists(
            out,
            in_degree,
            first,
            hashes[first : first + count],
            sketches[first:],
            tokens[at:],
            pages[at:],
            max(1, longest),
        )
        whole(some)
        at += int(some)
    parent = np.arange(n, dtype=np.uint32)
    eligible = np.flatnonzero(hashes).astype(np.uint32)
    order = eligible[np.argsort(hashes[eligible], kind="stable")]
    whole(near_duplicates.unite_equal(out, order, hashes, parent, max(1, longest)))
    # One page represents all pages with equal links.
    kept = parent[pages] == pages
    tokens, pages = tokens[kept], pages[kept]
    sort = np.lexsort((pages, out.degree[pages], tokens))
    whole(near_duplicates.unite_alike(out, tokens[sort], pages[sort], sketches, parent, max(1, longest)))
    best = np.arange(n, dtype=np.uint32)
    near_duplicates.choose_representatives(parent, in_degree, best)
    roots = parent[parent]
    while (roots != parent).any():
        parent, roots = roots, roots[roots]
    sizes = np.bincount(parent, minlength=n)
    members = np.flatnonzero(sizes[parent] > 1).astype(np.uint32)
    return members, best[parent[members]]


def ranges(n: int) -> Iterator[tuple[int, int]]:
    """All page numbers as (first, how many)."""
    return ((first, min(CHUNK_PAGES, n - first)) for first in range(0, n, CHUNK_PAGES))
