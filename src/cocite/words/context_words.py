"""Make context words: those of the sections that list a page, for stores of any size.

A section of n ≥ 2 links is the sum of its pages' word vectors (MEMBER_WORDS words each), of length 1, plus the words of
its heading by rarity, of length HEADING_WEIGHT. Stop words are skipped, except in headings that have no other: *See
Also* lists another kind of page than *Examples*. The MAX_CONTEXT_WORDS heaviest words are kept. A page is the sum of
its sections, each by 1 / ln(2 + n), and of those of its same-name pages by SAME_NAME_WEIGHT times the cosine of the
names. So pages in lists about the same things are similar, even if no list has both. A section
counts for a page as much as the list does in a question: a copy of another doesn't, nor what chance explains
(kernels/related/independence.py). The sum of these weights are the votes of a page: the in-links that count.

Two passes, each in the order of pages. The first writes the words of every section to a file, and for every link a
`Listing` to the file of its target's range. The second reads a range at a time, and sums up the mapped sections of
each page. In memory are a range of listings (about `memory`), 16 bytes for each word of the vocabulary, and the result:
at most 144 bytes for each page. Of a page with more than SAMPLE_LINKS in-links a share is read, chosen by hash.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.build.derive import HASH_SEED
from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import BLOCK_BITS, BLOCK_MASK
from cocite.kernels.related.counted_links import Excluded
from cocite.kernels.related.independence import SECTIONS
from cocite.kernels.related.likeness import LikenessWeb
from cocite.kernels.related.listings import CountedWeb
from cocite.kernels.related.neighbourhood import NearPages, ParentChoice
from cocite.kernels.related.votes import weigh_listings
from cocite.kernels.words.word_sums import Groups, WordRows, heaviest_words
from cocite.kernels.words.word_vectors import Sparse
from cocite.words.documents import MAX_FILES, PageReader, cut_targets, lines_of, sampled
from cocite.words.matrices import chunks_of, of_length_1, packed, pruned
from cocite.words.tokens import terms_of

MEMBER_WORDS, MAX_CONTEXT_WORDS = 32, 24
HEADING_WEIGHT = 0.8
SAME_NAME_WEIGHT = 0.5
SAMPLE_LINKS = 1 << 16  # in-links read of one page, about
CHUNK_PAGES, LIST_CHUNK_PAGES, CHUNK_LISTINGS = 1 << 14, 1 << 9, 1 << 20
LISTING_BYTES = 96  # of a listing while its range is read and sorted
CACHED_TEXTS = 1 << 16
Listing = np.dtype([("page", "<u4"), ("section", "<i8"), ("weight", "<f4"), ("source", "<u4"), ("of", "<u4")])
"""A page, a section that lists it or its same-name page, the page that has the section, and the page that it lists."""


class RowFile:
    """WordRows of words in files: appended, then mapped."""

    def __init__(self, folder: Path, name: str) -> None:
        self._paths = {part: folder / f"{name}.{part}" for part in WordRows._fields}
        self._files = {part: path.open("wb") for part, path in self._paths.items()}
        self._count = 0
        np.zeros(1, np.int64).tofile(self._files["starts"])

    def add(self, rows: csr_array) -> None:
        """Append the rows of a matrix."""
        ends = rows.indptr[1:].astype(np.int64) + self._count
        self._count += rows.nnz
        for part, values in zip(WordRows._fields, (ends, rows.indices.astype(np.uint32), rows.data), strict=True):
            values.tofile(self._files[part])

    def mapped(self) -> WordRows:
        """All rows; none can be added later."""
        for file in self._files.values():
            file.close()
        types = (np.int64, np.uint32, np.float32)
        parts = zip(self._paths.values(), types, strict=True)
        return WordRows(
            *(np.memmap(path, kind, "r") if path.stat().st_size else np.zeros(0, kind) for path, kind in parts)
        )


class ListingFiles:
    """Listings in files by ranges of pages, written about CHUNK_LISTINGS at a time."""

    def __init__(self, folder: Path, borders: NDArray[np.int64]) -> None:
        self.borders, self._waiting, self._count = borders, list[NDArray[Any]](), 0
        self.paths = [folder / f"{number}.listings" for number in range(len(borders) - 1)]
        self._files = [path.open("wb") for path in self.paths]

    def add(self, *columns: NDArray[Any]) -> None:
        """Add listings."""
        some = np.empty(len(columns[0]), Listing)
        for name, values in zip(Listing.names or (), columns, strict=True):
            some[name] = values
        self._waiting.append(some)
        self._count += len(some)
        if self._count > CHUNK_LISTINGS:
            self.flush()

    def flush(self) -> Self:
        """Write what is waiting."""
        some = np.concatenate([np.empty(0, Listing), *self._waiting])
        of_range = np.searchsorted(self.borders, some["page"], side="right") - 1
        for number, file in enumerate(self._files):
            some[of_range == number].tofile(file)
            file.flush()
        self._waiting, self._count = [], 0
        return self


def context_words(
    graph: Graph,
    vectors: csr_array,
    same_name: csr_array,
    headings: Callable[[NDArray[np.int64]], csr_array],
    stop: NDArray[np.bool_],
    folder: Path,
    memory: int,
    progress: Progress,
) -> tuple[Sparse, NDArray[np.uint32]]:
    """The context words of each page, and its votes. `vectors` are its own words, `folder` is for temporary files."""
    members = RowFile(folder, "members")
    for chunk in chunks_of(graph.pages, CHUNK_PAGES):
        own = vectors[chunk].copy()
        own.data[stop[own.indices]] = 0
        own.eliminate_zeros()
        members.add(pruned(of_length_1(own), MEMBER_WORDS))
    ranges = min(MAX_FILES, 1 + (len(graph.links) + len(graph.links.repeats.page)) * LISTING_BYTES // memory)
    listings = ListingFiles(folder, cut_targets(graph, ranges, SAMPLE_LINKS))
    scratch = np.zeros(len(stop)), np.empty(len(stop), np.int64)
    sections = write_sections(graph, members.mapped(), same_name, headings, scratch, folder, listings, progress)
    found, votes, lists = [], np.zeros(graph.pages, np.uint32), lists_of(graph)
    for path, first, last in zip(listings.paths, listings.borders[:-1], listings.borders[1:], strict=True):
        some = np.fromfile(path, Listing)
        path.unlink()
        some["weight"] *= weights_of(graph, lists, some, votes[first:last], int(first))
        some = heaviest(some)
        starts = np.searchsorted(some["page"], np.arange(first, last + 1))
        groups = Groups(starts, np.ascontiguousarray(some["section"]), np.ascontiguousarray(some["weight"]))
        found.append(packed(summed(groups, sections, None, scratch)))
        progress("reading context words", int(last - first), graph.pages)
    starts = np.concatenate([[0], *(np.diff(each.starts) for each in found)]).cumsum()
    ids, weights = (np.concatenate([each[part] for each in found]) for part in (1, 2))
    return Sparse(starts, ids, weights), votes


def write_sections(
    graph: Graph,
    members: WordRows,
    same_name: csr_array,
    headings: Callable[[NDArray[np.int64]], csr_array],
    scratch: tuple[NDArray[np.float64], NDArray[np.int64]],
    folder: Path,
    listings: ListingFiles,
    progress: Progress,
) -> WordRows:
    """Write the words of all sections, and who is listed in which; return the words, mapped."""
    words, count, named = RowFile(folder, "sections"), 0, csr_array(same_name.T)
    for first, starts, links, _, _ in graph.links.iter_all(LIST_CHUNK_PAGES):
        if int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        source = np.repeat(np.arange(first, first + len(starts) - 1, dtype=np.int64), np.diff(starts))
        known = links.blocks >= 0
        keys, targets = source[known] << BLOCK_BITS | links.blocks[known], links.targets[known]
        order = np.argsort(keys, kind="stable")
        blocks, size = np.unique(keys, return_counts=True)
        several = size > 1
        chosen = order[np.repeat(several, size)]
        blocks, size, target = blocks[several], size[several], targets[chosen].astype(np.int64)
        groups = Groups(np.concatenate([[0], size.cumsum()]), target, np.ones(len(target), np.float32))
        words.add(summed(groups, members, headings(blocks), scratch))
        number, weight = np.repeat(np.arange(count, count + len(size)), size), np.repeat(1 / np.log(2.0 + size), size)
        lists = keys[chosen] >> BLOCK_BITS
        read = sampled(graph, lists, target, SAMPLE_LINKS)
        number, weight, target, lists = number[read], weight[read], target[read], lists[read]
        listings.add(target, number, weight, lists, target)
        of = np.diff(named.indptr)[target]  # pages with the name of each target
        at = np.repeat(named.indptr[target] - np.cumsum(of) + of, of) + np.arange(of.sum())
        weight = SAME_NAME_WEIGHT * named.data[at] * weight.repeat(of)
        listings.add(named.indices[at], number.repeat(of), weight, lists.repeat(of), target.repeat(of))
        count += len(size)
        progress("reading sections", len(starts) - 1, graph.pages)
    listings.flush()
    return words.mapped()


def lists_of(graph: Graph) -> LikenessWeb:
    """All links, as kernels take them to weigh lists."""
    none = np.frombuffer(b"", np.uint32)  # read-only, as the arrays of a store are
    near = NearPages(*graph.facts.all_near_duplicates)
    every = CountedWeb(graph.links.out_in_part, Excluded(0, none, 0, graph.in_degree), graph.links.repeats, near, none,
                       SECTIONS)  # fmt: skip
    choice = ParentChoice(graph.links.stored_parents("sample"), graph.fingerprints, int(HASH_SEED))
    in_degree = graph.in_degree
    return LikenessWeb(every, graph.into, near, choice, len(graph.links), in_degree, graph.links.lists, in_degree)


def weights_of(
    graph: Graph, lists: LikenessWeb, listings: NDArray[Any], votes: NDArray[np.uint32], first: int
) -> NDArray[np.float64]:
    """How much the list of each listing counts for the page that it lists; sets the votes of pages from `first` on."""
    found = np.empty(len(listings))
    pages = np.arange(first, first + len(votes), dtype=np.uint32)
    for of_page in (True, False):  # their own, then those of same-name pages
        rows = np.flatnonzero((listings["page"] == listings["of"]) == of_page)
        rows = rows[np.argsort(listings["of"][rows], kind="stable")]
        if not of_page:
            pages, votes = np.unique(listings["of"][rows]), np.empty(len(rows), np.uint32)
        starts = np.append(np.searchsorted(listings["of"][rows], pages), len(rows))
        weights, sources = np.empty(len(rows)), np.ascontiguousarray(listings["source"][rows])
        if weigh_listings(lists, pages, starts, sources, weights, votes) < 0:
            raise graph.damaged()
        found[rows] = weights
    return found


def heaviest(listings: NDArray[Any]) -> NDArray[Any]:
    """The listings that count, by page and section; of a section that lists a page and its same-name page, one."""
    some = listings[listings["weight"] > 0]
    some = some[np.lexsort((-some["weight"], some["section"], some["page"]))]
    fresh = np.ones(len(some), np.bool_)
    fresh[1:] = (some["page"][1:] != some["page"][:-1]) | (some["section"][1:] != some["section"][:-1])
    return some[fresh]


def summed(
    groups: Groups, rows: WordRows, added: csr_array | None, scratch: tuple[NDArray[np.float64], NDArray[np.int64]]
) -> csr_array:
    """The heaviest words of the sum of each group of rows, of length 1, and `added` to it; again of length 1."""
    n = len(groups.starts) - 1
    ids, weights = np.zeros((n, MAX_CONTEXT_WORDS), np.uint32), np.zeros((n, MAX_CONTEXT_WORDS), np.float32)
    more = WordRows(np.zeros(n + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    if added is not None:
        more = WordRows(added.indptr.astype(np.int64), added.indices.astype(np.uint32), added.data)
    heaviest_words(groups, rows, more, scratch, ids, weights)
    some = weights > 0
    starts = np.concatenate([[0], some.sum(axis=1).cumsum()])
    return csr_array((weights[some], ids[some].astype(np.int64), starts), shape=(n, len(scratch[0])))


def headings_of(
    graph: Graph, words: Mapping[str, int], rarity: NDArray[np.float64], stop: NDArray[np.bool_]
) -> Callable[[NDArray[np.int64]], csr_array]:
    """A function that turns the headings of sections, page by page, into vectors of length HEADING_WEIGHT, or empty."""
    lines = PageReader(lines_of(graph, "headings"))

    @lru_cache(CACHED_TEXTS)
    def read(text: str) -> list[int]:
        known = {words.get(word, -1) for word in terms_of(text)}
        known = {word for word in known if word >= 0 and rarity[word] > 0}
        return sorted([word for word in known if not stop[word]] or known)

    def rows(blocks: NDArray[np.int64]) -> csr_array:
        found = []
        for page, block in zip((blocks >> BLOCK_BITS).tolist(), (blocks & BLOCK_MASK).tolist(), strict=True):
            headings = lines.take(page) or []
            found.append(read(headings[block]) if block < len(headings) else [])
        ids = np.array([word for row in found for word in row], np.int64)
        place = rarity[ids].astype(np.float32), ids, np.cumsum([0, *map(len, found)])
        headed = of_length_1(csr_array(place, shape=(len(found), len(rarity))))
        headed.data *= np.float32(HEADING_WEIGHT)
        return headed

    return rows
