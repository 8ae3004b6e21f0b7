"""Drop the noise pages of a set: NPEA alone (Hou & Zhang 2002, §3.2 and §6)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.task import not_in_store, read_addresses
from cocite.operations.words.communities import COMMUNITY_METHOD, check_method, root_set, why_npea
from cocite.parameters import parameter, values_of
from cocite.results.answer import HIDDEN, Result, ResultRows
from cocite.text import rounded

if TYPE_CHECKING:
    from cocite.related.methods.community import BaseSet


@dataclass(frozen=True)
class FilteredPage(Result):
    """A page that NPEA keeps or drops."""

    url: str
    title: str
    root: bool  # in the root set, which is always kept
    label: str  # by the words: topic, suspected (linked with at most one root page) or noise; without words empty
    measure: float
    root_pages_linked: int
    why: str
    page: int = field(metadata=HIDDEN)


@dataclass(frozen=True, repr=False)
class PagesFiltered(ResultRows[FilteredPage], Result):
    """The pages that are kept, which are its rows, and those that are dropped; highest measures first."""

    query: str
    params: Mapping[str, Any]
    root: int  # root pages
    threshold: float
    kept: tuple[FilteredPage, ...]
    dropped: tuple[FilteredPage, ...]
    kept_in_all: int
    dropped_in_all: int
    unknown: tuple[str, ...]  # addresses that the store doesn't have
    store: Mapping[str, Any]
    milliseconds: float
    note: str = ""  # what to know about all pages, in words

    @property
    def _rows(self) -> tuple[FilteredPage, ...]:  # type: ignore[override]
        return self.kept

    def __repr__(self) -> str:
        return f"<{self.kept_in_all:,} pages kept, {self.dropped_in_all:,} dropped>"


@operation(name="filter", route="/api/filter", tool="filter_pages", slow=True)
class FilterPages(Operation):
    """Drop pages that are too loosely linked with a topic.

    The root set is the best pages for some words, or given pages. A page is kept if its links with the root set reach
    the average of the root set itself (NPEA, Hou & Zhang 2002). Without pages to filter, those around the root set are:
    the pages that it links to, and some that link to it. Each page has the reason, and with words a label: `noise` has
    none of the words, `suspected` has one but at most one link with the root set, `topic` is the rest.

    Command line: Exits with 1 if no page is kept.

    Examples:
        cocite filter typography --json
        cocite filter newspapers --file pages.txt
        cocite filter --root nytimes.com --root lemonde.fr --file pages.txt
    """

    query: str = shared.topic()
    k: int | None = parameter(
        None, "Maximum number of kept, and of dropped, pages", type=int, flags=("-k",), minimum=0,
        maximum=shared.MAX_RESULTS,
        on={
            "cli": {"help": "Maximum number of kept, and of dropped, pages (default: all)"},
            "http": {"default": 100, "maximum": 1000},
            "mcp": {"default": 20, "minimum": 1, "maximum": 50},
        },
    )  # fmt: skip
    urls: tuple[str, ...] = shared.some_pages("A page to filter; may be repeated", shared.MAX_RESULTS)
    root: tuple[str, ...] = parameter(
        (), "A page of the root set; may be repeated", metavar="URL", max_items=shared.MAX_PAGES,
        on=shared.ADDRESSES,
    )  # fmt: skip
    file: str = shared.command_option(
        "", "More pages to filter: a file of addresses, one per line", metavar="FILE", flags=("--file", "-f")
    )
    method: str = shared.method(
        COMMUNITY_METHOD, "Parameters: community(delta=0.3, npea=min)", example=None, surfaces=("cli", "http", "python")
    )

    def validate(self) -> None:
        if not self.query.strip() and not self.root:
            raise BadParameter("No root set to compare with: give words of a topic, or root pages")
        check_method(self.method)

    def on_surface(self, surface: str) -> Self:
        """Read the addresses of a file."""
        return replace(self, urls=(*self.urls, *read_addresses(self.file))) if self.file else self

    def prepare(self, web: Web) -> None:
        from cocite.words.search import SEARCH

        if self.query.strip():
            web.search = SEARCH.ready(web.graph, progress=web.progress)

    def run(self, web: Web) -> PagesFiltered:
        """The kept and the dropped pages."""
        import numpy as np

        from cocite.kernels.jit import stopwatch
        from cocite.related.methods import method
        from cocite.related.methods.community import BaseSet
        from cocite.related.neighbourhood.view import GraphView
        from cocite.results.ask import about_store
        from cocite.results.known import find_pages

        params: Any = method(self.method).params
        with stopwatch() as passed:
            root, _, notes = root_set(web, self.query, self.root, params)
            found = find_pages(web.graph, self.urls, "none")
            given = np.array([each.page for each in found if each], np.uint32)
            view = GraphView(web.graph, root, params, web.known_pages(params.stop))
            base = BaseSet(view, [root], params, given if self.urls else None)
            shown = base.edges.pages
            if self.urls:
                shown = np.intersect1d(shown, view.representatives(given))
            at = base.edges.pages.searchsorted(shown)
            order = web.graph.names.address_keys(shown)
            at = at[np.lexsort((order, -np.round(base.measured.measure[at], 9)))]
            kept, dropped = (at[base.measured.keep[at] == wanted] for wanted in (True, False))
            return PagesFiltered(
                query=self.query.strip(),
                params=values_of(params),
                root=int(base.root.sum()),
                threshold=rounded(base.measured.threshold),
                kept=described(base, kept[: self.k].tolist(), self.query),
                dropped=described(base, dropped[: self.k].tolist(), self.query),
                kept_in_all=len(kept),
                dropped_in_all=len(dropped),
                unknown=tuple(url for url, each in zip(self.urls, found, strict=True) if each is None),
                store=about_store(web.graph),
                milliseconds=passed(),
                note=". ".join([*notes, *view.notes]),
            )

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        if result.unknown:
            yield not_in_store(result.unknown, self.file)

    def why_empty(self, web: Web, result: Any) -> str:
        if result.kept_in_all:
            return ""
        if not result.root:
            return f"No page has any of the words {result.query!r}: try others, or give root pages"
        if not result.dropped_in_all:
            return "None of the pages to filter is in this store"
        return "All pages were dropped: give more root pages, or a lower threshold: community(npea=min)"


def described(base: "BaseSet", places: list[int], query: str) -> tuple[FilteredPage, ...]:
    """Pages of a base set, with their labels if there are words."""
    from cocite.evaluate.noise import labels_by_words
    from cocite.results.naming import titles_of

    titles, measured, found = titles_of(base.view.graph), base.measured, []
    labels = labels_by_words(base, query) if query.strip() else None
    for at in places:
        page, label = int(base.edges.pages[at]), ""
        if labels:
            label = "noise" if labels.noise[at] else "suspected" if labels.suspected[at] else "topic"
        links, measure = int(measured.ties[at]), rounded(float(measured.measure[at]))
        facts = (titles.address(page), titles.of(page), bool(base.root[at]), label, measure, links)
        found.append(FilteredPage(*facts, why_npea(base, at), page))
    return tuple(found)
