"""Auto, the default: links, sections, words, names and popularity together, weighted by how much of each the page has.

With parents q of the page u, each of weight c_q, children x that u and s share, M links in all, r(n) = 1 / ln(2 + n):

    together(s) = Σ c_q · (r(links in section) + near / √d if both are in one section, and elsewhere · r(links of q))
    listed(s)   = votes(s)^popularity · max(0, together(s) − votes(s) / M · Σ together)
    shared(s)   = max(0, 1 − e(s) / o(s)) · Σ c_q · r(links of q)       parents without sections: nobody has sorted them
                + Σ r(in-links of x)
                + ¼ · (r(links of u) + r(in-links of s)) for a link from u to s, and likewise for one from s to u
    links(u, s) = listed(s) / √(max of listed) + shared(s) / size(u) · √(n(u) / n(s))
    score(s)    = links(u, s) or, if no section lists u,
                  ½ · links(u, s) + ½ · (mean of links(t, s) for the `best` pages t, weighted by links(u, t))
                + 0.15 · (together of s's same-name pages) / (max of that)
                + words · ln(e + different words of u's text) · cosine(words of u, words of s)
                + context · c · votes(s)^popularity · cosine(context words of u, context words of s)
                + ¼ if s is on u's host, and ¼ if it is the home page of its own,     if sections list u
                + usage · clicks(u, s) · (max of all this)

A section counts for what it has beyond chance: a page that everybody links to is listed with everything. So do
parents without sections: o(s) of them link to s, and e(s) would if they did as often as other pages with links (0 if
there are fewer than 20 others). Links that nobody has sorted are compared as a whole, by the cosine of two
neighbourhoods. There each page is also a parent and a child of its own. So popularity is divided out:
size(u) = Σ c_q · r + Σ r over all that was read of u, with u itself, and n counts the links in and out of a page (of u,
those that were read), and 2 for the page itself. Near-duplicates are worth what the strongest of them is.

In a sparse graph few pages share anything with u, and in a dense one many share a little. So, where nobody has sorted
the links, pages that are like the best pages count as much as those that are like u itself. For one of the best pages,
the mean is that of the others.

The weight c_q of a parent is the part of its section that chance doesn't explain, with 95 % confidence: 1 where other
parents of u list the same pages far more often than lists without u do, 0 where they don't, as in a link farm
(kernels/related/independence.py). With fewer than 20 parents it is 1. c is the mean of the c_q. Copies have 0: of
parents that are near-duplicates only the one of highest in-degree counts; with `copies=sections` also of those that
have u in the same section, but for one link; with `copies=none` k near-duplicates count as √k. votes(s) are in-links
of s as far as they count: the sum of the c_q of its own parents. They are made with the context words
(words/context_words.py); without these, or with `trust`, they are all in-links.

Parents of u's same-name pages (words/make_vectors.py) are parents too; c_q is then multiplied by `names` times the
similarity of the names. A parent that repeats s or u in another section has them together there, too, without `near`
and `elsewhere`: in at most three sections that repeat u, and not on lists of more than 4,096 links. The context words
of a page are those of the sections that list it. k parents of one site, and k sections of one parent, count as √k:
their links are often one template. But where u and all its parents are on one site, as in a wiki, sites don't matter,
and in-links are no independent votes: there the exponent is 0. Words count more the more text a page has. A page
without links or without text gets results from what there is. One with neither gets the addresses beside it on its
host, by ¼ of the part of its path that they share. With several query pages, scores add up, after the number reached.

If the store has clicks, a hundred of them are worth as much as the best score without. Clicks back and visits in one
session count a part of a click, as in whats_related.

docs/decisions/0045, 0050, 0051 and 0053 give the reason for each constant, and what did not help; docs/lab/portfolio.md
shows what each is worth on every collection, and how well constants do on a collection that didn't choose them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.kernels.hash_tables import MISSING, find_places
from cocite.kernels.related import blend as kernels
from cocite.kernels.related.likeness import Around
from cocite.parameters import parameter
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.likeness import (
    Alike,
    LikenessParams,
    alike_pages,
    most_alike,
    popularity,
    read_around,
)
from cocite.related.neighbourhood.scores import MIN_SCORE, LinkEvidence, Scores, Values, begin, for_query
from cocite.related.neighbourhood.usage import usage_around, usage_evidence
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Merged, Numbered, Pages
from cocite.web import Web
from cocite.words.vectors import SharedTerms, Vectors

LINK_PART, NAME_PART, TEXT_PART, CONTEXT_PART, PLACE_PART, USAGE_PART = range(PARTS := 6)
"""The parts of a score."""
SAME_NAME = 0.15
"""The most that a page gets for its same-name pages."""
PLACE = 0.25
"""Lists are often of repositories of one host, or of home pages."""
WORD_PAGES = 250
"""Candidates by text alone; and the best, whose context words are compared."""
NEARBY_ADDRESSES = 10
"""Before and after a page without any other candidate."""
MAX_LINK_SHARE = 0.95
"""Where links give more than this of a score, words are not evidence."""
SCORE_DIGITS = 6
"""Scores that differ by less are equal."""
NAMED_WORDS, SHARE_DIGITS = 8, 3
"""What evidence shows."""


@dataclass(frozen=True, kw_only=True)
class Params(LikenessParams):
    """Limits, and the weight of each part."""

    words: float = parameter(0.7, "Weight of similar text", minimum=0, maximum=1000)
    context: float = parameter(0.6, "Weight of being listed in sections about the same things", minimum=0, maximum=1000)
    names: float = parameter(0.5, "Weight of a link to a same-name page, compared with the page", minimum=0, maximum=1)
    usage: float = parameter(0.01, "Weight of a click, compared with the best score without clicks", minimum=0,
                             maximum=1000)  # fmt: skip


@dataclass(frozen=True)
class Blend:
    """Candidates and the parts of their scores: parts[LINK_PART] and so on have a row for each query page."""

    pages: Merged
    numbered: Numbered
    around: Sequence[Around]
    parts: Values
    in_section: Values  # for each query page a row: the part by common sections
    alike: Sequence[Alike] = ()  # for each query page, as the following
    used: Sequence[tuple[Pages, Values]] = ()  # pages that people visited before or after, and how many clicks that is


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the sum of all parts."""
    start, found = begin(web, seeds, params, lambda view, pages: blend(web, view, pages, params))
    rows = found.parts.sum(axis=0)
    evidence = AutoEvidence(web, start.view, found, params)
    return start.scores(found.pages.pages, rows.sum(axis=0), rows, evidence=evidence)


def blend(web: Web, view: GraphView, pages: Sequence[int], params: Params) -> tuple[Blend, bool]:
    """The candidates around some pages, and their parts; and whether there is any candidate but nearby addresses."""
    if web.vectors is not None and params.counted_copies and not params.trust:
        view.votes = web.vectors.votes
    around = [read_around(view, page, same_name_pages(web, page, params), params) for page in pages]
    alike = [alike_pages(view, one, pages, params) for one in around]
    similar = [web.vectors.most_similar(page, WORD_PAGES) for page in pages] if params.words and web.vectors else []
    used = []
    with suppress(BadStore):  # damaged clicks are no reason to return nothing
        used = [usage_around(web, page) for page in pages] if params.usage else []
    some = [*(each.pages for each in alike), *similar, *(visited for visited, _ in used)]
    numbered = Numbered(sum(map(len, some)), *some)
    merged = view.merge(numbered.pages)
    in_section = np.zeros((len(pages), len(merged.pages)))
    parts = np.zeros((PARTS, *in_section.shape))
    found = Blend(merged, numbered, around, parts, in_section, alike, used)
    own = view.are_seeds(merged.pages, pages)
    for row, one in enumerate(around):
        parts, places = found.parts[:, row], merged.number[numbered.find(alike[row].pages)]
        in_section[row, places], parts[LINK_PART, places] = alike[row].in_section, alike[row].values
        if web.vectors is not None:
            add_texts(web.vectors, view, one, found, row, params)
        parts[USAGE_PART] = params.usage * clicks_of(found, row) * (parts.sum(axis=0).max(initial=0) or 1.0)
        parts[USAGE_PART, own] = 0
    enough = bool((found.parts[[LINK_PART, TEXT_PART, CONTEXT_PART, USAGE_PART]] > 0).any())
    return found if enough else nearby_addresses(view, around), enough


def clicks_of(blend: Blend, row: int) -> Values:
    """The clicks of each candidate; those of near-duplicates are added up."""
    clicks = np.zeros(len(blend.pages.pages))
    for visited, counts in blend.used[row : row + 1]:
        np.add.at(clicks, blend.pages.number[blend.numbered.find(visited)], counts)
    return clicks


def add_texts(vectors: Vectors, view: GraphView, around: Around, blend: Blend, row: int, params: Params) -> None:
    """Set the parts by names, words and places."""
    pages, parts, in_section = blend.pages.pages, blend.parts[:, row], blend.in_section[row]
    own = view.are_seeds(pages, [one.page for one in blend.around])
    if params.names:
        named, candidates = parts[NAME_PART], kernels.Candidates(blend.numbered.set, blend.pages.number)
        kernels.add_same_name(vectors.same_name, pages, candidates, in_section, named)
        named[own] = 0
        named *= SAME_NAME / max(float(named.max(initial=0)), MIN_SCORE)
    add_words(vectors, view, around, pages, parts, params)
    parts[TEXT_PART, own] = parts[CONTEXT_PART, own] = 0
    if in_section.any():
        listed = np.flatnonzero(parts.sum(axis=0))
        hosts, others = view.graph.units("host"), pages[listed]
        parts[PLACE_PART, listed] = PLACE * (hosts[others] == hosts[around.page])
        parts[PLACE_PART, listed] += PLACE * (vectors.home[others] == 1)


def same_name_pages(web: Web, page: int, params: Params) -> dict[int, float]:
    """The same-name pages of a page, and the weight of links to them."""
    if web.vectors is None or not params.names:
        return {}
    others, cosines = web.vectors.same_name_pages(page)
    return dict(zip(others.tolist(), (params.names * cosines).tolist(), strict=True))


def add_words(vectors: Vectors, view: GraphView, around: Around, pages: Pages, parts: Values, params: Params) -> None:
    """Set the part by similar text and, for the best candidates, that by context words.

    Context words come from all lists. With `trust`, as far as a candidate's are from lists without any, the mean of the
    others takes their place.
    """
    page = around.page
    if params.words:
        weight = params.words * np.log(np.e + vectors.text_words[page])
        parts[TEXT_PART] = weight * vectors.cosines(page, pages)
    if params.context:
        scores = np.round(parts[LINK_PART] + parts[NAME_PART] + parts[TEXT_PART], SCORE_DIGITS)
        last = max(0, len(pages) - WORD_PAGES)
        best = np.flatnonzero(scores >= np.partition(scores, last)[last]) if last else np.arange(len(pages))
        cosines = vectors.cosines(page, pages[best], context=True)
        weight = params.context * around.reliability
        if params.trust:
            weight *= float(view.in_degree[page] / max(1, view.graph.in_degree[page]))
            known = np.minimum(1.0, view.in_degree[pages[best]] / np.maximum(1, view.graph.in_degree[pages[best]]))
            cosines = known * cosines + (1 - known) * (known @ cosines / max(float(known.sum()), MIN_SCORE))
        parts[CONTEXT_PART, best] = weight * cosines * popularity(view.votes, pages[best], around, params)


def nearby_addresses(view: GraphView, around: Sequence[Around]) -> Blend:
    """Without any other candidate: the nearest addresses on the host, by the part of the path that they share."""
    graph, hosts, near = view.graph, view.graph.units("host"), set[int]()
    for one in around:
        first, last = one.page - NEARBY_ADDRESSES, one.page + NEARBY_ADDRESSES
        beside = range(max(0, first), min(len(graph), last + 1))
        near.update(page for page in beside if hosts[page] == hosts[one.page] and not view.refuses(page))
    near -= {page for page in near if graph.alias_target(page) != page} | {one.page for one in around}
    merged = view.merge(np.array(sorted(near), np.uint32))
    shape = len(around), len(merged.pages)
    found = Blend(merged, Numbered(0), around, np.zeros((PARTS, *shape)), np.zeros(shape))
    paths = [graph.canonical(page).split("/") for page in merged.pages.tolist()]
    for row, one in enumerate(around):
        own = graph.canonical(one.page).split("/")
        pairs = (zip(own, path, strict=False) for path in paths)
        shared = [len(list(takewhile(lambda parts: parts[0] == parts[1], each))) for each in pairs]
        found.parts[PLACE_PART, row] = PLACE / len(own) * np.array(shared, np.float64)
    return found


# ------------------------------------------------------------------------------------------------------- the evidence


@dataclass(frozen=True)
class AutoEvidence:
    """Finds the evidence for results: each part of a score with what it was computed from, the largest part first."""

    web: Web
    view: GraphView
    blend: Blend
    params: Params

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, for each query page the largest part first."""
        blend = self.blend
        parents = [one.parents for one in blend.around]
        copies, children = self.params.counted_copies, self.params.children
        links = LinkEvidence(self.view, parents, children, kernels.MAX_REPEATS, copies)(pages)
        self._add_best(pages, links)
        places = find_places(blend.pages.pages, np.ascontiguousarray(pages, np.uint32))
        rows, links_only = [], np.ones(len(pages), np.bool_)
        for row, one in enumerate(blend.around):
            found, only = self._about(row, pages, places)
            rows.append(for_query(found, one.page, len(blend.around)))
            links_only &= only
        joined: list[list[Evidence]] = []
        for only, by_links, *parts in zip(links_only, links, *rows, strict=True):
            some = [each for part in parts for each in part]
            first = next((at for at, each in enumerate(some) if isinstance(each, kinds.ByLinks)), None)
            if first is not None:
                some[first:first] = by_links
            joined.append(by_links if only else some)
        return joined

    def _add_best(self, pages: Pages, links: list[list[Evidence]]) -> None:
        """Where nothing else relates a result: the best page that it is most like, for the first such query page."""
        around, without = self.blend.around, [i for i, each in enumerate(links) if not each]
        for one, alike in zip(around, self.blend.alike, strict=False):
            if not without or not len(alike.best):
                continue
            through = most_alike(self.view, alike.best, pages[without], [each.page for each in around], self.params)
            for i, best in zip(without, through.tolist(), strict=True):
                if best != MISSING:
                    links[i] += for_query([[kinds.LikeRelated(through=best)]], one.page, len(around))[0]
            without = [i for i in without if not links[i]]

    def _about(self, row: int, pages: Pages, places: NDArray[np.int64]) -> tuple[list[list[Evidence]], list[bool]]:
        """The evidence of all parts for one query page; and for which results links are the only evidence."""
        web, blend, around = self.web, self.blend, self.blend.around[row]
        vectors, hosts = web.vectors, web.graph.units("host")
        same_name, through = same_name_pages(web, around.page, self.params), self._listed_with(around, pages)
        text = vectors.shared_terms(around.page, pages) if vectors is not None else []
        context = vectors.shared_terms(around.page, pages, context=True) if vectors is not None else []
        found, links_only = list[list[Evidence]](), [True] * len(pages)
        for i, (page, place) in enumerate(zip(pages.tolist(), places.tolist(), strict=True)):
            if place < 0:
                found.append([])
                continue
            values = blend.parts[:, row, place].tolist()
            links, named, words, by_context, by_place, by_usage = values
            total = max(sum(values), MIN_SCORE)
            shares = [round(value / total, SHARE_DIGITS) for value in values]
            names: list[Evidence] = [kinds.SameName()] if page in same_name else []
            if not names and page in through:
                names = [kinds.ListedWithSameName(through=through[page])]
            address: list[Evidence] = [kinds.SameHost(share=1.0)] if by_place and by_place == total else []
            if by_place and not address:
                if hosts[page] == hosts[around.page]:
                    address.append(kinds.SameHost(share=round(PLACE / total, SHARE_DIGITS)))
                if vectors is not None and vectors.home[page] == 1:
                    address.append(kinds.HomePage(share=round(PLACE / total, SHARE_DIGITS)))
            by_links = links > MAX_LINK_SHARE * (total - by_place)
            links_only[i] = by_links and not (names or address or named or by_usage)
            parts: list[tuple[float, list[Evidence]]] = [(links, [kinds.ByLinks(share=shares[LINK_PART]), *names])]
            if shares[USAGE_PART]:
                parts.append((by_usage, [self._usage(row, place, shares[USAGE_PART])]))
            if named:
                parts.append((named, self._same_name_listed(row, page, place, shares[NAME_PART])))
            if vectors is not None and (not by_links or names):
                if (shared := text[i]).number:
                    parts.append((words, [self._similar_text(around.page, page, shared, shares[TEXT_PART])]))
                if context[i].number:
                    terms = named_terms(vectors, context[i])
                    parts.append((by_context, [kinds.ContextWords(terms=terms, share=shares[CONTEXT_PART])]))
            parts.sort(key=lambda part: -part[0])
            found.append([each for value, some in parts if value > 0 for each in some] + address)
        return found, links_only

    def _usage(self, row: int, place: int, share: float) -> Evidence:
        """The clicks between a query page and a result."""
        visited, merged = self.blend.used[row][0], self.blend.pages.number
        others = visited[merged[self.blend.numbered.find(visited)] == place]
        return usage_evidence(self.web, self.blend.around[row].page, others, share)

    def _similar_text(self, query: int, page: int, shared: SharedTerms, share: float) -> Evidence:
        """What two pages have in common, and whether words of pages that they exchange links with are among it."""
        vectors, graph = self.web.vectors, self.web.graph
        assert vectors is not None
        linked = vectors.has_words_of_others(graph, page) or vectors.has_words_of_others(graph, query)
        terms, of = named_terms(vectors, shared), vectors.terms(query)
        return kinds.SimilarText(terms=terms, shared=shared.number, of=of, linked=linked, share=share)

    def _listed_with(self, around: Around, pages: Pages) -> dict[int, int]:
        """Results that a list of a same-name page has, with that page: the first such list that counts."""
        listing, first = around.listing, len(around.parents.pages)
        if first == len(listing.pages):
            return {}
        begin, half = int(listing.starts[first]), listing.window // 2
        hits = begin + np.flatnonzero(np.isin(listing.targets[begin : int(listing.starts[-1])], pages))
        owners = np.searchsorted(listing.starts, hits, "right") - 1
        lengths = listing.starts[owners + 1] - listing.starts[owners]
        seen = np.abs(hits - listing.places[owners]) <= half if listing.window else np.ones(len(hits), np.bool_)
        counted = (around.weights[owners] > 0) & (seen | (lengths <= listing.window + 1))
        found: dict[int, int] = {}
        for hit, owner in zip(hits[counted].tolist(), owners[counted].tolist(), strict=True):
            found.setdefault(int(listing.targets[hit]), int(listing.targets[listing.places[owner]]))
        return found

    def _same_name_listed(self, row: int, page: int, place: int, share: float) -> list[Evidence]:
        """The first same-name page of a result that is listed with the query page."""
        blend, vectors = self.blend, self.web.vectors
        others = vectors.same_name_pages(page)[0] if vectors is not None else NO_PAGES
        for other, number in zip(others.tolist(), blend.numbered.find(others).tolist(), strict=True):
            its = int(blend.pages.number[number]) if number >= 0 else place
            if its != place and blend.in_section[row, its] > 0:
                return [kinds.SameNameListed(through=other, share=share)]
        return []


def named_terms(vectors: Vectors, shared: SharedTerms) -> tuple[str, ...]:
    """The terms that count most."""
    return tuple([vectors.words[number] for number in shared.terms[:NAMED_WORDS]])
