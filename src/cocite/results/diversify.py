"""Which of the ranked pages are shown: not too many of one site, of a language, of a time, not those unwanted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.parameters import parameter, parameters_of
from cocite.related.neighbourhood.scores import Scores


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What an answer must be like. A page whose language or date is unknown does not pass a filter that asks for it."""

    per_site: int = parameter(0, "answers from one site at most (0: any number)", minimum=0)
    not_own_site: bool = parameter(False, "no answers from the sites of the query pages")
    lang: str = parameter("", "only pages in this language, such as de")
    since: str = parameter("", "only pages captured on or after this date, such as 2020-05-17")

    def __post_init__(self) -> None:
        for each in parameters_of(Filters):
            object.__setattr__(self, each.name, each.check(getattr(self, each.name)))
        self.moment()
        if self.lang and not re.fullmatch("[a-z]{2,3}", self.language()):
            raise BadParameter(f"lang is a code such as de or en-GB, not {self.lang!r:.100}")

    def language(self) -> str:
        """`lang` as a store has it: without a country."""
        return re.split("[-_]", self.lang.strip().lower())[0]

    def moment(self) -> float | None:
        """`since` in seconds from 1970, None if it is not given."""
        if not self.since:
            return None
        try:
            given = datetime.fromisoformat(self.since)
        except ValueError:
            raise BadParameter(f"since is a date such as 2020-05-17, not {self.since!r:.100}") from None
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()


NO_FILTERS = Filters()


def best_answers(
    graph: Graph,
    scores: Scores,
    seeds: Sequence[int],
    k: int,
    wanted: Filters = NO_FILTERS,
    unwanted: Mapping[int, int] | None = None,
) -> Iterator[tuple[int, float]]:
    """The k best pages that pass, with their scores."""
    if wanted == NO_FILTERS and not unwanted:
        return islice(scores.ranked(graph.in_degree, k), k)
    ranked = scores.ranked(graph.in_degree, 10 * k + 100)  # some more at once, since some will not pass
    return islice(diversify(graph, ranked, {*seeds, *scores.used}, wanted, unwanted or {}), k)


def diversify(
    graph: Graph,
    ranked: Iterable[tuple[int, float]],
    seeds: Iterable[int],
    wanted: Filters,
    unwanted: Mapping[int, int],
) -> Iterator[tuple[int, float]]:
    """The pages that pass. `unwanted` gives the rank of pages among those related to an unwanted page.

    What is as near to an unwanted page as to the query, or nearer, does not pass.
    """
    sites = graph.units("site")
    own = {int(sites[page]) for page in seeds} if wanted.not_own_site else set()
    moment, shown = wanted.moment(), Counter[int]()
    lang = wanted.language()
    for place, (page, score) in enumerate(ranked, 1):
        site = int(sites[page])
        if site in own or unwanted.get(page, place + 1) <= place:
            continue
        if wanted.per_site and shown[site] >= wanted.per_site:
            continue
        if lang and graph.facts.language(page) != lang:
            continue
        if moment is not None and graph.facts.captured(page) < max(moment, 1):  # 0: unknown
            continue
        shown[site] += 1
        yield page, score
