"""How good answers are. Every measure is a function of ranked answers and of what is known of them.

Two families, which differ and must not be mixed up:

- **As usual.** Average precision divides by the number of right pages (at most as many as are looked at); so does the
  ideal of nDCG. Precision at r divides by r. Unanswered queries count 0.
- **As Dean & Henzinger 1999, §4.2.** Average precision of a query divides the sum of the precisions at every right
  answer by the number of *returned* right answers: what was never returned costs nothing. Precision at r is the number
  of right answers among the first r of all queries, divided by r times the number of queries; unrated answers, those
  that could not be opened, and unanswered queries count 0. So do queries for which nothing is right, which the usual
  measures leave out: no method could have found anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from math import log2

DEPTH = 10
Answers = Sequence[str]
Right = Set[str]


def hits(answers: Answers, right: Right, depth: int = DEPTH) -> list[bool]:
    """Which of the first answers are right."""
    return [answer in right for answer in answers[:depth]]


def precision(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """P@depth: the share of right answers, those missing counting as wrong."""
    return sum(hits(answers, right, depth)) / depth


def average_precision(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """AP@depth: the precision at every right answer, summed, over the number of right pages, at most `depth`."""
    return _summed_precision(hits(answers, right, depth)) / max(1, min(depth, len(right)))


def average_precision_of_returned(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """Average precision as in 1999: over the number of right answers that were returned."""
    found = hits(answers, right, depth)
    return _summed_precision(found) / max(1, sum(found))


def _summed_precision(found: Sequence[bool]) -> float:
    total, summed = 0, 0.0
    for rank, hit in enumerate(found, 1):
        total += hit
        summed += total / rank if hit else 0.0
    return summed


def ndcg(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """nDCG@depth with gains of 0 and 1."""
    gain = sum(1 / log2(rank + 1) for rank, hit in enumerate(hits(answers, right, depth), 1) if hit)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(depth, len(right)) + 1))
    return gain / best if best else 0.0


def recall(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """The share of the right pages that are among the first answers."""
    return sum(hits(answers, right, depth)) / len(right) if right else 0.0


def f_measure(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """The harmonic mean of precision among the answers given and recall."""
    found = sum(hits(answers, right, depth))
    return 2 * found / (len(answers[:depth]) + len(right)) if found else 0.0


def answered(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """1 if there is any answer; its mean is the coverage."""
    return float(bool(answers[:depth]))


Measure = Callable[[Answers, Right, int], float]
MEASURES: dict[str, Measure] = {
    "P": precision,
    "MAP": average_precision,
    "nDCG": ndcg,
    "recall": recall,
    "F": f_measure,
}
"""As usual, by the name under which the mean over all queries that have a right page is shown."""
AS_1999: dict[str, Measure] = {"P 1999": precision, "AP 1999": average_precision_of_returned}
"""As in 1999: means over all queries of which any answer is rated, right or not."""
COVERAGE: dict[str, Measure] = {"answered": answered}
"""Over the same queries, whatever their depth."""
