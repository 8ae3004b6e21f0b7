"""Walk: where a random walk that keeps returning to the query page is found most often.

Random walk with restart, that is personalised PageRank (Jeh & Widom 2003; Pixie, Eksombatchai et al. 2018, answers so
from samples): at every step the walk returns to the query page with probability α, or follows a link, all alike.

It is computed by local push (Andersen, Chung & Lang 2006). Each page has a rank p and a rest r; at first all rest is
the query page's. Pushing a page keeps α of its rest as rank and shares the other 1 - α among its links. Pages are
pushed until every rest is below ε for each link of the page: then at most 1/(α·ε) links were followed, however large
the web. A page keeps α of what rest it has then, too, since that much of it stays there whatever comes.
Where links are followed both ways, no rank is more than ε·degree too low. Where they are followed one way, all ranks
together are `rest` too low, which is among the facts of an answer.

Decided: α = 0.15; links are followed both ways, since a page's parents say what it is about as much as its children do;
a walk at a page without links ends there. Several links between two pages, there and back, are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cocite.kernels.related.push import push
from cocite.kernels.related.vicinity import number_pages
from cocite.parameters import parameter
from cocite.related.neighbourhood.gather import Numbered
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.web import Web

ROOM = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Params:
    """α, ε, and which links."""

    restart: float = parameter(0.15, "α: how often the walk returns", minimum=0.01, maximum=1)
    least: float = parameter(1e-6, "ε: the rest for each link that is not pushed on", minimum=1e-7, maximum=1)
    links: str = parameter("both", "which links are followed", choices=("both", "out", "in"))


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by how often a walk is there."""
    rests: list[float] = []

    def find(seed: int) -> Found:
        found, rest = _walk(web, seed, params)
        rests.append(rest)
        return found

    return replace(join(seeds, find), facts={"rest": round(max(rests, default=0.0), 6)})


def _walk(web: Web, seed: int, params: Params) -> tuple[Found, float]:
    """The ranks around one page, and the rest that was not pushed."""
    graph = web.graph
    one, other = (graph.into, graph.out) if params.links == "in" else (graph.out, graph.into)
    numbered, room = Numbered(ROOM), ROOM
    numbered.add(np.array([seed], np.uint32))
    ranks, rests = np.zeros(room), np.zeros(room)
    rests[0] = 1.0
    origin, waiting, queue = np.full(room, -1, np.int32), np.zeros(room, np.bool_), np.zeros(room, np.int32)
    waiting[0], head, tail = True, 0, 1
    while head != tail:
        count, head, tail = push(
            one, other, params.links == "both", params.restart, params.least, numbered.table, numbered.local,
            numbered.room, ranks, rests, origin, queue, waiting, numbered.count, head, tail,
        )  # fmt: skip
        if count < 0:
            raise graph.damaged()
        numbered.count = int(count)
        if head != tail:  # no room for the children of the next page
            page = int(numbered.room[queue[head % room]])
            more = int(graph.out_degree[page]) + int(graph.in_degree[page])
            if more > 2 * graph.links:
                raise graph.damaged()
            wider = max(4 * room, 2 * (numbered.count + more))
            queue = np.append(queue[np.arange(head, tail) % room], np.zeros(wider - (tail - head), np.int32))
            head, tail = 0, tail - head
            larger = Numbered(wider)
            larger.count = int(number_pages(larger.table, larger.local, larger.room, 0, numbered.pages))
            ranks, rests, waiting, origin = (
                np.append(each, np.zeros(wider - room, each.dtype)) for each in (ranks, rests, waiting, origin)
            )
            numbered, room = larger, wider
    count = numbered.count

    def path(page: int) -> list[int]:
        """The pages through which it was first reached."""
        way = [int(np.flatnonzero(numbered.pages == page)[0])]
        while origin[way[-1]] >= 0:
            way.append(int(origin[way[-1]]))
        return [int(numbered.pages[at]) for at in way[::-1]]

    pages, left = numbered.pages, rests[:count]
    links = (one.degree[pages] > 0) | ((params.links == "both") & (other.degree[pages] > 0))
    stays = left * np.where(links, params.restart, 1.0)
    return Found(pages, ranks[:count] + stays, path), float((left - stays).sum())
