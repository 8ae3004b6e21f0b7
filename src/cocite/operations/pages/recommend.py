"""Recommend pages, keywords and groups of pages from a reading history (Zhao et al. 2016, §8).

Pages are those related to all pages of the history (`results/history.py`), which count by recency and dwell time
(`results/visits.py`). Keywords maximise Σ r_s and Σ r_l over the main keywords of the history (eq. 24 and 25).
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cocite.errors import BadParameter, BadStore
from cocite.operations import DEFAULT_METHOD, shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.pages.related import CommandLineOptions, Related
from cocite.operations.words.keywords import KeywordsFound, keywords_for
from cocite.parameters import parameter
from cocite.results.answer import Answers

if TYPE_CHECKING:
    from cocite.results.groups import Recommendations
    from cocite.results.visits import Visit

MAX_WEIGHT = 1e9
METHOD_WITH_CLICKS = "whats_related"
MAX_LINKS_TO_COUNT = 200_000
"""A store without keywords that has more links gets none inside a question. Fewer take a few seconds, once."""
MAX_GROUPED_RESULTS = 200
"""The best results form groups; more would take seconds."""
HALF_LIFE_DAYS = 30.0
_LISTS = {"http": {"max_items": 50}, "mcp": {"max_items": 50}}


@operation(route="/api/recommend", tool="recommend", slow=True)
class Recommend(Operation, CommandLineOptions):
    """Recommend pages and keywords to somebody who has read some pages.

    The score of a page is the weighted mean of its scores for each page of the history. A page that was read lately, or
    for long, counts more. Results are put into groups, each named by keywords. Related keywords occur with the words of
    the history; others are what links of such pages lead to. Pages that the store doesn't have are ignored. The method
    auto uses clicks where the store has any: then it is whats_related.

    Command line: A history is a file of addresses, perhaps with tab and weight, tab and date, tab and seconds on the
    page; or a table with a header, or JSON records, that have a url and perhaps date, dwell and weight; or bookmarks.

    Exits with 0 if there are results, 1 if the page is known but nothing is related, 3 if it is unknown.

    Examples:
        cocite recommend nytimes.com bmw.com
        cocite recommend --history read.tsv -k 20 --not-own-site
        cocite recommend --history bookmarks.html --like bmw.com --not audi.com
    """

    urls: tuple[str, ...] = shared.urls(
        "Address of a page that was read, the latest last; may be repeated", required=False, python="history"
    )
    k: int = shared.k()
    method: str = shared.method()
    more_like: tuple[str, ...] = parameter(
        (), "More like this page: it counts as much as the history; may be repeated", metavar="URL",
        max_items=shared.MAX_PAGES,
        on=shared.on_surfaces(shared.ADDRESSES, cli="like", http="like", mcp="like_urls", python="like"),
    )  # fmt: skip
    exclude: tuple[str, ...] = shared.exclude()
    half_life: float = parameter(
        HALF_LIFE_DAYS, "Days after which a visit with a date counts half (0: dates don't matter)", metavar="DAYS",
        minimum=0, maximum=1e6,
    )  # fmt: skip
    decay: float = parameter(
        1.0, "How much a page counts beside the one read after it, such as 0.8 (1: the same)", metavar="SHARE",
        minimum=0, maximum=1,
    )  # fmt: skip
    weights: tuple[float, ...] = parameter(
        (), "How much each of these pages counts, in their order (default: 1 each)", type=float, minimum=0,
        maximum=MAX_WEIGHT, max_items=shared.MAX_PAGES, surfaces=("http", "mcp"),
        on={**_LISTS, "http": {"name": "weight", "max_items": 50}},
    )  # fmt: skip
    dates: tuple[str, ...] = parameter(
        (), "When each of these pages was read, such as 2026-05-17T10:30", max_items=shared.MAX_PAGES, max_length=40,
        surfaces=("http", "mcp"), on={**_LISTS, "http": {"name": "date", "max_items": 50}},
    )  # fmt: skip
    dwell: tuple[float, ...] = parameter(
        (), "How many seconds each of these pages was read", type=float, minimum=0, maximum=MAX_WEIGHT,
        max_items=shared.MAX_PAGES, surfaces=("http", "mcp"), on=_LISTS,
    )  # fmt: skip
    max_tokens: int = shared.max_tokens()
    explain: bool = parameter(True, "Give reasons", surfaces=("python",))

    visits: "tuple[Visit, ...]" = ()  # those of a file, or of Python

    def validate(self) -> None:
        super().validate()
        if not (self.urls or self.history_file or self.visits or self.more_like):
            raise BadParameter("No page to start from: give addresses, or a history")
        for name, values in (("weights", self.weights), ("dates", self.dates), ("dwell times", self.dwell)):
            if values and len(values) != len(self.urls):
                raise BadParameter(f"{len(values):,} {name} for {len(self.urls):,} pages: give one for each page")
        if not all(self.weights):
            raise BadParameter("A weight must be a number above 0")

    def on_surface(self, surface: str) -> Self:
        """Read the history that the command line names."""
        if not self.history_file:
            return self
        from cocite.results.visits import read_history

        return replace(self, visits=tuple(read_history(Path(self.history_file))))

    @property
    def history(self) -> tuple[tuple[str, float], ...]:
        """What each page that was read counts. Pages to be more like count as much as all others together."""
        from cocite.results.visits import Visit, time_of, weights_of

        visits = [*self.visits]
        for at, url in enumerate(self.urls):
            date = time_of(self.dates[at], f"the date of {url!r:.200}") if self.dates else None
            weight, dwell = self.weights[at] if self.weights else 1.0, self.dwell[at] if self.dwell else None
            visits.append(Visit(url, weight, date, dwell))
        weighed = weights_of(visits, self.half_life, self.decay)
        if visits and not any(weight for _, weight in weighed):
            raise BadParameter("No page of the history counts: give another decay, half-life or dwell times")
        total = sum(weight for _, weight in weighed) or 1.0
        return (*weighed, *((url, total / len(self.more_like)) for url in self.more_like))

    def question(self, web: Web) -> Related:
        """The same question, as one about related pages."""
        method = self.method
        with suppress(BadStore):  # damaged clicks are no reason to recommend nothing
            method = METHOD_WITH_CLICKS if method == DEFAULT_METHOD and len(web.clicks) else method
        shown = {name: getattr(self, name) for name in CommandLineOptions.__dataclass_fields__}
        own = {"k": self.k, "exclude": self.exclude, "explain": self.explain, "method": method}
        return Related(history=self.history, **{**shown, **own})

    def run(self, web: Web) -> "Recommendations":
        from cocite.results.groups import Recommendations, grouped

        answers = self.question(web).run(web)
        groups = grouped(web, replace(answers, answers=answers.answers[:MAX_GROUPED_RESULTS])).groups
        return Recommendations(**vars(answers), groups=groups, keywords=self._keywords(web, answers))

    def _keywords(self, web: Web, answers: Answers) -> KeywordsFound | None:
        """Keywords related to those of the history; None where the store has none, and counting them takes long."""
        from cocite.related.methods import method
        from cocite.results.history import find_history

        if not web.graph.texts or not (web.has("relevance") or len(web.graph.links) <= MAX_LINKS_TO_COUNT):
            return None
        read = find_history(web.graph, self.history, method(answers.method).chop)
        with suppress(BadStore):  # a server doesn't count them inside a question
            return keywords_for(web, dict(zip(read.pages, read.weights, strict=True)), min(self.k, 10))
        return None

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        return self.question(web).warnings(web, result)

    def why_empty(self, web: Web, result: Any) -> str:
        return self.question(web).why_empty(web, result)
