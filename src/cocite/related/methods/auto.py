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

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cocite.errors import BadStore
from cocite.kernels.hash_tables import MISSING, NumberedSet
from cocite.kernels.related import answer as kernels
from cocite.kernels.related.answer import PARTS, BlendRow, BlendWeights, QueryPage
from cocite.kernels.related.blend import (
    CONTEXT_PART,
    LINK_PART,
    MAX_REPEATS,
    PLACE_PART,
    TEXT_PART,
    USAGE_PART,
    Candidates,
    find_numbers,
    number_candidates,
)
from cocite.kernels.related.texts import TextParameters, TextWeb
from cocite.kernels.words.word_vectors import NO_WORDS, Shown
from cocite.parameters import parameter
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.likeness import (
    LikenessParams,
    around_limits,
    likeness_web,
    link_weights,
    most_alike,
)
from cocite.related.neighbourhood.scores import MIN_SCORE, LinkEvidence, Scores, Values, begin, for_query
from cocite.related.neighbourhood.usage import usage_around, usage_evidence
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages
from cocite.web import Web
from cocite.words.vectors import Vectors

SAME_NAME = 0.15
"""The most that a page gets for its same-name pages."""
PLACE = 0.25
"""Lists are often of repositories of one host, or of home pages."""
MAX_SHARING = 1 << 14
"""Pages with words in common with a page, among which"""
WORD_PAGES = 250
"""Candidates by text alone; and the best, whose context words are compared."""
NEARBY_ADDRESSES = 10
"""Before and after a page without any other candidate."""
MAX_LINK_SHARE = 0.95
"""Where links give more than this of a score, words are not evidence."""
SHOWN = Shown(8, 0.2)
"""Terms that evidence shows: eight, if they count a fifth of the first one."""
SHARE_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class Params(LikenessParams):
    """Limits, and the weight of each part."""

    words: float = parameter(0.7, "Weight of similar text", minimum=0, maximum=1000)
    context: float = parameter(0.6, "Weight of being listed in sections about the same things", minimum=0, maximum=1000)
    names: float = parameter(0.5, "Weight of a link to a same-name page, compared with the page", minimum=0, maximum=1)
    usage: float = parameter(0.01, "Weight of a click, compared with the best score without clicks", minimum=0,
                             maximum=1000)  # fmt: skip


class Blend(NamedTuple):
    """Candidates and the parts of their scores: parts[i, LINK_PART] and so on for query page i."""

    queries: Sequence[QueryPage]
    candidates: Candidates
    chosen: NumberedSet  # the candidates, without those that are merged into others
    pages: Pages  # the same in order
    parts: Values
    in_section: Values  # for each query page a row: the part by common sections
    visited: Sequence[Pages] = ()  # the pages that people visited before or after each query page

    def row(self, i: int) -> BlendRow:
        """What concerns one query page."""
        return BlendRow(self.candidates, self.chosen, self.in_section[i], self.parts[i])


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the sum of all parts."""
    start, found = begin(web, seeds, params, lambda view, pages: blend(web, view, pages, params))
    rows = found.parts.sum(axis=1)
    values = rows[0] if len(rows) == 1 else rows.sum(axis=0)
    return start.scores(found.pages, values, rows, evidence=AutoEvidence(web, start.view, found, params))


def blend(web: Web, view: GraphView, pages: Sequence[int], params: Params) -> tuple[Blend, bool]:
    """The candidates around some pages, and their parts; and whether there is any candidate but nearby addresses."""
    vectors = web.vectors
    if vectors is not None and params.counted_copies and not params.trust:
        view.votes = vectors.votes
    own, visited, clicks = view.representatives(np.array(pages, np.uint32)), list[Pages](), list[Values]()
    if params.usage and web.has_clicks:
        with suppress(BadStore):  # damaged clicks are no reason to return nothing
            used = [usage_around(web, page) for page in pages]
            visited, clicks = [some for some, _ in used], [counts for _, counts in used]
    links, texts = likeness_web(view, params), text_web(view, vectors)
    limits, weights = around_limits(params), BlendWeights(link_weights(params), text_parameters(params))
    if len(pages) == 1:
        some = visited[0] if visited else NO_PAGES
        state, query, row, found = kernels.find_related(links, texts, pages[0], own, some, limits, weights)
        view.check(state)
        made = Blend([query], row.candidates, row.chosen, found, row.parts[None], row.in_section[None], visited)
    else:
        queries = list[QueryPage]()
        for page in pages:
            state, query = kernels.look_around(links, texts, page, own, limits, weights)
            view.check(state)
            queries.append(query)
        joined = [NO_PAGES, *(each.alike for each in queries), *(each.similar for each in queries), *visited]
        candidates, chosen, found = number_candidates(view.near_duplicates, np.concatenate(joined), view.graph.pages)
        made = Blend(queries, candidates, chosen, found, *no_parts(len(pages), found), visited)
        for i, query in enumerate(queries):
            kernels.set_parts(texts, query, own, weights.texts, candidates, found, made.in_section[i], made.parts[i])
    for i, counts in enumerate(clicks):
        add_usage(made, i, counts, params.usage)
        made.parts[i, USAGE_PART, view.are_seeds(found, pages)] = 0
    enough = (made.parts[:, [LINK_PART, TEXT_PART, CONTEXT_PART, USAGE_PART]] > 0).any()
    return (made, True) if enough else (nearby_addresses(view, made.queries), False)


def no_parts(queries: int, pages: Pages) -> tuple[Values, Values]:
    """Zeros for the parts of scores, and for the part by common sections."""
    return np.zeros((queries, PARTS, len(pages))), np.zeros((queries, len(pages)))


def text_web(view: GraphView, vectors: Vectors | None) -> TextWeb:
    """What relates pages beside links, as kernels take it."""
    graph, words = view.graph, NO_WORDS if vectors is None else vectors.arrays
    return TextWeb(words, graph.units("host"), graph.in_degree, view.in_degree, view.votes)


def text_parameters(params: Params) -> TextParameters:
    """Parameters and constants, as kernels take them."""
    by = params.names, SAME_NAME, params.words, params.context
    return TextParameters(*by, params.popularity, PLACE, WORD_PAGES, MAX_SHARING, bool(params.trust))


def add_usage(found: Blend, row: int, counts: Values, weight: float) -> None:
    """Set the part by clicks, compared with the best score without them; those of near-duplicates are added up."""
    parts, candidates = found.parts[row], found.candidates
    clicks = np.zeros(parts.shape[1])
    np.add.at(clicks, candidates.merged[find_numbers(candidates.pages, found.visited[row])], counts)
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
    candidates, chosen, found = number_candidates(view.near_duplicates, pages, graph.pages)
    parts, in_section = no_parts(len(queries), found)
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
        parents = [each.around.parents for each in queries]
        copies, children = self.params.counted_copies, self.params.children
        links = LinkEvidence(self.view, parents, children, MAX_REPEATS, copies)(pages)
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
            if not without or not len(query.best):
                continue
            seeds = [each.page for each in queries]
            through = most_alike(self.view, query.best, pages[without], seeds, self.params)
            for i, best in zip(without, through.tolist(), strict=True):
                if best != MISSING:
                    links[i] += for_query([[kinds.LikeRelated(through=best)]], query.page, len(queries))[0]
            without = [i for i in without if not links[i]]

    def _about(self, row: int, query: QueryPage, pages: Pages) -> tuple[list[list[Evidence]], list[bool]]:
        """The evidence of all parts for one query page; and for which results links are the only evidence."""
        web, texts = likeness_web(self.view, self.params), text_web(self.view, self.web.vectors)
        state, read = kernels.explain(web, texts, query, self.blend.row(row), pages, SHOWN)
        self.view.check(state)
        of, *results, words, context = (each.tolist() if isinstance(each, np.ndarray) else each for each in read)
        shown, found, links_only = self._words(words, context), list[list[Evidence]](), [True] * len(pages)
        for i, (place, values, named, beside, through, one_host, home, linked) in enumerate(zip(*results, strict=True)):
            if place < 0:
                found.append([])
                continue
            links, by_name, by_text, by_context, by_place, by_usage = values
            total = max(sum(values), MIN_SCORE)
            names: list[Evidence] = [kinds.SameName()] if named else []
            if not named and beside != MISSING:
                names = [kinds.ListedWithSameName(through=beside)]
            by_links = links > MAX_LINK_SHARE * (total - by_place)
            links_only[i] = by_links and not (names or by_place or by_name or by_usage)
            if links_only[i] and len(self.blend.queries) == 1:  # nothing of this would be shown
                found.append([])
                continue
            parts: list[tuple[float, list[Evidence]]] = [(links, [kinds.ByLinks(share=share_of(links, total)), *names])]
            if by_usage and (share := share_of(by_usage, total)):
                parts.append((by_usage, [self._usage(row, place, share)]))
            if by_name and through != MISSING:
                parts.append((by_name, [kinds.SameNameListed(through=through, share=share_of(by_name, total))]))
            if not by_links or names:
                if by_text and (number := words[i][0]):
                    terms, share = shown(words[i]), share_of(by_text, total)
                    similar = kinds.SimilarText(terms=terms, shared=number, of=of, linked=linked, share=share)
                    parts.append((by_text, [similar]))
                if by_context and context[i][0]:
                    terms, share = shown(context[i]), share_of(by_context, total)
                    parts.append((by_context, [kinds.ContextWords(terms=terms, share=share)]))
            parts.sort(key=itemgetter(0), reverse=True)
            address = address_evidence(by_place, total, one_host, home)
            found.append([each for value, some in parts if value > 0 for each in some] + address)
        return found, links_only

    def _words(self, *shared: list[list[int]]) -> Callable[[list[int]], tuple[str, ...]]:
        """A function that gives the terms of a row of `Explained`; those of all rows are read at once."""
        numbers = [term for rows in shared for row in rows for term in row[1:] if term >= 0]
        vectors = self.web.vectors
        terms = {} if vectors is None else dict(zip(numbers, vectors.words.some(numbers), strict=True))
        return lambda row: tuple([terms[term] for term in row[1:] if term >= 0])

    def _usage(self, row: int, place: int, share: float) -> Evidence:
        """The clicks between a query page and a result."""
        visited, candidates = self.blend.visited[row], self.blend.candidates
        others = visited[candidates.merged[find_numbers(candidates.pages, visited)] == place]
        return usage_evidence(self.web, self.blend.queries[row].page, others, share)


def address_evidence(by_place: float, total: float, one_host: bool, home: bool) -> list[Evidence]:
    """What a result gets for its address, which may be all that it gets."""
    if by_place == total:
        return [kinds.SameHost(share=1.0)]
    share = share_of(PLACE, total) if by_place else 0.0
    same_host: list[Evidence] = [kinds.SameHost(share=share)] if by_place and one_host else []
    return [*same_host, kinds.HomePage(share=share)] if by_place and home else same_host


def share_of(value: float, total: float) -> float:
    """A part of a score, as evidence shows it."""
    return round(value / total, SHARE_DIGITS)
