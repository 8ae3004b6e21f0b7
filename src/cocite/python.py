"""What `import cocite` offers: `cocite.build` and `cocite.open`.

Every operation on a store is a method of it, made from the declaration: its help, and its parameters under their names
in Python. Parameters that an operation doesn't declare are those of its method, as in `web.related(page, parents=9)`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from inspect import Parameter as Argument
from inspect import Signature, cleandoc
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from cocite.errors import BadParameter, BadStore
from cocite.graph.build.passes import Built
from cocite.graph.clicks import Kept
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.kernels.interpreted import Workload, unless_decided
from cocite.operations.declare import Operation, make, operations_by_name, parameters_on
from cocite.operations.pages.batch import Batch, BatchSummary
from cocite.operations.pages.cluster import Cluster, PageGroups
from cocite.operations.pages.compare import Compare, Comparison
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.pages.similarity import Similarity, SimilarityResult
from cocite.operations.quality.evaluate import Evaluate, EvaluationResult
from cocite.operations.quality.study import NewStudy, StudyNew
from cocite.operations.store.build import Add, Build, BuildResult, Compact, Remove
from cocite.operations.store.check import Check, CheckResult
from cocite.operations.store.clicks import ClicksResult, CountClicks
from cocite.operations.store.export import Export, Exported
from cocite.operations.store.info import Info
from cocite.operations.store.links import LinksAround, ShowLinks
from cocite.operations.store.rank import RankPages, TopPage, top_pages
from cocite.operations.task import Facts, Task, read_addresses
from cocite.operations.words.communities import CommunitiesFound, FindCommunities
from cocite.operations.words.keywords import FindKeywords, KeywordsFound, KeywordsOfPage, keywords_of_page
from cocite.operations.words.search import SearchPages
from cocite.parameters import Parameter
from cocite.plugins import loaded
from cocite.related import methods
from cocite.related.ranks import Ranked
from cocite.results.answer import Answers
from cocite.results.ask import check_address
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.groups import Recommendations
from cocite.results.visits import Visit, check_weight, read_history, visit_of, weights_of
from cocite.web import Web
from cocite.words.keywords import KeywordIndex
from cocite.words.search import SEARCH, SearchIndex

History = Mapping[str, float] | Iterable[str | tuple[str, float] | Visit | Mapping[str, Any]] | PathLike[str]
MethodT = TypeVar("MethodT", bound=Callable[..., Any])
ResultT = TypeVar("ResultT")


def declared_by(operation: Any) -> dict[str, Parameter]:
    """The parameters of an operation in Python by name, those first that are arguments of the command."""
    return _declared_by(operation)  # mypy takes classes of dataclasses for unhashable


@cache
def _declared_by(operation: type) -> dict[str, Parameter]:
    found = sorted((each for _, each in parameters_on(operation, "python")), key=lambda each: not each.positional)
    return {each.name: each for each in found}


def places_of(operation: type[Operation]) -> list[str]:
    """The parameters that may be given by their place: those up to k, or all if it has no k."""
    names = list(declared_by(operation))
    return names[: names.index("k") + 1] if "k" in names else names


def has_method(operation: type[Operation]) -> bool:
    """Whether an operation is asked by one method, whose parameters may be given by name."""
    return hasattr(operation, "method") and not issubclass(operation, Task)


def made_from(operation: type[Operation]) -> Callable[[MethodT], MethodT]:
    """Give a method of Store the help and the parameters of an operation, and its own notes."""

    def describe(method: MethodT) -> MethodT:
        about, declared = operation.about, list(declared_by(operation).values())
        lines = "\n".join(f"    {each.name}: {each.help}." for each in declared)
        notes = (about.summary, about.help, cleandoc(method.__doc__ or ""), f"Parameters:\n{lines}")
        method.__doc__ = "\n\n".join(filter(None, notes))
        places, taken = places_of(operation), [Argument("self", Argument.POSITIONAL_OR_KEYWORD)]
        for each in declared:
            kind = Argument.POSITIONAL_OR_KEYWORD if each.name in places else Argument.KEYWORD_ONLY
            taken.append(Argument(each.name, kind, default=each.default))
        if has_method(operation):
            taken.append(Argument("parameters", Argument.VAR_KEYWORD))
        method.__signature__ = Signature(taken)  # type: ignore[attr-defined]
        return method

    return describe


def asks(operation: type[Operation], result: type[ResultT], notes: str = "") -> Callable[..., ResultT]:
    """A method of Store that asks an operation, and returns its result."""

    def method(web: "Store", *places: Any, **given: Any) -> ResultT:
        return web._ask(result, operation, *places, **given)

    method.__name__, method.__doc__ = operation.about.name.replace(" ", "_"), notes
    return made_from(operation)(method)


class StoreSearch(SearchIndex):
    """The search index of a store; it can be called."""

    @made_from(SearchPages)
    def __call__(self, *places: Any, **given: Any) -> Answers:
        """`web.search("static site generator")`."""
        web = Store(self.graph)
        web.search = self
        return web._ask(Answers, SearchPages, *places, **given)

    def find(self, query: str, k: int) -> list[tuple[int, float]]:
        """Number and score of the k best pages, best first."""
        return self.search(query, k).hits


@dataclass(frozen=True)
class StoreKeywords(KeywordIndex):
    """The keywords of a store; they can be called."""

    web: "Store"

    @made_from(FindKeywords)
    def __call__(self, *places: Any, **given: Any) -> KeywordsFound:
        """`web.keywords("password manager").similar`."""
        return self.web._ask(KeywordsFound, FindKeywords, *places, **given)

    def of_page(self, page: str) -> KeywordsOfPage:
        """The keywords of a page, and its main ones: `web.keywords.of_page("nodejs.org").main`."""
        return keywords_of_page(self.web, check_address(page))


@dataclass(frozen=True)
class StoreRank(Ranked):
    """A rank of all pages of a store, and which of them `top` returns."""

    graph: Graph
    filters: Filters = NO_FILTERS

    def top(self, k: int = 20) -> list[TopPage]:
        """The k pages of highest value that pass the filters."""
        return top_pages(self.graph, self, k, self.filters)


class Store(Web):
    """A store, ready for questions."""

    def __getattr__(self, name: str) -> Any:
        """The operation of a plugin, which isn't a method of the class: plugins are read when one is asked for."""
        operation = None if name.startswith("_") else loaded("operations", name.replace("_", " "))
        operation = operation or (None if name.startswith("_") else loaded("operations", name))
        if operation is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return partial(asks(operation, object), self)

    def _repr_html_(self) -> str:
        return self.graph._repr_html_()

    def _ask(self, result: type[ResultT], operation: type[Operation], /, *places: Any, **given: Any) -> ResultT:
        """The result of an operation. Parameters that it doesn't declare are those of its method."""
        known = places_of(operation)
        if len(places) > len(known):
            raise TypeError(f"{operation.about.name} takes {len(known)} parameters by place, not {len(places)}")
        given |= dict(zip(known, places, strict=False))
        progress, fields = given.pop("progress", None) or self.progress, dict[str, Any]()
        if callable(given.get("criterion", "")) or given.get("criterion", "") is None:
            fields["rating"] = given.pop("criterion")
        if operation is Related and "history" in given:
            given["history"] = tuple(weights_of(visits_of(given["history"])))
        if operation is Recommend:
            fields["visits"] = tuple(visits_of(given.pop("history", ())))
        declared = declared_by(operation)
        more = {name: entries_in(given.pop(name)) for name in list(given) if name not in declared}
        given = {name: each for name, each in given.items() if each is not None or declared[name].default is not None}
        if has_method(operation):
            fields["method"] = str(methods.method(given.pop("method", vars(operation)["method"]), more))
            more = {}
        given = {name: plain(value, declared[name].many) for name, value in given.items()} | more
        found: Any
        web: Web = self
        if issubclass(operation, Task):
            found = make(operation, "python", given, index=str(self.graph.path), **fields).do(progress)
        else:
            before, self.progress = self.progress, progress
            try:
                asked = make(operation, "python", given, **fields)
                self._workload.count_question()
                with unless_decided(self._workload):
                    web = asked.web_asked(self)
                    found = asked.run(web)
            finally:
                self.progress = before
        found = replace(found, graph=web.graph) if isinstance(found, Answers) else found
        assert isinstance(found, result)
        return found

    @cached_property
    def _workload(self) -> Workload:
        return Workload(self.graph.items)

    def _of(self, graph: Graph) -> "Store":
        return Store(graph)

    @cached_property
    def search(self) -> StoreSearch:
        """The search index, to be called with words."""
        return StoreSearch(SEARCH.find(self.graph))

    @cached_property
    def keywords(self) -> StoreKeywords:
        """The keywords of all pages, to be called with words: those that are kept, else chosen now, and not kept."""
        return StoreKeywords(**vars(super().keywords), web=self)

    related = asks(
        Related,
        Answers,
        """Parameters of the method may be given by name: `web.related("nytimes.com", "companion", parents=500)`.

        A `history` is pages with weights, such as `{"nytimes.com": 3, "bmw.com": 1}`.""",
    )
    recommend = asks(
        Recommend,
        Recommendations,
        """`history` is addresses, a mapping of addresses to weights, or records: `[{"url": "nytimes.com", "date":
        "2026-05-17", "dwell": 90}]`; or the path of a file. The result has `groups` and `keywords`, too.""",
    )
    compare = asks(Compare, Comparison, "The result has `by_method`, `votes()` and `overlap(one, other)`.")
    similarity = asks(Similarity, SimilarityResult, "`float()` of the result is the score.")
    hubs = asks(Hubs, Answers, "`criterion` may also be a function of (web, page numbers) that rates pages.")
    communities = asks(
        FindCommunities,
        CommunitiesFound,
        'Parameters of the method may be given by name: `web.communities("jaguar", npea="min", vectors=5)`.',
    )
    batch = asks(
        Batch,
        BatchSummary,
        """A script that calls this needs `if __name__ == "__main__":`, as it starts processes.

        `progress` is called with a stage, how much more of it is done, and its total.""",
    )
    links, info, check = asks(ShowLinks, LinksAround), asks(Info, Facts), asks(Check, CheckResult)
    export, evaluate, study_new = asks(Export, Exported), asks(Evaluate, EvaluationResult), asks(StudyNew, NewStudy)
    add = asks(Add, BuildResult, "Open the store again to see what was added.")
    remove = asks(Remove, BuildResult, "Open the store again to see it without them.")
    compact = asks(Compact, BuildResult, "The store has the same pages; open it again to read the new base.")

    @made_from(Cluster)
    def cluster(self, *places: Any, **given: Any) -> list[tuple[tuple[str, ...], list[str]]]:
        """The result has the keywords of each group, and the addresses of its pages."""
        found = self._ask(PageGroups, Cluster, *places, **given)
        return [(group.keywords, [url for url, _ in group.pages]) for group in found.groups]

    @made_from(RankPages)
    def rank(self, by: str = "pagerank", **filters: Any) -> StoreRank:
        """`web.rank("hubrank", per_site=1).top(20)`: the rank that is kept, else computed now, and not kept."""
        wanted = make(RankPages, "python", {"by": by, **filters})
        return StoreRank(**vars(super().rank(by)), graph=self.graph, filters=wanted.filters)

    @made_from(CountClicks)
    def add_clicks(self, *places: Any, **given: Any) -> Kept:
        """`web.clicks` has them then."""
        kept = self._ask(ClicksResult, CountClicks, *places, **given).kept
        self.__dict__.pop("clicks", None)
        return kept


for _operation in operations_by_name().values():  # those that aren't named above
    if _operation.about.store and not hasattr(Store, _method := _operation.about.name.replace(" ", "_")):
        setattr(Store, _method, asks(_operation, object))


def plain(value: Any, many: bool) -> Any:
    """A value as declarations check it: paths are texts, and several values a list."""
    if isinstance(value, PathLike):
        return str(value)
    if many and isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
        return [plain(each, False) for each in value]
    return value


def entries_in(value: Any) -> Any:
    """A parameter of a method: a file, or pages with their blocks, as a list of texts."""
    if isinstance(value, PathLike):
        return read_addresses(str(value))
    return [f"{page}\t{block}" for page, block in value.items()] if isinstance(value, Mapping) else value


def visits_of(given: History) -> list[Visit]:
    """The visits of a history: a file, a mapping of weights, addresses, pairs with weights, or records."""
    if isinstance(given, PathLike):
        return read_history(Path(given))
    pairs: Any = given.items() if isinstance(given, Mapping) else given
    return [_visit(each) for each in (pairs if isinstance(pairs, Iterable) and not isinstance(pairs, str) else [pairs])]


def _visit(given: Any) -> Visit:
    if isinstance(given, Visit):
        return given
    if isinstance(given, Mapping):
        return visit_of(given, "a record of the history")
    address, weight = (given, 1.0) if isinstance(given, str) else given if isinstance(given, tuple) else (None, None)
    if not isinstance(address, str):
        raise BadParameter(
            f"a history must be a mapping of addresses to weights, or a list of addresses, not {given!r:.100}"
        )
    return Visit(address, check_weight(weight, f"the weight of {address!r:.200}"))


def open(path: str | Path) -> Store:
    """A store, ready for questions."""
    if not isinstance(path, str | PathLike):
        raise BadParameter(f"a store is opened by its path, a text or a Path, not {path!r:.100}")
    return Store(path)


def build(
    sources: Sequence[str | Path], path: str | Path, *, progress: Progress = no_progress, adding: bool = False,
    **options: Any,
) -> Built:  # fmt: skip
    """Read sources (files, folders, addresses) into a new store, or with `adding` into the one that is there.

    Options are those of cocite build: `cocite.build(["notes"], "web.cocite", base="https://me.example/", text=False)`.
    """
    given = {name: plain(value, True) for name, value in {"sources": sources, **options}.items() if value is not None}
    with unless_decided(Workload()):
        if adding:
            done = make(Add, "python", given, index=str(path)).do(progress)
        else:
            done = make(Build, "python", given, output=str(path)).do(progress)
    if done.warning:
        raise BadStore(done.warning)
    return done.built
