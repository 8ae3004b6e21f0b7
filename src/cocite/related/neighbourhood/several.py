"""Scores of several query pages as one: the mean over the query pages that reach a page, most reached first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.related.neighbourhood.scores import LEAST, Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages


class Found(NamedTuple):
    """Pages, each once, with their scores for one query page, and how each was reached."""

    pages: Pages
    values: NDArray[np.float64]
    path: Callable[[int], Sequence[int]] | None = None


def join(seeds: Sequence[int], find: Callable[[int], Found], facts: Mapping[str, Any] | None = None) -> Scores:
    """The scores of all query pages together; `find` gives those of one."""
    used = list(dict.fromkeys(seeds))
    found = [find(seed) for seed in used]
    never = np.array(used, np.uint32)
    if len(found) == 1:
        return Scores(found[0].pages, found[0].values, used, never, facts=facts or {}, path=found[0].path)
    chosen = [each.values >= LEAST for each in found]
    pages, place = np.unique(
        np.concatenate([NO_PAGES, *(each.pages[some] for each, some in zip(found, chosen, strict=True))]),
        return_inverse=True,
    )
    values = np.concatenate([each.values[some] for each, some in zip(found, chosen, strict=True)])
    reached = np.bincount(place, minlength=len(pages))
    mean = np.bincount(place, values, len(pages)) / np.maximum(1, reached)

    def path(page: int) -> Sequence[int]:
        """By the first query page that reaches it."""
        for each, some in zip(found, chosen, strict=True):
            if each.path is not None and page in each.pages[some]:
                return each.path(page)
        return [page]

    return Scores(pages, mean, used, never, reached=reached.astype(np.int32), facts=facts or {}, path=path)
