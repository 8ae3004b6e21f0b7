"""Measures of quality: functions of ranked results and of the right pages. Two families, not to be mixed:

- **Standard.** Average precision and the ideal of nDCG divide by the number of right pages, at most `depth`. Precision
  at r divides by r. A query without results counts 0; queries without right pages are ignored.
- **Dean & Henzinger 1999, §4.2.** Average precision divides by the number of right pages *returned*: a page that is
  never returned costs nothing. Precision at r divides the right pages among the first r of all queries by r times the
  number of queries. Unrated pages, pages that could not be opened, and queries without results or right pages count 0.
"""

from collections.abc import Callable, Sequence, Set
from math import log2

DEPTH = 10
Answers = Sequence[str]
Right = Set[str]


def hits(answers: Answers, right: Right, depth: int = DEPTH) -> list[bool]:
    """Which of the first results are right."""
    return [answer in right for answer in answers[:depth]]


def precision(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """P@depth: the share of right results; missing results are wrong."""
    return sum(hits(answers, right, depth)) / depth


def average_precision(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """AP@depth: the sum of the precisions at every right result, over the number of right pages, at most `depth`."""
    return _summed_precision(hits(answers, right, depth)) / max(1, min(depth, len(right)))


def average_precision_of_returned(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """Average precision of 1999: over the number of right results."""
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
    """The share of the right pages that are among the first results."""
    return sum(hits(answers, right, depth)) / len(right) if right else 0.0


def f_measure(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """The harmonic mean of recall and of precision among the results."""
    found = sum(hits(answers, right, depth))
    return 2 * found / (len(answers[:depth]) + len(right)) if found else 0.0


def answered(answers: Answers, right: Right, depth: int = DEPTH) -> float:
    """1 if there is any result; its mean is the coverage."""
    return float(bool(answers[:depth]))


Measure = Callable[[Answers, Right, int], float]
MEASURES: dict[str, Measure] = {
    "P": precision,
    "MAP": average_precision,
    "nDCG": ndcg,
    "recall": recall,
    "F": f_measure,
}
"""Standard measures, by the name of their mean over all queries with a right page."""
AS_1999: dict[str, Measure] = {"P 1999": precision, "AP 1999": average_precision_of_returned}
"""Measures of 1999: means over all queries with a rated result, right or not."""
COVERAGE: dict[str, Measure] = {"answered": answered}
"""Over the same queries."""
