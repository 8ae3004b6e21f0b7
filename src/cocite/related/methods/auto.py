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
(kernels/related/independence.py). With fewer than 20 parents it is 1. c is the mean of the c_q. Copies have 0: only the
one of highest in-degree counts. Copies are parents that are near-duplicates, and pages of one site that have u in the
same section, but for one link, as in a footer. With `copies=sections`, pages of different sites may be such copies;
with `copies=none`, k near-duplicates count as √k. votes(s) are in-links of s as far as they count: the sum of the c_q
of its own parents. They are made with the context words (words/context_words.py); without these, or with `trust`, they
are all in-links.

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
from functools import cached_property
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cocite.errors import BadStore
from cocite.graph.store import Graph
from cocite.kernels.hash_tables import MISSING, NumberedSet
from cocite.kernels.related import blend as kernels
from cocite.kernels.related.blend import (
    CONTEXT_PART,
    LINK_PART,
    PLACE_PART,
    TEXT_PART,
    USAGE_PART,
    Candidates,
    TextWeb,
    TextWeights,
)
from cocite.kernels.related.likeness import SameNamePages
from cocite.parameters import parameter
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.likeness import NO_NAMES, Alike, LikenessParams, alike_pages, most_alike
from cocite.related.neighbourhood.scores import MIN_SCORE, LinkEvidence, Scores, Values, begin, for_query
from cocite.related.neighbourhood.usage import usage_around, usage_evidence
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages
from cocite.web import Web
from cocite.words.vectors import SharedTerms, Vectors

PARTS = 6
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


class QueryPage(NamedTuple):
    """A query page, and what relates others to it."""

    page: int
    alike: Alike
    names: SameNamePages
    visited: Pages = NO_PAGES  # pages that people visited before or after


class Blend(NamedTuple):
    """Candidates and the parts of their scores: parts[i, LINK_PART] and so on for query page i."""

    queries: Sequence[QueryPage]
    candidates: Candidates
    chosen: NumberedSet  # the candidates, without those that are merged into others
    pages: Pages  # the same in order
    parts: Values
    in_section: Values  # for each query page a row: the part by common sections


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the sum of all parts."""
    start, found = begin(web, seeds, params, lambda view, pages: blend(web, view, pages, params))
    rows = found.parts.sum(axis=1)
    values = rows[0] if len(rows) == 1 else rows.sum(axis=0)
    return start.scores(found.pages, values, rows, evidence=AutoEvidence(web, start.view, found, params))


def blend(web: Web, view: GraphView, pages: Sequence[int], params: Params) -> tuple[Blend, bool]:
    """The candidates around some pages, and their parts; and whether there is any candidate but nearby addresses."""
    vectors, graph = web.vectors, view.graph
    if vectors is not None and params.counted_copies and not params.trust:
        view.votes = vectors.votes
    own = view.representatives(np.array(pages, np.uint32))
    queries = list[QueryPage]()
    for page in pages:
        names = NO_NAMES if vectors is None or not params.names else same_name_pages(vectors, page, params)
        queries.append(QueryPage(page, alike_pages(view, page, names, own, params), names))
    some = [each.alike.pages for each in queries]
    some += [vectors.most_similar(page, WORD_PAGES) for page in pages] if params.words and vectors else []
    clicks = list[Values]()
    if params.usage and web.has_clicks:
        with suppress(BadStore):  # damaged clicks are no reason to return nothing
            used = [usage_around(web, page) for page in pages]
            clicks = [counts for _, counts in used]
            queries = [query._replace(visited=visited) for query, (visited, _) in zip(queries, used, strict=True)]
            some += [visited for visited, _ in used]
    joined = some[0] if len(some) == 1 else np.concatenate([NO_PAGES, *some])
    candidates, chosen, found = kernels.number_candidates(view.near_duplicates, joined, graph.pages)
    in_section, parts = np.zeros((len(pages), len(found))), np.zeros((len(pages), PARTS, len(found)))
    for row, query in enumerate(queries):
        _, alike, listed, values, _ = query.alike
        kernels.set_alike(candidates, alike, listed, values, in_section[row], parts[row, LINK_PART])
        if vectors is not None:
            texts, weights = text_web(view, vectors), text_weights(view, vectors, query, params)
            kernels.add_texts(texts, query.page, own, weights, candidates, found, in_section[row], parts[row])
        if clicks:
            add_usage(candidates, query.visited, clicks[row], params.usage, parts[row])
            parts[row, USAGE_PART, view.are_seeds(found, pages)] = 0
    made = Blend(queries, candidates, chosen, found, parts, in_section)
    enough = any((parts[:, part] > 0).any() for part in (LINK_PART, TEXT_PART, CONTEXT_PART, USAGE_PART))
    return (made, True) if enough else (nearby_addresses(view, queries), False)


def same_name_pages(vectors: Vectors, page: int, params: Params) -> SameNamePages:
    """The same-name pages of a page, and the weight of links to them."""
    others, cosines = vectors.same_name_pages(page)
    return SameNamePages(others, params.names * cosines)


def text_web(view: GraphView, vectors: Vectors) -> TextWeb:
    """What relates pages beside links, as kernels take it."""
    graph = view.graph
    words = vectors.pages, vectors.context, vectors.same_name, vectors.stop, vectors.home
    return TextWeb(*words, graph.units("host"), graph.in_degree, view.in_degree, view.votes)


def text_weights(view: GraphView, vectors: Vectors, query: QueryPage, params: Params) -> TextWeights:
    """The weights of parts for a query page.

    Context words come from all lists: with `trust` they count as far as its in-links are from pages that have trust.
    """
    page, around, trust = query.page, query.alike.around, bool(params.trust)
    text = params.words * np.log(np.e + vectors.text_words[page])
    context = params.context * around.reliability
    if trust:
        context *= float(view.in_degree[page] / max(1, view.graph.in_degree[page]))
    exponent = 0.0 if around.one_site else params.popularity
    return TextWeights(bool(params.names), SAME_NAME, float(text), float(context), exponent, PLACE, WORD_PAGES, trust)


def add_usage(candidates: Candidates, visited: Pages, counts: Values, weight: float, parts: Values) -> None:
    """Set the part by clicks, compared with the best score without them; those of near-duplicates are added up."""
    clicks = np.zeros(parts.shape[1])
    np.add.at(clicks, candidates.merged[kernels.find_numbers(candidates.pages, visited)], counts)
    parts[USAGE_PART] = weight * clicks * (parts.sum(axis=0).max(initial=0) or 1.0)


def nearby_addresses(view: GraphView, queries: Sequence[QueryPage]) -> Blend:
    """Without any other candidate: the nearest addresses on the host, by the part of the path that they share."""
    graph, hosts, near = view.graph, view.graph.units("host"), set[int]()
    for one in queries:
        first, last = one.page - NEARBY_ADDRESSES, one.page + NEARBY_ADDRESSES
        beside = range(max(0, first), min(len(graph), last + 1))
        near.update(page for page in beside if hosts[page] == hosts[one.page] and not view.refuses(page))
    near -= {page for page in near if graph.alias_target(page) != page} | {one.page for one in queries}
    pages = np.array(sorted(near), np.uint32)
    candidates, chosen, found = kernels.number_candidates(view.near_duplicates, pages, graph.pages)
    parts, in_section = np.zeros((len(queries), PARTS, len(found))), np.zeros((len(queries), len(found)))
    paths = [graph.canonical(page).split("/") for page in found.tolist()]
    for row, one in enumerate(queries):
        own = graph.canonical(one.page).split("/")
        pairs = (zip(own, path, strict=False) for path in paths)
        shared = [len(list(takewhile(lambda parts: parts[0] == parts[1], each))) for each in pairs]
        parts[row, PLACE_PART] = PLACE / len(own) * np.array(shared, np.float64)
    return Blend(queries, candidates, chosen, found, parts, in_section)


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
        queries = self.blend.queries
        parents = [each.alike.around.parents for each in queries]
        copies, children = self.params.counted_copies, self.params.children
        links = LinkEvidence(self.view, parents, children, kernels.MAX_REPEATS, copies)(pages)
        self._add_best(pages, links)
        rows, links_only = [], [True] * len(pages)
        for row, query in enumerate(queries):
            found, only = self._about(row, query, pages)
            rows.append(for_query(found, query.page, len(queries)))
            links_only = [one and other for one, other in zip(links_only, only, strict=True)]
        joined: list[list[Evidence]] = []
        for only_links, by_links, *parts in zip(links_only, links, *rows, strict=True):
            some = [each for part in parts for each in part]
            first = next((at for at, each in enumerate(some) if isinstance(each, kinds.ByLinks)), None)
            if first is not None:
                some[first:first] = by_links
            joined.append(by_links if only_links else some)
        return joined

    def _add_best(self, pages: Pages, links: list[list[Evidence]]) -> None:
        """Where nothing else relates a result: the best page that it is most like, for the first such query page."""
        queries, without = self.blend.queries, [i for i, each in enumerate(links) if not each]
        for query in queries if without else ():
            if not without or not len(query.alike.best):
                continue
            seeds = [each.page for each in queries]
            through = most_alike(self.view, query.alike.best, pages[without], seeds, self.params)
            for i, best in zip(without, through.tolist(), strict=True):
                if best != MISSING:
                    links[i] += for_query([[kinds.LikeRelated(through=best)]], query.page, len(queries))[0]
            without = [i for i in without if not links[i]]

    def _about(self, row: int, query: QueryPage, pages: Pages) -> tuple[list[list[Evidence]], list[bool]]:
        """The evidence of all parts for one query page; and for which results links are the only evidence."""
        places = kernels.find_numbers(self.blend.chosen, pages)
        values = self.blend.parts[row][:, places].T.tolist()
        vectors, through = self.web.vectors, dict[int, int]()
        words = None if vectors is None else SharedWords(self.web.graph, vectors, query.page, pages)
        if len(query.names.pages):
            around = query.alike.around
            listed = kernels.listed_with(around.listing, around.weights, len(around.parents.pages), pages)
            through = {i: best for i, best in enumerate(listed.tolist()) if best != MISSING}
        same_name, found, links_only = set(query.names.pages.tolist()), list[list[Evidence]](), [True] * len(pages)
        for i, (page, place) in enumerate(zip(pages.tolist(), places.tolist(), strict=True)):
            if place < 0:
                found.append([])
                continue
            links, named, text, context, by_place, by_usage = values[i]
            total = max(sum(values[i]), MIN_SCORE)
            names: list[Evidence] = [kinds.SameName()] if page in same_name else []
            if not names and i in through:
                names = [kinds.ListedWithSameName(through=through[i])]
            address: list[Evidence] = []
            if by_place:
                address = [kinds.SameHost(share=1.0)] if by_place == total else self._address(query.page, page, total)
            by_links = links > MAX_LINK_SHARE * (total - by_place)
            links_only[i] = by_links and not (names or address or named or by_usage)
            if links_only[i] and len(self.blend.queries) == 1:  # nothing of this would be shown
                found.append([])
                continue
            parts: list[tuple[float, list[Evidence]]] = [(links, [kinds.ByLinks(share=share_of(links, total)), *names])]
            if by_usage and (share := share_of(by_usage, total)):
                parts.append((by_usage, [self._usage(query, place, share)]))
            if named:
                parts.append((named, self._same_name_listed(row, page, place, share_of(named, total))))
            if words is not None and (not by_links or names):
                if text and words.text[i].number:
                    parts.append((text, [words.similar_text(i, page, share_of(text, total))]))
                if context and words.context[i].number:
                    parts.append((context, [words.context_words(i, share_of(context, total))]))
            parts.sort(key=itemgetter(0), reverse=True)
            found.append([each for value, some in parts if value > 0 for each in some] + address)
        return found, links_only

    def _address(self, query: int, page: int, total: float) -> list[Evidence]:
        """What a result gets for its address beside other parts of its score."""
        vectors, hosts, found = self.web.vectors, self.web.graph.units("host"), list[Evidence]()
        if hosts[page] == hosts[query]:
            found.append(kinds.SameHost(share=share_of(PLACE, total)))
        if vectors is not None and vectors.home[page] == 1:
            found.append(kinds.HomePage(share=share_of(PLACE, total)))
        return found

    def _usage(self, query: QueryPage, place: int, share: float) -> Evidence:
        """The clicks between a query page and a result."""
        candidates = self.blend.candidates
        others = query.visited[candidates.merged[kernels.find_numbers(candidates.pages, query.visited)] == place]
        return usage_evidence(self.web, query.page, others, share)

    def _same_name_listed(self, row: int, page: int, place: int, share: float) -> list[Evidence]:
        """The first same-name page of a result that is listed with the query page."""
        blend, vectors = self.blend, self.web.vectors
        others = vectors.same_name_pages(page)[0] if vectors is not None else NO_PAGES
        for other, number in zip(others.tolist(), kernels.find_numbers(blend.candidates.pages, others), strict=True):
            its = int(blend.candidates.merged[number]) if number >= 0 else place
            if its != place and blend.in_section[row, its] > 0:
                return [kinds.SameNameListed(through=other, share=share)]
        return []


class SharedWords:
    """The words that a query page shares with results, as evidence."""

    def __init__(self, graph: Graph, vectors: Vectors, query: int, pages: Pages) -> None:
        self._graph, self._vectors, self._query = graph, vectors, query
        self.text = vectors.shared_terms(query, pages)
        self.context = vectors.shared_terms(query, pages, context=True)

    @cached_property
    def _of_query(self) -> tuple[int, bool]:
        """The number of its terms, and whether words of pages that it exchanges links with are among them."""
        return self._vectors.terms(self._query), self._vectors.has_words_of_others(self._graph, self._query)

    def similar_text(self, i: int, page: int, share: float) -> Evidence:
        """What a result has in common with the page."""
        (of, linked), shared = self._of_query, self.text[i]
        linked = linked or self._vectors.has_words_of_others(self._graph, page)
        return kinds.SimilarText(terms=self._named(shared), shared=shared.number, of=of, linked=linked, share=share)

    def context_words(self, i: int, share: float) -> Evidence:
        """What lists of both are about."""
        return kinds.ContextWords(terms=self._named(self.context[i]), share=share)

    def _named(self, shared: SharedTerms) -> tuple[str, ...]:
        """The terms that count most."""
        return tuple(self._vectors.words.some(shared.terms[:NAMED_WORDS]))


def share_of(value: float, total: float) -> float:
    """A part of a score, as evidence shows it."""
    return round(value / total, SHARE_DIGITS)
