"""What `import cocite` offers: `cocite.build` and `cocite.open`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import cleandoc
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
from cocite.operations.pages.batch import Batch
from cocite.operations.pages.cluster import Cluster
from cocite.operations.pages.compare import Compare
from cocite.operations.pages.hubs import Hubs, find_hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.pages.similarity import Similarity, SimilarityResult, similarity
from cocite.operations.store.rank import TopPage, top_pages
from cocite.operations.words.communities import FindCommunities
from cocite.parameters import parameters_of
from cocite.related import methods
from cocite.related.methods.hubfinder import Criterion
from cocite.related.ranks import Ranked
from cocite.results.answer import Answers
from cocite.results.ask import check_address, question
from cocite.results.batch import BatchSummary, batch
from cocite.results.communities import CommunitiesFound
from cocite.results.compare import Comparison
from cocite.results.filters import Filters
from cocite.results.history import entries_of
from cocite.results.keywords import KeywordsFound, PageKeywords, keywords_for, keywords_of_page
from cocite.results.search import search_for
from cocite.sources.clicks import read_clicks
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from cocite.words.keywords import KeywordIndex
from cocite.words.search import SEARCH, SearchIndex, renew_search

Texts = str | Sequence[str]
F = TypeVar("F", bound=Callable[..., Any])


def made_from(operation: type[Operation]) -> Callable[[F], F]:
    """Give a method of Store the help of an operation: summary, parameters with their meaning, and its own notes."""

    def describe(method: F) -> F:
        about, notes = operation.about, cleandoc(method.__doc__ or "")
        lines = [f"    {each.name}: {each.help}." for _, each in parameters_on(operation, "python")]
        method.__doc__ = "\n\n".join(
            filter(None, (about.summary, about.help, notes, "Parameters:\n" + "\n".join(lines)))
        )
        return method

    return describe


class StoreSearch(SearchIndex):
    """The search index of a store; it can be called."""

    def __call__(self, query: str, k: int = 10) -> Answers:
        """The pages that suit some words best, `web.search("static site generator")`; phrases in double quotes."""
        return replace(search_for(self.graph, self, query, k), graph=self.graph)


@dataclass(frozen=True)
class StoreKeywords(KeywordIndex):
    """The keywords of a store; they can be called."""

    web: Web

    def __call__(
        self, words: str | Sequence[str], k: int = 10, *, alpha: float = 0.5, beta: float = 0.5, beside: str = "support"
    ) -> KeywordsFound:
        """Keywords to go on with from some words, `web.keywords("password manager").similar`."""
        return keywords_for(self.web, _texts(words), k, alpha, beta, beside)

    def of_page(self, page: str) -> PageKeywords:
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
    """A store, ready to be asked."""

    def _repr_html_(self) -> str:
        return self.graph._repr_html_()

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
        options |= {"pages": _texts(pages), "k": k, "unwanted": _texts(options.get("unwanted", ()))}
        options["history"] = tuple(entries_of(options.get("history", ())))
        own, parameters = _split(Related, options)
        asked = make(Related, "python", {**own, "method": str(methods.method(method, parameters))})
        return replace(asked.run(self), graph=self.graph)

    @made_from(Similarity)
    def similarity(self, page: str, other: str, method: str = "integrated", **parameters: Any) -> SimilarityResult:
        """`float()` of the result is the score."""
        return similarity(self, page, other, methods.method(method, parameters))

    @made_from(Batch)
    def batch(
        self,
        output: str | Path,
        method: str = DEFAULT_METHOD,
        k: int = 10,
        *,
        pages: str | Sequence[str] | None = None,
        processes: int | None = None,
        all_pairs: bool = False,
        progress: Progress = no_progress,
        **options: Any,
    ) -> BatchSummary:
        """A script that calls this needs `if __name__ == "__main__":`, as it starts processes."""
        own, parameters = _split(Filters, options)
        chosen, kept = str(methods.method(method, parameters)), Filters(**own)
        asked = None if pages is None else [self.graph.find(check_address(page)) for page in _texts(pages)]
        return batch(
            self.graph, chosen, Path(output), k=k, queries=asked, filters=kept, processes=processes,
            together=all_pairs, progress=progress,
        )  # fmt: skip

    def add_clicks(
        self, files: str | Path | Sequence[str | Path], *, kind: str | None = None, anew: bool = False
    ) -> Kept:
        """Count click logs into the store, as `cocite clicks` does; `web.clicks` has them then."""
        paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
        report = ReadReport()
        kept = add_clicks(
            self.graph, (trail for path in paths for trail in read_clicks(path, report, kind)), report, anew
        )
        self.__dict__.pop("clicks", None)
        return kept

    def rank(self, call: str) -> StoreRank:
        """A rank of all pages, `web.rank("hubrank").top(20)`: the one that is kept, else worked out now."""
        return StoreRank(**vars(super().rank(call)), graph=self.graph)

    @made_from(FindCommunities)
    def communities(self, query: str = "", k: int = 10, *, pages: Texts = (), **parameters: Any) -> CommunitiesFound:
        """Further parameters are those of the method community: `web.communities("jaguar", npea="min", vectors=5)`."""
        call = str(methods.method("community", parameters))
        asked = make(FindCommunities, "python", {"query": query, "k": k, "pages": _texts(pages)})
        return replace(asked, method=call).run(self)

    @made_from(Hubs)
    def hubs(
        self,
        pages: Texts,
        k: int = 10,
        *,
        criterion: Criterion | None = None,
        explain: bool = True,
        **options: Any,
    ) -> Answers:
        """`criterion` is a function of (web, page numbers) that rates pages; else parameters of hubfinder name one."""
        own, parameters = _split(Filters, options)
        asked, chosen = question(self.graph, _texts(pages)), methods.method("hubfinder", parameters)
        found = find_hubs(self, asked, chosen, k, criterion=criterion, explained=explain, filters=Filters(**own))
        return replace(found, graph=self.graph)

    @made_from(Cluster)
    def cluster(self, pages: Sequence[str], most: int = 12, by: str = "lli") -> list[tuple[tuple[str, ...], list[str]]]:
        """The result has the keywords of each group, and the addresses of its pages."""
        found = make(Cluster, "python", {"pages": _texts(pages), "most": most, "by": by}).run(self)
        return [(group.keywords, [url for url, _ in group.pages]) for group in found.groups]

    @made_from(Compare)
    def compare(self, page: Texts, methods_: Texts = (), k: int = 10, **filters: Any) -> Comparison:
        """The result has `by_method`, `votes()` and `overlap(one, other)`."""
        named = tuple(_texts(methods_, "a method is given by its name"))
        return make(Compare, "python", {"pages": _texts(page), "methods_": named, "k": k, **filters}).run(self)

    @made_from(Recommend)
    def recommend(self, history: Mapping[str, float] | Texts, k: int = 10, **options: Any) -> Answers:
        """`history` is a mapping of addresses to weights, or addresses: `web.recommend({"nytimes.com": 3})`."""
        return self.related(history=history, k=k, **options)


def _split(cls: type, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options that are parameters of a declaration, and the others, which are parameters of a method."""
    names = {shown.name for each in parameters_of(cls) if (shown := each.for_surface("python")) is not None}
    own = {name: value for name, value in options.items() if name in names}
    return own, {name: value for name, value in options.items() if name not in names}


def _texts(given: Texts, kind: str = "a page is given by its address") -> list[str]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, bytes | bytearray | memoryview) or not isinstance(given, Iterable):
        raise BadParameter(f"{kind}, several by a list of these, not by {given!r:.100}")
    return list(given)


def open(path: str | Path) -> Store:
    """A store, ready to be asked."""
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
