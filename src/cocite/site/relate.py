"""Relate the pages of a site: a Graph of their records in memory, asked as `cocite related` asks a store.

The results of a page are those of `cocite related ADDRESS -m METHOD --site BASE` on a store built from the same folder,
with these differences: pages that the owner hides, tables of contents and pages in another language are dropped; a page
that a fifth of the site links to, such as a glossary, counts half; a page without links around it needs similar text;
pinned pages come first.
"""

import gc
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.kernels.interpreted import expect
from cocite.related.evidence import Evidence, LinkedFrom, LinksTo, SimilarText
from cocite.related.methods import method
from cocite.site.overrides import Overrides, Wishes, wishes_for
from cocite.site.read import ReadSite, in_chunks, path_of
from cocite.sources.records import Page
from cocite.system import without_collection
from cocite.web import Web

METHOD = "auto(boilerplate=false, chop=none)"
"""Menus, footers and breadcrumbs link all pages of a site with each other."""
EXTRA_RESULTS = 10
"""Results beyond k that are looked at, as some may not be similar enough."""
GENERATED_PAGES = ("404.html", "search.html", "genindex*.html", "py-modindex.html")
MIN_CONTENTS_LINKS, MIN_LINKED_TEXT = 5, 0.6
"""A page with at least this many links, whose texts are this share of its text, is a table of contents."""
MIN_KNOWN_LINKS, MIN_KNOWN_SHARE, KNOWN_FACTOR = 15, 0.2, 0.5
"""A page with more in-links, from more than this share of all pages, has words of everything: its score is halved."""
MIN_COSINE = 0.1
"""Pages that no link relates need text that is at least this similar."""
OTHER_KINDS = frozenset({SimilarText.kind, "company", "same host", "first page of its host", "links"})
"""Kinds of evidence other than a link from one page to the other, or a page that both have links with."""
MIN_PAGES_FOR_PROCESSES, MAX_PROCESSES = 2000, 4
"""Relating fewer pages takes less time than starting processes; each has a copy of the graph."""
ALIAS = "alias of another page"
_TITLE_PARTS = re.compile(r"\s+(?:[—–|·«»:-]|::)\s+")


@dataclass(frozen=True)
class RelatedPage:
    """A page related to another one of the site."""

    page: int
    score: float
    words: tuple[str, ...] = ()  # that both have
    linked: str = ""  # "to": the page links to it, "from": it links to the page, "both"
    pinned: bool = False


@dataclass
class RelatedSite:
    """Every listed page of a site, and the pages related to it."""

    files: list[str] = field(default_factory=list)  # paths in the folder
    paths: list[str] = field(default_factory=list)  # of addresses
    titles: list[str] = field(default_factory=list)
    related: list[list[RelatedPage]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    unknown: list[str] = field(default_factory=list)  # references in overrides that lead to no page


def relate_site(base: str, site: ReadSite, overrides: Overrides, k: int, progress: Progress) -> RelatedSite:
    """The related pages of every page."""
    own_paths = {file: path_of(page.record.url, page.record.url) or "/" for file, page in site.pages.items()}
    known = {_stripped(path) for path in own_paths.values()}
    result, aliases = RelatedSite(), list[Page]()
    listed: dict[str, Page] = {}
    for file, page in site.pages.items():
        record, target = page.record, path_of(page.record.redirect or page.record.canonical, page.record.url)
        if target is None or _stripped(target) not in known:  # it leads out of the folder
            record, target = replace(record, redirect="", canonical=""), own_paths[file]
        is_alias = _stripped(target) != _stripped(own_paths[file])  # with and without .html is the same page
        if reason := _why_skipped(file, record, is_alias, overrides):
            result.skipped[reason] += 1
        else:
            listed[file] = record
        if reason == ALIAS:
            aliases.append(Page(record.url, redirect=record.redirect or record.canonical))
    records = list(listed.values())
    result.files = list(listed)
    result.paths = [path_of(record.canonical or record.url, record.url) or "/" for record in records]
    expect(questions=len(records))
    places = _places(result.paths, [own_paths[file] for file in listed])
    for alias in aliases:
        own, target = path_of(alias.url, base), path_of(alias.redirect, base)
        if own is not None and target in places:
            places.setdefault(own, places[target])
    wishes = [
        wishes_for(overrides, record.url, path, site.pages[file].wishes)
        for (file, record), path in zip(listed.items(), result.paths, strict=True)
    ]
    shared = shared_title_parts([record.title for record in records])
    result.titles = [own_title(record, shared, path) for record, path in zip(records, result.paths, strict=True)]
    result.unknown = sorted({path for wish in wishes for path in (*wish.pin, *wish.never) if path not in places})
    with without_collection():
        join_links(records, places)
        mark_navigation(records)
        relater = Relater(Graph.from_records([*records, *aliases]), records, wishes, k, places)
    limits, pages = (MIN_PAGES_FOR_PROCESSES, MAX_PROCESSES), list(range(len(records)))
    gc.freeze()  # garbage collection would go over all that was read, again and again
    try:
        result.related = in_chunks(relater.lists, pages, "relating pages", *limits, progress)
    finally:
        gc.unfreeze()
    return result


def _why_skipped(file: str, record: Page, is_alias: bool, overrides: Overrides) -> str:
    """Why a page is not listed; empty if it is."""
    if any(fnmatchcase(file, pattern.lstrip("/")) for pattern in overrides.exclude):
        return "excluded by the overrides"
    if any(fnmatchcase(file.rpartition("/")[2], pattern) for pattern in GENERATED_PAGES):
        return "generated page (index, search)"
    if record.noindex:
        return "noindex"
    return ALIAS if is_alias else "" if record.text.strip() else "empty"


class Relater:
    """Finds related pages among those that may be listed. Processes get copies of it, with the words of all pages."""

    def __init__(
        self, graph: Graph, records: Sequence[Page], wishes: Sequence[Wishes], k: int, places: Mapping[str, int] = {}
    ) -> None:
        self.web, self.method, self.k, self.wishes, self.places = Web(graph), method(METHOD), k, wishes, places
        self.vectors = self.web.vectors
        self.pages = [graph.find(record.url) for record in records]
        self.numbers = {page: at for at, page in enumerate(self.pages)}
        self.hidden = {at for at, wish in enumerate(wishes) if wish.hidden} | contents_pages(records)
        self.well_known = well_known_pages(records)
        self.languages = [record.lang.partition("-")[0] for record in records]

    def lists(self, pages: Sequence[int]) -> list[list[RelatedPage]]:
        """The lists of some pages."""
        wishes = ((at, self.wishes[at]) for at in pages)
        return [[] if wish.none else self.related_to(at, partial(self._chosen, at, wish)) for at, wish in wishes]

    def related_to(self, at: int, choose: Callable[[list[RelatedPage]], list[RelatedPage]] = list) -> list[RelatedPage]:
        """Pages related to a page, best first. `choose` returns those to list: only these need words and links."""
        page, evidence = self.pages[at], dict[int, Sequence[Evidence]]()
        scores = self.method.relate(self.web, [page])
        ranked = scores.ranked(self.web.graph.in_degree, 10 * self.k + 100, self.web.graph.order)
        found = dict(self._allowed(at, ranked))

        def explain(some: Iterable[int]) -> None:
            if missing := [other for other in some if other in found and other not in evidence]:
                pages = np.array([self.pages[other] for other in missing], np.uint32)
                evidence.update(zip(missing, self.method.explain(self.web, scores, pages), strict=True))

        others = np.array([self.pages[other] for other in found], np.uint32)
        cosines = np.zeros(len(others)) if self.vectors is None else self.vectors.cosines(page, others)
        explain(other for other, cosine in zip(found, cosines.tolist(), strict=True) if cosine < MIN_COSINE)
        for other, some in evidence.items():
            if not {each.kind for each in some} - OTHER_KINDS:
                del found[other]
        near = [RelatedPage(other, score) for other, score in sorted(found.items(), key=lambda each: -each[1])]
        chosen = choose(near)
        explain(each.page for each in chosen)
        return [_explained(each, evidence[each.page]) if each.page in found else each for each in chosen]

    def _allowed(self, at: int, ranked: Iterator[tuple[int, float]]) -> Iterator[tuple[int, float]]:
        """Yield pages that may be listed, until there are enough; well-known ones have half their score."""
        left, own = self.k + EXTRA_RESULTS, self.languages[at]
        for page, score in ranked:
            other = self.numbers.get(page, at)
            if other == at or other in self.hidden or not {own, self.languages[other], ""} <= {own, ""}:
                continue
            yield other, score * (KNOWN_FACTOR if other in self.well_known else 1)
            left -= other not in self.well_known
            if not left:
                return

    def _chosen(self, page: int, wish: Wishes, near: Sequence[RelatedPage]) -> list[RelatedPage]:
        """The k pages of a list: pinned ones, then related ones that the owner wants."""
        places = self.places
        pinned = dict.fromkeys(places[path] for path in wish.pin if places.get(path, page) != page)
        never = {places[path] for path in wish.never if path in places} | set(pinned)
        by_page = {each.page: each for each in near}
        first = [replace(by_page.get(other, RelatedPage(other, 0.0)), pinned=True) for other in pinned]
        return [*first, *(each for each in near if each.page not in never)][: max(self.k, len(first))]


def _explained(listed: RelatedPage, evidence: Sequence[Evidence]) -> RelatedPage:
    """A result with the words and links of its evidence."""
    words = next((each.terms for each in evidence if isinstance(each, SimilarText)), ())
    to, back = (any(isinstance(each, kind) for each in evidence) for kind in (LinkedFrom, LinksTo))
    return replace(listed, words=words, linked="both" if to and back else "to" if to else "from" if back else "")


def join_links(records: Sequence[Page], places: Mapping[str, int]) -> None:
    """Give links the address of the page that they lead to, however they are spelled."""
    leading: dict[str, str] = {}
    for record in records:
        for link in record.links:
            if link.url not in leading:
                path = path_of(link.url, record.url)
                there = records[places[path]] if path is not None and path in places else None
                leading[link.url] = link.url if there is None else there.canonical or there.url
            link.url = leading[link.url]


def mark_navigation(records: Sequence[Page]) -> None:
    """Mark links as boilerplate that recur on many pages: the same text and target, the same text, the same group."""
    groups = [_groups(record) for record in records]
    same, texts, repeated = Counter[tuple[str, str]](), Counter[str](), Counter[tuple[str, ...]]()
    for record, own in zip(records, groups, strict=True):
        pairs = {(link.url, link.text) for link in record.links}
        same.update(pairs)
        texts.update({text for _, text in pairs})
        repeated.update(set(own.values()))
    max_same, max_texts = max(4, 0.03 * len(records)), max(5, 0.2 * len(records))
    recurring = {pair for pair, count in same.items() if count > max_same or texts[pair[1]] > max_texts}
    for record, own in zip(records, groups, strict=True):
        # once for each group: finding a tuple reads all of it
        marked = {block for block, group in own.items() if len(group) > 2 and repeated[group] > 2}
        for link in record.links:
            if link.block in marked or (link.url, link.text) in recurring:
                link.boilerplate = True


def _groups(record: Page) -> dict[int | None, tuple[str, ...]]:
    """The targets of each section."""
    found: defaultdict[int | None, list[str]] = defaultdict(list)
    for link in record.links:
        found[link.block].append(link.url)
    found.pop(None, None)
    return {block: tuple(urls) for block, urls in found.items()}


def contents_pages(records: Sequence[Page]) -> set[int]:
    """Tables of contents: nobody needs to be pointed to them, unless the site is made of lists."""
    found = {
        at
        for at, record in enumerate(records)
        if len(record.links) >= MIN_CONTENTS_LINKS
        and sum(len(link.text) for link in record.links) >= MIN_LINKED_TEXT * len(record.text)
    }
    return found if 2 * len(found) < len(records) else set()


def well_known_pages(records: Sequence[Page]) -> set[int]:
    """Pages that many pages link to in their texts."""
    content = ({link.url for link in record.links if not link.boilerplate} for record in records)
    linked = Counter(url for urls in content for url in urls)
    least = max(MIN_KNOWN_LINKS, MIN_KNOWN_SHARE * len(records))
    return {at for at, record in enumerate(records) if linked[record.canonical or record.url] > least}


def _stripped(path: str) -> str:
    return path.removesuffix("/").removesuffix(".html").removesuffix(".htm") or "/"


def _places(paths: Sequence[str], own_paths: Sequence[str]) -> dict[str, int]:
    """The page that each path leads to, in any spelling that servers accept."""
    places = {_stripped(path): at for at, path in enumerate(paths)}
    places |= {f"{_stripped(path)}/": at for at, path in enumerate(paths)}
    return places | {path: at for some in (own_paths, paths) for at, path in enumerate(some)}


def shared_title_parts(titles: Sequence[str]) -> frozenset[str]:
    """Parts of titles that name the site, not the page: the first or last part of a third of all titles."""
    parts = [_TITLE_PARTS.split(title) for title in titles]
    ends = Counter(part for some in parts for part in {some[0], some[-1]})
    return frozenset(part for part, times in ends.items() if times >= max(3, len(titles) / 3))


def own_title(record: Page, shared: frozenset[str], path: str) -> str:
    """The title of a page without the name of the site, else its first heading, else its path."""
    pieces, title = _TITLE_PARTS.split(record.title), record.title
    if len(pieces) > 1 and pieces[-1] in shared:
        title = title[: title.rindex(pieces[-1])].rstrip(" —–|·«»:-")
    elif len(pieces) > 1 and pieces[0] in shared:
        title = title[len(pieces[0]) :].lstrip(" —–|·«»:-")
    elif title in shared:
        title = ""
    return title or next(filter(None, record.headings), "") or record.title or path
