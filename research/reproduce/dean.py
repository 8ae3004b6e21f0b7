"""Dean & Henzinger 1999: experiments on the awesome lists (judged), and on a real crawl for cost."""

from __future__ import annotations

from functools import partial
from statistics import fmean

import numpy as np

from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation
from cocite.kernels.related.hubs_authorities import Edges
from cocite.related.methods import Method, companion, method
from cocite.related.neighbourhood.hits import edges_among, iterate, rank_authorities
from cocite.related.neighbourhood.view import GraphView
from cocite.web import Web
from research import datasets
from research.reproduce.claims import Figures
from research.reproduce.data import FARM_PAGE, Beside, Data, correlation, straight, timed

JUDGED = "awesome"
CRAWL = "cnr"
LINKED = "wikispeedia"
HOSTS = "webkb"
MANY, FAR_MORE = 10, 50
"""Maximum number of parents, on the lists and in the encyclopedia."""
MOST = 1000
ASKED = 200


def windows(data: Data) -> Figures:
    """B = 2000 and BF = 8 against 50 and 50, for both methods."""
    one = data.beside(JUDGED, "companion", "companion(parents=50, window=50)")
    two = data.beside(JUDGED, "cocitation", "cocitation(parents=50, window=50)")
    return one.named("companion", "companion_50") | {f"cocitation_{k}": v for k, v in two.named("8", "50").items()}


def fewer_parents(data: Data) -> Figures:
    """Fewer parents, for pages that have more than that: on the lists, and on an encyclopedia with many links."""
    found: dict[str, float] = {}
    for place, least, more in ((JUDGED, MANY, ""), (LINKED, FAR_MORE, "unit=none, ")):
        degree, (_, numbers) = data.web(place).graph.in_degree, data.judged(place)
        well = [query for query, page in numbers.items() if degree[page] > least]
        for name in ("companion", "cocitation"):
            usual = data.asked(place, f"{name}({more}parents=2000)", MOST)
            some = [query for query in well if query in usual.judgements.ratings]
            two = Beside.of(data.asked(place, f"{name}({more}parents={least})", MOST), usual, some)
            found |= {f"{place}_{name}": two.second, f"{place}_{name}_kept": two.first / two.second}
            found[f"{place}_queries"] = len(some)
    return found


def order(data: Data) -> Figures:
    """The same lists with the links of each in random order; and without a window at all."""
    found: dict[str, float] = {}
    for name in ("companion", "cocitation"):
        usual = data.asked(JUDGED, name)
        mixed = Beside.of(usual, data.asked(JUDGED, name, store="shuffled"))
        whole = Beside.of(usual, data.asked(JUDGED, f"{name}(window=0)"))
        found |= {name: mixed.first, f"{name}_shuffled": mixed.second, f"{name}_all": whole.second}
        found |= {f"{name}_p": mixed.p, f"{name}_gain": mixed.first / mixed.second - 1, f"{name}_gap": mixed.gap}
    return found


def rounds(data: Data) -> Figures:
    """After ten rounds, are the ten results final? And do larger graphs take more rounds?"""
    (usual,), (ten,) = (data.asked(JUDGED, how).runs for how in ("companion", "companion(rounds=10)"))
    same = [set(ten.of(query)) == set(usual.of(query)) for query in usual.answers if usual.of(query)]
    facts = [fact for fact in usual.facts.values() if fact.get("edges")]
    counts, nodes = ([float(str(fact[name])) for fact in facts] for name in ("rounds", "nodes"))
    return {"same": fmean(same), "median": float(np.median(counts)), "growing": correlation(nodes, counts)}


def cost(data: Data) -> Figures:
    """Time against edges and siblings (Fig. 2): without windows, so that there are many of them."""
    web, (judged, numbers) = data.web(JUDGED), data.judged(JUDGED)
    pages = [numbers[query] for query in datasets.some_queries(judged, ASKED).ratings]
    one, other = method("companion(window=0, chop=none)"), method("cocitation(window=0, chop=none)")
    rows = []
    for page in pages:
        took, scores = timed(partial(one.relate, web, [page]))
        second, siblings = timed(partial(other.relate, web, [page]))
        around = edges_of(web, page, one.params)
        round_, done = timed(partial(iterate, around, True, 10))
        rows.append((scores.facts["edges"], scores.facts["rounds"], took, siblings.facts["siblings"], second,
                     len(around.ends), round_ / max(1, done.rounds)))  # fmt: skip
        data.progress("timing questions", 1, len(pages))
    edges, rounds_, companions, siblings_, cocitations, ends, of_round = np.array(rows, np.float64).T
    return {
        "pages": len(pages),
        "round_straight": straight(ends, of_round),
        "companion_straight": straight(edges * rounds_, companions),
        "companion_largest": edges.max(),
        "cocitation_straight": straight(siblings_ * np.log(siblings_ + 1), cocitations),
        "cocitation_largest": siblings_.max(),
        "together": correlation(companions, cocitations),
    }


def edges_of(web: Web, page: int, params: companion.Params) -> Edges:
    """Companion's graph around a page."""
    view = GraphView(web.graph, [page], params)
    found = companion.gather(view, page, params)
    return edges_among(view, found.pages, found.parents)


def speed(data: Data) -> Figures:
    """Milliseconds per page on the crawl, evenly spaced by the logarithm of in-links, so that some lists are long."""
    web = data.web(CRAWL)
    graph = web.graph
    linked = np.flatnonzero((graph.in_degree > 1) & (graph.out_degree > 0))
    order = linked[np.argsort(graph.in_degree[linked], kind="stable")]
    degrees = graph.in_degree[order].astype(np.float64)
    wanted = np.geomspace(degrees[0], degrees[-1], ASKED)
    pages = np.unique(order[np.minimum(np.searchsorted(degrees, wanted), len(order) - 1)]).tolist()
    times = {
        name: fmean(timed(partial(method(name).relate, web, [page]))[0] for page in pages)
        for name in ("companion", "cocitation")
    }
    return times | {"pages": len(pages), "ratio": times["companion"] / times["cocitation"]}


def companion_first(data: Data) -> Figures:
    """Companion compared with Cocitation (Tables 5 and 6), with the average precision of 1999 too."""
    one, other = data.asked(JUDGED, "companion"), data.asked(JUDGED, "cocitation")
    found = Beside.of(one, other).named("companion", "cocitation")
    for name, each in (("companion", one), ("cocitation", other)):
        found[f"{name}_1999"] = each.mean(each.runs[0], measures.average_precision_of_returned, each.queries)
    better = sum(a > b for (_, a), (_, b) in zip(curve(one), curve(other), strict=True))
    return found | {"better_at": better}


def curve(found: Evaluation) -> list[tuple[float, float]]:
    """Precision at r (Fig. 1)."""
    return found.curve(found.runs[0], found.queries)


def netscape(data: Data) -> Figures:
    """Our What's Related: links and words, because these lists have no clicks."""
    stand_in = data.asked(JUDGED, "whats_related")
    first, second = (Beside.of(data.asked(JUDGED, name), stand_in) for name in ("companion", "cocitation"))
    common = overlap_of(data, "companion", "whats_related")
    return {"companion": first.first, "cocitation": second.first, "stand_in": first.second, "overlap": common}


def overlap(data: Data) -> Figures:
    """The share of Companion's results that Cocitation returns as well (Table 7)."""
    return {
        "of_companion": overlap_of(data, "companion", "cocitation"),
        "of_cocitation": overlap_of(data, "cocitation", "companion"),
    }


def overlap_of(data: Data, one: str, other: str) -> float:
    """The share of one method's results that another returns as well."""
    (first,), (second,) = (data.asked(JUDGED, name).runs for name in (one, other))
    common = sum(len({*first.of(query)} & {*second.of(query)}) for query in first.answers)
    return common / max(1, sum(map(len, first.answers.values())))


def kleinberg(data: Data) -> Figures:
    """Companion compared with HITS started from a page and its parents."""
    return data.beside(JUDGED, "companion", "kleinberg").named("companion", "kleinberg")


def weights(data: Data) -> Figures:
    """Companion's graph with edge weights and without: on the lists, and on hosts with many pages."""
    on_lists = Beside.of(data.asked(JUDGED, "companion"), data.asked(JUDGED, unweighted()))
    hosts = Beside.of(data.asked(HOSTS, "companion(unit=host)"), data.asked(HOSTS, unweighted("host")))
    return on_lists.named("with_weights", "without") | {
        f"hosts_{k}": v for k, v in hosts.named("with", "without").items()
    }


def farms(data: Data) -> Figures:
    """The same on lists with planted link farms: many pages of one site link to the same pages."""
    one, other = (data.asked(JUDGED, how, store="farmed") for how in ("companion", unweighted()))
    spam = {name: advertised(found) for name, found in (("spam_with", one), ("spam_without", other))}
    return Beside.of(one, other).named("with_weights", "without") | spam


def unweighted(unit: str = "auto") -> Method:
    """Companion without edge weights."""

    def relate(web, seeds, params):  # type: ignore[no-untyped-def]
        return rank_authorities(web, seeds, params, companion.gather, weighted=False)

    return Method("companion without weights", companion.Params(unit=unit), relate)


def advertised(found: Evaluation) -> float:
    """The share of results that are pages of link farms."""
    results = [page for pages in found.runs[0].answers.values() for page in pages]
    return sum(FARM_PAGE in page for page in results) / max(1, len(results))


def duplicates(data: Data) -> Figures:
    """Companion with and without merging near-duplicates, on the lists and with forty of them mirrored ten times."""
    calls = ("companion", "companion(merge=false)")
    usual = data.beside(JUDGED, *calls)
    merged, apart = (data.asked(JUDGED, call, store="mirrored") for call in calls)
    copied = Beside.of(merged, apart)
    return copied.named("merged", "apart") | {"usual": usual.first, "usual_apart": usual.second}


def coverage(data: Data) -> Figures:
    """The share of judged pages with results: Cocitation with chopping, as in the paper, and Companion without.

    The store has no link to a sixth of them, as in the paper.
    """
    graph, found = data.web("forgotten").graph, dict[str, float]()
    for name, how in (("cocitation", "cocitation(chop=host)"), ("companion", "companion(chop=none)")):
        each = data.asked(JUDGED, how, store="forgotten")
        unknown = [query for query in each.queries if graph.get(query) is None]
        for kind, queries in ((name, each.queries), (f"{name}_unknown", unknown)):
            found[kind] = each.mean(each.runs[0], measures.answered, queries)
        found["unknown"] = len(unknown) / len(each.queries)
    return found


def well_linked(data: Data) -> Figures:
    """Precision for pages with many parents and for those with few."""
    degree = data.web(JUDGED).graph.in_degree
    _, numbers = data.judged(JUDGED)
    found: dict[str, float] = {}
    for name in ("companion", "cocitation"):
        each = data.asked(JUDGED, name)
        for group, wanted in (("many", True), ("few", False)):
            some = [query for query in each.queries if bool(degree[numbers[query]] >= MANY) == wanted]
            found[f"{name}_{group}"] = each.mean(each.runs[0], measures.precision, some)
        found[f"{name}_lift"] = found[f"{name}_many"] / found[f"{name}_few"]
    return found
