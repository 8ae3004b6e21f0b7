"""How far raters agree: Fleiss' κ (1971) and Krippendorff's α, by NLTK.

Both are 1 if raters agree on everything, and 0 if they agree as often as by chance. κ needs the same number of ratings
of each result, so it takes the results with the most frequent number. α takes all results with two ratings or more.
Pages that a rater couldn't open count as not rated by them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cocite.errors import BadParameter
from cocite.evaluate.evaluation import Table

JUDGED = ("1", "0")


class Agreement(NamedTuple):
    """How far raters agree; κ and α are None where all ratings are the same, as chance would agree too."""

    results: int  # with two ratings or more
    pairs: float  # share of the pairs of ratings of one result that are equal
    kappa: float | None
    kappa_results: int  # with as many ratings as most have
    kappa_ratings: int
    alpha: float | None


def agreement_of(raters: Sequence[Mapping[str, str]]) -> Agreement | None:
    """The agreement of raters, from their ratings by result; None if no result has two ratings."""
    given: dict[str, list[str]] = {}
    for ratings in raters:
        for item, rating in ratings.items():
            if rating in JUDGED:
                given.setdefault(item, []).append(rating)
    several = {item: ratings for item, ratings in given.items() if len(ratings) > 1}
    if not several:
        return None
    pairs = [(sum(n * (n - 1) for n in Counter(of).values()), len(of) * (len(of) - 1)) for of in several.values()]
    sizes = Counter(map(len, several.values()))
    size = max(sizes, key=lambda each: (sizes[each], each))
    alike = {item: ratings for item, ratings in several.items() if len(ratings) == size}
    return Agreement(
        len(several), sum(equal for equal, _ in pairs) / sum(every for _, every in pairs),
        _coefficient("pi", alike), len(alike), size, _coefficient("alpha", several),
    )  # fmt: skip


def agreement_table(raters: Sequence[Mapping[str, str]]) -> Table | None:
    """How far raters agree, for a report; None if no result has two ratings."""
    found = agreement_of(raters)
    if found is None:
        return None

    def shown(value: float | None) -> str:
        return "undefined: all ratings are the same" if value is None else f"{value:.3f}"

    rows: list[list[object]] = [
        ["equal pairs of ratings", f"{found.pairs:.3f}", found.results, "two or more"],
        ["Fleiss' κ", shown(found.kappa), found.kappa_results, found.kappa_ratings],
        ["Krippendorff's α", shown(found.alpha), found.results, "two or more"],
    ]
    return ["agreement", "value", "results", "ratings of each"], rows


def _coefficient(name: str, given: Mapping[str, Sequence[str]]) -> float | None:
    """A coefficient of NLTK. Its `pi`, Scott's of several raters, is Fleiss' κ: who gave which rating doesn't count."""
    try:
        from nltk.metrics.agreement import AnnotationTask
    except ImportError as error:
        raise BadParameter("Agreement of raters needs NLTK: install it with pip install 'cocite[study]'") from error
    if len({rating for ratings in given.values() for rating in ratings}) == 1:
        return None
    task = AnnotationTask([(str(n), item, of) for item, ratings in given.items() for n, of in enumerate(ratings)])
    return float(getattr(task, name)())
