"""Questions: what a request asks of a store, what its answer depends on, and how it follows the load.

A question is checked when it is made, as far as that is possible without a store, and answered in a thread. The JSON is
that of the command line's `--json`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from cocite.errors import BadAddress, BadSource
from cocite.graph.store import Graph
from cocite.http.responses import CSV, JSON, TSV, to_json
from cocite.operations.bounds import bounded, bounded_method, check_addresses
from cocite.operations.declare import Operation
from cocite.operations.pages.related import Related
from cocite.operations.pages.unseen import ask_unseen
from cocite.related.methods import Method
from cocite.results.answer import Answers
from cocite.results.filters import Filters
from cocite.results.present import briefly, one_line, separated
from cocite.snapshot import Snapshot
from cocite.sources.page_records import page_from_json
from cocite.sources.records import Page, ReadReport

IDLE, USUAL, BUSY, SWAMPED = range(4)
LOAD_LEVELS = ("idle", "usual", "busy", "swamped")
PARENT_FACTORS = (2.0, 1.0, 0.25, 0.05)
"""Limit of parents at each load level, as a multiple of the default."""
Headers = tuple[tuple[bytes, bytes], ...]


class Content(NamedTuple):
    """The body of an answer."""

    body: bytes
    media: bytes
    status: int = 200
    extra: Headers = ()


class Question(Protocol):
    """Something to ask a store."""

    @property
    def route(self) -> str:
        """Its label in the metrics."""

    @property
    def slow(self) -> bool:
        """Whether it takes longer than milliseconds."""

    def keys(self, web: Snapshot) -> tuple[tuple[Any, ...], ...]:
        """What the answer depends on, beside the edition of the store: one key for each load level, or one for all."""

    def work(self, web: Snapshot, load: int) -> Content:
        """The answer; raises a CociteError."""


@dataclass(frozen=True)
class Asked:
    """An operation, asked over HTTP."""

    operation: Operation
    format: str = "json"
    words: bool = False  # reasons in words, too
    given: frozenset[str] = frozenset()  # parameters of the method that were given by name

    @classmethod
    def of(cls, operation: Operation, format: str = "json", words: bool = False) -> Asked:
        """The question, within the bounds for strangers."""
        given = bounded_method(operation.method)[1] if isinstance(operation, Related) else frozenset()
        return cls(bounded(operation), format, words, given)

    @property
    def route(self) -> str:
        """Its label in the metrics."""
        return self.operation.about.route.rpartition("/")[2]

    @property
    def slow(self) -> bool:
        """Whether it takes longer than milliseconds."""
        return self.operation.slow

    def keys(self, web: Snapshot) -> tuple[tuple[Any, ...], ...]:
        """The operation with the method of each load level; one key where the load makes no difference."""
        own = (self.route, self.format, self.words, self.operation)
        if not isinstance(self.operation, Related):
            return (own,)
        parents = self.parents(web.graph)
        return tuple((*own, self._method(load, parents), load < SWAMPED) for load in range(len(LOAD_LEVELS)))

    def at(self, graph: Graph, load: int) -> Operation:
        """The operation with limits that follow the load (Dean & Henzinger 1999, §4.3)."""
        asked = self.operation
        if not isinstance(asked, Related) or load == USUAL:
            return asked
        method = self._method(load, self.parents(graph))
        if method == asked.method and load < SWAMPED:
            return asked
        return replace(asked, method=method, explain=load < SWAMPED)

    def _method(self, load: int, parents: int) -> str:
        """The method at a load level."""
        assert isinstance(self.operation, Related)
        method = bounded_method(self.operation.method)[0]
        fit = fit_to_load(method, self.given, PARENT_FACTORS[load], parents)
        return self.operation.method if fit is method else str(fit)

    def parents(self, graph: Graph) -> int:
        """The largest number of in-links of a page that is asked about."""
        assert isinstance(self.operation, Related)
        return max(in_links(graph, url) for url in (*self.operation.urls, *self.operation.exclude))

    def limits(self, graph: Graph, load: int) -> dict[str, Any]:
        """How the load changed the answer; empty if it didn't."""
        fit = self.at(graph, load)
        if fit is self.operation or not isinstance(fit, Related) or not isinstance(self.operation, Related):
            return {}
        found: dict[str, Any] = {"load": LOAD_LEVELS[load]}
        if fit.method != self.operation.method:
            found["parents"] = bounded_method(fit.method)[0].params.parents
        return {"limits": found | ({} if fit.explain else {"reasons": False})}

    def limits_header(self, graph: Graph, load: int) -> Headers:
        """The limits for files, which have no place for them."""
        return tuple((b"cocite-limits", to_json(each)) for each in self.limits(graph, load).values())

    def answers(self, web: Snapshot, load: int) -> Any:
        """The result itself."""
        return self.at(web.graph, load).run(web)

    def why_empty(self, web: Snapshot, result: Any) -> str:
        """Why there is nothing to show, without what only the command line can do."""
        return self.operation.why_empty(web, result).partition(": see ")[0]

    def work(self, web: Snapshot, load: int) -> Content:
        """The answer as JSON or as a table."""
        result = self.answers(web, load)
        if self.format != "json":
            tabs = self.format == "tsv"
            body = separated(result, "\t" if tabs else ",").encode()
            return Content(body, TSV if tabs else CSV, extra=self.limits_header(web.graph, load))
        found = result.to_dict()
        if isinstance(found, dict):
            found |= self.limits(web.graph, load)
            if why := self.why_empty(web, result):
                found["note"] = why
        if self.words:
            put_into_words(found, result)
        return Content(to_json(found), JSON)


def fit_to_load(method: Method, given: frozenset[str], factor: float, parents: int) -> Method:
    """A method whose limit of parents follows the load, unless the limit was given by name.

    A limit above the number of `parents` changes nothing, so most pages get the same answer at any load.
    """
    limit: Any = getattr(method.params, "parents", None)
    if not isinstance(limit, int) or "parents" in given or factor == 1:
        return method
    fit = max(1, int(limit * factor))
    if min(fit, parents) == min(limit, parents):
        return method
    return replace(method, params=replace(method.params, parents=fit))


def put_into_words(found: dict[str, Any], answers: Answers) -> None:
    """Add reasons in words to the JSON of answers: `why` of each answer, and what every reason `says`."""
    for shown, answer in zip(found["answers"], answers, strict=True):
        shown["why"] = one_line(briefly(answer))
        for part, reason in zip(shown["reasons"], answer.reasons, strict=True):
            part["says"] = reason.text


def in_links(graph: Graph, url: str) -> int:
    """How many pages link to a page; 0 if it is unknown."""
    try:
        page = graph.get(url)
    except BadAddress:
        page = None
    return 0 if page is None else int(graph.in_degree[page])


@dataclass(frozen=True)
class AskedAboutRecord:
    """Pages related to a page that the store has never seen, from its record: 1 MB of it takes 0.1 to 0.4 s to read."""

    body: bytes = field(repr=False)
    method: str
    k: int
    filters: Filters
    words: bool = False
    route: str = "unseen"
    slow: bool = True

    def keys(self, web: Snapshot) -> tuple[tuple[Any, ...], ...]:
        """What the answer depends on."""
        digest = hashlib.blake2b(self.body, digest_size=16).hexdigest()
        return ((self.route, digest, str(bounded_method(self.method)[0]), self.k, self.filters, self.words),)

    def work(self, web: Snapshot, load: int) -> Content:
        """The answer; `skipped` says which parts of the record could not be used."""
        page, skipped = read_record(self.body)
        answers = ask_unseen(web, page, bounded_method(self.method)[0], self.k, self.filters)
        found = answers.to_dict() | ({"skipped": skipped} if skipped else {})
        if self.words:
            put_into_words(found, answers)
        return Content(to_json(found), JSON)


def read_record(body: bytes) -> tuple[Page, dict[str, int]]:
    """The page record of a body, and which parts could not be used, by reason; raises BadSource, BadAddress."""
    report = ReadReport()
    page = page_from_json(body, 1, report)
    if page is None:
        what = "; ".join(f"{reason} ({example})" for reason, example in report.example.items())
        raise BadSource(f"Invalid page record: {what or 'it is empty'}")
    check_addresses([page.url])
    return page, dict(report.skipped)
