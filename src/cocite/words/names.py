"""Pages of one name: links call them the same, as they do a project's site and its repository.

A page's name is what links to it say, letters and digits only, with how many say so. Two pages are namesakes by the
cosine of their names; one that more than SHARED pages have ("Documentation") is no name. Who lists a page's namesake
beside others would have listed the page there too.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from hashlib import blake2b

import numpy as np
from scipy.sparse import csr_array

from cocite.words.sparse import stacked
from cocite.words.vectors import MAX_SAME_NAME

SHARED = 16
"""Pages that have a name in common, at most."""
STEP = 1 << 14
LEAST = 0.2
"""Cosines below this say nothing."""
SHORTEST, LONGEST = 3, 60
GENERIC = frozenset({
    "about", "article", "blog", "clickhere", "code", "demo", "details", "docs", "documentation", "download",
    "example", "examples", "github", "here", "home", "homepage", "learnmore", "link", "more", "official", "paper",
    "pdf", "project", "read", "readme", "readmore", "repo", "repository", "site", "source", "sourcecode", "video",
    "web", "website",
})  # fmt: skip
"""What is said of any page; small stores have too few of each to tell."""
_PATH = re.compile(r"[\w.-]+/([\w.-]+)")


class Names:
    """What pages are called, page by page."""

    def __init__(self) -> None:
        self._pages, self._names, self._counts = array("L"), array("Q"), array("f")

    def add(self, page: int, anchors: list[tuple[str, int]]) -> None:
        """Note what links say of a page."""
        counted: Counter[str] = Counter()
        for text, times in anchors:
            if name := name_in(text):
                counted[name] += times
        for name, times in counted.items():
            self._pages.append(page)
            self._names.append(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
            self._counts.append(times)

    def namesakes(self, pages: int) -> csr_array:
        """Of each page its namesakes, by cosine."""
        names, number = np.unique(np.array(self._names, np.uint64), return_inverse=True)
        place = np.array(self._counts, np.float32), (np.array(self._pages, np.int64), number)
        called = csr_array(place, shape=(pages, len(names)))
        common = np.bincount(called.indices, minlength=len(names)) > SHARED
        called.data[common[called.indices]] = 0
        called.eliminate_zeros()
        rows = np.repeat(np.arange(pages), np.diff(called.indptr))
        lengths = np.sqrt(np.bincount(rows, called.data.astype(np.float64) ** 2, pages))
        called.data = (called.data / lengths[rows]).astype(np.float32)
        turned = csr_array(called.T)
        steps = [slice(first, min(pages, first + STEP)) for first in range(0, pages, STEP)]
        found = [closest(csr_array(called[step] @ turned), step.start) for step in steps]
        return stacked(found) if found else csr_array((0, 0), dtype=np.float32)


def name_in(text: str) -> str:
    """The name that the text of a link gives, "" if none."""
    path = _PATH.fullmatch(text)
    text = unicodedata.normalize("NFKC", path[1] if path else text).casefold()
    name = text if text.isascii() and text.isalnum() else "".join(filter(_says, text))
    return name if SHORTEST <= len(name) <= LONGEST and name not in GENERIC else ""


def _says(character: str) -> bool:
    """Letters and digits, and the marks that belong to letters: vowels, in many scripts."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def closest(alike: csr_array, first: int) -> csr_array:
    """Of each page, from `first` on, the MAX_SAME_NAME others that are most alike; of equals the first."""
    rows = np.repeat(np.arange(alike.shape[0]), np.diff(alike.indptr))
    kept = np.flatnonzero((alike.data >= LEAST) & (alike.indices != rows + first))
    rows, columns, values = rows[kept], alike.indices[kept], alike.data[kept]
    order = np.lexsort((columns, -values, rows))
    begin = np.searchsorted(rows[order], rows[order])
    best = order[np.arange(len(order)) - begin < MAX_SAME_NAME]
    return csr_array((values[best], (rows[best], columns[best])), shape=alike.shape)
