"""Similarity of pages by words and by linked pages: what `semantic`, `link_similarity` and `integrated` share.

Scores are exact. Parameters limit only which pages are compared; a store of up to `candidates` pages is compared as a
whole. Out-links and in-links are sets here: without the page itself, and without dead pages as targets (captured with
status 404 or 410).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.budget import spend
from cocite.graph.store import Graph
from cocite.kernels.build.parents import NONE_STORED
from cocite.kernels.related.samples import SampledLists, read_sets, sample_rows
from cocite.kernels.words.best_matches import as_whole, compare_lists
from cocite.kernels.words.keyword_pairs import Rows, StrengthWeights, WordCounts, counting_space, link_strengths
from cocite.parameters import parameter
from cocite.related import evidence
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.scores import Scores, SeedScores, Values, combine_seeds, for_query
from cocite.related.neighbourhood.view import HASH_SEED, NO_PAGES, Pages
from cocite.web import Web
from cocite.words.likeness import Likeness, best_of
from cocite.words.relevance import INFORMATION, MIN_CONFIDENCE_PAGES, SUPPORT, transposed

DEAD_STATUSES = (404, 410)
STRENGTH_COST = 100
"""Links that could be decoded while the keywords of one link are compared: a store of 1.2 M links took a minute."""
CHUNK_PAGES = 1 << 14
MAX_ERROR = 1e-9
"""Similarities are stored as whole multiples of about this."""
MAX_WORDS, MAX_PAIRS = 8, 3
"""Keywords, and pairs of keywords or pages, that evidence names."""


@dataclass(frozen=True, kw_only=True)
class WordParams:
    """Similarity by words, and which pages are compared."""

    alpha: float = parameter(
        0.5, "α: weight of support in r_s; the rest is for mutual information", minimum=0, maximum=1
    )
    candidates: int = parameter(
        2000, "Pages compared; a smaller store is compared as a whole", minimum=1, maximum=10**6
    )
    reach: int = parameter(10, "Similar words per keyword whose pages are candidates, too", minimum=0, maximum=1000)
    postings: int = parameter(
        500_000, "Maximum number of pages looked up by words, rare words first", minimum=1, maximum=10**9
    )


@dataclass(frozen=True, kw_only=True)
class LinkParams(WordParams):
    """Similarity by links."""

    theta: float = parameter(0.0, "θ: links with a lower greatest r_l are weak and ignored", minimum=0, maximum=1)
    beta: float = parameter(0.5, "β: weight of support in r_l; the rest is for confidence", minimum=0, maximum=1)
    beside: str = parameter(SUPPORT, "What r_l uses beside confidence, with θ above 0", choices=(SUPPORT, INFORMATION))
    least_pages: int = parameter(
        MIN_CONFIDENCE_PAGES, "Pages with a keyword that confidence needs, with θ above 0", minimum=1, maximum=10**6
    )
    links: int = parameter(50, "Maximum number of linked pages per side, chosen by hash", minimum=1, maximum=10_000)
    alike: int = parameter(
        20, "Similar pages per linked page whose links lead to candidates", minimum=0, maximum=10_000
    )


# ------------------------------------------------------------------------------------------------------ sets of links


def is_dead(graph: Graph, pages: Pages) -> NDArray[np.bool_]:
    """Which pages were captured with a status that means they are gone."""
    status = graph.array("page.status")
    return np.isin(status[pages], DEAD_STATUSES) if len(status) else np.zeros(len(pages), np.bool_)


@dataclass(frozen=True)
class StoredLinks:
    """Sets read from a store; of more links than the limit, those with the smallest hashes, without dead pages."""

    graph: Graph
    limit: int
    dead: bool = False  # include links to dead pages

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""
        graph, choose = self.graph, self.dead or not len(self.graph.array("page.status"))
        lists = SampledLists(graph.out, NONE_STORED, graph.fingerprints)
        sets = self._read(lists, graph.out_degree, pages, self.limit if choose else graph.pages)
        if choose:
            return sets
        return sampled(filter_columns(sets, ~is_dead(graph, sets.columns)), pages, self.limit, graph.fingerprints)

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""
        graph = self.graph
        samples = graph.links.stored_parents("sample")
        sets = self._read(SampledLists(graph.into, samples, graph.fingerprints), graph.in_degree, pages, self.limit)
        return sets if self.dead else filter_columns(sets, ~is_dead(graph, np.repeat(pages, np.diff(sets.starts))))

    def _read(self, lists: SampledLists, degree: NDArray[np.uint32], pages: Pages, limit: int) -> Rows:
        graph, limit = self.graph, min(limit, self.graph.pages)
        columns = np.empty(int(np.minimum(degree[pages], limit).sum(dtype=np.int64)), np.uint32)
        sets = Rows(np.zeros(len(pages) + 1, np.int64), columns)
        if read_sets(lists, HASH_SEED, pages, limit, sets) < 0:
            raise graph.damaged()
        return Rows(sets.starts, columns[: sets.starts[-1]])


class LinksInMemory(NamedTuple):
    """The sets of all pages, in memory."""

    out: Rows
    into: Rows

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""
        return take_rows(self.out, pages)

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""
        return take_rows(self.into, pages)


LinkSets = StoredLinks | LinksInMemory


def all_links(graph: Graph, dead: bool = False) -> Rows:
    """The targets of every page, ascending, in memory; with `dead`, dead pages are included."""
    stored, starts = StoredLinks(graph, graph.pages, dead), range(0, graph.pages, CHUNK_PAGES)
    chunks = [stored.outs(np.arange(a, min(graph.pages, a + CHUNK_PAGES), dtype=np.uint32)) for a in starts]
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(each.starts) for each in chunks)])
    return Rows(np.cumsum(sizes), np.concatenate([NO_PAGES, *(each.columns for each in chunks)]))


def strong_links(
    words: Likeness, outs: Rows, theta: float, beta: float, beside: str = SUPPORT, least: int = MIN_CONFIDENCE_PAGES
) -> Rows:
    """Links without weak ones: the greatest r_l between keywords of their two pages is below theta.

    `outs` are all links from which confidence was counted, `least` the pages with a keyword that it needs.
    """
    r = replace(words.relevance.with_least_pages(least), beside=beside)
    strength = np.zeros(len(outs.columns), np.float64)
    evidence = WordCounts(words.words, r.pages_of, r.reached, r.both, r.pages)
    weights = StrengthWeights(beta, r.measure, tuple(r.confidence), r.least_pages)
    link_strengths(evidence, outs, weights, counting_space(len(r.frequency)), strength)
    return filter_columns(outs, strength >= theta - 1e-12)


def links_in_memory(out: Rows, limit: int = 0, fingerprints: NDArray[np.uint64] | None = None) -> LinksInMemory:
    """Both directions of links; given fingerprints, at most `limit` links of each page, chosen by hash."""
    into = transposed(out, len(out.starts) - 1)
    if fingerprints is not None:
        pages = np.arange(len(fingerprints), dtype=np.uint32)
        out, into = (sampled(rows, pages, limit, fingerprints) for rows in (out, into))
    return LinksInMemory(out, into)


def sampled(rows: Rows, pages: Pages, limit: int, fingerprints: NDArray[np.uint64]) -> Rows:
    """At most `limit` columns of the row of each page: those that `StoredLinks` chooses, too."""
    sizes = np.minimum(np.diff(rows.starts), limit)
    sets = Rows(np.zeros(len(pages) + 1, np.int64), np.empty(int(sizes.sum()), np.uint32))
    sample_rows(rows, pages, fingerprints, HASH_SEED, limit, sets)
    return sets


def take_rows(rows: Rows, pages: Pages) -> Rows:
    """Some rows, in the given order."""
    sizes = (rows.starts[1:] - rows.starts[:-1])[pages]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    at = np.arange(int(starts[-1])) + np.repeat(rows.starts[pages] - starts[:-1], sizes)
    return Rows(starts, rows.columns[at])


def filter_columns(rows: Rows, wanted: NDArray[np.bool_]) -> Rows:
    """Rows with only the wanted ones of their columns."""
    return Rows(np.concatenate([np.zeros(1, np.int64), np.cumsum(wanted)])[rows.starts], rows.columns[wanted])


# ------------------------------------------------------------------------------------------------------ similarities


class SimilarityData(NamedTuple):
    """What comparing pages by words and links needs."""

    words: Likeness
    links: LinkSets


def likeness_of(web: Web, alpha: float, rarity: bool = False) -> Likeness:
    """Sim_s of a web, cached with it."""

    def make() -> Likeness:
        words = Rows(web.keywords.starts, web.keywords.ids)
        return Likeness(words, replace(web.relevance, alpha=alpha), rarity)

    found: Likeness = web.cached("likeness", (alpha, rarity), make)
    return found


def similarity_data(web: Web, params: LinkParams, rarity: bool = False) -> SimilarityData:
    """Words and links of a web. With theta above 0 all links are read once, and the strong ones cached with the web."""
    words = likeness_of(web, params.alpha, rarity)
    if params.theta == 0:
        return SimilarityData(words, StoredLinks(web.graph, params.links))
    key = (params.theta, params.beta, params.beside, params.least_pages, params.links)
    return SimilarityData(words, web.cached("strong links", key, lambda: counted_links(web, words, params)))


def counted_links(web: Web, words: Likeness, params: LinkParams) -> LinksInMemory:
    """All links except weak ones and those to dead pages, in memory; at most `params.links` of a page."""
    graph = web.graph
    if params.theta > 0:
        spend(STRENGTH_COST * len(graph.links))  # no kernel of it can be cancelled
    outs = all_links(graph, dead=params.theta > 0)  # dead pages have keywords too, which count in confidence
    if params.theta > 0:
        outs = strong_links(words, outs, params.theta, params.beta, params.beside, params.least_pages)
        outs = filter_columns(outs, ~is_dead(graph, outs.columns))
    return links_in_memory(outs, params.links, graph.fingerprints)


def relate_each(
    seeds: Sequence[int],
    score: Callable[[int], tuple[Pages, Values]],
    explain: Callable[[int, int], list[Evidence]],
) -> Scores:
    """Scores by the similarity to each query page; `explain` gives the evidence for a query page and a result."""
    seeds, compared = list(dict.fromkeys(seeds)), list[int]()

    def find(seed: int) -> SeedScores:
        pages, values = score(seed)
        compared.append(len(pages))
        return SeedScores(pages, values)

    def about_all(pages: Pages) -> list[list[Evidence]]:
        found = [for_query([explain(seed, page) for page in pages.tolist()], seed, len(seeds)) for seed in seeds]
        return [[one for each in about for one in each] for about in zip(*found, strict=True)]

    return replace(combine_seeds(seeds, find, evidence=about_all), facts={"compared": sum(compared)})


def link_likeness(data: SimilarityData, page: int, others: Pages) -> Values:
    """Sim_l of a page with others: the mean of both sides, except a side on which neither page has links."""
    total, sides = np.zeros(len(others)), np.zeros(len(others))
    for linked in (data.links.ins, data.links.outs):
        own, lists = linked(np.array([page], np.uint32)).columns, linked(others)
        total += side_likeness(data.words, own, lists)
        sides += (np.diff(lists.starts) > 0) | (len(own) > 0)
    result = total / np.maximum(1, sides)
    result[others == page] = 1.0
    return result


def side_likeness(words: Likeness, own: Pages, lists: Rows) -> Values:
    """Best matches, by Sim_s, between the pages linked with one page and those linked with each of others."""
    result = np.zeros(len(lists.starts) - 1)
    if not len(own) or not len(lists.columns):
        return result
    linked, index = np.unique(lists.columns, return_inverse=True)
    table, column = np.empty((len(linked), len(own)), np.int32), np.empty(len(linked), np.int32)
    for i, page in enumerate(own):
        as_whole(words.alike(int(page), linked), column)
        table[:, i] = column
    compare_lists(Rows(lists.starts, index.astype(np.uint32)), table.reshape(-1), len(own), result)
    return result


def linked_alike(data: SimilarityData, page: int, params: LinkParams) -> Pages:
    """Candidates by links: pages linked, on the same side, with pages similar to those linked with the page."""
    words, links = data
    if words.pages <= params.candidates:
        return np.arange(words.pages, dtype=np.uint32)
    candidates, values = [NO_PAGES], [np.zeros(0)]
    for ours, theirs in ((links.ins, links.outs), (links.outs, links.ins)):
        for linked in ours(np.array([page], np.uint32)).columns.tolist():
            near = words.candidates(linked, params.alike, params.reach, params.postings) if params.alike else NO_PAGES
            near = np.union1d(near, np.array([linked], np.uint32))
            lists = theirs(near)
            candidates.append(lists.columns)
            values.append(np.repeat(words.alike(linked, near), np.diff(lists.starts)))
    pages, index = np.unique(np.concatenate(candidates), return_inverse=True)
    sums = np.bincount(index, np.concatenate(values), len(pages)).astype(np.float64)
    return best_of(pages, sums, params.candidates)


# ------------------------------------------------------------------------------------------------------- the evidence


def keyword_evidence(web: Web, words: Likeness, page: int, result: int) -> list[Evidence]:
    """Keywords that both pages have, the rarest first; and the pairs of others that are most relevant to each other.

    Words that never occur on one page can be relevant to each other too: that is evidence of its own.
    """
    own, theirs, names = words.of(page), words.of(result), web.keywords.words
    shared = np.intersect1d(own, theirs)
    rarest = shared[np.lexsort((shared, words.relevance.frequency[shared]))][:MAX_WORDS]
    found: list[Evidence] = []
    if len(shared):
        named = tuple(names[int(word)] for word in rarest)
        found.append(evidence.SharedKeywords(words=named, count=len(shared), of=len(own)))
    pairs = [pair for pair in words.pairs(page, result, len(own)) if pair[0] != pair[1]]
    for kind, meet in ((evidence.RelatedKeywords, True), (evidence.OpposedKeywords, False)):
        some = [pair for pair in pairs if words.relevance.meet(*pair[:2]) == meet][:MAX_PAIRS]
        if some and (meet or not found):
            texts = tuple(f"{names[one]} – {names[other]}" for one, other, _ in some)
            found.append(kind(pairs=texts, relevance=round(some[0][2], 6)))
    return found


def linked_evidence(data: SimilarityData, page: int, result: int) -> list[Evidence]:
    """Pages linked with both, or linked with one and most similar to a page linked with the other."""
    found: list[evidence.SimilarTargets] = []
    sides = ((evidence.SimilarTargets, data.links.outs), (evidence.SimilarSources, data.links.ins))
    for kind, linked in sides:
        own, theirs = (linked(np.array([each], np.uint32)).columns for each in (page, result))
        if not len(own) or not len(theirs):
            continue
        table = np.array([data.words.alike(int(each), theirs) for each in own])
        used: set[int] = set()
        for at in np.argsort(-table.ravel(), kind="stable")[: 4 * MAX_PAIRS].tolist():
            one, other = divmod(at, len(theirs))
            if table[one, other] > 0 and one not in used and len(used) < MAX_PAIRS:
                used.add(one)
                pages = (int(own[one]), int(theirs[other]))
                found.append(kind(pages=pages, similarity=round(float(table[one, other]), 6)))
    return list(sorted(found, key=lambda each: -each.similarity)[:MAX_PAIRS])
