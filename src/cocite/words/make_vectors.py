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

**Context words** are made in `context_words.py`.

**Same-name pages** are found in `same_name.py`.
"""

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.generation import Progress, no_progress
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.words.context_words import context_words, headings_of
from cocite.words.documents import LinkTexts, PageReader, lines_of, texts_of_pages
from cocite.words.keywords import PageWords
from cocite.words.matrices import chunks_of, of_length_1, packed, pruned, rows_of, stacked
from cocite.words.same_name import AnchorNames
from cocite.words.tokens import language_of, stop_words, terms_of
from cocite.words.vectors import Vectors, neighbour_weight

MAX_WORDS = 128
COUNTED_WORDS = 256  # words of a page that are weighted: the most frequent
WORD_TENTHS, ANCHOR_TENTHS = 10, 3  # counts are kept in tenths: a word counts ten, one of an anchor text three
NAME_ONLY_LENGTH = 0.5  # the length of the vector of a page that is known by anchor texts alone
MAX_CHARACTERS = 1 << 16
CACHED_TEXTS = 1 << 16
MEMORY_BYTES = 1 << 29

CHUNK_PAGES = 1 << 14


def make_vectors(
    graph: Graph, progress: Progress = no_progress, memory: int = MEMORY_BYTES, folder: Path | None = None
) -> Vectors:
    """Make word vectors without storing them. Temporary files go to `folder`, or to the system's place for them."""
    collected, names = PageWords(graph.pages), AnchorNames()
    text_words, described = np.zeros(graph.pages, np.uint16), np.zeros(graph.pages, np.bool_)
    terms, stopped = lru_cache(CACHED_TEXTS)(terms_of), Counter[str]()
    spelled = PageReader(enumerate(addresses(graph.names, 0, graph.pages)))
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        for page, own, links in texts_of_pages(graph, Path(temporary), memory, progress, "reading words of pages"):
            words = count_words(own, links, terms)
            text_words[page], described[page] = words.of_text, words.described
            if links.anchors:
                names.add(page, links.anchors, spelled.take(page) or "")
            collected.add(page, words.most)
            language = language_of(words.all, graph.facts.language(page))
            stopped.update(stop_words(language).intersection(words.most))
    found = collected.index(COUNTED_WORDS)
    stop = 2 * np.array([stopped[word] for word in collected.words], np.int64) >= np.maximum(1, found.frequency)
    rarity = np.sqrt(np.log((1 + np.count_nonzero(collected.sizes)) / (1.0 + found.frequency)) * (found.frequency > 1))
    weights = (np.log1p(found.counts.astype(np.float32) / WORD_TENTHS) * rarity[found.ids]).astype(np.float32)
    matrix = csr_array((weights, found.ids, found.starts), shape=(graph.pages, len(found.words)))
    matrix.eliminate_zeros()
    matrix, named = of_length_1(matrix), names.rows(graph.pages)
    same_name = named.same_name()
    lines, known = PageReader(lines_of(graph, "headings")), {word: at for at, word in enumerate(collected.words)}
    numbers = lambda words: [known.get(word, -1) for word in words]  # noqa: E731
    headings = headings_of(lambda page: lines.take(page) or [], numbers, rarity, stop)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        context, votes = context_words(graph, matrix, same_name, headings, stop, Path(temporary), memory, progress)
    rows = pruned(with_neighbours(graph, matrix, text_words), MAX_WORDS)
    rows.data *= np.where(described, 1, NAME_ONLY_LENGTH).astype(np.float32)[rows_of(rows)]
    by_page, by_word, by_name = map(packed, (rows, csr_array(rows.T.tocsr()), same_name))
    parts = (by_page, by_word, text_words, found.words, stop.astype(np.uint8), context, by_name, homes(graph))
    return Vectors(*parts, rarity, votes, named.stored())


class CountedWords(NamedTuple):
    """The words of a page and of links to it."""

    all: dict[str, int]  # in tenths
    most: dict[str, int]  # the most frequent, in any order
    of_text: int  # different words of its text
    described: bool  # whether it has words other than those of anchor texts


def count_words(own: dict[str, str], links: LinkTexts, terms: Callable[[str], list[str]]) -> CountedWords:
    """Count the words of a page from its own texts and those of links to it."""
    counted: Counter[str] = Counter(terms_of(own["text"][:MAX_CHARACTERS])) if own["text"] else Counter()
    of_text = min(len(counted), 0xFFFF)
    named = f"{own['title']}\n{own['headings']}"[:MAX_CHARACTERS] if own["title"] or own["headings"] else ""
    count_links(links.contexts, terms, counted, named)
    described = bool(counted)
    words = {word: count * WORD_TENTHS for word, count in counted.items()}
    for word, count in count_links(links.anchors, terms, Counter()).items():
        words[word] = words.get(word, 0) + count * ANCHOR_TENTHS
    most = words
    if len(words) > COUNTED_WORDS:
        most = dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:COUNTED_WORDS])
    return CountedWords(words, most, of_text, described)


def count_links(
    texts: list[tuple[str, int]], terms: Callable[[str], list[str]], words: Counter[str], once: str = ""
) -> Counter[str]:
    """Add the words of texts to counts, each as often as links have the text, and those of another text once."""
    if single := "\n".join([once, *(text for text, count in texts if count == 1)]):  # most of them
        words.update(terms_of(single))
    known = words.get  # a `Counter` calls Python for every new word
    for text, count in texts:
        for term in terms(text) if count > 1 else ():
            words[term] = known(term, 0) + count
    return words


def with_neighbours(graph: Graph, matrix: csr_array, text_words: NDArray[np.uint16]) -> csr_array:
    """Add to the vectors of pages with little text those of the pages they exchange links with."""
    blocks = []
    for chunk in chunks_of(graph.pages, CHUNK_PAGES):
        own, weight = matrix[chunk], neighbour_weight(text_words[chunk].astype(np.float64))
        links = mutual_links(graph, chunk.start, chunk.stop) if weight.any() else None
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
    return np.fromiter(map(is_home, addresses(graph.names, 0, graph.pages, marked=True)), np.uint8, graph.pages)


def is_home(address: str) -> bool:
    """Whether an address, or a name marked as one, is the first page of a host."""
    return not address.startswith("name:") and "/" not in address.partition("://")[2].rstrip("/")
