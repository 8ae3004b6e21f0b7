"""Make word vectors, context words and same-name pages. Nothing depends on the numbers of pages.

**Word vectors.** The words of a page are its own (title, headings, text), and those of links to it and around them.
Word w of page p, among N pages with words, has the weight

    ln(1 + tf(w, p)) · √ln((1 + N) / (1 + df(w)))

and 0 if only one page has it. Without the root, rare words would drown those that say what kind of page it is. An
anchor text is mostly a name: its words count 0.3 each, and a page with no other words has a vector of length ½, all
others of length 1. To a page with little text, n words, the mean vector of the pages it exchanges links with is added,
with the weight (SHORT_WORDS / n)^SHORT_POWER, at most 1. The MAX_WORDS heaviest words are kept.

**Stop words** are those that are stop words of the page's language on at least half of their pages. They say what kind
of text it is, so they count in word vectors. But no two pages are similar by stop words alone.

**Context words** are those of the sections that list a page. A section of n ≥ 2 links is the sum of its pages' word
vectors (MEMBER_WORDS words each), of length 1, plus the words of its heading by rarity, of length HEADING_WEIGHT. Stop
words are skipped, except in headings that have no other: *See Also* lists another kind of page than *Examples*. The
MAX_CONTEXT_WORDS heaviest words are kept. A page is the sum of its sections, each by 1 / ln(2 + n), and of those of its
same-name pages by SAME_NAME_WEIGHT times the cosine of the names. So pages in lists about the same things are similar,
even if no list has both. Stores with more than MAX_LINKS links in sections have no context words: reading only some
lists would favour the pages in them.

**Same-name pages** are linked under the same anchor text, as a project's site and its repository are. A page's name is
the letters and digits of its anchor texts, by number of links; pages are compared by the cosine of their names. A name
that more than MAX_NAME_PAGES pages have ("Documentation") is ignored. A list that has one of them would have the other.
"""

import re
import tempfile
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from cocite.graph.generation import Progress, no_progress
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import BLOCK_BITS, BLOCK_MASK
from cocite.kernels.words.word_vectors import SCALE, Sparse
from cocite.words.documents import LinkTexts, PageReader, lines_of, texts_of_pages
from cocite.words.keywords import PageWords
from cocite.words.tokens import language_of, stop_words, terms_of
from cocite.words.vectors import MAX_SAME_NAME, Vectors

MAX_WORDS = 128
COUNTED_WORDS = 256  # words of a page that are weighted: the most frequent
SHORT_WORDS, SHORT_POWER = 30, 6
WORD_TENTHS, ANCHOR_TENTHS = 10, 3  # counts are kept in tenths: a word counts ten, one of an anchor text three
NAME_ONLY_LENGTH = 0.5  # the length of the vector of a page that is known by anchor texts alone
MAX_CHARACTERS = 1 << 16
CACHED_TEXTS = 1 << 16
MEMORY_BYTES = 1 << 29
MIN_NEIGHBOUR_WEIGHT = 0.01  # neighbours that would count less are not read

MEMBER_WORDS, MAX_CONTEXT_WORDS = 32, 24
HEADING_WEIGHT = 0.8
SAME_NAME_WEIGHT = 0.5
MAX_LINKS = 1 << 24  # with ten links a section these take 0.5 GB; with two, the fewest possible, 2 GB
CHUNK_PAGES, CONTEXT_CHUNK_PAGES, LIST_CHUNK_PAGES = 1 << 14, 1 << 12, 1 << 8  # for vectors, context words, lists

MAX_NAME_PAGES = 16
MIN_COSINE = 0.2
NAME_CHARACTERS = range(3, 61)
GENERIC_NAMES = frozenset({
    "about", "article", "blog", "clickhere", "code", "demo", "details", "docs", "documentation", "download",
    "example", "examples", "github", "here", "home", "homepage", "learnmore", "link", "more", "official", "paper",
    "pdf", "project", "read", "readme", "readmore", "repo", "repository", "site", "source", "sourcecode", "video",
    "web", "website",
})  # fmt: skip
"""Anchor texts of any page; small stores have too few of each to notice."""
_PATH = re.compile(r"[\w.-]+/([\w.-]+)")


def make_vectors(
    graph: Graph, progress: Progress = no_progress, memory: int = MEMORY_BYTES, folder: Path | None = None
) -> Vectors:
    """Make word vectors without storing them. Temporary files go to `folder`, or to the system's place for them."""
    collected, names = PageWords(graph.pages), AnchorNames()
    text_words, described = np.zeros(graph.pages, np.uint16), np.zeros(graph.pages, np.bool_)
    terms, stopped = lru_cache(CACHED_TEXTS)(terms_of), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        for page, own, links in texts_of_pages(graph, Path(temporary), memory, progress, "reading words of pages"):
            words = Counter(terms_of(own["text"][:MAX_CHARACTERS]))
            text_words[page] = min(len(words), 0xFFFF)
            words.update(terms_of(f"{own['title']}\n{own['headings']}"[:MAX_CHARACTERS]))
            described[page] = add_link_words(words, links, terms)
            names.add(page, links.anchors)
            counted = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:COUNTED_WORDS]
            collected.add(page, counted)
            stopped.update({word for word, _ in counted} & stop_words(language_of(words, graph.facts.language(page))))
    found = collected.index(COUNTED_WORDS)
    stop = 2 * np.array([stopped[word] for word in collected.words], np.int64) >= np.maximum(1, found.frequency)
    rarity = np.sqrt(np.log((1 + np.count_nonzero(collected.sizes)) / (1.0 + found.frequency)) * (found.frequency > 1))
    weights = (np.log1p(found.counts.astype(np.float32) / WORD_TENTHS) * rarity[found.ids]).astype(np.float32)
    matrix = csr_array((weights, found.ids, found.starts), shape=(graph.pages, len(found.words)))
    matrix.eliminate_zeros()
    matrix, same_name = of_length_1(matrix), names.same_name(graph.pages)
    numbers = {word: at for at, word in enumerate(collected.words)}
    content = csr_array((matrix.data * ~stop[matrix.indices], matrix.indices, matrix.indptr), matrix.shape, copy=True)
    content.eliminate_zeros()
    context = context_words(graph, of_length_1(content), same_name, numbers, rarity, stop)
    rows = pruned(with_neighbours(graph, matrix, text_words), MAX_WORDS)
    rows.data *= np.where(described, 1, NAME_ONLY_LENGTH).astype(np.float32)[rows_of(rows)]
    by_page, by_word, context, same_name = map(packed, (rows, csr_array(rows.T.tocsr()), context, same_name))
    return Vectors(by_page, by_word, text_words, found.words, stop.astype(np.uint8), context, same_name, homes(graph))


def packed(matrix: csr_array) -> Sparse:
    """A matrix as it is stored."""
    matrix.sort_indices()
    weights = np.rint(np.minimum(matrix.data, 1.0) * SCALE).astype(np.uint16)
    return Sparse(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), weights)


def add_link_words(words: Counter[str], links: LinkTexts, terms: Callable[[str], list[str]]) -> bool:
    """Add the words of links to a page, counting in tenths; return whether the page has words other than anchors."""
    for text, count in links.contexts:
        for term in terms(text):
            words[term] += count
    for word in words:
        words[word] *= WORD_TENTHS
    described = bool(words)
    for text, count in links.anchors:
        for term in terms(text):
            words[term] += count * ANCHOR_TENTHS
    return described


def with_neighbours(graph: Graph, matrix: csr_array, text_words: NDArray[np.uint16]) -> csr_array:
    """Add to the vectors of pages with little text those of the pages they exchange links with."""
    blocks = []
    for chunk in chunks_of(graph.pages, CHUNK_PAGES):
        own, sizes = matrix[chunk], text_words[chunk].astype(np.float64)
        weight = np.minimum(1.0, (SHORT_WORDS / np.maximum(1, sizes)) ** SHORT_POWER) * (sizes > 0)
        links = mutual_links(graph, chunk.start, chunk.stop) if weight.max(initial=0) > MIN_NEIGHBOUR_WEIGHT else None
        if links is not None and links.nnz:
            near = of_length_1(csr_array(links @ matrix))
            near.data *= weight.astype(np.float32)[rows_of(near)]
            own = of_length_1(csr_array(own + near))
        blocks.append(own)
    return stacked(blocks)


def mutual_links(graph: Graph, first: int, last: int) -> csr_array:
    """The pages that those from `first` to `last` link to and that link back."""
    pairs = []
    for lists in (graph.out, graph.into):
        starts, targets, _ = graph.links.read_lists(lists, first, last - first, attributes=False)
        rows = np.repeat(np.arange(last - first, dtype=np.uint64), np.diff(starts))
        pairs.append(rows << np.uint64(32) | targets)
    both = np.intersect1d(pairs[0], pairs[1])
    columns = (both & np.uint64(0xFFFFFFFF)).astype(np.int64)
    if int(columns.max(initial=0)) >= graph.pages:
        raise graph.damaged()
    place = (np.ones(len(both), np.float32), ((both >> np.uint64(32)).astype(np.int64), columns))
    return csr_array(place, shape=(last - first, graph.pages))


def homes(graph: Graph) -> NDArray[np.uint8]:
    """1 for the first page of a host, 0 for others; opaque names have no host."""
    first = (
        not address.startswith("name:") and "/" not in address.partition("://")[2].rstrip("/")
        for address in addresses(graph.names, 0, graph.pages, marked=True)
    )
    return np.fromiter(first, np.uint8, graph.pages)


def context_words(
    graph: Graph,
    vectors: csr_array,
    same_name: csr_array,
    words: Mapping[str, int],
    rarity: NDArray[np.float64],
    stop: NDArray[np.bool_],
) -> csr_array:
    """The context words of each page. `vectors` are its own words, `rarity` the weight of each word."""
    chunks = chunks_of(graph.pages, CONTEXT_CHUNK_PAGES)
    members = stacked([pruned(vectors[chunk], MEMBER_WORDS) for chunk in chunks])
    listed, sections = read_sections(graph, members, headings_of(graph, words, rarity, stop))
    if not sections.shape[0]:
        return csr_array(vectors.shape, dtype=np.float32)
    found = []
    for chunk in chunks:
        own = csr_array(listed[chunk] + SAME_NAME_WEIGHT * (same_name[chunk] @ listed))
        found.append(pruned(of_length_1(csr_array(own @ sections)), MAX_CONTEXT_WORDS))
    return stacked(found)


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


def read_sections(
    graph: Graph, vectors: csr_array, headings: Callable[[NDArray[np.int64]], csr_array]
) -> tuple[csr_array, csr_array]:
    """The weight of each section for the pages it lists, and its words; none if there are more than MAX_LINKS."""
    targets, numbers, weights, words, count, read = [], [], [], [], 0, 0
    for first, starts, links, _, _ in graph.links.iter_all(LIST_CHUNK_PAGES):
        if int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        source = np.repeat(np.arange(first, first + len(starts) - 1, dtype=np.int64), np.diff(starts))
        known = links.blocks >= 0
        blocks, number, size = np.unique(
            source[known] << BLOCK_BITS | links.blocks[known], return_inverse=True, return_counts=True
        )
        several = size[number] > 1
        number, target = np.unique(number[several], return_inverse=True)[1], links.targets[known][several]
        blocks, size = blocks[size > 1], size[size > 1]
        if not len(size):
            continue
        read += len(target)
        if read > MAX_LINKS:
            count = 0
            break
        place = np.ones(len(number), np.float32), (number, target.astype(np.int64))
        of_pages = of_length_1(csr_array(csr_array(place, shape=(len(size), graph.pages)) @ vectors))
        words.append(pruned(of_length_1(csr_array(of_pages + headings(blocks))), MAX_CONTEXT_WORDS))
        targets.append(target)
        numbers.append(number + count)
        weights.append((1 / np.log(2.0 + size))[number].astype(np.float32))
        count += len(size)
    if not count:
        return csr_array((graph.pages, 0), dtype=np.float32), csr_array((0, vectors.shape[1]), dtype=np.float32)
    place = np.concatenate(weights), (np.concatenate(targets).astype(np.int64), np.concatenate(numbers))
    return csr_array(place, shape=(graph.pages, count)), stacked(words)


class AnchorNames:
    """The names of pages, collected page by page."""

    def __init__(self) -> None:
        self._pages, self._names, self._counts = array("L"), array("Q"), array("f")

    def add(self, page: int, anchors: list[tuple[str, int]]) -> None:
        """Add the anchor texts of a page."""
        counted: Counter[str] = Counter()
        for text, count in anchors:
            if name := name_in(text):
                counted[name] += count
        for name, count in counted.items():
            self._pages.append(page)
            self._names.append(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
            self._counts.append(count)

    def same_name(self, pages: int) -> csr_array:
        """The cosine of each page's name with those of its MAX_SAME_NAME closest same-name pages."""
        names, number = np.unique(np.array(self._names, np.uint64), return_inverse=True)
        place = np.array(self._counts, np.float32), (np.array(self._pages, np.int64), number)
        named = csr_array(place, shape=(pages, len(names)))
        common = np.bincount(named.indices, minlength=len(names)) > MAX_NAME_PAGES
        named.data[common[named.indices]] = 0
        named.eliminate_zeros()
        named = of_length_1(named)
        chunks, turned = chunks_of(pages, CHUNK_PAGES), csr_array(named.T)
        return stacked([closest(csr_array(named[chunk] @ turned), chunk.start) for chunk in chunks])


def name_in(text: str) -> str:
    """The name in an anchor text, or ""."""
    path = _PATH.fullmatch(text)
    text = unicodedata.normalize("NFKC", path[1] if path else text).casefold()
    # Besides letters and digits, keep the marks of letters: vowels, in many scripts.
    letters = (c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")
    name = text if text.isascii() and text.isalnum() else "".join(letters)
    return name if len(name) in NAME_CHARACTERS and name not in GENERIC_NAMES else ""


def closest(cosines: csr_array, first: int) -> csr_array:
    """The MAX_SAME_NAME highest cosines of each page, from page `first` on, with other pages; ties by page."""
    cosines.data[(cosines.data < MIN_COSINE) | (cosines.indices == rows_of(cosines) + first)] = 0
    cosines.eliminate_zeros()
    kept = highest(cosines, MAX_SAME_NAME)
    place = rows_of(cosines)[kept], cosines.indices[kept]
    return csr_array((cosines.data[kept], place), shape=cosines.shape)


def chunks_of(pages: int, size: int) -> list[slice]:
    """Slices of all pages, `size` each."""
    return [slice(first, min(pages, first + size)) for first in range(0, pages, size)]


def rows_of(matrix: csr_array) -> NDArray[np.int64]:
    """The row of every value of a sparse matrix."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def of_length_1(matrix: csr_array) -> csr_array:
    """Divide every row by its length, in place."""
    rows = rows_of(matrix)
    lengths = np.sqrt(np.bincount(rows, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    matrix.data = (matrix.data / np.maximum(lengths, 1e-12)[rows]).astype(np.float32)
    return matrix


def highest(matrix: csr_array, maximum: int) -> NDArray[np.int64]:
    """Where the `maximum` highest values of each row are, row by row, the highest first; ties by column."""
    rows = rows_of(matrix)
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    kept: NDArray[np.int64] = order[np.arange(len(order)) - matrix.indptr[rows] < maximum]
    return kept


def pruned(matrix: csr_array, maximum: int) -> csr_array:
    """Keep the `maximum` heaviest words of each row, of length 1."""
    sizes = np.diff(matrix.indptr)
    if sizes.max(initial=0) <= maximum:
        return matrix
    kept, starts = np.sort(highest(matrix, maximum)), np.concatenate([[0], np.minimum(sizes, maximum)]).cumsum()
    return of_length_1(csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape))


def stacked(blocks: list[csr_array]) -> csr_array:
    """Put blocks of rows below each other."""
    return csr_array(vstack(blocks, "csr")) if blocks else csr_array((0, 0), dtype=np.float32)
