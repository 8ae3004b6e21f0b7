"""Same-name pages: those that are linked under the same anchor text, as a project's site and its repository are.

A page's name is the letters and digits of its anchor texts, by number of links; pages are compared by the cosine of
their names. A name that more than MAX_NAME_PAGES pages have ("Documentation") is ignored. A list that has one of them
would have the other. A name that is in the address of one page but not of the other isn't the same name: a list of
clients for several languages calls one of them "Rust".

The names of all pages are stored, by page and by name. So same-name pages follow layers: those of changed pages, and of
pages that share a name with one. Which names are ignored stays as it is until the vectors are made anew.
"""

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.kernels.words.word_vectors import MAX_SAME_NAME, SCALE
from cocite.words.matrices import chunks_of, highest, of_length_1, packed, rows_of, stacked
from cocite.words.stored import Arrays
from cocite.words.vectors import Names, RecentNames, StoredNames

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
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
_PATH = re.compile(r"[\w.-]+/([\w.-]+)")


class AnchorNames:
    """The names of pages, collected page by page."""

    def __init__(self) -> None:
        self._pages, self._names, self._counts = array("L"), array("Q"), array("f")

    def add(self, page: int, anchors: list[tuple[str, int]], address: str) -> None:
        """Add the anchor texts of a page. The lowest bit of a name is whether the address has it, too."""
        counted: dict[str, int] = {}
        for text, count in anchors:
            if name := name_in(text):
                counted[name] = counted.get(name, 0) + count
        spelled = letters_of(address) if counted else ""
        for name, count in counted.items():
            self._pages.append(page)
            digest = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
            self._names.append(digest & ~1 | (name in spelled))
            self._counts.append(count)

    def rows(self, pages: int) -> "NamedPages":
        """The names of all pages."""
        names, number = np.unique(np.array(self._names, np.uint64), return_inverse=True)
        place = np.array(self._counts, np.float32), (np.array(self._pages, np.int64), number)
        named = csr_array(place, shape=(pages, len(names)))
        either, of_name = np.unique(names >> np.uint64(1), return_inverse=True)
        common = np.bincount(of_name[named.indices], minlength=len(either)) > MAX_NAME_PAGES
        named.data[common[of_name[named.indices]]] = 0
        named.eliminate_zeros()
        return NamedPages(names, either[common], of_length_1(named))

    def by_page(self) -> dict[int, Names]:
        """The same for few pages: how often each name is used."""
        found: dict[int, Names] = defaultdict(dict)
        for page, name, count in zip(self._pages, self._names, self._counts, strict=True):
            found[page][name] = count
        return found


class NamedPages(NamedTuple):
    """The names of all pages: rows of length 1."""

    digest: NDArray[np.uint64]
    ignored: NDArray[np.uint64]
    named: csr_array

    def same_name(self) -> csr_array:
        """The cosine of each page's name with those of its MAX_SAME_NAME closest same-name pages."""
        chunks, turned = chunks_of(self.named.shape[0], CHUNK_PAGES), csr_array(self.named.T)
        return stacked([closest(csr_array(self.named[chunk] @ turned), chunk.start) for chunk in chunks])

    def stored(self) -> StoredNames:
        """As they are stored."""
        return StoredNames(self.digest, self.ignored, packed(self.named), packed(csr_array(self.named.T.tocsr())))


class ChangedNames:
    """The names of changed pages, and their same-name pages. `older` are names that followed earlier layers."""

    def __init__(
        self, stored: StoredNames, older: RecentNames | None, pages: Iterable[int], names: AnchorNames
    ) -> None:
        self._stored, self._older = stored, older
        self._ignored, found = set(stored.ignored.tolist()), names.by_page()
        self.names = {page: self._weighed(found.get(page, {})) for page in pages}

    def _weighed(self, names: Names) -> Names:
        kept = {name: count for name, count in names.items() if name >> 1 not in self._ignored}
        length = sqrt(sum(count * count for count in kept.values()))
        return {name: count / length for name, count in kept.items()}

    def arrays(self) -> Arrays:
        """The names of changed pages, and the same-name pages of all that have others now, as rows of a part."""
        rows = {page: self._closest(page) for page in sorted(self._touched())}
        return {
            **_rows("named", "digest", np.uint64, self.names.values()),
            "same:page": np.array(list(rows), np.uint32),
            **_rows("same:row", "ids", np.uint32, rows.values()),
        }

    def _touched(self) -> set[int]:
        found = set(self.names)
        for page, names in self.names.items():
            for name in {*names, *self._before(page)}:
                found.update(self._pages(name))
        return found

    def _before(self, page: int) -> Names:
        """The names of a page before this change."""
        if self._older is not None and self._older.has(page):
            return self._older.of(page)
        stored = self._stored
        if page >= len(stored.of_page.ends):
            return {}
        row = slice(int(stored.of_page.starts[page]), int(stored.of_page.ends[page]))
        digests = np.take(stored.digest, stored.of_page.ids[row], mode="clip").tolist() if len(stored.digest) else []
        return dict(zip(digests, (stored.of_page.weights[row] / SCALE).tolist(), strict=True))

    def _pages(self, name: int) -> set[int]:
        """The pages that have a name."""
        stored, found = self._stored, set(self._older.pages(name)) if self._older is not None else set[int]()
        found = {page for page in found if page not in self.names}.union(self._changed.get(name, ()))
        at = int(np.searchsorted(stored.digest, np.uint64(name)))
        if at < len(stored.digest) and stored.digest[at] == name:
            row = slice(int(stored.of_name.starts[at]), int(stored.of_name.ends[at]))
            found |= {page for page in stored.of_name.ids[row].tolist() if not self._is_changed(page)}
        return found

    def _is_changed(self, page: int) -> bool:
        return page in self.names or (self._older is not None and self._older.has(page))

    @cached_property
    def _changed(self) -> dict[int, list[int]]:
        """Changed pages by name."""
        found: dict[int, list[int]] = defaultdict(list)
        for page, names in self.names.items():
            for name in names:
                found[name].append(page)
        return found

    def _closest(self, page: int) -> Names:
        """The same-name pages of a page, by page, with their cosines."""
        own = self.names.get(page) if page in self.names else self._before(page)
        cosines: Names = defaultdict(float)
        for name, weight in (own or {}).items():
            for other in self._pages(name) - {page}:
                cosines[other] += weight * self._name(other, name)
        best = sorted((other for other in cosines if cosines[other] >= MIN_COSINE), key=lambda o: (-cosines[o], o))
        return {other: cosines[other] for other in sorted(best[:MAX_SAME_NAME])}

    def _name(self, page: int, name: int) -> float:
        """How much a page has of a name."""
        return (self.names[page] if page in self.names else self._before(page)).get(name, 0.0)


def _rows(matrix: str, ids: str, dtype: type[np.generic], rows: Iterable[Names]) -> Arrays:
    every = list(rows)
    weights = np.rint(SCALE * np.minimum([weight for row in every for weight in row.values()], 1.0))
    return {
        f"{matrix}.starts": np.cumsum([0, *map(len, every)]),
        f"{matrix}.{ids}": np.array([key for row in every for key in row], dtype),
        f"{matrix}.weights": weights.astype(np.uint16),
    }


def name_in(text: str) -> str:
    """The name in an anchor text, or ""."""
    path = _PATH.fullmatch(text)
    name = letters_of(path[1] if path else text)
    return name if len(name) in NAME_CHARACTERS and name not in GENERIC_NAMES else ""


def letters_of(text: str) -> str:
    """The letters and digits of a text, in lower case, with the marks of letters: vowels, in many scripts."""
    if text.isascii():
        return text.encode().translate(None, _NO_LETTERS).decode().lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")


def closest(cosines: csr_array, first: int) -> csr_array:
    """The MAX_SAME_NAME highest cosines of each page, from page `first` on, with other pages; ties by page."""
    cosines.data[(cosines.data < MIN_COSINE) | (cosines.indices == rows_of(cosines) + first)] = 0
    cosines.eliminate_zeros()
    kept = highest(cosines, MAX_SAME_NAME)
    place = rows_of(cosines)[kept], cosines.indices[kept]
    return csr_array((cosines.data[kept], place), shape=cosines.shape)
