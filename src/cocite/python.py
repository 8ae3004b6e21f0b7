"""What `import cocite` offers: `cocite.build` and `cocite.open`.

The methods of a store ask the operations: `made_from` gives them the help and the parameters of the declaration.
Parameters that an operation doesn't declare are those of its method: `web.related("nytimes.com", parents=500)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import Parameter as Argument
from inspect import Signature, cleandoc, signature
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from cocite.errors import BadParameter
from cocite.graph.build.maintain import add as add_to_store
from cocite.graph.build.passes import BuildOptions, Built
from cocite.graph.build.passes import build as build_store
from cocite.graph.clicks import Kept, add_clicks
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.operations import DEFAULT_METHOD
from cocite.operations.declare import Operation, make, parameters_on
from cocite.operations.pages.batch import Batch, BatchSummary
from cocite.operations.pages.cluster import Cluster, PageGroups
from cocite.operations.pages.compare import Compare, Comparison
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.pages.similarity import Similarity, SimilarityResult
from cocite.operations.store.rank import RankPages, TopPage, top_pages
from cocite.operations.words.communities import CommunitiesFound, FindCommunities
from cocite.operations.words.keywords import FindKeywords, KeywordsFound, KeywordsOfPage, keywords_of_page
from cocite.operations.words.search import SearchPages
from cocite.related import methods
from cocite.related.methods.hubfinder import Criterion
from cocite.related.ranks import Ranked
from cocite.results.answer import Answers
from cocite.results.ask import check_address
from cocite.results.history import check_weight
from cocite.sources.clicks import read_clicks
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from cocite.words.keywords import KeywordIndex
from cocite.words.search import SEARCH, SearchIndex, renew_search

Texts = str | Sequence[str]
Weights = Mapping[str, float] | Iterable[str | tuple[str, float]]
MethodT = TypeVar("MethodT", bound=Callable[..., Any])
ResultT = TypeVar("ResultT")


def made_from(operation: type[Operation]) -> Callable[[MethodT], MethodT]:
    """Give a method of Store the help and the parameters of an operation, and its own notes."""

    def describe(method: MethodT) -> MethodT:
        about, declared = operation.about, [each for _, each in parameters_on(operation, "python")]
        lines = "\n".join(f"    {each.name}: {each.help}." for each in declared)
        notes = (about.summary, about.help, cleandoc(method.__doc__ or ""), f"Parameters:\n{lines}")
        method.__doc__ = "\n\n".join(filter(None, notes))
        own = {name: each for name, each in signature(method).parameters.items() if each.kind is not each.VAR_KEYWORD}
        more = [
            Argument(each.name, Argument.KEYWORD_ONLY, default=each.default)
            for each in declared
            if each.name not in own
        ]
        rest = [Argument("parameters", Argument.VAR_KEYWORD)] if hasattr(operation, "method") else []
        method.__signature__ = Signature([*own.values(), *more, *rest])  # type: ignore[attr-defined]
        return method

    return describe


class StoreSearch(SearchIndex):
    """The search index of a store; it can be called."""

    @made_from(SearchPages)
    def __call__(self, query: str, k: int = 10, **filters: Any) -> Answers:
        """`web.search("static site generator")`."""
        web = Store(self.graph)
        web.search = self
        return web._ask(Answers, SearchPages, query=query, k=k, **filters)


@dataclass(frozen=True)
class StoreKeywords(KeywordIndex):
    """The keywords of a store; they can be called."""

    web: Store

    @made_from(FindKeywords)
    def __call__(self, words: Texts = (), k: int = 10, **options: Any) -> KeywordsFound:
        """`web.keywords("password manager").similar`."""
        return self.web._ask(KeywordsFound, FindKeywords, words=words, k=k, **options)

    def of_page(self, page: str) -> KeywordsOfPage:
        """The keywords of a page, and its main ones: `web.keywords.of_page("nodejs.org").main`."""
        return keywords_of_page(self.web, check_address(page))


@dataclass(frozen=True)
class StoreRank(Ranked):
    """A rank of all pages of a store."""

    graph: Graph

    def top(self, k: int = 20) -> list[TopPage]:
        """The k pages of highest value."""
        return top_pages(self.graph, self, k)


class Store(Web):
    """A store, ready for questions."""

    def _repr_html_(self) -> str:
        return self.graph._repr_html_()

    def _ask(
        self, result: type[ResultT], operation: type[Operation], rating: Criterion | None = None, /, **given: Any
    ) -> ResultT:
        """The result of an operation. Parameters that it doesn't declare are those of its method."""
        declared = {each.name: each for _, each in parameters_on(operation, "python")}
        more = {name: given.pop(name) for name in list(given) if name not in declared}
        given = {name: each for name, each in given.items() if each is not None or declared[name].default is not None}
        fields: dict[str, Any] = {} if rating is None else {"rating": rating}
        if hasattr(operation, "method"):
            fields["method"] = str(methods.method(given.pop("method", operation.method), more))
            more = {}
        for name, value in given.items():
            if declared[name].many and isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
                given[name] = list(value)
        found = make(operation, "python", {**given, **more}, **fields).run(self)
        found = replace(found, graph=self.graph) if isinstance(found, Answers) else found
        assert isinstance(found, result)
        return found

    @cached_property
    def search(self) -> StoreSearch:
        """The search index, to be called with words."""
        return StoreSearch(SEARCH.find(self.graph))

    @cached_property
    def keywords(self) -> StoreKeywords:
        """The keywords of all pages, to be called with words: those that are kept, else chosen now, and not kept."""
        return StoreKeywords(**vars(super().keywords), web=self)

    @made_from(Related)
    def related(self, pages: Texts = (), method: str = DEFAULT_METHOD, k: int = 10, **options: Any) -> Answers:
        """Parameters of the method may be given by name: `web.related("nytimes.com", "companion", parents=500)`.

        A `history` is pages with weights, such as `{"nytimes.com": 3, "bmw.com": 1}`.
        """
        options["history"] = tuple(entries_of(options.get("history", ())))
        return self._ask(Answers, Related, pages=pages, method=method, k=k, **options)

    @made_from(Recommend)
    def recommend(self, history: Weights, k: int = 10, **options: Any) -> Answers:
        """`history` is a mapping of addresses to weights, or addresses: `web.recommend({"nytimes.com": 3})`."""
        return self.related(history=history, k=k, **options)

    @made_from(Compare)
    def compare(self, page: Texts, methods_: Texts = (), k: int = 10, **filters: Any) -> Comparison:
        """The result has `by_method`, `votes()` and `overlap(one, other)`."""
        return self._ask(Comparison, Compare, page=page, methods_=methods_, k=k, **filters)

    @made_from(Similarity)
    def similarity(self, page: str, other: str, method: str = "integrated", **parameters: Any) -> SimilarityResult:
        """`float()` of the result is the score."""
        return self._ask(SimilarityResult, Similarity, page=page, other=other, method=method, **parameters)

    @made_from(Hubs)
    def hubs(self, pages: Texts, k: int = 10, *, criterion: str | Criterion | None = "", **options: Any) -> Answers:
        """`criterion` may also be a function of (web, page numbers) that rates pages."""
        rating = criterion if callable(criterion) else None
        named = criterion if isinstance(criterion, str) else ""
        return self._ask(Answers, Hubs, rating, pages=pages, k=k, criterion=named, **options)

    @made_from(Cluster)
    def cluster(self, pages: Sequence[str], most: int = 12, by: str = "lli") -> list[tuple[tuple[str, ...], list[str]]]:
        """The result has the keywords of each group, and the addresses of its pages."""
        found = self._ask(PageGroups, Cluster, pages=pages, most=most, by=by)
        return [(group.keywords, [url for url, _ in group.pages]) for group in found.groups]

    @made_from(FindCommunities)
    def communities(self, query: str = "", k: int = 10, **options: Any) -> CommunitiesFound:
        """Parameters of the method may be given by name: `web.communities("jaguar", npea="min", vectors=5)`."""
        return self._ask(CommunitiesFound, FindCommunities, query=query, k=k, **options)

    @made_from(Batch)
    def batch(
        self,
        output: str | Path,
        method: str = DEFAULT_METHOD,
        k: int = 10,
        *,
        progress: Progress = no_progress,
        **options: Any,
    ) -> BatchSummary:
        """A script that calls this needs `if __name__ == "__main__":`, as it starts processes."""
        web = Store(self.graph)
        web.progress = progress
        return web._ask(BatchSummary, Batch, output=str(output), method=method, k=k, **options)

    @made_from(RankPages)
    def rank(self, by: str = "pagerank") -> StoreRank:
        """`web.rank("hubrank").top(20)`: the rank that is kept, else computed now, and not kept."""
        return StoreRank(**vars(super().rank(by)), graph=self.graph)

    def add_clicks(
        self, files: str | Path | Sequence[str | Path], *, kind: str | None = None, anew: bool = False
    ) -> Kept:
        """Count click logs into the store, as `cocite clicks` does; `web.clicks` has them then."""
        paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
        report = ReadReport()
        trails = (trail for path in paths for trail in read_clicks(path, report, kind))
        kept = add_clicks(self.graph, trails, report, anew)
        self.__dict__.pop("clicks", None)
        return kept


def entries_of(given: Weights) -> list[tuple[str, float]]:
    """Addresses with weights, from a mapping of weights, from addresses, or from pairs."""
    pairs = given.items() if isinstance(given, Mapping) else given
    entries = []
    for each in pairs if isinstance(pairs, Iterable) and not isinstance(pairs, str) else [pairs]:
        address, weight = (each, 1.0) if isinstance(each, str) else each if isinstance(each, tuple) else (None, None)
        if not isinstance(address, str):
            raise BadParameter(
                f"a history must be a mapping of addresses to weights, or a list of addresses, not {each!r:.100}"
            )
        entries.append((address, check_weight(weight, f"the weight of {address!r:.200}")))
    return entries


def open(path: str | Path) -> Store:
    """A store, ready for questions."""
    if not isinstance(path, str | PathLike):
        raise BadParameter(f"a store is opened by its path, a text or a Path, not {path!r:.100}")
    return Store(path)


def build(
    sources: Sequence[str | Path],
    path: str | Path,
    *,
    base: str | None = None,
    kind: str | None = None,
    strict: bool = False,
    options: BuildOptions | None = None,
    progress: Progress = no_progress,
    adding: bool = False,
) -> Built:
    """Read sources (files, folders, addresses) into a new store, or with `adding` into the one that is there."""
    options = options or BuildOptions()
    said = {name: value for name, value in (("base", base), ("kind", kind)) if value is not None}
    options = replace(options, said={**options.said, **said})
    report = ReadReport(strict)
    opened = [open_source(str(source), report, base=base, kind=kind, text=options.text) for source in sources]
    built = (add_to_store if adding else build_store)(opened, Path(path), report, options, progress)
    renew_search(built.path, options.text, progress, options.memory // 4)
    return built
