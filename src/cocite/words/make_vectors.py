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

**Context words** and votes are made in `context_words.py`.

**Same-name pages** are linked under the same anchor text, as a project's site and its repository are. A page's name is
the letters and digits of its anchor texts, by number of links; pages are compared by the cosine of their names. A name
that more than MAX_NAME_PAGES pages have ("Documentation") is ignored. A list that has one of them would have the other.
A name that is in the address of one page but not of the other isn't the same name: a list of clients for several
languages calls one of them "Rust".
"""

import re
import tempfile
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.generation import Progress, no_progress
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.words.context_words import context_words, headings_of
from cocite.words.documents import LinkTexts, texts_of_pages
from cocite.words.keywords import PageWords
from cocite.words.matrices import chunks_of, highest, of_length_1, packed, pruned, rows_of, stacked
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

CHUNK_PAGES = 1 << 14

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
            names.add(page, links.anchors, graph.address(page) if links.anchors else "")
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
    headings = headings_of(graph, {word: at for at, word in enumerate(collected.words)}, rarity, stop)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        context, votes = context_words(graph, matrix, same_name, headings, stop, Path(temporary), memory, progress)
    rows = pruned(with_neighbours(graph, matrix, text_words), MAX_WORDS)
    rows.data *= np.where(described, 1, NAME_ONLY_LENGTH).astype(np.float32)[rows_of(rows)]
    by_page, by_word, by_name = map(packed, (rows, csr_array(rows.T.tocsr()), same_name))
    return Vectors(
        by_page, by_word, text_words, found.words, stop.astype(np.uint8), context, by_name, homes(graph), votes
    )


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


class AnchorNames:
    """The names of pages, collected page by page."""

    def __init__(self) -> None:
        self._pages, self._names, self._counts = array("L"), array("Q"), array("f")

    def add(self, page: int, anchors: list[tuple[str, int]], address: str) -> None:
        """Add the anchor texts of a page. The lowest bit of a name is whether the address has it, too."""
        counted: Counter[str] = Counter()
        for text, count in anchors:
            if name := name_in(text):
                counted[name] += count
        spelled = letters_of(address) if counted else ""
        for name, count in counted.items():
            self._pages.append(page)
            digest = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
            self._names.append(digest & ~1 | (name in spelled))
            self._counts.append(count)

    def same_name(self, pages: int) -> csr_array:
        """The cosine of each page's name with those of its MAX_SAME_NAME closest same-name pages."""
        names, number = np.unique(np.array(self._names, np.uint64), return_inverse=True)
        place = np.array(self._counts, np.float32), (np.array(self._pages, np.int64), number)
        named = csr_array(place, shape=(pages, len(names)))
        _, either = np.unique(names >> np.uint64(1), return_inverse=True)
        common = np.bincount(either[named.indices]) > MAX_NAME_PAGES
        named.data[common[either[named.indices]]] = 0
        named.eliminate_zeros()
        named = of_length_1(named)
        chunks, turned = chunks_of(pages, CHUNK_PAGES), csr_array(named.T)
        return stacked([closest(csr_array(named[chunk] @ turned), chunk.start) for chunk in chunks])


def name_in(text: str) -> str:
    """The name in an anchor text, or ""."""
    path = _PATH.fullmatch(text)
    name = letters_of(path[1] if path else text)
    return name if len(name) in NAME_CHARACTERS and name not in GENERIC_NAMES else ""


def letters_of(text: str) -> str:
    """The letters and digits of a text, in lower case, with the marks of letters: vowels, in many scripts."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii() and text.isalnum():
        return text
    return "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")


def closest(cosines: csr_array, first: int) -> csr_array:
    """The MAX_SAME_NAME highest cosines of each page, from page `first` on, with other pages; ties by page."""
    cosines.data[(cosines.data < MIN_COSINE) | (cosines.indices == rows_of(cosines) + first)] = 0
    cosines.eliminate_zeros()
    kept = highest(cosines, MAX_SAME_NAME)
    place = rows_of(cosines)[kept], cosines.indices[kept]
    return csr_array((cosines.data[kept], place), shape=cosines.shape)
