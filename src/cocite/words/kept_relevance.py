"""Keyword relevance of a store, kept as side data `relevance`: it belongs to the keywords of which it was counted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.side import Side, only_one, read_side, ready_side, write_side
from cocite.graph.store import Graph
from cocite.kernels.words.keyword_pairs import Pairs, Rows
from cocite.words.keywords import Keywords, make_command
from cocite.words.relevance import Range, Relevance, count_relevance
from cocite.words.vocabulary import is_starts

NAME = "relevance"
VERSION = 1
TYPES = {"starts": "<i8", "columns": "<u4", "other": "<u4", "times": "<u4"}


def make_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """Count relevance; nothing is kept."""
    words = Rows(np.asarray(keywords.starts), np.asarray(keywords.ids))
    return count_relevance(words, len(keywords.words), links_of(graph), progress)


def links_of(graph: Graph) -> Rows:
    """All links out."""
    starts, targets, at = np.zeros(graph.pages + 1, np.int64), np.empty(graph.links, np.uint32), 0
    np.cumsum(graph.out_degree, out=starts[1:])
    for _, ends, links in graph.iter_links():
        if at + int(ends[-1]) > len(targets) or int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        targets[at : at + len(links.targets)] = links.targets
        at += len(links.targets)
    if at != starts[-1]:
        raise graph.damaged()
    return Rows(starts, targets[:at])


def build_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """Count relevance, and keep it beside the store."""
    with only_one(graph, NAME, "the keyword relevance"):
        return keep(graph, keywords, make_relevance(graph, keywords, progress))


def ready_relevance(graph: Graph, keywords: Keywords, progress: Progress = no_progress) -> Relevance:
    """The keyword relevance of a store, made and kept if there is none that fits."""

    def make() -> Relevance:
        return keep(graph, keywords, make_relevance(graph, keywords, progress))

    return ready_side(graph, NAME, "the keyword relevance", partial(open_relevance, graph, keywords), make)


def keep(graph: Graph, keywords: Keywords, made: Relevance) -> Relevance:
    """Write relevance beside the store; returns it as it is kept."""

    def write(_: Path, writer: Writer) -> None:
        for name in ("pages_of", "both", "reached"):
            for part, values in getattr(made, name)._asdict().items():
                writer.append(f"{name}.{part}", values)

    ranges = {name: list(getattr(made, name)) for name in ("support", "mutual", "confidence")}
    about = {"version": VERSION, "keywords": keywords.made, "pages": made.pages, "ranges": ranges}
    write_side(graph, NAME, about, write)
    return open_relevance(graph, keywords)


def kept_relevance(graph: Graph, keywords: Keywords) -> Relevance | None:
    """The relevance that is kept; None if there is none. Raises BadStore if it is stale or damaged."""
    side = read_side(graph, NAME, make_command(graph))
    return None if side is None else read_relevance(graph, keywords, side)


def open_relevance(graph: Graph, keywords: Keywords) -> Relevance:
    """The keyword relevance of a store; raises BadStore, which says how to make it, if there is none that fits."""
    found = kept_relevance(graph, keywords)
    if found is None:
        raise BadStore(f"{graph.path} has no keyword relevance yet: make it with {make_command(graph)}")
    return found


def read_relevance(graph: Graph, keywords: Keywords, side: Side) -> Relevance:
    """Relevance out of side data; refuses what is of other keywords, or contradicts itself."""
    about, again = side.about, make_command(graph)
    if about.get("version") != VERSION or about.get("keywords") != keywords.made:
        raise BadStore(f"the keyword relevance of {graph.path} is of other keywords: make it again with {again}")

    def part(name: str, fields: tuple[str, ...], rows: int, columns: int) -> list[NDArray[Any]]:
        values = [side.array(f"{name}.{field}") for field in fields]
        good = all(array.dtype == TYPES[field] for array, field in zip(values, fields, strict=True))
        good = good and all(is_starts(values[0], rows, len(others)) for others in values[1:])
        if not good or int(values[1].max(initial=0)) >= max(1, columns):
            raise BadStore(f"the keyword relevance of {graph.path} is damaged: make it again with {again}")
        return values

    words, pages = len(keywords.words), graph.pages
    pages_of = Rows(*part("pages_of", Rows._fields, words, pages))
    both = Pairs(*part("both", Pairs._fields, words, words))
    reached = Rows(*part("reached", Rows._fields, pages, words))
    support, mutual, confidence = (Range(*about["ranges"][name]) for name in ("support", "mutual", "confidence"))
    return Relevance(int(about["pages"]), pages_of, both, reached, support, mutual, confidence)
