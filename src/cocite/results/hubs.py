"""Hubs and authorities by HubFinder, how much each round explored compared with HITS, and why there may be none."""

from __future__ import annotations

from functools import partial
from typing import Any

from cocite.related.methods import Method
from cocite.related.methods.hubfinder import Criterion, relate
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.web import Web

MAX_COMPARED_LINKS = 2_000_000
"""A round with more links is not compared with HITS: counting them would take more than half a second."""


def find_hubs(
    web: Web,
    asked: Question,
    hubfinder: Method,
    k: int = 10,
    *,
    criterion: Criterion | None = None,
    explained: bool = True,
    max_compared_links: int = MAX_COMPARED_LINKS,
    filters: Filters = NO_FILTERS,
) -> Answers:
    """The k best hubs or authorities, as the parameters say; `steps` of the result are the rounds."""
    relating = partial(relate, criterion=criterion, max_compared_links=max_compared_links)
    return ask(web, asked, Method(hubfinder.name, hubfinder.params, relating), k, filters, explained)


def why_none(web: Web, asked: Question, params: Any, answers: Answers) -> str:
    """Why there are no hubs, and what to try."""
    pages = ", ".join(asked.texts)
    met = sum(step["met"] for step in answers.steps)
    if not met:
        return f"No links to or from {pages}: see cocite links"
    around = f"Explored {met:,} {'page' if met == 1 else 'pages'} around {pages}, but"
    if params.likeness > 0 or params.criterion == "text":
        option = f"--likeness {params.likeness:g}" if params.likeness > 0 else "--by text"
        if not web.graph.texts:
            return f"{option} compares texts, and this store has none: leave it out, or build the store with texts"
        what = f"has a text similarity of {params.likeness:g}" if params.likeness > 0 else "shares a word"
        return f"{around} none {what} with them: leave out {option}"
    none = {"out_degree": "has out-links", "in_degree": "has in-links"}
    what = none.get(params.criterion, f"has a value by {params.criterion or 'the criterion'}")
    return f"{around} none {what}: try another --by, or more --rounds"
