"""What to call a page.

Most pages of a link graph were never fetched, so a page without a title is named by the text of links to it. What is
read is cached with the graph, for all questions and threads: results share lists, and recur. Without the cache, naming
ten results took 2.1 ms, a third of a query on real link lists.
"""

import re
import weakref
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.text import clean, heading_text, title_text

Value = TypeVar("Value")
MAX_PARENTS = 3
"""Parents whose link text is read for a name."""
MAX_NAME_LINKS = 2048
"""Longer lists are not read for a name."""
CACHED_LINKS, CACHED_NAMES, CACHED_LABELS = 500_000, 1 << 16, 1 << 14
"""Links (in lists), names or titles, and labels or lists of headings in the caches: about 60 MB at most."""
MAX_LABEL_CHARS = 80
GENERIC_TITLES = frozenset(
    ("about", "blog", "contents", "docs", "documentation", "download", "github", "home", "homepage", "index",
     "introduction", "links", "list", "lists", "logo", "main", "news", "overview", "page", "readme", "resources",
     "start", "untitled", "welcome", "wiki")
)  # fmt: skip
"""Titles that don't identify a page: the host follows them."""


SEPARATOR_MARKS = " -–—|·:»\u2022"
SEPARATOR = re.compile(r"\s+[-–—|·:»\u2022]+\s+")
NEIGHBOUR_PAGES, MIN_SAME_ENDS = 6, 3


class NumberCache(dict[int, Value]):
    """Size-bounded FIFO cache: what is missing is read; when it is full, it shrinks to a half.

    Threads need no lock, since a dictionary changes in one step; at worst two of them read the same thing, or the size
    is off by it.
    """

    def __init__(self, read: Callable[[int], Value], max_size: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        self._read, self._max_size, self._size_of, self._size = read, max_size, size, 0

    def __missing__(self, page: int) -> Value:
        found = self._read(page)
        self._size += self._size_of(found)
        if self._size > self._max_size:
            for old in list(self):
                gone = self.pop(old, None)
                self._size -= 0 if gone is None else self._size_of(gone)
                if self._size <= self._max_size // 2:
                    break
        self[page] = found
        return found


class LinkList(NamedTuple):
    """The links of a page, in order."""

    targets: NDArray[np.uint32]
    sections: NDArray[np.int32]
    texts: list[str]
    repeated: frozenset[str]  # texts of several links


def titles_of(graph: Graph) -> "Titles":
    """The names of the pages of a graph, which has one such object."""
    found: Titles | None = vars(graph).get("_titles")
    return found or vars(graph).setdefault("_titles", Titles(graph))


class Titles:
    """Names of the pages of a graph, and their links by name; for use while the graph is open.

    It refers to the graph weakly: a graph in a reference cycle would keep its files open.
    """

    address: Callable[[int], str]
    """The address of a page."""
    canonical: Callable[[int], str]
    """The canonical address of a page, or its opaque name."""
    title: Callable[[int], str]
    """The page's own title, perhaps empty."""
    label: Callable[[int], str]
    """The title on one line, with the host if it is generic; without a title the address, without its scheme."""
    of: Callable[[int], str]
    """The title of a page, else the most frequent text of some links to it, else an empty text."""
    list_of: Callable[[int], LinkList]
    """The links of a page."""

    def __init__(self, graph: Graph) -> None:
        self._graph: Graph = weakref.proxy(graph)
        self.address = NumberCache(lambda page: self._graph.address(page), CACHED_NAMES).__getitem__
        self.canonical = NumberCache(
            lambda page: self._graph.canonical(page).removeprefix("name:"), CACHED_NAMES
        ).__getitem__
        self.title = NumberCache(lambda page: title_text(self._graph.title(page)), CACHED_NAMES).__getitem__
        self.label = NumberCache(lambda page: label_of(self.address(page), self.title(page)), CACHED_LABELS).__getitem__
        self.of = NumberCache(self._read_name, CACHED_NAMES).__getitem__
        self.list_of = NumberCache(self._read_list, CACHED_LINKS, lambda read: len(read.targets) + 1).__getitem__
        self._headings = NumberCache(lambda page: [*map(heading_text, self._graph.headings(page))], CACHED_LABELS)

    def short(self, page: int) -> str:
        """What to call a page, without what its site adds to every title: `json` for `json — Python documentation`.

        That is the last part after a separator, if most titles of neighbouring pages on the host end with it; or else
        the first part, if most begin with it.
        """
        title, graph = self.of(page), self._graph
        parts = SEPARATOR.split(title)
        if len(parts) < 2 or not graph.title(page):
            return title
        hosts = graph.units("host")
        around = [page + step for n in range(1, NEIGHBOUR_PAGES + 1) for step in (n, -n)]
        near = [other for other in around if 0 <= other < graph.pages and hosts[other] == hosts[page]]
        titles = [text for other in near if (text := self.title(other)) and text != title]
        least = max(MIN_SAME_ENDS, len(titles) / 2)
        if sum(text.endswith(parts[-1]) for text in titles) >= least:
            return title[: title.rindex(parts[-1])].rstrip(SEPARATOR_MARKS) or title
        if sum(SEPARATOR.split(text)[0] == parts[0] for text in titles) >= least:
            return title[len(parts[0]) :].lstrip(SEPARATOR_MARKS) or title
        return title

    def heading(self, page: int, section: int) -> str:
        """The heading of a section of a page, perhaps empty."""
        headings = self._headings[page]
        return headings[section] if section < len(headings) else ""

    def _read_list(self, page: int) -> LinkList:
        links, texts = self._graph.links_from(page), self._graph.anchors(page)
        repeated = frozenset(text for text, number in Counter(texts).items() if number > 1)
        return LinkList(links.targets, links.blocks, texts, repeated)

    def _read_name(self, page: int) -> str:
        """A text that its list uses for several links, such as "Source code", is the last choice.

        Of equally frequent texts, one that shares a word with the address wins.
        """
        graph = self._graph
        title = title_text(graph.title(page))
        if title or not len(graph.array("anchors.pages")):
            return title
        best = graph.best_parents(page)
        parents = graph.links_to(page) if best is None else best
        unique, repeated = Counter[str](), Counter[str]()
        for parent in parents[graph.out_degree[parents] <= MAX_NAME_LINKS][:MAX_PARENTS].tolist():
            read = self.list_of(parent)
            for place in (read.targets == page).nonzero()[0].tolist():
                if name := title_text(text := read.texts[place]):
                    (repeated if text in read.repeated else unique)[name] += 1
        texts = unique or repeated
        if len(texts) < 2:
            return next(iter(texts), "")
        address = self.address(page).lower()

        def rating(text: str) -> tuple[int, bool]:
            return texts[text], any(len(word) > 2 and word in address for word in text.lower().split())

        return max(texts, key=rating)


def label_of(address: str, title: str) -> str:
    """What to call a page in a sentence."""
    label, bare = clean(title), address.partition("://")[2] or address
    host = bare.partition("/")[0].removeprefix("www.")
    if label.lower().strip(" .:!|-") in GENERIC_TITLES and host:
        return f"{label} ({host})"
    label = label or clean(bare.removeprefix("www.").rstrip("/"))
    return label if len(label) <= MAX_LABEL_CHARS else label[: MAX_LABEL_CHARS - 1].rstrip() + "…"
