"""HubFinder (Chirita, Olmedilla & Nejdl 2004, §4), read word by word."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log10

from tests.related.methods.naive_web import NaiveWeb, View


def extension(view: View, pages: set[int], in_links: int) -> set[int]:
    """The Kleinberg extension: the pages, all that they point to, and at most d that point to each."""
    found = set(pages)
    for page in pages:
        found |= {*view.children(page), *view.random_parents(page, in_links)}
    return found


def trimmed_size(old: int, distance: int, alpha: float) -> int:
    """N_new: (100 − 10·lg N_old) / (1 + α(D − 1)) per cent of N_old, rounded up, at least 1."""
    per_cent = (100 - 10 * log10(old)) / (1 + alpha * (distance - 1))
    return max(1, ceil(min(100, max(0, per_cent)) * old / 100 - 1e-9))


def hubfinder(
    web: NaiveWeb,
    seeds: list[int],
    value: Mapping[int, float],
    *,
    kind: str = "hubs",
    rounds: int = 3,
    in_links: int = 50,
    alpha: float = 2.0,
    filter_degree: bool = True,
    trim: bool = True,
) -> tuple[dict[int, float], list[tuple[int, int, int]]]:
    """All pages kept, with their values, and (found, filtered, kept) of every extension."""
    view = View(web, seeds, "none", merge=False)

    def rank(page: int) -> tuple[float, int, int]:
        return -value[page], -web.in_degree(page), page

    def filtered(new: set[int], distance: int) -> set[int]:
        """The filter "after each step": the first step, at distance 1, too."""
        if kind != "hubs" or not filter_degree:
            return new
        return {page for page in new if len(web.links.get(page, [])) >= min(2 + distance, 10)}

    first = extension(view, set(seeds), in_links) - set(seeds)
    last = filtered(first, 1)  # extending the start pages again would meet only pages that were filtered out
    gamma, steps = last | set(seeds), [(len(first), len(last), len(last))]
    for turn in range(rounds):
        if steps[-1][2] == 0:
            break
        distance = turn + 2
        new = extension(view, last, in_links) - gamma
        good = filtered(new, distance)
        kept = set(sorted(good, key=rank)[: trimmed_size(len(good), distance, alpha)]) if trim and good else good
        steps.append((len(new), len(good), len(kept)))
        gamma, last = gamma | kept, kept
    return {page: value[page] for page in gamma - set(seeds)}, steps
