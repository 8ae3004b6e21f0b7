"""Strips: where a list has the page asked about beside a result, as a few neighbouring links.

`1Password · Bitwarden · KeePassXC · Padloc` with the list's name and section is the reason that people see. A result
that no list has beside the page asked about is shown where a reason says: beside a page of the same name, or in a
section about the words of the reason.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import CociteError
from cocite.graph.store import Graph
from cocite.related.evidence import ContextWords, ListedWithSameName, Listing, SameName, SameNameListed
from cocite.results.answer import Answer, Answers
from cocite.results.naming import LinkList, titles_of
from cocite.text import title_text

MAX_LIST_LINKS = 5000
"""Longer lists are not read: 5,000 links with their text take 3 ms."""
MAX_BETWEEN_LINKS = 3
"""Links shown between the two; of more, the first and the last."""
MAX_STEPS = 12
"""How far a neighbour is looked for."""
MAX_PARENTS, MAX_LISTS = 50, 10
"""Lists of a result that are looked at for a word, and lists of two pages, where a reason names none."""
QUERY_LINK, RESULT_LINK, NEIGHBOUR, GAP = "asked", "result", "", "gap"


class StripLink(NamedTuple):
    """A link of a strip: its text, its target, and what it is."""

    text: str
    page: int
    role: str = NEIGHBOUR


@dataclass(frozen=True)
class Strip:
    """Neighbouring links of a list."""

    page: int
    url: str
    title: str
    section: str  # the heading, perhaps empty
    links: tuple[StripLink, ...]


def strips(graph: Graph, answers: Answers) -> list[Strip | None]:
    """The strip of each result: of its first reason that leads to one."""
    names = stand_ins(graph, answers)
    return [_nearest(graph, _places(graph, answers, answer, names)) for answer in answers]


def stand_ins(graph: Graph, answers: Answers) -> set[int]:
    """Pages that links call by the name of the page asked about: lists may have one of them instead."""
    found = set[int]()
    for answer in answers:
        for reason in answer.reasons:
            with suppress(CociteError):
                if reason.kind == ListedWithSameName.kind:
                    found.add(graph.find(reason.through))
                elif reason.kind == SameName.kind:
                    found.add(answer.page)
    return found


Place = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A list, the page asked about or its stand-ins, and the result or its stand-in; none asked about: of the result."""


def _places(graph: Graph, answers: Answers, answer: Answer, names: set[int]) -> Iterator[list[Place]]:
    """Where a strip may be, by each reason in turn."""
    first = graph.get(answers.used[0]) if answers.used else None
    leading = (each for each in answer.reasons if each.kind in _KINDS)
    for reason in sorted(leading, key=lambda each: _KINDS.index(each.kind)):
        with suppress(CociteError):
            asked = graph.find(reason.query) if reason.query else first
            result = graph.find(reason.copy) if reason.copy else answer.page
            if reason.kind == Listing.kind and asked is not None:
                yield [(graph.find(reason.by), (asked,), (result,))]
            elif reason.kind == ListedWithSameName.kind:
                others = tuple(sorted(names - {result}))
                yield [(page, others, (result,)) for other in others for page in common_lists(graph, other, result)]
            elif reason.kind == SameNameListed.kind and asked is not None:
                through = graph.find(reason.through)
                yield [(page, (asked,), (through,)) for page in common_lists(graph, asked, through)]
            elif reason.kind == ContextWords.kind:
                yield [(page, (), (result,)) for page in lists_about(graph, result, reason.words)]


_KINDS = (Listing.kind, ListedWithSameName.kind, SameNameListed.kind, ContextWords.kind)
"""Kinds of reasons that lead to a strip, the best first."""


def _nearest(graph: Graph, places: Iterable[list[Place]]) -> Strip | None:
    """Of the first reason with any, the strip in which the two are nearest."""
    for some in places:
        found = [(ends[1] - ends[0], place) for place in some if (ends := _ends(graph, *place)) is not None]
        if found:
            return read_strip(graph, *min(found, key=lambda pair: pair[0])[1])
    return None


def listed(graph: Graph, page: int) -> Strip | None:
    """Where a short list has a page beside others."""
    best = graph.best_parents(page)
    parents = _short(graph, (graph.links_to(page) if best is None else best)[:MAX_PARENTS])
    found = (read_strip(graph, citing, (), (page,)) for citing in parents[:MAX_LISTS])
    return next((strip for strip in found if strip is not None and len(strip.links) > 1), None)


def common_lists(graph: Graph, one: int, other: int) -> list[int]:
    """Pages that link to both, the shortest lists first."""
    both = np.intersect1d(graph.links_to(one), graph.links_to(other))
    return _short(graph, both)[:MAX_LISTS]


def lists_about(graph: Graph, page: int, words: Sequence[str]) -> Iterator[int]:
    """Pages that list a page in a section whose heading has one of the words."""
    titles = titles_of(graph)
    best = graph.best_parents(page)
    for citing in _short(graph, (graph.links_to(page) if best is None else best)[:MAX_PARENTS]):
        read = titles.list_of(citing)
        for place in np.flatnonzero(read.targets == page).tolist():
            heading = titles.heading(citing, int(read.sections[place])).lower()
            if any(word in heading for word in words):
                yield citing
                break


def _short(graph: Graph, pages: NDArray[np.uint32]) -> list[int]:
    """Pages with few enough links to be read, those with fewest first."""
    degrees = graph.out_degree[pages]
    order = np.lexsort((graph.names.address_keys(pages), degrees))
    return [int(page) for page in pages[order][degrees[order] <= MAX_LIST_LINKS]]


def _ends(graph: Graph, citing: int, asked: Sequence[int], results: Sequence[int]) -> tuple[int, int] | None:
    """The places of the nearest two of two groups of pages on a list; without pages asked about, of a result twice.

    None if the list lacks a page of either group, or is too long.
    """
    if graph.out_degree[citing] > MAX_LIST_LINKS:
        return None
    targets = titles_of(graph).list_of(citing).targets
    ones, others = (np.flatnonzero(np.isin(targets, np.array(group, np.int64))) for group in (asked, results))
    if not len(others) or (asked and not len(ones)):
        return None
    if not asked:
        return int(others[0]), int(others[0])
    distances = np.abs(ones[:, None] - others[None, :])
    one, other = np.unravel_index(int(distances.argmin()), distances.shape)
    first, second = int(ones[one]), int(others[other])
    return min(first, second), max(first, second)


def read_strip(graph: Graph, citing: int, asked: Sequence[int], results: Sequence[int]) -> Strip | None:
    """The links around the nearest two of two groups of pages on a list; without pages asked about, around a result.

    None if the list lacks a page of either group, or is too long.
    """
    ends = _ends(graph, citing, asked, results)
    if ends is None:
        return None
    titles, (low, high) = titles_of(graph), ends
    read = titles.list_of(citing)
    links = list[StripLink]()
    for place in _shown(read, low, high):
        if place is None:
            links.append(StripLink("…", -1, GAP))
            continue
        page, text = int(read.targets[place]), title_text(read.texts[place])
        role = QUERY_LINK if page in asked else RESULT_LINK if page in results else NEIGHBOUR
        own = text if read.texts.count(read.texts[place]) == 1 else ""  # several links may be called "Source code"
        links.append(StripLink(own or titles.of(page) or text or titles.address(page), page, role))
    section = int(read.sections[high])
    heading = titles.heading(citing, section) if 0 <= section == int(read.sections[low]) else ""
    return Strip(citing, titles.address(citing), titles.of(citing), heading, tuple(links))


def _shown(read: LinkList, low: int, high: int) -> list[int | None]:
    """The places of a list that a strip shows; None: those between are left out.

    Neighbours are in the same section, and neither badges, which many entries have, nor second links of an entry.
    """
    counts, ends = Counter(read.texts), {int(read.targets[low]), int(read.targets[high])}

    def usable(places: range) -> Iterator[int]:
        section = int(read.sections[high if places.step > 0 and places.start > high else low])
        for place in places:
            if int(read.sections[place]) != section:
                return
            text, target = read.texts[place], int(read.targets[place])
            if title_text(text) and counts[text] == 1 and target not in ends:
                yield place

    before = next(usable(range(low - 1, max(-1, low - MAX_STEPS), -1)), None)
    after = next(usable(range(high + 1, min(len(read.texts), high + MAX_STEPS))), None)
    between: list[int | None] = list(usable(range(low + 1, high)))
    if len(between) > MAX_BETWEEN_LINKS:
        between = [between[0], None, between[-1]]
    shown = [before, low, *between, *([high] if high > low else []), after]
    return [place for at, place in enumerate(shown) if place is not None or 0 < at < len(shown) - 1]
