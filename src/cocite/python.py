"""What `import cocite` offers: `cocite.build` and `cocite.open`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from cocite.errors import BadParameter
from cocite.graph.build.maintain import add as add_to_store
from cocite.graph.build.passes import BuildOptions, Built
from cocite.graph.build.passes import build as build_store
from cocite.graph.clicks import Kept, add_clicks
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.related import methods
from cocite.related.methods.hubfinder import Criterion
from cocite.related.ranks import Ranked
from cocite.results import COMPARED, DEFAULT_METHOD
from cocite.results.answer import Answers
from cocite.results.ask import ask, check_address, question
from cocite.results.batch import BatchSummary, batch
from cocite.results.communities import CommunitiesFound
from cocite.results.communities import find as find_communities
from cocite.results.compare import Comparison, compare
from cocite.results.filters import Filters
from cocite.results.groups import MOST_GROUPS, group_pages
from cocite.results.history import entries_of
from cocite.results.hubs import find_hubs
from cocite.results.keywords import KeywordsFound, PageKeywords, keywords_for, keywords_of_page
from cocite.results.search import search_for
from cocite.results.similarity import Similarity, similarity
from cocite.results.top_pages import TopPage, top_pages
from cocite.sources.clicks import read_clicks
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from cocite.words.keywords import Keywords
from cocite.words.search import Search, kept_side, renew_search


class StoreSearch(Search):
    """The search index of a store; it can be called."""

    def __call__(self, query: str, k: int = 10) -> Answers:
        """The pages that suit some words best, `web.search("static site generator")`; phrases in double quotes."""
        return replace(search_for(self.graph, self, query, k), graph=self.graph)


@dataclass(frozen=True)
class StoreKeywords(Keywords):
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
        return StoreSearch(self.graph, kept_side(self.graph))

    @cached_property
    def keywords(self) -> StoreKeywords:
        """The keywords of all pages, to be called with words: those that are kept, else chosen now, and not kept."""
        return StoreKeywords(**vars(super().keywords), web=self)

    def related(
        self,
        pages: str | Sequence[str] = (),
        method: str = DEFAULT_METHOD,
        k: int = 10,
        *,
        unwanted: str | Sequence[str] = (),
        history: Mapping[str, float] | Sequence[str | tuple[str, float]] = (),
        explain: bool = True,
        per_site: int = 0,
        not_own_site: bool = False,
        lang: str = "",
        since: str = "",
        **parameters: Any,
    ) -> Answers:
        """The pages most related to one page, or to all of several.

        Parameters of the method are given by name, `web.related("nytimes.com", "companion", parents=500)`, or in the
        method's name, `"companion(parents=500)"`. A `history` is pages with weights, such as
        `{"nytimes.com": 3, "bmw.com": 1}`: answers are then related to all of them, to the heavier ones more.
        """
        kept = Filters(per_site=per_site, not_own_site=not_own_site, lang=lang, since=since)
        asked = question(self.graph, _texts(pages), _texts(unwanted), entries_of(history))
        return replace(ask(self, asked, methods.method(method, parameters), k, kept, explain), graph=self.graph)

    def similarity(self, page: str, other: str, method: str = "integrated", **parameters: Any) -> Similarity:
        """How similar two pages are: `float()` of it is the score."""
        return similarity(self, page, other, methods.method(method, parameters))

    def batch(
        self,
        output: str | Path,
        method: str = DEFAULT_METHOD,
        k: int = 10,
        *,
        pages: str | Sequence[str] | None = None,
        per_site: int = 0,
        not_own_site: bool = False,
        lang: str = "",
        since: str = "",
        processes: int | None = None,
        all_pairs: bool = False,
        progress: Progress = no_progress,
        **parameters: Any,
    ) -> BatchSummary:
        """Answers for every page that has links, or for some, into a folder of Parquet files or a .tsv file.

        Work is shared by as many processes as there are cores; a script that calls this is protected by
        `if __name__ == "__main__":`. The same call goes on where one was interrupted. With `all_pairs`, integrated
        similarity is worked out for all pages at once, far sooner, and not exactly (docs/integrated.md).
        """
        kept = Filters(per_site=per_site, not_own_site=not_own_site, lang=lang, since=since)
        chosen = str(methods.method(method, parameters))
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

    def communities(
        self, query: str = "", k: int = 10, *, pages: str | Sequence[str] = (), **parameters: Any
    ) -> CommunitiesFound:
        """Communities of hubs and authorities on a topic, `web.communities("jaguar")`, or around given pages.

        Parameters are those of the method community: `web.communities("jaguar", npea="min", vectors=5)`.
        """
        return find_communities(self, query, _texts(pages), methods.method("community", parameters).params, k)

    def hubs(
        self,
        pages: str | Sequence[str],
        k: int = 10,
        *,
        criterion: Criterion | None = None,
        explain: bool = True,
        **parameters: Any,
    ) -> Answers:
        """Hubs (or, with kind="authorities", authorities) some links away from pages.

        `criterion` is a function of (web, page numbers) that says how interesting each page is; else parameters of the
        method `hubfinder` name one. `steps` of the answers say what each round explored, beside plain HITS.
        """
        asked, chosen = question(self.graph, _texts(pages)), methods.method("hubfinder", parameters)
        found = find_hubs(self, asked, chosen, k, criterion=criterion, explained=explain)
        return replace(found, graph=self.graph)

    def cluster(
        self, pages: Sequence[str], most: int = MOST_GROUPS, by: str = "lli"
    ) -> list[tuple[tuple[str, ...], list[str]]]:
        """Pages put into groups: the keywords of each, and the addresses of its pages.

        Groups are of pages that are cited in the same sections, or, by="integrated", that are alike by words and links.
        """
        found = group_pages(self, [self.graph.find(check_address(page)) for page in _texts(pages)], most, by)
        return [(group.keywords, [self.graph.address(page) for page in group.pages]) for group in found]

    def compare(self, page: str | Sequence[str], methods_: Sequence[str] = (), k: int = 10) -> Comparison:
        """Several methods (some quick ones, if none is named) on the same question, side by side."""
        chosen = [methods.method(name) for name in _texts(methods_ or COMPARED, "a method is given by its name")]
        return compare(self, question(self.graph, _texts(page)), chosen, k)


def _texts(given: str | Sequence[str], kind: str = "a page is given by its address") -> list[str]:
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
