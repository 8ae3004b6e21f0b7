"""Make context words: those of the sections that list a page, for stores of any size.

A section of n ≥ 2 links is the sum of its pages' word vectors (MEMBER_WORDS words each), of length 1, plus the words of
its heading by rarity, of length HEADING_WEIGHT. Stop words are skipped, except in headings that have no other: *See
Also* lists another kind of page than *Examples*. The MAX_CONTEXT_WORDS heaviest words are kept. A page is the sum of
its sections, each by 1 / ln(2 + n), and of those of its same-name pages by SAME_NAME_WEIGHT times the cosine of the
names. So pages in lists about the same things are similar, even if no list has both. Of sections with the same sketch,
which are mostly copies, a page has one: the two links of smallest hash (Broder, Glassman, Manasse & Zweig 1997, §2).
And a section counts for a page as much as it would in a question: copies don't, nor does what chance explains
(kernels/related/independence.py). The sum of these weights are the votes of a page: its in-links that count.

Two passes, each in the order of pages. The first writes the words of every section to a file, and for every link a
`Listing` to the file of its target's range. The second reads a range at a time, and sums up the mapped sections of
each page. In memory are a range of listings (about `memory`), 16 bytes for each word of the vocabulary, and the result:
at most 144 bytes for each page. Of a page with more than SAMPLE_LINKS in-links a share is read, chosen by hash.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.build.derive import HASH_SEED
from cocite.graph.generation import Progress
from cocite.graph.links import OutLinks
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import BLOCK_BITS, BLOCK_MASK
from cocite.kernels.related.counted_links import Excluded
from cocite.kernels.related.independence import DEVIATIONS, MIN_SAMPLE, NEAR_DUPLICATES, Chance
from cocite.kernels.related.likeness import LikenessWeb
from cocite.kernels.related.listings import CountedWeb
from cocite.kernels.related.neighbourhood import NearPages, ParentChoice
from cocite.kernels.related.votes import weigh_listings
from cocite.kernels.words.word_sums import Groups, WordRows, heaviest_words
from cocite.kernels.words.word_vectors import Sparse
from cocite.words.documents import MAX_FILES, cut_targets, parents_of, sampled
from cocite.words.matrices import chunks_of, of_length_1, packed, pruned
from cocite.words.tokens import terms_of

MEMBER_WORDS, MAX_CONTEXT_WORDS = 32, 24
HEADING_WEIGHT = 0.8
SAME_NAME_WEIGHT = 0.5
SAMPLE_LINKS = 1 << 16  # in-links read of one page, about
CHUNK_PAGES, LIST_CHUNK_PAGES, CHUNK_LISTINGS = 1 << 14, 1 << 9, 1 << 20
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
LISTING_BYTES = 128  # of a listing while its range is read and sorted
REPEATS_PER_WORD = 8  # of 64 bits, about
CACHED_TEXTS = 1 << 16
Listing = np.dtype(
    [("page", "<u4"), ("section", "<i8"), ("weight", "<f4"), ("sketch", "<u8"), ("source", "<u4"), ("of", "<u4")]
)
"""A page, a section that lists it or its same-name page, the list that has the section, and the page that it lists."""


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
        members.add(as_members(vectors[chunk].copy(), stop))
    links = len(graph.links) + REPEATS_PER_WORD * len(graph.links.repeats.words)
    ranges = min(MAX_FILES, 1 + links * LISTING_BYTES // memory)
    listings = ListingFiles(folder, cut_targets(graph, ranges, SAMPLE_LINKS))
    scratch = np.zeros(len(stop)), np.empty(len(stop), np.int64)
    sections = write_sections(graph, members.mapped(), same_name, headings, scratch, folder, listings, progress)
    found, votes, lists = [], np.zeros(graph.pages, np.uint32), lists_of(graph)
    for path, first, last in zip(listings.paths, listings.borders[:-1], listings.borders[1:], strict=True):
        some = np.fromfile(path, Listing)
        path.unlink()
        some, votes[first:last] = weighed(graph, lists, some, np.arange(first, last))
        some = without_copies(some)
        starts = np.searchsorted(some["page"], np.arange(first, last + 1))
        groups = Groups(starts, np.ascontiguousarray(some["section"]), np.ascontiguousarray(some["weight"]))
        found.append(packed(summed(groups, sections, None, scratch)))
        progress("reading context words", int(last - first), graph.pages)
    starts = np.concatenate([[0], *(np.diff(each.starts) for each in found)]).cumsum()
    ids, weights = (np.concatenate([each[part] for each in found]) for part in (1, 2))
    return Sparse.of(starts, ids, weights), votes


def as_members(rows: csr_array, stop: NDArray[np.bool_]) -> csr_array:
    """The words of pages as members of sections: the heaviest that aren't stop words. Changes `rows`."""
    rows.data[stop[rows.indices]] = 0
    rows.eliminate_zeros()
    return pruned(of_length_1(rows), MEMBER_WORDS)


def context_words_of(
    graph: Graph,
    pages: NDArray[np.int64],
    vectors: Callable[[NDArray[np.int64]], csr_array],
    same_name: csr_array,
    headings: Callable[[NDArray[np.int64]], csr_array],
    stop: NDArray[np.bool_],
) -> tuple[csr_array, NDArray[np.uint32]]:
    """The context words and votes of some pages, ascending: it reads the sections with them or their same-name pages.

    `vectors` gives the words of any pages, and `same_name` has a row for each of `pages`.
    """
    wanted = np.union1d(pages, same_name.indices)
    parents = parents_of(graph, wanted)
    lists = graph.links.read_pages(parents)
    blocks, size, target = sections_of(parents, lists.starts, lists.links)
    if not len(blocks):
        return csr_array((len(pages), len(stop)), dtype=np.float32), graph.in_degree[pages]
    is_wanted = np.isin(target, wanted)
    some = np.logical_or.reduceat(is_wanted, size.cumsum() - size)
    kept = np.repeat(some, size)
    blocks, size, target, is_wanted = blocks[some], size[some], target[kept], is_wanted[kept]
    members, place = np.unique(target, return_inverse=True)
    rows, scratch = as_members(vectors(members), stop), (np.zeros(len(stop)), np.empty(len(stop), np.int64))
    groups = Groups(np.concatenate([[0], size.cumsum()]), place, np.ones(len(target), np.float32))
    sections = as_word_rows(summed(groups, as_word_rows(rows), headings(blocks), scratch))
    number, weight, sketch, source, read = listed(graph, blocks, size, target)
    read &= is_wanted
    number, weight, sketch = number[read], weight[read], sketch[read]
    source, target = source[read], target[read]
    own = np.flatnonzero(np.isin(target, pages))
    # A page is in its own sections, and with less weight in those of its same-name pages.
    columns = np.searchsorted(wanted, same_name.indices)
    by_name = csr_array((same_name.data, columns, same_name.indptr), shape=(len(pages), len(wanted)))
    named = csr_array(by_name.T)[np.searchsorted(wanted, target)]
    of = np.diff(named.indptr)
    found = np.empty(len(own) + named.nnz, Listing)
    for name, mine, others in (
        ("page", target[own], pages[named.indices]),
        ("section", number[own], number.repeat(of)),
        ("weight", weight[own], SAME_NAME_WEIGHT * named.data * weight.repeat(of)),
        ("sketch", sketch[own], sketch.repeat(of)),
        ("source", source[own], source.repeat(of)),
        ("of", target[own], target.repeat(of)),
    ):
        found[name] = np.concatenate([mine, others])
    found, votes = weighed(graph, lists_of(graph), found, pages)
    found = without_copies(found)
    starts = np.append(np.searchsorted(found["page"], pages), len(found))
    listings = Groups(starts, np.ascontiguousarray(found["section"]), np.ascontiguousarray(found["weight"]))
    return summed(listings, sections, None, scratch), votes


def as_word_rows(rows: csr_array) -> WordRows:
    """A matrix as kernels take it; read-only, as one that is mapped: else they would be compiled for both."""
    parts = rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), rows.data.astype(np.float32)
    for part in parts:
        part.flags.writeable = False
    return WordRows(*parts)


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
        pages = np.arange(first, first + len(starts) - 1, dtype=np.int64)
        blocks, size, target = sections_of(pages, starts, links)
        groups = Groups(np.concatenate([[0], size.cumsum()]), target, np.ones(len(target), np.float32))
        words.add(summed(groups, members, headings(blocks), scratch))
        number, weight, sketch, source, read = listed(graph, blocks, size, target)
        number, weight, sketch = number[read], weight[read], sketch[read]
        source, target = source[read], target[read]
        number += count
        listings.add(target, number, weight, sketch, source, target)
        of = np.diff(named.indptr)[target]  # pages with the name of each target
        at = np.repeat(named.indptr[target] - np.cumsum(of) + of, of) + np.arange(of.sum())
        weight = SAME_NAME_WEIGHT * named.data[at] * weight.repeat(of)
        listings.add(
            named.indices[at], number.repeat(of), weight, sketch.repeat(of), source.repeat(of), target.repeat(of)
        )
        count += len(size)
        progress("reading sections", len(starts) - 1, graph.pages)
    listings.flush()
    return words.mapped()


def sections_of(
    pages: NDArray[np.int64], starts: NDArray[np.int64], links: OutLinks
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The sections of several links on some pages: (page and block, number of links, the targets of all links)."""
    source, known = np.repeat(pages, np.diff(starts)), links.blocks >= 0
    keys, targets = source[known] << BLOCK_BITS | links.blocks[known], links.targets[known]
    order = np.argsort(keys, kind="stable")
    blocks, size = np.unique(keys, return_counts=True)
    several = size > 1
    return blocks[several], size[several], targets[order[np.repeat(several, size)]].astype(np.int64)


def listed(
    graph: Graph, blocks: NDArray[np.int64], size: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.bool_]]:
    """Of each link in sections: its section from 0 on, its weight, the section's sketch, its list, and whether it is
    read."""
    number, weight = np.repeat(np.arange(len(size)), size), np.repeat(1 / np.log(2.0 + size), size)
    source = np.repeat(blocks, size) >> BLOCK_BITS
    read = sampled(graph, source, target.astype(np.uint32), SAMPLE_LINKS)
    return number, weight, sketches(graph.fingerprints[target], size), source, read


def lists_of(graph: Graph) -> LikenessWeb:
    """All links, as kernels take them to weigh lists."""
    none = np.frombuffer(b"", np.uint32)  # read-only, as the arrays of a store are
    near, in_degree = NearPages(*graph.facts.all_near_duplicates), graph.in_degree
    excluded = Excluded(0, none, 0, in_degree)
    sites, repeats = graph.units("site"), graph.links.repeats
    every = CountedWeb(graph.links.out_in_part, excluded, repeats, near, sites, NEAR_DUPLICATES)
    choice = ParentChoice(graph.links.stored_parents("sample"), graph.fingerprints, int(HASH_SEED))
    numbers, chance = (len(graph.links), in_degree, graph.links.lists, in_degree), Chance(MIN_SAMPLE, DEVIATIONS)
    return LikenessWeb(every, graph.into, near, choice, *numbers, chance)


def weighed(
    graph: Graph, lists: LikenessWeb, listings: NDArray[Any], pages: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """The listings that count, by their weights in a question about the page that is listed; and the votes of pages."""
    listings = listings[np.argsort(listings["of"], kind="stable")]
    listed = np.union1d(pages, listings["of"]).astype(np.uint32)
    starts = np.append(np.searchsorted(listings["of"], listed), len(listings))
    weights, votes = np.empty(len(listings)), np.empty(len(listed), np.uint32)
    if weigh_listings(lists, listed, starts, np.ascontiguousarray(listings["source"]), weights, votes) < 0:
        raise graph.damaged()
    listings["weight"] *= weights
    return listings[weights > 0], votes[np.searchsorted(listed, pages)]


def sketches(hashes: NDArray[np.uint64], size: NDArray[np.int64]) -> NDArray[np.uint64]:
    """For each link the sketch of its section: its two smallest hashes. Sections of `size` links follow each other."""
    first, section = size.cumsum() - size, np.repeat(np.arange(len(size)), size)
    ordered = hashes[np.lexsort((hashes, section))]
    return np.repeat(ordered[first] * HASH_FACTOR ^ ordered[first + 1], size)


def without_copies(listings: NDArray[Any]) -> NDArray[Any]:
    """The listings by page and section; of those of a page with the same sketch the heaviest, then the first."""
    some = listings[np.lexsort((listings["section"], -listings["weight"], listings["sketch"], listings["page"]))]
    fresh = np.ones(len(some), np.bool_)
    fresh[1:] = (some["page"][1:] != some["page"][:-1]) | (some["sketch"][1:] != some["sketch"][:-1])
    some = some[fresh]
    return some[np.lexsort((some["section"], some["page"]))]


def summed(
    groups: Groups, rows: WordRows, added: csr_array | None, scratch: tuple[NDArray[np.float64], NDArray[np.int64]]
) -> csr_array:
    """The heaviest words of the sum of each group of rows, of length 1, and `added` to it; again of length 1."""
    n = len(groups.starts) - 1
    ids, weights = np.zeros((n, MAX_CONTEXT_WORDS), np.uint32), np.zeros((n, MAX_CONTEXT_WORDS), np.float32)
    more = as_word_rows(csr_array((n, len(scratch[0])), dtype=np.float32) if added is None else added)
    heaviest_words(groups, rows, more, scratch, ids, weights)
    some = weights > 0
    starts = np.concatenate([[0], some.sum(axis=1).cumsum()])
    return csr_array((weights[some], ids[some].astype(np.int64), starts), shape=(n, len(scratch[0])))


def headings_of(
    lines: Callable[[int], list[str]],
    numbers_of: Callable[[list[str]], Iterable[int]],
    rarity: NDArray[np.float64],
    stop: NDArray[Any],
) -> Callable[[NDArray[np.int64]], csr_array]:
    """A function that turns the headings of sections, page by page, into vectors of length HEADING_WEIGHT, or empty.

    `lines` are the headings of a page, and `numbers_of` gives the numbers of words, -1 for one that is unknown.
    """
    read: dict[str, list[int]] = {}

    def read_all(texts: Iterable[str]) -> None:
        if len(read) > CACHED_TEXTS:
            read.clear()
        terms = {text: terms_of(text) for text in dict.fromkeys(texts) if text not in read}
        words = list(dict.fromkeys(word for some in terms.values() for word in some))
        number = dict(zip(words, numbers_of(words), strict=True))
        for text, some in terms.items():
            known = {number[word] for word in some if number[word] >= 0 and rarity[number[word]] > 0}
            read[text] = sorted([word for word in known if not stop[word]] or known)

    def rows(blocks: NDArray[np.int64]) -> csr_array:
        texts = []
        for page, block in zip((blocks >> BLOCK_BITS).tolist(), (blocks & BLOCK_MASK).tolist(), strict=True):
            headings = lines(page)
            texts.append(headings[block] if block < len(headings) else "")
        read_all(texts)
        found = [read[text] for text in texts]
        ids = np.array([word for row in found for word in row], np.int64)
        place = rarity[ids].astype(np.float32), ids, np.cumsum([0, *map(len, found)])
        headed = of_length_1(csr_array(place, shape=(len(found), len(rarity))))
        headed.data *= np.float32(HEADING_WEIGHT)
        return headed

    return rows
