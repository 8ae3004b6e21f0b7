"""Latent words: by hand, and chosen on one collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cocite.kernels.words.keyword_pairs import Rows
from research import latent_words
from research.citations import AT, Papers, both_ways, read_papers
from research.latent_words import Latent, similarity

CITATIONS = Path(__file__).parents[3] / "shared" / "data" / "citations"


def papers(words: list[list[int]], links: list[tuple[int, int]], classes: list[int]) -> Papers:
    starts = np.cumsum([0, *map(len, words)])
    columns = np.array([word for each in words for word in each], np.uint32)
    ends = np.array(links, np.int64).reshape(-1, 2).T
    return Papers("some", Rows(starts, columns), 6, both_ways(ends, len(words)), np.array(classes))


def test_without_rounds_it_is_the_cosine_of_words() -> None:
    """Word 0 is in papers 0 and 1, words 1 and 2 in one each: c² / (c² + r²) with c = ln 5/3, r = ln 5/2."""
    some = papers([[0, 1], [0, 2], [3], [3, 4]], [], [0, 0, 1, 1])
    rare, common = np.log(5 / 2) ** 2, np.log(5 / 3) ** 2
    found = similarity(some, Latent(0, 3))
    assert found[0, 1] == pytest.approx(common / (common + rare))
    assert found[0, 2] == pytest.approx(0, abs=1e-9)
    # 3 dimensions of 4: what tells papers 2 and 3 apart is least, and lost.
    assert found[2, 3] == pytest.approx(1)


def test_words_of_cited_papers_count() -> None:
    """Papers 0 and 2 have no word in common; 0 cites 1, which has the words of 2."""
    some = papers([[0], [1, 2], [1, 2], [3], [3, 4], [5]], [(0, 1)], [0, 0, 0, 1, 1, 1])
    assert similarity(some, Latent(0, 5))[0, 2] == pytest.approx(0, abs=1e-6)
    assert similarity(some, Latent(1, 5))[0, 2] > 0.5


def test_chosen_on_cora_it_does_better_than_the_paper_on_citeseer() -> None:
    if not CITATIONS.exists():
        pytest.skip("needs the shared data")
    (found,) = (
        row for row in latent_words.report(read_papers(CITATIONS, "citeseer"), Latent(2, 30)) if row.first == AT
    )
    assert found.precision >= 0.645
