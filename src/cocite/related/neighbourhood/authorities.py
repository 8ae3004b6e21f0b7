"""From a neighbourhood to its authorities: what the methods in the manner of HITS have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cocite.related.neighbourhood.clean import sets_with
from cocite.related.neighbourhood.gather import Numbered, Parents
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import Pages, Switches, View
from cocite.related.neighbourhood.weigh import Edges, edges_among, iterate
from cocite.web import Web


@dataclass(frozen=True)
class Vicinity:
    """The pages around a page; `read` are parents whose lists were read, if they are the first pages."""

    pages: Pages
    read: Parents | None


@dataclass(frozen=True)
class _Around:
    """The neighbourhoods of all query pages, and the links among all of their pages."""

    each: list[Vicinity]
    edges: Edges

    @property
    def enough(self) -> bool:
        return len(self.edges.ends) > 0


def rank_authorities(
    web: Web,
    seeds: Sequence[int],
    switches: Switches,
    gather: Callable[[View, int], Vicinity],
    weighted: bool,
    rounds: int,
) -> Scores:
    """Gather round every query page, iterate on all together, score by authority."""

    def together(view: View, pages: list[int]) -> _Around:
        each = [gather(view, page) for page in pages]
        if len(each) == 1:
            return _Around(each, edges_among(view, each[0].pages, each[0].read))
        nodes = Numbered(sum(len(one.pages) for one in each))
        for one in each:
            nodes.add(one.pages)
        return _Around(each, edges_among(view, nodes.pages))

    start, around = begin(web.graph, seeds, switches, together)
    edges = around.edges
    done = iterate(edges, weighted, rounds)
    sets = [one.pages for one in around.each]
    reached = sets_with(start.view, edges.pages, sets) if len(sets) > 1 else None
    facts = {"rounds": done.rounds, "residual": done.residual, "nodes": len(edges.pages), "edges": len(edges.ends)}
    read = [one.read for one in around.each if one.read is not None]
    limits = (read if len(read) == len(sets) else getattr(switches, "parents", 0)), getattr(switches, "children", 0)
    return Scores(
        edges.pages, done.authorities, start.used, start.never, reached=reached, facts=facts,
        evidence=LinkEvidence(start.view, start.used, *limits),
    )  # fmt: skip
