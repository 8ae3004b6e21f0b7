"""Keyword relevance of generated pages about topics: the time of counting, compared with SciPy's sparse products.

    python bench/relevance.py [--pages 10000 100000] [--seed 1] [--no-rival]

The web is that of topical.py. "Counting" is all that `cocite keywords` has to do once keywords are known: pages with
both words of every pair, words that pages link to, and the range of support, information and confidence. SciPy
computes the products of the same matrices, and the numbers are compared; it doesn't compute information. "One word" is
all of r_s and r_l for one word, "all r_s" the whole matrix. The first call, which compiles, isn't measured.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array

from cocite.kernels.words.keyword_pairs import PairCounts, Rows
from cocite.words.relevance import MIN_CONFIDENCE_PAGES, Relevance, count_relevance, product
from tables import show
from topical import Topical, topical

T = TypeVar("T")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-rival", action="store_true")
    options = parser.parse_args()
    use(count(topical(300, options.seed)))
    rows = [measured(topical(pages, options.seed), options.no_rival) for pages in options.pages]
    header = (
        "pages",
        "together",
        "linked",
        "counting, s",
        "one word, ms",
        "all r_s, s",
        "GB",
        "SciPy, s",
    )
    show("Keyword relevance", header, rows)


def measured(web: Topical, no_rival: bool) -> list[str]:
    """A row: pairs of words that occur together, pairs that are linked, and times."""
    counting, found = timed(lambda: count(web))
    words = np.random.default_rng(1).choice(np.flatnonzero(found.frequency), 200)
    one, _ = timed(lambda: [(found.all_similar(int(word)), found.all_led_to(int(word))) for word in words])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    similar, _ = timed(lambda: found.similar)
    rival = "-" if no_rival else f"{scipy_counts(web, found):.1f}"
    sizes = [f"{len(web.topic):,}", f"{len(found.both.other):,}", f"{len(linked(found).other):,}"]
    return [
        *sizes,
        f"{counting:.1f}",
        f"{one * 1e3 / 200:.2f}",
        f"{similar:.1f}",
        f"{memory:.1f}",
        rival,
    ]


def count(web: Topical) -> Relevance:
    """Ours."""
    return count_relevance(Rows(web.key_starts, web.key_ids), web.vocabulary, Rows(web.link_starts, web.link_targets))


def linked(found: Relevance) -> PairCounts:
    """The number of pages of one word that link to a page of another, for all pairs of words."""
    return product(found.pages_of, found.reached, len(found.frequency))


def use(found: Relevance) -> None:
    """Call everything once, so that it is compiled."""
    found.all_similar(0), found.all_led_to(0), found.similar


def scipy_counts(web: Topical, ours: Relevance) -> float:
    """Seconds for the same counts by sparse products; fail if the counts differ."""
    pages = len(web.topic)
    keys = matrix(web.key_starts, web.key_ids, (pages, web.vocabulary))
    links = matrix(web.link_starts, web.link_targets, (pages, pages))
    started = time.perf_counter()
    both = keys.T.tocsr() @ keys
    reached = links @ keys
    reached.data[:] = 1
    leading = keys.T.tocsr() @ reached
    took = time.perf_counter() - started
    assert both.nnz - np.count_nonzero(both.diagonal()) == len(ours.both.other)
    assert both.sum() - both.diagonal().sum() == ours.both.times.sum(dtype=np.int64)
    frequent = ours.frequency >= MIN_CONFIDENCE_PAGES
    counted = linked(ours)
    sums = (leading.sum(axis=1) - leading.diagonal())[frequent].sum()
    assert sums == counted.times[np.repeat(frequent, np.diff(counted.starts))].sum(dtype=np.int64)
    return took


def matrix(starts: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """A SciPy matrix of ones."""
    return csr_array((np.ones(len(columns), np.int32), columns.astype(np.int32), starts), shape=shape)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and the result."""
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


if __name__ == "__main__":
    main()
