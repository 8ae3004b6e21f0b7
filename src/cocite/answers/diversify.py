"""Which of the ranked pages are shown: not too many of one site, of a language, of a time, not those unwanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.parameters import make, parameter


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What an answer must be like. A page whose language or date is unknown does not pass a filter that asks for it."""

    per_site: int = parameter(0, "answers from one site at most (0: any number)", least=0)
    not_own_site: bool = parameter(False, "no answers from the sites of the query pages")
    lang: str = parameter("", "only pages in this language, such as de")
    since: str = parameter("", "only pages captured on or after this date, such as 2020-05-17")

    def __post_init__(self) -> None:
        self.moment()

    def moment(self) -> int:
        """`since` in seconds from 1970, 0 if it is not given."""
        if not self.since:
            return 0
        try:
            given = datetime.fromisoformat(self.since)
        except ValueError:
            raise BadParameter(f"since is a date such as 2020-05-17, not {self.since!r}") from None
        return int((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp())


def filters(given: Mapping[str, object]) -> Filters:
    """Filters from checked values."""
    return make(Filters, "related", given)


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
    sites = graph.site_of
    own = {int(sites[page]) for page in seeds} if wanted.not_own_site else set()
    moment, shown = wanted.moment(), Counter[int]()
    for place, (page, score) in enumerate(ranked, 1):
        site = int(sites[page])
        if site in own or unwanted.get(page, place + 1) <= place:
            continue
        if wanted.per_site and shown[site] >= wanted.per_site:
            continue
        if wanted.lang and graph.language(page).partition("-")[0].lower() != wanted.lang.partition("-")[0].lower():
            continue
        if moment and graph.captured(page) < moment:
            continue
        shown[site] += 1
        yield page, score
