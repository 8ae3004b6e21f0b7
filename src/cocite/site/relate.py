"""Relate the pages of a site: a Graph of their records in memory, asked as `cocite related` asks a store.

The results of a page are those of `cocite related ADDRESS -m METHOD --site BASE` on a store built from the same folder.
Pages that the owner hides, tables of contents and pages in another language are dropped; pinned pages come first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cocite.operations import DEFAULT_METHOD
from cocite.operations.pages.related import Related
from cocite.site.overrides import Overrides, Wishes, wishes_for
from cocite.site.read import ReadSite, SitePage, path_of
from cocite.sources.records import Link, Page

if TYPE_CHECKING:
    from cocite.graph.generation import Progress
    from cocite.results.answer import Answer

EXTRA_RESULTS = 20
"""Results beyond k that are looked for, as the owner may not want some."""
GENERATED_PAGES = ("404.html", "search.html", "*/search.html", "genindex*.html", "*/genindex*.html", "py-modindex.html")
MIN_CONTENTS_LINKS, MIN_LINKED_TEXT = 5, 0.6
"""A page of at least so many links, whose texts are this share of its text, is a table of contents."""
METHOD = f"{DEFAULT_METHOD}(boilerplate=false, chop=none)"
"""Menus, footers and breadcrumbs link all pages of a site with each other."""
PROGRESS_PAGES = 16
_TITLE_PARTS = re.compile(r"\s+(?:[—–|·«»:-]|::)\s+")


@dataclass(frozen=True)
class RelatedPage:
    """A page related to another one of the site."""

    page: int
    score: float
    words: tuple[str, ...] = ()  # that both have
    linked: str = ""  # "to": the page links to it, "from": it links to the page, "both"
    listed: bool = False  # other pages link to both
    pinned: bool = False


@dataclass
class RelatedSite:
    """Every listed page of a site, and the pages related to it."""

    files: list[str]  # paths in the folder
    paths: list[str]  # of addresses
    titles: list[str] = field(default_factory=list)
    related: list[list[RelatedPage]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    unknown: list[str] = field(default_factory=list)  # references in overrides that lead to no page


def relate_site(base: str, site: ReadSite, overrides: Overrides, k: int, progress: Progress) -> RelatedSite:
    """The related pages of every page."""
    from cocite.graph.store import Graph
    from cocite.web import Web

    own_paths = {file: path_of(page.record.url, page.record.url) or "/" for file, page in site.pages.items()}
    known = {_stripped(path) for path in own_paths.values()}
    skipped: Counter[str] = Counter()
    listed: dict[str, Page] = {}
    aliases: dict[str, Page] = {}
    for file, page in site.pages.items():
        record = _with_own_address(page.record, known)
        reason = _why_skipped(file, page, record, overrides)
        if reason == ALIAS:
            aliases[file] = Page(record.url, redirect=record.redirect or record.canonical)
        if reason:
            skipped[reason] += 1
        else:
            listed[file] = record
    result = RelatedSite(list(listed), [_shown_path(record) for record in listed.values()], skipped=skipped)
    places = _places(result.paths, [own_paths[file] for file in listed])
    for file, alias in aliases.items():
        target = path_of(alias.redirect, base)
        if target in places:
            places.setdefault(own_paths[file], places[target])
    wishes = [
        wishes_for(overrides, record.url, path, site.pages[file].wishes)
        for (file, record), path in zip(listed.items(), result.paths, strict=True)
    ]
    shared = shared_title_parts([record.title for record in listed.values()])
    titles = zip(listed.values(), result.paths, strict=True)
    result.titles = [own_title(record, shared, path) for record, path in titles]
    urls = [record.canonical or record.url for record in listed.values()]
    for record in listed.values():
        record.links = [_in_site(link, record.url, places, urls) for link in record.links]
    mark_navigation(list(listed.values()))
    graph = Graph.from_records([*listed.values(), *aliases.values()])
    web, numbers = Web(graph), {graph.find(record.url): at for at, record in enumerate(listed.values())}
    hidden = {at for at, wish in enumerate(wishes) if wish.hidden} | _contents_pages(list(listed.values()))
    languages = [record.lang.partition("-")[0] for record in listed.values()]
    for at, (record, wish) in enumerate(zip(listed.values(), wishes, strict=True)):
        asked = Related(urls=(record.url,), method=METHOD, k=k + EXTRA_RESULTS + len(hidden), site=(base,))
        found = [] if wish.none else [each for each in asked.run(web) if numbers.get(each.page, at) != at]
        near = [_related(numbers[each.page], each) for each in found if numbers[each.page] not in hidden]
        near = [each for each in near if each.words or each.linked or each.listed]
        near = [each for each in near if {languages[at], languages[each.page], ""} <= {languages[at], ""}]
        result.related.append(_chosen(result, wish, near, places, k, at))
        if at % PROGRESS_PAGES == 0:
            progress("relating pages", min(PROGRESS_PAGES, len(listed) - at), len(listed))
    result.unknown = sorted(set(result.unknown))
    return result


ALIAS = "alias of another page"
PLACE_KINDS = frozenset(("same host", "first page of its host"))
"""Reasons that any two pages of a site have."""


def _in_site(link: Link, address: str, places: dict[str, int], urls: Sequence[str]) -> Link:
    """A link with the address of the page that it leads to, however it is spelled."""
    path = path_of(link.url, address)
    return replace(link, url=urls[places[path]]) if path in places else link


def mark_navigation(records: Sequence[Page]) -> None:
    """Mark links as boilerplate that recur on many pages: the same text and target, the same text, the same group."""
    same: Counter[tuple[str, str]] = Counter()
    texts: Counter[str] = Counter()
    groups: Counter[tuple[str, ...]] = Counter()
    for record in records:
        same.update({(link.url, link.text) for link in record.links})
        texts.update({link.text for link in record.links})
        groups.update(set(_groups(record).values()))
    max_same, max_texts = max(4, 0.03 * len(records)), max(5, 0.2 * len(records))
    for record in records:
        own = _groups(record)
        for link in record.links:
            group = own.get(link.block, ())
            recurs = same[link.url, link.text] > max_same or texts[link.text] > max_texts
            link.boilerplate = link.boilerplate or recurs or (len(group) > 2 and groups[group] > 2)


def _groups(record: Page) -> dict[int | None, tuple[str, ...]]:
    """The targets of each section."""
    found: dict[int | None, list[str]] = {}
    for link in record.links:
        if link.block is not None:
            found.setdefault(link.block, []).append(link.url)
    return {block: tuple(urls) for block, urls in found.items()}


def _contents_pages(records: Sequence[Page]) -> set[int]:
    """Tables of contents: nobody needs to be pointed to them, unless the site is made of lists."""
    found = {
        at
        for at, record in enumerate(records)
        if len(record.links) >= MIN_CONTENTS_LINKS
        and sum(len(link.text) for link in record.links) >= MIN_LINKED_TEXT * len(record.text)
    }
    return found if 2 * len(found) < len(records) else set()


def _with_own_address(record: Page, known: set[str]) -> Page:
    """A record whose canonical address or redirect is kept only if it leads to a page of the folder."""
    target = path_of(record.redirect or record.canonical or record.url, record.url)
    inside = target is not None and _stripped(target) in known
    return record if inside else replace(record, redirect="", canonical="")


def _is_alias(record: Page) -> bool:
    """Whether a page leads to another one; with and without `.html` is the same page."""
    target = record.redirect or record.canonical
    own, there = path_of(record.url, record.url), path_of(target, record.url) if target else None
    return there is not None and _stripped(there) != _stripped(own or "/")


def _why_skipped(file: str, page: SitePage, record: Page, overrides: Overrides) -> str:
    """Why a page is not listed; empty if it is."""
    if any(fnmatchcase(file, pattern.lstrip("/")) for pattern in overrides.exclude):
        return "excluded by the overrides"
    if any(fnmatchcase(file, pattern) for pattern in GENERATED_PAGES):
        return "generated page (index, search)"
    if page.record.noindex:
        return "noindex"
    if _is_alias(record):
        return ALIAS
    return "" if record.text.strip() else "empty"


def _shown_path(record: Page) -> str:
    """The path by which readers know a page: without `.html`, if the page itself says so."""
    return path_of(record.canonical or record.url, record.url) or "/"


def _stripped(path: str) -> str:
    return path.removesuffix("/").removesuffix(".html").removesuffix(".htm") or "/"


def _places(paths: Sequence[str], own_paths: Sequence[str]) -> dict[str, int]:
    """The page that each path leads to, in any spelling that servers accept."""
    places = {_stripped(path): at for at, path in enumerate(paths)}
    places |= {f"{_stripped(path)}/": at for at, path in enumerate(paths)}
    return places | {path: at for some in (own_paths, paths) for at, path in enumerate(some)}


def _related(page: int, answer: Answer) -> RelatedPage:
    """A result with the words and links of its reasons."""
    reasons = [reason.to_dict() for reason in answer.reasons]
    words = next((tuple(reason.get("words", ())) for reason in reasons if reason["kind"] == "words"), ())
    kinds = {reason["kind"] for reason in reasons}
    to, back = "linked by the query" in kinds, "links to the query" in kinds
    linked = "both" if to and back else "to" if to else "from" if back else ""
    return RelatedPage(page, answer.score, words, linked, listed=bool(kinds - PLACE_KINDS - {"words"}))


def _chosen(
    result: RelatedSite, wish: Wishes, near: list[RelatedPage], places: dict[str, int], k: int, page: int
) -> list[RelatedPage]:
    """The k pages of a list: pinned ones, then related ones that the owner wants."""
    result.unknown += [path for path in (*wish.pin, *wish.never) if path not in places]
    if wish.none:
        return []
    pinned = dict.fromkeys(places[path] for path in wish.pin if places.get(path, page) != page)
    never = {places[path] for path in wish.never if path in places} | set(pinned)
    by_page = {each.page: each for each in near}
    first = [replace(by_page.get(other, RelatedPage(other, 0.0)), pinned=True) for other in pinned]
    return [*first, *(each for each in near if each.page not in never)][: max(k, len(first))]


def shared_title_parts(titles: Sequence[str]) -> frozenset[str]:
    """Parts of titles that name the site, not the page: the first or last part of a third of all titles."""
    ends = Counter(
        part for title in titles for part in {*_TITLE_PARTS.split(title)[:1], *_TITLE_PARTS.split(title)[-1:]}
    )
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
