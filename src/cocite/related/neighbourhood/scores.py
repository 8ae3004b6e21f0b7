"""From query pages to scores: where a method starts, what it returns, the order of results, and evidence from links.

A page with too few links around it is chopped (Dean & Henzinger 1999, §2.2): its fragment, its query string, then one
path element after another is removed until an address has enough links around it. `chop=host`, the published rule, goes
on until a host name is left; by default it stops at the page's site.

Evidence from links is found for all kept results at once: parents that link to both pages, links that both have, and
links between the two. Only parents that the method chose and links that it counts are evidence. A result and the
near-duplicates that it represents are one subject: evidence for any of them counts, and names the near-duplicate.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.budget import spend
from cocite.errors import BadAddress
from cocite.graph.arrays import read_only
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import NONE_MOVED
from cocite.kernels.related.best_first import ScoredPages, best_first
from cocite.kernels.related.independence import GROUPED
from cocite.kernels.related.listings import MAX_EXAMPLES, CountedWeb, find_evidence
from cocite.kernels.related.neighbourhood import Parents
from cocite.pages.address import chop
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages, Switches, is_one_of
from cocite.text import rounded
from cocite.web import Web

MIN_SCORE = 1e-12
Values = NDArray[np.float64]
Explain = Callable[[Pages], list[list[Evidence]]]
Gathered = TypeVar("Gathered")
WINDOW_LINKS = 2000
"""Links that evidence reads around the link to the query page in long lists; the rest is looked up."""
MAX_PARENTS, MAX_CHILDREN = 2000, 4096
"""What evidence reads, unless the method reads more."""
MAX_NAMED_COPIES = 5


NO_TIES: Values = read_only(np.zeros(0))
NO_COUNTS: NDArray[np.int32] = read_only(np.zeros(0, np.int32))


class FirstPlaces(NamedTuple):
    """The places of the best pages of some values, best first, as a kernel found them beside its other work.

    Pages that are not results are among them. Fewer places than were `asked` for are all that there are.
    """

    values: Values
    in_degree: NDArray[np.uint32]
    places: NDArray[np.int64]
    asked: int


@dataclass(frozen=True)
class Scores:
    """Pages with scores, in no order; and what the method has to report."""

    pages: Pages
    values: Values
    used: Sequence[int]  # the pages that are used in place of the seeds
    excluded: Pages  # not results: the seeds, those used, their representatives, stop pages
    ties: Values | None = None  # decides between equal scores
    reached: NDArray[np.int32] | None = None  # how many query pages reach each page; None: all of them
    facts: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()  # what each round did, for a method that reports rounds
    notes: Sequence[str] = ()  # what to know about all results, in words
    path: Callable[[int], Sequence[int]] | None = None  # the pages through which a distant result was reached
    evidence: Explain | None = None  # for kept results, strongest first; None, or empty: the links are the evidence
    first: FirstPlaces | None = None  # if they are of these values; else they are found when somebody asks

    def ranked(
        self, in_degree: NDArray[np.uint32], first: int = 100, order: NDArray[np.uint64] = NONE_MOVED
    ) -> Iterator[tuple[int, float]]:
        """(page, score), best first. The first ones cost little; the rest are ordered only when they are needed.

        By query pages reached, score to six significant digits, ties, in-degree, and address: `order` is that of the
        graph, for the pages of layers.
        """
        places = self._first(in_degree, first, order)
        if len(places) == first:
            yield from self._at(places)
            places = self._first(in_degree, len(self.pages), order)[first:]
        yield from self._at(places)

    def _at(self, places: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
        return zip(self.pages[places].tolist(), map(rounded, self.values[places].tolist()), strict=True)

    def _first(self, in_degree: NDArray[np.uint32], first: int, order: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The indices of the first pages."""
        known, alone = self.first, self.ties is None and self.reached is None
        if known is not None and alone and known.values is self.values and known.in_degree is in_degree:
            places: NDArray[np.int64] = known.places[~is_one_of(self.pages[known.places], self.excluded)]
            if len(places) >= first or len(known.places) < known.asked:
                return places[:first]
        ties = NO_TIES if self.ties is None else read_only(self.ties.astype(np.float64))
        reached = NO_COUNTS if self.reached is None else read_only(self.reached.astype(np.int32))
        pages, excluded = read_only(self.pages.astype(np.uint32, copy=False)), read_only(np.sort(self.excluded))
        scored = ScoredPages(pages, read_only(self.values), ties, reached, read_only(in_degree), order)
        found: NDArray[np.int64] = best_first(scored, excluded, MIN_SCORE, first)
        return found


class Best(NamedTuple):
    """The first results for each of many pages, one page after another: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: Pages
    scores: Values
    enough: NDArray[np.bool_]  # false: page i has too few links around it, a shorter address may have more


@dataclass(frozen=True)
class Start:
    """The pages to start from, and the view on them."""

    view: GraphView
    used: list[int]
    excluded: Pages  # not results: the seeds, the pages used, their representatives, stop pages

    def scores(
        self, pages: Pages, values: NDArray[np.float64], rows: NDArray[Any] | None = None, **more: Any
    ) -> Scores:
        """Scores of pages; `rows` are positive where a query page (row) reaches a page."""
        reached = (rows > 0).sum(axis=0, dtype=np.int32) if rows is not None and len(self.used) > 1 else None
        return Scores(pages, values, self.used, self.excluded, reached=reached, notes=self.view.notes, **more)


def begin(
    web: Web, seeds: Sequence[int], switches: Switches, gather: Callable[[GraphView, list[int]], tuple[Gathered, bool]]
) -> tuple[Start, Gathered]:
    """Choose where to start and gather there: first around each page by itself, then around all together.

    `gather` returns what it found around some pages, and whether that is enough for results.
    """
    graph, seeds = web.graph, list(dict.fromkeys(seeds))
    stop = web.known_pages(switches.stop) if switches.stop else NO_PAGES
    used: list[int] = []
    found: tuple[GraphView, Gathered] | None = None
    for page in seeds:
        chosen: int | None = page
        if switches.chop != "none":
            chosen, own = None, None
            for other in chain((page,), shorter_addresses(graph, page, switches.chop)):
                view = GraphView(graph, [other], switches, stop)
                gathered, enough = gather(view, [other])
                found = view, gathered
                own = own or found
                if enough:
                    chosen = other
                    break
            if chosen is None:
                found = own  # not that of the last address
        if chosen is not None or switches.chop != "strict":
            used.append(page if chosen is None else chosen)
    used = list(dict.fromkeys(used))
    if found is None or len(seeds) > 1 or not used:
        view = GraphView(graph, used, switches, stop)
        found = view, gather(view, used)[0]
    view, gathered = found
    own_pages = np.array(list(dict.fromkeys([*seeds, *used])), np.uint32)
    excluded = np.concatenate((own_pages, view.representatives(own_pages), view.refused.stop))
    return Start(view, used, excluded), gathered


def shorter_addresses(graph: Graph, page: int, within: str) -> Iterator[int]:
    """Pages of the same site, or with `within` host of the same host, at ever shorter addresses."""
    for address in chop(graph.canonical(page)):
        try:
            found = graph.get(address)
        except BadAddress:
            continue
        if found is not None and (within == "host" or graph.units("site")[found] == graph.units("site")[page]):
            yield found


class SeedScores(NamedTuple):
    """Pages, each once, with their scores for one query page, and the path to each."""

    pages: Pages
    values: Values
    path: Callable[[int], Sequence[int]] | None = None


def combine_seeds(seeds: Sequence[int], find: Callable[[int], SeedScores], **more: Any) -> Scores:
    """The mean score over the query pages that reach a page; pages reached by more query pages come first."""
    used = list(dict.fromkeys(seeds))
    found = []
    for seed in used:
        spend()
        found.append(find(seed))
    excluded = np.array(used, np.uint32)
    if len(found) == 1:
        return Scores(found[0].pages, found[0].values, used, excluded, path=found[0].path, **more)
    reaching = [each.values >= MIN_SCORE for each in found]
    found = [SeedScores(x.pages[some], x.values[some], x.path) for x, some in zip(found, reaching, strict=True)]
    pages, index = np.unique(np.concatenate([NO_PAGES, *(each.pages for each in found)]), return_inverse=True)
    values = np.concatenate([NO_TIES, *(each.values for each in found)])
    reached = np.bincount(index, minlength=len(pages))
    mean = np.bincount(index, values, len(pages)) / np.maximum(1, reached)

    def path(page: int) -> Sequence[int]:
        """From the first query page that reaches it."""
        paths = (each.path for each in found if each.path is not None and page in each.pages)
        return next((of(page) for of in paths), [page])

    more["path"] = path if any(each.path for each in found) else None
    return Scores(pages, mean, used, excluded, reached=reached.astype(np.int32), **more)


def six_digits(values: Values) -> Values:
    """Values to six significant digits: iterations stop at 1e-8, so more would be noise."""
    with np.errstate(divide="ignore"):
        power = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    return np.where(values == 0, 0.0, np.rint(values * np.where(np.isfinite(power), power, 0)) / power)


# ------------------------------------------------------------------------------------------------- evidence from links


@dataclass(frozen=True)
class LinkEvidence:
    """Finds the evidence from links for the results of one question."""

    view: GraphView
    parents: Sequence[Parents]  # those that the method chose for each query page
    children: int = 0  # children of a query page that the method reads
    repeats: int = 0  # of the sections in which a parent repeats its link to the query page, this many count
    copies: int = GROUPED  # which parents are copies, and count as one

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, strongest first; empty if no link relates a result."""
        view, near = self.view, self._near_duplicates(pages)
        view.choose_unit([each.of for each in self.parents], [each.pages for each in self.parents])
        members, starts = pages, np.arange(len(pages) + 1)
        copies: list[int | None] = [None] * len(pages)
        if near:  # a result and its near-duplicates, one after another
            subjects = [[page, *near.get(page, ())] for page in pages.tolist()]
            members = np.array([page for each in subjects for page in each], np.uint32)
            starts = np.cumsum([0, *map(len, subjects)])
            copies = [copy for _, *others in subjects for copy in (None, *others)]
        web = view.counted._replace(copies=self.copies)
        limit = max(1, MAX_EXAMPLES // max(1, len(self.parents)))
        found = [
            for_query(self._about(web, each, members, starts, copies, limit), each.of, len(self.parents))
            for each in self.parents
        ]
        joined = take_turns(found) if found else [[] for _ in pages]
        for page, each in zip(pages.tolist() if near else (), joined, strict=False):
            if others := near.get(page):
                each.append(kinds.MergedDuplicates(count=len(others), examples=tuple(others[:MAX_NAMED_COPIES])))
        return joined

    def _near_duplicates(self, pages: Pages) -> dict[int, list[int]]:
        """The near-duplicates of each result that represents any."""
        near = self.view.near_duplicates.page
        if not len(near):
            return {}
        known = pages[
            near[np.minimum(np.searchsorted(near, pages), len(near) - 1)] == pages
        ]  # `isin` would sort `near`
        found = {page: self.view.duplicates_of(page).tolist() for page in known.tolist()}
        return {page: others for page, others in found.items() if others}

    def _about(
        self, web: CountedWeb, parents: Parents, members: Pages, starts: NDArray[np.int64], copies: list[int | None],
        limit: int,
    ) -> list[list[Evidence]]:  # fmt: skip
        """The evidence that relates results to one query page: the `limit` best examples of each, then counts."""
        if not len(parents.attributes):
            parents = Parents(parents.of, WINDOW_LINKS, parents.pages.copy())
        max_children = max(MAX_CHILDREN, self.children)
        state, lists, children, findings = find_evidence(web, parents, members, starts, self.repeats, max_children)
        self.view.check(state)
        found: list[list[Evidence]] = []
        for totals, by, to in zip(*(each.tolist() for each in findings), strict=True):
            spend()
            together, originals, groups, common, linked, links, through, member = totals
            examples = [
                kinds.Listing(
                    page=page,
                    section=None if section < 0 else section,
                    distance=None if apart < 0 else apart,
                    copy=copies[at],
                )
                for page, section, apart, at in by[: min(originals, 2 if common else limit)]
            ]
            direct, counts = list[Evidence](), list[Evidence]()
            if together:
                counts.append(
                    kinds.ListedTogether(lists=together, of=lists, originals=originals, groups=groups, best=examples[0])
                )
            if linked >= 0:
                direct.append(kinds.LinkedFrom(mutual=linked == links, copy=copies[linked]))
            if links >= 0:
                direct.append(kinds.LinksTo(mutual=linked == links, copy=copies[links]))
            shared = to[:common]
            if common:
                named = tuple([page for page, _ in shared])
                counts.append(kinds.SharedLinks(count=common, of=children, examples=named))
                if together:  # one of them comes before links between the two, the others after
                    (page, at), *shared = shared
                    direct.insert(0, kinds.SharedLink(to=page, copy=copies[at]))
            elif through >= 0:
                direct.append(kinds.LinksThrough(through=through, copy=copies[member]))
            best = [*examples, *direct]
            best += [kinds.SharedLink(to=page, copy=copies[at]) for page, at in shared[: max(0, limit - len(best))]]
            found.append([*best[:limit], *counts])
        return found


def for_query(found: list[list[Evidence]], query: int, queries: int) -> list[list[Evidence]]:
    """Evidence that names its query page, if there are several."""
    return found if queries == 1 else [[replace(one, query=query) for one in each] for each in found]


def take_turns(found: Sequence[list[list[Evidence]]]) -> list[list[Evidence]]:
    """Evidence about several query pages as one list for each result: the best of each page, then the second, …"""
    if len(found) == 1:
        return found[0]
    return [
        [one for turn in zip_longest(*each) for one in turn if one is not None] for each in zip(*found, strict=True)
    ]


def links_around(web: Web, used: Sequence[int], params: Any) -> LinkEvidence:
    """Evidence from links for a method that keeps none itself."""
    switches = params if isinstance(params, Switches) else Switches(merge=False, unit="none")
    view = GraphView(web.graph, used, switches, web.known_pages(switches.stop))
    limit = int(getattr(params, "parents", MAX_PARENTS))
    parents = [view.parents_of(page, limit, WINDOW_LINKS, sections=True) for page in used]
    return LinkEvidence(view, parents, int(getattr(params, "children", 0)))
