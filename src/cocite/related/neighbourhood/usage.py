"""Usage: how people went between a page and others, by the clicks of a store."""

from math import ceil

import numpy as np

from cocite.related.evidence import Usage
from cocite.related.neighbourhood.scores import NO_TIES, Values
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.web import Web

BACK_WEIGHT, SESSION_WEIGHT = 0.1, 0.05
"""Weights of a click the other way, and of a visit in the same session, beside a click (docs/decisions/0043)."""


def usage_around(web: Web, page: int) -> tuple[Pages, Values]:
    """The pages that people visited before or after a page, ascending, and as how many clicks that counts."""
    if not web.has_clicks:
        return NO_PAGES, NO_TIES
    after, before = web.clicks.after(page), web.clicks.before(page)
    both = np.concatenate((after.pages, before.pages)).astype(np.uint32)
    forward = after.steps + SESSION_WEIGHT * after.later
    back = BACK_WEIGHT * before.steps + SESSION_WEIGHT * before.later
    pages, at = np.unique(both, return_inverse=True)
    return pages, np.bincount(at, np.concatenate((forward, back)), len(pages)).astype(np.float64)


def usage_evidence(web: Web, page: int, others: Pages, share: float) -> Usage:
    """The clicks between a page and a result, with the near-duplicates that it represents."""
    after, before = web.clicks.after(page), web.clicks.before(page)
    to, back = np.isin(after.pages, others), np.isin(before.pages, others)
    forward, of, backward = (ceil(steps.sum()) for steps in (after.steps[to], after.steps, before.steps[back]))
    sessions = ceil(after.later[to].sum() + before.later[back].sum())
    return Usage(forward=forward, of=of, back=backward, sessions=sessions, share=share)
