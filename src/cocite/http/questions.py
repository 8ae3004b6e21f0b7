"""What can be asked: each question knows on what its answer depends, and how to have it from a store.

A question is checked when it is made, as far as that needs no store, and worked on in a thread. The JSON is that of the
command line's `--json`: both take it from the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from cocite.errors import BadAddress, BadParameter
from cocite.graph.store import Graph
from cocite.http.holding import Served
from cocite.http.limits import check_addresses, confined, fitted, method_of
from cocite.http.replies import CSV, JSON, TSV, to_json
from cocite.related.methods import Method
from cocite.results import COMPARED, DEFAULT_METHOD
from cocite.results.answer import Answers
from cocite.results.ask import ask, question
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.groups import grouped
from cocite.results.present import briefly, one_line, separated

IDLE, USUAL, BUSY, SWAMPED = range(4)
FACTOR = (2.0, 1.0, 0.25, 0.05)
"""Of the usual limit of parents, by load."""
LOAD = ("idle", "usual", "busy", "swamped")
QUICK = frozenset({DEFAULT_METHOD, *COMPARED, "auto"} - {"walk"})
"""Methods that take milliseconds; others wait in a queue of their own, lest they hold up the quick ones."""
FEW = 5
"""Query pages up to which a quick method is quick."""


class Made(NamedTuple):
    """What came of a question."""

    body: bytes
    media: bytes
    status: int = 200
    extra: tuple[tuple[bytes, bytes], ...] = ()


class Question(Protocol):
    """Something to ask a store."""

    @property
    def route(self) -> str:
        """Under what it is counted."""

    @property
    def heavy(self) -> bool:
        """Whether it takes long."""

    def keys(self, web: Served) -> tuple[tuple[Any, ...], ...]:
        """All that the answer depends on, beside the edition of the store: for each load, or one for all."""

    def work(self, web: Served, load: int) -> Made:
        """The answer; raises a CociteError."""


@dataclass(frozen=True)
class Related:
    """The pages most related to some pages."""

    urls: tuple[str, ...]
    unwanted: tuple[str, ...] = ()
    call: str = DEFAULT_METHOD
    k: int = 10
    filters: Filters = NO_FILTERS
    group: bool = False
    form: str = "json"
    words: bool = False
    route: str = "related"
    method: Method = field(init=False, compare=False)
    given: frozenset[str] = field(init=False, compare=False)
    spelled: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.urls:
            raise BadParameter("no page to ask about: give url=, the address of a page")
        check_addresses(self.urls, self.unwanted)
        for name, value in zip(("method", "given", "spelled"), method_of(self.call), strict=True):
            object.__setattr__(self, name, value)

    @property
    def heavy(self) -> bool:
        """Whether it takes long."""
        return self.method.name not in QUICK or len(self.urls) + len(self.unwanted) > FEW or self.k > 100

    def needed(self, graph: Graph) -> int:
        """The parents that there are of the pages, at most."""
        return max(in_links(graph, url) for url in (*self.urls, *self.unwanted))

    def at(self, graph: Graph, load: int) -> Method:
        """The method with limits that fit the load."""
        return fitted(self.method, self.given, FACTOR[load], self.needed(graph))

    def keys(self, web: Served) -> tuple[tuple[Any, ...], ...]:
        """All that the answer depends on, for each load."""
        own = (self.route, self.urls, self.unwanted, self.k, self.filters, self.group, self.form, self.words)
        needed = self.needed(web.graph)
        fits = [fitted(self.method, self.given, factor, needed) for factor in FACTOR]
        spelled = [self.spelled if fit is self.method else str(fit) for fit in fits]
        return tuple((*own, each, load < SWAMPED) for load, each in enumerate(spelled))

    def answers(self, web: Served, load: int) -> Answers:
        """The answers themselves."""
        method = confined(web.graph, self.at(web.graph, load))
        asked = question(web.graph, self.urls, self.unwanted)
        return ask(web, asked, method, self.k, self.filters, explained=load < SWAMPED)

    def limits(self, graph: Graph, load: int) -> dict[str, Any]:
        """In what the answer differs from the usual one; nothing if it does not."""
        fit = self.at(graph, load)
        found = {"parents": fit.params.parents} if fit is not self.method else {}
        found |= {"reasons": False} if load == SWAMPED else {}
        return {"limits": {"load": LOAD[load], **found}} if found else {}

    def told_apart(self, graph: Graph, load: int) -> tuple[tuple[bytes, bytes], ...]:
        """The limits as a header: a file has no place for them."""
        return tuple((b"cocite-limits", to_json(each)) for each in self.limits(graph, load).values())

    def work(self, web: Served, load: int) -> Made:
        """The answer."""
        answers = self.answers(web, load)
        if self.form != "json":
            tabs = self.form == "tsv"
            file = separated(answers, "\t" if tabs else ",").encode()
            return Made(file, TSV if tabs else CSV, extra=self.told_apart(web.graph, load))
        shown = grouped(web, answers) if self.group else answers
        found = {**shown.to_dict(), **self.limits(web.graph, load)}
        if self.words:
            put_into_words(found, answers)
        if not len(answers) and self.k:
            found["note"] = self.why_nothing(answers)
        return Made(to_json(found), JSON)

    def why_nothing(self, answers: Answers) -> str:
        """Why there is no answer, and what to try."""
        if self.filters != NO_FILTERS or self.unwanted:
            return "what is related does not pass the filters: give fewer of them"
        one = len(self.urls) == 1
        known = "this page is known" if one else "these pages are known"
        return f"{known}, but {answers.method} finds nothing related: try another method"


def put_into_words(found: dict[str, Any], answers: Answers) -> None:
    """Reasons as people read them, into the JSON of answers: `why` of each in short, and what every reason `says`."""
    for shown, answer in zip(found["answers"], answers, strict=True):
        shown["why"] = one_line(briefly(answer))
        for part, reason in zip(shown["reasons"], answer.reasons, strict=True):
            part["says"] = reason.text


def in_links(graph: Graph, url: str) -> int:
    """How many pages link to a page; none if it is unknown, which is told when it is asked about."""
    try:
        page = graph.get(url)
    except BadAddress:
        page = None
    return 0 if page is None else int(graph.in_degree[page])


@dataclass(frozen=True)
class Plain:
    """A question whose answer does not depend on the load."""

    route: str
    parts: tuple[Any, ...]
    find: Callable[[Served], Any] = field(compare=False)
    heavy: bool = False

    def keys(self, web: Served) -> tuple[tuple[Any, ...], ...]:
        """All that the answer depends on."""
        return ((self.route, *self.parts),)

    def work(self, web: Served, load: int) -> Made:
        """The answer."""
        return Made(to_json(self.find(web)), JSON)
