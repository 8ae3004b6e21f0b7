"""Results for other libraries: tables for pandas and Polars, graphs for NetworkX and igraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.graph.export.libraries import frame_of, library
from cocite.results.answer import Answers
from cocite.results.pictures.neighbourhood import Picture, picture_of
from cocite.results.present import briefly, one_line

if TYPE_CHECKING:
    from cocite.results.compare import Comparison


def frame(answers: Answers, name: str) -> Any:
    """A row per result: rank, url, title, score, why (a short text), and reasons as in JSON."""
    columns = {
        "rank": [answer.rank for answer in answers],
        "url": [answer.url for answer in answers],
        "title": [answer.title for answer in answers],
        "score": [answer.score for answer in answers],
        "why": [one_line(briefly(answer)) for answer in answers],
        "reasons": [[reason.to_dict() for reason in answer.reasons] for answer in answers],
    }
    return frame_of(columns, name)


def comparison_frame(found: Comparison, name: str) -> Any:
    """A row for every result of every method."""
    rows = [(method, answer) for method, answers in found.by_method.items() for answer in answers]
    columns = {
        "method": [method for method, _ in rows],
        "rank": [answer.rank for _, answer in rows],
        "url": [answer.url for _, answer in rows],
        "title": [answer.title for _, answer in rows],
        "score": [answer.score for _, answer in rows],
    }
    return frame_of(columns, name)


def _picture(answers: Answers) -> Picture:
    if answers.graph is None:
        raise BadParameter("These results have no store to read links from: use cocite.open(...).related(...)")
    return picture_of(answers.graph, answers)


def networkx(answers: Answers) -> Any:
    """The neighbourhood as a `networkx.DiGraph` of addresses; nodes have `kind`, `title`, `rank` and `score`."""
    nx, picture = library("networkx"), _picture(answers)
    made = nx.DiGraph()
    for node in picture.nodes:
        made.add_node(node.url, kind=node.kind, title=node.title, rank=node.rank, score=node.score, page=node.page)
    made.add_edges_from((picture.nodes[a].url, picture.nodes[b].url) for a, b in picture.links)
    return made


def igraph(answers: Answers) -> Any:
    """The same as a directed `igraph.Graph`; the vertex attribute `name` is the address."""
    ig, picture = library("igraph"), _picture(answers)
    made = ig.Graph(n=len(picture.nodes), edges=list(picture.links), directed=True)
    made.vs["name"] = [node.url for node in picture.nodes]
    for fact in ("kind", "title", "rank", "score", "page"):
        made.vs[fact] = [getattr(node, fact) for node in picture.nodes]
    return made
