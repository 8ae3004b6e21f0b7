"""Integrated similarity of all pages with all pages: time, memory, and how much of the exact result is found.

    python bench/integrated.py [--pages 100000] [--sample 500] [--k 20]

The web is that of `bench/topical.py`. The fast way compares pages that indexes lead to (`neighbourhood/all_alike.py`
states every limit); the exact way compares a page with all others, every link and every word counted, and is done for a
sample of random pages only. "Found" is the mean share of the k exact best that are among the fast way's k; a page as
similar as the last exact one is as good as it. CPU seconds are those of all threads: on a busy machine they are more
reliable than the clock.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.words.keyword_pairs import Rows
from cocite.related.neighbourhood.all_alike import SearchLimits, all_alike
from cocite.related.neighbourhood.page_similarity import LinksInMemory, SimilarityData, link_likeness, links_in_memory
from cocite.words.likeness import Likeness
from cocite.words.relevance import count_relevance
from tables import show
from topical import topical


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--k", type=int, default=20)
    for name, value in vars(SearchLimits()).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    looking = SearchLimits(**{name: getattr(options, name) for name in vars(SearchLimits())})
    small = topical(min(options.pages, 1000), topics=5)
    compute(small.key_starts, small.key_ids, small.vocabulary, small.link_starts, small.link_targets, looking, 5)
    web = topical(options.pages)
    rows, (words, links, pages, values) = compute(
        web.key_starts, web.key_ids, web.vocabulary, web.link_starts, web.link_targets, looking, options.k
    )
    show(f"{options.pages:,} pages, {looking}", ("step", "seconds", "CPU seconds", "peak GB"), rows)
    started = time.perf_counter()
    sample = np.random.default_rng(2).choice(options.pages, min(options.sample, options.pages), replace=False)
    shares, errors = [], []
    for page in sample.tolist():
        exact = exact_scores(words, links, page)
        best = np.sort(exact)[-options.k :]
        found = pages[page][values[page] > 0]
        shares.append(np.count_nonzero(exact[found] >= best[0] - 1e-9) / max(1, np.count_nonzero(best > 0)))
        errors.append(np.abs(exact[found] - values[page][values[page] > 0]).max(initial=0.0))
    took = time.perf_counter() - started
    show(
        f"{len(sample)} random pages, compared with exact results",
        ("k", "found", "worst page", "10th percentile", "largest error of a score", "exact, s per page"),
        [[
            options.k, f"{np.mean(shares):.4f}", f"{min(shares):.2f}", f"{np.percentile(shares, 10):.2f}",
            f"{max(errors):.4f}", f"{took / len(sample):.2f}",
        ]],
    )  # fmt: skip


def compute(
    key_starts: NDArray[np.int64],
    key_ids: NDArray[np.uint32],
    vocabulary: int,
    link_starts: NDArray[np.int64],
    link_targets: NDArray[np.uint32],
    looking: SearchLimits,
    k: int,
) -> tuple[list[list[str]], tuple[Likeness, LinksInMemory, NDArray[np.uint32], NDArray[np.float64]]]:
    """Compute the relevance of keywords, then all pairs; return the cost of each."""
    rows: list[list[str]] = []
    last = time.perf_counter(), time.process_time()

    def done(step: str) -> None:
        nonlocal last
        now = time.perf_counter(), time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
        rows.append([step, f"{now[0] - last[0]:.1f}", f"{now[1] - last[1]:.1f}", f"{memory:.2f}"])
        last = now

    seen: list[str] = []

    def progress(stage: str, _: int, __: int | None) -> None:
        if stage not in seen:
            if seen:
                done(seen[-1])
            seen.append(stage)

    keys, outs = Rows(key_starts, key_ids), Rows(link_starts, link_targets)
    relevance = count_relevance(keys, vocabulary, outs)
    done("keyword relevance")
    words, links = Likeness(keys, relevance), links_in_memory(outs)
    found = all_alike(words, links, k, limits=looking, progress=progress)
    done(seen[-1])
    return rows, (words, links, found.pages, found.values)


def exact_scores(words: Likeness, links: LinksInMemory, page: int) -> NDArray[np.float64]:
    """Integrated similarity of a page with every page; 0 with itself."""
    everything = np.arange(words.pages, dtype=np.uint32)
    by_links = link_likeness(SimilarityData(words, links), page, everything)
    found: NDArray[np.float64] = 0.5 * words.alike(page, everything) + 0.5 * by_links
    found[page] = 0.0
    return found


if __name__ == "__main__":
    main()
