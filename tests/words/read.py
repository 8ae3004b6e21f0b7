"""What kernels read of word vectors, for tests: similar pages, shared terms, same-name pages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import texts
from cocite.kernels.words import word_vectors
from cocite.words.vectors import Vectors

NO_NUMBERS = np.frombuffer(b"", np.uint32)


class SharedTerms(NamedTuple):
    """Words that two pages share, without stop words: how many, and the numbers of those that count most."""

    number: int
    terms: list[int]


def most_similar(vectors: Vectors, page: int, most: int, room: int = 1 << 14) -> NDArray[np.uint32]:
    """The pages most similar to a page."""
    found: NDArray[np.uint32] = word_vectors.most_similar(vectors.arrays, page, most, room)
    return found


def shared_terms(vectors: Vectors, page: int, others: NDArray[np.uint32], context: bool = False) -> list[SharedTerms]:
    """The words, or context words, that a page shares with each of others."""
    rows, shown = vectors.context if context else vectors.pages, word_vectors.Shown(32, 0.2)
    found = word_vectors.strong_terms(rows, page, others, shown, vectors.stop).tolist()
    return [SharedTerms(number, [term for term in terms if term >= 0]) for number, *terms in found]


def same_name_pages(vectors: Vectors, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Pages of the same name, with the cosine of the names."""
    web = texts.TextWeb(vectors.arrays, *4 * (NO_NUMBERS,))
    pages, cosines = texts.same_name_pages(web, page, 1.0)
    return pages, cosines
