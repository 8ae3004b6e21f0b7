"""Hubs and authorities by HubFinder, what each of its rounds explored beside plain HITS, and why there may be none."""

from __future__ import annotations

from functools import partial
from typing import Any

from cocite.related.methods import Method
from cocite.related.methods.hubfinder import Criterion, relate
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.web import Web

COMPARED = 2_000_000
"""Links of a round up to which it is counted what plain HITS would explore: half a second at most."""


def find_hubs(
    web: Web,
    asked: Question,
    hubfinder: Method,
    k: int = 10,
    *,
    criterion: Criterion | None = None,
    explained: bool = True,
    compared: int = COMPARED,
    filters: Filters = NO_FILTERS,
) -> Answers:
    """The k best hubs or authorities, as the method's parameters say; `steps` of the answers are its rounds."""
    relating = partial(relate, criterion=criterion, against=compared)
    return ask(web, asked, Method(hubfinder.name, hubfinder.params, relating), k, filters, explained)


def why_none(web: Web, asked: Question, params: Any, answers: Answers) -> str:
    """Why there are no hubs, and what to try."""
    pages = ", ".join(asked.texts)
    met = sum(step["met"] for step in answers.steps)
    if not met:
        return f"nothing is linked with {pages}: see cocite links"
    around = f"{met:,} {'page was' if met == 1 else 'pages were'} met around {pages}, but"
    if params.likeness > 0 or params.criterion == "text":
        option = f"--likeness {params.likeness:g}" if params.likeness > 0 else "--by text"
        if not web.graph.texts:
            return f"{option} compares texts, and this store has none: leave it out, or build the store with texts"
        what = f"has a likeness of {params.likeness:g}" if params.likeness > 0 else "has a word in common"
        return f"{around} the text of none {what}: leave out {option}"
    none = {"out_degree": "links to others", "in_degree": "is linked to by others"}
    what = none.get(params.criterion, f"has a value by {params.criterion or 'the criterion'}")
    return f"{around} none of them {what}: give another --by, or more --rounds"
