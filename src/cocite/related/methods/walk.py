"""Walk: the pages that a random walk with restarts at the query page visits most often.

Random walk with restart, or personalised PageRank (Jeh & Widom 2003; Pixie, Eksombatchai et al. 2018, samples it): at
every step the walk returns to the query page with probability α, or follows a link, all equally likely.

It is computed by local push (Andersen, Chung & Lang 2006). Each page has a rank p and a rest r; at first all rest is at
the query page. Pushing a page adds α of its rest to its rank and shares the other 1 - α among its links. Pages are
pushed, in rounds, until every rest is below ε for each link of the page: then at most 1/(α·ε) links were followed,
whatever the size of the web. A page also keeps α of its remaining rest, since that much stays there in any case.
If links are followed both ways, no rank is more than ε·degree too low. If they are followed one way, the ranks are too
low by `rest` in total, which is among the facts of a result.

With `hubs`, the walk restarts at the query page or at one of these hubs, all equally likely: HubFinder with HubRank
computes the set of pages for personalised PageRank (Chirita, Olmedilla & Nejdl 2004, §5). The hubs are not results.

Departures: α = 0.15. Links are followed both ways, since parents describe a page as much as children do. A walk ends at
a page without links. A link in each direction counts as two links.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.interpreted import expecting
from cocite.kernels.related.push import WalkedLinks, WalkState, push
from cocite.parameters import SERVERS, parameter
from cocite.related.methods import hubfinder
from cocite.related.neighbourhood.scores import Scores, SeedScores, combine_seeds
from cocite.related.neighbourhood.view import Numbered, Pages
from cocite.web import Web

FIRST_ROOM_PAGES = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Params:
    """α, ε, and which links."""

    restart: float = parameter(0.15, "α: probability of a restart", minimum=0.01, maximum=1,
                               on={SERVERS: {"minimum": 0.05}})  # fmt: skip
    least: float = parameter(1e-6, "ε: rest per link below which a page is not pushed", minimum=1e-7, maximum=1,
                             on={SERVERS: {"minimum": 1e-6}})  # fmt: skip
    links: str = parameter("both", "Links that are followed", choices=("both", "out", "in"))
    hubs: int = parameter(0, "Restart at this many hubs around the query page, too, found by HubFinder", minimum=0,
                          maximum=1000)  # fmt: skip


@dataclass(frozen=True)
class Walked:
    """Pages of a walk, those where it restarts first, with their ranks."""

    pages: Pages
    ranks: NDArray[np.float64]
    origin: NDArray[np.int32]  # the page from which each was first reached, by its place; -1: the walk begins there
    rest: float  # what was not pushed

    def path(self, page: int) -> list[int]:
        """The pages through which a page was first reached."""
        chain = [int(np.flatnonzero(self.pages == page)[0])]
        while self.origin[chain[-1]] >= 0:
            chain.append(int(self.origin[chain[-1]]))
        return [int(self.pages[at]) for at in chain[::-1]]


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by how often a walk visits them."""
    rests = [0.0]

    def find(seed: int) -> SeedScores:
        starts, way_to = restart_pages(web, seed, params.hubs)
        found = walk(web.graph, starts, params)
        found.ranks[1 : len(starts)] = 0.0  # the hubs: part of the question
        rests.append(found.rest)

        def path(page: int) -> list[int]:
            """From the query page, perhaps to a hub, and on."""
            first, *others = found.path(page)
            way = [*way_to(first), *others]
            return way[: way.index(page) + 1]  # the page may be on the way to the hub

        return SeedScores(found.pages, found.ranks, path)

    return replace(combine_seeds(seeds, find), facts={"rest": round(max(rests), 6)})


def walk(graph: Graph, starts: Pages, params: Params) -> Walked:
    """The ranks around some pages, at which a walk restarts."""
    one, other = (graph.into, graph.out) if params.links == "in" else (graph.out, graph.into)
    links = WalkedLinks(one, other, params.links == "both")
    state, count, head, end, tail = new_state(FIRST_ROOM_PAGES, starts), len(starts), 0, 0, len(starts)
    state.rests[:count], state.waiting[:count], state.origin[:count] = 1 / count, True, -1
    state.queue[:count] = np.arange(count)
    while head != tail:
        with expecting(1 / params.least):
            count, head, end, tail = map(int, push(links, params.restart, params.least, state, count, head, end, tail))
        if count < 0:
            raise graph.damaged()
        if head != tail:  # no room for the links of the next page
            page = int(state.found.members[state.queue[head % len(state.queue)]])
            more = int(graph.out_degree[page]) + int(graph.in_degree[page])
            if more > 2 * len(graph.links):
                raise graph.damaged()
            larger = new_state(max(4 * len(state.found.members), 2 * (count + more)), state.found.members[:count])
            for name in ("ranks", "rests", "origin", "waiting"):
                getattr(larger, name)[:count] = getattr(state, name)[:count]
            for name in ("queue", "amounts"):
                ring = getattr(state, name)
                getattr(larger, name)[: tail - head] = ring[np.arange(head, tail) % len(ring)]
            state, head, end, tail = larger, 0, end - head, tail - head
    pages, rest = state.found.members[:count], state.rests[:count]
    goes_on = (one.degree[pages] > 0) | (links.both & (other.degree[pages] > 0))
    stays = rest * np.where(goes_on, params.restart, 1.0)
    return Walked(pages, state.ranks[:count] + stays, state.origin[:count], float((rest - stays).sum()))


def restart_pages(web: Web, seed: int, hubs: int) -> tuple[Pages, Callable[[int], Sequence[int]]]:
    """The query page and the best hubs around it; and the path from the query page to each."""
    if not hubs:
        return np.array([seed], np.uint32), lambda page: [page]
    found = hubfinder.relate(web, [seed], hubfinder.Params())
    best = islice(found.ranked(web.graph.in_degree, hubs, web.graph.order), hubs)
    assert found.path is not None
    return np.array([seed, *(page for page, _ in best)], np.uint32), found.path


def new_state(room: int, pages: Pages) -> WalkState:
    """A state with some pages, and room for as many."""
    ranks, rests = np.zeros((2, room))
    ring = 2 * room  # a page may wait for the next round while it is in this one
    waiting = np.zeros(room, np.bool_)
    origin, queue, amounts = np.zeros(room, np.int32), np.zeros(ring, np.int32), np.zeros(ring)
    return WalkState(Numbered(room, pages).set, ranks, rests, origin, waiting, queue, amounts)
