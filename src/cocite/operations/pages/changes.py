"""What became related to a page between two dates, and what ceased to be."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter, UnknownPage
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.pages.related import why_filtered
from cocite.pages.date import DATE_PATTERN, seconds
from cocite.parameters import parameter
from cocite.results.answer import HIDDEN, Answer, Answers, Reason, Result
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.related.methods import Method

RANKED_PER_RESULT, MIN_RANKED = 5, 50
"""How many pages of the other date are ranked, to say where a page is there."""


@dataclass(frozen=True)
class ChangedPage(Result):
    """A page that is among the results of one date only."""

    url: str
    title: str
    rank: int  # on the date of its reasons
    other_rank: int | None  # on the other date; None: not among the pages that were ranked
    score: float
    reasons: tuple[Reason, ...]
    answer: Answer = field(compare=False, metadata=HIDDEN)


@dataclass(frozen=True)
class ChangesFound(Result):
    """What changed around a page between two dates."""

    query: str
    method: str
    start: str  # the days of the newest captures that count
    end: str
    became: list[ChangedPage]  # related at the end, with reasons of the end
    ceased: list[ChangedPage]  # related at the start, with reasons of the start
    stayed: list[str]  # among the results of both
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the dates are called as on the command line."""
        found = super().to_dict()
        dates = {"from": found.pop("start"), "to": found.pop("end")}
        return {"query": found.pop("query"), "method": found.pop("method"), **dates, **found}


@operation(name="changes", route="/api/changes", tool="changes", slow=True)
class Changes(Operation, Filters):
    """Show what became related to a page between two dates, and what ceased to be, with reasons of the time.

    The store must keep its history: see cocite build --history. The results of both dates are those of stores built
    from the captures known then.

    Examples:
        cocite changes nytimes.com --from 2009 --to 2024
        cocite changes nytimes.com --from 2009-06 -m companion -k 5
    """

    url: str = shared.url()
    start: str = parameter(
        "", "The earlier date, such as 2009 or 2009-06-30: captures up to its end count", metavar="DATE",
        max_length=40, pattern=DATE_PATTERN.replace("?$", "$"), required=True, example="2009",
        on=shared.on_surfaces(cli="from", http="from", mcp="from"),
    )  # fmt: skip
    end: str = parameter(
        "", "The later date; default: the newest captures", metavar="DATE", max_length=40, pattern=DATE_PATTERN,
        on=shared.on_surfaces(cli="to", http="to", mcp="to"),
    )  # fmt: skip
    method: str = shared.method()
    k: int = shared.k(help="Maximum number of results of each date", mcp_default=10)

    def validate(self) -> None:
        super().validate()
        for name in ("start", "end"):
            seconds(name, getattr(self, name), last=True)
        if self.end and seconds("end", self.end, last=True) <= seconds("start", self.start, last=True):
            raise BadParameter(f"to {self.end} is not after from {self.start}: exchange them")

    def run(self, web: Web) -> ChangesFound:
        from cocite.related.methods import method

        chosen, newest = method(self.method), (web.dates or [""])[-1]
        before, after = web.as_of(self.start), web.as_of(self.end)
        old, unknown_then = self._ask(before, chosen)
        new, unknown_now = self._ask(after, chosen)
        if unknown_then is not None and unknown_now is not None:
            raise unknown_now
        start, end = (str(each.graph.manifest.get("as_of") or newest) for each in (before, after))
        notes = [f"{self.url} was not known on {start}"] if unknown_then is not None else []
        notes += [f"{self.url} was not known on {end}"] if unknown_now is not None else []
        notes += [each.note for each in (old, new) if isinstance(each, Answers) and each.note]
        old_keys = {self._key(before, after, answer): answer for answer in old}
        new_keys = {after.graph.canonical(answer.page): answer for answer in new}
        same = [key for key in list(new_keys)[: self.k] if key in set(list(old_keys)[: self.k])]
        became = self._changed(after, chosen, new_keys, old_keys)
        ceased = self._changed(before, chosen, old_keys, new_keys)
        stayed, note = [new_keys[key].url for key in same], ". ".join(dict.fromkeys(notes))
        return ChangesFound(self.url, chosen.name, start, end, became, ceased, stayed, note)

    def _ask(self, web: Web, chosen: "Method") -> tuple[Answers | tuple[()], UnknownPage | None]:
        """The ranked pages of a date, without reasons; or that the page was unknown then."""
        from cocite.results.ask import ask, question

        ranked = max(MIN_RANKED, RANKED_PER_RESULT * self.k)
        try:
            asked = question(web.graph, (self.url,), chop=chosen.chop)
        except UnknownPage as error:
            return (), error
        return ask(web, asked, chosen, ranked, self.filters, False), None

    def _key(self, before: Web, after: Web, answer: Answer) -> str:
        """What a page of the earlier date is called at the later one, if it is known there: it may have moved."""
        own = before.graph.canonical(answer.page)
        page = after.graph.get(own)
        return own if page is None else after.graph.canonical(page)

    def _changed(
        self, web: Web, chosen: "Method", own: dict[str, Answer], other: dict[str, Answer]
    ) -> list[ChangedPage]:
        """The results of one date that are not among those of the other, with reasons."""
        from cocite.results.ask import ask, question

        ranks = {key: answer.rank for key, answer in other.items()}
        first = list(own.items())[: self.k]
        wanted = {answer.page: key for key, answer in first if ranks.get(key, self.k + 1) > self.k}
        if not wanted:
            return []
        explained = ask(web, question(web.graph, (self.url,), chop=chosen.chop), chosen, self.k, self.filters)
        return [
            ChangedPage(each.url, each.title, each.rank, ranks.get(wanted[each.page]), each.score, each.reasons, each)
            for each in explained
            if each.page in wanted
        ]

    def why_empty(self, web: Web, result: Any) -> str:
        if result.became or result.ceased:
            return ""
        if result.stayed:
            return f"Nothing changed around {self.url}: the same pages are related to it on both dates"
        if self.filters != NO_FILTERS:
            return why_filtered(web, self.filters, [self.url])
        return f"Nothing is related to {self.url} on either date: look at its links"
