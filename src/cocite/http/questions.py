"""Questions: what a request asks of a store, what its answer depends on, and how it follows the load.

Parameters are read and checked by the declarations of operations: ten of /api/related take 0.07 ms, with pydantic
0.9 ms, of about 3 ms for an answer. A question is checked when it is made, as far as that is possible without a store,
and answered in a thread. The JSON is that of the command line's `--json`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol
from urllib.parse import parse_qsl

from cocite.errors import BadAddress, BadParameter, BadSource
from cocite.graph.store import Graph
from cocite.http.responses import CSV, TSV, Reply, to_json
from cocite.operations.bounds import bounded, bounded_method, check_addresses
from cocite.operations.declare import Operation, make, parameters_on, served_operations
from cocite.operations.pages.related import Related
from cocite.operations.pages.unseen import ask_unseen
from cocite.parameters import Parameter, parameters_of
from cocite.results.answer import Answers
from cocite.results.filters import Filters
from cocite.results.present import briefly, separated
from cocite.sources.page_records import page_from_json
from cocite.sources.records import ReadReport
from cocite.text import clean
from cocite.web import Web

MAX_FIELDS = 200
TABLES = ("related", "recommend", "hubs", "search")
"""Operations whose results are pages, which can be had as a table, and with reasons in words."""
IDLE, NORMAL, BUSY, SWAMPED = range(4)
LOAD_LEVELS = ("idle", "normal", "busy", "swamped")
PARENT_FACTORS = (2.0, 1.0, 0.25, 0.05)
"""Limit of parents at each load level, as a multiple of the default."""
FORMAT_PARAMETER = Parameter(
    name="format", help="Format of the answer", default="json", choices=("json", "csv", "tsv"), max_length=10
)
WORDS_PARAMETER = Parameter(
    name="words", help="Add reasons in words: `why` of each result, and what each reason `says`", type=bool,
    default=False,
)  # fmt: skip
RECORD_NAMES = ("method", "k", "words", *(each.name for each in parameters_of(Filters)))
"""Parameters of POST /api/related, beside the record."""
UNKNOWN_PARENTS = 1 << 32
Key = tuple[Any, ...]


@cache
def routes() -> dict[str, type[Operation]]:
    """The operations that have a route, by path."""
    return {each.about.route: each for each in served_operations().values() if each.about.route}


def route_name(operation: type[Operation]) -> str:
    """The last part of an operation's route."""
    return operation.about.route.rpartition("/")[2]


@cache
def parameters(path: str) -> dict[str, Parameter]:
    """The query parameters of a route, by name."""
    operation = routes()[path]
    own = [FORMAT_PARAMETER, WORDS_PARAMETER] if operation.about.name in TABLES else []
    return {each.name: each for each in (*(each for _, each in parameters_on(operation, "http")), *own)}


@cache
def record_parameters() -> dict[str, Parameter]:
    """The query parameters of POST /api/related."""
    return {name: each for name, each in parameters(Related.about.route).items() if name in RECORD_NAMES}


def query_values(query: bytes, known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The texts of a query string by name: one, or a list of them; raises BadParameter."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise BadParameter(f"More than {MAX_FIELDS} parameters; give fewer") from error
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name not in known:
            raise BadParameter(f"Unknown parameter {name!r:.100}. Available: {', '.join(known) or 'none'}")
        if known[name].many:
            found.setdefault(name, []).append(text)
        elif name in found:
            raise BadParameter(f"{name} is given more than once; give it once")
        else:
            found[name] = text
    return found


class HttpQuestion(Protocol):
    """Something to ask a store. `slow` ones take longer than milliseconds; `route` is the label in the metrics.

    `keys` are what the answer depends on, beside the edition of the store: one for each load level, or one for all.
    `work` makes the answer, without its ETag; it raises a CociteError.
    """

    @property
    def route(self) -> str: ...
    @property
    def slow(self) -> bool: ...
    def keys(self, web: Web) -> tuple[Key, ...]: ...
    def work(self, web: Web, load: int) -> Reply: ...


@dataclass(frozen=True)
class OperationQuestion:
    """An operation, asked over HTTP."""

    operation: Operation
    format: str = "json"
    words: bool = False  # reasons in words, too

    @staticmethod
    def of(operation: Operation, format: str = "json", words: bool = False) -> "OperationQuestion":
        """The question, within the bounds for strangers."""
        if isinstance(operation, Related):
            named = bounded_method(operation.method)[1]
            return RelatedQuestion(bounded(operation), format, words, named)
        return OperationQuestion(bounded(operation), format, words)

    @staticmethod
    def read(operation: type[Operation], query: bytes) -> "OperationQuestion":
        """What a query string asks; raises a CociteError."""
        given = query_values(query, parameters(operation.about.route))
        own = (FORMAT_PARAMETER, WORDS_PARAMETER)
        options = {each.name: each.check(given.pop(each.name)) for each in own if each.name in given}
        return OperationQuestion.of(make(operation, "http", given), **options)

    @property
    def route(self) -> str:
        return route_name(type(self.operation))

    @property
    def slow(self) -> bool:
        return self.operation.slow

    def keys(self, web: Web) -> tuple[Key, ...]:
        """One key for all loads: the load makes no difference."""
        return ((self.route, self.format, self.words, self.operation),)

    def at(self, graph: Graph, load: int) -> Operation:
        """The operation that is run at a load level."""
        return self.operation

    def limits(self, graph: Graph, load: int) -> dict[str, Any]:
        """How the load changed the answer; empty if it didn't."""
        return {}

    def file(self, web: Web, load: int, body: bytes, media: bytes) -> Reply:
        """A file as a reply. It has no place for limits, so they are in a header."""
        limits = self.limits(web.graph, load)
        return Reply(200, body, media, extra=((b"cocite-limits", to_json(limits)),) if limits else ())

    def answers(self, web: Web, load: int) -> Any:
        """The result itself."""
        return self.at(web.graph, load).run(web)

    def work(self, web: Web, load: int) -> Reply:
        """The answer as JSON or as a table."""
        web = self.operation.web_asked(web)
        result = self.answers(web, load)
        if self.format != "json":
            mark, media = ("\t", TSV) if self.format == "tsv" else (",", CSV)
            return self.file(web, load, separated(result, mark).encode(), media)
        found = result.to_dict()
        if isinstance(found, dict):
            note = ". ".join(filter(None, (found.get("note"), self.operation.why_empty(web, result))))
            more = {"limits": self.limits(web.graph, load), "note": note}
            found |= {name: value for name, value in more.items() if value}
        if self.words:
            put_into_words(found, result)
        return Reply(200, to_json(found))


@dataclass(frozen=True)
class RelatedQuestion(OperationQuestion):
    """Related pages, asked over HTTP: limits follow the load (Dean & Henzinger 1999, §4.3)."""

    operation: Related
    named: frozenset[str] = frozenset()  # parameters of the method that were given by name

    def keys(self, web: Web) -> tuple[Key, ...]:
        """A key for each load level, with the method at that level."""
        [own], parents = super().keys(web), self.parents(web.graph)
        return tuple((*own, self._method(load, parents), load < SWAMPED) for load in range(len(LOAD_LEVELS)))

    def at(self, graph: Graph, load: int) -> Related:
        """The operation with limits that follow the load."""
        asked = self.operation
        if load == NORMAL:
            return asked
        method = self._method(load, self.parents(graph))
        if method == asked.method and load < SWAMPED:
            return asked
        return replace(asked, method=method, explain=load < SWAMPED)

    def _method(self, load: int, parents: int) -> str:
        """The method at a load level. Its limit of parents follows the load, unless it was given by name.

        A limit above the number of `parents` changes nothing, so most pages get the same answer at any load.
        """
        asked = self.operation
        method = bounded_method(asked.method)[0]
        limit: Any = getattr(method.params, "parents", None)
        if not isinstance(limit, int) or "parents" in self.named or load == NORMAL:
            return asked.method
        fit = max(1, int(limit * PARENT_FACTORS[load]))
        if min(fit, parents) == min(limit, parents):
            return asked.method
        return str(replace(method, params=replace(method.params, parents=fit)))

    def parents(self, graph: Graph) -> int:
        """The largest number of in-links of a query page; of a date in the past it is unknown before that is opened."""
        if self.operation.as_of:
            return UNKNOWN_PARENTS
        pages = (find_page(graph, url) for url in (*self.operation.urls, *self.operation.exclude))
        return max((int(graph.in_degree[page]) for page in pages if page is not None), default=0)

    def limits(self, graph: Graph, load: int) -> dict[str, Any]:
        """How the load changed the answer; empty if it didn't."""
        asked, fit = self.operation, self.at(graph, load)
        if fit is asked:
            return {}
        parents: Any = bounded_method(fit.method)[0].params
        changed = {"parents": parents.parents} if fit.method != asked.method else {}
        return {"load": LOAD_LEVELS[load], **changed, **({} if fit.explain else {"reasons": False})}


def put_into_words(found: dict[str, Any], answers: Answers) -> None:
    """Add reasons in words to the JSON of answers: `why` of each answer, and what every reason `says`."""
    for shown, answer in zip(found["answers"], answers, strict=True):
        shown["why"] = clean(briefly(answer))
        for part, reason in zip(shown["reasons"], answer.reasons, strict=True):
            part["says"] = reason.text


def find_page(graph: Graph, url: str) -> int | None:
    """The number of a page; None if the store doesn't have it, or if the text isn't an address."""
    try:
        return graph.get(url)
    except BadAddress:
        return None


@dataclass(frozen=True)
class RecordQuestion:
    """Pages related to a page that the store has never seen, from its record: 1 MB of it takes 0.1 to 0.4 s to read."""

    body: bytes = field(repr=False)
    method: str
    k: int
    filters: Filters
    words: bool = False
    route: str = "unseen"
    slow: bool = True

    @classmethod
    def read(cls, body: bytes, query: bytes) -> "RecordQuestion":
        """What a body and a query string ask; raises a CociteError."""
        known = record_parameters()
        given = {name: known[name].check(value) for name, value in query_values(query, known).items()}
        method, k, words = given.pop("method", Related.method), given.pop("k", Related.k), given.pop("words", False)
        bounded_method(method)
        return cls(body, method, k, Filters(**given).filters, words)

    def keys(self, web: Web) -> tuple[Key, ...]:
        """What the answer depends on."""
        digest = hashlib.blake2b(self.body, digest_size=16).hexdigest()
        return ((self.route, digest, str(bounded_method(self.method)[0]), self.k, self.filters, self.words),)

    def work(self, web: Web, load: int) -> Reply:
        """The answer; `skipped` says which parts of the record could not be used."""
        report = ReadReport()
        page = page_from_json(self.body, 1, report)
        if page is None:
            what = "; ".join(f"{reason} ({example})" for reason, example in report.example.items())
            raise BadSource(f"Invalid page record: {what or 'it is empty'}")
        check_addresses([page.url])
        answers = ask_unseen(web, page, bounded_method(self.method)[0], self.k, self.filters)
        found = answers.to_dict() | ({"skipped": dict(report.skipped)} if report.skipped else {})
        if self.words:
            put_into_words(found, answers)
        return Reply(200, to_json(found))
