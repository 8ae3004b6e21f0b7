"""Filters: which of the ranked pages are returned.

A filter is a field of `Filters` and a line of `passing`. Operations that return single pages inherit the fields, and
every front end makes its options from them: docs/filters.md lists both. The default of a filter is falsy, which means
that it is off.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from cocite.errors import BadParameter
from cocite.pages.date import DATE_PATTERN, seconds
from cocite.parameters import Checked, parameter, parameters_of

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.related.neighbourhood.scores import Scores

MAX_SITES, MAX_TRUSTED = 50, 10_000


@dataclass(frozen=True, kw_only=True)
class Filters(Checked):
    """Conditions that a result has to meet. A page of unknown language or date fails a filter by it."""

    per_site: int = parameter(
        0, "Maximum number of results from one site (0: no limit)", minimum=0, metavar="N",
        label="At most from one site", on={"http": {"maximum": 1000}, "mcp": {"maximum": 50}},
    )  # fmt: skip
    not_own_site: bool = parameter(False, "Exclude the sites of the query pages", label="Not from its own site")
    site: tuple[str, ...] = parameter(
        (), "Only pages of this site, or under this address; may be repeated", metavar="SITE", max_items=MAX_SITES,
        max_length=2000, example=["bbc.co.uk"], label="Only from these sites",
    )  # fmt: skip
    not_site: tuple[str, ...] = parameter(
        (), "Exclude this site, or pages under this address; may be repeated", metavar="SITE", max_items=MAX_SITES,
        max_length=2000, label="Not from these sites",
    )  # fmt: skip
    lang: str = parameter(
        "", "Only pages known to be in this language, such as de", metavar="L", max_length=20,
        pattern="^([A-Za-z]{2,3}([-_][A-Za-z]{2})?)?$", label="In language",
    )  # fmt: skip
    since: str = parameter(
        "", "Only pages captured on or after this date, such as 2020-05-17 or 2020", metavar="DATE", max_length=40,
        pattern=DATE_PATTERN, label="Captured since",
    )  # fmt: skip
    until: str = parameter(
        "", "Only pages captured on or before this date, such as 2020-05-17 or 2020", metavar="DATE", max_length=40,
        pattern=DATE_PATTERN, label="Captured until",
    )  # fmt: skip
    trust: tuple[str, ...] = parameter(
        (), "Only pages that this trusted site or page leads to; links of others are ignored (TrustRank); may be"
        " repeated", metavar="SITE", max_items=MAX_TRUSTED, max_length=4096, label="Trusted sites", on={
            "cli": {"help": "Only pages that this trusted site or page, or those of this file, lead to; links of others"
                    " are ignored (TrustRank); may be repeated"},
            "http": {"max_items": MAX_SITES}, "mcp": {"max_items": MAX_SITES},
        },
    )  # fmt: skip
    unlinked: bool = parameter(
        False, "Hide pages that a query page links to, or is linked from", label="Not linked with it"
    )

    def validate(self) -> None:
        """Check dates and language."""
        for name in ("since", "until"):
            if given := getattr(self, name):
                seconds(name, given, last=False)
        if self.lang and not re.fullmatch("[a-z]{2,3}", self.language):
            raise BadParameter(f"lang must be a code such as de or en-GB, not {self.lang!r:.100}")
        if self.until and seconds("until", self.until, last=True) < seconds("since", self.since, last=False):
            raise BadParameter(f"until {self.until} is before since {self.since}: no page can pass; exchange them")

    def refuse_filters_by_query(self) -> None:
        """Refuse filters that compare results with query pages, for an operation without any."""
        for name in ("not_own_site", "unlinked"):
            if getattr(self, name):
                raise BadParameter(f"{name} needs a query page, which this question doesn't have: leave it out")

    @property
    def language(self) -> str:
        """`lang` as a store has it: without a country."""
        return re.split("[-_]", self.lang.strip().lower())[0]

    @property
    def filters(self) -> Filters:
        """The filters alone, of an operation that inherits them."""
        if not any(getattr(self, each.name) for each in parameters_of(Filters)):
            return NO_FILTERS
        return Filters(**{each.name: getattr(self, each.name) for each in parameters_of(Filters)})


NO_FILTERS = Filters()


def best_answers(
    graph: Graph,
    scores: Scores,
    seeds: Sequence[int],
    k: int,
    filters: Filters = NO_FILTERS,
    unwanted: Mapping[int, int] | None = None,
) -> Iterator[tuple[int, float]]:
    """The k best pages that pass, with their scores."""
    if filters == NO_FILTERS and not unwanted:
        return islice(scores.ranked(graph.in_degree, k, graph.order), k)
    # More than k are ranked at once, as some will not pass.
    ranked = scores.ranked(graph.in_degree, 10 * k + 100, graph.order)
    return islice(passing(graph, ranked, {*seeds, *scores.used}, filters, unwanted or {}), k)


def passing(
    graph: Graph,
    ranked: Iterable[tuple[int, float]],
    seeds: Iterable[int],
    filters: Filters,
    unwanted: Mapping[int, int],
) -> Iterator[tuple[int, float]]:
    """The pages that pass all filters.

    `unwanted` has the rank of pages among those related to an unwanted page: pages closer to the query pass.
    """
    sites, seeds = graph.units("site"), list(seeds)
    own = {int(sites[page]) for page in seeds} if filters.not_own_site else set()
    inside, outside = ([*map(graph.names.pages_under, each)] for each in (filters.site, filters.not_site))
    since = max(seconds("since", filters.since, last=False), 1)
    until, dated = seconds("until", filters.until, last=True) or inf, filters.since or filters.until
    language, per_site, count = filters.language, filters.per_site, Counter[int]()
    linked = _linked(graph, seeds) if filters.unlinked else None
    if filters.trust:
        from cocite.kernels.codec.look_up import find_position
        from cocite.related.ranks.trustrank import trusted_web

        untrusted = trusted_web(graph, filters.trust).untrusted
    for place, (page, score) in enumerate(ranked, 1):
        site = int(sites[page])
        if site in own or unwanted.get(page, place + 1) <= place or (per_site and count[site] >= per_site):
            continue
        if (filters.site and not any(page in each for each in inside)) or any(page in each for each in outside):
            continue
        if filters.trust and find_position(untrusted, page) >= 0:
            continue
        if language and graph.facts.language(page) != language:
            continue
        if dated and not since <= graph.facts.captured(page) <= until:  # an unknown date is 0
            continue
        if linked is not None and linked(page):
            continue
        count[site] += 1
        yield page, score


def why_none_passes(graph: Graph, filters: Filters, what: str) -> str:
    """Why no page of a store can pass, or if some can none of `what` does; and what to do."""
    for given, array, missing in (
        (filters.lang, "page.language", "the language of any page: ask without lang"),
        (filters.since or filters.until, "page.captured", "the date of any page: ask without since and until"),
    ):
        if given and not graph.array(array).any():
            return f"This store doesn't have {missing}"
    if filters.site and not any(map(graph.names.pages_under, filters.site)):
        return f"This store has no page of {' or '.join(filters.site)}: check the spelling"
    return f"{what} passes the filters; give fewer of them"


def _linked(graph: Graph, seeds: Sequence[int]) -> Callable[[int], bool]:
    """Whether a page is linked with a query page, either way.

    Reads the links of candidates rather than all in-links of the query pages, of which there may be millions.
    """
    targets = {int(target) for seed in seeds for target in graph.links_from(seed).targets}
    wanted = set(seeds)
    return lambda page: page in targets or not wanted.isdisjoint(graph.links_from(page).targets.tolist())
